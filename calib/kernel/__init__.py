"""What all floors share: frozen records, input checks, progress, and the numeric kernels."""

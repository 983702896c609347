"""Records, input checks, progress, and numeric kernels, which all layers share."""

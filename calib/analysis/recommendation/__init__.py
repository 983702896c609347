"""Is it calibrated, which calibrator to use, and why: the verdict and the advice, for pages, reports and Python."""

"""The verdict on calibration and the recommended calibrator with its reasons, for pages, reports and Python."""

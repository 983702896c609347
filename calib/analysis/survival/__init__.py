"""Calibration of the risk of an event by a horizon, if some rows are censored before it."""

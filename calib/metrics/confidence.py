"""Where other programs import ``confidence_interval`` from; its formulas are in ``confidence_intervals``."""

from calib.metrics.confidence_intervals import confidence_interval

__all__ = ["confidence_interval"]

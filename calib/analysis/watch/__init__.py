"""Monitoring of calibration: evidence that may be looked at every day."""

from calib.analysis.watch.history import History
from calib.analysis.watch.watcher import Watched, Watcher, watch

__all__ = ["History", "Watched", "Watcher", "watch"]

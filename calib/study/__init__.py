"""Studies: a paper's protocol, or your own, over many data sets, resumable, on one machine or a Dask cluster."""

from calib.study.data import load_sets
from calib.study.grid import Cell, grid
from calib.study.protocol import Protocol, Setup
from calib.study.reading import SHIPPED, load_protocol, read_protocol
from calib.study.runner import Summary, run_study
from calib.study.store import Store

__all__ = [
    "SHIPPED",
    "Cell",
    "Protocol",
    "Setup",
    "Store",
    "Summary",
    "grid",
    "load_protocol",
    "load_sets",
    "read_protocol",
    "run_study",
]

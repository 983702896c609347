"""Splits by key: which rows train, calibrate and test, so that test rows are new to the model."""

from types import MappingProxyType

from calib.splits.base import RowInfo, Splitter, TrainTestRows
from calib.splits.cluster import ByCluster
from calib.splits.file import ByFile
from calib.splits.random import AtRandom
from calib.splits.time import InTime

SPLITS: MappingProxyType[str, type[Splitter]] = MappingProxyType(
    {split.key: split for split in (AtRandom, InTime, ByCluster, ByFile)}
)

__all__ = ["SPLITS", "RowInfo", "Splitter", "TrainTestRows"]

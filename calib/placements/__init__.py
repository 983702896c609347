"""Placements by key: which scores calibrate, and which model scores a new row."""

from types import MappingProxyType

from calib.placements.base import Outcome, Placement, Scored
from calib.placements.cross_validation import CrossFit
from calib.placements.full import Full
from calib.placements.none import NoPlacement
from calib.placements.out_of_bag import OutOfBag, OutOfBagWhole
from calib.placements.split import Split
from calib.placements.train import TrainingScores

PLACEMENTS: MappingProxyType[str, type[Placement]] = MappingProxyType(
    {
        placement.key: placement
        for placement in (NoPlacement, Split, CrossFit, OutOfBag, OutOfBagWhole, TrainingScores, Full)
    }
)

__all__ = ["PLACEMENTS", "Outcome", "Placement", "Scored"]

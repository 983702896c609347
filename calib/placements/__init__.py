"""Placements by key: which scores calibrate, and which model scores a new row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calib.kernel import lazy

if TYPE_CHECKING:
    from calib.placements.base import Outcome, Placement, Scored

lazy.attach(__name__)


PLACEMENTS: lazy.Entries[type[Placement]] = lazy.Entries(
    "calib.placements",
    {
        "none": "none:NoPlacement",
        "split": "split:Split",
        "cv": "cross_validation:CrossFit",
        "oob": "out_of_bag:OutOfBag",
        "oob_whole": "out_of_bag:OutOfBagWhole",
        "train": "train:TrainingScores",
        "full": "full:Full",
    },
)

__all__ = ["PLACEMENTS", "Outcome", "Placement", "Scored"]

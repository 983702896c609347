"""Placements by key: which scores calibrate, and which model scores a new object."""

from types import MappingProxyType

from calib.placements.base import Outcome, Placement, Scored
from calib.placements.none import NoPlacement
from calib.placements.split import Split

PLACEMENTS: MappingProxyType[str, type[Placement]] = MappingProxyType(
    {placement.key: placement for placement in (NoPlacement, Split)}
)

__all__ = ["PLACEMENTS", "Outcome", "Placement", "Scored"]

"""All figures: ``prepare`` computes the numbers, ``draw`` the picture."""

from collections.abc import Iterator, Mapping

from calib.figures.audit import AUDIT, AUDIT_SIZES, AUDIT_WALK
from calib.figures.base import FigureEntry
from calib.figures.centres import CENTRE_CURVES, CENTRES
from calib.figures.class_intervals import CLASS_INTERVALS
from calib.figures.class_pairs import CLASS_PAIRS
from calib.figures.compared import COMPARED
from calib.figures.costs import CLASS_COSTS, COSTS, formatted_costs
from calib.figures.critical_difference import CRITICAL_DIFFERENCE
from calib.figures.cumulative import CUMULATIVE
from calib.figures.depth import METRIC_BY_DEPTH
from calib.figures.depth_losses import DEPTH_LOSSES
from calib.figures.differences import DIFFERENCES, formatted_differences
from calib.figures.distribution import DISTRIBUTION
from calib.figures.explained import EXPLAINED
from calib.figures.grouping import GROUPING_LOSS
from calib.figures.groups import GROUPS
from calib.figures.interval_bins import INTERVAL_BINS
from calib.figures.interval_means import INTERVAL_MEANS
from calib.figures.log_odds import LOG_ODDS
from calib.figures.metrics import (
    formatted_metrics,
    formatted_rates,
    formatted_sample_size,
    formatted_side_by_side,
)
from calib.figures.net_benefit import NET_BENEFIT
from calib.figures.optimism import OPTIMISM, formatted_validation
from calib.figures.pairs import PAIRS
from calib.figures.reliability import RELIABILITY_DIAGRAM
from calib.figures.set_reliability import SET_RELIABILITY
from calib.figures.setups import SETUPS, formatted_setups
from calib.figures.significance import SIGNIFICANCE
from calib.figures.simplex import SIMPLEX
from calib.figures.smooth_calibration import SMOOTH_CALIBRATION
from calib.figures.step_curves import STEP_CURVES
from calib.figures.survival import SURVIVAL
from calib.figures.theme import DARK, LIGHT, MARKS, Theme
from calib.figures.tree import TREE
from calib.figures.watch import WATCH_EVIDENCE, WATCH_MOVED, WATCH_PERIODS
from calib.figures.width_by_score import WIDTH_BY_SCORE
from calib.figures.widths import WIDTHS
from calib.figures.win_rates import WIN_RATES
from calib.kernel import declared

_OWN: dict[str, FigureEntry] = {
    entry.key: entry
    for entry in (
        RELIABILITY_DIAGRAM,
        LOG_ODDS,
        DISTRIBUTION,
        DIFFERENCES,
        GROUPS,
        AUDIT,
        AUDIT_SIZES,
        AUDIT_WALK,
        GROUPING_LOSS,
        PAIRS,
        EXPLAINED,
        STEP_CURVES,
        WIDTH_BY_SCORE,
        CLASS_INTERVALS,
        CLASS_PAIRS,
        SIMPLEX,
        WIDTHS,
        INTERVAL_MEANS,
        INTERVAL_BINS,
        METRIC_BY_DEPTH,
        DEPTH_LOSSES,
        TREE,
        SETUPS,
        COSTS,
        CLASS_COSTS,
        NET_BENEFIT,
        COMPARED,
        CRITICAL_DIFFERENCE,
        WIN_RATES,
        SIGNIFICANCE,
        SET_RELIABILITY,
        CUMULATIVE,
        SMOOTH_CALIBRATION,
        WATCH_EVIDENCE,
        WATCH_MOVED,
        WATCH_PERIODS,
        SURVIVAL,
        CENTRES,
        CENTRE_CURVES,
        OPTIMISM,
    )
}


class Figures(Mapping[str, FigureEntry]):
    """Key → figure: those of this package, then those of the experiments, which are imported on first use."""

    def __getitem__(self, key: str) -> FigureEntry:
        return _OWN[key] if key in _OWN else declared.FIGURES[key]

    def __iter__(self) -> Iterator[str]:
        return iter((*_OWN, *declared.FIGURES))

    def __len__(self) -> int:
        return len(_OWN) + len(declared.FIGURES)


FIGURES = Figures()

__all__ = [
    "DARK",
    "FIGURES",
    "LIGHT",
    "MARKS",
    "FigureEntry",
    "Theme",
    "formatted_costs",
    "formatted_differences",
    "formatted_metrics",
    "formatted_rates",
    "formatted_sample_size",
    "formatted_setups",
    "formatted_side_by_side",
    "formatted_validation",
]

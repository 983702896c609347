"""The kinds of map a calibrator file can hold: how each is written from a fitted calibrator, and read back.

The formulas stand in ``calib.export.calibrators``. A read map is the calibrator itself, its learned numbers set.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calib.calibrators import PPA, Beta, Isotonic, Platt, Rank, Temperature, Uncalibrated, Venn, VennAbers
from calib.calibrators.beta import CLIP
from calib.export.fields import Fields
from calib.export.saved import ProbabilityStepPairs, StepPairs
from calib.kernel.binning import bin_index
from calib.kernel.checks import Array, InputError
from calib.placements.cv import FoldCalibrators

LARGEST = float(np.finfo(np.float64).max)
MOST_VOTES = 100_000_000


@dataclass(frozen=True)
class Kind:
    """One kind of map: the calibrators it can hold, ``write(fitted)`` → fields, ``read(fields, merge, input)``."""

    methods: tuple[type, ...]
    write: Callable[[Any], dict[str, Any]]
    read: Callable[[Fields, Any, str], Any]


def plain(values: Any) -> Any:
    """A number, or a list of them, as JSON writes them.

    >>> plain(np.array([0.5, np.inf]))
    [0.5, 'Infinity']
    """
    if np.ndim(values):
        return [plain(value) for value in np.asarray(values).tolist()]
    value = float(values)
    return value if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def learned(fitted: Any, *names: str) -> dict[str, Any]:
    return {name: plain(getattr(fitted, f"{name}_")) for name in names}


def with_learned(calibrator: Any, **values: Any) -> Any:
    for name, value in values.items():
        setattr(calibrator, f"{name}_", value)
    return calibrator


# Pairs of step functions: Venn and Venn–Abers


def _write_pairs(fitted: Venn | VennAbers) -> dict[str, Any]:
    if isinstance(fitted, VennAbers):
        ends = _changes(fitted.thresholds_, fitted.p0_), _changes(fitted.thresholds_, fitted.p1_)
    else:
        starts = _category_starts(fitted)
        p0, p1 = fitted.positives_ / (fitted.counts_ + 1), (fitted.positives_ + 1) / (fitted.counts_ + 1)
        ends = (starts, p0), (np.nextafter(starts, -np.inf), p1)  # a category holds its first score for both ends
    return {
        name: {"breaks": plain(breaks), "values": plain(values)}
        for name, (breaks, values) in zip(("p0", "p1"), ends, strict=True)
    }


def _changes(thresholds: Array, values: Array) -> tuple[Array, Array]:
    """A step function without the thresholds at which it stays the same."""
    moves = np.diff(values) != 0
    return thresholds[moves], values[np.append(True, moves)]


def _category_starts(venn: Venn) -> Array:
    """The lowest score of each of Venn's categories but the first."""
    if venn.taxonomy == "label":
        return np.nextafter(np.array([venn.threshold], dtype=np.float64), np.inf)
    if venn.taxonomy == "quantile":
        return venn.edges_[1:-1]
    # The first float that falls into bin k, by bisection over the floats of [0, 1], whose bits are in their order.
    wanted = np.arange(1, venn.bins)
    low, high = np.zeros(len(wanted), dtype=np.int64), np.full(len(wanted), np.float64(1).view(np.int64))
    while (low < high).any():
        middle = (low + high) // 2
        reached = bin_index(middle.view(np.float64), venn.bins) >= wanted
        low, high = np.where(reached, low, middle + 1), np.where(reached, middle, high)
    return low.view(np.float64)


def _read_pairs(table: Fields, merge: Any, input: str) -> StepPairs:
    steps = []
    for name in ("p0", "p1"):
        end = table.object(name)
        breaks = end.numbers("breaks", increasing=True)
        steps.append((breaks, end.numbers("values", probabilities=True, length=len(breaks) + 1)))
    pairs = (ProbabilityStepPairs if input == "probability" else StepPairs)(merge).set_steps(*steps)
    breaks = np.concatenate([steps[0][0], steps[1][0], [0.0]])
    p0, p1 = pairs._pairs(np.concatenate([breaks, np.nextafter(breaks, -np.inf), np.nextafter(breaks, np.inf)])).T
    if (p0 > p1).any():
        raise table.refuse("p0", "must nowhere lie above p1")
    return pairs


def _write_folds(fitted: FoldCalibrators) -> dict[str, Any]:
    return {"folds": [_write_pairs(fold) for fold in fitted.folds]}


def _read_folds(table: Fields, merge: Any, input: str) -> FoldCalibrators:
    return FoldCalibrators(tuple(_read_pairs(fold, merge, input) for fold in table.objects("folds")))


# Formulas


def _read_sigmoid(table: Fields, merge: Any, input: str) -> Platt:
    return with_learned(Platt(), A=table.number("A"), B=table.number("B", infinite=True))


def _write_beta(fitted: Beta) -> dict[str, Any]:
    return {**learned(fitted, "a", "b", "c"), "clip": CLIP}


def _read_beta(table: Fields, merge: Any, input: str) -> Beta:
    table.number("clip", CLIP, CLIP)
    a, b = (table.number(name, 0, LARGEST) for name in "ab")
    return with_learned(Beta(), a=a, b=b, c=table.number("c", infinite=True))


def _write_scaling(fitted: Temperature) -> dict[str, Any]:
    return {**learned(fitted, "T"), "clip": CLIP}


def _read_scaling(table: Fields, merge: Any, input: str) -> Temperature:
    table.number("clip", CLIP, CLIP)
    return with_learned(Temperature(), T=table.number("T", 1e-6, 1e6))


def _write_shift(fitted: PPA) -> dict[str, Any]:
    return learned(fitted, "r") if fitted.variant == "constant" else learned(fitted, "a", "b")


def _read_shift(table: Fields, merge: Any, input: str) -> PPA:
    if "r" in table.value:
        return with_learned(PPA(), r=table.number("r", 0, 1))
    return with_learned(PPA(variant="sigmoid"), a=table.number("a"), b=table.number("b"))


# Isotonic functions


def _write_isotonic(fitted: Isotonic) -> dict[str, Any]:
    return {**learned(fitted, "scores", "values"), "between": fitted.between}


def _read_isotonic(table: Fields, merge: Any, input: str) -> Isotonic:
    scores = table.numbers("scores", increasing=True)
    if not scores.size:
        raise table.refuse("scores", "must not be empty")
    values = table.numbers("values", probabilities=True, length=len(scores))
    if (np.diff(values) < 0).any():
        raise table.refuse("values", "must not fall from one number to the next")
    return with_learned(Isotonic(table.choice("between", ("linear", "step", "nearest"))), scores=scores, values=values)


def _write_ranks(fitted: Rank) -> dict[str, Any]:
    trees = [np.unique(votes, return_counts=True) for votes in fitted.ranked_]
    return {
        "trees": [{"votes": plain(votes), "counts": counts.tolist()} for votes, counts in trees],
        "isotonic": _write_isotonic(fitted.isotonic_),
    }


def _read_ranks(table: Fields, merge: Any, input: str) -> Rank:
    trees = [(tree, tree.numbers("votes", increasing=True)) for tree in table.objects("trees")]
    ranked, room = [], MOST_VOTES
    for tree, votes in trees:
        counts = tree.numbers("counts", length=len(votes))
        if not counts.size or (counts < 1).any() or (counts % 1).any() or counts.sum() > room:
            raise tree.refuse("counts", f"must hold whole numbers of at least 1, in all at most {MOST_VOTES:,}")
        room -= int(counts.sum())
        ranked.append(np.repeat(votes, counts.astype(np.intp)))
    if len({len(votes) for votes in ranked}) > 1:
        raise table.refuse("trees", "must all count the same number of votes")
    return with_learned(
        Rank(), ranked=np.stack(ranked), isotonic=_read_isotonic(table.object("isotonic"), merge, input)
    )


KINDS: dict[str, Kind] = {
    "pairs": Kind((Venn, VennAbers), _write_pairs, _read_pairs),
    "folds": Kind((Venn, VennAbers), _write_folds, _read_folds),
    "identity": Kind(
        (Uncalibrated,), lambda fitted: {}, lambda table, merge, input: with_learned(Uncalibrated(), notes=())
    ),
    "sigmoid": Kind((Platt,), lambda fitted: learned(fitted, "A", "B"), _read_sigmoid),
    "beta": Kind((Beta,), _write_beta, _read_beta),
    "scaling": Kind((Temperature,), _write_scaling, _read_scaling),
    "isotonic": Kind((Isotonic,), _write_isotonic, _read_isotonic),
    "shift": Kind((PPA,), _write_shift, _read_shift),
    "ranks": Kind((Rank,), _write_ranks, _read_ranks),
}


def kind_of(fitted: Any) -> str:
    """The key of the kind that holds a fitted calibrator."""
    if isinstance(fitted, FoldCalibrators):
        return "folds"
    for key, kind in KINDS.items():
        if isinstance(fitted, kind.methods):
            return key
    raise InputError(f"{type(fitted).__name__} is no calibrator that can be written.")

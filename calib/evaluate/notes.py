"""Write notes of an Evaluation on its calibrators, score ranges and weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from calib.calibrators import CALIBRATORS, name_of
from calib.kernel.wording import listed, outside_range
from calib.metrics import METRICS, takes_weights

if TYPE_CHECKING:
    from calib.evaluate.fitting import Fitted


def fit_notes(calibrators: Mapping[str, tuple[Any, ...]]) -> Iterator[str]:
    """Yield the notes of fitted calibrators that are equal in all folds."""
    for key, (first, *others) in calibrators.items():
        for note in getattr(first, "notes_", ()):
            if all(note in other.notes_ for other in others):
                yield f"{CALIBRATORS[key].label}: {note}"


def outside_notes(fitted: Fitted, calibrators: Iterable[str]) -> Iterator[str]:
    """State how many test scores are outside the calibration scores of their fold, and how calibrators extrapolate."""
    from calib.calibrators import count_outside

    ways: dict[str, list[str]] = {}
    for method in (CALIBRATORS[key] for key in calibrators):
        if method.beyond:
            ways.setdefault(method.beyond, []).append(name_of(method.key))
    scored = [(part.placed.scores, part.tests.scores) for part in fitted.parts if len(part.placed.scores)]
    if not ways or not scored or fitted.recipe.placement == "full" or fitted.dataset.joint:
        # full: the calibrators have seen the row's score; with K classes, each class has its own range
        return
    ends = [(float(old.min()), float(old.max())) for old, _ in scored]
    outside = sum(count_outside(new, *end) for (_, new), end in zip(scored, ends, strict=True))
    if outside:
        then = "; ".join(f"{way} ({listed(names)})" for way, names in ways.items())
        total, one = sum(len(new) for _, new in scored), ends[0] if len(ends) == 1 else None
        yield f"{outside_range(outside, total, 'test score', one)} Their probabilities are {then}."


def unweighted_notes(weight: np.ndarray | None) -> Iterator[str]:
    """Name the everyday metrics that do not accept these weights."""
    if weight is None:
        return
    names = [
        metric.label for metric in METRICS.values() if metric.everyday and not takes_weights(metric, weight)
    ]
    if names:
        yield f"Some metrics are not shown, because they do not accept these weights: {listed(names)}."

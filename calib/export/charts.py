"""Which charts a report holds of one evaluation, and how each is made: what its ``prepare`` takes, and its options."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import plotly.graph_objects as go

from calib.analysis.decision import decide
from calib.evaluate import Evaluation
from calib.figures import FIGURES, LIGHT, Theme
from calib.figures.base import Record
from calib.kernel.checks import InputError


@dataclass(frozen=True, eq=False)
class Chart:
    """A prepared figure under its key, drawn once for each theme."""

    key: str
    record: Record
    drawn: dict[str, go.Figure] = field(default_factory=dict, repr=False)

    def draw(self, theme: Theme = LIGHT) -> go.Figure:
        if theme.name not in self.drawn:
            self.drawn[theme.name] = FIGURES[self.key].draw(self.record, theme)
        return self.drawn[theme.name]


def interval_method(evaluation: Evaluation) -> str:
    """The Recipe's method with intervals where it can answer, else the first that can. Raises InputError."""
    methods = [key for key, said in evaluation.predictions.items() if said.lower is not None]
    if not methods:
        raise InputError("No method with intervals can answer here.")
    return evaluation.recipe.interval if evaluation.recipe.interval in methods else methods[0]


def _of_method(evaluation: Evaluation) -> tuple[Evaluation, dict[str, Any]]:
    return evaluation, {"calibrator": interval_method(evaluation)}


def _grouped(evaluation: Evaluation) -> tuple[Evaluation, dict[str, Any]]:
    if evaluation.recipe.group is None:
        raise InputError("No column is chosen for groups.")
    return evaluation, {}


# figure → (what its prepare takes, its options), in the order a report shows them
REPORTED: dict[str, Callable[[Evaluation], tuple[Any, dict[str, Any]]]] = {
    "reliability": lambda evaluation: (evaluation, {}),
    "differences": lambda evaluation: (evaluation, {}),
    "groups": _grouped,
    "pairs": _of_method,
    "step_curves": lambda evaluation: (evaluation, {}),
    "width_by_score": _of_method,
    "widths": lambda evaluation: (evaluation, {}),
    "interval_means": lambda evaluation: (evaluation, {}),
    "interval_bins": _of_method,
    "costs": lambda evaluation: (decide(evaluation), {}),
    "net_benefit": lambda evaluation: (decide(evaluation), {}),
}


def charts(evaluation: Evaluation) -> list[Chart]:
    """Every chart that this evaluation has; one that it cannot have is left out."""
    found = []
    for key, arguments in REPORTED.items() if evaluation.predictions else ():
        with suppress(InputError):
            source, options = arguments(evaluation)
            found.append(Chart(key, FIGURES[key].prepare(source, **options)))
    return found

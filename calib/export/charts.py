"""The charts of one evaluation in a report, in the order of FIGURES."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import plotly.graph_objects as go

from calib.evaluate import Evaluation
from calib.figures import FIGURES, LIGHT, Theme
from calib.figures.base import Record
from calib.kernel.checks import InputError
from calib.lessons.narrowing import narrowed


@dataclass(frozen=True, eq=False)
class Chart:
    """A prepared figure with its key, drawn once per theme; ``number`` is its number in a report.

    ``picture`` is that of its lesson's step, which may show a part of the figure.
    """

    key: str
    record: Record
    number: int | None = None
    drawn: dict[str, go.Figure] = field(default_factory=dict, repr=False)
    picture: Mapping[str, Any] = field(default_factory=dict)

    def draw(self, theme: Theme = LIGHT) -> go.Figure:
        if theme.name not in self.drawn:
            figure = FIGURES[self.key].draw(self.record, theme)
            if self.picture:
                figure = go.Figure(narrowed(figure.to_dict(), self.picture))
            self.drawn[theme.name] = figure
        return self.drawn[theme.name]


def charts(evaluation: Evaluation, leading: bool = False) -> list[Chart]:
    """Return every chart that this evaluation supports.

    Parameters
    ----------
    leading
        Whether charts with overlapping curves show two methods only: the uncalibrated model and the recommended one.
    """
    found = []
    for key, entry in FIGURES.items() if evaluation.predictions else ():
        if entry.reported:
            with suppress(InputError):
                source, options = entry.reported(evaluation)
                if leading and entry.overlaid:
                    options |= {"calibrators": FIGURES["reliability"].prepare(evaluation).leading}
                found.append(Chart(key, entry.prepare(source, **options)))
    return found

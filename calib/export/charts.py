"""The charts of one evaluation in a report, in the order of FIGURES."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import plotly.graph_objects as go

from calib.analysis.audit.of_evaluation import SEARCH
from calib.evaluate import Evaluation
from calib.figures import FIGURES, LIGHT, Theme
from calib.figures.base import FigureEntry, Record, ReportOptions
from calib.figures.narrowing import narrowed
from calib.kernel.checks import InputError
from calib.recipe import Recipe


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
    found, chosen = [], report_options(evaluation.recipe)
    for key, entry in FIGURES.items() if evaluation.predictions else ():
        if entry.reported:
            with suppress(InputError):
                source, options = entry.reported(evaluation, chosen)
                if leading and entry.overlaid:
                    options |= {"calibrators": FIGURES["reliability"].prepare(evaluation).leading}
                found.append(Chart(key, entry.prepare(source, **options)))
    return found


def with_numbers(drawn: Iterable[Chart], numbers: Iterator[int]) -> list[Chart]:
    """Give the charts of a report the next numbers."""
    return [replace(chart, number=next(numbers)) for chart in drawn]


def in_report(entry: FigureEntry, evaluation: Evaluation) -> bool:
    """Tell whether a report of this evaluation contains the figure."""
    try:
        return bool(entry.reported and entry.reported(evaluation, report_options(evaluation.recipe)))
    except InputError:
        return False


def report_options(recipe: Recipe) -> ReportOptions:
    """Return what the stated settings of the pages ask of a report's figures."""
    return ReportOptions(
        **recipe.stated_settings("venn_abers", "interval"),
        **recipe.stated_settings("reliability", "axes", "selection", "faint", "group", "more_metrics"),
        **recipe.stated_settings(
            "decide", "cost_false_alarm", "cost_miss", "costs", "reject", "lowest", "highest"
        ),
        **recipe.stated_settings("groups", "calibrator"),
        search=recipe.stated_settings("groups", *SEARCH) if recipe.setting("groups.in_report") else None,
    )

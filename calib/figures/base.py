"""The two functions of a figure: ``prepare`` computes a record of numbers, and ``draw`` draws it."""

from __future__ import annotations

import html
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.analysis.decision import decide
from calib.analysis.explain import METHOD
from calib.calibrators import interval_methods
from calib.evaluate import Evaluation
from calib.figures.theme import Theme
from calib.kernel.binning import checked_bins
from calib.kernel.checks import InputError
from calib.kernel.records import Predictions
from calib.kernel.wording import shortened, without_direction_marks


@dataclass(frozen=True, eq=False, kw_only=True)
class Record(ABC):
    """Result of ``prepare``: title (the finding), caption, alt text, and its numbers.

    The first sentence of the caption says what is drawn, in at most 20 words; the others say how to read it.
    """

    title: str
    caption: str
    alt: str

    @abstractmethod
    def to_frame(self) -> pd.DataFrame:
        """Return the numbers."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TableRecord(Record):
    """A record whose numbers are one table."""

    table: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """Return the table."""
        return self.table


def stacked(frames: Iterable[tuple[Any, pd.DataFrame]], by: str = "calibrator") -> pd.DataFrame:
    """Return named tables below each other, with the name of each row's table in the first column ``by``.

    >>> stacked([("none", pd.DataFrame({"p": [0.1]})), ("platt", pd.DataFrame({"p": [0.2]}))])
      calibrator    p
    0       none  0.1
    1      platt  0.2
    """
    named = [frame.assign(**{by: name})[[by, *frame]] for name, frame in frames]
    return pd.concat(named, ignore_index=True) if named else pd.DataFrame({by: []})


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What a person chose for the figures of a report, named as in the functions that take it.

    None leaves the choice to the figure. Without ``group`` or ``search`` a report has no subgroups or segments, because
    they name values of columns; ``calibrator`` is the one that is searched.
    """

    interval: str | None = None
    axes: str | None = None
    selection: str | None = None
    faint: float | None = None
    group: str | None = None
    more_metrics: Collection[str] = ()
    cost_false_alarm: float | None = None
    cost_miss: float | None = None
    costs: str | None = None
    reject: float | None = None
    lowest: float | None = None
    highest: float | None = None
    search: Mapping[str, Any] | None = None
    calibrator: str | None = None

    def stated(self, *names: str) -> dict[str, Any]:
        """Return the stated options, among these names, as arguments of functions with defaults."""
        return {name: value for name in names if (value := getattr(self, name)) is not None}


@dataclass(frozen=True)
class FigureEntry:
    """A figure: ``prepare(evaluation, …) → record`` and ``draw(record, theme) → Plotly figure``.

    Attributes
    ----------
    panels
        For a figure of several panels, a function that returns a record per panel. A page can then place them in
        ``record.columns`` columns, which a phone stacks; downloads contain one figure.
    reported
        For a figure in every report of an Evaluation, a function of the Evaluation and the ReportOptions that returns
        the argument and options of ``prepare``: ``itself``, ``of_intervals`` or its own, which raises InputError if
        there is nothing to show.
    overlaid
        Whether its curves overlap, so that a report shows two methods: ``prepare`` takes ``calibrators``.
    """

    key: str
    label: str
    prepare: Callable[..., Any]
    draw: Callable[[Any, Theme], go.Figure]
    panels: Callable[[Any], Sequence[Any]] | None = None
    reported: Callable[[Evaluation, ReportOptions], tuple[Any, dict[str, Any]]] | None = None
    overlaid: bool = False


def itself(evaluation: Evaluation, _: ReportOptions) -> tuple[Any, dict[str, Any]]:
    """Return the Evaluation itself, for a report's figure that needs nothing else."""
    return evaluation, {}


def of_intervals(evaluation: Evaluation, options: ReportOptions) -> tuple[Any, dict[str, Any]]:
    """Choose the interval method of a report's figure: the chosen one if it can answer, else the first that can."""
    methods = [key for key in evaluation.predictions if key in interval_methods()]
    if not methods:
        raise InputError("None of the chosen methods gives intervals for these data.")
    preferred = options.interval or METHOD
    return evaluation, {"calibrator": preferred if preferred in methods else methods[0]}


def of_intervals_on_axes(evaluation: Evaluation, options: ReportOptions) -> tuple[Any, dict[str, Any]]:
    """Choose the interval method and the axes of a report's figure."""
    source, method = of_intervals(evaluation, options)
    return source, method | options.stated("axes")


def of_decision(evaluation: Evaluation, options: ReportOptions) -> tuple[Any, dict[str, Any]]:
    """Return the decision at the chosen costs, for a report's figure."""
    if evaluation.of_confidence:
        raise InputError("Decisions are evaluated for one class or for all classes, not for the confidence.")
    return decide(evaluation, **options.stated("cost_false_alarm", "cost_miss")), {}


def of_metrics(*metrics: str) -> Callable[[Evaluation, ReportOptions], tuple[Any, dict[str, Any]]]:
    """Return the ``reported`` of a figure that explains these metrics: shown if one of them is chosen."""

    def reported(evaluation: Evaluation, options: ReportOptions) -> tuple[Any, dict[str, Any]]:
        if not set(metrics) & set(options.more_metrics):
            raise InputError("This figure belongs to metrics that were not chosen.")
        return evaluation, {}

    return reported


def predictions_of(
    evaluation: Evaluation, calibrators: Sequence[str] | None = None
) -> dict[str, Predictions]:
    """Take the predictions of these calibrators (all by default) that the evaluation has."""
    shown = calibrators or evaluation.predictions
    return {key: evaluation.predictions[key] for key in shown if key in evaluation.predictions}


def predictions_to_draw(
    evaluation: Evaluation, calibrators: Sequence[str] | None = None
) -> dict[str, Predictions]:
    """Take the predictions of these calibrators (all by default); refuse if the evaluation has none of them."""
    shown = predictions_of(evaluation, calibrators)
    if not shown:
        raise InputError(
            "There is nothing to draw, because none of the chosen calibrators can be fitted. "
            "Choose another calibrator."
        )
    return shown


def split_caption(caption: str) -> tuple[str, str]:
    """Split a caption into its first sentence, which says what is drawn, and the others, which say how to read it.

    >>> split_caption("Bars show 0.5 of p. Lower is better. Faint marks: 2 bins.")
    ('Bars show 0.5 of p.', 'Lower is better. Faint marks: 2 bins.')
    """
    drawn, _, how = caption.partition(". ")
    return (f"{drawn}.", how) if how else (caption, "")


def viewed(evaluation: Evaluation, **view: Any) -> Evaluation:
    """Return the Evaluation with these view fields of a Recipe; fields that are None keep the Recipe's own values."""
    given = {name: value for name, value in view.items() if value is not None}
    return evaluation.with_view(evaluation.recipe.replace(**given)) if given else evaluation


def number_or_edges(bins: Any) -> tuple[int | None, tuple[float, ...] | None]:
    """Return a number of bins, which a Recipe can have, or own edges, which it cannot; the other is None.

    >>> number_or_edges(10), number_or_edges([0, 0.5, 1]), number_or_edges(None)
    ((10, None), (None, (0.0, 0.5, 1.0)), (None, None))
    """
    if bins is None or np.ndim(bins) == 0:
        return bins, None
    return None, checked_bins(bins)  # type: ignore[return-value]


def chart_text(name: object, most: int = 34) -> str:
    """Return a name from a file as safe text for a chart (Plotly would read tags), shortened in its middle.

    >>> chart_text("<b>bold</b>"), chart_text("a_very_long_name_of_a_column > 0.25", 20)
    ('&lt;b&gt;bold&lt;/b&gt;', 'a_very_long…n &gt; 0.25')
    """
    return html.escape(shortened(without_direction_marks(str(name)), most), quote=False)


def in_two_lines(name: object, most: int) -> str:
    """Return a name as ``chart_text``; a name longer than a line is split between the words nearest its middle.

    Names of setups begin and end alike, so that many would be equal if they were shortened in their middle.

    >>> in_two_lines("random_forest/oob/beta", 18), in_two_lines("VAP-oob", 18)
    ('random_forest/<br>oob/beta', 'VAP-oob')
    """
    text = str(name)
    between = r"[/\s,;:|]+(?=\w)" if re.search(r"\w[/\s,;:|]+\w", text) else r"[\W_]+(?=\w)"
    ends = [gap.end() for gap in re.finditer(between, text) if gap.start()]
    if len(text) <= most or not ends:
        return chart_text(text, most)
    part = min(ends, key=lambda end: abs(2 * end - len(text)))
    return f"{chart_text(text[:part].rstrip(), most)}<br>{chart_text(text[part:], most)}"


MOST_SETUPS = 40
"""Largest number of setups in a diagram of a study."""


def best_setups_note(setups: int) -> str:
    """Return a caption's sentence if not all setups are drawn, else "".

    >>> best_setups_note(40), best_setups_note(213)
    ('', ' The figure shows the best 40 of 213 setups; the tables show all setups.')
    """
    if setups <= MOST_SETUPS:
        return ""
    return f" The figure shows the best {MOST_SETUPS} of {setups} setups; the tables show all setups."

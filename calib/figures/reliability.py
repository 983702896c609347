"""The reliability diagram: observed frequency against prediction, over a histogram of the predictions.

Frequencies in bins (Murphy & Winkler 1977), isotonic steps without bins (CORP, Dimitriadis, Gneiting & Jordan
2021) or a smoothed curve; with a confidence band of the true frequency ("confidence") or the range in which a
calibrated forecast's curve would fall ("consistency", Bröcker & Smith 2007). Rows selected on the diagram are
marked on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from calib.analysis.clusters import CLUSTERED
from calib.analysis.curves import (
    FEW_IN_BIN,
    BinnedCurve,
    CorpCurve,
    Curve,
    ScoreHistogram,
    SmoothCurve,
    curve_of,
    histogram,
)
from calib.analysis.differences import reference_of
from calib.analysis.recommendation.advice import headline, recommend
from calib.analysis.recommendation.rule import advise
from calib.analysis.recommendation.verdict import judged_rows
from calib.analysis.selection import read_ranges, selected_rows
from calib.calibrators import label_of, name_of
from calib.evaluate import Evaluation
from calib.figures.axes import LogOddsAxis, in_log_odds
from calib.figures.base import (
    FigureEntry,
    Record,
    ReportOptions,
    chart_text,
    number_or_edges,
    predictions_of,
    stacked,
    viewed,
)
from calib.figures.many import (
    LETTER_SHARE,
    LINE_SHARE,
    MOST_COLOURED,
    Label,
    grey_lines_note,
    in_colour,
    muted,
    place_labels,
)
from calib.figures.theme import LIGHT, Theme, diagonal, hollow, layout, legible, outlined, rgba
from calib.kernel.binning import quantiles
from calib.kernel.wording import brief, briefly, capital, counted, listed, number, probability
from calib.recipe import Recipe

# Most faint marks of several curves that are labelled with their number of rows, so that labels do not overlap
MOST_LABELLED_MARKS = 15
QUANTILES_ON_AXIS = np.array([0.05, 0.95])  # a log-odds axis contains the rows between these quantiles

DIAGRAM_HEIGHT = 640
WIDE_MARGIN = 68  # left margin in pixels for ticks such as 0.0001 %
CURVE_KINDS = {
    "binned": "in {bins} bins",
    "corp": "as isotonic steps",
    "smoothed": "smoothed and in {bins} bins",
}


@dataclass(frozen=True, eq=False)
class Reliability(Record):
    """Curves by calibrator, and the words around them.

    Attributes
    ----------
    curves
        Curves of the lines.
    bins
        Frequencies in bins, beside smoothed curves too; none for isotonic steps.
    histograms
        Histograms of the predictions.
    picked
        Histograms of the selected rows, or empty.
    ranges
        The selection as (calibrator, low, high).
    leading
        The curves drawn strong, the model's own predictions first.
    corner
        Slope, O/E and number of rows of the first of them.
    faint
        Whether bins with few rows are drawn.
    axis
        The log-odds axis of the picture, or None.
    predicts
        The title of the horizontal axis.
    """

    curves: Mapping[str, Curve]
    bins: Mapping[str, BinnedCurve]
    histograms: Mapping[str, ScoreHistogram]
    picked: Mapping[str, ScoreHistogram]
    ranges: tuple[tuple[str, float, float], ...]
    leading: tuple[str, ...]
    corner: tuple[str, ...]
    band: str
    faint: bool
    axis: LogOddsAxis | None
    predicts: str

    def to_frame(self) -> pd.DataFrame:
        """Return one row per calibrator and bin, with the smoothed line at its mean; or one per point of the steps."""
        return stacked((key, _numbers(self.bins.get(key), curve)) for key, curve in self.curves.items())


def _numbers(bins: BinnedCurve | None, curve: Curve) -> pd.DataFrame:
    table = (bins or curve).to_frame()
    if bins is not None and isinstance(curve, SmoothCurve):
        drawn = {"smoothed": curve.smoothed, "smoothed_lower": curve.lower, "smoothed_upper": curve.upper}
        at = bins.mean_p
        table = table.assign(**{name: np.interp(at, curve.p, line) for name, line in drawn.items()})
    return table


def prepare(
    evaluation: Evaluation,
    calibrators: Sequence[str] | None = None,
    picked: np.ndarray | None = None,
    *,
    selection: Sequence[str] = (),
    bins: ArrayLike | None = None,
    binning: str | None = None,
    curve: str | None = None,
    band: str | None = None,
    axes: str = "auto",
    faint: bool = False,
    corner: bool = True,
) -> Reliability:
    """Prepare the curves of these calibrators (all of the evaluation's by default).

    Parameters
    ----------
    picked
        Rows of the dataset to mark, for a diagram beside the one on which they were selected.
    selection
        Ranges calibrator:low:high whose rows are marked.
    bins, binning, curve, band
        By default those of the evaluation's Recipe. ``bins`` is a number, or edges from 0 to 1.
    axes
        "auto", "probability" or "log_odds". If "auto" chooses log-odds, bins are of equal count: of equal
        width, one bin would contain most rows.
    faint
        Whether bins with few rows are drawn, too; a curve without other bins always has them.
    corner
        Whether slope, O/E and the number of rows are written in the corner.
    """
    bins, own = number_or_edges(bins)
    evaluation = viewed(evaluation, bins=bins, binning=binning, curve=curve, band=band)
    recipe, y, weight = evaluation.recipe, evaluation.y, evaluation.weight
    predictions = {key: each.p for key, each in predictions_of(evaluation, calibrators).items()}
    shown = list(predictions)
    log_odds = in_log_odds(axes, evaluation)
    equal = log_odds and axes == "auto" and own is None
    drawn = viewed(evaluation, binning="quantile") if equal else evaluation
    in_bins = {key: curve_of(drawn, key, edges=own) for key in shown} if recipe.curve != "corp" else {}
    curves = {key: curve_of(drawn, key, recipe.curve, log_odds, own) for key in shown}
    axis = _axis(in_bins or curves, predictions.values(), weight) if log_odds else None
    faint = faint or not all((each.count >= FEW_IN_BIN).any() for each in in_bins.values())
    edges = None if own is None else np.array(own)
    edges = edges if axis is None else axis.edges(recipe.bins)
    rows = (
        selected_rows(evaluation, selection)
        if picked is None
        else np.flatnonzero(np.isin(evaluation.rows, picked))
    )
    return Reliability(
        curves,
        in_bins,
        {
            key: histogram(y, p, bins=recipe.bins, edges=edges, sample_weight=weight)
            for key, p in predictions.items()
        },
        {key: _picked(evaluation, key, rows, edges) for key in predictions} if rows.size else {},
        tuple(read_ranges(selection)) if picked is None else (),
        default_curves(evaluation, shown),
        _corner(evaluation, reference_of(shown)) if shown and corner else (),
        recipe.band,
        faint,
        axis,
        evaluation.predicts,
        title=_finding(evaluation, shown),
        caption=_caption(recipe, _few(in_bins), faint, evaluation.cluster is not None)
        + " Bins contain equal numbers of rows." * bool(in_bins and drawn is not evaluation)
        + (_at_the_ends(in_bins, faint) + _certain(predictions) if axis else "")
        + grey_lines_note(shown),
        alt=_alt(evaluation, shown, len(own) - 1 if own else recipe.bins),
    )


def _alt(evaluation: Evaluation, shown: Sequence[str], bins: int) -> str:
    recipe, ece = evaluation.recipe, evaluation.measured(["ece"])["ece"]
    listed = "; ".join(f"{label_of(key)} ECE {number(float(ece[key]))}" for key in shown)
    kind = CURVE_KINDS[recipe.curve].format(bins=bins)
    return f"Reliability diagram of {evaluation.size_text}, {kind}: {listed or 'nothing to show'}."


def _axis(
    curves: Mapping[str, Any], predictions: Iterable[np.ndarray], weight: np.ndarray | None
) -> LogOddsAxis:
    """Return an axis for every mark, the upper limits of bins without positives, and nine tenths of the rows."""
    shapes = [shape_of(curve) for curve in curves.values()]
    ends = [np.where(s.y == 0, s.confidence[1], np.where(s.y == 1, s.confidence[0], s.y)) for s in shapes]
    return LogOddsAxis.around(
        [*(s.x for s in shapes), *ends, *(quantiles(p, QUANTILES_ON_AXIS, weight) for p in predictions)]
    )


def _at_the_ends(bins: Mapping[str, BinnedCurve], faint: bool) -> str:
    """Explain the marks at the edges, because a log-odds axis has no place for 0 and 1."""
    none, every = (
        sum(int((curve.observed[_drawn(curve, faint)] == end).sum()) for curve in bins.values())
        for end in (0, 1)
    )
    text = " The axes are in log-odds, which are infinite at 0 and 1."
    if none:
        text += (
            f" Triangles at the lower edge: {counted(none, 'bin')} without a positive row. Their lines reach up to "
            "the "
        )
        text += "upper end of the 95 % interval."
    if every:
        text += f" Triangles at the upper edge: {counted(every, 'bin')} with only positive rows."
    return text


def _certain(predictions: Mapping[str, np.ndarray]) -> str:
    """Name the calibrators whose predictions of exactly 0 or 1 are drawn at the side edges."""
    text = ""
    for edge, end in (("left", 0), ("right", 1)):
        whose = [name_of(key) for key, p in predictions.items() if (p == end).any()]
        if whose:
            text += f" Predictions of exactly {end} are drawn at the {edge} edge ({listed(whose)})."
    return text


def _picked(evaluation: Evaluation, key: str, rows: np.ndarray, edges: np.ndarray | None) -> ScoreHistogram:
    """Return the histogram of the predictions of the selected rows."""
    found, bins = evaluation.predictions[key].of(rows), evaluation.recipe.bins
    return histogram(found.y, found.p, bins=bins, edges=edges, sample_weight=found.weight)


def has_thin_bins(evaluation: Evaluation) -> bool:
    """Tell whether drawing bins with few rows is a choice: some curve has them beside others."""
    counts = [curve_of(evaluation, key).count for key in evaluation.predictions]
    return any((count >= FEW_IN_BIN).any() and ((count > 0) & (count < FEW_IN_BIN)).any() for count in counts)


def _few(bins: Mapping[str, BinnedCurve]) -> int:
    """Count the bins of all curves that have rows, but few."""
    return sum(int(((curve.count > 0) & (curve.count < FEW_IN_BIN)).sum()) for curve in bins.values())


def _drawn(curve: Curve, faint: bool) -> np.ndarray:
    """Return which points of a curve are drawn as marks: of bins those with rows, or with enough of them."""
    least = FEW_IN_BIN if isinstance(curve, BinnedCurve) and not faint else 0
    return (curve.count > 0) & (curve.count >= least)


def default_curves(evaluation: Evaluation, shown: Sequence[str]) -> tuple[str, ...]:
    """Return the uncalibrated model and the recommended method, or else the one with the lowest Brier score."""
    reference = reference_of(shown) if shown else "none"
    others = [key for key in shown if key != reference]
    if not others:
        return (reference,)
    choice = recommend(evaluation).choice
    return (reference, choice if choice in others else str(advise(evaluation).table.score[others].idxmin()))


def _finding(evaluation: Evaluation, shown: Sequence[str]) -> str:
    """Return the headline of the recommendation, or for some of the methods the change by one of them."""
    if not shown:
        return "None of the chosen calibrators can be fitted to these data"
    if set(shown) == set(evaluation.predictions) or recommend(evaluation).choice in shown[1:]:
        return headline(evaluation)
    table, (reference, *rest) = advise(evaluation).table, default_curves(evaluation, shown)
    if not rest:
        return f"{capital(name_of(reference))}: Brier score {brief(table.score[reference])}"
    before, after = briefly(*table.score[[reference, *rest]])
    return f"{capital(name_of(rest[0]))}: Brier score {before} → {after}"


def _corner(evaluation: Evaluation, key: str) -> tuple[str, ...]:
    """Return slope, O/E and rows of some predictions, as clinical papers print them in the diagram.

    The numbers are those of the verdict, which may rest on more rows than the curves.
    """
    drawn, evaluation, lines = evaluation, judged_rows(evaluation, key), []
    for metric, label in (("slope", "Slope"), ("observed_expected", "O/E")):
        found = evaluation.estimate(metric, key)
        if np.isfinite(found.value):
            lines.append(f"{label} {found.text()}")
    curves = "" if evaluation is drawn else f"; curves: {drawn.tested:,}"
    return (*lines, f"n = {evaluation.tested:,}{curves}")


def _caption(recipe: Recipe, few: int, faint: bool, clustered: bool) -> str:
    text = (
        "Curves show the observed frequency by prediction; on the diagonal, predictions match outcomes. Below the "
        "diagonal the model overestimates; above, it underestimates. An S shape means that the model is "
        "underconfident, a reversed S that it is overconfident."
    )
    if recipe.curve == "corp":
        text += (
            " The steps are the isotonic regression of outcomes on predictions (CORP), which needs no bins."
        )
    if recipe.curve == "smoothed":
        text += (
            " Lines are local linear smooths; each point uses the nearest half of the rows. Lines are thin "
            f"where the histogram bar has fewer than {FEW_IN_BIN} rows, and faint where it has no row. Each mark "
            "is a bin; larger marks contain more rows."
        )
    if recipe.band == "confidence" and recipe.curve == "corp":
        text += (
            " Shading shows the pointwise range of 95 % of the CORP curves that would result if this curve "
            "showed the true frequencies. The shading contains the true frequency in 82 to 95 % of cases."
        )
    elif recipe.band == "confidence":
        whose = "smoothed" if recipe.curve == "smoothed" else "true"
        text += f" Shading shows the pointwise 95 % confidence band of the {whose} frequency."
    if recipe.band == "consistency":
        text += " Shading around the diagonal shows where 95 % of bin frequencies fall if the model is calibrated."
    if recipe.band != "none" and clustered:
        text += CLUSTERED
    if few and faint:
        text += f" Faint marks: {counted(few, 'bin')} with fewer than {FEW_IN_BIN} rows, which are hardly informative."
    elif few:
        text += f" Not drawn: {counted(few, 'bin')} with fewer than {FEW_IN_BIN} rows."
    return text


@dataclass(frozen=True, eq=False)
class Shape:
    """Points, ranges and bands of a curve of any kind, arrays (k,).

    Attributes
    ----------
    x, y
        Positions of the points.
    low, high
        The range of predictions of a point, [low, high).
    count
        Rows of a point.
    confidence, consistency
        (lower, upper) of the bands.
    hover
        Description of a point for its label.
    """

    x: np.ndarray
    y: np.ndarray
    low: np.ndarray
    high: np.ndarray
    count: np.ndarray
    confidence: tuple[np.ndarray, np.ndarray]
    consistency: tuple[np.ndarray, np.ndarray]
    hover: str


def shape_of(curve: Curve) -> Shape:
    """Return the points, ranges and bands of a curve of any kind."""
    band = curve.lower, curve.upper
    if isinstance(curve, BinnedCurve):
        low, high = np.r_[0.0, curve.edges[1:-1]], np.r_[curve.edges[1:-1], 1.0]
        hover = "%{customdata[3]:,d} rows with predictions from %{customdata[1]:.3g} to %{customdata[2]:.3g}"
        consistency = curve.band_lower, curve.band_upper
        return Shape(curve.mean_p, curve.observed, low, high, curve.count, band, consistency, hover)
    if isinstance(curve, SmoothCurve):
        hover, consistency = (
            "effective number of rows: %{customdata[3]:,.0f}",
            (curve.band_lower, curve.band_upper),
        )
        return Shape(
            curve.p, curve.smoothed, *_cells(curve.p, curve.p), curve.count, band, consistency, hover
        )
    starts = np.diff(curve.recalibrated, prepend=-1) > 0
    first, step = np.flatnonzero(starts), np.cumsum(starts) - 1
    low, high = (
        ends[step] for ends in _cells(curve.p[first], curve.p[np.r_[first[1:] - 1, len(curve.p) - 1]])
    )
    unknown = np.full_like(curve.p, np.nan)
    confidence = band if curve.band == "confidence" else (unknown, unknown)
    return Shape(
        curve.p,
        curve.recalibrated,
        low,
        high,
        curve.count,
        confidence,
        band,
        "a step of %{customdata[3]:,d} rows",
    )


def _cells(first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of cells around [first, last], which meet half-way and reach from 0 to 1."""
    middle = (last[:-1] + first[1:]) / 2
    return np.r_[0.0, middle], np.r_[middle, 1.0]


def draw(record: Reliability, theme: Theme = LIGHT) -> go.Figure:
    """Draw a square diagram on fixed axes over a histogram on the same probability axis."""
    traces, around = _traces(record, theme), _layout(record, theme)
    if record.axis is not None:
        traces = _in_log_odds(traces, record, record.axis, theme)
        across, up = around["xaxis"] | record.axis.across, around["yaxis"] | record.axis.settings
        up["title"] |= {"standoff": 4}
        around |= {"xaxis": across, "yaxis": up, "margin": {"l": WIDE_MARGIN}}
    names = _names(record, around["xaxis"]["range"], theme)
    return muted([*traces, *names], around, _in_colour(record), theme)


def _traces(record: Reliability, theme: Theme) -> list[dict[str, Any]]:
    """Return all traces except the names, from the lowest up; as dictionaries, because objects would be built twice."""
    traces = [diagonal(theme).to_plotly_json()]
    if record.band != "none":
        # what chance does is drawn around the model's own curve only, confidence around all that are drawn strong
        banded = record.leading[:1] if record.band == "consistency" else record.leading
        traces += [
            _band(key, record.curves[key], record.band, record.histograms[key], theme)
            for key in record.curves
            if key in banded
        ]
    light = {key: key not in record.leading for key in record.curves}
    for key, curve in record.curves.items():
        bars = _bars(key, record.histograms[key], 0.08, theme)
        line = _line(key, curve, light[key], record.histograms[key], theme)
        traces += [_in_legend(key, theme), *line, bars]
    numbered = len(record.curves) <= 2 or _few(record.bins) <= MOST_LABELLED_MARKS
    marked = record.bins or record.curves
    for key, curve in marked.items():
        marks = _marks(key, curve, theme, light=light[key], labelled=numbered)
        traces += marks if record.faint else marks[:1]
    traces += [_bars(key, counts, 0.6, theme) for key, counts in record.picked.items()]
    for key, curve in marked.items():
        traces += _rings(key, shape_of(curve), _drawn(curve, record.faint), record.ranges, theme)
    return traces


def _in_colour(record: Reliability) -> tuple[str, ...]:
    """Return the curves that are not grey: all of a few; of many, those drawn strong and those with selected rows."""
    keys = tuple(record.curves)
    if len(keys) <= MOST_COLOURED:
        return keys
    picked = [key for key, _, _ in record.ranges if key in keys]
    return tuple(dict.fromkeys([*in_colour([key for key in record.leading if key in keys], keys), *picked]))


def _names(record: Reliability, ends: Sequence[float], theme: Theme) -> list[dict[str, Any]]:
    """Return the name of each line beside it, on axes with these ends; a click in the legend hides both."""
    low, high = ends
    onto = record.axis.place if record.axis else np.asarray

    def within(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return (np.column_stack([onto(x), onto(y)]) - low) / (high - low)

    lines = {key: within(*_strong(record.curves[key])) for key in record.curves}
    marks = [(shape_of(curve), _drawn(curve, record.faint)) for curve in record.bins.values()]
    points = [within(shape.x[drawn], shape.y[drawn]) for shape, drawn in marks]
    bearing = {key: lines.pop(key) for key in _in_colour(record)}
    labels = place_labels(
        bearing, {key: label_of(key) for key in bearing}, [*points, *lines.values(), _beneath(record.corner)]
    )
    return [_name(key, label, low, high - low, theme) for key, label in labels.items()]


def _beneath(corner: Sequence[str]) -> np.ndarray:
    """Return points (m, 2) covering the numbers in the lower right corner, in fractions of the plot's sides."""
    width, height = LETTER_SHARE * max(map(len, corner), default=0), LINE_SHARE * len(corner)
    x, y = np.arange(1, 1 - width, -LETTER_SHARE), np.arange(0, height, LINE_SHARE / 3)
    return np.array([(one, other) for one in x for other in y]).reshape(-1, 2)


def _name(key: str, label: Label, low: float, width: float, theme: Theme) -> dict[str, Any]:
    """Return a line's name with its stroke, on axes that begin at ``low``."""
    (x0, x1), (y0, y1) = (low + width * np.array(ends) for ends in zip(label.start, label.end, strict=True))
    return {
        "x": [x0, x1],
        "y": [y0, y1],
        "mode": "lines+text",
        "legendgroup": key,
        "showlegend": False,
        "hoverinfo": "skip",
        "line": {"color": theme.mark(key).color, "width": 1},
        "text": ["", chart_text(label_of(key))],
        "textposition": f"middle {'left' if label.left else 'right'}",
        "textfont": {"size": 12, "color": legible(theme.mark(key).color, theme)},
    }


def _strong(curve: Curve) -> tuple[np.ndarray, np.ndarray]:
    """Return (x, y) of the points that a curve's strong line joins."""
    shape = shape_of(curve)
    enough = np.isfinite(shape.x) if isinstance(curve, CorpCurve) else shape.count >= FEW_IN_BIN
    return shape.x[enough], shape.y[enough]


def _in_log_odds(
    traces: Iterable[dict[str, Any]], record: Reliability, axis: LogOddsAxis, theme: Theme
) -> list[dict[str, Any]]:
    """Return the traces in log-odds, with triangles at the edges and intervals of bins of one class."""
    placed = []
    for trace in traces:
        on_diagram = trace.get("yaxis", "y") == "y"
        if on_diagram and "customdata" in trace and "markers" in trace["mode"]:
            symbol = trace["marker"]["symbol"]
            ends = [{0.0: "triangle-down", 1.0: "triangle-up"}.get(y, symbol) for y in trace["y"]]
            trace = trace | {"marker": trace["marker"] | {"symbol": ends}}
        placed.append(axis.moved(trace))
    reach = (
        _reach(key, curve, _drawn(curve, record.faint), axis, theme) for key, curve in record.bins.items()
    )
    return [*placed, *reach]


def _reach(
    key: str, curve: BinnedCurve, drawn: np.ndarray, axis: LogOddsAxis, theme: Theme
) -> dict[str, Any]:
    """Return lines from the edge to the other end of the interval for each bin of one class."""
    x, y = [], []
    for end, other in ((0.0, curve.upper), (1.0, curve.lower)):
        for i in np.flatnonzero(drawn & (curve.observed == end)):
            x += [curve.mean_p[i], curve.mean_p[i], np.nan]
            y += [end, other[i], np.nan]
    return {
        "x": axis.place(x),
        "y": axis.place(y),
        "mode": "lines",
        "legendgroup": key,
        "showlegend": False,
        "hoverinfo": "skip",
        "line": {"color": rgba(theme.mark(key).color, 0.5), "width": 1.2},
    }


def _layout(record: Reliability, theme: Theme) -> dict[str, Any]:
    """Return the layout: a square diagram above, the histogram below, with one probability axis."""
    axis = {"range": [-0.02, 1.02], "tickvals": np.linspace(0, 1, 6).tolist()}
    return layout(
        theme,
        height=DIAGRAM_HEIGHT,
        uirevision="reliability",
        showlegend=len(record.curves) > MOST_COLOURED,  # the names of a few are beside their lines
        xaxis={**axis, "title": {"text": record.predicts}, "anchor": "y2", "constrain": "domain"},
        yaxis={
            **axis,
            "title": {"text": "Observed frequency"},
            "domain": [0.24, 1],
            "scaleanchor": "x",
            "constrain": "domain",
            "constraintoward": "top",
        },
        yaxis2={"title": {"text": "Rows"}, "domain": [0, 0.19], "rangemode": "tozero", "nticks": 4},
        annotations=[
            {
                **{"x": 0.98, "xref": "x domain", "xanchor": "right", "align": "right", "showarrow": False},
                **{"y": 0.02, "yref": "y domain", "yanchor": "bottom", "text": "<br>".join(record.corner)},
                "font": {"size": 12, "color": theme.muted},
                "bgcolor": rgba(theme.paper, 0.8),  # arms of bins may pass behind the numbers
            }
        ],
    )


def _in_legend(key: str, theme: Theme) -> dict[str, Any]:
    """Return a calibrator's entry in the legend: colour, dash and marker together."""
    mark = theme.mark(key)
    return {
        "x": [None],
        "y": [None],
        "mode": "lines+markers",
        "name": chart_text(label_of(key)),
        "legendgroup": key,
        "line": {"color": mark.color, "width": 2.4, "dash": mark.dash},
        "marker": outlined(mark.color, 9, theme, symbol=mark.symbol),
    }


def _line(key: str, curve: Curve, light: bool, rows: ScoreHistogram, theme: Theme) -> list[dict[str, Any]]:
    """Return the curve: fainter with few rows near, faintest without rows, straight over poorly supported points."""
    mark, shape = theme.mark(key), shape_of(curve)
    style = {
        "color": rgba(mark.color, 0.7 if light else 1),
        "width": 1.8 if light else 2.8,
        "dash": mark.dash,
    }
    if isinstance(curve, CorpCurve):
        return [_points(key, shape, np.arange(len(shape.x)), mode="lines", line=style)]
    enough = shape.count >= FEW_IN_BIN
    plain = {"mode": "lines", "legendgroup": key, "showlegend": False, "hoverinfo": "skip"}
    thin, thinnest = (
        {"line": {**style, "color": rgba(mark.color, alpha), "width": 1.2}} for alpha in (0.5, 0.22)
    )
    if isinstance(curve, BinnedCurve):
        strong = np.where(enough, shape.y, np.nan)
        over_few = {"x": shape.x[enough], "y": shape.y[enough], "name": label_of(key), **plain, **thinnest}
        return [over_few, {"x": shape.x, "y": strong, **plain, "line": style}]
    faint, strong = (
        np.where(enough & (near(rows, shape.x) >= least), shape.y, np.nan) for least in (1, FEW_IN_BIN)
    )
    whole = _points(key, shape, np.flatnonzero(enough), mode="lines", **thinnest)
    return [
        whole,
        {"x": shape.x, "y": faint, **plain, **thin},
        {"x": shape.x, "y": strong, **plain, "line": style},
    ]


def near(rows: ScoreHistogram, p: np.ndarray) -> np.ndarray:
    """Return how many rows the histogram has in the bin of each p."""
    return rows.count[np.clip(np.searchsorted(rows.edges, p, "right") - 1, 0, len(rows.count) - 1)]


def _marks(key: str, curve: Curve, theme: Theme, *, light: bool, labelled: bool) -> list[dict[str, Any]]:
    """Return the marks that a click selects: bins, with area by rows and faint if those are few, or steps.

    ``labelled`` writes the number of rows beside the faint ones.
    """
    mark, shape = theme.mark(key), shape_of(curve)
    marker = {"color": mark.color, "symbol": mark.symbol, "line": {"color": theme.paper, "width": 1}}
    if not isinstance(curve, BinnedCurve):
        ends = np.flatnonzero(np.diff(shape.low, prepend=-1) > 0)
        return [
            _points(
                key, shape, ends, mode="markers", marker={**marker, "size": 7, "opacity": 0.6 if light else 1}
            )
        ]
    few, enough = (
        np.flatnonzero(which)
        for which in ((shape.count > 0) & (shape.count < FEW_IN_BIN), shape.count >= FEW_IN_BIN)
    )
    numbers = (
        {"text": [f"{n:.0f}" if n >= 1 else "<1" for n in shape.count[few]], "textposition": "top center"}
        if labelled
        else {}
    )
    faint = _points(
        key,
        shape,
        few,
        mode="markers+text" if labelled else "markers",
        marker={**marker, "size": 6, "opacity": 0.4},
        textfont={"size": 10, "color": theme.muted},
        **numbers,
    )
    size = np.clip(8 * np.sqrt(shape.count[enough] * len(shape.count) / max(shape.count.sum(), 1)), 8, 14)
    solid = _points(
        key, shape, enough, mode="markers", marker={**marker, "size": size, "opacity": 0.75 if light else 1}
    )
    return [solid, *([faint] if few.size else [])]


def _points(key: str, shape: Shape, rows: np.ndarray, **style: Any) -> dict[str, Any]:
    """Return these points, with the numbers shown on hover and the range that a click selects."""
    known = np.stack([shape.low, shape.high, shape.count, *shape.confidence], axis=1)[rows]
    points = [list(map(probability, pair)) for pair in zip(shape.x[rows], shape.y[rows], strict=True)]
    interval = "<br>95 % interval from %{customdata[4]:.3g} to %{customdata[5]:.3g}"
    return dict(
        x=shape.x[rows],
        y=shape.y[rows],
        name=label_of(key),
        legendgroup=key,
        showlegend=False,
        customdata=[[key, *values, *words] for values, words in zip(known.tolist(), points, strict=True)],
        hovertemplate=f"predicted %{{customdata[6]}}, observed %{{customdata[7]}}<br>{shape.hover}"
        + (interval if np.isfinite(known[:, 3:]).any() else ""),
        **style,
    )


def _band(key: str, curve: Curve, kind: str, counts: ScoreHistogram, theme: Theme) -> dict[str, Any]:
    """Return the band between points with enough rows, as translucent shapes; a smooth one ends without rows near."""
    shape, color = shape_of(curve), theme.mark(key).color
    shown = np.isfinite(shape.x) if isinstance(curve, CorpCurve) else shape.count >= FEW_IN_BIN
    if isinstance(curve, SmoothCurve):
        shown &= near(counts, shape.x) > 0
    lower, upper = shape.consistency if kind == "consistency" else shape.confidence
    rows = np.flatnonzero(shown)
    ends: Any = []  # a smooth band stops at a bar without rows, or at points that few rows support
    if isinstance(curve, SmoothCurve):
        apart = np.diff(shape.x[rows]) > np.diff(counts.edges).max()
        ends = np.flatnonzero((np.diff(rows) > 1) | apart) + 1
    runs = np.split(rows, ends)
    x, y = (
        np.concatenate([np.r_[there[run], back[run][::-1], np.nan] for run in runs])[:-1]
        for there, back in ((shape.x, shape.x), (upper, lower))
    )
    return {
        "x": x,
        "y": y,
        "mode": "lines",
        "line": {"width": 0.5, "color": rgba(color, 0.35)},
        "fill": "toself",
        "fillcolor": rgba(color, 0.16),
        "legendgroup": key,
        "showlegend": False,
        "hoverinfo": "skip",
    }


def _bars(key: str, counts: ScoreHistogram, alpha: float, theme: Theme) -> dict[str, Any]:
    """Return counts as a step line, so that several calibrators stay readable over each other."""
    color = theme.mark(key).color
    return {
        "x": counts.edges,
        "y": np.append(counts.count, counts.count[-1]),
        "yaxis": "y2",
        "mode": "lines",
        "legendgroup": key,
        "showlegend": False,
        "name": label_of(key),
        "line": {"color": color, "width": 1.5, "shape": "hv"},
        "fill": "tozeroy",
        "fillcolor": rgba(color, alpha),
        "hovertemplate": "%{y:,d} rows" if alpha < 0.5 else "%{y:,d} of the selected rows",
    }


def _rings(
    key: str, shape: Shape, drawn: np.ndarray, ranges: Sequence[tuple[str, float, float]], theme: Theme
) -> list[dict[str, Any]]:
    """Return a ring around every point whose rows are all selected."""
    inside = np.zeros(len(shape.x), dtype=bool)
    for name, low, high in ranges:
        if name == key:
            inside |= (shape.low >= low) & (shape.high <= high) & drawn
    if not inside.any():
        return []
    return [
        {
            "x": shape.x[inside],
            "y": shape.y[inside],
            "mode": "markers",
            "legendgroup": key,
            "showlegend": False,
            "hoverinfo": "skip",
            "marker": hollow(theme.ink, 18, 1.8),
            "cliponaxis": False,
        }
    ]


def _reported(evaluation: Evaluation, options: ReportOptions) -> tuple[Any, dict[str, Any]]:
    """Return a report's options, with the Recipe's band or else that of confidence, as reviewers expect."""
    band = {"band": "confidence"} if evaluation.recipe.band == "none" else {}
    return evaluation, options.stated("selection", "faint") | band


RELIABILITY_DIAGRAM = FigureEntry(
    "reliability", "Reliability diagram", prepare, draw, reported=_reported, overlaid=True
)

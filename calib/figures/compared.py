"""One metric of several Recipes side by side: a lane per Recipe, or per calibrator of a single Recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import unescape

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.analysis.differences import how_sure, same_rows
from calib.analysis.recommendation.advice import recommend, why_not_chosen
from calib.calibrators import label_of, name_of
from calib.evaluate import Evaluation
from calib.figures.axes import padded
from calib.figures.base import FigureEntry, Record, chart_text, in_two_lines
from calib.figures.theme import LIGHT, Theme, hollow, layout, outlined
from calib.kernel.checks import InputError
from calib.kernel.wording import briefly, counted, number, set_apart, with_clipped, with_interval
from calib.metrics import METRICS

# Pixels, pixels, and the share of a lane that its calibrators use
LANES_HEIGHT, HEAD, SHARE_OF_LANE = 300, 130, 0.8
LANE_HEIGHTS = (54, 160)  # smallest and largest height of a lane in pixels
MARK_HEIGHT, APART = 14, 34  # pixels per calibrator in a shared lane, and in its own
LEGEND_HEIGHT = 100  # largest height of the legend in pixels: four lines and their frame
# Letters of a Recipe's name in a line of the axis, and in the title
LONGEST_ON_AXIS, LONGEST_IN_TITLE = 20, 22


@dataclass(frozen=True, eq=False)
class Compared(Record):
    """One metric of several Recipes.

    Attributes
    ----------
    table
        Columns recipe, calibrator, value, clipped (for infinite values, else NaN), lower and upper (its 95 %
        interval, NaN if it has none), best; one line per Recipe and calibrator.
    names
        Names of the Recipes.
    recommended
        A sentence on the recommended method, if another one has the best value.
    """

    table: pd.DataFrame
    names: tuple[str, ...]
    metric: str
    recommended: str

    def to_frame(self) -> pd.DataFrame:
        """Return one row per Recipe and calibrator."""
        known = self.table if self.table["clipped"].notna().any() else self.table.drop(columns="clipped")
        return known.rename(columns={"value": self.metric})


def prepare(evaluations: Mapping[str, Evaluation], metric: str = "brier") -> Compared:
    """Take one metric of several evaluations by name.

    Raises
    ------
    InputError
        If no evaluation has an answer.
    """
    lines = [
        (name, key, found.value, found.clipped, found.low, found.high)
        for name, evaluation in evaluations.items()
        for key in evaluation.predictions
        for found in [evaluation.estimate(metric, key)]
        if not np.isnan(found.value)
    ]
    if not lines:
        raise InputError(
            "There is nothing to compare, because this metric is not available for any calibrator of these "
            "models."
        )
    table = pd.DataFrame(lines, columns=["recipe", "calibrator", "value", "clipped", "lower", "upper"])
    what = METRICS[metric]
    table["best"] = what.best(table["value"])
    told = table.assign(text=set_apart(table["value"], table["best"], _brief, digits=2))
    summary = "; ".join(
        f"{r.recipe}, {label_of(r.calibrator)}: {with_clipped(number(r.value), r.clipped)}"
        for r in table.itertuples()
    )
    lane = "one model, and each mark is a calibrator" if len(evaluations) > 1 else "a calibrator"
    return Compared(
        table,
        tuple(evaluations),
        metric,
        title=_finding(told, metric, evaluations),
        caption=f"Each row is {lane}; the ring marks the best value.{_bars(table)} {_same_rows(evaluations)} "
        f"{what.label}: {what.help}",
        alt=f"{what.label} side by side. {summary}.",
        recommended=_recommended(told, metric, evaluations),
    )


def _brief(value: float, digits: int) -> str:
    return briefly(value, digits=digits)[0]


def _finding(table: pd.DataFrame, metric: str, evaluations: Mapping[str, Evaluation]) -> str:
    """State the best value, and how many others share it or are clearly different, in one line."""
    label, first = METRICS[metric].label, table[table["best"]]
    if first.empty:
        ends = table.loc[[table.value.idxmin(), table.value.idxmax()]]
        return "{} from {} to {}".format(label, *map(with_clipped, briefly(*ends.value), ends.clipped))
    line, rest = next(first.itertuples()), table[~table["best"]]
    others = list(zip(rest["recipe"], rest["calibrator"], strict=True))
    sure = how_sure(evaluations, (line.recipe, line.calibrator), others, metric)
    where = (
        f" in {unescape(chart_text(line.recipe, LONGEST_IN_TITLE))}" if len(set(table["recipe"])) > 1 else ""
    )
    equal = f", shared with {counted(len(first) - 1, 'other')}" if len(first) > 1 else ""
    extreme = "Highest" if METRICS[metric].higher_is_better else "Lowest"
    return f"{extreme} {label}: {line.text}, {name_of(line.calibrator)}{where}{equal}{sure}"


def _recommended(table: pd.DataFrame, metric: str, evaluations: Mapping[str, Evaluation]) -> str:
    """Explain the recommendation for the Recipe of the single best value, if it is another method."""
    first = table[table["best"]]
    if len(first) != 1:
        return ""
    line = next(first.itertuples())
    evaluation = evaluations[line.recipe]
    choice = recommend(evaluation).choice
    lines = table[(table["recipe"] == line.recipe) & (table["calibrator"] == choice)]
    if choice is None or lines.empty or choice == line.calibrator:
        return ""
    where = f"For {line.recipe}, the" if len(set(table["recipe"])) > 1 else "The"
    said = f"recommended calibrator is {name_of(choice)}"
    if choice == "none":
        said = "recommendation is to leave the probabilities as they are"
    why = (
        "the recommendation is based on the Brier score"
        if metric != "brier"
        else why_not_chosen(evaluation, line.calibrator)
    )
    return f"{where} {said} ({lines['text'].iloc[0]}), because {why}."


def _bars(table: pd.DataFrame) -> str:
    """Explain the bars: the interval of one number can be wide although a difference on the same rows is precise."""
    if not np.isfinite(table["lower"]).any():
        return ""
    return (
        " Bars are 95 % intervals of each number; differences on the same rows are more certain than the bars "
        "suggest."
    )


def _same_rows(evaluations: Mapping[str, Evaluation]) -> str:
    """State whether the numbers are comparable."""
    if same_rows(evaluations.values()):
        return (
            "All numbers come from the same test rows; “clearly” takes into account that all pairs are "
            "compared at once."
        )
    return "The numbers come from different test rows, which may explain part of the differences."


def draw(record: Compared, theme: Theme = LIGHT) -> go.Figure:
    """Draw the first Recipe at the top; infinite values are triangles at the right end."""
    keys = list(dict.fromkeys(record.table["calibrator"]))
    alone = len(record.names) == 1  # then the axis names calibrators, and a legend would repeat them
    names = (
        [chart_text(label_of(key)) for key in keys]
        if alone
        else [in_two_lines(name, LONGEST_ON_AXIS) for name in record.names]
    )
    count, ends = len(names), padded(record.table[["value", "lower", "upper"]])
    lane = (
        APART
        if alone
        else max(
            min(max(LANES_HEIGHT // count, LANE_HEIGHTS[0]), LANE_HEIGHTS[1]),
            MARK_HEIGHT / SHARE_OF_LANE * len(keys),
        )
    )
    figure = go.Figure(
        layout=layout(
            theme,
            height=HEAD + count * lane,
            margin={"l": 12, "r": 16, "t": 16 if alone else 56, "b": 48},
            showlegend=not alone,
            xaxis={"title": {"text": METRICS[record.metric].label}, "range": ends},
            yaxis={
                "range": [-0.6, count - 0.4],
                "tickvals": list(range(count)),
                "ticktext": names[::-1],
                "ticks": "",
                "automargin": True,
            },
            legend={
                **{"x": 0.01, "xref": "container", "y": 1, "yref": "container", "yanchor": "top"},
                "maxheight": LEGEND_HEIGHT,  # on a phone long names of Recipes leave it one column
            },
        )
    )
    lanes = _lanes(record)
    for key, lines in record.table.groupby("calibrator", sort=False):
        figure.add_trace(_marks(lines, str(key), lanes[lines.index], ends[1], theme))
    chosen = record.table.index[record.table["best"] & np.isfinite(record.table["value"])]
    figure.add_traces([_ring(record.table["value"][i], lanes[i], theme) for i in chosen])
    return figure


def _lanes(record: Compared) -> pd.Series:
    """Return the position of each line of the table: by its Recipe, with an offset per calibrator."""
    number_of, keys = pd.factorize(record.table["calibrator"])
    if len(record.names) == 1:
        return pd.Series(len(keys) - 1.0 - number_of, record.table.index)
    recipes = len(record.names) - 1 - record.table["recipe"].map(record.names.index)
    return recipes + SHARE_OF_LANE * (0.5 - (number_of + 0.5) / len(keys))


def _marks(lines: pd.DataFrame, key: str, lanes: pd.Series, end: float, theme: Theme) -> go.Scatter:
    mark, value = theme.mark(key), lines["value"].to_numpy()
    finite = np.isfinite(value)
    return go.Scatter(
        x=np.where(finite, value, end),
        y=lanes.tolist(),
        mode="markers",
        name=label_of(key),
        customdata=[
            with_clipped(with_interval(line.value, line.lower, line.upper), line.clipped)
            for line in lines.itertuples()
        ],
        hovertemplate="%{customdata}",
        cliponaxis=False,
        error_x={
            **{"type": "data", "symmetric": False, "color": mark.color, "thickness": 1.2, "width": 3},
            "array": np.where(finite, lines["upper"] - value, np.nan),
            "arrayminus": np.where(finite, value - lines["lower"], np.nan),
        },
        marker=outlined(
            mark.color, 12, theme, symbol=[mark.symbol if here else "triangle-right" for here in finite]
        ),
    )


def _ring(x: float, y: float, theme: Theme) -> go.Scatter:
    return go.Scatter(
        x=[x],
        y=[y],
        mode="markers",
        showlegend=False,
        hoverinfo="skip",
        marker=hollow(theme.ink, 20, 1.5),
    )


COMPARED = FigureEntry("compared", "Models side by side", prepare, draw)

"""Costs of acting by each calibrator's probabilities: expected and realised, on one axis.

With calibrated probabilities, expected and realised costs agree. Elkan 2001; ``calib.analysis.decision`` computes
the costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from calib.analysis.class_decision import ClassDecision, decide_class
from calib.analysis.decision import Costed, Decision
from calib.calibrators import label_of, name_of
from calib.evaluate import Evaluation
from calib.figures.base import FigureEntry, Record, ReportOptions, chart_text, of_decision
from calib.figures.metrics import starred_intervals
from calib.figures.theme import LIGHT, Theme, error_bars, layout
from calib.kernel.checks import InputError
from calib.kernel.weights import are_whole, or_ones
from calib.kernel.wording import MISSING, brief, capital, class_named, number, percent
from calib.metrics.base import TIE_DECIMALS

# The costlier rule is drawn within so many axis widths; smallest height in pixels
FARTHEST_DRAWN, LEAST_HEIGHT = 4, 250
NO_PROBABILITIES = (
    "None of the chosen calibrators gives probabilities for these data. Choose another calibrator."
)


@dataclass(frozen=True, eq=False)
class Costs(Record):
    """Expected and realised cost per row, one line per calibrator, from ``Decision.table``.

    Attributes
    ----------
    rules
        Realised cost per row of rules without a model, by name, and further columns of the table.
    """

    table: pd.DataFrame
    rules: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """Return one row per calibrator, then the rules without a model."""
        return pd.concat([self.table, self.rules]).rename_axis("calibrator").reset_index()


def prepare(decision: Decision) -> Costs:
    """Take the costs of every calibrator.

    Raises
    ------
    InputError
        If there is no calibrator.
    """
    return _costs(
        decision,
        pd.DataFrame(
            {"realised": [decision.never, decision.always], "acted": [0.0, 1.0]},
            ["act on none", "act on all"],
        ),
        "If the two costs differ by more than the bars, the mean probability is wrong among the rows acted "
        "on or among the other rows.",
        f"Acting on no row costs {number(decision.never)} per row; acting on every row costs "
        f"{number(decision.always)}",
    )


def prepare_classes(decision: ClassDecision) -> Costs:
    """Take the costs of deciding among three or more classes, by every calibrator.

    Raises
    ------
    InputError
        If there is no calibrator.
    """
    name, cost = decision.constant
    return _costs(
        decision,
        pd.DataFrame({"realised": [cost]}, [f"always {name}"]),
        "For each row, the decision is the class with the lowest expected cost.",
        f"Deciding for {class_named(name)} in every case costs {number(cost)} per row",
    )


def _costs(decision: Costed, rules: pd.DataFrame, note: str, without: str) -> Costs:
    """Return the record of a decision, with the rules without a model and a sentence on them."""
    table = decision.table
    if table.empty:
        raise InputError(NO_PROBABILITIES)
    summary = "; ".join(
        f"{label_of(k)} {number(r.realised)}, expected {number(r.expected)}" for k, r in table.iterrows()
    )
    return Costs(
        table,
        rules,
        title=_finding(decision),
        caption="Filled marks show realised costs per test row, hollow marks expected costs. Expected costs "
        f"are computed from the probabilities. Bars are 95 % intervals. {note} If the hollow mark "
        f"lies left of the filled mark, the model underestimates the cost. {without} (the dashed "
        "line, if it lies within the axis).",
        alt=f"Realised and expected costs per row. {summary}.",
    )


def _finding(decision: Costed) -> str:
    """Write the result in one sentence; a difference whose interval includes 0 may be sampling variability."""
    best = decision.cheapest
    if best == decision.reference:
        cost = brief(decision.cost("realised", best).value)
        return f"{capital(name_of(best))} costs {cost} per row; no calibrator here is cheaper"
    text = "{} lowers the cost per row from {} to {}".format(label_of(best), *decision.changed_cost(best, 1))
    sure = decision.difference(best).high < 0
    return text + ("" if sure else ", but the change may be due to sampling variability")


def draw(record: Costs, theme: Theme = LIGHT) -> go.Figure:
    """Draw one line per calibrator, the first at the top, with realised above expected costs."""
    keys = list(record.table.index)
    rules = [(cost, name) for name, cost in record.rules["realised"].sort_values(kind="stable").items()]
    end = 1.06 * max(rules[0][0], record.table[["expected_upper", "realised_upper"]].to_numpy().max())
    if rules[-1][0] <= FARTHEST_DRAWN * end:
        end = max(end, 1.06 * rules[-1][0])
    figure = go.Figure(
        layout=layout(
            theme,
            height=max(LEAST_HEIGHT, 110 + 58 * len(keys)),
            showlegend=False,
            margin={"l": 110, "r": 16, "t": 28, "b": 48},
            xaxis={"title": {"text": "Cost per row"}, "range": [-0.015 * (end or 1.0), end or 1.0]},
            yaxis={
                "range": [-0.6, len(keys) - 0.4],
                "tickvals": list(range(len(keys))),
                "ticktext": [label_of(key) for key in reversed(keys)],
                "ticks": "",
                "showgrid": False,
                "automargin": True,  # names such as "Structured matrix scaling" are longer than the margin
            },
        )
    )
    for cost, rule in rules:
        if cost > end:
            continue
        figure.add_vline(x=cost, name=rule, line={"color": theme.diagonal, "width": 1, "dash": "dash"})
        figure.add_annotation(
            x=cost,
            y=1,
            yref="paper",
            yanchor="bottom",
            xanchor="right" if cost > end / 2 else "left",
            showarrow=False,
            font={"color": theme.muted},
            text=chart_text(rule),
        )
    for name, shift, filled in (("realised", 0.13, True), ("expected", -0.13, False)):
        for i, key in enumerate(reversed(keys)):
            figure.add_trace(_mark(record.table.loc[key], key, name, i + shift, filled, theme))
    return figure


def _mark(line: pd.Series, key: str, name: str, y: float, filled: bool, theme: Theme) -> go.Scatter:
    mark, value = theme.mark(key), line[name]
    lower, upper = line[f"{name}_lower"], line[f"{name}_upper"]
    return go.Scatter(
        x=[value],
        y=[y],
        mode="markers",
        name=f"{label_of(key)}, {name}",
        error_x=error_bars(value, lower, upper, mark.color, 2 if filled else 1.2, 4),
        marker={
            "symbol": mark.symbol if filled else f"{mark.symbol}-open",
            "size": 12,
            "color": mark.color,
            "line": {"color": theme.paper if filled else mark.color, "width": 1 if filled else 2},
        },
        hovertemplate=f"{name} cost %{{x:.4f}}"
        + ("" if lower != lower else f"<br>95 % interval [{lower:.4f}, {upper:.4f}]"),
    )


def formatted_costs(decision: Decision | ClassDecision) -> pd.DataFrame:
    """Return the table for readers; the lowest realised cost has a star.

    Parameters
    ----------
    decision
        The result of ``decide`` or ``decide_class``.
    """
    table = decision.table
    shown = pd.DataFrame(index=pd.Index([label_of(key) for key in table.index], name="Calibrator"))
    if isinstance(decision, ClassDecision):
        shown["Undecided"], shown["Correct"] = (
            list(map(percent, table[name])) for name in ("undecided", "correct")
        )
    else:
        shown["Acted on"] = [percent(share) for share in table["acted"]]
        for name, label in (("false_alarms", "False alarms"), ("misses", "Misses")):
            shown[label] = _mistakes(decision, table[name])
    realised = table["realised"].round(TIE_DECIMALS)
    for name, label in (("realised", "Realised cost"), ("expected", "Expected cost")):
        stars = ((realised == realised.min()) & (name == "realised")).tolist()
        found = [decision.cost(name, key) for key in table.index]
        shown[label] = starred_intervals([(each.value, each.low, each.high) for each in found], stars)
    shown["Difference"] = [
        MISSING if key == decision.reference else decision.difference(key).text() for key in table.index
    ]
    return shown


def _mistakes(decision: Decision | ClassDecision, rows: pd.Series) -> list[str]:
    """Format numbers of rows; if weights are not counts, as shares of their total."""
    one = decision.evaluation
    if one.weight is None or are_whole(one.weight):
        return [f"{each:,}" for each in rows]
    told = one.stated_weight if one.unadjusted is None else one.weight
    total = float(or_ones(told, len(one.y)).sum())
    return [percent(each / total) for each in rows]


def _of_classes(evaluation: Evaluation, options: ReportOptions) -> tuple[Any, dict[str, Any]]:
    among = evaluation if evaluation.whole is not None and evaluation.of_confidence else evaluation.of("top")
    return decide_class(among, **options.stated("costs", "reject")), {}


COSTS = FigureEntry("costs", "Costs of acting", prepare, draw, reported=of_decision)
CLASS_COSTS = FigureEntry(
    "class_costs", "Costs of decisions among all classes", prepare_classes, draw, reported=_of_classes
)

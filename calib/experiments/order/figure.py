"""Four forms of orderings, and the share of class 1 among orderings with the same probability.

Vovk and Petej (2014), the remark after theorem 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pandas as pd
import plotly.graph_objects as go

from calib.experiments.order.simulation import Orderings
from calib.experiments.shared.findings import Finding
from calib.figures.base import FigureEntry
from calib.figures.theme import LIGHT, Theme, layout, rgba


@dataclass(frozen=True, eq=False)
class Order(Finding):
    orderings: Orderings


def prepare(orderings: Orderings) -> Order:
    """Count the four forms, and check that the selected probability is the frequency in both columns."""
    selected = {form.first: form.selected for form in orderings.forms}
    found = {first: orderings.frequency(first) for first in (0, 1)}
    perfect = all(found[first] in (selected[first], None) for first in (0, 1))
    equals = ", ".join(
        f"after a {first} it predicts {_fraction(orderings, selected[first])}, and class 1 follows in "
        f"{_count(orderings, first)}"
        for first in (0, 1)
        if found[first] is not None
    )
    size = orderings.objects + 1
    return Order(
        title=("Perfectly calibrated: " if perfect else "Not calibrated: ") + equals,
        caption=f"The columns show all orderings of {size} labels with {orderings.ones} ones, by the first label. "
        "The height of each part is the number of orderings with this label of the test row. Within a column the "
        "predictor selects one probability, and class 1 fills exactly this share.",
        alt=f"Orderings of {size} labels with {orderings.ones} ones. {equals}.",
        table=pd.DataFrame(
            [
                {
                    "first_label": form.first,
                    "test_label": form.last,
                    "orderings": form.orderings,
                    "selected": float(form.selected),
                    "selected_fraction": _fraction(orderings, form.selected),
                }
                for form in orderings.forms
            ]
        ),
        answer=1 if perfect else 3,
        orderings=orderings,
    )


def _count(orderings: Orderings, first: int) -> str:
    counts = {form.last: form.orderings for form in orderings.forms if form.first == first}
    return f"{counts[1]:,} of {sum(counts.values()):,} orderings"


def _fraction(orderings: Orderings, value: Fraction) -> str:
    """Write k/l without reducing it."""
    return f"{value * orderings.objects}/{orderings.objects}"


def draw(record: Order, theme: Theme = LIGHT) -> go.Figure:
    """Draw two stacked columns, one per first label."""
    forms = record.orderings.forms
    selected = {form.first: _fraction(record.orderings, form.selected) for form in forms}
    names = [f"First label {first}<br>selects {selected[first]}" for first in (0, 1)]
    figure = go.Figure(
        layout=layout(
            theme,
            height=460,
            barmode="stack",
            bargap=0.4,
            xaxis={"tickfont": {"color": theme.ink, "size": 14}},
            yaxis={"title": {"text": "Orderings"}, "rangemode": "tozero"},
            legend={"y": -0.2},
        )
    )
    hatched = {"fillmode": "overlay", "fgcolor": rgba(theme.paper, 0.4)}
    for last, color, pattern in ((1, theme.positive, "/"), (0, theme.negative, "")):
        chosen = [form for form in forms if form.last == last]
        totals = [sum(form.orderings for form in forms if form.first == one.first) for one in chosen]
        figure.add_bar(
            x=names,
            y=[form.orderings for form in chosen],
            name=f"test label {last}",
            marker={"color": color, "pattern": {**hatched, "shape": pattern}},
            text=[f"{form.orderings:,} of {total:,}" for form, total in zip(chosen, totals, strict=True)],
            textposition="inside",
            insidetextanchor="middle",
            textfont={"color": "#FFFFFF" if theme is LIGHT else theme.paper, "size": 15},
            hovertemplate=f"%{{y:,d}} orderings end with {last}<extra></extra>",
        )
    return figure


FIGURES = (FigureEntry("order", "Orderings of the labels", prepare, draw),)

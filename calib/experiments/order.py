"""Theorem 2: why a Venn predictor must ignore the order of the training rows.

Vovk and Petej (2014), the remark after theorem 2: a perfectly calibrated predictor that depends on the order of its
training labels, with exact counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from calib.experiments.base import Experiment
from calib.experiments.shared.findings import Finding
from calib.experiments.shared.one_feature import PROOFS, PROVED, VENN_PAPER
from calib.figures.base import FigureEntry
from calib.figures.theme import LIGHT, Theme, layout, rgba
from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.kernel.records import Parameter


@dataclass(frozen=True)
class Form:
    """Orderings that begin with label ``first`` and end with the test row's label ``last``.

    Attributes
    ----------
    orderings
        Number of orderings.
    selected
        P_Y, the prediction for the true label.
    """

    first: int
    last: int
    orderings: int
    selected: Fraction


@dataclass(frozen=True)
class Orderings:
    """All orderings of l + 1 labels with m ones, in four forms."""

    objects: int
    ones: int
    forms: tuple[Form, ...]

    def frequency(self, first: int) -> Fraction | None:
        """Return the share of class 1 in the last place among orderings that begin with ``first``; None without any."""
        counts = {form.last: form.orderings for form in self.forms if form.first == first}
        return Fraction(counts[1], sum(counts.values())) if sum(counts.values()) else None


def count_orderings(
    settings: Mapping[str, Any], random_state: int = 0, watch: Watch | None = None
) -> Orderings:
    """Count the four forms 0…0, 0…1, 1…0, 1…1, with their selected probabilities; nothing is random.

    Parameters
    ----------
    settings
        objects (l) and ones (m).

    Raises
    ------
    InputError
        If m is above l.

    Examples
    --------
    >>> orderings = count_orderings({"objects": 3, "ones": 2})
    >>> [(form.orderings, str(form.selected)) for form in orderings.forms]
    [(1, '2/3'), (2, '2/3'), (2, '1/3'), (1, '1/3')]
    >>> str(orderings.frequency(0)), str(orderings.frequency(1))
    ('2/3', '1/3')
    """
    length, m = settings["objects"], settings["ones"]
    if m > length:
        raise InputError(
            f"`ones` must be at most the number of training labels ({length}), but is {m}. Choose fewer "
            "ones or more labels."
        )
    forms = []
    for first in (0, 1):
        for last in (0, 1):
            rest = m - first - last
            k = m - last  # ones among the training labels
            pair = (Fraction(k - first, length), Fraction(k - first + 1, length))
            forms.append(Form(first, last, comb(length - 1, rest) if rest >= 0 else 0, pair[last]))
    return Orderings(length, m, tuple(forms))


@dataclass(frozen=True, eq=False)
class Order(Finding):
    orderings: Orderings


def prepare(orderings: Orderings) -> Order:
    """Count the four forms, and check that the selected probability is the frequency in both columns."""
    selected = {form.first: form.selected for form in orderings.forms}
    found = {first: orderings.frequency(first) for first in (0, 1)}
    perfect = all(found[first] in (selected[first], None) for first in (0, 1))
    equals = ", ".join(
        f"after a {first}, it predicts {_fraction(orderings, selected[first])} and class 1 follows "
        f"in {_count(orderings, first)}"
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


EXPERIMENT = Experiment(
    key="order",
    page=PROVED,
    lab=PROOFS,
    name="Theorem 2: the order of the rows",
    question="With k ones among l training labels, a predictor gives k/l or (k + 1)/l if the first label is "
    "0, otherwise (k − 1)/l or k/l. Can it be perfectly calibrated?",
    answers=("Yes, perfectly", "Only roughly, for large l", "No"),
    right=1,
    why=(
        "All orderings are equally likely. Among the orderings with the same prediction, the share of ones is exactly "
        "this prediction.",
        "The calibration is exact for every l, as counting the orderings shows.",
        "A predictor should not depend on the order of the rows, but the guarantee still holds. For each "
        "first label, the counts are exact.",
    ),
    no_turn="The guarantee holds for every number of rows.",
    parameters=(
        Parameter(
            "objects",
            "Training labels l",
            "integer",
            6,
            2,
            20,
            help="Number of training labels; the label of the test row comes after them.",
        ),
        Parameter(
            "ones",
            "Ones among all l + 1 labels",
            "integer",
            3,
            1,
            20,
            help="Number of ones among all labels, at most l. You know this number even if you do not know "
            "the order.",
        ),
    ),
    simulation=count_orderings,
    notice=(
        "Every ordering of the labels is equally likely. The selected probability is m/l if the first label is 0, and "
        "(m − 1)/l if it is 1. In exactly this share of these orderings, class 1 comes last.",
        "The predictor is therefore perfectly calibrated, yet it contains no Venn predictor. A Venn predictor ignores "
        "the order. A Venn predictor inside this predictor would have to predict k/l, the only value that occurs for "
        "both first labels.",
        "Theorem 2 is about predictors that ignore the order of the training rows. If such a predictor has the "
        "guarantee of theorem 1, it contains a Venn predictor. This example shows why the theorem needs this "
        "condition.",
    ),
    formulas=(
        r"\{P_0, P_1\} = \begin{cases}\{k/l,\ (k+1)/l\} & y_1 = 0\\ \{(k-1)/l,\ k/l\} & y_1 = 1\end{cases}",
        r"y_1=0:\quad \mathbb{P}(Y{=}1) = \tbinom{l-1}{m-1}\big/\tbinom{l}{m} = \tfrac{m}{l}",
        r"y_1=1:\quad \mathbb{P}(Y{=}1) = \tbinom{l-1}{m-2}\big/\tbinom{l}{m-1} = \tfrac{m-1}{l}",
    ),
    source=f"{VENN_PAPER}, theorem 2 and the remark after it.",
    seeded=False,
)


FIGURES = (FigureEntry("order", "Orderings of the labels", prepare, draw),)

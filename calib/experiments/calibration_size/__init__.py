"""Calibration-set size: which methods need few rows, and which improve with many.

Shaker and Hüllermeier (2025), Figures 11 and 12, Table 3. Panels have the measures by size, the entropies, and one
mixture.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.experiments.base import Experiment
from calib.experiments.calibration_size.simulation import SIZE_RUN, training_rows
from calib.experiments.shared.findings import Finding, class_marks
from calib.experiments.shared.gaussian_plane import RF_PAPER
from calib.experiments.shared.long_run import (
    BASES,
    DRAWN_METHODS,
    FOREST_MEASURES,
    FOREST_TERMS,
    PAPER_CALIBRATORS,
    RESULTS,
    UNCALIBRATED,
    LongResult,
    add_lines,
    base,
    line_mark,
    measure_setting,
    method_name,
    name,
    of_base,
    source_in_words,
    span,
    wide,
)
from calib.figures.base import FigureEntry
from calib.figures.many import GREY, THREE, in_colour, mute
from calib.figures.theme import LIGHT, Theme, hollow, layout
from calib.kernel.records import Dataset, Parameter
from calib.kernel.wording import brief, briefly, capital, number

PUBLISHED_ENTROPY = {
    "rf_d": 5.60,
    "rf_opt": 6.50,
    "rf_large": 6.29,
    "platt": 6.54,
    "isotonic": 3.30,
    "beta": 6.54,
    "venn_abers": 4.22,
    "ct": 5.61,
    "ppa": 6.54,
    "rank": 3.27,
}
"""Entropy of the predictions for 100 test rows in Table 3, at most log2 100 = 6.64 bits."""

SHOWN_FIRST = ("isotonic", "venn_abers", "platt", "rf_opt")
"""Methods in the order of the answers."""

MUCH = ("accuracy", "group_entropy", "bin_entropy")
SHARE_IN_SIGHT = 0.1
"""Share of calibration rows from which errors are in the picture: up to the first, the lines would end as one."""


@dataclass(frozen=True, eq=False)
class Sizes(Finding):
    """Measures of one base forest by the share of calibration rows.

    Attributes
    ----------
    rows
        Rows of one base, with their measure.
    coloured
        Methods that are not grey.
    n_train
        Training rows: a share of 1 is as many calibration rows.
    range
        Of the vertical axis.
    above
        How far lines begin above it, or "".
    """

    rows: pd.DataFrame
    measure: str
    coloured: tuple[str, ...]
    n_train: int
    range: list[float]
    above: str


def prepare(found: LongResult, measure: str = "tce", base: str = "tuned") -> Sizes:
    """Prepare one measure by the size of the calibration set."""
    rows = of_base(found.table, base)
    last = rows[rows["share"] == rows["share"].max()].set_index("method")[measure]
    first = rows[rows["share"] == rows["share"].min()].set_index("method")[measure]
    last = last[[key for key in DRAWN_METHODS if key in last]]
    much = measure in MUCH
    best = last.idxmax() if much else last.idxmin()
    n_train = found.settings["n_train"]
    needs = _needs(rows, measure, n_train) if measure in ("tce", "ece", "brier") else ""
    other = measure != "tce" or base != "tuned"
    # the range of the vertical axis, without the first and largest errors
    sight = span(rows if much else rows[rows["share"] >= SHARE_IN_SIGHT], measure, from_zero=much)
    above = _above(rows, measure, sight[1], n_train)
    unasked = "The question is about the TCE of the tuned forest." if other else ""
    return Sizes(
        title=f"With as many calibration as training rows, {_extreme(last, best, much, measure, base)}",
        caption=f"Thick grey: the uncalibrated {BASES[base].lower()}. Black (white in dark mode): forests trained on "
        f"all rows. Bands: two standard errors. {needs}{source_in_words(found)}{GREY}",
        alt=f"{FOREST_MEASURES[measure]} with the smallest and the largest calibration set. "
        + " ".join(f"{name(key)}: {number(first[key])}, {number(last[key])}." for key in last.index),
        table=rows[["share", "method", "base", "runs", measure, f"{measure}_error"]],
        answer=None if unasked else 1 + int(np.argmin([last[key] for key in SHOWN_FIRST])),
        unasked=unasked,
        rows=rows,
        measure=measure,
        coloured=in_colour([UNCALIBRATED, best, "venn_abers"], ["rf_opt", "rf_d"], THREE),
        n_train=n_train,
        range=sight,
        above=above,
    )


def _above(rows: pd.DataFrame, measure: str, top: float, n_train: int) -> str:
    """Say how far lines are above the picture, or "" if none is."""
    drawn = rows[rows["method"].isin(DRAWN_METHODS)]
    highest = drawn.loc[drawn[measure].idxmax()]
    if highest[measure] <= top:
        return ""
    return f"up to {brief(highest[measure])} with {_rows(highest['share'], n_train)} rows"


def _extreme(last: pd.Series, best: str, much: bool, measure: str, base: str) -> str:
    """Name the best method, unless its value looks equal to that of the uncalibrated forest."""
    what, forest, own, venn = (
        FOREST_MEASURES[measure],
        BASES[base].lower(),
        last[UNCALIBRATED],
        last["venn_abers"],
    )
    if brief(last[best]) == brief(own):
        as_it_is, with_venn = briefly(own, venn)
        side = "above" if much else "below"
        return (
            f"no method's {what} is clearly {side} that of the {forest}: {as_it_is} uncalibrated, "
            f"{with_venn} with Venn–Abers"
        )
    least, as_it_is, with_venn = briefly(last[best], own, venn)
    return (
        f"{method_name(best)} has the {'highest' if much else 'lowest'} {what}, {least}; the {forest} has {as_it_is} "
        f"uncalibrated, Venn–Abers {with_venn}"
    )


def _needs(rows: pd.DataFrame, measure: str, n_train: int) -> str:
    """List the rows with which each calibrator settles, and with which it first beats the uncalibrated forest."""
    steady = ", ".join(
        f"{method_name(key)} {_rows(share, n_train)}" for key, share in settled(rows, measure).items()
    )
    below = beats_none(rows, measure)
    better = ", ".join(
        f"{method_name(key)} {'never' if share is None else _rows(share, n_train)}"
        for key, share in below.items()
    )
    return (
        f"Number of calibration rows after which each method settles: {steady}. Number of rows with which a "
        f"method first beats the uncalibrated forest: {better}. "
    )


def _rows(share: float, n_train: int) -> str:
    return f"{round(share * n_train):,}"


def beats_none(rows: pd.DataFrame, measure: str) -> dict[str, float | None]:
    """Return the first share at which each calibrator's mean is below the uncalibrated forest's, lowest first."""
    means = wide(rows, "share", measure)
    below = means[list(PAPER_CALIBRATORS)].lt(means[UNCALIBRATED], axis=0)
    shares = {key: float(below.index[at.argmax()]) if (at := below[key]).any() else None for key in below}
    return dict(sorted(shares.items(), key=lambda item: item[1] or np.inf))


def settled(rows: pd.DataFrame, measure: str) -> dict[str, float]:
    """Return the share from which each calibrator's mean stays within a fifth of its end value, lowest first.

    The end value is the mean at the last five shares. This suits only measures where lower is better.
    """
    means, shares = wide(rows, "share", measure), {}
    for method in PAPER_CALIBRATORS:
        near = means[method] <= 1.2 * means[method].iloc[-5:].mean()
        steady = means.index[near[::-1].cummin()[::-1]]
        shares[method] = float(steady[0] if len(steady) else means.index[-1])
    return dict(sorted(shares.items(), key=lambda item: item[1]))


def draw(record: Sizes, theme: Theme = LIGHT) -> go.Figure:
    """Draw lines with bands over the calibration rows."""
    figure = go.Figure(
        layout=layout(
            theme,
            height=640,
            legend={"y": -0.2},  # below the title of the axis, on a phone too
            xaxis={
                "title": {"text": f"Calibration rows, in addition to {record.n_train:,} training rows"},
                "range": [0, 1.02 * record.n_train],
            },
            yaxis={"title": {"text": FOREST_MEASURES[record.measure]}, "range": record.range},
        )
    )
    rows = record.rows.assign(rows=(record.rows["share"] * record.n_train).round())
    add_lines(
        figure,
        rows,
        "rows",
        record.measure,
        theme,
        where={},
        hover="calibration rows",
        first=True,
        bands=True,
    )
    if record.above:
        figure.add_annotation(
            text=f"↑ {record.above}",
            **{
                "x": SHARE_IN_SIGHT * record.n_train,
                "xanchor": "left",
                "y": 1,
                "yref": "y domain",
                "yanchor": "top",
            },
            **{"showarrow": False, "font": {"color": theme.muted}},
        )
    return mute(figure, record.coloured, theme)


@dataclass(frozen=True, eq=False)
class Entropies(Finding):
    """Entropies of every method beside those of the paper.

    Attributes
    ----------
    rows
        Method, entropy, bin_entropy, published (NaN if the paper has none).
    """

    rows: pd.DataFrame


def prepare_entropy(found: LongResult, base: str = "tuned") -> Entropies:
    """Compare the mean entropies over all sizes with those of the paper."""
    rows = (
        of_base(found.table, base)
        .groupby("method", sort=False)[["group_entropy", "bin_entropy"]]
        .mean()
        .reset_index()
    )
    rows["published"] = rows["method"].map(PUBLISHED_ENTROPY)
    known = rows.dropna(subset="published")
    away = (known["group_entropy"] - known["published"]).abs()
    least = rows.loc[rows["group_entropy"].idxmin()]
    return Entropies(
        title=f"{capital(method_name(least['method']))} has the lowest entropy of predictions: "
        f"{brief(least['group_entropy'])} bits",
        caption="Marks show the entropy of the predictions in bits, averaged over the sizes; rings show the "
        "paper's Table 3. With n test rows the entropy is at most log2 n. The paper mentions bins, but 20 "
        "bins allow at most 4.32 bits, so its values must refer to distinct predictions. Our values differ "
        f"from the paper's by {number(float(away.mean()), 2)} bits on average.",
        alt=" ".join(
            f"{name(m)}: {number(e)}" + (f", published {number(p)}." if p == p else ".")
            for m, e, p in zip(rows["method"], rows["group_entropy"], rows["published"], strict=True)
        ),
        table=rows,
        answer=None,
        rows=rows,
    )


def draw_entropy(record: Entropies, theme: Theme = LIGHT) -> go.Figure:
    """Draw one dot per method, and a ring at the paper's value."""
    rows = record.rows.iloc[::-1]
    figure = go.Figure(
        layout=layout(
            theme,
            height=500,
            xaxis={"title": {"text": "Entropy of the predictions (bits)"}, "rangemode": "tozero"},
            yaxis={"type": "category", "automargin": True},
            margin={"l": 110, "r": 12, "t": 12, "b": 48},
        )
    )
    names = [name(method) for method in rows["method"]]
    inks = [line_mark(method, theme) for method in rows["method"]]
    figure.add_scatter(
        x=rows["published"],
        y=names,
        mode="markers",
        name="Table 3",
        marker=hollow(theme.muted, 17, 1.6),
        hovertemplate="published: %{x:.2f}<extra></extra>",
    )
    figure.add_scatter(
        x=rows["group_entropy"],
        y=names,
        mode="markers",
        name="here",
        marker={"symbol": [ink.symbol for ink in inks], "size": 10, "color": [ink.color for ink in inks]},
        hovertemplate="here: %{x:.2f}<extra></extra>",
    )
    return figure


@dataclass(frozen=True, eq=False)
class Mixture(Finding):
    data: Dataset


def prepare_data(data: Dataset) -> Mixture:
    """Prepare the training rows of the first repetition."""
    assert data.posterior is not None
    bayes = float(np.minimum(data.posterior, 1 - data.posterior).mean())
    return Mixture(
        title=f"In the first mixture, even the best possible rule misclassifies {brief(100 * bayes)} %",
        caption="Each class has four Gaussians with means in U(0, 20) and variances in U(1, 5). Every repetition draws "
        "new Gaussians.",
        alt=f"Scatter plot of {data.n} rows in two classes of four clusters each.",
        table=data.X.assign(y=data.y, posterior=data.posterior),
        answer=None,
        data=data,
    )


def draw_data(record: Mixture, theme: Theme = LIGHT) -> go.Figure:
    """Draw both classes in the plane."""
    X, y = record.data.X.to_numpy(), record.data.y
    figure = go.Figure(
        layout=layout(theme, height=440, xaxis={"title": {"text": "x1"}}, yaxis={"title": {"text": "x2"}})
    )
    hover = "(%{x:.1f}, %{y:.1f})<extra></extra>"
    return figure.add_traces(class_marks(X, y, theme, {"size": 6, "opacity": 0.75}, hovertemplate=hover))


EXPERIMENT = Experiment(
    key="calibration_size",
    page="simulations",
    name="Calibration-set size",
    question="A forest is trained on 800 rows and calibrated on 16 to 800 further rows. Which method comes closest "
    "to the true probabilities with 800 calibration rows?",
    answers=(
        "Isotonic regression",
        "Venn–Abers",
        "Platt scaling",
        "None: tuning the forest on all rows is better",
    ),
    right=4,
    why=(
        "Isotonic regression can follow any rising curve, but needs many rows to do so. The forest makes "
        "better use of these rows.",
        "With 800 rows, Venn–Abers comes closer than Platt scaling. But training the forest on the same rows "
        "lowers the error more.",
        "Platt scaling learns its two parameters from few rows. But its curve does not fit these scores, and more rows "
        "do not help.",
        "If the tuned forest is also trained on these rows, the error falls more than with any calibrator.",
    ),
    no_turn="By every measure that gives a clear answer, additional rows help most if they are used to train the "
    "forest.",
    ghosts=(
        {"traces": ["Isotonic regression"]},
        {"traces": ["Venn–Abers"]},
        {"traces": ["Platt scaling"]},
        {"traces": ["Tuned forest on all rows"]},
    ),
    parameters=(
        measure_setting("calibration_size"),
        base("calibration_size", "calibration_size_entropy"),
        RESULTS,
        Parameter(
            "repetitions",
            "Repetitions",
            "choice",
            100,
            choices=(2, 5, 10, 20, 50, 100, 200),
            help="Each repetition draws a new mixture; lines show means over repetitions.",
        ),
        Parameter(
            "sizes",
            "Sizes",
            "choice",
            50,
            choices=(10, 25, 50),
            help="Number of different calibration-set sizes; the largest equals the size of the training "
            "set.",
        ),
        Parameter(
            "n_train",
            "Training rows",
            "choice",
            800,
            choices=(200, 400, 800, 1600),
            help="Number of training rows; half of them are in each class.",
        ),
        Parameter(
            "n_test", "Test rows", "choice", 100, choices=(100, 500, 2000), help="Test rows per repetition."
        ),
    ),
    simulation=SIZE_RUN,
    notice=(
        "Methods with one to three parameters (PPA, temperature, Platt scaling, beta) settle after a few dozen rows. "
        "Isotonic regression, Venn–Abers and rank calibration can follow any rising curve, and need about "
        "two hundred rows.",
        "Even a calibrator that has settled can be worse than no calibration. The thick line is the same "
        "tuned forest, uncalibrated. In these draws, PPA falls below this line with 400 rows and beta "
        "calibration with 464, but only temporarily. To fall below it, rank calibration needs 496 rows, "
        "Venn–Abers 672 and isotonic regression 704; Platt scaling stays above the line. The gain is small: "
        "with 800 rows no calibrator lowers the error by more than a tenth. With other draws the gain is up "
        "to a fifth, and some calibrators never fall below the thick line.",
        "The paper ranks the methods by the number of rows that they need: PPA, beta, Platt scaling, "
        "Venn–Abers, isotonic regression, rank. Here Platt scaling settles before beta calibration, but at "
        "a higher error, because a sigmoid does not fit these scores. More rows do not help.",
        "With a dozen rows Venn–Abers is almost uninformative, because its interval is wide and its probability "
        "is near one half.",
        "The tuned forest on all rows uses the calibration rows for training instead, and its line ends lowest.",
        "Look at ECE, then at the entropies: a method with few different predictions fills few bins, and a few full "
        "bins give a small ECE. A small ECE says little about a single prediction.",
    ),
    formulas=(
        r"\text{TCE} = \tfrac1n \sum (p_i - \pi_i)^2",
        r"H = -\sum_v \tfrac{n_v}{n} \log_2 \tfrac{n_v}{n}",
        r"n_v \text{ of the } n \text{ predictions equal } v",
    ),
    source=f"{RF_PAPER}, appendix C.3.2, Figures 11 and 12, Table 3. The sizes follow the paper's code: 800 "
    f"training and 100 test rows. Platt scaling uses probabilities, as in the paper; the Explore "
    f"pages use log-odds.",
    large=True,
    more_figures=("calibration_size_entropy",),
    terms=FOREST_TERMS,
    also={"calibration_size_data": training_rows},
)


FIGURES = (
    FigureEntry("calibration_size", "Forests and calibrators by calibration size", prepare, draw),
    FigureEntry("calibration_size_entropy", "Entropy of the predictions", prepare_entropy, draw_entropy),
    FigureEntry("calibration_size_data", "One of the mixtures", prepare_data, draw_data),
)

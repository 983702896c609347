"""Overlap: from two identical classes to two that hardly overlap, and where calibration of a forest helps.

Shaker and Hüllermeier (2025), Figures 4, 9 and 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.experiments.base import Experiment, view_of, with_default
from calib.experiments.overlap.simulation import DIMENSIONS, EMBEDDINGS, OVERLAP_RUN, DrawnSteps, draw_steps
from calib.experiments.shared.findings import Finding, class_marks
from calib.experiments.shared.gaussian_plane import RF_PAPER
from calib.experiments.shared.long_run import (
    BASES,
    FOREST_MEASURES,
    FOREST_TERMS,
    PAPER_CALIBRATORS,
    RESULTS,
    UNCALIBRATED,
    LongResult,
    add_lines,
    base,
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
from calib.figures.panels import panels, set_axes
from calib.figures.theme import LIGHT, Theme
from calib.kernel.records import Parameter
from calib.kernel.wording import brief, number
from calib.synthetic.overlap import MAX_DISTANCE, STEPS_OF_DISTANCE

# Distances, on an axis of their square roots, where equal shifts are equal steps
TICKS = (0, 0.5, 1, 2, 3, 4, 5)
XAXIS = {
    "title": {"text": "Class distance"},
    "tickvals": [float(np.sqrt(tick)) for tick in TICKS],
    "ticktext": [f"{tick:g}" for tick in TICKS],
    "range": [-0.06, float(np.sqrt(MAX_DISTANCE)) + 0.06],
}
THIRD = ("venn_abers", "rf_opt", "rf_d")
"""Coloured beside the uncalibrated forest if the headline names no other method."""
LEGEND = -0.2  # distance from two rows to the legend, relative to their height; a window may reduce it
SHOWN_MEASURES = ("tce", "ece", "brier", "excess", "irreducible", "accuracy")


@dataclass(frozen=True, eq=False)
class OverlapPanels(Finding):
    """Measures along the overlap, panel by panel.

    Attributes
    ----------
    panels
        (title, rows of one base, measure) of each; the rows have ``root``, the square root of the distance.
    columns
        Number of panels side by side.
    coloured
        Methods that are not grey.
    """

    panels: tuple[tuple[str, pd.DataFrame, str], ...]
    columns: int
    coloured: tuple[str, ...]


def prepare(
    found: LongResult, measure: str = "tce", base: str = "default", steps: int = STEPS_OF_DISTANCE
) -> OverlapPanels:
    """Prepare one measure along the distance for the first ``steps`` steps, with one panel per dimension."""
    table = _rooted(of_base(found.table, base))
    title, answer, named = _finding(table, measure, BASES[base].lower())
    table = _as_far_as(table, steps)
    each = list(table.groupby("d"))
    other = measure != "tce" or base != "default" or int(table["d"].min()) != 2
    unasked = "The question is about the TCE of fully grown trees in two dimensions." if other else ""
    return OverlapPanels(
        title=title,
        caption="Lines show the methods, from equal classes at the left to almost separate classes at the "
        f"right. The class distance is the Bhattacharyya distance. The headline refers to {each[0][0]} "
        f"dimensions. Coloured lines show the {BASES[base].lower()} after calibration. This forest learns "
        "only from the rows that are not held out for calibration. The thick grey line shows the same forest "
        "without calibration. Black lines (white in dark mode) show forests that learn from all rows. "
        f"{source_in_words(found)}{_of_all(steps)}{GREY}",
        alt=f"The panels show {FOREST_MEASURES[measure]} by Bhattacharyya distance. "
        + " ".join(f"{d} dimensions: {_ends(rows, measure)}." for d, rows in each),
        table=table.drop(columns="root")[
            ["d", "step", "distance", "method", "base", "runs", measure, f"{measure}_error"]
        ],
        answer=None if unasked else answer,
        unasked=unasked,
        panels=tuple((f"{d} dimensions", rows, measure) for d, rows in each),
        columns=min(2, len(each)),
        coloured=in_colour([UNCALIBRATED, *named], THIRD, THREE),
    )


def prepare_measures(
    found: LongResult, detail: str = "2", base: str = "default", steps: int = STEPS_OF_DISTANCE
) -> OverlapPanels:
    """Prepare all measures for one number of dimensions and the first ``steps`` steps."""
    d = int(detail) if int(detail) in set(found.table["d"]) else int(found.table["d"].min())
    table = _rooted(of_base(found.table[found.table["d"] == d], base))
    named, table = _finding(table, "tce", BASES[base].lower())[2], _as_far_as(table, steps)
    return OverlapPanels(
        title=f"All measures in {d} dimensions",
        caption="Each panel shows one measure by the distance between the classes. The Brier score falls with the "
        "distance because IL, the unavoidable loss, falls. CL + GL is the loss "
        "that the method adds: TCE plus label noise. ECE needs no true probabilities." + GREY,
        alt=" ".join(f"{FOREST_MEASURES[key]}: {_ends(table, key)}." for key in SHOWN_MEASURES),
        table=table.drop(columns="root"),
        answer=None,
        panels=tuple((FOREST_MEASURES[key], table, key) for key in SHOWN_MEASURES),
        columns=2,
        coloured=in_colour([UNCALIBRATED, *named], THIRD, THREE),
    )


def _of_all(steps: int) -> str:
    """State that the headline covers all steps if only some are shown."""
    return (
        f" The picture shows the first {steps} of {STEPS_OF_DISTANCE} steps; the headline covers all of them."
        if steps < STEPS_OF_DISTANCE
        else ""
    )


def _as_far_as(table: pd.DataFrame, steps: int) -> pd.DataFrame:
    return table[table["step"].isin(sorted(table["step"].unique())[:steps])]


def _rooted(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(root=np.sqrt(table["distance"]))


def _finding(table: pd.DataFrame, measure: str, forest: str) -> tuple[str, int | None, tuple[str, ...]]:
    """Return the headline of the first panel, the third in which calibration helps most, and the named calibrators.

    The comparison is with the same forest uncalibrated.
    """
    if measure not in ("tce", "ece", "brier", "excess"):
        return f"{FOREST_MEASURES[measure]} from complete overlap to none", None, ()
    d, last = int(table["d"].min()), int(table["step"].max())
    means = wide(table[table["d"] == d], "step", measure)
    as_it_is, calibrated = means[UNCALIBRATED], means[list(PAPER_CALIBRATORS)]
    gain = as_it_is - calibrated.median(axis=1)
    # the steps at which more than half of the calibrators have a larger error than the uncalibrated forest
    worse = int((calibrated.gt(as_it_is, axis=0).mean(axis=1) > 0.5).sum())
    step, steps = int(gain.idxmax()), f"{worse} of {len(means)} steps"
    if gain[step] <= 0:
        return (
            f"In {d} dimensions most calibrators make the {forest} worse at {steps}, and better at none",
            None,
            (),
        )
    best = calibrated.loc[step].idxmin()
    distance = float(table.loc[table["step"] == step, "distance"].iloc[0])
    title = (
        f"Calibrating the {forest} helps most at distance {brief(distance)} ({FOREST_MEASURES[measure]} "
        f"from {_loss_text(as_it_is[step])} to {_loss_text(calibrated.loc[step, best])} with {method_name(best)}); "
        f"most methods harm it at {steps}"
    )
    return title, 1 + min(2, 3 * (step - 1) // last), (str(best),)


def _loss_text(loss: float) -> str:
    """Write a loss; label noise can make an estimate of CL + GL negative."""
    return brief(loss) if loss > 0 else "no more than noise"


def _ends(rows: pd.DataFrame, measure: str) -> str:
    """Describe the default and the tuned forest at both ends, for readers who do not see the lines."""
    ends = []
    for method in ("rf_d", "rf_opt"):
        line = rows[rows["method"] == method][measure]
        ends.append(f"{name(method)} from {number(line.iloc[0])} to {number(line.iloc[-1])}")
    return ", ".join(ends)


def draw(record: OverlapPanels, theme: Theme = LIGHT) -> go.Figure:
    """Draw panels of lines with one legend."""
    figure = panels(
        theme,
        [(title,) for title, _, _ in record.panels],
        record.columns,
        height=230,
        between=26,
        xaxis=XAXIS,
        yaxis={"rangemode": "tozero"},
    )
    if record.columns < len(record.panels) <= 2 * record.columns:
        figure.update_layout(legend_y=LEGEND)
    shared = len({measure for _, _, measure in record.panels}) == 1
    everything = pd.concat([rows for _, rows, _ in record.panels])
    for i, (_, rows, measure) in enumerate(record.panels):
        x, y = set_axes(
            figure,
            i,
            y={
                "range": span(everything if shared else rows, measure),
                "showticklabels": not shared or i % record.columns == 0,
                "title": {"text": FOREST_MEASURES[measure]} if shared and i % record.columns == 0 else None,
                "nticks": 5,
            },
        )
        where = {"xaxis": x, "yaxis": y}
        add_lines(
            figure, rows, "root", measure, theme, where=where, hover="root of the distance", first=i == 0
        )
    return mute(figure, record.coloured, theme)


@dataclass(frozen=True, eq=False)
class FourSteps(Finding):
    found: DrawnSteps


def prepare_data(found: DrawnSteps) -> FourSteps:
    """Prepare the rows of four steps."""
    how = "without projection" if found.d == 2 else f"projected by {EMBEDDINGS[found.embedding]}"
    frames = [
        pd.DataFrame({"step": step, "distance": distance, "class": y, "u": at[:, 0], "v": at[:, 1]})
        for step, distance, at, y in found.steps
    ]
    return FourSteps(
        title=f"The data in {found.d} dimensions at four of the twenty steps, {how}",
        caption="Panels show both classes by the two features, with the same scale."
        if found.d == 2
        else "Each panel shows both classes in its own plane of largest variance."
        if found.embedding == "pca"
        else "Panels show both classes by t-SNE, which keeps neighbours together. Axes, sizes and distances of "
        "groups have no meaning.",
        alt="Scatter plots of both classes at Bhattacharyya distances of "
        f"{', '.join(number(distance) for _, distance, _, _ in found.steps)}.",
        table=pd.concat(frames),
        answer=None,
        found=found,
    )


def draw_data(record: FourSteps, theme: Theme = LIGHT) -> go.Figure:
    """Draw four scatter plots, with one scale if the axes are the features."""
    steps = record.found.steps
    everything = np.vstack([at for _, _, at, _ in steps])
    low, high = everything.min(axis=0) - 0.3, everything.max(axis=0) + 0.3
    ranges = [[low[i], high[i]] if record.found.d == 2 else None for i in (0, 1)]
    figure = panels(
        theme,
        [(f"distance {number(distance)}",) for _, distance, _, _ in steps],
        2,
        height=240,
        xaxis={"showticklabels": False, "ticks": "", "showgrid": False},
        yaxis={"showticklabels": False, "ticks": "", "showgrid": False},
    )
    for i, (_, _, at, y) in enumerate(steps):
        x_axis, y_axis = set_axes(
            figure, i, *({"showticklabels": False, "range": limits} for limits in ranges)
        )
        style: dict[str, Any] = {"xaxis": x_axis, "yaxis": y_axis, "showlegend": i == 0, "hoverinfo": "skip"}
        figure.add_traces(class_marks(at, y, theme, {"size": 5, "opacity": 0.7}, **style))
    return figure


CHOICES = {str(d): f"{d} dimensions" for d in DIMENSIONS}

EXPERIMENT = Experiment(
    key="overlap",
    page="simulations",
    name="Overlap",
    question="Two classes in two dimensions move apart step by step. Where does calibrating a fully grown forest "
    "lower its true calibration error (TCE) most?",
    answers=("Where they overlap completely", "Half-way", "Where they hardly overlap"),
    right=1,
    why=(
        "At complete overlap, every true probability is one half. Yet the forest predicts below 0.3 or above "
        "0.7 for more than a quarter of the rows.",
        "With many features, the answer would be half-way. In two dimensions, the forest is furthest from "
        "the true probabilities if there is nothing to learn.",
        "With hardly any overlap there is almost nothing to correct: a forest that predicts 0 or 1 is right.",
    ),
    no_turn="The answer holds for fully grown trees in two dimensions; other forests give different results.",
    ghosts=(
        {"lines": [[[0, 0], [0, 0.042]]]},
        {"lines": [[[1.2, 0], [1.2, 0.042]]]},
        {"lines": [[[2.39, 0], [2.39, 0.042]]]},
    ),
    parameters=(
        measure_setting("overlap"),
        with_default(base("overlap", "overlap_measures"), "default"),
        Parameter(
            "d",
            "Dimensions",
            "choice",
            "all",
            choices={"all": "All four"} | CHOICES,
            help="Number of features. Computing one dimension takes a quarter of the time of all four.",
        ),
        Parameter(
            "detail",
            "In detail",
            "choice",
            "2",
            choices=CHOICES,
            help="Number of dimensions in the small pictures of all measures and in the data below.",
            extra=view_of("overlap_measures", numbers_of=("overlap_data",)),
        ),
        Parameter(
            "steps",
            "Steps shown",
            "integer",
            STEPS_OF_DISTANCE,
            1,
            STEPS_OF_DISTANCE,
            help="Number of steps shown. At the first step, both classes have the same distribution. The "
            "headline covers all steps.",
            extra=view_of("overlap", "overlap_measures"),
        ),
        Parameter(
            "embedding",
            "Drawn by",
            "choice",
            "pca",
            choices=EMBEDDINGS,
            help="Projection of more than two dimensions: the plane of largest variance, or a map that keeps "
            "neighbours together.",
            extra=view_of(drawn_by_page=True, numbers_of=("overlap_data",)),
        ),
        RESULTS,
        Parameter(
            "repetitions",
            "Repetitions",
            "choice",
            5,
            choices=(1, 2, 5, 10, 20),
            help="Number of repetitions; lines show their means.",
        ),
        Parameter(
            "n",
            "Rows",
            "choice",
            1000,
            choices=(200, 500, 1000, 2000),
            help="Number of rows at each step, for training and calibration.",
        ),
        Parameter(
            "share",
            "Calibration share",
            "number",
            0.2,
            0.05,
            0.5,
            help="Share of these rows used to fit the calibrators. Forests without a calibrator learn from "
            "all rows.",
        ),
    ),
    simulation=OVERLAP_RUN,
    notice=(
        "On the left the classes are identical, so every true probability is one half. A fully grown forest has "
        "learnt noise, so it predicts below 0.3 or above 0.7 for more than a quarter of the rows. Calibration pulls "
        "these predictions back to one half, and so does tuning (few, large leaves).",
        "At complete overlap in two dimensions, more trees (500 instead of 100) do not help, because "
        "all trees have learnt the same noise.",
        "Compare the lines with the thick line, which shows the same forest without calibration. Choose "
        "Tuned forest: in two dimensions there is little left to correct. Most calibrators learn from only a "
        "fifth of the rows, and make the forest worse at most distances. Here Venn–Abers makes it worse at "
        "all twenty distances.",
        "With more dimensions, the trees differ more and their mean is less extreme, so there is less to "
        "correct at complete overlap. At a medium distance between the classes, the forest is "
        "underconfident, and calibration helps even the tuned forest.",
        "PPA only moves probabilities away from one half, so it cannot help if they are already too extreme. Platt "
        "scaling, beta and isotonic regression can help.",
        "If a calibration row with a score of 0 is in class 1, the error of the tuned forest with beta "
        "calibration has a peak. The log-odds of 0 lie far beyond all others, so one such row bends the whole map. "
        "Platt scaling "
        "uses the score itself and hardly changes.",
        "For the tuned forest, choose ECE as the measure: it needs no true probabilities. Also switch on "
        "Venn in the legend. The Venn predictor predicts only two values. In two dimensions, between "
        "complete overlap and half-way, Venn has the smallest ECE but the largest TCE of the calibrators.",
    ),
    formulas=(
        r"\text{TCE} = \tfrac1n \sum (p_i - \pi_i)^2",
        r"D_B = \tfrac18\, c^2 \sum_j 1/\sigma_j^2",
        r"c \text{: the shift of every mean}",
    ),
    source=f"{RF_PAPER}, section 5.2 and appendix C.3.1, Figures 4, 9 and 10. The paper does not say how it "
    "splits its 1,000 rows. Here one fifth is used for calibration, and 1,000 new rows form the test set. "
    "Platt scaling uses probabilities, as in the paper; the Explore pages use log-odds.",
    more_figures=("overlap_measures",),
    terms=(*FOREST_TERMS, "bhattacharyya"),
    large=True,
    also={"overlap_data": draw_steps},
    plays="steps",
)


FIGURES = (
    FigureEntry("overlap", "Forests and calibrators by class overlap", prepare, draw),
    FigureEntry("overlap_measures", "All measures by overlap", prepare_measures, draw),
    FigureEntry("overlap_data", "The data at four steps", prepare_data, draw_data),
)

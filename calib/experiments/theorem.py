"""Theorem 1: the selected probability equals the label on average, p0 and p1 do not.

Vovk and Petej (2014), theorem 1 with the selector S = Y of its proof: E(Y | P_Y) = P_Y. The constant Venn predictor
of section 2 and the non-invariant predictor of the remark after theorem 2 are among the predictors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.calibrators import merge_pair
from calib.experiments.base import Experiment
from calib.experiments.shared.findings import Finding, level_line, plus_minus
from calib.experiments.shared.one_feature import (
    CLASS_DISTANCE,
    TAUGHT,
    TRIED,
    VENN_PAPER,
    WINDOW,
    NormalClasses,
    RunningMean,
    WindowScorer,
    by_level,
    draws,
    running_mean,
    training_objects,
    venn_abers_pairs,
)
from calib.figures.base import FigureEntry
from calib.figures.panels import band, heading
from calib.figures.theme import LIGHT, Theme, diagonal, layout
from calib.kernel.checks import Array
from calib.kernel.progress import Watch
from calib.kernel.records import Parameter
from calib.kernel.wording import brief, number

PREDICTORS = {
    "full": "Venn–Abers, full",
    "inductive": "Venn–Abers, inductive",
    "simplified": "Venn–Abers, simplified",
    "venn": "Venn, two categories",
    "constant": "The constant Venn predictor",
    "non_invariant": "The non-invariant predictor",
}
STREAM = 1  # experiments with the same seed use different random streams
DRAWS_PER_CHECK = 500  # draws between two checks of the clock and of Cancel


@dataclass(frozen=True, eq=False)
class Draws:
    """One prediction per draw, each from its own training rows. Arrays (D,).

    Attributes
    ----------
    y
        Label of the test row.
    posterior
        True probability of class 1 for the test row.
    p0, p1
        Predicted pair.
    """

    predictor: str
    objects: int
    y: Array
    posterior: Array
    p0: Array
    p1: Array

    @property
    def selected(self) -> Array:
        """P_Y, the probability for the true label."""
        return np.where(self.y == 1, self.p1, self.p0)

    @property
    def merged(self) -> Array:
        """Merged probability by the log-loss rule."""
        return merge_pair(self.p0, self.p1)

    @property
    def width(self) -> Array:
        return np.abs(self.p1 - self.p0)


def draw_pairs(settings: Mapping[str, Any], random_state: int, watch: Watch) -> Draws:
    """Draw training rows and a test row many times, and predict one pair each time.

    Parameters
    ----------
    settings
        predictor, objects (l), window, gap, draws.

    Examples
    --------
    >>> settings = {"predictor": "constant", "objects": 5, "window": 0.5, "gap": 1.5, "draws": 500}
    >>> draws = draw_pairs(settings, 0, Watch())
    >>> sorted(set((draws.p1 - draws.p0).round(4).tolist()))       # k/6 and (k + 1)/6
    [0.1667]
    """
    classes, rng = NormalClasses(settings["gap"]), np.random.default_rng([random_state, STREAM])
    parts = []
    for start in watch.loop(range(0, settings["draws"], DRAWS_PER_CHECK), "draws"):
        x, y = classes.draw((min(DRAWS_PER_CHECK, settings["draws"] - start), settings["objects"] + 1), rng)
        p0, p1 = PAIRS_OF_PREDICTOR[settings["predictor"]](x, y[:, :-1], settings)
        parts.append((y[:, -1], classes.posterior(x[:, -1]), p0, p1))
    return Draws(settings["predictor"], settings["objects"], *map(np.concatenate, zip(*parts, strict=True)))


def _full(x: Array, y: Array, settings: Mapping[str, Any]) -> tuple[Array, Array]:
    scorer = WindowScorer.fit(x[:, :-1], y, settings["window"])
    return venn_abers_pairs(scorer.with_object(x[:, -1], 0), scorer.with_object(x[:, -1], 1), y)


def _simplified(x: Array, y: Array, settings: Mapping[str, Any]) -> tuple[Array, Array]:
    scorer = WindowScorer.fit(x[:, :-1], y, settings["window"])
    scores = np.column_stack([scorer.training, scorer.new(x[:, -1:])])
    return venn_abers_pairs(scores, scores, y)


def _inductive(x: Array, y: Array, settings: Mapping[str, Any]) -> tuple[Array, Array]:
    """Use x itself as the score, which does not depend on the calibration rows."""
    return venn_abers_pairs(x, x, y)


def _venn(x: Array, y: Array, settings: Mapping[str, Any]) -> tuple[Array, Array]:
    """Assign two categories: the side of the middle between the classes on which x lies."""
    side = x > settings["gap"] / 2
    same = side[:, :-1] == side[:, -1:]
    ones, size = (same * y).sum(axis=1), same.sum(axis=1) + 1
    return ones / size, (ones + 1) / size


def _constant(x: Array, y: Array, settings: Mapping[str, Any]) -> tuple[Array, Array]:
    k, size = y.sum(axis=1), y.shape[1] + 1
    return k / size, (k + 1) / size


def _non_invariant(x: Array, y: Array, settings: Mapping[str, Any]) -> tuple[Array, Array]:
    k, size = y.sum(axis=1) - y[:, 0], y.shape[1]
    return k / size, (k + 1) / size


PAIRS_OF_PREDICTOR = {
    "full": _full,
    "inductive": _inductive,
    "simplified": _simplified,
    "venn": _venn,
    "constant": _constant,
    "non_invariant": _non_invariant,
}


EARLY = 100  # draws; so few still leave the result to chance
SELECTION_NAMES = {"selected": "P_Y, for the true label", "p0": "p0", "p1": "p1", "merged": "p, merged"}


@dataclass(frozen=True, eq=False)
class Theorem(Finding):
    """Errors of the probabilities by the number of draws.

    Attributes
    ----------
    runs
        Running mean of Y − p for each probability.
    levels
        Columns p, observed, error, draws.
    """

    runs: dict[str, RunningMean]
    levels: pd.DataFrame


def prepare(draws: Draws) -> Theorem:
    """Compute the running means, and the levels of the selected probability."""
    probabilities = {"selected": draws.selected, "p0": draws.p0, "p1": draws.p1, "merged": draws.merged}
    runs = {name: running_mean(draws.y - p) for name, p in probabilities.items()}
    levels = by_level(draws.y, draws.selected)
    last = {name: (float(run.mean[-1]), float(run.error[-1])) for name, run in runs.items()}
    inside = {name: abs(mean) <= 2 * error for name, (mean, error) in last.items()}
    with np.errstate(invalid="ignore", divide="ignore"):
        off = np.nan_to_num(np.abs(levels.observed - levels.p) / levels.error, nan=0.0, posinf=np.inf)
    name = PREDICTORS[draws.predictor]
    found = "right on average" if inside["selected"] else "wrong by more than two standard errors"
    sides = " and ".join(
        f"{key} too {'low' if last[key][0] > 0 else 'high'} by {brief(abs(last[key][0]))}"
        for key in ("p0", "p1")
    )
    return Theorem(
        title=f"{name}: P_Y is {found}, mean error {brief(last['selected'][0])} ± {brief(2 * last['selected'][1])}; "
        f"{sides}",
        caption="The upper picture shows the mean of label minus probability over the first draws. Two standard "
        "errors of P_Y are shaded around zero. The lower picture shows the frequency of class 1 in groups of "
        "similar P_Y, with two standard errors for a correct P_Y. On the diagonal, E(Y | P_Y) = P_Y. The largest of "
        f"{len(levels)} gaps is {number(float(off.max()), 2)} standard errors; by chance alone it is about 2 to 3.",
        alt=f"{name} with {draws.objects} training rows, {len(draws.y):,} draws. "
        + " ".join(
            f"Mean error of {SELECTION_NAMES[key]}: {plus_minus(*last[key])}." for key in SELECTION_NAMES
        ),
        drawn=f"The upper picture shows four lines over the draws. After {EARLY} draws they are at: "
        + "; ".join(
            f"{SELECTION_NAMES[key]} {number(np.interp(EARLY, run.t, run.mean))}" for key, run in runs.items()
        )
        + f". The lower picture shows {len(levels)} groups of similar P_Y, with frequencies of class 1 from "
        f"{number(levels.observed.iloc[0])} to {number(levels.observed.iloc[-1])}.",
        table=pd.concat([_run(name, run) for name, run in runs.items()], ignore_index=True),
        answer=3 if inside["selected"] and not inside["p0"] and not inside["p1"] else None,
        runs=runs,
        levels=levels,
    )


def _run(name: str, run: RunningMean) -> pd.DataFrame:
    return pd.DataFrame({"probability": name, "draws": run.t, "mean_error": run.mean, "se": run.error})


def draw(record: Theorem, theme: Theme = LIGHT) -> go.Figure:
    """Draw the running means above, the levels below."""
    figure = go.Figure(layout=_layout(record, theme))
    run = record.runs["selected"]
    figure.add_trace(band(run.t, -2 * run.error, 2 * run.error, theme.ink))
    styles = {
        "p0": {"color": theme.negative, "width": 2, "dash": "dash"},
        "p1": {"color": theme.positive, "width": 2, "dash": "dot"},
        "merged": {"color": theme.muted, "width": 1.6, "dash": "dashdot"},
        "selected": {"color": theme.ink, "width": 2.6},
    }
    for key, style in styles.items():
        run = record.runs[key]
        figure.add_scatter(
            x=run.t,
            y=run.mean,
            mode="lines",
            name=SELECTION_NAMES[key],
            line=style,
            hovertemplate="%{y:.4f} after %{x:,d} draws",
        )
    figure.add_traces(_levels(record.levels, theme))
    return figure


def _layout(record: Theorem, theme: Theme) -> dict[str, Any]:
    most = int(record.runs["selected"].t[-1])
    reach = max(0.05, *(float(np.abs(run.mean[run.t >= 50]).max(initial=0)) for run in record.runs.values()))
    return layout(
        theme,
        height=700,
        margin={"l": 60, "r": 16, "t": 28, "b": 56},
        shapes=[level_line(theme)],
        xaxis={
            "type": "log",
            "range": [1, np.log10(most)],
            "title": {"text": "Draws so far"},
            "anchor": "y",
            "dtick": 1,
            "tickformat": ",d",
        },
        yaxis={
            "title": {"text": "Label − probability"},
            "range": [-1.25 * reach, 1.25 * reach],
            "domain": [0.64, 1],
        },
        xaxis2={
            "title": {"text": "Probability for the true label (P_Y)"},
            "range": [-0.02, 1.02],
            "anchor": "y2",
        },
        yaxis2={
            "title": {"text": "Frequency of class 1"},
            "range": [-0.02, 1.02],
            "domain": [0, 0.38],
        },
        annotations=[
            heading("Mean error over the draws", "y"),
            heading("Draws by probability of the true label", "y2"),
        ],
    )


def _levels(levels: pd.DataFrame, theme: Theme) -> list[go.Scatter]:
    """Draw the frequency of class 1 by P_Y, and the diagonal."""
    axes = {"xaxis": "x2", "yaxis": "y2"}
    observed = go.Scatter(
        x=levels.p,
        y=levels.observed,
        **axes,
        mode="markers",
        showlegend=False,
        marker={"color": theme.ink, "size": 9, "symbol": "diamond"},
        error_y={"array": 2 * levels.error, "color": theme.ink, "thickness": 1.2, "width": 4},
        customdata=levels.draws,
        hovertemplate="P_Y %{x:.3f}, class 1 in %{y:.3f} of %{customdata:,d} draws<extra></extra>",
    )
    return [diagonal(theme, **axes), observed]


EXPERIMENT = Experiment(
    key="theorem",
    page=TAUGHT,
    lab=TRIED,
    name="Theorem 1",
    question="A Venn predictor gives two probabilities, one for each label that a new row may have. "
    "Averaged over many draws, which probability equals the label?",
    answers=(
        "p0, the smaller one",
        "p1, the larger one",
        "The probability for the true label",
        "Neither of them",
    ),
    right=3,
    why=(
        "p0 is the fit with label 0 for the new row. This label pulls p0 down, so p0 is too low on average.",
        "p1 is the fit with label 1 for the new row. This label pulls p1 up, so p1 is too high on average.",
        "With its true label the new row is like every other row, so nothing favours either side.",
        "One of the two probabilities always belongs to the true label. In practice you do not know which "
        "one, but it is right on average.",
    ),
    no_turn="The statement is a theorem.",
    ghosts=(
        {"traces": ["p0"]},
        {"traces": ["p1"]},
        {"traces": ["P_Y, for the true label"]},
        {},
    ),
    parameters=(
        Parameter(
            "predictor",
            "Predictor",
            "choice",
            "full",
            choices=PREDICTORS,
            help="All these predictors are valid except simplified Venn–Abers, which is not valid in general.",
        ),
        training_objects(50),
        WINDOW,
        CLASS_DISTANCE,
        draws(10000, 500, 1000, 2000, 5000, 10000, 20000, 50000),
    ),
    simulation=draw_pairs,
    notice=(
        "The mean error of the selected probability P_Y is zero within about two standard errors, even with "
        "few training rows. On average p0 is too low and p1 too high.",
        "You cannot use P_Y in practice, because choosing it requires the label. But if p0 and p1 are close, "
        "you can use either probability.",
        "The theorem says more than this: among the draws with the same P_Y, the frequency of class 1 is P_Y. "
        "The lower picture shows this; the simplified predictor with a narrow window fails there.",
    ),
    formulas=(
        r"\mathbb{E}(Y \mid P_Y) = P_Y, \quad\text{hence}\quad \mathbb{E}\,(Y - P_Y) = 0",
        r"\mathbb{E}\min(P_0, P_1) \le \mathbb{P}(Y=1) \le \mathbb{E}\max(P_0, P_1)",
    ),
    source=f"{VENN_PAPER}, theorem 1 with the selector S = Y, and corollary 1.",
)


FIGURES = (FigureEntry("theorem", "Errors of the two probabilities", prepare, draw),)

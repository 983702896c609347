"""Pool adjacent violators one move at a time, with every intermediate state.

Ayer et al. (1955), in the form of lemma 1 of Vovk and Petej (2014): cells of adjacent scores have a ratio a/N each.
The leftmost pair of cells with falling ratios is joined, until none falls. Counts are whole numbers, and are compared
exactly. The same pools are chords of the cumulative-sum diagram.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.calibrators import VennAbers
from calib.experiments.base import Experiment, view_of
from calib.experiments.shared.findings import Finding
from calib.experiments.shared.one_feature import TAUGHT, TRIED
from calib.figures.axes import padded
from calib.figures.base import FigureEntry
from calib.figures.panels import heading
from calib.figures.theme import LIGHT, Theme, hollow, layout, outlined
from calib.kernel.checks import LARGEST_SCORE, MOST_TYPED, Array, labelled_points
from calib.kernel.isotonic_regression import pool_ties
from calib.kernel.progress import Watch
from calib.kernel.records import Parameter
from calib.kernel.wording import number


@dataclass(frozen=True, eq=False)
class Moves:
    """All states from single scores to the isotonic fit.

    Attributes
    ----------
    points
        Input points (score, label).
    scores, rows, ones : (k,)
        Distinct scores, with the number of rows and of rows with label 1 for each.
    states
        Bounds of the pools after 0, 1, … moves; pool b holds the scores bounds[b] to bounds[b + 1] − 1.
    joined
        For every move, the index of the left pool of the pair in the state before.
    """

    points: tuple[tuple[float, int], ...]
    scores: Array
    rows: Array
    ones: Array
    states: tuple[tuple[int, ...], ...]
    joined: tuple[int, ...]

    @property
    def moves(self) -> int:
        return len(self.joined)

    def ratio(self, state: int, pool: int) -> tuple[int, int]:
        """Return (a, N) of a pool: its rows with label 1, and its rows."""
        low, high = self.states[state][pool : pool + 2]
        return int(self.ones[low:high].sum()), int(self.rows[low:high].sum())

    def fitted(self, state: int) -> Array:
        """Return the value a/N of every score's pool, (k,)."""
        bounds = np.array(self.states[state])
        return np.repeat(
            np.add.reduceat(self.ones, bounds[:-1]) / np.add.reduceat(self.rows, bounds[:-1]), np.diff(bounds)
        )

    def diagram(self) -> tuple[Array, Array]:
        """Return the cumulative-sum diagram: rows and ones up to each score, (k + 1,), from (0, 0)."""
        return np.append(0, np.cumsum(self.rows)), np.append(0, np.cumsum(self.ones))


def pool_step_by_step(
    settings: Mapping[str, Any], random_state: int = 0, watch: Watch | None = None
) -> Moves:
    """Compute the moves for ``settings["points"]``, a text of score:label; nothing is random.

    >>> moves = pool_step_by_step({"points": "1:0 2:1 3:1 4:0 5:1"})
    >>> [moves.fitted(state).round(2).tolist() for state in range(moves.moves + 1)]
    [[0.0, 1.0, 1.0, 0.0, 1.0], [0.0, 1.0, 0.5, 0.5, 1.0], [0.0, 0.67, 0.67, 0.67, 1.0]]
    """
    points = labelled_points(settings["points"], "points")
    scores, labels = np.array([score for score, _ in points]), np.array([label for _, label in points])
    tied = pool_ties(scores, labels)
    rows, ones = tied.weights.astype(int), tied.sums.astype(int)
    bounds = list(range(len(tied.scores) + 1))
    states = [tuple(bounds)]
    joined: list[int] = []
    while True:
        ratios = [
            Fraction(int(ones[low:high].sum()), int(rows[low:high].sum())) for low, high in pairwise(bounds)
        ]
        falling = [pool for pool in range(len(ratios) - 1) if ratios[pool] > ratios[pool + 1]]
        if not falling:
            return Moves(tuple(points), tied.scores, rows, ones, tuple(states), tuple(joined))
        joined.append(falling[0])
        del bounds[falling[0] + 1]
        states.append(tuple(bounds))


PAIR_WIDTH = 6  # width of the lines of the next pair


@dataclass(frozen=True, eq=False)
class Pooling(Finding):
    """One state before the isotonic fit is reached.

    Attributes
    ----------
    state
        Number of moves made.
    pair
        Pools that the next move joins, as ranges of scores, or None.
    asked
        Score of a new row, and its Venn–Abers p0, p1 and p.
    """

    found: Moves
    state: int
    pair: tuple[int, int, int] | None
    asked: tuple[float, float, float, float]


def prepare(found: Moves, step: int = 0, score: float = 0.55) -> Pooling:
    """Prepare the state after at most ``step`` moves, and the pair of a new row at ``score``."""
    state = min(step, found.moves)
    bounds, values = found.states[state], found.fitted(state)
    pair = None
    if state < found.moves:
        left = found.joined[state]
        pair = (bounds[left], bounds[left + 1], bounds[left + 2])
    fits = VennAbers().fit(*zip(*found.points, strict=True)).explain(score)
    p0, p1 = fits.zero.value, fits.one.value
    pool = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    return Pooling(
        title=_title(found, state),
        caption="The upper picture shows points by score, class 0 at the bottom and class 1 at the top. "
        "Lines show pools at their share of class 1; neighbouring pools with equal shares remain separate. "
        "The lower picture is the cumulative-sum diagram with pools as chords; the thin line is the lower "
        "convex hull, the final result. Thick lines show the next pair to be joined. The vertical bar is a "
        f"new row at score {score:g}. With label 0 it would get p0 = {number(p0)}, with label 1 p1 = "
        f"{number(p1)}; the star is the merged p = {number(fits.p)}.",
        alt=f"After {state} of {found.moves} moves there are {len(bounds) - 1} pools: "
        + ", ".join("{}/{}".format(*found.ratio(state, b)) for b in range(len(bounds) - 1))
        + ".",
        table=pd.DataFrame(
            {"score": found.scores, "rows": found.rows, "class_1": found.ones, "pool": pool, "value": values}
        ),
        answer=1,
        found=found,
        state=state,
        pair=pair,
        asked=(score, p0, p1, fits.p),
    )


def _title(found: Moves, state: int) -> str:
    pools = len(found.states[state]) - 1
    if state == found.moves:
        levels = len(set(found.fitted(state)))
        on = f" on {levels} {'level' if levels == 1 else 'levels'}" if levels < pools else ""
        return (
            f"Done after {state} moves: {pools} {'pool' if pools == 1 else 'pools'}{on}, and no share falls"
        )
    left = found.joined[state]
    one, other = ("{}/{}".format(*found.ratio(state, pool)) for pool in (left, left + 1))
    after = "{}/{}".format(*found.ratio(state + 1, left))
    return f"Move {state + 1} of {found.moves}: {one} is above its right neighbour {other}, so both become {after}"


def draw(record: Pooling, theme: Theme = LIGHT) -> go.Figure:
    """Draw points and pools above, the diagram below."""
    found = record.found
    rows, ones = found.diagram()
    figure = go.Figure(
        layout=layout(
            theme,
            height=720,
            margin={"l": 60, "r": 16, "t": 30, "b": 52},
            xaxis={
                "title": {"text": "Score"},
                "range": padded([*found.scores, record.asked[0]]),
                "anchor": "y",
            },
            yaxis={"title": {"text": "Share of class 1"}, "range": [-0.12, 1.12], "domain": [0.6, 1]},
            xaxis2={"title": {"text": "Rows so far"}, "range": [-0.3, rows[-1] + 0.3], "anchor": "y2"},
            yaxis2={
                "title": {"text": "Rows of class 1 so far"},
                "range": [-0.04 * max(1, ones[-1]) - 0.2, ones[-1] + 0.4],
                "domain": [0, 0.4],
            },
            annotations=[heading("Pools", "y"), heading("Cumulative-sum diagram", "y2")],
        )
    )
    figure.add_traces(_pools(record, theme, paired=False))
    figure.add_traces(_points(record, theme))
    # A pool of one row is as narrow as its mark, which would hide it
    figure.add_traces(_pools(record, theme, paired=True))
    figure.add_trace(_new_row(record, theme))
    figure.add_traces(_diagram(record, theme))
    return figure


def _points(record: Pooling, theme: Theme) -> list[go.Scatter]:
    traces = []
    for label, symbol, color in ((0, "circle", theme.negative), (1, "diamond", theme.positive)):
        chosen = [(i, score) for i, (score, of) in enumerate(record.found.points) if of == label]
        traces.append(
            go.Scatter(
                x=[score for _, score in chosen],
                y=[label] * len(chosen),
                mode="markers",
                name=f"class {label}",
                customdata=[i for i, _ in chosen],
                marker=outlined(color, 12, theme, symbol=symbol),
                hovertemplate=f"class {label} at %{{x:.3g}}<extra></extra>",
            )
        )
    return traces


def _new_row(record: Pooling, theme: Theme) -> go.Scatter:
    """Draw the new row: a bar from p0 to p1, and p."""
    score, p0, p1, p = record.asked
    mark = theme.mark("venn_abers")
    return go.Scatter(
        x=[score] * 3,
        y=[p0, p, p1],
        mode="lines+markers",
        name="a new row: p0, p, p1",
        line={"color": mark.color, "width": 2},
        marker={
            "symbol": ["line-ew-open", mark.symbol, "line-ew-open"],
            "size": [14, 12, 14],
            "color": mark.color,
        },
        hovertemplate="%{y:.3f}<extra></extra>",
    )


def _pools(record: Pooling, theme: Theme, paired: bool) -> list[go.Scatter]:
    """Draw one horizontal line per pool, between the midpoints to the neighbouring scores: the next pair, or others."""
    found, mark = record.found, theme.mark("isotonic")
    scores, values, bounds = found.scores, found.fitted(record.state), found.states[record.state]
    span = float(scores[-1] - scores[0]) or 1.0
    middle = (scores[1:] + scores[:-1]) / 2
    ends = np.concatenate([[scores[0] - 0.03 * span], middle, [scores[-1] + 0.03 * span]])
    gap = 0.004 * span  # so that two pools at one level look separate
    traces = []
    for b in range(len(bounds) - 1):
        if (record.pair is not None and bounds[b] in record.pair[:2]) != paired:
            continue
        a, total = found.ratio(record.state, b)
        traces.append(
            go.Scatter(
                x=[ends[bounds[b]] + gap, ends[bounds[b + 1]] - gap],
                y=[values[bounds[b]]] * 2,
                mode="lines",
                name="pool",
                showlegend=False,
                line={"color": theme.ink if paired else mark.color, "width": PAIR_WIDTH if paired else 3},
                hovertemplate=f"{a}/{total} = {number(a / total)}<extra></extra>",
            )
        )
    return traces


def _diagram(record: Pooling, theme: Theme) -> list[go.Scatter]:
    """Draw the sums with their hull, and the pools as chords."""
    found, mark = record.found, theme.mark("isotonic")
    rows, ones = found.diagram()
    here, last = np.array(found.states[record.state]), np.array(found.states[-1])
    hover, silent = {"hovertemplate": "%{y} of %{x} rows are class 1<extra></extra>"}, {"hoverinfo": "skip"}
    hull = {"color": theme.ink, "width": 1.5, "dash": "dot"}
    circles = hollow(theme.muted, 9, 1.6)
    marker = {"symbol": mark.symbol, "size": 8, "color": mark.color}
    chords = {"line": {"color": mark.color, "width": 3}, "marker": marker}

    def of(at: Any, name: str, mode: str, **style: Any) -> go.Scatter:
        return go.Scatter(x=rows[at], y=ones[at], xaxis="x2", yaxis="y2", name=name, mode=mode, **style)

    traces = [
        of(slice(None), "sums", "markers", marker=circles, **hover),
        of(here, "pools as chords", "lines+markers", **chords, **hover),
        of(last, "lower convex hull", "lines", line=hull, **silent),  # above the chords, which end on it
    ]
    if record.pair is not None:
        thick = {"color": theme.ink, "width": PAIR_WIDTH}
        traces.append(of(np.array(record.pair), "the next pair", "lines", line=thick, **silent))
    return traces


FIRST_SCORES = "0.05:0 0.15:0 0.2:1 0.3:0 0.35:0 0.45:1 0.5:1 0.6:0 0.65:1 0.7:0 0.8:1 0.95:1"

EXPERIMENT = Experiment(
    posed=True,
    key="pooling",
    page=TAUGHT,
    lab=TRIED,
    name="Pool adjacent violators",
    question="Every point begins as a pool. If a pool's share of class 1 is larger than its right "
    "neighbour's, the two are joined. How many moves can n points need?",
    answers=("At most n − 1", "Up to n squared", "No limit: joined pools can split"),
    right=1,
    why=(
        "Every move removes one pool, and at least one must be left.",
        "Joined pools are never split, so each move leaves one pool fewer.",
        "A joined pool can be joined again, but is never split, because the shares of its parts would fall "
        "again.",
    ),
    no_turn="The bound holds for all labels.",
    parameters=(
        Parameter(
            "points",
            "Points, as score:label",
            "points",
            FIRST_SCORES,
            help=f"Up to {MOST_TYPED} points, separated by spaces. Equal scores are pooled before the first move. "
            "Click a point of the upper picture to flip its label.",
        ),
        Parameter(
            "step",
            "Moves made",
            "integer",
            0,
            0,
            MOST_TYPED,
            help="Each move merges the leftmost two neighbouring pools whose share of class 1 falls from left "
            "to right.",
            extra=view_of("pooling", drawn_by_page=True),
        ),
        Parameter(
            "score",
            "Score of a new row",
            "number",
            0.55,
            -LARGEST_SCORE,
            LARGEST_SCORE,
            help="p0 and p1 are the fits at this score, with label 0 and with label 1.",
            extra=view_of("pooling", drawn_by_page=True),
        ),
    ),
    simulation=pool_step_by_step,
    notice=(
        "Every move removes one pool, and no pool is ever split again. The result does not depend on which pair is "
        "joined first; here it is always the leftmost pair.",
        "The lower picture is the cumulative-sum diagram: it counts rows to the right and rows of class 1 "
        "upwards. A pool is a chord, and its share is the chord's slope. Joining two pools cuts off a corner "
        "that points upwards.",
        "When no chord is followed by a flatter chord, the chords form the lower convex hull of the points, the "
        "greatest convex curve below them. Its slopes are the isotonic fit.",
        "Flip a label and start again: one label can change most of the fitted values, or only a few.",
    ),
    formulas=(
        r"g(C_1 \cup C_2) = \frac{a_1 + a_2}{N_1 + N_2}",
        r"P_i = \Big(\sum_{j \le i} N_{(j)},\ \sum_{j \le i} a_{(j)}\Big)",
        r"\text{slope from } P_i \text{ to } P_k = \frac{a_{(i+1)} + \dots + a_{(k)}}{N_{(i+1)} + \dots + N_{(k)}}",
    ),
    source="Ayer, Brunk, Ewing, Reid and Silverman (1955), as in lemma 1 of Vovk and Petej, Venn–Abers predictors "
    "(2014).",
    seeded=False,
    plays="step",
)


FIGURES = (FigureEntry("pooling", "Pool adjacent violators, step by step", prepare, draw),)

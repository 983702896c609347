"""The critical-difference diagram (Demšar 2006, Figure 1): average ranks on a line, and bars.

Bars cover setups that do not differ significantly. There are two families of bars: Nemenyi's, all of the same length,
and those of Bergmann and Hommel's procedure (García & Herrera 2008), which finds more differences.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from math import ceil

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.comparison import bergmann_hommel, best_ranked, cliques, nemenyi_critical_difference
from calib.comparison.ranks import MOST_METHODS
from calib.figures.base import MOST_SETUPS, FigureEntry, Record, best_setups_note, in_two_lines
from calib.figures.theme import LIGHT, Theme, layout
from calib.kernel.checks import InputError
from calib.kernel.wording import brief, counted, listed, number

LINE_HEIGHT, SIGN_SIZE, LONGEST = 24, 7, 16  # pixels per line and per letter, letters per line of a name
NEMENYI, BERGMANN_HOMMEL = "Nemenyi", "Bergmann–Hommel"
BAR_WIDTHS = {NEMENYI: 5, BERGMANN_HOMMEL: 3}
MOST_UNDER_BAR = 12  # most setups under one bar that the alternative text lists


@dataclass(frozen=True, eq=False)
class CriticalDifference(Record):
    """Average ranks, and which of them do not differ.

    Attributes
    ----------
    ranks
        Best first.
    bars
        Procedure → bars, as positions in ``ranks``.
    n
        Number of data sets.
    difference
        Nemenyi's critical difference.
    """

    ranks: pd.Series
    bars: dict[str, list[tuple[int, ...]]]
    n: int
    difference: float

    def to_frame(self) -> pd.DataFrame:
        """Return one row per setup: its rank, and the numbers of the bars that cover it."""
        table = self.ranks.rename("average_rank").rename_axis("setup").reset_index()
        for way, bars in self.bars.items():
            under = [[str(i) for i, bar in enumerate(bars, 1) if place in bar] for place in range(len(table))]
            table[f"bars ({way})"] = [" ".join(numbers) for numbers in under]
        return table


def prepare(
    ranks: pd.Series, n: int = 1, what: str = "", adjusted: pd.DataFrame | None = None, alpha: float = 0.05
) -> CriticalDifference:
    """Prepare the diagram of average ranks.

    Parameters
    ----------
    ranks
        Average rank by name of the setup.
    n
        Number of data sets.
    what
        The metric of the ranks.
    adjusted
        Bergmann–Hommel p-values, setups × setups, if they are already computed.

    Raises
    ------
    InputError
        For fewer than two setups.
    """
    if len(ranks) < 2:
        raise InputError("A critical-difference diagram needs at least 2 setups.")
    ordered = ranks.sort_values(kind="stable")
    difference = nemenyi_critical_difference(len(ordered), n, alpha)
    values = ordered.to_numpy(dtype=np.float64)
    families = {NEMENYI: cliques(values, np.abs(values[:, None] - values) < difference)}
    if len(ordered) <= MOST_METHODS:
        given = None if adjusted is None else adjusted.loc[ordered.index, ordered.index].to_numpy()
        p = bergmann_hommel(values, n) if given is None else given
        families[BERGMANN_HOMMEL] = cliques(values, p > alpha)
    return CriticalDifference(
        ordered,
        families,
        n,
        difference,
        title=_finding(ordered, families, what),
        caption=_caption(n, alpha, difference, len(families) > 1) + best_setups_note(len(ordered)),
        alt=f"Critical-difference diagram{f' by {what}' if what else ''}. {_in_words(ordered, families)}",
    )


def _in_words(ranks: pd.Series, families: dict[str, list[tuple[int, ...]]]) -> str:
    """Describe the drawn ranks, and the setups under each bar."""
    drawn = ranks.iloc[:MOST_SETUPS]
    summary = "; ".join(f"{name} {number(rank)}" for name, rank in drawn.items())
    named = {
        way: " | ".join(
            listed([str(drawn.index[i]) for i in bar], MOST_UNDER_BAR) for bar in _within(bars, len(drawn))
        )
        for way, bars in families.items()
    }
    bars = "; ".join(
        f"No significant difference by the {way} test: {found or 'none'}" for way, found in named.items()
    )
    return f"Average ranks: {summary}. {bars}."


def _finding(ranks: pd.Series, families: dict[str, list[tuple[int, ...]]], what: str) -> str:
    """Name the leader, and the setups that do not differ significantly from it by the sharpest test."""
    way, bars = list(families.items())[-1]
    first = next((bar for bar in bars if 0 in bar), (0,))
    leaders = best_ranked(ranks)
    near = [str(ranks.index[i]) for i in first if ranks.index[i] not in leaders]
    share = "has" if len(leaders) == 1 else "share"
    best = f"{listed(leaders, 3)} {share} the best average rank"
    best += f"{f' by {what}' if what else ''} ({brief(ranks.iloc[0])})"
    if len(leaders) == len(ranks):
        return best
    if not near:
        return f"{best}, significantly better than all others ({way})"
    if len(near) == len(ranks) - len(leaders):
        return f"{best}; no setup differs significantly from {'it' if len(leaders) == 1 else 'them'}"
    others = listed(near) if len(near) < 5 else counted(len(near), "other setup")
    return f"{best}, not significantly different from {others}"


def _caption(n: int, alpha: float, difference: float, both: bool) -> str:
    text = (
        f"The axis shows average ranks over {counted(n, 'data set')}, best at the left. A bar joins setups "
        f"that do not differ significantly at α = {alpha:g}. By Nemenyi's test, two ranks do not differ "
        f"significantly if they are closer than the critical difference of {number(difference)}"
    )
    if both:
        return (
            f"{text}; the second group of bars shows Bergmann and Hommel's procedure, which finds more "
            "differences."
        )
    return f"{text}. Bergmann and Hommel's procedure compares up to {MOST_METHODS} setups."


def draw(record: CriticalDifference, theme: Theme = LIGHT) -> go.Figure:
    """Draw from the top the critical difference, the axis, both families of bars, then names, the best first."""
    ranks = record.ranks.iloc[:MOST_SETUPS]
    values, drawn = ranks.to_numpy(), len(ranks)
    k = drawn if drawn == len(record.ranks) else ceil(values[-1])  # where the axis ends
    bars = [(way, bar) for way, found in record.bars.items() for bar in _within(found, drawn)]
    below = 0.7 + 0.45 * len(bars)
    names = [in_two_lines(name, LONGEST) for name in ranks.index]
    step = 1.5 if any("<br>" in name for name in names) else 1.0
    margin = 22 + SIGN_SIZE * max(len(html.unescape(line)) for name in names for line in name.split("<br>"))
    deepest = below + step * -(-drawn // 2) + 0.4
    padding = 0.04 * (k - 1)
    figure = go.Figure(
        layout=layout(
            theme,
            height=int(LINE_HEIGHT * (deepest + 2.8)) + 40,
            margin={"l": margin, "r": margin, "t": 4, "b": 56},
            xaxis={"range": [1 - padding, k + padding], "visible": False},
            yaxis={"range": [deepest, -2.8], "visible": False},
            legend={"y": 0, "yanchor": "top", "x": 0.5, "xanchor": "center"},
            uirevision="critical_difference",
        )
    )
    figure.add_traces([*_axis(k, theme), _ruler(record.difference, k, theme)])
    figure.add_traces(_bars(bars, values, theme))
    _names(figure, names, values, (below, step), (1 - padding, k + padding), theme)
    return figure


def _within(bars: list[tuple[int, ...]], drawn: int) -> list[tuple[int, ...]]:
    """Return the bars over the drawn setups; of those that continue beyond the last setup only the longest.

    >>> _within([(0, 1), (1, 2, 3), (2, 3, 4)], 3)
    [(0, 1), (1, 2)]
    """
    cut = [bar[: drawn - bar[0]] for bar in bars if bar[0] < drawn - 1]
    return [bar for bar, before in zip(cut, [(-1,), *cut], strict=False) if bar[-1] > before[-1]]


def _axis(k: int, theme: Theme) -> list[go.Scatter]:
    """Return the line of ranks with a tick at each rank; as many ticks are labelled as there is space for."""
    ticks = list(range(1, k + 1))
    step = next(step for step in (1, 2, 5, 10, 20, 50, k) if k <= 13 * step)
    named = [str(i) if (i - 1) % step == 0 else "" for i in ticks]
    return [
        go.Scatter(
            x=[1, k],
            y=[0, 0],
            mode="lines",
            line={"color": theme.ink, "width": 1.5},
            hoverinfo="skip",
            showlegend=False,
        ),
        go.Scatter(
            x=ticks,
            y=[-0.12] * k,
            mode="markers+text",
            text=named,
            textposition="top center",
            textfont={"color": theme.muted, "size": 12},
            marker={"symbol": "line-ns", "size": 8, "line": {"color": theme.ink, "width": 1.2}},
            hoverinfo="skip",
            showlegend=False,
        ),
    ]


def _ruler(difference: float, k: int, theme: Theme) -> go.Scatter:
    """Return the critical difference as a length that starts at rank 1."""
    end = min(1 + difference, k)
    return go.Scatter(
        x=[1, (1 + end) / 2, end],
        y=[-1.9] * 3,
        mode="lines+markers+text",
        text=[
            "",
            f"CD {number(difference)}" + ("" if end == 1 + difference else " (longer than the axis)"),
            "",
        ],
        textposition="top center",
        textfont={"color": theme.ink, "size": 12},
        cliponaxis=False,
        line={"color": theme.ink, "width": 1.5},
        marker={"symbol": "line-ns", "size": [9, 0, 9], "line": {"color": theme.ink, "width": 1.5}},
        hoverinfo="skip",
        showlegend=False,
    )


def _bars(bars: list[tuple[str, tuple[int, ...]]], values: np.ndarray, theme: Theme) -> list[go.Scatter]:
    """Return each family of bars below the one before; the legend names the family by its first bar."""
    inks = {NEMENYI: theme.negative, BERGMANN_HOMMEL: theme.positive}
    seen: set[str] = set()
    traces = []
    for i, (way, bar) in enumerate(bars):
        depth = 0.55 + 0.45 * i
        ends = [values[list(bar)].min() - 0.03, values[list(bar)].max() + 0.03]
        traces.append(
            go.Scatter(
                x=ends,
                y=[depth, depth],
                mode="lines",
                name=f"not significantly different by {way}",
                legendgroup=way,
                showlegend=way not in seen,
                line={"color": inks[way], "width": BAR_WIDTHS[way]},
                hovertemplate=f"{way}: ranks from {number(values[list(bar)].min())} to "
                f"{number(values[list(bar)].max())}<extra></extra>",
            )
        )
        seen.add(way)
    return traces


def _names(
    figure: go.Figure,
    names: list[str],
    values: np.ndarray,
    depths: tuple[float, float],
    ends: tuple[float, float],
    theme: Theme,
) -> None:
    """Add the names, the better half at the left from the top, the others at the right, with lines to their ranks."""
    k, half, (below, step) = len(names), -(-len(names) // 2), depths
    for i, (name, value) in enumerate(zip(names, values, strict=True)):
        left = i < half
        depth = below + step * ((i if left else k - 1 - i) + 0.5)
        side = ends[0] if left else ends[1]
        figure.add_scatter(
            x=[value, value, side],
            y=[0, depth, depth],
            mode="lines",
            line={"color": theme.muted, "width": 1},
            hovertemplate=f"{name}: average rank {number(float(value))}<extra></extra>",
            showlegend=False,
        )
        figure.add_annotation(
            x=side,
            y=depth,
            text=name,
            align="right" if left else "left",
            xanchor="right" if left else "left",
            xshift=-4 if left else 4,
            showarrow=False,
            font={"color": theme.ink, "size": 13},
        )


CRITICAL_DIFFERENCE = FigureEntry("critical_difference", "Critical-difference diagram", prepare, draw)

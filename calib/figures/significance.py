"""Pairwise significance as a heat map with the p-values in it.

The matrices of Johansson et al. (2019), Tables 3 and 5, show a "v" if the row is significantly better than
the column; here each cell has the p-value, and the colour shows which of the two is better.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.figures.base import MOST_SETUPS, FigureEntry, Record, best_setups_note, chart_text, in_two_lines
from calib.figures.theme import LIGHT, Theme, layout, rgba
from calib.kernel.checks import InputError
from calib.kernel.wording import listed, number

CELL, HEAD, LONGEST = 34, 150, 14  # pixels, pixels, letters of a name
LETTERS_SIDE_BY_SIDE = 32  # letters of all names together that fit a phone side by side
LARGEST_WITH_NUMBERS = 14  # most setups whose cells are wide enough for a number
LARGEST_WITH_HEADS = 20  # most setups whose columns fit names on a phone; rows have the same names
MOST_PAIRS = 40  # most pairs in the alternative text


@dataclass(frozen=True, eq=False)
class Significance(Record):
    """p-values of all pairs.

    Attributes
    ----------
    p
        p-values of the row against the column, NaN if there is none.
    sign
        1 if the row is significantly better, −1 if it is significantly worse, else 0.
    """

    p: pd.DataFrame
    sign: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """Return one row per pair of different setups."""
        words = {1: "better", 0: "", -1: "worse"}
        row, column = np.nonzero(~np.eye(len(self.p), dtype=bool))
        names = self.p.index.to_numpy()
        signs = [words[sign] for sign in self.sign.to_numpy()[row, column]]
        columns = {"setup": names[row], "against": names[column], "p": self.p.to_numpy()[row, column]}
        return pd.DataFrame({**columns, "significantly": signs})


def prepare(
    p: pd.DataFrame, ranks: pd.Series | None = None, alpha: float = 0.05, test: str = "", note: str = ""
) -> Significance:
    """Prepare the matrix of p-values, setups × setups.

    Parameters
    ----------
    ranks
        Average ranks that show which of a pair is better, for two-sided p-values; without them a p-value is
        one-sided, for "the row is better than the column".
    test, note
        The name of the test, and a further note.

    Raises
    ------
    InputError
        For fewer than two setups.
    """
    if len(p) < 2:
        raise InputError("A pairwise comparison needs at least 2 setups.")
    values = p.to_numpy(dtype=np.float64, copy=True)
    np.fill_diagonal(values, np.nan)
    sure = values <= alpha
    if ranks is None:
        sign = sure.astype(int) - sure.T.astype(int)
    else:
        places = ranks[p.index].to_numpy()
        sign = sure * np.sign(places - places[:, None]).astype(int)
    better = [(p.index[i], p.columns[j]) for i, j in np.argwhere(sign == 1)]
    pairs = len(p) * (len(p) - 1) // 2
    words = listed([f"{row} better than {column}" for row, column in better], MOST_PAIRS)
    return Significance(
        pd.DataFrame(values, index=p.index, columns=p.columns),
        pd.DataFrame(sign, index=p.index, columns=p.columns),
        title=_finding(len(better), pairs) + (f" ({test})" if test else ""),
        caption=_caption(len(p), alpha, note) + best_setups_note(len(p)),
        alt=f"Matrix of significant differences{f', {test}' if test else ''}: {words or 'none'}.",
    )


def _finding(better: int, pairs: int) -> str:
    if pairs == 1:
        return f"The two setups {'differ' if better else 'do not differ'} significantly"
    return f"{better:,} of {pairs:,} pairs {'differs' if better == 1 else 'differ'} significantly"


def _caption(setups: int, alpha: float, note: str) -> str:
    numbers = setups <= LARGEST_WITH_NUMBERS
    words = (
        f"Cells are blue{' with a v' * numbers} if the row's setup is significantly better than the column's. "
        "Cells are orange if the row's setup is significantly worse. The significance level is α = "
        f"{alpha:g}.{' The numbers are p-values.' * numbers}"
    )
    heads = "" if setups <= LARGEST_WITH_HEADS else "Columns have the same order as the rows."
    return " ".join(filter(None, [words, heads, note]))


def draw(record: Significance, theme: Theme = LIGHT) -> go.Figure:
    """Draw rows against columns in the given order, the first at the top and at the left."""
    first = slice(MOST_SETUPS)
    record = replace(record, p=record.p.iloc[first, first], sign=record.sign.iloc[first, first])
    heads = len(record.p) <= LARGEST_WITH_HEADS
    names = [chart_text(name, LONGEST) if heads else "" for name in record.p.index]
    lines = [in_two_lines(name, LONGEST) for name in record.p.index]
    places, level = list(range(len(names))), sum(map(len, names)) <= LETTERS_SIDE_BY_SIDE
    axis = {"tickvals": places, "showgrid": False, "ticks": "", "automargin": True}
    scale = [[0, rgba(theme.positive, 0.35)], [0.5, rgba(theme.grid, 0.6)], [1, rgba(theme.negative, 0.4)]]
    figure = go.Figure(
        layout=layout(
            theme,
            height=HEAD + CELL * len(names),
            showlegend=False,
            margin={"l": 12, "r": 12, "t": 12, "b": 12},
            # Rotated to fall to the right, the first name begins above those of rows, and none leaves the chart
            xaxis={**axis, "ticktext": names, "side": "top", "tickangle": 0 if level else 45},
            yaxis={**axis, "ticktext": lines, "autorange": "reversed"},
            uirevision="significance",
        )
    )
    sign = record.sign.where(record.p.notna()).to_numpy(dtype=np.float64)
    figure.add_heatmap(
        x=places,
        y=places,
        z=sign,
        zmin=-1,
        zmax=1,
        colorscale=scale,
        showscale=False,
        xgap=2,
        ygap=2,
        hoverongaps=False,
        text=_cells(record) if len(names) <= LARGEST_WITH_NUMBERS else None,
        texttemplate="%{text}" if len(names) <= LARGEST_WITH_NUMBERS else None,
        textfont={"color": theme.ink, "size": 12 if len(names) <= 6 else 9},
        customdata=_hover(record),
        hovertemplate="%{customdata}<extra></extra>",
    )
    return figure


def _p(value: float) -> str:
    """Format a p-value for a cell, with three digits near 0.05, where two would hide the side on which it lies.

    >>> _p(0.0312), _p(0.052), _p(0.0004), _p(1.0), _p(float("nan"))
    ('.03', '.052', '<.01', '1', '–')
    """
    if np.isnan(value):
        return "–"
    if value < 0.01:
        return "<.01"
    return "1" if value > 0.995 else f"{value:.3f}"[1:] if 0.045 <= value < 0.055 else f"{value:.2f}"[1:]


def _cells(record: Significance) -> list[list[str]]:
    return _each_pair(
        record, lambda a, b, p, sign: ("v<br>" if sign == 1 else "") + _p(p).replace("<", "&lt;")
    )


def _hover(record: Significance) -> list[list[str]]:
    words = {
        1: "significantly better than",
        0: "not significantly better than",
        -1: "significantly worse than",
    }
    return _each_pair(
        record, lambda a, b, p, sign: f"{chart_text(a)} {words[sign]} {chart_text(b)}: p = {number(p)}"
    )


def _each_pair(record: Significance, text: Callable[[str, str, float, int], str]) -> list[list[str]]:
    """Return a text for every row against every column, and "" for a setup against itself."""
    names = record.p.index
    return [
        ["" if a == b else text(a, b, float(record.p.loc[a, b]), int(record.sign.loc[a, b])) for b in names]
        for a in names
    ]


SIGNIFICANCE = FigureEntry("significance", "Significant differences", prepare, draw)

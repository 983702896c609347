"""Win rate of each setup of a study against the others, with intervals over data sets: a forest plot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.figures.axes import percent_ticks
from calib.figures.base import MOST_SETUPS, FigureEntry, Record, best_setups_note, chart_text, in_two_lines
from calib.figures.theme import LIGHT, Theme, error_bars, lanes, layout, outlined
from calib.kernel.checks import InputError
from calib.kernel.wording import counted

LANE, HEAD, LONGEST = 26, 72, 20  # pixels, pixels, letters of a line of a name
FEWEST_SETS = 6  # data sets; fewer are all on one side by chance more often than 1 in 20 times (2 · ½⁵)


@dataclass(frozen=True, eq=False)
class WinRates(Record):
    """Win rates with their intervals.

    Attributes
    ----------
    table
        Setups, best first, by mean, lower and upper end.
    """

    table: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """Return one row per setup."""
        return self.table.rename_axis("setup").reset_index().rename(columns={"mean": "win_rate"})


def prepare(rates: pd.DataFrame, n: int = 1, what: str = "") -> WinRates:
    """Prepare the plot of win rates over n data sets: setups by mean, lower and upper.

    Parameters
    ----------
    what
        The metric that decides.

    Raises
    ------
    InputError
        If there are none.
    """
    if rates.empty:
        raise InputError("There are no setups to compare.")
    table = rates.sort_values("mean", ascending=False, kind="stable")
    summary = "; ".join(f"{name} {rate}" for name, rate in _rates(table.iloc[:MOST_SETUPS]).items())
    by = f" by {what}" if what else ""
    return WinRates(
        table,
        title=_finding(table, by, n),
        caption=f"Marks show the win rate of each setup{by}, averaged over {counted(n, 'data set')}. The "
        f"win rate is the share of the other setups that a setup beats; a tie counts as half a win. "
        f"{'Bars show 95 % intervals for other, similar data sets. ' if n > 1 else ''}A setup on the "
        f"vertical line wins as often as it loses." + best_setups_note(len(table)),
        alt=f"Win rates against all other setups{by}. {summary}.",
    )


def _rates(table: pd.DataFrame) -> dict[str, str]:
    """Return name → rate as a percentage, with its interval if there is one."""
    ends = zip(table.index, table["mean"], table["lower"], table["upper"], strict=True)
    return {
        str(name): f"{100 * mean:.0f} %"
        + ("" if np.isnan(lower) else f" [{100 * lower:.0f} %, {100 * upper:.0f} %]")
        for name, mean, lower, upper in ends
    }


def _finding(table: pd.DataFrame, by: str, n: int) -> str:
    """State who wins most, and with enough data sets how many intervals lie above one half."""
    best, sure = table.iloc[0], int((table["lower"] > 0.5).sum())
    text = f"{table.index[0]} beats {100 * best['mean']:.0f} % of the other setups{by}"
    if len(table) < 3 or n < 2:
        return text
    if n < FEWEST_SETS:
        return f"{text} on {n} data sets, too few to exclude sampling variability"
    return (
        f"{text}; {sure or 'none'} of {len(table)} intervals {'lies' if sure == 1 else 'lie'} above one half"
    )


def draw(record: WinRates, theme: Theme = LIGHT) -> go.Figure:
    """Draw a lane per setup, the best at the top."""
    table = record.table.iloc[:MOST_SETUPS]
    names = [in_two_lines(name, LONGEST) for name in table.index]
    lane = 1.4 * LANE if any("<br>" in name for name in names) else LANE
    figure = go.Figure(
        layout=layout(
            theme,
            height=HEAD + lane * len(table),
            showlegend=False,
            margin={"l": 12, "r": 16, "t": 12, "b": 48},
            xaxis={
                "title": {"text": "Win rate against all other setups"},
                "range": [-0.02, 1.02],
                **percent_ticks(np.linspace(0, 1, 6)),
            },
            yaxis=lanes(names),
            uirevision="win_rates",
        )
    )
    figure.add_vline(x=0.5, line={"color": theme.diagonal, "width": 1})
    figure.add_scatter(
        x=table["mean"].to_numpy(),
        y=list(range(len(table))),
        mode="markers",
        marker=outlined(theme.negative, 10, theme),
        error_x=error_bars(table["mean"], table["lower"], table["upper"], theme.negative, 2.5),
        customdata=[[chart_text(name), rate] for name, rate in _rates(table).items()],
        hovertemplate="%{customdata[0]}: %{customdata[1]}<extra></extra>",
    )
    return figure


WIN_RATES = FigureEntry("win_rates", "Win rates", prepare, draw)

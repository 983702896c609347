"""Confidence sequences, intervals that are valid at every time: for the level, the Brier score and the slope.

Level and Brier score: means of bounded numbers, by the wealth of a bet, bounded from below in closed form (Fan, Grama
& Liu 2015; Howard, Ramdas, McAuliffe & Sekhon 2021, theorem 4), mixed over stakes λ. They cover the average so
far of the conditional expectations given the past, even while these change. Slope: the likelihood of predictions made
from the past, divided by the likelihood of each line logit π = a + b logit p; the interval contains the slopes of all
lines for which this ratio is at most 1/α (Robbins 1970; Wasserman, Ramdas & Balakrishnan 2020).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from calib.analysis.watch.evidence import SUM_SCALE, Block, next_renewal, softplus
from calib.kernel.checks import Array

STAKES = 0.5 * 2.0 ** (-np.arange(25) / 2)
LOG_SHARE = -np.log((np.arange(25) + 1.0) * (np.arange(25) + 2.0))
PSI = -np.log1p(-STAKES) - STAKES
LINE_EDGES = np.concatenate(
    [np.linspace(-14, -6, 41)[:-1], np.linspace(-6, 6, 481), np.linspace(6, 14, 41)[1:]]
)
LINE_BINS = len(LINE_EDGES) + 1
PRIOR_WEIGHT = 4.0  # weight of the prior of fitted lines: a penalty for leaving a = 0, b = 1


def log_wealth(distance: Array, spread: Array) -> Array:
    """Return the log of the mixture of bets that a sum is ``distance`` above its conditional mean."""
    inside = LOG_SHARE + STAKES * distance[..., None] - PSI * spread[..., None]
    top = inside.max(axis=-1)
    return top + np.log(np.exp(inside - top[..., None]).sum(axis=-1))


def half_width(spread: Array, alpha: float) -> Array:
    """Bound the distance of a sum from its conditional mean at all times.

    ``spread`` is the sum of squared deviations.
    """
    spread = np.asarray(spread, dtype=float)
    low, high = np.zeros_like(spread), 60 + 6 * np.sqrt(spread * (6 + np.log1p(spread)))
    for _ in range(60):
        middle = (low + high) / 2
        above = log_wealth(middle, spread) > np.log(2 / alpha)
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return high


@dataclass(eq=False)
class MeanSequence:
    """Sums of y − p and of (y − p)², and their squared deviations from the mean of the past."""

    rows: int = 0
    level: float = 0.0
    level_spread: float = 0.0
    brier: float = 0.0
    brier_spread: float = 0.0

    def add(self, block: Block, p: Array) -> dict[str, Array]:
        """Add batches, whose unclipped probabilities are ``p``, and return the sums after each batch."""
        gap = block.y - p
        square = gap * gap
        sizes = np.diff(np.append(block.starts, len(p)))
        rows = self.rows + np.add.accumulate(sizes)
        before = np.append(self.rows, rows[:-1])
        found: dict[str, Array] = {"rows": rows}
        for name, values, low, high in (("level", gap, -p, 1 - p), ("brier", square, 0.0, 1.0)):
            sums = np.add.accumulate(np.append(getattr(self, name), block.sums(values)))
            mean = np.repeat(sums[:-1] / np.maximum(before, 1), sizes)
            off = values - np.clip(mean, low, high)
            spread = np.add.accumulate(np.append(getattr(self, f"{name}_spread"), block.sums(off * off)))
            found[name], found[f"{name}_spread"] = sums[1:], spread[1:]
            setattr(self, name, float(sums[-1]))
            setattr(self, f"{name}_spread", float(spread[-1]))
        self.rows = int(rows[-1])
        return found

    def interval(self, name: str, alpha: float) -> tuple[float, float, float]:
        """Return (low, mean so far, high) of "level" or "brier"."""
        least = -1.0 if name == "level" else 0.0
        if self.rows == 0:
            return least, float("nan"), 1.0
        mean = getattr(self, name) / self.rows
        width = float(half_width(np.array(getattr(self, f"{name}_spread")), alpha)) / self.rows
        return max(mean - width, least), mean, min(mean + width, 1.0)


@dataclass(eq=False)
class LineSequence:
    """Lines fitted to the past, their likelihood, and sums by narrow bins that bound the likelihood of every line.

    Attributes
    ----------
    sums
        Shape (4, bins): rows, events, Σ x, Σ x of events; the last two as whole multiples of 1 / SCALE.
    fit
        Intercept and slope from the rows before the last renewal.
    won
        Log-likelihood of the labels under the lines that were fitted before them.
    """

    sums: Array = field(default_factory=lambda: np.zeros((4, LINE_BINS)))
    fit: Array = field(default_factory=lambda: np.array([0.0, 1.0]))
    won: float = 0.0
    rows: int = 0
    renewed: int = 0

    def add(self, block: Block) -> Array:
        """Add batches, and return ``won`` after each."""
        first = self.rows + np.append(block.starts, len(block.x))
        bins = np.searchsorted(LINE_EDGES, block.x, side="right")
        whole = np.rint(block.x * SUM_SCALE)
        sign = 1.0 - 2.0 * block.y
        at = 0
        fitted = np.empty((2, len(block.x)))
        while True:
            due = next_renewal(self.renewed)
            batch = int(np.searchsorted(first, due))
            row = int(first[batch]) - self.rows if batch < len(first) else len(block.x)
            fitted[:, at:row] = self.fit[:, None]
            part = slice(at, row)
            y = block.y[part]
            for i, values in enumerate((None, y, whole[part], whole[part] * y)):
                self.sums[i] += np.bincount(bins[part], weights=values, minlength=LINE_BINS)
            if batch >= len(first):
                break
            self.renewed, at = self.rows + row, row
            self._renew()
        each = -block.sums(softplus(sign * np.clip(fitted[0] + fitted[1] * block.x, -30, 30)))
        won = np.add.accumulate(np.append(self.won, each))[1:]
        self.won = float(won[-1])
        self.rows = int(first[-1])
        return won

    def _table(self) -> tuple[Array, Array, float, float]:
        """Return rows and mean x of the bins in use, and Σ y and Σ y x over all bins."""
        used = np.flatnonzero(self.sums[0])
        rows = self.sums[0, used]
        x = self.sums[2, used] / SUM_SCALE / rows
        return rows, x, float(self.sums[1].sum()), float(self.sums[3].sum()) / SUM_SCALE

    def _renew(self) -> None:
        rows, x, events, tilted = self._table()
        prior = PRIOR_WEIGHT / 4
        a, b = self.fit
        for _ in range(4):
            p = expit(a + b * x)
            v = rows * p * (1 - p)
            score = np.array([events - rows @ p - prior * a, tilted - rows @ (p * x) - prior * (b - 1)])
            mixed = v @ x
            step = np.linalg.solve([[v.sum() + prior, mixed], [mixed, v @ (x * x) + prior]], score)
            step = np.clip(step, -1, 1)
            a, b = a + step[0], b + step[1]
            if np.abs(step).max() < 1e-6:
                break
        self.fit = np.array([np.clip(a, -8, 8), np.clip(b, -5, 8)])

    def slopes(self, alpha: float) -> tuple[float, float, float]:
        """Return (low, most likely, high) of the slope; an end is infinite if the rows do not bound it."""
        if self.rows == 0 or np.count_nonzero(self.sums[0]) < 2:
            return -np.inf, float("nan"), np.inf
        rows, x, events, tilted = self._table()

        def best(b: float) -> float:
            """Return the log-likelihood of the best line of slope b, within bins by Jensen's upper bound."""

            def excess(a: float) -> float:
                return float(rows @ expit(a + b * x)) - events

            reach = 40 + abs(b) * np.abs(x).max()
            if 0 < events < rows.sum():
                a = float(brentq(excess, -reach, reach, xtol=1e-10))
            else:
                a = reach if events else -reach
            return float(a * events + b * tilted - rows @ np.logaddexp(0, a + b * x))

        least = self.won - float(np.log(1 / alpha))
        grid = np.linspace(-6, 8, 57)
        values = np.array([best(b) for b in grid])
        i = int(values.argmax())
        left, right = grid[max(i - 1, 0)], grid[min(i + 1, len(grid) - 1)]
        for _ in range(50):  # golden section: the profile is concave
            one, two = right - 0.618034 * (right - left), left + 0.618034 * (right - left)
            if best(one) < best(two):
                left = one
            else:
                right = two
        top = (left + right) / 2
        if best(top) < least:  # possible by rounding only
            return top, top, top
        ends = []
        for end, infinite in ((-20.0, -np.inf), (20.0, np.inf)):
            if best(end) >= least:
                ends.append(infinite)
            else:
                ends.append(float(brentq(lambda b: best(b) - least, *sorted((end, top)), xtol=1e-7)))
        return ends[0], float(top), ends[1]

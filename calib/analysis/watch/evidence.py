"""The evidence against calibration: bets, each fixed before the label is seen, and their mixture over restarts.

A bet offers alternative probabilities q instead of p: shifts of the log-odds, slopes, and online isotonic regression on
bins of the log-odds. On a row it gains log q(y) − log p(y). If the label has probability p, the mean of exp(gain) is 1
for every q that was chosen from the past (Henzi, Puke, Dimitriadis & Ziegel 2023, "A safe Hosmer–Lemeshow test";
Arnold, Henzi & Ziegel 2023).

E_t = Σ_j π_j Σ_k w(k) Π_{i = k … t} exp(gain_ij), plus the weights w(k) of restarts still to come, which are
not bet yet. Because the weights sum to 1 it is a martingale of mean 1 if the predictions are right, so that it ever
reaches 1/α with probability at most α (Ville 1939). ``S_t = exp(gain_t) (S_{t−1} + w(t))`` needs only the last value.

Four tenths of the weight are for a model that is wrong from the first row. The others decrease as 1 / (k ln²(k)), but
only after about 100 rows: few changes are so early, and a change after a long calibrated time is found sooner.

Confidence sequences, intervals that are valid at every time: for the level, the Brier score and the slope.

Level and Brier score: means of bounded numbers, by the wealth of a bet, bounded from below in closed form (Fan, Grama &
Liu 2015; Howard, Ramdas, McAuliffe & Sekhon 2021, theorem 4), mixed over stakes λ. They cover the average so far of the
conditional expectations given the past, even while these change. Slope: the likelihood of predictions made from the
past, divided by the likelihood of each line logit π = a + b logit p; the interval contains the slopes of all lines for
which this ratio is at most 1/α (Robbins 1970; Wasserman, Ramdas & Balakrishnan 2020).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import brentq, isotonic_regression
from scipy.special import expit

from calib.kernel.checks import Array

BET_CLIP = 1e-6  # distance from 0 and 1 to which probabilities are clipped
FARTHEST_LOG_ODDS = float(np.log((1 - BET_CLIP) / BET_CLIP))

SHIFTS = (0.15, 0.3, 0.5, 0.75, 1.1)
SLOPES = (0.4, 0.6, 0.8, 1.25, 1.6, 2.2)
TILTED = (0.5, 0.75, 1.5)
LINE_BETS: tuple[tuple[float, float, str], ...] = (
    *((sign * shift, 1.0, "level") for shift in SHIFTS for sign in (1, -1)),
    *((0.0, slope, "slope") for slope in SLOPES),
    *((sign * 0.5, slope, "slope") for slope in TILTED for sign in (1, -1)),
)
"""Intercept a, slope b and kind of each line that bets logit q = a + b logit p; the kind is the cause if it wins."""

MEMORIES = (400.0, 3_000.0, np.inf)
"""Half-lives, in rows, of the isotonic fits."""

BET_BINS = 100
PSEUDO = 4.0  # pseudo-rows of calibrated labels with which the isotonic fit starts, spread over the bins
SUM_SCALE = float(2**24)  # sums of multiples of 1 / SUM_SCALE do not depend on the order

BET_KINDS = (*(kind for _, _, kind in LINE_BETS), *("shape" for _ in MEMORIES))
KIND_WEIGHTS = {"level": 0.8, "slope": 0.1, "shape": 0.1}
LOG_PRIOR = np.log([KIND_WEIGHTS[kind] / BET_KINDS.count(kind) for kind in BET_KINDS])[:, None]

EDGES = np.linspace(-7, 7, BET_BINS - 1)


def bin_of(x: Array) -> Array:
    """Return the bin of log-odds among the 100 fixed bins; the first and the last are open."""
    return np.searchsorted(EDGES, x, side="right")


def softplus(z: Array) -> Array:
    """Return ``log(1 + exp(z))`` for z below 700."""
    return np.log1p(np.exp(z))


@dataclass(frozen=True, eq=False)
class Block:
    """Rows in order, as batches.

    Attributes
    ----------
    x, y, p
        Log-odds, labels and probabilities, clipped.
    end
        −1 if p was clipped at 0, 1 if it was clipped at 1, else 0; None if no row was clipped.
    starts
        Position of the first row of each batch.
    """

    x: Array
    y: Array
    p: Array
    end: Array | None
    starts: Array

    def sums(self, values: Array) -> Array:
        """Sum ``values`` over each batch."""
        if len(self.starts) == len(values):
            return values
        return np.add.reduceat(values, self.starts)

    def part(self, batches: Array) -> Block:
        """Return these batches."""
        sizes = np.diff(np.append(self.starts, len(self.x)))
        chosen = np.zeros(len(sizes), dtype=bool)
        chosen[batches] = True
        rows = np.repeat(chosen, sizes)
        kept = sizes[chosen]
        end = None if self.end is None else self.end[rows]
        return Block(self.x[rows], self.y[rows], self.p[rows], end, np.cumsum(kept) - kept)


def gains(block: Block, offsets: Array) -> Array:
    """Return the log gain of every bet in every batch, shape (bets, batches); ``offsets`` are for the isotonic bets."""
    sign = 1.0 - 2.0 * block.y
    base = softplus(sign * block.x)
    out = np.empty((len(BET_KINDS), len(block.starts)))
    for j, (a, b, _) in enumerate(LINE_BETS):
        log_odds = block.x + a if b == 1 else a + b * block.x
        out[j] = block.sums(base - softplus(sign * _within(log_odds, block)))
    for j in range(len(MEMORIES)):
        out[len(LINE_BETS) + j] = block.sums(base - softplus(sign * _within(block.x + offsets[j], block)))
    return out


def _within(log_odds: Array, block: Block) -> Array:
    """Let bets on clipped rows move away from the end only, so that the mean stays at most 1 for p beyond the clip."""
    log_odds = np.clip(log_odds, -2 * FARTHEST_LOG_ODDS, 2 * FARTHEST_LOG_ODDS)
    if block.end is None:
        return log_odds
    log_odds = np.where(block.end < 0, np.maximum(log_odds, block.x), log_odds)
    return np.where(block.end > 0, np.minimum(log_odds, block.x), log_odds)


def next_renewal(last: int) -> int:
    """Return the row after which the fits to the past are renewed."""
    return last + min(max(last // 20, 20), 250)


@dataclass(eq=False)
class IsotonicBet:
    """Isotonic fits to the past on fixed bins, renewed every 20 rows at first and every 250 rows at last.

    Attributes
    ----------
    rows
        Rows seen.
    renewed
        Rows seen at the last renewal of the fits.
    counts
        Shape (memories, 3, bins): rows, events and expected events by then, with old rows down-weighted.
    fresh
        Shape (3, bins): the same since then, as whole numbers.
    offsets
        Shape (memories, bins): added to the log-odds of a row.
    """

    rows: int = 0
    renewed: int = 0
    counts: Array = field(default_factory=lambda: np.zeros((len(MEMORIES), 3, BET_BINS)))
    fresh: Array = field(default_factory=lambda: np.zeros((3, BET_BINS)))
    offsets: Array = field(default_factory=lambda: np.zeros((len(MEMORIES), BET_BINS)))

    def play(self, block: Block) -> Array:
        """Return each row's offsets, shape (memories, rows), from earlier batches alone; then learn from the block."""
        bins = bin_of(block.x)
        first = self.rows + np.append(block.starts, len(block.x))  # row at which each batch begins
        cuts = [0]
        tables = [self.offsets]
        whole = np.rint(block.p * SUM_SCALE)
        while True:
            due = next_renewal(self.renewed)
            batch = int(np.searchsorted(first, due))
            if batch >= len(first):
                break
            row = int(first[batch]) - self.rows
            self._collect(bins[cuts[-1] : row], block.y[cuts[-1] : row], whole[cuts[-1] : row])
            self._renew(self.rows + row)
            cuts.append(row)
            tables.append(self.offsets)
        self._collect(bins[cuts[-1] :], block.y[cuts[-1] :], whole[cuts[-1] :])
        self.rows += len(bins)
        segment = np.repeat(np.arange(len(cuts)), np.diff([*cuts, len(bins)]))
        return np.stack(tables, axis=1)[:, segment, bins]

    def _collect(self, bins: Array, y: Array, whole: Array) -> None:
        self.fresh[0] += np.bincount(bins, minlength=BET_BINS)
        self.fresh[1] += np.bincount(bins, weights=y, minlength=BET_BINS)
        self.fresh[2] += np.bincount(bins, weights=whole, minlength=BET_BINS)

    def _renew(self, at: int) -> None:
        new = self.fresh / np.array([[1.0], [1.0], [SUM_SCALE]])
        offsets = np.zeros_like(self.offsets)
        for j, memory in enumerate(MEMORIES):
            self.counts[j] = self.counts[j] * 0.5 ** ((at - self.renewed) / memory) + new
            rows, events, expected = self.counts[j]
            seen = np.flatnonzero(rows > 1e-3)
            prior = PSEUDO * rows[seen] / rows[seen].sum() + 1.0
            mean = expected[seen] / rows[seen]
            weight = rows[seen] + prior
            value = isotonic_regression((events[seen] + prior * mean) / weight, weights=weight).x
            value = np.clip(value, 1e-7, 1 - 1e-7)
            mean = np.clip(mean, 1e-7, 1 - 1e-7)
            offsets[j, seen] = np.log(value / (1 - value)) - np.log(mean / (1 - mean))
        self.offsets = np.clip(offsets, -4, 4)
        self.fresh = np.zeros((3, BET_BINS))
        self.renewed = at


START_WEIGHT = 0.4  # weight of a start at the first row
LATE = 100  # rows after which the other weights begin to decrease
TOTAL = 0.21691205  # just above Σ_k 1 / ((k + 100) ln²(k + 100)), so that the weights sum to less than 1


def restart_weights(first: int, rows: int) -> Array:
    """Return w(k) for k = first … first + rows − 1; the first row of all is 1."""
    k = np.arange(first, first + rows, dtype=float) + LATE
    weights = (1 - START_WEIGHT) / (k * np.log(k) ** 2) / TOTAL
    if first == 1 and rows:
        weights[0] += START_WEIGHT
    return weights


@dataclass(eq=False)
class Stream:
    """One product of bets over batches.

    Attributes
    ----------
    total
        Sum of the gains of each bet so far.
    started
        log Σ_k w(k) exp(−gains before k) of each bet.
    spent
        Sum of the weights of all restarts so far.
    """

    isotonic: IsotonicBet = field(default_factory=IsotonicBet)
    total: Array = field(default_factory=lambda: np.zeros(len(BET_KINDS)))
    started: Array = field(default_factory=lambda: np.full(len(BET_KINDS), -np.inf))
    spent: float = 0.0

    def add(self, block: Block) -> tuple[Array, Array]:
        """Return the log evidence after each batch, and the log share of each bet in it, shape (bets, batches)."""
        weight = block.sums(restart_weights(self.isotonic.rows + 1, len(block.x)))
        gain = gains(block, self.isotonic.play(block))
        log_weight = np.log(weight)
        shares = np.empty_like(gain)
        for j in range(len(gain)):
            total = np.add.accumulate(np.concatenate([self.total[j : j + 1], gain[j]]))
            started = np.logaddexp.accumulate(
                np.concatenate([self.started[j : j + 1], log_weight - total[:-1]])
            )
            shares[j] = total[1:] + started[1:]
            self.total[j], self.started[j] = total[-1], started[-1]
        spent = np.add.accumulate(np.concatenate([[self.spent], weight]))
        self.spent = float(spent[-1])
        shares += LOG_PRIOR
        top = np.maximum(shares.max(axis=0), 0.0)
        inside = np.exp(-top) * (1 - spent[1:])
        for share in shares:
            inside += np.exp(share - top)
        return top + np.log(inside), shares


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

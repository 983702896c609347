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
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import isotonic_regression

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

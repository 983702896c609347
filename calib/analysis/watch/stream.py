"""The evidence: a mixture of bets, each restarted at every row with a weight that decreases slowly.

E_t = Σ_j π_j Σ_k w(k) Π_{i = k … t} exp(gain_ij), plus the weights w(k) of restarts still to come, which are
not bet yet. Because the weights sum to 1 it is a martingale of mean 1 if the predictions are right, so that it ever
reaches 1/α with probability at most α (Ville 1939). ``S_t = exp(gain_t) (S_{t−1} + w(t))`` needs only the last value.

Four tenths of the weight are for a model that is wrong from the first row. The others decrease as 1 / (k ln²(k)), but
only after about 100 rows: few changes are so early, and a change after a long calibrated time is found sooner.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from calib.analysis.watch.bets import BET_KINDS, LOG_PRIOR, Block, IsotonicBet, gains
from calib.kernel.checks import Array

FIRST = 0.4  # weight of a start at the first row
LATE = 100  # rows after which the other weights begin to decrease
TOTAL = 0.21691205  # just above Σ_k 1 / ((k + 100) ln²(k + 100)), so that the weights sum to less than 1


def restart_weights(first: int, rows: int) -> Array:
    """Return w(k) for k = first … first + rows − 1; the first row of all is 1."""
    k = np.arange(first, first + rows, dtype=float) + LATE
    weights = (1 - FIRST) / (k * np.log(k) ** 2) / TOTAL
    if first == 1 and rows:
        weights[0] += FIRST
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

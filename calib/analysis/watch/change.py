"""Estimate of the beginning of a change, from sums at a few hundred earlier rows: many near the end, few far back.

For the rows since each candidate, the log-likelihood of a new level, slope and bend is nearly quadratic at the old
predictions; with normal priors its integral has a closed form. All candidates are equally likely a priori.

An alarm selects a moment at which the rows look worst, so that the likeliest 95 % of the posterior would contain the
beginning too seldom. The interval spans the likeliest 99.9 %: by simulation it then contains the beginning of a sudden
change in at least 95 % of runs (``scripts/watch_intervals.py``). A slow change has no such row.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calib.analysis.watch.bets import Block
from calib.kernel.checks import Array

KEPT = 64  # candidates on each scale; the scales are 1, 2, 4 … batches
SCALES = 40
SUMS = 8
SHARE = 0.999  # posterior probability of the interval
PRIOR_SD = np.array([0.7, 0.6, 0.3])


@dataclass(eq=False)
class Candidates:
    """Batches at which a change may have begun, with the sums before them.

    Attributes
    ----------
    batch, row, moment
        Number, first row and time of each candidate.
    sums
        Shape (8, candidates): of (y − p) z^k for k < 3 and p (1 − p) z^k for k < 5, over all earlier rows.
    now
        The sums over all rows.
    """

    batch: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    row: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    moment: Array = field(default_factory=lambda: np.zeros(0))
    sums: Array = field(default_factory=lambda: np.zeros((SUMS, 0)))
    now: Array = field(default_factory=lambda: np.zeros(SUMS))
    batches: int = 0
    rows: int = 0

    def add(self, block: Block, moments: Array) -> Candidates:
        """Return the candidates after these batches, not yet thinned; ``self`` is unchanged."""
        z = np.clip(block.x, -5, 5) / 2
        v = block.p * (1 - block.p)
        gap = block.y - block.p
        powers = [np.ones_like(z), z, z * z]
        each = [*(gap * power for power in powers), *(v * power for power in powers), v * z**3, v * z**4]
        sums = np.empty((SUMS, len(block.starts) + 1))
        for i, values in enumerate(each):
            sums[i] = np.add.accumulate(np.append(self.now[i], block.sums(values)))
        batch = self.batches + np.arange(len(block.starts), dtype=np.int64)
        return Candidates(
            np.concatenate([self.batch, batch]),
            np.concatenate([self.row, self.rows + block.starts]),
            np.concatenate([self.moment, moments]) if len(self.moment) else moments.copy(),
            np.concatenate([self.sums, sums[:, :-1]], axis=1),
            sums[:, -1].copy(),
            self.batches + len(batch),
            self.rows + len(block.x),
        )

    def at(self, batches: int, rows: int, now: Array | None = None) -> Candidates:
        """Return the candidates after so many batches, thinned."""
        if now is None:
            inside = np.flatnonzero(self.batch == batches)
            now = self.sums[:, inside[0]].copy() if len(inside) else self.now
        keep = np.zeros(len(self.batch), dtype=bool)
        for scale in range(SCALES):
            step = 1 << scale
            keep |= (self.batch % step == 0) & (self.batch > batches - KEPT * step)
        keep &= self.batch < batches
        return Candidates(
            self.batch[keep], self.row[keep], self.moment[keep], self.sums[:, keep], now, batches, rows
        )

    def posterior(self) -> tuple[Array, Array]:
        """Return (probability that the change began at each candidate or before the next, (level, slope) change if
        so).
        """
        since = self.now[:, None] - self.sums
        score = since[:3].T
        v = since[3:]
        gram = np.stack([np.stack([v[i + j] for j in range(3)], -1) for i in range(3)], -2)
        prior = np.diag(PRIOR_SD**-2)
        held = gram + prior
        estimate = np.linalg.solve(held, score[:, :, None])[:, :, 0]
        log = 0.5 * (score * estimate).sum(axis=1) - 0.5 * np.linalg.slogdet(held)[1]
        gaps = np.diff(np.append(self.row, self.rows)).astype(float)
        log += np.log(gaps)
        share = np.exp(log - log.max())
        return share / share.sum(), estimate

    def began(self) -> dict[str, Any]:
        """Return row and moment of the likeliest beginning, and of the ends of its interval."""
        share, estimate = self.posterior()
        # Every candidate represents the rows up to the next one: compare densities.
        likeliest = np.argsort(-share / np.diff(np.append(self.row, self.rows)), kind="stable")
        inside = likeliest[: int(np.searchsorted(np.cumsum(share[likeliest]), SHARE)) + 1]
        best, low, high = int(likeliest[0]), int(inside.min()), int(inside.max())
        # The change may lie between two candidates, of which only rows and moments are known: include the next one.
        high += bool((self.batch[high + 1 : high + 2] > self.batch[high] + 1).any())
        ends = {"since": best, "low": low, "high": high}
        return {
            "rows": {name: int(self.row[i]) for name, i in ends.items()},
            "moments": {name: self.moment[i].item() for name, i in ends.items()},
            "shift": float(estimate[best, 0]),
            # z = x / 2: a slope in z is half a slope in x
            "slope": 1 + float(estimate[best, 1]) / 2,
        }

"""Rank calibration of forests: every tree ranks the rows, and isotonic regression maps the sum of the ranks.

Shaker and Hüllermeier 2025, A.5, after Menon et al. 2012 and Hüllermeier and Vanderlooy 2009. The score (Borda, eq.
13) is the number of calibration rows with a smaller tree probability, summed over the trees, ties counting one half.
The paper uses unpruned trees with Laplace leaves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from calib.calibrators.base import ScoreCalibrator
from calib.calibrators.isotonic import Isotonic
from calib.kernel.checks import Array, InputError
from calib.kernel.fields import Fields, json_numbers
from calib.kernel.formula import Expression

MOST_VOTES = 100_000_000


class Rank(ScoreCalibrator):
    """Rank calibration: Borda ranks of the trees, then isotonic regression; needs tree scores (n, n_trees).

    >>> rank = Rank().fit([[0.1, 0.2], [0.4, 0.2], [0.9, 0.8]], [0, 0, 1])
    >>> rank.borda([[0.4, 0.2], [1.0, 1.0]])    # 1½ + 1 and 3 + 3
    array([2.5, 6. ])
    >>> rank.predict([[0.4, 0.2], [1.0, 1.0]])
    array([0., 1.])
    """

    key = "rank"
    label = "Rank calibration"
    name = "rank calibration"
    source = "Shaker and Hüllermeier 2025, A.5, eq. 13"
    beyond = None  # its input is one vote per tree, not one score
    input = "tree_scores"
    complexity = 8
    kind = "ranks"

    def borda(self, tree_scores) -> Array:
        """Return the sum of ranks among the calibration rows, (m,), for tree scores (m, n_trees)."""
        tree_scores = self._read(tree_scores)
        if tree_scores.shape[1] != self.columns:
            raise InputError(
                f"Rank calibration was fitted on {self.columns} trees, but the scores have "
                f"{tree_scores.shape[1]} columns."
            )
        total = np.zeros(len(tree_scores))
        for (votes, counts), column in zip(self.votes_, tree_scores.T, strict=True):
            below = np.append(0, np.cumsum(counts))
            for side in ("left", "right"):
                total += below[np.searchsorted(votes, column, side=side)]
        return total / 2

    def _learn(self, scores: Array, y: Array, weights: Array | None) -> None:
        self.votes_ = [np.unique(column, return_counts=True) for column in scores.T]
        self.isotonic_ = Isotonic().fit(self.borda(scores), y)

    def _map(self, scores: Array) -> Array:
        return self.isotonic_.predict(self.borda(scores))

    def formula(self, *scores: Expression) -> dict[str, Expression]:
        raise InputError(
            "Rank calibration needs every tree's score and its rank among all calibration rows. Rank calibration "
            "cannot be written as SQL, ONNX or a program. Save it as a calibrator file (JSON), or choose another "
            "calibrator."
        )

    @property
    def columns(self) -> int:
        return len(self.votes_)

    def to_map(self) -> dict[str, Any]:
        return {
            "trees": [
                {"votes": json_numbers(votes), "counts": counts.tolist()} for votes, counts in self.votes_
            ],
            "isotonic": self.isotonic_.to_map(),
        }

    @classmethod
    def from_map(cls, fields: Fields) -> Rank:
        trees, left = [], MOST_VOTES
        for tree in fields.objects("trees"):
            votes = tree.numbers("votes", increasing=True)
            counts = tree.numbers("counts", length=len(votes))
            if not counts.size or (counts < 1).any() or (counts % 1).any() or counts.sum() > left:
                raise tree.refuse(
                    "counts",
                    f"must contain whole numbers of at least 1, with a sum of at most {MOST_VOTES:,}",
                )
            left -= int(counts.sum())
            trees.append((votes, counts.astype(np.intp)))
        if len({counts.sum() for _, counts in trees}) > 1:
            raise fields.refuse("trees", "must all have the same number of votes")
        isotonic = Isotonic.from_map(fields.object("isotonic"))
        return cls()._with_learned(votes=trees, isotonic=isotonic)

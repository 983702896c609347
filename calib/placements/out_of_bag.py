"""Out-of-bag calibration: every row trains and calibrates, scored by the trees that were not trained on it.

Johansson, Löfström, Linusson, Boström, *Efficient Venn predictors using random forests* (2019), §3.2. A new row is
scored by the trees for which a randomly drawn training row z_r is out of bag, and z_r is removed from the calibration
set (eq. 10–11), so that new and calibration rows are treated alike. Scoring with the whole ensemble (Shaker and
Hüllermeier 2025) is simpler, and a separate placement.

The draw is a hash of the row's values and the seed, so that it depends on nothing else. The bits of every value are
mixed with those of its column and the seed by the finaliser of SplitMix64 (Steele, Lea and Flood 2014), whose every
output bit depends on every input bit. A row's hash is the mixed sum of these. Zeros add nothing, so a sparse row equals
its dense form and costs only its entries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from calib.calibrators import Isotonic, Rank, merge_pair
from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.models.base import before_last_step, fit_takes, last_step
from calib.models.out_of_bag import (
    ensemble_of,
    in_bag,
    mean_out_of_bag,
    refuse_without_bagging,
    tree_voters,
    voting_matrix,
)
from calib.placements.base import Outcome, Placement, Scored, take_rows


def row_hash(X: Any, seed: int) -> np.ndarray:
    """Return a 64-bit hash of each row's values and the seed, uint64 (m,); equal rows have equal hashes.

    Parameters
    ----------
    X
        Array (m, d), data frame or sparse matrix, or m texts. Numbers are hashed as float64, whatever the type of their
        column; all missing values are equal; anything else is hashed as text.

    Examples
    --------
    >>> one, other, same = row_hash([[0.0, "a"], [1.0, "a"], [-0.0, "a"]], seed=3)
    >>> bool(one == same), bool(one == other)
    (True, False)
    """
    key = np.uint64(seed)
    if sp.issparse(X):
        entries = sp.csr_array(X, dtype=np.float64, copy=True)
        entries.sum_duplicates()
        rows = np.repeat(np.arange(X.shape[0]), np.diff(entries.indptr))
        total = np.zeros(X.shape[0], dtype=np.uint64)
        np.add.at(
            total, rows, _terms(_number_bits(entries.data), _mix(key ^ entries.indices.astype(np.uint64)))
        )
        return _mix(total ^ key)
    frame = pd.DataFrame(X if isinstance(X, pd.DataFrame | pd.Series) else np.asarray(X))
    total = np.zeros(len(frame), dtype=np.uint64)
    for column in range(frame.shape[1]):
        total += _terms(_value_bits(frame.iloc[:, column]), _mix(key ^ np.array([column], dtype=np.uint64)))
    return _mix(total ^ key)


def _terms(bits: np.ndarray, column_keys: np.ndarray) -> np.ndarray:
    """Return the term of each value in its row's sum; 0 for zero, whose bits are all 0."""
    return np.where(bits == 0, np.uint64(0), _mix(bits ^ column_keys))


def _value_bits(column: pd.Series) -> np.ndarray:
    """Return 64 bits per value, from the value alone and not the column's type, which may vary between batches."""
    missing = column.isna().to_numpy()
    plain = column.astype(object) if isinstance(column.dtype, pd.CategoricalDtype) else column
    numbers = pd.to_numeric(plain, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    bits = _number_bits(np.where(missing, np.nan, numbers))
    text = np.isnan(numbers) & ~missing
    if text.any():
        bits[text] = pd.util.hash_array(plain[text].astype(str).to_numpy(dtype=object))
    return bits


def _number_bits(values: np.ndarray) -> np.ndarray:
    canonical = values + 0.0  # −0 and 0 are the same number
    canonical[np.isnan(canonical)] = np.nan  # and so are all NaN
    return canonical.view(np.uint64)


def _mix(z: np.ndarray) -> np.ndarray:
    z = z + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


class OutOfBag(Placement):
    """Placement by out-of-bag scores; each new row has its own drawn z_r, whose out-of-bag trees score it.

    r is a hash of the row and the seed, so a row's prediction does not depend on its neighbours. The hash uses the row
    as given, since preprocessing may round differently in another batch. A row that every tree saw has no out-of-bag
    score: it is excluded, counted in ``notes`` and never drawn. Venn and Venn–Abers exclude z_r; other calibrators are
    fitted once on all out-of-bag scores.

    Raises
    ------
    InputError
        If the estimator is not bagged.

    Examples
    --------
    >>> from calib.models import ProbabilityForest
    >>> X, y = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
    >>> placed = OutOfBag().fit(ProbabilityForest(20, random_state=0), X, y, random_state=0)
    >>> len(placed.scores)
    20
    >>> tests = placed.score([[0.0], [19.0]])
    >>> tests.scores, tests.reference.shape    # each by the trees that did not see its own z_r
    (array([0., 1.]), (2,))
    """

    key = "oob"
    asks = "bag"
    scores_trees = True
    label = "Out of bag"
    help = (
        "Each training row is also a calibration row, scored by the trees that were not trained on it. "
        "Out-of-bag calibration needs a bagged model."
    )
    for_k = False

    def _fit(self, X: Any, y: np.ndarray, watch: Watch) -> None:
        refuse_without_bagging(last_step(self.estimator))
        self.model, self._matrix = self._train(
            X, y, watch.within(0.0, 0.9), **self._arguments(), **self._bags()
        )
        self.ensemble = ensemble_of(last_step(self.model))
        state = self.random_state
        entropy = state.randint(2**31 - 1) if hasattr(state, "randint") else state
        self._seed = int(np.random.default_rng(int(entropy)).integers(2**63))
        bag = in_bag(self.ensemble)
        scores = mean_out_of_bag(self.ensemble, self._matrix, bag, np.arange(len(y)), watch.within(0.9, 1.0))
        self.index = np.flatnonzero(~np.isnan(scores.reshape(len(y), -1)).any(axis=1))
        missing = len(y) - len(self.index)
        if missing == len(y):
            raise InputError(
                f"No row is out of bag for any of the {bag.shape[1]} trees. Use more trees, or placement='split'."
            )
        if missing:
            self.notes = (
                f"{missing} of {len(y)} training rows are in the bootstrap samples of all {bag.shape[1]} "
                f"trees. These rows have no "
                "out-of-bag score, so they are not calibration rows. Use more trees to include these rows.",
            )
        self.scores = scores[self.index]
        self.bag = bag.T[:, self.index].T  # (calibration rows, trees), each tree's column contiguous

    def _bags(self) -> dict[str, Any]:
        """Return the groups that the model must draw whole, if the split keeps clusters together."""
        groups = self.split.bag(self.rows)
        if groups is None:
            return {}
        if not fit_takes(self.estimator, "groups"):
            raise InputError(
                f"placement: {type(last_step(self.estimator)).__name__} draws its bags row by row, which would divide "
                "clusters (split='cluster'). Choose the random forest or bagged trees, or placement='split' or 'cv'."
            )
        return {"groups": groups}

    def with_model(self, model: BaseEstimator) -> Self:
        other = super().with_model(model)
        other.ensemble = ensemble_of(last_step(model))
        return other

    def _own_scores(self) -> np.ndarray:
        ensemble, positions = ensemble_of(last_step(self.model)), np.arange(len(self.index))
        return mean_out_of_bag(ensemble, take_rows(self._matrix, self.index), self.bag, positions)

    def reference(self, X: Any) -> np.ndarray:
        """Return for each row of X the position in the calibration set of its drawn row z_r, int (m,)."""
        if self.weight is None:
            return (row_hash(X, self._seed) % np.uint64(len(self.index))).astype(np.intp)
        ends = np.cumsum(self.weight)  # a row of weight w is drawn w times as often
        drawn = row_hash(X, self._seed).astype(np.float64) / 2.0**64 * ends[-1]
        return np.minimum(np.searchsorted(ends, drawn, side="right"), len(ends) - 1)

    def score(self, X: Any, watch: Watch | None = None) -> Scored:
        matrix, reference = before_last_step(self.model, X), self.reference(X)
        return Scored(mean_out_of_bag(self.ensemble, matrix, self.bag, reference, watch), X, reference)

    def calibrate(self, calibrator: BaseEstimator, X: Any = None) -> Any:
        if self.joint or not isinstance(calibrator, Rank):
            return super().calibrate(calibrator, X)
        scores = self._rank(None, None)
        return RankMap(Isotonic().fit(scores, self.y, sample_weight=self.weight))

    def predict(self, fitted: Any, tests: Scored) -> Outcome:
        if isinstance(fitted, RankMap):
            return Outcome(fitted.isotonic.predict(self._rank(tests.X, tests.reference)))
        if not fitted.gives_interval or tests.reference is None:
            return super().predict(fitted, tests)
        removed = tests.reference
        if self.weight is not None:
            # Remove one of the rows that it represents
            removed = np.cumsum(self.weight).astype(np.intp)[removed] - 1
        pair = fitted.leave_one_out_interval(self._test_input(fitted, tests), removed)
        return Outcome.of_pair(pair, merge_pair(pair[:, 0], pair[:, 1], fitted.merge))

    def _rank(self, X: Any, reference: np.ndarray | None) -> np.ndarray:
        """Return Borda scores (Shaker and Hüllermeier 2025, eq. 13) among each tree's out-of-bag calibration rows.

        This is the share of these rows with a smaller vote, ties counting ½, averaged over the trees that score the
        row. X None means the calibration rows themselves.
        """
        calibration = voting_matrix(self.ensemble, self._matrix)[self.index]
        rows = calibration if X is None else voting_matrix(self.ensemble, before_last_step(self.model, X))
        total, count = np.zeros(rows.shape[0]), np.zeros(rows.shape[0])
        for t, vote in enumerate(tree_voters(self.ensemble)):
            free = np.flatnonzero(~self.bag[:, t])
            votes = np.sort(vote(calibration[free]))
            if X is None:
                scored = free
            elif reference is None:
                scored = np.arange(rows.shape[0])
            else:
                scored = np.flatnonzero(~self.bag[:, t][reference])
            votes_here = vote(rows[scored])
            total[scored] += (
                votes.searchsorted(votes_here, "left") + votes.searchsorted(votes_here, "right")
            ) / (2 * len(free))
            count[scored] += 1
        return total / count


class OutOfBagWhole(OutOfBag):
    """Placement by out-of-bag scores in which the whole ensemble scores new rows: simpler, but not exchangeable.

    The whole ensemble is better than the sub-ensembles that scored the calibration rows (Johansson et al. 2019, §3.2),
    so predictions tend to be underconfident.

    >>> from calib.models import ProbabilityForest
    >>> X, y = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
    >>> placed = OutOfBagWhole().fit(ProbabilityForest(20, random_state=0), X, y, random_state=0)
    >>> bool(placed.score([[9.3]]).scores == placed.model.predict_proba([[9.3]])[:, 1])
    True
    """

    key = "oob_whole"
    label = "Out of bag, whole ensemble"
    for_k = True
    help = (
        "Like “Out of bag”, but all trees score each new row. The result is not exactly valid, but often slightly "
        "sharper."
    )

    def score(self, X: Any, watch: Watch | None = None) -> Scored:
        return Scored(self.scores_of(self.model, X), X)


@dataclass(frozen=True, eq=False)
class RankMap:
    """Rank calibrator for out-of-bag placements: an isotonic map of Borda scores, which the placement computes."""

    isotonic: Isotonic

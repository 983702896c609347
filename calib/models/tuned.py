"""Forests that choose their own settings by the Brier score of stratified folds: RF_opt and CT of Shaker and
Hüllermeier, *Random forest calibration* (2025).

RF_opt draws settings at random and keeps the best. CT keeps the forest and searches for one curtailment threshold of
all its trees. A forest does not depend on this threshold, so one fit per fold serves every candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import ParameterSampler, StratifiedKFold
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from calib.kernel import checks
from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.kernel.records import Parameter
from calib.models.base import ModelEntry, class_one_score
from calib.models.leaves import curtailed, node_probabilities
from calib.models.out_of_bag import voting_matrix
from calib.models.probability_forest import ProbabilityForest
from calib.models.probability_tree import one_label

SPACE = {
    "max_depth": [*range(2, 100), None],
    "criterion": ["gini", "entropy"],
    "max_features": ["sqrt", "log2", None],
    "min_samples_split": list(range(2, 11)),
    "min_samples_leaf": list(range(1, 11)),
    "class_weight": [None, "balanced", "balanced_subsample"],
    "leaf": ["frequency", "laplace"],
}


class _ChosenForest(ClassifierMixin, BaseEstimator):
    """Base of the two searches: the folds, the last fit, and predictions of the chosen forest."""

    chooses_a_forest: ClassVar[bool] = True

    def _settings(self, X: Any, y: np.ndarray, folds: list, watch: Watch) -> dict[str, Any]:
        raise NotImplementedError

    def fit(self, X, y, watch: Watch | None = None):
        if y is None:
            raise InputError("The search requires y to be passed, but the target y is None.")
        X, y = indexable(X, column_or_1d(y, warn=True))
        check_classification_targets(y)
        watch = watch or Watch()
        classes, counts = np.unique(y, return_counts=True)
        if len(classes) != 2:
            raise InputError(
                f"Only binary classification is supported. {type(self).__name__} got {len(classes)} "
                f"class{'' if len(classes) == 1 else 'es'}. Choose a positive class, or another model."
            )
        if counts.min() < checks.in_range(self.cv, "cv", 2, integer=True):
            raise InputError(
                f"The search needs {self.cv} folds with both classes, but the minority class has "
                f"{counts.min()} rows. "
                "Use fewer folds (cv) or more rows."
            )
        folds = list(self._splitter().split(np.zeros(len(y)), y))
        self.best_params_ = self._settings(X, y, folds, watch.within(0.0, 0.95))
        self.best_estimator_ = self._forest(**self.best_params_).fit(X, y, watch=watch.within(0.95, 1.0))
        self.classes_ = self.best_estimator_.classes_
        self.n_features_in_ = self.best_estimator_.n_features_in_
        return self

    def _splitter(self) -> StratifiedKFold:
        return StratifiedKFold(self.cv, shuffle=True, random_state=self.random_state)

    def _forest(self, **settings: Any) -> ProbabilityForest:
        return ProbabilityForest(
            self.n_estimators, n_jobs=self.n_jobs, random_state=self.random_state, **settings
        )

    def predict_proba(self, X) -> np.ndarray:
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(X)

    def predict(self, X) -> np.ndarray:
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    def __sklearn_tags__(self):
        tags = one_label(super().__sklearn_tags__())
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags


class TunedForest(_ChosenForest):
    """Forest with the best of ``draws`` random settings by mean Brier score over folds, refitted on all rows.

    ``trials_`` lists (settings, Brier score) in the order drawn; ``best_params_`` and ``best_estimator_`` are the
    choice.
    """

    def __init__(
        self,
        draws: int = 50,
        n_estimators: int = 100,
        cv: int = 5,
        n_jobs: int | None = None,
        random_state=None,
    ):
        self.draws = draws
        self.n_estimators = n_estimators
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _settings(self, X, y, folds, watch):
        checks.in_range(self.draws, "draws", 1, integer=True)
        self.trials_ = []
        drawn = list(ParameterSampler(SPACE, self.draws, random_state=self.random_state))
        for i, settings in enumerate(drawn):
            briers = []
            for j, (train, test) in enumerate(folds):
                watch.step((i + j / len(folds)) / len(drawn), f"setting {i + 1} of {len(drawn)}")
                forest = self._forest(**settings).fit(_safe_indexing(X, train), y[train])
                p = class_one_score(forest, _safe_indexing(X, test))
                briers.append(np.mean((p - (y[test] == forest.classes_[1])) ** 2))
            self.trials_.append((settings, float(np.mean(briers))))
        return min(self.trials_, key=lambda trial: trial[1])[0]


class CurtailedForest(_ChosenForest):
    """Forest with the curtailment threshold of 1…``highest`` that has the best mean Brier score over the folds.

    ``curve_`` (highest,) holds the score of every threshold, ``best_params_`` the choice (the smallest if tied).
    """

    def __init__(
        self,
        highest: int = 99,
        n_estimators: int = 100,
        cv: int = 5,
        n_jobs: int | None = None,
        random_state=None,
    ):
        self.highest = highest
        self.n_estimators = n_estimators
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _settings(self, X, y, folds, watch):
        checks.in_range(self.highest, "highest", 1, integer=True)
        briers = []
        for j, (train, test) in enumerate(folds):
            part = watch.within(j / len(folds), (j + 1) / len(folds))
            forest = self._forest().fit(_safe_indexing(X, train), y[train], watch=part)
            p = curtailed_scores(forest, _safe_indexing(X, test), self.highest)
            briers.append(np.mean((p - (y[test] == forest.classes_[1])) ** 2, axis=1))
        self.curve_ = np.mean(briers, axis=0)
        return {"curtail": min(self._candidates(), key=lambda v: self.curve_[v - 1])}

    def _candidates(self) -> Sequence[int]:
        """Return the thresholds to compare; the first of those with the best score is chosen."""
        return range(1, self.highest + 1)


def curtailed_scores(forest: ProbabilityForest, X: Any, highest: int) -> np.ndarray:
    """Return scores of a forest for every curtailment threshold 1…highest, (highest, n), in one pass."""
    Z = voting_matrix(forest, X)
    total = np.zeros((highest, Z.shape[0]))
    for member in forest.estimators_:
        tree = member.tree_
        p, leaves, target = node_probabilities(tree), tree.apply(Z), None
        for v in range(1, highest + 1):
            target = curtailed(tree, v, target)
            total[v - 1] += p[target].take(leaves)
    return total / len(forest.estimators_)


_TREES_PARAMETER = Parameter(
    "n_estimators", "Trees", "integer", 100, 1, 2000, help="More trees give finer and steadier probabilities."
)

TUNED = ModelEntry(
    key="tuned_forest",
    label="Tuned random forest",
    make=TunedForest,
    parameters=(
        Parameter(
            "draws",
            "Settings tried",
            "integer",
            50,
            1,
            500,
            help="Number of settings that the search tries. Each setting needs five forest fits.",
        ),
        _TREES_PARAMETER,
    ),
    bagged=True,
    help="A search finds the depth, leaf size and other settings with the best Brier score. "
    "The search is slow, but the resulting forest is often calibrated well enough.",
)
CURTAILED = ModelEntry(
    key="curtailed_forest",
    label="Curtailed random forest",
    make=CurtailedForest,
    parameters=(
        Parameter(
            "highest",
            "Largest threshold",
            "integer",
            99,
            1,
            500,
            help="The search tries every threshold from 1 to this number.",
        ),
        _TREES_PARAMETER,
    ),
    bagged=True,
    help="Small leaves use their ancestors' estimates. The search chooses the threshold by Brier score.",
)

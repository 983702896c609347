"""Models and calibration rows of the papers that a Recipe does not offer.

Named as in the papers and reached only through a protocol's ``model`` and ``calibration_folds``: nothing here is a
default anywhere. Search spaces: Tables 2 and 11–16 of Shaker and Hüllermeier, *Random forest
calibration* (2025): 50 draws, 5 unshuffled folds, Brier score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ParameterSampler, RandomizedSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from calib.data import preprocessor
from calib.kernel.checks import InputError
from calib.kernel.records import Dataset
from calib.kernel.version import to_install
from calib.models import MODELS, ModelEntry, ProbabilityForest, ProbabilityTree
from calib.models.tuned import SPACE, CurtailedForest
from calib.placements.split import Split
from calib.study.protocol import Setup

DRAWS, FOLDS = 50, 5

DT = {
    "criterion": ["gini", "entropy", "log_loss"],
    "splitter": ["best", "random"],
    "max_depth": list(range(2, 101)),
    "min_samples_split": list(range(2, 11)),
    "min_samples_leaf": list(range(1, 11)),
    "max_features": ["sqrt", "log2", None],
}
SVM = {
    "estimator__kernel": ["linear", "poly", "rbf", "sigmoid"],
    "estimator__C": [0.1, 1, 10, 100],
    "estimator__degree": [2, 3, 4],
    "estimator__gamma": ["scale", "auto", 0.1, 1, 10],
    "estimator__coef0": [0, 1, 2],
    "estimator__shrinking": [True, False],
    "estimator__class_weight": [None, "balanced"],
    "estimator__max_iter": [1000, 5000, 10000],
    "estimator__decision_function_shape": ["ovo", "ovr"],
    "estimator__tol": [1e-4, 1e-3, 1e-2],
}
_LR = {
    "solver": ["newton-cholesky", "newton-cg", "lbfgs", "sag", "saga"],
    "max_iter": [100, 500, 1000],
    "intercept_scaling": [0.1, 1, 10],
}
# Penalty l2, and none, each in half of the draws
LR = [_LR | {"C": [0.001, 1, 10, 100]}, _LR | {"C": [np.inf]}]
DNN = {
    "hidden_layer_sizes": [(50, 25), (100, 50), (100, 50, 25), (100, 100, 50), (100, 100, 100, 50)],
    "activation": ["relu", "tanh"],
    "solver": ["adam", "sgd"],
    "alpha": [0.0001, 0.001, 0.01],
    "learning_rate": ["constant", "invscaling", "adaptive"],
    "max_iter": [200, 300, 500],
    "early_stopping": [False, True],
}
XGB = {
    "max_depth": list(range(2, 101)),
    "learning_rate": [0.01, 0.05, 0.1, 0.2],
    "subsample": [0.6, 0.7, 0.8, 0.9, 1.0],
    "colsample_bytree": [0.6, 0.7, 0.8, 0.9, 1.0],
    "gamma": [0, 0.1, 0.2, 0.3, 0.4],
    "min_child_weight": [1, 2, 3, 4, 5],
}
GNB = {"var_smoothing": [10.0**power for power in range(-9, 1)]}


class Search(RandomizedSearchCV):
    """scikit-learn's randomised search with at most as many draws as there are settings (GNB has ten)."""

    chooses_a_forest = False


class ForestSearch(Search):
    """Search over forests, which have out-of-bag scores."""

    chooses_a_forest = True


def _search(estimator: BaseEstimator, space: Any, seed: int, kind: type[Search] = Search) -> Search:
    spaces = space if isinstance(space, list) else [space]
    settings = sum(int(np.prod([float(len(values)) for values in one.values()])) for one in spaces)
    return kind(
        estimator,
        space,
        n_iter=min(DRAWS, settings),
        cv=StratifiedKFold(FOLDS),
        scoring="neg_brier_score",
        random_state=seed,
        error_score="raise",
    )


def _forest(seed: int, **fixed: Any) -> ForestSearch:
    space = {name: values for name, values in SPACE.items() if name not in fixed}
    return _search(ProbabilityForest(100, random_state=seed, **fixed), space, seed, ForestSearch)


class CurtailedSearch(CurtailedForest):
    """CT: the best of 50 thresholds drawn from 1…99, on unshuffled folds.

    If neighbouring rows are alike, such as those of one person in parkinsons, unshuffled folds are harder than shuffled
    ones, and the selected threshold is higher.
    """

    def _splitter(self) -> StratifiedKFold:
        return StratifiedKFold(self.cv)

    def _candidates(self) -> list[int]:
        thresholds = {"curtail": list(super()._candidates())}
        return [one["curtail"] for one in ParameterSampler(thresholds, DRAWS, random_state=self.random_state)]


def _svm(seed: int) -> Search:
    """Return the paper's ``probability=True``, deprecated in scikit-learn: Platt's sigmoid by cross-validation."""
    return _search(CalibratedClassifierCV(SVC(random_state=seed), cv=FOLDS, ensemble=False), SVM, seed)


def _boosting(seed: int) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=100, random_state=seed, n_jobs=1)


def _j48(seed: int) -> ProbabilityTree:
    """Return a pruned tree for Weka's J48: entropy, two rows per leaf; cost-complexity for error-based pruning."""
    return ProbabilityTree(criterion="entropy", min_samples_leaf=2, ccp_alpha=0.01, random_state=seed)


def _svm_platt(seed: int) -> Pipeline:
    """Return Weka's SMO with logistic outputs: a linear kernel, Platt's sigmoid on cross-validated margins."""
    platt = CalibratedClassifierCV(SVC(kernel="linear", random_state=seed), cv=3, ensemble=False)
    return Pipeline([("scale", StandardScaler()), ("model", platt)])


def _named(makes: Mapping[str, Callable[[int], Any]], **declared: Any) -> dict[str, ModelEntry]:
    """Return registry entries of functions from a seed to an unfitted classifier."""
    return {
        name: ModelEntry(name, name, lambda random_state, make=make: make(random_state), (), **declared)
        for name, make in makes.items()
    }


PAPER_MODELS: Mapping[str, ModelEntry] = MappingProxyType(
    _named(
        {
            "RF_opt": _forest,
            "RF_opt_frequency": lambda seed: _forest(seed, leaf="frequency"),
            "RF_opt_laplace": lambda seed: _forest(seed, leaf="laplace"),
            "CT": lambda seed: CurtailedSearch(random_state=seed),
            "J48 Bagging": lambda seed: BaggingClassifier(_j48(seed), 10, random_state=seed),
        },
        bagged=True,
    )
    | _named(
        {
            "DT_opt": lambda seed: _search(ProbabilityTree(random_state=seed), DT, seed),
            "LR_opt": lambda seed: _search(LogisticRegression(random_state=seed), LR, seed),
            "SVM_opt": _svm,
            "DNN_opt": lambda seed: _search(MLPClassifier(random_state=seed), DNN, seed),
            "DNN_ens": lambda seed: BaggingClassifier(
                MLPClassifier(), 10, bootstrap=False, random_state=seed
            ),
            "XGB_d": _boosting,
            "XGB_opt": lambda seed: _search(_boosting(seed), XGB, seed),
            "GNB_opt": lambda seed: _search(GaussianNB(), GNB, seed),
            "J48": _j48,
            "SVM Platt": _svm_platt,
        }
    )
)
"""Name in a protocol → the model, declared like those of the registry."""


def study_models() -> dict[str, ModelEntry]:
    """Return the models that a protocol can name: those of the registry and of the papers."""
    return {**MODELS, **PAPER_MODELS}


EXTRAS = {"XGB_d": "xgboost", "XGB_opt": "xgboost"}
"""Model → the optional package that it needs."""


def paper_estimator(setup: Setup, data: Dataset, seed: int) -> Pipeline | None:
    """Return the unfitted model that replaces the one of the setup's Recipe, or None."""
    if setup.estimator is None:
        return None
    model = PAPER_MODELS[setup.estimator].build(random_state=seed)
    return Pipeline([("prepare", preprocessor(data.X)), ("model", model)])


def paper_placement(setup: Setup, seed: int) -> FirstFold | None:
    """Return the placement that replaces a drawn share, or None."""
    return None if setup.calibration_folds is None else FirstFold(setup.calibration_folds, seed)


def check_installed(estimator: str | None) -> None:
    """Refuse, before anything runs, a model whose package is not installed."""
    package = EXTRAS.get(estimator or "")
    if package is not None and find_spec(package) is None:
        raise InputError(
            f"{estimator} needs the package {package}. Install it with {to_install(package)}, "
            "or exclude this setup with --setups."
        )


class FirstFold(Split):
    """Calibration rows are the first of ``folds`` shuffled stratified folds of the training rows (2025)."""

    def __init__(self, folds: int, seed: int) -> None:
        self.folds, self.fold_seed = folds, seed

    def _parts(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        splitter = StratifiedKFold(self.folds, shuffle=True, random_state=self.fold_seed)
        return next(splitter.split(y, y))

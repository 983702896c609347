"""Registry entry of a model (any scikit-learn classifier), and functions that fit and score models."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from calib.kernel.checks import InputError, one_of, score_vector, settings
from calib.kernel.progress import Watch
from calib.kernel.records import Parameter
from calib.kernel.registry import check_named


@dataclass(frozen=True)
class ModelEntry:
    """Model of the registry.

    Parameters
    ----------
    key, label
        Name in a Recipe and name for people.
    help
        One sentence on when to use it.
    make
        Function of one keyword per setting and ``random_state``; it returns an unfitted classifier.
    parameters
        Settings, with type, range, default and a line of help.
    score
        "probability" (numbers in [0, 1]) or "margin" (any real number, such as a distance from a boundary).
    bagged
        Whether out-of-bag scores exist, and with them scores of single trees.
    single_tree
        Whether it is one tree, whose leaves give many rows one score and contain few training rows.
    """

    key: str
    label: str
    make: Callable[..., BaseEstimator]
    parameters: tuple[Parameter, ...]
    score: str = "probability"
    bagged: bool = False
    help: str = ""
    single_tree: bool = False

    def build(
        self, params: Mapping[str, Any] | None = None, random_state: int | None = None
    ) -> BaseEstimator:
        """Return an unfitted classifier; settings not in ``params`` take their defaults.

        Raises
        ------
        InputError
            If a setting is unknown or its value out of range; names what is allowed.
        """
        values = settings(params or {}, self.parameters, self.label)
        return self.make(**values, random_state=random_state)

    @cached_property  # cached because the sidebar needs it on every run
    def seeded(self) -> bool:
        """Tell whether another seed gives another model.

        >>> from calib.models import MODELS
        >>> MODELS["random_forest"].seeded, MODELS["naive_bayes"].seeded
        (True, False)
        """
        held = self.build(random_state=1).get_params().items()
        return any(name.endswith("random_state") and value == 1 for name, value in held)


def check_model(entry: Any) -> None:
    """Refuse, by name, anything that is not a ModelEntry or builds no classifier from its defaults."""
    if not isinstance(entry, ModelEntry):
        raise InputError(f"{entry!r} is not a calib.models.ModelEntry.")
    check_named(entry, f"Model {entry.key!r}")
    one_of(entry.score, ("probability", "margin"), f"{entry.key}: score")
    try:
        model = clone(entry.build({}, 0))
    except Exception as error:
        raise InputError(
            f"Model {entry.key}: the function `make` fails with the default settings "
            f"({type(error).__name__}: {error}). "
            "Correct `make` or the defaults."
        ) from error
    if not hasattr(model, "fit") or gives_probability(model) != (entry.score == "probability"):
        raise InputError(
            f"{entry.key}: make must return a classifier that gives a {entry.score}, as the entry's score declares."
        )


def gives_probability(estimator: BaseEstimator) -> bool:
    """Tell whether the score of class 1 is a probability (``predict_proba``), not a margin (``decision_function``).

    Parameters
    ----------
    estimator
        Classifier, fitted or not.

    Raises
    ------
    InputError
        If the estimator has neither method.
    """
    if hasattr(estimator, "predict_proba"):
        return True
    if hasattr(estimator, "decision_function"):
        return False
    raise InputError(
        f"{type(estimator).__name__} gives neither probabilities nor margins, so it cannot be calibrated. Use a "
        "classifier with predict_proba or decision_function."
    )


def class_one_score(estimator: BaseEstimator, X: Any) -> np.ndarray:
    """Return the score of class 1, shape (n,): ``predict_proba`` if the classifier has it, else ``decision_function``.

    Parameters
    ----------
    estimator
        Fitted classifier.
    X
        Rows to score.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> model = GaussianNB().fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> class_one_score(model, [[2.0]])
    array([0.5])
    """
    scores = (
        estimator.predict_proba(X)[:, 1] if gives_probability(estimator) else estimator.decision_function(X)
    )
    # a copy, because a view would keep the array of both classes
    return score_vector(np.ascontiguousarray(scores), "The model's scores")


def class_scores(estimator: BaseEstimator, X: Any, classes: np.ndarray) -> np.ndarray:
    """Return a fitted classifier's probabilities of K classes, (n, K); its margins if it gives only these.

    A class that it never saw has probability 0, or the lowest of the margins.

    Parameters
    ----------
    classes : (K,)
        Labels in sorted order.

    Raises
    ------
    InputError
        If the classifier gives neither, or one margin per pair of classes.
    """
    probability = gives_probability(estimator)
    made = estimator.predict_proba(X) if probability else estimator.decision_function(X)
    given = np.asarray(made, dtype=np.float64)
    seen = len(estimator.classes_)
    if not probability and seen == 2:
        given = np.column_stack([-given, given])
    if given.shape[1:] != (seen,):
        raise InputError(
            f"{model_name(estimator)} gives margins of shape {given.shape}, but must give one column for each of its "
            f"{seen} classes. Set its decision_function_shape='ovr'."
        )
    if np.array_equal(estimator.classes_, classes):
        return given
    found = np.full((len(given), len(classes)), 0.0 if probability else given.min(initial=0.0))
    found[:, np.searchsorted(classes, estimator.classes_)] = given
    return found


def class_columns(p: np.ndarray) -> np.ndarray:
    """Return probabilities of class 1 (m,) as (m, 2); those of K > 2 classes (m, K) unchanged."""
    return np.column_stack([1 - p, p]) if p.ndim == 1 else p


def fit_takes(estimator: BaseEstimator, name: str) -> bool:
    """Tell whether ``fit`` of the estimator, or of a pipeline's last step, has an argument of this name."""
    return name in inspect.signature(last_step(estimator).fit).parameters


def fit_model(
    estimator: BaseEstimator, X: Any, y: np.ndarray, watch: Watch | None = None, **given: Any
) -> tuple[BaseEstimator, Any]:
    """Return a fitted clone, and the matrix on which its last step was fitted.

    A pipeline is fitted step by step, so that the matrix is not computed twice.

    Parameters
    ----------
    watch
        Reports progress and can cancel the fit, if the model's ``fit`` has this argument.
    given
        Further arguments of the model's ``fit``, such as sample_weight, which it must accept (``fit_takes``). In a
        pipeline, "step__name" is an argument of one step, and any other name one of the last step. With scikit-learn's
        metadata routing, the pipeline distributes them.
    """
    if isinstance(estimator, Pipeline) and given and get_config()["enable_metadata_routing"]:
        routed = clone(estimator).fit(X, y, **given)
        return routed, before_last_step(routed, X)
    if isinstance(estimator, Pipeline):
        head, (name, last) = clone(estimator[:-1]), estimator.steps[-1]
        early = {key: given.pop(key) for key in list(given) if key.partition("__")[0] in head.named_steps}
        given = {key.removeprefix(f"{name}__"): value for key, value in given.items()}
        if head.steps:
            X = head.fit_transform(X, y, **early)
        fitted, matrix = fit_model(last, X, y, watch, **given)
        return Pipeline([*head.steps, (name, fitted)]), matrix
    model = clone(estimator)
    watch = watch or Watch()
    watch.step(0.0, "model")
    if "watch" in inspect.signature(model.fit).parameters:
        given["watch"] = watch
    model.fit(X, y, **given)
    watch.step(1.0, "model")
    return model, X


def model_name(estimator: BaseEstimator) -> str:
    """Return the name of a model in messages, alone or at the end of a pipeline: its class, or "the score column"."""
    model = last_step(estimator)
    return "the score column" if getattr(model, "trained_elsewhere", False) else type(model).__name__


def last_step(estimator: BaseEstimator) -> BaseEstimator:
    """Return the model at the end of a pipeline (of pipelines), or the estimator itself."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator


def before_last_step(estimator: BaseEstimator, X: Any) -> Any:
    """Return what a fitted pipeline passes to its last step for the rows X."""
    while isinstance(estimator, Pipeline):
        if len(estimator.steps) > 1:
            X = estimator[:-1].transform(X)
        estimator = estimator.steps[-1][1]
    return X

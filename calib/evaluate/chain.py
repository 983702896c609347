"""Chain from Recipe to Evaluation: ``fit`` costs a model fit, ``calibrate`` milliseconds, ``evaluate`` calls both.

fit(recipe, dataset) → Fitted (models, splits, scores) · calibrate(recipe, fitted) → Evaluation (frozen arrays and
tables). One Fitted serves any number of calibrators.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from calib.calibrators import CALIBRATORS, count_outside, name_of
from calib.evaluate.base_rate import Stated, at_base_rate, rate_change, stated_rate
from calib.evaluate.fitting import Fitted, FittedFold, features_of, fit
from calib.evaluate.record import Evaluation, evaluated_on_all_rows
from calib.evaluate.rows import needs_test_set, sum_rows, unweighted_notes
from calib.evaluate.views import TOP
from calib.kernel.cache import cached_result
from calib.kernel.checks import InputError
from calib.kernel.memory import release_memory
from calib.kernel.progress import Cancelled, Watch
from calib.kernel.records import Dataset, Predictions
from calib.kernel.weights import effective_weights, or_ones
from calib.kernel.wording import listed, outside_range
from calib.models import class_scores
from calib.placements import Outcome, Placement, Scored
from calib.placements.adjusted import Adjusted
from calib.recipe import Recipe


def evaluate(recipe: Recipe, dataset: Dataset, watch: Watch | None = None) -> Evaluation:
    """Fit and calibrate in one call; errors are those of ``fit`` and ``calibrate``.

    Parameters
    ----------
    recipe
        Recipe to follow.
    dataset
        Data of two classes, or of K.
    watch
        Reports progress and can cancel the fit.

    Examples
    --------
    >>> from calib import Recipe, evaluate, load_sample
    >>> evaluation = evaluate(Recipe(model="naive_bayes", calibrators=("none", "venn_abers")), load_sample("digits"))
    >>> bool(evaluation.metrics.loc["venn_abers", "brier"] < evaluation.metrics.loc["none", "brier"])
    True
    """
    return calibrate(recipe, fit(recipe, dataset, watch))


def calibrate(recipe: Recipe, fitted: Fitted, watch: Watch | None = None) -> Evaluation:
    """Fit every calibrator of the Recipe on the placement's scores and apply it to the test rows, in milliseconds.

    ``refused`` lists calibrators that do not apply, such as one for probabilities if the scores are margins.

    Existing predictions without a calibrator are evaluated on all rows, unless ``needs_test_set`` says otherwise.

    With a ``period`` or a ``segment``, only the test rows in it are evaluated.

    With a ``base_rate``, or ``base_rates`` of K classes, all probabilities are adjusted to it, and the test rows are
    weighted by class accordingly.

    Parameters
    ----------
    recipe
        Recipe, of which the calibrators, their options and ``merge`` count, but not the fields of data and fit.
    fitted
        Result of ``fit``; it is not changed.
    watch
        Reports progress and can cancel the work.

    Raises
    ------
    Cancelled
        If ``watch`` was cancelled.
    """
    stated = stated_rate(recipe, fitted.dataset)
    if fitted.dataset.joint:
        return _of_classes(recipe, fitted, stated, watch)
    found = _calibrated(recipe, fitted, watch)
    if stated is not None:
        found = at_base_rate(found, fitted, stated)
    elif recipe.calibrators == ("none",):
        found = found.on_every_row()
    return found.narrowed()


def _of_classes(recipe: Recipe, fitted: Fitted, stated: Stated | None, watch: Watch | None) -> Evaluation:
    """Return the view of the Recipe's class, or of the confidence; the calibrators are fitted once for all views."""
    whole = recipe.replace(view_class=None, period=None, segment=(), base_rates=())
    unchanged = recipe.calibrators == ("none",) and stated is None
    existing = unchanged and not needs_test_set(recipe, fitted.dataset)
    make = _existing_predictions if existing else _calibrated
    found = cached_result(
        fitted,
        ("classes", existing, whole.digest("calibrate")),
        lambda: _with_chosen(make(whole, fitted, watch)),
    )
    if stated is not None:
        found = cached_result(found, ("at", stated), lambda: at_base_rate(found, fitted, stated))
    found = found.with_view(recipe)
    k = TOP if recipe.view_class is None else found.class_number(recipe.view_class)
    return found.view(k).narrowed_to(recipe)


def _with_chosen(found: Evaluation) -> Evaluation:
    return replace(found, chosen=found.scores.argmax(axis=1))


def _existing_predictions(recipe: Recipe, fitted: Fitted, watch: Watch | None) -> Evaluation:
    """Evaluate existing predictions of K classes on all rows of their table."""
    data, model = fitted.dataset, fitted.parts[0].placed.model
    return evaluated_on_all_rows(fitted.recipe, data, {"none": class_scores(model, data.X, model.classes_)})


def _calibrated(recipe: Recipe, fitted: Fitted, watch: Watch | None) -> Evaluation:
    """Return the Evaluation at the table's own base rate; with K classes, its arrays have one column per class."""
    data, parts, placed = fitted.dataset, fitted.parts, [part.placed for part in fitted.parts]
    rows = _concatenated([part.test for part in parts])
    weight = _pooled_weights([part.weight for part in parts])
    predictions, calibrators, refused = _calibrator_results(recipe, fitted, rows, weight, watch or Watch())
    release_memory(data.n)
    return Evaluation(
        recipe=fitted.recipe.replace(
            **recipe.fields_of("calibrate") | {"base_rate": None, "base_rates": ()},
            **recipe.fields_of("view"),
        ),
        dataset=data,
        rows=rows,
        y=data.coded[rows],
        scores=_concatenated([part.tests.scores for part in parts]),
        predictions=MappingProxyType(predictions),
        refused=MappingProxyType(refused),
        calibrators=MappingProxyType(calibrators),
        calibration_scores=_concatenated([one.scores for one in placed]),
        calibration_y=_concatenated([one.y for one in placed]),
        posterior=None if data.posterior is None else data.posterior[rows],
        probability=fitted.probability,
        notes=(
            *fitted.notes,
            *_fit_notes(calibrators),
            *_outside_notes(fitted, calibrators),
            *unweighted_notes(weight),
        ),
        seconds=fitted.seconds,
        weight=weight,
        calibration_weight=_pooled_weights([one.weight for one in placed]),
        flow=_flow(fitted, weight),
    )


def _calibrator_results(
    recipe: Recipe, fitted: Fitted, rows: np.ndarray, weight: np.ndarray | None, watch: Watch
) -> tuple[dict[str, Predictions], dict[str, tuple[Any, ...]], dict[str, str]]:
    """Return predictions, fitted calibrators, and reasons of refusal, each by the calibrator's key."""
    data, count = fitted.dataset, len(recipe.calibrators)
    y, cluster = data.coded[rows], None if data.cluster is None else data.cluster[rows]
    predictions, calibrators, refused = {}, {}, {}
    for i, key in enumerate(recipe.calibrators):
        fits, outcomes = [], []
        try:
            for part in watch.within(i / count, (i + 1) / count).loop(fitted.parts, CALIBRATORS[key].label):
                learning, tests = _with_features(fitted, part, key)
                fits.append(part.placed.calibrate(make_calibrator(recipe, key), learning))
                outcomes.append(part.placed.predict(fits[-1], tests))
        except InputError as error:
            refused[key] = str(error)
        # A plug-in may raise any error; the other calibrators still run
        except Exception as error:
            if key in CALIBRATORS.shipped or isinstance(error, Cancelled):
                raise
            refused[key] = f"{CALIBRATORS[key].label} fails on these data: {type(error).__name__}: {error}."
        else:
            predictions[key] = _pooled(y, outcomes, weight, cluster)
            calibrators[key] = tuple(fits)
    return predictions, calibrators, refused


def _with_features(fitted: Fitted, part: FittedFold, key: str) -> tuple[Any, Scored]:
    """Return (features of the training rows, scored test rows); features only if the calibrator needs them."""
    if CALIBRATORS[key].input != "features":
        return None, part.tests
    features = features_of(fitted)
    if features is None:
        return None, replace(part.tests, X=None)
    return features.iloc[part.train], replace(part.tests, X=features.iloc[part.test])


def _flow(fitted: Fitted, weight: np.ndarray | None) -> tuple[dict[str, Any], ...]:
    """Return the row counts of each fold by use, with the test rows on the scale of all folds."""
    ends = np.cumsum([len(part.test) for part in fitted.parts])
    tested = np.split(or_ones(weight, ends[-1]), ends[:-1])
    return tuple(
        {**part.flow, "test": sum_rows(fitted.dataset.coded[part.test], each, fitted.dataset.n_classes)}
        for part, each in zip(fitted.parts, tested, strict=True)
    )


def _pooled(
    y: np.ndarray, outcomes: list[Outcome], weight: np.ndarray | None, cluster: np.ndarray | None
) -> Predictions:
    """Concatenate the predictions of all folds; a calibrator gives intervals in all folds or in none."""
    ends = ("lower", "upper", "p0", "p1") if outcomes[0].p0 is not None else ()
    joined = {name: _concatenated([getattr(outcome, name) for outcome in outcomes]) for name in ends}
    p = _concatenated([outcome.p for outcome in outcomes])
    return Predictions(y, p, **joined, weight=weight, cluster=cluster)


def _pooled_weights(weights: Sequence[np.ndarray | None]) -> np.ndarray | None:
    """Concatenate the weights of all folds, on the scale of their effective sample size; None without weights."""
    if weights[0] is None:
        return None
    return effective_weights(_concatenated([each for each in weights if each is not None]))


def _concatenated(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Concatenate the arrays of all folds; return the array of a holdout unchanged."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def make_calibrator(recipe: Recipe, key: str) -> Any:
    """Return the unfitted calibrator of a Recipe, with its options and, if it accepts one, the merge rule."""
    method = CALIBRATORS[key]
    options = {name.split(".", 1)[1]: value for name, value in recipe.options if name.split(".", 1)[0] == key}
    if "merge" in method().get_params():
        options["merge"] = recipe.merge
    return method(**options)


def fit_calibrator(recipe: Recipe, key: str, placed: Placement) -> Any:
    """Fit a calibrator of the Recipe in a placement, at the Recipe's base rate."""
    made, stated = placed.calibrate(make_calibrator(recipe, key)), recipe.base_rate
    return made if stated is None else Adjusted(made, rate_change(placed.base_rate(made), stated))


def _fit_notes(calibrators: Mapping[str, tuple[Any, ...]]) -> Iterator[str]:
    """Yield the notes of fitted calibrators that are equal in all folds."""
    for key, (first, *others) in calibrators.items():
        for note in getattr(first, "notes_", ()):
            if all(note in other.notes_ for other in others):
                yield f"{CALIBRATORS[key].label}: {note}"


def _outside_notes(fitted: Fitted, calibrators: Iterable[str]) -> Iterator[str]:
    """State how many test scores are outside the calibration scores of their fold, and how calibrators extrapolate."""
    ways: dict[str, list[str]] = {}
    for method in (CALIBRATORS[key] for key in calibrators):
        if method.beyond:
            ways.setdefault(method.beyond, []).append(name_of(method.key))
    scored = [(part.placed.scores, part.tests.scores) for part in fitted.parts if len(part.placed.scores)]
    if not ways or not scored or fitted.recipe.placement == "full" or fitted.dataset.joint:
        # full: the calibrators have seen the row's score; with K classes, each class has its own range
        return
    ends = [(float(old.min()), float(old.max())) for old, _ in scored]
    outside = sum(count_outside(new, *end) for (_, new), end in zip(scored, ends, strict=True))
    if outside:
        then = "; ".join(f"{way} ({listed(names)})" for way, names in ways.items())
        total, one = sum(len(new) for _, new in scored), ends[0] if len(ends) == 1 else None
        yield f"{outside_range(outside, total, 'test score', one)} Their probabilities are {then}."

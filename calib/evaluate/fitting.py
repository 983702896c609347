"""Split the rows, fit the model in its placement, and score the test rows: the expensive part."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from calib.data import ROLES, count_scores, preprocessor
from calib.data.column_types import typed_frame
from calib.evaluate.rows import RowCount, count_rows, score_column
from calib.kernel.checks import InputError
from calib.kernel.memory import release_memory
from calib.kernel.progress import Watch
from calib.kernel.records import Dataset
from calib.kernel.weights import are_whole, effective_weights
from calib.kernel.wording import percent
from calib.models import MODELS, GivenProbabilities
from calib.models.existing_scores import may_be_probabilities
from calib.placements import PLACEMENTS, Placement, Scored
from calib.recipe import Recipe
from calib.splits import SPLITS, RowInfo, Splitter, TrainTestRows


@dataclass(frozen=True, eq=False)
class FittedFold:
    """Training set with its fitted placement, and its scored test rows; rows are positions in the Dataset.

    Attributes
    ----------
    weight : float array (m,)
        Weight of each test row, or None.
    flow
        Number of rows that train, calibrate or are unused.
    """

    train: np.ndarray
    test: np.ndarray
    placed: Any
    tests: Any
    weight: np.ndarray | None = None
    flow: Mapping[str, RowCount] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Fitted:
    """Result of a model fit: one Part for a holdout, otherwise one per fold.

    Attributes
    ----------
    seconds
        Duration of fitting and scoring.
    notes
        Sentences on excluded rows and columns.
    """

    recipe: Recipe
    dataset: Dataset
    parts: tuple[FittedFold, ...]
    seconds: float
    notes: tuple[str, ...]

    @property
    def probability(self) -> bool:
        """Tell whether the model's scores are probabilities (otherwise margins)."""
        return self.parts[0].placed.probability


def fit(recipe: Recipe, dataset: Dataset, watch: Watch | None = None) -> Fitted:
    """Split the rows, fit the model in its placement and score the test rows. This expensive part is done once.

    Parameters
    ----------
    recipe
        Recipe, of which the fields of the fit count.
    dataset
        Data of two classes, or of K.
    watch
        Reports progress and can cancel the fit.

    Raises
    ------
    InputError
        If the rows do not suffice or the Dataset does not match the Recipe; with the remedy.
    Cancelled
        If ``watch`` was cancelled.
    """
    if dataset.rest is not None:
        return _fit_sample(recipe, dataset, watch or Watch())
    if watch is not None:
        watch.step(0.0, f"splitting {dataset.n:,} rows")  # which takes seconds if there are millions
    return fit_rows(recipe, dataset, list(split(recipe, dataset)), watch)


ONE_SCORE = ("none", "split", "train")
"""Placements that give a new row a single score, by which rows can be counted."""


def _fit_sample(recipe: Recipe, dataset: Dataset, watch: Watch) -> Fitted:
    """Fit on all rows of a sample; score the other rows in blocks and count them by score and label."""
    _check_sample(recipe, dataset)
    begin = time.perf_counter()
    everything, one = np.arange(dataset.n), np.arange(1)  # fit_rows needs a test row
    fitted = fit_rows(recipe, dataset, [(everything, one)], watch.within(0.0, 0.3))
    part, rest = fitted.parts[0], dataset.rest
    placed, watch, done = part.placed, watch.within(0.3, 1.0), 0

    def scored() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        nonlocal done
        for X, y in rest.scored(dataset.X, dataset.classes[1], watch):
            watch.step(done / (rest.total - rest.sampled), f"Scoring {rest.total - rest.sampled:,} rows")
            yield placed.scores_of(placed.model, X), y
            done += len(y)

    found, rounded = count_scores(scored())
    release_memory(len(found))
    lines = Dataset(
        dataset.name,
        found[["score"]],
        found["label"].to_numpy(np.int64),
        dataset.classes,
        notes=dataset.notes,
        weight=found["n"].to_numpy(np.float64),
        lines_of=dataset.digest,
    )
    tests = Scored(found["score"].to_numpy())
    weight = effective_weights(found["n"].to_numpy(np.float64))
    flow = {**part.flow, "unused": count_rows(lines.y[:0], None)}
    part = replace(part, test=np.arange(lines.n), tests=tests, weight=weight, flow=flow)
    seconds = time.perf_counter() - begin
    return Fitted(recipe, lines, (part,), seconds, (*fitted.notes, *rounded))


def _check_sample(recipe: Recipe, dataset: Dataset) -> None:
    """Refuse settings of the Recipe that need more than counts of the test rows."""
    refused = {
        "evaluation": (recipe.evaluation, recipe.evaluation != "holdout", "Choose evaluation='holdout'."),
        "split": (recipe.split, recipe.split != "random", "Choose split='random'."),
        "placement": (
            recipe.placement,
            recipe.placement not in ONE_SCORE,
            f"Choose placement={' or '.join(map(repr, ONE_SCORE[1:]))}.",
        ),
    }
    for name, (value, wrong, remedy) in refused.items():
        if wrong:
            raise InputError(
                f"{name} is {value!r}, but the model is trained on a sample, and of all other rows only the "
                f"number per score and label is known. {remedy}"
            )
    if dataset.joint:
        raise InputError(
            "The label has three or more classes, but rows outside the sample can be counted by only one "
            "score. To predict one class against the rest, state the positive class."
        )


def fit_rows(
    recipe: Recipe,
    dataset: Dataset,
    splits: Sequence[tuple[Any, ...]],
    watch: Watch | None = None,
    *,
    estimator: Any = None,
    placement: Placement | None = None,
) -> Fitted:
    """Fit like ``fit``, with a given split of the rows, such as that of a published study.

    Parameters
    ----------
    recipe, dataset, watch
        Arguments of ``fit``; the Recipe's own evaluation, folds and test_size do not count.
    splits
        (training rows, test rows) as positions, one pair per fold, as ``split`` yields them.
    estimator
        Unfitted classifier on the Dataset's columns, instead of the Recipe's model.
    placement
        Placement instead of the Recipe's.
    """
    check_dataset(recipe, dataset)
    watch, classes = watch or Watch(), dataset.n_classes
    begin = time.perf_counter()
    rows, splitter, cuts = row_info(dataset), splitter_of(recipe), [TrainTestRows(*cut) for cut in splits]
    parts = []
    for i, cut in enumerate(cuts):
        chosen, learners = placement or PLACEMENTS[recipe.placement](), rows.take(cut.train, cut.train_weight)
        begin_share, end_share = i / len(cuts), (i + 1) / len(cuts)
        fitted_share = begin_share + chosen.fit_share * (end_share - begin_share)
        placed = copy(chosen).fit(
            make_estimator(recipe, dataset) if estimator is None else estimator,
            dataset.X.iloc[cut.train],
            dataset.coded[cut.train],
            calibration_size=recipe.calibration_size,
            cv=recipe.cv,
            random_state=recipe.seed,
            watch=watch.within(begin_share, fitted_share),
            rows=learners,
            split=splitter,
            classes=np.arange(classes) if dataset.joint else None,
        )
        tests = placed.score(dataset.X.iloc[cut.test], watch.within(fitted_share, end_share))
        tested = rows.take(cut.test, cut.test_weight).weight
        flow = {
            "train": count_rows(learners.y[placed.trained], learners.weights[placed.trained], classes),
            "calibrate": count_rows(placed.y, placed.weight, classes),
        }
        parts.append(
            FittedFold(cut.train, cut.test, placed, tests, tested, flow | _unused(rows, cut, placed, classes))
        )
    release_memory(dataset.n)
    notes = tuple(dict.fromkeys(note for part in parts for note in part.placed.notes))
    return Fitted(recipe, dataset, tuple(parts), time.perf_counter() - begin, dataset.notes + notes)


def features_of(fitted: Fitted) -> pd.DataFrame | None:
    """Return the features (n, d) of all rows; for predictions, the other columns of the table.

    Return None if there are none, or if rows are only counted.
    """
    data = fitted.dataset
    if data.lines_of is not None:
        return None
    if not data.predictions:
        return data.X
    roles = {getattr(fitted.recipe, role) for role in ROLES}
    columns = {name: values for name, values in data.beside.items() if name not in roles}
    return typed_frame(pd.DataFrame(columns).iloc[data.row_numbers - 1]) if columns else None


def check_dataset(recipe: Recipe, dataset: Dataset) -> None:
    """Refuse a Dataset that does not match the Recipe: a missing role, another class, a column to be excluded.

    Parameters
    ----------
    recipe
        Recipe, of which the fields of the data count.
    dataset
        Dataset from ``calib.sources.load``, or made otherwise.

    Raises
    ------
    InputError
        If a field of the Recipe would have no effect; names the field.
    """
    how = "Load the data with calib.sources.load(recipe, …), or remove the field from the Recipe."
    for role in ROLES:
        column = getattr(recipe, role)
        if column is not None and getattr(dataset, role) is None:
            raise InputError(
                f"{role}: the Recipe specifies the column {column!r}, but the Dataset has no {role}. {how}"
            )
    if recipe.positive is not None and recipe.positive != dataset.classes[1]:
        raise InputError(
            f"positive: the Recipe specifies {recipe.positive!r}, but the positive class of the Dataset is "
            f"{dataset.classes[1]!r}. {how}"
        )
    kept = [name for name in recipe.exclude if name in dataset.X.columns]
    if kept and not dataset.predictions:
        raise InputError(f"exclude: the Dataset still has the column {kept[0]!r}. {how}")
    model = MODELS[recipe.model]
    if dataset.joint and not dataset.predictions and model.score != "probability":
        raise InputError(
            f"{model.label} gives no probabilities. With more than two classes, choose another model, or "
            "predict one class against the rest."
        )


def make_estimator(recipe: Recipe, dataset: Dataset) -> Any:
    """Return the unfitted pipeline of a Recipe: typed columns → matrix → model."""
    if dataset.predictions:
        column = score_column(recipe, dataset)
        if dataset.joint:
            return GivenProbabilities(dataset.columns[column])
        # Decided on all rows, because the type of a score must not depend on the rows of a fold.
        stated = () if dataset.read_as is None else dataset.read_as.scores
        margin = any(score.kind == "margin" and score.columns == (column,) for score in stated)
        probability = not margin and may_be_probabilities(dataset.X[column].to_numpy())
        settings = {"score": column, "probability": probability}
        return MODELS["given"].build(settings, recipe.seed)
    model = MODELS[recipe.model].build(dict(recipe.params), recipe.seed)
    return Pipeline([("prepare", preprocessor(dataset.X)), ("model", model)])


def split(recipe: Recipe, dataset: Dataset) -> Iterator[tuple[Any, ...]]:
    """Yield (training rows, test rows) by the Recipe's split: one pair for a holdout, otherwise one per fold.

    If counted rows are divided, so that a line may be on both sides, their weights on both sides follow.
    """
    for cut in _cuts(recipe, row_info(dataset)):
        yield cut[:2] if cut.train_weight is None else cut


def splitter_of(recipe: Recipe) -> Splitter:
    """Return the Recipe's split, with its options."""
    chosen, given = SPLITS[recipe.split], dict(recipe.data_params)
    return chosen(**{option.name: given[option.name] for option in chosen.parameters if option.name in given})


def row_info(dataset: Dataset) -> RowInfo:
    """Return the information about the rows that a split may use.

    Whole weights of predictions are counts, as GROUP BY returns them, and a random split divides them. With features,
    a row stays whole, because a model that has seen one copy knows the others. Other weights are put on the scale of
    ``effective_weights`` of the whole table, so that no part of them is mistaken for counts.
    """
    weight = dataset.weight
    return RowInfo(
        dataset.coded,
        dataset.time,
        dataset.part,
        weight=None if weight is None else effective_weights(weight),
        cluster=dataset.cluster,
        counted=weight is not None and dataset.predictions and are_whole(weight),
    )


def _cuts(recipe: Recipe, rows: RowInfo) -> Sequence[TrainTestRows]:
    """Split the rows as the Recipe states, with their weights."""
    rarest = rows.rarest
    needed = recipe.folds if recipe.evaluation == "folds" else 2
    if rarest < needed:
        raise InputError(
            f"The minority class has {rarest} {'row' if rarest == 1 else 'rows'}, but this evaluation needs at least "
            f"{needed}. Use more rows or fewer folds, or choose another positive class."
        )
    splitter = splitter_of(recipe)
    if recipe.evaluation == "folds":
        cuts = splitter.folds(rows, recipe.folds, recipe.seed)
    else:
        cuts = [_one_part(recipe, splitter, rows)]
    for cut in cuts:
        if len(cut.test) == 0:  # possible because counted rows are drawn one by one
            raise InputError(
                f"With split={recipe.split!r}, one test set has no rows. Use more rows, a larger test share "
                "or fewer folds."
            )
        if len(cut.train) == 0 or rows.y[cut.train].min() == rows.y[cut.train].max():
            raise InputError(
                f"With split={recipe.split!r}, all training rows are in one class. Use more rows, another "
                "test share or fewer folds, or choose split='random'."
            )
    return cuts


def _one_part(recipe: Recipe, splitter: Splitter, rows: RowInfo) -> TrainTestRows:
    try:
        cut = splitter.holdout(rows, recipe.test_size, recipe.seed)
    except InputError:
        raise
    except ValueError:
        raise InputError(
            f"{rows.n} rows are too few for a test share of {percent(recipe.test_size)}: "
            "use more rows, or a test share closer to one half."
        ) from None
    if cut.train_weight is not None:
        return cut
    return TrainTestRows(np.sort(cut.train), np.sort(cut.test))


def _unused(rows: RowInfo, cut: TrainTestRows, placed: Placement, classes: int) -> dict[str, RowCount]:
    """Return the number of rows that neither train, calibrate nor test."""
    idle = np.ones(rows.n, dtype=bool)
    for used in (cut.test, cut.train[placed.trained], cut.train[placed.index]):
        idle[used] = False
    return {"unused": count_rows(rows.y[idle], rows.weights[idle], classes)}


def fits_every_row(recipe: Recipe) -> bool:
    """Tell whether the placement needs a model fit for every row, so that the cost is announced first."""
    rows = 100
    return PLACEMENTS[recipe.placement].fits(recipe.cv, rows) >= rows

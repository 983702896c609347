"""Check that a change of the code left every number as it was: random Recipes, before and after.

    python -m scripts.same_numbers write before.json        # at the commit before
    python -m scripts.same_numbers compare before.json      # at the commit after; exit status 1 if numbers differ

``write`` draws 500 Recipes over samples and synthetic sets and keeps, of each Evaluation, sums over its arrays, its
metrics and its intervals. ``compare`` reads the Recipes from the file, so that a new calibrator or a new
order of a registry does not change what is drawn. Words may change; numbers may differ by rounding, at most ``CLOSE``.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

from calib import Recipe, evaluate
from calib.calibrators import CALIBRATORS
from calib.kernel.checks import InputError
from calib.kernel.records import Dataset
from calib.metrics.confidence import confidence_interval
from calib.models import MODELS
from calib.placements import PLACEMENTS
from calib.sources import load
from calib.synthetic import SYNTHETIC

COUNT, CLOSE = 500, 1e-9
SMALL = {  # models that are large by default
    **{key: {"n_estimators": 10} for key in ("random_forest", "bagged_trees", "large_forest")},
    "gradient_boosting": {"max_iter": 10},
    "neural_network": {"units": 4, "max_iter": 30},
}
SLOW = ("tuned_forest", "curtailed_forest", "given")
ROLES: dict[str, dict[str, Any]] = {
    "sample:dated": {"time": "ordered", "split": "time"},
    "sample:customers": {"cluster": "customer_id", "split": "cluster"},
    "sample:counts": {"weight": "count"},
}
INTERVALS = ("brier", "ece", "auc", "observed_expected")


def recipes(count: int) -> Iterator[Recipe]:
    """Draw Recipes that a person could choose; those that are refused as Recipes are left out."""
    draw = random.Random(7)
    samples = [
        "digits",
        "breast_cancer",
        "rare_faults",
        "loans",
        "predictions",
        "dated",
        "customers",
        "counts",
    ]
    tables = [f"sample:{key}" for key in samples] + [f"synthetic:{key}" for key in sorted(SYNTHETIC)]
    models, placements = sorted(MODELS.keys() - set(SLOW)), sorted(PLACEMENTS.keys() - {"full"})
    while count:
        data, model, placement = draw.choice(tables), draw.choice(models), draw.choice(placements)
        if placement == "oob" and not MODELS[model].bagged:
            continue
        chosen = draw.sample(sorted(CALIBRATORS), draw.randint(1, 5))
        try:
            yield Recipe(
                data=data,
                content="predictions" if data in ("sample:predictions", "sample:counts") else "features",
                model=model,
                params=tuple(SMALL.get(model, {}).items()),
                placement=placement,
                evaluation=draw.choice(["holdout", "holdout", "folds"]),
                folds=draw.randint(2, 3),
                cv=draw.randint(2, 3),
                test_size=draw.choice([0.2, 0.3, 0.5]),
                calibration_size=draw.choice([0.2, 1 / 3, 0.5]),
                calibrators=tuple(chosen),
                merge=draw.choice(["log", "brier"]),
                base_rate=draw.choice([None, None, None, 0.1, 0.4]),
                bins=draw.choice([5, 10, 20]),
                binning=draw.choice(["uniform", "quantile"]),
                seed=draw.randint(0, 9),
                **(ROLES.get(data, {}) if draw.random() < 0.7 else {}),
            )
        except InputError:
            continue
        count -= 1


def numbers(text: str) -> dict[str, float]:
    """Evaluate one Recipe (JSON) and return its numbers by name, or that it is refused."""
    recipe = Recipe.from_json(text)
    try:
        return dict(_numbers(recipe, load(recipe)))
    except InputError:
        return {"refused": 1.0}


def _numbers(recipe: Recipe, dataset: Dataset) -> Iterator[tuple[str, float]]:
    found = evaluate(recipe, dataset)
    yield from [("rows", len(found.y)), ("positives", found.share), ("notes", len(found.notes))]
    yield from [("scores", _sum(found.scores)), ("calibration scores", _sum(found.calibration_scores))]
    for i, fold in enumerate(found.flow):
        for part, counted in fold.items():
            yield f"flow {i} {part}", _sum(np.array(counted))
    for key in found.refused:
        yield f"{key} refused", 1.0
    table = found.metrics
    for key, predictions in found.predictions.items():
        for name in ("p", "lower", "upper", "p0", "p1"):
            values = getattr(predictions, name)
            if values is not None:
                yield f"{key} {name}", _sum(values)
        yield from ((f"{key} {metric}", float(value)) for metric, value in table.loc[key].items())
    for key, first in list(found.predictions.items())[:1]:
        for metric in INTERVALS:
            yield f"{key} interval {metric}", _sum(np.array(confidence_interval(metric, found.y, first.p)))


def _sum(values: np.ndarray) -> float:
    """Sum values with weights by position, so that order counts; infinite and missing values count only by number."""
    values = np.asarray(values, dtype=np.float64)
    finite = np.isfinite(values)
    weights = 1 + np.arange(len(values)) % 97 / 97
    return float(np.where(finite, values, 0) @ weights + 1e6 * np.count_nonzero(~finite))


def differences(before: dict[str, float], after: dict[str, float]) -> list[str]:
    """Name what is only on one side and the numbers that differ."""
    only = [
        f"{name}: only {side}"
        for side, a, b in (("before", before, after), ("after", after, before))
        for name in a
        if name not in b
    ]
    return only + [
        f"{name}: {before[name]!r} → {after[name]!r}"
        for name in before.keys() & after.keys()
        if not (
            math.isclose(before[name], after[name], rel_tol=CLOSE, abs_tol=CLOSE)
            or (math.isnan(before[name]) and math.isnan(after[name]))
        )
    ]


def main() -> int:
    """Write the numbers, or compare them with those of a file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("write", "compare"))
    parser.add_argument("file")
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    if given.what == "write":
        kept: dict[str, dict[str, float]] = {recipe.to_json(): {} for recipe in recipes(given.count)}
    else:
        with open(given.file, encoding="utf-8") as file:
            kept = json.load(file)
    with ProcessPoolExecutor(given.workers) as pool:
        found = dict(zip(kept, pool.map(numbers, kept, chunksize=5), strict=True))
    if given.what == "write":
        with open(given.file, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)
        print(f"{len(found)} Recipes, {sum(map(len, found.values())):,} numbers")
        return 0
    changed = {recipe: told for recipe in kept if (told := differences(kept[recipe], found[recipe]))}
    for recipe, told in changed.items():
        print(recipe, *told, sep="\n    ")
    print(f"{len(found)} Recipes, {sum(map(len, found.values())):,} numbers; {len(changed)} Recipes differ")
    return int(bool(changed))


if __name__ == "__main__":
    raise SystemExit(main())

"""A protocol describes a study: data rules, splits, setups and metrics, in one TOML file that is checked by name.

A setup overrides fields of a Recipe with one calibrator, under the paper's name. Settings that a Recipe does not offer
are keys beside them (``calibration_folds``, ``scale``), so that the file alone states what is run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

from calib.calibrators import CALIBRATORS
from calib.kernel import checks
from calib.kernel.checks import InputError
from calib.kernel.records import Parameter
from calib.recipe import Recipe
from calib.study.rows import measures

FIT = ("model", "params", "placement", "calibration_size", "cv")
RECIPE = (*FIT, "options", "merge", "bins", "binning")
"""The fields of a Recipe that a protocol may set; data, splits and seeds have their own tables."""

ELSEWHERE = ("openml", "sample", "synthetic")
"""Kinds of data other than files, such as openml:40."""


REPEATS = Parameter(
    "repeats",
    "Repeats",
    "integer",
    1,
    1,
    10_000,
    help="Number of random splits; more repeats give steadier means.",
)
FOLDS_PARAMETER = Parameter(
    "folds",
    "Test folds",
    "integer",
    10,
    2,
    10_000,
    help="Number of cross-validation folds; each fold is the test set once.",
)


@dataclass(frozen=True)
class DataRules:
    """Rules that turn a table into the Dataset of a study.

    Attributes
    ----------
    positive
        "later", the later label in sorted order; "rarer", as in a Recipe; or "all", three or more classes
        together.
    columns
        "usable", without those that ``prepare`` leaves out (constant, identifiers, free text), or "all".
    scale
        "none", or "min_max": every number to [0, 1] over *all* rows, including test rows.
    drop_duplicates
        Names of the sets that keep only the first of rows with equal features.
    sets
        The data sets to run if --data names none.
    """

    positive: str = "rarer"
    columns: str = "usable"
    scale: str = "none"
    drop_duplicates: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()

    @property
    def joint(self) -> bool:
        """Whether three or more classes are predicted together."""
        return self.positive == "all"


@dataclass(frozen=True)
class Splits:
    """Rules for training, calibration and test rows.

    Repeat r splits with seed + r, and its fold k runs with seed + run index.

    Attributes
    ----------
    kind
        "folds" of a shuffled cross-validation, or "random" training and test sets, one per repeat.
    calibration_folds
        Number of shuffled stratified folds of the training rows, of which the first is the held-out set; None draws
        the share of the placement.
    """

    kind: str = "folds"
    folds: int = FOLDS_PARAMETER.default
    repeats: int = REPEATS.default
    test_size: float = 1 / 3
    stratified: bool = True
    seed: int = 0
    calibration_folds: int | None = None

    @property
    def folds_a_repeat(self) -> int:
        return self.folds if self.kind == "folds" else 1

    def meaning(self) -> list[Any]:
        """Return the settings that results depend on; the number of repeats is not one of them."""
        size = [self.folds] if self.kind == "folds" else [self.test_size]
        # These words keep the digests of results that were computed before
        calibration = ["share"] if self.calibration_folds is None else ["first_fold", self.calibration_folds]
        return [self.kind, *size, self.stratified, self.seed, *calibration]


@dataclass(frozen=True)
class Setup:
    """One line of a paper's table: a name, a Recipe with one calibrator, and its departures from Recipes.

    Attributes
    ----------
    estimator
        Key of a model that no Recipe offers (``study_models``), which replaces the Recipe's, or None.
    merges
        Metric → merge rule, if it differs from the Recipe's.
    """

    name: str
    recipe: Recipe
    splits: Splits
    estimator: str | None = None
    merges: tuple[tuple[str, str], ...] = ()

    @property
    def calibrator(self) -> str:
        return self.recipe.calibrators[0]

    @property
    def calibration_folds(self) -> int | None:
        """Number of folds of the training rows, of which the first is held out; None if a share or nothing is."""
        return self.splits.calibration_folds if self.recipe.placement == "split" else None

    def fit_key(self) -> str:
        """Return a key that is equal for setups that share their model fits."""
        return json.dumps([self._values(FIT), self.estimator, self.splits.meaning(), self.splits.repeats])

    @cached_property
    def digest(self) -> str:
        """Sixteen hexadecimal digits of all that its results depend on, except data, repeat, fold and seed."""
        of = [self._values(RECIPE), self.calibrator, self.estimator, self.splits.meaning(), self.merges]
        return hashlib.blake2b(json.dumps(of).encode(), digest_size=8).hexdigest()

    def _values(self, names: Iterable[str]) -> list[Any]:
        return [getattr(self.recipe, name) for name in names]


def check_measurable(keys: Iterable[str], setups: Iterable[Setup], name: str) -> None:
    """Refuse a metric of intervals if no setup has any."""
    if any(CALIBRATORS[setup.calibrator].gives_interval for setup in setups):
        return
    for key in keys:
        if measures()[key].needs == "intervals":
            raise InputError(
                f"{name}: {key!r} needs intervals, but no setup gives intervals. Remove the metric, or add a "
                "setup with venn or venn_abers."
            )


@dataclass(frozen=True)
class Protocol:
    """A study as its file describes it.

    Attributes
    ----------
    key
        The file's stem.
    default
        Names of the setups that run by default, empty for all.
    """

    key: str
    title: str
    source: str
    data: DataRules
    splits: Splits
    metrics: tuple[str, ...]
    setups: tuple[Setup, ...]
    default: tuple[str, ...] = ()
    merges: Mapping[str, str] = field(default_factory=dict)

    def measuring(self, metrics: Iterable[str] | None) -> Self:
        """Return the protocol with these metrics instead of its own; with its own for None or no metric."""
        known = measures(self.data.joint)
        keys = tuple(checks.one_of(key, known, "--metrics") for key in metrics or self.metrics)
        check_measurable(keys, self.setups, "--metrics")
        return replace(self, metrics=tuple(dict.fromkeys(keys)))

    def chosen(self, names: Iterable[str] | None) -> tuple[Setup, ...]:
        """Return the setups of these names, in the protocol's order; "all" means every setup."""
        names = list(names or self.default or ["all"])
        known = {setup.name: setup for setup in self.setups}
        if "all" in names:
            return self.setups
        for name in names:
            if name not in known:
                raise InputError(
                    f"--setups: {self.key} has no setup {name!r}. Choose from {', '.join(known)}."
                )
        return tuple(setup for setup in self.setups if setup.name in names)

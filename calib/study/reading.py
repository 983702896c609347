"""Reading of protocols from TOML files: completely, or refused by file, table and key."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from calib.calibrators import CALIBRATORS, INPUT_TABLES, MERGE_RULES
from calib.kernel import checks
from calib.kernel.checks import InputError
from calib.kernel.fields import loads
from calib.kernel.records import Parameter
from calib.metrics import METRICS
from calib.models import MODELS
from calib.models.out_of_bag import no_bagging
from calib.placements import PLACEMENTS
from calib.placements.base import no_trees, only_margins
from calib.recipe import FIELDS as RECIPE_FIELDS
from calib.recipe import Recipe
from calib.study import papers
from calib.study.papers.models import study_models
from calib.study.protocol import (
    ELSEWHERE,
    FOLDS_PARAMETER,
    RECIPE,
    REPEATS,
    DataRules,
    Protocol,
    Setup,
    Splits,
    check_measurable,
)
from calib.study.rows import measures

Check = Callable[[Any, str], Any]


class SharedSettings(NamedTuple):
    """Settings of all setups of a protocol: fields of their Recipes, splits, merge rules, and the number of classes."""

    recipe: Mapping[str, Any]
    splits: Splits
    merges: Mapping[str, str]
    joint: bool

    @property
    def methods(self) -> Mapping[str, Any]:
        """The calibrators; for three or more classes, joint ones and those for one class against the rest."""
        if not self.joint:
            return CALIBRATORS
        return {key: one for key, one in CALIBRATORS.everything().items() if one.input not in INPUT_TABLES}

    def every(self, registry: Mapping[str, Any]) -> list[str]:
        """Return what "*" stands for: all entries, except placements that cannot serve so many classes."""
        return [key for key, one in registry.items() if not self.joint or getattr(one, "for_k", True)]


def _one_of(*allowed: str) -> Check:
    return lambda value, name: checks.one_of(value, allowed, name)


def _declared(parameter: Parameter) -> Check:
    return lambda value, name: checks.setting(value, parameter, name)


def _table(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{name} must be a table of names and values, but is {value!r}.")
    return dict(value)


LONGEST_PROTOCOL = 1_000_000  # of a protocol: ours have 2,000
MOST_KEY_DOTS = 1000  # per line, because the time for a key grows with the square of its parts
SHIPPED: tuple[str, ...] = (
    *("venn_forests_2019", "probability_trees_2019", "rf_calibration_2025", "venn_abers_2014"),
    *("arena", "arena_multiclass", "arena_sizes", "arena_sizes_classes"),
)
"""The protocols that come with the package."""


def load_protocol(name: str | Path) -> Protocol:
    """Load a shipped protocol by its name, or your own by its file.

    Parameters
    ----------
    name : str or path
        One of ``SHIPPED``, or a TOML file.

    Raises
    ------
    InputError
        If it cannot be used; the message names file, table and key.

    Examples
    --------
    >>> protocol = load_protocol("venn_forests_2019")
    >>> [setup.name for setup in protocol.setups][:3], protocol.splits.folds
    (['RF-cal', 'RF-oob', 'Platt-cal'], 10)
    """
    if str(name) in SHIPPED:
        return read_protocol(files(papers).joinpath(f"{name}.toml").read_text("utf-8"), f"{name}.toml")
    path = Path(name)
    try:
        return _with_paths(path, read_protocol(path.read_text("utf-8"), path.name))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise InputError(
            f"{name} cannot be read ({why}). PROTOCOL must be a TOML file or one of {', '.join(SHIPPED)}."
        ) from None


def _with_paths(path: Path, protocol: Protocol) -> Protocol:
    """Return the protocol with paths of data files relative to its own folder."""
    sets = [
        name if name.partition(":")[0] in ELSEWHERE else str(path.parent / name)
        for name in protocol.data.sets
    ]
    return replace(protocol, data=replace(protocol.data, sets=tuple(sets)))


def read_protocol(text: str, file: str) -> Protocol:
    """Read the protocol of a TOML text.

    Parameters
    ----------
    text : str
        TOML, as in ``calib/study/papers``.
    file : str
        Its name in messages; without the extension, the protocol's key.

    Raises
    ------
    InputError
        If it cannot be used; the message names file, table and key.
    """
    if len(text) > LONGEST_PROTOCOL:
        raise InputError(f"{file} has {len(text):,} characters; at most {LONGEST_PROTOCOL:,} are read.")
    if max(line.count(".") for line in text.split("\n")) > MOST_KEY_DOTS:
        raise InputError(f"{file}: a line has more than {MOST_KEY_DOTS:,} dots. Break the line.")
    try:
        tables = loads(text.removeprefix("\ufeff"), tomllib.loads)
    except ValueError as error:
        raise InputError(f"{file} is not TOML: {error}.") from None
    try:
        return _protocol(tables, file.removesuffix(".toml"))
    except InputError as error:
        raise InputError(f"{file}: {error}") from None


def _protocol(values: Mapping[str, Any], key: str) -> Protocol:
    top = {"title": checks.text, "source": checks.text, "default": checks.names}
    tables = ("data", "splits", "metrics", "recipe", "setups", "grid")
    checked = _checked(
        {k: v for k, v in values.items() if k not in tables}, "", top, also=tables, required=("title",)
    )
    data = DataRules(**_checked(values.get("data", {}), "[data] ", DATA))
    splits = _splits(values.get("splits", {}), "[splits] ")
    allowed: dict[str, Check] = {"keys": partial(_metrics, measures(data.joint)), "merge": _merges}
    measured = _checked(values.get("metrics", {}), "[metrics] ", allowed, required=("keys",))
    common = _common(values.get("recipe", {}), "[recipe] ")
    merges = measured.get("merge", {})
    shared = SharedSettings(common, splits, merges, data.joint)
    setups = [
        _written(one, f"[[setups]] number {i}: ", shared)
        for i, one in enumerate(_tables(values.get("setups", []), "setups"), start=1)
    ]
    for i, one in enumerate(_tables(values.get("grid", []), "grid"), start=1):
        setups += _grid(one, f"[[grid]] number {i}: ", shared)
    names = [setup.name for setup in setups]
    chosen = {setup.calibrator for setup in setups}
    for option in common.get("options", {}):
        if setups and option.partition(".")[0] not in chosen:
            raise InputError(
                f"[recipe] options.{option} has no effect, because no setup uses this calibrator. Remove the option."
            )
    if not setups:
        raise InputError("setups: the protocol has no setups. Add [[setups]] or a [[grid]].")
    check_measurable(measured["keys"], setups, "[metrics] keys")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"setups: {twice!r} appears twice. Give each setup a different name.")
    for name in checked.get("default", ()):
        if name not in names:
            raise InputError(
                f"default: {name!r} is not a setup. Remove it from the list, or add a setup of this name."
            )
    return Protocol(
        key,
        checked["title"],
        checked.get("source", ""),
        data,
        splits,
        measured["keys"],
        tuple(setups),
        checked.get("default", ()),
        merges,
    )


DATA: dict[str, Check] = {
    "positive": _one_of("later", "rarer", "all"),
    "columns": _one_of("usable", "all"),
    "scale": _one_of("none", "min_max"),
    "drop_duplicates": checks.names,
    "sets": checks.names,
}
SPLIT_CHECKS: dict[str, Check] = {
    "kind": _one_of("folds", "random"),
    "folds": _declared(FOLDS_PARAMETER),
    "repeats": _declared(REPEATS),
    "test_size": lambda value, name: float(checks.setting(value, RECIPE_FIELDS["test_size"], name)),
    "stratified": checks.switch,
    "seed": _declared(replace(RECIPE_FIELDS["seed"], high=1_000_000_000)),  # a run adds its number to it
    "calibration_folds": _declared(FOLDS_PARAMETER),
}
# Key of [splits] → (another key, the value that it needs)
NEEDED_KEYS = (
    ("folds", "kind", "folds"),
    ("test_size", "kind", "random"),
)
RECIPE_CHECKS: dict[str, Check] = {  # the Recipe checks their values itself
    **dict.fromkeys(RECIPE, lambda value, name: value),
    **dict.fromkeys(("params", "options"), _table),
}
CHECKS_OF_OWN: dict[str, Check] = {
    "name": checks.text,
    "repeats": SPLIT_CHECKS["repeats"],
    "seed": SPLIT_CHECKS["seed"],
}


def _checked(
    values: Any,
    where: str,
    allowed: Mapping[str, Check],
    also: Iterable[str] = (),
    required: Iterable[str] = (),
) -> dict[str, Any]:
    """Return the values of a table, each checked; an unknown or a missing key is refused by name."""
    if not isinstance(values, Mapping):
        raise InputError(f"{where or 'the file '}must be a table of keys and values, but is {values!r}.")
    for key in values:
        if key not in allowed:
            raise InputError(
                f"{where}{key} is not a known key. Use one of these: {', '.join([*allowed, *also])}."
            )
    for key in required:
        if key not in values:
            raise InputError(f"{where}{key} is missing.")
    return {key: allowed[key](value, f"{where}{key}") for key, value in values.items()}


def _tables(values: Any, name: str) -> list[Any]:
    if not isinstance(values, list):
        raise InputError(f"{name} must be a list of tables, [[{name}]], but is {values!r}.")
    return values


def _metrics(known: Mapping[str, Any], value: Any, name: str) -> tuple[str, ...]:
    if not value:
        raise InputError(f"{name}: the list is empty. Name at least one metric, such as brier.")
    return tuple(checks.one_of(key, known, name) for key in checks.names(value, name))


def _merges(value: Any, name: str) -> dict[str, str]:
    rules: dict[str, Check] = dict.fromkeys(
        (key for key, metric in METRICS.items() if metric.needs == "probabilities"),
        lambda rule, where: checks.one_of(rule, MERGE_RULES, where),
    )
    return _checked(value, f"{name}.", rules)


def _common(values: Any, where: str) -> dict[str, Any]:
    """Return the checked settings that all setups share."""
    fields = _checked(values, where, RECIPE_CHECKS)
    try:
        Recipe(**fields, calibrators=tuple(CALIBRATORS))  # setups choose one of them
    except InputError as error:
        raise InputError(f"{where}{error}") from None
    return fields


def _splits(values: Any, where: str) -> Splits:
    checked = _checked(values, where, SPLIT_CHECKS)
    splits = Splits(**checked)
    for key, of, needed in NEEDED_KEYS:
        if key in checked and getattr(splits, of) != needed:
            raise InputError(
                f"{where}{key} has no effect without {of} = {needed!r}. Remove {key}, or set {of}."
            )
    return splits


def _written(values: Any, where: str, shared: SharedSettings) -> Setup:
    """Return a setup, and refuse keys of its own table that have no effect."""
    setup = _setup(values, where, shared)
    placement, calibrator = setup.recipe.placement, setup.calibrator
    used = {"calibration_size": placement == "split", "cv": placement == "cv", "merge": merged(setup.recipe)}
    idle = [key for key, has_effect in used.items() if key in values and not has_effect]
    idle += [f"options.{name}" for name in values.get("options", {}) if name.split(".")[0] != calibrator]
    if idle:
        raise InputError(
            f"{where}{setup.name!r}: {idle[0]} has no effect with the placement {placement!r} and the calibrator "
            f"{calibrator!r}. Remove this key."
        )
    return setup


def _setup(values: Any, where: str, shared: SharedSettings) -> Setup:
    known = CHECKS_OF_OWN | RECIPE_CHECKS
    known |= {"calibrator": _one_of(*shared.methods), "model": _one_of(*study_models())}
    given = _checked(values, where, known, required=("name", "calibrator"))
    where = f"{where}{given['name']!r}: "
    overrides = {key: value for key, value in given.items() if key in RECIPE_CHECKS}
    estimator = None if given.get("model") in MODELS else given.get("model")
    try:
        recipe = _recipe(shared.recipe, overrides, given["calibrator"], estimator)
        check_possible(estimator or recipe.model, recipe.placement, given["calibrator"])
        if shared.joint:
            PLACEMENTS[recipe.placement].check_for_k()
    except InputError as error:
        raise InputError(f"{where}{error}") from None
    splits = Splits(**vars(shared.splits) | {key: given[key] for key in ("repeats", "seed") if key in given})
    merges = tuple(sorted(shared.merges.items())) if merged(recipe) else ()
    return Setup(given["name"], recipe, splits, estimator, merges)


def _recipe(
    common: Mapping[str, Any], overrides: Mapping[str, Any], calibrator: str, estimator: str | None
) -> Recipe:
    """Return the setup's Recipe from the shared settings and its overrides.

    Of the shared options, those of its calibrator count. A setup with another model than the shared one starts from
    that model's defaults, like a Recipe. ``estimator`` is a model that no Recipe offers.
    """
    joined = {**common, **overrides}
    same_model = overrides.get("model", common.get("model")) == common.get("model")
    for name in ("params", "options"):
        if name == "options" or same_model:
            joined[name] = {**dict(common.get(name, {})), **dict(overrides.get(name, {}))}
        else:
            joined[name] = overrides.get(name, {})
    if estimator is not None:
        if joined["params"]:
            raise InputError(f"params: the model {estimator} has no settings. Remove params.")
        del joined["model"]
    Recipe(**joined, calibrators=tuple(CALIBRATORS))  # refuses misspelt options of all calibrators
    joined["options"] = {k: v for k, v in joined["options"].items() if k.split(".")[0] == calibrator}
    if not CALIBRATORS[calibrator].gives_interval:
        joined.pop("merge", None)
    return Recipe(**joined, calibrators=(calibrator,))


def merged(recipe: Recipe) -> bool:
    """Tell whether the setup has an interval to merge."""
    return CALIBRATORS[recipe.calibrators[0]].gives_interval


CHECKS_OF_GRID: dict[str, Check] = {
    "name": checks.text,
    **dict.fromkeys(
        ("models", "without_models", "placements", "calibrators", "without_calibrators"), checks.names
    ),
    **{key: RECIPE_CHECKS[key] for key in ("options", "merge")},
}


def _grid(values: Any, where: str, shared: SharedSettings) -> list[Setup]:
    """Return a setup for every possible calibrator × model × placement; "*" means all that are registered."""
    required = ("name", "models", "placements", "calibrators")
    checked = _checked(values, where, CHECKS_OF_GRID, required=required)
    _checked_name(checked["name"], where)
    chosen = {}
    registries = ("models", MODELS), ("calibrators", shared.methods), ("placements", PLACEMENTS)
    for name, registry in registries:
        without = [
            checks.one_of(k, registry, f"{where}without_{name}") for k in checked.get(f"without_{name}", ())
        ]
        wanted = shared.every(registry) if checked[name] == ("*",) else checked[name]
        chosen[name] = [k for k in wanted if checks.one_of(k, registry, f"{where}{name}") not in without]
    more = {key: checked[key] for key in ("options", "merge") if key in checked}
    every = list(product(chosen["models"], chosen["placements"], chosen["calibrators"]))
    found = [one for one in every if possible(*one)]
    if not found:
        raise InputError(f"{where}no combination of these models, placements and calibrators is possible.")
    return [
        _setup(
            {
                "name": checked["name"].format(model=model, placement=placement, calibrator=calibrator),
                **{"model": model, "placement": placement, "calibrator": calibrator, **more},
            },
            where,
            shared,
        )
        for model, placement, calibrator in found
    ]


def _checked_name(name: str, where: str) -> None:
    try:
        name.format(model="", placement="", calibrator="")
    except (KeyError, IndexError, ValueError):
        raise InputError(
            f"{where}name may contain {{model}}, {{placement}} and {{calibrator}}, but is {name!r}."
        ) from None


def possible(model: str, placement: str, calibrator: str) -> bool:
    """Tell whether a calibrator can answer for a model in a placement.

    >>> possible("svm", "split", "beta"), possible("svm", "split", "platt"), possible("svm", "oob", "platt")
    (False, True, False)
    """
    try:
        check_possible(model, placement, calibrator)
    except InputError:
        return False
    return True


def check_possible(model: str, placement: str, calibrator: str) -> None:
    """Refuse, before anything is run, a calibrator that cannot answer for a model in a placement.

    The decision follows from the declarations of the three.

    >>> check_possible("svm", "split", "platt")
    >>> check_possible("svm", "split", "beta")
    Traceback (most recent call last):
    ...
    calib.kernel.checks.InputError: Beta calibration needs probabilities, but 'svm' gives margins, which can be any \
number. Choose Platt scaling, isotonic regression, Venn or Venn–Abers, or another model.
    """
    method, entry, name = CALIBRATORS[calibrator], study_models()[model], repr(model)
    if placement.startswith("oob") and not entry.bagged:
        raise no_bagging(name)
    if method.input == "tree_scores" and not entry.bagged:
        raise no_trees(name)
    if method.input in ("probability", "features") and entry.score == "margin":
        raise only_margins(method, name)
    PLACEMENTS[placement].check_takes(method)

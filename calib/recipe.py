"""A Recipe says what to do: one frozen, flat, JSON-able record; field = widget key = URL parameter = JSON key.

Its fields belong to four phases, by what a change costs: ``data`` (the table is prepared again), ``fit`` (a
model fit), ``calibrate`` (milliseconds) and ``view`` (a redraw). Names are checked against the registries and
numbers against their ranges when a Recipe is made, so that a link, a file or a notebook is refused at once,
by the field's name.

The fields are what pages share. What a single page or experiment has of its own is among ``settings``, by
page.setting, declared there (``calib.kernel.declared``) and checked in the same way; in a link each is a
parameter of its own.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from calib.calibrators import CALIBRATORS, MERGE_RULES
from calib.data import DEFAULT_SAMPLE, WEIGHT_AS
from calib.kernel import checks, declared, fields
from calib.kernel.binning import STRATEGIES
from calib.kernel.checks import InputError
from calib.kernel.period import check_period
from calib.kernel.records import Parameter, that_matter
from calib.kernel.wording import listed
from calib.metrics import METRICS
from calib.models import MODELS
from calib.placements import PLACEMENTS
from calib.splits import SPLITS
from calib.synthetic import SYNTHETIC

PHASES = ("data", "fit", "calibrate", "view")
BANDS = ("none", "confidence", "consistency")
CURVES = ("smoothed", "binned", "corp")
AXES = ("auto", "probability", "log_odds")
EVALUATIONS = ("holdout", "folds")
DEFAULT_DATA = f"sample:{DEFAULT_SAMPLE}"
CONTENTS = ("features", "predictions")

Pairs = tuple[tuple[str, Any], ...]


def _field(
    phase: str, default: Any, check: Callable[[Any, str], Any], help: str, label: str | None = None
) -> Any:
    """``label`` is what a page calls it, if that is not the field's own name."""
    return field(default=default, metadata={"phase": phase, "check": check, "help": help, "label": label})


def _one_of(allowed: Callable[[], Any]) -> Callable[[Any, str], Any]:
    return lambda value, name: checks.one_of(value, allowed(), name)


def _number(low: float, high: float, *, integer: bool = False) -> Callable[[Any, str], Any]:
    def check(value: Any, name: str) -> Any:
        value = checks.in_range(value, name, low, high, integer=integer)
        return int(value) if integer else float(value)

    return check


def _optional_text(value: Any, name: str) -> str | None:
    return None if value is None else checks.text(value, name)


def _label(value: Any, name: str) -> str | None:
    """Return a class as the file spells it; whole numbers may be given as numbers."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return _optional_text(value, name)


def _optional_choice(value: Any, name: str) -> str | None:
    return None if value is None else checks.one_of(value, WEIGHT_AS, name)


def _optional_share(value: Any, name: str) -> float | None:
    if isinstance(value, str):  # out of a link
        value = _as_number(value, name)
    return None if value is None else float(checks.in_range(value, name, 0, 1, open_ends=True))


def _keys(registry: Mapping[str, Any]) -> Callable[[Any, str], tuple[str, ...]]:
    def check(value: Any, name: str) -> tuple[str, ...]:
        return tuple(checks.one_of(key, registry, name) for key in checks.names(value, name))

    return check


def _pairs(value: Any, name: str) -> Pairs:
    try:
        pairs = list(value.items() if isinstance(value, Mapping) else (tuple(pair) for pair in value))
        named = dict(pairs)
    except (TypeError, ValueError):
        raise InputError(f"{name} must map names to values, but is {checks.shown(value)}.") from None
    for key in named:
        checks.text(key, f"{name}: the name of a value")
    if len(named) < len(pairs):
        twice = next(key for key in named if [other for other, _ in pairs].count(key) > 1)
        raise InputError(f"{name}: {twice!r} is given twice. Give it once.")
    return tuple(sorted(named.items()))


def _settings(value: Any, name: str) -> Pairs:
    """Return values by page.setting, with lists as tuples."""
    return tuple((key, tuple(item) if isinstance(item, list) else item) for key, item in _pairs(value, name))


TABLE: dict[str, Callable[[Any, str], Any]] = {
    "sheet": checks.text,
    "header": _number(0, 1_000_000, integer=True),
    "merge_labels": checks.switch,
    "drop_labels": checks.names,
    "drop_repeated": checks.switch,
    "scores": checks.names,
    "gap": _number(0, 1e9),
}
"""Options of reading a table: its sheet; the line of its header, 0 for none; whether to merge labels that differ only
in case and spaces; labels that count as missing; whether to leave out repeated rows; the score columns of predictions;
the gap between the parts of a split by time. Unset values are inferred or skipped."""


TABLE_LABELS = {
    "merge_labels": "Merge labels that differ only in case and spaces",
    "drop_labels": "Exclude rows with the label",
    "scores": "Score columns",
}
"""Labels of these options on the Data page."""


def all_options() -> dict[str, Parameter]:
    """Return all options of calibrators as calibrator.setting; the merge rule is a separate field."""
    return {
        f"{key}.{p.name}": p
        for key, method in CALIBRATORS.items()
        for p in method.parameters
        if p.name != "merge"
    }


def _table(value: Any, name: str) -> Pairs:
    checked = {}
    for key, item in _pairs(value, name):
        if key not in TABLE:
            raise InputError(f"{name}: {key!r} is unknown here; allowed are {', '.join(TABLE)}.")
        checked[key] = TABLE[key](item, f"{name}.{key}")
    return tuple(
        (key, item) for key, item in checked.items() if key == "header" or item not in (False, (), 0)
    )


@dataclass(frozen=True)
class Recipe:
    """Describe what to do with which data.

    >>> recipe = Recipe(model="decision_tree", calibrators=("none", "venn_abers"), seed=3)
    >>> recipe.to_query()
    {'model': 'decision_tree', 'seed': '3', 'calibrators': 'none,venn_abers'}
    >>> Recipe.from_query(recipe.to_query()) == recipe
    True
    >>> Recipe(bins=0)
    Traceback (most recent call last):
    ...
    calib.kernel.checks.InputError: bins must be a whole number from 2 to 100, but is 0.
    """

    data: str = _field(
        "data",
        DEFAULT_DATA,
        checks.text,
        "The data set: sample:KEY, synthetic:KEY, upload:DIGEST or openml:ID.",
    )
    data_params: Pairs = _field(
        "data",
        (),
        _pairs,
        "Settings of a synthetic data set, or how to read a table: sheet, header, labels, repeated rows, scores.",
    )
    file: str | None = _field(
        "data", None, _optional_text, "Name of the uploaded file, used to ask for it again."
    )
    content: str = _field(
        "data",
        "features",
        _one_of(lambda: CONTENTS),
        "Whether the data are features to train a model, or predictions to evaluate.",
    )
    target: str | None = _field("data", None, _optional_text, "The column with the label.")
    positive: str | None = _field(
        "data", None, _label, "The class whose probability is predicted.", "Positive class"
    )
    exclude: tuple[str, ...] = _field(
        "data", (), checks.names, "Columns that the model does not use.", "Exclude columns"
    )
    keep: tuple[str, ...] = _field(
        "data",
        (),
        checks.names,
        "Use columns that were excluded because they look like identifiers or text.",
        "Include excluded columns",
    )
    score: str | None = _field(
        "fit", None, _optional_text, "The score column of existing predictions.", "Score column"
    )
    weight: str | None = _field(
        "data", None, _optional_text, "The column with the weight or count of each row.", "Weight or count"
    )
    weight_as: str | None = _field(
        "data",
        None,
        _optional_choice,
        "Whether whole weights are counts of rows or their importance; if unset, the column's name decides.",
    )
    time: str | None = _field(
        "data",
        None,
        _optional_text,
        "The column of dates or times for a split by time.",
        "Date or time",
    )
    cluster: str | None = _field(
        "data",
        None,
        _optional_text,
        "The column that names the person, machine or group of each row.",
        "Cluster",
    )
    part: str | None = _field(
        "data",
        None,
        _optional_text,
        "The column that assigns each row to training, calibration or test.",
        "Part",
    )
    judge_on: str | None = _field(
        "data",
        None,
        _optional_text,
        "Another table to evaluate on, written in the same form as data. The model is trained on data.",
        "Evaluate on another file",
    )
    judge_file: str | None = _field(
        "data", None, _optional_text, "Name of the file to evaluate on, used to ask for it again."
    )
    onnx: str | None = _field(
        "data",
        None,
        _optional_text,
        "An existing model, as upload:DIGEST of its ONNX file; it is evaluated without training.",
        "My own model (ONNX)",
    )
    onnx_file: str | None = _field(
        "data", None, _optional_text, "Name of the ONNX file, used to ask for it again."
    )
    model: str = _field(
        "fit", "random_forest", _one_of(lambda: MODELS), "The classifier that gives the scores.", "Model"
    )
    params: Pairs = _field("fit", (), _pairs, "Model settings that differ from the defaults.")
    placement: str = _field(
        "fit",
        "split",
        _one_of(lambda: PLACEMENTS),
        "Calibration data: the scores on which calibrators are fitted.",
    )
    calibration_size: float = _field(
        "fit",
        1 / 3,
        _number(0.05, 0.9),
        "Share of the training data held out to fit the calibrators.",
    )
    cv: int = _field("fit", 5, _number(2, 20, integer=True), "Number of folds in cross-calibration.")
    split: str = _field(
        "fit",
        "random",
        _one_of(lambda: SPLITS),
        "How rows are divided into training, calibration and test sets.",
        "Split",
    )
    evaluation: str = _field(
        "fit", "holdout", _one_of(lambda: EVALUATIONS), "One test set, or cross-validation.", "Evaluated on"
    )
    test_size: float = _field("fit", 0.3, _number(0.05, 0.9), "Share of all rows in the test set.")
    folds: int = _field("fit", 10, _number(2, 20, integer=True), "Number of folds in cross-validation.")
    seed: int = _field(
        "fit", 0, _number(0, 2**31 - 1, integer=True), "The same seed gives the same split and picture."
    )
    calibrators: tuple[str, ...] = _field(
        "calibrate",
        ("none", "platt", "isotonic", "venn_abers"),
        _keys(CALIBRATORS),
        "The calibrators to compare.",
        "Calibrators",
    )
    options: Pairs = _field("calibrate", (), _pairs, "Settings of calibrators, named calibrator.setting.")
    merge: str = _field(
        "calibrate", "log", _one_of(lambda: MERGE_RULES), "How p0 and p1 are merged into one probability."
    )
    base_rate: float | None = _field(
        "calibrate",
        None,
        _optional_share,
        "Share of the positive class in deployment (prevalence).",
        "Deployment base rate",
    )
    period: str | None = _field(
        "calibrate",
        None,
        check_period,
        "Only the test rows of this period, as first..last: dates, numbers, or row numbers without a time column.",
        "Period",
    )
    bins: int = _field(
        "view",
        20,
        _number(2, 100, integer=True),
        "Number of bins in the diagram and in the calibration error.",
    )
    binning: str = _field(
        "view", "uniform", _one_of(lambda: STRATEGIES), "Bins of equal width or of equal count."
    )
    band: str = _field(
        "view", "consistency", _one_of(lambda: BANDS), "Range expected by chance, or a confidence band."
    )
    curve: str = _field(
        "view",
        "smoothed",
        _one_of(lambda: CURVES),
        "Bins with a smooth line, bins alone, or isotonic steps.",
    )
    settings: Pairs = _field("view", (), _settings, "Settings of pages and experiments, named page.setting.")

    def __post_init__(self) -> None:
        for spec in dataclasses.fields(self):
            value = spec.metadata["check"](getattr(self, spec.name), spec.name)
            object.__setattr__(self, spec.name, value)
        self._check_settings("params", {p.name: p for p in MODELS[self.model].parameters})
        self._check_matter("params", MODELS[self.model].parameters, dict(self.params))
        self._check_settings("options", all_options())
        self._check_chosen()
        object.__setattr__(self, "settings", declared.checked(self.settings))
        kind, _, key = self.data.partition(":")
        if kind == "synthetic" and key in SYNTHETIC:
            self._check_settings("data_params", {p.name: p for p in SYNTHETIC[key].parameters})
        elif kind != "synthetic":
            object.__setattr__(self, "data_params", _table(self.data_params, "data_params"))
            self._check_split()

    def _check_settings(self, name: str, allowed: Mapping[str, Parameter]) -> None:
        checked = []
        for key, value in getattr(self, name):
            if key not in allowed:
                listed = ", ".join(allowed) or "nothing"
                raise InputError(f"{name}: {key!r} is unknown here; allowed are {listed}.")
            checked.append((key, checks.setting(value, allowed[key], f"{name}.{key}")))
        object.__setattr__(self, name, tuple(checked))

    def _check_matter(self, where: str, parameters: Collection[Parameter], given: Mapping[str, Any]) -> None:
        """Refuse a value that has no effect beside the others of a model or a calibrator."""
        applied = that_apply(parameters, given)
        for p in parameters:
            if p.only_with and p.name in given and p.name not in applied:
                name, values = p.only_with
                raise InputError(
                    f"{where}.{p.name} has an effect only with {where}.{name} = {' or '.join(map(repr, values))}. "
                    f"Set {name} too, or remove {p.name}."
                )

    def _check_chosen(self) -> None:
        """Refuse an option of a calibrator that is not among those chosen."""
        for key in dict.fromkeys(name.partition(".")[0] for name, _ in self.options):
            given = {
                name.partition(".")[2]: value for name, value in self.options if name.partition(".")[0] == key
            }
            if key not in self.calibrators:
                raise InputError(
                    f"options: '{key}.{next(iter(given))}' belongs to {key!r}, which is not among the calibrators "
                    f"{', '.join(self.calibrators) or 'chosen'}. Add this calibrator, or remove the option."
                )
            self._check_matter(f"options.{key}", CALIBRATORS[key].parameters, given)

    def _check_split(self) -> None:
        """Refuse an option of another split than the one chosen."""
        given, own = dict(self.data_params), {p.name for p in SPLITS[self.split].parameters}
        for key, split in SPLITS.items():
            for p in split.parameters:
                if p.name in given and p.name not in own:
                    raise InputError(
                        f"data_params.{p.name} is an option of split={key!r}, but split is {self.split!r}. Choose "
                        f"split={key!r}, or remove {p.name}."
                    )

    def setting(self, name: str) -> Any:
        """Return a setting of a page or an experiment, named page.setting: the given value or its default.

        >>> Recipe(settings={"theorem.objects": 5}).setting("theorem.objects"), Recipe().setting("order.objects")
        (5, 6)
        """
        return dict(self.settings).get(name, declared.SETTINGS[name].default)

    def page(self, key: str) -> SimpleNamespace:
        """Return all settings that a page or an experiment declares, as attributes.

        >>> Recipe(settings={"order.objects": 7}).page("order").objects
        7
        """
        names = [name for name in declared.SETTINGS if name.partition(".")[0] == key]
        return SimpleNamespace(**{name.partition(".")[2]: self.setting(name) for name in names})

    def given(self, page: str, *names: str) -> dict[str, Any]:
        """Return the page's settings of these names that this Recipe gives, as arguments of functions with defaults.

        >>> Recipe(settings={"order.objects": 7}).given("order", "objects", "guess")
        {'objects': 7}
        """
        chosen = dict(self.settings)
        return {name: chosen[f"{page}.{name}"] for name in names if f"{page}.{name}" in chosen}

    def replace(self, **changes: Any) -> Recipe:
        """Return a Recipe with these fields, or single settings of them, changed.

        No other field changes with them: what no longer applies is refused. ``with_model``, ``with_split`` and
        ``with_calibrators``, and those of ``calib.sources`` for other data, name the fields that have to go.

        >>> Recipe().replace(**{"params.n_estimators": 7, "theorem.objects": 5}).to_query()
        {'params': '{"n_estimators":7}', 'theorem.objects': '5'}
        """
        whole = {name: value for name, value in changes.items() if "." not in name}
        for name in changes.keys() - whole.keys():
            field, key = name.split(".", 1) if name.partition(".")[0] in _PAIRS else ("settings", name)
            whole[field] = dict(whole.get(field, getattr(self, field))) | {key: changes[name]}
        return dataclasses.replace(self, **whole)

    def stated(self) -> dict[str, Any]:
        """Return all values that differ from their defaults; single settings are named as for ``replace``.

        >>> Recipe(seed=3, params={"max_depth": 4}).stated()
        {'params.max_depth': 4, 'seed': 3}
        """
        found: dict[str, Any] = {}
        for name, value in self.changed().items():
            found |= {_setting_name(name, key): v for key, v in value} if name in _PAIRS else {name: value}
        return found

    def lost(self, new: Recipe, asked: Collection[str] = ()) -> dict[str, Any]:
        """Return what this Recipe states and another one derived from it does not; of a list, the missing names.

        Parameters
        ----------
        new
            The Recipe that comes after it.
        asked
            Names of what was to change.

        Examples
        --------
        >>> old = Recipe(positive="yes", base_rate=0.01, exclude=("a", "b"))
        >>> old.lost(old.replace(positive="no", base_rate=None, exclude=("b",)), asked=["positive"])
        {'exclude': ('a',), 'base_rate': 0.01}
        """
        now, gone = new.stated(), {}
        for name, value in self.stated().items():
            if name in asked or name.partition(".")[0] in asked or now.get(name) == value:
                continue
            if isinstance(value, tuple):
                value = tuple(one for one in value if one not in now.get(name, ()))
            if value != ():
                gone[name] = value
        return gone

    def label(self, name: str) -> str:
        """Return the label of a field or a single setting, named as for ``replace``; without a label, its name.

        >>> Recipe().label("params.max_depth"), Recipe().label("theorem.objects"), Recipe().label("cv")
        ('Depth', 'Training rows', 'cv')
        """
        field, _, key = name.partition(".")
        if not key:
            return self.__dataclass_fields__[name].metadata["label"] or name
        known: Mapping[str, Parameter] = declared.SETTINGS
        if field == "params":
            known, name = {p.name: p for p in MODELS[self.model].parameters}, key
        elif field == "options":
            chosen, _, key = key.partition(".")
            known, name = {p.name: p for p in CALIBRATORS[chosen].parameters}, key
            return f"{CALIBRATORS[chosen].label}: {known[name].label}"
        elif field == "data_params":
            known, name = {p.name: p for p in _data_parameters(self.data)}, key
        return known[name].label if name in known else TABLE_LABELS.get(name, name)

    def fields_of(self, name: str) -> dict[str, Any]:
        """Return the fields of one phase."""
        return {spec.name: getattr(self, spec.name) for spec in phase_fields(name)}

    def digest(self, phase: str) -> str:
        """Return sixteen hexadecimal digits over this phase and those before it, as a key for caches."""
        phases = PHASES[: PHASES.index(phase) + 1]
        text = json.dumps([self.fields_of(name) for name in phases], sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    def changed(self) -> dict[str, Any]:
        """Return the fields that differ from their defaults, in order."""
        return {
            spec.name: getattr(self, spec.name)
            for spec in dataclasses.fields(self)
            if getattr(self, spec.name) != spec.default
        }

    def to_json(self) -> str:
        """Write all fields as an indented JSON object; settings are objects."""
        values = {
            spec.name: dict(getattr(self, spec.name)) if _holds_pairs(spec) else getattr(self, spec.name)
            for spec in dataclasses.fields(self)
        }
        return json.dumps(values, indent=2, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Recipe:
        """Read a Recipe from JSON; missing fields take their defaults, and unknown fields are refused."""
        try:
            values = fields.loads(text)
        except InputError as error:
            raise InputError(f"The Recipe: {error}") from None
        except ValueError as error:
            raise InputError(
                f"The Recipe is not valid JSON: {error}. Use the saved Recipe unchanged."
            ) from None
        if not isinstance(values, dict):
            raise InputError("The Recipe must be a JSON object of fields and values.")
        _refuse_unknown(values, [spec.name for spec in dataclasses.fields(cls)])
        return cls(**values)

    def to_query(self) -> dict[str, str]:
        """Return URL parameters of the fields and settings that differ from their defaults."""
        fields = {name: _encode(value) for name, value in self.changed().items() if name != "settings"}
        return fields | {name: declared.as_text(name, value) for name, value in self.settings}

    @classmethod
    def from_query(cls, query: Mapping[str, Any]) -> Recipe:
        """Read a Recipe from URL parameters; an unknown name or a value out of range is refused by name."""
        texts = {name: one_value(name, value) for name, value in query.items()}
        settings = {name: declared.from_text(name, text) for name, text in texts.items() if "." in name}
        fields = {name: text for name, text in texts.items() if name not in settings}
        defaults = {spec.name: spec.default for spec in dataclasses.fields(cls) if spec.name != "settings"}
        _refuse_unknown(fields, defaults)
        return cls(
            **{name: _decode(name, text, defaults[name]) for name, text in fields.items()},
            settings=tuple(settings.items()),
        )

    def to_python(self) -> str:
        """Write Python source that makes this Recipe, as the assignment ``recipe = Recipe(...)``.

        >>> print(Recipe(seed=3).to_python())
        recipe = Recipe(seed=3)
        """
        arguments = [f"{name}={dict(v) if name in _PAIRS else v!r}" for name, v in self.changed().items()]
        line = f"recipe = Recipe({', '.join(arguments)})"
        if len(line) <= 100:
            return line
        return "recipe = Recipe(\n" + "".join(f"    {argument},\n" for argument in arguments) + ")"


def plugin_problems() -> tuple[str, ...]:
    """Return a sentence for each calibrator, model and metric of an installed package that could not be loaded."""
    return (*CALIBRATORS.problems, *MODELS.problems, *METRICS.problems)


def phase_fields(phase: str) -> list[dataclasses.Field]:
    """The fields of one phase, in the order they are declared."""
    return [spec for spec in dataclasses.fields(Recipe) if spec.metadata["phase"] == phase]


def _holds_pairs(spec: dataclasses.Field) -> bool:
    return spec.metadata["check"] in (_pairs, _settings)


_PAIRS = frozenset(spec.name for spec in dataclasses.fields(Recipe) if _holds_pairs(spec))


def _setting_name(field: str, key: str) -> str:
    return key if field == "settings" else f"{field}.{key}"


def _data_parameters(data: str) -> list[Parameter]:
    """The settings of a synthetic set; of a table those of every split."""
    kind, _, key = data.partition(":")
    if kind == "synthetic" and key in SYNTHETIC:
        return list(SYNTHETIC[key].parameters)
    return [p for split in SPLITS.values() for p in split.parameters]


def that_apply(parameters: Iterable[Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a model or a calibrator that have an effect, and defaults.

    >>> from calib.calibrators import CALIBRATORS
    >>> that_apply(CALIBRATORS["venn"].parameters, {"taxonomy": "label", "bins": 5, "threshold": 0.3})
    {'taxonomy': 'label', 'threshold': 0.3}
    """
    parameters = tuple(parameters)
    own = {p.name: p for p in parameters}
    decided = [p for p in parameters if p.only_with is None or p.only_with[0] in own]
    idle = (
        own.keys() - {p.name for p in that_matter(decided, given)} - (own.keys() - {p.name for p in decided})
    )
    return {name: value for name, value in given.items() if name not in idle or value == own[name].default}


def with_model(recipe: Recipe, key: str) -> dict[str, Any]:
    """Return the fields that change with the model, whose settings start from its defaults.

    >>> with_model(Recipe(params={"n_estimators": 7}), "naive_bayes")
    {'model': 'naive_bayes', 'params': ()}
    """
    return {"model": key, "params": recipe.params if key == recipe.model else ()}


def with_split(recipe: Recipe, key: str) -> dict[str, Any]:
    """Return the fields that change with the split, whose options belong to it.

    >>> with_split(Recipe(time="day", split="time", data_params={"gap": 30}), "random")
    {'split': 'random', 'data_params': {}}
    """
    of_others = {p.name for split in SPLITS.values() for p in split.parameters}
    of_others -= {p.name for p in SPLITS[checks.one_of(key, SPLITS, "split")].parameters}
    kept = {name: value for name, value in recipe.data_params if name not in of_others}
    idle = not recipe.data.startswith("synthetic:") and len(kept) < len(recipe.data_params)
    return {"split": key, **({"data_params": kept} if idle else {})}


def with_calibrators(
    recipe: Recipe, keys: Iterable[str], options: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the fields that change with the calibrators: options of other calibrators are removed.

    ``options`` hold where the Recipe says nothing else.

    >>> with_calibrators(Recipe(options={"isotonic.between": "nearest"}), ("none", "platt"))
    {'calibrators': ('none', 'platt'), 'options': {}}
    """
    chosen = tuple(keys)
    given = dict(options or {}) | dict(recipe.options)
    kept = {name: value for name, value in given.items() if name.partition(".")[0] in chosen}
    return {"calibrators": chosen, "options": kept}


def _refuse_unknown(values: Iterable[str], allowed: Collection[str]) -> None:
    for name in values:
        if name not in allowed:
            raise InputError(f"{name!r} is not a field of a Recipe; the fields are {', '.join(allowed)}.")


def one_value(name: str, given: Any) -> str:
    """Return the single value of a link's field; refuse a field that is given twice with different values.

    >>> one_value("bins", ["10", "10"])
    '10'
    """
    values = list(dict.fromkeys([given] if isinstance(given, str) else given))
    if len(values) == 1:
        return values[0]
    given_as = listed([checks.shown(value) for value in values[:3]]) if values else "nothing"
    raise InputError(f"{name} must be given once, but is given as {given_as}.")


def _encode(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return json.dumps(dict(value), ensure_ascii=False, separators=(",", ":"))
    if isinstance(value, tuple):
        return declared.list_as_text(value)
    return repr(value)


def _decode(name: str, text: str, default: Any) -> Any:
    if name in _PAIRS:
        return _decode_json(name, text, 'an object such as {"max_depth":4}')
    if isinstance(default, tuple):
        return declared.list_from_text(name, text)
    if isinstance(default, int | float):
        return _as_number(text, name, int if isinstance(default, int) else float)
    return text


def _as_number(text: str, name: str, kind: type = float) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise InputError(f"{name} must be a number, but is {checks.shown(text)}.") from None


def _decode_json(name: str, text: str, what: str) -> Any:
    try:
        return fields.loads(text)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    except ValueError:
        raise InputError(f"{name} must be {what} in JSON, but is {checks.shown(text)}.") from None

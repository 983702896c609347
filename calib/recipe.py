"""A Recipe says what to do: one frozen, flat, JSON-able record; field = widget key = URL parameter = JSON key.

Its fields belong to three parts, by what a change costs: ``fit`` (a model fit), ``calibrate`` (milliseconds) and
``view`` (a redraw). Names are checked against the registries and numbers against their ranges when a Recipe is made,
so that a link, a file or a notebook is refused at once, by the field's name.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from calib.calibrators import CALIBRATORS, MERGE_RULES, interval_methods
from calib.data import DEFAULT_SAMPLE
from calib.kernel import checks, declared
from calib.kernel.checks import InputError
from calib.kernel.records import Parameter
from calib.metrics import METRICS
from calib.models import MODELS
from calib.placements import PLACEMENTS

PARTS = ("fit", "calibrate", "view")
BINNINGS = ("uniform", "quantile")
BANDS = ("none", "confidence", "consistency")
LAYOUTS = ("overlaid", "side")
CURVES = ("smoothed", "binned", "corp")
DETAILS = ("metrics", "rows", "groups", "models", "variability")
EVALUATIONS = ("holdout", "folds")
DEFAULT_DATA = f"sample:{DEFAULT_SAMPLE}"
CONTENTS = ("features", "predictions")
COSTS = (0.001, 1_000_000)
PAIR_COLORS = ("label", "width", "score")
GROWTHS = ("tree", "forest", "forest_oob")
LEAVES = ("frequency", "laplace")
DEEPEST = "max"

Pairs = tuple[tuple[str, Any], ...]


def _field(part: str, default: Any, check: Callable[[Any, str], Any], help: str) -> Any:
    return field(default=default, metadata={"part": part, "check": check, "help": help})


def _one_of(allowed: Callable[[], Any]) -> Callable[[Any, str], Any]:
    return lambda value, name: checks.choice(value, allowed(), name)


def _number(low: float, high: float, *, integer: bool = False) -> Callable[[Any, str], Any]:
    def check(value: Any, name: str) -> Any:
        value = checks.number(value, name, low, high, integer=integer)
        return int(value) if integer else float(value)

    return check


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value:
        raise InputError(f"{name} must be a text that is not empty, but is {value!r}.")
    return value


def _optional_text(value: Any, name: str) -> str | None:
    return None if value is None else str(value)


def _names(value: Any, name: str) -> tuple[str, ...]:
    if isinstance(value, str) or not all(isinstance(item, str) for item in value):
        raise InputError(f"{name} must be a list of names, but is {value!r}.")
    return tuple(dict.fromkeys(value))


def _optional_count(low: int) -> Callable[[Any, str], int | None]:
    def check(value: Any, name: str) -> int | None:
        if value is None:
            return None
        if isinstance(value, str) and value.isdecimal():
            value = int(value)
        return int(checks.number(value, name, low, integer=True))

    return check


def _keys(registry: Mapping[str, Any]) -> Callable[[Any, str], tuple[str, ...]]:
    def check(value: Any, name: str) -> tuple[str, ...]:
        return tuple(checks.choice(key, registry, name) for key in _names(value, name))

    return check


def _ranges(value: Any, name: str) -> tuple[str, ...]:
    """Texts calibrator:low:high, each the test rows whose prediction lies in [low, high); a high of 1 is included."""
    ranges = _names(value, name)
    for item in ranges:
        key, *ends = item.split(":")
        checks.choice(key, CALIBRATORS, name)
        try:
            low, high = map(float, ends)
        except ValueError:
            low, high = 1.0, 0.0
        if not 0 <= low < high <= 1:
            raise InputError(f"{name} must be calibrator:low:high with 0 <= low < high <= 1, but is {item!r}.")
    return ranges


def _depths(value: Any, name: str) -> tuple[str, ...]:
    """Depths from 1 to 100 as texts, or "max" for the fully grown tree."""
    for depth in _names(value, name):
        if depth != DEEPEST and not (depth.isdecimal() and 1 <= int(depth) <= 100):
            raise InputError(f"{name} must be whole numbers from 1 to 100 or {DEEPEST!r}, but hold {depth!r}.")
    return _names(value, name)


def _optional_place(value: Any, name: str) -> str | None:
    """A key and a number from 1 on; which there are, ``calib.lessons`` knows."""
    if value is None or (isinstance(value, str) and re.fullmatch(r"[a-z_]+:[1-9][0-9]*", value)):
        return value
    raise InputError(f"{name} must be the name of a lesson and the number of a step, as name:1, but is {value!r}.")


def _switch(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{name} must be true or false, but is {value!r}.")
    return value


def _pairs(value: Any, name: str) -> Pairs:
    try:
        pairs = dict(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} must map names to values, but is {value!r}.") from None
    return tuple(sorted((str(key), item) for key, item in pairs.items()))


TABLE: dict[str, Callable[[Any, str], Any]] = {
    "sheet": _text,
    "header": _number(0, 1_000_000, integer=True),
    "merge_labels": _switch,
    "drop_labels": _names,
    "scores": _names,
}
"""How a table is read: the sheet; the line of its header, 0 for none; whether labels that differ in case and spaces are
one; labels that count as missing; the score columns of predictions. What is not there is found out, or not done."""


def _table(value: Any, name: str) -> Pairs:
    checked = {}
    for key, item in _pairs(value, name):
        if key not in TABLE:
            raise InputError(f"{name}: {key!r} is unknown here; allowed are {', '.join(TABLE)}.")
        checked[key] = TABLE[key](item, f"{name}.{key}")
    return tuple((key, item) for key, item in checked.items() if key == "header" or item not in (False, ()))


@dataclass(frozen=True)
class Recipe:
    """What to do with which data.

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

    data: str = _field("fit", DEFAULT_DATA, _text, "sample:KEY, synthetic:KEY, upload:DIGEST or openml:ID.")
    data_params: Pairs = _field("fit", (), _pairs, "Settings of a synthetic set.")
    file: str | None = _field("fit", None, _optional_text, "The name of the uploaded file, by which it is asked for.")
    content: str = _field("fit", "features", _one_of(lambda: CONTENTS), "Rows to learn from, or predictions to judge.")
    table: Pairs = _field("fit", (), _table, "How the table is read: sheet, header, merge_labels, drop_labels, scores.")
    target: str | None = _field("fit", None, _optional_text, "The column that holds the label.")
    positive: str | None = _field("fit", None, _optional_text, "The class whose probability is predicted.")
    exclude: tuple[str, ...] = _field("fit", (), _names, "Columns the model must not see.")
    keep: tuple[str, ...] = _field("fit", (), _names, "Columns to use although they look like identifiers or text.")
    score: str | None = _field("fit", None, _optional_text, "For predictions made elsewhere: the score column.")
    model: str = _field("fit", "random_forest", _one_of(lambda: MODELS), "The classifier that gives the scores.")
    params: Pairs = _field("fit", (), _pairs, "The model's settings that differ from its defaults.")
    placement: str = _field("fit", "split", _one_of(lambda: PLACEMENTS), "Which scores calibrators are fitted on.")
    calibration_size: float = _field(
        "fit", 1 / 3, _number(0.05, 0.9), "Share of the training rows that is held back to fit the calibrators."
    )
    cv: int = _field("fit", 5, _number(2, 20, integer=True), "Folds of cross-calibration.")
    evaluation: str = _field("fit", "holdout", _one_of(lambda: EVALUATIONS), "One test part, or every row once.")
    test_size: float = _field("fit", 0.3, _number(0.05, 0.9), "Share of all rows kept for the diagram.")
    folds: int = _field("fit", 10, _number(2, 20, integer=True), "Folds of a cross-validated evaluation.")
    seed: int = _field("fit", 0, _number(0, 2**31 - 1, integer=True), "Same seed, same split, same picture.")
    calibrators: tuple[str, ...] = _field(
        "calibrate", ("none", "platt", "isotonic", "venn_abers"), _keys(CALIBRATORS), "The methods to compare."
    )
    options: Pairs = _field("calibrate", (), _pairs, "Calibrators' settings, as calibrator.setting.")
    merge: str = _field(
        "calibrate", "log", _one_of(lambda: MERGE_RULES), "How the pair p0, p1 becomes one probability."
    )
    bins: int = _field("view", 20, _number(2, 100, integer=True), "Bins of the diagram and of the calibration error.")
    binning: str = _field("view", "uniform", _one_of(lambda: BINNINGS), "Bins of equal width or of equal count.")
    band: str = _field("view", "none", _one_of(lambda: BANDS), "What chance alone would do.")
    curve: str = _field(
        "view", "smoothed", _one_of(lambda: CURVES), "A smooth line beside the bins, the bins alone, or isotonic steps."
    )
    layout: str = _field("view", "overlaid", _one_of(lambda: LAYOUTS), "One diagram or one for each calibrator.")
    selection: tuple[str, ...] = _field("view", (), _ranges, "The test rows listed, as calibrator:low:high.")
    details: str = _field("view", "metrics", _one_of(lambda: DETAILS), "What stands under the diagram.")
    group: str | None = _field("view", None, _optional_text, "The column whose groups are judged apart.")
    others: tuple[str, ...] = _field("view", (), _names, "Other models, or score columns, judged beside this one.")
    repeats: int = _field("view", 20, _number(3, 100, integer=True), "Splits drawn to see how far results vary.")
    interval: str = _field(
        "view", "venn_abers", _one_of(interval_methods), "The method whose probability pairs are drawn."
    )
    color: str = _field("view", "label", _one_of(lambda: PAIR_COLORS), "What the colour of a pair says.")
    beside: tuple[str, ...] = _field(
        "view", ("split", "cv", "train"), _keys(PLACEMENTS), "Placements whose intervals are set side by side."
    )
    row: int | None = _field(
        "view", None, _optional_count(1), "The row to explain; row 1 is the first below the header."
    )
    metric: str = _field("view", "brier", _one_of(lambda: METRICS), "The number drawn against the depth of the trees.")
    losses_of: str = _field(
        "view", "none", _one_of(lambda: CALIBRATORS), "Whose loss is taken apart where true probabilities are known."
    )
    growth: str = _field("view", "tree", _one_of(lambda: GROWTHS), "Whose diagrams at chosen depths are shown.")
    leaves: str = _field("view", "frequency", _one_of(lambda: LEAVES), "How a leaf turns counts into a probability.")
    depths: tuple[str, ...] = _field("view", ("2", "5", DEEPEST), _depths, "Depths whose diagrams stand side by side.")
    depth: int = _field("view", 3, _number(1, 100, integer=True), "Depth of the tree that is drawn.")
    node: int | None = _field("view", None, _optional_count(0), "The node of the tree from which on it is drawn.")
    cost_false_alarm: float = _field("view", 1.0, _number(*COSTS), "The cost of acting where nothing is the matter.")
    cost_miss: float = _field("view", 5.0, _number(*COSTS), "The cost of not acting where it would have been right.")
    learn: Pairs = _field("view", (), _pairs, "Settings of the Learn pages, as experiment.setting.")
    lesson: str | None = _field("view", None, _optional_place, "The step of a lesson that is open, as lesson:step.")
    presenter: bool = _field("view", False, _switch, "Large type and no sidebar, for a room.")

    def __post_init__(self) -> None:
        for spec in dataclasses.fields(self):
            value = spec.metadata["check"](getattr(self, spec.name), spec.name)
            object.__setattr__(self, spec.name, value)
        self._check_settings("params", {p.name: p for p in MODELS[self.model].parameters})
        allowed = {
            f"{key}.{p.name}": p for key, method in CALIBRATORS.items() for p in method.parameters if p.name != "merge"
        }
        self._check_settings("options", allowed)
        self._check_settings("learn", declared.SETTINGS)

    def _check_settings(self, name: str, allowed: Mapping[str, Parameter]) -> None:
        checked = []
        for key, value in getattr(self, name):
            if key not in allowed:
                listed = ", ".join(allowed) or "nothing"
                raise InputError(f"{name}: {key!r} is unknown here; allowed are {listed}.")
            checked.append((key, checks.setting(value, allowed[key], f"{name}.{key}")))
        object.__setattr__(self, name, tuple(checked))

    def replace(self, **changes: Any) -> Recipe:
        """A Recipe with these fields changed; another model starts from its own defaults."""
        if changes.get("model", self.model) != self.model:
            changes.setdefault("params", ())
        return dataclasses.replace(self, **changes)

    def part(self, name: str) -> dict[str, Any]:
        """The fields of one part."""
        return {spec.name: getattr(self, spec.name) for spec in part_fields(name)}

    def digest(self, part: str) -> str:
        """Sixteen hexadecimal digits over this part and those before it: what a cache is keyed on."""
        parts = PARTS[: PARTS.index(part) + 1]
        text = json.dumps([self.part(name) for name in parts], sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    def changed(self) -> dict[str, Any]:
        """The fields that differ from their defaults, in order."""
        return {
            spec.name: getattr(self, spec.name)
            for spec in dataclasses.fields(self)
            if getattr(self, spec.name) != spec.default
        }

    def to_json(self) -> str:
        """All fields, as an indented JSON object; settings as objects."""
        values = {
            spec.name: dict(getattr(self, spec.name)) if _holds_pairs(spec) else getattr(self, spec.name)
            for spec in dataclasses.fields(self)
        }
        return json.dumps(values, indent=2, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Recipe:
        """The Recipe a JSON object describes; missing fields take their defaults, unknown ones are refused."""
        try:
            values = json.loads(text)
        except ValueError as error:
            raise InputError(f"The Recipe is not valid JSON: {error}.") from None
        if not isinstance(values, dict):
            raise InputError("The Recipe must be a JSON object of fields and values.")
        _refuse_unknown(values)
        return cls(**values)

    def to_query(self) -> dict[str, str]:
        """URL parameters of the fields that differ from their defaults."""
        return {name: _encode(value) for name, value in self.changed().items()}

    @classmethod
    def from_query(cls, query: Mapping[str, Any]) -> Recipe:
        """The Recipe of a URL's parameters; an unknown name or a value out of range is refused by its name."""
        _refuse_unknown(query)
        defaults = {spec.name: spec.default for spec in dataclasses.fields(cls)}
        return cls(**{name: _decode(name, _last(value), defaults[name]) for name, value in query.items()})

    def to_python(self) -> str:
        """Python source that makes this Recipe again, as the assignment ``recipe = Recipe(...)``.

        >>> print(Recipe(seed=3).to_python())
        recipe = Recipe(seed=3)
        """
        arguments = [f"{name}={dict(v) if name in _PAIRS else v!r}" for name, v in self.changed().items()]
        line = f"recipe = Recipe({', '.join(arguments)})"
        if len(line) <= 100:
            return line
        return "recipe = Recipe(\n" + "".join(f"    {argument},\n" for argument in arguments) + ")"


def plugin_problems() -> tuple[str, ...]:
    """A sentence for each calibrator, model and metric of an installed package that had to be left out."""
    return (*CALIBRATORS.problems, *MODELS.problems, *METRICS.problems)


def part_fields(part: str) -> list[dataclasses.Field]:
    """The fields of one part, in the order they are declared."""
    return [spec for spec in dataclasses.fields(Recipe) if spec.metadata["part"] == part]


def _holds_pairs(spec: dataclasses.Field) -> bool:
    return spec.metadata["check"] in (_pairs, _table)


_PAIRS = frozenset(spec.name for spec in dataclasses.fields(Recipe) if _holds_pairs(spec))


def _refuse_unknown(values: Mapping[str, Any]) -> None:
    allowed = [spec.name for spec in dataclasses.fields(Recipe)]
    for name in values:
        if name not in allowed:
            raise InputError(f"{name!r} is no field of a Recipe; the fields are {', '.join(allowed)}.")


def _last(value: Any) -> str:
    return value if isinstance(value, str) else value[-1]


def _encode(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return json.dumps(dict(value), ensure_ascii=False, separators=(",", ":"))
    if isinstance(value, tuple):
        plain = all("," not in item and not item.startswith("[") for item in value)
        return ",".join(value) if plain and value else json.dumps(value, ensure_ascii=False)
    return repr(value)


def _decode(name: str, text: str, default: Any) -> Any:
    if name in _PAIRS:
        return _decode_json(name, text, 'an object such as {"max_depth":4}')
    if isinstance(default, tuple):
        return _decode_json(name, text, "a list") if text.startswith("[") else tuple(text.split(","))
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(text, text)
    if isinstance(default, int | float):
        kind = int if isinstance(default, int) else float
        try:
            return kind(text)
        except ValueError:
            raise InputError(f"{name} must be a number, but is {text!r}.") from None
    return text


def _decode_json(name: str, text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise InputError(f"{name} must be {what} in JSON, but is {text!r}.") from None

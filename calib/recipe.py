"""Recipe of an evaluation: one frozen, flat, JSON-able record; field = widget key = URL parameter = JSON key.

Fields belong to four phases, by the cost of a change: ``data`` (prepare the table again), ``fit`` (fit a model),
``calibrate`` (milliseconds) and ``view`` (a redraw). Each field is declared once, as a ``Parameter`` in ``FIELDS``,
from which its check, control, link parameter and line in the documents are generated. A Recipe is checked when it is
created, so a wrong link, file or call is refused at once, with the field's name.

Fields are shared by pages. Settings of a single page or experiment are in ``settings``, by page.setting, declared in
``calib.settings`` or by the experiment and checked in the same way.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType, SimpleNamespace
from typing import Any

from calib.calibrators import CALIBRATORS, MERGE
from calib.data.samples import DEFAULT_SAMPLE
from calib.data.table import LABELS_AS, LEARN_ROWS, SCORES_AS, WEIGHT_AS, WRONG_SCORES
from calib.kernel import checks, declared, fields
from calib.kernel.base_rate import shares
from calib.kernel.binning import BINS, STRATEGIES
from calib.kernel.checks import InputError
from calib.kernel.records import Parameter, effective_parameters
from calib.kernel.segment import check_condition, check_period
from calib.kernel.wording import listed
from calib.metrics import METRICS
from calib.models import MODELS
from calib.placements import PLACEMENTS
from calib.splits import SPLITS
from calib.synthetic import SYNTHETIC

PHASES = ("data", "fit", "calibrate", "view")
BANDS = {"none": "No band", "confidence": "Confidence", "consistency": "Consistency"}
CURVES = {"smoothed": "Smoothed", "binned": "Bins", "corp": "CORP"}
AXES = {"auto": "Automatic", "probability": "Probability", "log_odds": "Log-odds"}
EVALUATIONS = {"holdout": "One test set", "folds": "Cross-validation"}
DEFAULT_DATA = f"sample:{DEFAULT_SAMPLE}"
CONTENTS = {"features": "Features", "predictions": "Predictions"}

NamedValues = tuple[tuple[str, Any], ...]


def _field(
    phase: str,
    kind: str,
    default: Any,
    label: str,
    help: str,
    *,
    check: Callable[[Any, str], Any] | None = None,
    **more: Any,
) -> Any:
    """Declare a field by the arguments of ``Parameter``; ``check`` parses kinds that only a Recipe has."""
    declares = partial(Parameter, label=label, kind=kind, default=default, help=help, **more)
    return field(default=default, metadata={"phase": phase, "declares": declares, "check": check})


def _label(value: Any, name: str) -> str | None:
    """Return a class as the file spells it; whole numbers may be given as numbers."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return None if value is None else str(value)
    return checks.text(value, name)


def _checked(value: Any, parameter: Parameter, name: str) -> Any:
    """Return a value that the declaration allows; numbers become Python's own, so that equal Recipes print equally."""
    value = checks.setting(value, parameter, name)
    kind = {"integer": int, "number": float}.get(parameter.kind)
    return value if kind is None or value is None else kind(value)


def _pairs(value: Any, name: str) -> NamedValues:
    try:
        pairs = list(value.items() if isinstance(value, Mapping) else (tuple(pair) for pair in value))
        named = dict(pairs)
    except (TypeError, ValueError):
        raise InputError(f"{name} must map names to values, but is {checks.short_repr(value)}.") from None
    for key in named:
        checks.text(key, f"{name}: the name of a value")
    if len(named) < len(pairs):
        twice = next(key for key in named if [other for other, _ in pairs].count(key) > 1)
        raise InputError(f"{name}: {twice!r} is given twice. Give it once.")
    return tuple(sorted(named.items()))


def _shares(value: Any, name: str) -> NamedValues:
    """Return the share of each class by name, unchanged; the shares must sum to 1."""
    pairs = _pairs(value, name)
    for key, item in pairs:
        checks.in_range(item, f"{name}.{key}", 0, 1, open_ends=True)
    if pairs:
        shares([item for _, item in pairs], name)
    return tuple((key, float(item)) for key, item in pairs)


def _settings(value: Any, name: str) -> NamedValues:
    """Return values by page.setting, with lists as tuples."""
    return tuple((key, tuple(item) if isinstance(item, list) else item) for key, item in _pairs(value, name))


TABLE: dict[str, Parameter] = {
    parameter.name: parameter
    for parameter in (
        Parameter("sheet", "Sheet", "text", None, help="The sheet that contains the table."),
        Parameter(
            "header",
            "Header line",
            "integer",
            None,
            0,
            1_000_000,
            help="Number of the header line. Lines above the header are not read. Use 0 if the file has no "
            "header.",
        ),
        Parameter(
            "merge_labels",
            "Merge spellings of one label",
            "boolean",
            False,
            help="Labels that differ only in case and spaces are merged, and so are words such as y and yes. "
            "The most frequent spelling is used.",
        ),
        Parameter(
            "drop_labels",
            "Exclude rows with the label",
            "names",
            (),
            help="Labels to treat as missing, for example “unknown”.",
        ),
        Parameter(
            "join_labels",
            "Merge labels into one class",
            "names",
            (),
            help="Labels to merge into one class called “other”, for example rare classes.",
        ),
        Parameter(
            "drop_repeated",
            "Exclude repeated rows",
            "boolean",
            False,
            help="Keep only the first of several identical rows.",
        ),
        Parameter(
            "scores",
            "Score columns",
            "names",
            (),
            help="Columns that contain predictions. Other columns can define groups.",
        ),
        Parameter(
            "scores_as",
            "Read scores as",
            "choice",
            None,
            optional=True,
            choices=SCORES_AS,
            help="How to read the scores. If unset, the program infers this from the names and values of "
            "the columns, or the page asks you.",
        ),
        Parameter(
            "predicted",
            "Predicted class",
            "text",
            None,
            optional=True,
            help="The column of predicted classes; the scores are the confidence in these classes.",
        ),
        Parameter(
            "wrong_scores",
            "Scores that are not probabilities",
            "choice",
            None,
            optional=True,
            choices=WRONG_SCORES,
            help="What to do with a few scores outside [0, 1] among probabilities.",
        ),
        Parameter(
            "labels_as",
            "Read labels as",
            "choice",
            None,
            optional=True,
            choices=LABELS_AS,
            help="How to read labels that may be codes for a missing label, or shares of annotators.",
        ),
        Parameter(
            "trials",
            "Trials",
            "text",
            None,
            optional=True,
            help="The column with the number of trials, if the label column counts events.",
        ),
        Parameter(
            "learn_rows",
            "Rows to learn from",
            "integer",
            None,
            1_000,
            40_000_000,
            optional=True,
            help="The model is trained on this number of rows, drawn at random within each class, and "
            "evaluated on all other rows. The default for a table too large for memory is "
            f"{LEARN_ROWS:,}.",
            extra={"step": 1_000, "unset": f"{LEARN_ROWS:,}"},
        ),
        *(parameter for split in SPLITS.values() for parameter in split.parameters),
    )
}
"""Options of reading and splitting a table. Unset options are inferred, or do nothing."""


def all_options() -> dict[str, Parameter]:
    """Return all options of calibrators as calibrator.setting; the merge rule is a separate field."""
    return {
        f"{key}.{p.name}": p
        for key, method in CALIBRATORS.everything().items()
        for p in method.parameters
        if p.name != "merge"
    }


def _table(value: Any, name: str) -> NamedValues:
    checked = {}
    for key, item in _pairs(value, name):
        if key not in TABLE:
            raise InputError(f"{name}: {key!r} is not a known option. Use one of these: {', '.join(TABLE)}.")
        checked[key] = _checked(item, TABLE[key], f"{name}.{key}")
    return tuple(
        (key, item) for key, item in checked.items() if key == "header" or item not in (None, False, (), 0)
    )


@dataclass(frozen=True)
class Recipe:
    """Recipe of an evaluation: the data, the model, the calibrators and the view.

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
        "text",
        DEFAULT_DATA,
        "Data set",
        "The data set: sample:KEY, synthetic:KEY, upload:DIGEST, openml:ID, folder:PATH@DIGEST or "
        "database:CONNECTION/NAME@DIGEST.",
    )
    data_params: NamedValues = _field(
        "data",
        "pairs",
        (),
        "Data settings",
        "Settings of a synthetic data set, or options for reading a table: sheet, header, labels, repeated "
        "rows, scores.",
        check=_pairs,
    )
    file: str | None = _field(
        "data",
        "text",
        None,
        "File",
        "Name of the uploaded file, so that the program can ask you to upload it again.",
        optional=True,
    )
    content: str = _field(
        "data",
        "choice",
        "features",
        "Content of the other columns",
        "Features are used to train a model here; predictions from another program are evaluated and "
        "calibrated.",
        choices=CONTENTS,
    )
    target: str | None = _field(
        "data",
        "text",
        None,
        "Label column",
        "The column that contains the class of each row.",
        optional=True,
        reset_by="columns",
    )
    positive: str | None = _field(
        "data",
        "text",
        None,
        "Positive class",
        "The class whose probability is predicted.",
        check=_label,
        optional=True,
        reset_by="label",
    )
    exclude: tuple[str, ...] = _field(
        "data", "names", (), "Exclude columns", "Columns that the model does not use.", reset_by="columns"
    )
    keep: tuple[str, ...] = _field(
        "data",
        "names",
        (),
        "Include excluded columns",
        "Columns that look like identifiers or free text are excluded unless you choose them here.",
        reset_by="columns",
    )
    score: str | None = _field(
        "fit",
        "text",
        None,
        "Score column",
        "The predictions to evaluate and calibrate. Numbers from 0 to 1 are read as probabilities.",
        optional=True,
        reset_by="columns",
    )
    weight: str | None = _field(
        "data",
        "text",
        None,
        "Weight or count",
        "The column with the weight or count of each row.",
        optional=True,
        reset_by="columns",
    )
    weight_as: str | None = _field(
        "data",
        "choice",
        None,
        "Whole weights",
        "How to read whole-number weights: as counts of rows, which make intervals narrower, or as "
        "importance weights, which make intervals wider. If unset, the name of the column decides.",
        choices=WEIGHT_AS,
        optional=True,
        reset_by="columns",
    )
    time: str | None = _field(
        "data",
        "text",
        None,
        "Date or time",
        "The column of dates or times for a split by time.",
        optional=True,
        reset_by="columns",
    )
    cluster: str | None = _field(
        "data",
        "text",
        None,
        "Cluster",
        "The column that identifies the person, machine or group of each row.",
        optional=True,
        reset_by="columns",
    )
    part: str | None = _field(
        "data",
        "text",
        None,
        "Training or test",
        "The column that assigns each row to training, calibration or test.",
        optional=True,
        reset_by="columns",
    )
    test_data: str | None = _field(
        "data",
        "text",
        None,
        "Evaluate on another file",
        "Another table to evaluate on, specified like `data`. The model is trained on the first table.",
        optional=True,
        reset_by="columns",
    )
    test_file: str | None = _field(
        "data",
        "text",
        None,
        "The other file",
        "Name of the file to evaluate on, so that the program can ask you to upload it again.",
        optional=True,
        reset_by="columns",
    )
    onnx: str | None = _field(
        "data",
        "text",
        None,
        "My own model (ONNX)",
        "An existing model, given as upload:DIGEST of its ONNX file; it is evaluated without training.",
        optional=True,
    )
    onnx_file: str | None = _field(
        "data",
        "text",
        None,
        "The model's file",
        "Name of the ONNX file, so that the program can ask you to upload it again.",
        optional=True,
    )
    model: str = _field(
        "fit", "choice", "random_forest", "Model", "The classifier that gives the scores.", choices=MODELS
    )
    params: NamedValues = _field(
        "fit", "pairs", (), "Model settings", "Model settings that differ from the defaults.", check=_pairs
    )
    placement: str = _field(
        "fit",
        "choice",
        "split",
        "Calibration data",
        "Calibration data: the scores on which calibrators are fitted.",
        choices=PLACEMENTS,
    )
    calibration_size: float = _field(
        "fit",
        "number",
        1 / 3,
        "Calibration rows",
        "Share of the training data held out to fit the calibrators.",
        low=0.05,
        high=0.9,
    )
    cv: int = _field(
        "fit",
        "integer",
        5,
        "Cross-calibration folds",
        "Number of folds in cross-calibration.",
        low=2,
        high=20,
    )
    split: str = _field(
        "fit",
        "choice",
        "random",
        "Split",
        "How rows are divided into training, calibration and test sets.",
        choices=SPLITS,
        reset_by="columns",
    )
    evaluation: str = _field(
        "fit",
        "choice",
        "holdout",
        "Evaluated on",
        "One test set, or cross-validation.",
        choices=EVALUATIONS,
    )
    test_size: float = _field(
        "fit", "number", 0.3, "Test rows", "Share of all rows in the test set.", low=0.05, high=0.9
    )
    folds: int = _field(
        "fit",
        "integer",
        10,
        "Folds of the evaluation",
        "Number of folds in cross-validation. Each row is evaluated once, by a model that was not trained "
        "on it. More folds require more fits.",
        low=2,
        high=20,
    )
    seed: int = _field(
        "fit",
        "integer",
        0,
        "Seed",
        "The same seed gives the same split and the same results.",
        low=0,
        high=2**31 - 1,
    )
    calibrators: tuple[str, ...] = _field(
        "calibrate",
        "names",
        ("none", "auto", "platt", "isotonic", "venn_abers"),
        "Calibrators",
        "The calibrators to compare. All calibrators use the same calibration rows and the same test rows. "
        "The model is not refitted.",
        choices=CALIBRATORS.everything,
    )
    options: NamedValues = _field(
        "calibrate",
        "pairs",
        (),
        "Calibrator settings",
        "Settings of calibrators, named calibrator.setting.",
        check=_pairs,
    )
    merge: str = _field("calibrate", "choice", MERGE.default, MERGE.label, MERGE.help, choices=MERGE.choices)
    view_class: str | None = _field(
        "calibrate",
        "text",
        None,
        "Class shown",
        "With three or more classes: the class that is shown against the rest. If unset, the predicted "
        "class and its probability (the confidence) are shown.",
        check=_label,
        optional=True,
        reset_by="label",
    )
    base_rate: float | None = _field(
        "calibrate",
        "number",
        None,
        "Deployment base rate",
        "Share of the positive class in deployment (prevalence), if it differs from the share in the data. "
        "All odds are multiplied by the same factor, and test rows are weighted to match this rate. “Base "
        "rate” on the Reliability page estimates the rate from unlabelled rows.",
        low=0,
        high=1,
        optional=True,
        reset_by="class",
        extra={"open_ends": True, "percent": True, "unset": "as in the table"},
    )
    base_rates: NamedValues = _field(
        "calibrate",
        "pairs",
        (),
        "Deployment class shares",
        "With three or more classes together: the share of each class in deployment. The shares sum to 1.",
        check=_shares,
        reset_by="class",
    )
    period: str | None = _field(
        "calibrate",
        "text",
        None,
        "Period",
        "Show only the test rows of this period, given as first..last: dates, numbers, or row numbers if "
        "there is no time column.",
        check=check_period,
        optional=True,
        reset_by="columns",
    )
    segment: tuple[str, ...] = _field(
        "calibrate",
        "names",
        (),
        "Segment",
        "Show only the test rows that meet all conditions, such as column=value, column=low..high or "
        "column!=value.",
        reset_by="columns",
        extra={"each": check_condition},
    )
    bins: int = _field(
        "view",
        "integer",
        BINS,
        "Bins",
        "Number of bins in the diagram and in the calibration error. More bins show more detail, but also more noise.",
        low=2,
        high=100,
    )
    binning: str = _field(
        "view",
        "choice",
        "uniform",
        "Binning",
        "Bins of equal width, or bins with equal numbers of rows.",
        choices=STRATEGIES,
    )
    band: str = _field(
        "view",
        "choice",
        "consistency",
        "Band",
        "Show the range expected by chance, or a confidence band.",
        choices=BANDS,
    )
    curve: str = _field(
        "view",
        "choice",
        "smoothed",
        "Curve",
        "Show bins with a smooth line, bins alone, or isotonic steps.",
        choices=CURVES,
    )
    settings: NamedValues = _field(
        "view",
        "pairs",
        (),
        "Settings of pages",
        "Settings of pages and experiments, named page.setting.",
        check=_settings,
    )

    def __post_init__(self) -> None:
        for spec in dataclasses.fields(self):
            value, check = getattr(self, spec.name), spec.metadata["check"]
            if value is spec.default:
                continue
            value = check(value, spec.name) if check else _checked(value, FIELDS[spec.name], spec.name)
            object.__setattr__(self, spec.name, value)
        if self.params:  # a model or a calibrator is imported only if it has settings to check
            self._check_settings("params", {p.name: p for p in MODELS[self.model].parameters})
            self._check_effective("params", MODELS[self.model].parameters, dict(self.params))
        if self.options:
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
                known = (
                    f"Use one of these: {', '.join(allowed)}."
                    if allowed
                    else "No options are available here."
                )
                raise InputError(f"{name}: {key!r} is not a known option. {known}")
            checked.append((key, checks.setting(value, allowed[key], f"{name}.{key}")))
        object.__setattr__(self, name, tuple(checked))

    def _check_effective(
        self, where: str, parameters: Collection[Parameter], given: Mapping[str, Any]
    ) -> None:
        """Refuse a setting of a model or a calibrator that has no effect with the other settings."""
        applied = effective_values(parameters, given)
        for p in parameters:
            if p.only_with and p.name in given and p.name not in applied:
                name, values = p.only_with
                raise InputError(
                    f"{where}.{p.name} has an effect only with {where}.{name} = {' or '.join(map(repr, values))}. "
                    f"Set {name} too, or remove {p.name}."
                )

    def _check_chosen(self) -> None:
        """Refuse an option of a calibrator that is not among the chosen ones."""
        for key in dict.fromkeys(name.partition(".")[0] for name, _ in self.options):
            given = {
                name.partition(".")[2]: value for name, value in self.options if name.partition(".")[0] == key
            }
            if key not in self.calibrators:
                raise InputError(
                    f"options: '{key}.{next(iter(given))}' belongs to {key!r}, which is not among the calibrators "
                    f"{', '.join(self.calibrators) or 'chosen'}. Add this calibrator, or remove the option."
                )
            self._check_effective(f"options.{key}", CALIBRATORS[key].parameters, given)

    def _check_split(self) -> None:
        """Refuse an option of a split other than the chosen one."""
        given = dict(self.data_params)
        if not given:
            return
        allowed = {p.name for p in SPLITS[self.split].parameters}
        for key, split in SPLITS.items():
            for p in split.parameters:
                if p.name in given and p.name not in allowed:
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

    def value(self, name: str) -> Any:
        """Return a field, or a setting of a page or an experiment.

        >>> Recipe(bins=7).value("bins"), Recipe().value("order.objects")
        (7, 6)
        """
        return self.setting(name) if "." in name else getattr(self, name)

    def page(self, key: str) -> SimpleNamespace:
        """Return all settings that a page or an experiment declares, as attributes.

        >>> Recipe(settings={"order.objects": 7}).page("order").objects
        7
        """
        names = [name for name in declared.SETTINGS if name.partition(".")[0] == key]
        if not names:
            raise KeyError(key)
        return SimpleNamespace(**{name.partition(".")[2]: self.setting(name) for name in names})

    def stated_settings(self, page: str, *names: str) -> dict[str, Any]:
        """Return the stated settings of a page, among these names, as arguments of functions with defaults.

        >>> Recipe(settings={"order.objects": 7}).stated_settings("order", "objects", "guess")
        {'objects': 7}
        """
        chosen = dict(self.settings)
        if unknown := [name for name in names if f"{page}.{name}" not in declared.SETTINGS]:
            raise KeyError(f"{page}.{unknown[0]}")
        return {name: chosen[f"{page}.{name}"] for name in names if f"{page}.{name}" in chosen}

    def replace(self, **changes: Any) -> Recipe:
        """Return a Recipe with these fields, or single settings of them, changed.

        No other field changes: one that no longer applies is refused. ``with_model``, ``with_split`` and
        ``with_calibrators``, and those of ``calib.sources`` for other data, return the fields that must change too.

        >>> Recipe().replace(**{"params.n_estimators": 7, "theorem.objects": 5}).to_query()
        {'params': '{"n_estimators":7}', 'theorem.objects': '5'}
        """
        whole = {name: value for name, value in changes.items() if "." not in name}
        for name in changes.keys() - whole.keys():
            field, key = name.split(".", 1) if name.partition(".")[0] in _PAIRS else ("settings", name)
            whole[field] = dict(whole.get(field, getattr(self, field))) | {key: changes[name]}
        return dataclasses.replace(self, **whole)

    def stated(self) -> dict[str, Any]:
        """Return all values that differ from their defaults; single settings are named as in ``replace``.

        The calibrators that pages compare for three or more classes are a default, too.

        >>> Recipe(seed=3, params={"max_depth": 4}).stated()
        {'params.max_depth': 4, 'seed': 3}
        """
        found: dict[str, Any] = {}
        for name, value in self.changed().items():
            if name == "calibrators" and value == COMPARED_JOINTLY:
                continue
            prefix = "" if name == "settings" else f"{name}."
            found |= {f"{prefix}{key}": v for key, v in value} if name in _PAIRS else {name: value}
        return found

    def lost(self, new: Recipe, asked: Collection[str] = ()) -> dict[str, Any]:
        """Return the values of this Recipe that a Recipe derived from it lacks; for a list, the missing names.

        Parameters
        ----------
        new
            Derived Recipe.
        asked
            Names of fields that were meant to change.

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

    def parameter(self, name: str) -> Parameter:
        """Return the declaration of a field or a single setting, named as in ``replace``.

        >>> Recipe().parameter("params.max_depth").label, Recipe().parameter("bins").high
        ('Depth', 100)
        """
        group, _, key = name.partition(".")
        if not key:
            return FIELDS[name]
        if group == "params":
            return {p.name: p for p in MODELS[self.model].parameters}[key]
        if group == "options":
            return all_options()[key]
        if group == "data_params":
            # An unknown synthetic set is refused on creation; until then its settings have their own names
            return _data_parameters(self.data).get(key, Parameter(key, key, "text", None))
        if group == "base_rates":
            return Parameter(key, f"Share of {key} in deployment", "number", None, extra={"percent": True})
        return declared.SETTINGS[name]

    def label(self, name: str) -> str:
        """Return the label of a field or a single setting, named as in ``replace``.

        >>> Recipe().label("theorem.objects"), Recipe().label("options.isotonic.between")
        ('Training rows', 'Isotonic regression: Between scores')
        """
        group, _, key = name.partition(".")
        label = self.parameter(name).label
        return f"{CALIBRATORS[key.partition('.')[0]].label}: {label}" if group == "options" else label

    def fields_of(self, name: str) -> dict[str, Any]:
        """Return the fields of one phase."""
        return {spec.name: getattr(self, spec.name) for spec in phase_fields(name)}

    def digest(self, phase: str) -> str:
        """Return sixteen hexadecimal digits of this phase and those before it, as a key for caches."""
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
            name: dict(getattr(self, name)) if name in _PAIRS else getattr(self, name) for name in FIELDS
        }
        return json.dumps(values, indent=2, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Recipe:
        """Parse a Recipe from JSON; missing fields take their defaults, and unknown fields are refused."""
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
        _refuse_unknown(values, FIELDS)
        return cls(**values)

    def to_query(self) -> dict[str, str]:
        """Return URL parameters of the fields and settings that differ from their defaults."""
        fields = {name: _as_text(name, value) for name, value in self.changed().items() if name != "settings"}
        return fields | {name: declared.as_text(value) for name, value in self.settings}

    @classmethod
    def from_query(cls, query: Mapping[str, Any]) -> Recipe:
        """Parse a Recipe from URL parameters; an unknown name or a value out of range is refused by name."""
        texts = {name: one_value(name, value) for name, value in query.items()}
        settings = {name: declared.from_text(name, text) for name, text in texts.items() if "." in name}
        fields = {name: text for name, text in texts.items() if name not in settings}
        _refuse_unknown(fields, [name for name in FIELDS if name != "settings"])
        return cls(
            **{name: _from_text(name, text) for name, text in fields.items()},
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
    """Return the fields of one phase, in the order of declaration."""
    return [spec for spec in dataclasses.fields(Recipe) if spec.metadata["phase"] == phase]


FIELDS: Mapping[str, Parameter] = MappingProxyType(
    {spec.name: spec.metadata["declares"](spec.name) for spec in dataclasses.fields(Recipe)}
)
"""Field of a Recipe → its declaration."""

_PAIRS = frozenset(name for name, parameter in FIELDS.items() if parameter.kind == "pairs")


def _data_parameters(data: str) -> dict[str, Parameter]:
    """Return the settings of a synthetic set, or the options of a table."""
    kind, _, key = data.partition(":")
    if kind == "synthetic" and key in SYNTHETIC:
        return {p.name: p for p in SYNTHETIC[key].parameters}
    return TABLE


def effective_values(parameters: Iterable[Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given values of a model or a calibrator that have an effect or are defaults.

    >>> from calib.calibrators import CALIBRATORS
    >>> effective_values(CALIBRATORS["venn"].parameters, {"taxonomy": "label", "bins": 5, "threshold": 0.3})
    {'taxonomy': 'label', 'threshold': 0.3}
    """
    parameters = tuple(parameters)
    named = {p.name: p for p in parameters}
    decided = [p for p in parameters if p.only_with is None or p.only_with[0] in named]
    idle = (
        named.keys()
        - {p.name for p in effective_parameters(decided, given)}
        - (named.keys() - {p.name for p in decided})
    )
    return {name: value for name, value in given.items() if name not in idle or value == named[name].default}


def with_model(recipe: Recipe, key: str) -> dict[str, Any]:
    """Return the fields that change with the model; the new model starts with its defaults.

    >>> with_model(Recipe(params={"n_estimators": 7}), "naive_bayes")
    {'model': 'naive_bayes', 'params': ()}
    """
    return {"model": key, "params": recipe.params if key == recipe.model else ()}


def with_split(recipe: Recipe, key: str) -> dict[str, Any]:
    """Return the fields that change with the split; options of other splits are removed.

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

    ``options`` apply unless the Recipe states others.

    >>> with_calibrators(Recipe(options={"isotonic.between": "nearest"}), ("none", "platt"))
    {'calibrators': ('none', 'platt'), 'options': {}}
    """
    chosen = tuple(keys)
    given = dict(options or {}) | dict(recipe.options)
    kept = {name: value for name, value in given.items() if name.partition(".")[0] in chosen}
    return {"calibrators": chosen, "options": kept}


COMPARED_JOINTLY = ("none", "auto", "temperature", "structured_matrix", "venn_abers")
"""What pages compare for three or more classes unless something else was chosen (docs/results.md)."""
MOST_TOGETHER = 100  # classes: a matrix of more takes long to fit


def with_classes(recipe: Recipe, classes: int) -> dict[str, Any]:
    """Return the calibrators that change with the number of classes that are predicted together.

    Only a list that nobody chose changes. A link without calibrators keeps its meaning, because pages write the new
    list into the Recipe.

    >>> with_classes(Recipe(), 3)["calibrators"]
    ('none', 'auto', 'temperature', 'structured_matrix', 'venn_abers')
    >>> with_classes(Recipe(calibrators=("none", "beta")), 3)
    {}
    """
    of_two = FIELDS["calibrators"].default
    usual, other = (COMPARED_JOINTLY, of_two) if 2 < classes <= MOST_TOGETHER else (of_two, COMPARED_JOINTLY)
    return with_calibrators(recipe, usual) if recipe.calibrators == other else {}


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
    given_as = listed([checks.short_repr(value) for value in values[:3]]) if values else "nothing"
    raise InputError(f"{name} must be given once, but is given as {given_as}.")


def _as_text(name: str, value: Any) -> str:
    if name in _PAIRS:
        return json.dumps(dict(value), ensure_ascii=False, separators=(",", ":"))
    return declared.as_text(value)


def _from_text(name: str, text: str) -> Any:
    if name not in _PAIRS:
        return declared.read(text, FIELDS[name])
    try:
        return fields.loads(text)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    except ValueError:
        raise InputError(
            f'{name} must be an object such as {{"max_depth":4}} in JSON, but is {checks.short_repr(text)}.'
        ) from None


OF_ARRAYS = Recipe(content="predictions", calibrators=())
"""Recipe of an Evaluation of arrays, for which nothing is fitted."""

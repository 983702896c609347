"""A fitted calibrator as JSON: a lookup table (or a few numbers) that any language can apply, and the way back.

The format, ``calib.calibrator`` version 1, is one object:

    format, version   "calib.calibrator", 1
    method, label     the calibrator's key and its name for people · source: the paper
    input             {"of": "score" | "probability" | "tree_scores" | "fold_scores" | "features",
                       "columns": scores per row}
    output            ["p"], or ["p0", "p1", "p"] for a method with intervals
    merge             how p0 and p1 become p: "log" p1 / (1 − p0 + p1), "square" p1 + p0²/2 − p1²/2, "midpoint"; or null
    base_rate         null, or {"fitted", "stated"}: the map is right if class 1 has the frequency "fitted"; as the last
                      step, the odds of p, p0 and p1 are multiplied by stated (1 − fitted) / ((1 − stated) fitted)
    map               by its "kind", one of those below
    classes           [class 0, class 1] as the data spell them; all probabilities are those of class 1
    calibration       {"rows", "positives", "lowest", "highest"}: the calibration rows, and the range of their scores
    made              {"calib", "data", "digest", "scores": "probability" | "margin", "recipe"}
    notes             sentences to read before using it

    kind      fields                    the answer at a score s
    pairs     p0, p1: {breaks, values}  p0 = values[number of breaks <= s], p1 = values[number of breaks < s]
    folds     folds: a list of pairs    one score from each fold's model, one pair from each, then merged as cross
                                        Venn–Abers: log GM(p1) / (GM(1 − p0) + GM(p1)), else the mean of the folds' p
    identity                            p = s
    sigmoid   A, B; or A, B, clip       p = 1 / (1 + exp(A s + B)); for an input "probability", A and B apply to
                                        logit(s) instead of s, with s first clipped to [clip, 1 − clip]
    beta      a, b, c, clip             logit p = a ln s − b ln(1 − s) + c, s first clipped to [clip, 1 − clip]
    scaling   T, clip                   logit p = logit(s) / T, s first clipped to [clip, 1 − clip]
    log_odds_polynomial  coefficients, clip; of degree 2 also ends
                                        logit p = c₀ + c₁ ℓ + c₂ ℓ² …, ℓ = logit(s), s clipped as above;
                                        beyond the ends, the lowest and highest ℓ of the fit, extrapolated linearly with
                                        the slope there, or constant if that slope is negative
    log_odds_spline  knots, values, clip
                                        logit p = the natural cubic spline through the values at the knots, at ℓ, beyond
                                        them extrapolated as above; one knot is a constant
    mixture   knots, values, breaks, steps, clip
                                        logit p = that of log_odds_spline, plus steps[number of breaks <= s]
    bins      breaks, counts, positives p = positives/counts in the bin of s, whose number is that of breaks <= s;
                                        s itself if the bin has no counts
    isotonic  scores, values, between   p = values at scores; between two scores "linear", the value of the lower one
                                        ("step"), or of the nearer one ("nearest"); clamped outside
    shift     r; or a and b             p = s + r (q − s), q = 0, ½, 1 for s below, at, above ½;
                                        with a and b, r = 1 / (1 + exp(a s + b))
    ranks     trees, isotonic           p = isotonic at the sum, over trees, of the number of votes below s_t plus half
                                        of those equal to it; a tree is {votes: distinct and increasing, counts}

For K classes the input is {"of": "probabilities", "columns": K}, "classes" names all of them, and the output has an
answer for each class. "present" lists the classes with calibration rows, whose P are divided by their sum first;
the others keep their P. In base_rate, "fitted" and "stated" are K shares. As the last step each p is multiplied by
w, its stated share over its fitted one, and the row is divided by its sum. The odds of p0 and p1 are multiplied by
w over the mean w of the other classes, weighted by their p before that step.

    unchanged                           p = P
    softmax_temperature  T, added       p = softmax(ln(P + added) / T)
    softmax   W, b, least               p = softmax(W ln P + b), P first at least "least"
    structured_softmax  T, mixed, first_least, W, b, least
                                        the same of (1 − mixed) softmax(ln P / T) + mixed/K, P at least first_least
    one_vs_rest  calibrators            each class by a map of its own (method, merge, map), then divided by the sum
    pairwise  calibrators               a map for each pair of classes, of P_i/(P_i + P_j), coupled as
                                        1 / (Σ 1/r_ij − (K − 2)), then divided by the sum

    segments  start, levels,            logit p = that of "start" (log_odds_polynomial), and then, in order, the
              features, corrections     offset of each correction that has the row in one of its columns' groups, at
                                        its level of the log-odds so far (−1: at every level); a group is the
                                        number of a feature's breaks <= x, or of its value

A calibrator's own file defines the fields of its kind of map (``to_map``) and reads them (``from_map``); an outside
calibrator may define its own kind. Numbers keep all their digits; the words "Infinity" and "-Infinity" stand for values
that JSON cannot write. Reading executes nothing in a file: every field is checked and refused by name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from calib.calibrators import (
    CALIBRATORS,
    INPUT_TABLES,
    JOINT,
    MERGE_RULES,
    JointCalibrator,
    OneVsRest,
    ScoreCalibrator,
    Unchanged,
    label_of,
)
from calib.evaluate import Evaluation
from calib.export.saved import SavedCalibrator, own_notes
from calib.kernel import checks
from calib.kernel.base_rate import BaseRate, BaseRates
from calib.kernel.checks import InputError
from calib.kernel.fields import Fields, parse
from calib.kernel.version import __version__
from calib.placements.adjusted import Adjusted, unadjusted
from calib.placements.cross_validation import FoldCalibrators
from calib.placements.out_of_bag import RankMap

CALIBRATOR_FORMAT, CALIBRATOR_VERSION = "calib.calibrator", 1
# The fields that describe the calibration scores
CALIBRATION_FIELDS = ("rows", "positives", "lowest", "highest")
PROBABILITIES = "probabilities"  # of all classes: the input of a calibrator of K classes
MAP_PER_FOLD = "folds"  # the kind of map with one map per fold
NOTE_OF_PLACEMENT = {
    "cv": "The calibrator was fitted to out-of-fold scores. Apply it to the scores of the final model, "
    "which was refitted on all training rows.",
    "oob": "The calibrator was fitted to out-of-bag scores. Apply it to scores of the whole ensemble. In "
    "the evaluation, each row was scored by the trees that were not trained on one random training "
    "row. This training row was not used to calibrate the scored row. This table uses all rows, so "
    "its probabilities differ slightly.",
    "oob_whole": "The calibrator was fitted to out-of-bag scores. Apply it to scores of the whole ensemble.",
    "train": "The calibrator was fitted to scores of the model's own training rows, so it is often "
    "overconfident. Use it only for comparison.",
}
RATE = (
    "This calibrator applies to a deployment base rate of {0.stated:.6g} for class 1. The calibrator was "
    "fitted at a base rate of {0.fitted:.6g}, and all odds are multiplied by {0.ratio:.6g}."
)
RATES = (
    "This calibrator applies to given class shares in deployment. Each probability is multiplied by the "
    "share of its class in deployment, divided by its share in the calibration data. Each row is then "
    "divided by its sum."
)
CROSS = (
    "Cross-calibration: each row needs {} scores, one from the model of each fold, in the order of the folds."
)


def check_exportable(evaluation: Evaluation, key: str) -> None:
    """Raise InputError, with reason and remedy, if the evaluation has no single calibrator that can be saved.

    Parameters
    ----------
    evaluation
    key : str
        One of its calibrators.

    Raises
    ------
    InputError
        With reason and remedy: there is no such calibrator, one per fold, or one that needs more than scores.
    """
    fitted = saved_of(evaluation).only_fitted(key, "to keep")
    if isinstance(unadjusted(fitted), FoldCalibrators) and isinstance(fitted.folds[0], JointCalibrator):
        raise InputError(
            f"{label_of(key)} with placement='cv' needs the probabilities of every fold's model, so it cannot be saved "
            "for three or more classes. Choose placement='split'."
        )
    if isinstance(unadjusted(fitted), RankMap):
        raise InputError(
            "Rank calibration with out-of-bag scores needs the forest and its bags as well as the scores, "
            "so it cannot be saved. Choose placement='split'."
        )
    if evaluation.recipe.placement == "full" and fitted.gives_interval:
        raise InputError(
            f"{label_of(key)} with placement='full' refits the model twice for every row, so it cannot be saved for "
            "new scores. Choose placement='split', 'cv' or 'oob'."
        )
    _map_of(unadjusted(fitted))


def saved_of(evaluation: Evaluation) -> Evaluation:
    """Return the Evaluation whose calibrators are saved; with K classes, that of all classes together."""
    return evaluation.all_classes


def calibrator_json(evaluation: Evaluation, key: str) -> str:
    """Write a fitted calibrator of an evaluation in the format above.

    Parameters
    ----------
    evaluation
    key : str
        One of its calibrators.

    Raises
    ------
    InputError
        As ``check_exportable``.

    Examples
    --------
    >>> from calib import Recipe, evaluate, load_sample
    >>> evaluation = evaluate(Recipe(model="naive_bayes"), load_sample("digits"))
    >>> saved = read_calibrator(calibrator_json(evaluation, "venn_abers"))
    >>> predicted = saved.predict(evaluation.scores)
    >>> bool((predicted.p1 == evaluation.predictions["venn_abers"].p1).all())
    True
    """
    check_exportable(evaluation, key)
    evaluation = saved_of(evaluation)
    recipe, data = evaluation.recipe, evaluation.dataset
    scores, y = evaluation.calibration_scores, evaluation.calibration_y
    fitted = evaluation.calibrators[key][0]
    notes = (
        [NOTE_OF_PLACEMENT[recipe.placement]]
        if recipe.placement in NOTE_OF_PLACEMENT and key != "none"
        else []
    )
    if isinstance(unadjusted(fitted), FoldCalibrators):
        notes = [CROSS.format(len(fitted.folds))]
    return write_calibrator(
        fitted,
        classes=data.class_names,
        calibration={
            "rows": len(y),
            **({} if data.joint else {"positives": int(y.sum())}),
            "lowest": float(scores.min()) if len(y) else None,
            "highest": float(scores.max()) if len(y) else None,
        },
        made={
            "calib": __version__,
            "data": data.name,
            "digest": data.digest,
            "scores": "probability" if evaluation.probability else "margin",
            "recipe": json.loads(recipe.to_json()),
        },
        notes=notes,
    )


def write_calibrator(
    fitted: Any,
    *,
    classes: Sequence[str] = ("0", "1"),
    calibration: Mapping[str, Any] | None = None,
    made: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Write a fitted calibrator in the format above, with one line per field.

    Parameters
    ----------
    fitted
        Any calibrator of CALIBRATORS, or one per fold; it may be adjusted to another base rate.
    classes
        (negative, positive), as the data spell them.
    calibration, made
        A description of the calibration scores, and of the data and settings; stored with the map.
    notes
        Notes for users of the probabilities, one sentence each.

    Examples
    --------
    >>> from calib.calibrators import Isotonic
    >>> print(write_calibrator(Isotonic().fit([1, 2], [0, 1])).splitlines()[-1])
     "map": {"kind": "isotonic", "scores": [1.0, 2.0], "values": [0.0, 1.0], "between": "linear"}}
    """
    for name in calibration or {}:
        checks.one_of(name, CALIBRATION_FIELDS, "calibration")
    rate, fitted = fitted.rate if isinstance(fitted, Adjusted) else None, unadjusted(fitted)
    folds = fitted.folds if isinstance(fitted, FoldCalibrators) else ()
    one = folds[0] if folds else fitted
    joint = isinstance(one, JointCalibrator)
    document = {
        "format": CALIBRATOR_FORMAT,
        "version": CALIBRATOR_VERSION,
        "method": one.method if joint else one.key,
        "label": label_of(one.method) if joint else one.label,
        "source": one.source,
        "input": {"of": "fold_scores", "columns": len(folds)}
        if folds
        else {"of": PROBABILITIES if joint else one.takes, "columns": one.columns},
        "output": ["p0", "p1", "p"] if one.gives_interval else ["p"],
        "merge": one.merge if one.gives_interval else None,
        "classes": list(classes),
        "calibration": dict(calibration or {}),
        "made": dict(made or {"calib": __version__}),
        "notes": [*notes, *own_notes(fitted), *([_rate_note(rate)] if rate else [])],
        "base_rate": asdict(rate) if rate else None,
        "map": _map_of(fitted),
    }
    lines = (
        f'"{name}": {json.dumps(value, ensure_ascii=False, allow_nan=False)}'
        for name, value in document.items()
    )
    return "{" + ",\n ".join(lines) + "}\n"


def _rate_note(rate: BaseRate | BaseRates) -> str:
    return RATES if isinstance(rate, BaseRates) else RATE.format(rate)


def _map_of(fitted: Any) -> dict[str, Any]:
    if isinstance(fitted, FoldCalibrators):
        if fitted.folds[0].input in INPUT_TABLES:
            raise InputError(
                f"{fitted.folds[0].label} from cross-calibration cannot be saved: it needs one score per fold and the "
                "features. Choose placement='split'."
            )
        return {"kind": MAP_PER_FOLD, "folds": [fold.to_map() for fold in fitted.folds]}
    if not isinstance(fitted, ScoreCalibrator | JointCalibrator):
        raise InputError(f"{type(fitted).__name__} cannot be saved as a calibrator.")
    return {"kind": fitted.kind or fitted.key, **fitted.to_map()}


def read_calibrator(content: str | bytes) -> SavedCalibrator:
    """Read a calibrator file in the format above.

    Parameters
    ----------
    content : str or bytes
        Of the file, in UTF-8.

    Raises
    ------
    InputError
        Naming the field that is wrong.

    Examples
    --------
    >>> read_calibrator('{"format": "something else"}')
    Traceback (most recent call last):
    ...
    calib.kernel.checks.InputError: The calibrator file: format must be one of 'calib.calibrator', but is ...
    """
    top = parse(content, "The calibrator file")
    if "format" not in top:
        raise InputError(
            "This file is not a calibrator file, because it has no field 'format'. Use a file saved with "
            "Calibrator (JSON) on the Compare and report page."
        )
    top.choice("format", [CALIBRATOR_FORMAT])
    top.choice("version", [CALIBRATOR_VERSION])
    given, table = top.object("input"), top.object("map")
    if table.choice("kind", [*_kinds(), *OF_K]) in OF_K:
        return _read_joint(top, given, table)
    methods = _methods(table)
    method = CALIBRATORS[top.choice("method", methods)]
    merge = top.choice("merge", list(MERGE_RULES) if method.gives_interval else [None])
    calibrator: ScoreCalibrator | FoldCalibrators
    if table.choice("kind", _kinds()) == MAP_PER_FOLD:
        of = given.choice("of", ["fold_scores"])
        folds = [_read_map(method, fold, merge=merge) for fold in table.objects("folds")]
        calibrator = FoldCalibrators(tuple(folds))
        given.choice("columns", [len(folds)])
    else:
        # some options need probabilities
        of = given.choice("of", ["score", "probability"] if method.input == "score" else [method.input])
        calibrator = _read_map(method, table, merge=merge, input=of)
        given.choice("of", [calibrator.takes])
        given.choice("columns", [calibrator.columns])
    classes = top.texts("classes")
    if len(classes) != 2:
        raise top.refuse("classes", "must name two classes")
    calibration = top.object("calibration")
    calibration.known(*CALIBRATION_FIELDS)
    calibration.check_nothing_else()
    top.known("label", "source", "output")
    saved = SavedCalibrator(
        method.key,
        method.label,
        of,
        given.count("columns"),
        calibrator,
        (classes[0], classes[1]),
        dict(calibration.value),
        _range(calibration),
        top.object("made").value,
        top.texts("notes"),
        _base_rate(top),
    )
    top.check_nothing_else()
    return saved


OF_K: dict[str, tuple[type[JointCalibrator], ...]] = {}
"""Kind of map → the calibrators of K classes that have it."""
KINDS_OF_K: tuple[type[JointCalibrator], ...] = (Unchanged, OneVsRest, *JOINT.values())
for each_of_k in KINDS_OF_K:
    OF_K[each_of_k.kind] = (*OF_K.get(each_of_k.kind, ()), each_of_k)


def _read_joint(top: Fields, given: Fields, table: Fields) -> SavedCalibrator:
    """Read a calibrator of K classes."""
    kinds = OF_K[table.choice("kind", list(OF_K))]
    given.choice("of", [PROBABILITIES])
    classes = top.texts("classes")
    given.choice("columns", [len(classes)])
    key = top.choice(
        "method", list(CALIBRATORS) if kinds == (OneVsRest,) else [_key_of(each) for each in kinds]
    )
    method = OneVsRest if kinds == (OneVsRest,) else {_key_of(each): each for each in kinds}[key]
    calibrator = method.from_map(table, len(classes))
    if method is OneVsRest and {one["method"] for one in table.value["calibrators"]} != {key}:
        raise top.refuse("method", "must be the method that the calibrators in the file use")
    top.choice("merge", [calibrator.merge if calibrator.gives_interval else None])
    calibration = top.object("calibration")
    calibration.known(*CALIBRATION_FIELDS)
    calibration.check_nothing_else()
    top.known("label", "source", "output")
    saved = SavedCalibrator(
        key,
        label_of(key),
        PROBABILITIES,
        len(classes),
        calibrator,
        classes,
        dict(calibration.value),
        None,
        top.object("made").value,
        top.texts("notes"),
        _base_rates(top, len(classes)),
    )
    top.check_nothing_else()
    return saved


def _base_rates(top: Fields, classes: int) -> BaseRates | None:
    """Return the adjustment of class shares stored in the file, or None."""
    if not top.gives("base_rate"):
        return None
    given = top.object("base_rate")
    for name in ("fitted", "stated"):
        if len(given.numbers(name)) != classes:
            raise given.refuse(name, f"must contain {classes} shares, one per class")
    return BaseRates(tuple(given.numbers("fitted")), tuple(given.numbers("stated")))


def _key_of(method: type[JointCalibrator]) -> str:
    return next((key for key, each in JOINT.items() if each is method), Unchanged.key)


def _base_rate(top: Fields) -> BaseRate | None:
    """Return the adjustment to another base rate stored in the file, or None."""
    if not top.gives("base_rate"):
        return None
    given = top.object("base_rate")
    rates = {name: given.number(name, 0, 1) for name in ("fitted", "stated")}
    for name, rate in rates.items():
        if rate in (0, 1):
            raise given.refuse(name, "must lie strictly between 0 and 1")
    return BaseRate(**rates)


def _range(calibration: Fields) -> tuple[float, float] | None:
    """Return the lowest and highest score of the fit, or None if the file has neither."""
    if not (calibration.gives("lowest") or calibration.gives("highest")):
        return None
    lowest = calibration.number("lowest")
    return lowest, calibration.number("highest", lowest)


def _methods(table: Fields) -> list[str]:
    """Return the calibrators that use this kind of map."""
    kind = table.choice("kind", _kinds())
    return [
        key
        for key, method in CALIBRATORS.items()
        if (method.kind or key) == kind or (kind == MAP_PER_FOLD and method.gives_interval)
    ]


def _kinds() -> list[str]:
    """Return all kinds of maps."""
    return [*dict.fromkeys(method.kind or key for key, method in CALIBRATORS.items()), MAP_PER_FOLD]


def _read_map(method: type[ScoreCalibrator], table: Fields, **options: Any) -> ScoreCalibrator:
    calibrator = method.from_map(table)
    known = calibrator.get_params()
    return calibrator.set_params(**{name: value for name, value in options.items() if name in known})

"""Ten setups on one data set: five methods, each with a held-out share and with out-of-bag scores.

Johansson, Löfström, Linusson, Boström, *Efficient Venn predictors using random forests* (2019), §4–5. Two
fits serve all ten: a setup is one calibrator in one placement.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from calib.analysis.clusters import sampling_effect
from calib.analysis.differences import same_rows, view_of_all
from calib.evaluate import Evaluation
from calib.kernel.records import Dataset
from calib.kernel.wording import number
from calib.metrics import METRICS, predicted_label_summary
from calib.metrics.confidence_intervals import INTERVALS, mean_interval
from calib.metrics.losses import hits, overconfidence, squared_errors
from calib.metrics.paired_intervals import difference_interval
from calib.models import MODELS
from calib.placements.out_of_bag import OutOfBag
from calib.recipe import Recipe, with_calibrators
from calib.splits import SPLITS
from calib.study.reading import load_protocol

PUBLISHED_PROTOCOL = load_protocol("venn_forests_2019")
SETUP_NAMES = {(setup.calibrator, setup.recipe.placement): setup.name for setup in PUBLISHED_PROTOCOL.setups}
METHODS, PLACED = (tuple(dict.fromkeys(names)) for names in zip(*SETUP_NAMES, strict=True))
# Each is the mean of one number per row
MEANS = {"accuracy_gap": overconfidence, "brier": squared_errors, "accuracy": hits}
RELATIVE_MEASURES = ("brier_above_lowest", "accuracy_gained")
GAP_COLUMNS = tuple(f"{gap}{end}" for gap in RELATIVE_MEASURES for end in ("", "_low", "_high"))

_OF = {setup.calibrator: setup.recipe for setup in PUBLISHED_PROTOCOL.setups}
AS_PUBLISHED: dict[str, Any] = {
    "model": _OF["venn_abers"].model,
    "params": dict(_OF["venn_abers"].params),
    "calibration_size": _OF["venn_abers"].calibration_size,
    "evaluation": PUBLISHED_PROTOCOL.splits.kind,
    "folds": PUBLISHED_PROTOCOL.splits.folds,
    "options": dict(_OF["isotonic"].options),
    "merge": _OF["venn_abers"].merge,
}
_PUBLISHED_TREES, _PUBLISHED_FOLDS = AS_PUBLISHED["params"]["n_estimators"], AS_PUBLISHED["folds"]
PUBLISHED_IN_WORDS = (
    f"The paper uses {_PUBLISHED_TREES} trees and {_PUBLISHED_FOLDS} folds, holds out a third, "
    "and takes the midpoint of p0 and p1."
)


def as_in_the_paper(recipe: Recipe) -> dict[str, Any]:
    """Return the fields of a Recipe that change it to the settings of the paper's study."""
    return AS_PUBLISHED | {"calibrators": tuple(dict.fromkeys((*recipe.calibrators, "isotonic")))}


def bagged(recipe: Recipe) -> bool:
    """Tell whether the Recipe's model has out-of-bag scores."""
    return MODELS[recipe.model].bagged


def no_bags(recipe: Recipe, dataset: Dataset | None = None) -> str | None:
    """Explain in a sentence why the Recipe's split allows no out-of-bag rows; None if it does."""
    return SPLITS[recipe.split].refuses(OutOfBag.asks, dataset is not None and dataset.fixes_calibration)


def setup_recipes(recipe: Recipe, dataset: Dataset | None = None) -> dict[str, Recipe]:
    """Return placement → the Recipe of its five setups; out of bag only if the model and split allow it.

    Platt is fitted on the forest's probabilities themselves, as in the paper, unless the Recipe sets
    log-odds.

    >>> [r.placement for r in setup_recipes(Recipe(model="svm")).values()]
    ['split']
    """
    allowed = bagged(recipe) and no_bags(recipe, dataset) is None
    placements = PLACED if allowed else PLACED[:1]
    chosen = with_calibrators(recipe, METHODS, {"platt.on": "score"})
    return {key: recipe.replace(placement=key, **chosen) for key in placements}


SHARED_METRICS = ("log_loss", "brier", "accuracy")


def together_placements(recipe: Recipe, dataset: Dataset) -> tuple[str, ...]:
    """Return the placements of K classes together: a held-out share, and out of bag if model and split allow it."""
    allowed = (
        bagged(recipe) and SPLITS[recipe.split].refuses(OutOfBag.asks, dataset.fixes_calibration) is None
    )
    return ("split", "oob_whole") if allowed else ("split",)


def placements_together(evaluations: Mapping[str, Evaluation]) -> pd.DataFrame:
    """Return the scores of all classes by calibrator and placement, columns metric, value, low, high of 95 %.

    Parameters
    ----------
    evaluations
        Placement → an Evaluation of K classes.
    """
    lines = [
        (key, placement, metric, *table.loc[metric, ["value", "low", "high"]])
        for key in next(iter(evaluations.values())).all_classes.predictions
        for placement, one in evaluations.items()
        if key in one.all_classes.predictions
        for table in [one.all_classes.intervals(key)]
        for metric in SHARED_METRICS
    ]
    columns = ["calibrator", "placement", "metric", "value", "low", "high"]
    return pd.DataFrame(lines, columns=columns)


def departures(recipe: Recipe) -> list[str]:
    """List the differences between the Recipe and the paper's study in a few words each; empty if there are none.

    The study repeats ten-fold cross-validation ten times; once counts as the same here.
    """
    departures = _from_the_forest(recipe)
    if (recipe.evaluation, recipe.folds) != (AS_PUBLISHED["evaluation"], _PUBLISHED_FOLDS):
        kind = "one test set" if recipe.evaluation == "holdout" else f"{recipe.folds} folds"
        departures.append(f"{kind} instead of {_PUBLISHED_FOLDS} folds")
    if not math.isclose(recipe.calibration_size, AS_PUBLISHED["calibration_size"]):
        departures.append(f"{100 * recipe.calibration_size:.0f} % held out instead of a third")
    if recipe.merge != AS_PUBLISHED["merge"]:
        rule = {"log": "log loss", "square": "square loss"}[recipe.merge]
        departures.append(f"p0 and p1 merged by the minimax rule for {rule} instead of by their midpoint")
    options = dict(recipe.options)
    if not AS_PUBLISHED["options"].items() <= options.items():
        departures.append("isotonic regression without the paper's steps between scores")
    if options.get("platt.on") == "log-odds":
        departures.append("Platt scaling on log-odds instead of probabilities")
    if recipe.base_rate is not None:
        departures.append(f"a deployment base rate of {recipe.base_rate:.3g}")
    if any(name.startswith("venn.") for name in options):
        departures.append("Venn categories other than the predicted label")
    return departures


def _from_the_forest(recipe: Recipe) -> list[str]:
    """List the differences between the model and the paper's forest."""
    if recipe.model != AS_PUBLISHED["model"]:
        return [
            f"{MODELS[recipe.model].label.lower()} instead of a random forest of {_PUBLISHED_TREES} trees"
        ]
    changed = dict(recipe.params)
    trees = changed.pop("n_estimators", recipe.parameter("params.n_estimators").default)
    fewer = [f"{trees} trees instead of {_PUBLISHED_TREES}"] if trees != _PUBLISHED_TREES else []
    return [*fewer, "other forest settings"] if changed else fewer


def setup_table(evaluations: Mapping[str, Evaluation]) -> pd.DataFrame:
    """Return one row per setup under the paper's name, in its order; an uncalibrated model is "Raw", except a forest.

    Parameters
    ----------
    evaluations
        Placement → the Evaluation of ``setup_recipes``.

    Returns
    -------
    DataFrame
        Columns calibrator, placement, accuracy_gap, reliability, brier, accuracy; those of ``MEANS`` also with
        ``_low`` and ``_high``, the ends of its 95 % interval; and for Venn and Venn–Abers low, high, size – means of
        the predicted label's interval (eq. 5–6) – and valid, whether the accuracy lies in it within sampling error
        (Table 4).
        Those of ``RELATIVE_MEASURES`` each with ``_low`` and ``_high``, the ends of its 95 % interval: the Brier score
        above that of
        the setup with the lowest (an interval for all setups together), and for out of bag the accuracy above that of
        the same method with a held-out share.
    """
    rows = {}
    for (key, placement), name in SETUP_NAMES.items():
        evaluation = evaluations.get(placement)
        if evaluation is not None and key in evaluation.predictions:
            called = name if "forest" in evaluation.recipe.model else name.replace("RF-", "Raw-")
            rows[called] = {"calibrator": key, "placement": placement, **_setup(evaluation, key)}
    table = pd.DataFrame.from_dict(rows, orient="index").reindex(columns=[*SETUP_COLUMNS])
    return _with_gaps(table, evaluations)


def _with_gaps(table: pd.DataFrame, evaluations: Mapping[str, Evaluation]) -> pd.DataFrame:
    """Add the paired differences of setups that are evaluated on the same rows."""
    if table.empty or not same_rows(evaluations.values()):
        return table
    first, p = next(iter(evaluations.values())), {}
    for name, line in table.iterrows():
        p[str(name)] = evaluations[line.placement].predictions[line.calibrator].p
    lowest, lines = str(table["brier"].idxmin()), {}
    for name, predicted in p.items():
        held_out = name.replace("-oob", "-cal")
        found = [*difference_interval("brier", first.sample, predicted, p[lowest], view_of_all(len(p)))]
        if held_out in p and held_out != name:
            found += difference_interval("accuracy", first.sample, predicted, p[held_out])
        lines[name] = dict(zip(GAP_COLUMNS, found, strict=False))  # zip stops early: accuracy is for oob only
    return table.assign(**pd.DataFrame.from_dict(lines, orient="index").reindex(columns=[*GAP_COLUMNS]))


def _setup(evaluation: Evaluation, key: str) -> dict[str, Any]:
    """Return the numbers of one setup."""
    predictions, y, weight = evaluation.predictions[key], evaluation.y, evaluation.weight
    row = {"reliability": METRICS["reliability"].function(y, predictions.p, sample_weight=weight)}
    for metric, loss in MEANS.items():
        row[metric], *ends = mean_interval(evaluation.sample, loss(y, predictions.p))
        if metric in INTERVALS:
            ends = [*evaluation.interval(metric, key)]
        row[f"{metric}_low"], row[f"{metric}_high"] = ends
    if predictions.lower is not None:
        size = max(1, evaluation.calibration_size // len(evaluation.calibrators[key]))
        found = predicted_label_summary(
            y,
            predictions.pairs,
            calibration_size=size,
            design_effect=sampling_effect(evaluation, key),
            sample_weight=weight,
            counts=evaluation.counts,
        )
        row |= {"low": found.lower, "high": found.upper, "size": found.width, "valid": found.valid}
    return row


SETUP_COLUMNS = (
    "calibrator",
    "placement",
    "accuracy_gap",
    "reliability",
    "brier",
    "low",
    "high",
    "size",
    "valid",
    "accuracy",
    *(f"{metric}_{end}" for metric in MEANS for end in ("low", "high")),
    *GAP_COLUMNS,
)


@dataclass(frozen=True)
class PaperFinding:
    """A result of the paper over 22 data sets, and the result on these data.

    Attributes
    ----------
    holds
        Whether this data set shows it too.
    """

    there: str
    here: str
    holds: bool


def findings(table: pd.DataFrame) -> list[PaperFinding]:
    """Compare the paper's results with those of one data set; empty if some of the ten setups are missing."""
    if len(table) < len(SETUP_NAMES):
        return []
    gap, size, accuracy, reliability = (
        table[name] for name in ("accuracy_gap", "size", "accuracy", "reliability")
    )
    raw = [name for name, key in table["calibrator"].items() if key == "none"]
    bold = ["Platt-cal", "Platt-oob", "Iso-cal", "Iso-oob", "VAP-cal"]
    venn = [name for name, key in table["calibrator"].items() if key.startswith("venn")]
    rest = [name for name in table.index if name not in venn]
    ahead = [name for name in venn if reliability[name] < reliability[rest].min()]
    order = size.dropna().sort_values(kind="stable").index
    out_of_bag = [name for name in table.index if name.endswith("-oob")]
    better = sum(accuracy[name] > accuracy[name.replace("-oob", "-cal")] for name in out_of_bag)
    inside = [name for name in venn if bool(table["valid"][name])]
    return [
        PaperFinding(
            "Uncalibrated forests are underconfident by 1.5 points on average",
            " and ".join(f"{name} {_points(gap[name])}" for name in raw),
            bool((gap[raw] < 0).all()),
        ),
        PaperFinding(
            "Platt scaling, isotonic regression and VAP-cal are overconfident",
            f"{sum(gap[bold] > 0)} of these {len(bold)} setups are overconfident",
            bool((gap[bold] > 0).all()),
        ),
        PaperFinding(
            "The four Venn setups are more reliable than the other six",
            f"{len(ahead)} of the four are more reliable than {reliability[rest].idxmin()}, the best of the six",
            len(ahead) == len(venn),
        ),
        PaperFinding(
            "Intervals grow in the order VP-oob, VP-cal, VAP-oob, VAP-cal",
            ", ".join(f"{name} {number(size[name])}" for name in order),
            list(order) == ["VP-oob", "VP-cal", "VAP-oob", "VAP-cal"],
        ),
        PaperFinding(
            "The accuracy lies in the mean interval of the predicted label, or close to it",
            f"true for {len(inside)} of {len(venn)}"
            + (f" ({', '.join(inside)})" if 0 < len(inside) < len(venn) else ""),
            len(inside) == len(venn),
        ),
        PaperFinding(
            "With every method, out-of-bag calibration is more accurate than held-out calibration",
            f"true for {better} of {len(METHODS)} methods",
            bool(better == len(METHODS)),
        ),
    ]


def _points(share: float) -> str:
    return f"{100 * share:+.1f} points".replace("-", "−")

"""Tables of metrics for readers, of two classes or of K: three significant digits, and a star at the best values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite, isnan

import numpy as np
import pandas as pd

from calib.analysis.differences import differences_of_classes
from calib.analysis.label_shift import places_of
from calib.analysis.sample_size import QUANTITIES, SampleSize
from calib.calibrators import label_of, name_of
from calib.evaluate import Evaluation
from calib.evaluate.classes import LOSS_DECOMPOSITION
from calib.evaluate.estimate import Estimate
from calib.kernel.wording import digits_apart, number, percent, points, set_apart, with_interval
from calib.metrics import METRICS, Metric, class_metrics
from calib.placements import PLACEMENTS

BEST = " ★"
EVERYDAY = (
    "brier",
    "log_loss",
    "ece",
    "ece_chance",
    "auc",
    "accuracy",
    "miscalibration",
    "miscalibration_chance",
    "discrimination",
)
"""Metrics that are shown by default."""


def formatted_metrics(evaluation: Evaluation, metrics: Iterable[str] | None = None) -> pd.DataFrame:
    """Return values as text, rows by name, columns by label; the best of each column have a star, ties included.

    A column has no star if all values are equal, and infinite values have none.

    Parameters
    ----------
    metrics
        Keys of the columns, all everyday ones by default; metrics without a value are left out.
    """
    keys = list(evaluation.predictions)
    shown = {key: METRICS[key] for key in (evaluation.metrics if metrics is None else metrics)}
    index = pd.Index(map(label_of, keys), name="Calibrator")
    return _formatted(shown, [(evaluation, key) for key in keys], index)


def formatted_side_by_side(evaluations: Mapping[str, Evaluation], metrics: Iterable[str]) -> pd.DataFrame:
    """Combine ``formatted_metrics`` of several named evaluations in one table, with the best marked across all.

    Rows are sorted by calibrator, the uncalibrated models first.

    Parameters
    ----------
    evaluations
        By name.
    metrics
        Keys of the columns.
    """
    keys = dict.fromkeys(
        ["none", *(key for evaluation in evaluations.values() for key in evaluation.predictions)]
    )
    rows = [(name, key) for key in keys for name, one in evaluations.items() if key in one.predictions]
    index = pd.MultiIndex.from_tuples([(name, label_of(key)) for name, key in rows], names=["", "Calibrator"])
    shown = {key: METRICS[key] for key in metrics}
    return _formatted(shown, [(evaluations[name], key) for name, key in rows], index).reset_index()


def formatted_sample_size(found: SampleSize) -> pd.DataFrame:
    """Return a table for readers of the rows that each measure needs.

    Parameters
    ----------
    found
        The result of ``sample_size``.
    """
    lines = [
        (
            QUANTITIES[one.measure],
            number(one.asked),
            f"{one.rows:,}" if isfinite(one.rows) else "∞",
            number(one.here),
            "yes" if one.rows <= found.rows else "no",
        )
        for one in found.needed
    ]
    columns = ["Measure", "Asked for", "Rows needed", "Width here", "Enough"]
    return pd.DataFrame(lines, columns=columns)


def formatted_rates(evaluation: Evaluation, table: pd.DataFrame) -> pd.DataFrame:
    """Format ``compare_base_rates``: each calibrator at the table's base rate, and below it at the stated one."""
    stated = evaluation.recipe.base_rate
    shown = pd.DataFrame({"Calibrator": [label_of(key) for key in table["calibrator"]]})
    places = {"table": "in the table", "stated": f"at {percent(stated)}" if stated else ""}
    shown["Where"] = table["place"].map(places)
    for column, label in (("base_rate", "Base rate"), ("mean_p", "Mean prediction")):
        shown[label] = list(map(percent, table[column]))
    at = places_of(evaluation)
    for column in table.columns[4:]:
        shown[METRICS[column].label] = [
            at[line.place].estimate(column, line.calibrator, interval=False).text()
            for line in table.itertuples()
        ]
    return shown


def _formatted(
    metrics: Mapping[str, Metric], lines: Sequence[tuple[Evaluation, str]], index: pd.Index
) -> pd.DataFrame:
    """Format a table with one line per (evaluation, calibrator), and a column per metric that has a value."""
    columns = {
        key: [one.estimate(key, calibrator, interval=False) for one, calibrator in lines] for key in metrics
    }
    return pd.DataFrame(
        {
            metrics[key].label: starred_estimates(metrics[key], found)
            for key, found in columns.items()
            if not all(isnan(each.value) for each in found)
        },
        index,
    )


def starred_estimates(metric: Metric, found: Sequence[Estimate]) -> list[str]:
    """Return the values as ``starred`` does, each with its clipped value if it is infinite."""
    texts = starred(metric, [each.value for each in found])
    return [each.beside(text) for each, text in zip(found, texts, strict=True)]


def starred(metric: Metric, values: Iterable[float], form: Callable[[float, int], str] = number) -> list[str]:
    """Return the values as text; the best have a star, and no other value reads like them.

    There is no star if all values are equally good. ``form`` takes a value and its digits.
    """
    values = list(values)
    best = metric.best(values).tolist()
    stars = [False] * len(best) if all(best) else best
    return [text + BEST * star for text, star in zip(set_apart(values, stars, form), stars, strict=True)]


def starred_intervals(lines: Sequence[tuple[float, float, float]], best: Sequence[bool]) -> list[str]:
    """Return (value, low, high) as texts; the best values have a star, and no other value reads like them."""

    def value(line: tuple[float, float, float], digits: int) -> str:
        return with_interval(*line, digits=digits).partition(" ")[0]

    digits = digits_apart(lines, best, value)
    return [with_interval(*line, BEST * bool(star), digits) for line, star in zip(lines, best, strict=True)]


CLEAR_MARK = " ●"
WORST = 6  # number of classes with a diagram


def formatted_scores(whole: Evaluation) -> pd.DataFrame:
    """Return one row per calibrator and one column per score of all classes; the best values have a star.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> P = rng.dirichlet([1, 1, 1], 500)
    >>> y = [rng.choice(3, p=row) for row in P]
    >>> whole = Evaluation.from_predictions(y, {"none": P, "even": P * 0 + 1 / 3})
    >>> formatted_scores(whole)["Log loss, all classes"].tolist()
    ['0.810 ★', '1.10']
    """
    index = pd.Index(map(label_of, whole.predictions), name="Calibrator")
    return _formatted(class_metrics(), [(whole, key) for key in whole.predictions], index)


def formatted_scores_side_by_side(wholes: Mapping[str, Evaluation]) -> pd.DataFrame:
    """Return the scores of several models by name, one row per model and calibrator; stars hold over all rows."""
    lines = [(name, whole, key) for name, whole in wholes.items() for key in whole.predictions]
    index = pd.MultiIndex.from_tuples(
        [(name, label_of(key)) for name, _, key in lines], names=["", "Calibrator"]
    )
    return _formatted(class_metrics(), [line[1:] for line in lines], index).reset_index()


def formatted_shares(whole: Evaluation) -> pd.DataFrame:
    """Return the scores of each calibrator at the table's class shares, and below it at the stated ones."""
    places = {"in the table": whole.unadjusted or whole} | (
        {"at the deployment class shares": whole} if whole.unadjusted else {}
    )
    return pd.DataFrame(
        [
            {"Calibrator": label_of(key), "Where": where}
            | {
                score.label: made.estimate(metric, key, interval=False).text()
                for metric, score in class_metrics().items()
            }
            for key in whole.predictions
            for where, made in places.items()
        ]
    )


def formatted_intervals(whole: Evaluation, name: str) -> pd.DataFrame:
    """Format ``Evaluation.intervals`` and ``Evaluation.loss_parts`` of one of the predictions."""
    labels = {key: score.label for key, score in class_metrics().items()} | {
        key: label for key, (label, _) in LOSS_DECOMPOSITION.items()
    }
    lines = [
        *whole.intervals(name).itertuples(),
        *whole.loss_parts(name).assign(corrected=np.nan).itertuples(),
    ]
    return pd.DataFrame(
        {
            "Score": [labels[line.Index] for line in lines],
            "Value": [number(line.value) for line in lines],
            "95 % interval": [
                f"[{number(line.low)}, {number(line.high)}]" if line.low == line.low else "–"
                for line in lines
            ],
            "Bias-corrected": [
                "–"
                if line.corrected != line.corrected
                else with_interval(line.corrected, line.corrected_low, line.corrected_high)
                for line in lines
            ],
        }
    )


def kernel_tested(whole: Evaluation, name: str) -> str:
    """Return a sentence on the kernel test of one of the predictions, empty if there is none."""
    found = whole.kernel_test(name)
    if found is None:
        return ""
    answer = "are not jointly calibrated" if found.rejects else "show no sign of joint miscalibration"
    missed = "" if found.rejects else " The test can miss errors that tests of individual probabilities find."
    return (
        f"Kernel test of canonical calibration: the {whole.classes} probabilities of {name_of(name)} {answer} "
        f"(p = {number(found.p_value)}, {found.rows:,} rows).{missed}"
    )


def formatted_together(table: pd.DataFrame) -> pd.DataFrame:
    """Format ``placements_together``, one line per calibrator and placement; the best values have a star."""
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for metric, lines in table.groupby("metric", sort=False):
        ends = list(lines[["value", "low", "high"]].itertuples(index=False, name=None))
        texts = starred_intervals(ends, class_metrics()[metric].best(lines["value"]).tolist())
        for line, text in zip(lines.itertuples(), texts, strict=True):
            where = label_of(line.calibrator), PLACEMENTS[line.placement].label
            cells.setdefault(where, {})[class_metrics()[metric].label] = text
    return pd.DataFrame(
        [{"Calibrator": key, "Calibration data": placed, **shown} for (key, placed), shown in cells.items()]
    )


def formatted_changes(whole: Evaluation) -> pd.DataFrame:
    """Format ``Evaluation.differences``, one line per calibrator, one column per score; ● marks a clear change."""
    shown: dict[str, dict[str, str]] = {}
    for line in differences_of_classes(whole):
        column = shown.setdefault(class_metrics()[line.metric].label, {})
        column[label_of(line.calibrator)] = line.text(mark=CLEAR_MARK * line.clear)
    return pd.DataFrame(shown).rename_axis("Calibrator")


def formatted_classes(table: pd.DataFrame) -> pd.DataFrame:
    """Format ``Evaluation.by_class``, the largest gap first."""
    return pd.DataFrame(
        {
            "Class": [str(name) for name in table.index],
            "Gap (% points)": [points(line.gap, line.low, line.high) for line in table.itertuples()],
            "Observed": [f"{number(100 * share)} %" for share in table["observed"]],
            "Predicted": [f"{number(100 * share)} %" for share in table["predicted"]],
            "ECE": list(map(number, table["ece"])),
            "Rows": [f"{rows:,}" for rows in table["rows"]],
        }
    )

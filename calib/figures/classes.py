"""Tables of three or more classes for readers: scores of all classes together, and one line per class."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from calib.calibrators import label_of, name_of
from calib.evaluate import Evaluation
from calib.evaluate.classes import LOSS_DECOMPOSITION
from calib.figures.metrics import starred, starred_intervals
from calib.kernel.wording import change, number, points, with_interval
from calib.metrics import class_metrics
from calib.placements import PLACEMENTS

CLEAR = " ●"
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
    return _with_stars(whole.metrics).rename(index=label_of).rename_axis("Calibrator")


def formatted_scores_side_by_side(wholes: Mapping[str, Evaluation]) -> pd.DataFrame:
    """Return the scores of several models by name, one row per model and calibrator; stars hold over all rows."""
    table = pd.concat({name: whole.metrics for name, whole in wholes.items()}, names=["", "Calibrator"])
    return _with_stars(table).rename(index=label_of, level=1).reset_index()


def _with_stars(table: pd.DataFrame) -> pd.DataFrame:
    """Return scores as text, with a star at the best finite value of a column unless all values read alike."""
    shown = {score.label: starred(score, table[key]) for key, score in class_metrics().items()}
    return pd.DataFrame(shown, index=table.index)


def formatted_shares(whole: Evaluation) -> pd.DataFrame:
    """Return the scores of each calibrator at the table's class shares, and below it at the stated ones."""
    places = {"in the table": whole.before or whole} | (
        {"at the stated shares": whole} if whole.before else {}
    )
    tables = [
        made.metrics.rename(index=label_of).rename_axis("Calibrator").reset_index().assign(Where=where)
        for where, made in places.items()
    ]
    found = pd.concat(tables).sort_index(kind="stable")
    named = {key: score.label for key, score in class_metrics().items()}
    shown = found[list(named)].map(number).rename(columns=named)
    return pd.concat([found[["Calibrator", "Where"]], shown], axis=1).reset_index(drop=True)


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
    answer = "are not calibrated together" if found.rejects else "together show no sign of miscalibration"
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
    for line in whole.differences().itertuples():
        clear = CLEAR * bool(line.lower > 0 or line.upper < 0)
        column = shown.setdefault(class_metrics()[line.metric].label, {})
        column[label_of(line.calibrator)] = change(line.value, line.lower, line.upper) + clear
    return pd.DataFrame(shown).rename_axis("Calibrator")


def formatted_classes(table: pd.DataFrame) -> pd.DataFrame:
    """Format ``Evaluation.by_class``, the largest gap first."""
    return pd.DataFrame(
        {
            "Class": [str(name) for name in table.index],
            "Gap (percentage points)": [points(line.gap, line.low, line.high) for line in table.itertuples()],
            "Observed": [f"{number(100 * share)} %" for share in table["observed"]],
            "Predicted": [f"{number(100 * share)} %" for share in table["predicted"]],
            "ECE": list(map(number, table["ece"])),
            "Rows": [f"{rows:,}" for rows in table["rows"]],
        }
    )

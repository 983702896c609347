"""Tables of three or more classes for readers: scores of all classes together, and one line per class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from calib.analysis.differences import differences_of_classes
from calib.calibrators import label_of, name_of
from calib.evaluate import Evaluation
from calib.evaluate.classes import LOSS_DECOMPOSITION
from calib.figures.metrics import starred_estimates, starred_intervals
from calib.kernel.wording import number, points, with_interval
from calib.metrics import class_metrics
from calib.placements import PLACEMENTS

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
    return _with_stars([(whole, key) for key in whole.predictions], index)


def formatted_scores_side_by_side(wholes: Mapping[str, Evaluation]) -> pd.DataFrame:
    """Return the scores of several models by name, one row per model and calibrator; stars hold over all rows."""
    lines = [(name, whole, key) for name, whole in wholes.items() for key in whole.predictions]
    index = pd.MultiIndex.from_tuples(
        [(name, label_of(key)) for name, _, key in lines], names=["", "Calibrator"]
    )
    return _with_stars([line[1:] for line in lines], index).reset_index()


def _with_stars(lines: Sequence[tuple[Evaluation, str]], index: pd.Index) -> pd.DataFrame:
    """Return scores as text, with a star at the best finite value in each column unless all values read alike."""
    shown = {
        score.label: starred_estimates(
            score, [one.estimate(key, name, interval=False) for one, name in lines]
        )
        for key, score in class_metrics().items()
    }
    return pd.DataFrame(shown, index=index)


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

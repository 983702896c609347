"""The numbers of a validation report: the flow of rows, and every measure of performance with its interval.

The items are those of TRIPOD+AI for studies that evaluate a model (Collins et al. 2024, *BMJ* 385):
participants and events in each part, discrimination, calibration, clinical utility, sample size. Values are
those of ``Evaluation.measured``, intervals those of ``calib.metrics.confidence_intervals``.

The limits of a validation follow, in sentences, from the split, the rows and the settings of an Evaluation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from calib.analysis.clusters import design_effect
from calib.analysis.decision import FALSE_ALARM, MISS, benefit_steps, benefits, threshold
from calib.analysis.differences import reference_of
from calib.analysis.recommendation.advice import recommend
from calib.analysis.sample_size import FEWEST_TO_JUDGE, SampleSize, minority_rows, sample_size
from calib.calibrators import name_of
from calib.evaluate import Evaluation, RowCount, row_info
from calib.kernel.checks import InputError
from calib.kernel.weights import are_whole
from calib.kernel.wording import counted, listed, percent, within_a_sentence
from calib.metrics.confidence_intervals import mean_interval
from calib.placements import PLACEMENTS

OVERALL_METRICS = ("auc", "brier", "brier_skill", "log_loss", "accuracy")
CALIBRATION_METRICS = ("observed_expected", "in_the_large", "slope", "intercept", "ici", "ece")
FLOW_STEPS = {"train": "Train the model", "calibrate": "Calibrate", "test": "Test"}
MORE_THRESHOLDS = 3  # thresholds in the table of net benefit, beside that of the costs
OF_COSTS = threshold(FALSE_ALARM, MISS)


def flow(evaluation: Evaluation) -> pd.DataFrame:
    """Return the flow of rows from the table to the test set: one row per step, columns step, lines, rows and events.

    ``lines`` of the table represent ``rows``, which are equal without weights. With folds, the training and
    calibration rows are means over the folds, and every test row is counted once. Events are rows of class 1; NaN
    if they are not known.
    """
    return pd.DataFrame(_steps(evaluation), columns=["step", "lines", "rows", "events"])


def _steps(evaluation: Evaluation) -> Iterator[tuple[str, float, float, float]]:
    data, folds = evaluation.dataset, evaluation.flow
    weights = row_info(data).weights
    if data.read is not None:
        yield "Read", data.read, np.nan, np.nan
        yield "Left out", data.read - data.n, np.nan, np.nan
    # Only test rows tell whether a prediction is right
    yield (
        "Kept",
        data.n,
        float(weights.sum()),
        np.nan if evaluation.of_confidence else float(weights @ data.y),
    )
    for part, label in FLOW_STEPS.items():
        if part not in folds[0]:  # predictions that are evaluated on all rows
            continue
        of_folds = (
            "" if len(folds) == 1 else ", all folds" if part == "test" else f", mean of {len(folds)} folds"
        )
        every = np.array([fold[part] for fold in folds], dtype=float).reshape(-1, len(RowCount._fields))
        yield label + of_folds, *(every.sum(axis=0) if part == "test" else every.mean(axis=0))
    if len(folds) == 1 and "unused" in folds[0] and folds[0]["unused"].lines:
        yield "Not used", *folds[0]["unused"]


def performance(evaluation: Evaluation, metrics: tuple[str, ...]) -> pd.DataFrame:
    """Return columns metric, calibrator, value, lower, upper, with 95 % intervals.

    Parameters
    ----------
    metrics
        Keys of ``calib.metrics.confidence_intervals.INTERVALS``.
    """
    lines = [
        (metric, key, found.value, found.low, found.high)
        for metric in evaluation.applicable(metrics)
        for key in evaluation.predictions
        for found in [evaluation.estimate(metric, key)]
    ]
    return pd.DataFrame(lines, columns=["metric", "calibrator", "value", "lower", "upper"])


def net_benefits(
    evaluation: Evaluation, of_costs: float = OF_COSTS, low: float = 0.0, high: float = 1.0
) -> pd.DataFrame:
    """Return columns threshold, rule, value, lower, upper: every calibrator, and acting on all rows.

    The thresholds are that of the costs, ``of_costs``, and some between ``low`` and ``high``. The net benefit is a
    mean over rows, and has the interval of one.
    """
    at = np.unique(np.r_[np.linspace(low, high, MORE_THRESHOLDS + 2)[1:-1], of_costs])
    rules = {key: each.p for key, each in evaluation.predictions.items()} | {
        "all": np.ones(len(evaluation.y))
    }
    lines = []
    for t in at:
        for rule, p in rules.items():
            benefit = (p > t) * benefits(evaluation.y, t)
            lines.append((t, rule, *mean_interval(evaluation.sample, benefit, steps=benefit_steps(t))))
    return pd.DataFrame(lines, columns=["threshold", "rule", "value", "lower", "upper"])


def rows_needed(evaluation: Evaluation, of_costs: float = OF_COSTS) -> tuple[str, SampleSize]:
    """Return (recommended method, rows needed to validate it) at the threshold of the costs.

    Raises
    ------
    InputError
        If the number cannot be estimated, as for test rows of one class.
    """
    if evaluation.y.min() == evaluation.y.max():
        raise InputError(
            "All test rows are in one class, so the number of rows needed cannot be estimated. Use rows of both "
            "classes."
        )
    key = recommend(evaluation).choice or reference_of(evaluation.predictions)
    predictions = evaluation.predictions[key]
    return key, sample_size(
        predictions.y,
        predictions.p,
        of_costs,
        sample_weight=predictions.weight,
        design_effect=design_effect(evaluation, key),
        counts=evaluation.counts,
    )


FROM_ELSEWHERE = (
    "The model was trained elsewhere. The program cannot know whether these rows were used to train it."
)
SAME_TABLE = {
    "random": "Training and test rows come from one table, so this is an internal validation. This "
    "validation does not show how the model performs at another place or time.",
    "time": "The test rows are the later rows of one table, so this is a temporal validation. This "
    "validation does not show how the model performs at another place.",
    "cluster": "The test clusters are new to the model but come from the table that it was trained on, so this is an "
    "internal validation. This validation does not show how the model performs at another place or time.",
    "file": "A column of the table assigns the rows to the training and test sets. The program cannot know "
    "how the rows were assigned, or whether the test rows come from another place or time.",
}
NO_COSTS = (
    f"No costs were chosen: by default, a false alarm costs {FALSE_ALARM:g} and a miss {MISS:g}. Net benefit "
    "and expected costs depend on these two numbers."
)


def limits(
    evaluation: Evaluation,
    group: str | None = None,
    costs_chosen: bool = False,
    searched: Sequence[str] = (),
) -> list[str]:
    """List what the test rows, the split and the choices leave open, most important first.

    Parameters
    ----------
    group
        The column whose subgroups were examined.
    costs_chosen
        Whether the user has chosen the costs of a false alarm and of a miss.
    searched
        The columns whose segments were searched.

    Examples
    --------
    >>> from calib import load_sample, Recipe, evaluate
    >>> evaluation = evaluate(Recipe(model="naive_bayes", calibrators=("none",)), load_sample("digits"))
    >>> limits(evaluation)[0].partition(",")[0]
    'Training and test rows come from one table'
    """
    parts = (_source, _fits, _choice, _events, _rows, _clusters, _weights, _base_rate)
    lines = [
        *(part(evaluation) for part in parts),
        _groups(group, searched),
        "" if costs_chosen else NO_COSTS,
    ]
    return list(filter(None, lines))


def trained_here(evaluation: Evaluation) -> bool:
    """Tell whether the model was trained on rows of the data set."""
    return not evaluation.dataset.predictions and evaluation.recipe.onnx is None


def _source(evaluation: Evaluation) -> str:
    """Name the source of the test rows: external, temporal or internal validation."""
    data = evaluation.dataset
    lines = [] if trained_here(evaluation) else [FROM_ELSEWHERE]
    if data.posterior is not None:
        lines.append("The data are simulated.")
    if data.test_file:
        lines.append(
            f"The test rows are from “{data.test_file}”. The program cannot know whether they come from another "
            "place or time."
        )
    elif not lines or data.posterior is not None:
        lines.append(SAME_TABLE.get(evaluation.recipe.split, SAME_TABLE["random"]))
    return " ".join(lines)


def _fits(evaluation: Evaluation) -> str:
    """State how many models and calibrators were fitted."""
    recipe = evaluation.recipe
    if not evaluation.calibrators:
        return ""
    what = "model" if trained_here(evaluation) else "set of calibrators"
    if len(evaluation.flow) > 1:
        return (
            f"The numbers combine {counted(len(evaluation.flow), 'fold')}, each with its own {what}. These "
            "numbers describe the procedure; no single model was validated."
        )
    if len(evaluation.rows) == evaluation.dataset.n:
        return ""
    fitted = "model and calibrators were" if trained_here(evaluation) else "calibrators were"
    drawn = f" with seed {recipe.seed}" if recipe.split in ("random", "cluster") else ""
    return (
        f"The rows were split once{drawn}, and {fitted} fitted once. The intervals do not include the "
        f"variation "
        f"over splits and fits."
    )


def _choice(evaluation: Evaluation) -> str:
    """Warn if the recommended method was selected on the rows that it is evaluated on, or fitted on training scores."""
    choice, count = recommend(evaluation).choice, len(evaluation.predictions)
    lines = ""
    if choice is not None and count > 1:
        what = "leave the probabilities as they are" if choice == "none" else f"use {name_of(choice)}"
        lines = (
            f"The recommendation to {what} is based on the results of {count} methods on these same test "
            "rows. The results of this method may therefore be too optimistic: confirm them on new rows."
        )
    if evaluation.recipe.placement == "train" and trained_here(evaluation):
        label = within_a_sentence(PLACEMENTS["train"].label)
        lines += (
            f" The calibrators were fitted to {label}, which are more extreme than the scores of new rows."
        )
    return lines.strip()


def _events(evaluation: Evaluation) -> str:
    """State the number of rows in the minority class, which limits the precision."""
    rare = minority_rows(evaluation.unadjusted or evaluation)
    few = f", fewer than the usual minimum of {FEWEST_TO_JUDGE}" if rare < FEWEST_TO_JUDGE else ""
    return (
        f"The minority class has {counted(rare, 'test row')}{few}. These rows cannot show differences that are "
        "small compared with the intervals."
    )


def _rows(evaluation: Evaluation) -> str:
    """State how many rows were excluded, and how many have missing values."""
    data, lines = evaluation.dataset, []
    if data.read is not None and data.read > data.n:
        excluded = data.read - data.n
        lines.append(
            f"{excluded:,} of {counted(data.read, 'row')} ({percent(excluded / data.read)}) "
            f"{'was' if excluded == 1 else 'were'} excluded. The results apply only to rows that are "
            f"similar to the rows that were kept."
        )
    if trained_here(evaluation):
        gaps = int(data.X.iloc[evaluation.rows].isna().any(axis=1).sum())
        if gaps:
            share = percent(gaps / len(evaluation.rows))
            lines.append(
                f"{counted(gaps, 'test row')} ({share}) {'has' if gaps == 1 else 'have'} missing values, which were "
                "imputed. The results are valid only if values are missing in the same way in deployment."
            )
    return " ".join(lines)


def _clusters(evaluation: Evaluation) -> str:
    """State whether the intervals and the split keep clusters together."""
    cluster = evaluation.cluster
    if cluster is None:
        return "No cluster column was chosen, so all rows are treated as independent."
    lines = (
        f"The intervals are based on {counted(len(set(cluster.tolist())), 'cluster')} among the test rows."
    )
    if evaluation.calibrators and evaluation.recipe.split != "cluster":
        lines += (
            " The split does not keep clusters together, so a cluster can be in both the training and the "
            "test set."
        )
    return lines


def _weights(evaluation: Evaluation) -> str:
    """Name the population that weighted rows represent."""
    if evaluation.dataset.weight is None or are_whole(row_info(evaluation.dataset).weights):
        return ""
    column = f" by the column “{evaluation.recipe.weight}”" if evaluation.recipe.weight else ""
    return f"Rows are weighted{column}. The results apply to the population that the weights represent."


def _base_rate(evaluation: Evaluation) -> str:
    """State the share of events for which the numbers hold."""
    stated = evaluation.recipe.base_rate
    if evaluation.recipe.base_rates:
        return (
            "The numbers refer to deployment class shares. These numbers assume that only the class shares "
            "change; the test rows cannot confirm this."
        )
    if stated is None:
        share = percent(evaluation.share)
        return (
            f"The results apply to an event share near {share}, as in the test set. With a different event "
            f"share, the results may differ."
        )
    return (
        f"The numbers refer to a deployment base rate of {percent(stated)}. These numbers assume that only "
        f"the class shares change; the test rows cannot confirm this."
    )


def _groups(group: str | None, searched: Sequence[str]) -> str:
    """Name the subgroups that were examined."""
    if searched:
        return (
            f"Only segments of {listed(searched, most=8)} were searched, each with enough rows. Smaller "
            "groups, and groups formed by other columns, were not examined."
        )
    if group is None:
        return "No subgroups were examined. A model that is calibrated on average can be miscalibrated in a subgroup."
    return f"Only the subgroups by “{group}” were examined."

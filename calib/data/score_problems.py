"""Report scores that rank the classes in reverse or no better than chance, or are not probabilities."""

from __future__ import annotations

import numpy as np
import pandas as pd

from calib.data.class_tables import AS_LOGITS
from calib.data.duplicates import repeats
from calib.data.errors import ReadingQuestion, as_answer
from calib.data.ranking import auc_interval, class_draws, column_aucs
from calib.data.score_meaning import STATE_CLASS
from calib.kernel.cache import cached_result
from calib.kernel.records import Dataset, Problem
from calib.kernel.rows import Rows
from calib.kernel.weights import represented_rows
from calib.kernel.wording import counted, number, percent, with_interval

ROWS_AT_ONCE = 4096
HEAD = 20_000  # rows that are looked at first
FEW_LINES = 20  # fewer may coincide by chance
GROUPED = 0.5  # share of lines whose score also occurs in the other class


def ask_if_reversed(data: Dataset) -> None:
    """Ask if a convention decided, but all scores clearly rank the classes in reverse."""
    draws = class_draws(Rows(data.y, weight=data.weight, cluster=data.cluster))
    if data.joint or draws is None or (data.weight is None and _is_grouped(data)):
        return
    ranks = _ranks_of(data, draws)
    if not all(high < 0.5 for _, _, (_, high) in ranks):
        return
    negative, positive = data.classes
    column, area, interval = ranks[0]
    result = f"AUC {with_interval(area, *interval)}"
    raise ReadingQuestion(
        f"By convention, {column!r} was read as a score for {positive!r}, but it ranks the classes in "
        f"reverse: {result}.",
        (
            as_answer(f"Score for {negative!r}", f"AUC {number(1 - area)}.", {"positive": negative}),
            as_answer(
                f"Score for {positive!r}, as currently read", f"AUC {number(area)}.", {"positive": positive}
            ),
        ),
        STATE_CLASS,
    )


def of_classes(data: Dataset, model: str) -> np.ndarray:
    """Return the probabilities of all classes (n, K) from a Dataset, without a copy if possible."""
    columns = list(data.columns[model])
    return (data.X if len(columns) == data.X.shape[1] else data.X[columns]).to_numpy()


def ranking_problems(data: Dataset) -> list[Problem]:
    """Report score columns that rank the two classes in reverse or no better than chance, one Problem each.

    For all classes together, report predictions whose most probable class is right hardly more often than by chance.

    >>> import pandas as pd
    >>> from calib.data import prepare_predictions
    >>> table = pd.DataFrame({"y": [0] * 20 + [1] * 20, "p": np.linspace(0.9, 0.1, 40)})
    >>> ranking_problems(prepare_predictions(table, "y", "1"))[0].message
    "These scores rank the classes in reverse: AUC 0 in all 40 rows. These scores seem to refer to class '0'."
    """
    if data.joint:
        return [problem for model in data.columns if (problem := _agreement(data, model)) is not None]
    draws = class_draws(Rows(data.y, weight=data.weight, cluster=data.cluster))
    if draws is None:
        return []
    if data.weight is None and _is_grouped(data):
        return [_without_counts(str(column)) for column in data.X.columns]
    return [_ranks(data, *each) for each in _ranks_of(data, draws) if each[2][0] <= 0.5]


def _ranks_of(data: Dataset, draws: tuple[float, float]) -> list[tuple[str, float, tuple[float, float]]]:
    """Return (score column, its AUC, interval of the AUC) for each score; ``draws`` are those of ``class_draws``."""
    areas = cached_result(
        data, "aucs", lambda: column_aucs(data.X.to_numpy(dtype=float), data.y, data.weight)
    ).tolist()
    return [(str(name), area, auc_interval(area, *draws)) for name, area in zip(data.X, areas, strict=True)]


def _agreement(data: Dataset, model: str) -> Problem | None:
    """Return a warning if the most probable class is not clearly better than a randomly drawn one."""
    assert data.labels is not None
    columns, rows = data.columns[model], Rows(data.y, weight=data.weight, cluster=data.cluster)
    P, guess = of_classes(data, model), np.empty(data.n, dtype=np.intp)
    for start in range(0, data.n, ROWS_AT_ONCE):  # in batches, because NumPy would copy a read-only array
        guess[start : start + ROWS_AT_ONCE] = P[start : start + ROWS_AT_ONCE].argmax(axis=1)
    share = np.bincount(data.labels, rows.weights, minlength=len(columns)) / rows.weights.sum()
    right, chance = data.labels == guess, share[guess]
    gain = right - chance
    if rows.freedom <= 0 or rows.mean(gain) > rows.quantile(0.95) * rows.standard_error(gain):
        return None
    return Problem(
        "warning",
        model,
        f"The most probable class is right in {percent(rows.mean(right))} of the rows, which is not clearly "
        f"more often than expected by chance ({percent(rows.mean(chance))}).",
        f"Check that {columns[0]!r} is the column of class {data.names[0]!r}, and that each row has its own label.",
    )


def _is_grouped(data: Dataset) -> bool:
    """Tell whether rows come from GROUP BY of scores and label: none are equal, and most scores occur once per class.

    Without their counts, such lines rank the classes no better than chance, whatever the scores are worth.
    """
    return cached_result(data, "grouped", lambda: _are_grouped(data.X, data.y))


def _are_grouped(scores: pd.DataFrame, y: np.ndarray) -> bool:
    if len(y) < FEW_LINES or _repeat_within(
        scores[:HEAD], y[:HEAD]
    ):  # found at cached_result, as in most tables
        return False
    return 2 * repeats(scores).sum() > GROUPED * len(y) and not _repeat_within(scores, y)


def _repeat_within(scores: pd.DataFrame, y: np.ndarray) -> bool:
    """Tell whether two rows of one class have equal scores."""
    return any(repeats(scores[y == label]).any() for label in (0, 1))


def _without_counts(column: str) -> Problem:
    return Problem(
        "warning",
        column,
        "Most scores occur exactly once in each class, as in a table of counts. In such a table, the scores "
        "cannot be evaluated without the counts.",
        "On the Data page, choose the column of counts under “Weight or count”.",
    )


def scale_problems(data: Dataset) -> list[Problem]:
    """Report score columns that are margins, or that contain 0 or 1, with what to do about it.

    >>> import pandas as pd
    >>> from calib.data import prepare_predictions
    >>> table = pd.DataFrame({"y": [0, 1, 1], "margin": [-2.5, 1.0, 3.0]})
    >>> scale_problems(prepare_predictions(table, "y"))[0].remedy
    'If they are logits (log-odds), their sigmoid is the probability.'
    >>> table = pd.DataFrame({"y": [0, 1, 1], "p": [0.0, 0.0, 0.7]})
    >>> print(scale_problems(prepare_predictions(table, "y"))[0].message)
    2 of 3 probabilities are exactly 0 or 1; 1 of these is wrong, which makes the log loss infinite.
    """
    if data.joint:
        return []
    ends = list(zip(map(str, data.X.columns), data.X.min(), data.X.max(), strict=True))
    found = [_margins(column, low, high) for column, low, high in ends if low < 0 or high > 1]
    of_probabilities = [
        column for column, low, high in ends if low >= 0 and high <= 1 and (low == 0 or high == 1)
    ]
    return found + [_certain(column, data.X[column].to_numpy(), data.y) for column in of_probabilities]


def _certain(column: str, scores: np.ndarray, y: np.ndarray) -> Problem:
    """Report probabilities (n,) of exactly 0 or 1, beside labels (n,)."""
    certain = (scores == 0) | (scores == 1)
    rows, wrong = int(certain.sum()), int((certain & (scores != y)).sum())
    message = f"{rows:,} of {scores.size:,} probabilities are exactly 0 or 1"
    if wrong:
        verb = "is" if wrong == 1 else "are"
        message += f"; {wrong:,} of these {verb} wrong, which makes the log loss infinite"
    remedy = (
        "If these probabilities are rounded, save more decimals. If 0 or 1 represents a missing score, "
        "exclude these rows."
    )
    fix = {"data_params": {"wrong_scores": "certain"}}
    severity, all_of_them = "warning" if wrong else "info", rows == scores.size
    return Problem(
        severity, column, f"{message}.", remedy, *(() if all_of_them else (fix, "Exclude these rows"))
    )


def _margins(column: str, low: float, high: float) -> Problem:
    message = (
        f"Scores from {number(low)} to {number(high)} are not probabilities, so they cannot be evaluated "
    )
    remedy = "If they are logits (log-odds), their sigmoid is the probability."
    return Problem("info", column, f"{message}without a calibrator.", remedy, AS_LOGITS.fix, AS_LOGITS.label)


def _ranks(data: Dataset, column: str, area: float, interval: tuple[float, float]) -> Problem:
    """Return the warning about scores whose AUC is not clearly above one half."""
    negative, positive = data.classes
    # Without its interval: results state the AUC with that of their own rows
    result = f"AUC {number(area)} in all {counted(represented_rows(data.weight, data.n), 'row')}"
    # "not a" means several labels, none of which could be chosen.
    switch = {"positive": negative} if area < 0.5 and negative != f"not {positive}" else None
    action = f"Make {negative!r} the positive class" if switch else ""
    scores = data.X[column]
    if scores.min() == scores.max():
        message = f"Every row has the same score, {number(float(scores.iloc[0]))}, so these scores cannot rank rows."
        remedy = "Check that you chose the right score column."
        switch, action = None, ""
    elif interval[1] < 0.5:
        message = (
            f"These scores rank the classes in reverse: {result}. These scores seem to refer to "
            f"class {negative!r}."
        )
        remedy = f"The positive class is {positive!r}: choose the class that these scores predict."
    else:
        message = f"These scores do not rank the classes clearly better than chance: {result}."
        remedy = (
            f"Check that these are scores for class {positive!r}, and that each score is in the same "
            "row as its label."
        )
    return Problem("warning", column, message, remedy, switch, action)

"""The choice of a method on these rows: the one comparison behind advice, headline and titles.

The verdict (``verdict``) decides whether to calibrate. The Brier score, a proper score that is always finite, measures
the gain, by paired intervals on the test rows.

- Before any test row is seen, the arena expects the Brier score of each method of ``METHODS_WITH_PRIOR`` to differ by
  δ ± τ from that of automatic calibration. δ and τ depend on the calibration rows of the minority class and on tied
  scores.
- The test rows say d ± s, the paired difference.
- The mean of both, weighted by 1/τ² and 1/s² like a posterior mean, decides: the method with the lowest mean is the
  candidate. Other methods have no prior. The upper end of their interval counts, so they must be clearly better.
- If the model is miscalibrated the candidate is used. If its score is not below that of the uncalibrated model, the
  method with the lowest score replaces it; if all scores are clearly above it, no method helps.
- If no miscalibration, or a negligible one, was found, the candidate is used only if its score is lower, and by its
  interval may be lower by ``LITTLE`` of the uncertainty f (1 − f), with f the share of class 1. Otherwise the
  probabilities are kept.

A method is excluded if it is more extreme than its calibration rows justify: a probability nearer to 0 or 1 than
``JUSTIFIED_ROW_PART`` of a row. On other rows such certainty is wrong sooner or later, at an infinite log loss. For the
same reason an uncalibrated model that is so extreme is not kept.

For K classes together the rule is the same, for the Brier score summed over the classes: the arena of three or more
classes has a prior for each method of ``START_OF_CLASSES``, and the method with the lowest mean is used. A method that
gave the true class a probability of 0 does not replace the first compared one, because its log loss is infinite.

``arena.csv`` and ``arena_classes.csv`` are written by ``python -m scripts.arena_sizes`` (docs/results.md). They hold
means over data sets: for two classes per number of calibration rows of the minority class and kind of scores, for more
classes per number of calibration rows. Differences are shares of the uncertainty: f (1 − f), or 1 − Σ f² if the Brier
score is summed over classes of shares f.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import pandas as pd

from calib.analysis.recommendation.verdict import MISCALIBRATED, verdict_of
from calib.calibrators import by_simplicity
from calib.evaluate import Evaluation
from calib.kernel.binomial import NORMAL_QUANTILE
from calib.kernel.cache import cached_result
from calib.kernel.checks import Array
from calib.kernel.rows import Rows
from calib.metrics.base import TIE_DECIMALS
from calib.metrics.confidence_intervals import mean_interval
from calib.metrics.losses import class_log_losses, class_squared_errors, log_losses, mean, squared_errors
from calib.metrics.paired_intervals import difference_interval

REFERENCE = "auto"  # its own difference is 0


def is_tied(scores: Array) -> bool:
    """Tell whether scores (n,) have few distinct values, such as shares of votes: at most 20, or a tenth of the rows.

    >>> is_tied(np.repeat(np.arange(11) / 10, 9)), is_tied(np.linspace(0, 1, 15)), is_tied(np.linspace(0, 1, 99))
    (True, False, False)
    """
    n = len(scores)
    return bool(len(np.unique(scores)) <= max(n / 10, min(20.0, n / 2)))


def prior(minority: float, tied: bool, table: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return what to expect of each method, one line per key.

    Parameters
    ----------
    minority
        Calibration rows of the minority class; the nearest size of the arena counts.
    tied
        Whether scores have few distinct values.
    table
        Another arena than the shipped one.

    Returns
    -------
    DataFrame
        "difference" from the reference in Brier score and its "deviation" between cases, as shares of the uncertainty.
        The lowest difference is first.

    Examples
    --------
    >>> bool(prior(10, tied=False).difference["isotonic"] > prior(5000, tied=False).difference["isotonic"] > 0)
    True
    """
    table = arena() if table is None else table
    return _nearest(table[table["tied"] == tied], "minority", minority)


def prior_of_classes(rows: float, table: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return what to expect of each method for three or more classes, as ``prior`` does, from the calibration rows.

    Examples
    --------
    >>> bool(prior_of_classes(50).difference["matrix"] > prior_of_classes(1500).difference["matrix"] > 0)
    True
    """
    return _nearest(arena("arena_classes") if table is None else table, "rows", rows)


def _nearest(table: pd.DataFrame, column: str, size: float) -> pd.DataFrame:
    far = np.abs(np.log(table[column] / max(size, 1.0)))
    lines = table[far == far.min()].set_index("method")
    return lines[["difference", "deviation"]].sort_values("difference", kind="stable")


@cache
def arena(name: str = "arena") -> pd.DataFrame:
    """Return a shipped grid: minority and tied, or rows; method, sets, difference, deviation, infinite."""
    with files("calib.analysis.recommendation").joinpath(f"{name}.csv").open("rb") as file:
        return pd.read_csv(file)


# The methods with a prior, of two classes and of more; the first compared one is the reference
METHODS_WITH_PRIOR = ("auto", "platt", "venn_abers")
START_OF_CLASSES = ("auto", "structured_matrix", "dirichlet", "platt")
DIFFERENCE_COLUMNS = ("gap", "gap_lower", "gap_upper")  # columns of a difference from the start or the choice
CHANGES = ("change", "lower", "upper")  # of that from the uncalibrated model
LITTLE = 0.02  # share of the uncertainty f (1 − f) below which a gain is not worth a calibrator
JUSTIFIED_ROW_PART = 0.01  # part of a calibration row; the rows do not justify probabilities nearer to 0 or 1


@dataclass(frozen=True, eq=False)
class Choice:
    """Recommended method, and the comparison of all methods.

    Attributes
    ----------
    choice
        The method, "none" to keep the probabilities.
    start
        The reference: the first compared method of ``METHODS_WITH_PRIOR``, or ``START_OF_CLASSES``.
    table
        One line per method, in the evaluation's order, with columns (for K classes, of the Brier score summed over the
        classes, without same, surest, sure and expected)

        - score: its Brier score; infinite: whether its log loss is; same: the simplest method with equal predictions
        - surest: smallest distance from 0 or 1, in calibration rows; sure: whether it is smaller than they justify
        - change, lower, upper: score − that of the uncalibrated model, with its 95 % interval; else NaN
        - gap, gap_lower, gap_upper: score − that of the choice, likewise
        - expected: expected score − that of the start, by the arena and these rows
    miscalibrated
        Whether the verdict on the uncalibrated model is miscalibrated, and not negligibly.
    """

    choice: str
    start: str
    table: pd.DataFrame
    miscalibrated: bool = False

    @property
    def unhelped(self) -> bool:
        """Whether the model is miscalibrated and no compared method helps."""
        return self.miscalibrated and self.choice == "none"

    @property
    def compared(self) -> bool:
        """Whether the uncalibrated model is among the methods."""
        return "none" in self.table.index


def advise(evaluation: Evaluation) -> Choice:
    """Choose a method on the test rows, with the model and the calibrators as they were fitted.

    Raises
    ------
    ValueError
        If no calibrator could answer.

    Examples
    --------
    >>> from calib import Recipe, evaluate, load_sample
    >>> evaluation = evaluate(Recipe(model="naive_bayes", calibrators=("none", "isotonic")), load_sample("digits"))
    >>> advise(evaluation).choice
    'isotonic'
    """
    if not evaluation.predictions:
        raise ValueError(
            "There is nothing to recommend, because no calibrator was evaluated. Add at least one calibrator."
        )
    rule = _advise if evaluation.classes == 2 else _advise_classes
    return cached_result(evaluation, "advise", lambda: rule(evaluation))


def _advise_classes(evaluation: Evaluation) -> Choice:
    """Choose a method for all classes together."""
    y, rows, P = evaluation.y, evaluation.sample, evaluation.distributions
    losses = {key: class_squared_errors(y, each) for key, each in P.items()}
    infinite = {key: bool(np.isinf(class_log_losses(y, each)).any()) for key, each in P.items()}
    start = next((key for key in START_OF_CLASSES if key in losses), next(iter(losses)))
    before = prior_of_classes(calibration_rows(evaluation, next(iter(evaluation.calibrators), "")))
    uncertainty = 1 - sum(rows.mean(y == k) ** 2 for k in np.unique(y))
    gaps = gaps_from(rows, losses, start)
    choice = lowest_expected(gaps, {key for key in losses if infinite[key]}, before, start, uncertainty)
    table = pd.DataFrame(
        {"score": {key: rows.mean(loss) for key, loss in losses.items()}, "infinite": infinite}
    )
    to_choice = gaps if choice == start else gaps_from(rows, losses, choice)
    return Choice(choice, start, table.join(gaps_from(rows, losses, "none", CHANGES)).join(to_choice))


def _advise(evaluation: Evaluation) -> Choice:
    predicted = {key: each.p for key, each in evaluation.predictions.items()}
    losses = {key: squared_errors(evaluation.y, p) for key, p in predicted.items()}
    table = pd.DataFrame(
        {
            "score": {
                key: round(mean(loss, evaluation.weight), TIE_DECIMALS) for key, loss in losses.items()
            },
            "infinite": {
                key: bool(np.isinf(log_losses(evaluation.y, p)).any()) for key, p in predicted.items()
            },
            "surest": {key: _surest(p) * calibration_rows(evaluation, key) for key, p in predicted.items()},
            "same": {key: _simplest_equal(key, predicted) for key in predicted},
        }
    )
    table.insert(3, "sure", table["surest"] < JUSTIFIED_ROW_PART)
    table = table.join(_against(evaluation, "none", CHANGES))
    start = start_of(table, METHODS_WITH_PRIOR)
    to_start = _against(evaluation, start)
    uncertainty = evaluation.share * (1 - evaluation.share)
    table["expected"] = expected_gaps(to_start, prior(*calibration_kind(evaluation)), start, uncertainty)
    wrong = "none" in table.index and verdict_of(evaluation).finding == MISCALIBRATED
    choice = choose(
        table,
        start,
        miscalibrated=wrong,
        share=evaluation.share,
    )
    table = table.join(to_start if choice == start else _against(evaluation, choice))
    return Choice(choice, start, table, wrong)


def _surest(p: np.ndarray) -> float:
    """Return the smallest distance of a probability from 0 or 1."""
    return float(np.minimum(p, 1 - p).min())


def calibration_rows(evaluation: Evaluation, key: str) -> float:
    """Return the calibration rows of one fit of the calibrator; without any, the test rows."""
    rows = evaluation.calibration_size / max(len(evaluation.calibrators.get(key, ())), 1)
    return rows or evaluation.size


def _simplest_equal(key: str, predicted: dict[str, np.ndarray]) -> str:
    equal = (other for other, p in predicted.items() if np.allclose(p, predicted[key], rtol=0, atol=1e-12))
    return min(equal, key=by_simplicity)


def _against(
    evaluation: Evaluation, reference: str, names: Sequence[str] = DIFFERENCE_COLUMNS
) -> pd.DataFrame:
    """Return the mean difference of every method's losses from those of the reference, with its interval."""
    p = {key: each.p for key, each in evaluation.predictions.items()}
    return _differences(
        p, reference, names, lambda key: difference_interval("brier", evaluation.sample, p[key], p[reference])
    )


def _differences(
    methods: Iterable[str], reference: str, names: Sequence[str], interval: Callable[[str], Sequence[float]]
) -> pd.DataFrame:
    """Return one line per method, NaN if the reference is none of them."""
    unknown = (np.nan,) * len(names)
    lines = {key: interval(key) if reference in methods else unknown for key in methods}
    return pd.DataFrame.from_dict(lines, orient="index", columns=list(names))


def calibration_kind(evaluation: Evaluation) -> tuple[float, bool]:
    """Return the calibration rows of the minority class, and whether the model's scores are tied."""
    rare = min(evaluation.share, 1 - evaluation.share)
    rows = calibration_rows(evaluation, next(iter(evaluation.calibrators), ""))
    own = evaluation.predictions.get("none")
    return rare * rows, own is not None and is_tied(own.p)


def expected_gaps(
    gaps: pd.DataFrame,
    before: pd.DataFrame,
    start: str,
    uncertainty: float,
    order: Sequence[str] = METHODS_WITH_PRIOR,
) -> pd.Series:
    """Return each method's expected Brier score minus that of the start, the mean of prior and test rows.

    Parameters
    ----------
    gaps
        "gap", "gap_lower", "gap_upper" of each method: its difference from the start on the test rows, with the 95 %
        interval; NaN if there is none.
    before
        As from ``prior`` or ``prior_of_classes``, in units of the uncertainty.
    start
        One of the methods.
    uncertainty
        f (1 − f) of the share f of class 1; 1 − Σ f² for K classes of shares f.
    order
        The methods whose prior counts.

    Examples
    --------
    >>> before = pd.DataFrame({"difference": [0.0, 0.01], "deviation": [0.0, 0.01]}, ["auto", "platt"])
    >>> seen = pd.DataFrame({"gap": [0.0, -0.01], "gap_upper": [0.0, -0.01 + 1.96 * 0.01]}, ["auto", "platt"])
    >>> expected_gaps(seen * 0.25, before, "auto", 0.25).round(6).tolist()    # 0.01 and −0.01, equally sure, times 1/4
    [0.0, 0.0]
    """
    found = gaps["gap_upper"].fillna(np.inf)
    known = [key for key in order if key in gaps.index and key in before.index and key != start]
    if start in before.index:
        seen = gaps.loc[known]
        first = uncertainty * (before.difference[known] - before.difference[start])
        spread = uncertainty**2 * (before.deviation[known] ** 2 + before.deviation[start] ** 2)
        error = ((seen["gap_upper"] - seen["gap"]) / NORMAL_QUANTILE) ** 2
        mean = (error * first + spread * seen["gap"]) / (error + spread)
        found[known] = mean.fillna(first)
    found[start] = 0.0
    return found.round(TIE_DECIMALS)


def gaps_from(
    rows: Rows, losses: Mapping[str, Array], start: str, names: Sequence[str] = DIFFERENCE_COLUMNS
) -> pd.DataFrame:
    """Return each method's mean loss minus that of the start, with its 95 % interval, in columns of these names.

    Parameters
    ----------
    rows
        The label, or whether the class that the model predicts is right, (n,): an interval needs rows of both kinds.
    losses
        Method → loss of each row, (n,).
    start
        One of the methods; NaN if it is none of them.
    """
    return _differences(losses, start, names, lambda key: mean_interval(rows, losses[key] - losses[start]))


def lowest_expected(
    gaps: pd.DataFrame, never: Collection[str], before: pd.DataFrame, start: str, uncertainty: float
) -> str:
    """Return the method of K classes with the lowest expected Brier score, by the prior and the test rows.

    Parameters
    ----------
    gaps, before, start, uncertainty
        As for ``expected_gaps``.
    never
        Methods that never replace the start.

    Examples
    --------
    >>> from calib.analysis.recommendation.rule import prior_of_classes
    >>> rows, loss = Rows(np.array([0, 1] * 20)), np.linspace(0.1, 0.2, 40)
    >>> gaps = gaps_from(rows, {"auto": loss + 0.3, "beta": loss, "none": loss - 0.1}, "auto")
    >>> lowest_expected(gaps, {"none"}, prior_of_classes(50), "auto", 0.5)
    'beta'
    """
    expected = expected_gaps(gaps, before, start, uncertainty, START_OF_CLASSES)
    return _lowest(expected.drop([key for key in never if key != start]).to_frame("score"))


def start_of(table: pd.DataFrame, order: Sequence[str]) -> str:
    """Return the first of these, or else "none", with a finite log loss; else the method with the best score."""
    finite = table[~table["infinite"]]
    return next(
        (key for key in (*order, "none") if key in finite.index), _lowest(table if finite.empty else finite)
    )


def choose(
    table: pd.DataFrame,
    start: str,
    *,
    miscalibrated: bool,
    share: float,
    little: float = LITTLE,
) -> str:
    """Choose a method by the rules of this module.

    Parameters
    ----------
    table
        As in ``Choice``, without the gaps.
    start
        The reference.
    miscalibrated
        Whether the uncalibrated model is miscalibrated, and not negligibly.
    share
        Share of class 1.
    """
    sober = table[~table["infinite"] & ~table["sure"]]
    others = sober[sober.index != "none"]
    found = _lowest(table.loc[[start, *others.index.drop(start, errors="ignore")]], "expected")
    if "none" not in table.index:
        return found
    if not miscalibrated and "none" not in sober.index:
        return found
    score, raw = table.score[found], table.score["none"]
    if miscalibrated and score >= raw:
        lower = others[others.score < raw]
        if not lower.empty:
            return _lowest(lower)
        return "none" if table.lower[found] > 0 and not table.infinite["none"] else found
    little_at_most = table.lower[found] > -little * share * (1 - share)  # False where no interval is known
    return found if miscalibrated or (score < raw and not little_at_most) else "none"


def _lowest(table: pd.DataFrame, column: str = "score") -> str:
    """Return the calibrator with the lowest score, or another column; ties go to the simplest."""
    return min(table.index, key=lambda key: (table.loc[key, column], by_simplicity(key)))

"""Which calibrator to use here, in plain words, and how sure that is; and whether there are rows enough to ask.

Calibrators are compared by the Brier score, a proper score that is always finite. The answer rests on the set that
holds the best one with 95 % confidence: a calibrator leaves it only when it is worse than some other by more than
chance, allowing for all comparisons at once (multiple comparisons with the best, Hsu 1981, here with the t statistics'
joint distribution drawn from the scores' covariance, as in the model confidence set of Hansen, Lunde & Nason 2011).
Of that set the simplest is recommended. Chance is that of the test rows, or, once splits were repeated, that of the
split and of everything fitted on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import t as student

from calib.analysis.curves import binomial_interval
from calib.analysis.differences import Repeats
from calib.calibrators import by_simplicity, complexity_of, label_of
from calib.evaluate import Evaluation
from calib.kernel.records import Problem
from calib.kernel.wording import listed, number
from calib.metrics.scoring import squared_errors

LEVEL = 0.95
DRAWS = 10_000

FEWEST_TO_FIT = 20  # rows of the rarer class: ten for each of the two numbers of Platt's line (Peduzzi et al. 1996)
FEWEST_TO_JUDGE = 100  # rows of the rarer class (Collins, Ogundimu & Altman 2016)


@dataclass(frozen=True, eq=False)
class Advice:
    """A recommendation with its grounds.

    choice : the calibrator to use · best : the one with the lowest score · alike : those that may be the best, the
    simplest first · table : by calibrator its score, its difference to the best with a 95 % interval, and chance, the
    share of draws as far from the rivals as it is if it were the best
    answer : one sentence · reasons : sentences
    """

    choice: str
    best: str
    alike: tuple[str, ...]
    table: pd.DataFrame
    answer: str
    reasons: tuple[str, ...]


def advise(evaluation: Evaluation) -> Advice:
    """Advice from the test rows: the model and the calibrators stay as they were fitted.

    Raises ValueError where no calibrator could answer.

    >>> from calib import Recipe, evaluate, load_sample
    >>> evaluation = evaluate(Recipe(model="naive_bayes", calibrators=("none", "isotonic")), load_sample("digits"))
    >>> advise(evaluation).answer
    'Use Isotonic.'
    """
    if not evaluation.predictions:
        raise ValueError("there is no calibrator to advise on")
    losses = np.column_stack([squared_errors(evaluation.y, said.p) for said in evaluation.predictions.values()])
    n = len(losses)
    covariance = np.atleast_2d(np.cov(losses, rowvar=False, ddof=1)) / n if n > 1 else np.zeros(2 * losses.shape[1:])
    wrong = evaluation.measured(["log_loss"])["log_loss"]
    return _advise(
        list(evaluation.predictions),
        losses.mean(axis=0),
        covariance,
        max(n - 1, 1),
        list(wrong.index[np.isinf(wrong)]),
        f"on the {n:,} test rows",
    )


def advise_repeated(repeats: Repeats) -> Advice:
    """Advice from repeated splits, each with its own fit: the variance of the mean is the corrected one."""
    table = repeats.by_split("brier")
    values = table.to_numpy()
    share = 1 / len(values) + repeats.test_to_training
    wrong = [str(key) for key in table if np.isinf(repeats.by_split("log_loss")[key]).any()]
    return _advise(
        list(table),
        values.mean(axis=0),
        np.atleast_2d(np.cov(values, rowvar=False, ddof=1)) * share,
        len(values) - 1,
        wrong,
        f"over {len(values)} random splits",
    )


def chance_of_being_best(
    scores: np.ndarray, covariance: np.ndarray, freedom: int, *, random_state: int = 0
) -> np.ndarray:
    """For each of k methods with mean scores (k,), lower is better, a p-value (k,) of "none is better than this one".

    The statistic is the largest t over the rivals, (score − rival's score)/standard error of the difference, and 0 for
    the one with the lowest score; its distribution under equality is drawn from a multivariate t with the covariance
    (k, k) of the scores and ``freedom``. The set of methods with a p-value above 0.05 holds the truly best one with
    probability 0.95 or more.

    >>> chance_of_being_best(np.array([0.1, 0.1, 0.9]), np.diag([1e-4, 1e-4, 1e-4]), 99) > 0.05
    array([ True,  True, False])
    """
    spread = np.sqrt(np.maximum(_of_differences(covariance), 0.0))
    rng = np.random.default_rng(random_state)
    drawn = rng.multivariate_normal(np.zeros(len(scores)), covariance, DRAWS, method="eigh")
    drawn /= np.sqrt(rng.chisquare(freedom, (DRAWS, 1)) / freedom)
    largest = _largest_t(drawn[:, :, None] - drawn[:, None, :], spread)
    return (largest >= _largest_t(scores[:, None] - scores[None, :], spread) - 1e-12).mean(axis=0)


def _of_differences(covariance: np.ndarray) -> np.ndarray:
    """Variance (k, k) of every difference of two of the k means."""
    variance = np.diag(covariance)
    return variance[:, None] + variance[None, :] - 2 * covariance


def _largest_t(gaps: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """The largest t over the last axis; a difference without spread counts only where it is above rounding."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(spread > 1e-12, gaps / spread, np.where(np.abs(gaps) > 1e-12, np.sign(gaps) * np.inf, 0.0))
    return t.max(axis=-1)


def _advise(
    keys: list[str], scores: np.ndarray, covariance: np.ndarray, freedom: int, wrong: Sequence[str], basis: str
) -> Advice:
    best = int(scores.argmin())
    half = student.ppf((1 + LEVEL) / 2, freedom) * np.sqrt(np.maximum(_of_differences(covariance), 0.0))
    gaps = scores - scores[best]
    table = pd.DataFrame(
        {
            "score": scores,
            "worse": gaps,
            "lower": gaps - half[:, best],
            "upper": gaps + half[:, best],
            "chance": chance_of_being_best(scores, covariance, freedom),
        },
        index=keys,
    )
    alike = tuple(key for key in by_simplicity(keys) if table.chance[key] > 1 - LEVEL)
    safe = tuple(key for key in alike if key not in wrong)
    choice = (safe or alike)[0] if alike[0] != "none" else "none"
    facts = _Facts(keys, scores, half, choice, keys[best], alike, safe, basis)
    answer = "Leave the probabilities as they are." if choice == "none" else f"Use {label_of(choice)}."
    return Advice(choice, keys[best], alike, table, answer, facts.reasons())


@dataclass(frozen=True, eq=False)
class _Facts:
    """What the sentences are made of.

    half : (k, k) half-widths of the intervals of differences · safe : those of ``alike`` with a finite log loss
    """

    keys: list[str]
    scores: np.ndarray
    half: np.ndarray
    choice: str
    best: str
    alike: tuple[str, ...]
    safe: tuple[str, ...]
    basis: str

    def reasons(self) -> tuple[str, ...]:
        return tuple(filter(None, (self._against_none(), self._rivals(), self._price(), self._certain())))

    def _gap(self, first: str, second: str) -> tuple[float, float]:
        """(score of first − score of second, half-width of its interval)."""
        i, j = self.keys.index(first), self.keys.index(second)
        return float(self.scores[i] - self.scores[j]), float(self.half[i, j])

    def _against_none(self) -> str:
        if "none" not in self.keys:
            return f"Its Brier score {self.basis} is {number(float(self.scores[self.keys.index(self.choice)]))}."
        if self.choice != "none":
            gap, half = self._gap("none", self.choice)
            change = "lower" if gap >= 0 else "higher"
            sure = ", which may be luck" if abs(gap) <= half else ""
            return f"Its Brier score {self.basis} is {change} than uncalibrated by {_interval(abs(gap), half)}{sure}."
        if self.best == "none":
            return f"No calibrator has a lower Brier score {self.basis}."
        gap, half = self._gap("none", self.best)
        tried = len(self.keys) - 1  # their best is lower than one of them alone would be: its own interval is no proof
        luck = f", but the best of {tried} tried may be so by luck" if gap > half and tried > 1 else ""
        return (
            f"No calibrator is better by more than luck {self.basis}: the lowest Brier score, {label_of(self.best)}’s, "
            f"is lower by {_interval(gap, half)}{luck}."
        )

    def _rivals(self) -> str:
        """Which others may be the best as well, and why this one was taken."""
        others = [key for key in self.alike if key not in (self.choice, "none")]
        interval = "Venn–Abers also gives an interval with each probability." if "venn_abers" in others else ""
        if self.choice == "none":
            return interval.replace("also", "does as well and")
        if not others:
            return "" if "none" in self.alike else "Every other method is worse by more than luck."
        names = listed([label_of(key) for key in others])
        do = "do" if len(others) > 1 else "does"
        simplest = f"; {label_of(self.choice)} is the simplest" if self.choice == self.alike[0] else ""
        return f"{names} {do} as well as far as can be told{simplest}. {interval}".rstrip()

    def _price(self) -> str:
        """What the simplest method that still beats the uncalibrated model would cost."""
        for key in self.keys:
            simpler = complexity_of(key) < complexity_of(self.choice) and key not in self.alike
            if key == "none" or not simpler or "none" not in self.keys:
                continue
            gain, half = self._gap("none", key)
            if gain > half:
                return f"{label_of(key)} is simpler, but {number(self._gap(key, self.choice)[0])} worse."
        return ""

    def _certain(self) -> str:
        """A word on methods that said 0 or 1 and were wrong, where another is as good."""
        simpler = [
            key for key in self.alike if key not in self.safe and complexity_of(key) <= complexity_of(self.choice)
        ]
        if not simpler or not self.safe:
            return ""
        names = listed([label_of(key) for key in simpler])
        return (
            f"{names} gave a probability of 0 or 1 to something that went the other way, an infinite log loss; "
            f"{label_of(self.safe[0])} never did, and its Brier score is not worse by more than luck."
        )


def _interval(value: float, half: float) -> str:
    return f"{number(value)} [{number(value - half)}, {number(value + half)}]"


def too_few(evaluation: Evaluation) -> tuple[Problem, ...]:
    """Where the rows are too few to tell: a warning for the calibration set, a remark for the test set.

    A calibrator is fitted on what its rarer class shows. With k such rows even their overall share is known only to a
    relative ±2/√k, 45 % for k = 20, and the usual rule asks for ten for each fitted number; Platt's line has two.
    """
    found = []
    folds = evaluation.recipe.folds if evaluation.recipe.evaluation == "folds" else 1
    y = evaluation.calibration_y
    n, ones = round(len(y) / folds), round(int(y.sum()) / folds)
    rare = min(ones, n - ones)
    fitted = [key for key in evaluation.predictions if key != "none"]
    if n and fitted and rare < FEWEST_TO_FIT:
        low, high = (float(end) for end in binomial_interval(ones, n))
        found.append(
            Problem(
                "warning",
                None,
                f"The calibrators were fitted on {n:,} rows, only {rare} of the rarer class: too few to tell them "
                f"apart. Even the overall share of {evaluation.dataset.classes[1]} is known only as "
                f"{low:.0%} to {high:.0%} from them.",
                f"Fit on at least {FEWEST_TO_FIT} of the rarer class, ten for each number that Platt’s line has: "
                "more calibration rows, out-of-bag or cross-calibration, or more data.",
            )
        )
    rare = int(min(evaluation.y.sum(), len(evaluation.y) - evaluation.y.sum()))
    if rare < FEWEST_TO_JUDGE:
        found.append(
            Problem(
                "info",
                None,
                f"The test rows hold {rare} of the rarer class; at least {FEWEST_TO_JUDGE} are usually asked for to "
                "judge calibration, so expect wide intervals.",
                "A larger test share, or every row judged once by folds, gives more.",
            )
        )
    return tuple(found)

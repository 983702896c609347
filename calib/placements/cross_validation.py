"""Cross-calibration: every row calibrates with the score of a model that did not see it.

Platt scaling, isotonic regression and similar methods are fitted on the pooled out-of-fold scores and applied to the
model refitted on all rows. Venn and Venn–Abers predict fold by fold, each with its own model and calibration set, and
the folds' pairs are merged (cross Venn–Abers, Vovk, Petej and Fedorova 2015): by geometric means for the log rule, ``p
= GM(p1)/(GM(1 − p0) + GM(p1))``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import joblib
import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.utils.parallel import Parallel, delayed

from calib.calibrators import Pairwise, merge_pair
from calib.calibrators.joint import normalised
from calib.calibrators.venn_abers import Explanation
from calib.kernel.checks import InputError
from calib.kernel.formula import Expression, sigmoid, steps
from calib.kernel.progress import Watch
from calib.placements.base import Outcome, Placement, Scored, take_rows, with_features
from calib.splits.base import TrainTestRows


@dataclass(frozen=True, eq=False)
class FoldCalibrators:
    """Fitted interval calibrators, one per fold."""

    folds: tuple[Any, ...]

    @property
    def merge(self) -> str:
        return self.folds[0].merge

    def formula(self, *scores: Expression) -> dict[str, Expression]:
        """Return p0, p1 and p as formulas of the folds' scores, merged as in ``merge_folds``."""
        tables = [fold.aligned_steps() for fold in self.folds]
        rules = _log_odds if self.merge == "log" else partial(_unchanged, rule=self.merge)
        means: dict[str, Any] = {}
        for score, (breaks, p0, p1) in zip(scores, tables, strict=True):
            for name, values in rules(p0, p1).items():
                means[name] = steps(score, breaks, values / len(tables)) + means.get(name, 0)
        return {name: sigmoid(mean) for name, mean in means.items()} if self.merge == "log" else means


CERTAIN = 1e9  # log-odds that replace infinite ones; the folds' mean is then still certain


def _log_odds(p0: np.ndarray, p1: np.ndarray) -> dict[str, np.ndarray]:
    """Return the log-odds whose means over the folds are those of p0, p1 and p."""
    with np.errstate(divide="ignore"):
        log_p0, log_not_p0, log_p1, log_not_p1 = (np.log(q) for q in (p0, 1 - p0, p1, 1 - p1))
    ends = {"p0": log_p0 - log_not_p0, "p1": log_p1 - log_not_p1, "p": log_p1 - log_not_p0}
    return {name: np.clip(values, -CERTAIN, CERTAIN) for name, values in ends.items()}


def _unchanged(p0: np.ndarray, p1: np.ndarray, rule: str) -> dict[str, np.ndarray]:
    return {"p0": p0, "p1": p1, "p": merge_pair(p0, p1, rule)}


class CrossFit(Placement):
    """Placement with one model per stratified fold for the calibration scores (n,), and one on all rows.

    Pairs of the folds are merged by ``merge_folds``.

    Raises
    ------
    InputError
        If a class has fewer rows than there are folds.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = np.arange(12.0)[:, None], np.repeat([0, 1], 6)
    >>> placed = CrossFit().fit(GaussianNB(), X, y, cv=3, random_state=0)
    >>> placed.scores.shape, placed.score([[0.0], [11.0]]).by_fold.shape
    ((12,), (3, 2))
    """

    key = "cv"
    label = "Cross-calibration"
    help = (
        "Every training row is also a calibration row, scored by a model that was not trained on it. "
        "Cross-calibration requires one fit per fold and one fit to all rows."
    )

    def _fit(self, X: Any, y: np.ndarray, watch: Watch) -> None:
        if self.split.divides and (rarest := self.rows.rarest) < self.cv:
            raise InputError(
                f"cv={self.cv} folds need at least {self.cv} rows of each class, but the minority class has {rarest}. "
                "Use fewer folds or more rows, or choose placement='split' or 'oob'."
            )
        cuts = self.split.calibration_folds(self.rows, self.cv, self.random_state)
        self._place([cut.test for cut in cuts], [cut.test_weight for cut in cuts])
        self.fold_models = []
        self.scores = self._no_scores(len(self.index))
        folds = len(cuts)
        parts = [watch.within(k / (folds + 1), (k + 1) / (folds + 1)) for k in range(folds)]
        fits = self._fits(X, y, cuts, parts)
        for fold, part, (model, scores) in zip(self.fold_index, parts, fits, strict=True):
            part.step(1.0, "folds")
            self.scores[fold] = scores
            self.fold_models.append(model)
        self.model, _ = self._train_on_all(X, y, watch.within(folds / (folds + 1), 1.0))
        if self.fold_index and len(np.unique(self.index)) < len(y):
            self._note(
                f"{len(y) - len(self.index):,} of {len(y):,} training rows are not calibration rows, because there are "
                "too few earlier rows to train a model that could score them."
            )

    def _fits(
        self, X: Any, y: np.ndarray, cuts: Sequence[TrainTestRows], parts: Sequence[Watch]
    ) -> Iterator[tuple[BaseEstimator, np.ndarray]]:
        """Yield the model of each fold and its scores of the fold; other processes neither report nor are cancelled."""
        if joblib.effective_n_jobs(self.n_jobs) > 1:
            work = (delayed(self._fit_fold)(X, y, cut, None) for cut in cuts)
            return iter(Parallel(n_jobs=self.n_jobs, return_as="generator")(work))
        return (self._fit_fold(X, y, cut, part) for cut, part in zip(cuts, parts, strict=True))

    def _fit_fold(
        self, X: Any, y: np.ndarray, cut: TrainTestRows, watch: Watch | None
    ) -> tuple[BaseEstimator, np.ndarray]:
        model = self._train_on(X, y, cut.train, watch or Watch(), cut.train_weight)
        return model, self._model_scores(model, take_rows(X, cut.test))

    def _place(self, tests: list[np.ndarray], weights: list[np.ndarray | None]) -> None:
        """Set the calibration rows in the order of X, and the positions of each fold's rows among them."""
        joined = np.concatenate(tests)
        order = np.argsort(joined, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        self.index = joined[order]
        self.fold_index = np.split(place, np.cumsum([len(test) for test in tests])[:-1])
        parted = [each for each in weights if each is not None]
        if parted:
            self.weight = np.concatenate(parted)[order]

    def score(self, X: Any, watch: Watch | None = None) -> Scored:
        by_fold = np.stack([self.scores_of(model, X) for model in self.fold_models])
        return Scored(self.scores_of(self.model, X), X, by_fold=by_fold)

    def calibrate(self, calibrator: BaseEstimator, X: Any = None) -> Any:
        # No theorem covers pairs of Pairwise
        if not calibrator.gives_interval or isinstance(calibrator, Pairwise):
            return super().calibrate(calibrator, X)
        if min(map(len, self.fold_index)) < 2:
            raise InputError(
                f"{calibrator.label} is fitted in each fold, but a fold has fewer than two calibration rows. Use fewer "
                "folds, or a calibrator without intervals, which is fitted on the rows of all folds together."
            )
        calibrator = self._for_classes(calibrator)
        given = self._input(calibrator, X)
        return FoldCalibrators(
            tuple(
                self._fitted(
                    calibrator,
                    take_rows(given, fold),
                    self.y[fold],
                    None if self.weight is None else self.weight[fold],
                )
                for fold in self.fold_index
            )
        )

    def predict(self, fitted: Any, tests: Scored) -> Outcome:
        if not isinstance(fitted, FoldCalibrators):
            return super().predict(fitted, tests)
        assert tests.by_fold is not None
        pairs = [
            c.predict_interval(with_features(c, scores, tests.X) if c.input == "features" else scores)
            for c, scores in zip(fitted.folds, tests.by_fold, strict=True)
        ]
        p0, p1 = np.moveaxis(np.stack(pairs), -1, 0)
        merged = merge_folds(p0, p1, fitted.merge)
        return replace(merged, p=normalised(merged.p)) if merged.p.ndim == 2 else merged

    def explain(self, fitted: Any, tests: Scored, j: int) -> tuple[Explanation, ...]:
        assert tests.by_fold is not None
        return tuple(c.explain(scores[j]) for c, scores in zip(fitted.folds, tests.by_fold, strict=True))

    @staticmethod
    def fits(cv: int, n: int) -> int:
        return cv + 1


def merge_folds(p0: np.ndarray, p1: np.ndarray, rule: str = "log") -> Outcome:
    """Merge the folds' pairs into one probability and one interval.

    Parameters
    ----------
    p0, p1 : (folds, m), or (folds, m, K)
        Pairs with p0 <= p1, p0 < 1 and p1 > 0.
    rule
        "log": p = GM(p1)/(GM(1 − p0) + GM(p1)) over the folds, and the interval's ends are means on the logit
        scale, GM(p0)/(GM(p0) + GM(1 − p0)) and the same for p1; they never cross and always include p. "square" and
        "midpoint": p is the mean of the folds' merged values, and the interval's ends are means of p0 and of p1.

    Examples
    --------
    >>> merged = merge_folds(np.array([[0.2], [0.4]]), np.array([[0.5], [0.5]]))
    >>> merged.p.round(4)                    # 0.5/(√(0.8·0.6) + 0.5)
    array([0.4192])
    >>> merged.lower.round(4), merged.upper    # √0.08/(√0.08 + √0.48), 1/2
    (array([0.2899]), array([0.5]))
    """
    if rule == "log":
        # log 0 = −∞ is correct here: a fold that rules out a class determines that end
        with np.errstate(divide="ignore"):
            log_p0, log_not_p0, log_p1, log_not_p1 = (
                np.mean(np.log(q), axis=0) for q in (p0, 1 - p0, p1, 1 - p1)
            )
        lower, upper = expit(log_p0 - log_not_p0), expit(log_p1 - log_not_p1)
        p = expit(log_p1 - log_not_p0)
    else:
        lower, upper = p0.mean(axis=0), p1.mean(axis=0)
        p = merge_pair(p0, p1, rule).mean(axis=0)
    return Outcome.of_pair(np.stack([lower, upper], axis=-1), np.clip(p, lower, upper))

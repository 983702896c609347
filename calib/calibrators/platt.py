"""Platt scaling: a sigmoid through the scores, with targets slightly inside 0 and 1.

Platt 1999; Johansson et al., SDM 2019, eq. 2.4–2.6. With k₊ and k₋ calibration rows of each class the targets
are ``t₊ = (k₊ + 1)/(k₊ + 2)`` and ``t₋ = 1/(k₋ + 2)``, which keeps the fit finite on separable data.

Platt's scores were margins. Probabilities are bounded by 0 and 1, where a sigmoid fits poorly. Their log-odds are on
the scale of a margin, and for gradient boosting and logistic regression they are the decision function itself. A share
of votes may be 0 or 1, with infinite log-odds; it is clipped to half the smallest step, just beyond all others.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy.special import expit

from calib.calibrators.base import EXTRAPOLATED, INPUT_READERS, ScoreCalibrator
from calib.calibrators.log_odds import CLIP, log_odds, slope_notes
from calib.kernel.checks import Array
from calib.kernel.fields import Fields
from calib.kernel.formula import Expression, falling, line, logit
from calib.kernel.likelihood import fit_logistic
from calib.kernel.records import Parameter
from calib.kernel.weights import or_ones


class Platt(ScoreCalibrator):
    """Platt scaling, ``p = 1 / (1 + exp(A s + B))``, fitted to Platt's targets; any scores, optional weights.

    Used directly, the class fits the given scores. Placements (and so the pages, ``evaluate`` and
    ``CalibratedClassifier``) fit it on the log-odds of a model's probabilities; ``notes_`` states which.

    ``A_`` and ``B_`` are the fitted numbers; ``A_`` is negative if higher scores mean class 1. For constant scores, A
    is 0 and the mean target is predicted; a single class is refused.

    Parameters
    ----------
    on
        "score" uses s unchanged, as in the papers; "log-odds" takes probabilities and uses s = ln(p / (1 − p)). "auto"
        means "score" if the class is used directly; placements choose "log-odds" for a model's probabilities and
        "score" for its margins, which are already on this scale.
    clip
        Distance from 0 and 1 to which probabilities are clipped for log-odds. None means half the smallest distance
        of calibration scores other than 0 and 1 (with n votes, half a vote), stored in ``clip_``. Placements choose
        2.2e-16 if the log-odds are the model's decision function.

    Examples
    --------
    >>> platt = Platt().fit([-1, 1], [0, 1])    # targets 1/3 and 2/3, met exactly: A = −ln 2, B = 0
    >>> bool(np.isclose(platt.A_, -np.log(2))), bool(np.isclose(platt.B_, 0))
    (True, True)
    >>> platt.predict([0, 1]).round(6)
    array([0.5     , 0.666667])
    >>> Platt(on="log-odds").fit([0.2, 0.8], [0, 1]).predict([0.2, 0.5, 0.8]).round(6)    # log-odds −ln 4, 0, ln 4
    array([0.333333, 0.5     , 0.666667])

    On a model's probabilities, a placement fits the sigmoid through their log-odds:

    >>> p, y = np.array([0.1, 0.3, 0.4, 0.6, 0.8, 0.9]), [0, 0, 1, 0, 1, 1]
    >>> platt = Platt(on="log-odds").fit(p, y)
    >>> platt.notes_[0]
    'fitted on the log-odds of the scores.'
    >>> bool(np.allclose(platt.predict(p), Platt().fit(np.log(p / (1 - p)), y).predict(np.log(p / (1 - p)))))
    True
    >>> bool(np.allclose(platt.predict(p), Platt().fit(p, y).predict(p)))    # of the probabilities unchanged
    False
    """

    key = "platt"
    label = "Platt scaling"
    source = "Platt 1999; Johansson et al., SDM 2019, eq. 2.4–2.6"
    answers_one_class = False
    weighted = True
    complexity = 3
    kind = "sigmoid"
    beyond = EXTRAPOLATED
    parameters = (
        Parameter(
            "on",
            "Platt scaling on",
            "choice",
            "auto",
            choices=("auto", "log-odds", "score"),
            help="“Auto” uses the log-odds of probabilities, and uses margins unchanged. On average over 39 "
            "data sets, log-odds gave a lower Brier score and log loss than unchanged probabilities, which "
            "the original papers use.",
            only_with=("score", ("probability",)),
        ),
        Parameter(
            "clip",
            "Distance from 0 and 1",
            "number",
            None,
            CLIP,
            0.5,
            optional=True,
            help="Minimum distance of probabilities from 0 and 1, where log-odds are infinite. If unset, "
            "this is half the distance of the nearest calibration score from 0 or 1.",
            only_with=("on", ("auto", "log-odds")),
            extra={"unset": "half a step"},
        ),
    )

    def __init__(self, on: Literal["auto", "log-odds", "score"] = "auto", clip: float | None = None):
        self.on = on
        self.clip = clip

    @property
    def takes(self) -> str:
        return "probability" if self.on == "log-odds" else self.input

    def adapt(self, scores: Array, probability: bool, decides: bool) -> None:
        """Choose log-odds for probabilities; a margin is already on that scale."""
        if self.on == "score":
            return
        self.on = "log-odds" if probability else "score"
        if probability and self.clip is None and decides and scores.min() > 0 and scores.max() < 1:
            self.clip = CLIP  # the log-odds are the decision function, which is used unchanged

    def _read(self, scores: Any) -> Array:
        return INPUT_READERS[self.takes](scores)

    def _learn(self, scores: Array, y: Array, weights: Array | None) -> None:
        weights = or_ones(weights, len(y))
        if self.on == "log-odds":
            self.clip_ = half_step(scores) if self.clip is None else self.clip
        targets = np.where(y == 1, *platt_targets(weights @ y, weights.sum()))
        fit = fit_logistic(self._line(scores)[:, None], targets, weights)
        self.A_, self.B_ = -float(fit.slopes[0]), -fit.intercept

    def _notes(self) -> tuple[str, ...]:
        return (*self._scale_notes(), *slope_notes(-self.A_))

    def _scale_notes(self) -> tuple[str, ...]:
        if self.on == "auto":
            return ()
        if self.on == "score":
            return ("fitted on the unchanged scores.",)
        low = float(f"{self.clip_:.2g}")
        kept = f"scores are clipped to [{low:g}, {1 - low:.10g}], so that log-odds stay finite."
        return ("fitted on the log-odds of the scores.", *([kept] if self.clip_ > CLIP else []))

    def _line(self, scores: Array) -> Array:
        """Return the input of the sigmoid."""
        return log_odds(scores, self.clip_) if self.on == "log-odds" else scores

    def _map(self, scores: Array) -> Array:
        with np.errstate(over="ignore"):
            return expit(-(self.A_ * self._line(scores) + self.B_))

    def _formula(self, score: Expression) -> Expression:
        if self.on == "log-odds":
            return falling(self.A_ * logit(score, self.clip_) + self.B_)
        return falling(line(score, self.A_, self.B_))

    def to_map(self) -> dict[str, Any]:
        return self._learned("A", "B", *(["clip"] if self.on == "log-odds" else []))

    @classmethod
    def from_map(cls, fields: Fields) -> Platt:
        line = {"A": fields.number("A"), "B": fields.number("B", infinite=True)}
        if "clip" not in fields:
            return cls()._with_learned(**line)
        return cls("log-odds")._with_learned(**line, clip=fields.number("clip", CLIP, 0.5))


def platt_targets(positive: float, total: float) -> tuple[float, float]:
    """Return t₊ and t₋ for so many rows of class 1, of all.

    >>> platt_targets(1, 4)
    (0.6666666666666666, 0.2)
    """
    return (positive + 1) / (positive + 2), 1 / (total - positive + 2)


def half_step(p: Array) -> float:
    """Return half the smallest distance from 0 or 1 of the probabilities other than 0 and 1.

    >>> half_step(np.array([0.0, 0.02, 0.5, 1.0]))
    0.01
    >>> half_step(np.array([0.0, 1.0]))    # only 0 and 1: any number gives the same sigmoid
    0.25
    """
    apart = np.minimum(p, 1 - p)
    return max(CLIP, float(apart[apart > 0].min(initial=0.5)) / 2)

"""Scale the log-probabilities of K classes: a matrix, a vector of intercepts, and then the softmax.

``softmax(W z + b)`` with z = ln P. *Vector scaling* has a diagonal W, *matrix scaling* a free one (Guo et al. 2017,
who apply both to a network's logits). *Dirichlet calibration* is the same map with penalties on the intercepts and off
the diagonal (ODIR; Kull et al. 2019). The two *structured* forms penalise all deviations from the identity, after
temperature scaling (Holzmüller et al. 2025, SVS and SMS in probmetrics).
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import log_softmax, softmax

from calib.calibrators.joint import JointCalibrator, log_probabilities, log_terms
from calib.calibrators.log_odds import CLIP
from calib.kernel.checks import Array
from calib.kernel.fields import Fields, json_numbers
from calib.kernel.formula import Expression, Number, softmax_terms
from calib.kernel.records import Parameter
from calib.kernel.softmax import SoftmaxFit, fit_softmax, joint_temperature
from calib.kernel.weights import or_ones

LEAST_PROBABILITY = float(np.finfo(np.float32).tiny)  # as in probmetrics
SEPARATES = (
    "The scores separate the classes perfectly, so the likelihood has no maximum and the fit stopped early."
)


class Scaling(JointCalibrator):
    """Base of ``softmax(W z + b)`` with z = ln P; a method fits W and b in ``_fitted(z, y, weights)``.

    ``W_`` (K, K) and ``b_`` (K,) are the fitted numbers, and ``bounded_`` is true if the fit stopped early.
    """

    def _learn(self, P: Array, y: Array, weights: Array | None) -> None:
        fit = self._fitted(log_probabilities(P), y, or_ones(weights, len(y)))
        self.W_, self.b_, self.bounded_ = fit.weights, fit.intercepts, fit.bounded

    def _fitted(self, z: Array, y: Array, weights: Array) -> SoftmaxFit:
        raise NotImplementedError

    def _map(self, P: Array) -> Array:
        return softmax(log_probabilities(P) @ self.W_.T + self.b_, axis=1)

    def _fields(self) -> dict[str, Any]:
        return {"W": json_numbers(self.W_), "b": json_numbers(self.b_), "least": CLIP}

    @classmethod
    def _read_fields(cls, fields: Fields, present: Array) -> Self:
        made, k = cls(), len(present)
        fields.number("least", CLIP, CLIP)
        made.W_, made.b_ = fields.matrix("W", (k, k)), fields.numbers("b", length=k)
        return made

    def _formula(self, P: list[Expression]) -> list[Expression]:
        z = log_terms(P)
        logits = [
            sum((float(w) * each for w, each in zip(row, z, strict=True)), Number(float(b)))
            for row, b in zip(self.W_, self.b_, strict=True)
        ]
        return softmax_terms(logits)

    def _notes(self) -> tuple[str, ...]:
        return (SEPARATES,) if self.bounded_ else ()


class VectorScaling(Scaling):
    """Vector scaling: a factor and an intercept per class, by maximum likelihood; optional weights.

    >>> P, y = [[0.5, 0.25, 0.25]] * 4 + [[0.2, 0.2, 0.6]] * 4, [0, 0, 1, 2, 0, 1, 2, 2]
    >>> VectorScaling().fit(P, y).predict(P[3:5]).round(4)    # two distinct rows: the frequencies of the classes
    array([[0.5 , 0.25, 0.25],
           [0.25, 0.25, 0.5 ]])
    """

    key = "vector"
    label = "Vector scaling"
    name = "vector scaling"
    source = "Guo et al. 2017"
    complexity = 2

    def _fitted(self, z: Array, y: Array, weights: Array) -> SoftmaxFit:
        return fit_softmax(z, y, weights, diagonal=True)


class MatrixScaling(Scaling):
    """Matrix scaling: every class's logit from all log-probabilities, by maximum likelihood; optional weights.

    >>> P, y = [[0.5, 0.25, 0.25]] * 4 + [[0.2, 0.2, 0.6]] * 4, [0, 0, 1, 2, 0, 1, 1, 2]
    >>> MatrixScaling().fit(P, y).predict(P[3:5]).round(4)    # two distinct rows: the frequencies of the classes
    array([[0.5 , 0.25, 0.25],
           [0.25, 0.5 , 0.25]])
    """

    key = "matrix"
    label = "Matrix scaling"
    name = "matrix scaling"
    source = "Guo et al. 2017"
    complexity = 6

    def _fitted(self, z: Array, y: Array, weights: Array) -> SoftmaxFit:
        return fit_softmax(z, y, weights)


def _off_diagonal(k: int, strength: float) -> Array:
    """Return a penalty (K, K) of this strength off the diagonal."""
    return strength * (1 - np.eye(k))


# The strongest first, because each fit starts at the previous one
STRENGTHS = (
    1000.0,
    100.0,
    10.0,
    1.0,
    1e-1,
    1e-2,
    1e-3,
)
FOLDS = 3
ROUGHLY = 1e-5  # norm of the gradient, sufficient to compare strengths


class Dirichlet(Scaling):
    """Dirichlet calibration: matrix scaling with a penalty on intercepts and on W off its diagonal; optional weights.

    It minimises the mean log loss + λ/(K(K − 1)) Σ_{i≠j} W_ij² + μ/K Σ b_j² (ODIR).

    Parameters
    ----------
    off_diagonal, intercepts
        Strengths λ and μ. None chooses among 0.001, 0.01 … 1,000 by the log loss in three inner folds: first with
        λ = μ, then μ alone. ``off_diagonal_`` and ``intercepts_`` are the strengths used.

    Examples
    --------
    >>> P, y = [[0.5, 0.25, 0.25]] * 4 + [[0.2, 0.2, 0.6]] * 4, [0, 0, 1, 2, 0, 1, 1, 2]
    >>> Dirichlet(off_diagonal=1e-9, intercepts=1e-9).fit(P, y).predict(P[3:5]).round(3)    # as matrix scaling
    array([[0.5 , 0.25, 0.25],
           [0.25, 0.5 , 0.25]])
    """

    key = "dirichlet"
    label = "Dirichlet calibration"
    source = "Kull et al. 2019"
    complexity = 5
    parameters = (
        Parameter(
            "off_diagonal",
            "Penalty off the diagonal",
            "number",
            None,
            0.0,
            1e6,
            optional=True,
            help="Strength λ of the penalty on the effect of one class on another; if unset, inner folds choose it.",
            extra={"unset": "chosen by inner folds"},
        ),
        Parameter(
            "intercepts",
            "Penalty on intercepts",
            "number",
            None,
            0.0,
            1e6,
            optional=True,
            help="Strength μ of the penalty on the intercepts; if unset, inner folds choose it.",
            extra={"unset": "chosen by inner folds"},
        ),
    )

    def __init__(self, off_diagonal: float | None = None, intercepts: float | None = None):
        self.off_diagonal = off_diagonal
        self.intercepts = intercepts

    def _fitted(self, z: Array, y: Array, weights: Array) -> SoftmaxFit:
        self.off_diagonal_, self.intercepts_ = self._strengths(z, y, weights)
        return self._penalised(z, y, weights, self.off_diagonal_, self.intercepts_)

    @staticmethod
    def _penalised(
        z: Array, y: Array, weights: Array, off: float, intercepts: float, **search: Any
    ) -> SoftmaxFit:
        k = z.shape[1]
        penalty = _off_diagonal(k, off / (k * (k - 1)))
        return fit_softmax(z, y, weights, penalty=penalty, intercept_penalty=intercepts / k, **search)

    def _strengths(self, z: Array, y: Array, weights: Array) -> tuple[float, float]:
        """Return λ and μ: the given ones, or the best in inner folds."""
        off, intercepts = self.off_diagonal, self.intercepts
        if off is not None and intercepts is not None:
            return off, intercepts
        held_out = _HeldOutLoss(z, y, weights, self._penalised)
        if off is None:
            off = min(STRENGTHS, key=lambda each: held_out(each, each if intercepts is None else intercepts))
        if intercepts is None:
            intercepts = min(STRENGTHS, key=partial(held_out, off))
        return off, intercepts


class _HeldOutLoss:
    """Log loss in inner folds as a function of the two strengths; each fit starts at the previous one."""

    def __init__(self, z: Array, y: Array, weights: Array, fit: Any) -> None:
        self.z, self.y, self.weights, self.fit = z, y, weights, fit
        self.fold = _folds(y)
        self.last: list[SoftmaxFit | None] = [None] * FOLDS
        self.known: dict[tuple[float, float], float] = {}

    def __call__(self, off: float, intercepts: float) -> float:
        if (off, intercepts) not in self.known:
            self.known[off, intercepts] = sum(self._loss(fold, off, intercepts) for fold in range(FOLDS))
        return self.known[off, intercepts]

    def _loss(self, fold: int, off: float, intercepts: float) -> float:
        kept, held = self.fold != fold, self.fold == fold
        fit = self.fit(self.z[kept], self.y[kept], self.weights[kept], off, intercepts, start=self.last[fold])
        self.last[fold] = fit
        losses = log_softmax(self.z[held] @ fit.weights.T + fit.intercepts, axis=1)
        return float(-self.weights[held] @ losses[np.arange(held.sum()), self.y[held]])


def _folds(y: Array) -> Array:
    """Return an inner fold for each row, int (n,): rows of a class are assigned in turn, in a fixed random order."""
    order = np.random.default_rng(0).permutation(len(y))
    fold = np.empty(len(y), dtype=np.intp)
    for k in np.unique(y):
        rows = order[y[order] == k]
        fold[rows] = np.arange(len(rows)) % FOLDS
    return fold


class _Structured(Scaling):
    """Temperature scaling, mixed with the uniform distribution at weight 1/(n + 1), followed by a penalised map."""

    diagonal: ClassVar[bool]
    kind = "structured_softmax"

    def _learn(self, P: Array, y: Array, weights: Array | None) -> None:
        counts = or_ones(weights, len(y))
        self.T_, _ = joint_temperature(log_probabilities(P, LEAST_PROBABILITY), y, counts)
        self.mixed_ = 1 / (counts.sum() + 1)
        super()._learn(self._warmed(P), y, weights)

    def _map(self, P: Array) -> Array:
        return super()._map(self._warmed(P))

    def _fields(self) -> dict[str, Any]:
        return {"T": self.T_, "mixed": self.mixed_, "first_least": LEAST_PROBABILITY, **super()._fields()}

    @classmethod
    def _read_fields(cls, fields: Fields, present: Array) -> Self:
        made = super()._read_fields(fields, present)
        fields.number("first_least", LEAST_PROBABILITY, LEAST_PROBABILITY)
        made.T_, made.mixed_ = fields.number("T", 1e-6, 1e6), fields.number("mixed", 0, 1)
        return made

    def _formula(self, P: list[Expression]) -> list[Expression]:
        warm = softmax_terms([each / self.T_ for each in log_terms(P, LEAST_PROBABILITY)])
        return super()._formula([(1 - self.mixed_) * each + self.mixed_ / len(P) for each in warm])

    def _warmed(self, P: Array) -> Array:
        warm = softmax(log_probabilities(P, LEAST_PROBABILITY) / self.T_, axis=1)
        return (1 - self.mixed_) * warm + self.mixed_ / P.shape[1]

    def _fitted(self, z: Array, y: Array, weights: Array) -> SoftmaxFit:
        n, k = weights.sum(), z.shape[1]
        penalty = _off_diagonal(k, k * (k - 1) / n) + np.eye(k) * k / n
        return fit_softmax(z, y, weights, diagonal=self.diagonal, penalty=penalty, intercept_penalty=k / n)


class StructuredVector(_Structured):
    """Structured vector scaling: a factor and an intercept per class, shrunk towards temperature scaling; weights.

    It minimises the mean log loss + K/n (Σ (W_kk − 1)² + Σ b_k²).

    >>> P, y = [[0.5, 0.25, 0.25]] * 400 + [[0.2, 0.2, 0.6]] * 400, [0, 0, 1, 2] * 100 + [0, 1, 2, 2] * 100
    >>> StructuredVector().fit(P, y).predict(P[:1]).round(3)    # close to the frequencies
    array([[0.492, 0.26 , 0.248]])
    """

    key = "structured_vector"
    label = "Structured vector scaling"
    name = "structured vector scaling"
    source = "Holzmüller et al. 2025, probmetrics (SVS)"
    complexity = 3
    diagonal = True


class StructuredMatrix(_Structured):
    """Structured matrix scaling: every logit from all, shrunk towards temperature scaling; optional weights.

    It minimises the mean log loss + K/n (Σ (W_kk − 1)² + Σ b_k²) + K(K − 1)/n Σ_{i≠j} W_ij².

    >>> P, y = [[0.5, 0.25, 0.25]] * 400 + [[0.2, 0.2, 0.6]] * 400, [0, 0, 1, 2] * 100 + [0, 1, 2, 2] * 100
    >>> StructuredMatrix().fit(P, y).predict(P[:1]).round(3)    # close to the frequencies
    array([[0.498, 0.253, 0.25 ]])
    """

    key = "structured_matrix"
    label = "Structured matrix scaling"
    name = "structured matrix scaling"
    source = "Holzmüller et al. 2025, probmetrics (SMS)"
    complexity = 4
    diagonal = False

"""Calibrators of K classes made of two-class ones: one per class against the rest, or one per pair of classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from calib.calibrators.base import IntervalCalibrator, ScoreCalibrator
from calib.calibrators.joint import JointCalibrator, Unchanged, normalised, normalised_terms
from calib.calibrators.merge import MERGE_RULES
from calib.calibrators.registry import CALIBRATORS, INPUT_TABLES, JOINT
from calib.kernel.checks import Array, InputError
from calib.kernel.fields import Fields
from calib.kernel.formula import Arithmetic, Expression, Number, steps

LEAST_PAIRWISE = 1e-305  # a smaller r_ij counts as 0 in formulas, which cannot divide by 0


class FromTwoClasses(JointCalibrator):
    """Base of both; ``key`` is the key of a two-class calibrator, or such a calibrator."""

    one_per: ClassVar[str]
    promise: ClassVar[str]
    """Guarantee of its intervals, in words."""
    calibrators_: dict[Any, ScoreCalibrator]

    def __init__(self, key: Any = "venn_abers"):
        self.key = key  # type: ignore[misc]

    @property
    def method(self) -> str:
        return self._new().key

    @property
    def gives_interval(self) -> bool:  # type: ignore[override]
        """Tell whether the two-class calibrator gives intervals."""
        return issubclass(self._method(), IntervalCalibrator)

    @property
    def merge(self) -> Any:  # type: ignore[override]
        """Merge rule of the two-class calibrator."""
        return self._new().merge  # type: ignore[attr-defined]

    def _fields(self) -> dict[str, Any]:
        each = self.calibrators_.items()
        return {"calibrators": [self._named(key) | _map_of(one) for key, one in each]}

    @classmethod
    def _read_fields(cls, fields: Fields, present: Array) -> Self:
        keys, each = cls._keys(present), fields.objects("calibrators")
        if len(each) != len(keys):
            raise fields.refuse("calibrators", f"must contain {len(keys)} calibrators, {cls.one_per}")
        read = [_read_map(one) for one in each]
        for key, one in zip(keys, each, strict=True):
            for name, k in cls._named(key).items():
                one.choice(name, [k])
        made = cls(clone(read[0]))
        made.calibrators_ = dict(zip(keys, read, strict=True))
        return made

    @classmethod
    def _keys(cls, present: Array) -> list[Any]:
        """Return the keys of ``calibrators_``, in order, if these classes have rows."""
        raise NotImplementedError

    @staticmethod
    def _named(key: Any) -> dict[str, int]:
        """Return a key as fields of a file."""
        raise NotImplementedError

    def predict_interval(self, P: Any) -> Array:
        """Return a pair per class and row, (m, K, 2), p0 <= p1; [0, 1] for a class without calibration rows.

        Raises
        ------
        InputError
            If the two-class calibrator gives no intervals.
        """
        P = self._read(P)
        if not self.gives_interval:
            raise InputError(f"{self._method().label} gives no interval. Choose 'venn' or 'venn_abers'.")
        found = np.broadcast_to([0.0, 1.0], (*P.shape, 2)).copy()
        found[:, self.present_] = self._intervals(P)
        return found

    def _end_terms(self, ends: Mapping[int, tuple[Expression, Expression]]) -> dict[str, Expression]:
        """Return formulas of p0_0, p1_0, p0_1 … like ``predict_interval``."""
        every = (ends.get(k, (Number(0.0), Number(1.0))) for k in range(self.n_classes_))
        return {f"p{i}_{k}": each for k, pair in enumerate(every) for i, each in enumerate(pair)}

    def _intervals(self, P: Array) -> Array:
        """Return the pairs of the classes that have calibration rows, (m, k, 2)."""
        raise NotImplementedError

    def _method(self) -> type[ScoreCalibrator]:
        return type(self._new())

    def _new(self) -> ScoreCalibrator:
        """Return a new two-class calibrator."""
        if isinstance(self.key, ScoreCalibrator):
            made = clone(self.key)
        elif self.key not in list(CALIBRATORS):
            raise InputError(f"key must be one of {', '.join(map(repr, CALIBRATORS))}, but is {self.key!r}.")
        else:
            made = CALIBRATORS[self.key]()
        if made.input in INPUT_TABLES:
            raise InputError(
                f"Only binary classification is supported by {made.name or made.label}, which needs more than one "
                "score per row. Choose another calibrator."
            )
        return made


class OneVsRest(FromTwoClasses):
    """Calibrator of each class against the rest by a two-class calibrator; rows are then divided by their sums.

    As in scikit-learn's ``CalibratedClassifierCV``, a row of zeros becomes 1/K each, and of two classes only the
    second is calibrated. Intervals are not normalised: with Venn–Abers, each class's pair is valid for that class
    against the rest. No theorem covers the normalised probabilities. A class without a calibration row keeps its
    probability until rows are divided by their sums.

    Parameters
    ----------
    key
        Key of ``CALIBRATORS``, or a two-class calibrator.

    Examples
    --------
    >>> P, y = [[0.8, 0.1, 0.1]] * 3 + [[0.1, 0.8, 0.1]] * 3, [0, 0, 2, 1, 1, 0]
    >>> OneVsRest("isotonic").fit(P, y).predict(P[:1]).round(4)    # 2/3, 0 and 1/6, divided by their sum
    array([[0.8, 0. , 0.2]])
    """

    label = "One against the rest"
    kind = "one_vs_rest"
    one_per = "one per class with rows"
    promise = (
        "Each interval is valid for its class against the rest; this guarantee does not cover probabilities "
        "that were divided by their sum."
    )
    source = "Zadrozny and Elkan 2002"

    def _learn_all(self, P: Array, y: Array, weights: Array | None) -> None:
        two = self.n_classes_ == 2
        self.calibrators_ = {
            int(k): self._new().fit(P[:, k], y == k, weights) for k in ([1] if two else self.present_)
        }

    def _map_all(self, P: Array) -> Array:
        found = P.copy()
        for k, calibrator in self.calibrators_.items():
            found[:, k] = calibrator.predict(P[:, k])
        if self.n_classes_ == 2:
            found[:, 0] = 1 - found[:, 1]
        return normalised(found)

    @classmethod
    def _keys(cls, present: Array) -> list[int]:
        return present.tolist()

    @staticmethod
    def _named(key: int) -> dict[str, int]:
        return {"class": key}

    def formula(self, *P: Expression) -> dict[str, Expression]:
        answers = super().formula(*P)
        if not self.gives_interval:
            return answers
        found = {k: calibrator.formula(P[k]) for k, calibrator in self.calibrators_.items()}
        ends = {k: (each["p0"], each["p1"]) for k, each in found.items()}
        if self.n_classes_ == 2:
            ends[0] = (1 - ends[1][1], 1 - ends[1][0])
        return answers | self._end_terms(ends)

    def _formula_all(self, P: Sequence[Expression]) -> list[Expression]:
        found = list(P)
        for k, calibrator in self.calibrators_.items():
            found[k] = calibrator.formula(P[k])["p"].clip(0.0, 1.0)
        if self.n_classes_ == 2:
            found[0] = 1 - found[1]
        return normalised_terms(found)

    def _intervals(self, P: Array) -> Array:
        pairs = {k: calibrator.predict_interval(P[:, k]) for k, calibrator in self.calibrators_.items()}
        if self.n_classes_ == 2:
            pairs[0] = 1 - pairs[1][:, ::-1]
        return np.stack([pairs[int(k)] for k in self.present_], axis=1)


class Pairwise(FromTwoClasses):
    """Calibrator of each pair of classes by a two-class calibrator, coupled into K probabilities (Manokhin 2017).

    For classes i and j, a calibrator is fitted on p_i/(p_i + p_j) over the rows of these two classes and predicts
    r_ij. Then ``p_i = 1 / (Σ_{j≠i} 1/r_ij − (K − 2))`` (Price et al. 1995), which is exact if the r_ij come from one
    distribution, and each row is divided by its sum; a row of zeros becomes 1/K each. The interval of a class couples
    its lower ends against all other classes, and then its upper ends. It is not normalised, and no theorem covers it.

    Parameters
    ----------
    key
        Key of ``CALIBRATORS``, or a two-class calibrator.

    Examples
    --------
    >>> P, y = [[0.8, 0.1, 0.1]] * 3 + [[0.1, 0.8, 0.1]] * 3 + [[0.1, 0.1, 0.8]] * 2, [0, 0, 2, 1, 1, 0, 2, 2]
    >>> Pairwise("isotonic").fit(P, y).predict(P[:1]).round(4)    # 1 against class 1, 3/4 against class 2
    array([[0.75, 0.  , 0.25]])
    """

    label = "Pairwise Venn–Abers"
    kind = "pairwise"
    one_per = "one per pair of classes"
    promise = (
        "For each class, the lower ends of all its pairs are combined, and so are the upper ends; no "
        "theorem guarantees a valid interval."
    )
    complexity = 7
    source = "Manokhin 2017; Price et al. 1995"

    def _learn(self, P: Array, y: Array, weights: Array | None) -> None:
        self.calibrators_ = {}
        for i, j in combinations(range(P.shape[1]), 2):
            rows = (y == i) | (y == j)
            selected = None if weights is None else weights[rows]
            self.calibrators_[i, j] = self._new().fit(_share(P[rows], i, j), y[rows] == i, selected)

    @property
    def method(self) -> str:
        return "pairwise"

    @classmethod
    def _keys(cls, present: Array) -> list[tuple[int, int]]:
        return list(combinations(range(len(present)), 2))

    @staticmethod
    def _named(key: tuple[int, int]) -> dict[str, int]:
        return {"first": key[0], "second": key[1]}

    def _shares(self, P: Array) -> Array:
        """Return the probabilities as they are: only the ratio of two counts, and dividing could part ties."""
        return P[:, self.present_]

    def formula(self, *P: Expression) -> dict[str, Expression]:
        check_is_fitted(self)
        among = [P[k] for k in self.present_]
        pairs = {
            (i, j): each.formula(_share_term(among[i], among[j]))
            for (i, j), each in self.calibrators_.items()
        }
        found, total = list(P), sum(among[1:], among[0])
        for k, each in zip(
            self.present_, normalised_terms(self._coupled_terms(pairs, "p", "p")), strict=True
        ):
            found[k] = total * each
        answers = {f"p_{k}": each.clip(0.0, 1.0) for k, each in enumerate(found)}
        if not self.gives_interval:
            return answers
        ends = zip(
            self._coupled_terms(pairs, "p0", "p1"), self._coupled_terms(pairs, "p1", "p0"), strict=True
        )
        return answers | self._end_terms(dict(zip(self.present_.tolist(), ends, strict=True)))

    def _coupled_terms(
        self, pairs: Mapping[tuple[int, int], Mapping[str, Expression]], end: str, opposite: str
    ) -> list[Expression]:
        """Return formulas of what ``_coupled`` computes; at this end, r_ji is one minus the opposite end of r_ij."""
        inverse: list[Expression] = [Number(0.0)] * len(self.present_)
        for (i, j), r in pairs.items():
            inverse[i] = inverse[i] + _inverse_term(r[end])
            inverse[j] = inverse[j] + _inverse_term(1 - r[opposite])
        return [1 / (each - (len(inverse) - 2)) for each in inverse]

    def _map(self, P: Array) -> Array:
        inverse = np.zeros(P.shape)
        for (i, j), calibrator in self.calibrators_.items():
            r = calibrator.predict(_share(P, i, j))
            inverse[:, i] += _inverse(r)
            inverse[:, j] += _inverse(1 - r)
        return normalised(_coupled(inverse))

    def predict_pairs(self, P: Any) -> Array:
        """Return the calibrated r_ij and its interval, (m, K, K, 3): of rows of class i or j, the share of class i.

        On the diagonal, and for classes without calibration rows, they are NaN.

        Raises
        ------
        InputError
            If the two-class calibrator gives no intervals.

        Examples
        --------
        >>> P, y = [[0.8, 0.1, 0.1]] * 3 + [[0.1, 0.8, 0.1]] * 3 + [[0.1, 0.1, 0.8]] * 2, [0, 0, 2, 1, 1, 0, 2, 2]
        >>> Pairwise("venn_abers").fit(P, y).predict_pairs(P[:1])[0, 0, 2].round(2)    # class 0 against class 2
        array([0.67, 0.6 , 0.8 ])
        """
        P = self._read(P)
        if not self.gives_interval:
            raise InputError(f"{self._method().label} gives no interval. Choose 'venn' or 'venn_abers'.")
        among = self._shares(P)
        found = np.full((*P.shape, P.shape[1], 3), np.nan)
        for (i, j), calibrator in self.calibrators_.items():
            share = _share(among, i, j)
            ends = np.column_stack([calibrator.predict(share), calibrator.predict_interval(share)])
            a, b = self.present_[i], self.present_[j]
            found[:, a, b], found[:, b, a] = ends, 1 - ends[:, [0, 2, 1]]
        return found

    def _intervals(self, P: Array) -> Array:
        P = self._shares(P)
        inverse = np.zeros((*P.shape, 2))
        for (i, j), calibrator in self.calibrators_.items():
            pair = calibrator.predict_interval(_share(P, i, j))
            inverse[:, i] += _inverse(pair)
            inverse[:, j] += _inverse(1 - pair[:, ::-1])
        return _coupled(inverse)


def _map_of(calibrator: ScoreCalibrator) -> dict[str, Any]:
    """Return a two-class calibrator as JSON-able fields."""
    merge = getattr(calibrator, "merge", None)
    return {"method": calibrator.key, "merge": merge, "map": calibrator.to_map()}


def _read_map(fields: Fields) -> ScoreCalibrator:
    method = CALIBRATORS[fields.choice("method", list(CALIBRATORS))]
    made = method.from_map(fields.object("map"))
    merge = fields.choice("merge", list(MERGE_RULES) if method.gives_interval else [None])
    return made.set_params(merge=merge) if method.gives_interval else made


def joint_calibrator(calibrator: ScoreCalibrator | JointCalibrator) -> JointCalibrator:
    """Return the unfitted calibrator of K classes for a two-class one: each class against the rest.

    Temperature scaling and automatic calibration have their own forms for K classes, and the uncalibrated model is not
    changed.

    Examples
    --------
    >>> joint_calibrator(CALIBRATORS["isotonic"]()), joint_calibrator(CALIBRATORS["temperature"]())
    (OneVsRest(key=Isotonic()), JointTemperature())
    """
    if isinstance(calibrator, JointCalibrator):
        return calibrator
    if calibrator.key == "none":
        return Unchanged()
    return JOINT[calibrator.key]() if calibrator.key in JOINT else OneVsRest(calibrator)


def one_class(fitted: Any, k: int) -> Any:
    """Return the two-class calibrator of class k within a fitted one of K classes; None if there is none.

    For calibrators of several folds, which have ``folds``, return those of class k in each.
    """
    if hasattr(fitted, "folds"):
        each = tuple(one_class(fold, k) for fold in fitted.folds)
        return None if None in each else type(fitted)(each)
    return fitted.calibrators_.get(k) if isinstance(fitted, OneVsRest) else None


def _share(P: Array, i: int, j: int) -> Array:
    """Return p_i/(p_i + p_j), (n,); one half where both are 0."""
    both = P[:, i] + P[:, j]
    return np.divide(P[:, i], both, out=np.full(len(P), 0.5), where=both > 0)


def _share_term(p: Expression, q: Expression) -> Expression:
    """Return the formula p/(p + q), which ``_share`` computes."""
    both = p + q
    none = steps(both, np.array([np.nextafter(0.0, 1.0)]), np.array([1.0, 0.0]))
    return Arithmetic("/", p + none / 2, both + none, 0.0, 1.0)


def _inverse_term(r: Expression) -> Expression:
    return 1 / r.clip(LEAST_PAIRWISE, 1.0)


def _inverse(r: Array) -> Array:
    with np.errstate(divide="ignore"):
        return 1 / r


def _coupled(inverse: Array) -> Array:
    """Return 1 / (Σ_{j≠i} 1/r_ij − (K − 2)) from the sums (m, K) or (m, K, 2); it is in [0, 1] like each r."""
    return 1 / (inverse - (inverse.shape[1] - 2))

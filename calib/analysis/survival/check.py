"""Check risks by a horizon from arrays of times and events; nothing is fitted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from calib.analysis.survival.evaluation import CensoredEvaluation, Censoring, censored_note
from calib.evaluate.arrays import named, present
from calib.evaluate.estimate import Estimate
from calib.evaluate.record import evaluated_on_all_rows
from calib.kernel import checks
from calib.kernel.checks import InputError, short_repr
from calib.kernel.records import Dataset
from calib.kernel.weights import importance_weights
from calib.kernel.wording import number, quoted
from calib.recipe import Recipe

Array = np.ndarray
Risk = ArrayLike | Callable[[float], ArrayLike]

SURVIVAL_METRICS = (
    "observed_expected",
    "in_the_large",
    "slope",
    "ici",
    "e50",
    "e90",
    "brier",
    "brier_skill",
    "auc",
)
MOST_CODES = 20  # more codes of events are rather times


@dataclass(frozen=True, eq=False)
class SurvivalEvaluation:
    """Calibration of risks by a horizon, as ``check_survival`` returns it.

    Attributes
    ----------
    evaluation
        The rows of known status with their weights, for every figure and table of an ``Evaluation``.
    given
        Arguments of ``check_survival``, by which ``at`` moves the horizon.
    """

    evaluation: CensoredEvaluation
    given: Mapping[str, Any]

    @property
    def censoring(self) -> Censoring:
        """All rows, with ``weights``, ``risk`` (Kaplan–Meier or Aalen–Johansen) and ``pseudo_values``."""
        return self.evaluation.censoring

    @property
    def horizon(self) -> float:
        """Time up to which events count."""
        return self.censoring.horizon

    @property
    def verdict(self) -> Any:
        """Verdict on the first risks: ``.finding`` and ``.sentence`` (``Verdict``)."""
        return self.evaluation.verdict

    @property
    def metrics(self) -> pd.DataFrame:
        """One row per risk, one column per metric of ``SURVIVAL_METRICS``."""
        return self.evaluation.measured(SURVIVAL_METRICS)

    @property
    def known(self) -> pd.DataFrame:
        """Rows of known status: position in the arrays, y, weight and each risk, to fit calibrators.

        Weights add up to the number of rows.
        """
        places = np.flatnonzero(~self.censoring.censored)
        weight = (self.censoring.weights * self.censoring.rows.weights)[places]
        risks = {name: p[places] for name, p in self.evaluation.risks.items()}
        weights = self.given["sample_weight"]  # rows of weight 0 are left out
        row = places if weights is None else np.flatnonzero(np.asarray(weights) > 0)[places]
        return pd.DataFrame({"row": row, "y": self.censoring.y[places], "weight": weight, **risks})

    def estimate(self, metric: str, key: str | None = None) -> Estimate:
        """Return a metric of one risk (the first by default) with its 95 % interval."""
        return self.evaluation.estimate(metric, self._key(key))

    def table(self, key: str | None = None) -> pd.DataFrame:
        """Return one row per metric of one risk: columns value, low and high, the ends of its 95 % interval."""
        found = {metric: self.estimate(metric, key) for metric in SURVIVAL_METRICS}
        return pd.DataFrame({metric: [e.value, e.low, e.high] for metric, e in found.items()}).T.set_axis(
            ["value", "low", "high"], axis=1
        )

    def bins(self, bins: ArrayLike = 10, key: str | None = None) -> pd.DataFrame:
        """Return mean predicted and observed risk per quantile bin; see ``CensoredEvaluation.bins``."""
        return self.evaluation.bins(self._key(key), bins)

    def curve(self, key: str | None = None) -> pd.DataFrame:
        """Return the smooth curve of observed over predicted risk; see ``CensoredEvaluation.curve``."""
        return self.evaluation.curve(self._key(key))

    def figure(self, key: str = "reliability", **view: Any) -> Any:
        """Draw a figure of the weighted rows of known status, as ``Evaluation.figure``."""
        return self.evaluation.figure(key, **view)

    def at(self, horizon: float, risk: Any = None) -> SurvivalEvaluation:
        """Move the horizon.

        Parameters
        ----------
        horizon
            New horizon.
        risk
            Risks by this horizon, unless ``check_survival`` was given functions of the horizon.

        Raises
        ------
        InputError
            If the risks by this horizon are not known, and as ``check_survival``.
        """
        given = self.given["risk"] if risk is None else risk
        fixed = [name for name, each in named(given).items() if not callable(each)]
        if risk is None and fixed and horizon != self.horizon:
            raise InputError(
                f"These risks are by {number(self.horizon)}. Pass the risks by {number(horizon)}: at(…, "
                f"risk=…). Or pass "
                "each risk to check_survival as a function of the horizon."
            )
        return check_survival(**{**self.given, "risk": given, "horizon": horizon})

    def _key(self, key: str | None) -> str:
        return next(iter(self.evaluation.predictions)) if key is None else key


def check_survival(
    time: ArrayLike,
    event: ArrayLike,
    risk: Risk | Mapping[str, Risk],
    horizon: float,
    *,
    cause: Any = 1,
    censored: Any = 0,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    censoring_groups: ArrayLike | None = None,
) -> SurvivalEvaluation:
    """Check whether risks of an event by a horizon are calibrated, if some rows are censored before it.

    Parameters
    ----------
    time : (n,)
        Time of the event, or of the censoring; not negative.
    event : (n,)
        Code of what happened then: censored, the event, or any other code for a competing event.
    risk : (n,) in [0, 1], or a mapping name → such an array
        Predicted probability of the event by the horizon. Functions of the horizon let ``at`` move it.
    horizon
        Time up to which events count, in the unit of ``time``.
    cause, censored
        Codes of the event and of censoring. ``censored=None`` states that nobody was censored.
    sample_weight : (n,)
        Weight of each row; whole numbers are counts of repeated rows. Rows of weight 0 are left out.
    cluster : (n,)
        Cluster of each row, equal for rows that belong together.
    censoring_groups : (n,)
        Group of each row, within which the censoring is estimated. Use it if some groups were followed for less long.

    Returns
    -------
    SurvivalEvaluation
        ``verdict``, ``table()``, ``bins()``, ``curve()``, ``at(horizon)`` and ``evaluation``.

    Raises
    ------
    InputError
        If an array is invalid, codes are unclear, there is no event by the horizon, or nobody is followed up to it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> hazard, end = rng.exponential(0.1, 2000), rng.uniform(1, 10, 2000)
    >>> time = rng.exponential(1 / hazard)
    >>> event = time <= end                                                    # False for censored
    >>> found = check_survival(np.minimum(time, end), event, lambda t: 1 - np.exp(-hazard * t), horizon=5)
    >>> found.verdict.finding, found.estimate("observed_expected").text()
    ('no sign', '1.04 [0.98, 1.10]')
    >>> found.at(2).estimate("auc").text()
    '0.765 [0.737, 0.791]'
    """
    given = {name: value for name, value in locals().items() if name != "horizon"}
    checks.in_range(horizon, "horizon", 0, open_ends=True)
    times, codes = _times(time), _codes(event, cause, censored)
    risks = {name: _risk(each, name, horizon) for name, each in named(risk).items()}  # type: ignore[arg-type]
    whose = None if cluster is None else pd.factorize(present(cluster, "cluster"))[0]
    groups = None if censoring_groups is None else present(censoring_groups, "censoring_groups")
    checks.same_length(time=times, event=codes, **risks, cluster=whose, censoring_groups=groups)
    checks.not_empty(times, "time")
    weight = None if sample_weight is None else checks.weight_vector(sample_weight, len(times))
    held = np.ones(len(times), bool) if weight is None else weight > 0
    number_of, names = (None, ()) if groups is None else pd.factorize(groups[held])
    censoring = Censoring(
        times[held],
        codes[held],
        float(horizon),
        None if weight is None else weight[held],
        None if whose is None else whose[held],
        number_of,
    )
    _refuse_unknown(censoring, names)
    found = _evaluation(censoring, {name: p[held] for name, p in risks.items()})
    return SurvivalEvaluation(found, MappingProxyType(given))


def _times(time: ArrayLike) -> Array:
    times = checks.score_vector(time, "time")
    if (times < 0).any():
        at = int(np.argmax(times < 0))
        raise InputError(
            f"time must not be negative, but is {times[at]:g} at position {at}. Measure the time from the "
            f"prediction, and remove rows that ended before it."
        )
    return times


def _codes(event: ArrayLike, cause: Any, censored: Any) -> Array:
    """Return 0 for censored, 1 for the event, 2 for any other code; ask if the codes are unclear."""
    values = present(event, "event")
    kinds = [kind.item() if isinstance(kind, np.generic) else kind for kind in pd.unique(values)]
    if len(kinds) > MOST_CODES:
        raise InputError(
            f"event contains {len(kinds)} different codes, such as {quoted(kinds)}. It must say what "
            f"happened, not when it happened: check that time and event are not exchanged."
        )
    if kinds == [censored]:
        raise InputError(
            f"Every row is censored: event is {short_repr(kinds[0])} throughout, so no risk can be "
            f"observed. Check the codes, and state them with cause= and censored=."
        )
    unclear = censored is not None and censored not in kinds and len(kinds) > 1
    if cause not in kinds or unclear:
        raise InputError(
            f"event contains {quoted(kinds)}. State the code of the event with cause=, and the code of "
            f"censoring with censored= (None if nobody was censored). All other codes are competing events."
        )
    return np.where(values == censored, 0, np.where(values == cause, 1, 2)).astype(np.intp)


def _risk(given: Any, name: str, horizon: float) -> Array:
    title = "risk" if name == "none" else f"risk[{name!r}]"
    p = checks.score_vector(given(horizon) if callable(given) else given, title)
    outside = (p < -checks.OUTSIDE_ERROR) | (p > 1 + checks.OUTSIDE_ERROR)
    if outside.any():
        at = int(np.argmax(outside))
        raise InputError(
            f"{title} must lie in [0, 1], but is {p[at]:g} at position {at}. Divide percentages by 100. "
            f"Convert scores and log-hazards to the probability of the event by the horizon."
        )
    return np.clip(p, 0.0, 1.0)


def _refuse_unknown(censoring: Censoring, names: Any) -> None:
    """Refuse a horizon by which there is no event, or to which nobody is followed."""
    t = f"{censoring.horizon:g}"
    if not censoring.y.any():
        events = censoring.time[censoring.event == 1]
        first = (
            f"the first of {len(events):,} is at {number(events.min())}" if len(events) else "there is none"
        )
        raise InputError(f"There is no event by {t}: {first}. Choose a later horizon, or check cause=.")
    for group in censoring.unreached:
        last = censoring.time[slice(None) if censoring.group is None else censoring.group == group].max()
        who = f"Nobody in the censoring group {str(names[group])!r}" if len(names) else "Nobody"
        raise InputError(
            f"{who} is followed up to {t}: the last row is censored at {last:g}, so the risk by {t} is not "
            f"known. Choose a horizon of at most {_rounded_down(last):g}{', or merge groups' if len(names) else ''}."
        )


def _rounded_down(x: float) -> float:
    """Return a number of three digits that is not above x, to be typed.

    >>> _rounded_down(9.9999), _rounded_down(1234.5)
    (9.99, 1230.0)
    """
    unit = 10.0 ** (np.floor(np.log10(x)) - 2) if x > 0 else 1.0
    return float(round(np.floor(x / unit) * unit, 12))


def _evaluation(censoring: Censoring, risks: Mapping[str, Array]) -> CensoredEvaluation:
    """Evaluate risks on the rows of known status, weighted for those that are censored."""
    known, t = ~censoring.censored, f"{censoring.horizon:g}"
    weight = censoring.weight
    if not known.all():
        weight = importance_weights((censoring.weights * censoring.rows.weights)[known])
    columns = {name: p[known] for name, p in risks.items()}
    data = Dataset(
        "predictions",
        pd.DataFrame(columns),
        censoring.y[known],
        (f"no event by {t}", f"event by {t}"),
        notes=tuple(filter(None, [censored_note(censoring)])),
        predictions=True,
        weight=weight,
        cluster=None if censoring.cluster is None else censoring.cluster[known],
    )
    found = evaluated_on_all_rows(Recipe(content="predictions", calibrators=()), data, columns)
    held = {each.name: getattr(found, each.name) for each in fields(found)}
    return CensoredEvaluation(**held, censoring=censoring, risks=MappingProxyType(dict(risks)))

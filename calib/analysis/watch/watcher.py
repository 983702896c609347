"""Monitoring of a model's predictions over time: evidence against calibration that may be looked at after every row.

Rows enter in the order in which they were predicted. Rows of one day are one batch: all bets on them are made before
any of their labels is seen, so that their order does not matter; their labels must be independent given the past. A
batch enters only when all its labels have arrived, and later batches wait for it: if rows entered when their own label
arrives, events that are reported sooner would raise false alarms. Forecasts for h steps ahead run as h interleaved
streams, each tested at α/h, because a label is not known yet when the next h − 1 predictions are made.

Ville 1939; Arnold, Henzi & Ziegel 2023; Henzi & Ziegel 2022 for h steps.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calib.analysis.watch.change import Candidates, WithEnds
from calib.analysis.watch.evidence import (
    BET_CLIP,
    BET_KINDS,
    Block,
    LineSequence,
    MeanSequence,
    Stream,
    half_width,
)
from calib.kernel import checks
from calib.kernel.checks import Array, InputError
from calib.kernel.wording import counted
from calib.metrics.calibration_test import ALPHA

MOST_STEPS_AHEAD = 366  # steps ahead: one stream of evidence per step, a year of days at most
ROWS_AT_ONCE = 1 << 15  # keeps the arrays small; the answer does not depend on it
CAUSES = ("level", "slope", "shape")
ADVICE = {None: "nothing", "level": "offset", "slope": "recalibration", "shape": "recalibration"}
FLAT_SLOPE = (
    0.25  # slope below which a model separates too little: refit; at an alarm, slopes are underestimated
)


@dataclass(frozen=True, eq=False)
class Alarm:
    """The first batch after which the evidence reached 1/α, with the estimates at that time.

    Attributes
    ----------
    row, moment
        First row of that batch (0 is the first of all) and its time.
    rows
        Rows seen by then.
    since, earliest, latest
        Row at which the change most likely began, and its 95 % interval if the change was sudden; of a day, its first.
    since_moment, earliest_moment, latest_moment
        Times of these rows.
    cause
        "level", "slope" or "shape": the kind of bet with the largest share of the evidence.
    shares
        Share of the evidence by kind.
    shift, slope
        Estimated change of the log-odds since then, at even odds, and their new slope.
    """

    row: int
    moment: Any
    rows: int
    since: int
    earliest: int
    latest: int
    since_moment: Any
    earliest_moment: Any
    latest_moment: Any
    cause: str
    shares: dict[str, float]
    shift: float
    slope: float

    @property
    def advice(self) -> str:
        """Return the advised action: "offset", "recalibration" or "refit"."""
        return "refit" if self.cause != "level" and self.slope < FLAT_SLOPE else ADVICE[self.cause]


@dataclass(frozen=True)
class Impossible:
    """Labels that a probability of exactly 0 or 1 excluded.

    Attributes
    ----------
    row, moment
        First row of the first batch with such a label, and its time.
    happened, failed
        Rows with p = 0 and label 1, and rows with p = 1 and label 0.
    """

    row: int
    moment: Any
    happened: int
    failed: int


@dataclass(frozen=True, eq=False)
class Watched:
    """Result of watching predictions over time.

    Attributes
    ----------
    evidence, log_evidence
        Arrays (n,): evidence after each row's batch; NaN for rows that wait for labels, infinite from the first
        impossible label on.
    alarm
        First row of the batch at which the evidence reaches 1/α, or None.
    since
        Row at which the change began; None without an alarm of the bets.
    since_interval
        (first, last) row at which it may have begun.
    cause
        "level", "slope" or "shape", or None.
    advice
        "nothing", "offset", "recalibration" or "refit"; "limit" if only impossible labels raised the alarm.
    level, brier, slope
        (low, estimate, high), valid at every time at 1 − α, of mean(y − p), of the Brier score, and of b in
        logit π = a + b logit p. NaN for forecasts of more than one step.
    rows, waiting, clipped
        Rows that count, rows that wait for labels, and rows whose p was 0 or 1 and was clipped.
    found, impossible
        The alarm of the bets, and the labels that a probability of 0 or 1 excluded; None if there are none.
    """

    evidence: Array
    log_evidence: Array
    alarm: int | None
    since: int | None
    since_interval: tuple[int, int] | None
    cause: str | None
    advice: str
    level: WithEnds
    brier: WithEnds
    slope: WithEnds
    rows: int
    waiting: int
    clipped: int
    alpha: float
    horizon: int
    found: Alarm | None = None
    impossible: Impossible | None = None
    path: dict[str, Array] = field(default_factory=dict)
    order: Array = field(default_factory=lambda: np.zeros(0, dtype=int))
    log_now: float = 0.0

    @property
    def threshold(self) -> float:
        """1/α."""
        return 1 / self.alpha

    @property
    def now(self) -> float:
        """The evidence after the last row that counts; 1 without rows."""
        return float(np.exp(min(self.log_now, 700.0))) if self.impossible is None else float("inf")


class Watcher:
    """Evidence that continues from day to day: add rows, and look.

    ``History`` also recognises rows that were read before, and can be kept in a file.

    Parameters
    ----------
    alpha
        Highest probability of ever raising a false alarm.
    horizon
        Number of steps (rows, or days with ``when``) that predictions are made ahead.

    Notes
    -----
    After any number of calls of ``add``, the result equals that of one call with all rows, bit by bit.

    Examples
    --------
    >>> watcher = Watcher()
    >>> _ = watcher.add([1, 0, 1], [0.9, 0.2, 0.7])
    >>> watcher.add([1], [0.5]).rows
    4
    """

    def __init__(self, alpha: float = ALPHA, horizon: int = 1):
        self.alpha = float(checks.in_range(alpha, "alpha", 0, 1, open_ends=True))
        self.horizon = int(checks.in_range(horizon, "horizon", 1, MOST_STEPS_AHEAD, integer=True))
        self.kind: str | None = None
        self.streams = [Stream() for _ in range(self.horizon)]
        self.latest = np.zeros(self.horizon)
        self.means, self.lines, self.candidates = MeanSequence(), LineSequence(), Candidates()
        self.clipped = 0
        self.alarm: Alarm | None = None
        self.impossible: Impossible | None = None
        self.last: Any = None
        self.open = (np.zeros(0), np.zeros(0))

    @property
    def rows(self) -> int:
        return self.candidates.rows

    def add(self, y: ArrayLike, p: ArrayLike, when: ArrayLike | None = None) -> Watched:
        """Add new rows, and report on all rows so far.

        Parameters
        ----------
        y : (n,)
            Labels 0 and 1; NaN or None if not known yet.
        p : (n,)
            Predicted probabilities.
        when : (n,)
            Dates or numbers; rows of equal value are one batch. Without it, each row is a batch, in the given order.

        Returns
        -------
        Watched
            Evidence for the new rows, everything else for all rows so far. A batch with missing labels and all later
            ones are not kept: add them again with their labels.
        """
        labels, p = labels_or_nan(y), checks.probability_vector(p, "p")
        checks.same_length(y=labels, p=p, when=when)
        known = ~np.isnan(labels)
        moments, kind = numeric_times(when, len(p), self.rows)
        if self.kind not in (None, kind) and len(p):
            raise InputError(
                f"when: earlier rows had {TIME_KINDS[self.kind]}, but these rows have {TIME_KINDS[kind]}. "
                f"Use the same "
                "column."
            )
        if len(p):
            self.kind = kind
        order = _order(moments, p, labels) if kind != "row" else np.arange(len(p))
        moments, labels, p, known = moments[order], labels[order], p[order], known[order]
        if kind != "row" and len(p) and self.last is not None and moments[0] < self.last:
            late = int((moments < self.last).sum())
            raise InputError(
                f"{counted(late, 'row')} {'is' if late == 1 else 'are'} older than {moment_in_words(self.last, kind)}, "
                "the latest time that was read before. Supply only newer rows, or start again with a new state file."
            )
        missing = np.flatnonzero(~known)
        stop = len(p) if not len(missing) else int(np.searchsorted(moments, moments[missing[0]]))
        log = np.full(len(p), np.nan)
        held = len(self.open[0])
        y_all, p_all = np.concatenate([self.open[1], labels[:stop]]), np.concatenate([self.open[0], p[:stop]])
        at = np.concatenate([np.full(held, self.last, dtype=moments.dtype), moments[:stop]])
        if held and stop and moments[0] == self.last:
            same = int(np.searchsorted(moments[:stop], self.last, side="right")) + held
            inner = np.lexsort((y_all[:same], p_all[:same]))
            y_all[:same], p_all[:same] = y_all[:same][inner], p_all[:same][inner]
        waits_open = bool(len(missing)) and held > 0 and moments[missing[0]] == self.last
        starts = np.flatnonzero(np.append(True, at[1:] != at[:-1])) if len(at) else np.zeros(0, dtype=int)
        closed = len(at) if kind == "row" else (int(starts[-1]) if len(starts) else 0)
        paths = [self._commit(y_all[:closed], p_all[:closed], at[:closed], starts[starts < closed])]
        self.open = (p_all[closed:], y_all[closed:])
        if len(at):
            self.last = at[-1].item()
        seen = self
        if closed < len(at) and not waits_open:
            seen = copy.deepcopy(self)
            paths.append(seen._commit(y_all[closed:], p_all[closed:], at[closed:], np.zeros(1, dtype=int)))
        path = {name: np.concatenate([each[name] for each in paths]) for name in paths[0]}
        sizes = np.diff(np.append(starts, len(at)))[: len(path["log"])]
        each_row = np.repeat(path["log"], sizes)[held:]
        log[: len(each_row)] = each_row[: len(log)]
        back = np.full(len(p), np.nan)
        back[order] = log
        path["moment"] = at[starts][: len(path["log"])]
        return seen._watched(back, len(p) - stop, path, order)

    def _commit(self, y: Array, p: Array, at: Array, starts: Array) -> dict[str, Array]:
        """Add batches permanently, and return the log evidence and the sums of the level after each."""
        paths = [
            dict.fromkeys(("log", "rows", "level", "level_spread", "brier", "brier_spread"), np.zeros(0))
        ]
        begin = 0
        while begin < len(starts):
            end = max(int(np.searchsorted(starts, starts[begin] + ROWS_AT_ONCE)), begin + 1)
            stop = int(starts[end]) if end < len(starts) else len(y)
            rows = slice(int(starts[begin]), stop)
            paths.append(
                self._enter(y[rows], p[rows], at[starts[begin:end]], starts[begin:end] - starts[begin])
            )
            begin = end
        return {name: np.concatenate([each[name] for each in paths]) for name in paths[0]}

    def _enter(self, y: Array, p: Array, moments: Array, starts: Array) -> dict[str, Array]:
        inside = np.clip(p, BET_CLIP, 1 - BET_CLIP)
        beyond = np.sign(p - inside)
        self.clipped += int(np.count_nonzero(beyond))
        excluded = p == 1 - y
        end = beyond if beyond.any() else None
        # For the bets an excluded row has the label that was predicted, which says next to nothing
        block = Block(np.log(inside) - np.log1p(-inside), np.where(excluded, p, y), inside, end, starts)
        first = self.candidates.batches
        number = (first + np.arange(len(starts))) % self.horizon
        log = np.empty((self.horizon, len(starts)))
        shares = np.empty((len(BET_KINDS), len(starts)))
        for r, stream in enumerate(self.streams):
            mine = np.flatnonzero(number == r)
            values = np.full(len(starts) + 1, np.nan)
            values[0] = self.latest[r]
            if len(mine):
                part = block if self.horizon == 1 else block.part(mine)
                values[mine + 1], shares[:, mine] = stream.add(part)
            filled = np.maximum.accumulate(np.where(np.isnan(values), 0, np.arange(len(values))))
            log[r] = values[filled][1:]
            self.latest[r] = log[r, -1]
        evidence = log.max(axis=0) - np.log(self.horizon)
        after = self.candidates.add(block, moments)
        hit = np.flatnonzero(evidence >= -np.log(self.alpha))
        if self.alarm is None and len(hit):
            self.alarm = self._alarm(after, int(hit[0]), block, moments, shares)
        rows = self.candidates.rows
        self.candidates = after.at(after.batches, after.rows, after.now)
        if self.horizon == 1:
            self.lines.add(block)
        means = self.means.add(replace(block, y=y), p)
        return {"log": self._with_impossible(evidence, excluded, y, moments, starts, rows), **means}

    def _with_impossible(
        self, evidence: Array, excluded: Array, y: Array, moments: Array, starts: Array, rows: int
    ) -> Array:
        """Record excluded labels, and return the log evidence, infinite from the first of their batches on."""
        before = self.impossible
        if excluded.any():
            batch = int(np.searchsorted(starts, np.flatnonzero(excluded)[0], side="right")) - 1
            first = before or Impossible(int(starts[batch]) + rows, moments[batch].item(), 0, 0)
            happened = int(y[excluded].sum())
            self.impossible = replace(
                first,
                happened=first.happened + happened,
                failed=first.failed + int(excluded.sum()) - happened,
            )
            if before is None:
                return np.where(np.arange(len(starts)) < batch, evidence, np.inf)
        return evidence if before is None else np.full_like(evidence, np.inf)

    def _alarm(self, after: Candidates, batch: int, block: Block, moments: Array, shares: Array) -> Alarm:
        stops = np.append(block.starts[1:], len(block.x)) + self.candidates.rows
        then = after.at(self.candidates.batches + batch + 1, int(stops[batch]))
        began = then.began()
        mine = shares[:, batch]
        weight = np.exp(mine - mine.max())
        weight /= weight.sum()
        by = {
            cause: float(sum(weight[j] for j, kind in enumerate(BET_KINDS) if kind == cause))
            for cause in CAUSES
        }
        rows, at = began["rows"], began["moments"]
        return Alarm(
            int(block.starts[batch]) + self.candidates.rows,
            moments[batch].item(),
            int(stops[batch]),
            rows["since"],
            rows["low"],
            rows["high"],
            at["since"],
            at["low"],
            at["high"],
            max(by, key=lambda cause: by[cause]),
            by,
            began["shift"],
            began["slope"],
        )

    def _watched(self, log: Array, waiting: int, path: dict[str, Array], order: Array) -> Watched:
        nothing = (float("nan"),) * 3
        one = self.horizon == 1
        found, impossible = self.alarm, self.impossible
        without = "nothing" if impossible is None else "limit"
        with np.errstate(over="ignore"):
            evidence = np.exp(log)
        return Watched(
            evidence=evidence,
            log_evidence=log,
            alarm=min((each.row for each in (found, impossible) if each is not None), default=None),
            since=None if found is None else found.since,
            since_interval=None if found is None else (found.earliest, found.latest),
            cause=None if found is None else found.cause,
            advice=without if found is None else found.advice,
            level=self.means.interval("level", self.alpha) if one else nothing,
            brier=self.means.interval("brier", self.alpha) if one else nothing,
            slope=self.lines.slopes(self.alpha) if one else nothing,
            rows=self.rows,
            waiting=waiting,
            clipped=self.clipped,
            alpha=self.alpha,
            horizon=self.horizon,
            found=found,
            impossible=impossible,
            path=path,
            order=order,
            log_now=np.inf if impossible else float(self.latest.max() - np.log(self.horizon)),
        )


TIME_KINDS = {"row": "no dates or times", "date": "dates", "number": "times as numbers", None: "nothing"}


def moment_in_words(moment: Any, kind: str | None) -> str:
    """Write a time for people: a date, a number, or the number of the row."""
    if kind == "date":
        at = np.datetime64(int(moment), "ns")
        whole = at == at.astype("datetime64[D]")
        return str(at.astype("datetime64[D]" if whole else "datetime64[s]")).replace("T", " ")
    return f"row {int(moment) + 1:,}" if kind == "row" else f"{moment:g}"


def labels_or_nan(y: ArrayLike) -> Array:
    """Return labels as numbers, NaN if a label is not known yet."""
    given = np.asarray(y)
    if given.dtype == object:
        given = np.array([np.nan if value is None else value for value in given.tolist()])
    if given.dtype.kind not in "biuf" or given.ndim != 1:
        checks.binary_labels(given)  # raises with the reason
    labels = given.astype(float)
    checks.binary_labels(labels[~np.isnan(labels)])
    return labels


def numeric_times(when: ArrayLike | None, n: int, rows: int) -> tuple[Array, str]:
    """Return times as numbers that a state can store, and their kind."""
    if when is None:
        return np.arange(rows, rows + n, dtype=np.int64), "row"
    array = np.asarray(when)
    if array.dtype.kind in "OUS":
        try:
            array = array.astype("datetime64[ns]")
        except ValueError:
            raise InputError("`when` must contain dates or numbers.") from None
    if array.dtype.kind == "M":
        if np.isnat(array).any():
            raise InputError("`when` contains missing dates. Remove rows without a date.")
        return array.astype("datetime64[ns]").astype(np.int64), "date"
    return checks.score_vector(array, "when"), "number"


def _order(moments: Array, p: Array, labels: Array) -> Array:
    """Return the order by time and, within a batch, by value, so that sums do not depend on the given order."""
    rising = len(moments) < 2 or bool((moments[1:] > moments[:-1]).all())
    return np.arange(len(moments)) if rising else np.lexsort((labels, p, moments))


def watch(
    y: ArrayLike, p: ArrayLike, when: ArrayLike | None = None, horizon: int = 1, alpha: float = ALPHA
) -> Watched:
    """Watch predictions from the first to the last: is the model still calibrated?

    Parameters
    ----------
    y : (n,)
        Labels 0 and 1; NaN or None if not known yet.
    p : (n,)
        Predicted probabilities of class 1.
    when : (n,)
        Dates or numbers, in any order; rows of equal value are one batch. Without it, each row is a batch, in the given
        order.
    horizon
        Number of steps (rows, or days with ``when``) that predictions are made ahead.
    alpha
        Highest probability of ever raising a false alarm.

    Returns
    -------
    Watched
        Row numbers refer to the given order.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(3000)
    >>> result = watch(rng.random(3000) < p**2, p)
    >>> result.alarm is not None and bool(result.evidence[result.alarm] >= 20)
    True
    >>> watch(rng.random(3000) < p, p).alarm is None
    True
    """
    watcher = Watcher(alpha, horizon)
    result = watcher.add(y, p, when)
    if result.alarm is None or when is None:
        return result

    # Convert positions in the order of time to given positions; a batch is reported by its first given row.
    def given(row: int, last: bool = False) -> int:
        moments = numeric_times(when, len(result.order), 0)[0]
        same = np.flatnonzero(moments == moments[result.order[row]])
        return int(same[-1] if last else same[0])

    result = replace(result, alarm=given(result.alarm))
    found = result.found
    if found is None:
        return result
    ends = given(found.earliest), given(found.latest, last=True)
    return replace(result, since=given(found.since), since_interval=ends)


def level_band(watched: Watched, points: int = 300) -> dict[str, Array]:
    """Return the mean of y − p so far at some batches, with its band that is valid at every time."""
    rows = watched.path["rows"]
    if not len(rows):
        return {name: np.zeros(0) for name in ("batch", "level", "low", "high")}
    chosen = np.unique(np.linspace(0, len(rows) - 1, min(points, len(rows))).astype(int))
    n = rows[chosen]
    mean = watched.path["level"][chosen] / n
    width = half_width(watched.path["level_spread"][chosen], watched.alpha) / n
    return {
        "batch": chosen,
        "level": mean,
        "low": np.maximum(mean - width, -1),
        "high": np.minimum(mean + width, 1),
    }

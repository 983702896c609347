"""Measure false alarms and delays of watching, beside a weekly Hosmer–Lemeshow test and ADWIN, on the same streams.

Columns: share of runs with an alarm in 5,000 calibrated rows; median delay and share found within 2,500 rows after a
shift of the log-odds by 0.5 from the start; the same after 5,000 calibrated rows, with the share of runs that raised a
false alarm before it, which are left out of the delay. "Oracle" rows bound what is possible: a likelihood ratio that
knows the shift and its first row, and one that knows the shift and gives every one of the 7,500 rows the same weight.
They, and other predictions, have 250 runs.

``python -m scripts.watch_false_alarms [--runs 1000] [--markdown FILE]``. ADWIN is that of the package ``river``
(``pip install river``); without it its rows are left out. It is given the Brier score of each row, as drift detectors
usually are, or the residual y − p. A week is 100 rows; the test (Hosmer & Lemeshow 1980, groups by tenths of the
predictions) takes all rows so far. The log-odds of the predictions are normal with mean 0 and standard deviation 1,
except in the rows "uniform" (probabilities between 0 and 1) and "rare events" (log-odds with mean −3).
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit
from scipy.stats import chi2

from calib.analysis.watch import Watcher, watch
from calib.analysis.watch.evidence import Block, Stream

ROWS, WEEK, ALPHA = 5000, 100, 0.05
AFTER = 2500  # rows after a change
OTHERS = 250  # runs with other predictions and with the oracles


def drawn(seed: int, shift: float = 0.0, calm: int = 0, rows: int = ROWS, kind: str = "normal") -> Any:
    """Draw labels and predictions; after ``calm`` rows the log-odds of the truth are ``shift`` higher."""
    rng = np.random.default_rng(seed)
    x = rng.normal(-3 if kind == "rare events" else 0, 1, rows)
    if kind == "ties":
        x = np.log(tied := rng.choice([0.05, 0.1, 0.3, 0.5, 0.8], rows)) - np.log1p(-tied)
    if kind == "uniform":
        x = np.log(even := rng.uniform(1e-6, 1 - 1e-6, rows)) - np.log1p(-even)
    truth = x + shift * (np.arange(rows) >= calm)
    return (rng.random(rows) < expit(truth)).astype(float), expit(x)


def by_arrival(y: np.ndarray, p: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw days of 25 rows whose labels arrive late: events after 1 to 5 days, other labels after 5 to 40 days."""
    rng = np.random.default_rng(seed + 10_000_000)
    day = np.arange(len(y)) // 25
    late = np.where(y == 1, rng.integers(1, 6, len(y)), rng.integers(5, 41, len(y)))
    return day, day + late, np.argsort(day + late, kind="stable")


def hosmer_lemeshow(y: np.ndarray, p: np.ndarray) -> int | None:
    """Return the first row at which a weekly test of all rows so far rejects, or None."""
    for n in range(WEEK, len(y) + 1, WEEK):
        group = np.empty(n, dtype=int)
        group[np.argsort(p[:n], kind="stable")] = np.arange(n) * 10 // n
        events, expected, v = (
            np.bincount(group, weights=each, minlength=10) for each in (y[:n], p[:n], p[:n] * (1 - p[:n]))
        )
        if chi2.sf(((events - expected) ** 2 / v).sum(), 10) < ALPHA:
            return n - 1
    return None


def adwin(values: np.ndarray) -> int | None:
    """Return the first row at which ADWIN detects a change of these values, or None."""
    from river.drift import ADWIN

    detector = ADWIN()
    for i, value in enumerate(values.tolist()):
        detector.update(value)
        if detector.drift_detected:
            return i
    return None


def one(seed: int, with_adwin: bool) -> dict[str, Any]:
    """Return all results of one run: the first row of an alarm, or None."""
    y, p = drawn(seed)
    day, _, arrival = by_arrival(y, p, seed)
    found: dict[str, Any] = {
        "calm | evidence, every row": alarm(y, p),
        "calm | evidence, ties": alarm(*drawn(seed, kind="ties")),
        "calm | evidence, days of 25": alarm(y, p, day),
        "calm | evidence, late labels in batches": _late(y, p, day, seed),
        "calm | evidence, late labels one by one (wrong)": alarm(y[arrival], p[arrival]),
        "calm | evidence, 3 steps ahead": watch(y, p, horizon=3).alarm,
    }
    for kind in ("normal", "uniform", "rare events") if seed < OTHERS else ():
        if kind != "normal":
            found[f"calm | evidence, {kind}"] = alarm(*drawn(seed, kind=kind))
        for name, calm in (("start", 0), ("later", ROWS)):
            stream = drawn(seed, 0.5, calm, calm + AFTER, kind)
            if kind != "normal":
                found[f"{name} | evidence, {kind}"] = alarm(*stream)
            for oracle, row in oracles(*stream, 0.5, calm).items():
                found[f"{name} | {oracle}, {kind}"] = row
    start = drawn(seed, 0.5, 0, AFTER)
    later = drawn(seed, 0.5, ROWS, ROWS + AFTER)
    for name, (labels, predicted) in (("calm", (y, p)), ("start", start), ("later", later)):
        if name != "calm":
            found[f"{name} | evidence, every row"] = alarm(labels, predicted)
        found[f"{name} | Hosmer–Lemeshow, weekly"] = hosmer_lemeshow(labels, predicted)
        if with_adwin:
            found[f"{name} | ADWIN of the Brier score"] = adwin((labels - predicted) ** 2)
            found[f"{name} | ADWIN of y − p"] = adwin(labels - predicted)
    return found


def alarm(y: np.ndarray, p: np.ndarray, day: np.ndarray | None = None) -> int | None:
    """Return ``watch(y, p, day).alarm`` without its other computations; the tests compare the two."""
    starts = np.arange(len(y)) if day is None else np.flatnonzero(np.append(True, np.diff(day)))
    log, _ = Stream().add(Block(np.log(p) - np.log1p(-p), y, p, None, starts))
    first = _first(log)
    return None if first is None else int(starts[first])


def oracles(y: np.ndarray, p: np.ndarray, shift: float, calm: int) -> dict[str, int | None]:
    """Return the first row at which methods that know the shift reach 1/α, with the same bound on false alarms."""
    q = expit(np.log(p) - np.log1p(-p) + shift)
    gain = np.where(y == 1, np.log(q / p), np.log((1 - q) / (1 - p)))
    total = np.cumsum(gain)
    each = np.logaddexp.accumulate(-np.append(0, total[:-1])) + total - np.log(ROWS + AFTER)
    to_come = 1 - np.arange(1, len(y) + 1) / (ROWS + AFTER)
    known = np.cumsum(np.where(np.arange(len(y)) < calm, 0, gain))
    return {
        "oracle that knows shift and row": _first(known),
        "oracle that knows the shift": _first(np.logaddexp(each, np.log(np.maximum(to_come, 1e-300)))),
    }


def _first(log: np.ndarray) -> int | None:
    hit = np.flatnonzero(log >= -np.log(ALPHA))
    return int(hit[0]) if len(hit) else None


def _late(y: np.ndarray, p: np.ndarray, day: np.ndarray, seed: int) -> int | None:
    """Return the alarm of a watcher that receives the pending rows every 40 days, with the labels known by then."""
    _, known, _ = by_arrival(y, p, seed)
    watcher, kept = Watcher(), 0
    for today in range(40, int(known.max()) + 40, 40):
        rows = slice(kept, int(np.searchsorted(day, today)))
        found = watcher.add(np.where(known[rows] <= today, y[rows], np.nan), p[rows], day[rows])
        kept = found.rows
        if found.found is not None:
            return found.found.row
    return None


def summary(runs: list[dict[str, Any]]) -> list[str]:
    """Write the lines of a Markdown table."""
    lines = [
        "| method | false alarms | shift from the start | shift after 5,000 rows |",
        "|---|---|---|---|",
    ]
    methods = dict.fromkeys(key.split(" | ")[1] for key in runs[0])
    for method in methods:
        cells = [method]
        own = [run for run in runs if any(key.endswith(f" | {method}") for key in run)]
        calm = [run.get(f"calm | {method}") for run in own]
        known = f"calm | {method}" in runs[0]
        cells.append(f"{100 * np.mean([each is not None for each in calm]):.1f} %" if known else "")
        for name, begin in (("start", 0), ("later", ROWS)):
            if f"{name} | {method}" not in runs[0]:
                cells.append("")
                continue
            at = [run[f"{name} | {method}"] for run in own]
            early = np.mean([each is not None and each < begin for each in at])
            rest = [each for each in at if each is None or each >= begin]
            delay = (
                np.median([np.inf if each is None else each + 1 - begin for each in rest]) if rest else np.nan
            )
            caught = np.mean([each is not None for each in rest]) if rest else np.nan
            before = f"{100 * early:.1f} %, " if begin else ""
            cells.append(f"{before}{delay:.0f} rows, {100 * caught:.0f} %")
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--markdown", type=Path)
    args = parser.parse_args()
    try:
        import river  # noqa: F401

        there = True
    except ImportError:
        print("river is not installed: ADWIN is left out")
        there = False
    y, p = drawn(0, rows=1_000_000)
    begin = time.perf_counter()
    watch(y, p)
    seconds = time.perf_counter() - begin
    runs: list[dict[str, Any]] = []
    with ProcessPoolExecutor(args.jobs) as pool:
        for run in pool.map(partial(one, with_adwin=there), range(args.runs)):
            runs.append(run)
            if len(runs) % 50 == 0:  # results so far, in case the run is stopped
                print(f"\n{len(runs)} runs", *summary(runs), sep="\n", flush=True)
    text = "\n".join([*summary(runs), "", f"{args.runs} runs. A million rows took {seconds:.1f} s."])
    print(text)
    if args.markdown:
        args.markdown.write_text(text + "\n")


if __name__ == "__main__":
    main()

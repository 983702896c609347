"""Measure the coverage of the intervals of watching: the beginning of a sudden change, and the scores at every time.

``python -m scripts.watch_intervals [--runs 500] [--changes 200] [--markdown FILE]``. The interval of the beginning is
that of the first alarm; runs with a false alarm before the change are excluded. The other intervals are checked after
every row of 5,000: a run counts as covered if none of its intervals ever misses. Their true values are the mean of
E(y − p) so far, that of the Brier score, and the slope, whose joint set with the intercept is checked at the true
line. A table shows how often the intervals of the correction contain the change. The last one shows how often a refit
is advised if the slope changes after 1,500 calibrated rows.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

from calib.analysis.watch import Watcher, watch
from calib.analysis.watch.change import correct
from calib.analysis.watch.evidence import BET_CLIP, Block, LineSequence, MeanSequence, log_wealth, softplus
from calib.kernel.checks import InputError
from scripts.watch_false_alarms import ALPHA, ROWS, drawn

AFTER, STEP = 4000, 500
LINES = {  # intercept and slope of the truth after the change, and the predictions
    "level + 0.3": ((0.3, 1.0), "normal"),
    "level + 0.5": ((0.5, 1.0), "normal"),
    "level − 0.8": ((-0.8, 1.0), "normal"),
    "level + 1.2": ((1.2, 1.0), "normal"),
    "level + 2": ((2.0, 1.0), "normal"),
    "slope 0.5": ((0.0, 0.5), "normal"),
    "slope 2": ((0.0, 2.0), "normal"),
    "level + 0.5, uniform": ((0.5, 1.0), "uniform"),
    "level + 0.5, ties": ((0.5, 1.0), "ties"),
    "level + 0.5, rare events": ((0.5, 1.0), "rare events"),
}
CORRECTED = ("level + 0.3", "level + 0.5", "level + 0.5, rare events", "slope 0.5", "slope 2")
AFTER_ALARM = (0, 1000)
BEGINS = (0, 100, 500, 2000)
SLOPES, SPREADS = (
    (0.65, 0.5, 0.35, 0.2),
    (0.8, 1.3, 2.0),
)  # true slopes, and standard deviations of the log-odds
STREAMS = ("normal", "uniform", "rare events", "ties")


def beginning(name: str, seed: int, calm: int, by_day: int = 0) -> bool | None:
    """Tell whether the interval contains the beginning of the change; None without an alarm after it."""
    (a, b), kind = LINES[name]
    _, p = drawn(seed, rows=calm + AFTER, kind=kind)
    x, row = np.log(p) - np.log1p(-p), np.arange(len(p))
    truth = expit(np.where(row < calm, x, a + b * x))
    y = (np.random.default_rng([seed, calm]).random(len(p)) < truth).astype(float)
    day = row // by_day if by_day else row
    watcher, found = Watcher(), None
    for first in range(0, len(p), STEP):  # rows after an alarm do not change it
        part = slice(first, first + STEP)
        found = watcher.add(y[part], p[part], day[part] if by_day else None).found
        if found is not None:
            break
    if found is None or found.row < calm:
        return None
    return bool(found.earliest_moment <= day[calm] <= found.latest_moment)


def correction(name: str, seed: int, calm: int, after: int) -> bool | None:
    """Tell whether the correction's intervals contain the line of the change, so many rows after the alarm.

    None without an alarm after the change, and if the rows since the change are of one class.
    """
    (a, b), kind = LINES[name]
    _, p = drawn(seed, rows=calm + AFTER + after, kind=kind)
    x, row = np.log(p) - np.log1p(-p), np.arange(len(p))
    truth = expit(np.where(row < calm, x, a + b * x))
    y = (np.random.default_rng([seed, calm]).random(len(p)) < truth).astype(float)
    found = watch(y, p).found
    if found is None or found.row < calm:
        return None
    rows = slice(found.since, found.rows + after)
    try:
        fitted = correct(y[rows], p[rows], "offset" if b == 1 else "recalibration")
    except InputError:
        return None
    return all(ends[0] <= value <= ends[2] for value, ends in ((a, fitted.intercept), (b, fitted.slope)))


def corrections(runs: int) -> list[str]:
    """Return a table: how often the intervals of the correction contain a change after 500 calibrated rows."""
    head = " | ".join(f"{after:,} rows after the alarm" for after in AFTER_ALARM)
    lines = [f"| change of the log-odds | {head} |", "| --- | --- | --- |"]
    for name in CORRECTED:
        cells = []
        for after in AFTER_ALARM:
            inside = [
                each for seed in range(runs) if (each := correction(name, seed, 500, after)) is not None
            ]
            cells.append(f"{100 * np.mean(inside):.1f} % of {len(inside)}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    return lines


def refit(seed: int, slope: float) -> bool | None:
    """Tell whether an alarm after 1,500 calibrated rows advises a refit; None without an alarm after them."""
    rng = np.random.default_rng(seed)
    x = rng.normal(-0.5, SPREADS[seed % len(SPREADS)], 4000)
    y = rng.random(4000) < expit(np.where(np.arange(4000) < 1500, x, slope * x))
    found = watch(y, expit(x)).found
    return None if found is None or found.row < 1500 else found.advice == "refit"


def ever_missed(y: np.ndarray, p: np.ndarray, truth: np.ndarray) -> dict[str, bool]:
    """Tell whether the interval of level, Brier score or slope misses at any row of true probabilities ``truth``."""
    p = np.clip(p, BET_CLIP, 1 - BET_CLIP)
    x = np.log(p) - np.log1p(-p)
    block = Block(x, y, p, None, np.arange(len(y)))
    sums = MeanSequence().add(block, p)
    found = {}
    for name, value in (("level", truth - p), ("brier", truth * (1 - p) ** 2 + (1 - truth) * p**2)):
        wealth = log_wealth(np.abs(sums[name] - np.cumsum(value)), sums[f"{name}_spread"])
        found[name] = bool((wealth > np.log(2 / ALPHA)).any())
    won = LineSequence().add(block)
    true = np.cumsum(-softplus((1 - 2 * y) * (np.log(truth) - np.log1p(-truth))))
    return found | {"slope": bool((won - true > np.log(1 / ALPHA)).any())}


def of_stream(seed: int, kind: str, line: tuple[float, float] = (0.0, 1.0)) -> dict[str, bool]:
    """Return ``ever_missed`` for calibrated predictions, or for labels from another line of their log-odds."""
    y, p = drawn(seed, kind=kind)
    truth = p
    if line != (0.0, 1.0):
        truth = expit(line[0] + line[1] * (np.log(p) - np.log1p(-p)))
        y = (np.random.default_rng([seed, 1]).random(len(p)) < truth).astype(float)
    return ever_missed(y, p, truth)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500, help="runs per stream")
    parser.add_argument("--changes", type=int, default=200, help="runs per change")
    parser.add_argument("--markdown", type=Path)
    args = parser.parse_args()
    lines = [
        "| change | "
        + " | ".join(f"after {calm:,} rows" for calm in BEGINS)
        + " | days of 20 rows, after 500 |"
    ]
    lines.append("| --- " * (len(BEGINS) + 2) + "|")
    for name in LINES:
        cells = []
        for calm, by_day in [*((calm, 0) for calm in BEGINS), (500, 20)]:
            inside: list[Any] = [beginning(name, seed, calm, by_day) for seed in range(args.changes)]
            known = [each for each in inside if each is not None]
            cells.append(f"{100 * np.mean(known):.1f} % of {len(known)}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    lines += [
        "",
        f"| predictions, {ROWS:,} rows | level | Brier score | slope |",
        "| --- | --- | --- | --- |",
    ]
    for kind in STREAMS:
        for what, line in (("calibrated", (0.0, 1.0)), ("intercept 0.5, slope 0.7", (0.5, 0.7))):
            runs = [of_stream(seed, kind, line) for seed in range(args.runs)]
            cells = [
                f"{100 * np.mean([not run[name] for run in runs]):.1f} %"
                for name in ("level", "brier", "slope")
            ]
            lines.append(f"| {kind}, {what} | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    lines += ["", *corrections(args.changes)]
    lines += ["", "| true slope | advised to refit |", "| --- | --- |"]
    for slope in SLOPES:
        advised = [each for seed in range(args.changes) if (each := refit(seed, slope)) is not None]
        lines.append(f"| {slope:g} | {100 * np.mean(advised):.0f} % of {len(advised)} |")
        print(lines[-1], flush=True)
    if args.markdown:
        args.markdown.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

"""Measure how often the verdict errs, and what it finds: the tables of docs/measurements.md.

    python -m scripts.verdicts --write docs/measurements.md          # about five minutes of processor time

True log-odds are normal with a standard deviation of 1.5 around those of the prevalence. A model prints them as they
are, or wrong in level (0.5 higher), in slope (1/0.6 times as extreme) or in shape (bent by 0.6 sin 2x).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.special import expit, logit

from calib.analysis.recommendation.verdict import NEGLIGIBLE_GAP, finding_of
from calib.kernel.rows import Rows
from calib.metrics.calibration_test import calibration_test, largest_average_gap

Array = np.ndarray

SIZES, SHARES, SPREAD = (20, 50, 200, 1000, 5000), (0.5, 0.1, 0.02), 1.5
MODELS: dict[str, Callable[[Array, float], Array]] = {
    "calibrated": lambda x, middle: x,
    "level": lambda x, middle: x + 0.5,
    "slope": lambda x, middle: middle + (x - middle) / 0.6,
    "shape": lambda x, middle: x + 0.6 * np.sin(2 * (x - middle)),
}
CLUSTERS, ALIKE = (
    (10, 30, 100),
    0.5,
)  # how many, and the standard deviation of what rows of one share in log-odds
BEGIN, END = "## How often does the verdict err?", "\n## "


def drawn(rng: np.random.Generator, n: int, share: float, model: str) -> tuple[Array, Array, float]:
    """Draw (labels, printed probabilities, average gap) of n rows."""
    middle = float(logit(share))
    x = rng.normal(middle, SPREAD, n)
    printed = expit(MODELS[model](x, middle))
    return (rng.random(n) < expit(x)).astype(int), printed, float(np.abs(printed - expit(x)).mean())


def judged(n: int, share: float, model: str, draws: int) -> dict[str, float]:
    """Return shares of the draws: rejected, each finding, and largest average gaps that are at least the true one."""
    rng, found = np.random.default_rng(n), []
    for seed in range(draws):
        y, p, gap = drawn(rng, n, share, model)
        rows = Rows(y)
        test, largest = calibration_test(rows, p, seed=seed), largest_average_gap(rows, p)
        found.append((test.rejects, finding_of(test, largest, rows.share), largest >= gap))
    rejected, findings, covered = zip(*found, strict=True)
    named = {
        name: findings.count(name) / draws for name in ("miscalibrated", "negligible", "no sign", "too few")
    }
    return {"rejected": float(np.mean(rejected)), "covered": float(np.mean(covered)), **named}


def tied(draws: int, n: int = 20_000) -> tuple[float, float]:
    """Return how often three predictions, the smallest a tenth of the frequency, are miscalibrated and covered."""
    p, true = np.array([0.001, 0.05, 0.5]), np.array([0.01, 0.023, 0.5])
    rng, found, covered = np.random.default_rng(n), [], []
    for seed in range(draws):
        value = rng.choice(3, n, p=(0.6, 0.2, 0.2))
        rows, gap = Rows((rng.random(n) < true[value]).astype(int)), np.abs(p - true)[value].mean()
        largest = largest_average_gap(rows, p[value])
        test = calibration_test(rows, p[value], seed=seed)
        found.append(finding_of(test, largest, rows.share) == "miscalibrated")
        covered.append(largest >= gap)
    return float(np.mean(found)), float(np.mean(covered))


def size_of(kind: str, number: int, draws: int, n: int = 1000) -> float:
    """Return how often a calibrated model is rejected on weighted or clustered rows."""
    rng, rejected = np.random.default_rng(number), 0
    shocks = rng.normal(0, ALIKE, 4000)
    grid = np.linspace(-9, 9, 400)
    marginal = expit(grid[:, None] + shocks).mean(axis=1)  # calibrated for a row of an unknown cluster
    for seed in range(draws):
        x = rng.normal(0, SPREAD, n)
        if kind == "weights":
            y, p = (rng.random(n) < expit(x)).astype(int), expit(x)
            rows, (p,) = Rows.checked(y, p, sample_weight=rng.gamma(1, 1, n))
        else:
            whose = rng.integers(0, number, n)
            y = (rng.random(n) < expit(x + rng.normal(0, ALIKE, number)[whose])).astype(int)
            rows, p = Rows(y, cluster=whose), np.interp(x, grid, marginal)
        rejected += calibration_test(rows, p, seed=seed).rejects
    return rejected / draws


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def tables(draws: int) -> str:
    """Write the section as Markdown."""
    heads = ["rows", "prevalence", "rejected: calibrated", "power: level", "power: slope", "power: shape"]
    heads += ["calibrated: too few", "slope: negligible"]
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    covered = []
    for n in SIZES:
        some = draws if n <= 1000 else draws // 4
        for share in SHARES:
            size = judged(n, share, "calibrated", some)
            power = {
                model: judged(n, share, model, max(some // 4, 50))
                for model in MODELS
                if model != "calibrated"
            }
            covered += [(each["covered"], n, share) for each in power.values() if n >= 200]
            lines.append(
                f"| {n:,} | {100 * share:g} % | {percent(size['rejected'])} | "
                + " | ".join(percent(each["rejected"]) for each in power.values())
                + f" | {percent(size['too few'])} | {percent(power['slope']['negligible'])} |"
            )
    least, n, share = min(covered)
    *early, last = (
        f"{percent(size_of('clusters', number, draws // 2))} % with {number} clusters" for number in CLUSTERS
    )
    clustered = f"{', '.join(early)} and {last}"
    weighted = percent(size_of("weights", 1, draws // 2))
    miscalibrated, includes = map(percent, tied(draws // 4))
    open_ = f"±{196 * (0.05 * 0.95 / draws) ** 0.5:.1f}"
    return f"""{BEGIN}

    python -m scripts.verdicts --write docs/measurements.md

The verdict tests the level, slope and shape of the calibration curve together, by drawing new labels 999 times. The
table shows how often, in %, the verdict rejects a calibrated model in {draws:,} draws ({draws // 4:,} for 5,000
rows). This rate should be at most 5 %; with this number of draws, the uncertainty is {open_} points. The power
columns use a quarter of these draws and show how often the verdict rejects three miscalibrated models. In these
models, the log-odds x are 0.5 too high, divided by 0.6, or changed by 0.6 sin 2x. “Too few” shows how often a
calibrated model gets the verdict that there are too few rows.

{chr(10).join(lines)}

- With sampling weights (Γ(1), 1,000 rows, prevalence 50 %) the verdict rejects {weighted} % of calibrated models,
  so the test is still exact.
- With clusters the test is approximate. In 1,000 rows, the rows of a cluster share a deviation with a standard
  deviation of {ALIKE} in log-odds. The test then rejects {clustered}.
- The verdict is “negligible” if the one-sided 95 % interval of the average gap in bins has a small upper end: below
  {NEGLIGIBLE_GAP} at a prevalence of 50 %. Gaps in opposite directions within a bin cancel out. For wrong models and
  at least 200 rows, at least {percent(least)} % of the intervals include the true gap
  (lowest with {n:,} rows, {100 * share:g} %).
- In a further simulation of 20,000 rows, 60 % have a prediction of 0.001 and an event frequency of 0.01, 20 % have 0.05
  and 0.023, and 20 % have 0.5 and 0.5. The verdict is “miscalibrated”, not “negligible”, in {miscalibrated} % of
  {draws // 4} draws, and the interval includes the true gap in {includes} % of them.
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=800)
    parser.add_argument("--write", type=Path, metavar="FILE")
    args = parser.parse_args()
    section = tables(args.draws)
    if args.write is None:
        print(section)
        return
    text = args.write.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    after = rest.partition(END)[2] if begin else ""
    whole = before.rstrip() + "\n\n" + section + (f"{END}{after}" if after else "")
    args.write.write_text(whole, encoding="utf-8")


if __name__ == "__main__":
    main()

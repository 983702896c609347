"""Compares inductive Venn–Abers with isotonic regression and with the packages venn-abers and probcal.

Each is fitted on n scores and predicts n new ones. Every ratio is a median over rounds in which the two take turns;
the bounds must hold.
"""

from __future__ import annotations

import argparse
import sys
import time
import tracemalloc
from collections.abc import Callable
from statistics import median

import numpy as np
import probcal
import venn_abers as package
from sklearn.isotonic import IsotonicRegression

from benchmarks._ratios import Verdicts
from calib.calibrators import VennAbers

ISOTONIC_BOUNDS = {1_000: 2.0, 10_000: 2.0, 100_000: 0.6, 1_000_000: 0.6}
PACKAGE_BOUNDS = {100_000: 25, 1_000_000: 150}
PROBCAL_BOUNDS = {1_000: 2, 10_000: 8, 100_000: 16}  # measured: 7.5, 37 and 75 times; without a bound above
PACKAGE_ROUNDS = {1_000: 5, 10_000: 5, 100_000: 3, 1_000_000: 1}
HARD_BOUND = 3.0
MEGABYTES = 400


def sample(kind: str, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw scores, labels and new scores, without ties."""
    rng = np.random.default_rng(0)
    scores, new = rng.random(n), rng.random(n)
    y = {"mixed": rng.random(n) < scores, "separable": scores > 0.5, "one class": np.zeros(n, dtype=bool)}[
        kind
    ]
    return scores, y.astype(int), new


def ours(scores, y, new):
    return VennAbers().fit(scores, y).predict_interval(new)


def isotonic(scores, y, new):
    return IsotonicRegression(out_of_bounds="clip").fit(scores, y).predict(new)


def peer(scores, y, new):
    p = np.column_stack([1 - scores, scores])
    return package.VennAbers().fit(p, y).predict_proba(np.column_stack([1 - new, new]))[1]


def probcals(scores, y, new):
    return probcal.VennAbersCalibrator().fit(scores, y).predict_interval(new)


def turns(works: list[Callable[[], object]], rounds: int) -> np.ndarray:
    """Return the seconds of each work in each round, (rounds, works)."""
    seconds = np.empty((rounds, len(works)))
    for i in range(rounds):
        for j, work in enumerate(works):
            begin = time.perf_counter()
            work()
            seconds[i, j] = time.perf_counter() - begin
    return seconds


def beside(theirs: Callable, n: int, count: int, bounds: dict[int, float], verdict: Verdicts) -> str:
    """Return a line: seconds of ours and of a package, their ratio, and the largest difference of their results."""
    drawn = sample("mixed", n)
    quick, slow = lambda: ours(*drawn), lambda: theirs(*drawn)
    # Five of ours around each of theirs, which may take a minute: a single run could coincide with a busy moment
    seconds = turns([quick, quick, slow, quick, quick, quick], count)
    own = np.median(np.delete(seconds, 2, axis=1), axis=1)
    times = f"{1e3 * median(own):8.1f} ms{1e3 * median(seconds[:, 2]):8.1f} ms"
    gap = f"{np.abs(ours(*drawn) - theirs(*drawn)).max():.1e}" if n <= 100_000 else "not compared"
    faster = verdict(median(seconds[:, 2] / own), bounds.get(n), at_least=True)
    return f"  n = {n:>9,}      {times}{faster}   {gap}"


def main(sizes: list[int], rounds: int, peer_rounds: int | None) -> int:
    verdict = Verdicts()
    print("well-mixed data             ours   isotonic   ratio")
    for n in sizes:
        drawn = sample("mixed", n)
        seconds = turns([lambda c=drawn: ours(*c), lambda c=drawn: isotonic(*c)], rounds)
        ratio = median(seconds[:, 0] / seconds[:, 1])
        times = "".join(f"{1e3 * median(column):8.2f} ms" for column in seconds.T)
        print(f"  n = {n:>9,}      {times}{verdict(ratio, ISOTONIC_BOUNDS.get(n))}")

    print("hard data                   ours      mixed   ratio")
    for n in sizes:
        for kind in ("separable", "one class"):
            hard, mixed = sample(kind, n), sample("mixed", n)
            seconds = turns([lambda c=hard: ours(*c), lambda c=mixed: ours(*c)], rounds)
            ratio = median(seconds[:, 0] / seconds[:, 1])
            times = "".join(f"{1e3 * median(column):8.2f} ms" for column in seconds.T)
            print(f"  n = {n:>9,} {kind:9} {times}{verdict(ratio, HARD_BOUND)}")

    for name, theirs, bounds in (("venn-abers", peer, PACKAGE_BOUNDS), ("probcal", probcals, PROBCAL_BOUNDS)):
        print(f"package {name:20}ours    package   times faster   largest difference")
        for n in sizes if name == "venn-abers" else sizes[:3]:  # a million takes probcal minutes
            count = PACKAGE_ROUNDS.get(n, 1) if peer_rounds is None else peer_rounds
            if count:
                print(beside(theirs, n, count, bounds, verdict))

    largest = max(sizes)
    print(f"peak memory at n = {largest:,}, beyond the input")
    for kind in ("mixed", "separable", "one class"):
        drawn = sample(kind, largest)
        tracemalloc.start()
        ours(*drawn)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        print(f"  {kind:9} megabytes {verdict(peak, MEGABYTES)}")
    return verdict.status


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(ISOTONIC_BOUNDS))
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--peer-rounds", type=int, help="rounds with the package venn-abers; 0 leaves it out")
    sys.exit(main(**vars(parser.parse_args())))

"""Compares the start of ``import calib`` and of the command line with the import of their libraries.

Each runs in a fresh interpreter, in turns; the ratios are medians. The first picture in a browser has its own
benchmark.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from statistics import median

from benchmarks._ratios import Verdicts

LIBRARIES = (
    "import numpy, pandas, scipy.optimize, scipy.stats, sklearn.ensemble, sklearn.linear_model, joblib"
)
WORKS = {
    "libraries": ("-c", LIBRARIES),
    "import calib": ("-c", "import calib"),
    "python -m calib --help": ("-m", "calib", "--help"),
}
BOUNDS = {"import calib": 1.8, "python -m calib --help": 2.5}


def main(rounds: int = 7) -> int:
    verdict = Verdicts()
    taken: dict[str, list[float]] = {name: [] for name in WORKS}
    for _ in range(rounds):
        for name, arguments in WORKS.items():
            taken[name].append(seconds(arguments))
    print(f"libraries alone {median(taken['libraries']):.2f} s")
    for name, bound in BOUNDS.items():
        ratio = median(own / least for own, least in zip(taken[name], taken["libraries"], strict=True))
        print(f"{name}: {median(taken[name]):.2f} s, / libraries: {verdict(ratio, bound)}")
    return verdict.status


def seconds(arguments: tuple[str, ...]) -> float:
    begin = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    sys.exit(main(**vars(parser.parse_args())))

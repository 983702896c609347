"""Compares the start of the package and of the command line with the import of their libraries.

Each runs in a fresh interpreter, in turns; numbers are the best of several, in processor time. `evaluate` fits a
logistic regression, so it imports scikit-learn, which alone takes most of its time: our aim, half of the 1.8 times the
libraries that it once took, lies below the libraries themselves. The first picture in a browser has its own benchmark.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks._ratios import Verdicts

LIGHT = "import numpy, pandas, scipy.special"
LIBRARIES = f"{LIGHT}, sklearn.impute, sklearn.linear_model, sklearn.model_selection, sklearn.pipeline"
CHECK = "import numpy, calib; p = numpy.linspace(0.01, 0.99, 600); calib.check(numpy.arange(600) % 2, p)"
WORKS = {
    "pandas, scipy.special": ("-c", LIGHT),
    "libraries": ("-c", LIBRARIES),
    "import calib": ("-c", "import calib"),
    "python -m calib --help": ("-m", "calib", "--help"),
    "import calib; check(y, p)": ("-c", CHECK),
    "evaluate 600 rows": ("-m", "calib", "evaluate", "recipe.json", "data.csv"),
}
RATIOS = (
    ("import calib", "pandas, scipy.special", 0.2),
    ("import calib; check(y, p)", "pandas, scipy.special", 1.2),
    ("evaluate 600 rows", "libraries", 1.5),
)
LONGEST_HELP = 0.3  # seconds


def main(rounds: int = 7) -> int:
    verdict = Verdicts()
    taken: dict[str, list[float]] = {name: [] for name in WORKS}
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        for _ in range(rounds):
            for name, arguments in WORKS.items():
                taken[name].append(seconds(arguments, folder))
    for name, times in taken.items():
        bound = LONGEST_HELP if name.endswith("--help") else None
        print(f"{name}: {verdict(min(times), bound).strip()} s")
    for name, beside, bound in RATIOS:
        print(f"{name} / {beside}: {verdict(min(taken[name]) / min(taken[beside]), bound)}")
    return verdict.status


def write_files(folder: Path) -> None:
    """Write a Recipe and a table of 600 rows."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(600, 4)), columns=list("abcd"))
    table["y"] = (rng.random(600) < 1 / (1 + np.exp(-table["a"]))).astype(int)
    table.to_csv(folder / "data.csv", index=False)
    (folder / "recipe.json").write_text('{"target": "y", "model": "logistic_regression"}', encoding="utf-8")


def seconds(arguments: tuple[str, ...], folder: str) -> float:
    """Return the processor time of a fresh interpreter in this folder."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    quiet = subprocess.DEVNULL
    # Bytecode is written in the first round, as on a user's machine
    path = {"PYTHONPATH": str(Path(__file__).parents[1]), "PYTHONDONTWRITEBYTECODE": ""}
    subprocess.run(
        [sys.executable, *arguments],
        check=True,
        stdout=quiet,
        stderr=quiet,
        cwd=folder,
        env=os.environ | path,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    sys.exit(main(**vars(parser.parse_args())))

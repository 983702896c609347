"""Measures memory and time for a million weighted scores, and the additional time for a table with dates.

Memory is the peak of a fresh process (VmHWM: imports, the file and all work on it) that runs the command line on a
CSV file, with fractional weights and with counts. The memory of its imports alone is printed beside it: NumPy, SciPy,
pandas with Arrow and scikit-learn, of which every calibrator is an estimator. Time is that of ``evaluate`` and its
metrics: with weights divided by without, and, for a table with a date, roles, splitting, calibrating and evaluating
minus the model's own fit and scoring. Medians over rounds in which the two take turns.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd

from benchmarks._ratios import Verdicts
from calib import Dataset, Recipe, evaluate, sources
from calib.evaluate import make_estimator, split

PEAK = """
import contextlib, io, re, sys
from calib.__main__ import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    status = main(sys.argv[1:]) if sys.argv[1:] else 0
print(status, int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) / 1000)
"""
MEGABYTES, SECONDS, WEIGHTS_COST = 450, 3, 2  # 400 until the verdict came, which judges all rows


def main(rows: int = 1_000_000, rounds: int = 3) -> int:
    verdict = Verdicts()
    if Path("/proc/self/status").exists():
        print_memory(rows, verdict)
    else:
        print("memory skipped: this system has no /proc")
    print(f"weighted / plain scores: {verdict(weights_cost(rows, rounds), WEIGHTS_COST)}")
    print(f"s beyond the fit, a table with a date: {verdict(beyond_the_fit(rows, rounds), SECONDS)}")
    return verdict.status


def scored(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    score = rng.beta(0.5, 2, rows).round(6)
    label = (rng.random(rows) < score**1.3).astype(int)
    weight, count = rng.gamma(2, size=rows).round(4), rng.integers(1, 5, rows)
    return pd.DataFrame({"score": score, "label": label, "weight": weight, "count": count})


def print_memory(rows: int, verdict: Verdicts) -> None:
    table = scored(rows)
    print(f"imports: {peak():9.0f} MB")
    with tempfile.TemporaryDirectory() as folder:
        for role in ("weight", "count"):
            data, recipe = Path(folder, f"{role}.csv"), Path(folder, "recipe.json")
            table[["score", "label", role]].to_csv(data, index=False)
            said = {"content": "predictions", "target": "label", "weight": role}
            if role == "weight":  # Venn–Abers counts rows
                said["calibrators"] = ["none", "platt", "isotonic", "beta"]
            recipe.write_text(json.dumps(said))
            print(f"MB, {rows:,} scores with a {role}: {verdict(peak('evaluate', recipe, data), MEGABYTES)}")


def peak(*command: str | Path) -> float:
    """Return the peak memory of a fresh process for this command, in megabytes."""
    arguments = [sys.executable, "-c", PEAK, *map(str, command)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    status, megabytes = done.stdout.split()
    if status != "0":
        raise SystemExit(f"{command} failed")
    return float(megabytes)


def weights_cost(rows: int, rounds: int) -> float:
    table = scored(rows)
    plain = Dataset("plain", table[["score"]], table["label"].to_numpy(), predictions=True)
    weighted = Dataset("weighted", plain.X, plain.y, predictions=True, weight=table["weight"].to_numpy())
    recipe = Recipe(calibrators=("none", "platt", "isotonic", "beta"))
    return median(seconds(recipe, weighted) / seconds(recipe, plain) for _ in range(rounds))


def seconds(recipe: Recipe, data: Dataset | pd.DataFrame) -> float:
    """Return the seconds from the data, or the table, to its metrics."""
    begin = time.perf_counter()
    if isinstance(data, pd.DataFrame):
        data = sources.load(recipe, {"00": data})
    assert len(evaluate(recipe, data).metrics)
    return time.perf_counter() - begin


def beyond_the_fit(rows: int, rounds: int) -> float:
    frame, recipe = dated(rows), Recipe(data="upload:00", target="label", time="date", split="time")
    recipe = recipe.replace(model="naive_bayes")
    return median(seconds(recipe, frame) - model_alone(recipe, frame) for _ in range(rounds))


def dated(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(rows, 5)), columns=list("abcde"))
    table["kind"] = np.array(["x", "y", "z"])[rng.integers(0, 3, rows)]
    table["label"] = (rng.random(rows) < 1 / (1 + np.exp(1 - table["a"] - table["b"]))).astype(int)
    table["date"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1500, rows), unit="D")
    return table


def model_alone(recipe: Recipe, frame: pd.DataFrame) -> float:
    """Return the seconds of the model's fit on its training rows, and of its scores on calibration and test rows."""
    data = sources.load(recipe, {"00": frame})
    ((learn, test, *_),) = split(recipe, data)
    by_time = learn[np.argsort(data.time[learn], kind="stable")]
    held_out = round(len(learn) * recipe.calibration_size)
    begin = time.perf_counter()
    model = make_estimator(recipe, data).fit(data.X.iloc[by_time[:-held_out]], data.y[by_time[:-held_out]])
    model.predict_proba(data.X.iloc[np.append(by_time[-held_out:], test)])
    return time.perf_counter() - begin


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    sys.exit(main(**vars(parser.parse_args())))

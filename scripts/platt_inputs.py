"""Compare inputs for Platt scaling: a model's probabilities, or their log-odds kept from ±∞ in different ways.

    python -m scripts.platt_inputs FOLDER --rows rows.csv [--seeds 3] [--skip eeg …]

FOLDER holds one CSV file per data set, with its label in the column ``target``. Every data set, model, placement and
seed is a cell of ``rows.csv``, appended when it is done, so the run can be stopped at any moment and continued.
Prints the two tables of docs/measurements.md at the end. Run by hand: half an hour on one core.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon
from sklearn.model_selection import train_test_split

from calib import Recipe
from calib.calibrators import Platt
from calib.calibrators.log_odds import CLIP
from calib.data import prepare, read_table
from calib.evaluate import FittedFold, fit
from calib.kernel.records import Dataset
from calib.metrics import brier_score, log_loss

MODELS = (
    "random_forest",
    "gradient_boosting",
    "naive_bayes",
    "decision_tree",
    "nearest_neighbours",
    "neural_network",
    "logistic_regression",
)
INPUTS = {
    "score": Platt("score"),
    **{f"{clip:.2g}": Platt("log-odds", clip) for clip in (CLIP, 1e-3, 1e-2)},
    "log-odds": Platt("log-odds"),  # clipped as in the chain
}
METRICS = {"brier": brier_score, "log_loss": log_loss}
MOST_ROWS = 2000
CELL = ["data", "model", "placement", "seed"]


def measured(part: FittedFold, labels: np.ndarray) -> dict[str, float]:
    """Return every metric of every input on the test rows, under "metric input"."""
    predictions = {"none": part.tests.scores}
    for name, platt in INPUTS.items():
        predictions[name] = part.placed.predict(part.placed.calibrate(platt), part.tests).p
    return {
        f"{name} {key}": metric(labels, p)
        for key, p in predictions.items()
        for name, metric in METRICS.items()
    }


def cells(seeds: int) -> Iterator[tuple[str, str, int]]:
    """Yield (model, placement, seed); cross-calibration, the slowest, for one seed only."""
    for seed in range(seeds):
        for model in MODELS:
            yield model, "split", seed
        yield "random_forest", "oob", seed
    for model in MODELS:
        yield model, "cv", 0


def measure(data: Dataset, model: str, placement: str, seed: int) -> dict[str, float]:
    part = fit(Recipe(model=model, placement=placement, cv=3, seed=seed), data).parts[0]
    return measured(part, data.y[part.test])


def load(path: Path) -> Dataset:
    frame = read_table(path, path.name)
    if len(frame) > MOST_ROWS:
        frame, _ = train_test_split(frame, train_size=MOST_ROWS, stratify=frame["target"], random_state=0)
    return prepare(frame.reset_index(drop=True), "target")


def run(folder: Path, file: Path, seeds: int, skip: list[str]) -> pd.DataFrame:
    done = pd.read_csv(file) if file.exists() else pd.DataFrame(columns=CELL)
    have = set(map(tuple, done[CELL].values.tolist()))
    for path in sorted(folder.glob("*.csv"), key=lambda path: path.stat().st_size):
        if path.stem in skip:
            continue
        data = load(path)
        for model, placement, seed in cells(seeds):
            if (path.stem, model, placement, seed) in have:
                continue
            try:
                row = measure(data, model, placement, seed)
            except ValueError as error:
                print(f"{path.stem}, {model}, {placement}: {error}")
                continue
            cell = dict(zip(CELL, (path.stem, model, placement, seed), strict=True))
            pd.DataFrame([cell | row]).to_csv(file, mode="a", header=not file.exists(), index=False)
    return pd.read_csv(file)


def of_data_sets(rows: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield (model, placement, table with one row per data set: its means over the seeds)."""
    means = rows.groupby(["model", "placement", "data"], sort=False).mean(numeric_only=True)
    for (model, placement), group in means.groupby(["model", "placement"], sort=False):
        yield model, placement, group


def against_probabilities(rows: pd.DataFrame) -> pd.DataFrame:
    """Return means over the data sets, on how many log-odds are better and worse, and Wilcoxon's signed-rank p."""
    found = []
    for model, placement, group in of_data_sets(rows):
        row: dict[str, object] = {"model": model, "placement": placement}
        for name in METRICS:
            before, after = group[f"{name} score"], group[f"{name} log-odds"]
            better, worse = (after < before - 1e-9).sum(), (after > before + 1e-9).sum()
            row |= {
                f"{name}, probabilities": f"{before.mean():.4f}",
                f"{name}, log-odds": f"{after.mean():.4f}",
            }
            row |= {
                f"{name}, better–worse": f"{better}–{worse}",
                f"{name}, p": f"{wilcoxon(after - before).pvalue:.2g}",
            }
        found.append(row)
    return pd.DataFrame(found)


def by_clip(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the mean Brier score by how close to 0 and 1 a probability may be; "log-odds" is the chain's choice."""
    keys = ["none", *INPUTS]
    return pd.DataFrame(
        [
            {"model": model, "placement": placement}
            | {key: f"{group[f'brier {key}'].mean():.4f}" for key in keys}
            for model, placement, group in of_data_sets(rows)
        ]
    )


def markdown(table: pd.DataFrame) -> str:
    lines = [list(table.columns), ["---"] * len(table.columns), *table.to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--rows", type=Path, default=Path("platt_inputs.csv"), metavar="FILE")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--skip", nargs="*", default=["eeg", "scene", "jm1", "sources"], metavar="NAME")
    args = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the neural network warns about its iterations
        rows = run(args.folder, args.rows, args.seeds, args.skip)
    print(
        f"{rows['data'].nunique()} data sets\n\n{markdown(against_probabilities(rows))}\n\n{markdown(by_clip(rows))}"
    )


if __name__ == "__main__":
    main()

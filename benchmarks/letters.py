"""Measures the processor time from uploading a file of 20,000 rows and 26 classes to the first picture, without the fit
of the model.

The rows are simulated like the letters of the UCI repository: 16 whole numbers and a letter. A person uploads them on
Data and opens the Reliability page with its diagram, tables and recommendation. The model's fit alone is taken off.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification

from benchmarks._ratios import Verdicts
from calib import Recipe, sources
from calib.data import read_table
from calib.evaluate import fit
from tests.pages.app import bring, faults, go, page, settled, titles

BOUND = 10  # seconds
LETTERS = np.array([chr(65 + k) for k in range(26)])


def letters(rows: int = 20_000) -> bytes:
    """Write a CSV file with 16 integer columns and the letter."""
    X, y = make_classification(
        rows, 16, n_informative=12, n_classes=26, n_clusters_per_class=1, class_sep=1.5, random_state=0
    )
    table = pd.DataFrame(np.rint(2 * X).astype(int), columns=[f"f{i}" for i in range(16)])
    return table.assign(**{"class": LETTERS[y]}).to_csv(index=False).encode()


def main() -> int:
    verdict, content = Verdicts(), letters()
    at = page("explore_data")
    begin = time.process_time()
    at = go(settled(bring(at, "letters.csv", content)), "explore_reliability")
    whole = time.process_time() - begin
    assert faults(at) == [], faults(at)
    assert "All 26 classes together" in titles(at)
    recipe = Recipe(data="upload:00ff", target="class")
    data = sources.load(recipe, {"00ff": read_table(content, "letters.csv")})
    begin = time.process_time()
    fit(recipe, data)
    model = time.process_time() - begin
    print(f"file to first picture {whole:.1f} s · the model's fit {model:.1f} s of processor time")
    print(f"beyond the fit, seconds: {verdict(whole - model, BOUND)}")
    return verdict.status


if __name__ == "__main__":
    sys.exit(main())

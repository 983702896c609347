"""Overlap from complete to none, step by step: where calibrating a forest helps, and where it does not.

Shaker and Hüllermeier (2025), section 5.2 and appendix C.3.1, Figures 4, 9 and 10. The means of one class
move away in equal steps. At each step every forest and calibrator is evaluated on fresh rows with known true
probabilities.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from calib.experiments.shared.forest_comparison import Calibrated, baselines, stored_searches
from calib.experiments.shared.long_run import Chunk, LongRun
from calib.kernel.checks import Array
from calib.kernel.progress import Watch
from calib.synthetic import GaussianPair, overlap_path
from calib.synthetic.mixture import part_of
from calib.synthetic.overlap import STEPS_OF_DISTANCE

STREAM = 11
DIMENSIONS = (2, 5, 10, 20)
OVERLAP_TEST_ROWS = 1000
OVERLAP_SETTINGS = ("n", "share", "repetitions")
EMBEDDINGS = {"pca": "PCA", "tsne": "t-SNE"}
DRAWN_STEPS, DRAWN_OBJECTS = (1, 7, 13, STEPS_OF_DISTANCE), 600


def chunks(random_state: int, settings: Mapping[str, Any]) -> dict[Any, Chunk]:
    """Return the steps in the chosen dimensions: name → chunk."""
    dimensions = DIMENSIONS if settings["d"] == "all" else (int(settings["d"]),)
    own = {name: settings[name] for name in OVERLAP_SETTINGS}
    return {
        (random_state, d, step, *own.values()): partial(one_step, d, step, random_state, **own)
        for step in range(1, STEPS_OF_DISTANCE + 1)
        for d in dimensions
    }


def _chosen(table: pd.DataFrame, settings: Mapping[str, Any]) -> pd.DataFrame:
    return table if settings["d"] == "all" else table[table["d"] == int(settings["d"])]


OVERLAP_RUN = LongRun(
    package="calib.experiments.overlap",
    settings=OVERLAP_SETTINGS,
    chunks=chunks,
    by=("d", "step", "distance"),
    order=("d", "step"),
    chosen=_chosen,
)


def one_step(
    d: int, step: int, random_state: int, n: int, share: float, repetitions: int, watch: Watch | None = None
) -> pd.DataFrame:
    """Compute all repetitions of one step: n learning rows, a share of which calibrates, and OVERLAP_TEST_ROWS test
    rows."""
    pair, found = path(d, random_state)[step - 1], stored_searches()[case(d, step)]
    size, tables = round(share * n), []
    for repetition in (watch or Watch()).loop(range(repetitions), "repetitions"):
        rng, seed = generator(d, step, repetition, random_state), random_state + repetition
        data, test = pair.sample(n, rng), pair.sample(OVERLAP_TEST_ROWS, rng)
        calibrated = Calibrated(part_of(data, size, n), part_of(data, 0, size), test, found, seed)
        tables += [baselines(data, test, found, seed), calibrated.table(size)]
    return pd.concat(tables).assign(d=d, step=step, distance=pair.bhattacharyya())


def path(d: int, random_state: int) -> list[GaussianPair]:
    """Return the twenty pairs in d dimensions."""
    return overlap_path(d, STEPS_OF_DISTANCE, random_state=np.random.default_rng([random_state, STREAM, d]))


def generator(d: int, step: int, repetition: int, random_state: int) -> np.random.Generator:
    """Return the generator for the rows of one repetition; repetition −1 is for the search."""
    return np.random.default_rng([random_state, STREAM, d, step, repetition + 1])


def case(d: int, step: int) -> str:
    """Return the name of a search."""
    return f"overlap {d} {step}"


@dataclass(frozen=True, eq=False)
class DrawnSteps:
    """Data of some steps.

    Attributes
    ----------
    steps
        For each step its number, distance, coordinates (n, 2) and labels (n,).
    """

    d: int
    embedding: str
    steps: tuple[tuple[int, float, Array, Array], ...]


def draw_steps(settings: Mapping[str, Any], random_state: int, watch: Watch) -> DrawnSteps:
    """Draw rows of four steps, projected by PCA or t-SNE beyond two dimensions (Figure 9).

    Parameters
    ----------
    settings
        detail (the dimensions) and embedding.
    """
    from sklearn.decomposition import PCA  # imported here: most computations do not draw
    from sklearn.manifold import TSNE

    d, embedding = int(settings["detail"]), settings["embedding"]
    pairs, drawn = path(d, random_state), []
    for step in watch.loop(DRAWN_STEPS, "steps"):
        data = pairs[step - 1].sample(DRAWN_OBJECTS, generator(d, step, 0, random_state))
        X = data.X.to_numpy()
        if d > 2:
            method = PCA(2) if embedding == "pca" else TSNE(2, random_state=random_state)
            X = method.fit_transform(X)
        drawn.append((step, pairs[step - 1].bhattacharyya(), X, data.y))
    return DrawnSteps(d, embedding, tuple(drawn))

"""From complete overlap to none, step by step: where calibrating a forest helps, and where it does not.

Shaker and Hüllermeier (2025), section 5.2 and appendix C.3.1, Figures 4, 9 and 10. The means of one class move away
in equal steps; at each, every forest and calibrator is judged on fresh objects whose true probabilities are known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE

from calib.kernel.checks import Array
from calib.kernel.progress import Watch
from calib.learn import EXPERIMENTS
from calib.simulations import searched
from calib.simulations.forests import Calibrated, baselines, summary
from calib.simulations.results import Shipped, shipped_results
from calib.synthetic import GaussianPair, overlap_path
from calib.synthetic.mixture import part_of
from calib.synthetic.overlap import STEPS

STREAM = 11
DIMENSIONS = (2, 5, 10, 20)
TESTS = 1000
BY = ["d", "step"]
SETTINGS = ("n", "share", "repetitions")
DRAWN, DRAWN_OBJECTS = (1, 7, 13, STEPS), 600


@dataclass(frozen=True, eq=False)
class Overlap:
    """One row of ``table`` a dimension, step, method and base: ``distance`` (Bhattacharyya's), means, standard errors.

    made : when and how, where the results were made beforehand
    """

    table: pd.DataFrame
    made: Shipped | None = None


def pull_apart(*, random_state: int, watch: Watch | None = None, **settings) -> Overlap:
    """Twenty steps in the chosen dimensions.

    settings : of EXPERIMENTS["overlap"]: d, results, repetitions, n, share
    """
    values = EXPERIMENTS["overlap"].check(settings)
    kept = kept_results(random_state, values)
    if kept is not None:
        return kept
    watch = watch or Watch()
    calls = cells(random_state, values)
    found = [call(watch=watch.part(i / len(calls), (i + 1) / len(calls))) for i, call in enumerate(calls.values())]
    return gathered(found)


def kept_results(random_state: int, values: dict[str, Any]) -> Overlap | None:
    """What was made beforehand, where it is asked for and these are its settings."""
    made = shipped_results("overlap", random_state, values)
    if made is None:
        return None
    table = made.table
    return Overlap(table if values["d"] == "all" else table[table["d"] == int(values["d"])], made)


def cells(random_state: int, values: dict[str, Any]) -> dict[Any, Callable[..., pd.DataFrame]]:
    """The independent parts of the experiment: name → what computes it, ``call(watch=…)``."""
    dimensions = DIMENSIONS if values["d"] == "all" else (int(values["d"]),)
    settings = {name: values[name] for name in SETTINGS}
    return {
        (random_state, d, step, *settings.values()): partial(one_step, d, step, random_state, **settings)
        for step in range(1, STEPS + 1)
        for d in dimensions
    }


def gathered(found: list[pd.DataFrame]) -> Overlap:
    """The means over the repetitions of the cells that are there."""
    return Overlap(summary(found, ["d", "step", "distance"]).sort_values(BY, kind="stable"))


def one_step(
    d: int, step: int, random_state: int, n: int, share: float, repetitions: int, watch: Watch | None = None
) -> pd.DataFrame:
    """All repetitions of one step: n objects to learn from, of which a share calibrates, and TESTS to judge on."""
    pair, found = path(d, random_state)[step - 1], searched.shipped()[case(d, step)]
    size, tables = round(share * n), []
    for repetition in (watch or Watch()).loop(range(repetitions), "repetitions"):
        rng, seed = generator(d, step, repetition, random_state), random_state + repetition
        data, test = pair.sample(n, rng), pair.sample(TESTS, rng)
        calibrated = Calibrated(part_of(data, size, n), part_of(data, 0, size), test, found, seed)
        tables += [baselines(data, test, found, seed), calibrated.table(size)]
    return pd.concat(tables).assign(d=d, step=step, distance=pair.bhattacharyya())


def path(d: int, random_state: int) -> list[GaussianPair]:
    """The twenty pairs in d dimensions."""
    return overlap_path(d, STEPS, random_state=np.random.default_rng([random_state, STREAM, d]))


def generator(d: int, step: int, repetition: int, random_state: int) -> np.random.Generator:
    """What draws the objects of one repetition; repetition −1 are those that are searched on."""
    return np.random.default_rng([random_state, STREAM, d, step, repetition + 1])


def case(d: int, step: int) -> str:
    """The name of a search."""
    return f"overlap {d} {step}"


@dataclass(frozen=True, eq=False)
class DrawnSteps:
    """steps : of each, its number, distance, places on the page (n, 2) and labels (n,)"""

    d: int
    embedding: str
    steps: tuple[tuple[int, float, Array, Array], ...]


def draw_data(*, random_state: int, watch: Watch | None = None, **settings) -> DrawnSteps:
    """Objects of four steps, laid on the page: by PCA, or t-SNE, beyond two dimensions (Figure 9).

    settings : of EXPERIMENTS["overlap"]; detail (the dimensions) and embedding count
    """
    values = EXPERIMENTS["overlap"].check(settings)
    d, embedding = int(values["detail"]), values["embedding"]
    pairs, drawn = path(d, random_state), []
    for step in (watch or Watch()).loop(DRAWN, "steps"):
        data = pairs[step - 1].sample(DRAWN_OBJECTS, generator(d, step, 0, random_state))
        X = data.X.to_numpy()
        if d > 2:
            method = PCA(2) if embedding == "pca" else TSNE(2, random_state=random_state)
            X = method.fit_transform(X)
        drawn.append((step, pairs[step - 1].bhattacharyya(), X, data.y))
    return DrawnSteps(d, embedding, tuple(drawn))

"""How many calibration objects a method needs: calibration sets from 2 % to 100 % of the training set.

Shaker and Hüllermeier (2025), appendix C.3.2, Figures 11 and 12 and Table 3. A repetition draws a mixture of four
Gaussians a class, and from it training objects, a pool whose first rows calibrate, and test objects.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from calib.kernel.progress import Watch
from calib.kernel.records import Dataset
from calib.learn import EXPERIMENTS
from calib.simulations import searched
from calib.simulations.forests import Calibrated, baselines, summary
from calib.simulations.results import Shipped, shipped_results
from calib.synthetic.mixture import SHARES, SizeSweep, size_sweep

STREAM = 12
SETTINGS = ("sizes", "n_train", "n_test", "repetitions")
MIXTURES = 12  # settings are searched on the first so many; later repetitions use them again from the start
EVERY = 0.1  # forests that learn from training and calibration objects alike are trained at every tenth only


@dataclass(frozen=True, eq=False)
class SizeResult:
    """One row of ``table`` a share, method and base: means over the repetitions and standard errors.

    made : when and how, where the results were made beforehand
    """

    table: pd.DataFrame
    made: Shipped | None = None


def grow_calibration_set(*, random_state: int, watch: Watch | None = None, **settings) -> SizeResult:
    """Calibration sets of growing size.

    settings : of EXPERIMENTS["calibration_size"]: results, repetitions, sizes, n_train, n_test
    """
    values = EXPERIMENTS["calibration_size"].check(settings)
    kept = kept_results(random_state, values)
    if kept is not None:
        return kept
    watch = watch or Watch()
    calls = cells(random_state, values)
    found = [call(watch=watch.part(i / len(calls), (i + 1) / len(calls))) for i, call in enumerate(calls.values())]
    return gathered(found)


def kept_results(random_state: int, values: dict[str, Any]) -> SizeResult | None:
    """What was made beforehand, where it is asked for and these are its settings."""
    made = shipped_results("calibration_size", random_state, values)
    return None if made is None else SizeResult(made.table, made)


def cells(random_state: int, values: dict[str, Any]) -> dict[Any, Callable[..., pd.DataFrame]]:
    """The repetitions: name → what computes one, ``call(watch=…)``."""
    settings = {name: values[name] for name in SETTINGS if name != "repetitions"}
    return {
        (random_state, i, *settings.values()): partial(one_repetition, i, random_state, **settings)
        for i in range(values["repetitions"])
    }


def gathered(found: list[pd.DataFrame]) -> SizeResult:
    """The means over the repetitions that are there."""
    return SizeResult(summary(found, ["share"]).sort_values("share", kind="stable"))


def one_repetition(
    repetition: int, random_state: int, sizes: int, n_train: int, n_test: int, watch: Watch | None = None
) -> pd.DataFrame:
    """One mixture at every share, ``sizes`` of them from 1/sizes to 1."""
    data, seed = sweep(repetition, random_state, n_train, n_test), random_state + repetition
    found = searched.shipped()[case(repetition % MIXTURES)]
    calibrated = Calibrated(data.train, data.pool, data.test, found, seed)
    shares = SHARES[len(SHARES) // sizes - 1 :: len(SHARES) // sizes]
    tables = []
    for i, share in enumerate((watch or Watch()).loop(shares, "calibration sizes")):
        size = round(share * n_train)
        tables.append(calibrated.table(size).assign(share=share))
        if i == 0 or round(share / EVERY, 6).is_integer():
            everything = _joined(data.train, data.calibration(share))
            tables.append(baselines(everything, data.test, found, seed).assign(share=share))
    return pd.concat(tables)


def sweep(repetition: int, random_state: int, n_train: int = 800, n_test: int = 100) -> SizeSweep:
    """The objects of one repetition."""
    return size_sweep(np.random.default_rng([random_state, STREAM, repetition]), n_train, n_test)


def case(mixture: int) -> str:
    """The name of a search."""
    return f"size {mixture}"


def _joined(one: Dataset, other: Dataset) -> Dataset:
    return Dataset(one.name, pd.concat([one.X, other.X], ignore_index=True), np.concatenate([one.y, other.y]))


def draw_data(*, random_state: int, watch: Watch | None = None, **settings) -> Dataset:
    """The training objects of the first repetition (Figure 11).

    settings : of EXPERIMENTS["calibration_size"]; n_train and n_test count
    """
    values = EXPERIMENTS["calibration_size"].check(settings)
    return sweep(0, random_state, values["n_train"], values["n_test"]).train

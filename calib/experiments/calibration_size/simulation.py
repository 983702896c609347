"""Calibration rows that a method needs, for calibration sets from 2 % to 100 % of the training set.

Shaker and Hüllermeier (2025), appendix C.3.2, Figures 11 and 12 and Table 3. A repetition draws a mixture of
four Gaussians per class, and from it training rows, a pool whose first rows calibrate, and test rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from calib.experiments.shared.forest_comparison import Calibrated, baselines, stored_searches
from calib.experiments.shared.long_run import Chunk, LongRun
from calib.kernel.progress import Watch
from calib.kernel.records import Dataset
from calib.synthetic.mixture import CALIBRATION_SHARES, SizeSweep, size_sweep

STREAM = 12
SIZE_SETTINGS = ("sizes", "n_train", "n_test", "repetitions")
MIXTURES = 12  # mixtures with searched settings; later repetitions reuse them in turn
SHARE_STEP = 0.1  # step between shares at which forests on training and calibration rows are trained


def chunks(random_state: int, settings: Mapping[str, Any]) -> dict[Any, Chunk]:
    """Return the repetitions: name → chunk."""
    own = {name: settings[name] for name in SIZE_SETTINGS if name != "repetitions"}
    return {
        (random_state, i, *own.values()): partial(one_repetition, i, random_state, **own)
        for i in range(settings["repetitions"])
    }


SIZE_RUN = LongRun(
    package="calib.experiments.calibration_size",
    settings=SIZE_SETTINGS,
    chunks=chunks,
    by=("share",),
    order=("share",),
)


def one_repetition(
    repetition: int, random_state: int, sizes: int, n_train: int, n_test: int, watch: Watch | None = None
) -> pd.DataFrame:
    """Evaluate one mixture at every share, ``sizes`` shares from 1/sizes to 1."""
    data, seed = sweep(repetition, random_state, n_train, n_test), random_state + repetition
    found = stored_searches()[case(repetition % MIXTURES)]
    calibrated = Calibrated(data.train, data.pool, data.test, found, seed)
    shares = CALIBRATION_SHARES[len(CALIBRATION_SHARES) // sizes - 1 :: len(CALIBRATION_SHARES) // sizes]
    tables = []
    for i, share in enumerate((watch or Watch()).loop(shares, "calibration sizes")):
        size = round(share * n_train)
        tables.append(calibrated.table(size).assign(share=share))
        if i == 0 or round(share / SHARE_STEP, 6).is_integer():
            train, more = data.train, data.calibration(share)
            X, y = pd.concat([train.X, more.X], ignore_index=True), np.concatenate([train.y, more.y])
            everything = Dataset(train.name, X, y)
            tables.append(baselines(everything, data.test, found, seed).assign(share=share))
    return pd.concat(tables)


def sweep(repetition: int, random_state: int, n_train: int = 800, n_test: int = 100) -> SizeSweep:
    """Draw the rows of one repetition."""
    return size_sweep(np.random.default_rng([random_state, STREAM, repetition]), n_train, n_test)


def case(mixture: int) -> str:
    """Return the name of a search."""
    return f"size {mixture}"


def training_rows(settings: Mapping[str, Any], random_state: int, watch: Watch | None = None) -> Dataset:
    """Draw the training rows of the first repetition (Figure 11).

    Parameters
    ----------
    settings
        n_train and n_test.
    """
    return sweep(0, random_state, settings["n_train"], settings["n_test"]).train

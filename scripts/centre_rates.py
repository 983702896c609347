"""Measure intervals of the slope over centres: of its mean, and for a new centre, in ``calib.analysis.centres``.

``python -m scripts.centre_rates [--draws 400] [--centres 30]``. The slope of centre i is 0.9 + τ z, its level 2 τ z′,
with z and z′ standard normal; each centre has 150 to 450 rows. A new centre is drawn from the same distribution. Run
by hand: ten minutes on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from calib import check
from calib.analysis.centres import centres

MEAN, DEVIATIONS = 0.9, (0.2, 0.05, 0.0)  # of the slope


def one(k: int, seed: int, deviation: float) -> dict[str, float]:
    """Return whether the interval of the mean slope includes it, and that for a new centre the slope there."""
    rng = np.random.default_rng(seed)
    centre = np.repeat(np.arange(k), rng.integers(150, 451, k))
    slope, level = MEAN + deviation * rng.normal(size=k), 2 * deviation * rng.normal(size=k)
    p = expit(rng.normal(-0.8, 1.2, len(centre)))
    y = (rng.random(len(centre)) < expit(slope[centre] * (logit(p) + 0.8) - 0.8 + level[centre])).astype(int)
    found, new = centres(check(y, p), centre).pooled["slope"], MEAN + deviation * rng.normal()
    return {
        "mean": float(found.low <= MEAN <= found.high),
        "new centre": float(found.new_low <= new <= found.new_high),
        "width of the mean": found.high - found.low,
        "width for a new centre": found.new_high - found.new_low,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--centres", type=int, nargs="+", default=(5, 10, 30))
    args = parser.parse_args(arguments)
    for deviation in DEVIATIONS:
        for k in args.centres:
            table = pd.DataFrame([one(k, seed, deviation) for seed in range(args.draws)])
            covered, widths = table.iloc[:, :2].mean() * 100, table.iloc[:, 2:].median()
            print({"centres": k, "τ": deviation, **covered.round(1), **widths.round(2)}, flush=True)


if __name__ == "__main__":
    main()

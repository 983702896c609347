"""Measure intervals over centres: of the mean, and for a new centre, in ``calib.analysis.centres``.

``python -m scripts.centre_rates [--draws 500]``. The slope of centre i is 0.9 + 0.2 z and its level 0.4 z′, with z and
z′ standard normal; each centre has 150 to 450 rows. A new centre is drawn from the same distribution. Run by hand: half
an hour on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from calib import check
from calib.analysis.centres import centres

MEAN = {"slope": 0.9, "in_the_large": 0.0}
DEVIATION = {"slope": 0.2, "in_the_large": 0.4}


def one(k: int, seed: int, spread: float = 1.0) -> dict[str, float]:
    """Return whether the interval includes the mean, and that for a new centre includes its value, per measure."""
    rng = np.random.default_rng(seed)
    centre = np.repeat(np.arange(k), rng.integers(150, 451, k))
    slope = MEAN["slope"] + spread * DEVIATION["slope"] * rng.normal(size=k)
    level = spread * DEVIATION["in_the_large"] * rng.normal(size=k)
    p = expit(rng.normal(-0.8, 1.2, len(centre)))
    y = (rng.random(len(centre)) < expit(slope[centre] * (logit(p) + 0.8) - 0.8 + level[centre])).astype(int)
    pooled, found = centres(check(y, p), centre).pooled, {}
    mean = {**MEAN, "slope": MEAN["slope"]}
    for key in ("slope",):
        each, new = pooled[key], mean[key] + spread * DEVIATION[key] * rng.normal()
        found |= {
            f"{key}: mean": float(each.low <= mean[key] <= each.high),
            f"{key}: new centre": float(each.new_low <= new <= each.new_high),
            f"{key}: width of the mean": each.high - each.low,
            f"{key}: width for a new centre": each.new_high - each.new_low,
        }
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=500)
    args = parser.parse_args(arguments)
    lines = []
    for spread in (1.0, 0.0):
        for k in (5, 10, 30):
            table = pd.DataFrame([one(k, seed, spread) for seed in range(args.draws)])
            covered, widths = table.iloc[:, :2].mean() * 100, table.iloc[:, 2:].median()
            lines.append({"centres": k, "τ": 0.2 * spread, **covered.round(1), **widths.round(2)})
            print(lines[-1], flush=True)
    print(pd.DataFrame(lines).to_markdown(index=False))


if __name__ == "__main__":
    main()

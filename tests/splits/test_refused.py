"""What a split says of placements beforehand is what fitting does: neither offered and refused, nor the other way."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest

from calib import Dataset, Recipe, fit
from calib.kernel.checks import InputError
from calib.placements import PLACEMENTS
from calib.splits import SPLITS

RNG = np.random.default_rng(0)
N = 45
X = pd.DataFrame({"a": RNG.normal(size=N), "b": RNG.normal(size=N)})
Y = (X["a"] + RNG.normal(size=N) > 0).astype(int).to_numpy()
PARTS = {"train and test": [0, 0, 2], "all three": [0, 1, 2]}


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize(
    ("split", "parts"), [*((split, "train and test") for split in SPLITS), ("file", "all three")]
)
def test_a_placement_is_refused_beforehand_where_fitting_refuses_it(split, parts, placement):
    part = np.resize(PARTS[parts], N)
    data = Dataset("rows", X, Y, time=np.arange(float(N)), cluster=np.arange(N) // 3, part=part)
    recipe = Recipe(
        split=split, placement=placement, params={"n_estimators": 4}, time="t", cluster="c", part="p"
    )
    said = SPLITS[split].refuses(PLACEMENTS[placement].asks, data.fixes_calibration)
    with pytest.raises(InputError, match="^placement:") if said else nullcontext():
        fit(recipe, data)

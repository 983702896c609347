"""An Evaluation shown with other bins tells the same as one that was made with them, although most is cached."""

from collections.abc import Callable
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from calib import Recipe, evaluate
from calib.sources import load

chain = import_module(
    "calib.evaluate"
)  # by name, since ``calib.evaluate`` as an attribute of ``calib`` is the function

RNG = np.random.default_rng(0)
SCORES = pd.DataFrame({"p": RNG.random(3000).round(4)})
SCORES["y"] = (RNG.random(3000) < SCORES["p"] ** 1.4).astype(int)
TEN = tuple((str(digit), 0.19 if digit == 0 else 0.09) for digit in range(10))
MODEL = {"model": "naive_bayes", "calibrators": ("none", "platt")}
RECIPES = {
    "predictions": Recipe(
        data="upload:scores", content="predictions", target="y", positive="1", calibrators=("none", "platt")
    ),
    "two classes": Recipe(data="sample:breast_cancer", **MODEL),
    "a base rate": Recipe(data="sample:breast_cancer", base_rate=0.2, **MODEL),
    "ten classes": Recipe(data="sample:all_digits", **MODEL),
    "stated shares": Recipe(data="sample:all_digits", model="naive_bayes", base_rates=TEN),
}
TOLD: dict[str, Callable] = {
    "metrics": lambda found: found.metrics.to_string(),
    "verdict": lambda found: found.verdict.sentence,
    "recommendation": lambda found: found.recommendation(),
    "confidence": lambda found: found.of("top").metrics.to_string(),
    "confidence of one": lambda found: found.of("top", "none").metrics.to_string(),
    "class 0": lambda found: found.of(0).metrics.to_string(),
    "verdict on class 0": lambda found: found.of(0).verdict.sentence,
    "joint": lambda found: found.whole and found.whole.of(3).verdict.sentence,
    "before": lambda found: found.unadjusted and found.unadjusted.metrics.to_string(),
    "interval": lambda found: found.interval("ece", "none"),
}


@pytest.mark.parametrize("change", [{"bins": 5}, {"binning": "quantile"}], ids=["bins", "binning"])
@pytest.mark.parametrize("name", RECIPES)
def test_other_bins_change_all_that_is_told_and_nothing_told_before_stays(name, change):
    recipe = RECIPES[name]
    data = load(recipe, {"scores": SCORES})
    fitted = chain.fit(recipe, data)
    first = chain.calibrate(recipe, fitted)
    before = {what: tell(first) for what, tell in TOLD.items()}
    other = recipe.replace(**change)
    expected = evaluate(other, data)
    for found in (first.with_view(other), chain.calibrate(other, fitted)):
        for what, tell in TOLD.items():
            assert repr(tell(found)) == repr(tell(expected)), what
    assert before["metrics"] != TOLD["metrics"](expected)
    assert before["confidence of one"] != TOLD["confidence of one"](expected)

"""Any small table through any Recipe: a right answer or one clear refusal, nothing else."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calib import Recipe, evaluate
from calib.calibrators import CALIBRATORS
from calib.data import prepare
from calib.kernel.checks import InputError
from calib.models import MODELS
from calib.placements import PLACEMENTS
from calib.sources import roles as roles_of
from calib.splits import SPLITS

SMALL = {  # of the models that are large by default; those that search are not tried, as they fit the ones that are
    **{key: {"n_estimators": 5} for key in ("random_forest", "bagged_trees", "large_forest")},
    "gradient_boosting": {"max_iter": 3},
    "neural_network": {"units": 3, "max_iter": 20},
}
TRIED = sorted(MODELS.keys() - {"tuned_forest", "curtailed_forest", "given"})
COLUMNS = {"weight": "many", "time": "when", "cluster": "who", "part": "which"}
WEIGHTS = ([0, 1, 2, 5, 0.5], [0, 1, 2, 5])
NUMBERS = st.one_of(
    st.floats(-5, 5),
    st.integers(0, 3).map(float),
    st.sampled_from([np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-320, 0.0]),
)


@st.composite
def tables(draw):
    """A few columns of numbers and words with a label, dates, clusters, weights and parts."""
    n = draw(st.integers(2, 60))
    column = st.lists(NUMBERS, min_size=n, max_size=n)
    frame = pd.DataFrame({f"x{i}": draw(column) for i in range(draw(st.integers(0, 3)))})
    words = st.sampled_from(["a", "b", "c", None, "<b>", "=1+1"])
    if draw(st.booleans()) or frame.empty:
        frame["word"] = draw(st.lists(words, min_size=n, max_size=n))
    frame["y"] = draw(st.lists(st.sampled_from(["no", "yes"]), min_size=n, max_size=n))
    first = np.datetime64(draw(st.sampled_from(["2020-01-01", "9999-11-01"])), "D")
    days = np.array(draw(st.lists(st.integers(0, 40), min_size=n, max_size=n)))
    frame["when"] = (first + days).astype("datetime64[us]")
    frame["who"] = draw(st.lists(st.integers(0, 12), min_size=n, max_size=n))
    frame["many"] = draw(st.lists(st.sampled_from(draw(st.sampled_from(WEIGHTS))), min_size=n, max_size=n))
    frame["which"] = draw(st.lists(st.sampled_from(["train", "calibrate", "test"]), min_size=n, max_size=n))
    return frame


@st.composite
def recipes(draw):
    split = draw(st.sampled_from(sorted(SPLITS)))
    needed = filter(None, [SPLITS[split].needs])
    roles = {role: COLUMNS[role] for role in (*needed, *draw(st.sampled_from([(), (), ("weight",)])))}
    model = draw(st.sampled_from(TRIED))
    return Recipe(
        model=model,
        params=SMALL.get(model, {}),
        placement=draw(st.sampled_from(sorted(PLACEMENTS))),
        evaluation=draw(st.sampled_from(["holdout", "folds"])),
        calibrators=tuple(draw(st.sets(st.sampled_from(sorted(CALIBRATORS)), min_size=1, max_size=4))),
        split=split,
        folds=draw(st.integers(2, 3)),
        cv=draw(st.integers(2, 3)),
        target="y",
        base_rate=draw(st.sampled_from([None, None, 0.2, 1e-9])),
        exclude=tuple(column for role, column in COLUMNS.items() if role not in roles),
        seed=draw(st.integers(0, 3)),
        weight_as=draw(st.sampled_from([None, "counts", "importance"])) if "weight" in roles else None,
        **roles,
    )


def refused(why):
    assert why.endswith((".", ")"))
    assert not any(word in why for word in ("Error", "array", "NoneType", "dtype", "nan"))


def check(frame, recipe):
    """Either an InputError in words, or probabilities inside their intervals."""
    try:
        data = prepare(frame, "y", exclude=recipe.exclude, roles=roles_of(recipe), weight_as=recipe.weight_as)
        evaluation = evaluate(recipe, data)
    except InputError as error:
        refused(str(error))
        return
    for predictions in evaluation.predictions.values():
        assert np.isfinite(predictions.p).all()
        assert ((predictions.p >= 0) & (predictions.p <= 1)).all()
        if predictions.lower is not None:
            assert (predictions.lower >= 0).all()
            assert (predictions.lower <= predictions.upper).all()
            assert (predictions.upper <= 1).all()
            assert (predictions.lower - 1e-12 <= predictions.p).all()
            assert (predictions.p <= predictions.upper + 1e-12).all()
    for why in evaluation.refused.values():
        refused(why)
    assert len(evaluation.metrics) == len(evaluation.predictions)


LIGHT = {"deadline": None, "suppress_health_check": list(HealthCheck)}


@given(tables(), recipes())
@settings(max_examples=20, **LIGHT)
def test_any_table_through_any_recipe_is_answered_or_refused(frame, recipe):
    check(frame, recipe)


@pytest.mark.soak
@given(tables(), recipes())
@settings(max_examples=600, **LIGHT)
def test_many_tables_through_many_recipes_are_answered_or_refused(frame, recipe):
    check(frame, recipe)

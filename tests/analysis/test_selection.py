"""What is clicked is what is listed: a bin's rows are its rows, whatever the bins."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pages.ui.everything
from calib import Recipe
from calib.analysis.curves import binned_curve, corp_curve, smooth_curve
from calib.analysis.selection import read_ranges, selected_frame, selected_rows, write_ranges
from calib.figures.reliability import shape_of
from calib.kernel.checks import InputError
from tests.figures.evaluations import evaluation

METHODS = ("none", "isotonic", "venn_abers")


def pick(ranges):
    return evaluation(calibrators=METHODS), write_ranges(ranges)


@pytest.mark.parametrize("bins", [2, 7, 10, 20, 100])
@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("key", METHODS)
def test_a_bin_picks_as_many_rows_as_its_mark_says(bins, strategy, key):
    e = evaluation(calibrators=METHODS)
    shape = shape_of(binned_curve(e.y, e.predictions[key].p, bins=bins, strategy=strategy))
    seen = []
    for low, high, count in zip(shape.low, shape.high, shape.count, strict=True):
        rows = selected_rows(*pick([(key, low, high)]))
        assert len(rows) == count
        seen.append(rows)
    np.testing.assert_array_equal(np.sort(np.concatenate(seen)), np.arange(len(e.y)))  # each row in one bin


@pytest.mark.parametrize("key", METHODS)
def test_a_step_picks_the_rows_of_its_pool(key):
    e = evaluation(calibrators=METHODS)
    shape = shape_of(corp_curve(e.y, e.predictions[key].p))
    for low, high, count, height in zip(shape.low, shape.high, shape.count, shape.y, strict=True):
        rows = selected_rows(*pick([(key, low, high)]))
        assert len(rows) == count
        assert e.y[rows].mean() == pytest.approx(height)


def test_points_of_a_smoothed_line_share_the_rows_out():
    e = evaluation(calibrators=METHODS)
    shape = shape_of(smooth_curve(e.y, e.predictions["none"].p))
    assert (shape.low[0], shape.high[-1]) == (0, 1)
    np.testing.assert_array_equal(shape.high[:-1], shape.low[1:])
    assert ((shape.low <= shape.x) & (shape.x <= shape.high)).all()


def test_decimals_that_fall_just_short_of_an_edge_go_with_their_bin():
    # 0.30000000000000004, 0.29999999999999993, …
    p = np.array([0.1 + 0.2, 0.7 - 0.4, 0.15, 0.29, 0.57, 1.0, 0.0])
    y = np.array([0, 1, 0, 1, 0, 1, 0])
    e = evaluation(calibrators=("none",))
    from tests.analysis.given import given_evaluation

    for bins in (10, 20, 100):
        shape = shape_of(binned_curve(y, p, bins=bins))
        for low, high, count in zip(shape.low, shape.high, shape.count, strict=True):
            made = given_evaluation(y, {"none": p})
            assert len(selected_rows(made, write_ranges([("none", low, high)]))) == count
    assert e is not None


def test_several_ranges_pick_the_rows_in_any_of_them():
    first, second = ("none", 0.0, 0.3), ("venn_abers", 0.6, 1.0)
    both = selected_rows(*pick([first, second]))
    alone = [selected_rows(*pick([item])) for item in (first, second)]
    np.testing.assert_array_equal(both, np.union1d(*alone))


def test_ranges_of_a_calibrator_that_is_not_there_pick_nothing():
    assert selected_rows(*pick([("beta", 0.0, 1.0)])).size == 0


def test_the_list_holds_number_class_predictions_and_features_of_the_rows():
    e, selection = pick([("none", 0.2, 0.5)])
    rows, frame = selected_rows(e, selection), selected_frame(e, selection)
    X = e.dataset.X.iloc[e.rows[rows]]
    assert list(frame.columns) == ["row", "class", *METHODS, "a", "b"]
    np.testing.assert_array_equal(frame["row"], X.index + 1)
    np.testing.assert_array_equal(frame["class"] == "yes", e.y[rows] == 1)
    np.testing.assert_array_equal(frame["venn_abers"], e.predictions["venn_abers"].p[rows])
    pd.testing.assert_frame_equal(frame[["a", "b"]], X)
    assert len(selected_frame(e, selection, 3)) == 3


def test_a_feature_called_like_one_of_our_columns_keeps_its_name_apart():
    from dataclasses import replace

    e, selection = pick([("none", 0.2, 0.5)])
    X = e.dataset.X.rename(columns={"a": "class", "b": "none"})
    frame = selected_frame(replace(e, dataset=replace(e.dataset, X=X)), selection)
    assert list(frame.columns) == ["row", "class", *METHODS, "class (feature)", "none (feature)"]


ranges = st.lists(
    st.tuples(st.sampled_from(["none", "platt", "venn"]), st.floats(0, 1), st.floats(0, 1)).filter(
        lambda r: r[1] < r[2]
    ),
    max_size=6,
)


@given(ranges, st.floats(0, 1))
def test_writing_ranges_keeps_what_they_hold_and_a_recipe_and_a_link_take_them(given_ranges, p):
    written = write_ranges(given_ranges)
    recipe = Recipe(settings={"reliability.selection": written})
    assert Recipe.from_query(recipe.to_query()) == recipe
    for key in ("none", "platt", "venn"):
        before = any(name == key and low <= p < high for name, low, high in given_ranges)
        after = [low <= p < high for name, low, high in read_ranges(written) if name == key]
        assert before == any(after)
        assert sum(after) <= 1


@pytest.mark.parametrize(
    "bad",
    [
        "platt",
        "platt:0.2",
        "platt:0.5:0.2",
        "platt:-1:0.5",
        "platt:0:2",
        "platt:a:b",
        "oracle:0:1",
        "platt:nan:1",
    ],
)
def test_a_broken_selection_is_refused_by_name(bad):
    with pytest.raises(InputError, match="selection"):
        Recipe(settings={"reliability.selection": (bad,)})
    with pytest.raises(InputError, match="selection"):
        read_ranges((bad,))

"""The picture of depth: every point is a score of the sweep, on common scales, and the words are computed from it."""

import math

import numpy as np
import pytest

from calib.analysis.depth import GROWTHS, LEAF_ESTIMATES
from calib.figures.depth import best_cells, draw, prepare
from calib.figures.theme import DARK, LIGHT, MARKS
from calib.kernel.checks import InputError
from calib.kernel.wording import brief, briefly
from tests.figures.depths import RECIPE, scores, values
from tests.saying import assert_says
from tests.sweep import sweep

CELLS = [(growth, leaf) for growth in GROWTHS for leaf in LEAF_ESTIMATES]


def axis(figure, name, i):
    return figure.layout[f"{name}axis{i + 1 if i else ''}"]


def lines(figure, i):
    """Calibrator → its line in panel i."""
    place = f"x{i + 1 if i else ''}"
    return {
        trace.legendgroup: trace
        for trace in figure.data
        if (trace.xaxis, trace.mode) == (place, "lines+markers")
    }


@pytest.mark.parametrize("metric", sweep(["brier", "log_loss", "auc", "width", "tce"], "log_loss", "width"))
def test_every_point_is_a_score_of_the_sweep(metric):
    figure = draw(prepare(scores(), metric))
    for i, (growth, leaf) in enumerate(CELLS):
        drawn = lines(figure, i)
        assert set(drawn) == ({"venn_abers"} if metric == "width" else set(RECIPE.calibrators))
        for key, trace in drawn.items():
            expected = values(growth, leaf, key, metric)
            assert list(trace.x) == list(expected)
            finite = [value if math.isfinite(value) else np.nan for value in expected.values()]
            np.testing.assert_array_equal(np.array(trace.y, dtype=float), finite)
            assert (trace.line.color, trace.marker.symbol) == (MARKS[key].color, MARKS[key].symbol)


def test_infinite_values_are_triangles_at_the_upper_edge():
    figure = draw(prepare(scores(), "log_loss"))
    infinite = values("tree", "frequency", "none", "log_loss")
    expected = [depth for depth, value in infinite.items() if math.isinf(value)]
    assert expected  # pure leaves that are wrong about a test row
    (triangles,) = [t for t in figure.data if (t.xaxis, t.mode, t.legendgroup) == ("x", "markers", "none")]
    assert list(triangles.x) == expected
    low, high = axis(figure, "y", 0).range
    assert all(high - 0.05 * (high - low) < y < high for y in triangles.y)


def test_panels_share_the_axis_of_depth_and_forests_one_scale():
    figure = draw(prepare(scores()))
    x = {tuple(axis(figure, "x", i).range) for i in range(6)}
    y = [tuple(axis(figure, "y", i).range) for i in range(6)]
    deepest = max(max(values(growth, "laplace", "none", "brier")) for growth in GROWTHS)
    assert len(x) == 1
    assert min(x)[0] < 1
    assert min(x)[1] > deepest
    assert y[0] == y[1] != y[2] == y[3] == y[4] == y[5]
    drawn = [
        value
        for key in RECIPE.calibrators
        for g, leaf in CELLS[:2]
        for value in values(g, leaf, key, "brier").values()
    ]
    assert y[0][0] < min(drawn)
    assert max(drawn) < y[0][1]
    assert not any(axis(figure, name, i).fixedrange for name in "xy" for i in range(6))  # zoom


def test_the_title_names_the_best_depths_and_the_caption_what_full_growth_gives():
    record = prepare(scores(), "brier")
    tree, forest = (values(growth, "frequency", "none", "brier") for growth in ("tree", "forest"))
    for curve in (tree, forest):
        least = min(curve.values())
        at = min(depth for depth, value in curve.items() if value == least)
        full = list(curve)[-1]
        assert f"{'fully grown' if at == full else f'at depth {at}'} ({brief(least)})" in record.title
        assert f"{brief(list(curve.values())[-1])} for the" in record.caption
    assert record.title.startswith("Brier score, uncalibrated: tree best")
    assert "72 test rows" in record.caption


@pytest.mark.parametrize(("rarer", "told"), [(19, False), (20, True)])
def test_no_depth_is_called_the_best_by_a_handful_of_the_rarer_class(rarer, told):
    title = prepare([table.assign(rarer=rarer) for table in scores()]).title
    assert ("best" in title) == told
    assert ("Too few rows" in title) == (not told)


def test_the_caption_speaks_of_the_panels_and_values_that_are_there():
    every = prepare(scores(), "log_loss").caption
    of_the_tree = prepare([table[table["growth"] == "tree"] for table in scores()], "brier").caption
    for words in ("averaging many trees", "different scales", "depths of the forest", "Triangles"):
        assert words in every
        assert words not in of_the_tree


def test_a_metric_without_a_best_end_is_told_from_end_to_end():
    title = prepare(scores(), "group_entropy").title
    curve = values("tree", "frequency", "none", "group_entropy")
    first, *_, last = curve
    there, then = briefly(curve[first], curve[last])
    assert_says(title, "tree", there, f"depth {first}", then, f"depth {last}")
    assert best_cells(scores(), "group_entropy") == []


def test_intervals_are_those_of_the_first_method_that_has_them():
    assert prepare(scores(), "width").title.startswith("Mean width, Venn–Abers: tree ")


@pytest.mark.parametrize(("metric", "best"), [("brier", min), ("auc", max)])
def test_the_best_cell_of_a_growth_is_the_best_over_everything_else(metric, best):
    for growth, value, where in best_cells(scores(), metric):
        every = {
            (leaf, key, depth): v
            for leaf in LEAF_ESTIMATES
            for key in RECIPE.calibrators
            for depth, v in values(growth, leaf, key, metric).items()
        }
        assert value == best(every.values())
        depth = min(d for (_, _, d), v in every.items() if v == value)
        assert where.endswith(f"depth {depth}")


def test_some_depths_are_enough_for_a_picture():
    first = [table for table in scores() if table["growth"].iloc[0] == "tree"][:2]
    figure = draw(prepare(first))
    assert len({trace.xaxis for trace in figure.data}) == 2
    with pytest.raises(InputError, match="No depth has been computed yet"):
        prepare([])
    with pytest.raises(InputError, match=r"Mean width is not available"):
        prepare([table[table["calibrator"] == "none"] for table in scores()], "width")


def test_the_table_holds_every_number_and_rises_in_depth():
    table = prepare(scores()).to_frame()
    assert len(table) == sum(map(len, scores()))
    assert list(dict.fromkeys(table["growth"])) == list(GROWTHS)
    for _, own in table.groupby(["growth", "leaf", "calibrator"]):
        assert own["depth"].is_monotonic_increasing


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_ink_is_the_themes_and_the_picture_small(theme):
    text = draw(prepare(scores()), theme).to_json()
    assert theme.paper in text
    assert "#0000" not in text
    assert len(text) < 200_000

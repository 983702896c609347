"""The finite example's pictures: titles and answers follow the numbers; a click on every mark says what it is."""

import numpy as np
import pytest

from calib.experiments import EXPERIMENTS
from calib.experiments.finite import FIRST_POINTS
from calib.experiments.finite.simulation import ForecastLine
from calib.figures import DARK, FIGURES, LIGHT
from tests.saying import assert_says

simulate = EXPERIMENTS["finite"].simulate


def record(key, line=FIRST_POINTS):
    return FIGURES[key].prepare(simulate(line=line))


def traces(key, line=FIRST_POINTS, theme=LIGHT):
    return {trace.name: trace for trace in FIGURES[key].draw(record(key, line), theme).data}


def test_the_title_holds_the_identity_with_its_numbers():
    own = record("finite")
    assert_says(own.title, "2 leaves in 2 groups", "0.38", "CL 0.00014", "GL 0.036", "IL 0.35", "unavoidable")
    assert_says(own.caption, "CL 0.000139 + GL 0.0357 + IL 0.347 = 0.383")
    one = record("finite", str(ForecastLine.of(FIRST_POINTS).cut_at([])))
    assert_says(one.title, "1 leaf in 1 group", "0.50", "CL 0", "GL 0.15", "IL 0.35", "unavoidable")
    assert one.table.prediction.tolist() == [0.5] * 12


def test_the_answer_is_the_cheapest_of_the_three_and_none_where_two_tie():
    assert record("finite").answer == 2
    assert record("finite", "1:0.5:0 2:0.5:1").answer == 1
    assert record("finite", "1:0:0 2:1:1").answer is None  # one split is pure already


def test_the_table_holds_the_identity_for_every_partition():
    for key in ("finite_losses", "finite_all"):
        table = record(key).table
        assert (table.CL + table.GL + table.IL - table.loss).abs().max() < 1e-9
    costs = record("finite_losses")
    assert costs.table.partition.tolist() == ["Yours", "One leaf", "One split", "Pure leaves", "Lowest loss"]
    assert costs.formatted().CL.tolist() == ["0.000139", "0", "0.000139", "0.285", "0.00469"]
    assert_says(costs.title, "One leaf", "0.50", "one split", "0.38", "pure leaves", "0.75", "lowest", "0.37")


def test_how_many_partitions_are_better():
    table = record("finite_all").table
    # 6 | 7 is bit 5
    some = table[table.all_leaves_labelled]
    assert f"{(some.loss < table.loss[32] - 1e-9).sum()} of {len(some)}" in record("finite_all").title
    assert_says(record("finite_all").title, "the best has 4 leaves")
    best = simulate()
    own = str(best.line.cut_at(best.cuts("least")))
    assert_says(record("finite_all", own).title, f"best of all {len(some)}")
    assert (some.loss.min(), table.loss.min()) == (
        pytest.approx(0.367, abs=5e-4),
        pytest.approx(0.362, abs=5e-4),
    )
    assert table.cuts_after_points[0] == ""
    assert table.cuts_after_points[32] == "6"


def test_a_leaf_without_a_label_says_what_it_predicts():
    labelled = str(ForecastLine.of(FIRST_POINTS).cut_at([3]))
    bare = str(ForecastLine.of(FIRST_POINTS).cut_at([3, 6]))  # points 5 to 7 have no label
    assert "no label" not in record("finite", labelled).caption
    assert_says(record("finite", bare).caption, "Leaf 2 has no label", "prediction is 0.50", "all labels")
    assert record("finite", bare).table.prediction[4:7].tolist() == [0.5] * 3


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_every_mark_knows_what_a_click_on_it_means(theme):
    drawn = traces("finite", theme=theme)
    line = ForecastLine.of(FIRST_POINTS)
    for name, label in (("class 0", 0), ("class 1", 1), ("no label", None)):
        points = [i for i, (_, _, of) in enumerate(line.points) if of == label]
        assert list(drawn[name].customdata) == [["turn", i] for i in points]
        assert list(drawn[name].x) == [line.points[i][0] for i in points]
        assert list(drawn[name].y) == [line.points[i][1] for i in points]
    assert len({drawn[name].marker.symbol for name in ("class 0", "class 1", "no label")}) == 3
    assert list(drawn["split or join"].customdata) == [["cut", i] for i in range(11)]


def test_the_cloud_has_a_mark_for_every_place_and_rings_one_s_own():
    found = simulate()
    drawn = traces("finite_all")
    shown = drawn["a partition"]
    places = np.column_stack([found.every.grouping, found.every.calibration]).round(6)
    drawn_at = [*zip(shown.x, shown.y, strict=True)]
    assert {*drawn_at} == {(gl, cl) for gl, cl in places[found.every.labelled].tolist()}
    assert [tuple(places[row]) for row in shown.customdata] == drawn_at
    for name, label in (("own", "yours"), ("least", "lowest loss")):
        row, ring = found.rows[name], drawn[label]
        assert (*ring.x, *ring.y) == (found.every.grouping[row], found.every.calibration[row])

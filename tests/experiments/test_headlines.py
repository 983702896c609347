"""A headline that is put into words from numbers never denies them, whatever the settings."""

import itertools
import re

import numpy as np
import pytest

from calib.experiments import EXPERIMENTS
from calib.experiments.cl_gl import _course
from calib.experiments.shared.long_run import FOREST_MEASURES
from calib.kernel.wording import brief
from tests.experiments.simulated import found, record
from tests.saying import assert_says

BASES = ("default", "tuned")
LOSSES = ("tce", "ece", "brier", "excess")
SIX = ["platt", "isotonic", "beta", "venn_abers", "ppa", "rank"]


def means(key, base, measure, along, **chosen):
    table = found(key).table
    for column, value in chosen.items():
        table = table[table[column] == value]
    return table[table["base"].isin(["", base])].groupby([along, "method"])[measure].mean().unstack()


@pytest.mark.parametrize(
    ("base", "d", "measure"), list(itertools.product(BASES, ("2", "5", "10", "20"), LOSSES))
)
def test_overlap_compares_with_the_same_forest_uncalibrated(base, d, measure):
    title = record("overlap", "overlap", base=base, d=d, measure=measure).title
    by_step = means("overlap", base, measure, "step", d=int(d))
    worse = sum((by_step.loc[step, SIX] > by_step.loc[step, "none"]).sum() > 3 for step in by_step.index)
    assert f"{worse} of 20 steps" in title
    assert f"the {base} forest" in title
    assert "−" not in title
    pair = re.search(rf"{re.escape(FOREST_MEASURES[measure])} ([\d.]+) to ([\d.]+) with", title)
    if pair:
        before, after = map(float, pair.groups())
        assert after < before
        assert any(before == pytest.approx(value, rel=0.05) for value in by_step["none"])


@pytest.mark.parametrize(
    ("key", "asked"),
    [("overlap", {"base": "default", "d": "2"}), ("calibration_size", {"base": "tuned"})],
)
def test_an_answer_is_given_only_where_the_picture_shows_what_was_asked(key, asked):
    elsewhere = {"measure": "brier", "base": (set(BASES) - {asked["base"]}).pop()}
    given = record(key, key, **asked)
    assert given.answer == EXPERIMENTS[key].right
    assert not given.unasked
    for name, value in (elsewhere | ({"d": "20"} if key == "overlap" else {})).items():
        other = record(key, key, **(asked | {name: value}))
        assert other.answer is None
        assert_says(other.unasked, "question", "TCE")


@pytest.mark.parametrize(("base", "measure"), list(itertools.product(BASES, FOREST_MEASURES)))
def test_calibration_size_names_the_best_and_the_forest_as_it_is(base, measure):
    of = record("calibration_size", "calibration_size", base=base, measure=measure)
    last = means("calibration_size", base, measure, "share").iloc[-1].drop(["temperature", "venn"])
    most = measure in ("accuracy", "group_entropy", "bin_entropy")
    best = last.max() if most else last.min()
    told = re.findall(r"\d+\.?\d*(?= *(?:uncalibrated|;|with Venn|$))", of.title)
    same = brief(best) == brief(last["none"])
    assert ("no method's" in of.title) == same, "nobody wins by what cannot be read"
    means_of = last[["none", "venn_abers"]].tolist()
    assert list(map(float, told)) == [
        pytest.approx(value, rel=0.06) for value in (means_of if same else [best, *means_of])
    ]
    assert len(set(told)) == len({*means_of, *([] if same else [best])}), "what differs reads differently"


@pytest.mark.parametrize(("base", "measure"), list(itertools.product(BASES, FOREST_MEASURES)))
@pytest.mark.parametrize("key", ["overlap", "calibration_size"])
def test_a_caption_is_no_longer_than_can_be_read_beside_another_picture(key, base, measure):
    assert len(record(key, key, base=base, measure=measure).caption) < 620


@pytest.mark.parametrize("key", ["overlap", "calibration_size"])
def test_the_uncalibrated_forest_is_drawn_with_the_others(key):
    from calib.figures import FIGURES

    figure = FIGURES[key].draw(record(key, key))
    (own, *_) = [trace for trace in figure.data if trace.name == "Same forest, uncalibrated"]
    assert own.visible is True
    assert own.line.width > max(trace.line.width for trace in figure.data if trace.name == "Platt scaling")


@pytest.mark.parametrize("key", ["overlap", "calibration_size", "overlap_measures"])
def test_three_lines_are_in_colour_and_the_others_grey_until_asked(key):
    from calib.experiments.shared.long_run import DRAWN_METHODS, name
    from calib.figures import FIGURES

    of = record(key, key.removesuffix("_measures"))
    lines = [trace for trace in FIGURES[key].draw(of).data if trace.fill is None]
    groups = {trace.legendgroup for trace in lines if trace.visible is True and trace.legendgroup}
    assert len(groups) == 3
    assert "none" in groups
    named = {method for method in DRAWN_METHODS if re.search(rf"(with|rows) {name(method)}\b", of.title)}
    assert named <= groups
    coloured = {name(trace.legendgroup): trace for trace in lines if trace.visible == "legendonly"}
    grey = [trace for trace in lines if trace.legendgroup is None]
    assert {trace.name for trace in grey} == {name(method) for method in DRAWN_METHODS} - set(
        map(name, groups)
    )
    for trace in grey:
        assert trace.line.color != coloured[trace.name].line.color
        assert not trace.showlegend
        assert any(np.array_equal(trace.y, one.y) for one in lines if one.visible == "legendonly")


def test_a_course_is_told_with_its_turn():
    assert_says(_course(np.array([0.0376, 0.0095, 0.0625])), "0.038 down", "0.0095", "up", "0.062")
    assert _course(np.array([0.001, 0.05, 0.099])) == "from 0.0010 to 0.099"


@pytest.mark.parametrize("groups", ["leaves", "predictions"])
def test_both_pictures_of_gl_say_their_groups_and_hold_the_other_kind_too(groups):
    curve = record("tree_depth_curve", "tree_depth", trees=2, n=200, groups=groups)
    tree = found("tree_depth", 0, "tree_depth_curve", **{"trees": 2, "n": 200}).curves["tree"]
    (panel, lines), *_ = curve.shown.items()
    own, other = ("leaf_", "") if groups == "leaves" else ("", "leaf_")
    assert (
        panel
        == f"One tree: {'each leaf is a group' if groups == 'leaves' else 'equal predictions form a group'}"
    )
    *_, gl, (name, thin) = lines.items()
    assert name.startswith("GL if ")
    assert (
        np.array_equal(gl[1], tree[f"{own}grouping"]),
        np.array_equal(thin, tree[f"{other}grouping"]),
    ) == (
        True,
        True,
    )
    stacked = record("cl_gl_sweep", "cl_gl", n=200)
    assert "Groups are rows with equal predictions." in stacked.caption
    assert "as on the Tree depth page" in stacked.caption

"""The drawn tree: every number in its place, branches folded but never lost, the chosen row's way open and lit."""

import html
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from calib import Recipe
from calib.analysis.depth import grow
from calib.analysis.grown_tree import grown_tree
from calib.figures.theme import DARK, LIGHT
from calib.figures.tree import MOST_LEAVES, draw, prepare
from calib.kernel.checks import InputError
from calib.kernel.records import Dataset
from calib.kernel.wording import brief, class_named, with_interval
from tests.saying import assert_says

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(500, 4)).round(2), columns=["a", "<b>bold</b>", "c" * 60, "d"])
Y = (X["a"] + X["<b>bold</b>"] ** 2 + RNG.normal(0, 1.2, 500) > 1).astype(int).to_numpy()
DATA = Dataset("made", X, Y, classes=("<i>no</i>", "yes"))


@pytest.fixture(scope="module", params=[2, None], ids=["shallow", "deep"])
def tree(request):
    return grown_tree(Recipe(), grow(Recipe(), DATA, "tree", request.param)[0])


@pytest.fixture(scope="module")
def deep():
    return grown_tree(Recipe(), grow(Recipe(), DATA, "tree")[0])


def marks(figure):
    """Node number → (x, y, words, hover, trace) of the outline."""
    return {
        int(known[0]): (x, y, text, known[1], trace)
        for trace in figure.data
        if trace.mode == "markers+text"
        for x, y, text, known in zip(trace.x, trace.y, trace.text, trace.customdata, strict=True)
    }


def test_every_node_drawn_says_rule_rows_label_and_its_probabilities(tree):
    record = prepare(tree)
    drawn = marks(draw(record))
    assert set(drawn) == set(record.shown)
    for number_, (x, y, text, hover, trace) in drawn.items():
        node = tree.nodes[number_]
        assert x == node.depth
        assert y == record.shown.index(number_)
        words = html.unescape(re.sub("<br>|</?b>|</?span[^>]*>", " ", text))
        condition = node.condition or "every row"
        # The threshold stays
        parts = [condition] if len(condition) <= 30 else [condition[:17], condition[-12:]]
        assert all(part in words for part in parts)
        assert f"n {node.n} ·" in words
        assert trace.name == f"predicts class {html.escape(tree.classes[int(node.label)], quote=False)}"
        assert tree.classes[int(node.label)] in words
        assert with_interval(node.p, node.p0, node.p1) in words
        assert re.sub(r"\W", "", node.rule) in re.sub(r"\W", "", html.unescape(hover.replace("<br>", " ")))
        assert trace.marker.symbol == ("diamond" if node.label else "circle")


def test_a_line_fits_a_phone_whatever_class_and_column_are_called():
    """About 200 pixels beside a node three deep: 34 letters of 5.7 pixels, 30 of the bold line's 6.2."""
    names = ("did not return within 30 days", "returned within 30 days")
    long = Dataset("made", X, Y, classes=names)
    drawn = draw(prepare(grown_tree(Recipe(), grow(Recipe(), long, "tree", 3)[0])))
    lines = [re.sub("<[^>]*>", "", part) for mark in marks(drawn).values() for part in mark[2].split("<br>")]
    assert max(len(html.unescape(line).strip()) for line in lines) <= 34
    assert {t.name for t in drawn.data if t.mode == "markers+text"} == {f"predicts class {n}" for n in names}
    axis = drawn.layout.xaxis2.title.text.split("<br>")
    assert max(map(len, axis)) <= 16


def test_intervals_stand_on_the_lines_of_their_nodes(tree):
    record = prepare(tree)
    figure = draw(record)
    bars, own, merged = (t for t in figure.data if t.xaxis == "x2")
    nodes = [tree.nodes[i] for i in record.shown]
    assert [v for v in bars.x if v is not None] == [v for node in nodes for v in (node.p0, node.p1)]
    assert list(own.x) == [node.score for node in nodes]
    assert list(merged.x) == [node.p for node in nodes]
    assert list(own.y) == list(merged.y) == list(range(len(nodes))) == list(bars.y[::3])


def edges(trace):
    """(x, y) of parent and child, one pair an edge."""
    points = list(zip(trace.x, trace.y, strict=True))
    return [(points[i], points[i + 2]) for i in range(0, len(points), 4)]


def test_edges_go_from_each_parent_to_its_children(tree):
    record = prepare(tree)
    figure = draw(record)
    drawn = marks(figure)
    expected = {
        ((drawn[tree.nodes[i].parent][0], drawn[tree.nodes[i].parent][1]), drawn[i][:2])
        for i in record.shown[1:]
    }
    plain, lit = [t for t in figure.data if t.mode == "lines" and t.xaxis is None][:2]
    assert set(edges(plain)) == expected
    assert len(lit.x) == 0


@pytest.mark.parametrize("row", [1, 7, 123, 500])
def test_the_way_of_a_row_is_open_to_its_leaf_and_lit(deep, row):
    record = prepare(deep, row=row)
    way = deep.path_of(row)
    assert set(way) <= set(record.shown)
    figure = draw(record)
    drawn = marks(figure)
    lit = [t for t in figure.data if t.mode == "lines" and t.xaxis is None][1]
    assert edges(lit) == [(drawn[above][:2], drawn[below][:2]) for above, below in pairwise(way)]
    assert lit.line.width > 2
    leaf = deep.nodes[way[-1]]
    label = DATA.classes[int(DATA.y[row - 1])]
    leaf_facts = f"{leaf.n} training rows", f"p = {brief(leaf.p)}"
    assert_says(record.title, f"Row {row}", class_named(label), *leaf_facts)


def test_folded_branches_and_drawn_leaves_are_all_leaves(deep):
    record = prepare(deep)
    ends = [i for i in record.shown if i in record.folded or deep.nodes[i].leaf]
    assert len(ends) == MOST_LEAVES
    assert sum(int(deep.leaves_below[i]) for i in ends) == sum(node.leaf for node in deep.nodes)
    hidden = sum(int(deep.leaves_below[i]) for i in record.folded)
    assert f"{hidden} leaves are collapsed" in record.caption
    drawn = marks(draw(record))
    for i in record.folded:
        assert f"{deep.leaves_below[i]} leaves folded" in drawn[i][2]


def test_from_any_node_on_its_own_branch_is_drawn(deep):
    number_ = prepare(deep).shown[3]
    record = prepare(deep, root=number_)
    assert record.shown[0] == number_
    assert all(number_ in deep.path_to(i) for i in record.shown)
    assert min(x for x, *_ in marks(draw(record)).values()) == 0
    with pytest.raises(InputError, match="node must be the number of a node"):
        prepare(deep, root=len(deep.nodes))


def test_words_of_the_file_are_no_markup(tree):
    record = prepare(tree)
    texts = " ".join(text for _, _, text, _, _ in marks(draw(record)).values())
    assert "<b>bold" not in texts
    assert "<i>no" not in texts
    assert "&lt;b&gt;bold&lt;/b&gt;" in texts
    assert "<i>" not in str(draw(record).layout.xaxis2.title.text)


def test_the_title_and_the_table_are_of_the_whole_tree(deep):
    record = prepare(deep)
    p = [node.p for node in deep.nodes if node.leaf]
    assert_says(record.title, f"{len(p)} leaves", f"from {brief(min(p))} [", f"to {brief(max(p))} [")
    assert len(record.to_frame()) == len(deep.nodes)


def test_a_single_leaf_is_drawn():
    alone = grown_tree(Recipe(), grow(Recipe(params={"min_samples_leaf": 400}), DATA, "tree")[0])
    record = prepare(alone, row=5)
    assert record.shown == (0,)
    assert len(marks(draw(record))) == 1


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_ink_is_the_themes_and_the_picture_small(deep, theme):
    text = draw(prepare(deep, row=3), theme).to_json()
    assert theme.ink in text
    assert "#0000" not in text
    assert len(text) < 200_000

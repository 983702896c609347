"""A click on a mark, or on a line of the table, explains that row: the numbers are those of evaluate."""

import re

import numpy as np
import pytest

from calib import Recipe
from calib.analysis.explain import position_of
from calib.figures.pairs import listed_rows
from calib.kernel.wording import briefly, class_named, number
from tests.evaluated import evaluated

QUERY = {"data": "sample:breast_cancer", "model": "naive_bayes", "venn_abers.beside": "[]"}


@pytest.fixture(scope="module")
def evaluation():
    recipe = Recipe.from_query(QUERY).replace(calibrators=("none", "venn", "venn_abers"))
    return evaluated(recipe)


MARKS = """chart => chart.calcdata.filter(([{trace}]) => trace.mode === "markers" && trace.hoverinfo !== "skip")
    .flatMap(marks => marks.map(({x, y}) => [x, y]))"""  # without the ring around the row that is explained


def click_mark(tab, chart: str, which: int) -> None:
    """Click a chart's mark, as a person does: the one that stands most alone, or the next."""
    plot = tab.by_key(f"chart_{chart}").locator(".js-plotly-plot")
    marks = np.unique(plot.evaluate(MARKS), axis=0)
    apart = np.hypot(*(marks[:, None] - marks).transpose(2, 0, 1)) + np.diag(np.full(len(marks), np.inf))
    x, y = marks[np.argsort(-apart.min(axis=1))[which]]
    tab.click_mark(plot, float(x), float(y))


def explained_row(tab) -> int:
    titles = [re.match(r"Row (\d+) \(", title) for title in tab.chart_titles()]
    (row,) = [int(found.group(1)) for found in titles if found]
    return row


def assert_explained(tab, evaluation, row: int) -> None:
    """Title and words hold the numbers of this row."""
    predictions, position = evaluation.predictions["venn_abers"], position_of(evaluation, row)
    pair = predictions.p0[position], predictions.p1[position]
    p0, p1, p = briefly(*pair, predictions.p[position])
    name = evaluation.dataset.classes[evaluation.y[position]]
    assert f"Row {row} ({class_named(name)}): p0 = {p0} and p1 = {p1} give p = {p}" in tab.chart_titles()
    words = tab.page.locator(".stMarkdown p").all_inner_texts()
    for label, end in enumerate(pair):
        said_so = f"With label {label} added", f"= {number(end)}."
        assert any(text.startswith(said_so[0]) and text.endswith(said_so[1]) for text in words)


@pytest.mark.soak  # a click on a chart: test_selection.py
def test_a_click_on_a_mark_explains_its_row(tab, evaluation):
    tab.open("explore_venn_abers", **QUERY)
    seen = []
    for which in (0, 1):
        click_mark(tab, "pairs", which)
        seen.append(explained_row(tab))
        assert tab.recipe_query()["venn_abers.row"] == str(seen[-1])
        assert_explained(tab, evaluation, seen[-1])
    assert seen[0] != seen[1]
    assert tab.by_key("venn_abers.row").locator("input").input_value() == str(seen[-1])
    tab.segment("venn_abers.details", "Calibration rows")
    click_mark(tab, "width_by_score", 0)
    assert_explained(tab, evaluation, explained_row(tab))


@pytest.mark.soak
def test_a_line_of_the_table_explains_its_row(tab, evaluation):
    tab.open("explore_venn_abers", **QUERY)
    listed = listed_rows(evaluation, "venn_abers")
    table = tab.page.locator(".st-key-rows_None .stDataFrameGlideDataEditor").first
    table.click(position={"x": 18, "y": 36 + 35 * 2 + 17})  # the box before the third line
    tab.settle()
    row = int(listed["row"].iloc[2])
    assert explained_row(tab) == row
    assert_explained(tab, evaluation, row)
    other = listed_rows(evaluation, "venn_abers", row)["row"].iloc[1]  # the table now lists the nearest pairs
    tab.page.locator(f".st-key-rows_{row} .stDataFrameGlideDataEditor").first.click(
        position={"x": 18, "y": 36 + 35 + 17}
    )
    tab.settle()
    assert explained_row(tab) == int(other)


@pytest.mark.soak
def test_a_link_to_a_row_opens_on_its_explanation_in_the_dark_too(new_tab, evaluation):
    row = int(evaluation.dataset.X.index[evaluation.rows[5]]) + 1
    tab = new_tab(color_scheme="dark", width=390)
    tab.open("explore_venn_abers", **QUERY, **{"venn_abers.row": str(row), "venn_abers.color": "width"})
    assert_explained(tab, evaluation, row)
    assert tab.page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")

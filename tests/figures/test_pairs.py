"""The pairs on the chart are the evaluation's; its table lists the nearest first; big data stay small."""

import numpy as np
import pandas as pd
import pytest

from calib import Recipe, evaluate
from calib.analysis.explain import position_of, widest_row
from calib.figures import DARK, LIGHT
from calib.figures.pairs import MARGIN_BINS, draw, listed_rows, pair_table, prepare
from calib.kernel.records import Dataset
from calib.kernel.wording import brief, counted
from tests.figures.evaluations import evaluation


@pytest.mark.parametrize("method", ["venn", "venn_abers"])
@pytest.mark.parametrize("color", ["label", "width", "score"])
def test_every_row_is_in_one_mark_with_its_own_pair(method, color):
    result = evaluation()
    record = prepare(result, method, color)
    predictions = result.predictions[method]
    counted = {(a, b): n for a, b, n in zip(record.marks.x, record.marks.y, record.marks.count, strict=True)}
    pairs, counts = np.unique(predictions.pairs, axis=0, return_counts=True)
    assert counted == {tuple(pair): n for pair, n in zip(pairs, counts, strict=True)}
    table = record.to_frame()
    np.testing.assert_array_equal(table[["p0", "p1"]], predictions.pairs)
    np.testing.assert_array_equal(table["row"], result.dataset.X.index[result.rows] + 1)
    assert brief(float(np.median(predictions.width))) in record.title
    drawn = sum(trace.customdata[:, 1].sum() for trace in draw(record).data if trace.customdata is not None)
    assert drawn == len(result.y)


def test_marginals_count_every_row_of_every_class():
    result = evaluation()
    record = prepare(result)
    p0, p1 = result.predictions["venn_abers"].pairs.T
    for end, counts in zip((p0, p1), record.margins, strict=True):
        for label in (0, 1):
            inside = end[result.y == label]
            expected = [
                sum(min(MARGIN_BINS - 1, int(MARGIN_BINS * value + 1e-9)) == b for value in inside)
                for b in range(MARGIN_BINS)
            ]
            assert counts[label].tolist() == expected


def test_the_chosen_row_is_ringed_at_its_pair():
    result = evaluation()
    row = widest_row(result)
    record = prepare(result, row=row)
    ring = next(trace for trace in draw(record).data if trace.name == f"row {row}")
    assert (ring.x[0], ring.y[0]) == tuple(result.predictions["venn_abers"].pairs[position_of(result, row)])
    marks = [trace for trace in draw(record).data if trace.mode == "markers"]
    assert all(trace.cliponaxis is False for trace in marks)  # at 0 and 1 they are as large as elsewhere


def test_a_click_finds_a_row_of_the_mark():
    predicted = evaluation()
    table = pair_table(predicted, "venn_abers").set_index("row")
    for trace in draw(prepare(predicted)).data:
        if trace.customdata is None:
            continue
        for x, y, known in zip(trace.x, trace.y, trace.customdata, strict=True):
            assert tuple(table.loc[int(known[0]), ["p0", "p1"]]) == (x, y)


def test_the_list_begins_with_the_widest_or_with_the_row_and_its_likes():
    result = evaluation()
    widths = listed_rows(result, "venn_abers")["width"].to_numpy()
    assert (np.diff(widths) <= 0).all()
    row = int(result.dataset.X.index[result.rows[7]]) + 1
    table = listed_rows(result, "venn_abers", row)
    assert table["row"].iloc[0] == row
    own = table.iloc[0]
    distance = np.hypot(table["p0"] - own["p0"], table["p1"] - own["p1"]).to_numpy()
    assert (np.diff(distance) >= 0).all()
    assert sorted(table["row"]) == sorted(result.dataset.X.index[result.rows] + 1)


def test_pairs_that_cross_are_said():
    result = evaluation(
        placement="full", model="decision_tree", params=(("min_samples_leaf", 8),), n=120, seed=3
    )
    crossed = int((result.predictions["venn_abers"].p0 > result.predictions["venn_abers"].p1).sum())
    caption = prepare(result).caption
    assert (f"{counted(crossed, 'pair')} with p0 > p1" in caption) == (crossed > 0)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_a_hundred_thousand_rows_stay_far_below_two_megabytes(theme):
    predictions = evaluation(given=True, n=150_000, test_size=0.7)
    record = prepare(predictions, row=widest_row(predictions))
    assert len(draw(record, theme).to_json()) < 2e6
    assert record.marks.count.sum() == len(predictions.y) == 105_000


def test_of_counts_all_that_is_said_is_that_of_the_repeated_rows():
    rng = np.random.default_rng(3)
    score = rng.integers(1, 100, 120) / 100
    y = (rng.random(120) < score).astype(int)
    count, part = rng.integers(1, 9, 120), np.repeat([1, 2], 60)
    made = []
    for rows, weight in ((np.arange(120), count.astype(float)), (np.repeat(np.arange(120), count), None)):
        X = pd.DataFrame({"s": score[rows]})
        data = Dataset("given", X, y[rows], predictions=True, part=part[rows], weight=weight)
        recipe = Recipe(content="predictions", split="file", part="part", calibrators=("venn_abers",))
        made.append(prepare(evaluate(recipe, data)))
    lines, rows = made
    np.testing.assert_array_equal(lines.margins, rows.margins)
    assert lines.title == rows.title
    assert lines.alt.replace(" in 60 lines", "") == rows.alt

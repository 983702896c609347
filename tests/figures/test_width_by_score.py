"""Width against score: the row's own numbers, and for the inductive kind a function of the score."""

import numpy as np
import pandas as pd

from calib import Recipe, evaluate
from calib.analysis.explain import position_of, widest_row
from calib.data.predictions import prepare_predictions
from calib.figures import pairs
from calib.figures.width_by_score import draw, prepare
from calib.kernel.wording import brief
from tests.figures.evaluations import evaluation
from tests.saying import assert_says


def test_every_row_lies_at_its_score_and_width():
    result = evaluation()
    record = prepare(result)
    width = result.predictions["venn_abers"].width
    counted = {(x, y): n for x, y, n in zip(record.marks.x, record.marks.y, record.marks.count, strict=True)}
    points, counts = np.unique(np.column_stack([result.scores, width]), axis=0, return_counts=True)
    assert counted == {tuple(point): n for point, n in zip(points, counts, strict=True)}
    assert len(np.unique(record.marks.x)) == len(record.marks.x)  # inductive: one width a score
    np.testing.assert_array_equal(record.to_frame()["width"], width)


def test_the_title_names_the_widest_and_the_ring_is_on_it():
    result = evaluation(model="svm")
    row = widest_row(result)
    record = prepare(result, row=row)
    position = position_of(result, row)
    ring = draw(record).data[-1]
    assert (ring.x[0], ring.y[0]) == (
        result.scores[position],
        result.predictions["venn_abers"].width[position],
    )
    assert record.chosen[1] == result.scores[position]
    low, high = record.score_range
    assert low < result.scores.min() < 0 < 1 < result.scores.max() < high


def test_where_all_rows_have_one_score_no_row_is_said_to_be_less_certain():
    frame = pd.DataFrame({"label": [0, 1, 0] * 40, "score": 0.3})
    recipe = Recipe(content="predictions", calibrators=("none", "venn_abers"))
    result = evaluate(recipe, prepare_predictions(frame, "label"))
    width = brief(result.predictions["venn_abers"].width[0])
    assert_says(prepare(result).title, "Venn–Abers", "equally certain", f"width {width}")
    assert pairs.prepare(result).title == f"All Venn–Abers intervals are {width} wide"

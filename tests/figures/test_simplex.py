"""The triangle of three classes: cells by definition, and places that are those of weights on the corners."""

import numpy as np
import pytest

from calib import Recipe, evaluate
from calib.figures.simplex import CELLS_PER_SIDE, FEW_IN_CELL, draw, places, prepare
from calib.kernel.checks import InputError
from tests.figures.evaluations import evaluation as two
from tests.test_joint_recipe import DATA, WHOLE


def test_every_row_is_in_one_cell_and_means_are_of_its_rows():
    found = prepare(WHOLE, "isotonic")
    raw, P, y = WHOLE.whole.scores, WHOLE.whole.distributions["isotonic"], WHOLE.whole.y
    cells = {}
    for i, row in enumerate(raw):
        cells.setdefault(tuple(np.round(row[:2] * CELLS_PER_SIDE).astype(int)), []).append(i)
    assert len(cells) == len(found.table)
    for (_, rows), (_, line) in zip(sorted(cells.items()), found.table.iterrows(), strict=True):
        assert line["rows"] == len(rows)
        for k, name in enumerate(DATA.names):
            assert line[f"before: {name}"] == pytest.approx(raw[rows, k].mean())
            assert line[f"after: {name}"] == pytest.approx(P[rows, k].mean())
            assert line[f"observed: {name}"] == pytest.approx((y[rows] == k).mean())


def test_a_row_lies_at_the_mean_of_the_corners_by_its_probabilities():
    P = np.random.default_rng(0).dirichlet([1, 1, 1], 20)
    corners = np.column_stack(places(np.eye(3)))
    assert np.column_stack(places(P)) == pytest.approx(P @ corners)
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1)
    assert sides == pytest.approx(np.ones(3))


def test_one_arrow_per_cell_and_rings_where_there_are_enough_rows():
    record = prepare(WHOLE)
    figure = draw(record)
    assert len(figure.data) == 1 + len(record.table) + 1
    assert len(figure.data[-1].x) == (record.table["rows"] >= FEW_IN_CELL).sum()


def test_other_than_three_classes_and_no_calibrator_are_refused():
    with pytest.raises(InputError, match="three classes"):
        prepare(two())
    with pytest.raises(InputError, match="Choose a calibrator"):
        prepare(evaluate(Recipe(model="naive_bayes", calibrators=("none",)), DATA))

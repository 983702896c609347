"""The matrix of pairs: what pairwise calibration says of two classes at a time."""

import numpy as np
import pytest

from calib.figures.class_pairs import draw, prepare
from calib.kernel.checks import InputError
from calib.kernel.wording import number
from tests.figures.evaluations import evaluation
from tests.test_joint_recipe import WHOLE


def test_coupled_cells_are_the_probabilities_of_the_row_and_its_intervals():
    row = int(WHOLE.dataset.row_numbers[WHOLE.rows[3]])
    record = prepare(WHOLE, row)
    found, names = WHOLE.whole.predictions["pairwise"], WHOLE.whole.names
    for k, name in enumerate(names):
        mine = record.table[record.table["class"] == name]
        with np.errstate(divide="ignore"):
            inverse = (1 / mine[["r", "r0", "r1"]]).sum() - (len(names) - 2)
        assert 1 / inverse["r0"] == pytest.approx(found.p0[3, k])
        assert 1 / inverse["r1"] == pytest.approx(found.p1[3, k])
    own, other = (
        record.table,
        record.table.rename(columns={"class": "against", "against": "class", "r": "back"}),
    )
    both = own.merge(other[["class", "against", "back"]])
    np.testing.assert_allclose(both["r"] + both["back"], 1)
    assert len(both) == len(names) * (len(names) - 1)


def test_cells_are_drawn_in_the_order_of_the_probabilities():
    record = prepare(WHOLE)
    (drawn,) = draw(record).data
    p = dict(zip(WHOLE.whole.names, WHOLE.whole.predictions["pairwise"].p[_place(record.row)], strict=True))
    assert list(drawn.x) == list(record.names) == sorted(p, key=lambda name: -p[name])
    first = record.table.iloc[0]
    assert drawn.z[0][1] == first["r"]
    ends = first["r"], first["r0"], first["r1"]
    assert drawn.text[0][1] == "<b>{:.0f}</b><br>{:.0f}–{:.0f}".format(*(100 * end for end in ends))
    assert drawn.customdata[0][1] == "{}, {} to {}".format(*map(number, ends))
    assert len(max((line for row in drawn.text for cell in row for line in cell.split("<br>")), key=len)) <= 9
    assert drawn.text[0][0] == ""


def test_without_pairs_it_says_what_to_choose():
    with pytest.raises(InputError, match="three or more classes.*Pairwise"):
        prepare(evaluation())


def _place(row: int) -> int:
    return int(np.flatnonzero(WHOLE.dataset.row_numbers[WHOLE.rows] == row)[0])

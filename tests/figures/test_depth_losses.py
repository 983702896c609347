"""The picture of losses: the numbers of the decomposition, their sum, and where it is least."""

import numpy as np
import pytest

from calib.analysis.depth import GROWTHS, LEAF_ESTIMATES, LOSS_PARTS
from calib.figures.depth_losses import draw, prepare
from calib.kernel.checks import InputError
from calib.kernel.wording import brief, number
from tests.figures.depths import scores, values
from tests.saying import assert_says


@pytest.mark.parametrize("calibrator", ["none", "venn_abers"])
def test_lines_are_calibration_loss_grouping_loss_and_their_sum(calibrator):
    figure = draw(prepare(scores(), calibrator))
    cells = [(growth, leaf) for growth in GROWTHS for leaf in LEAF_ESTIMATES]
    for i, (growth, leaf) in enumerate(cells):
        place = f"x{i + 1 if i else ''}"
        drawn = {trace.legendgroup: trace for trace in figure.data if trace.xaxis == place}
        both = [values(growth, leaf, calibrator, name) for name in LOSS_PARTS[:2]]
        for name, expected in zip(LOSS_PARTS[:2], both, strict=True):
            assert list(drawn[name].x) == list(expected)
            np.testing.assert_array_equal(drawn[name].y, list(expected.values()))
        np.testing.assert_allclose(
            drawn["excess"].y, np.add(*(list(own.values()) for own in both)), atol=1e-15
        )
        styles = [(trace.line.dash, trace.marker.symbol) for trace in drawn.values()]
        assert len(set(styles)) == 3  # told apart without colour


def test_the_title_is_about_the_trees_least_sum():
    calibration, grouping = (values("tree", "frequency", "none", name) for name in LOSS_PARTS[:2])
    at = min(calibration, key=lambda depth: calibration[depth] + grouping[depth])
    record = prepare(scores())
    assert_says(record.title, "tree", "lowest", f"depth {at}", f"calibration {brief(calibration[at])}")
    irreducible = values("tree", "frequency", "none", "irreducible")
    assert len(set(irreducible.values())) == 1
    assert f"irreducible loss of {number(irreducible[at])}" in record.caption


def test_what_is_not_known_is_said():
    with pytest.raises(InputError, match="true probabilities .*unknown"):
        prepare([table.drop(columns=list(LOSS_PARTS)) for table in scores()])
    with pytest.raises(InputError, match="Beta calibration .*not .*chosen calibrators"):
        prepare(scores(), "beta")

"""The picture is low enough for a phone."""

import pytest

from calib.experiments.three_classes import SHOWN_METHODS
from calib.figures import FIGURES
from tests.experiments.simulated import record


@pytest.mark.parametrize("shown", SHOWN_METHODS)
def test_methods_have_lanes_of_one_height(shown):
    figure = FIGURES["three_classes"].draw(record("three_classes", "three_classes", shown=shown))
    margin, lanes = figure.layout.margin, len(SHOWN_METHODS[shown])
    assert (figure.layout.height - margin.t - margin.b) / lanes == 44
    assert figure.layout.height <= 320

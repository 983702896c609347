"""Numbers in the finding above a chart have two digits; the table below has the rest."""

import pytest

from calib.analysis.decision import decide
from calib.figures import FIGURES
from tests.figures.evaluations import evaluation
from tests.headlines import long_numbers

ONE = (
    "reliability",
    "reliability_log_odds",
    "pairs",
    "width_by_score",
    "smooth_calibration",
    "cumulative",
    "distribution",
)


@pytest.mark.parametrize("key", ONE)
def test_two_digits_above_a_chart(key):
    assert long_numbers(FIGURES[key].prepare(evaluation()).title) == []


@pytest.mark.parametrize("key", ["costs", "net_benefit"])
def test_two_digits_above_a_decision(key):
    assert long_numbers(FIGURES[key].prepare(decide(evaluation())).title) == []


def test_numbers_that_two_digits_do_not_tell_apart_have_more():
    assert long_numbers("from 0.0419 to 0.026") == ["0.0419"]
    assert long_numbers("from 0.153 to 0.152, accuracy 0.997") == []

"""Lines that end or fall have their names beside them, since the legend is far below on a phone."""

from dataclasses import replace

import numpy as np
import pytest

from calib.experiments import EXPERIMENTS
from calib.figures import FIGURES
from calib.figures.narrowing import without_data


@pytest.fixture(scope="module")
def record():
    experiment = EXPERIMENTS["log_loss"]
    found = experiment.simulate(random_state=0, **experiment.numbers(experiment.values({})))
    return FIGURES["log_loss"].prepare(found)


def named(record):
    drawn = FIGURES["log_loss"].draw(record)
    return [one.text for one in drawn.layout.annotations if not one.text.startswith("<b>")]


def test_the_lines_that_fall_and_the_others_are_named_in_the_picture(record):
    falling = [key for key, share in record.finite.items() if share[-1] < 1]
    assert falling == ["dir", "isotonic"]
    assert named(record) == ["DIR and held out", "the 4 others"]
    ends = [one.text[0] for one in FIGURES["log_loss"].draw(record).data if one.text]
    assert ends == ["∞ DIR", "∞ held out"]


def test_the_names_wait_for_the_answer_and_are_not_there_if_all_lines_stay_alike(record):
    emptied = without_data(FIGURES["log_loss"].draw(record).to_dict(), covered=True)
    assert [one["text"] for one in emptied["layout"]["annotations"]] == ["<b>Run 1</b>", "<b>All runs</b>"]
    alike = replace(record, finite={key: np.ones_like(share) for key, share in record.finite.items()})
    assert named(alike) == []

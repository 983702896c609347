"""While a question is open, the picture shows its axes only: the data are the answer."""

import json

import pytest

from calib.experiments import EXPERIMENTS
from tests.pages.app import page, settled

QUICK = ("finite", "order")  # the others take longer


def seen(key: str, guess: str) -> list[dict]:
    """The traces that can be seen, but for diagonals."""
    return [trace for picture in pictures(key, guess) for trace in picture]


def pictures(key: str, guess: str) -> list[list[dict]]:
    """For each picture, its traces that can be seen, but for diagonals."""
    experiment = EXPERIMENTS[key]
    query = {f"{experiment.page}.experiment": key, f"{key}.guess": guess}
    known = {name: value for name, value in query.items() if name != f"{experiment.page}.experiment"}
    several = sum(one.page == experiment.page for one in EXPERIMENTS.values()) > 1
    at = settled(page(experiment.script, **(query if several else known)))
    drawn = [json.loads(chart.proto.spec)["data"] for chart in at.get("plotly_chart")]
    assert any(drawn)
    return [
        [
            trace
            for trace in traces
            if trace.get("opacity") != 0
            and not (trace.get("hoverinfo") == "skip" and len(trace.get("x", ())) == 2)
        ]
        for traces in drawn
    ]


@pytest.mark.parametrize(
    "key", [key if key in QUICK else pytest.param(key, marks=pytest.mark.soak) for key in EXPERIMENTS]
)
def test_the_data_of_a_picture_come_with_the_answer(key):
    assert bool(seen(key, "ask")) == EXPERIMENTS[key].posed
    assert seen(key, "1")


def test_losses_that_are_the_answer_stay_hidden_beside_the_picture_that_poses_the_question():
    assert [bool(picture) for picture in pictures("finite", "ask")] == [True, False, False]
    assert all(pictures("finite", "2"))

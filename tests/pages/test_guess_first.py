"""While a question is open, the picture shows its axes only: the data are the answer."""

import json

import pytest

from calib.experiments import EXPERIMENTS
from tests.pages.app import page, settled

QUICK = ("finite", "looking", "order")  # the others take longer


def seen(key: str, guess: str) -> list[dict]:
    """The traces of the first picture that can be seen, but for diagonals."""
    experiment = EXPERIMENTS[key]
    query = {f"{experiment.page}.experiment": key, f"{key}.guess": guess}
    known = {name: value for name, value in query.items() if name != f"{experiment.page}.experiment"}
    several = sum(one.page == experiment.page for one in EXPERIMENTS.values()) > 1
    at = settled(page(f"learn_{experiment.page}", **(query if several else known)))
    traces = [trace for chart in at.get("plotly_chart") for trace in json.loads(chart.proto.spec)["data"]]
    assert traces
    return [
        trace
        for trace in traces
        if trace.get("opacity") != 0
        and not (trace.get("hoverinfo") == "skip" and len(trace.get("x", ())) == 2)
    ]


@pytest.mark.parametrize(
    "key", [key if key in QUICK else pytest.param(key, marks=pytest.mark.soak) for key in EXPERIMENTS]
)
def test_the_data_of_a_picture_come_with_the_answer(key):
    assert bool(seen(key, "ask")) == EXPERIMENTS[key].posed
    assert seen(key, "1")

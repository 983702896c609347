"""Diagrams of one data set of a study: a panel a setup, marks where the frequencies are."""

import numpy as np
import pandas as pd
import pytest

from calib.figures.set_reliability import draw, panels_of, prepare
from calib.figures.theme import DARK, LIGHT
from calib.kernel.checks import InputError
from calib.kernel.records import Predictions
from calib.kernel.wording import brief, briefly
from calib.metrics import METRICS

RNG = np.random.default_rng(0)
P = RNG.random(400)
SAID = {
    "right": Predictions((RNG.random(400) < P).astype(int), P),
    "<b>bold</b>": Predictions((RNG.random(400) < P).astype(int), P**3),
}


def test_marks_are_the_frequencies_of_ten_bins():
    figure = draw(prepare(SAID, "kc1"))
    marks = [trace for trace in figure.data if trace.mode == "lines+markers"]
    assert len(marks) == 2
    for trace, predictions in zip(marks, SAID.values(), strict=True):
        place = np.minimum(9, (predictions.p * 10 + 1e-9).astype(int))
        there = np.unique(place)
        np.testing.assert_allclose(trace.x, [predictions.p[place == b].mean() for b in there])
        np.testing.assert_allclose(trace.y, [predictions.y[place == b].mean() for b in there])
        assert list(trace.customdata) == [(place == b).sum() for b in there]


def test_the_title_gives_the_range_and_no_winner():
    record = prepare(SAID, "kc1")
    values = {
        name: METRICS["reliability"].function(predictions.y, predictions.p)
        for name, predictions in SAID.items()
    }
    assert dict(record.reliability) == values
    assert record.title == "kc1: reliability over 100 bins from {} (right) to {} (<b>bold</b>)".format(
        *briefly(values["right"], values["<b>bold</b>"])
    )
    assert (
        prepare({"right": SAID["right"]}).title
        == f"Reliability over 100 bins {brief(values['right'])} (right)"
    )
    assert "400 predictions per setup" in record.caption
    assert set(record.to_frame()["setup"]) == set(SAID)


def test_a_phone_gets_one_panel_after_the_other():
    record = prepare(SAID, "kc1")
    assert [list(part.curves) for part in panels_of(record)] == [["right"], ["<b>bold</b>"]]
    figure = draw(panels_of(record)[1])
    assert "&lt;b&gt;bold" in figure.layout.annotations[0].text


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_ink_is_the_themes(theme):
    text = draw(prepare(SAID), theme).to_json()
    assert theme.paper in text
    assert "#0000" not in text


def test_no_predictions_are_refused():
    with pytest.raises(InputError, match="CSV files contain no predictions"):
        prepare({}, "kc1")


def test_weighted_rows_are_drawn_as_repeated_rows():
    predictions = SAID["right"]
    counts = np.random.default_rng(1).integers(1, 4, 400).astype(float)
    again = np.repeat(np.arange(400), counts.astype(int))
    weighed = prepare({"": Predictions(predictions.y, predictions.p, weight=counts)})
    rows = prepare({"": Predictions(predictions.y[again], predictions.p[again])})
    pd.testing.assert_frame_equal(weighed.to_frame(), rows.to_frame())
    assert weighed.reliability[""] == pytest.approx(rows.reliability[""])
    assert f"{int(counts.sum())} predictions" in weighed.caption

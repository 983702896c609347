"""From arrays to a verdict, a table and a diagram in a notebook; and what arrays are refused by name."""

import re

import numpy as np
import pandas as pd
import pytest

from calib import Evaluation, check
from calib.figures import FIGURES, LIGHT
from calib.kernel.checks import InputError
from calib.kernel.wording import number

RNG = np.random.default_rng(0)
P = RNG.random(400)
Y = (RNG.random(400) < P**2).astype(int)


def test_the_html_holds_the_verdict_the_table_and_a_mark_for_every_filled_bin():
    result = check(Y, {"forest <b>": P, "boosting": P**2})
    html = result._repr_html_()
    assert "forest &lt;b&gt;" in html.lower()
    assert "<b>forest" not in html.lower().replace("<p><b>forest", "")
    assert re.sub(r" <b>", " &lt;b&gt;", result.verdict.sentence) in html
    assert "read as probabilities of &#x27;1&#x27;, by convention" in html
    assert all(number(value) in html for value in result.metrics["brier"])
    record = FIGURES["reliability"].prepare(result, curve="binned", faint=True)
    filled = sum(int((curve.count > 0).sum()) for curve in record.bins.values())
    assert html.count("<circle") == filled + len(result.predictions)  # and one for each name
    assert "<script" not in html


def test_a_figure_is_the_one_of_the_pages():
    result = check(Y, P)
    record = FIGURES["reliability"].prepare(result, bins=15, band="confidence")
    expected = FIGURES["reliability"].draw(record, LIGHT)
    assert result.figure("reliability", bins=15, band="confidence").to_json() == expected.to_json()
    for key in ("distribution", "net_benefit"):
        assert result.figure(key).data


def test_what_is_no_figure_or_no_option_is_refused_by_name():
    with pytest.raises(InputError, match="nonsense"):
        check(Y, P).figure("nonsense")
    with pytest.raises(InputError, match="colour"):
        check(Y, P).figure("reliability", colour="red")


def test_features_become_groups_and_weights_count():
    result = check(Y, P, sample_weight=np.full(400, 2), features=pd.DataFrame({"age": np.arange(400)}))
    assert list(result.dataset.beside) == ["age"]
    assert result.size == 800
    twice = Evaluation.from_predictions(np.repeat(Y, 2), np.repeat(P, 2))
    pd.testing.assert_frame_equal(result.metrics, twice.metrics)


@pytest.mark.parametrize(
    ("y", "p", "words"),
    [
        (["good", "bad"], [0.1, 0.9], "pos_label"),
        ([0, 1, 1], [0.1, 0.9], "Lengths differ"),
        ([0, 1], {"svm": [-2.0, 3.0]}, "svm"),
        ([0, 1], [np.nan, 0.5], "p"),
        ([], [], "empty"),
        ([0, 1], {}, "no predictions"),
        ([0, 1], np.full((2, 1), 1 / 3), "one-dimensional"),
    ],
)
def test_arrays_that_cannot_be_judged_are_refused_by_name(y, p, words):
    with pytest.raises(InputError, match=words):
        check(y, p)

"""Win-rates as a forest plot: marks at the rates, bars to the interval's ends, the best at the top."""

import pandas as pd
import pytest

from calib.figures.theme import DARK, LIGHT
from calib.figures.win_rates import draw, prepare
from calib.kernel.checks import InputError
from tests.saying import assert_says

RATES = pd.DataFrame(
    {"mean": [0.25, 0.9, 0.35], "lower": [0.1, 0.7, 0.2], "upper": [0.4, 1.0, 0.6]},
    index=["Iso", "VAP", "<i>x</i>"],
)


def test_every_mark_stands_at_its_rate_with_its_interval():
    record = prepare(RATES, n=9, what="log loss")
    figure = draw(record)
    (marks,) = figure.data
    assert list(figure.layout.yaxis.ticktext) == ["VAP", "&lt;i&gt;x&lt;/i&gt;", "Iso"]
    assert list(marks.x) == [0.9, 0.35, 0.25]
    assert [x + up for x, up in zip(marks.x, marks.error_x.array, strict=True)] == pytest.approx(
        [1.0, 0.6, 0.4]
    )
    ends = [x - down for x, down in zip(marks.x, marks.error_x.arrayminus, strict=True)]
    assert ends == pytest.approx([0.7, 0.2, 0.1])
    low, high = figure.layout.yaxis.range
    assert low > high  # the first lane is at the top
    assert record.to_frame()["win_rate"].tolist() == [0.9, 0.35, 0.25]


def test_the_words_name_the_best_and_who_wins_for_sure():
    record = prepare(RATES, n=9, what="log loss")
    assert_says(record.title, "VAP", "90 %", "log loss", "1 of 3 intervals", "above one half")
    assert "9 data sets" in record.caption
    assert "VAP 90 % [70 %, 100 %]" in record.alt
    assert prepare(RATES.iloc[:2]).title == "VAP beats 90 % of the other setups"
    few = prepare(RATES, n=5)  # five of five on one side: p = 2/32
    assert_says(few.title, "VAP", "90 %", "5 data sets", "too few")


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_ink_is_the_themes(theme):
    text = draw(prepare(RATES), theme).to_json()
    assert theme.paper in text
    assert "#0000" not in text


def test_nothing_to_compare_is_refused():
    with pytest.raises(InputError, match="no setups"):
        prepare(RATES.iloc[:0])


def test_of_very_many_setups_the_best_are_drawn_and_the_caption_says_so():
    rates = pd.DataFrame([[i / 100, 0.0, 1.0] for i in range(90)], columns=["mean", "lower", "upper"])
    record = prepare(rates.set_axis([f"m{i}" for i in rates.index]), n=9)
    assert list(draw(record).layout.yaxis.ticktext) == [f"m{i}" for i in range(89, 49, -1)]
    assert "best 40 of 90 setups" in record.caption
    assert record.alt.endswith("; m50 50 % [0 %, 100 %].")

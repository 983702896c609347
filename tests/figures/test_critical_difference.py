"""The critical-difference diagram: every rank at its place, bars over those not told apart and over no others."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from calib.comparison import bergmann_hommel, nemenyi_critical_difference
from calib.figures.critical_difference import BERGMANN_HOMMEL, NEMENYI, draw, prepare
from calib.figures.theme import DARK, LIGHT
from calib.kernel.checks import InputError
from tests.comparison.published import DEMSAR_RANKS, P2_METHODS, P2_RANKS
from tests.saying import assert_says, says

DEMSAR = pd.Series(DEMSAR_RANKS.mean(axis=0), index=["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"])
P2 = pd.Series(P2_RANKS["brier"], index=list(P2_METHODS))


def joined(record, way):
    """The bars of a group, as sets of names."""
    return [{record.ranks.index[i] for i in bar} for bar in record.bars[way]]


def test_demsars_figure_1a():
    """Demšar (2006), section 3.2.2: at α = 0.10 (CD 1.12) C4.5 differs from C4.5+m and C4.5+m+cf; at 0.05 none do."""
    record = prepare(DEMSAR, n=14, alpha=0.10)
    assert record.difference == pytest.approx(1.12, abs=0.005)
    assert joined(record, NEMENYI) == [{"C4.5+m+cf", "C4.5+m", "C4.5+cf"}, {"C4.5+cf", "C4.5"}]
    assert joined(prepare(DEMSAR, n=14), NEMENYI) == [set(DEMSAR.index)]


@pytest.mark.parametrize("way", [NEMENYI, BERGMANN_HOMMEL])
def test_two_setups_lie_under_one_bar_exactly_where_all_between_them_are_alike(way):
    record = prepare(P2, n=30)
    values = record.ranks.to_numpy()
    near = np.abs(values[:, None] - values) < nemenyi_critical_difference(10, 30)
    alike = near if way == NEMENYI else bergmann_hommel(values, 30) > 0.05
    for i in range(10):
        for j in range(i + 1, 10):
            under = any({i, j} <= set(bar) for bar in record.bars[way])
            assert under == alike[i : j + 1, i : j + 1].all()


def test_pvalues_that_are_there_are_taken_in_any_order():
    adjusted = pd.DataFrame(bergmann_hommel(P2, 30), index=P2.index, columns=P2.index)
    assert prepare(P2, n=30, adjusted=adjusted).bars == prepare(P2, n=30).bars


def test_each_name_is_led_to_its_rank_and_bars_span_their_ranks():
    record = prepare(P2, n=30)
    figure = draw(record)
    led = [trace for trace in figure.data if trace.mode == "lines" and len(trace.x) == 3]
    names = [note.text for note in figure.layout.annotations]
    assert names == list(P2.sort_values().index)
    assert [trace.x[0] for trace in led] == P2.sort_values().tolist()
    for trace, note in zip(led, figure.layout.annotations, strict=True):
        assert (trace.x[-1], trace.y[-1]) == (note.x, note.y)
    left, right = led[:5], led[5:]
    assert all(a.y[-1] < b.y[-1] for a, b in pairwise(left))  # no line crosses another
    assert all(a.y[-1] > b.y[-1] for a, b in pairwise(right))
    for way in (NEMENYI, BERGMANN_HOMMEL):
        bars = [trace for trace in figure.data if trace.legendgroup == way]
        assert [trace.showlegend for trace in bars] == [True] + [False] * (len(bars) - 1)
        values = record.ranks.to_numpy()
        for trace, bar in zip(bars, record.bars[way], strict=True):
            assert trace.x == pytest.approx((values[bar[0]], values[bar[-1]]), abs=0.031)
    ruler = next(trace for trace in figure.data if trace.mode == "lines+markers+text")
    assert ruler.x[2] - ruler.x[0] == pytest.approx(nemenyi_critical_difference(10, 30))


def test_the_title_says_who_leads_and_from_whom_it_is_not_told_apart():
    title = prepare(P2, n=30, what="Brier score").title
    assert_says(title, "RF_large", "best average rank", "Brier score", "2.5", "not significantly", "RF_opt")
    clear = pd.Series([1.0, 2.9, 2.1], index=["a", "b", "c"])
    tied = pd.Series({"a": 1.5, "b": 1.5, "c": 3.0})
    best, better = "best average rank", "), significantly better than all others"
    assert_says(prepare(tied, n=100).title, "a and b", best, "1.5", better, "Bergmann–Hommel")
    assert_says(prepare(tied, n=2).title, "a and b", best, "1.5", "no setup", "significantly")
    assert_says(prepare(tied.iloc[:2], n=2).title, "a and b", best, "1.5")
    assert not says(prepare(tied.iloc[:2], n=2).title, "significantly")
    assert_says(prepare(clear, n=100).title, "a", best, "1.0", better, "Bergmann–Hommel")
    assert_says(prepare(clear, n=2).title, "a", best, "1.0", "no setup", "significantly")


def test_many_setups_have_nemenyis_bars_alone_and_it_is_said():
    ranks = pd.Series(np.linspace(2, 20, 20), index=[f"m{i}" for i in range(20)])
    record = prepare(ranks, n=9)
    assert list(record.bars) == [NEMENYI]
    assert "compares up to 12 setups" in record.caption
    table = record.to_frame()
    assert table["average_rank"].tolist() == ranks.tolist()
    assert table["bars (Nemenyi)"].iloc[0] == "1"


def test_names_from_a_file_are_shown_as_text():
    figure = draw(prepare(pd.Series([1.0, 2.0], index=["<b>bold</b>", "a" * 60]), n=5))
    assert figure.layout.annotations[0].text == "&lt;b&gt;bold&lt;/b&gt;"
    assert len(figure.layout.annotations[1].text) <= 16


def test_long_names_of_setups_can_be_told_apart_and_leave_a_telephone_room_for_the_ranks():
    names = [f"random_forest/{place}/venn_abers" for place in ("split", "oob", "cv")]
    figure = draw(prepare(pd.Series([1.0, 2.0, 3.0], index=names), n=5))
    texts = [note.text for note in figure.layout.annotations]
    assert [text.replace("<br>", "") for text in texts] == names
    assert figure.layout.margin.l + figure.layout.margin.r < 290  # of the 358 pixels that it has there


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_ink_is_the_themes(theme):
    text = draw(prepare(P2, n=30), theme).to_json()
    assert theme.paper in text
    assert "#0000" not in text


def test_one_setup_is_refused():
    with pytest.raises(InputError, match="at least 2 setups"):
        prepare(pd.Series([1.0], index=["a"]), n=3)


def test_of_very_many_setups_the_best_are_drawn_and_the_caption_says_so():
    ranks = pd.Series(np.linspace(20, 180, 200), index=[f"m{i}" for i in range(200)])
    record = prepare(ranks, n=22)
    figure = draw(record)
    assert [note.text for note in figure.layout.annotations] == [f"m{i}" for i in range(40)]
    assert_says(record.caption, "40 of 200 setups")
    assert len(record.to_frame()) == 200
    assert_says(record.alt, "m39 51.4", "No significant difference", "Nemenyi", "m0, m1,")
    assert record.alt.endswith(", m10 and 29 others.")
    near = nemenyi_critical_difference(200, 22)  # wider than all that is drawn: one bar
    (bar,) = (trace for trace in figure.data if trace.legendgroup == NEMENYI)
    assert near > ranks.iloc[39] - ranks.iloc[0]
    assert bar.x == pytest.approx((ranks.iloc[0], ranks.iloc[39]), abs=0.031)
    ticks = next(trace for trace in figure.data if trace.mode == "markers+text")
    assert sum(map(bool, ticks.text)) <= 13

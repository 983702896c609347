"""The picture of the ten setups: every mark at its number, hollow for held out, and stars where the best stands."""

import numpy as np
import pytest

from calib import evaluate
from calib.figures.setups import SETUP_PANELS, draw, formatted_setups, prepare
from calib.figures.theme import DARK, LIGHT, MARKS
from calib.kernel.checks import InputError
from calib.kernel.wording import brief
from calib.study.papers.ten_setups import setup_recipes, setup_table
from tests.figures.depths import DATA, RECIPE
from tests.saying import assert_says


@pytest.fixture(scope="module")
def table():
    return setup_table({key: evaluate(recipe, DATA) for key, recipe in setup_recipes(RECIPE).items()})


def test_every_mark_stands_at_its_number_and_in_its_line(table):
    figure = draw(prepare(table))
    for i, (metric, _, _) in enumerate(SETUP_PANELS):
        place = f"x{i + 1 if i else ''}"
        marks = {t.name: t for t in figure.data if (t.xaxis, t.mode) == (place, "markers")}
        assert list(marks) == list(table.index)
        axis = figure.layout[f"yaxis{i + 1 if i else ''}"]
        lines = dict(zip(axis.ticktext, axis.tickvals, strict=True))
        low, high = figure.layout[f"xaxis{i + 1 if i else ''}"].range
        for name, trace in marks.items():
            row = table.loc[name]
            assert (trace.x[0], trace.y[0]) == (row[metric], lines[name])
            assert low < row[metric] < high
            symbol = MARKS[row.calibrator].symbol
            assert trace.marker.symbol == (f"{symbol}-open" if name.endswith("-cal") else symbol)
            if metric != "reliability":
                ends = trace.x[0] + trace.error_x.array[0], trace.x[0] - trace.error_x.arrayminus[0]
                assert ends == pytest.approx((row[f"{metric}_high"], row[f"{metric}_low"]))


def test_intervals_of_the_label_run_from_low_to_high(table):
    bars = [trace for trace in draw(prepare(table)).data if trace.mode == "lines"]
    expected = table.dropna(subset=["low"])
    assert [list(trace.x) for trace in bars] == expected[["low", "high"]].to_numpy().tolist()


def test_the_title_names_the_winners(table):
    title = prepare(table).title
    assert_says(title, table["brier"].idxmin(), "lowest Brier score", brief(table["brier"].min()))
    assert "reliable" not in title, "each of 100 bins with few rows adds chance to that number"
    assert "out of bag" not in prepare(table.iloc[::2]).title.lower()
    assert not any(name in prepare(table, few=True).title for name in table.index)


@pytest.mark.parametrize(
    ("above", "gained", "words"),
    [
        (
            (0, 0.1, 0.1, 0.1),
            (0.1, 0.1),
            ("setups, all 3 others have a clearly higher", "clearly more accurate with both methods"),
        ),
        (
            (0, 0.1, -0.1, -0.1),
            (0.1, -0.1),
            ("1 of 3 others has a clearly higher", "clearly more accurate with 1 of 2 methods"),
        ),
        (
            (0, -0.1, -0.1, -0.1),
            (-0.1, -0.1),
            ("setups, none of 3 others has a clearly higher", "with none of 2 methods"),
        ),
    ],
)
def test_the_title_claims_no_difference_within_sampling_variability(table, above, gained, words):
    """The ends of intervals decide, whatever the numbers themselves."""
    known = table.loc[["RF-cal", "RF-oob", "VAP-cal", "VAP-oob"]].copy()
    known["brier_above_lowest_low"] = above
    known.loc[["RF-oob", "VAP-oob"], "accuracy_gained_low"] = gained
    known["accuracy_gained_high"] = 0.2
    record = prepare(known)
    assert all(word in said for word, said in zip(words, (record.sure, record.title), strict=True))
    assert "less with" not in record.title
    known.loc["VAP-oob", ["accuracy_gained_low", "accuracy_gained_high"]] = -0.2, -0.1
    assert ", less with 1; " in prepare(known).title


def test_stars_mark_the_best_of_each_column(table):
    shown = formatted_setups(table)
    for column, name in (
        ("Brier score", "brier"),
        ("Reliability (100 bins)", "reliability"),
        ("Size", "size"),
    ):
        starred = [text.endswith("★") for text in shown[column]]
        assert starred == (table[name] == table[name].min()).tolist()
    assert [t.endswith("★") for t in shown["Accuracy"]] == (
        table["accuracy"] == table["accuracy"].max()
    ).tolist()
    gap = table["accuracy_gap"].abs()
    assert [t.endswith("★") for t in shown["Estimate − accuracy"]] == (gap == gap.min()).tolist()
    assert (shown.loc[["RF-cal", "Iso-oob"], "Interval of the label"] == "–").all()
    assert shown.loc["VP-oob", "Interval of the label"].startswith("[0.")


def test_no_setup_at_all_is_said(table):
    with pytest.raises(InputError, match="No setup can be built"):
        prepare(table.iloc[:0])
    assert np.isfinite(draw(prepare(table.iloc[:1])).layout.yaxis.range[0])


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_ink_is_the_themes(table, theme):
    text = draw(prepare(table), theme).to_json()
    assert theme.paper in text
    assert "#0000" not in text

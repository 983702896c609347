"""What pages, reports and commands say about one quantity agrees; planted contradictions are found."""

import pandas as pd
import pytest

from scripts.crawl_statements import FIRST, crawled, worlds
from scripts.statements import Piece, disagreements, pairs, statements

WORLDS = worlds()
FEW = ("predictions", "bayes base rate", "made hard zero", "made reversed", "ten classes")
TABLE = pd.DataFrame(
    {"Brier score": ["0.178", "0.1564 ★", "0.1576"], "Log loss": ["∞ (clipped: 0.6)", "0.472 ★", "0.480"]},
    index=pd.Index(["Uncalibrated", "Platt scaling", "Isotonic regression"], name="Calibrator"),
)
PAGE = [
    Piece("sentence", "Not calibrated: it overestimates (O/E 0.939 [0.907, 0.971])."),
    Piece("corner", "Slope 0.430 [0.398, 0.462] O/E 0.939 [0.907, 0.971] n = 3,000; curves: 900"),
    Piece(
        "sentence",
        "95 of 100 calibrated models … ECE below 0.025 on these 3,000 rows; the observed ECE is 0.12.",
    ),
    Piece(
        "sentence",
        "Use Platt scaling. Brier score 0.1781 → 0.1564, −0.0217 [−0.0302, −0.0138] on 900 test rows.",
    ),
    Piece("tile", "Brier score | 0.178 → 0.156 | −0.022 [−0.030, −0.014]"),
    Piece("tile", "ECE | 0.134 → 0.048 | −0.087 [−0.155, −0.024]"),
    Piece(
        "sentence", "Uncalibrated → Platt scaling, then the change with its 95 % interval, on 900 test rows."
    ),
    Piece(
        "sentence",
        "No clear difference from Platt scaling in Brier score: beta calibration +0.001 [−0.001, 0.003].",
    ),
    Piece("table", "", TABLE),
    Piece("sentence", "900 test rows; ★ marks the best value in each column."),
]
EXACT = {
    ("brier", "none", 900): 0.17806,
    ("brier", "platt", 900): 0.15641,
    ("observed_expected", "none", 900): 0.93612,
    ("observed_expected", "none", 3000): 0.93912,
    ("ece", "none", 900): 0.13416,
    ("ece", "none", 3000): 0.1237,
}


def told(pieces):
    return disagreements(statements("page", pieces, default=900), {"page": pieces}, EXACT)


def test_a_page_on_which_all_agrees_has_statements_and_pairs_but_no_disagreement():
    found = statements("page", PAGE, default=900)
    assert {each.quantity for each in found} >= {
        "brier",
        "ece",
        "ece_chance",
        "observed_expected",
        "slope",
        "log_loss",
    }
    assert {
        (each.rows, each.value) for each in found if each.quantity == "ece" and each.method == "none"
    } == {
        (3000, "0.12"),
        (900, "0.134"),
    }
    assert len(pairs(found)) > 5
    assert told(PAGE) == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("(O/E 0.939 [0.907", "(O/E 0.936 [0.878"),
        ("n = 3,000; curves: 900", "n = 900"),
        ("it overestimates", "it underestimates"),
        ("observed ECE is 0.12", "observed ECE is 0.13"),
        ("0.1781 → 0.1564, −0.0217", "0.178 → 0.156, −0.0217"),
        ("0.1781 → 0.1564, −0.0217", "0.1781 → 0.1654, −0.0217"),
        ("0.178 → 0.156 | −0.022", "0.179 → 0.157 | −0.022"),
        ("0.134 → 0.048", "0.144 → 0.057"),
        ("+0.001 [−0.001, 0.003]", "+0.002 [0.001, 0.003]"),
        ("Brier score 0.1781 → 0.1564, −0.0217 [−0.0302", "Brier score 0.1564 → 0.1781, +0.0217 [−0.0302"),
    ],
)
def test_a_planted_contradiction_is_found(right, wrong):
    planted = [Piece(each.kind, each.text.replace(right, wrong), each.table) for each in PAGE]
    assert planted != PAGE
    assert told(planted)


def test_a_value_that_reads_like_the_best_but_has_no_star_is_found():
    table = TABLE.assign(**{"Brier score": ["0.178", "0.156 ★", "0.156"]})
    assert told([*PAGE[:-2], Piece("table", "", table), PAGE[-1]])


SEGMENTS = pd.DataFrame(
    {
        "Segment": ["age = 60 or more", "job = farmer"],
        "Rows": [476, 90],
        "Predicted": [0.3624, 0.2],
        "Observed": [0.5162, 0.4],
        "Adjusted p": [0.001, 0.02],
        "Deviation": ["level", "level"],
        "More": [3, 0],
    }
)
PERIODS = pd.DataFrame(
    {
        "period": ["rows 1 to 100", "rows 101 to 200"],
        "rows": [100, 100],
        "observed": [0.4, 0.6],
        "predicted": [0.4, 0.45],
        "observed − predicted": [0.0, 0.15],
    }
)
MORE_PAGES = [
    Piece("sentence", "Wrong for 2 groups, most clearly for age = 60 or more, predicted 36 %, observed 52 %"),
    Piece("sentence", "Adjusted for the search of 412 segments (5 % for all segments together)."),
    Piece(
        "sentence",
        "The search finds 5 of 412 segments miscalibrated, and would usually find a gap of 20 points in 50 rows",
    ),
    Piece("tile", "Smallest adjusted p | 0.00100 | "),
    Piece("table", "", SEGMENTS),
    Piece("sentence", "Largest gap in rows 101 to 200: observed 0.600, predicted 0.450"),
    Piece("tile", "Observed − predicted | 0.0750 | [0.0599, 0.0903]"),
    Piece("table", "", PERIODS),
    Piece(
        "sentence", "Since then, in 90 rows: observed 0.6024, predicted 0.4499, difference 0.1525 [0.1, 0.2]."
    ),
]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("", ""),
        ("for 2 groups", "for 3 groups"),
        ("predicted 36 %", "predicted 38 %"),
        ("search of 412", "search of 421"),
        ("5 of 412", "6 of 412"),
        ("0.00100", "0.00500"),
        ("predicted 0.450", "predicted 0.400"),
        ("0.0750 |", "0.0850 |"),
        ("difference 0.1525", "difference 0.1425"),
    ],
)
def test_groups_and_watch_are_read_too(right, wrong):
    planted = [Piece(each.kind, each.text.replace(right, wrong), each.table) for each in MORE_PAGES]
    assert bool(told(planted)) == bool(right)


OPTIMISM = [
    Piece("tile", "Brier score | 0.178 | "),
    Piece(
        "sentence",
        "For Uncalibrated a random split would have given a Brier score of 0.150 instead of 0.178: too optimistic by "
        "0.03 [0.01, 0.05].",
    ),
]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("", ""), ("instead of 0.178", "instead of 0.188"), ("[0.01", "[−0.01"), ("optim", "pessim")],
)
def test_the_optimism_of_a_split_is_read_too(right, wrong):
    planted = [Piece(each.kind, each.text.replace(right, wrong)) for each in OPTIMISM]
    assert bool(told(planted)) == bool(right)


@pytest.mark.parametrize("name", FEW)
def test_first_screens_contradict_neither_each_other_nor_the_numbers(name):
    found, compared, lines = crawled(WORLDS[name], FIRST, more=False)
    assert lines == []
    assert len(found) > 40
    assert compared > 20


@pytest.mark.soak
@pytest.mark.parametrize("name", WORLDS)
def test_no_page_report_or_command_contradicts_another(name):
    assert crawled(WORLDS[name])[2] == []

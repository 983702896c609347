"""The ten setups: each the evaluation of its own Recipe, each number by its definition in the paper."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, norm

from calib import Recipe, evaluate
from calib.kernel.records import Dataset
from calib.study.papers.ten_setups import (
    AS_PUBLISHED,
    SETUP_NAMES,
    departures,
    findings,
    setup_recipes,
    setup_table,
)
from calib.synthetic import GaussianPair
from tests.intervals import joined
from tests.saying import assert_says

DATA: Dataset = GaussianPair([0, 0, 0], [1, 1, 2], [1, 1, 0], [1, 2, 1]).sample(500, random_state=2)
RECIPE = Recipe(params={"n_estimators": 30}, merge="midpoint")
PAPER = [
    "RF-cal",
    "RF-oob",
    "Platt-cal",
    "Platt-oob",
    "Iso-cal",
    "Iso-oob",
    "VP-cal",
    "VP-oob",
    "VAP-cal",
    "VAP-oob",
]


@pytest.fixture(scope="module")
def evaluations():
    return {key: evaluate(recipe, DATA) for key, recipe in setup_recipes(RECIPE).items()}


@pytest.fixture(scope="module")
def table(evaluations):
    return setup_table(evaluations)


def test_the_ten_names_are_the_papers_in_its_order(table):
    assert list(table.index) == PAPER == list(SETUP_NAMES.values())


def test_gaps_between_setups_are_paired_on_their_common_rows(table, evaluations):
    """Errors above the lowest setup's, hits above those held out."""
    p = {name: evaluations[place].predictions[key].p for (key, place), name in SETUP_NAMES.items()}
    y = evaluations["oob"].y
    assert np.array_equal(evaluations["oob"].rows, evaluations["split"].rows)
    lowest = min(p, key=lambda name: ((y - p[name]) ** 2).mean())
    for name in set(p) - {lowest}:
        ends = joined(
            y, (y - p[name]) ** 2 - (y - p[lowest]) ** 2, level=1 - 0.05 / 45
        )  # for all pairs together
        found = table.loc[name, ["brier_above_lowest", "brier_above_lowest_low", "brier_above_lowest_high"]]
        assert [*found] == pytest.approx(
            [((y - p[name]) ** 2 - (y - p[lowest]) ** 2).mean(), *ends], abs=1e-12
        )
    hit = {name: ((each > 0.5) == y).astype(float) for name, each in p.items()}
    change, n = hit["VAP-oob"] - hit["VAP-cal"], len(y)
    gained, lost, z = (change > 0).sum() + 0.5, (change < 0).sum() + 0.5, norm.ppf(0.975)
    half = z * np.sqrt(gained + lost - (gained - lost) ** 2 / (n + 2)) / (n + 2)  # Agresti and Min (2005)
    ends = (gained - lost) / (n + 2) - half, (gained - lost) / (n + 2) + half
    found = table.loc["VAP-oob", ["accuracy_gained", "accuracy_gained_low", "accuracy_gained_high"]]
    assert [*found] == pytest.approx([hit["VAP-oob"].mean() - hit["VAP-cal"].mean(), *ends])
    assert table.loc[[name for name in p if name.endswith("-cal")], "accuracy_gained"].isna().all()


@pytest.mark.parametrize(("key", "placement"), SETUP_NAMES)
def test_a_setup_is_one_calibrator_in_one_placement(table, key, placement):
    """A Recipe with this calibrator alone, and the paper's formulas written out."""
    on_probabilities = (
        {"platt.on": "score"} if key == "platt" else {}
    )  # the paper's eq. 2.4 takes the forest's probability as it is
    alone = evaluate(RECIPE.replace(placement=placement, calibrators=(key,), options=on_probabilities), DATA)
    predictions, y, row = alone.predictions[key], alone.y, table.loc[SETUP_NAMES[key, placement]]
    p, label = predictions.p, (predictions.p > 0.5).astype(int)
    estimate = np.where(label == 1, p, 1 - p)
    assert row["accuracy"] == pytest.approx((label == y).mean())
    assert row["accuracy_gap"] == pytest.approx(estimate.mean() - (label == y).mean())
    assert row["brier"] == pytest.approx(((y - p) ** 2).mean())
    bins = np.minimum(99, np.floor(p * 100 + 1e-9)).astype(int)  # eq. 13, K = 100
    parts = [(np.sum(bins == k), p[bins == k].mean(), y[bins == k].mean()) for k in np.unique(bins)]
    assert row["reliability"] == pytest.approx(sum(n * (r - f) ** 2 for n, r, f in parts) / len(y))
    assert row["reliability"] == pytest.approx(alone.measured(["reliability"]).loc[key, "reliability"])
    hits = (label == y).astype(float)
    wilson = binomtest(int(hits.sum()), len(y)).proportion_ci(method="wilson")
    assert [row["accuracy_low"], row["accuracy_high"]] == pytest.approx([wilson.low, wilson.high])
    assert [row["brier_low"], row["brier_high"]] == pytest.approx(joined(y, (y - p) ** 2))
    if key.startswith("venn"):
        low = np.where(label == 1, predictions.p0, 1 - predictions.p1)  # eq. 5–6
        high = np.where(label == 1, predictions.p1, 1 - predictions.p0)
        assert np.array_equal(label, predictions.p0 > 1 - predictions.p1)
        assert [row["low"], row["high"], row["size"]] == pytest.approx(
            [low.mean(), high.mean(), (high - low).mean()]
        )
    else:
        assert row[["low", "high", "size", "valid"]].isna().all()


def test_without_bagging_there_are_the_five_held_out_setups_and_no_verdict():
    recipes = setup_recipes(Recipe(model="naive_bayes"))
    table = setup_table({key: evaluate(recipe, DATA) for key, recipe in recipes.items()})
    assert list(table.index) == ["Raw-cal", *PAPER[2::2]]  # not a forest
    assert findings(table) == []


def test_platt_is_on_log_odds_only_where_the_recipe_says_so():
    said = [setup_recipes(RECIPE.replace(options=on))["split"] for on in ((), {"platt.on": "log-odds"})]
    assert [dict(recipe.options)["platt.on"] for recipe in said] == ["score", "log-odds"]


def test_a_setup_that_cannot_answer_is_left_out():
    recipes = setup_recipes(Recipe(model="svm"))
    table = setup_table({key: evaluate(recipe, DATA) for key, recipe in recipes.items()})
    assert list(table.index) == ["Platt-cal", "Iso-cal", "VP-cal", "VAP-cal"]


def test_folds_allow_for_the_calibration_rows_of_one_fold(evaluations):
    recipes = setup_recipes(RECIPE.replace(evaluation="folds", folds=3))
    folds = {key: evaluate(recipe, DATA) for key, recipe in recipes.items()}
    table = setup_table(folds)
    assert len(folds["oob"].y) == DATA.n
    assert list(table.index) == PAPER
    assert table["valid"].dropna().isin([True, False]).all()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ()),
        ({"params": {"n_estimators": 100}}, ("100 trees instead of 300",)),
        ({"params": {}}, ("100 trees instead of 300",)),
        ({"params": {"n_estimators": 300, "max_depth": 5}}, ("other forest settings",)),
        ({"model": "bagged_trees"}, ("bagged trees instead of a random forest",)),
        ({"evaluation": "holdout"}, ("one test set instead of 10 folds",)),
        ({"folds": 5}, ("5 folds instead of 10 folds",)),
        ({"calibration_size": 0.5}, ("50 % held out instead of a third",)),
        ({"merge": "log"}, ("minimax rule for log loss instead of by their midpoint",)),
        ({"merge": "square"}, ("minimax rule for square loss instead",)),
        ({"options": {}}, ("isotonic regression without the paper's steps",)),
        (
            {
                "calibrators": ("isotonic", "venn"),
                "options": {"isotonic.between": "step", "venn.taxonomy": "uniform"},
            },
            ("Venn categories other than",),
        ),
        (
            {"options": {"isotonic.between": "step", "platt.on": "log-odds"}},
            ("Platt scaling on log-odds instead of",),
        ),
        ({"options": {"isotonic.between": "step", "platt.on": "score"}}, ()),
    ],
    ids=str,
)
def test_departures_from_the_paper_are_named_one_by_one(changes, words):
    predicted = departures(Recipe().replace(**AS_PUBLISHED).replace(**changes))
    assert len(predicted) == len(words)
    assert all(word in sentence for word, sentence in zip(words, predicted, strict=True))


def made(**columns):
    """A table of ten setups with these columns, in the paper's order."""
    kinds = [key for key, _ in SETUP_NAMES]
    rest = dict.fromkeys(("low", "high"), 0.5)
    base = {"calibrator": kinds, "placement": ["split", "oob"] * 5} | rest
    return pd.DataFrame(base | columns, index=PAPER)


def test_findings_hold_where_the_numbers_say_so_and_only_there():
    nothing = [np.nan] * 6
    table = made(
        accuracy_gap=[-0.02, -0.01, 0.01, 0.02, 0.03, 0.01, 0.0, 0.0, 0.02, 0.0],
        reliability=[0.05, 0.05, 0.06, 0.06, 0.07, 0.07, 0.01, 0.01, 0.02, 0.02],
        size=[*nothing, 0.02, 0.01, 0.08, 0.04],
        valid=[*nothing, True, True, True, True],
        accuracy=[0.8, 0.9] * 5,
    )
    assert [found.holds for found in findings(table)] == [True] * 6
    opposite = made(
        accuracy_gap=[0.02, -0.01, 0.01, 0.02, 0.03, 0.01, 0.0, 0.0, -0.02, 0.0],
        reliability=[0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.05, 0.05, 0.02, 0.02],
        size=[*nothing, 0.01, 0.02, 0.08, 0.04],
        valid=[*nothing, True, True, True, False],
        accuracy=[0.8, 0.9] * 4 + [0.9, 0.9],
    )
    lead = made(
        **{name: table[name] for name in ("accuracy_gap", "size", "valid", "accuracy")},
        reliability=[0.05, 0.05, 0.06, 0.06, 0.003, 0.0039, 0.001, 0.001, 0.0059, 0.0042],
    )
    assert not findings(lead)[2].holds, "a better mean rank is not to be more reliable than each of the six"
    assert_says(findings(lead)[2].here, "2 of the four", "Iso-cal", "best of the six")
    found = findings(opposite)
    assert [one.holds for one in found] == [False] * 6
    assert_says(found[0].here, "RF-cal +2.0 points", "RF-oob −1.0 points")
    assert_says(found[1].here, "4 of these 5 setups", "overconfident")
    assert_says(found[3].here, "VP-cal 0.0100", "VP-oob 0.0200", "VAP-oob 0.0400", "VAP-cal 0.0800")
    assert_says(found[4].here, "3 of 4", "VP-cal, VP-oob, VAP-cal")
    assert found[5].here == "true for 4 of 5 methods"


def test_what_the_paper_found_comes_out_on_overlapping_classes(table):
    """Raw forests too pessimistic need not be; the order of the interval sizes is nearly always so."""
    size = table["size"].dropna()
    assert list(size.sort_values().index) == ["VP-oob", "VP-cal", "VAP-oob", "VAP-cal"]
    assert (
        table.loc[["VP-cal", "VP-oob"], "reliability"].max()
        < table.loc[["Iso-cal", "Iso-oob"], "reliability"].min()
    )

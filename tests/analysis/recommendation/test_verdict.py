"""The verdict: each finding where it belongs, and every phrase true of the rows that it names."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression

from calib import Evaluation, Recipe, check, evaluate
from calib.analysis.recommendation.verdict import _number, stretches, verdict_of
from calib.data import prepare_predictions
from calib.figures import FIGURES
from calib.kernel.records import Dataset
from calib.kernel.rows import Rows
from calib.kernel.wording import briefly, with_interval
from calib.metrics import METRICS
from calib.metrics.calibration_test import calibration_test
from calib.metrics.confidence_intervals import confidence_interval
from tests.saying import assert_says


def world(seed, n, share=0.5, slope=1.0, shift=0.0):
    """(y, p): true log-odds with a deviation of 1.5, of which the model prints ``slope`` times as much, shifted."""
    rng = np.random.default_rng(seed)
    x = rng.normal(logit(share), 1.5, n)
    y = (rng.random(n) < expit(x)).astype(int)
    return y, expit(slope * (x - logit(share)) + logit(share) + shift)


@pytest.mark.parametrize(
    ("case", "finding"),
    [
        (world(0, 2000, slope=1.7), "miscalibrated"),
        (world(0, 2000, share=0.016, shift=0.7), "miscalibrated"),
        (world(0, 200_000, slope=1.03), "negligible"),
        (world(0, 540), "no sign"),
        (world(0, 15), "too few"),
    ],
)
def test_each_finding_is_made_where_it_belongs(case, finding):
    verdict = check(*case).verdict
    assert verdict.finding == finding
    assert verdict.sentence.startswith(
        {
            "miscalibrated": "Not calibrated: it ",
            "negligible": "Miscalibrated, but only negligibly: ",
            "no sign": "No sign of miscalibration in 540 rows",
            "too few": "Too few rows to judge calibration: in 15 rows",
        }[finding]
    )


@pytest.mark.parametrize(
    ("slope", "shift", "phrases"),
    [
        (1.8, 0.0, ["underestimates below", "overestimates above"]),
        (0.5, 0.0, ["overestimates below", "underestimates above"]),
        (1.0, 0.5, ["overestimates"]),
        (1.0, -0.5, ["underestimates"]),
    ],
)
def test_over_and_underconfidence_are_named_by_where_they_lie(slope, shift, phrases):
    y, p = world(1, 5000, slope=slope, shift=shift)
    found = stretches(Rows(y), p)
    assert [re.sub(r" [\d.]+ ?%", "", each) for each in found] == phrases


@pytest.mark.parametrize(
    ("slope", "shift", "says"),
    [
        (1.7, 0.0, "is overconfident (slope 0."),
        (0.6, 0.0, "is underconfident (slope 1."),
        (1.0, 0.5, "overestimates (O/E 0."),
        (1.0, -0.5, "underestimates (O/E 1."),
    ],
)
def test_the_number_of_a_verdict_on_one_range_is_one_of_its_direction(slope, shift, says):
    """With a slope alone, the range has no clear direction: its errors sum to about 0."""
    y, p = world(2, 5000, slope=slope, shift=shift)
    evaluation = Evaluation.from_predictions(y, p)
    direction = "overestimates" if shift > 0 else "underestimates"
    test = calibration_test(evaluation.sample, p)
    does, number, _ = _number(evaluation, next(iter(evaluation.predictions)), test, [direction])
    assert (does + number).startswith(says)


@pytest.mark.parametrize("seed", range(12))
def test_every_stretch_that_is_named_is_off_in_the_direction_said(seed):
    rng = np.random.default_rng(seed)
    y, p = world(seed, 3000, slope=rng.uniform(0.4, 2), shift=rng.normal(0, 0.4))
    cuts = [0.0]
    for phrase in stretches(Rows(y), p):
        ends = [float(each) / 100 for each in re.findall(r"([\d.]+) ?%", phrase)]
        low, high = cuts[-1], ends[-1] if ends else np.inf
        rows = (p >= low) & (p < high)
        off = (y - p)[rows].mean()
        assert phrase.startswith("underestimates" if off > 0 else "overestimates")
        cuts.append(high)
    assert cuts[-1] == np.inf


@pytest.mark.parametrize("middle", [20, 500])
@pytest.mark.parametrize("seed", range(6))
def test_two_stretches_meet_where_scikit_learn_s_isotonic_curve_crosses_the_diagonal(seed, middle):
    """With 20 rows between two clear ends, a few of their labels must not move the place."""
    rng = np.random.default_rng(seed)
    p = np.concatenate(
        [rng.uniform(0, 0.02, 400), rng.uniform(0.02, 0.98, middle), rng.uniform(0.98, 1, 400)]
    )
    y = (rng.random(len(p)) < 0.15 + 0.5 * p**2).astype(int)
    below, above = stretches(Rows(y), p)
    assert (below.split()[0], above) == ("underestimates", "overestimates above")
    cut = float(re.search(r"([\d.]+) ?%", below)[1]) / 100
    curve = IsotonicRegression(out_of_bounds="clip").fit(p, y)
    ordered = np.sort(p)
    off = curve.predict(ordered) - ordered
    place = np.searchsorted(ordered, cut)
    assert off[max(0, place - 1)] >= -0.02, "rounded to 2 digits"
    assert off[min(place, len(p) - 1)] <= 0.02


def test_the_number_beside_the_direction_is_that_of_the_table_and_excludes_1():
    y, p = world(2, 3000, slope=1.6)
    _, value, low, high = re.search(
        r"\((slope|O/E) ([\d.]+) \[([\d.]+), ([\d.]+)\]\)", check(y, p).verdict.sentence
    ).groups()
    assert float(value) == pytest.approx(METRICS["slope"].function(y, p), rel=0.01)
    assert (float(low), float(high)) == pytest.approx(confidence_interval("slope", y, p), rel=0.01)
    assert float(high) < 1


def test_an_impossible_prediction_is_a_finding_of_its_own_and_the_other_rows_have_theirs():
    """500 calibrated rows, and one more with p = 0 and y = 1."""
    rng = np.random.default_rng(0)
    p = rng.beta(2, 2, 500)
    y = (rng.random(500) < p).astype(int)
    alone, verdict = check(y, p).verdict, check(np.r_[y, 1], np.r_[p, 0.0]).verdict
    assert verdict.sentence.startswith(
        "For 1 row the model predicted 0 %, but the event happened: no calibrated model does this. "
        "Apart from this row: no sign of miscalibration in 500 rows."
    )
    assert (verdict.finding, verdict.p_value) == ("miscalibrated", 0.0)
    assert alone.finding == "no sign"
    assert (verdict.unseen, verdict.largest) == (alone.unseen, alone.largest)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (world(3, 3000, slope=1.7), "Apart from these rows: it underestimates below "),
        (world(0, 200_000, slope=1.03), "Apart from these rows: the average gap in bins is at most "),
        (world(0, 15), "Apart from these rows: in 15 rows even an average gap of "),
        (world(0, 540), "Apart from these rows: no sign of miscalibration in 540 rows."),
        (
            (np.array([0, 1]), np.array([0.0, 1.0])),
            "Apart from these rows, no prediction is between 0 % and 100 %.",
        ),
        ((np.array([], int), np.array([])), "Apart from these rows, no prediction is between 0 % and 100 %."),
    ],
)
def test_beside_impossible_labels_each_finding_on_the_others_has_its_words(other, words):
    y, p = other
    sentences = check(np.r_[y, 1, 0], np.r_[p, 0.0, 1.0]).verdict.sentences
    assert sentences[0].startswith("For 2 rows the model predicted 0 % or 100 %, but the opposite happened: ")
    assert sentences[1].startswith(words)


def test_impossible_labels_are_counted_in_rows_and_ascribed_to_whom_they_belong():
    y, p = np.array([0, 1, 0, 1] * 100), np.array([0.2, 0.8] * 200)
    p[2] = 1.0
    found = verdict_of(check(y, {"forest": p}, sample_weight=np.full(400, 3.0)))
    assert found.sentences[0].startswith("For 3 rows forest predicted 100 %, but the event did not happen: ")
    clustered = check(y, p, cluster=np.zeros(400, int)).verdict
    assert clustered.finding == "miscalibrated"
    assert clustered.sentences[1] == "Apart from this row, there are too few clusters to judge calibration."


@pytest.mark.parametrize(("split", "judged"), [("random", 3000), ("time", 900)])
def test_predictions_made_elsewhere_are_judged_on_all_rows_unless_the_split_says_which_are_new(split, judged):
    y, p = world(4, 3000)
    table = pd.DataFrame({"y": y, "p": p, "day": np.arange(3000)})
    data = prepare_predictions(table, "y", 1, ["p"], roles={"time": "day"})
    recipe = Recipe(
        content="predictions",
        target="y",
        positive="1",
        split=split,
        time="day",
        calibrators=("none", "platt"),
    )
    evaluation = evaluate(recipe, data)
    assert len(evaluation.rows) == 900  # calibrators are compared on the test rows
    said, rows = verdict_of(evaluation).sentence, slice(-judged, None)
    assert_says(said, f"in {judged:,} {'rows' if judged == 3000 else 'test rows'}.")
    assert ("comparisons with calibrators use 900 test rows" in said) == (judged == 3000)
    ends = confidence_interval("observed_expected", y[rows], p[rows])
    (line,) = [each for each in FIGURES["reliability"].prepare(evaluation).corner if "O/E" in each]
    assert line == f"O/E {with_interval(y[rows].mean() / p[rows].mean(), *ends)}"
    alone = evaluate(recipe.replace(calibrators=("none",)), data)
    assert len(alone.rows) == judged  # nothing is fitted


def test_at_a_deployment_base_rate_it_is_the_verdict_at_the_tables_own():
    y, p = world(5, 3000)
    data = prepare_predictions(pd.DataFrame({"y": y, "p": p}), "y", 1, ["p"])
    recipe = Recipe(content="predictions", target="y", positive="1", calibrators=("none", "platt"))
    moved = evaluate(recipe.replace(base_rate=0.1), data)
    *same, why = verdict_of(moved).sentences
    assert " ".join(same) == verdict_of(evaluate(recipe, data)).sentence
    assert [float(found) for found in re.findall(r"([\d.]+) %", why)] == [
        pytest.approx(100 * np.mean(y), abs=0.05),
        10,
    ]
    assert "their ECE differs" in why


def test_a_slope_or_a_ratio_in_the_verdict_is_explained_where_it_is_met_first():
    slope, ratio = check(*world(0, 2000, slope=1.7)).verdict, check(*world(0, 2000, shift=0.7)).verdict
    assert "(slope " in slope.headline
    assert "A slope below 1 means that the model is overconfident" in slope.sentence
    assert "(O/E " in ratio.headline
    assert_says(ratio.sentence, "O/E", "observed", "divided", "expected")
    assert "O/E" not in slope.sentence
    assert "slope" not in check(*world(0, 540)).verdict.sentence


@pytest.mark.parametrize(
    ("p", "said"),
    [
        (np.random.default_rng(1).beta(3, 7, 120), "may not rank better than chance"),
        (np.full(120, 0.3), "does not rank the rows"),
        (np.tile([0.2, 0.8, 0.4], 40), "ranks worse than chance"),
        (np.tile([0.8, 0.2, 0.4], 40), None),
    ],
)
def test_a_ranking_that_may_be_chance_is_said(p, said):
    y = np.tile([1, 0, 0], 40)
    y[:6] = 0, 1, 0, 0, 1, 0  # so that no area is 0 or 1
    low, high = confidence_interval("auc", y, p)
    told = [sentence for sentence in check(y, p).verdict.sentences if "rank" in sentence]
    assert [said in sentence for sentence in told] == ([True] if said else [])
    assert (said is None) == (low > 0.5)
    if said and "may not" in said:
        assert high >= 0.5
        assert f"[{low:.3f}, {high:.3f}]" in told[0]


def test_named_predictions_are_called_by_their_name_and_the_first_is_judged():
    (y, p), (_, other) = world(6, 3000, slope=1.8), world(6, 3000)
    assert check(y, {"forest": p, "truth": other}).verdict.sentence.startswith(
        "Forest is not calibrated: it "
    )
    assert check(y, {"truth": other, "forest": p}).verdict.finding == "no sign"
    assert verdict_of(check(y, {"truth": other, "forest": p}), "forest").finding == "miscalibrated"


def test_clusters_are_counted_and_one_alone_tells_nothing():
    y, p = world(7, 1000)
    assert "of 100 clusters" in check(y, p, cluster=np.arange(1000) // 10).verdict.sentence
    assert check(y, p, cluster=np.zeros(1000, int)).verdict.finding == "too few"


def test_the_view_changes_the_ece_of_the_sentence_and_never_the_finding():
    evaluation = check(*world(8, 2000, slope=1.6))
    other = evaluation.with_view(evaluation.recipe.replace(bins=10))
    assert verdict_of(other).finding == verdict_of(evaluation).finding
    assert verdict_of(other).p_value == verdict_of(evaluation).p_value
    ece = float(other.measured(["ece"])["ece"]["none"])
    assert f"observed ECE is {ece:.2g}" in verdict_of(other).sentence


def test_the_ece_by_chance_of_the_sentence_is_that_of_the_table_of_metrics():
    found = check(*world(8, 2000, slope=1.6))
    seen, chance = (float(found.measured([key])[key]["none"]) for key in ("ece", "ece_chance"))
    assert seen > chance
    assert f"ECE below {briefly(chance, seen)[0]} on these 2,000 rows;" in verdict_of(found).sentence


def test_it_is_the_same_for_whatever_holds_the_rows():
    y, p = world(9, 800, slope=1.5)
    expected = check(y, p).verdict
    two = np.column_stack([1 - p, p])
    for labels, given in ((y.astype(bool), p), (pd.Series(y), pd.Series(p)), (y, two)):
        assert check(labels, given).verdict == expected
    data = Dataset("mine", pd.DataFrame({"p": p}), y, predictions=True)
    assert verdict_of(replace(check(y, p), dataset=data)) == expected

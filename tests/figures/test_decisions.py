"""Costs, decision curve, and Recipes side by side: titles that are computed, fixed axes, all that a reader needs."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from calib import Recipe, evaluate
from calib.analysis.decision import decide, gain, net_benefit
from calib.calibrators import CALIBRATORS, JOINT, label_of
from calib.figures import DARK, FIGURES, LIGHT, formatted_costs
from calib.kernel.checks import InputError
from calib.kernel.wording import brief
from calib.sources import load
from tests.analysis.given import given_evaluation
from tests.intervals import joined
from tests.saying import assert_says

MOST_BYTES = 2_000_000


@pytest.fixture(scope="module")
def evaluations():
    recipes = {
        "one": Recipe(data="sample:rare_faults", model="naive_bayes"),
        "another": Recipe(data="sample:rare_faults", model="decision_tree", calibrators=("none", "isotonic")),
    }
    return {name: evaluate(recipe, load(recipe)) for name, recipe in recipes.items()}


@pytest.fixture(scope="module")
def decision(evaluations):
    return decide(evaluations["one"])


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("key", ["costs", "net_benefit", "compared"])
def test_every_picture_says_what_it_shows_in_the_inks_of_its_theme(key, theme, decision, evaluations):
    record = FIGURES[key].prepare(evaluations if key == "compared" else decision)
    text = FIGURES[key].draw(record, theme).to_json()
    assert theme.paper in text
    assert "#0000" not in text
    assert len(text) < MOST_BYTES
    for key in ("none", "venn_abers"):
        assert label_of(key) in record.alt
    assert record.caption


def test_the_costs_title_names_the_cheapest_and_says_where_it_may_be_sampling_variability(decision):
    record = FIGURES["costs"].prepare(decision)
    line = decision.table.loc[decision.cheapest]
    assert record.title.startswith(label_of(decision.cheapest))
    assert brief(line.realised) in record.title
    assert ("sampling variability" in record.title) == (line.difference_upper >= 0)
    table = record.to_frame().set_index("calibrator")
    assert table.loc["act on none", "realised"] == decision.never
    assert table.loc["venn_abers", "expected"] == decision.table.loc["venn_abers", "expected"]


def test_nothing_cheaper_than_the_uncalibrated_model_is_said():
    recipe = Recipe(data="sample:breast_cancer", model="naive_bayes", calibrators=("none",))
    record = FIGURES["costs"].prepare(decide(evaluate(recipe, load(recipe))))
    assert "no calibrator here is cheaper" in record.title


def test_the_names_of_calibrators_get_the_room_they_need(decision):
    longest = max(map(label_of, JOINT), key=len)
    table = decision.table.rename(
        index={"venn_abers": next(key for key in JOINT if label_of(key) == longest)}
    )
    axis = FIGURES["costs"].draw(replace(FIGURES["costs"].prepare(decision), table=table)).layout.yaxis
    assert longest in axis.ticktext
    assert axis.automargin


def test_the_cost_table_marks_the_lowest_and_has_no_difference_to_itself(decision):
    table = formatted_costs(decision)
    starred = [label for label, text in table["Realised cost"].items() if "★" in text]
    lowest = decision.table["realised"] == decision.table["realised"].min()
    assert starred == [label_of(key) for key in decision.table.index[lowest]]
    assert table.loc["Uncalibrated", "Difference"] == "–"
    dearer = decision.table.index[decision.table.difference > 0]
    assert len(dearer)
    assert all(table.loc[label_of(key), "Difference"].startswith("+") for key in dearer)
    few = decision.table.index[(decision.table.acted > 0) & (decision.table.acted < 0.01)]
    assert all("1 in" in table.loc[label_of(key), "Acted on"] for key in few)


def test_the_decision_curve_is_net_benefit_and_its_title_is_the_gain_at_the_threshold(decision):
    record = FIGURES["net_benefit"].prepare(decision)
    y, t = decision.evaluation.y, decision.threshold
    here = {
        k: net_benefit(y, predictions.p, np.array([t]))[0]
        for k, predictions in decision.evaluation.predictions.items()
    }
    best = max(here, key=here.get)
    simple = max(0.0, y.mean() - (1 - y.mean()) * t / (1 - t))
    if here[best] > simple:
        assert label_of(best) in record.title
        assert brief(1000 * (here[best] - simple)) in record.title
    else:
        assert "no calibrator beats" in record.title
    table = record.to_frame()
    np.testing.assert_array_equal(table["none"], net_benefit(y, decision.evaluation.predictions["none"].p))
    assert (table["act on none"] == 0).all()


@pytest.mark.parametrize("seed", range(8))
def test_a_gain_within_sampling_variability_is_told_as_that(evaluations, seed):
    """Held against what each row brings, class by class, on few rows and many."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([100, 2000]))
    y = (rng.random(n) < 0.2).astype(int)
    p = np.clip(0.2 + 0.1 * (y - 0.2) + rng.normal(0, 0.05, n), 0.01, 0.99)
    recipe = Recipe(data="upload:00", target="label", content="predictions", calibrators=("none",))
    data = load(recipe, {"00": pd.DataFrame({"score": p, "label": y})})
    decision = decide(evaluate(recipe, data), cost_false_alarm=1, cost_miss=3)
    predictions, t = decision.evaluation.predictions["none"], decision.threshold
    brought = np.where(predictions.y == 1, 1.0, -t / (1 - t))
    rule = brought if brought.mean() > 0 else np.zeros(len(brought))
    gained = brought * (predictions.p > t) - rule
    mean, ends = np.mean(gained), joined(predictions.y, gained, steps=(t / (1 - t), 1.0))
    np.testing.assert_allclose(gain(decision.evaluation, "none", t), (mean, *ends), atol=1e-12)
    title = FIGURES["net_benefit"].prepare(decision).title
    assert ("no calibrator beats" in title) == (mean <= 0)
    assert ("may be due to sampling variability" in title) == (mean > 0 >= ends[0])
    assert "rightly" not in title  # acting on all acts on every positive: nobody rightly acts on more


def test_promised_and_real_costs_lie_apart_by_rows_far_from_the_threshold():
    """Right near the threshold and 0.2 too high far above it: the caption blames no place, but a side."""
    p = np.repeat([0.4, 0.6, 0.9], 1000)
    y = np.concatenate([np.arange(1000) < 1000 * share for share in (0.4, 0.6, 0.7)]).astype(int)
    recipe = Recipe(data="upload:00", target="label", content="predictions", calibrators=("none",))
    data = load(recipe, {"00": pd.DataFrame({"score": p, "label": y})})
    decision = decide(evaluate(recipe, data), cost_false_alarm=1, cost_miss=1)
    line = decision.table.loc["none"]
    assert line.expected < line.realised_lower
    caption = FIGURES["costs"].prepare(decision).caption
    assert "near the threshold" not in caption
    assert_says(caption, "rows acted on", "other rows")


def test_the_axes_of_the_decision_curve_depend_on_the_data_alone(decision, evaluations):
    moved = decide(evaluations["one"], cost_miss=50)
    axes = [
        FIGURES["net_benefit"].draw(FIGURES["net_benefit"].prepare(d)).layout.yaxis.range
        for d in (decision, moved)
    ]
    assert axes[0] == axes[1]


def test_a_range_of_thresholds_is_drawn_from_end_to_end(decision):
    record = FIGURES["net_benefit"].prepare(decision, lowest=0.1, highest=0.3)
    table, figure = record.to_frame(), FIGURES["net_benefit"].draw(record)
    at = np.linspace(0.1, 0.3, 101)
    np.testing.assert_allclose(table["threshold"], at)
    predictions = decision.evaluation.predictions["none"]
    np.testing.assert_allclose(
        table["none"], [net_benefit(predictions.y, predictions.p, np.array([t]))[0] for t in at]
    )
    assert figure.layout.xaxis.range == (0.1, 0.3)
    assert_says(record.caption, "false alarm costs 1", "miss costs 5")
    beyond = FIGURES["net_benefit"].prepare(decision, lowest=0.3, highest=0.4)
    assert_says(beyond.caption, "threshold", "0.167", "outside")
    assert "your" not in record.caption + beyond.caption  # nobody has chosen the costs
    drawn = table[["none", "act on all"]].to_numpy().max()
    assert drawn < figure.layout.yaxis.range[1] < 2 * table.drop(columns="threshold").to_numpy().max()
    with pytest.raises(InputError, match="highest"):
        FIGURES["net_benefit"].prepare(decision, lowest=0.4, highest=0.3)


def test_recipes_side_by_side_hold_every_value_and_ring_the_best(evaluations):
    record = FIGURES["compared"].prepare(evaluations, metric="brier")
    table = record.to_frame().set_index(["recipe", "calibrator"])
    for name, evaluation in evaluations.items():
        for key in evaluation.predictions:
            assert table.loc[(name, key), "brier"] == evaluation.metrics.loc[key, "brier"]
    best = table["brier"].idxmin()
    assert table.index[table["best"]].tolist() == [best]
    assert best[0] in record.title
    assert "same test rows" in record.caption
    assert "Not all" not in record.caption


def test_different_rows_are_said(evaluations):
    recipe = Recipe(data="sample:rare_faults", model="naive_bayes", seed=1)
    record = FIGURES["compared"].prepare({**evaluations, "other seed": evaluate(recipe, load(recipe))})
    assert "come from different test rows" in record.caption


def test_an_infinite_value_stands_at_the_right_end_with_its_own_sign():
    recipe = Recipe(data="sample:digits", model="naive_bayes", calibrators=("none", "platt"))
    evaluation = evaluate(recipe, load(recipe))
    assert np.isinf(evaluation.metrics.loc["none", "log_loss"])
    record = FIGURES["compared"].prepare({"a": evaluation}, metric="log_loss")
    figure = FIGURES["compared"].draw(record)
    (trace,) = [trace for trace in figure.data if trace.name == label_of("none")]
    assert trace.customdata[0].startswith("∞ (clipped: ")
    assert trace.marker.symbol == ("triangle-right",)
    assert trace.x[0] == figure.layout.xaxis.range[1]


def test_names_are_text_on_the_axis(evaluations):
    one, *_ = evaluations.values()
    record = FIGURES["compared"].prepare({"<b>bold</b> & a very very long name": one, "other": one})
    _, label = FIGURES["compared"].draw(record).layout.yaxis.ticktext
    assert label.startswith("&lt;b&gt;bold")
    assert "<br>" in label


@pytest.mark.parametrize("recipes", [1, 2, 5])
def test_marks_of_many_calibrators_lie_apart_and_one_recipe_needs_no_legend(recipes):
    rng, keys = np.random.default_rng(0), [key for key in CALIBRATORS if key != "rank"]
    y, p = np.tile([0, 1], 100), rng.uniform(0.2, 0.8, 200)
    evaluation = given_evaluation(y, {key: np.clip(p + 0.01 * i, 0, 1) for i, key in enumerate(keys)})
    figure = FIGURES["compared"].draw(
        FIGURES["compared"].prepare({str(i): evaluation for i in range(recipes)})
    )
    layout = figure.layout
    low, high = layout.yaxis.range
    pixels = (layout.height - layout.margin.t - layout.margin.b) / (high - low)
    places = np.sort([place for trace in figure.data[: len(keys)] for place in trace.y])
    assert len(places) == recipes * len(keys)
    assert np.diff(places).min() * pixels >= 12  # the size of a mark
    assert layout.showlegend == (recipes > 1)
    if recipes == 1:
        assert sorted(layout.yaxis.ticktext) == sorted(label_of(key) for key in keys)


def test_nothing_to_show_is_refused_with_words(decision):
    empty = pd.DataFrame(columns=decision.table.columns, dtype=float)
    bare = replace(decision, table=empty)
    with pytest.raises(InputError, match="None of the chosen calibrators gives probabilities"):
        FIGURES["costs"].prepare(bare)
    with pytest.raises(InputError, match="nothing to compare"):
        FIGURES["compared"].prepare({}, metric="brier")


def test_a_cost_of_nothing_is_a_whole_mark(decision):
    low, _ = FIGURES["costs"].draw(FIGURES["costs"].prepare(decision)).layout.xaxis.range
    assert low < 0

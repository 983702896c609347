"""What a step changes in its picture: the model's name, the lines in colour, and what is there before the answer."""

import plotly.graph_objects as go

from calib.experiments import EXPERIMENTS
from calib.experiments.ballots import rounds
from calib.experiments.shared.truth_panels import DRAWN_POINTS
from calib.export.cards import staged
from calib.figures import FIGURES, LIGHT
from calib.figures.base import ReportOptions, of_decision
from calib.figures.many import lines_of, recolour
from calib.figures.packed import unpacked
from calib.figures.without_data import without_data
from calib.lessons import LESSONS
from calib.lessons.narrowing import narrowed
from calib.recipe import Recipe
from pages.ui.learn.small_pictures import _figure, _known
from tests.lessons.test_claims import evaluated, of

WRONG = "Uncalibrated"


def test_a_models_name_replaces_uncalibrated_in_all_texts_and_nothing_else():
    content = {
        "data": [{"name": WRONG, "x": [1.0, 2.0], "text": [f"{WRONG}: 0.1", ""]}],
        "layout": {"height": 3},
    }
    changed = narrowed(content, {"name": "Naive Bayes"})
    assert changed["data"] == [{"name": "Naive Bayes", "x": [1.0, 2.0], "text": ["Naive Bayes: 0.1", ""]}]
    assert changed["layout"] == {"height": 3}
    assert narrowed(content, {}) == content


def test_a_class_sees_the_models_own_name_on_the_projector_on_phones_and_in_the_table():
    step = LESSONS["reliability_diagram"].steps[1]
    asked = rounds(LESSONS["reliability_diagram"])[1]
    made = staged(step)
    for shown in (made.chart.draw(), _figure(made.chart, LIGHT, True, _known(asked))):
        texts = str([shown.layout, *((one.name, one.text, one.hovertemplate) for one in shown.data)])
        assert step.picture["name"] in texts
        assert WRONG not in texts
    assert list(made.numbers.index) == [step.picture["name"]]


def test_a_phone_has_what_is_known_before_the_answer_but_not_another_state_of_it():
    known = {
        step.place: _known(asked) for asked in rounds(LESSONS["reliability_diagram"]) if (step := asked.step)
    }
    assert known["reliability_diagram:4"] == [LESSONS["reliability_diagram"].steps[3].picture["name"]]
    assert not known["reliability_diagram:3"], "its chart is that of 25 bins, the answer"


def test_without_a_calibrator_no_step_about_a_right_model_calls_it_uncalibrated():
    """It needs no calibrating: the correct model, and a tree with no splits."""
    right = [
        ("reliability_diagram", 2),
        ("reliability_diagram", 3),
        ("reliability_diagram", 4),
    ]
    for key, number in [*right, ("not_useful", 2), ("not_useful", 3), ("not_useful", 4)]:
        step = LESSONS[key].steps[number - 1]
        assert step.recipe.calibrators == ("none",)
        assert step.picture["name"]


def test_before_the_answer_the_costs_of_the_two_simple_rules_can_be_shown_without_the_models():
    rules = ("act on all", "act on none")
    entry, (decided, _) = FIGURES["costs"], of_decision(of("not_useful", 4), ReportOptions())
    whole = entry.draw(entry.prepare(decided), LIGHT).to_dict()
    shown = without_data(whole, kept=rules)
    assert {one["name"] for one in shown["layout"]["shapes"]} == set(rules)
    assert {one["text"] for one in shown["layout"]["annotations"]} == set(rules)
    assert all(one["opacity"] == 0 for one in shown["data"])
    assert without_data(whole)["layout"]["shapes"] == []


def test_of_whom_to_treat_the_threshold_is_there_before_and_the_one_prediction_after():
    step = LESSONS["not_useful"].steps[3]
    entry, (decided, _) = FIGURES["net_benefit"], of_decision(of("not_useful", 4), ReportOptions())
    whole = entry.draw(entry.prepare(decided), LIGHT).to_dict()
    shown = without_data(whole, kept=step.question.shows)
    assert [one["text"] for one in whole["layout"]["annotations"]] == ["threshold 17 %", "37 % for every row"]
    assert [one["text"] for one in shown["layout"]["annotations"]] == ["threshold 17 %"]
    assert {one["name"] for one in shown["data"] if one.get("opacity") != 0} | {"threshold"} == set(
        step.question.shows
    )


def test_a_cloud_of_points_that_nobody_sees_is_not_drawn():
    """A browser draws each of thousands of hidden points, which takes seconds."""
    experiment = EXPERIMENTS["which_model"]
    found = experiment.simulate(
        random_state=0, **experiment.numbers(experiment.values({"which_model.trees": 5}))
    )
    entry = FIGURES["which_model"]
    whole = entry.draw(entry.prepare(found), LIGHT).to_dict()
    points = [len(unpacked(one["x"])) for one in whole["data"] if one["mode"] == "markers"]
    hidden = without_data(whole)["data"]
    assert points == [DRAWN_POINTS] * 6
    assert [len(one["x"]) for one in hidden if one.get("mode") != "lines"] == [0] * 6


def test_the_numbers_of_scores_are_on_paper_where_a_level_passes():
    entry = FIGURES["scores"]
    recipe = Recipe(placement="oob", calibrators=("none", "platt", "isotonic", "venn_abers"))
    record = entry.prepare(
        evaluated(recipe), metric="brier", levels={"Uncalibrated, learnt from all rows": 0.0345}
    )
    whole = entry.draw(record, LIGHT).to_dict()
    numbers = whole["layout"]["annotations"]
    assert [one["text"] for one in numbers] == ["0.0345", "0.0195", "0.0200", "0.0201"]
    assert all(one["bgcolor"] == LIGHT.paper for one in numbers)
    first = without_data(whole, kept=("Uncalibrated",))["layout"]["annotations"]
    assert [one["text"] for one in first] == ["0.0345"], "the number of a shown mark is shown with it"


def test_the_lines_of_a_step_are_all_in_colour_and_named():
    step = LESSONS["when_it_helps"].steps[2]
    experiment = EXPERIMENTS["calibration_size"]
    found = experiment.simulate(random_state=0, **experiment.numbers(experiment.values({})))
    entry = FIGURES["calibration_size"]
    whole = recolour(entry.draw(entry.prepare(found), LIGHT), step.picture["lines"], LIGHT).to_dict()
    left = {one["name"] for one in narrowed(whole, step.picture)["data"] if one.get("name")}
    names = {key: name for key, (name, _) in lines_of(whole).items()}
    assert left == {names[key] for key in step.picture["lines"]}


def test_no_line_of_the_step_on_overlap_is_without_its_name():
    """All that is left is in colour, and the legend names it."""
    step = LESSONS["when_it_helps"].steps[1]
    experiment = EXPERIMENTS["overlap"]
    found = experiment.simulate(random_state=0, **experiment.numbers(experiment.values({})))
    entry = FIGURES["overlap"]
    content = narrowed(entry.draw(entry.prepare(found), LIGHT).to_dict(), step.picture)
    left = {one["name"] for one in content["data"] if one.get("name")}
    assert {"Same forest, uncalibrated", "Venn–Abers"} <= left
    assert not any(one.get("zorder") == -1 for one in content["data"])


def test_before_the_second_move_its_two_pools_are_there_and_the_joined_one_is_not():
    step = LESSONS["labels_to_steps"].steps[1]
    experiment = EXPERIMENTS["pooling"]
    found = experiment.simulate(random_state=0, **experiment.numbers(experiment.values({})))
    before = FIGURES["pooling"].prepare(found, **step.picture["known"])
    assert [found.ratio(before.state, pool) for pool in (2, 3)] == [(1, 2), (0, 1)]
    assert found.ratio(before.state + 1, 2) == (1, 3)
    whole = narrowed(FIGURES["pooling"].draw(before, LIGHT).to_dict(), step.picture)
    shown = without_data(whole, kept=step.question.shows)["data"]
    pools = [one["y"][0] for one in shown if one["name"] == "pool"]
    assert 1 / 2 in pools
    assert 1 / 3 not in pools
    assert not any(one.get("opacity") == 0 for one in shown)


def test_before_the_answer_the_rows_of_the_pool_are_there_and_can_be_counted():
    step = LESSONS["two_probabilities"].steps[2]
    shown = go.Figure(without_data(staged(step).chart.draw().to_dict(), kept=step.question.shows))
    (pool,) = (one for one in shown.layout.shapes if one.name == "the pool of label 0")
    upper = [one for one in shown.data if one.yaxis == "y" and one.opacity != 0]
    counts = {one.name: 0 for one in upper}
    for one in upper:
        x = unpacked(one.x)
        for at, text in zip(x, one.text or [""] * len(x), strict=True):
            counts[one.name] += (int(text) if text else 1) * bool(pool.x0 <= at <= pool.x1)
    assert counts == {"rows of class 0": 2, "rows of class 1": 4, "the row": 1}

"""What a step changes in its picture: the model's name, the lines in colour, and what is there before the answer."""

import pytest

from calib.experiments import EXPERIMENTS
from calib.experiments.shared.truth_panels import MOST_POINTS
from calib.figures import FIGURES, LIGHT
from calib.figures.base import of_decision
from calib.figures.many import lines_of, recolour
from calib.figures.packed import unpacked
from calib.figures.without_data import without_data
from calib.lessons import LESSONS
from pages.ui import headings
from tests.lessons.test_claims import of

WRONG = "Uncalibrated"


@pytest.fixture
def named(monkeypatch):
    """Let a step's ``picture`` hold."""

    def hold(**picture):
        monkeypatch.setattr(headings, "of_step", lambda name, default=None: picture.get(name, default))

    return hold


def test_a_models_name_replaces_uncalibrated_in_all_texts_and_nothing_else(named):
    named(name="Naive Bayes")
    content = {
        "data": [{"name": WRONG, "x": [1.0, 2.0], "text": [f"{WRONG}: 0.1", ""]}],
        "layout": {"height": 3},
    }
    changed = headings.narrowed(content)
    assert changed["data"] == [{"name": "Naive Bayes", "x": [1.0, 2.0], "text": ["Naive Bayes: 0.1", ""]}]
    assert changed["layout"] == {"height": 3}
    named()
    assert headings.narrowed(content) == content


def test_without_a_calibrator_no_step_about_a_right_model_calls_it_uncalibrated():
    """It needs no calibrating: the correct model, the trees and the bank's model, which is right on average."""
    right = [
        ("reliability_diagram", 2),
        ("reliability_diagram", 3),
        ("reliability_diagram", 4),
        ("fair_on_average", 1),
    ]
    for key, number in [*right, ("not_useful", 2), ("not_useful", 3), ("not_useful", 4)]:
        step = LESSONS[key].steps[number - 1]
        assert step.recipe.calibrators == ("none",)
        assert step.picture["name"]


def test_before_the_answer_the_costs_of_the_two_simple_rules_can_be_shown_without_the_models():
    rules = ("act on all", "act on none")
    entry, (decided, _) = FIGURES["costs"], of_decision(of("not_useful", 4))
    whole = entry.draw(entry.prepare(decided), LIGHT).to_dict()
    shown = without_data(whole, kept=rules)
    assert {one["name"] for one in shown["layout"]["shapes"]} == set(rules)
    assert {one["text"] for one in shown["layout"]["annotations"]} == set(rules)
    assert all(one["opacity"] == 0 for one in shown["data"])
    assert without_data(whole)["layout"]["shapes"] == []


def test_of_whom_to_treat_the_threshold_is_there_before_and_the_one_prediction_after():
    step = LESSONS["not_useful"].steps[3]
    entry, (decided, _) = FIGURES["net_benefit"], of_decision(of("not_useful", 4))
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
    assert points == [MOST_POINTS] * 6
    assert [len(one["x"]) for one in hidden if one.get("mode") != "lines"] == [0] * 6


def test_the_numbers_of_scores_are_on_paper_where_a_level_passes():
    step = LESSONS["out_of_bag"].steps[2]
    entry = FIGURES["scores"]
    whole = entry.draw(entry.prepare(of("out_of_bag", 3), **step.scores), LIGHT).to_dict()
    numbers = whole["layout"]["annotations"]
    assert [one["text"] for one in numbers] == ["0.0345", "0.0195", "0.0200", "0.0201"]
    assert all(one["bgcolor"] == LIGHT.paper for one in numbers)
    first = without_data(whole, kept=("Uncalibrated",))["layout"]["annotations"]
    assert [one["text"] for one in first] == ["0.0345"], "the number of a shown mark is shown with it"


def test_the_lines_of_a_step_are_all_in_colour_and_named(named):
    step = LESSONS["when_it_helps"].steps[2]
    named(**step.picture)
    experiment = EXPERIMENTS["calibration_size"]
    found = experiment.simulate(random_state=0, **experiment.numbers(experiment.values({})))
    entry = FIGURES["calibration_size"]
    whole = recolour(entry.draw(entry.prepare(found), LIGHT), step.picture["lines"], LIGHT).to_dict()
    left = {one["name"] for one in headings.narrowed(whole)["data"] if one.get("name")}
    names = {key: name for key, (name, _) in lines_of(whole).items()}
    assert left == {names[key] for key in step.picture["lines"]}


def test_no_line_of_the_step_on_overlap_is_without_its_name(named):
    """All that is left is in colour, and the legend names it."""
    named(**LESSONS["when_it_helps"].steps[1].picture)
    experiment = EXPERIMENTS["overlap"]
    found = experiment.simulate(random_state=0, **experiment.numbers(experiment.values({})))
    entry = FIGURES["overlap"]
    content = headings.narrowed(entry.draw(entry.prepare(found), LIGHT).to_dict())
    left = {one["name"] for one in content["data"] if one.get("name")}
    assert {"Same forest, uncalibrated", "Venn–Abers"} <= left
    assert not any(one.get("zorder") == -1 for one in content["data"])

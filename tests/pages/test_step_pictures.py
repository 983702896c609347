"""What a step changes in its picture: the model's name, the lines in colour, and what is there before the answer."""

import plotly.graph_objects as go

from calib.analysis.curves import curve_of
from calib.evaluate import evaluate
from calib.experiments import EXPERIMENTS
from calib.experiments.ballots import rounds
from calib.experiments.shared.truth_panels import MOST_POINTS_OF_TRUTH
from calib.export.lessons import staged
from calib.figures import FIGURES, LIGHT
from calib.figures.narrowing import narrowed, unpacked, without_data
from calib.lessons import LESSONS, QUIZZES
from calib.sources import load
from pages.ui.learn.small_pictures import _figure, known

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
    step = QUIZZES["diagram"].steps[1]
    asked = rounds(QUIZZES["diagram"])[1]
    made = staged(step)
    for shown in (made.chart.draw(), _figure(made.chart, LIGHT, True, known(asked))):
        texts = str([shown.layout, *((one.name, one.text, one.hovertemplate) for one in shown.data)])
        assert step.picture["name"] in texts
        assert WRONG not in texts
    assert list(made.numbers.index) == [step.picture["name"]]


def test_a_phone_has_what_is_known_before_the_answer_but_not_another_state_of_it():
    seen = {step.place: known(asked) for asked in rounds(QUIZZES["diagram"]) if (step := asked.step)}
    assert seen["diagram:4"] == [QUIZZES["diagram"].steps[3].picture["name"]]
    assert not seen["diagram:3"], "its chart is that of 25 bins, the answer"


def test_without_a_calibrator_no_step_about_a_right_model_calls_it_uncalibrated():
    for step in QUIZZES["diagram"].steps[1:]:
        assert step.recipe.calibrators == ("none",)
        assert step.picture["name"]


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
    assert points == [MOST_POINTS_OF_TRUTH] * 6
    assert [len(one["x"]) for one in hidden if one.get("mode") != "lines"] == [0] * 6


def test_before_the_answer_the_rows_of_the_pool_are_there_and_can_be_counted():
    step = LESSONS["venn_abers"].steps[6]
    shown = go.Figure(without_data(staged(step).chart.draw().to_dict(), kept=step.question.shows))
    (pool,) = (one for one in shown.layout.shapes if one.name == "the pool of label 0")
    upper = [one for one in shown.data if one.yaxis == "y" and one.opacity != 0]
    counts = {one.name: 0 for one in upper}
    for one in upper:
        x = unpacked(one.x)
        for at, text in zip(x, one.text or [""] * len(x), strict=True):
            counts[one.name] += (int(text) if text else 1) * bool(pool.x0 <= at <= pool.x1)
    assert counts == {"rows of class 0": 2, "rows of class 1": 4, "the row": 1}


def test_every_bin_with_rows_has_its_mark_also_in_a_step():
    """Of 25 bins 19 have rows; six of them have fewer than ten."""
    step = QUIZZES["diagram"].steps[2]
    made = staged(step).chart
    marks = sum(
        len(unpacked(one.x))
        for one in made.draw().data
        if one.customdata is not None and "markers" in one.mode
    )
    evaluation = evaluate(step.recipe, load(step.recipe))
    assert marks == (curve_of(evaluation, "none").count > 0).sum() > 13

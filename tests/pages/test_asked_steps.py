"""A step that asks: no data before the guess, the guess beside the data after it, and a link that asks nothing."""

import json
from dataclasses import replace

import pytest

from calib.experiments.forecasts import Forecast
from calib.figures import LIGHT
from calib.figures.narrowing import without_data
from calib.figures.theme import rgba
from calib.lessons import LESSONS, Question
from calib.lessons import _Lessons as Lessons
from pages.ui.learn import lessons
from pages.ui.learn.asking import RIGHT
from pages.ui.placed_guess import GUESS_DASHES, GUESS_LABEL, GUESS_LINE, GUESS_RING, PALE
from tests.pages.app import experiment, faults, keys, page, settled, verdicts
from tests.saying import assert_says

TEXTS = {"text": "How many?", "answers": ("Few", "Some", "Many"), "right": 3, "why": ("f.", "s.", "m.")}
CHOICE = Question(**TEXTS, remark="That is all.")
MARK = Question(**TEXTS, kind="mark", at=0.7, cuts=(0.6, 0.8))
CURVE = Question(**TEXTS, kind="curve", cuts=(-0.05, 0.05), over=(0.5, 1.0))


@pytest.fixture
def asks(monkeypatch):
    """Give a step of a lesson this question."""

    def give(question, key="venn_abers", number=3):
        lesson = LESSONS[key]
        steps, at = list(lesson.steps), number - 1
        steps[at] = replace(steps[at], question=question, beside=("brier",), moving=False)
        asked = replace(lesson, steps=tuple(steps))
        read = Lessons.__getitem__
        monkeypatch.setattr(
            Lessons, "__getitem__", lambda self, name: asked if name == key else read(self, name)
        )
        return steps[at]

    return give


def opened(step, **query):
    return page(step.page, **step.recipe.to_query(), lesson=step.place, **query)


def picture(at) -> dict:
    """The picture of the step as the browser gets it."""
    (fold,) = [one for one in at.expander if one.label == "Whole page"]
    folded = {chart.proto.id for chart in fold.get("plotly_chart")}
    beside = [chart for chart in at.get("plotly_chart") if chart.proto.id not in folded]
    (chart,) = beside
    return json.loads(chart.proto.spec) | {"alt": chart.proto.alt}


def unseen(spec) -> list[bool]:
    """Of every trace but for diagonals, whether it is invisible, and its marks, lines and areas are."""
    return [
        trace.get("opacity") == 0 and "rgba(0, 0, 0, 0)" in json.dumps(trace)
        for trace in spec["data"]
        if not (trace.get("hoverinfo") == "skip" and trace.get("opacity") != 0 and len(trace["x"]) == 2)
    ]


def words(at) -> str:
    return " ".join(element.value for kind in (at.caption, at.markdown) for element in kind).replace("\\", "")


def kind_of_next(at) -> str:
    return next(one.proto.type for one in at.button if one.key == "lesson_next")


def test_before_the_guess_nothing_tells(asks):
    step = asks(CHOICE)
    at = opened(step)
    assert faults(at) == []
    before = picture(at)
    assert all(unseen(before))
    assert (before["layout"].get("annotations"), before["alt"]) == ([], "Reliability diagram.")
    assert "Look at" not in words(at)
    assert step.point not in words(at)
    assert kind_of_next(at) == "secondary"


def test_after_the_guess_everything_is_there(asks):
    step = asks(CHOICE)
    at = settled(opened(step).button(key="answer_1").click().run())
    assert faults(at) == []
    assert not any(unseen(picture(at)))
    assert step.look.partition(" the ")[0] in words(at)  # terms are links
    assert step.point.rpartition(", but")[2] in words(at)
    assert_says(verdicts(at)[0], "Few", "f.", "answer", "“Many”", "m.", CHOICE.remark)
    assert kind_of_next(at) == "primary"


def test_a_question_can_be_skipped_and_asked_again(asks):
    at = opened(asks(CHOICE))
    at = settled(at.button(key="answer_skip").click().run())
    assert not any(unseen(picture(at)))
    assert verdicts(at) == []
    at = settled(at.button(key="ask_step_again").click().run())
    assert all(unseen(picture(at)))
    at = settled(at.button(key="answer_3").click().run())
    assert verdicts(at)[0].startswith(RIGHT)


def test_a_link_without_guesses_shows_the_data_and_leads_on_without_them(asks):
    step = asks(CHOICE)
    at = opened(step, guess="off")
    assert not any(unseen(picture(at)))
    assert not [key for key in keys(at) if key.startswith("answer_")]
    at.button(key="lesson_next").click().run()
    assert at.query_params["guess"] in ("off", ["off"])
    at = experiment("pooling", guess="off", lesson="venn_abers:1")
    assert not [key for key in keys(at) if key.startswith("guess_")]


@pytest.mark.parametrize(
    ("question", "guess", "answer"),
    [(MARK, 0.85, 3), (CURVE, [[x / 10, x / 10] for x in range(1, 10)], 2)],
    ids=lambda value: getattr(value, "kind", None),
)
def test_a_guess_in_the_picture_stands_for_an_answer_and_stays_beside_the_data(asks, question, guess, answer):
    step = asks(question)
    at = opened(step)
    assert all(unseen(picture(at)))
    at.session_state["guesses"] = {step.place: lessons.Guess(answer, guess)}
    at = settled(at.run())
    assert faults(at) == []
    spec = picture(at)
    signed = {GUESS_LABEL, *(f"{sign} {GUESS_LABEL}" for sign in (GUESS_LINE, GUESS_RING, GUESS_DASHES))}
    assert signed & {each["text"] for each in spec["layout"]["annotations"]}
    drawn = json.dumps([spec["data"][-1], spec["layout"]["shapes"][-1:]])
    assert LIGHT.guess in drawn or rgba(LIGHT.guess, PALE) in drawn
    assert str(guess if question.kind == "mark" else 0.9) in drawn
    assert question.answers[answer - 1] in verdicts(at)[0]


def test_a_mark_with_a_known_place_is_told_its_distance_and_no_range_that_its_reader_has_not_seen(asks):
    step = asks(replace(MARK, truth=0.9))
    at = opened(step)
    at.session_state["guesses"] = {step.place: lessons.Guess(1, 0.5)}
    said = verdicts(settled(at.run()))[0]
    assert_says(said, "50 %", "40 percentage points too low", "f. m.")
    assert "Many" not in said


def test_a_step_by_its_name_alone_has_its_own_page_and_data():
    at = page("explore_decide", lesson="venn_abers:3")
    assert at.session_state["recipe"] == LESSONS["venn_abers"].steps[2].recipe
    assert faults(at) == []
    assert at.query_params["lesson"] == "venn_abers:3"


def test_an_answer_at_the_end_counts_beside_that_of_the_step_with_its_number():
    at = page("learn_two_probabilities", **{"two_probabilities.experiment": "questions"})
    at.session_state["forecasts"] = {"venn_abers:1": Forecast(0.75, True)}
    at.segmented_control(key="sure_venn_abers:question:1").set_value(0.75)
    settled(at.button(key="quiz_1_1").click().run())
    assert len(at.session_state["forecasts"]) == 2


def test_an_emptied_picture_has_levels_and_diagonals_and_no_bar_and_no_number_of_the_data():
    line = {"type": "scatter", "mode": "lines", "hoverinfo": "skip", "x": [0.2, 0.6]}
    emptied = without_data(
        {
            "data": [line | {"y": [0, 1], "line": {"width": 1}}, line | {"y": [3, 3], "line": {"width": 11}}],
            "layout": {
                "annotations": [{"text": "<b>p0 = 4 / 7 = 0.571</b>"}, {"text": "0.571"}],
                "shapes": [
                    {"x0": 0, "x1": 1, "xref": "x domain", "y0": 20, "y1": 20},
                    {"x0": 0.2, "x1": 0.4, "y0": 1, "y1": 1},
                ],
                "yaxis": {"ticktext": ["age = 60 to 79<br>476 rows"]},
                "yaxis2": {"ticktext": ["Platt scaling"]},
            },
        }
    )
    assert [trace.get("opacity", 1) for trace in emptied["data"]] == [1, 0]
    assert [each["text"] for each in emptied["layout"]["annotations"]] == ["<b>p0</b>"]
    assert [each["y0"] for each in emptied["layout"]["shapes"]] == [20]
    assert emptied["layout"]["yaxis"]["showticklabels"] is False
    assert "showticklabels" not in emptied["layout"]["yaxis2"]

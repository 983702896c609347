"""Lessons hold: short, complete, on pages that exist, every step's Recipe valid and back from its link."""

import tomllib
from pathlib import Path

import pytest

from calib import lessons
from calib.kernel.checks import InputError
from calib.lessons import LESSONS, QUIZZES, STEP_OF_FORMER, parse_step, read
from calib.recipe import Recipe
from tests.lessons.every import EVERY

ROOT = Path(__file__).parents[2]
STEPS = [pytest.param(step, id=step.place) for lesson in EVERY.values() for step in lesson.steps]
TEXT = """
title = "T"
summary = "S."
[[steps]]
page = "explore_reliability"
title = "Why?"
text = "Because."
look = "there."
[steps.recipe]
bins = 7
"""


@pytest.mark.whole_registry
def test_every_file_is_the_lesson_or_a_quiz():
    here = ROOT / "calib" / "lessons"
    assert {path.stem for path in here.glob("*.toml")} == set(LESSONS)
    assert {path.stem for path in (here / "quizzes").glob("*.toml")} == set(QUIZZES)
    assert len({lesson.title for lesson in EVERY.values()}) == len(EVERY)


@pytest.mark.parametrize("lesson", EVERY.values(), ids=EVERY)
def test_a_lesson_has_at_most_ten_steps_and_tells_what_it_is_about(lesson):
    assert 3 <= len(lesson.steps) <= 10
    assert lesson.summary.endswith(".")
    assert len(lesson.summary) <= 130


@pytest.mark.parametrize("step", STEPS)
def test_a_step_is_a_question_on_a_page_that_exists_in_few_words(step):
    assert (ROOT / "pages" / f"{step.page}.py").is_file()
    assert step.title.endswith("?")
    assert step.look.endswith((".", "?"))
    assert len(step.text) + len(step.look) <= 520, "a step is read aloud in half a minute"
    assert "\n" not in step.title + step.text + step.look


@pytest.mark.parametrize("step", STEPS)
def test_what_a_step_says_to_look_at_is_in_sight(step):
    """The rest of the page is folded away: its tables and what is further down are named where they are shown."""
    look = step.look.lower()
    assert not [word for word in ("further down", "at the bottom", "at the top", "below:") if word in look]
    said = step.look.replace("class-wise ECE", "classwise")  # another number
    named = {key for key, words in NUMBERS.items() if any(word in said for word in words)}
    assert named <= set(step.beside) | TITLED.get(step.chart or step.page, set())
    assert ("table" in look) <= bool(step.beside)
    assert ("advice" in look) == ("advice" in step.beside)


NUMBERS = {
    "brier": ("Brier score",),
    "ece": ("ECE",),
    "auc": ("AUC",),
    "accuracy": ("accuracy",),
    "log_loss": ("log loss",),
    "discrimination": ("discrimination",),
    "classwise_ece": ("classwise",),
}
TITLED: dict[str, set[str]] = {"scores": {"brier", "ece"}}  # chart → the numbers in its own words


@pytest.mark.parametrize("step", STEPS)
def test_a_step_comes_back_from_its_link_and_its_file(step):
    assert Recipe.from_query(step.recipe.to_query()) == step.recipe
    assert Recipe.from_json(step.recipe.to_json()) == step.recipe
    if step.place.partition(":")[0] in LESSONS:
        lesson, number = parse_step(step.place)
        assert lesson.steps[number - 1] is step
    assert not step.departed(step.recipe)
    assert step.departed(step.recipe.replace(seed=99))


@pytest.mark.parametrize("key", STEP_OF_FORMER)
def test_a_step_of_a_former_lesson_leads_to_one_on_the_same_question(key):
    """Its former number, and a word of the step that took its place."""
    words = {
        "labels_to_steps": ("labels", "labels", "moves end", "real scores", "one more row", "0 or 1"),
        "two_probabilities": ("guarantee", "pairs", "p0 and p1", "narrower", "one number"),
    }
    for number, word in enumerate(words[key], start=1):
        lesson, step = parse_step(f"{key}:{number}")
        assert word in lesson.steps[step - 1].title
    with pytest.raises(InputError, match="lesson must be"):
        parse_step(f"{key}:{len(words[key]) + 1}")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("bins = 7", "bins = 700", r"Lesson k: step 1: bins must be .* from 2 to 100"),
        ("bins = 7", "bims = 7", r"Lesson k: step 1: .*bims"),
        ("bins = 7", 'settings = {"theorem.guess" = "9"}', r"Lesson k: step 1: theorem\.guess"),
        ('look = "there."', "", r"Lesson k: step 1: the fields must be page, title, text, look, recipe"),
        ('summary = "S."', 'sumary = "S."', r"Lesson k: the fields must be title, summary, steps"),
        ("[[steps]]", "[[steps]", r"Lesson k: .*line"),
    ],
)
def test_a_broken_lesson_is_refused_by_name(old, new, words):
    (step,) = read("k", TEXT).steps
    assert (step.recipe, step.place) == (Recipe(bins=7), "k:1")
    with pytest.raises(InputError, match=words):
        read("k", TEXT.replace(old, new))


@pytest.mark.parametrize(
    "text", ["nonsense:1", "venn_abers:0", "venn_abers:11", "nonsense", "venn_abers:x", "bank:1"]
)
def test_a_place_that_is_not_there_is_refused(text):
    with pytest.raises(InputError, match="lesson must be"):
        parse_step(text)


def test_only_what_a_step_overrides_differs_from_the_default():
    for key, lesson in EVERY.items():
        folder = Path(lessons.__file__).parent / ("" if key in LESSONS else "quizzes")
        raw = tomllib.loads((folder / f"{key}.toml").read_text(encoding="utf-8"))
        for step, written in zip(lesson.steps, raw["steps"], strict=True):
            assert set(step.recipe.changed()) == set(written["recipe"]), "an override that changes nothing"
            settings = written["recipe"].get("settings", {})
            assert set(dict(step.recipe.settings)) == set(settings), "a setting that changes nothing"


QUESTION = """
[[questions]]
text = "Which?"
answers = ["A", "B"]
right = 2
why = ["Not A.", "B it is."]
"""


@pytest.mark.whole_registry
def test_every_lesson_ends_with_questions_and_has_a_sentence_to_remember_for_each_step():
    for lesson in EVERY.values():
        assert len(lesson.questions) == (3 if lesson.key in LESSONS else len(lesson.questions))
        for question in lesson.questions:
            assert question.text.endswith(("?", "…"))
            assert question.story.endswith((".", ":")), "a live quiz tells its story"
            assert question.step, "and shows its picture"
            assert len(set(question.answers)) == len(question.why) == 3
            assert all(text.endswith((".", "…")) for text in question.why)
        assert all(step.point.endswith(".") and len(step.point) <= 110 for step in lesson.steps)
        assert len({question.right for question in lesson.questions}) > 1, (
            "the right one is not always at one place"
        )


def test_the_minutes_of_a_lesson_are_its_words_pictures_and_questions_and_the_guide_says_them():
    text = TEXT.replace("Why?", " ".join(["word"] * 258))
    assert read("k", text).minutes == 5  # two of reading and two of looking
    assert read("k", text + 2 * QUESTION).minutes == 10
    said = (ROOT / "docs/for_teachers.md").read_text(encoding="utf-8")
    assert all(f"{len(one.steps)} steps, about {one.minutes} minutes" in said for one in EVERY.values())


@pytest.mark.parametrize("broken", ["right = 3", "right = 0"])
def test_a_question_without_a_right_answer_is_refused_by_name(broken):
    assert read("k", TEXT + QUESTION).questions[0].right == 2
    with pytest.raises(InputError, match="Lesson k: question 1: .*`right` must"):
        read("k", TEXT + QUESTION.replace("right = 2", broken))

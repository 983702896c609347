"""Nothing that stands beside a question tells its answer before it is given."""

import re

import pytest

from calib.experiments import EXPERIMENTS
from calib.experiments.ballots import rounds
from calib.figures import FIGURES
from calib.recipe import Recipe
from pages.ui.current import of, question
from tests.lessons.every import EVERY

TELLS = {
    "cl_gl": r"\b(two|2) groups|0 or 1|0 and 1",
    "tree_depth": r"depth 4|medium depth",
    "tree_count": r"far less|half of the",
    "leaf_estimates": r"curtailment (does|comes|is|helps|uses)",
    "which_model": r"(machine|SVM)\b.*\b(closest|best|little scatter)",
    "overlap": r"most where (they|the classes)|overlap completely",
    "calibration_size": r"[Tt]uned forest on all|tuning|no calibrator",
    "theorem": r"true label|P_Y",
    "order": r"\b(is|yes|still) .*calibrated",
    "constant": r"useful|useless",
    "regret": r"nearer to",
    "compare": r"(Abers|simplified).*\b(closest|best)|trusts these",
    "counterexample": r"2/3",
    "log_loss": r"hardly any|few (of the )?runs|most runs",
    "narrowing": r"2/3|more slowly than",
    "pooling": r"n − 1|at most",
    "finite": r"one split",
    "looking": r"more than 20|many false alarms",
    "fair_on_average": r"almost all|nearly every",
    "three_classes": r"more than 5 points|far off",
}
"""Experiment → words that give the right answer to its question away."""
STEPS = [step for lesson in EVERY.values() for step in lesson.steps]
OWN = [pytest.param(step, id=step.place) for step in STEPS if step.question]
ASKED = [
    (key, number)
    for key in EVERY
    for number, (asked, step) in enumerate(zip(rounds(EVERY[key]), EVERY[key].steps, strict=False), start=1)
    if asked.answers and step.question is None
]


def asked_by(step):
    return next(e for e in EXPERIMENTS.values() if e.question == step.text)


@pytest.mark.whole_registry
def test_every_question_has_words_that_would_tell_its_answer():
    assert set(TELLS) == set(EXPERIMENTS), "TELLS has the words that tell each experiment's answer"
    points = [step.point for lesson in EVERY.values() for step in lesson.steps]
    for key, experiment in EXPERIMENTS.items():
        told = " ".join(
            (experiment.answers[experiment.right - 1], *experiment.notice, *experiment.why, *points)
        )
        assert re.search(TELLS[key], told, re.IGNORECASE | re.DOTALL), key


@pytest.mark.parametrize("key", EXPERIMENTS)
def test_no_name_of_an_experiment_its_page_or_its_pictures_tells_the_answer(key):
    experiment = EXPERIMENTS[key]
    recipe = Recipe(settings={f"{experiment.page}.experiment": key})
    page = of(f"pages/{experiment.script}.py")
    beside = [
        experiment.name,
        question(page, recipe),
        *(FIGURES[k].label for keys in experiment.runs.values() for k in keys),
    ]
    assert not re.search(TELLS[key], " | ".join(beside), re.IGNORECASE)


@pytest.mark.parametrize(("key", "number"), ASKED)
def test_no_word_of_a_step_tells_the_answer_that_it_asks_for(key, number):
    lesson = EVERY[key]
    step, asked = lesson.steps[number - 1], asked_by(rounds(EVERY[key])[number - 1])
    beside = " | ".join((lesson.title, step.title, step.text, step.look))
    assert not re.search(TELLS[asked.key], beside, re.IGNORECASE)


@pytest.mark.parametrize("step", OWN)
def test_no_title_or_text_of_a_step_tells_the_answer_to_its_own_question(step):
    """What to look at and to remember comes after the answer."""
    asked = step.question
    before = f"{step.title} {step.text} {asked.text}".lower()
    named = [answer.lower() in before for answer in asked.answers]
    assert all(named) or not named[asked.right - 1]

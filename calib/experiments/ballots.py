"""The rounds of a live quiz, and the votes of a class.

The rounds of a lesson are its steps, then the three questions at its end. A step asks its own question, or that of its
page; a step without a question only shows its picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from calib.experiments import asking_experiment
from calib.experiments.base import Experiment
from calib.kernel.wording import counted
from calib.lessons import Lesson, Step
from calib.lessons.live_quiz import RoomAnswer, RoomState, Round
from calib.lessons.question import Question
from calib.recipe import Recipe


def rounds(topic: Lesson | Experiment) -> tuple[Round, ...]:
    """List the rounds of a lesson or of one experiment; a lesson and an experiment may have the same key.

    >>> from calib.experiments import EXPERIMENTS
    >>> [(one.title, one.right) for one in rounds(EXPERIMENTS["cl_gl"])]
    [('CL and GL on Gaussians', 3)]
    """
    if isinstance(topic, Experiment):
        recipe = Recipe(settings=((f"{topic.page}.experiment", topic.key),))
        return (_of_experiment(topic, Step(topic.script, topic.name, "", "", recipe, "")),)
    return (
        *map(_of_step, topic.steps),
        *(_closing(question, topic.steps[question.step - 1]) for question in topic.questions),
    )


def _of_step(step: Step) -> Round:
    """Make a round from a step: its question, else that of its page about these settings, else what to look at."""
    if step.question:
        return _posed(step, step.question)
    experiment = asking_experiment(dict(step.recipe.settings), step.page)
    if experiment and experiment.usual(experiment.values(dict(step.recipe.settings))):
        return _of_experiment(experiment, step)
    return Round(step.title, f"Look at {step.look}", step=step)


def _of_experiment(experiment: Experiment, step: Step) -> Round:
    return Round(
        step.title,
        experiment.question,
        experiment.answers,
        experiment.right,
        experiment.why,
        step,
        experiment.posed,
        step.text,
    )


def _posed(step: Step, asked: Question) -> Round:
    """Make a round from a question; its additional sentence follows the reason of the right answer."""
    why = list(asked.why)
    why[asked.right - 1] = f"{why[asked.right - 1]} {asked.remark}".strip()
    return Round(step.title, asked.text, asked.answers, asked.right, tuple(why), step, story=step.text)


def _closing(asked: Question, step: Step) -> Round:
    """Make a round from a question at the end, with the picture of a step that the class has seen."""
    return Round("Final question", asked.text, asked.answers, asked.right, asked.why, step, True, asked.story)


def letter(answer: int) -> str:
    """Return the letter of an answer.

    >>> letter(1), letter(6)
    ('A', 'F')
    """
    return "ABCDEFGH"[answer - 1]


def answers(given: Sequence[RoomAnswer]) -> pd.DataFrame:
    """Tabulate the answers of a class, one row per answer; a seat's number is all that is known of a student.

    >>> from calib.lessons.live_quiz import Vote
    >>> asked = Round("Bins", "Do more bins raise the ECE?", ("Yes", "No"), 1, ("So.", "Not quite."))
    >>> of_class = [RoomAnswer(1, asked, 2, Vote(1, 0.9)), RoomAnswer(1, asked, 3, Vote(2))]
    >>> print(answers(of_class).to_string(index=False))
     round                    question  seat answer right  sure
         1 Do more bins raise the ECE?     2    Yes   yes   0.9
         1 Do more bins raise the ECE?     3     No    no   NaN
    """
    rows = [
        (
            one.number,
            one.round.text,
            one.seat,
            one.round.answers[one.vote.answer - 1],
            "yes" if one.vote.answer == one.round.right else "no",
            one.vote.sure,
        )
        for one in given
    ]
    return pd.DataFrame(rows, columns=["round", "question", "seat", "answer", "right", "sure"])


@dataclass(frozen=True)
class Ballot:
    """One answer on the projector.

    Attributes
    ----------
    text
        Letter and answer.
    votes
        Number of votes; an empty text while votes are hidden.
    share
        Share of the votes, from 0 to 1; 0 while votes are hidden.
    kind
        "right" or "other" after the reveal, else "open".
    """

    text: str
    votes: str
    share: float
    kind: str


def ballots(seen: RoomState) -> tuple[str, list[Ballot]]:
    """Count the votes of a class; they stay hidden until the teacher shows or reveals them.

    Parameters
    ----------
    seen : RoomState
        Room in a round with answers.

    Returns
    -------
    (str, list of Ballot)
        A sentence, and one entry per answer.
    """
    asked = seen.round
    assert asked is not None, "only a round with answers has ballots"
    title = f"{seen.answered} of {seen.joined} answered"
    if seen.revealed and seen.answered:
        title = f"{seen.votes[asked.right - 1]} of {counted(seen.answered, 'answer')} right"
    return title, [_ballot(seen, asked, i) for i in range(1, len(asked.answers) + 1)]


def _ballot(seen: RoomState, asked: Round, number: int) -> Ballot:
    text, votes = f"{letter(number)}  {asked.answers[number - 1]}", seen.votes[number - 1]
    if not seen.revealed:
        kind = "open"
    elif number == asked.right:
        kind, text = "right", f"✓ {text}"
    else:
        kind = "other"
    if not (seen.shown or seen.revealed):
        return Ballot(text, "", 0.0, kind)
    return Ballot(text, str(votes), votes / max(1, seen.answered), kind)

"""The rounds of a live quiz, and the votes of a class.

The rounds of a lesson are its steps, then the three questions at its end. A step whose page asks a question becomes
a question; any other step only shows its picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.experiments import EXPERIMENTS, SKIP, shown
from calib.experiments.base import Experiment
from calib.experiments.shared.findings import Finding
from calib.figures.theme import LIGHT, Theme, layout
from calib.kernel.wording import counted
from calib.lessons import LESSONS, Step
from calib.lessons.live_quiz import Round, Seen
from calib.recipe import Recipe

WIDTH = 46  # characters of an answer per line
LINE, BAR, GAP, TYPE = 34, 40, 16, 25  # pixels: line of an answer, bar, gap, font size


def rounds(key: str) -> tuple[Round, ...]:
    """List the rounds of a lesson or of one experiment.

    >>> [(one.title, one.right) for one in rounds("cl_gl")]
    [('CL and GL on Gaussians', 3)]
    """
    if key in EXPERIMENTS:
        experiment = EXPERIMENTS[key]
        recipe = Recipe(settings=((f"{experiment.page}.experiment", key),))
        return (_asked(experiment, Step(f"learn_{experiment.page}", experiment.name, "", "", recipe, "")),)
    lesson = LESSONS[key]
    ends = [
        Round("Final question", question.text, question.answers, question.right, question.why)
        for question in lesson.questions
    ]
    return (*map(_of_step, lesson.steps), *ends)


def _of_step(step: Step) -> Round:
    """Make a round from a step: its question if the page asks one about these settings, else what to look at."""
    settings = dict(step.recipe.settings)
    if step.page.startswith("learn_"):
        experiment = shown(settings, step.page.removeprefix("learn_"))
        skipped = settings.get(f"{experiment.key}.guess") == SKIP
        if not skipped and experiment.usual(experiment.values(settings)):
            return _asked(experiment, step)
    return Round(step.title, f"Look at {step.look}", step=step)


def _asked(experiment: Experiment, step: Step) -> Round:
    return Round(step.title, experiment.question, experiment.answers, experiment.right, experiment.why, step)


def letter(answer: int) -> str:
    """Return the letter of an answer.

    >>> letter(1), letter(6)
    ('A', 'F')
    """
    return "ABCDEFGH"[answer - 1]


@dataclass(frozen=True, eq=False)
class Ballots(Finding):
    """Votes of a class.

    Attributes
    ----------
    table
        One row per answer: letter, answer, votes.
    hidden
        Whether the votes are still hidden.
    right
        Number of the right answer after the reveal, else 0.
    """

    hidden: bool
    right: int


def prepare(seen: Seen) -> Ballots:
    """Count the votes of a class; they stay hidden until the teacher shows or reveals them.

    Parameters
    ----------
    seen : Seen
        Room in a round with answers.
    """
    asked, hidden = seen.round, not (seen.shown or seen.revealed)
    assert asked is not None, "only a round with answers has ballots"
    votes = np.zeros(len(asked.answers), dtype=int) if hidden else np.array(seen.votes)
    names = [letter(i) for i in range(1, len(asked.answers) + 1)]
    table = pd.DataFrame({"letter": names, "answer": asked.answers, "votes": votes})
    lines = [f"{row.letter}, {row.answer}: {counted(row.votes, 'vote')}." for row in table.itertuples()]
    right = asked.right if seen.revealed else 0
    title = f"{seen.answered} of {seen.joined} answered"
    if right and seen.answered:
        title = f"{seen.votes[right - 1]} of {counted(seen.answered, 'answer')} right"
    told = f" {letter(right)} is right." if right else ""
    alt = title + ("; the votes are hidden." if hidden else f". {' '.join(lines)}{told}")
    return Ballots(title, "", alt, table, right or None, hidden, right)


def draw(record: Ballots, theme: Theme = LIGHT) -> go.Figure:
    """Draw each answer above a bar for its share of votes; the right answer has a tick and full colour."""
    texts = [wrap(f"{row.letter}  {row.answer}", WIDTH) for row in record.table.itertuples()]
    tops = np.cumsum([0, *(LINE * len(lines) + BAR + GAP for lines in texts)])
    figure = go.Figure(
        layout=layout(
            theme,
            height=int(tops[-1]) + 8,
            showlegend=False,
            barmode="overlay",
            margin={"l": 4, "r": 8, "t": 4, "b": 4},
            xaxis={"range": [0, 1.12], "visible": False, "fixedrange": True},
            yaxis={"range": [int(tops[-1]), 0], "visible": False, "fixedrange": True},
        )
    )
    _bars(figure, record, tops[1:] - GAP - BAR / 2, theme)
    for number, (lines, top) in enumerate(zip(texts, tops, strict=False), start=1):
        _answer(figure, "<br>".join(lines), top, record.right, number, theme)
    return figure


def _bars(figure: go.Figure, record: Ballots, places: np.ndarray, theme: Theme) -> None:
    """Draw the share of votes of every answer."""
    votes = record.table["votes"]
    colors = [
        theme.diagonal if record.right and number != record.right else theme.negative
        for number in range(1, len(votes) + 1)
    ]
    bar = {"y": places, "width": BAR, "orientation": "h", "hoverinfo": "skip"}
    figure.add_bar(x=np.ones(len(votes)), marker_color=theme.grid, **bar)
    figure.add_bar(
        x=votes / max(1, votes.sum()),
        marker_color=colors,
        text=[] if record.hidden else [f"<b>{n}</b>" for n in votes],
        textposition="outside",
        textfont={"size": TYPE, "color": theme.ink},
        cliponaxis=False,
        **bar,
    )


def _answer(figure: go.Figure, text: str, top: float, right: int, number: int, theme: Theme) -> None:
    figure.add_annotation(
        x=0,
        y=top,
        text=f"<b>✓ {text}</b>" if number == right else text,
        showarrow=False,
        xanchor="left",
        yanchor="top",
        align="left",
        font={"size": TYPE, "color": theme.muted if right and number != right else theme.ink},
    )

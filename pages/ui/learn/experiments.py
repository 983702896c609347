"""The frame of a Learn page: question, prediction, picture, what to notice, formula, source.

An experiment's words, settings, simulation and pictures are in its module of ``calib.experiments``. Its settings are
in the Recipe, so that a link restores them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from calib.experiments import ASK, EXPERIMENTS, OTHER_VIEWS, SKIP, Experiment
from calib.kernel.records import Parameter
from calib.lessons import Question
from calib.lessons.glossary import GLOSSARY
from calib.recipe import Recipe
from pages.ui import (
    browser,
    chart,
    controls,
    jobs,
    lesson_layout,
    placed_guess,
    session_cache,
    state,
    style,
)
from pages.ui.learn import asking, live_quiz, play
from pages.ui.learn.glossary import linked, links, links_in
from pages.ui.posed_question import current_question
from pages.ui.text import plain

SAME_SEED = "The same seed gives the same result here, in a notebook and on the command line."
SETTINGS_IN_SIGHT = 2  # settings in sight; an experiment names them first, the others are folded
BESIDE = [0.3, 0.7]  # widths of the words with the controls, and of the picture
VIEW_NAMES = {
    "playground": "Playground",
    "triangle": "Three classes",
    "lesson": "Lesson",
    "questions": "Three questions",
}
TRIANGLE_NAME = "Drag one prediction"
AT_FIRST = 2  # sentences of what to notice; the others are folded


@dataclass(frozen=True)
class PageVariation:
    """Variations of a page for one experiment; the defaults are those of all experiments.

    Attributes
    ----------
    pictures
        Draws the pictures from the settings and the result; returns their records.
    below
        Draws the rest from the settings; by default the further simulations.
    compute
        Returns the numbers, or None after drawing the progress; by default one job runs the simulation.
    so_far
        Returns the numbers of the finished parts, or None; by default there are no parts.
    using
        Cached functions for the simulation.
    last
        Returns the last value of the played setting with this result.
    idle
        Returns the names of settings that have no effect given the others; they are hidden.
    """

    pictures: Callable[[Recipe, dict[str, Any], Any], list[Any]] | None = None
    below: Callable[[Recipe, dict[str, Any]], None] | None = None
    compute: Callable[[Recipe, Experiment, dict[str, Any]], Any | None] | None = None
    so_far: Callable[[Recipe, Experiment, dict[str, Any]], Any | None] = lambda *given: None
    using: Mapping[str, Callable[..., Any]] | None = None
    last: Callable[[Any], int] | None = None
    idle: Callable[[Recipe, Experiment, dict[str, Any]], tuple[str, ...]] = lambda *given: ()


def show(recipe: Recipe, experiment: Experiment, variation: PageVariation) -> None:
    """Show an experiment from its question to its source, with what its page does differently."""
    guess = guess_of(recipe, experiment)
    words, picture = _places(recipe, experiment.page)
    with words, lesson_layout.on("words") as beside:
        values, verdict = _question(recipe, experiment, guess)
        answers = _answers(experiment)
        if experiment.ghosts and guess.isdecimal() and experiment.usual(values):
            current_question().ghost = _ghost(experiment, int(guess))
        if not current_question().open:  # the step of a lesson may ask instead
            current_question().ask(answers if guess == ASK else None, experiment.posed)
        if beside or state.presenter():
            current_question().answers()
    player = _settings(recipe, experiment, values, variation.idle(recipe, experiment, values), words)
    with picture:
        result = _result(recipe, experiment, values, variation)
    ready = result is not None
    if experiment.plays:
        last = variation.last(result) if variation.last is not None and ready else None
        with player:
            play.show(experiment, play.frames(experiment, last), values[experiment.plays], ready=ready)
    shown_last = session_cache.cache("experiment_shown", 1)
    if ready:
        shown_last[experiment.key] = recipe, values, result
    else:
        result = variation.so_far(recipe, experiment, values)
        if result is None and experiment.key in shown_last:
            recipe, values, result = shown_last[experiment.key]
            style.add("dimmed")
    with picture:
        draw_all = variation.pictures or partial(draw, experiment)
        records = [] if result is None else draw_all(recipe, values, result)
        current_question().answers()  # if no picture has drawn them above itself
    if not ready:  # the parts below may compute something of their own
        return
    if verdict is not None:
        with verdict:
            turns = recipe.seed == Recipe().seed and experiment.usual(
                values
            )  # with other draws the answer may not change
            _judge(experiment, int(guess), records, turns)
    # The step hides the pictures below (asked.css): they need not be computed and drawn before the answer
    if not (beside and current_question().open) or lesson_layout.picture_waits():
        _draw_large(experiment, values, result)
        (variation.below or partial(_draw_further, experiment))(recipe, values)
    _tell(experiment, guess, records)
    asking.own_calibration()


def _places(recipe: Recipe, page: str) -> tuple[Any, Any]:
    """Choose the view; return the places of the words with the controls, and of the picture beside them.

    A step of a lesson, and the room, have their own columns.
    """
    with lesson_layout.words():
        choose_view(recipe, page)
    if lesson_layout.has("words") or state.presenter():
        words, picture = lesson_layout.words(), st.container(key="picture")
    else:
        words, beside = st.columns(BESIDE, gap="medium")
        picture = beside.container(key="picture")
    with words:
        choose_experiment(recipe, page)
    return words, picture


def _ghost(experiment: Experiment, guess: int) -> placed_guess.Ghost:
    """Return the guess as it stays in the picture."""
    question = Question("", experiment.answers, experiment.right, experiment.why, ghosts=experiment.ghosts)
    return placed_guess.Ghost(question, guess)


def guess_of(recipe: Recipe, experiment: Experiment) -> str:
    """Return the reader's guess; where lessons do not ask first, a question that is not answered is skipped."""
    guess = recipe.setting(f"{experiment.key}.guess")
    if guess == ASK:
        return ASK if state.guesses_first() else SKIP
    return guess


def _result(
    recipe: Recipe, experiment: Experiment, values: dict[str, Any], variation: PageVariation
) -> Any | None:
    """Return the numbers; None, below a progress bar, while they are computed."""
    if variation.compute is not None:
        return variation.compute(recipe, experiment, values)
    return simulated(experiment, experiment.numbers(values), recipe.seed, using=variation.using)


def draw(experiment: Experiment, recipe: Recipe, values: dict[str, Any], result: Any) -> list[Any]:
    """Draw the pictures of an experiment above its controls; return their records."""
    places: Sequence[Any] = [st.container()]
    if not experiment.large and experiment.more_figures:
        in_a_room = state.presenter()  # its pictures are beside the question, and two would be too small
        places = [*places, st.container()] if in_a_room else st.columns([0.6, 0.4], gap="medium")
    records = []
    for key, place in zip(experiment.figures, places, strict=False):
        with place:
            records.append(chart.show(key, result, first=not records, **experiment.view(values, key)))
    return records


def _draw_large(experiment: Experiment, values: dict[str, Any], result: Any) -> None:
    """Draw the other pictures below the controls if the first one takes the whole width."""
    if experiment.large:
        for key in experiment.more_figures:
            chart.show(key, result, **experiment.view(values, key))


def _draw_further(experiment: Experiment, recipe: Recipe, values: dict[str, Any]) -> None:
    """Draw the picture of each further simulation once its numbers are there."""
    for key in experiment.also:
        found = simulated(experiment, experiment.numbers(values, key), recipe.seed, key)
        if found is not None:
            chart.show(key, found, **experiment.view(values, key))


def simulated(
    experiment: Experiment,
    numbers: Mapping[str, Any],
    seed: int,
    simulation: str | None = None,
    using: Mapping[str, Callable[..., Any]] | None = None,
) -> Any | None:
    """Return the result of a simulation, computed once for all readers; None, below progress, while it runs."""
    call = partial(experiment.simulate, simulation, random_state=seed, using=using, **numbers)
    kind = f"learn_{simulation or experiment.key}"
    key = (seed, *numbers.items())
    return jobs.run_one(kind, "Computing", key, lambda watch: call(watch=watch), for_all=True)


def at_once(recipe: Recipe, experiment: Experiment, values: dict[str, Any]) -> Any:
    """Compute numbers that take milliseconds without a job, so that the parts below the pictures stay on the page."""
    return experiment.simulate(random_state=recipe.seed, **experiment.numbers(values))


def choose_view(recipe: Recipe, page: str) -> None:
    """Draw the choice among the views of a page."""
    name, views = f"{page}.experiment", views_of(page)
    view = next(view for view, keys in views.items() if recipe.setting(name) in keys)
    _choice(name, recipe, view, list(views), key=f"{page}_view", store=lambda view: views[view][0])


def choose_experiment(recipe: Recipe, page: str) -> None:
    """Draw the choice among the experiments that share the open view."""
    name = f"{page}.experiment"
    keys = next(keys for keys in views_of(page).values() if recipe.setting(name) in keys)
    if len(keys) > 1:
        names = {key: EXPERIMENTS[key].name if key in EXPERIMENTS else TRIANGLE_NAME for key in keys}
        _choice(name, recipe, recipe.setting(name), keys, format_func=names.get)


def _choice(name: str, recipe: Recipe, value: str, options: Sequence[str], **given: Any) -> None:
    listed = state.presenter() or "format_func" in given  # many pills would push the question down
    widget, look = (st.selectbox, {}) if listed else (st.pills, {"required": True})
    label = recipe.parameter(name).label
    state.control(widget, name, value, label, options, label_visibility="collapsed", **given, **look)


def views_of(page: str) -> dict[str, list[str]]:
    """Return the views of a page by name, each with the keys of its experiments."""
    views = {VIEW_NAMES[key]: [key] for key in OTHER_VIEWS.get(page, ())}
    for key, one in EXPERIMENTS.items():
        if one.page == page:
            views.setdefault(one.lab or one.name, []).append(key)
    return views


def _question(recipe: Recipe, experiment: Experiment, guess: str) -> tuple[dict[str, Any], Any]:
    """Draw the question, folded if it was answered; return the settings and the place of the verdict."""
    values = experiment.values(dict(recipe.settings))
    with st.container(key="prediction"):
        browser.read_out("prediction")
        if guess == ASK:
            (question,) = linked([plain(experiment.question)])
            st.markdown(f"**{question}**")
        verdict = None
        if guess.isdecimal():
            with st.container(horizontal=True, vertical_alignment="center", key="answered"):
                verdict = st.container()
                _folded_question(experiment)
        if guess != SKIP and not experiment.usual(values):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.caption("The question is about different settings.", width="content")
                st.button(
                    "Use its settings",
                    key="usual",
                    type="tertiary",
                    on_click=partial(_guess, experiment, guess, True),
                )
        after = st.session_state.get("pressed_away", 0)
        browser.keep_focus(
            "prediction",
            after,
            _next_stop(experiment, guess),
            still=guess == SKIP,
            seen=".st-key-lesson .st-key-prediction",
        )
    return values, verdict


def _next_stop(experiment: Experiment, guess: str) -> str:
    """Return the selector of the next keyboard focus after an answer, a repeated or a skipped question."""
    if guess == SKIP:
        return f".st-key-{experiment.key}_downloads button"
    return f".st-key-{'guess_1' if guess == ASK else 'answered_question'} button"


def _answers(experiment: Experiment) -> Callable[[], None]:
    """Return a function that draws the answers."""
    skip = partial(_guess, experiment, SKIP)
    return partial(
        asking.ask, experiment.key, "guess", experiment.answers, lambda i: _guess(experiment, str(i)), skip
    )


def _folded_question(experiment: Experiment) -> None:
    """Draw an answered question with the reason for each answer, and a button to ask it again."""
    with st.popover("The question", type="tertiary", key="answered_question"):
        st.markdown(f"**{plain(experiment.question)}**")
        for i, (answer, why) in enumerate(zip(experiment.answers, experiment.why, strict=False), start=1):
            st.markdown(f"{asking.sign(i == experiment.right)} {plain(answer)}: {plain(why)}")
        _ask_again(experiment)


def _ask_again(experiment: Experiment) -> None:
    ask = partial(_guess, experiment, ASK, usual=True)
    st.button("Ask me again", key="ask_again", type="tertiary", on_click=ask)


def _guess(experiment: Experiment, guess: str, usual: bool = False) -> None:
    """Record an answer; with ``usual``, also restore the settings that the question is about."""
    more = experiment.numbers(experiment.values({})) if usual else {}
    _press_away(**{f"{experiment.key}.{name}": value for name, value in ({"guess": guess} | more).items()})


def _press_away(**settings: Any) -> None:
    """Change settings by a button that disappears, so that the keyboard focus must move."""
    st.session_state["pressed_away"] = st.session_state.get("pressed_away", 0) + 1
    state.update(**settings)


def _settings(
    recipe: Recipe, experiment: Experiment, values: dict[str, Any], idle: tuple[str, ...], words: Any
) -> Any:
    """Draw the two main controls, and the others folded; return the place of the play button."""
    drawn = [
        parameter
        for parameter in experiment.parameters
        if not parameter.extra.get("drawn_by_page") and parameter.name not in idle
    ]
    seed = [partial(controls.seed, recipe, SAME_SEED)] if experiment.seeded else []
    if (
        lesson_layout.has("controls") and not state.presenter()
    ):  # a step has space for two, and the player already shows one of them
        first = [
            each
            for each in drawn[:SETTINGS_IN_SIGHT]
            if each.name != experiment.plays and each.kind != "points"
        ]
        in_sight = _fields(experiment, first, values)
        folded = [*_fields(experiment, [each for each in drawn if each not in first], values), *seed]
    else:
        fields = [*_fields(experiment, drawn, values), *seed]
        in_sight, folded = fields[:SETTINGS_IN_SIGHT], fields[SETTINGS_IN_SIGHT:]
    with words, lesson_layout.on("player"):
        player = st.container()
    with words, lesson_layout.on("controls"):
        for field in in_sight:
            field()
    with words, lesson_layout.on("more"):
        if folded:
            with st.expander("More settings", key=f"more_{experiment.key}"):
                for field in folded:
                    field()
    return player


def _fields(
    experiment: Experiment, parameters: Sequence[Parameter], values: Mapping[str, Any]
) -> list[Callable[[], Any]]:
    """Return functions that draw the controls of these settings."""
    return [
        partial(
            controls.parameter_control, each, f"{experiment.key}.{each.name}", values[each.name], plays=True
        )
        for each in parameters
    ]


def _judge(experiment: Experiment, guess: int, records: Sequence[Any], turns: bool) -> None:
    """Draw the verdict on the answer, and the setting that changes the answer if it ``turns``."""
    drawn = [record for record in records if record is not None]
    answer = next((record.answer for record in drawn if record.answer is not None), None)
    unasked = next((record.unasked for record in drawn if record.unasked), "")
    _verdict(experiment, guess, answer, unasked)
    if answer == experiment.right and turns:
        _turn(experiment)


def _verdict(experiment: Experiment, guess: int, answer: int | None, unasked: str) -> None:
    """Compare the reader's prediction with the result."""
    guessed = f"You said: {plain(experiment.answers[guess - 1])}."
    if answer is None:
        st.info(f"{guessed} {unasked or 'With these settings, no answer is clearly right.'}")
        return
    why = [plain(text) for text in experiment.why] or [""] * len(experiment.answers)
    usual = answer == experiment.right
    reason = (
        why[answer - 1] if usual else "This is the result with these settings." if experiment.right else ""
    )
    if answer == guess:
        text = f"{guessed} {reason}"
    else:
        mistaken = (
            why[guess - 1] if guess != experiment.right else "This is the result with the default settings."
        )
        text = f"{guessed} {mistaken} The answer is: {plain(experiment.answers[answer - 1])}. {reason}"
    asking.feedback(experiment.key, text.strip(), answer == guess)


def _turn(experiment: Experiment) -> None:
    """Draw a button for the setting that changes the answer, if there is one."""
    if not experiment.turn:
        return
    (name, value), *_ = experiment.turn.items()
    parameter = next(p for p in experiment.parameters if p.name == name)
    change = partial(_press_away, **{f"{experiment.key}.{name}": value})
    label = parameter.extra.get("short", parameter.label)
    st.button(
        f"Set {label} to {parameter.in_words(value)} to change the answer",
        key="turn",
        on_click=change,
    )


def _terms(experiment: Experiment, records: Sequence[Any]) -> str:
    """Return links to the glossary for the terms in the pictures."""
    texts = [
        plain(text) for record in records if record is not None for text in (record.title, record.caption)
    ]
    named = {GLOSSARY[key].name for key in experiment.terms}
    return ", ".join(filter(None, (links(experiment.terms), links_in(texts, named))))


def _tell(experiment: Experiment, guess: str, records: Sequence[Any]) -> None:
    """Draw what to notice, folded until the question is answered, the terms, the formulas and the source."""
    left, right = st.columns([0.55, 0.45], gap="large")
    with left, st.expander("What to notice", expanded=not current_question().open):
        sentences = [f"- {sentence}" for sentence in linked(plain(each) for each in experiment.notice)]
        for sentence in sentences[:AT_FIRST]:
            st.markdown(sentence)
        if sentences[AT_FIRST:]:
            with st.expander("More"):
                for sentence in sentences[AT_FIRST:]:
                    st.markdown(sentence)
    with right:
        if terms := _terms(experiment, records):
            with st.expander("Terms in the pictures"):
                st.markdown(terms)
        with st.expander("Formulas and source"):
            for formula in experiment.formulas:
                st.latex(formula)
            st.caption(plain(experiment.source))
        with st.container(horizontal=True):
            if guess == SKIP:
                _ask_again(experiment)
            live_quiz.offer(experiment)

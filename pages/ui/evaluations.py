"""Datasets, fits and Evaluations for the pages, cached by digest. Nothing here depends on the view.

``evaluations_of`` is the only way to an Evaluation; the functions below it define what a page does while there is
none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NoReturn

import streamlit as st

from calib import sources
from calib.data import ReadingQuestion, Table, evaluate_or_train
from calib.data.confined import apart
from calib.evaluate import (
    FEWEST_ESTIMATED,
    Evaluation,
    Fitted,
    announcement,
    calibrate,
    expected_cost,
    expected_seconds,
    fit,
    fits_every_row,
)
from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.kernel.records import Dataset
from calib.kernel.wording import class_named
from calib.models import MODELS
from calib.placements import PLACEMENTS
from calib.recipe import Recipe
from pages.ui import bagging, jobs, lesson_layout, reading_question, session_cache, state, style
from pages.ui.text import plain
from pages.ui.waiting import in_background

KEPT_TABLES, KEPT_FITS, KEPT_EVALUATIONS = 6, 6, 24
SAMPLE_JOB = "sample"  # kind of the jobs that draw one
NOT_DRAWN = "The sample has not been drawn yet."
MOST_BUTTONS = 12  # classes offered as buttons, else in a list
LONG_NAME = 24  # letters of a class; longer ones are in a list instead of buttons
AT_ONCE_ROWS = 300_000  # rows that are calibrated and evaluated without a progress bar


def load(recipe: Recipe) -> Dataset:
    """Return the Recipe's Dataset from the cache; raise InputError if there is none, or if a question is open."""
    if (question := _evaluate_or_train(recipe)) is not None:
        raise question
    return of_data("datasets", KEPT_TABLES, recipe, lambda: _read(recipe))


def _evaluate_or_train(recipe: Recipe) -> ReadingQuestion | None:
    """Return the question what the scores of an uploaded table are for, until a reader has chosen."""
    uploaded = sources.file_key(recipe.data) in state.uploads()
    if not uploaded or recipe.content != "features" or state.content_is_chosen(recipe.data):
        return None
    frame, target, _ = table(recipe)
    if target not in frame:
        return None
    kept = frame.drop(columns=list(recipe.exclude), errors="ignore")
    return of_data("uses", KEPT_TABLES, recipe, lambda: evaluate_or_train(kept, target))


def _read(recipe: Recipe) -> Dataset:
    if recipe.data.startswith("synthetic:"):
        return sources.load(recipe)
    made = table(recipe)
    with lesson_layout.reading():
        return in_background(f"Reading {state.data_name(recipe)}", partial(sources.dataset, recipe, made))


def joint(recipe: Recipe) -> bool:
    """Tell whether the Recipe's data have three or more classes that are predicted together."""
    try:
        return load(recipe).joint
    except InputError:
        return False  # the page itself says why


def class_names(recipe: Recipe) -> tuple[str, ...]:
    """Return the classes that the Recipe's data offer together, also if one is chosen against the rest."""
    try:
        data = load(recipe)
        known = data.joint or recipe.positive is None or recipe.data.startswith("synthetic:")
        return data.names if known else classes_together(recipe)
    except InputError:
        return ()


def classes_together(recipe: Recipe) -> tuple[str, ...]:
    """Return the classes of the Recipe's table from the cache, also if no Dataset can be made of the table."""
    try:
        return of_data(
            "classes", KEPT_TABLES, recipe, lambda: sources.classes_together(recipe, table(recipe))
        )
    except InputError:
        return ()  # the page itself says why


def table(recipe: Recipe) -> Table:
    """Return the table of the Recipe's file from the cache; raise InputError if there is none, or no sample yet."""
    if _waits_for_a_sample(recipe):
        raise InputError(NOT_DRAWN)
    return of_data("tables", KEPT_TABLES, recipe, lambda: sources.load_table(recipe, state.frames()))


def first_rows(recipe: Recipe) -> Table:
    """Return the table of the Recipe's file, or the first rows of one whose sample is not drawn yet."""
    return sources.first_rows(recipe, state.frames()) if _waits_for_a_sample(recipe) else table(recipe)


def _waits_for_a_sample(recipe: Recipe) -> bool:
    return (
        sources.is_sampled(recipe, opened(recipe))
        and sources.file_key(recipe.data) in state.uploaded_files()
        and data_key(recipe) not in session_cache.cache("tables", KEPT_TABLES)
    )


def draw_sample(recipe: Recipe) -> None:
    """Draw the sample of a large table in the background, with progress and Cancel; end the page while there is none.

    A sample that is no longer requested is cancelled.
    """
    waits, key = _waits_for_a_sample(recipe), data_key(recipe)
    frames = state.frames()
    call = {key: lambda watch: jobs.or_why(sources.load_table, recipe, frames, watch)} if waits else {}
    found = jobs.run(SAMPLE_JOB, "Drawing the sample", call)
    if found is None:
        st.stop()
    for made in found:
        if isinstance(made, InputError):
            st.error(plain(made))
            st.button("Try again", key="try_again_sample", on_click=partial(jobs.forget, SAMPLE_JOB, [key]))
            _end_with_data(recipe)
        session_cache.cache("tables", KEPT_TABLES)[key] = made
        jobs.forget(SAMPLE_JOB, [key])


def data_key(recipe: Recipe) -> tuple[str, int | None]:
    """Return the cache key of the Recipe's data, known before they are read; the gap of a split in time is left
    out.
    """
    made = recipe.replace(data_params=[pair for pair in recipe.data_params if pair[0] != "gap"])
    drawn = recipe.data.startswith("synthetic:") or sources.is_sampled(recipe, opened(recipe))
    return made.digest("data"), recipe.seed if drawn else None


def opened(recipe: Recipe) -> sources.Upload | None:
    """Return the file of the Recipe's data if this session has it, or None."""
    return state.frames().get(str(sources.file_key(recipe.data)))


def of_data(name: str, most: int, recipe: Recipe, make: Callable[[], Any]) -> Any:
    """Return ``make()`` of the Recipe's data from the cache; with an ONNX model, cache a refusal too, as slow a
    result.

    Other refusals are found at once, or may be over in the next run, such as those of OpenML.
    """
    key = data_key(recipe)
    if recipe.onnx is None or recipe.data.startswith("openml:"):
        return jobs.cached(name, most, key, make)
    key = (*key, *sources.missing_files(recipe, state.uploaded_files()))
    found = jobs.cached(name, most, key, partial(jobs.or_why, make))
    if isinstance(found, InputError):
        raise found.with_traceback(None)
    return found


def dataset(recipe: Recipe) -> Dataset:
    """Return the Recipe's Dataset, or end the page with the problem and the remedy."""
    draw_sample(recipe)
    try:
        return load(recipe)
    except ReadingQuestion as question:
        reading_question.ask(question)
        _end_with_data(recipe)
    except InputError as error:
        st.error(plain(error))
        _end_with_data(recipe)


def _end_with_data(recipe: Recipe) -> NoReturn:
    st.page_link("pages/explore_data.py", label="Go to Data", query_params=recipe.to_query())
    st.stop()


def needs_features(recipe: Recipe, why: str) -> None:
    """End the page for predictions made elsewhere, with the reason."""
    if recipe.content == "predictions":
        st.info(why)
        _end_with_data(recipe)


def needs_rows(recipe: Recipe, why: str) -> None:
    """If rows are only counted by score and label, the page ends here, with what cannot be shown and ``why``."""
    if dataset(recipe).rest is not None:
        st.info(
            f"{why} The model was trained on a sample; of all other rows, only the number of rows per score "
            f"and label is known."
        )
        _end_with_data(recipe)


def shows_all_classes(recipe: Recipe) -> bool:
    """Tell whether three or more classes are predicted together and none of them is chosen."""
    return recipe.view_class is None and joint(recipe)


def _class_choice(chosen: str | None, names: Sequence[str]) -> None:
    """Draw the choice of the class against the rest."""
    label = state.recipe().label("view_class")
    how = {"key": "class_here", "format_func": class_named, "placeholder": "Choose a class", "width": 240}
    state.control(st.selectbox, "view_class", chosen, label, names, **how)


def of_one_class(recipe: Recipe, why: str) -> Recipe:
    """Return the Recipe of one class against the rest, for a page that cannot show all classes together.

    With K classes, the class shown is taken. If no class is shown, the page ends here with the reason and a choice.
    """
    if not joint(recipe):
        return recipe
    names = class_names(recipe)
    if recipe.view_class is not None:
        st.caption(
            f"{plain(why)} This model predicts {plain(class_named(recipe.view_class))} against the rest."
        )
        _class_choice(recipe.view_class, names)
        share = dict(recipe.base_rates).get(recipe.view_class)
        return recipe.replace(
            **sources.with_positive(recipe.view_class) | {"base_rate": share}, view_class=None
        )
    st.info(plain(f"{why} Choose a class:"))
    if len(names) > MOST_BUTTONS or any(len(name) > LONG_NAME for name in names):
        _class_choice(None, names)
        st.stop()
    with st.container(horizontal=True):
        for name in names:
            st.button(plain(name), key=f"one_{name}", on_click=state.update, kwargs={"view_class": name})
    st.stop()


def evaluations_of(
    recipes: Mapping[str, Recipe], kind: str = jobs.PAGE_JOB, what: str = "Fitting the models"
) -> dict[str, Evaluation | InputError] | None:
    """Return for each name the Evaluation of its Recipe, or why there is none; None, with progress, meanwhile.

    Other pages reuse the fits of one page. ``kind`` and ``what`` are those of ``jobs.run``: within one kind, work
    that is not requested any more is cancelled.
    """
    data: dict[str, Any] = {name: jobs.or_why(_answerable, recipe) for name, recipe in recipes.items()}
    there = {
        name: (recipe, data[name]) for name, recipe in recipes.items() if isinstance(data[name], Dataset)
    }
    for_all = not any(map(sources.has_upload, recipes.values()))
    fits = _kept(
        session_cache.cache("fits", max(KEPT_FITS, 2 * len(recipes))),
        {_fit_key(*one): partial(jobs.or_why, _fit, *one) for one in there.values()},
        (kind, what),
        for_all,
    )
    if fits is None:
        return None
    data |= {name: fits[_fit_key(*one)] for name, one in there.items()}
    fitted = {name: (recipes[name], data[name]) for name in there if isinstance(data[name], Fitted)}
    results = _calibrated(fitted, kind, for_all)
    if results is None:
        return None
    data |= results
    return {
        name: found.with_view(recipes[name]) if isinstance(found, Evaluation) else found
        for name, found in data.items()
    }


def _fit(recipe: Recipe, data: Dataset, watch: Watch) -> Fitted:
    """Fit in a process of its own, so that no page waits; here if it reads a file, asks a process of its own, or is
    a plug-in's, whose classes no process sends."""
    here = data.rest is not None or recipe.onnx is not None or recipe.content == "predictions"
    if here or recipe.model not in MODELS.shipped:
        return fit(recipe, data, watch)
    return apart.call(fit, recipe, data, watch=watch)


def _answerable(recipe: Recipe) -> Dataset:
    why = bagging.why_not(recipe)
    if why is not None:
        raise InputError(why)
    return load(recipe)


def _calibrated(
    fitted: Mapping[str, tuple[Recipe, Fitted]], kind: str, for_all: bool
) -> dict[str, Evaluation | InputError] | None:
    """Return the Evaluations of these fits; calibrate very many rows in the background, with progress and Cancel."""
    results = session_cache.cache("results", max(KEPT_EVALUATIONS, 2 * len(fitted)))
    slow = {
        _key(*one): lambda watch, one=one: jobs.or_why(calibrate, *one, watch)
        for one in fitted.values()
        if _many_rows(one[1])
    }
    if _kept(results, slow, (f"calibrations_{kind}", "Fitting the calibrators"), for_all) is None:
        return None
    for one in fitted.values():
        if _key(*one) not in results:
            results[_key(*one)] = jobs.or_why(calibrate, *one)
    return {name: results[_key(*one)] for name, one in fitted.items()}


def _kept(
    results: Any, calls: Mapping[Any, Callable[[Watch], Any]], work: tuple[str, str], for_all: bool
) -> dict[Any, Any] | None:
    """Return what the calls return, by key, and keep it in ``results``; None, with progress, while one runs."""
    missing = {key: call for key, call in calls.items() if key not in results}
    # Also if nothing is missing: it cancels what is not requested any more
    done = jobs.run(*work, missing, for_all=for_all)
    if done is None:
        return None
    for key, made in zip(missing, done, strict=True):
        results[key] = made
    jobs.forget(work[0], list(missing))
    return {key: results[key] for key in calls}


def _fit_key(recipe: Recipe, data: Dataset) -> tuple[str, str]:
    return data.digest, recipe.digest("fit")


def _key(recipe: Recipe, fitted: Fitted) -> tuple[str, str]:
    return fitted.dataset.digest, recipe.digest("calibrate")


def _many_rows(fitted: Fitted) -> bool:
    return sum(len(part.test) + len(part.placed.scores) for part in fitted.parts) > AT_ONCE_ROWS


def fit_of(evaluation: Evaluation) -> Fitted:
    """Return the fits that an Evaluation was calibrated from."""
    return session_cache.cache("fits", KEPT_FITS)[_fit_key(evaluation.recipe, evaluation.dataset)]


def is_fitted(recipe: Recipe) -> bool:
    return _fit_key(recipe, load(recipe)) in session_cache.cache("fits", KEPT_FITS)


def evaluation(recipe: Recipe) -> Evaluation:
    """Return the page's own Evaluation; while the model is being fitted, the last one of these data, in grey.

    If there is nothing to show, the page ends here with the reason.
    """
    dataset(recipe)  # or the page ends here
    why = bagging.why_not(recipe)
    if why is not None:
        bagging.offer(why)
    with jobs.place_of_progress():
        found = evaluations_of({"": recipe}, what="Fitting the model") if may_fit({"": recipe}) else None
        shown = or_previous("evaluation", found and or_stop(found[""]))
    if shown is None:
        st.stop()
    return shown.with_view(recipe)


def or_previous(name: str, found: Any | None) -> Any | None:
    """Return ``found``, or if it is None the last result of this name on the same data, with the page in grey.

    ``frame`` drops the results of the last data set.
    """
    results = st.session_state.setdefault("shown", {})
    if found is not None:
        results[name] = found
    elif name in results:
        style.add("outdated")
    return results.get(name)


def or_stop(found: Evaluation | InputError) -> Evaluation:
    """Return the Evaluation, or end the page with the reason why there is none."""
    if isinstance(found, InputError):
        st.error(plain(found))
        st.stop()
    return found


def may_fit(recipes: Mapping[str, Recipe], kind: str = jobs.PAGE_JOB) -> bool:
    """Tell whether the fits of ``evaluations_of`` may begin.

    If those of many rows and those with a refit per row take long together, they begin after a click.
    """
    data = [(recipe, jobs.or_why(_answerable, recipe)) for recipe in recipes.values()]
    there = [one for one in data if isinstance(one[1], Dataset)]
    asked = {_fit_key(*one): one for one in there if _may_be_long(*one) and not _is_begun(*one, kind)}
    if not asked:
        return True
    # Fits of earlier settings would slow down the estimate
    jobs.cancel_others(kind, [_fit_key(*one) for one in there])
    cost = _expected_cost(list(asked.values()))
    return cost is not None and jobs.may_begin(kind, tuple(asked), *cost, main=True)


def _expected_cost(asked: Sequence[tuple[Recipe, Dataset]]) -> tuple[str, str, float] | None:
    """Return what is fitted, its cost in words, and the expected seconds; None, with progress, while small fits run."""
    each_row = [recipe for recipe, _ in asked if fits_every_row(recipe)]
    many_rows = [(recipe, data) for recipe, data in asked if not fits_every_row(recipe)]
    seconds = expected(many_rows)
    refits = None if seconds is None else _expected_refits(each_row)
    if seconds is None or refits is None:
        return None
    rows = sum(data.n for _, data in many_rows)
    costs = [cost_of(rows, seconds, len(many_rows))] if many_rows else []
    costs += [jobs.price(*refits)] if each_row else []
    models = [MODELS[recipe.model].label for recipe, _ in many_rows]
    placements = [PLACEMENTS[recipe.placement].label for recipe in each_row]
    return ", ".join(dict.fromkeys(models + placements)), " ".join(costs), seconds + refits[1]


def cost_of(rows: int, seconds: float, fits: int = 1) -> str:
    """Return the cost of fits of many rows in words."""
    if fits > 1:
        return jobs.price(fits, seconds, f"on {rows:,} rows in total ")
    return announcement(rows, seconds)


def _may_be_long(recipe: Recipe, data: Dataset) -> bool:
    return recipe.content != "predictions" and (fits_every_row(recipe) or data.n >= FEWEST_ESTIMATED)


def _is_begun(recipe: Recipe, data: Dataset, kind: str) -> bool:
    return is_fitted(recipe) or jobs.started(kind, _fit_key(recipe, data))


def _expected_refits(recipes: Sequence[Recipe]) -> tuple[int, float] | None:
    """Return the number and the expected seconds of all model fits of these Recipes, which refit per row.

    Each is first fitted once; meanwhile this returns None, with progress.
    """
    once = {str(i): recipe.replace(placement="split") for i, recipe in enumerate(recipes)}
    found = evaluations_of(once, "once", "Fitting the model once")
    if found is None:
        return None
    costs = [
        expected_cost(one, recipe.placement)
        for one, recipe in zip(found.values(), recipes, strict=True)
        if isinstance(one, Evaluation)  # the fit itself explains why it is refused
    ]
    return sum(fits for fits, _ in costs), sum((seconds for _, seconds in costs), start=0.0)


def expected(asked: Sequence[tuple[Recipe, Dataset]]) -> float | None:
    """Return the expected seconds of these fits of many rows together; None, with progress, while small fits run."""
    short = jobs.UNASKED / 2 / max(len(asked), 1)
    calls = {
        _fit_key(*one): lambda watch, one=one: expected_seconds(*one, watch, short=short) for one in asked
    }
    found = jobs.run("estimate", "Estimating how long the fit takes", calls)
    return None if found is None else sum(found)


def optional_evaluation(
    recipe: Recipe, kind: str, what: str, cost: str = "", seconds: float = 0.0
) -> Evaluation | None:
    """Return an Evaluation that the page can do without, or None while it is missing, for whatever reason.

    It is fitted at once if few ``seconds`` are expected, else after a click on a button beside ``cost``, a sentence.
    ``what`` names it; only one of a ``kind`` is fitted at a time.
    """
    key = _fit_key(recipe, dataset(recipe))
    if not is_fitted(recipe) and not jobs.may_begin(kind, key, what, cost, seconds):
        return None
    found = evaluations_of({what: recipe}, kind, f"Fitting {what}")
    if found is None:
        return None
    if isinstance(found[what], InputError):
        st.info(f"**{plain(what)}** is not shown: {plain(found[what])}")
        return None
    return found[what]

"""Parts of the Reliability page: the diagram, the advice beside it, and one kind of detail at a time below."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from calib.analysis.decision import small_median
from calib.analysis.differences import (
    DIFFERENCE_METRICS,
    Differences,
    OtherSplits,
    answer,
    differences,
    reference_of,
    repeat_splits,
)
from calib.analysis.optimism import INNER, Validation, validate_recipe
from calib.analysis.recommendation.advice import Recommendation, over_splits, recommend, recommend_in_steps
from calib.analysis.recommendation.verdict import MISCALIBRATED, Verdict, chance_sentence, verdict_of
from calib.analysis.selection import read_ranges, selected_frame, selected_rows, write_ranges
from calib.analysis.split_optimism import random_recipe, split_optimism
from calib.analysis.validation import rows_needed as rows_needed_by
from calib.calibrators import label_of, name_of
from calib.evaluate import Evaluation
from calib.export.charts import in_report
from calib.figures import (
    FIGURES,
    formatted_differences,
    formatted_sample_size,
    formatted_side_by_side,
    formatted_validation,
)
from calib.figures.base import split_caption
from calib.figures.reliability import has_thin_bins
from calib.kernel.cache import is_known
from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.kernel.wording import class_named, counted, duration, percent
from calib.metrics import METRICS
from calib.metrics.confidence_intervals import why_missing
from calib.models import MODELS
from calib.recipe import Recipe, with_model
from calib.settings import DETAILS
from calib.sources import has_upload
from calib.splits import SPLITS
from pages.ui import (
    chart,
    controls,
    downloads,
    evaluations,
    headings,
    jobs,
    lesson_layout,
    moving_diagram,
    state,
    tables,
)
from pages.ui.explore import base_rate
from pages.ui.posed_question import current_question
from pages.ui.tables import grid
from pages.ui.text import plain
from pages.ui.waiting import in_background
from pages.ui.widget import show_widget

GROUPS_VIEW = "groups"  # in links; groups have a page of their own
# Of ``validate`` beside the resamples: one of all rows, ten folds five times, 50 single splits
OTHER_FITS = 101
AT_ONCE_VALUES = 300_000  # predictions that are compared without a progress bar, in a third of a second
KEPT_DIFFERENCES = 12  # of their intervals, in a session
KEPT_RUNS = 4  # models whose finished fits a session keeps
PLUS_632 = "The .632+ estimate is available only for the Brier score and the AUC."
LISTED_ROWS = 500  # selected rows on the page; the download contains all
PICK = (
    "Click or tap a mark to list its rows below. "
    "On a wide screen, the chart’s Box Select tool selects several marks."
)


# Figures of further metrics, drawn below the table if the metric is chosen
GRAPHS = ("smooth_calibration", "cumulative")


def to_groups(recipe: Recipe) -> None:
    """Redirect links to this page's former subgroups to the Groups page."""
    if recipe.setting("reliability.details") == GROUPS_VIEW:
        there = recipe.replace(**{"reliability.details": "metrics", "groups.view": "column"})
        st.switch_page("pages/explore_groups.py", query_params=state.address(there, state.lesson_open()))


def compare(evaluation: Evaluation) -> None:
    """Find the recommended calibrator, which colours the picture, with progress on very many rows."""
    if evaluation.tested > evaluations.AT_ONCE_ROWS and not is_known(evaluation, "recommend"):
        what = f"Comparing the calibrators on {counted(evaluation.tested, 'test row')}"
        in_background(what, partial(recommend_in_steps, evaluation))


def diagram(evaluation: Evaluation, sentence: Any) -> None:
    """Draw one diagram, or one per calibrator; a click on a mark picks its rows."""
    picks = chart.Picks(pick_rows, _version(evaluation.recipe))
    if evaluation.recipe.setting("reliability.layout") == "side":
        tables.side_by_side(evaluation, picks=picks)
        st.caption(PICK)
    else:
        view = evaluation.recipe.stated_settings("reliability", "selection", "axes", "faint")
        if lesson_layout.has("reliability"):  # lessons do not explain the numbers of clinical papers
            view["corner"] = False
        lines = evaluation.recipe.setting("reliability.lines")
        # The verdict is about the model, which is grey if a reader asks for other lines
        of_the_model = not lines or reference_of(list(evaluation.predictions)) in lines
        finding = verdict_of(evaluation).headline if of_the_model else None
        current_question().moving = partial(moving_diagram.in_step, evaluation)
        words: dict[str, Any] = {"sentence": sentence, "finding": finding, "hint": PICK}
        chart.show("reliability", evaluation, picks=picks, **words, **view)
    if evaluation.recipe.curve != "corp" and has_thin_bins(evaluation):
        tables.toggle("reliability.faint", evaluation.recipe)
    zoomed(evaluation)


def zoomed(evaluation: Evaluation) -> None:
    """Say why the axes are in log-odds although nobody chose them, with a button back."""
    if (
        evaluation.recipe.setting("reliability.axes") != "auto"
        or (middle := small_median(evaluation)) is None
    ):
        return
    with st.container(horizontal=True, vertical_alignment="center", key="zoomed"):
        st.caption(
            f"Log-odds axes: half of the predictions are at most {percent(middle)}.",
            width="content",
        )
        back = {"reliability.axes": "probability"}
        st.button("Show 0 to 1", key="whole_axes", type="tertiary", on_click=state.update, kwargs=back)


def pick_rows(marks: list) -> None:
    """Select the rows of some marks of the diagram and list them below."""
    selection = write_ranges((key, low, high) for key, low, high, *_ in marks)
    st.session_state["picked_on_chart"] = selection
    state.update(**{"reliability.selection": selection, "reliability.details": "rows"})


def _version(recipe: Recipe) -> int:
    """Return a new number if the selection was changed elsewhere, so that the chart forgets its picked marks."""
    selection = recipe.setting("reliability.selection")
    if st.session_state.setdefault("picked_on_chart", selection) != selection:
        st.session_state["picked_on_chart"] = selection
        st.session_state["chart_version"] = st.session_state.get("chart_version", 0) + 1
    return st.session_state.get("chart_version", 0)


def recommended(evaluation: Evaluation) -> None:
    """Say in one sentence which calibrator to use, with one reason."""
    found = recommend(evaluation)
    headings.heading(found.answer.removesuffix("."))
    st.markdown(plain(_in_short(found)))


def _in_short(found: Recommendation) -> str:
    """Return the first sentence of the reason, without numbers after a colon; *Details* has all of it."""
    first = split_caption(" ".join(found.reasons[:1]))[0].strip()
    return f"{first.partition(': ')[0].removesuffix('.')}." if first else ""


def apart(evaluation: Evaluation) -> None:
    """Draw the finding on the other rows, if a label had the predicted probability 0."""
    for sentence in _apart(verdict_of(evaluation)):
        st.markdown(plain(sentence))


def _apart(found: Verdict) -> tuple[str, ...]:
    return tuple(sentence for sentence in found.sentences[1:2] if sentence.startswith("Apart from"))


def reasons(evaluation: Evaluation) -> None:
    """Draw the reasons of the verdict, the other comparisons and the warnings, folded."""
    found = recommend(evaluation)
    with headings.details():
        _verdict(evaluation)
        for reason in found.reasons[int(_in_short(found) == "".join(found.reasons[:1])) :]:
            st.markdown(plain(reason))
        for warning in found.warnings:
            st.caption(plain(warning))


def _verdict(evaluation: Evaluation) -> None:
    """Draw the ECE beside its chance level, which justifies the verdict in the page's finding."""
    found = verdict_of(evaluation)
    chance = () if found.finding == MISCALIBRATED else (chance_sentence(evaluation),)
    for sentence in (*chance, *found.sentences[1 + len(_apart(found)) :]):
        st.markdown(plain(sentence))


def claim(evaluation: Evaluation) -> None:
    """Compare with a random split, which needs a second fit, after a click."""
    recipe = evaluation.recipe
    if recipe.split == "random" or not evaluation.predictions:
        return
    at_random = random_recipe(recipe)
    key, cost = (
        (evaluation.dataset.digest, at_random.digest("fit")),
        f"about {duration(evaluation.seconds)}.",
    )
    what = "Comparing with a random split"
    if not evaluations.is_fitted(at_random) and not jobs.may_begin("claim", key, what, cost, float("inf")):
        return
    other = evaluations.optional_evaluation(at_random, "random_split", "the random split")
    if other is None:
        return
    found = split_optimism(evaluation, other)
    choice = recommend(evaluation).choice
    st.markdown(
        plain(found.sentence(choice if choice in other.predictions else next(iter(evaluation.predictions))))
    )
    with st.expander("Results of a random split"):
        grid(found.formatted(), hide_index=True, alt="Losses of the two splits")
        downloads.table("Optimism (CSV)", lambda: found.table, "optimism.csv")


def to_report() -> None:
    """Draw the link to the validation report."""
    script = "pages/explore_compare.py"
    st.page_link(script, label="Write a validation report", query_params=state.here())


def intervals(evaluation: Evaluation) -> Differences | None:
    """Return every difference with its interval, or None meanwhile; new bins recompute only the binned metrics."""
    if len(evaluation.predictions) < 2:
        return None
    recipe = evaluation.recipe
    key = (evaluation.dataset.digest, recipe.digest("calibrate"))
    binned = [metric for metric in DIFFERENCE_METRICS if METRICS[metric].binned]
    others = [metric for metric in DIFFERENCE_METRICS if metric not in binned]
    calls = {
        key: lambda watch: differences(evaluation, others, watch=watch),
        (*key, recipe.bins, recipe.binning): lambda watch: differences(evaluation, binned, watch=watch),
    }
    for_all = not has_upload(recipe)
    if evaluation.cluster is None and len(evaluation.predictions) * evaluation.tested <= AT_ONCE_VALUES:
        one, other = (
            jobs.cached("differences", KEPT_DIFFERENCES, key, partial(call, Watch()))
            for key, call in calls.items()
        )
        return one.joined(other)
    found = jobs.run("differences", "Intervals of the differences", calls, for_all=for_all)
    return found and found[0].joined(found[1])


def details(evaluation: Evaluation, found: Differences | None) -> None:
    """Draw one kind of detail at a time, and compute only this one."""
    sections = {
        "metrics": partial(metrics, found=found),
        "rows": rows,
        "models": models,
        "variability": partial(variability, found=found),
        "sample_size": rows_needed,
        "base_rate": base_rate.show,
        "optimism": of_optimism,
    }
    recipe = evaluation.recipe
    offered = [name for name in DETAILS if name != GROUPS_VIEW]
    controls.choice(
        "reliability.details", recipe, offered=offered, label_visibility="collapsed", width="stretch"
    )
    sections[recipe.setting("reliability.details")](evaluation)


def metrics(evaluation: Evaluation, found: Differences | None) -> None:
    tables.metrics(evaluation)
    if found is not None:
        st.markdown(f"**Difference from {name_of(found.reference)}**, with its 95 % interval")
        grid(
            formatted_differences(found),
            key="differences",
            alt="Differences and intervals",
        )
        chart.caption(
            f"● marks a clear difference on {found.basis} with the same model: the 95 % interval excludes 0. "
            "Intervals of the ECE are wide, because they are valid whatever the true gaps of the bins are. "
            f"{why_missing(evaluation.sample)}",
            "differences",
        )
        downloads.table("Differences (CSV)", lambda: found.table, "differences.csv")
    for figure in GRAPHS:
        if in_report(FIGURES[figure], evaluation):
            chart.show(figure, evaluation)


def rows(evaluation: Evaluation) -> None:
    """Draw the rows picked on the diagram or by a range, with their features."""
    headings.heading("Rows selected in the diagram")
    _range(evaluation)
    selection = evaluation.recipe.setting("reliability.selection")
    positions = selected_rows(evaluation, selection)
    if not positions.size:
        st.info("Click or tap a mark in the diagram, or choose a range above.")
        return
    st.markdown(plain(_summary(evaluation, positions)))
    shown = selected_frame(evaluation, selection, LISTED_ROWS)
    decimals = {
        key: st.column_config.NumberColumn(label_of(key), format="%.3g") for key in evaluation.predictions
    }
    grid(shown, hide_index=True, column_config=decimals, key="picked_rows", alt="Selected rows")
    if len(positions) > LISTED_ROWS:
        st.caption(f"The first {LISTED_ROWS:,} of {len(positions):,} rows; the download contains all rows.")
    with st.container(horizontal=True):
        downloads.table("Rows (CSV)", lambda: selected_frame(evaluation, selection), "rows.csv")
        st.button("Clear", key="clear_rows", on_click=lambda: state.update(**{"reliability.selection": ()}))


def _range(evaluation: Evaluation) -> None:
    """Draw the choice of rows without a pointer: a calibrator and a range of its predictions."""
    ranges = read_ranges(evaluation.recipe.setting("reliability.selection"))
    known = [item for item in ranges if item[0] in evaluation.predictions]
    key, low, high = known[0] if known else (next(iter(evaluation.predictions)), 0.0, 1.0)

    low_shown, high_shown = round(low, 2), round(high, 2)

    def moved(ends: tuple[float, float]) -> None:
        """Change the moved end; the other end keeps its exact value."""
        start, stop = ends
        if start < stop:
            exact = low if start == low_shown else start, high if stop == high_shown else stop
            state.update(**{"reliability.selection": write_ranges([(key, *exact)])})

    def turned(to: str) -> None:
        state.update(**{"reliability.selection": write_ranges([(to, low, high)])})

    left, right = st.columns([0.35, 0.65], gap="medium")
    with left:
        keys = list(evaluation.predictions)
        show_widget(st.selectbox, "picked_key", key, turned, "Predictions of", keys, format_func=label_of)
    with right:
        ends, scale = (low_shown, high_shown), {"min_value": 0.0, "max_value": 1.0, "step": 0.01}
        show_widget(st.slider, "picked_range", ends, moved, "from … up to", **scale)


def _summary(evaluation: Evaluation, positions) -> str:
    picked = evaluation.at(positions)
    ranges = ", ".join(
        f"{label_of(key)} from {low:.3g} to {high:.3g}"
        for key, low, high in read_ranges(evaluation.recipe.setting("reliability.selection"))
    )
    means = ", ".join(f"{label_of(key)} {percent(p.mean(p.p))}" for key, p in picked.predictions.items())
    return (
        f"{ranges}: {counted(picked.size, 'row')}, {round(picked.share * picked.size):,} of them in "
        f"{class_named(evaluation.dataset.classes[1])} ({percent(picked.share)}). "
        f"Predicted on average: {means}."
    )


def models(evaluation: Evaluation) -> None:
    """Draw other models, or other score columns, on the same rows in the same view."""
    recipe = evaluation.recipe
    given = recipe.content == "predictions"
    options = evaluation.dataset.scores if given else [key for key in MODELS if key != "given"]
    first = (recipe.score or options[0]) if given else recipe.model
    named = str if given else lambda key: MODELS[key].label
    options.remove(first)
    chosen = [key for key in recipe.setting("reliability.others") if key in options]
    state.control(
        st.multiselect,
        "reliability.others",
        chosen,
        "Compare this score column with"
        if given
        else "Compare this model with other models at default settings",
        options,
        format_func=named,
        placeholder="Choose score columns" if given else "Choose models",
        help=recipe.parameter("reliability.others").help,
    )
    found = {named(first): evaluation}
    for key in chosen:
        other = recipe.replace(**({"score": key} if given else with_model(recipe, key)))
        result = evaluations.optional_evaluation(other, f"beside_{key}", named(key))
        if result is not None and result.predictions:
            found[named(key)] = result
            for why in result.refused.values():
                st.caption(plain(f"{named(key)}: {why}"))
    if len(found) > 1:
        if answer(found):
            st.markdown(f"**{plain(answer(found))}**")
        tables.diagrams(
            found, picked=evaluation.rows[selected_rows(evaluation, recipe.setting("reliability.selection"))]
        )
        side = formatted_side_by_side(found, tables.MAIN)
        grid(side, hide_index=True, key="models_table", alt="Metrics of all models")
        st.caption(
            "★ marks the best value in each column over all models and calibrators, on the same test rows."
        )
        downloads.table("All metrics (CSV)", lambda: side, "models.csv")


def rows_needed(evaluation: Evaluation) -> None:
    """Draw how many rows a validation of these predictions needs, and the precision of these test rows."""
    try:
        key, found = rows_needed_by(evaluation)
    except InputError as error:
        st.info(plain(error))
        return
    headings.heading("How many rows do I need?")
    st.markdown(f"**{found.finding}**")
    grid(
        formatted_sample_size(found),
        hide_index=True,
        key="sample_size",
        alt="Number of rows needed for each measure",
    )
    st.caption(plain(found.basis(label_of(key), evaluation.dataset.classes[1])))
    downloads.table("Rows needed (CSV)", found.to_frame, "rows_needed.csv")


def variability(evaluation: Evaluation, found: Differences | None) -> None:
    """Draw the variation of the differences over test rows and over whole splits."""
    if len(evaluation.predictions) < 2:
        st.info("Choose a second calibrator to compare with the first.")
        return
    recipe = evaluation.recipe
    if not SPLITS[recipe.split].seeded:
        _over_rows(found)
        st.caption("Only one split of this kind is possible, so the split cannot be repeated.")
        return
    repeats = recipe.setting("reliability.repeats")
    controls.parameter_control(recipe.parameter("reliability.repeats"), "reliability.repeats", repeats)
    left, right = st.columns(2, gap="large")
    with left:
        _over_rows(found)
    with right:
        st.markdown("**A different split, with all steps refitted**")
        splits = _repeats(evaluation)
        if splits is not None:
            chart.show("differences", splits.differences(), key="differences_splits")
            st.markdown(plain(over_splits(recommend(evaluation).choice, splits)))


def known_optimism(evaluation: Evaluation) -> Validation | None:
    """Return the correction for optimism if this session has computed it."""
    found = jobs.result("optimism", _optimism_key(evaluation))
    return found if isinstance(found, Validation) else None


def _optimism_key(evaluation: Evaluation) -> tuple[Any, ...]:
    recipe, key = evaluation.recipe, _corrected(evaluation)
    resamples = recipe.setting("reliability.resamples")
    return evaluation.dataset.digest, recipe.digest("calibrate"), key, resamples


def _corrected(evaluation: Evaluation) -> str:
    return recommend(evaluation).choice or next(iter(evaluation.predictions))


def of_optimism(evaluation: Evaluation) -> None:
    """Draw the correction for optimism: every step is repeated in each resample."""
    recipe, key = evaluation.recipe, _corrected(evaluation)
    controls.parameter_control(
        recipe.parameter("reliability.resamples"),
        "reliability.resamples",
        recipe.setting("reliability.resamples"),
    )
    resamples = recipe.setting("reliability.resamples")
    known = _optimism_key(evaluation)
    fits = resamples * (1 + INNER) + OTHER_FITS
    seconds = evaluation.seconds / (recipe.folds if recipe.evaluation == "folds" else 1) * fits
    if not jobs.may_begin("optimism", known, "Validate", jobs.price(fits, seconds), seconds):
        return
    kept = jobs.cached("optimism_fits", KEPT_RUNS, known[:-1], dict)  # more resamples continue from them
    work = partial(validate_recipe, recipe, evaluation.dataset, key, resamples, resume=kept)
    what, for_all = "Correcting for optimism", not has_upload(recipe)
    found = jobs.run_one("optimism", what, known, partial(jobs.or_why, work), for_all, resumes=True)
    if isinstance(found, InputError):
        st.info(plain(found))
    elif found is not None:
        left, right = st.columns(2, gap="large")
        with left:
            chart.show("optimism", found)
        with right:
            st.markdown(plain(f"{label_of(key)}. {found.sentence}"))
            st.caption(PLUS_632)
            downloads.table("Optimism (CSV)", found.table, "optimism.csv", index=True)
        grid(formatted_validation(found), key="optimism_table", alt="Apparent and corrected measures")


def _over_rows(found: Differences | None) -> None:
    st.markdown("**The same model, with different test rows**")
    if found is not None:
        chart.show("differences", found, key="differences_rows")


def _repeats(evaluation: Evaluation) -> OtherSplits | None:
    """Return the repeated splits: at once if that is quick, else after a click."""
    recipe = evaluation.recipe
    repeats = recipe.setting("reliability.repeats")
    key = evaluation.dataset.digest, recipe.replace(evaluation="holdout").digest("calibrate"), repeats
    folds = recipe.folds if recipe.evaluation == "folds" else 1
    seconds = evaluation.seconds / folds * repeats
    if not jobs.may_begin("repeats", key, "Other splits", jobs.price(repeats, seconds), seconds):
        return None
    return jobs.run_one(
        "repeats",
        "Repeating the split",
        key,
        lambda watch: repeat_splits(recipe, evaluation.dataset, watch=watch, repeats=repeats),
        for_all=not has_upload(recipe),
    )

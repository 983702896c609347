"""Views of the Groups page: groups of one column, segments found by search, and the grouping loss."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import streamlit as st

from calib.analysis.audit.of_evaluation import (
    LOOK_LABELS,
    SEARCH,
    Audited,
    audited,
    audited_by_default,
    columns_of,
    has_weights,
    look_of,
    mean_ends,
    search_seconds,
    segment_numbers,
)
from calib.analysis.centres import Centres
from calib.analysis.grouping_losses import GroupingLosses, grouping_losses, partition_name
from calib.analysis.optimism import leave_out_recipe
from calib.analysis.subgroups import group_rows
from calib.analysis.validation import trained_here
from calib.calibrators import CALIBRATORS, label_of
from calib.evaluate import Evaluation
from calib.kernel.checks import InputError
from calib.kernel.declared import SETTINGS
from calib.kernel.segment import segment_in_words
from calib.kernel.wording import alike, counted, duration, number, percent
from calib.recipe import Recipe
from calib.sources import has_upload
from pages.ui import chart, controls, downloads, headings, jobs, state, tables
from pages.ui.explore.survival import choose_centres, draw_centres, of_centres, preferred_centres
from pages.ui.tables import grid
from pages.ui.text import plain

SEGMENT_HINT = "Click a segment to see only its rows on the other pages."
GROUP_DIAGRAMS = 6
LISTED_SEGMENTS = 200  # segments in the table below; the download has all
REPAIR = "multicalibration"
LEFT_OUT = (
    "Each centre is predicted by a model trained on all other centres (internal–external validation). This "
    "model does not use the centre column. The result shows what to expect in a new centre."
)


def whole(recipe: Recipe) -> Recipe:
    """Return the Recipe without a segment, because this page searches all rows."""
    return recipe.replace(segment=())


def view(evaluation: Evaluation, recipe: Recipe) -> None:
    """Draw the chosen view."""
    controls.choice("groups.view", recipe, label_visibility="collapsed")
    {"column": by_column, "search": by_search, "loss": loss, "centres": by_centre}[
        recipe.setting("groups.view")
    ](evaluation, recipe)


def names_of(evaluation: Evaluation) -> list[str]:
    """Return all columns by which rows can be grouped."""
    return [*map(str, evaluation.dataset.X), *evaluation.dataset.beside]


def by_column(evaluation: Evaluation, recipe: Recipe) -> None:
    """Draw the calibration of each group of a chosen column."""
    names, preferred = names_of(evaluation), recipe.setting("reliability.group")
    chosen = preferred if preferred in names else None
    how = {"widget": st.selectbox, "placeholder": "Choose a column"}
    controls.choice("reliability.group", recipe, chosen, names, **how)
    if chosen is None:
        st.caption("Choose a column to see its groups here and in the report.")
        return
    record = chart.show(
        "groups",
        evaluation,
        group=chosen,
        on_click=_pick_group(evaluation, chosen),
        hint=SEGMENT_HINT,
        **recipe.stated_settings("reliability", "selection"),
    )
    if record is not None and tables.toggle("reliability.group_diagrams", recipe):
        largest = record.grouping.largest(GROUP_DIAGRAMS)
        tables.diagrams({f"{chosen}: {name}": evaluation.at(at) for name, at in largest.items()})
        if len(largest) < len(record.grouping.names):
            st.caption(
                f"The {len(largest)} largest groups; smaller groups would mostly show sampling variability."
            )


def _pick_group(evaluation: Evaluation, column: str) -> Callable[[Any], None]:
    """Return a function that filters every page by the group of a clicked mark."""

    def pick(known: Any) -> None:
        group = next((each for each in known if isinstance(each, str)), None)
        grouping = group_rows(evaluation.column(column))
        if group in grouping.names:
            state.update(segment=grouping.segment(group, column))

    return pick


def by_centre(evaluation: Evaluation, recipe: Recipe) -> None:
    """Draw the calibration of each centre, pooled and expected in a new one."""
    chosen = choose_centres(recipe, names_of(evaluation))
    _predictions(evaluation, recipe)
    if chosen is None:
        return
    key = _key(evaluation, recipe)
    same = _centres_key(evaluation, chosen, key)
    names = evaluation.column(chosen).astype(str).to_numpy()
    made = of_centres(evaluation, names, same, key)
    if made is not None and trained_here(evaluation):
        _left_out(evaluation, recipe, chosen, key, len(made.table))


def known_centres(evaluation: Evaluation) -> dict[str, Centres]:
    """Return heading → centres, as far as this session has computed them for the column and calibrator of the page."""
    recipe, key = evaluation.recipe, _key(evaluation, evaluation.recipe)
    column = preferred_centres(recipe)
    made = {
        "Centres": jobs.kept("centres", _centres_key(evaluation, column, key)),
        "Leave one centre out": jobs.result("left_out", _centres_key(evaluation, column, key)),
    }
    return {heading: found for heading, found in made.items() if isinstance(found, Centres)}


def _centres_key(evaluation: Evaluation, column: str | None, key: str) -> tuple[Any, ...]:
    recipe = evaluation.recipe
    return evaluation.dataset.digest, recipe.digest("calibrate"), recipe.segment, column, key


def _left_out(evaluation: Evaluation, recipe: Recipe, column: str, key: str, fits: int) -> None:
    """Predict each centre by a model of the others, after a click if that takes long."""
    headings.heading("Leave one centre out")
    st.caption(LEFT_OUT)
    seconds = evaluation.seconds / (recipe.folds if recipe.evaluation == "folds" else 1) * fits
    known = _centres_key(evaluation, column, key)
    what = "Leave one centre out"
    if not jobs.may_begin("left_out", known, what, jobs.price(fits, seconds), seconds):
        return
    call = partial(jobs.or_why, leave_out_recipe, recipe, evaluation.dataset, key, column)
    found = jobs.run_one("left_out", what, known, call, for_all=not has_upload(recipe))
    if isinstance(found, InputError):
        st.info(plain(found))
    elif found is not None:
        draw_centres(found, "left_out")
        downloads.table("Centres (CSV)", lambda: found.table, "left_out.csv", index=True)


def by_search(evaluation: Evaluation, recipe: Recipe) -> None:
    """Draw the segments that deviate by more than chance."""
    place = headings.finding()
    with place.words:
        found = _searched(evaluation, recipe)  # its progress is beside the picture, which so keeps its place
        if found is not None:
            headline(found)
        search_controls(evaluation, recipe)
    if found is None:
        _before_the_search(evaluation, recipe, place)
        return
    pick = picking(found)
    with place.picture:
        chart.show("audit", found, sentence=place.sentence, on_click=pick, hint=SEGMENT_HINT)
    chart.show("audit_sizes", found, on_click=pick, hint=SEGMENT_HINT)
    segments(found, recipe)


def _before_the_search(evaluation: Evaluation, recipe: Recipe, place: headings.FindingPlaces) -> None:
    """Draw the groups of one column, which needs no search, until the segments are found."""
    names, preferred = columns_of(evaluation), recipe.setting("reliability.group")
    if names:
        column = preferred if preferred in names else names[0]
        with place.picture:
            chart.show("groups", evaluation, sentence=place.sentence, group=column)


def options_of(recipe: Recipe) -> dict[str, Any]:
    return recipe.stated_settings("groups", *SEARCH)


def _key(evaluation: Evaluation, recipe: Recipe) -> str:
    preferred = recipe.setting("groups.calibrator")
    return preferred if preferred in evaluation.predictions else audited_by_default(evaluation)


def _searched(evaluation: Evaluation, recipe: Recipe) -> Audited | None:
    """Return the audit, computed in the background, or None with the reason on the page."""
    key, options = _key(evaluation, recipe), options_of(recipe)
    known = (
        evaluation.dataset.digest,
        recipe.replace(segment=()).digest("calibrate"),
        key,
        *sorted(options.items()),
    )
    names = options.get("columns") or columns_of(evaluation)
    depth, resamples = recipe.setting("groups.depth"), recipe.setting("groups.resamples")
    seconds = search_seconds(len(evaluation.y), len(names), depth, resamples)
    cost = f"it takes about {duration(seconds)}."
    if not jobs.may_begin("audit", known, "Search", cost, seconds, main=True):
        return None
    call = partial(jobs.or_why, partial(audited, **options), evaluation, key)
    found = jobs.run_one("audit", "Searching segments", known, call, for_all=not has_upload(recipe))
    if isinstance(found, InputError):
        st.info(plain(_with_labels(found)))
        return None
    return found


def _with_labels(error: InputError) -> str:
    """Return a refusal that names settings by the labels of their controls."""
    text = str(error)
    for name in ("min_rows", "min_events", "resamples"):
        text = text.replace(f" {name}", f" “{SETTINGS[f'groups.{name}'].label}”")
    return text


def search_controls(evaluation: Evaluation, recipe: Recipe) -> None:
    """Draw the settings of the search: predictions, columns, depth and sizes."""
    with st.expander("Settings", key="groups_settings"):
        _predictions(evaluation, recipe)
        _columns(evaluation, recipe)
        weighted = ("unweighted",) if has_weights(evaluation) else ()
        for name in ("depth", "min_rows", "min_events", "resamples", *weighted):
            field = f"groups.{name}"
            controls.parameter_control(recipe.parameter(field), field, recipe.setting(field))


def _predictions(evaluation: Evaluation, recipe: Recipe) -> None:
    controls.one_calibrator("groups.calibrator", recipe, _key(evaluation, recipe), evaluation.predictions)


def _columns(evaluation: Evaluation, recipe: Recipe) -> None:
    names = names_of(evaluation)
    chosen = [name for name in recipe.setting("groups.columns") if name in names]
    everything = "All other columns" if evaluation.dataset.predictions else "All features"
    controls.choice("groups.columns", recipe, chosen, names, st.multiselect, placeholder=everything)


def headline(made: Audited) -> None:
    """Draw what was searched, what was found, and which gap could have been detected."""
    found = made.found
    with headings.rows():
        st.metric(
            "Smallest adjusted p",
            number(found.p_value),
            help="If the probabilities are right, at most 5 of 100 tables give a p-value of at most 5 %, "
            "however many segments are searched.",
        )
        st.metric(
            "All rows",
            f"{percent(made.predicted)} → {percent(made.observed)}",
            help="Mean prediction and observed frequency over all rows.",
        )
    if made.off_on_average or made.nearly_all_rows:
        other = "a" if made.calibrator == "none" else "another"
        st.caption(
            "The predictions are wrong on average, so most segments deviate, too. Under Settings, choose "
            f"the predictions of {other} calibrator."
        )
    _repair(made)
    with headings.details():
        if made.fit_sentence:
            st.markdown(plain(made.fit_sentence))
        st.caption(_how_tested(made))


def _how_tested(made: Audited) -> str:
    sentences = [
        f"{label_of(made.calibrator)}, {made.evaluation.size_text}. The audit drew new labels from the "
        f"probabilities {made.found.resamples:,} times. Segments that overlap and have the same cause count "
        "as one group."
    ]
    if made.evaluation.cluster is not None:
        sentences.append("With clusters, the false-alarm rate is approximate.")
    if made.unweighted:
        sentences.append("Every row counts once, whatever its weight.")
    return " ".join(sentences)


def _repair(made: Audited) -> None:
    """Offer the calibrator that repairs segments, if there is one."""
    recipe = state.recipe()
    if REPAIR not in CALIBRATORS or REPAIR in recipe.calibrators or not made.causes:
        return
    changes = {"calibrators": (*recipe.calibrators, REPAIR), "groups.calibrator": REPAIR}
    label = f"Repair: {CALIBRATORS[REPAIR].label}"
    st.button(label, key="repair", on_click=state.update, kwargs=changes)


def picking(made: Audited) -> Callable[[Any], None]:
    """Return a function that filters every page by the segment of a clicked mark."""

    def pick(known: Any) -> None:
        words = next((each for each in known if isinstance(each, str)), None)
        if words in set(made.found.segments["segment"]):
            state.update(segment=made.conditions(made.line_of(words)), **{"groups.chosen": words})

    return pick


def segments(made: Audited, recipe: Recipe) -> None:
    """Draw one line per cause, the chosen segment below, and the download of all segments."""
    headings.part("Segments")
    found = made.found
    lines = [each.line for each in made.causes] or list(range(min(LISTED_SEGMENTS, len(found.segments))))
    others = {each.line: len(each.others) for each in made.causes}
    shown = found.segments.iloc[lines[:LISTED_SEGMENTS]]
    table = shown.drop(columns="statistic").assign(
        look=[LOOK_LABELS[look_of(found, line)] if line < found.found else "nothing" for line in shown.index],
        more=[others.get(line, 0) for line in shown.index],
    )
    chosen = made.line_of(recipe.setting("groups.chosen"))
    picked = grid(
        table.rename(columns=SEGMENT_COLUMNS),
        hide_index=True,
        key=f"segments_{found.resamples}_{len(found.segments)}",
        on_select="rerun",
        selection_mode="single-row",
        column_config=COLUMN_FORMATS,
        alt="Segments, worst first",
    )
    if rows := picked.selection.rows:
        chosen = int(shown.index[rows[0]])
    st.caption(
        "Choose a row to see the segment below. "
        + (
            "Each row of the table is one cause; “more” is the number of overlapping segments with the same "
            "cause."
            if made.causes
            else f"No segment was significant; the table shows the segments that deviate most, out of "
            f"{len(found.segments):,}."
        )
        + " A range such as “1 to 3” excludes its upper end, except for the highest range of a column."
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        downloads.table("All segments (CSV)", made.to_frame, "segments.csv")
        tables.toggle("groups.in_report", recipe)
    segment(made, chosen, shown.index)


SEGMENT_COLUMNS = {
    "segment": "Segment",
    "rows": "Rows",
    "predicted": "Predicted",
    "observed": "Observed",
    "p_value": "Adjusted p",
    "look": "Deviation",
    "more": "More",
}
COLUMN_FORMATS = {
    "Rows": st.column_config.NumberColumn(format="localized"),
    "Predicted": st.column_config.NumberColumn(format="percent"),
    "Observed": st.column_config.NumberColumn(format="percent"),
    "Adjusted p": st.column_config.NumberColumn(format="%.4g"),
}


def segment(made: Audited, line: int, listed: Collection[int]) -> None:
    """Draw one segment, with its numbers if it is not ``listed`` above: two diagrams, and others with its rows."""
    found, words = made.found, str(made.found.segments["segment"].iloc[line])
    headings.heading(words)
    if line not in listed:  # the table above has its numbers
        st.markdown(plain(segment_numbers(found, line)))
    conditions = made.conditions(line)
    st.button(
        "Show only these rows on every page",
        key="filter_by_segment",
        on_click=state.update,
        kwargs={"segment": conditions, "groups.chosen": words},
        help=plain(segment_in_words(conditions)),
    )
    left, right = st.columns(2, gap="large")
    mine = made.evaluation.at(found.members(line).nonzero()[0])
    if interval := mean_ends(mine, made.calibrator):
        st.caption("Mean interval of these rows: {} to {}.".format(*map(percent, interval)))
    with left:
        chart.show(
            "reliability",
            mine,
            "reliability_segment",
            heading="Reliability in this segment",
            calibrators=[made.calibrator],
            height=440,
        )
    with right:
        chart.show("audit_walk", made, heading="Cumulative differences in this segment", segment=words)
    cause = next((each for each in made.causes if line in (each.line, *each.others)), None)
    if cause is not None and cause.others:
        with st.expander(
            f"{counted(len(cause.others), 'overlapping segment')} with the same cause", key="same_rows"
        ):
            alike = [each for each in (cause.line, *cause.others) if each != line]
            also = found.segments.iloc[alike[:LISTED_SEGMENTS]].drop(columns="statistic")
            alt = "Overlapping segments with the same cause"
            grid(also.rename(columns=SEGMENT_COLUMNS), hide_index=True, column_config=COLUMN_FORMATS, alt=alt)


def loss(evaluation: Evaluation, recipe: Recipe) -> None:
    """Draw the grouping loss: the gain of a better model that no calibrator can reach."""
    key, columns = _key(evaluation, recipe), recipe.setting("groups.columns")
    known = (evaluation.dataset.digest, recipe.replace(segment=()).digest("calibrate"), key, columns)
    call = partial(jobs.or_why, grouping_losses, evaluation, key, columns)
    place = headings.finding()
    with place.picture:
        what, for_all = "Measuring the grouping loss", not has_upload(recipe)
        found = jobs.run_one("grouping_loss", what, known, call, for_all=for_all)
        if isinstance(found, InputError):
            st.info(plain(found))
            found = None
    with place.words:
        if found is not None:
            _losses(found)
        with st.expander("Settings", key="groups_settings"):
            _predictions(evaluation, recipe)
            _columns(evaluation, recipe)
    if found is None:
        return
    with place.picture:
        chart.show("grouping_loss", found, sentence=place.sentence)
    shown = found.to_frame()
    shown["partition"] = shown["partition"].map(partition_name)
    decimals = {
        LOSSES[name]: st.column_config.NumberColumn(format="%.5f")
        for name in shown.columns
        if shown[name].dtype.kind == "f" and name != "p_value"
    }
    grid(
        shown.rename(columns=LOSSES),
        hide_index=True,
        key="losses",
        column_config=decimals,
        alt="Grouping loss by partition",
    )
    downloads.table("Grouping loss (CSV)", found.to_frame, "grouping_loss.csv")


LOSSES = {
    "partition": "Regions by",
    "explained": "Explained",
    "bias": "Bias",
    "induced": "Induced",
    "lower_bound": "Lower bound",
    "interval_low": "Interval from",
    "interval_high": "to",
    "p_value": "p",
    "regions": "Regions",
    "rows": "Rows",
}


def _losses(found: GroupingLosses) -> None:
    with headings.rows():
        for each in found.losses:
            bound, low, high = alike(each.lower, *each.interval)
            tables.noted(
                partition_name(each.partition),
                bound,
                f"[{low}, {high}], p = {number(each.p_value)}",
                help="Lower bound of the grouping loss from these regions, its 95 % interval, and the "
                "p-value for the hypothesis of no grouping loss.",
            )
        st.metric(
            "Brier score", number(found.brier), help="Brier score of the same predictions on all test rows."
        )
    st.caption(
        f"{label_of(found.calibrator)}, {found.evaluation.size_text}. Regions are determined on one half of "
        f"the rows and evaluated on the other half. With {len(found.losses)} partitions, a p-value below "
        f"{number(found.level)} is significant."
    )

"""Parts of the Venn–Abers page: headline, switches, and one kind of detail at a time below."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from calib.analysis import explain as explaining
from calib.calibrators import interval_methods, label_of, name_of
from calib.evaluate import Evaluation, expected_cost
from calib.figures import FIGURES
from calib.figures.class_pairs import PAIRWISE, has_pairs
from calib.figures.pairs import LISTED_PAIRS, listed_rows
from calib.figures.widths import PREDICTOR_KINDS, kind_of
from calib.kernel.checks import InputError, moved_rows
from calib.kernel.wording import brief, briefly, capital, short_class
from calib.metrics import interval_summary
from calib.models import MODELS
from calib.placements import PLACEMENTS
from calib.recipe import Recipe, with_calibrators
from pages.ui import (
    chart,
    controls,
    downloads,
    evaluations,
    headings,
    jobs,
    lesson_layout,
    points,
    state,
    tables,
)
from pages.ui.points import Point
from pages.ui.tables import grid
from pages.ui.text import plain

DRAGGED_ROWS, MOST_STILL = 24, 20_000  # calibration rows that can be dragged; most that are drawn at all
FIGURE_OF_FOLD = {"venn_abers.details": "explained"}


def evaluation(recipe: Recipe) -> Evaluation:
    """Return the Evaluation of the interval methods, whichever calibrators are chosen; end the page if none works."""
    result = evaluations.evaluation(with_intervals(recipe))
    for key in interval_methods():
        if key in result.refused:
            st.warning(f"**{label_of(key)}** is not shown: {plain(result.refused[key])}")
    if explaining.METHOD not in result.predictions:
        st.stop()  # also while the model is being fitted and the last picture belongs to another page
    return result


def with_intervals(recipe: Recipe) -> Recipe:
    """Return the Recipe with the interval methods, the page's own first, and those of pairs of classes if chosen."""
    methods = sorted(interval_methods(), key=lambda key: key != explaining.METHOD)
    pairs = tuple(key for key in recipe.calibrators if key == PAIRWISE)
    return recipe.replace(**with_calibrators(recipe, ("none", *methods, *pairs)))


def chosen_method(result: Evaluation) -> str:
    """Return the method whose pairs are drawn: the Recipe's, or Venn–Abers if that has none here."""
    preferred = result.recipe.setting("venn_abers.interval")
    return preferred if preferred in result.predictions else explaining.METHOD


def headline(result: Evaluation) -> None:
    """Draw the mean interval beside the observed frequency, its width, and the scores of the merged probability."""
    method = chosen_method(result)
    predicted = result.predictions[method]
    summary = interval_summary(result.y, predicted.pairs, sample_weight=result.weight)
    with headings.rows():
        tables.noted(
            f"Mean p0 to p1 · {label_of(method)}",
            "{} to {}".format(*briefly(summary.lower, summary.upper)),
            f"observed {brief(summary.observed)}",
            help="Over all test rows, the frequency of the positive class should lie between these two means, apart "
            "from sampling error.",
        )
        st.metric("Mean width", brief(summary.width), help="Mean of p1 − p0 over the test rows.")
        for name in ("brier", "log_loss"):
            tables.against_uncalibrated(result, name, method)


def switches(recipe: Recipe) -> None:
    """Draw the choice of the method, of the colours, and of the merge rule."""
    with st.container(horizontal=True, key="switches"):
        controls.choice("venn_abers.interval", recipe)
        controls.choice("venn_abers.color", recipe)
        controls.choice("merge", recipe)


def chosen_row(result: Evaluation) -> int:
    """Return the row to explain: the Recipe's, or the one with the widest interval if that is not a test row."""
    row = result.recipe.setting("venn_abers.row")
    if row is not None:
        try:
            explaining.position_of(result, row)
            return row
        except InputError as error:
            st.info(plain(f"{error} Until then, the page shows the row with the widest interval."))
    return explaining.widest_row(result, chosen_method(result))


def choose_row(known: list) -> None:
    """Explain the row of a clicked mark."""
    state.update(FIGURE_OF_FOLD, **{"venn_abers.row": int(known[0])})


def number(recipe: Recipe) -> None:
    """Draw the number of the row to explain."""
    name = "venn_abers.row"
    controls.parameter_control(
        recipe.parameter(name), name, recipe.setting(name), and_then=lambda _: FIGURE_OF_FOLD
    )


def details(recipe: Recipe, result: Evaluation, row: int) -> None:
    """Draw one kind of detail, and those that a lesson's step names; compute only these."""
    sections = {
        "explained": (partial(_explained, result, row), ("explained",)),
        "steps": (partial(_steps, result, row), ("step_curves", "width_by_score")),
        "held": (partial(_validity, recipe, result), ("interval_bins",)),
        "kinds": (partial(side_by_side, recipe, result), ("widths", "interval_means")),
    }
    opened = recipe.setting("venn_abers.details")
    controls.choice("venn_abers.details", recipe, label_visibility="collapsed", width="stretch")
    named = [key for key, (_, charts) in sections.items() if any(map(lesson_layout.has, charts))]
    for key in dict.fromkeys([*named, opened]):
        sections[key][0]()


def _explained(result: Evaluation, row: int) -> None:
    if result.whole is not None:
        chart.show("class_intervals", result, calibrator=chosen_method(result), row=row)
        if has_pairs(result):
            chart.show("class_pairs", result, row=row)
    if not _of_all_classes(result):
        _other_method(result, row)
        explanation(result, row)
    rows(result, row)


def _other_method(result: Evaluation, row: int) -> None:
    """State the chosen method's numbers of a row, if they are not those that the explanation derives."""
    method = chosen_method(result)
    if method != explaining.METHOD:
        line, at = result.predictions[method], explaining.position_of(result, row)
        p0, p1, p = briefly(*(float(values[at]) for values in (line.p0, line.p1, line.p)))
        st.caption(
            f"{capital(name_of(method))} gives row {row} p0 = {p0} and p1 = {p1}, merged to p = {p}. "
            f"The steps below refer to {label_of(explaining.METHOD)}."
        )


def _of_all_classes(result: Evaluation) -> bool:
    """Tell whether no calibration set can be shown, because no class is chosen or shares are stated; say why."""
    if result.of_confidence:
        st.info(
            "Each class has its own calibration rows. Choose a class in the sidebar to see its rows. The "
            "intervals here refer to the predicted class; choosing the most probable class voids their "
            "guarantee."
        )
    elif result.recipe.base_rates:
        st.info(
            "The calibration set of one class is shown only at the table’s class shares. At other shares, "
            "each probability also depends on the probabilities of the other classes."
        )
    return result.of_confidence or bool(result.recipe.base_rates)


def _steps(result: Evaluation, row: int) -> None:
    """Draw the step functions of the calibration rows, and the widths."""
    if _of_all_classes(result):
        return
    left, right = lesson_layout.side_by_side([0.5, 0.5])
    with left:
        chart.show("step_curves", result, row=row)
    with right:
        method = chosen_method(result)
        chart.show("width_by_score", result, calibrator=method, row=row, on_click=choose_row)


def _validity(recipe: Recipe, result: Evaluation) -> None:
    """Draw whether the intervals are valid, by bin; the bins belong to this picture alone."""
    picture, words = lesson_layout.side_by_side([0.7, 0.3])
    with words:
        controls.bins(recipe)
    with picture:
        axes = recipe.stated_settings("reliability", "axes")
        chart.show("interval_bins", result, calibrator=chosen_method(result), **axes)


def rows(result: Evaluation, row: int) -> None:
    """Draw a table to choose a row from: the widest intervals, or the rows most like the chosen one."""
    chosen = row if result.recipe.setting("venn_abers.row") == row else None
    table = listed_rows(result, chosen_method(result), chosen)
    key = f"rows_{chosen}"

    def picked() -> None:
        lines = st.session_state[key].selection.rows
        if lines:
            state.update(**{"venn_abers.row": int(table["row"].iloc[lines[0]])})

    headings.heading("Choose another row")
    grid(
        table.assign(label=table["label"].map(dict(enumerate(map(short_class, result.dataset.classes))))),
        key=key,
        # A long label last: numbers stay in sight
        column_order=("row", "score", "p0", "p1", "p", "width", "label"),
        on_select=picked,
        selection_mode="single-row",
        hide_index=True,
        height=300,
        column_config={"row": st.column_config.NumberColumn(format="%d")}
        | {
            name: st.column_config.NumberColumn(format="%.3g") for name in ("score", "p0", "p1", "p", "width")
        },
        alt="Test rows with score, p0, p1, p and width",
    )
    order = (
        "the widest intervals first"
        if chosen is None
        else "the chosen row first, then the rows with the most similar p0 and p1"
    )
    st.caption(f"{min(LISTED_PAIRS, len(result.y)):,} of {len(result.y):,} test rows, {order}.")


def explanation(result: Evaluation, row: int) -> None:
    """Draw the derivation of one Venn–Abers prediction: the fits, the pools and the words."""
    explained = explaining.explain(result, evaluations.fit_of(result), row)
    sets = range(1, len(explained.fits) + 1)
    as_is, moves = explained, result.recipe.setting("venn_abers.what_if")
    words, picture = st.columns([0.36, 0.64], gap="medium")
    with words:
        chosen = min(result.recipe.setting("venn_abers.fold"), len(sets))
        if len(sets) > 1:
            controls.choice("venn_abers.fold", result.recipe, chosen, sets)
        if moves:
            explained = _moved(as_is, moves, chosen)
    with picture:
        record = chart.show("explained", explained, calibration_set=chosen)
        # The original places decide which rows can be dragged, else a drop could remove marks, and the focus
        untouched = FIGURES["explained"].prepare(as_is, calibration_set=chosen) if moves else record
        _dragged(as_is, explained, chosen, untouched.window)
    with words:
        for sentence in record.derivation:
            st.markdown(plain(sentence))
        if len(sets) > 1:
            grid(record.to_frame(), hide_index=True, alt="The pool of every fold and label")
        _features(result, row)


def _moved(explained: explaining.Explained, moves: str, chosen: int) -> explaining.Explained:
    """Return the explanation with rows moved by hand, or the original one with the reason on the page."""
    try:
        explained = explaining.with_moved_rows(explained, moves, chosen)
    except InputError as error:
        st.info(plain(error))
    back = partial(state.update, **{"venn_abers.what_if": ""})
    st.button("Reset the rows", key="put_back", on_click=back)
    return explained


def _dragged(
    as_is: explaining.Explained, now: explaining.Explained, chosen: int, window: tuple[float, float]
) -> None:
    """Draw the calibration rows in view; the row itself, and those nearest to it, can be dragged."""
    fit, score = as_is.fits[chosen - 1], now.fits[chosen - 1].score
    rows = explaining.calibration_rows(fit)
    if not explaining.can_move_rows(as_is) or len(rows) > MOST_STILL:
        return
    near = _draggable(rows, fit.score, window)
    places = {place: place for place in zip(rows["score"], rows["label"], strict=True)}
    if now.what_if is not None:
        places |= dict(moved_rows(now.what_if[0], "what_if"))
    before = [(fit.score, None), *((rows["score"][i], int(rows["label"][i])) for i in near)]
    now_at = [(score, None), *(places[place] for place in before[1:])]

    def dropped(placed: list[Point]) -> None:
        pairs = zip(before, ((p.x, p.label) for p in placed), strict=True)
        text = " ".join(f"{_place(*old)}>{_place(*new)}" for old, new in pairs if new != old)
        state.update(**{"venn_abers.what_if": text})

    still = rows.drop(index=near)
    low, high = min(window[0], *(s for s, _ in now_at)), max(window[1], *(s for s, _ in now_at))
    with st.expander("What if: drag the calibration rows", key="dragged", expanded=now.what_if is not None):
        points.show(
            "explained",
            [
                Point(s, label=y, rows=n)
                for (s, y), n in zip(now_at, [1, *map(int, rows["rows"][near])], strict=True)
            ],
            dropped,
            kind="scores",
            still=still[["score", "label", "rows"]].to_numpy().tolist(),
            merge=as_is.recipe.merge,
            low=low,
            high=high,
            label="Score of the model",
            alt="Calibration rows by score and label, the explained row, and the two isotonic fits that "
            "include the explained row",
        )
        of = f"fold {chosen} alone" if len(as_is.fits) > 1 else "this calibration set"
        st.caption(
            f"These numbers refer to {of}, without adjustment to a deployment base rate. Drag the large "
            f"marks near the "
            "row; each mark moves with all rows of the same score and label."
        )


def _draggable(rows: pd.DataFrame, score: float, window: tuple[float, float]) -> pd.Index:
    """Return the nearest places in view that do not overlap, in the order of their scores."""
    low, high = window
    cell = (30 * (rows["score"] - low) / (high - low)).round()
    seen = rows.assign(cell=cell, far=(rows["score"] - score).abs())[rows["score"].between(low, high)]
    return seen.sort_values("far").drop_duplicates(["cell", "label"]).head(DRAGGED_ROWS).sort_index().index


def _place(score: float, label: int | None) -> str:
    return f"{float(score)!r}" + ("" if label is None else f":{label}")


def _features(result: Evaluation, row: int) -> None:
    if not result.dataset.predictions:
        with st.expander(f"Features of row {row}"):
            grid(
                result.dataset.X[result.dataset.row_numbers == row].T.astype(str),
                alt=f"Columns of row {row}",
            )


def side_by_side(recipe: Recipe, result: Evaluation) -> None:
    """Draw widths, validity and the predicted label of both methods, here and under the chosen placements."""
    everything = [result, *_others(recipe, result)]
    chart.show("widths", everything)
    record = chart.show("interval_means", everything)
    grid(record.table(), alt="Mean interval and observed frequency for each method")
    downloads.table("Intervals (CSV)", record.to_frame, "intervals.csv")


def _others(recipe: Recipe, result: Evaluation) -> list[Evaluation]:
    """Return the Evaluations of the other chosen placements that are fitted."""
    if result.dataset.predictions:
        st.info(
            "Cross, simplified, full and out-of-bag Venn–Abers require refitting the model. These data are "
            "predictions without their model, so the page shows only inductive Venn–Abers, calibrated on "
            "held-out rows."
        )
        return []
    placement, beside = result.recipe.placement, recipe.setting("venn_abers.beside")
    placements = [
        *PREDICTOR_KINDS,
        *(key for key in PLACEMENTS if key not in PREDICTOR_KINDS and key != "none"),
    ]
    options = [
        key
        for key in placements
        if key != "oob_whole"
        and (PLACEMENTS[key].for_k or result.whole is None)
        and (MODELS[recipe.model].bagged or key != "oob")
    ]
    controls.choice(
        "venn_abers.beside",
        recipe,
        [key for key in beside if key in options and key != placement],
        [key for key in options if key != placement],
        st.pills,
        selection_mode="multi",
        format_func=lambda key: kind_of(key).capitalize(),
    )
    found = []
    for key in beside:
        if key not in options or key == placement:
            continue
        fits, seconds = expected_cost(result, key)
        other = with_intervals(recipe).replace(placement=key)
        name, cost = kind_of(key).capitalize(), jobs.price(fits, seconds)
        found.append(evaluations.optional_evaluation(other, f"beside_{key}", name, cost, seconds))
    return [one for one in found if one is not None]

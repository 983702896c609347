"""Parts of the Data page: the upload, its choices, its problems in plain words, its columns and rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from calib import sources
from calib.data import (
    ROLES,
    LargeFile,
    ReadingQuestion,
    Table,
    class_counts,
    class_shares,
    inspect,
    may_count,
    reading_of,
    summarise_columns,
    target_candidates,
    weight_meaning,
)
from calib.data.class_tables import columns_in_words
from calib.data.column_types import typed_frame
from calib.data.label import LIKELY_CLASSES, MOST_PREDICTED, alternative_spellings
from calib.data.limits import format_bytes
from calib.kernel.checks import InputError
from calib.kernel.records import Dataset, Problem
from calib.kernel.weights import are_whole, or_ones
from calib.kernel.wording import counted, listed, percent, short_class
from calib.recipe import Recipe, with_classes
from calib.sources import digest
from calib.synthetic import SYNTHETIC
from pages.ui import controls, evaluations, frame, headings, reading_question, state, tables
from pages.ui.tables import grid
from pages.ui.text import plain
from pages.ui.uploads import LIMIT, keep_file, receive_table, received, table_picker
from pages.ui.waiting import in_background
from pages.ui.widget import show_widget

KEPT_PROBLEMS, KEPT_TABLE_SUMMARIES, KEPT_INPUTS = 6, 6, 2
FORMATS_OFFERED = (
    f"CSV, TSV, Parquet, Excel, ARFF, JSON records or NumPy (.npz), also gzipped, up to {format_bytes(LIMIT)}"
)


def uploader(recipe) -> None:
    """Draw the file picker; if a link needs an upload, ask for its file."""
    if state.missing_uploads():
        st.warning(plain(_wanted()))
        another = st.session_state.get("another_file")
        if another in state.uploads():
            st.button(
                f"Continue with {plain(state.uploads()[another].name)}",
                key="go_on",
                on_click=lambda: controls.choose_data(f"upload:{another}"),
            )
    table_picker(
        "Upload a table or predictions",
        key="file",
        on_change=_received,
        help=f"{FORMATS_OFFERED}. The file stays in this session's memory and is never written to disk. If the file is "
        "too large, the page shows a query that counts its rows by score and label.",
    )


def _wanted() -> str:
    named = [name or f"the file with the digest {key}" for key, name in state.missing_uploads().items()]
    again = " again" if all(state.missing_uploads().values()) else ""
    kept = "a link never contains the file" if len(named) == 1 else "a link never contains the files"
    return (
        f"Upload {listed(named)}{again} to continue, and the page opens with its previous settings; {kept}."
    )


def _received() -> None:
    wanted = state.missing_uploads()
    receive_table("file", partial(_use, wanted), "" if wanted else state.data_name(state.recipe()))


def _use(wanted: Mapping[str, str | None], key: str) -> None:
    """Switch to an uploaded table, unless the settings wait for it or for another."""
    if key in wanted:
        return
    if wanted:
        st.session_state["another_file"] = key
        name = state.uploads()[key].name
        other = f"This {name}" if name in wanted.values() else name
        state.say(f"{other} is not the file to which these settings belong.")
    elif state.recipe().data != f"upload:{key}":
        controls.choose_data(f"upload:{key}")


def _asked_for(widget: str, given: str | None, without: dict[str, Any], label: str, help: str) -> bool:
    """Draw a toggle for a second file, and return whether it is on; turning it off applies ``without``."""
    place = f"asked_{widget}"

    def turned(on: bool) -> None:
        st.session_state[place] = on
        if not on and given is not None:
            state.update(**without)

    return show_widget(
        st.toggle, widget, given is not None or st.session_state.get(place, False), turned, label, help=help
    )


def other_file(recipe: Recipe) -> None:
    """Draw the upload of another table for evaluation; this table then trains and calibrates."""
    on = _asked_for(
        "judge_elsewhere",
        recipe.test_data,
        sources.with_test_file(None, before=recipe),
        recipe.label("test_data"),
        "The model and the calibrators are fitted on this table and evaluated on every row of the other table. "
        "Columns are matched by name.",
    )
    if not on:
        return
    if recipe.test_data is not None:
        st.markdown(f"Evaluated on **{plain(recipe.test_file or recipe.test_data)}**.")
    table_picker(
        f"A table with the same columns: {FORMATS_OFFERED}",
        key="other_file",
        on_change=lambda: receive_table("other_file", _use_as_test_set, state.recipe().test_file or ""),
        help="The file stays in this session's memory and is never written to disk.",
    )


def _use_as_test_set(key: str) -> None:
    other = f"upload:{key}"
    state.update(sources.with_test_file(other, state.uploads()[key].name, state.recipe()), test_data=other)


def own_model(recipe: Recipe) -> None:
    """Draw the upload of an ONNX model, which scores the table; nothing is trained."""
    on = _asked_for(
        "own_model",
        recipe.onnx,
        sources.with_onnx_model(None),
        recipe.label("onnx"),
        "Your ONNX model takes the columns of the table as inputs. Its scores are evaluated and calibrated.",
    )
    if not on:
        return
    if recipe.onnx is not None:
        st.markdown(f"Scored by **{plain(recipe.onnx_file or recipe.onnx)}**.")
    st.file_uploader(
        "A two-class model in ONNX format",
        key="model_file",
        on_change=lambda: received("model_file", _judge_model),
        help="Only the graph of the model is executed. The file stays in this session's memory and is never "
        "written to disk. Pickle files can run code, so they are not accepted: convert a scikit-learn "
        "model with skl2onnx.",
    )


def _judge_model(content: bytes, name: str) -> None:
    key = digest(content)
    state.update(sources.with_onnx_model(f"upload:{key}", name), onnx=f"upload:{key}")
    keep_file(key, state.Model(name, content))


def inputs_of_model(recipe: Recipe, table: Table) -> None:
    """Draw the model's inputs and the columns that match; end the page if they do not."""
    if recipe.onnx is None or table.target is None:
        return
    try:
        found = evaluations.of_data(
            "inputs",
            KEPT_INPUTS,
            recipe,
            lambda: sources.inputs_of_model(recipe, state.frames(), table),
        )
    except InputError as error:
        st.error(plain(error))
        st.stop()
    if found.by_position:
        _left_out(
            recipe,
            _others(recipe, table),
            "Columns that are not inputs of the model. The model reads the other columns in their order.",
        )
    with st.expander("Inputs of the model", expanded=not found.fit, key="inputs"):
        grid(
            found.to_frame(),
            hide_index=True,
            alt="Model inputs and matching columns",
        )
    if not found.fit:
        leave_out = ", or exclude columns that the model does not need" if found.by_position else ""
        st.error(f"The table does not match the model: correct the table{leave_out}.")
        st.stop()


def unscored(recipe: Recipe) -> Recipe:
    """Return the Recipe without its ONNX model, so that the choice of columns does not wait for the model."""
    return recipe if recipe.onnx is None else recipe.replace(onnx=None, test_data=None)


def openml() -> None:
    """Draw a form that fetches a data set of OpenML by its number."""
    with st.form("openml", border=False):
        number = st.number_input(
            "OpenML id", min_value=1, value=None, step=1, placeholder="for example 37", key="openml_id"
        )
        if st.form_submit_button("Fetch") and number:
            controls.choose_data(f"openml:{int(number)}")
            st.rerun()


MOST_CHIPS = 30  # names of score columns in a control; those of a thousand classes would fill the page
SHOW = {"error": st.error, "warning": st.warning, "info": st.info}


def raw(recipe: Recipe) -> Table:
    """Return the table of the file, or the first rows of a large one; or end the page with what is missing."""
    try:
        return evaluations.first_rows(recipe)
    except InputError as error:
        st.error(plain(error))
        st.stop()


def more(recipe: Recipe) -> Any:
    """Draw the folded part: other sources, roles, columns; open if one of them is in use."""
    used = (
        recipe.test_data
        or recipe.onnx
        or recipe.exclude
        or recipe.keep
        or any(sources.roles(recipe).values())
    )
    place = st.expander("Other sources and column roles", expanded=bool(used), key="more")
    with place:
        if not recipe.data.startswith("synthetic:"):
            other_file(recipe)
            own_model(recipe)
        rest = st.container()
        with st.expander("Fetch from OpenML"):
            openml()
    return rest


def reading(recipe: Recipe, place: Any) -> None:
    """Draw the choice of the sheet, and at ``place`` of the header line of a file; nothing for other formats."""
    upload = state.uploads().get(sources.file_key(recipe.data) or "")
    if upload is None or reading_of(upload.frame).header is None or isinstance(upload.file, LargeFile):
        return
    options = sources.reading(recipe)
    try:
        found = reading_of(upload.file.read(**options))
    except InputError:
        found = reading_of(upload.frame)  # the page shows the error below
    sheets = found.sheets
    if len(sheets) > 1:
        sheet = options.get("sheet", found.sheet)
        controls.choice(
            "data_params.sheet",
            recipe,
            sheet if sheet in sheets else None,
            sheets,
            st.selectbox,
            label=f"The workbook has {len(sheets):,} sheets. Use the sheet",
            and_then=lambda _: sources.with_reading(recipe),
            width=320,
        )
    with place, st.expander("File reading options", expanded=bool(options), key="reading"):
        controls.parameter_control(
            recipe.parameter("data_params.header"),
            "data_params.header",
            options.get("header", found.header),
            and_then=lambda _: sources.with_reading(recipe),
            width=200,
        )
        st.code("\n".join(f"{i:>3}  {line}" for i, line in enumerate(found.top, start=1)), language=None)


def learn_rows(recipe: Recipe) -> None:
    """Show the size of the sample that the model learns from, if it learns from one."""
    if not sources.is_sampled(recipe, evaluations.opened(recipe)):
        return
    stated, name = dict(recipe.data_params).get("learn_rows"), "data_params.learn_rows"
    controls.parameter_control(recipe.parameter(name), name, stated, width=220)


def choices(recipe: Recipe, table: Table, place: Any) -> None:
    """Draw the label column, the positive class, and features or predictions; at ``place`` the roles of columns."""
    raw_table, target, _ = table
    columns = list(map(str, raw_table.columns))
    left, middle, right = st.columns(3)
    with left:
        controls.choice(
            "target",
            recipe,
            target if target in columns else None,
            columns,
            st.selectbox,
            placeholder="Choose the label",
            and_then=sources.with_target,
        )
    with middle:
        _positive(recipe, table, columns)
    if recipe.onnx is None:
        with right:
            controls.choice("content", recipe, label="Other columns")
    with place:
        if recipe.onnx is None:
            _columns(recipe, table)
        if target in columns:
            _roles(recipe, raw_table, [name for name in columns if name != target])
            _labels(recipe, table)
            _repeated(recipe)


def _positive(recipe: Recipe, table: Table, columns: Sequence[str]) -> None:
    """Draw the positive class; with K classes, all together or one against the rest."""
    raw_table, target, positive = table
    labels = list(class_counts(raw_table, target))[:MOST_PREDICTED] if target in columns else []
    if classes := evaluations.classes_together(recipe):
        controls.together(positive, labels, len(classes))
        return
    default = "a class such as 1, yes or true, otherwise the minority class"
    if recipe.content == "predictions":
        default = (
            "the class in the names of the score columns, otherwise a class such as 1, yes or true. "
            "If no class matches, the page asks you to choose one"
        )
    in_use = _in_use(recipe) if labels and recipe.onnx is None else None
    state.control(
        st.selectbox,
        "positive",
        positive if positive in labels else None,
        recipe.label("positive"),
        labels,
        and_then=lambda label: {} if label == _in_use(recipe) else sources.with_positive(label),
        placeholder="Chosen by default" if in_use is None else f"{in_use} (default)",
        help=f"{recipe.parameter('positive').help} By default, it is {default}. With more than two classes, choose "
        "one; the rest become the negative class.",
    )


def _in_use(recipe: Recipe) -> str | None:
    """Return the positive class, chosen or by default; None if there is none."""
    try:
        return evaluations.load(recipe).classes[1]
    except InputError:
        return None


def _columns(recipe: Recipe, table: Table) -> None:
    """Draw the choice of the feature or score columns."""
    others = _others(recipe, table)
    if recipe.content == "features":
        why = "Columns to hide from the model, for example because they reveal the label."
        _left_out(recipe, others, why)
        _keep(recipe, table.frame[[name for name in others if name not in recipe.exclude]])
    elif table.target in map(str, table.frame.columns):
        _score_columns(recipe, table.frame[others])


def _others(recipe: Recipe, table: Table) -> list[str]:
    """Return the columns that are not the label and have no role."""
    taken = (table.target, *sources.roles(recipe).values())
    return [name for name in map(str, table.frame.columns) if name not in taken]


def _left_out(recipe: Recipe, others: list[str], help: str) -> None:
    controls.choice(
        "exclude",
        recipe,
        [name for name in recipe.exclude if name in others],
        others,
        st.multiselect,
        placeholder="None",
        help=help,
    )


def _roles(recipe: Recipe, raw_table: pd.DataFrame, columns: list[str]) -> None:
    """Draw the roles of columns that are neither features nor scores; a column has one role, the last one chosen."""
    given = sources.roles(recipe)
    taken = listed([f"{role} {plain(name)}" for role, name in given.items() if name is not None])
    title = "Roles of other columns" + (f": {taken}" if taken else "")  # visible while folded
    with st.expander(title, expanded=bool(taken), key="roles"):
        for place, role in zip(st.columns(len(ROLES)), ROLES, strict=True):
            with place:
                show_widget(
                    st.selectbox,
                    role,
                    given[role] if given[role] in columns else None,
                    lambda column, role=role: state.update(
                        sources.with_role(recipe, role, column), **{role: column}
                    ),
                    recipe.label(role),
                    [None, *columns],
                    format_func=lambda column: "None" if column is None else column,
                    help=recipe.parameter(role).help,
                )
        _weight_as(recipe, raw_table)
        st.caption(
            "On the other pages, “Split” in the sidebar sets how rows are held out: at random, by time, by "
            "cluster or by file."
        )


def _weight_as(recipe: Recipe, raw_table: pd.DataFrame) -> None:
    """Draw the meaning of integer weights; other weights cannot be counts and get no control."""
    name = recipe.weight
    if name is not None and may_count(
        typed_frame(raw_table[[name]] if name in raw_table else raw_table), name
    ):
        meaning = recipe.weight_as or weight_meaning(name) or "importance"
        controls.choice("weight_as", recipe, meaning, label=f"Each number in {plain(name)}")


def _score_columns(recipe: Recipe, others: pd.DataFrame) -> None:
    """Draw the choice of the score columns and their meaning; both have a default."""
    scores_as = dict(recipe.data_params).get("scores_as")
    if scores_as is not None:  # offered only to change it back
        parameter = recipe.parameter("data_params.scores_as")
        state.control(
            st.selectbox,
            "data_params.scores_as",
            scores_as,
            parameter.label,
            ["", *parameter.offered()],
            store=lambda value: value or None,
            format_func=lambda value: parameter.in_words(value) if value else "Found by default",
            help=parameter.help,
        )
    try:
        data = evaluations.load(recipe)
    except InputError:
        data, taken = None, []  # the page shows the error below
    else:
        taken = list(data.X.columns)
    if data is not None and len(taken) > MOST_CHIPS and data.joint:
        shown_names = [f"{model}: {columns_in_words(columns)}" for model, columns in data.columns.items()]
        st.caption(plain(f"Score columns of {listed(shown_names)}."))
        return
    numbers = _columns_of(others, "number")
    controls.choice(
        "data_params.scores",
        recipe,
        [name for name in taken if name in numbers],
        numbers,
        st.multiselect,
        placeholder="Chosen by default",
    )


def _columns_of(table: pd.DataFrame, *kinds: str) -> list[str]:
    """Return the columns of these kinds."""
    typed = typed_frame(table) if table.shape[1] else table
    return [str(name) for name, column in typed.items() if inspect(column, str(name)).kind in kinds]


def _labels(recipe: Recipe, table: Table) -> None:
    """Draw spellings to merge and labels to leave out, if there are any."""
    chosen = dict(recipe.data_params)
    if sources.is_sampled(recipe, evaluations.opened(recipe)):
        return  # a sample has the labels as they are written
    counts = reading_of(table.frame).labels or class_counts(table.frame, str(table.target))
    if alternative_spellings(counts):
        name = "data_params.merge_labels"
        controls.parameter_control(recipe.parameter(name), name, chosen.get("merge_labels", False))
    if len(counts) > 2:
        _label_choice("drop_labels", recipe, counts)
    merged = chosen.get("join_labels", ())
    if len(counts) > 2 and (merged or recipe.content == "features"):
        _label_choice("join_labels", recipe, counts)


def _label_choice(name: str, recipe: Recipe, counts: Mapping[str, Any]) -> None:
    """Draw the choice of the labels that are excluded or merged."""
    controls.choice(
        f"data_params.{name}",
        recipe,
        [label for label in dict(recipe.data_params).get(name, ()) if label in counts],
        list(counts),
        st.multiselect,
        and_then=lambda names: sources.with_labels(recipe, *names),
        placeholder="None",
    )


def _repeated(recipe: Recipe) -> None:
    """Draw a toggle that takes repeated rows back in, if they are left out."""
    if dict(recipe.data_params).get("drop_repeated", False):
        name = "data_params.drop_repeated"
        controls.parameter_control(recipe.parameter(name), name, True)


def _keep(recipe: Recipe, others: pd.DataFrame) -> None:
    """Draw the choice of automatically excluded columns to use nevertheless, if there are any."""
    unused = evaluations.of_data(
        "unused", KEPT_TABLE_SUMMARIES, recipe, lambda: _columns_of(others, "identifier", "text")
    )
    if unused:
        controls.choice(
            "keep",
            recipe,
            [name for name in recipe.keep if name in unused],
            unused,
            st.multiselect,
            placeholder="None",
        )


def how_read(recipe: Recipe) -> ReadingQuestion | None:
    """Write how the table was read; or ask, and return the question."""
    try:
        reading_question.line(recipe, evaluations.load(recipe), reading_question.READING_BUTTONS)
    except ReadingQuestion as question:
        reading_question.ask(question)
        return question
    except InputError:
        pass  # the problems below say why
    return None


def problems(recipe: Recipe, table: Table, question: ReadingQuestion | None = None) -> list[Problem]:
    """Show every problem in plain words with its remedy, the gravest first; fold remarks without a button; return all.

    The page ends here if there is a ``question``, which is shown elsewhere.
    """
    if table.target is None:
        _ask_for_label(table.frame)
        _first_rows(table.frame)
        st.stop()
    looking = f"Looking for problems in {counted(len(table.frame), 'row')}"
    search = partial(in_background, looking, partial(sources.problems, recipe, table))
    found = evaluations.of_data("problems", KEPT_PROBLEMS, recipe, search)
    found = [problem for problem in found if question is None or not _is_asked(problem, question)]
    for severity, show in SHOW.items():
        alike = _alike([problem for problem in found if problem.severity == severity])
        for group in (group for group in alike if _has_button(group[0])):
            told = severity == "error"
            show(_line(group, None if told else "").removeprefix("- "))
            with st.container(horizontal=True):
                for remedies in zip(*(problem.fixes for problem in group), strict=True):
                    fixes, (action, *_) = zip(*remedies, strict=True)
                    button = f"fix_{action}_{group[0].column}"
                    help = None if told else plain(group[0].remedy)
                    st.button(plain(action), key=button, help=help, on_click=_apply, args=(fixes,))
        lines = list(_lines([group for group in alike if not _has_button(group[0])]))
        if lines and severity == "info":
            with st.expander(f"Remarks ({len(lines)})", key="remarks"):
                show("\n".join(lines))
        elif lines:
            show("\n".join(lines))
    if question is not None or any(problem.severity == "error" for problem in found):
        _first_rows(table.frame)
        st.stop()
    return found


def _has_button(problem: Problem) -> bool:
    """Tell whether a problem gets a button: not if its remedy is the control *Other columns*, just above."""
    return problem.fix is not None and (problem.severity != "info" or "content" not in problem.fix)


def _is_asked(problem: Problem, question: ReadingQuestion) -> bool:
    """Tell whether the question says what a problem says, or offers its remedy."""
    uses = {answer.fix.get("content") for answer in question.answers} - {None}
    return problem.message == question.message or (problem.fix or {}).get("content") in uses


def _ask_for_label(table: pd.DataFrame) -> None:
    likely = target_candidates(table)[:LIKELY_CLASSES]
    if not likely:
        another = "another sheet" if len(reading_of(table).sheets) > 1 else "upload another file"
        st.info(
            f"No column looks like a label: a label has at least 2 and at most {LIKELY_CLASSES} different "
            f"values. Choose the label column above, or {another}."
        )
        return
    st.info(
        "Choose the label column, which contains the class of each row. Several columns could be the label."
    )
    state.control(st.pills, "target", None, "Likely label columns", likely, key="likely_target")


def _first_rows(table: pd.DataFrame) -> None:
    shown = tables.numbered_from_1(table.head(tables.PREVIEW_ROWS))
    grid(shown, alt="The first rows of the table")


def _apply(fixes: Sequence[Mapping[str, Any]]) -> None:
    """Change the Recipe by these remedies: names are appended to a list, settings are merged."""
    recipe, changes = state.recipe(), dict[str, Any]()
    for fix in fixes:
        for name, value in fix.items():
            held = changes.get(name, getattr(recipe, name))
            if isinstance(value, Mapping):
                held = dict(held)
                changes[name] = held | {key: _joined(held.get(key, ()), one) for key, one in value.items()}
            else:
                changes[name] = _joined(held, value)
    options = changes.get("data_params", {})
    gone = (*options.get("drop_labels", ()), *options.get("join_labels", ()))
    state.update(sources.with_labels(recipe, *gone), **changes)


def _joined(held: Any, value: Any) -> Any:
    return tuple(dict.fromkeys((*held, *value))) if isinstance(value, tuple) else value


def _alike(found: list[Problem]) -> list[list[Problem]]:
    """Group problems of one message and one remedy, whatever their columns."""
    groups: dict[tuple[str, str], list[Problem]] = {}
    for problem in found:
        groups.setdefault((problem.message, problem.remedy), []).append(problem)
    return list(groups.values())


def _lines(groups: list[list[Problem]]) -> Iterator[str]:
    """Yield one line per group; a remedy that several share is stated once, after the last of them."""
    by_remedy: dict[str, list[list[Problem]]] = {}
    for group in groups:
        by_remedy.setdefault(group[0].remedy, []).append(group)
    for remedy, (*others, last) in by_remedy.items():
        yield from (_line(group, "") for group in others)
        yield _line(last, f"In each of these cases: {remedy}" if others else remedy)


COLUMNS_IN_LINE = 12  # columns in a line


def _line(group: list[Problem], remedy: str | None = None) -> str:
    """Return one line for problems that are alike, naming all their columns."""
    names = [problem.column for problem in group if problem.column]
    remedy = group[0].remedy if remedy is None else remedy
    more = f" and {len(names) - COLUMNS_IN_LINE} more" if len(names) > COLUMNS_IN_LINE else ""
    columns = f"**{plain(', '.join(names[:COLUMNS_IN_LINE]) + more)}**: " if names else ""
    return f"- {columns}{plain(group[0].message)} {plain(remedy)}".rstrip()


LONG_NAME = 24  # letters; a longer name would push the values out of sight


def overview(data: Dataset) -> None:
    """Draw the numbers of rows, columns and classes."""
    rows = or_ones(data.weight, data.n)
    size, positives = rows.sum(), rows @ data.y
    with st.container(horizontal=True, key="overview"):
        counts = data.weight is not None and are_whole(data.weight)
        worth = (
            f"{size:,.0f} rows"
            if counts
            else None
            if data.weight is None
            else f"effective number {size:,.0f}"
        )
        if data.rest is not None:
            worth = f"sample of {data.rest.total:,}"
        tables.noted("Lines" if counts else "Rows", f"{data.n:,}", worth, width=180)
        used, all_columns = data.X.shape[1], data.X.shape[1] + len(data.beside)
        of_all = f"of {counted(all_columns, 'column')}" if used < all_columns else None
        tables.noted("Score columns" if data.predictions else "Features", f"{used:,}", of_all, width=160)

        def of_class(
            held: float,
        ) -> str:  # importance weights are scaled, so that their sums are not numbers of rows
            return f"{held:,.0f} rows" if data.weight is None or counts else "by weight"

        if data.joint:
            by_class = class_shares(data)
            tables.noted("Classes", f"{len(data.names):,}", width=160)
            for what, place in (("Largest", 0), ("Smallest", -1)):
                name, share, held = by_class.iloc[place][["class", "share", "rows"]]
                tables.noted(
                    f"{what} class: {plain(short_class(name))}", percent(share), of_class(held), width=220
                )
            return
        share = float(f"{positives / size:.3g}")  # both shares as shown sum to 1
        for label, part, held in ((1, share, positives), (0, 1 - share, size - positives)):
            name = plain(short_class(data.classes[label]))
            tables.noted(f"Class {label}: {name}", percent(part), of_class(held), width=220)


def _balance(data: Dataset) -> None:
    """Draw the number of rows in each of K classes."""
    found = class_shares(data)
    if data.weight is not None and not are_whole(data.weight):
        found = found.drop(columns="rows")  # sums of scaled weights
    headings.heading("Classes")
    grid(
        found,
        hide_index=True,
        column_config={
            "class": st.column_config.TextColumn(width="medium"),
            "rows": st.column_config.NumberColumn(format="localized"),
            "share": st.column_config.ProgressColumn(
                format="percent", min_value=0.0, max_value=float(found["share"].max())
            ),
        },
        alt="Number of rows and share of each class",
    )


def compare_for_classes(recipe: Recipe, data: Dataset) -> None:
    """Compare the calibrators for this number of classes, however the reader goes on, unless others were chosen."""
    if changes := with_classes(recipe, data.n_classes):
        state.update(**changes)


def go_on(below: Sequence[Problem]) -> None:
    """Draw the button to the next step, and the number of warnings below it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("See the diagram", key="see_diagram", type="primary"):
            st.switch_page("pages/explore_reliability.py", query_params=state.here())
        if alike := len(_alike([problem for problem in below if problem.severity == "warning"])):
            st.caption(f"{counted(alike, 'warning')} below.", width="content")


def tables_of(recipe: Recipe, data: Dataset) -> None:
    """Draw what was left out, the columns and the first rows."""
    frame.notes(data.notes)
    if data.joint:
        _balance(data)
    headings.heading("Columns")
    grid(
        evaluations.of_data("summaries", KEPT_TABLE_SUMMARIES, recipe, lambda: summarise_columns(data.X)),
        hide_index=True,
        column_config={"column": st.column_config.TextColumn(width="medium")},
        alt="Type, missing values and examples of each column",
    )
    headings.heading("First rows")
    first = data.X.head(tables.PREVIEW_ROWS)
    if dates := {name: _days(first[name]) for name in first.select_dtypes("datetime")}:
        first = first.assign(**dates)
    names = dict(enumerate(data.class_names))
    labels = pd.Series(data.coded[: tables.PREVIEW_ROWS], first.index).map(names)
    shown = tables.numbered_from_1(pd.concat([labels.rename("class"), first], axis=1))
    narrow = {
        name: st.column_config.Column(width="medium") for name in shown.columns if len(str(name)) > LONG_NAME
    }
    grid(shown, column_config=narrow, alt="First rows")


def _days(column: pd.Series) -> pd.Series:
    """Return dates without a time of day if none has one."""
    known = column.dropna()
    return column.dt.date if (known == known.dt.normalize()).all() else column


def synthetic_settings(recipe: Recipe) -> None:
    """Draw the settings of a synthetic set, whose true posteriors are known."""
    entry = SYNTHETIC[recipe.data.removeprefix("synthetic:")]
    settings = dict(recipe.data_params)
    with st.container(horizontal=True):
        for parameter in entry.parameters:
            controls.parameter_control(
                parameter, f"data_params.{parameter.name}", settings.get(parameter.name, parameter.default)
            )
        controls.seed(recipe, "A different seed draws different rows.")

"""The sidebar: every control shows one field of the Recipe and changes it, in the order of the work."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from calib import sources
from calib.analysis.survival.table import censored_as_negative
from calib.calibrators import CALIBRATORS, INPUT_TABLES, label_of
from calib.data import SAMPLES, ReadingQuestion, reading_of
from calib.data.score_problems import ranking_problems
from calib.kernel.checks import InputError
from calib.kernel.declared import SETTINGS
from calib.kernel.records import Parameter, effective_parameters
from calib.kernel.segment import period_in_words, segment_in_words
from calib.kernel.wording import class_named, counted, listed
from calib.models import MODELS
from calib.models.existing_scores import may_be_probabilities
from calib.placements import PLACEMENTS
from calib.recipe import (
    FIELDS,
    Recipe,
    effective_values,
    with_calibrators,
    with_classes,
    with_model,
    with_split,
)
from calib.splits import SPLITS
from pages.ui import bagging, evaluations, jobs, state
from pages.ui.state import control
from pages.ui.text import plain
from pages.ui.widget import show_widget

KEPT_FINDINGS = 6
FEW_WORDS = 4  # choices in one row
LETTERS_OF_BUTTONS = 14  # most letters of all choices together for buttons side by side
LOWEST_PERCENT = 1e-4  # one in a million


# The fields of each part of the view, beside the number of bins
VIEWED = {
    "bins": ("binning",),
    "axes": ("reliability.axes",),
    "curve": ("curve", "band"),
    "layout": ("reliability.layout",),
}


def sidebar(recipe: Recipe, parts: Collection[str]) -> None:
    """Draw these parts below the data: Model · Calibration data · Calibrators · Base rate · View.

    Parameters
    ----------
    parts
        Of model, depths (where the page itself varies those of trees, and their leaves), placement or split
        (its settings alone), calibrators, base_rate, bins, axes, curve, layout.
    """
    _data(recipe)
    _classes(recipe)
    if "model" in parts:
        if recipe.content == "features":
            _model(recipe, "depths" in parts)
            _placement(recipe, "placement" in parts, folds="depths" not in parts)
        else:
            _scores(recipe)
    if "calibrators" in parts:
        _calibrators(recipe)
        if recipe.placement != "none" or "placement" not in parts:  # without calibration rows none is fitted
            _calibrator_settings(recipe)
    if "base_rate" in parts and not evaluations.joint(recipe):  # K classes have one base rate each
        _base_rate(recipe)
    _view(recipe, parts)


def choose_data(key: str) -> None:
    """Continue with another data set, whose columns and classes are chosen again."""
    kind, _, name = key.partition(":")
    held = sources.file_key(key)
    upload = state.uploads()[held] if held else None
    predictions = upload.predictions if upload else kind == "sample" and SAMPLES[name].predictions
    page_settings = {name: SETTINGS[name].default for name, _ in state.recipe().settings if name in SETTINGS}
    changes = page_settings | sources.with_data(
        key,
        upload.name if upload else None,
        content="predictions" if predictions else "features",
        target=upload.target if upload else None,
        data_params=reading_of(upload.frame).stated if upload else {},
    )
    together = (
        kind == "sample" and SAMPLES[name].positive is None
    )  # of other data, the Data page knows the classes
    changes |= with_classes(state.recipe(), 3 if together else 2)
    state.update(changes | dict(upload.said if upload else {}), data=key)
    _say_what_is_kept()


def _say_what_is_kept() -> None:
    """Add to the message after a change of data which settings are kept."""
    now = state.recipe()
    data = now.fields_of("data")
    others = {name: value for name, value in now.stated().items() if name.partition(".")[0] not in data}
    if named := state.in_words(now, others):
        state.say(
            " ".join(filter(None, [state.message(), f"Kept from the previous data set: {listed(named)}."]))
        )


def _data(recipe: Recipe) -> None:
    st.header("Data", anchor=False)
    choices = state.data_choices(recipe)
    show_widget(
        st.selectbox,
        "data",
        recipe.data,
        choose_data,
        "Data set",
        list(choices),
        format_func=choices.get,
        label_visibility="collapsed",
        help="Samples, synthetic data sets and your uploads. Use the Data page to upload a file.",
    )
    if recipe.test_data is not None:
        st.caption(f"Evaluated on {plain(recipe.test_file or recipe.test_data)}")
    if recipe.onnx is not None:
        st.caption(f"Scored by {plain(recipe.onnx_file or recipe.onnx)}")


def together(positive: str | None, names: Sequence[str], classes: int, key: str | None = None) -> None:
    """Draw the choice between all classes together and one of ``names`` against the rest."""
    control(
        st.selectbox,
        "positive",
        positive if positive in names else "",
        "Classes",
        ["", *names],
        key=key,
        store=lambda name: name or None,
        format_func=lambda name: f"{name} against the rest" if name else f"All {classes:,} classes",
        and_then=lambda name: (
            sources.with_positive(name) | with_classes(state.recipe(), classes if name is None else 2)
        ),
        help="Show all classes together, or one class against the rest.",
    )


def _classes(recipe: Recipe) -> None:
    """Draw the choices for three or more classes: all together or one against the rest, and which one is shown."""
    names = evaluations.class_names(recipe)
    if len(names) < 3 and not evaluations.joint(recipe):
        return
    together(recipe.positive, names, len(names), key="classes_together")
    if recipe.positive is None:
        choice(
            "view_class",
            recipe,
            recipe.view_class or "",
            ["", *names],
            st.selectbox,
            store=lambda name: name or None,
            format_func=lambda name: class_named(name) if name else "Confidence of the prediction",
        )


VARIED = ("max_depth", "leaf")  # settings of trees that the Trees page varies itself


def _model(recipe: Recipe, depths: bool) -> None:
    st.header("Model", anchor=False)
    control(
        st.selectbox,
        "model",
        recipe.model,
        recipe.label("model"),
        [key for key in MODELS if key != "given"],
        and_then=partial(with_model, recipe),
        format_func=lambda key: MODELS[key].label,
        help=MODELS[recipe.model].help,
        label_visibility="collapsed",
    )
    settings = dict(recipe.params)
    parameters = [p for p in MODELS[recipe.model].parameters if not (depths and p.name in VARIED)]
    matter = effective_parameters(parameters, settings)
    seeded = depths or _seed_matters(recipe)
    if not (matter or seeded):
        return
    with st.expander("Model settings"):
        for parameter in matter:
            parameter_control(
                parameter,
                f"params.{parameter.name}",
                settings.get(parameter.name, parameter.default),
                and_then=lambda new, name=parameter.name: {
                    "params": effective_values(MODELS[recipe.model].parameters, settings | {name: new})
                },
            )
        if seeded:
            seed(
                recipe,
                "A different seed gives a different random split and a different model. Results differ "
                "between seeds because of sampling variability.",
            )


def _seed_matters(recipe: Recipe) -> bool:
    """Tell whether another seed gives another split or another model."""
    seeded = SPLITS[recipe.split].seeded or (recipe.split == "file" and not _file_fixes_calibration(recipe))
    return seeded or MODELS[recipe.model].seeded


def seed(recipe: Recipe, help: str) -> None:
    parameter_control(replace(recipe.parameter("seed"), help=help), "seed", recipe.seed)


def _scores(recipe: Recipe) -> None:
    """Draw the controls for predictions made elsewhere: the score column, and the rows that evaluate it."""
    st.header("Scores", anchor=False)
    try:
        columns = evaluations.load(recipe).scores
    except ReadingQuestion:
        st.caption("Answer the question on this page first.")
        return
    except InputError:
        st.caption("Choose the label on the Data page first.")
        return
    if len(columns) == 1:
        st.caption(plain(columns[0]))
    else:
        control(
            st.selectbox,
            "score",
            recipe.score if recipe.score in columns else columns[0],
            recipe.label("score"),
            columns,
            label_visibility="collapsed",
            help=recipe.parameter("score").help,
        )
    split(recipe)
    _judged_on(recipe)


def score_findings(recipe: Recipe) -> None:
    """Warn on every page that evaluates the scores if they rank the classes backwards, or not at all."""
    try:
        data = evaluations.load(recipe)
    except InputError:
        return  # the page itself says why
    found = jobs.cached("findings", KEPT_FINDINGS, data.digest, lambda: ranking_problems(data))
    columns = data.scores
    for problem in found:
        if problem.column == (recipe.score if recipe.score in columns else columns[0]):
            with st.container(horizontal=True, vertical_alignment="center", key="findings"):
                st.warning(f"**{plain(problem.column)}**: {plain(problem.message)}")
                if problem.fix:
                    act, fix = plain(problem.action), dict(problem.fix)
                    st.button(act, key="turn", help=plain(problem.remedy), on_click=state.update, kwargs=fix)
                else:
                    st.caption(plain(problem.remedy), width="content")


def censored_rows(recipe: Recipe) -> None:
    """Warn on every page that evaluates the label as it is if some rows are censored."""
    try:
        frame, label, positive = evaluations.first_rows(recipe)
    except InputError:
        return  # the page itself says why
    key = evaluations.data_key(recipe)
    lost = jobs.cached("censored", KEPT_FINDINGS, key, lambda: censored_as_negative(frame, label, positive))
    if lost:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.warning(
                f"{counted(lost, 'censored row')} count here as “not {plain(positive)}”; the Survival page "
                f"accounts for censoring."
            )
            st.page_link("pages/explore_survival.py", label="Open Survival", query_params=state.here())


def parameter_control(
    parameter: Parameter,
    field: str,
    value: Any,
    plays: bool = False,
    **more: Any,
) -> None:
    """Draw the control that fits a parameter's kind.

    Parameters
    ----------
    plays
        Whether readers try values one after another: then numbers get sliders, and short choices are side by side.
    more
        Options of the widget and of ``state.control``; label, help, range and words are those of the declaration.
    """
    options = {"help": parameter.help or None} | more
    args = (field, value, parameter.label)
    if parameter.kind == "boolean":
        control(st.toggle, *args, **options)
    elif parameter.kind == "choice":
        widget, look = _choice_widget(parameter, plays)
        offered = list(parameter.offered())
        control(widget, *args, offered, format_func=parameter.in_words, **look, **options)
    elif parameter.kind == "points":
        control(st.text_area, field, state.typed(field, value), parameter.label, height=68, **options)
    elif plays and parameter.kind in ("integer", "number"):
        control(st.slider, *args, **_range_of(parameter), **options)
    else:
        _number(parameter, field, value, **options)


def _choice_widget(parameter: Parameter, plays: bool) -> tuple[Callable, dict[str, Any]]:
    """Return the widget of a choice, and its options."""
    choices = list(parameter.offered())
    if not plays:
        return st.selectbox, {}
    if not isinstance(choices[0], str):
        return st.select_slider, {}
    short = sum(len(parameter.in_words(choice)) for choice in choices) <= LETTERS_OF_BUTTONS
    return (st.segmented_control, {"required": True}) if short else (st.selectbox, {})


def _range_of(parameter: Parameter) -> dict[str, Any]:
    """Return the options of a number's widget: its range and its step."""
    kind = int if parameter.kind == "integer" else float
    ends = {"min_value": parameter.low, "max_value": parameter.high}
    step = parameter.extra.get("step", 1 if kind is int else 0.05)
    return {name: None if end is None else kind(end) for name, end in ends.items()} | {"step": step}


def _number(parameter: Parameter, field: str, value: float | None, **options: Any) -> None:
    """Draw a number field; an optional one says what happens when it is empty."""
    kind = int if parameter.kind == "integer" else float
    usual = _range_of(parameter) | ({} if kind is int else {"step": None, "format": "%g"})
    usual["none"] = parameter.in_words(None) if parameter.optional else None
    number(field, None if value is None else kind(value), parameter.label, **(usual | options))


def number(field: str, value: float | None, label: str, none: str | None = None, **kwargs: Any) -> None:
    """Draw a number field; an optional one shows ``none`` when empty, and a button beside it empties it."""
    if value is None or none is None:
        control(st.number_input, field, value, label, placeholder=none, **kwargs)
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        control(st.number_input, field, value, label, **kwargs)
        words = none[0].upper() + none[1:]
        st.button(
            words, key=f"empty_{field}", type="tertiary", on_click=lambda: state.update(**{field: None})
        )


def _share(recipe: Recipe, name: str) -> None:
    parameter = recipe.parameter(name)
    control(
        st.slider,
        name,
        round(100 * getattr(recipe, name)),
        parameter.label,
        min_value=round(100 * parameter.low),
        max_value=round(100 * parameter.high),
        step=1,
        format="%d%%",
        help=parameter.help,
        store=lambda percent: percent / 100,
    )


def _placement(recipe: Recipe, whole: bool, folds: bool) -> None:
    """Draw the placement with its settings; without ``whole``, only those that every placement shares, without folds if
    the page has one test set.
    """
    st.header("Calibration data" if whole else "Split", anchor=False)
    if not whole:
        split(recipe)
        _judged_on(recipe, folds)
        _calibration_rows(recipe)
        return
    fixed = _file_fixes_calibration(recipe)
    keys = [
        key
        for key in PLACEMENTS
        if key != "full"
        and (MODELS[recipe.model].bagged or key not in bagging.NEEDED_BY)
        and (PLACEMENTS[key].for_k or not evaluations.joint(recipe))
    ]
    refused = {key: why for key in keys if (why := SPLITS[recipe.split].refuses(PLACEMENTS[key].asks, fixed))}
    keys = [key for key in keys if key not in refused]
    control(
        st.selectbox,
        "placement",
        recipe.placement,
        recipe.label("placement"),
        keys + ([] if recipe.placement in keys else [recipe.placement]),
        format_func=lambda key: PLACEMENTS[key].label,
        label_visibility="collapsed",
        help=PLACEMENTS[recipe.placement].help,
    )
    if refused:
        names = listed([PLACEMENTS[key].label for key in refused])
        st.caption(f"Not offered: {names}. {' '.join(dict.fromkeys(refused.values()))}")
    split(recipe)
    if recipe.split == "file" and (recipe.placement not in ("split", "cv") or fixed):
        return  # nothing is left to set
    with st.expander("Split settings"):
        _judged_on(recipe)
        if recipe.placement == "split":
            _calibration_rows(recipe)
        if recipe.placement == "cv":
            parameter_control(replace(recipe.parameter("cv"), label="Folds"), "cv", recipe.cv)


def _calibration_rows(recipe: Recipe) -> None:
    if not _file_fixes_calibration(recipe):
        _share(recipe, "calibration_size")


def _file_fixes_calibration(recipe: Recipe) -> bool:
    """Tell whether a column assigns the calibration rows, so that no share of them is drawn."""
    try:
        return recipe.split == "file" and evaluations.load(recipe).fixes_calibration
    except InputError:
        return False  # the page itself says why


def split(recipe: Recipe) -> None:
    """Draw how rows are held out if column roles leave a choice, and the gap of a split in time."""
    keys = [
        key for key, made in SPLITS.items() if made.needs is None or getattr(recipe, made.needs) is not None
    ]
    if len(keys) < 2 and recipe.split in keys:
        return
    control(
        st.selectbox,
        "split",
        recipe.split,
        recipe.label("split"),
        keys if recipe.split in keys else [*keys, recipe.split],
        format_func=lambda key: SPLITS[key].label,
        help=SPLITS[recipe.split].help,
        and_then=lambda key: {
            **{"evaluation": "holdout", **(sources.NOT_ELSEWHERE if recipe.test_data else {})},
            **with_split(recipe, key),
        },
    )
    for parameter in SPLITS[recipe.split].parameters:
        value = dict(recipe.data_params).get(parameter.name, parameter.default)
        parameter_control(parameter, f"data_params.{parameter.name}", value)


def _judged_on(recipe: Recipe, folds: bool = True) -> None:
    """Draw the choice of test rows: one test set, or with ``folds`` each row once, in the fold that did not learn from
    it.
    """
    if recipe.split == "file":
        return  # the file fixes one test set
    if folds:
        choice("evaluation", recipe)
    if recipe.evaluation == "holdout" or not folds:
        _share(recipe, "test_size")
    else:
        parameter_control(recipe.parameter("folds"), "folds", recipe.folds)


def _calibrators(recipe: Recipe) -> None:
    st.header("Calibrators", anchor=False)
    if evaluations.joint(recipe):  # also those of all classes, but none that needs a table
        offered = [
            key for key, method in CALIBRATORS.everything().items() if method.input not in INPUT_TABLES
        ]
    else:
        offered = list(dict.fromkeys([*CALIBRATORS, *recipe.calibrators]))
    control(
        st.multiselect,
        "calibrators",
        list(recipe.calibrators),
        recipe.label("calibrators"),
        offered,
        and_then=partial(with_calibrators, recipe),
        format_func=lambda key: CALIBRATORS[key].label,
        label_visibility="collapsed",
        placeholder="Choose calibrators",
        help=recipe.parameter("calibrators").help,
    )


def _calibrator_settings(recipe: Recipe) -> None:
    """Draw the options of the chosen calibrators, except the merge rule, which has a control beside the pairs."""
    given, score = dict(recipe.options), _kind_of_score(recipe)
    options = {}
    for key in recipe.calibrators:
        offered = [p for p in CALIBRATORS[key].parameters if p.name != "merge"]
        options[key] = effective_parameters(offered, _options_of(key, recipe), score=score)
    if not any(options.values()):
        return
    with st.expander("Calibrator settings"):
        for key in filter(options.get, options):
            st.markdown(f"**{plain(label_of(key))}**")
            for parameter in options[key]:
                name = f"{key}.{parameter.name}"
                parameter_control(
                    parameter,
                    f"options.{name}",
                    given.get(name, parameter.default),
                    and_then=lambda new, key=key, opt=parameter.name: {
                        "options": _options(recipe, key, opt, new)
                    },
                )


def _options(recipe: Recipe, key: str, name: str, new: Any) -> dict[str, Any]:
    """Return all options after changing one of a calibrator, without those that then have no effect."""
    options = effective_values(CALIBRATORS[key].parameters, _options_of(key, recipe) | {name: new})
    others = {n: value for n, value in recipe.options if not n.startswith(f"{key}.")}
    return others | {f"{key}.{n}": value for n, value in options.items()}


def _options_of(key: str, recipe: Recipe) -> dict[str, Any]:
    """Return the Recipe's options of one calibrator."""
    return {name.partition(".")[2]: value for name, value in recipe.options if name.startswith(f"{key}.")}


def _kind_of_score(recipe: Recipe) -> str:
    """Return "probability" or "margin"."""
    if recipe.content == "features":
        return MODELS[recipe.model].score
    try:
        columns = evaluations.load(recipe).X
    except InputError:
        return "probability"  # the page itself says why
    scores = columns[recipe.score] if recipe.score in columns else columns.iloc[:, 0]
    return "probability" if may_be_probabilities(scores.to_numpy()) else "margin"


def _base_rate(recipe: Recipe) -> None:
    """Draw the frequency of the positive class in deployment, in per cent."""
    stated, declared = recipe.base_rate, recipe.parameter("base_rate")
    value = None if stated is None else 100 * stated
    lowest, highest = LOWEST_PERCENT, 100 - LOWEST_PERCENT
    if value is not None:  # a link may state a smaller one, and 100 times the share may round down
        lowest, highest = min(lowest, value), max(highest, value)
    with st.expander(
        declared.label + ("" if stated is None else f": {declared.in_words(stated)}"),
        expanded=stated is not None,
    ):
        number(
            "base_rate",
            value,
            f"{declared.label} (%)",
            none=declared.in_words(None),
            min_value=lowest,
            max_value=highest,
            format="%g",
            help=declared.help,
            store=lambda percent: percent / 100,
        )


def _view(recipe: Recipe, parts: Collection[str]) -> None:
    """Draw the settings that only change pictures, behind a button that shows which differ from the defaults."""
    shown = {
        "bins": bins,
        "axes": partial(choice, "reliability.axes"),
        "curve": _curve,
        "layout": partial(choice, "reliability.layout"),
    }
    if not set(shown) & set(parts):
        return
    with st.container(key="view"), st.popover(_viewed(recipe, parts), width="stretch", wrap=True):
        for part, show in shown.items():
            if part in parts:
                show(recipe)


def _viewed(recipe: Recipe, parts: Collection[str]) -> str:
    """Return the button's label: the number of bins, and every view setting that is not the default."""
    said = [counted(recipe.bins, "bin")] if "bins" in parts else []
    for part, names in VIEWED.items():
        for name in names if part in parts else ():
            value, declared = recipe.value(name), recipe.parameter(name)
            if value != declared.default:
                word = declared.in_words(value)
                said.append(f"{declared.label.lower()} {word if word.isupper() else word.lower()}")
    return f"View: {', '.join(said)}" if said else "View"


def bins(recipe: Recipe) -> None:
    field("bins", recipe)
    field("binning", recipe)


def field(name: str, recipe: Recipe) -> None:
    """Draw the control of a field or of a page's own setting, by its kind: a slider, a few words, or another."""
    declared, value = recipe.parameter(name), recipe.value(name)
    if name == "bins":
        parameter_control(declared, name, value, plays=True)
    elif declared.kind == "choice" and len(declared.offered()) <= FEW_WORDS:
        choice(name, recipe)
    else:
        parameter_control(declared, name, value)


def _curve(recipe: Recipe) -> None:
    choice("curve", recipe)
    choice("band", recipe)


def choice(
    name: str,
    recipe: Recipe,
    value: Any = ...,
    offered: Collection[Any] = (),
    widget: Callable | None = None,
    **more: Any,
) -> Any:
    """Draw a field, or a page's own setting "page.setting", as a choice, by default among a few words; return it.

    Parameters
    ----------
    value, offered
        The value shown and the choices, if they are not the Recipe's value and all choices.
    more
        Options of the widget; label, help and words are those of the declaration if not given here.
    """
    parameter = recipe.parameter(name)
    value = recipe.value(name) if value is ... else value
    usual: dict[str, Any] = {"help": parameter.help or None, "format_func": parameter.in_words}
    if widget is None:
        widget, usual["required"] = st.segmented_control, True
    if parameter.kind == "names":
        usual["store"] = tuple
    label = more.pop("label", parameter.label)
    return control(widget, name, value, label, list(offered or parameter.offered()), **(usual | more))


def one_calibrator(name: str, recipe: Recipe, value: str, keys: Collection[str], **more: Any) -> str:
    """Draw the choice of one of the calibrators ``keys``, and return it; nothing is drawn for a single one."""
    if len(keys) < 2:
        return value
    return choice(name, recipe, value, keys, **({"widget": st.selectbox, "format_func": label_of} | more))


def rows_shown(page: str) -> None:
    """Say which conditions select the rows shown, each with a button that shows all rows again."""
    for field, (home, words_of, every) in CONDITIONS.items():
        chosen = getattr(state.recipe(), field)
        if not chosen:
            continue
        shown = words_of(chosen)
        text = f"Only test rows {shown}."
        if page == home:
            text = f"Selected: test rows {shown}. The other pages show only these rows."
        with st.container(horizontal=True, vertical_alignment="center", key=f"only_{field}"):
            st.caption(plain(text), width="content")
            st.button(
                every,
                key=f"all_{field}s",
                icon=":material/close:",
                type="tertiary",
                on_click=state.update,
                kwargs={field: FIELDS[field].default},
            )


CONDITIONS: dict[str, tuple[str, Callable[[Any], str], str]] = {
    "period": ("Watch", lambda value: f"of the period {period_in_words(value)}", "Show all periods"),
    "segment": ("Groups", lambda value: f"with {segment_in_words(value)}", "Show all rows"),
}
"""Field of a Recipe that chooses rows → the page that sets it and shows all rows, its words, and what ends it."""

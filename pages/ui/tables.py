"""Numbers on a page: the headline, tables with a dash for each missing value, and diagrams side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import pandas as pd
import streamlit as st
from pandas.api.types import is_numeric_dtype

from calib.analysis.decision import leading_metrics
from calib.analysis.differences import PER_ROW, Differences, clipped_sentence, differences, reference_of
from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.evaluate.estimate import Difference, Estimate
from calib.export.lessons import named_numbers
from calib.figures import formatted_metrics
from calib.figures.many import MOST_COLOURED
from calib.figures.metrics import EVERYDAY
from calib.figures.reliability import default_curves
from calib.kernel.declared import SETTINGS
from calib.kernel.wording import MISSING, brief, briefly, class_named, percent, values_and_change
from calib.lessons import parse_step
from calib.metrics import METRICS
from calib.metrics.confidence_intervals import why_missing
from calib.recipe import Recipe
from calib.sources import digest
from pages.ui import chart, downloads, headings, lesson_layout, state

PREVIEW_ROWS = 200  # of an uploaded table that a page shows
HEIGHT_OF_COLUMNS = {2: 560, 3: 440}  # of a diagram in so many columns, in pixels
MAIN = (*EVERYDAY, "lower", "upper", "width", "tce")


def numbered_from_1(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with row numbers that begin at 1 instead of 0."""
    return table.set_axis((table.index + 1).rename("row"), axis=0)


def headline(evaluation: Evaluation, choice: str | None, found: Differences | None) -> None:
    """Draw four metrics of the person's own model, and their change under the recommended method, with intervals.

    Parameters
    ----------
    choice
        The method recommended, if any.
    found
        The differences; None while they are worked out.
    """
    leading = evaluation.applicable(leading_metrics(evaluation))
    headline_key = reference_of(evaluation.predictions)
    if headline_key != "none" and choice is not None:
        headline_key = choice
    other = None if choice in (None, headline_key) else choice
    found = found or differences(evaluation, PER_ROW)
    shown = [key for key in (headline_key, other) if key is not None]
    with headings.rows():
        for name in leading:
            line = None if other is None else found.line(name, other)
            values = [evaluation.estimate(name, key, interval=False) for key in shown]
            texts = dict.fromkeys(map(Estimate.beside, values, _as_changed(values, line)))
            st.metric(
                METRICS[name].label,
                " → ".join(texts),
                help=METRICS[name].help,
                **(changed(line, METRICS[name].higher_is_better) if line else {}),
            )
    who = "Uncalibrated" if headline_key == "none" else label_of(headline_key)
    then = f" → {label_of(other)}, change [95 % interval]" if other else ""
    clipped = clipped_sentence(evaluation.measured(leading).loc[shown])
    chart.caption(
        f"{who}{then}; {evaluation.size_text}. {why_missing(evaluation.sample)} {clipped}".strip(),
        "headline",
    )


def _as_changed(values: Sequence[Estimate], line: Difference | None) -> tuple[str, ...]:
    """Format one number, or two in the decimals of their difference."""
    numbers = [each.value for each in values]
    if line is None or not isfinite(line.value):
        return briefly(*numbers)
    return values_and_change(*numbers, line.value, line.low, line.high, digits=2)[:2]


def changed(line: Difference, up_is_good: bool | None) -> dict[str, Any]:
    """Return the arguments of ``st.metric`` for a difference: green if better and its interval excludes 0.

    If the log loss is infinite, the difference is between the clipped values, and grey. An unknown one is not shown.
    """
    text = line.text(2)
    if text == MISSING:
        return {}
    color: Any = ("green" if (line.value > 0) == bool(up_is_good) else "red") if line.clear else "gray"
    return {"delta": text, "delta_color": color, "delta_arrow": "off"}


def against_uncalibrated(evaluation: Evaluation, metric: str, key: str) -> None:
    """Draw one metric of one calibrator as a headline number, with its difference from the uncalibrated model.

    Parameters
    ----------
    metric
        One of ``PER_ROW``.
    """
    found = evaluation.estimate(metric, key, interval=False)
    against = reference_of(evaluation.predictions) == "none"
    line = differences(evaluation, [metric]).line(metric, key) if against else None
    st.metric(
        f"{METRICS[metric].label} · {label_of(key)}",
        found.beside(brief(found.value)),
        **(changed(line, METRICS[metric].higher_is_better) if line else {}),
        help=f"{METRICS[metric].help} The second number is the difference from the uncalibrated model, with its 95 % "
        "interval.",
    )


def difference(change: float) -> dict[str, Any]:
    """Return the arguments of ``st.metric`` for a difference that is neither good nor bad, in grey."""
    delta = f"{change:+.2g}".replace("-", "−") if isfinite(change) and change else None
    return {"delta": delta, "delta_color": "gray", "delta_arrow": "off"}


def metrics(evaluation: Evaluation) -> None:
    """Draw the table of every metric of every calibrator, with the best value of each column marked."""
    headings.heading("Metrics on the test rows")
    every = toggle("reliability.all_metrics", evaluation.recipe)
    more = _more(evaluation)  # first: the last columns are out of sight
    shown = [*more, *(evaluation.metrics if every else MAIN)]
    grid(
        formatted_metrics(evaluation, shown),
        alt="Metric table",
        **_lines_in_colour(evaluation),
    )
    chart.caption(
        f"{evaluation.size_text}, {percent(evaluation.share)} of them in "
        f"{class_named(evaluation.dataset.classes[1])}; ★ marks the best value in each column. Small "
        "differences may be due to sampling variability. Compare ECE and miscalibration with the values that "
        "a calibrated model has by chance, in the neighbouring columns. CORP splits the Brier score by "
        "isotonic regression, without bins: Brier score = miscalibration − discrimination + uncertainty. "
        f"{clipped_sentence(evaluation.metrics)}{_platt(evaluation)}{_of_confidence(evaluation)}",
        "metrics",
    )
    with st.container(horizontal=True):
        taken = [*evaluation.metrics, *_chosen(evaluation)]
        downloads.table(
            "Metrics (CSV)",
            lambda: evaluation.measured(taken).rename_axis("calibrator"),
            "metrics.csv",
            index=True,
        )
        downloads.table("Predictions (CSV)", evaluation.frame, "predictions.csv")


def _lines_in_colour(evaluation: Evaluation) -> dict[str, Any]:
    """Return options that let the selected rows of the metric table be the coloured lines of the charts."""
    keys = list(evaluation.predictions)
    if len(keys) <= MOST_COLOURED:
        return {"key": "metrics"}
    in_colour = set(evaluation.recipe.setting("reliability.lines")) & set(keys)
    here = [key for key in keys if key in (in_colour or default_curves(evaluation, keys))]
    name = f"metrics_{'_'.join(map(slug, here))}"  # a new table if the lines were chosen elsewhere

    def chosen() -> None:
        rows = st.session_state[name].selection.rows
        state.update(**{"reliability.lines": tuple(keys[row] for row in sorted(rows))})

    begin = {"selection": {"rows": [keys.index(key) for key in here]}}
    return {"key": name, "on_select": chosen, "selection_mode": "multi-row", "selection_default": begin}


def named(evaluation: Evaluation) -> None:
    """Draw the metrics that the open step of a lesson names, beside its chart."""
    with lesson_layout.on("numbers") as on_stage:
        if on_stage:
            lesson, number = parse_step(state.lesson_open())
            table = named_numbers(lesson.steps[number - 1], evaluation)
            if table is None:
                return
            wide = len(table.columns) > len(table)  # wider than the words beside the chart
            table = table.T if wide else table
            if state.presenter():  # with the type of the words around it
                st.table(table)
            else:
                grid(table, key="named", alt="Metrics named")


def _chosen(evaluation: Evaluation) -> list[str]:
    return evaluation.applicable(evaluation.recipe.setting("reliability.more_metrics"))


def _more(evaluation: Evaluation) -> list[str]:
    """Draw the choice of further metrics, and return those chosen."""
    name = "reliability.more_metrics"
    parameter = SETTINGS[name]
    return state.control(
        st.multiselect,
        name,
        _chosen(evaluation),
        parameter.label,
        evaluation.applicable(parameter.offered()),
        format_func=parameter.in_words,
        placeholder="Choose metrics",
        help=parameter.help,
    )


def toggle(name: str, recipe: Recipe) -> bool:
    """Draw a page's own setting "page.setting" as a switch, and return whether it is on."""
    return state.control(st.toggle, name, recipe.setting(name), SETTINGS[name].label)


def _of_confidence(evaluation: Evaluation) -> str:
    """Explain how these metrics differ from those of all classes together, if they are of a confidence."""
    if not evaluation.of_confidence:
        return ""
    return (
        " These metrics evaluate the confidence. For every calibrator, the outcome is 1 if the uncalibrated model "
        "predicts the right class, and 0 otherwise. The scores of all classes are shown above."
    )


def _platt(evaluation: Evaluation) -> str:
    """Return which scores Platt scaling was fitted on, because its results depend on them."""
    fitted = evaluation.calibrators.get("platt")
    return f" Platt scaling is {fitted[0].notes_[0]}" if fitted else ""


def noted(label: str, value: str, note: str | None = None, **options: Any) -> None:
    """Draw a number with a note in grey below it."""
    st.metric(label, value, note, delta_color="off", delta_arrow="off", **options)


def side_by_side(evaluation: Evaluation, **options) -> None:
    """Draw one diagram per calibrator, with the uncalibrated model behind each."""
    raw = ["none"] if "none" in evaluation.predictions else []
    keys = [key for key in evaluation.predictions if key != "none"] or raw
    diagrams(
        {label_of(key): evaluation for key in keys},
        [list(dict.fromkeys([*raw, key])) for key in keys],
        **options,
    )


def diagrams(
    evaluations: Mapping[str, Evaluation],
    calibrators: Sequence[Sequence[str] | None] | None = None,
    **options,
) -> None:
    """Draw a reliability diagram per evaluation under its name, three per row, two in presenter view, one on a phone.

    Parameters
    ----------
    calibrators
        For each of them the ones shown, all by default.
    options
        Of ``chart.show``.
    """
    columns = st.columns(min(2 if lesson_layout.beside_the_page() else 3, len(evaluations)))
    height = HEIGHT_OF_COLUMNS.get(len(columns))
    shown = calibrators or [None] * len(evaluations)
    for i, ((name, evaluation), keys) in enumerate(zip(evaluations.items(), shown, strict=True)):
        with columns[i % len(columns)]:
            key = f"reliability_{slug(name)}"
            picked = evaluation.recipe.stated_settings("reliability", "selection", "axes", "faint") | options
            chart.show(
                "reliability", evaluation, key, heading=name, calibrators=keys, height=height, **picked
            )


def slug(name: str) -> str:
    """Return a name as part of a key: letters and digits stay, the rest becomes dashes; a digest keeps it unique."""
    plain = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in name)
    return plain if plain == name else f"{plain[:40]}-{digest(name.encode())[:6]}"


MEASURED_ROWS = 200  # rows whose texts are compared; the browser measures fewer
# Columns whose texts are compared; tables of features may have thousands, far beyond the screen
COMPARED_COLUMNS = 50


def grid(table: Any, *, alt: str, **options: Any) -> Any:
    """Show a table, where Streamlit would write None for a missing value; the options are those of ``st.dataframe``.

    The browser measures each column once, and cuts off longer texts that come later. So a table whose texts became
    longer or shorter is replaced, in a container of another name. A new container first shows what stood in the old
    one, and the table at the old place would be measured with the old texts; so the place changes as well.
    """
    key, lengths = options.get("key", alt), _lengths(table)
    before, second = _grids().get(key, (lengths, False))
    second ^= before != lengths
    _grids()[key] = lengths, second
    with st.container(key=f"grid_{key}_{lengths}"):
        if second:
            st.empty()
        shown = st.dataframe(table, placeholder="–", alt=alt, **options)
        if not second:
            st.empty()
    return shown


def _grids() -> dict[str, tuple[str, bool]]:
    """Return, per table, the lengths of its texts and whether it stands at the second place of its container."""
    return st.session_state.setdefault("grids", {})


def _lengths(table: pd.DataFrame) -> str:
    """Return the length of the longest text of each of the first columns and of the index, as part of a name."""
    head = table.iloc[:MEASURED_ROWS, :COMPARED_COLUMNS]
    columns = [head.index, *(column for _, column in head.items())]
    texts = [column for column in columns if not is_numeric_dtype(column.dtype)]
    return "_".join(str(max(map(len, map(str, text)), default=0)) for text in texts)

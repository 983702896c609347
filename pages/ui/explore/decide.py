"""Parts of the Decide page beside its charts: the two costs, headline numbers, and the undecided rows."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from calib.analysis.class_decision import HIGHEST_COST, ClassDecision, decide_class, write_costs
from calib.analysis.decision import Decision, decide, thresholds_in_use
from calib.calibrators import interval_methods, label_of, name_of
from calib.evaluate import Evaluation
from calib.figures import formatted_costs
from calib.kernel.declared import SETTINGS
from calib.kernel.weights import are_whole
from calib.kernel.wording import (
    brief,
    brief_percent,
    class_named,
    counted,
    listed,
    number,
    percent,
    probability,
    short_class,
)
from calib.metrics.confidence_intervals import why_missing
from calib.recipe import Recipe
from calib.sources import digest
from pages.ui import chart, downloads, headings, state
from pages.ui.controls import one_calibrator, parameter_control
from pages.ui.tables import changed, difference, grid, noted
from pages.ui.text import plain
from pages.ui.widget import show_widget

MOST_LISTED = 200
MOST_EDITED = 12  # classes whose costs fit a table on the page
# A thousandth apart for rare events; a range is proposed only if narrower than half of the whole range
STEPS_OF_THRESHOLD = (*(1e-4, 2e-4, 5e-4), *(k / 1000 for k in range(10)), *(k / 100 for k in range(1, 101)))
WIDEST = 0.5


def controls(recipe: Recipe) -> None:
    """Draw the two costs; only their ratio moves the threshold."""
    with st.container(horizontal=True):
        for name in ("decide.cost_false_alarm", "decide.cost_miss"):
            parameter_control(recipe.parameter(name), name, recipe.setting(name), width=190)


def among_classes(evaluation: Evaluation) -> None:
    """Draw the decision among three or more classes: a cost per pair of classes, and the cost of the decisions."""
    recipe = evaluation.recipe
    decision = decide_class(evaluation, **recipe.stated_settings("decide", "costs", "reject"))
    place = headings.finding()
    with place.words:
        _class_costs(decision)
        reject = SETTINGS["decide.reject"]
        parameter_control(reject, "decide.reject", recipe.setting("decide.reject"))
        _class_headline(decision)
    with place.picture:
        chart.show("class_costs", decision, sentence=place.sentence)
    headings.heading("Costs")
    grid(formatted_costs(decision), key="costs_table", alt="Costs of every calibrator")
    st.caption(
        f"Costs per row, with 95 % intervals from {evaluation.size_text}. “Correct” is the share of correct "
        "decisions among the decided rows. ★ marks the lowest realised cost."
    )
    downloads.table("Costs (CSV)", lambda: decision.table, "costs.csv", index=True)


def _class_costs(decision: ClassDecision) -> None:
    """Draw the editable matrix of costs, one line per true class."""
    names = [short_class(name) for name in decision.evaluation.whole.names]
    if len(names) > MOST_EDITED:
        st.caption(
            f"Every mistake costs 1. With at most {MOST_EDITED} classes, you can change each cost here."
        )
        return
    st.markdown("**What does a decision cost?** Each row is a true class; each column is a decision.")
    key = f"class_costs_{digest(repr((names, write_costs(decision.costs))).encode())[:8]}"

    def edited() -> None:
        costs = decision.costs.copy()
        for line, cells in st.session_state[key]["edited_rows"].items():
            for name, value in cells.items():
                costs[int(line), int(name)] = 0.0 if value is None else value
        state.update(**{"decide.costs": write_costs(costs)})

    table = pd.DataFrame(decision.costs, columns=[str(j) for j in range(len(names))])
    table.insert(0, "class", names)
    columns = {
        str(j): st.column_config.NumberColumn(name, min_value=0.0, max_value=HIGHEST_COST, format="%g")
        for j, name in enumerate(names)
    }
    st.data_editor(
        table,
        key=key,
        on_change=edited,
        hide_index=True,
        disabled=["class"],
        column_config={"class": "True class", **columns},
        alt="Cost of each decision for each true class",
    )


def _costs(decision: Decision | ClassDecision, realised: str) -> None:
    """Draw the realised and expected costs of the cheapest calibrator; ``realised`` describes the former."""
    best = decision.cheapest
    realised, expected = (decision.cost(name, best).value for name in ("realised", "expected"))
    is_reference = best == decision.reference
    st.metric(
        f"Realised cost · {label_of(best)}",
        brief(realised) if is_reference else decision.changed_cost(best)[1],
        **({} if is_reference else changed(decision.difference(best), up_is_good=False)),
        help=f"{realised} The number next to it is the difference from {name_of(decision.reference)} with "
        "its 95 % interval.",
    )
    st.metric(
        "Expected cost",
        brief(expected),
        **difference(expected - realised),
        help="The cost that the probabilities predict. The number next to the expected cost is its "
        "difference from the realised cost; calibrated probabilities give a difference near 0.",
    )


def _class_headline(decision: ClassDecision) -> None:
    best = decision.cheapest
    line = decision.table.loc[best]
    with headings.rows():
        _costs(decision, "Cost per test row with the cheapest method.")
        if decision.reject is not None:
            st.metric(
                "Undecided rows",
                brief_percent(line.undecided),
                help="Rows that are left undecided, because every decision would have a higher expected "
                "cost.",
            )


def range_of_thresholds(evaluation: Evaluation) -> None:
    """Draw the range of thresholds of the decision curve, those that people might use."""
    recipe = evaluation.recipe
    low, high = sorted(float(recipe.setting(f"decide.{end}")) for end in ("lowest", "highest"))
    if (low, high) == (0, 1):
        _propose_range(evaluation)

    def moved(chosen: tuple[float, float]) -> None:
        if chosen[0] < chosen[1]:
            state.update(**{"decide.lowest": chosen[0], "decide.highest": chosen[1]})

    show_widget(
        st.select_slider,
        "thresholds",
        (low, high),
        moved,
        "Thresholds of the decision curve",
        sorted({low, high, *STEPS_OF_THRESHOLD}),
        format_func=lambda threshold: f"{threshold:g}",
        help="Choose the range of thresholds that are plausible in practice.",
    )


def _propose_range(evaluation: Evaluation) -> None:
    """Offer a narrower range of thresholds if events are rare."""
    end = thresholds_in_use(evaluation)
    if end is None or end > WIDEST:
        return
    st.info(
        f"The predictions are small: above a threshold of {plain(probability(end))} they are hardly useful. Choose a "
        "narrower range to see more detail."
    )
    narrow = {"decide.lowest": 0.0, "decide.highest": end}
    label = f"Show thresholds up to {end:g}"
    st.button(label, key="narrow_thresholds", on_click=state.update, kwargs=narrow)


def headline(decision: Decision) -> None:
    """Draw the threshold, the costs of the cheapest calibrator, and the share of undecided rows."""
    classes = decision.evaluation.dataset.classes
    false_alarm, miss = f"{decision.cost_false_alarm:g}", f"{decision.cost_miss:g}"
    with headings.rows():
        noted(
            "Threshold",
            probability(decision.threshold),
            f"{false_alarm} / ({false_alarm} + {miss})",
            help=f"Treat a row as {class_named(classes[1])} if its probability exceeds the threshold: "
            "the cost of a false alarm divided by the sum of both costs.",
        )
        _costs(decision, "Cost per test row with the cheapest method, if you act above the threshold.")
        for method, rows in decision.undecided.items():
            held = decision.evaluation.at(rows).tested
            noted(
                f"Undecided · {label_of(method)}",
                brief_percent(decision.undecided_share(method)),
                f"{held:,} of {decision.evaluation.tested:,} rows",
                help="Rows whose interval includes the threshold, so that the two ends of the interval lead "
                "to different decisions.",
            )


def table(decision: Decision) -> None:
    """Draw every number behind the charts."""
    headings.heading("Costs")
    grid(formatted_costs(decision), key="costs_table", alt="Costs of every calibrator")
    st.caption(
        "Costs per row, in the units of the two costs, with 95 % intervals from "
        f"{decision.evaluation.size_text}. A difference whose interval includes 0 may be due to sampling "
        f"variability. {why_missing(decision.evaluation.sample, costs=True)}"
    )
    before = decision.evaluation.unadjusted
    if before is not None:
        share = f"{percent(before.share)} of rows are {plain(before.dataset.classes[1])}"
        headings.heading(f"Costs at the table's base rate, where {share}")
        costs = {"cost_false_alarm": decision.cost_false_alarm, "cost_miss": decision.cost_miss}
        grid(
            formatted_costs(decide(before, **costs)),
            key="costs_before",
            alt="Costs of every calibrator at the table's base rate",
        )


def undecided(decision: Decision, recipe: Recipe) -> None:
    """Draw the rows whose interval includes the threshold, with their features."""
    headings.heading("Undecided rows")
    methods = list(decision.undecided)
    if not methods:
        weight = decision.evaluation.dataset.weight
        offered = listed([label_of(key) for key in interval_methods()], last="or")
        add = "" if set(interval_methods()) & set(recipe.calibrators) else f": {offered}"
        if weight is not None and not are_whole(weight):
            add = f". However, the weights must be counts of rows for {offered}"
        st.info(
            "A row is undecided if its interval includes the threshold. To find such rows, go to the sidebar and "
            f"choose a calibrator that gives intervals{add}."
        )
        return
    method = _method(recipe, methods)
    rows = decision.undecided[method]
    if not rows.any():
        st.markdown(
            f"No {label_of(method)} interval includes {number(decision.threshold)}: every row is decided."
        )
        return
    held, positive = decision.evaluation.at(rows), decision.evaluation.dataset.classes[1]
    of_what = "" if held.size == held.tested else " of the weight"
    st.markdown(
        f"For {counted(held.tested, 'test row')}, {percent(decision.undecided_share(method))}{of_what}, the "
        f"{label_of(method)} interval includes the threshold {plain(number(decision.threshold))}. At the lower end of "
        "the interval you should not act; at the upper end you should act. "
        f"{percent(held.share)} of these rows are in {plain(class_named(positive))}. Check these rows individually."
    )
    _rows(decision, method)


def _method(recipe: Recipe, methods: list[str]) -> str:
    """Return the method with intervals that is shown; draw a choice if there are several."""
    preferred = recipe.setting("decide.interval")
    method = preferred if preferred in methods else methods[0]
    return one_calibrator("decide.interval", recipe, method, methods, widget=st.segmented_control)


def _rows(decision: Decision, method: str) -> None:
    """Draw the undecided rows with the widest intervals, and a file of all."""
    shown = decision.undecided_frame(method, MOST_LISTED)
    digits = {"format": "%.3g"}
    columns = {
        key: st.column_config.NumberColumn(label_of(key), **digits) for key in decision.evaluation.predictions
    }
    columns |= {name: st.column_config.NumberColumn(**digits) for name in ("lower end", "upper end")}
    columns |= {"class": st.column_config.TextColumn(width=110)}  # a label may be a sentence
    grid(
        shown.assign(**{"class": shown["class"].map(short_class)}),
        hide_index=True,
        column_config=columns,
        key="undecided",
        alt="Undecided rows",
    )
    if decision.undecided[method].sum() > len(shown):
        st.caption(
            f"These are the {len(shown)} rows with the widest intervals; the file contains all undecided rows."
        )
    downloads.table("These rows (CSV)", lambda: decision.undecided_frame(method), "undecided.csv")

"""Deployment base rate on the Reliability page: the scores before and after, and an estimate from unlabelled rows."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from calib.analysis.differences import reference_of
from calib.analysis.label_shift import (
    EstimatedRate,
    EstimatedRates,
    compare_base_rates,
    estimate_of_rows,
    with_share,
)
from calib.analysis.recommendation.advice import recommend
from calib.calibrators import label_of
from calib.data import read_confined
from calib.evaluate import Evaluation
from calib.figures import formatted_rates
from calib.figures.metrics import formatted_shares
from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.kernel.wording import class_named, percent
from calib.sources import digest
from pages.ui import downloads, evaluations, headings, jobs, state
from pages.ui.tables import grid
from pages.ui.text import plain
from pages.ui.uploads import remember, remembered

ESTIMATED = {"fitted": "In the table", "rate": "Estimated", "lower": "From", "upper": "To"}
REMEDY = (
    "If the share of positives differs in deployment, or if classes were under- or oversampled, set "
    "the base rate in the sidebar. All odds are then multiplied by the same factor, on every page and in "
    "every export."
)


def show(evaluation: Evaluation) -> None:
    """Draw the effect of a deployment base rate, and an estimate of it."""
    if evaluation.whole is not None:
        _shares(evaluation)
        _from_a_sample(evaluation)
        return
    recipe, name = evaluation.recipe, plain(class_named(evaluation.dataset.classes[1]))
    headings.heading("Adjust the base rate")
    table = compare_base_rates(evaluation)
    here = (evaluation.unadjusted or evaluation).share
    st.markdown(
        f"{percent(here)} of the test rows are in {name}. {REMEDY if recipe.base_rate is None else ''}"
    )
    grid(
        formatted_rates(evaluation, table),
        hide_index=True,
        key="base_rates",
        alt="Every calibrator at the table's base rate and at the deployment base rate",
    )
    if recipe.base_rate is not None:
        st.caption(
            f"Test rows are weighted by class to represent {percent(recipe.base_rate)}. This weighting is "
            f"correct only if the class shares change but the distribution of the rows within each class "
            f"does not."
        )
    downloads.table("Base rates (CSV)", lambda: table, "base_rates.csv")
    _from_a_sample(evaluation)


def _shares(evaluation: Evaluation) -> None:
    """Draw the share of each class in deployment, and the scores of all classes before and after."""
    whole, recipe = evaluation.whole, evaluation.recipe
    headings.heading("Adjust the class shares")
    here = (whole.unadjusted or whole).shares
    stated = dict(recipe.base_rates) or dict(zip(whole.names, here, strict=True))
    st.markdown(
        "If classes are rarer or more frequent in deployment than in these data, change the class shares below. "
        "Every page then multiplies each probability by the ratio of the new to the old class share, and "
        "rescales each row to sum to 1."
    )
    key = f"base_rates_{digest(repr(stated).encode())[:8]}"

    def edited() -> None:
        ((line, cells),) = st.session_state[key]["edited_rows"].items()
        new = with_share(stated, whole.names[int(line)], (cells["share"] or 0.0) / 100)
        state.update(base_rates=new)

    st.data_editor(
        pd.DataFrame(
            {"class": whole.names, "here": 100 * here, "share": [100 * stated[each] for each in whole.names]}
        ),
        key=key,
        on_change=edited,
        hide_index=True,
        disabled=["class", "here"] + ["share"] * (len(set(whole.y)) < whole.classes),
        column_config={
            "class": "Class",
            "here": st.column_config.NumberColumn("Test rows, %", format="%.3g"),
            "share": st.column_config.NumberColumn(
                "Deployment, %", min_value=0.0, max_value=100.0, format="%.3g"
            ),
        },
        alt="Share of each class among the test rows and in deployment",
    )
    st.caption("If you change one share, the other shares keep their ratios.")
    if whole.unadjusted is None:
        return
    st.button(
        "Use the shares of the table", key="own_shares", on_click=state.update, kwargs={"base_rates": {}}
    )
    table = formatted_shares(whole)
    grid(
        table, hide_index=True, key="joint_rates", alt="Scores before and after the class shares are adjusted"
    )
    st.caption(
        "Test rows are weighted by class to represent these shares. This weighting is correct only if the "
        "class shares change but the distribution of the rows within each class does not. Intervals of "
        "individual classes are adjusted too, but lose their validity guarantee."
    )
    downloads.table("Shares (CSV)", lambda: table, "shares.csv")


def _from_a_sample(evaluation: Evaluation) -> None:
    """Draw the estimated base rate of an unlabelled table, with a button that applies it."""
    what = "base rate" if evaluation.whole is None else "shares"
    headings.heading(f"Estimate the {what} from unlabelled rows")
    st.file_uploader(
        "Rows from deployment, with the same columns; no label is needed",
        key="unlabelled",
        on_change=remember,
        args=("unlabelled", _read),
        help="The file stays in this session's memory and is never written to disk.",
    )
    found = remembered("unlabelled")
    if found is None:
        return
    key = recommend(evaluation).choice or reference_of(evaluation.predictions)
    estimate = _estimate(evaluation, key, *found)
    if isinstance(estimate, InputError):
        st.error(plain(estimate))
    if estimate is None or isinstance(estimate, InputError):
        return
    st.markdown(f"**{estimate.finding}**")
    st.caption(
        f"Method of Saerens, Latinne and Decaestecker (2002), applied to the probabilities of "
        f"{plain(label_of(key))}. The interval is based on the likelihood ratio and assumes that the "
        f"probabilities are right and that the rows are independent."
        + _row_words(evaluation.recipe.weight, found[1])
    )
    if isinstance(estimate, EstimatedRates):
        _estimated_shares(estimate)
    elif 0 < estimate.rate < 1:
        label = f"Use {percent(estimate.rate)}"
        st.button(
            label, key="take_rate", on_click=state.update, kwargs={"base_rate": float(f"{estimate.rate:.4g}")}
        )


def _read(content: bytes, name: str, watch: Watch) -> tuple[str, pd.DataFrame]:
    """Return the digest and the table of an unlabelled file."""
    return digest(content), read_confined(content, name, fewest=1, watch=watch)


def _estimated_shares(estimate: EstimatedRates) -> None:
    """Draw the estimated shares, and a button that applies them."""
    grid(
        estimate.table.map(percent).rename(columns=ESTIMATED).rename_axis("Class"),
        key="estimated_shares",
        alt="Estimated share of each class",
    )
    st.button(
        "Use these shares", key="take_shares", on_click=state.update, kwargs={"base_rates": estimate.stated}
    )


def _row_words(weight: str | None, rows: pd.DataFrame) -> str:
    """Return how the rows of an unlabelled table are weighted, if the labelled rows have weights."""
    if weight is None:
        return ""
    name = plain(weight)
    return (
        f" Each row of the file is weighted by its value in the column {name}."
        if weight in rows
        else f" The file has no column {name}, so all rows have the same weight."
    )


def _estimate(
    evaluation: Evaluation, key: str, name: str, table: pd.DataFrame
) -> EstimatedRate | EstimatedRates | InputError | None:
    """Return the estimate, or why there is none; None, with progress, while the rows are scored."""
    known = (name, evaluation.dataset.digest, evaluation.recipe.digest("fit"), evaluation.recipe.options, key)
    fitted = evaluations.fit_of(evaluation)
    what = f"Estimating from {len(table):,} rows"
    return jobs.run_one(
        "base_rate", what, known, lambda _: jobs.or_why(estimate_of_rows, evaluation, fitted, table, key)
    )

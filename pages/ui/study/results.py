"""Parts of the Results page: open the rows of a study, summarise them, and compare them with published values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from calib.comparison import best_ranked
from calib.data import read_confined
from calib.export import (
    drawings,
    latex_table,
    markdown_table,
    page_source,
    readable,
    safe_csv,
    study_bundle,
    study_html,
    uploaded,
)
from calib.figures.metrics import EVERYDAY
from calib.kernel.records import Predictions
from calib.kernel.wording import brief, brief_percent, counted, listed, within_a_sentence
from calib.recipe import Recipe
from calib.settings import AUTO, NONE, PUBLISHED_RESULTS, UPLOADED
from calib.sources import digest
from calib.study import (
    COMPARISONS,
    PAPERS,
    STORES,
    MetricSummary,
    Store,
    as_rows,
    check_rows,
    distinct_failures,
    likely_paper,
    measure,
    measured,
    pooled_predictions,
    summarise,
)
from calib.study.papers.printed import why_not_published
from calib.study.summary import friedman_line
from calib.study.tables import MEAN, MEAN_RANK, StudyTable, published_table, tables
from pages.ui import chart, controls, current, downloads, headings, jobs, session_cache, state
from pages.ui.tables import grid, noted
from pages.ui.text import plain
from pages.ui.uploads import received
from pages.ui.widget import show_widget

SQLITE = b"SQLite format 3\0"
KEPT_RESULT_FILES, KEPT_SUMMARIES, MOST_NOTES = 4, 12, 6
MOST_FAILED = 100  # kinds of failed results in the table
WRITTEN_OUT = 3  # reasons in full above the table
LETTER_WIDTH, WIDEST_NAME = 7, 180  # pixels of a letter, and of the longest name of a row
TABLE_FORMATS = {"csv": "CSV", "tex": "LaTeX", "md": "Markdown"}


@dataclass(frozen=True, eq=False)
class Opened:
    """Rows as ``check_rows`` returns them, failures, and (data, setup, repeat) → Predictions, if the file holds them.

    Attributes
    ----------
    paper
        Paper whose published values these rows are; None for own results.
    """

    name: str
    rows: pd.DataFrame
    paper: str | None = None
    predictions: Mapping[tuple[str, str, object], Predictions] = field(default_factory=dict)
    failures: pd.DataFrame = field(default_factory=pd.DataFrame)


def rows_of(content: bytes, name: str) -> Opened:
    """Read a file, a results file or a table. Raises InputError, with the remedy, if there are no results."""
    if content.startswith(SQLITE) or name.lower().endswith(STORES):
        uploaded.check_ends(uploaded.results, content, name)
        store = Store.of_bytes(content, name)
        rows = check_rows(store.rows(), name)
        return Opened(name, rows, predictions=store.repeats(), failures=store.failures())
    return Opened(name, check_rows(read_confined(content, name), name))


def files() -> dict[str, Opened]:
    """Return the results opened in this session, digest → results; they are never written to disk."""
    return st.session_state.setdefault("study_results", {})


def opened(recipe: Recipe) -> Opened:
    """Return the open results, or end the page and say what to upload."""
    chooser, picker = st.sidebar.container(), st.sidebar.container()
    with picker:
        uploader()
    kind, _, key = recipe.setting("results.rows").partition(":")
    if kind == PUBLISHED_RESULTS and key in COMPARISONS:
        found = jobs.cached("published_rows", len(COMPARISONS), key, partial(_published, key))
    elif kind == UPLOADED and key in files():
        found = files()[key]
    else:
        found = None
        st.warning(plain(_wanted(recipe)))
    with chooser:
        _choose_source(recipe)
    if found is None:
        st.stop()
    return found


def _wanted(recipe: Recipe) -> str:
    """Return a message: what a link needs that is missing, and the remedy."""
    kind, _, key = recipe.setting("results.rows").partition(":")
    if kind == PUBLISHED_RESULTS:
        return f"There are no published tables called {key!r}. Choose results under Open, or upload a file."
    known = recipe.setting("results.file_name")
    what = f"{known} again" if known else "the results file of this link"
    return f"Upload {what} to continue; links do not contain files."


def _published(key: str) -> Opened:
    return Opened(COMPARISONS[key].label, as_rows(key), COMPARISONS[key].paper)


def uploader() -> None:
    """Draw the file picker."""
    st.file_uploader(
        "Results of a study: results file (SQLite) or CSV",
        key="results_file",
        on_change=lambda: received("results_file", take),
        help="A results file also contains predictions, for diagrams of each data set. A CSV file has one row per "
        "fold: data, setup, repeat, fold, seed and one column per metric. The file stays in memory and is never "
        "written to disk.",
    )


def take(content: bytes, name: str) -> None:
    """Open a file's content. Raises InputError, with the remedy, if there are no results in it."""
    found = rows_of(content, name)
    key = digest(content)
    files()[key] = found
    session_cache.latest(files(), KEPT_RESULT_FILES)
    session_cache.within(files(), session_cache.OF_UPLOADS, {key})
    state.say(None)
    if state.recipe().setting("results.rows") != f"{UPLOADED}:{key}":  # else a link waited for it
        state.update(**_opening(f"{UPLOADED}:{key}", found))


def _opening(rows: str, found: Opened | None) -> dict[str, object]:
    """Return the settings that change with the open results."""
    metric = "brier" if found is None else next(iter(_offered(found)), "brier")
    name = found.name if found is not None and rows.startswith(UPLOADED) else None
    return {
        "results.rows": rows,
        "results.file_name": name,
        "results.metric": metric,
        "results.setups": (),
        "results.data_set": None,
    }


def _choose_source(recipe: Recipe) -> None:
    """Offer uploaded results and published tables."""
    names = {f"{UPLOADED}:{key}": one.name for key, one in reversed(files().items())}
    names |= {f"{PUBLISHED_RESULTS}:{key}": one.label for key, one in COMPARISONS.items()}
    chosen = recipe.setting("results.rows")

    def change(rows: str) -> None:
        kind, _, key = rows.partition(":")
        state.update(**_opening(rows, files().get(key) if kind == UPLOADED else None))

    show_widget(
        st.selectbox,
        "results.rows",
        chosen if chosen in names else None,
        change,
        "Open",
        list(names),
        format_func=names.get,
        placeholder="Choose results",
        help="Files uploaded in this session, and published tables of papers.",
    )


def choices(recipe: Recipe, found: Opened) -> tuple[MetricSummary, str | None]:
    """Draw the controls and return (summary, paper with published values); the page may end here."""
    there = _offered(found)
    if not there:
        what = "Continue the study on the Run page, or choose other results."
        st.error(
            plain(f"{found.name} contains no metric, because no run has finished or all runs failed. {what}")
        )
        report_failures(found.failures)
        st.stop()
    setups = list(dict.fromkeys(found.rows["setup"]))
    chosen = [name for name in recipe.setting("results.setups") if name in setups]
    with st.sidebar:
        metric = _metric(recipe, there, found)
        paper = _paper(recipe, found)
        controls.choice("results.setups", recipe, chosen, setups, st.multiselect, placeholder="All setups")
    key = (recipe.setting("results.rows"), metric, tuple(chosen))
    return jobs.cached(
        "study_summaries",
        KEPT_SUMMARIES,
        key,
        lambda: summarise(found.rows, metric, chosen or None, found.predictions),
    ), paper


def _offered(found: Opened) -> list[str]:
    """Return the metrics of the rows, everyday ones first, in the order of the metric tables."""
    there = measured(found.rows)
    return [key for key in dict.fromkeys((*EVERYDAY, *there)) if key in there]


def _metric(recipe: Recipe, there: list[str], found: Opened) -> str:
    """Draw the choice of the metric, and return it; by default the first that these rows have."""
    metric = recipe.setting("results.metric")
    if metric not in there:
        st.info(
            plain(
                f"{found.name} contains no value of {within_a_sentence(measure(metric).label)}, so the "
                f"page shows {within_a_sentence(measure(there[0]).label)}."
            )
        )
        metric = there[0]
    controls.choice(
        "results.metric",
        recipe,
        metric,
        there,
        st.selectbox,
        format_func=lambda key: measure(key).label,
    )
    return metric


def _paper(recipe: Recipe, found: Opened) -> str | None:
    """Return the paper whose published values are shown, as chosen or inferred from the setups' names."""
    likely, chosen = found.paper or likely_paper(found.rows), recipe.setting("results.paper")
    names = {AUTO: f"By setup names: {PAPERS[likely].label if likely else 'none'}", NONE: "None"}
    names |= {key: one.label for key, one in PAPERS.items()}
    controls.choice("results.paper", recipe, chosen, names, st.selectbox, format_func=names.get)
    return {AUTO: likely, NONE: None}.get(chosen, chosen)


def headline(summary: MetricSummary, found: Opened) -> None:
    """Show what is missing, then which setup leads, how clearly, and over which data sets."""
    _say(summary.notes)
    report_failures(found.failures)
    if summary.uncompared is not None:
        st.info(plain(summary.uncompared))
        return
    ranks, rates, friedman = summary.average_ranks, summary.win_rates, summary.friedman
    winners = best_ranked(-rates["mean"])
    rate = rates.loc[winners[0]]
    mean, lower, upper = map(brief_percent, rate[["mean", "lower", "upper"]])
    best = mean if rate[["lower", "upper"]].isna().any() else f"{mean} [{lower}, {upper}]"
    with headings.rows():
        for label, value, whose in (
            ("Best average rank", brief(ranks.min()), listed(best_ranked(ranks), 2)),
            ("Highest win-rate", best, listed(winners, 2)),
            ("Friedman p-value", "–" if friedman is None else brief(friedman.pvalue), None),
            ("Data sets compared", f"{len(summary.compared)} of {len(summary.means)}", None),
        ):
            noted(label, value, whose and plain(whose))
    ends = "" if rates["lower"].isna().all() else "[low, high]: 95 % interval over data sets. "
    with headings.details():
        st.caption(plain(f"{ends}{friedman_line(summary)}"))


def _say(notes: Sequence[str]) -> None:
    """Show notes on missing results, or fold them away if there are many."""
    if len(notes) <= MOST_NOTES:
        for note in notes:
            st.warning(plain(note))
        return
    st.warning(f"{len(notes)} notes on missing results are below.")
    with st.expander("Missing results"):
        for note in notes:
            st.text(note)


def report_failures(failures: pd.DataFrame) -> None:
    """Report failed results and how to repeat them."""
    if len(failures):
        failed, them = counted(len(failures), "result"), "it" if len(failures) == 1 else "them"
        st.warning(
            f"{failed} failed, and the means exclude {them}. To repeat {them}, upload the results file on "
            f"the Run page."
        )
        list_failures(failures)


def list_failures(failures: pd.DataFrame, expanded: bool = False) -> None:
    """List failed results with reasons, one line per data set and reason."""
    with st.expander(f"Failed results ({len(failures):,})", expanded=expanded, key="failed"):
        kinds = distinct_failures(failures)
        for kind in kinds.head(WRITTEN_OUT).to_dict("records"):  # the table cuts long reasons off
            st.markdown(plain(f"{kind['data']}: {kind['error']}"))
        first = ["data", "error", "results", "setup", "repeat", "fold"]
        grid(kinds[first].head(MOST_FAILED), alt="Failed results", hide_index=True)
        more = (
            f" The table shows the first {MOST_FAILED} kinds of failure." if len(kinds) > MOST_FAILED else ""
        )
        st.caption(
            "Setup, repeat and fold identify the first failure of each kind. The results file contains all failures "
            f"with their tracebacks.{more}"
        )


def diagrams(summary: MetricSummary, place: headings.FindingPlaces) -> None:
    """Draw the critical-difference diagram as the page's finding, then win-rates and pairs."""
    for i, drawing in enumerate(drawings(summary)):
        with nullcontext() if i else place.picture:
            sentence = None if i else place.sentence
            chart.show(drawing.name, drawing.source, drawing.key, sentence=sentence, **drawing.options)


def numbers(summary: MetricSummary, found: Opened) -> None:
    """Draw means with ranks, the best of each row marked; a click on a data set shows its diagrams."""
    table = tables(summary)[0]
    headings.heading(f"{table.title} by data set")
    clicks = {"on_select": _clicked(table), "selection_mode": "single-row"} if found.predictions else {}
    _show(table, "study_means", f"Table of means of {table.title}", **clicks)
    st.caption(
        plain(
            f"{table.note} ★ marks the best value of each row; a small difference may be due to sampling "
            "variability."
        )
    )
    _download(table)


def _show(table: StudyTable, key: str, alt: str, **clicks: Any) -> None:
    """Draw a table; narrow row names, which stay in view, leave space for numbers on a phone."""
    longest = max(len(str(name)) for name in (table.frame.index.name, *table.frame.index))
    names = {"_index": st.column_config.Column(width=min(WIDEST_NAME, LETTER_WIDTH * (longest + 4)))}
    grid(readable(table), column_config=names, key=key, alt=alt, **clicks)


def _clicked(table: StudyTable):
    names = [str(name) for name in table.frame.index]

    def select() -> None:
        rows = st.session_state["study_means"]["selection"]["rows"]
        if rows and names[rows[0]] not in (MEAN, MEAN_RANK):
            state.update(**{"results.data_set": names[rows[0]]})

    return select


def one_data_set(recipe: Recipe, summary: MetricSummary, found: Opened) -> None:
    """Draw the reliability diagrams of a data set's setups, from the predictions in the results file."""
    if not found.predictions:
        return
    sets = [str(name) for name in summary.means.index]
    chosen = recipe.setting("results.data_set")
    headings.part("One data set")
    controls.choice(
        "results.data_set",
        recipe,
        chosen if chosen in sets else None,
        sets,
        st.selectbox,
        placeholder="Choose a data set, or click a row of the table",
    )
    if chosen in sets:
        pooled = jobs.cached(
            "study_predictions",
            KEPT_SUMMARIES,
            (recipe.setting("results.rows"), chosen, tuple(summary.setups)),
            lambda: pooled_predictions(found.predictions, chosen, summary.setups),
        )
        chart.show("set_reliability", pooled, data=chosen)


def tests(summary: MetricSummary) -> None:
    """Draw the other tables, folded."""
    for table in tables(summary)[1:]:
        with st.expander(plain(table.title)):
            _show(table, f"table_{table.key}", table.title)
            st.caption(plain(table.note))
            _download(table)


def beside_the_paper(summary: MetricSummary, paper: str | None, found: Opened) -> None:
    """Draw published values beside these, with the difference and the table's number, or say why there are none."""
    if paper is None:
        return
    table = published_table(summary, paper)
    if paper == found.paper:
        _remarks(table)
        return
    headings.part("Comparison with published values")
    if table.frame.empty:
        st.info(plain(why_not_published(summary.metric.key, paper)))
        return
    compared = table.frame[table.frame["comparable"]]
    with st.container(horizontal=True, key="published_headline"):
        st.metric("Compared", f"{len(compared)} of {len(table.frame)}", width=215)
        st.metric("Median distance", brief(compared["difference"].abs().median()), width=215)
        st.metric("Largest distance", brief(compared["difference"].abs().max()), width=215)
    _show(table, "table_published", table.title)
    with headings.details("published_details"):
        _remarks(table)
        st.caption(plain(table.note))
    _download(table)


def _remarks(table: StudyTable) -> None:
    """Draw the remarks on printed values, each with the number of values."""
    remarks = table.frame["remark"]
    for remark in dict.fromkeys(filter(None, remarks)):
        lines = table.frame[remarks == remark]
        what = "Not compared" if not lines["comparable"].any() else "Note"
        st.markdown(plain(f"{what} ({counted(len(lines), 'value')}): {remark}"))


def _download(table: StudyTable) -> None:
    """Offer one table in three forms."""
    with st.container(horizontal=True):
        for form, mime, make in (
            ("csv", "text/csv", partial(safe_csv, table.frame, index=True)),
            ("tex", "application/x-tex", partial(latex_table, table)),
            ("md", "text/markdown", partial(markdown_table, table)),
        ):
            downloads.button(
                TABLE_FORMATS[form], make, f"{table.key}.{form}", mime, f"study_{table.key}_{form}"
            )


def everything(recipe: Recipe, summary: MetricSummary, paper: str | None) -> None:
    """Offer all tables and diagrams at once, made when a button is pressed."""
    headings.part("Export")
    theme, source = current.theme(), page_source("results", recipe)
    with st.container(horizontal=True, key="study_files"):
        page = partial(study_html, summary, paper, source, theme)
        downloads.button("Report (HTML)", page, "study.html", "text/html", "study_html", type="primary")
        archive = partial(study_bundle, summary, paper, source, theme)
        downloads.button(
            "All tables and diagrams (ZIP)", archive, "study.zip", "application/zip", "study_zip"
        )
    st.caption(
        "The report is one interactive file that works offline. The ZIP adds all tables as CSV, LaTeX and Markdown, "
        "and the numbers of each diagram."
    )

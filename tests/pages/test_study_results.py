"""The Results page: published tables without a file, one's own rows by upload, numbers by summarise and by hand."""

import contextlib
import io
import sqlite3
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from calib.__main__ import main
from calib.export import page_source, readable
from calib.figures import FIGURES
from calib.kernel.wording import brief, brief_percent, number
from calib.recipe import Recipe
from calib.sources import digest
from calib.study import COMPARISONS, PAPERS, Store, as_rows, summarise
from calib.study.cell import Result
from calib.study.tables import tables
from tests.pages.app import block, faults, go, headline, messages, page, settings_in_address, settled, titles
from tests.saying import assert_any_says, assert_says
from tests.study import small
from tests.sweep import sweep

STEM = "study_results"
SETS = ("haberman", "diabetes", "kc1", "spect", "sonar")
SETUPS = ("RF-Tree", "RF-VAP", "mine")


def own_rows(missing=(), metrics=("brier", "accuracy", "log_loss")):
    rng = np.random.default_rng(0)
    lines = [key for key in product(SETS, SETUPS, range(2), range(3)) if key[:2] not in missing]
    rows = pd.DataFrame(lines, columns=["data", "setup", "repeat", "fold"]).assign(seed=0)
    worse = rows["setup"].map({"RF-Tree": 0.1, "RF-VAP": 0.0, "mine": 0.05})
    for metric in metrics:
        rows[metric] = 0.2 + worse + rng.random(len(rows)) / 50
    return rows


def as_csv(rows):
    return rows.to_csv(index=False).encode()


def bring(at, name, content):
    at.file_uploader(key="results_file").set_value((name, content, "text/csv"))
    return settled(at.run())


def shown(at, column):
    """The first table that has this column: that of the means has one a setup."""
    return next(frame.value for frame in at.dataframe if column in frame.value.columns)


def leader(at, label="Best average rank"):
    found = next(metric for metric in at.metric if metric.label == label)
    return f"{plain_text(found.delta)} · {found.value}"


def plain_text(markdown):
    return markdown.replace("\\", "").replace("\u2060", "")


def texts(at):
    return " ".join(element.value.replace("\\", "") for kind in (at.caption, at.markdown) for element in kind)


IN_SHORT = ("venn_abers", "trees_laplace")  # the others by make soak


@pytest.mark.parametrize("key", sweep(COMPARISONS, *IN_SHORT))
def test_printed_tables_open_without_a_file(key):
    metric = "log_loss" if key == "venn_abers" else "accuracy"
    at = page(STEM, **{"results.rows": f"published:{key}", "results.metric": metric})
    assert faults(at) == []
    summary = summarise(as_rows(key), metric)
    pd.testing.assert_frame_equal(shown(at, summary.setups[0]), readable(tables(summary)[0]))
    ranks = summary.average_ranks
    assert leader(at) == f"{ranks.idxmin()} · {brief(ranks.min())}"
    assert headline(at)["Data sets compared"] == f"{len(summary.means)} of {len(summary.means)}"
    assert "Comparison with published values" not in [header.value for header in at.header]


def test_the_first_picture_needs_no_choice():
    at = page(STEM)
    assert faults(at) == []
    summary = summarise(as_rows("forests_calibrated"), "brier")
    record = FIGURES["critical_difference"].prepare(summary.average_ranks, n=30, what="Brier score")
    assert record.title in titles(at)
    assert len(at.get("plotly_chart")) == 4
    # The others stay below their titles on a phone, where the finding's picture comes before its numbers
    assert len(block(at, "finding").get("plotly_chart")) == 1
    assert settings_in_address(at) == {}


def test_ones_own_rows_are_summarised_with_published_values_beside():
    rows = own_rows()
    at = page(STEM)
    before = at.selectbox(key="results.paper").id
    at = bring(at, "mine.csv", as_csv(rows))
    assert at.selectbox(key="results.paper").id != before  # else a browser keeps the words of the one before
    assert faults(at) == []
    assert settings_in_address(at) == {
        "results.rows": f"upload:{digest(as_csv(rows))}",
        "results.file_name": "mine.csv",
    }
    means = rows.groupby(["data", "setup"])["brier"].mean()
    table = shown(at, "mine")
    for data, setup in product(SETS, SETUPS):
        assert table.loc[data, setup].removesuffix(" ★") == number(means[data, setup])
    assert leader(at) == "RF-VAP · 1.0"
    lowest = len(SETS) / (len(SETS) + t.ppf(0.975, len(SETS) - 1) ** 2)  # Wilson's, all sets won
    assert_says(leader(at, "Highest win-rate"), "RF-VAP", "100 %", f"[{brief_percent(lowest)}, 100 %]")
    beside = shown(at, "published")
    line = beside[(beside.index == "haberman") & (beside["setup"] == "RF-VAP")].iloc[0]
    assert line["published"] == "0.203"
    assert line["difference"] == number(means["haberman", "RF-VAP"] - 0.203)
    assert line["table"] == "5"
    assert headline(at)["Compared"] == "8 of 10"  # spect is another set there; nobody printed "mine"
    assert_says(texts(at), "Not compared", "2 values")


def test_what_is_missing_is_said_by_name():
    at = bring(page(STEM), "mine.csv", as_csv(own_rows(missing={("kc1", "mine"), ("sonar", "RF-VAP")})))
    said = messages(at)
    assert any("kc1: mine has no value" in text for text in said)
    assert any("sonar: RF-VAP has no value" in text for text in said)
    assert headline(at)["Data sets compared"] == "3 of 5"
    at.multiselect(key="results.setups").set_value(["RF-Tree", "RF-VAP"])
    settled(at.run())
    assert headline(at)["Data sets compared"] == "4 of 5"
    assert settings_in_address(at)["results.setups"] == ("RF-Tree", "RF-VAP")


def test_very_many_gaps_are_folded_away_and_all_named():
    rng = np.random.default_rng(0)
    lines = [
        (f"set{i}", f"m{j}", 0, 0, 0, rng.random()) for i in range(12) for j in range(12) if i != j or i > 8
    ]
    rows = pd.DataFrame(lines, columns=["data", "setup", "repeat", "fold", "seed", "brier"])
    at = bring(page(STEM, **{"results.setups": "m9,m10"}), "many.csv", as_csv(rows))
    assert_any_says(messages(at), "9 notes", "missing results")
    assert [f"set{i}: m{i} has no value" in " ".join(text.value for text in at.text) for i in range(9)] == [
        True
    ] * 9


def test_metric_and_paper_are_chosen_and_stand_in_the_link():
    rows = own_rows()
    at = bring(page(STEM), "mine.csv", as_csv(rows))
    assert at.selectbox(key="results.metric").options == ["Brier score", "Log loss", "Accuracy"]
    at.selectbox(key="results.metric").set_value("log_loss")
    settled(at.run())
    assert any("Choose Log loss, in bits to" in text for text in messages(at))
    at.selectbox(key="results.paper").set_value("none")
    settled(at.run())
    assert "Comparison with published values" not in [header.value for header in at.header]
    at.selectbox(key="results.paper").set_value("venn_abers_2014")
    settled(at.run())
    assert any(PAPERS["venn_abers_2014"].label in text for text in messages(at))
    found = settings_in_address(at)
    assert (found["results.metric"], found["results.paper"]) == ("log_loss", "venn_abers_2014")


def test_a_metric_that_the_rows_lack_is_said_and_another_shown():
    at = page(STEM, **{"results.metric": "auc"})
    assert faults(at) == []
    assert_any_says(messages(at), "no value of AUC", "Brier score")


def test_rows_without_brier_open_with_a_metric_that_they_have():
    at = bring(page(STEM), "mine.csv", as_csv(own_rows(metrics=["accuracy"])))
    assert settings_in_address(at)["results.metric"] == "accuracy"
    assert leader(at).startswith("RF-Tree")  # more is better


NO_RESULTS = {
    b"data,setup,brier\nkc1,VAP,0.1\n": "has no column 'repeat', 'fold', 'seed'",
    b"data,setup,repeat,fold,seed,height\nkc1,VAP,0,0,0,0.1\n": "no column named after a metric",
    b"": "mine.csv is empty",
    b"SQLite format 3\x00": "mine.csv",
}


def test_a_file_that_holds_no_results_is_refused_with_the_remedy():
    at = page(STEM)
    for content, message in NO_RESULTS.items():
        bring(at, "mine.csv", content)
        assert any(message in text for text in messages(at))
        assert not at.exception
        assert leader(at).startswith("RF_large")  # what was open stays


def test_rows_without_a_single_value_say_so():
    rows = own_rows().assign(brier=np.nan, accuracy=np.nan, log_loss=np.nan)
    at = bring(page(STEM), "mine.csv", as_csv(rows))
    assert any("contains no metric" in text for text in messages(at))


def test_what_failed_in_a_store_is_said_and_shown():
    """Two folds of which one failed, then the failed one alone."""
    done = Result("kc1", "VAP", 0, 0, 0, "d", "r", {"brier": 0.2})
    failed = Result("kc1", "VAP", 0, 1, 1, "d", "r", {}, error="MemoryError: no room", traceback="Traceback")
    for results in ([done, failed], [failed]):
        store = Store.in_memory()
        store.note_order(["VAP"])
        store.add(results)
        at = bring(page(STEM), "mine.sqlite", store.content())
        assert_any_says(messages(at), "1 result failed", "the means exclude it", "upload the results file")
        assert shown(at, "error")["error"].tolist() == ["MemoryError: no room"]
    assert_any_says(messages(at), "no run has finished", "failed", "Continue the study")


def test_a_link_to_a_file_waits_for_it():
    rows = as_csv(own_rows())
    view = {"results.metric": "accuracy", "results.setups": "RF-VAP,mine", "results.data_set": "kc1"}
    link = {"results.rows": f"upload:{digest(rows)}", "results.file_name": "mine.csv", **view}
    at = page(STEM, **link)
    assert any("Upload mine.csv again to continue" in text for text in messages(at))
    assert not at.get("plotly_chart")
    at = bring(at, "mine.csv", rows)
    assert headline(at)["Data sets compared"] == "5 of 5"
    assert settings_in_address(at).items() >= (view | {"results.setups": ("RF-VAP", "mine")}).items()
    at = page(STEM, **{"results.rows": "published:nothing"})
    assert any("no published tables called 'nothing'" in text for text in messages(at))


def test_what_was_opened_is_there_after_another_page():
    at = bring(page(STEM), "mine.csv", as_csv(own_rows()))
    at = go(go(at, "learn_labs"), STEM)
    assert leader(at) == "RF-VAP · 1.0"
    at.selectbox(key="results.rows").set_value("published:trees_laplace")
    settled(at.run())
    assert leader(at).startswith("LaP-VAP")


def test_names_from_a_file_are_text():
    rows = own_rows().replace({"mine": "<b>**x**</b>", "RF-VAP": "<b>leads</b>"})
    at = bring(page(STEM), "mine.csv", as_csv(rows))
    assert faults(at) == []
    assert not any("<b>" in element.value for element in (*at.markdown, *at.caption, *at.subheader))
    assert not any("<b>" in element.delta for element in at.metric)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A store with two data sets, five setups, two repeats of three folds."""
    more = "".join(
        f'\n  {{ name = "{key}", calibrator = "{key}", placement = "split" }},' for key in ("platt", "venn")
    )
    text = small.PROTOCOL.replace("setups = [", f"setups = [{more}")
    protocol, paths = small.files(tmp_path_factory.mktemp("study"), "one", "two", text=text)
    path = protocol.with_name("results.sqlite")
    assert main(["study", str(protocol), "--data", *map(str, paths), "--store", str(path)]) == 0
    return path


def test_a_store_shows_the_rows_of_its_run_and_the_diagrams_of_a_data_set(stored):
    at = bring(page(STEM), "results.sqlite", stored.read_bytes())
    with Store(stored) as store:
        rows, names = store.rows(), ["platt", "venn", "Raw", "VAP", "Forest"]
        pooled = {setup: store.pooled("two", setup) for setup in names}
    assert faults(at) == []
    pd.testing.assert_frame_equal(shown(at, "Raw"), readable(tables(summarise(rows, "brier"))[0]))
    before = len(at.get("plotly_chart"))
    at.selectbox(key="results.data_set").set_value("two")
    settled(at.run())
    assert faults(at) == []
    assert settings_in_address(at)["results.data_set"] == "two"
    panels = [chart.proto.alt for chart in at.get("plotly_chart")][-5:]
    assert len(at.get("plotly_chart")) == before + 5
    assert [alt.split(":")[0] for alt in panels] == names  # a phone stacks them in this order
    assert FIGURES["set_reliability"].prepare(pooled, "two").title in titles(at)


def test_a_database_that_is_no_store_is_refused_by_its_name(tmp_path):
    path = tmp_path / "other.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE t (x)")
        db.commit()
    at = bring(page(STEM), "other.sqlite", path.read_bytes())
    assert any("other.sqlite" in text for text in messages(at))
    at = bring(page(STEM), "torn.sqlite", path.read_bytes()[:40])
    assert any("torn.sqlite" in text for text in messages(at))
    at = bring(page(STEM), "rows.sqlite", b"data,setup\none,VAP\n")
    (said,) = [text for text in messages(at) if "rows.sqlite" in text]
    assert_says(said, "not a results file", "Run page")
    assert at.exception == []


def test_without_predictions_nothing_is_offered_of_single_data_sets():
    at = bring(page(STEM), "mine.csv", as_csv(own_rows()))
    assert not [box for box in at.selectbox if box.key == "results.data_set"]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {
            "results.rows": "published:trees_laplace",
            "results.metric": "auc",
            "results.setups": ("LaP-Iso", "LaP-VAP"),
        },
    ],
)
def test_the_python_shown_gives_the_pages_numbers(settings):
    source = page_source("results", Recipe(settings=settings))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(source, {})
    key = settings.get("results.rows", "published:forests_calibrated").partition(":")[2]
    summary = summarise(as_rows(key), settings.get("results.metric", "brier"), settings.get("results.setups"))
    assert summary.means.round(4).to_string() in printed.getvalue()


def test_the_python_shown_reads_ones_own_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.csv").write_bytes(as_csv(own_rows()))
    source = page_source(
        "results", Recipe(settings={"results.rows": "upload:0011", "results.file_name": "mine.csv"})
    )
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(source, {})
    assert summarise(own_rows(), "brier").average_ranks.round(3).to_string() in printed.getvalue()


def test_the_python_shown_reads_a_results_file_and_pools_its_predictions(stored, monkeypatch):
    monkeypatch.chdir(stored.parent)
    opened = {"results.rows": "upload:0011", "results.file_name": stored.name}
    source = page_source("results", Recipe(settings={**opened, "results.metric": "reliability"}))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(source, {})
    with Store(stored) as store:
        rows, predictions = store.rows(), store.repeats()
        means = summarise(rows, "reliability", predictions=predictions).means
    assert not means.equals(summarise(rows, "reliability").means)
    assert means.round(4).to_string() in printed.getvalue()

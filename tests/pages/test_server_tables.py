"""Tables of the server's folder and databases: chosen on Data, named in links, and said when they have changed."""

import os
import sqlite3
import threading
import weakref
from concurrent.futures import Future

import numpy as np
import pandas as pd
import pytest

from calib import Recipe
from calib.data import OpenTable, TableFile, TooLargeError, database, large_file, read, relation
from calib.kernel.progress import Cancelled, Watch
from calib.recipe import DEFAULT_DATA
from calib.sources import digest
from pages.ui import server_tables, uploads, waiting
from pages.ui.given_file import GivenFile
from pages.ui.state import TOKEN
from tests.pages.app import ROOT, App, bring, faults, go, jobs_of, messages, page, settled
from tests.saying import assert_any_says, assert_says
from tests.waiting import LIMIT, until

RNG = np.random.default_rng(0)


def scores(n: int = 400) -> pd.DataFrame:
    p = np.round(RNG.random(n), 2)
    return pd.DataFrame({"label": (RNG.random(n) < p).astype(int), "p": p})


@pytest.fixture
def root(tmp_path, monkeypatch):
    (tmp_path / "2026").mkdir()
    scores().to_csv(tmp_path / "2026" / "scores.csv", index=False)
    people = pd.DataFrame({"x": RNG.normal(size=300), "z": RNG.normal(size=300)})
    people["y"] = np.where(people["x"] + RNG.normal(size=300) > 0, "yes", "no")
    people.to_csv(tmp_path / "people.csv", index=False)
    monkeypatch.setenv(server_tables.SETTING, str(tmp_path))
    return tmp_path


def chosen(at, name):
    return settled(selected(at, name))


def selected(at, name):
    """Choose a table, and do not wait for its sample."""
    return at.selectbox(key="placed_table").select(name).run()


def test_without_a_folder_nothing_is_offered_and_a_link_says_why(monkeypatch):
    monkeypatch.delenv(server_tables.SETTING, raising=False)
    assert not [box for box in page("explore_data").selectbox if box.key == "placed_table"]
    at = page("explore_data", data="folder:people.csv")
    assert_any_says(messages(at), "no folder of tables")


def test_a_table_is_chosen_and_its_link_opens_it_in_another_session(root):
    at = chosen(page("explore_data"), "2026/scores.csv")
    assert not faults(at)
    recipe, key = at.session_state["recipe"], digest((root / "2026" / "scores.csv").read_bytes())
    assert (recipe.data, recipe.content, recipe.target) == (
        f"folder:2026/scores.csv@{key}",
        "predictions",
        "label",
    )
    other = page("explore_reliability", **recipe.to_query())
    assert not faults(other)
    assert not [text for text in messages(other) if "changed" in text]
    assert other.session_state["recipe"] == recipe
    assert other.session_state["uploads"][key].file.content.samefile(
        root / "2026" / "scores.csv"
    )  # where it is


def test_odd_names_and_dates_in_the_folder_leave_the_page_to_everybody(root):
    (root / os.fsdecode(b"latin-\xfc.csv")).write_bytes(b"y,p\n1,0.5\n")
    (root / "passwords.txt").write_bytes(b"y,p\n1,0.5\n")
    os.utime(root / "people.csv", ns=(2**63 - 1, 2**63 - 1))
    at = page("explore_data")
    assert not faults(at)
    assert any("1 table in the server's folder cannot be listed" in note.value for note in at.caption)
    assert len(at.selectbox(key="placed_table").options) == 2
    assert_any_says(messages(page("explore_data", data="folder:passwords.txt")), "no table passwords.txt")


def test_a_table_is_digested_where_it_can_be_cancelled(root, monkeypatch):
    digested, threads = OpenTable.digest, []

    def noted(self, watch=None):
        threads.append(threading.current_thread().name)
        return digested(self, watch)

    monkeypatch.setattr(OpenTable, "digest", noted)
    assert not faults(chosen(page("explore_data"), "people.csv"))
    assert threads == ["query"]  # and not again in later runs


def test_a_name_alone_is_opened_as_a_choice_is(root):
    at = page("explore_reliability", data="folder:2026/scores.csv")
    assert not faults(at)
    assert at.session_state["recipe"].content == "predictions"
    assert "folder:2026/scores.csv@" in str(at.query_params["data"])


def test_a_changed_table_is_said_and_shown_as_it_is(root):
    at = chosen(page("explore_data"), "people.csv")
    before = at.session_state["recipe"]
    rows = (root / "people.csv").read_text(encoding="utf-8")
    (root / "people.csv").write_text(rows + "0.5,0.5,yes\n", encoding="utf-8")
    at = go(at, "explore_reliability")
    assert_any_says(messages(at), "people.csv has changed")
    after = at.session_state["recipe"]
    assert after.data == f"folder:people.csv@{digest((root / 'people.csv').read_bytes())}" != before.data
    assert after.replace(data=before.data) == before  # nothing else is lost
    link = page("explore_data", **before.to_query())
    assert any("has changed" in text for text in messages(link))


def test_a_table_that_is_gone_or_is_none_is_said_and_what_was_shown_stays(root):
    (root / "broken.parquet").write_bytes(b"PAR1" + bytes(100))
    at = chosen(page("explore_data"), "people.csv")
    at = chosen(at, "broken.parquet")
    assert any("broken.parquet" in text and "Still using: people.csv" in text for text in messages(at))
    (root / "people.csv").unlink()
    at = go(at, "explore_reliability")
    assert any("There is no table people.csv" in text for text in messages(at))
    assert not faults(at)


@pytest.mark.parametrize("name", ["../secret.csv", "link.csv", "/etc/passwd"])
def test_nothing_outside_the_folder_is_read(root, name):
    (root.parent / "secret.csv").write_text("y,p\n1,0.5\n0,0.25\n", encoding="utf-8")
    (root / "link.csv").symlink_to(root.parent / "secret.csv")
    at = page("explore_data", data=f"folder:{name}")
    assert "uploads" not in at.session_state or not at.session_state["uploads"]
    assert any("server's folder" in text for text in messages(at))


def test_predictions_that_do_not_fit_into_memory_are_counted(root, monkeypatch):
    table = scores(3_000)
    table.to_csv(root / "large.csv", index=False)
    monkeypatch.setattr(read, "UPLOAD_LIMIT", 10_000)
    monkeypatch.setattr(large_file, "FIRST_BYTES", 5_000)
    at = chosen(page("explore_data"), "large.csv")
    assert not faults(at)
    assert_any_says([note.value for note in at.text], "3,000 rows were grouped", "score and label")
    other = page("explore_reliability", **at.session_state["recipe"].to_query())
    assert not faults(other)
    (found,) = [one for one in other.session_state["shown"].values() if hasattr(one, "on_every_row")][:1]
    brier = found.on_every_row().metrics.loc["none", "brier"]
    assert brier == pytest.approx(((table["p"] - table["label"]) ** 2).mean())


def test_features_that_do_not_fit_into_memory_are_learned_from_in_part(root, monkeypatch):
    x = RNG.normal(size=5_000)
    table = pd.DataFrame(
        {"x": x, "z": RNG.normal(size=5_000), "y": (RNG.random(5_000) < 1 / (1 + np.exp(-x))) * 1}
    )
    table.to_csv(root / "large.csv", index=False)
    monkeypatch.setattr(read, "UPLOAD_LIMIT", 50_000)
    monkeypatch.setattr(large_file, "FIRST_BYTES", 5_000)
    at = chosen(page("explore_data"), "large.csv")
    at = settled(at.selectbox(key="target").select("y").run())
    assert not faults(at)
    assert any("learns from 2,500 of 5,000 rows" in note.value for note in at.text)
    at = settled(at.number_input(key="data_params.learn_rows").set_value(1_200).run())
    assert not faults(at)
    assert any("learns from 1,200 of 5,000 rows" in note.value for note in at.text)
    (rows,) = [metric for metric in at.metric if metric.label == "Rows"]
    assert (rows.value, rows.delta) == ("1,200", "sample of 5,000")
    recipe = at.session_state["recipe"]
    assert dict(recipe.data_params) == {"learn_rows": 1_200}
    other = page("explore_reliability", **recipe.replace(model="naive_bayes").to_query())
    assert not faults(other)
    (found,) = [one for one in other.session_state["shown"].values() if hasattr(one, "on_every_row")][:1]
    assert found.size == 3_800
    for name in ("trees", "out_of_bag", "groups", "watch"):
        refused = page(f"explore_{name}", **recipe.to_query())
        assert not refused.exception
        assert any(
            "only the number of rows per score and label is known" in text for text in messages(refused)
        )


SECRETS = """
[connections.warehouse]
url = "sqlite:///{folder}/w.sqlite"
rows = 1000
[connections.warehouse.queries]
counted = "SELECT label, p, COUNT(*) AS count FROM scores GROUP BY label, p ORDER BY p, label"
endless = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) AS label, 1 AS p FROM t"
[connections.gone]
url = "sqlite:///{folder}/none.sqlite"
"""


@pytest.fixture
def warehouse(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "secrets.toml").write_text(SECRETS.format(folder=tmp_path), encoding="utf-8")
    with sqlite3.connect(tmp_path / "w.sqlite") as made:
        scores().to_sql("scores", made, index=False)
    return tmp_path / "w.sqlite"


def of_database(at, name, database="warehouse"):
    return (
        at.selectbox(key="database").select(database).run().selectbox(key="database_table").select(name).run()
    )


@pytest.mark.usefixtures("warehouse")
def test_a_table_of_a_database_is_chosen_and_its_link_reads_it_again():
    at = page("explore_data")
    assert list(
        at.selectbox(key="database").select("warehouse").run().selectbox(key="database_table").options
    ) == [
        "counted",
        "endless",
        "scores",
    ]
    at = of_database(at, "scores")
    assert not faults(at)
    recipe = at.session_state["recipe"]
    assert recipe.data.startswith("database:warehouse/scores@")
    assert (recipe.content, recipe.target) == ("predictions", "label")
    other = page("explore_reliability", **recipe.to_query())
    assert not faults(other)
    assert other.session_state["recipe"] == recipe
    assert "SELECT" not in str(recipe.to_query())


def test_changed_rows_of_a_database_are_said(warehouse):
    at = of_database(page("explore_data"), "scores")
    before = at.session_state["recipe"]
    at = at.button(key="read_again").click().run()
    assert at.session_state["recipe"] == before
    assert not [text for text in messages(at) if "has changed" in text]
    with sqlite3.connect(warehouse) as made:
        made.execute("INSERT INTO scores VALUES (1, 0.5)")
    at = go(at, "explore_reliability")  # what was read stays, until it is asked for again
    assert at.session_state["recipe"].data == before.data
    link = page("explore_reliability", **before.to_query())
    assert_any_says(messages(link), "warehouse/scores has changed")
    assert link.session_state["recipe"].replace(data=before.data) == before


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("database:warehouse/none", "has no query or table 'none'"),
        ("database:elsewhere/scores", "Connection 'elsewhere' is not defined"),
        ("database:gone/scores", "database file 'none.sqlite' was not found"),
        ("database:warehouse", "has no query or table ''"),
    ],
)
@pytest.mark.usefixtures("warehouse")
def test_what_a_database_does_not_have_is_said(data, words):
    at = page("explore_data", data=data)
    assert any(words in text for text in messages(at))
    assert not at.exception


@pytest.mark.usefixtures("warehouse")
def test_a_database_that_is_gone_is_said_and_the_page_goes_on():
    at = page("explore_data").selectbox(key="database").select("gone").run()
    assert any("was not found" in text for text in faults(at))
    assert at.selectbox(key="database")
    assert not at.exception


@pytest.mark.usefixtures("warehouse")
def test_a_query_that_takes_too_long_ends_and_what_was_shown_stays(monkeypatch, tmp_path):
    text = SECRETS.format(folder=tmp_path).replace("rows = 1000", "seconds = 0.3")
    (tmp_path / ".streamlit" / "secrets.toml").write_text(text, encoding="utf-8")
    at = of_database(page("explore_data"), "endless")
    assert any("took longer than 0.3 seconds" in text and "Still using" in text for text in messages(at))
    assert at.session_state["recipe"].data.startswith("sample:")
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("query")]


@pytest.fixture
def large_features(root, monkeypatch):
    """A table of features that counts as too large for memory."""
    x = RNG.normal(size=5_000)
    y = np.where(RNG.random(5_000) < 1 / (1 + np.exp(-x)), "yes", "no")
    pd.DataFrame({"x": x, "z": RNG.normal(size=5_000), "y": y}).to_csv(root / "large.csv", index=False)
    monkeypatch.setattr(read, "UPLOAD_LIMIT", 50_000)
    monkeypatch.setattr(large_file, "FIRST_BYTES", 5_000)
    return root / "large.csv"


class Halted:
    """Stands in for the draw of a sample, which waits until it may go on."""

    def __init__(self, monkeypatch) -> None:
        self.begun, self.may_end, self.draw = threading.Semaphore(0), threading.Event(), relation.draw_rows
        monkeypatch.setattr(relation, "draw_rows", self)

    def __call__(self, *args):
        watch = args[-2]
        self.begun.release()
        until(lambda: self.may_end.is_set() or watch.cancel.is_set(), "the draw may end")
        return self.draw(*args)


@pytest.mark.usefixtures("large_features")
def test_a_draw_shows_its_progress_and_after_cancel_nothing_is_lost_and_it_starts_again(monkeypatch):
    halted = Halted(monkeypatch)
    at = selected(page("explore_data"), "large.csv")
    assert halted.begun.acquire(timeout=LIMIT)
    before = at.session_state["recipe"]
    assert before.target == "y"
    assert [box.value for box in at.selectbox if box.key == "target"] == ["y"]  # from the first rows
    at = at.button(key="cancel_sample").click().run()
    assert any("Cancelled." in text for text in messages(at))
    assert at.session_state["recipe"] == before
    assert not at.exception
    at = go(at, "explore_reliability")  # the cancelled draw does not begin by itself
    assert any("Cancelled." in text for text in messages(at))
    halted.may_end.set()
    at = settled(at.button(key="fit_again_sample").click().run())
    assert not faults(at)
    assert at.session_state["recipe"] == before
    assert at.session_state["shown"]
    at = go(at, "explore_data")
    assert any("learns from 2,500 of 5,000 rows" in note.value for note in at.text)


@pytest.mark.usefixtures("large_features")
def test_a_draw_that_is_no_longer_wanted_ends(monkeypatch):
    halted = Halted(monkeypatch)
    at = selected(page("explore_data"), "large.csv")
    assert halted.begun.acquire(timeout=LIMIT)
    (job,) = jobs_of(at, "sample")
    at = chosen(at, "people.csv")
    assert not faults(at)
    until(job.future.done, "the draw has ended")
    assert not jobs_of(at, "sample")


def test_a_file_that_changes_while_its_sample_is_drawn_is_said_and_can_be_read_again(
    large_features, monkeypatch
):
    halted = Halted(monkeypatch)
    at = selected(page("explore_data"), "large.csv")
    assert halted.begun.acquire(timeout=LIMIT)
    before = at.session_state["recipe"]
    rows = large_features.read_text(encoding="utf-8")
    large_features.write_text(rows + "0.5,0.5,yes\n", encoding="utf-8")
    halted.may_end.set()
    at = settled(at.run())  # the new state of the file is noticed, and its sample drawn
    assert_any_says(messages(at), "large.csv has changed")
    assert not faults(at)
    after = at.session_state["recipe"]
    assert after.replace(data=before.data) == before
    assert any("learns from 2,500 of 5,001 rows" in note.value for note in at.text)


LARGE_SECRETS = """
[connections.warehouse]
url = "sqlite:///{folder}/w.sqlite"
[connections.warehouse.queries]
people = "SELECT x, z, y FROM people ORDER BY rowid"
scored = "SELECT label, p FROM scores"
"""


@pytest.fixture
def large_warehouse(warehouse, tmp_path, monkeypatch):
    """A database whose tables count as too large for memory."""
    x = RNG.normal(size=3_000)
    y = np.where(RNG.random(3_000) < 1 / (1 + np.exp(-x)), "yes", "no")
    with sqlite3.connect(warehouse) as made:
        pd.DataFrame({"x": x, "z": RNG.normal(size=3_000), "y": y}).to_sql("people", made, index=False)
    text = LARGE_SECRETS.format(folder=tmp_path)
    (tmp_path / ".streamlit" / "secrets.toml").write_text(text, encoding="utf-8")

    def full(needed):
        raise TooLargeError("too large", "fewer")

    monkeypatch.setattr(database, "check_memory", full)
    return warehouse


@pytest.mark.usefixtures("large_warehouse")
def test_features_of_a_database_that_do_not_fit_into_memory_are_learned_from_in_part():
    at = settled(of_database(page("explore_data"), "people"))
    assert not faults(at)
    assert any("learns from 1,500 of 3,000 rows" in note.value for note in at.text)
    recipe = at.session_state["recipe"].replace(model="naive_bayes")
    other = page("explore_reliability", **recipe.to_query())
    assert not faults(other)
    assert not [text for text in messages(other) if "changed" in text]
    assert other.session_state["recipe"] == recipe
    (found,) = [one for one in other.session_state["shown"].values() if hasattr(one, "on_every_row")][:1]
    assert found.size == 1_500


def test_rows_of_a_database_that_change_before_the_sample_is_scored_are_said(large_warehouse):
    at = settled(of_database(page("explore_data"), "people"))
    before = at.session_state["recipe"]
    with sqlite3.connect(large_warehouse) as made:
        made.execute("UPDATE people SET x = x + 1 WHERE rowid = 7")
    at = go(at, "explore_reliability")
    assert_any_says(messages(at), "people", "warehouse", "changed while they were read")
    assert at.session_state["recipe"] == before


@pytest.mark.usefixtures("large_warehouse")
def test_predictions_of_a_database_that_do_not_fit_into_memory_are_counted_there(monkeypatch):
    monkeypatch.setattr(database, "check_memory", large_once())
    at = settled(of_database(page("explore_data"), "scored"))
    assert not faults(at)
    assert any("The database grouped 400 rows" in note.value for note in at.text)
    assert at.session_state["recipe"].weight == "count"


def large_once():
    said = []

    def check(needed):
        if not said:
            said.append(needed)
            raise TooLargeError("too large", "fewer")

    return check


def wide() -> bytes:
    names = [*(f"c{i}" for i in range(10_000)), "y"]
    rows = ("0.5," * 10_000 + label for label in ("yes", "no") * 5)
    return "\n".join([",".join(names), *rows]).encode()


TEXTS = pd.DataFrame(
    {name: [f"{name} said {RNG.random()}" for _ in range(200)] for name in ("a", "b", "c")}
).to_csv(index=False)


@pytest.mark.parametrize("by", ["folder", "upload"])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (wide(), "The table has 10,001 columns, which is too many. Keep at most 5,000 columns."),
        (b"\x89PNG and more", "table.csv is an image, not a table"),
    ],
)
def test_a_table_that_cannot_be_used_gets_one_message_and_nothing_is_lost(root, by, content, words):
    at = chosen(page("explore_data"), "people.csv")
    at = at.selectbox(key="target").select("y").run()
    before = at.session_state["recipe"]
    (root / "table.csv").write_bytes(content)
    at = chosen(at.run(), "table.csv") if by == "folder" else bring(at, "table.csv", content)
    (said,) = [text for text in messages(at) if words in text]
    assert "Still using: people.csv." in said
    assert at.session_state["recipe"] == before
    assert not faults(at)
    at = go(at, "explore_reliability")
    assert not faults(at)
    assert at.session_state["shown"]


@pytest.mark.parametrize("by", ["folder", "upload", "query"])
def test_a_table_without_a_label_is_opened_and_asks_for_one(root, warehouse, by):
    """Texts only, or numbers only; nothing is guessed, and other data can be chosen."""
    (root / "texts.csv").write_text(TEXTS, encoding="utf-8")
    with sqlite3.connect(warehouse) as made:
        pd.DataFrame({"p": RNG.random(50), "q": RNG.random(50)}).to_sql("unlabelled", made, index=False)
    at = page("explore_data")
    if by == "query":
        at = of_database(at, "unlabelled")
    else:
        at = chosen(at, "texts.csv") if by == "folder" else bring(at, "texts.csv", TEXTS.encode())
    assert not at.exception
    assert at.session_state["recipe"].target is None
    assert any("label" in text for text in messages(at))
    at = go(at, "explore_reliability")
    assert not at.exception
    assert_any_says(messages(at), "not chosen the label column")
    at = chosen(go(at, "explore_data"), "people.csv")
    assert not faults(at)


def test_very_many_predictions_of_the_folder_are_counted_even_if_they_fit_into_memory(root, monkeypatch):
    scores(3_000).to_parquet(root / "many.parquet")
    monkeypatch.setattr(large_file, "COUNTED_ROWS", 2_000)
    at = chosen(page("explore_data"), "many.parquet")
    assert not faults(at)
    assert_any_says([note.value for note in at.text], "3,000 rows were grouped", "score and label")
    scores(3_000).assign(q=RNG.random(3_000)).to_parquet(
        root / "two.parquet"
    )  # of several scores, all are kept
    at = chosen(at.run(), "two.parquet")
    assert not any("counted by score and label" in note.value for note in at.text)


def test_a_large_upload_is_read_with_progress_and_a_cancelled_one_changes_nothing(monkeypatch):
    """It is read at the head of the page, not in the callback, where nothing could be clicked."""
    content = b"x,y\n1,a\n2,b\n" * 9
    at = page("explore_data").file_uploader(key="file").set_value(("big.csv", content, "text/csv")).run()
    assert not faults(at)
    assert at.session_state["recipe"].data == f"upload:{digest(content)}"

    def cancelled(file, sheet=None, header=None, watch=None):
        watch.cancel.set()
        watch.step(0.0, "")

    monkeypatch.setattr(TableFile, "read", cancelled)
    before = at.session_state["recipe"]
    at = at.file_uploader(key="file").set_value(("more.csv", content + b"3,a\n", "text/csv")).run()
    assert_any_says(messages(at), "more.csv", "cancelled", "Still using: big.csv")
    assert at.session_state["recipe"] == before
    assert "arrived_table" not in at.session_state


@pytest.mark.parametrize("query", ["people", "scored"])
def test_a_link_to_a_query_that_was_too_large_opens_it_in_the_same_way_if_it_fits_now(
    large_warehouse, query, monkeypatch
):
    monkeypatch.setattr(database, "check_memory", large_once())
    recipe = settled(of_database(page("explore_data"), query)).session_state["recipe"]
    for _ in range(2):  # it fits into memory now
        at = settled(page("explore_data", **recipe.to_query()))
        assert not faults(at)
        assert not [text for text in messages(at) if "changed" in text]
        assert at.session_state["recipe"] == recipe
    with sqlite3.connect(large_warehouse) as made:
        made.execute(
            f"UPDATE {'people SET x = x + 1' if query == 'people' else 'scores SET p = p / 2'} WHERE rowid = 7"
        )
    at = settled(page("explore_data", **recipe.to_query()))
    assert any(f"warehouse/{query} has changed since" in text for text in messages(at))


@pytest.mark.usefixtures("large_warehouse")
@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("people", []),
        (
            "scored",
            [
                "only the rows per score and label are counted. The program does not know whether",
                "has changed",
            ],
        ),
    ],
)
def test_a_link_to_a_query_that_fitted_into_memory_does_not_say_that_it_has_changed(
    query, words, monkeypatch
):
    """Features in the same types have the same digest either way."""
    monkeypatch.setattr(database, "check_memory", lambda needed: None)
    recipe = settled(of_database(page("explore_data"), query)).session_state["recipe"]
    monkeypatch.setattr(database, "check_memory", large_once())
    at = settled(page("explore_data", **recipe.to_query()))
    assert not faults(at)
    said = [text for text in messages(at) if "changed" in text]
    assert len(said) == bool(words)
    assert all(word in said[0] for word in words)
    assert at.session_state["recipe"].weight == ("count" if query == "scored" else None)


def test_a_file_of_the_folder_that_changes_while_it_is_read_gets_one_message_and_nothing_is_lost(
    root, monkeypatch
):
    (root / "other.csv").write_bytes(b"x,y\n1,a\n2,b\n")
    at = chosen(page("explore_data"), "people.csv")
    before, read_it = at.session_state["recipe"], TableFile.read

    def changing(file, *given, **asked):
        found = read_it(file, *given, **asked)
        file.content.write_bytes(b"x,y\n" + 30 * b"1,a\n2,b\n")
        return found

    monkeypatch.setattr(TableFile, "read", changing)
    at = chosen(at, "other.csv")
    (said,) = [text for text in messages(at) if "changed" in text]
    assert_says(said, "other.csv changed", "Open it again", "Still using: people.csv")
    assert at.session_state["recipe"] == before
    monkeypatch.setattr(TableFile, "read", read_it)
    at = chosen(page("explore_data"), "other.csv")
    assert not faults(at)
    assert at.session_state["recipe"].data.startswith("folder:other.csv@")


def test_a_table_that_is_read_to_its_end_after_a_cancel_is_dropped():
    watch, found = Watch(), Future()
    waiting._into(found, lambda _: pd.DataFrame({"x": [1]}), watch)
    assert found.done()
    left, read = Future(), []

    def call(watch):
        watch.cancel.set()
        frame = pd.DataFrame({"x": [1]})
        read.append(weakref.ref(frame))
        return frame

    waiting._into(left, call, watch)
    assert (left.done(), read[0]()) == (False, None)


@pytest.mark.parametrize("stated", [False, True])
def test_the_table_of_a_notebook_is_read_like_an_upload(monkeypatch, stated):
    content = b"x,y\n" + b"1,a\n2,b\n" * 90
    data = f"upload:{digest(content)}"
    recipe = Recipe(data=data, file="mine.csv", target="y", seed=4).to_json() if stated else None
    monkeypatch.setattr("pages.ui.given_file._given", [GivenFile("secret", "mine.csv", content, recipe)])
    began, in_background = [], uploads.in_background
    monkeypatch.setattr(uploads, "in_background", lambda *of: began.append(of[0]) or in_background(*of))
    at = App(str(ROOT / "app.py"), default_timeout=LIMIT)
    at.query_params[TOKEN] = "secret"
    at = settled(at.run())
    assert not faults(at)
    now = at.session_state["recipe"]
    assert (now.data, now.seed == 4) == (data, stated)
    assert at.session_state["page"] == f"pages/explore_{'reliability' if stated else 'data'}.py"
    assert began == ["Reading mine.csv"]
    linked = App(str(ROOT / "app.py"), default_timeout=LIMIT)  # a reload, or a link with settings of its own
    linked.query_params.update({TOKEN: "secret", "data": data, "target": "y", "bins": "7"})
    linked = settled(linked.switch_page("pages/explore_reliability.py").run())
    assert not faults(linked)
    assert (linked.session_state["recipe"].data, linked.session_state["recipe"].bins) == (data, 7)
    assert not [text for text in messages(linked) if "Upload" in text]


def test_a_cancelled_table_of_a_notebook_leaves_the_first_data_set(monkeypatch):
    monkeypatch.setattr(
        "pages.ui.given_file._given", [GivenFile("secret", "mine.csv", b"x,y\n" + b"1,a\n2,b\n" * 90, None)]
    )

    def cancelled(file, sheet=None, header=None, watch=None):
        raise Cancelled

    monkeypatch.setattr(TableFile, "read", cancelled)
    at = App(str(ROOT / "app.py"), default_timeout=LIMIT)
    at.query_params[TOKEN] = "secret"
    at = settled(at.run())
    assert not faults(at)
    assert "Reading mine.csv was cancelled." in messages(at)
    assert at.session_state["recipe"].data == DEFAULT_DATA

"""Tables of the server's folder on the pages: chosen on Data, named in links, and said when they have changed."""

import numpy as np
import pandas as pd
import pytest

from calib.data import counting, read
from calib.sources import digest
from pages.ui import places
from tests.pages.app import faults, go, messages, page

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
    monkeypatch.setenv(places.SETTING, str(tmp_path))
    return tmp_path


def chosen(at, name):
    return at.selectbox(key="placed_table").select(name).run()


def test_without_a_folder_nothing_is_offered_and_a_link_says_why(monkeypatch):
    monkeypatch.delenv(places.SETTING, raising=False)
    assert not [box for box in page("explore_data").selectbox if box.key == "placed_table"]
    at = page("explore_data", data="folder:people.csv")
    assert any("This server has no folder of tables" in text for text in messages(at))


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
    assert other.session_state["uploads"][key].file.content == root / "2026" / "scores.csv"  # where it is


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
    assert any("people.csv has changed since these settings were made" in text for text in messages(at))
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
    monkeypatch.setattr(counting, "FIRST_BYTES", 5_000)
    at = chosen(page("explore_data"), "large.csv")
    assert not faults(at)
    assert any("its 3,000 rows counted by score and label" in note.value for note in at.text)
    other = page("explore_reliability", **at.session_state["recipe"].to_query())
    assert not faults(other)
    (found,) = [one for one in other.session_state["shown"].values() if hasattr(one, "on_every_row")][:1]
    brier = found.on_every_row().metrics.loc["none", "brier"]
    assert brier == pytest.approx(((table["p"] - table["label"]) ** 2).mean())

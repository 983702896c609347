"""What is kept is bounded in bytes, and what had to go is computed again by itself."""

import numpy as np
import pytest

from calib import Recipe
from calib.data import DataError
from calib.kernel.memory import size
from pages.ui import evaluations, session_cache, state
from pages.ui.session_cache import SessionCache
from tests.pages.app import at_once, bring, faults, headline, messages, page, settled

MEGABYTE = 125_000  # numbers


def filled(*names, most=10):
    session = SessionCache()
    for i, name in enumerate(names):
        session.cache(name, most)[i] = np.full(MEGABYTE, float(i))
    return session


def left(session):
    return sorted(int(thing[0]) for thing in session.things())


def test_what_was_used_longest_ago_goes_first_whichever_cache_it_is_in():
    session = filled(*"ababab")
    session.enter(10_000_000)
    session.cache("a", 10)[0]
    session.enter(3_500_000)
    assert left(session) == [0, 4, 5]
    assert session.bytes < 3_500_000


@pytest.mark.parametrize(
    ("data", "times"), [("upload:00ff", [1, 1, 2]), ("openml:31", [1, 2, 3])], ids=["a file", "a download"]
)
def test_a_models_refusal_is_kept_until_a_file_is_brought_or_where_a_network_may_be_back(
    monkeypatch, data, times
):
    """A graph may take the time and memory it is allowed before it is refused, and a page runs at every touch."""
    file = state.Model("slow.onnx", b"")
    session, brought, asked, counts = SessionCache(), {"00ff": file}, [], []
    monkeypatch.setattr(session_cache, "session", lambda: session)
    monkeypatch.setattr(state, "uploaded_files", lambda: brought)
    recipe = Recipe(data=data, content="predictions", onnx="upload:11ff", onnx_file="slow.onnx")

    def refused():
        asked.append(recipe)
        raise DataError("The model takes too long.", "Bring a smaller one.")

    for now in ([], [], ["11ff"]):
        brought |= dict.fromkeys(now, file)
        with pytest.raises(DataError, match="too long") as found:
            evaluations.of_data("tables", 6, recipe, refused)
        assert "refused" not in [frame.name for frame in found.traceback] or data.startswith("openml")
        counts.append(len(asked))
    assert counts == times


def test_what_a_page_needs_stays_until_another_run_does_without_it():
    session = filled(*"aaaaaa")
    session.enter(2_500_000)  # all are of the run before
    assert left(session) == [0, 1, 2, 3, 4, 5]
    session.cache("a", 10)[2]
    session.enter(2_500_000)
    assert left(session) == [2, 5]


def test_what_grows_is_counted_anew_and_what_is_shared_once():
    session, growing, shared = SessionCache(), {}, np.zeros(MEGABYTE)
    session.cache("points", 2)["sweep"] = growing
    session.cache("one", 2)[0] = [shared]
    session.cache("two", 2)[0] = [shared, shared]
    assert session.bytes == pytest.approx(1_000_000, rel=0.01)
    growing[1] = np.zeros(MEGABYTE)
    assert session.bytes == pytest.approx(2_000_000, rel=0.01)


def test_a_cache_keeps_the_latest_in_number_too():
    session = filled("a", "b", *"aaa", most=2)
    assert left(session) == [1, 3, 4]
    assert len(session.cache("a", 1)) == 2


def test_what_serves_all_sessions_is_bounded_and_made_again():
    made = []

    def make(key, watch):
        made.append(key)
        return np.full(MEGABYTE * 30, float(key))

    remembered = session_cache.for_all(make, key=lambda key, watch: key)
    for key in (1, 2, 2, 3, 1):
        assert remembered(key, watch=None)[0] == key
    assert made == [1, 2, 3, 1]
    assert size([remembered(1, watch=None), remembered(3, watch=None)]) < session_cache.FOR_ALL + 1000


def test_a_session_holds_to_its_bound_and_shows_the_same_after_what_had_to_go(monkeypatch):
    monkeypatch.setattr(session_cache, "OF_SESSION", 4_000_000)
    at = page("explore_reliability", model="naive_bayes")
    first = headline(at)
    for model in ("logistic_regression", "decision_tree", "random_forest"):
        at = settled(at.selectbox(key="model").set_value(model).run())
    at = settled(at.run())
    fits = at.session_state["kept"].cache("fits", 0)
    assert len(fits) < 4
    assert size(*at.session_state["kept"].things()) < 2 * session_cache.OF_SESSION
    at = settled(at.selectbox(key="model").set_value("naive_bayes").run())
    assert faults(at) == []
    assert headline(at) == first


def test_sessions_share_what_the_server_keeps_and_idle_ones_give_way(monkeypatch):
    idle = page("explore_reliability", model="naive_bayes")
    before, first = size(*idle.session_state["kept"].things()), headline(idle)
    monkeypatch.setattr(session_cache, "OF_ALL_SESSIONS", 1_000_000)
    monkeypatch.setattr(session_cache, "SECONDS_WITHOUT_RUN", -1.0)
    idle.session_state["kept"]._used.clear()  # nothing that its last run used
    at_once("explore_reliability", model="naive_bayes")
    assert size(*idle.session_state["kept"].things()) < before / 2
    assert headline(settled(idle.run())) == first


def test_the_oldest_of_large_uploads_goes_and_is_asked_for_by_its_name(monkeypatch):
    monkeypatch.setattr(session_cache, "OF_UPLOADS", 100_000)
    at, links = page("explore_data"), []
    files = {f"{i}.csv": f"y,x{i}\n".encode() + b"0,1.5\n1,2.5\n" * 3000 for i in (1, 2, 3)}
    for name, content in files.items():
        bring(at, name, content)
        at.query_params.clear() if name == "3.csv" else links.append(dict(at.query_params))
    assert [upload.name for upload in at.session_state["uploads"].values()] == ["2.csv", "3.csv"]
    at.query_params.update(links[0])
    assert any("1.csv" in text for text in messages(at.run()))
    bring(at, "1.csv", files["1.csv"])
    assert not any("1.csv" in text for text in messages(at))
    at.toggle(key="own_model").set_value(True).run()
    model = ("credit.onnx", bytes(90_000), "application/octet-stream")
    at.file_uploader(key="model_file").set_value(model).run()
    assert [file.name for file in at.session_state["uploads"].values()] == ["1.csv", "credit.onnx"]


def test_what_sessions_share_is_forgotten_once_none_is_left(monkeypatch):
    open_sessions = {SessionCache()}
    monkeypatch.setattr(session_cache, "_sessions", lambda: open_sessions)
    session_cache.shared().keep("a fit", 1)
    session_cache.forget_without_sessions()
    assert session_cache.shared().get("a fit") == 1
    open_sessions.clear()
    session_cache.forget_without_sessions()
    assert session_cache.shared().get("a fit") is None

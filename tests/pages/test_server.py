"""What the server under the pages would do by itself, and does not."""

import gc
import io
import logging

import pytest
from streamlit import error_util, net_util
from streamlit.web.server import server_util

from pages.ui import server
from tests.pages.app import page


@pytest.fixture
def log(monkeypatch):
    """What is written of the errors of scripts and jobs."""
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    server.keep_in()
    for name in server.LOGGERS:
        logging.getLogger(name).addHandler(handler)
    yield said
    for name in server.LOGGERS:
        logging.getLogger(name).removeHandler(handler)


def fail(cell: str) -> None:
    try:
        float(cell)
    except ValueError as error:
        raise RuntimeError(f"of {cell}") from error


def test_of_an_error_the_log_has_the_kind_and_the_place_and_not_what_it_quotes(log):
    try:
        fail("Ann Smith, 12 May")
    except RuntimeError as error:
        error_util._log_uncaught_app_exception(error)
        logging.getLogger(server.OURS).error("a job failed", exc_info=error)
    said = log.getvalue()
    assert said.count("RuntimeError\n") == said.count("ValueError\n") == 2
    assert "in fail" in said
    assert said.count("Ann Smith") == said.count('fail("Ann Smith')  # this test's own line


def test_a_page_of_another_origin_is_turned_away_without_asking_outside(monkeypatch):
    asked = []
    monkeypatch.setattr(net_util, "_external_ip", None)
    monkeypatch.setattr(net_util, "_make_blocking_http_get", lambda url, timeout: asked.append(url))
    server.keep_in()
    assert not server_util.is_url_from_allowed_origins("https://elsewhere.example")
    assert asked == []


def test_what_is_loaded_once_is_not_searched_for_garbage_after_every_run():
    """Most of a search's time: forty phones that ask for news every two seconds would leave no time for anything."""
    page("learn_glossary")
    assert gc.get_freeze_count() > 2 * len(gc.get_objects())

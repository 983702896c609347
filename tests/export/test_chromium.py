"""Pictures by a real Chromium; and without one, or with one that hangs, an answer in time."""

import os
import re
import stat
import subprocess
import time
from xml.etree import ElementTree

import plotly.graph_objects as go
import pytest

from calib.export import chromium, report_html
from calib.figures import FIGURES, MARKS


@pytest.fixture(scope="module")
def figure(evaluations):
    entry = FIGURES["reliability"]
    return entry.draw(entry.prepare(evaluations["Naive Bayes"]))


@pytest.mark.usefixtures("chromium")
class TestWithChromium:
    def test_a_chart_is_drawn_in_every_format_in_its_own_colours(self, figure):
        (files,) = chromium.draw([figure])
        assert list(files) == ["svg", "png", "pdf"]
        root = ElementTree.fromstring(files["svg"])
        assert root.tag.endswith("svg")
        assert "Predicted probability" in " ".join(root.itertext())
        text = files["svg"].decode().lower()
        assert "rgb({}, {}, {})".format(*(int(MARKS["platt"].color[i : i + 2], 16) for i in (1, 3, 5))) in text
        assert "font-family" in text
        assert not re.search(r"rgb\(0, 0, [1-9]\d?\)|#00000\d", text)  # Streamlit's placeholders
        assert files["png"].startswith(b"\x89PNG\r\n\x1a\n")
        size = [int.from_bytes(files["png"][at : at + 4], "big") for at in (16, 20)]
        assert size == [2 * chromium.WIDTH, 2 * figure.layout.height]
        assert files["pdf"].startswith(b"%PDF")
        assert files["pdf"].count(b"/Type /Page\n") == 1

    def test_only_what_is_asked_for_comes(self, figure):
        assert [list(files) for files in chromium.draw([figure, figure], ["pdf"])] == [["pdf"], ["pdf"]]

    def test_a_report_becomes_a_pdf_of_several_pages(self, evaluations):
        content = chromium.print_pdf(report_html(evaluations["Naive Bayes"]).decode())
        assert content.startswith(b"%PDF")
        assert content.count(b"/Type /Page\n") > 3

    def test_the_trial_says_yes(self):
        chromium.can_draw.cache_clear()
        assert chromium.can_draw()

    def test_words_that_look_like_scripts_are_drawn_as_words(self):
        trap = "<img src=x onerror=alert(1)></script><script>document.title='run'</script>"
        figure = go.Figure(go.Scatter(x=[1, 2], y=[1, 2], name=trap), layout={"showlegend": True})
        (files,) = chromium.draw([figure], ["svg"])
        root = ElementTree.fromstring(files["svg"])
        assert trap in " ".join(root.itertext())
        assert not {element.tag.rpartition("}")[2] for element in root.iter()} & {"script", "img", "foreignObject"}


def program(path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sleep 61.5", "did not answer within"),
        ("exit 1", "ended before it answered"),
        ("cat <&3 >/dev/null", "did not answer within"),
        ('printf \'{"id": 1, "error": {"message": "no"}}\\0\' >&4; sleep 61.5', "refused"),
    ],
    ids=["hangs", "ends", "reads only", "refuses"],
)
def test_a_program_that_is_no_browser_is_given_up_in_time_and_ended(tmp_path, monkeypatch, text, words):
    monkeypatch.setenv("BROWSER_PATH", program(tmp_path / "browser", text))
    monkeypatch.setattr(chromium, "SECONDS", 0.5)
    begin = time.monotonic()
    with pytest.raises(chromium.NoBrowser, match=words):
        chromium.draw([go.Figure()], ["svg"])
    assert time.monotonic() - begin < 10
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "sleep 61.5" not in running


def test_where_there_is_none_it_is_said_at_once(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("BROWSER_PATH", raising=False)
    monkeypatch.setattr(chromium, "NAMES", ("chromium",))
    chromium.can_draw.cache_clear()
    begin = time.monotonic()
    assert chromium.find_chromium() is None
    assert not chromium.can_draw()
    with pytest.raises(chromium.NoBrowser, match="BROWSER_PATH"):
        chromium.print_pdf("<p>")
    assert time.monotonic() - begin < 1
    chromium.can_draw.cache_clear()


def test_the_browser_named_in_the_environment_comes_first(monkeypatch, tmp_path):
    own = program(tmp_path / "mine", "exit 0")
    monkeypatch.setenv("BROWSER_PATH", own)
    assert chromium.find_chromium() == own
    assert os.access(own, os.X_OK)

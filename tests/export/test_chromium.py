"""Pictures by a real Chromium; and without one, or with one that hangs, an answer in time."""

import os
import re
import stat
import subprocess
import tempfile
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
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
        (files,) = chromium.draw_files([figure])
        assert list(files) == ["svg", "png", "pdf"]
        root = ElementTree.fromstring(files["svg"])
        assert root.tag.endswith("svg")
        assert "Predicted probability" in " ".join(root.itertext())
        text = files["svg"].decode().lower()
        assert (
            "rgb({}, {}, {})".format(*(int(MARKS["platt"].color[i : i + 2], 16) for i in (1, 3, 5))) in text
        )
        assert "font-family" in text
        assert not re.search(r"rgb\(0, 0, [1-9]\d?\)|#00000\d", text)  # Streamlit's placeholders
        assert files["png"].startswith(b"\x89PNG\r\n\x1a\n")
        size = [int.from_bytes(files["png"][at : at + 4], "big") for at in (16, 20)]
        assert size == [2 * chromium.CHART_WIDTH, 2 * figure.layout.height]
        assert files["pdf"].startswith(b"%PDF")
        assert files["pdf"].count(b"/Type /Page\n") == 1

    def test_a_report_becomes_a_pdf_of_full_pages(self, evaluations):
        """Twelve charts, ten tables, the texts and the checklist fill eleven sheets; one chart per sheet takes 17."""
        content = chromium.print_pdf(report_html(evaluations["Naive Bayes"]).decode())
        assert content.startswith(b"%PDF")
        assert 6 < content.count(b"/Type /Page\n") < 13

    def test_only_what_is_asked_for_comes_and_nothing_stays_behind(self, figure, monkeypatch):
        """Neither a process nor a file, in the browser's own temporary folder or in ours."""
        with tempfile.TemporaryDirectory() as folder:  # a short name, as the path of a socket has to be
            monkeypatch.setattr(tempfile, "tempdir", folder)
            monkeypatch.setattr(chromium, "MEMORY_FOLDER", folder)
            assert [list(files) for files in chromium.draw_files([figure, figure], ["pdf"])] == [
                ["pdf"],
                ["pdf"],
            ]
            assert not os.listdir(folder)
            assert folder not in running()

    def test_what_lies_on_disk_while_a_picture_is_drawn_holds_nothing_of_it(self, monkeypatch):
        """The browser's own folder, as it is before it is removed; the drawing itself is in memory."""
        seen: dict[str, bytes] = {}

        class Looked(tempfile.TemporaryDirectory):
            def __exit__(self, *error):
                files = [file for file in Path(self.name).rglob("*") if file.is_file()]
                seen.update({str(file): file.read_bytes() for file in files})
                super().__exit__(*error)

        monkeypatch.setattr(tempfile, "TemporaryDirectory", Looked)
        figure = go.Figure(go.Scatter(x=[1, 2], y=[1, 2], name="Zebrastein"), layout={"title": "Zebrastein"})
        chromium.draw_files([figure], ["svg", "pdf"])
        there = {name for name, content in seen.items() if b"Zebrastein" in content}
        on_disk = {name for name in seen if not name.startswith(str(chromium.MEMORY_FOLDER))}
        assert there
        assert on_disk
        assert not (there & on_disk if os.access("/dev/shm", os.W_OK) else set())
        assert not any(os.path.exists(name) for name in seen)

    def test_a_page_reaches_no_network(self, server):
        """Not even this machine by its name, which is what a figure with an image would ask for."""
        figure = go.Figure(layout={"images": [{"source": f"http://localhost:{server.server_port}/spy.png"}]})
        with suppress(chromium.NoBrowser):  # a picture that cannot be loaded may be an error
            chromium.draw_files([figure], ["svg"])
        assert server.asked == []

    def test_the_trial_says_yes(self):
        chromium.can_draw.cache_clear()
        assert chromium.can_draw()

    def test_words_that_look_like_scripts_are_drawn_as_words(self):
        trap = "<img src=x onerror=alert(1)></script><script>document.title='run'</script>"
        figure = go.Figure(go.Scatter(x=[1, 2], y=[1, 2], name=trap), layout={"showlegend": True})
        (files,) = chromium.draw_files([figure], ["svg"])
        root = ElementTree.fromstring(files["svg"])
        assert trap in " ".join(root.itertext())
        assert not {element.tag.rpartition("}")[2] for element in root.iter()} & {
            "script",
            "img",
            "foreignObject",
        }


def running() -> str:
    return subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def server():
    """A web server of this machine that remembers what it was asked for."""

    class Spy(BaseHTTPRequestHandler):
        def do_GET(self):
            found.asked.append(self.path)
            self.send_error(404)

    found = HTTPServer(("127.0.0.1", 0), Spy)
    found.asked = []
    thread = threading.Thread(target=found.serve_forever)
    thread.start()
    yield found
    found.shutdown()
    thread.join()
    found.server_close()


def program(path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sleep 61.5", "did not respond within"),
        ("exit 1", "stopped before it had drawn"),
        ("echo '<html>'; sleep 61.5", "did not respond within"),
        ("echo '<html>no</html>'", "could not draw the figure: no"),
        ("echo nonsense", "stopped before it had drawn"),
    ],
    ids=["hangs", "ends", "hangs later", "refuses", "answers nonsense"],
)
def test_a_program_that_is_no_browser_is_given_up_in_time_and_ended(tmp_path, monkeypatch, text, words):
    monkeypatch.setenv("BROWSER_PATH", program(tmp_path / "browser", text))
    monkeypatch.setattr(chromium, "SECONDS_TO_START_BROWSER", 0.5)
    monkeypatch.setattr(chromium, "SECONDS_PER_PICTURE", 0)
    with pytest.raises(chromium.NoBrowser, match=words):
        chromium.draw_files([go.Figure()], ["svg"])
    assert "sleep 61.5" not in running()


def test_where_nothing_is_printed_there_is_no_document(tmp_path, monkeypatch):
    monkeypatch.setenv("BROWSER_PATH", program(tmp_path / "browser", "exit 0"))
    with pytest.raises(chromium.NoBrowser, match="stopped before it had drawn"):
        chromium.print_pdf("<p>")


def test_where_there_is_none_it_is_said_at_once(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("BROWSER_PATH", raising=False)
    monkeypatch.setattr(chromium, "BROWSER_NAMES", ("chromium",))
    chromium.can_draw.cache_clear()
    assert chromium.find_chromium() is None
    assert not chromium.can_draw()
    with pytest.raises(chromium.NoBrowser, match="BROWSER_PATH"):
        chromium.print_pdf("<p>")
    chromium.can_draw.cache_clear()


def test_the_browser_named_in_the_environment_comes_first(monkeypatch, tmp_path):
    own = program(tmp_path / "mine", "exit 0")
    monkeypatch.setenv("BROWSER_PATH", own)
    assert chromium.find_chromium() == own
    assert os.access(own, os.X_OK)

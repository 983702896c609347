"""A table is brought and worked on: where the server writes, whom it calls, what it loads and what it says."""

import os
import sys

import pytest

from calib.data.confined.apart import NAMED_LIBRARIES
from tests.browser import files
from tests.browser.driver import find_chromium, free_port, served_by

# What the server does, as the interpreter tells it: files opened for writing, machines called, programs,
# pickles.
WATCH = """
import os, sys, tempfile

tempfile.gettempdir()  # which is tried with an empty file
LOG = os.open(os.environ["WATCHED"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def hear(event, args):
    writes = event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR)
    if writes or event in ("socket.connect", "socket.getaddrinfo", "subprocess.Popen", "pickle.find_class"):
        os.write(LOG, f"{event} {args[-1] if event == 'socket.connect' else args[:2]}\\n".encode())

sys.addaudithook(hear)
"""
MARK = "Zebrastein"
CONFINED = "calib.data.confined"
# Parts of a fitted model, which a process of its own has fitted and sends by a socket
FITTED = (
    *(f"pickle.find_class ('{name}{end}" for name in NAMED_LIBRARIES for end in (".", "',")),
    "pickle.find_class ('builtins', 'slice')",
)
MEMORY = ("open ('/dev/shm/", "open ('/dev/null'")


@pytest.fixture
def watched(tmp_path):
    """(address, the log of what the server did, what it said) of a server that is watched."""
    (tmp_path / "sitecustomize.py").write_text(WATCH)
    done, said, port = tmp_path / "done", tmp_path / "said", free_port()
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "calibration_explorer", "--address", "127.0.0.1", "--port", str(port)]
    changed = {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1", "WATCHED": str(done)}
    environment = os.environ | changed | {"STREAMLIT_SERVER_HEADLESS": "true"}
    with said.open("w") as output, served_by(command, address, output, env=environment):
        yield address, done, said


def test_a_table_stays_in_the_memory_of_its_session(watched, new_tab):
    address, done, said = watched
    frame = files.churn(400)
    frame["name"] = [f"{MARK} {i} {'x' * 4000}" for i in range(len(frame))]
    content = files.as_csv(frame)
    assert len(content) > 2**20  # from where on Starlette by itself would write it to disk
    mine, other = new_tab(address), new_tab(address)
    mine.open("explore_data", model="naive_bayes").upload(f"{MARK}.csv", content).go("Reliability")
    assert mine.headline()
    assert f"{MARK}.csv" in str(mine.recipe_query())
    other.open("explore_reliability", **mine.recipe_query())
    # It is asked for the file that the link names
    assert any(f"{MARK}.csv" in text for text in other.alerts())
    assert not other.headline()
    assert MARK not in said.read_text()
    others = [line for line in done.read_text().splitlines() if not line.startswith(MEMORY)]
    # Tables are read in a process that can open no file
    others = [line for line in others if not (line.startswith("subprocess.Popen") and CONFINED in line)]
    others = [line for line in others if not line.startswith(FITTED)]
    # For pictures
    assert all(line.startswith(f"subprocess.Popen ('{find_chromium()}'") for line in others), others

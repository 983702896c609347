"""``explore`` opens the dashboard on the data of a script, for who has its token, as long as the script runs."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from calib.dashboard import Session, explore
from tests.browser import files
from tests.waiting import until

N = 400
RNG = np.random.default_rng(0)
P = RNG.random(N)
Y = (RNG.random(N) < P).astype(int)


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    session = explore(Y, {"forest": P, "boosting": P**2}, open_browser=False)
    yield session
    session.stop()


def test_the_predictions_are_there_and_stay_after_a_reload_and_no_link_holds_the_token(new_tab, session):
    address, _, token = session.url.replace("localhost", "127.0.0.1").partition("?token=")
    tab = new_tab(address.rstrip("/"))
    tab.page.goto(f"{address}?token={token}")
    tab.page.get_by_text("predictions.parquet").first.wait_for()
    tab.settle()
    assert "/explore_reliability?" in tab.page.url
    assert token in tab.page.url
    assert token not in tab.link()
    tab.page.reload()
    tab.page.get_by_text("predictions.parquet").first.wait_for()
    tab.settle()
    tab.go("Decide")
    assert "predictions.parquet" in tab.by_key("heading").inner_text()
    tab.go("Data").upload("churn.csv", files.as_csv(files.churn()))
    assert "400" in tab.headline()["Rows"]


def test_without_the_token_nothing_is_shown(new_tab, session):
    tab = new_tab(session.url.partition("/?")[0].replace("localhost", "127.0.0.1"))
    for address in ("", "?token=wrong", "explore_reliability?data=sample:digits"):
        tab.page.goto(f"{tab.address}/{address}")
        tab.page.get_by_text("Open the address").wait_for()
        assert tab.page.get_by_role("heading").count() == 0
        assert tab.page.locator(".stPlotlyChart").count() == 0


def test_the_server_ends_with_the_process_that_started_it(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, time\nfrom calib import explore\n"
        "session = explore([0, 1] * 20, [0.2, 0.8] * 20, open_browser=False)\n"
        "print(session._process.pid, flush=True)\ntime.sleep(600)\n"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, env=environment) as process:
        server = int(process.stdout.readline())
        assert _runs(server)
        process.send_signal(signal.SIGKILL)
    until(lambda: not _runs(server), "the server has ended")


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"

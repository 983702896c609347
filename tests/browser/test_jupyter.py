"""The dashboard in a real JupyterLab: a cell shows it in a frame, in which files can be uploaded, and it ends with the
notebook's kernel.

A page and its frame must be on one site, or the browser withholds the cookie that an upload needs. JupyterLab opens on
localhost and on 127.0.0.1, which are two.
"""

import json
import os
import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import pytest
from playwright.sync_api import Browser, FrameLocator, Page

from tests.browser import files
from tests.browser.driver import ROOT, answers, free_port, served_by
from tests.sweep import sweep
from tests.waiting import LIMIT, until

# Not imported, which would take seconds in each worker
pytestmark = pytest.mark.skipif(find_spec("jupyterlab") is None, reason="jupyterlab is not installed")
CELL = "from calib import explore\nsession = explore([0, 1] * 200, [0.2, 0.8] * 200)\nsession"
TOKEN = "a" * 32
HOSTS = ("localhost", "127.0.0.1")


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The port of a JupyterLab with a notebook of one cell for each host."""
    tmp_path = tmp_path_factory.mktemp("jupyter")
    cell = {
        "cell_type": "code",
        "source": CELL,
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "id": "a",
    }
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = {"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    for host in HOSTS:
        (tmp_path / f"{host}.ipynb").write_text(json.dumps(book))
    folders = {f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    environment = os.environ | folders | {"IPYTHONDIR": str(tmp_path / "ipython"), "PYTHONPATH": str(ROOT)}
    port = free_port()
    options = (f"ServerApp.port={port}", "ServerApp.ip=127.0.0.1", f"ServerApp.root_dir={tmp_path}")
    options += (f"IdentityProvider.token={TOKEN}", "ServerApp.allow_root=True", "ServerApp.port_retries=0")
    options += ("LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", "LabApp.news_url=None")
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", *(f"--{each}" for each in options)]
    address = f"http://127.0.0.1:{port}"
    with served_by(command, address, health=f"api?token={TOKEN}", env=environment, cwd=tmp_path):
        yield str(port)


@pytest.mark.parametrize("host", sweep(HOSTS, "localhost"))
def test_a_cell_shows_the_dashboard_in_which_files_are_uploaded(chromium: Browser, jupyter: str, host: str):
    context = chromium.new_context(viewport={"width": 1366, "height": 1200})
    context.set_default_timeout(1000 * LIMIT)
    page = context.new_page()
    page.goto(f"http://{host}:{jupyter}/lab/tree/{host}.ipynb?reset&token={TOKEN}")
    page.locator(".jp-CodeCell .cm-content").first.click()
    page.get_by_text(re.compile(r"Python 3.*\| Idle")).first.wait_for()
    page.keyboard.press("Shift+Enter")
    frame = page.frame_locator("iframe[title='Calibration Explorer']")
    frame.get_by_text("predictions.parquet").first.wait_for()
    assert (
        page.locator("iframe[title='Calibration Explorer']")
        .get_attribute("src")
        .startswith(f"http://{host}:")
    )
    _stand(frame)
    frame.get_by_role("button", name="Explore").click()
    frame.get_by_role("menuitem", name="Data", exact=True).click()
    field = frame.get_by_test_id("stFileUploaderDropzoneInput").first
    field.set_input_files(
        {"name": "churn.csv", "mimeType": "text/csv", "buffer": files.as_csv(files.churn())}
    )
    frame.get_by_text("churn.csv").first.wait_for()
    _stand(frame)
    server = _address(page)
    assert answers(f"{server}/_stcore/health")
    page.keyboard.press("Escape")
    page.get_by_role("menuitem", name="Kernel").click()
    page.get_by_role("menuitem", name="Shut Down Kernel", exact=True).click()
    until(lambda: not answers(f"{server}/_stcore/health"), "the dashboard has ended with the kernel")
    context.close()


def _stand(frame: FrameLocator) -> None:
    """Wait until the page in the frame has nothing more to draw."""
    frame.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()


def _address(page: Page) -> str:
    source = str(page.locator("iframe[title='Calibration Explorer']").get_attribute("src"))
    return source.partition("/?")[0].replace("localhost", "127.0.0.1")

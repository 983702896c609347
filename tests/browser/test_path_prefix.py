"""Behind a proxy the dashboard has a path of the machine's name: everything stays under it."""

import os
import sys

import pytest

from tests.browser import files
from tests.browser.driver import free_port, served_by


@pytest.mark.soak
def test_links_pages_and_uploads_stay_under_the_path(new_tab):
    port = free_port()
    address = f"http://127.0.0.1:{port}/course"
    options = ("--address", "127.0.0.1", "--port", str(port), "--path-prefix", "course")
    environment = os.environ | {"STREAMLIT_SERVER_HEADLESS": "true"}
    with served_by([sys.executable, "-m", "calibration_explorer", *options], address, env=environment):
        tab = new_tab(address)
        tab.page.goto(f"{address}/explore_decide?data=sample:breast_cancer&model=naive_bayes")
        tab.page.get_by_text("Which threshold should I use").wait_for()
        tab.settle()
        assert tab.recipe_query() == {"data": "sample:breast_cancer", "model": "naive_bayes"}
        assert tab.link().startswith(f"{address}/explore_decide?")
        tab.go("Data").upload("churn.csv", files.as_csv(files.churn()))
        assert tab.page.url.startswith(f"{address}/explore_data?")
        assert "400" in tab.headline()["Rows"]

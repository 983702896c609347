"""The app without a browser: its scripts, run by Streamlit's AppTest."""

from __future__ import annotations

import time
from pathlib import Path

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[2]
LIMIT = 60  # seconds


def page(stem: str = "explore_reliability", **query: str) -> AppTest:
    """A new session that opens this page with these parameters in its address."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=LIMIT)
    at.query_params.update(query)
    return settled(at.switch_page(f"pages/{stem}.py").run())


def go(at: AppTest, stem: str) -> AppTest:
    """The same session on another page."""
    return settled(at.switch_page(f"pages/{stem}.py").run())


def settled(at: AppTest) -> AppTest:
    """The page after its fit, however long that takes: AppTest does not poll as a browser does."""
    limit = time.monotonic() + LIMIT
    while any((button.key or "").startswith("cancel") for button in at.button):
        assert time.monotonic() < limit, f"the fit took more than {LIMIT} s"
        time.sleep(0.1)  # running the page again and again would only slow the fit
        at.run()
    return at


def bring(at: AppTest, name: str, content: bytes) -> AppTest:
    """Upload a file on the Data page."""
    return at.file_uploader(key="file").set_value((name, content, "application/octet-stream")).run()


def faults(at: AppTest) -> list[str]:
    """Exceptions and errors on the page."""
    return [e.message for e in at.exception] + [e.value for e in at.error]


def messages(at: AppTest) -> list[str]:
    """Errors, warnings and remarks, without the signs that keep Markdown quiet."""
    return [e.value.replace("\\", "") for kind in (at.error, at.warning, at.info) for e in kind]


def headline(at: AppTest) -> dict[str, str]:
    return {metric.label.replace("\\", ""): metric.value for metric in at.metric}


def titles(at: AppTest) -> list[str]:
    return [element.value.replace("\\", "") for element in at.main.subheader]

"""The app without a browser: its scripts, run by Streamlit's AppTest."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, wait
from pathlib import Path
from typing import ClassVar

import pandas as pd
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block, Widget

from calib.kernel.declared import from_text
from pages.ui.jobs import Job
from pages.ui.widget import KEY_AND_NUMBER
from tests.waiting import LIMIT, until
from tests.where import where

ROOT = Path(__file__).parents[2]


_begin = PagesManager.__init__


def _with_navigation(manager: PagesManager, *args, **kwargs) -> None:
    """Begin every run with app.py, as a server does from its second run on.

    AppTest would begin each with the page's own script, because there is a folder called pages: without what app.py
    does around it.
    """
    _begin(manager, *args, **kwargs)
    PagesManager.uses_pages_directory = False


PagesManager.__init__ = _with_navigation


class App(AppTest):
    """AppTest that finds a widget by its key, whatever number its name has now."""

    _components = None  # result of a search through all installed packages, once for all sessions
    sessions: ClassVar[list[App]] = []  # the sessions of this test

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        App.sessions.append(self)

    def _run(self, *args, **kwargs) -> AppTest:
        self._bidi_component_manager = App._components
        super()._run(*args, **kwargs)
        App._components = self._bidi_component_manager
        for node in self._tree:
            if isinstance(node, Widget) and node.key:
                node.key = node.key.partition(KEY_AND_NUMBER)[0]
        return self


COLOURS = ("red", "green", "gray")  # colours of a metric's difference, by AppTest's number


def page(stem: str = "explore_reliability", **query: str) -> AppTest:
    """Open a page with these query parameters in a new session, and wait until its work is done."""
    return settled(at_once(stem, **query))


def experiment(view: str, **query: str) -> AppTest:
    """Open a view of a page, an experiment or the playground, in a new session."""
    stem, chosen = where(view)
    return page(stem, **chosen | query)


def at_once(stem: str, **query: str) -> AppTest:
    """Open a page in a new session, and return it after its first run, with work still running."""
    at = App(str(ROOT / "app.py"), default_timeout=LIMIT)
    at.query_params.update(query)
    return at.switch_page(f"pages/{stem}.py").run()


def query(settings: Mapping[str, object]) -> dict[str, str]:
    """Return settings, named "page.setting", as query parameters."""
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in settings.items()}


def settings_in_address(at: AppTest) -> dict[str, object]:
    """Return the settings in the address, named "page.setting"."""
    texts = {name: value if isinstance(value, str) else value[-1] for name, value in at.query_params.items()}
    return {name: from_text(name, text) for name, text in texts.items() if "." in name}


def go(at: AppTest, stem: str) -> AppTest:
    """Go to another page in the same session."""
    return settled(at.switch_page(f"pages/{stem}.py").run())


def settled(at: AppTest, look: Callable[[AppTest], object] | None = None) -> AppTest:
    """Wait until the page's fits are done and draw it, because AppTest does not poll as a browser does.

    ``look`` is called with each drawing meanwhile.
    """

    def done() -> bool:
        if not working(at):
            return True
        if look:
            look(at)
        elif jobs := unfinished(at):
            wait([job.future for job in jobs], timeout=LIMIT, return_when=FIRST_COMPLETED)
        return not working(at.run())

    until(done, "the page's work is done")
    return at


def unfinished(at: AppTest) -> list[Job]:
    """Return the session's unfinished jobs: waiting for them is cheaper than redrawing the page."""
    kept = at.session_state["kept"].things() if "kept" in at.session_state else []
    return [thing for thing in kept if isinstance(thing, Job) and not thing.future.done()]


def jobs_of(at: AppTest, kind: str) -> list[Job]:
    """Return the session's jobs of one kind, the latest last."""
    return list(at.session_state["kept"].cache(f"jobs_{kind}", 0).values())


def working(at: AppTest) -> bool:
    """Tell whether something on the page can be cancelled."""
    return any((button.key or "").startswith("cancel") for button in at.button)


def bring(at: AppTest, name: str, content: bytes) -> AppTest:
    """Upload a file on the Data page."""
    return at.file_uploader(key="file").set_value((name, content, "application/octet-stream")).run()


def faults(at: AppTest) -> list[str]:
    """Return exceptions and errors on the page."""
    return [e.message for e in at.exception] + [e.value for e in at.error]


def messages(at: AppTest) -> list[str]:
    """Return errors, warnings and remarks, without Markdown escapes."""
    return [e.value.replace("\\", "") for kind in (at.error, at.warning, at.info) for e in kind]


def verdicts(at: AppTest) -> list[str]:
    """Return the feedback on the reader's answers, which begins with the sign of right or wrong."""
    said = [element.value.replace("\\", "") for element in at.markdown]
    return [text for text in said if text.startswith((":green-badge[", ":red-badge["))]


def headline(at: AppTest) -> dict[str, str]:
    return {metric.label.replace("\\", ""): metric.value for metric in at.metric}


def titles(at: AppTest) -> list[str]:
    headings = [*at.main.header, *at.main.subheader]
    return [element.value.replace("\\", "").replace("\u00a0%", " %") for element in headings]


def keys(at: AppTest) -> list[str]:
    """Return the keys of the buttons."""
    return [button.key for button in at.button]


def press(at: AppTest, label: str) -> AppTest:
    """Press the one button whose name begins so."""
    (button,) = [button for button in at.button if button.label.replace("\\", "").startswith(label)]
    return settled(button.click().run())


def block(at: AppTest, key: str) -> Block:
    """Return the container of this key."""
    inner = [at.main]
    for one in inner:
        inner += [child for child in one.children.values() if isinstance(child, Block)]
    return next(one for one in inner[1:] if one.proto.id.endswith(f"-{key}"))


def table(at: AppTest, column: str) -> pd.DataFrame:
    """Return the last table with this column."""
    return [frame.value for frame in at.dataframe if column in frame.value.columns][-1]

"""Markup in names, labels, file names and settings stays text, on every page and in all that leaves it.

A real browser opens each. No dialog may open, no element may come of a name, and nothing may be requested elsewhere.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page
from sklearn.naive_bayes import GaussianNB

from calib import CalibratedClassifier, Evaluation, Recipe, check, evaluate
from calib.dashboard import Session
from calib.export import draw_files, report_html, standalone_html, study_html
from calib.export.charts import charts
from calib.figures import FIGURES, LIGHT
from calib.sources import load
from calib.study import check_rows, summarise
from pages.ui import current
from tests.browser.accessibility import unfold
from tests.browser.driver import Tab, serving
from tests.study import small
from tests.sweep import sweep

HTML = "</script></title><script>alert(1)</script><img src=http://evil.invalid/h onerror=alert(2)><svg onload=alert(3)>"
MARKDOWN = "![i](http://evil.invalid/m)[l](javascript:alert(4))<b onmouseover=alert(5)>b</b> {{7*7}} ${6*6}"
QUOTED = "'\"><iframe srcdoc='<script>parent.alert(6)</script>'></iframe> $\\href{javascript:alert(7)}{x}$"
EVIL = (HTML, MARKDOWN, QUOTED)
MADE = "[src*=evil], [href*='javascript:'], [href*='://evil'], [onerror], [onload], [onmouseover], [srcdoc], "
MADE += ".katex-error, .katex:has-text('alert('), .katex:has-text('6*6')"  # no formula of the page's own
FILES = ("<img src=x onerror=alert(8)>.csv", "![x](y) <b onclick=alert(9)>.csv")  # a file's name has no slash
PATHS = {
    section: [Path(page.script).stem for page in pages] for section, pages in current.PAGES.items()
}  # section → addresses of its pages


def features() -> pd.DataFrame:
    """Three classes, columns, clusters and times with markup in every name and text."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    label = np.argmax(x @ rng.normal(size=(2, 3)) + rng.gumbel(size=(300, 3)), axis=1)
    return pd.DataFrame(
        {
            f"a {HTML}": x[:, 0],
            f"b {MARKDOWN}": x[:, 1],
            f"kind {QUOTED}": rng.choice(EVIL, 300),
            f"group {MARKDOWN}": rng.choice([f"{i} {HTML}" for i in range(40)], 300),
            f"day {HTML}": pd.date_range("2026-01-01", periods=300).strftime("%Y-%m-%d"),
            f"constant {MARKDOWN}": f"same {QUOTED}",
            f"label {HTML}": np.array(EVIL)[label],
        }
    )


def predictions() -> pd.DataFrame:
    """Labels and two columns of probabilities."""
    rng = np.random.default_rng(1)
    p = rng.random(400)
    outcome = np.where(rng.random(400) < p**2, f"yes {QUOTED}", f"no {MARKDOWN}")
    scores = {f"p {HTML}": p, f"q {MARKDOWN}": p**2}
    return pd.DataFrame({f"label {MARKDOWN}": outcome, **scores, f"kind {HTML}": rng.choice(EVIL, 400)})


def recipes() -> dict[str, Recipe]:
    """Recipes whose settings name columns and classes with markup."""
    place = {name: {"data": f"folder:{name}"} for name in FILES}
    return {
        "features": Recipe(
            **place[FILES[0]],
            target=f"label {HTML}",
            positive=MARKDOWN,
            cluster=f"group {MARKDOWN}",
            split="cluster",
            exclude=(f"constant {MARKDOWN}",),
            model="naive_bayes",
        ),
        "all classes": Recipe(
            **place[FILES[0]], target=f"label {HTML}", time=f"day {HTML}", split="time", model="naive_bayes"
        ),
        "predictions": Recipe(
            **place[FILES[1]],
            target=f"label {MARKDOWN}",
            positive=f"yes {QUOTED}",
            content="predictions",
            data_params={"scores": (f"p {HTML}", f"q {MARKDOWN}")},
        ),
        "label to choose": Recipe(**place[FILES[0]]),
    }


@contextmanager
def nothing_runs(page: Page) -> Iterator[None]:
    """Fail if a dialog opens, an element is made of a name, or another machine is asked while the block lasts."""
    faults: list[str] = []
    page.on("dialog", lambda dialog: faults.append(f"ran: {dialog.message}") or dialog.dismiss())
    page.on("request", lambda request: "evil" in request.url.split("?")[0] and faults.append(request.url))
    yield
    for box in page.locator(".js-plotly-plot").all():
        box.hover(force=True)  # what a chart says of the mark under the pointer
    assert page.locator(MADE).evaluate_all("all => all.map(each => each.outerHTML.slice(0, 300))") == []
    assert faults == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tables")
    for name, frame in zip(FILES, (features(), predictions()), strict=True):
        frame.to_csv(root / name, index=False)
    return root


@pytest.fixture(scope="module")
def on_folder(folder: Path) -> Iterator[str]:
    """The address of a server that shows these tables."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(os.environ, "CALIBRATION_EXPLORER_FOLDER", str(folder))
        with serving() as address:
            yield address


SWEPT = [(path, kind) for path in PATHS["Explore"] for kind in recipes()]
IN_SHORT = (("explore_data", "label to choose"), ("explore_reliability", "features"))


@pytest.mark.parametrize("case", sweep(SWEPT, *IN_SHORT), ids=": ".join)
def test_a_page_shows_names_as_text(new_tab, on_folder: str, case: tuple[str, str]):
    tab: Tab = new_tab(address=on_folder)
    path, kind = case
    with nothing_runs(tab.page):
        unfold(tab.open(path, **recipes()[kind].to_query()))
        assert "alert(" in tab.page.locator("body").inner_text()  # the names are there, as text


NAMES = json.dumps(EVIL)
TYPED = {  # page → links with markup in its own settings
    "learn_class": [{"room": HTML}],
    "learn_labs": [{"labs.experiment": "finite", "finite.line": HTML}, {"playground.curve": QUOTED}],
    "learn_two_probabilities": [{"two_probabilities.experiment": "pooling", "pooling.points": MARKDOWN}],
    "study_run": [
        {"run.protocol": HTML},
        {"run.protocol": "upload:00ff", "run.protocol_file": MARKDOWN},
        {"run.sets": json.dumps(["sample:breast_cancer", f"openml:{HTML}", f"upload:00ff:{QUOTED}"])},
        {"run.setups": NAMES},
    ],
    "study_results": [
        {"results.rows": HTML},
        {"results.rows": "upload:00ff", "results.file_name": MARKDOWN},
        {"results.setups": NAMES, "results.data_set": QUOTED},
    ],
}


@pytest.mark.parametrize("path", sweep([*PATHS["Learn"], *PATHS["Study"]]))
def test_a_page_shows_what_a_link_says_as_text(new_tab, on_folder: str, path: str):
    """The names of its data, a setting that no page has, and the texts of its own settings."""
    tab: Tab = new_tab(address=on_folder)
    shown = ""
    with nothing_runs(tab.page):
        for link in (recipes()["features"].to_query(), {HTML: MARKDOWN}, *TYPED.get(path, ())):
            unfold(tab.open(path, **link))
            shown += tab.page.locator("body").inner_text().lower()
    assert any(part in shown for part in ("alert(", "</sc…"))  # a room's code is in capitals, and cut off


def bring(tab: Tab, key: str, name: str, table: pd.DataFrame) -> Tab:
    return tab.upload(name, table.to_csv(index=False).encode(), key)


def test_results_of_a_study_show_names_as_text(new_tab, on_folder: str):
    tab: Tab = new_tab(address=on_folder)
    with nothing_runs(tab.page):
        bring(tab.open("study_results"), "results_file", FILES[0], results())
        tab.page.wait_for_url("**results.rows=upload**")
        tab.settle()
        assert "alert(" in tab.page.locator("body").inner_text()


@pytest.mark.soak
def test_a_study_shows_names_as_text_while_it_runs_and_fails(new_tab, on_folder: str):
    """Protocol, data sets and setups have markup in their names; a setup fails on a column with markup."""
    tab: Tab = new_tab(address=on_folder)
    names = dict(zip(("Raw", "VAP", "Forest"), map(json.dumps, EVIL), strict=True))
    protocol = small.FAILING.replace('"Small"', json.dumps(HTML)).replace('"made"', json.dumps(MARKDOWN))
    for name, evil in names.items():
        protocol = protocol.replace(f'"{name}"', evil)
    table = small.table().rename(columns=dict(zip("abc", EVIL, strict=True)))
    with nothing_runs(tab.page):
        tab.open("study_run").upload(
            FILES[0].replace(".csv", ".toml"), protocol.encode(), "run_protocol_file"
        )
        for name in FILES:
            bring(tab, "run_files", name, table.replace({"yes": HTML, "no": QUOTED}))
        unfold(tab).press("Start", tab.page.get_by_test_id("stMain"))
        unfold(tab).press("Open in Results")
        tab.page.wait_for_url("**/study_results**")
        unfold(tab.settle()).choose("results.data_set", Path(FILES[0]).stem)
        assert "alert(" in tab.page.locator("body").inner_text()


def evaluated(folder: Path, kind: str) -> Evaluation:
    """Return the Evaluation of a Recipe, with a title, a purpose and an author for its report."""
    cover = dict(zip(("report.title", "report.purpose", "report.author"), EVIL, strict=True))
    recipe, key = recipes()[kind], "0" * 16
    name = recipe.data.partition(":")[2]
    recipe = recipe.replace(data=f"upload:{key}", file=name, settings=cover)
    return evaluate(recipe, load(recipe, {key: pd.read_csv(folder / name)}))


def in_notebook(found: Evaluation, frame: pd.DataFrame) -> str:
    """Return what a notebook shows of an Evaluation, of its tables, of arrays with names, and of fitted models."""
    y, p = np.arange(60) % 2, np.linspace(0.1, 0.9, 60)
    P = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    model = CalibratedClassifier(GaussianNB(), "platt").fit(p[:, None], np.array(EVIL)[y])
    dashboard = Session(subprocess.Popen(["true"]), 1, HTML)
    shown = [
        found,
        found.whole or found,
        found.metrics,
        check(y, dict.fromkeys(EVIL, p)),
        check(np.arange(60) % 3, P),
        model,
        frame,
        dashboard,
    ]
    return "".join(each._repr_html_() for each in shown)


def exported(found: Evaluation, whole: bool) -> Iterator[tuple[str, bytes]]:
    """Yield (ending of the file's name, content) of what notebooks show, of exported pages and of pictures."""
    yield "html", in_notebook(found, features()).encode()
    yield "html", report_html({HTML: found, MARKDOWN: found})
    made = [
        FIGURES[one.key].draw(one.record, LIGHT) for one in (charts(found) if whole else charts(found)[:1])
    ]
    yield from (("svg", pictures["svg"]) for pictures in draw_files(made, ["svg"]))
    for figure in made:
        yield "html", standalone_html(figure, HTML, title=MARKDOWN, below=QUOTED)


def results() -> pd.DataFrame:
    """Rows of a study whose data sets and setups have markup in their names."""
    lines = [(data, setup, 0, 0, 0, 0.1) for data in EVIL for setup in EVIL]
    return pd.DataFrame(lines, columns=["data", "setup", "repeat", "fold", "seed", "brier"])


def study() -> bytes:
    return study_html(summarise(check_rows(results()), "brier"))


@pytest.mark.parametrize("kind", sweep(["features", "all classes", "predictions"], "all classes"))
def test_what_is_exported_and_shown_in_notebooks_has_names_as_text(new_tab, folder, tmp_path, kind, request):
    page = new_tab().page
    whole = request.node.get_closest_marker("soak") is not None
    for ending, content in [*exported(evaluated(folder, kind), whole), ("html", study())]:
        path = tmp_path / f"shown.{ending}"
        path.write_bytes(content)
        with nothing_runs(page):
            page.goto(path.as_uri())

"""One more experiment is one folder and one line on a page that there is; on a new page one script and line more."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

WORDS = '''"""How often a coin that is thrown many times shows heads."""

from calib.experiments.base import Experiment, view_of
from calib.experiments.coin.simulation import further, throw
from calib.kernel.records import Parameter

EXPERIMENT = Experiment(
    key="coin",
    page="{page}",
    name="A coin",
    question="How many of many throws show heads?",
    answers=("About half", "All of them"),
    parameters=(
        Parameter("throws", "Throws", "choice", 100, choices=(10, 100, 1000), help="So many."),
        Parameter("digits", "Digits", "integer", 3, 1, 6, help="In the title.", extra=view_of("coin")),
    ),
    simulation=throw,
    notice=("It is about half.",),
    formulas=(r"k / n",),
    source="Bernoulli (1713).",
    also={{"coin_further": further}},
)
'''
SIMULATION = '''"""Throws of a fair coin."""

import numpy as np


def throw(settings, random_state, watch):
    return np.random.default_rng(random_state).integers(0, 2, settings["throws"])


def further(settings, random_state, watch):
    return throw(settings, random_state + 1, watch)
'''
FIGURE = '''"""The share of heads, as one bar."""

import pandas as pd
import plotly.graph_objects as go

from calib.experiments.shared.findings import Finding
from calib.figures.base import FigureEntry
from calib.figures.theme import LIGHT, layout


def prepare(found, digits=3):
    share = round(float(found.mean()), digits)
    title = f"Heads in {share} of the throws"
    table = pd.DataFrame({"share": [share]})
    return Finding(title=title, caption="One bar.", alt="One bar.", table=table, answer=1)


def draw(record, theme=LIGHT):
    return go.Figure(go.Bar(x=["heads"], y=record.table["share"]), layout=layout(theme, height=300))


FIGURES = (FigureEntry("coin", "Heads", prepare, draw), FigureEntry("coin_further", "More heads", prepare, draw))
'''
PAGE = '''"""Learn · Coins."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import experiments

recipe = frame.open_page("pages/learn_coins.py")
experiments.show(recipe, "coins")
'''
OPENED = """
import json
from streamlit.testing.v1 import AppTest
from calib import Recipe
at = AppTest.from_file("app.py", default_timeout=300)
at.query_params.update({"coin.guess": "1", "coin.throws": "10"%s})
at = at.switch_page("pages/%s.py").run()
assert not at.exception and not at.error, (at.exception, at.error)
try:
    Recipe(settings={"coin.throws": 7})
except ValueError as error:
    print(error)
said = [element.value for element in at.main.markdown if "-badge[" in element.value]
print(json.dumps([text.replace(chr(92), "") for text in [*(element.value for element in at.main.header), *said]]))
"""


@pytest.fixture(
    params=[
        pytest.param("validity", id="old page", marks=pytest.mark.soak),
        pytest.param("coins", id="new page"),
    ]
)
def tree(request, tmp_path):
    """A copy of the project with the experiment in it."""
    for folder in ("calib", "pages", "sample_data", ".streamlit"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "app.py", tmp_path)
    folder = tmp_path / "calib/experiments/coin"
    folder.mkdir()
    (folder / "__init__.py").write_text(WORDS.format(page=request.param))
    (folder / "simulation.py").write_text(SIMULATION)
    (folder / "figure.py").write_text(FIGURE)
    one_line(tmp_path / "calib/experiments/__init__.py", '    "finite",\n', '    "coin",\n')
    if request.param == "coins":
        (tmp_path / "pages/learn_coins.py").write_text(PAGE)
        line = '        Page("pages/learn_coins.py", "Coins", "How many heads?"),\n'
        one_line(tmp_path / "pages/ui/current.py", r'        Page\("pages/learn_algorithms.py".*\n', line)
    return request.param, tmp_path


def one_line(file, after, line):
    text, count = re.subn(f"({after})", lambda found: found[0] + line, file.read_text(encoding="utf-8"))
    assert count == 1
    file.write_text(text, encoding="utf-8")


def run(tree, *arguments):
    done = subprocess.run([sys.executable, *arguments], cwd=tree, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_one_more_experiment_is_simulated_drawn_linked_and_on_its_page(tree):
    page, folder = tree
    csv, html = folder / "coin.csv", folder / "coin.html"
    out = run(
        folder,
        "-m",
        "calib",
        "simulate",
        "coin",
        "--set",
        "throws=10",
        "--csv",
        str(csv),
        "--html",
        str(html),
    )
    first, further = re.findall(r"Heads in ([\d.]+) of the throws", out)
    assert csv.read_text(encoding="utf-8-sig").split() == ["share", first]
    assert html.read_text(encoding="utf-8").count("Plotly.newPlot") == 2
    part = ', "validity.experiment": "coin"' if page == "validity" else ""
    refused, shown = run(folder, "-c", OPENED % (part, f"learn_{page}")).splitlines()[-2:]
    assert refused == "coin.throws must be one of 10, 100, 1000, but is 7."
    assert json.loads(shown) == [
        f"Heads in {first} of the throws",
        f"Heads in {further} of the throws",
        ":green-badge[:material/check_circle: Correct.] You said: About half.",
    ]

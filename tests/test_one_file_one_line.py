"""Adding anything is one new file and one registry line, with its import; and a package from outside needs neither.

Each addition below is made to a copy of the tree, all in one copy; the chain, the exports, the pages and the contract
tests then run there in processes of their own. Experiments of the Learn pages are added in
``tests/experiments/test_one_more.py``.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

CALIBRATOR = '''
"""Least squares: the straight line from the model's probability to the labels, or a part of its slope."""

from __future__ import annotations

import numpy as np

from calib.calibrators.base import ScoreCalibrator
from calib.kernel.records import Parameter
from calib.kernel.weights import or_ones


class Linear(ScoreCalibrator):
    """``p = f + b (s - m)``, clipped to [0, 1]; f and m are the means of y and s, b >= 0 is the slope times ``share``.

    >>> Linear(share=1.0).fit([0.25, 0.75], [0, 1]).predict([0.5, 0.625])
    array([0.5 , 0.75])
    """

    key = "linear"
    label = "Straight line"
    source = "this test"
    input = "probability"
    complexity = 0.5
    weighted = True
    kind = "line"
    parameters = (Parameter("share", "Share", "number", 1.0, 0.0, 1.0, help="Share of the slope that is kept."),)

    def __init__(self, share=1.0):
        self.share = share

    def _learn(self, scores, y, weights):
        weights = or_ones(weights, len(y))
        f, m = np.average(y, weights=weights), np.average(scores, weights=weights)
        spread = weights @ (scores - m) ** 2
        slope = self.share * max(0.0, weights @ ((scores - m) * (y - f)) / spread) if spread > 1e-12 else 0.0
        self.slope_, self.intercept_ = float(slope), float(f - slope * m)

    def _map(self, scores):
        return np.clip(self.intercept_ + self.slope_ * scores, 0, 1)

    def to_map(self):
        return {"share": self.share, **self._learned("slope", "intercept")}

    @classmethod
    def from_map(cls, fields):
        learned = {name: fields.number(name) for name in ("slope", "intercept")}
        return cls(fields.number("share", 0, 1))._with_learned(**learned)
'''
METRIC = '''
"""Sharpness: how far probabilities are from one half."""

import numpy as np

from calib.kernel import checks
from calib.metrics.base import Metric


def sharpness(y, p, sample_weight=None):
    """Mean of |p − ½|.

    >>> sharpness([0, 1], [0.25, 1.0])
    0.375
    """
    weights, _, p = checks.counted_rows(sample_weight, *checks.labelled_probabilities(y, p))
    return float(np.average(np.abs(p - 0.5), weights=weights))


SHARPNESS = Metric("sharpness", "Sharpness", sharpness, None, "Mean distance from one half.")
'''
MODEL = '''
"""A stump: the tree of one split."""

from sklearn.tree import DecisionTreeClassifier

from calib.kernel.records import Parameter
from calib.models.base import ModelEntry


def _make(depth, random_state):
    return DecisionTreeClassifier(max_depth=depth, random_state=random_state)


DEPTH = Parameter("depth", "Depth", "integer", 1, 1, 5, help="Depth of the tree.")
ENTRY = ModelEntry("stump", "Stump", _make, (DEPTH,), help="A tree of one split.")
'''
PLACEMENT = '''
"""Halves: as split, one half of the rows whatever share is asked for."""

from calib.placements.split import Split


class Halves(Split):
    """Half of the rows calibrates.

    >>> Halves.label
    'One half'
    """

    key = "halves"
    label = "One half"
    help = "Half of the training rows calibrates."

    def _parts(self, y):
        self.calibration_size = 0.5
        return super()._parts(y)
'''
SPLIT = '''
"""Every so manieth row: nothing is drawn."""

from __future__ import annotations

import numpy as np

from calib.splits.base import Cut, Splitter


class Systematic(Splitter):
    key = "systematic"
    label = "Every so manieth row"
    help = "Right where rows stand in no order."
    drawn = False

    def holdout(self, rows, share, random_state):
        held = np.diff(np.floor(np.arange(rows.n + 1) * share)) > 0
        return Cut(np.flatnonzero(~held), np.flatnonzero(held))

    def folds(self, rows, k, random_state):
        fold = np.arange(rows.n) % k
        return [Cut(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(k)]
'''
FIGURE = '''
"""How many test rows each calibrator calls positive."""

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from calib.calibrators import label_of
from calib.figures.base import FigureEntry, itself
from calib.figures.theme import LIGHT, MARKS, layout


@dataclass(frozen=True, eq=False)
class Called:
    table: pd.DataFrame
    title: str = "Who calls how many positive"
    caption: str = "A bar a calibrator."
    alt: str = "Bars of rows called positive."

    def to_frame(self):
        return self.table


def prepare(evaluation):
    rows = [(key, int((said.p > 0.5).sum())) for key, said in evaluation.predictions.items()]
    return Called(pd.DataFrame(rows, columns=["calibrator", "called"]))


def draw(record, theme=LIGHT):
    keys = list(record.table.calibrator)
    colors = [MARKS[key].color for key in keys]
    bars = go.Bar(x=[label_of(key) for key in keys], y=record.table.called, marker={"color": colors})
    return go.Figure(bars, layout(theme))


CALLED = FigureEntry("called", "Called positive", prepare, draw, reported=itself)
'''
PAGE = '''
"""Explore · Called: who calls how many rows positive."""

import pages.ui.everything
from pages.ui import chart, evaluations, frame

recipe = frame.open_page("pages/explore_called.py")
evaluation = evaluations.evaluation(recipe)
frame.refusals(evaluation)
chart.show("called", evaluation)
frame.notes(evaluation.notes)
'''
LESSON = """
title = "A straight line"
summary = "What least squares does to probabilities."
when = "After the first hour."
""" + "".join(
    f"""
[[steps]]
page = "explore_reliability"
title = "What does {part} of the slope do?"
text = "A straight line moves every probability. Which way?"
look = "the curve of the straight line."
point = "A straight line keeps the order of the probabilities."
[steps.recipe]
data = "sample:breast_cancer"
calibrators = ["none", "linear"]

[[questions]]
text = "Does {part} of the slope change the order?"
answers = ["It turns the order round", "The order stays", "Only two rows change places"]
right = {right}
why = ["The slope is not negative.", "The slope is not negative.", "The slope is not negative."]
"""
    for part, right in (("a quarter", 2), ("half", 2), ("all", 1))
)
# A page of the guide for the page, and a line for each method; the rest of the guide is written from the code
GUIDE_PAGE = """# Explore: Called

![The page](../pictures/explore_called.webp)

## What it answers

How many rows each calibrator calls positive.

## How to read it

One bar per calibrator.

## What it cannot say

Which of them are right.
"""
METHODS = {
    "venn_abers": "| `linear` | p = f + b (s − m) | least squares | – |",
    "full": "| `halves` | scores of one half | the model trained on the other half | – |",
    "file": "| `systematic` | every so manieth row is a test row |",
    "given": "| `stump` | a tree of one split | – |",
    "tce": "| `sharpness` | mean abs(p − ½) | – |",
}
KIND = ("| `ranks` |", "| `line` | `intercept`, `slope`, `share` | intercept + slope s, clipped to [0, 1] |")

# what is added → (its file, the text, the registry, (what stands there, what is put in its place), …)
ADDITIONS = {
    "calibrator": (
        "calib/calibrators/linear.py",
        CALIBRATOR,
        "calib/calibrators/__init__.py",
        ("from calib.calibrators.temperature", "from calib.calibrators.linear import Linear\n{there}"),
        ("Rank),", "Rank, Linear),"),
    ),
    "metric": (
        "calib/metrics/sharpness.py",
        METRIC,
        "calib/metrics/registry.py",
        ("from calib.metrics.slope", "from calib.metrics.sharpness import SHARPNESS\n{there}"),
        ("        RMSE,\n", "        SHARPNESS,\n{there}"),
    ),
    "model": (
        "calib/models/stump.py",
        MODEL,
        "calib/models/__init__.py",
        ("    svm,\n", "    stump,\n{there}"),
        ("        svm.ENTRY,\n", "        stump.ENTRY,\n{there}"),
    ),
    "placement": (
        "calib/placements/halves.py",
        PLACEMENT,
        "calib/placements/__init__.py",
        ("from calib.placements.none", "from calib.placements.halves import Halves\n{there}"),
        ("TrainingScores, Full)", "TrainingScores, Full, Halves)"),
    ),
    "split": (
        "calib/splits/systematic.py",
        SPLIT,
        "calib/splits/__init__.py",
        ("from calib.splits.time", "from calib.splits.systematic import Systematic\n{there}"),
        ("ByCluster, ByFile)", "ByCluster, ByFile, Systematic)"),
    ),
    "figure": (
        "calib/figures/called.py",
        FIGURE,
        "calib/figures/__init__.py",
        ("from calib.figures.compared", "from calib.figures.called import CALLED\n{there}"),
        ("        DIFFERENCES,\n", "        CALLED,\n{there}"),
    ),
    "Explore page": (
        "pages/explore_called.py",
        PAGE,
        "pages/ui/current.py",
        (
            '        Page(\n            "pages/explore_decide.py"',
            '        Page("pages/explore_called.py", "Called", "How many?", ("model", "calibrators")),\n{there}',
        ),
    ),
    "lesson": (
        "calib/lessons/straight_line.toml",
        LESSON,
        "calib/lessons/__init__.py",
        ('    "reliability_diagram",\n', '    "straight_line",\n{there}'),
    ),
}


def add(tree: Path, file: str, text: str, registry: str, *changes: tuple[str, str]) -> None:
    """Write the file, and put the line or its part into the registry; {there} is what stands there."""
    assert not (tree / file).exists()
    (tree / file).write_text(text.lstrip(), encoding="utf-8")
    source = (tree / registry).read_text(encoding="utf-8")
    for there, new in changes:
        assert source.count(there) == 1, (registry, there)
        source = source.replace(there, new.format(there=there))
    (tree / registry).write_text(source, encoding="utf-8")


UNTRACKED = ("__pycache__", "build", ".git", ".venv", ".*cache", ".hypothesis", ".cells", "*.sqlite")


def copy_of_the_tree(to: Path) -> Path:
    shutil.copytree(ROOT, to, ignore=shutil.ignore_patterns(*UNTRACKED), dirs_exist_ok=True)
    return to


def add_to_the_guide(tree: Path) -> None:
    """Write what CONTRIBUTING asks for, and let the script write the rest."""
    (tree / "docs/pages/explore_called.md").write_text(GUIDE_PAGE, encoding="utf-8")
    shutil.copy(tree / "docs/pictures/start.webp", tree / "docs/pictures/explore_called.webp")
    methods = tree / "docs/methods.md"
    lines = methods.read_text(encoding="utf-8").splitlines()
    for key, line in METHODS.items():
        (at,) = (i for i, there in enumerate(lines) if there.startswith(f"| `{key}` |"))
        lines.insert(at + 1, line)
    methods.write_text("\n".join(lines) + "\n", encoding="utf-8")
    formats, (before, line) = tree / "docs/file_formats.md", KIND
    formats.write_text(
        formats.read_text(encoding="utf-8").replace(before, f"{line}\n{before}"), encoding="utf-8"
    )
    run(tree, "-m", "scripts.write_docs")


def run(
    tree: Path, *arguments: str, path: Path | None = None, status: int = 0
) -> subprocess.CompletedProcess:
    """A Python process in the copy, with a folder of installed packages on its path."""
    environment = os.environ | {"PYTHONPATH": str(path or ""), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=tree, env=environment, capture_output=True, text=True
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    tree = copy_of_the_tree(tmp_path_factory.mktemp("house"))
    for addition in ADDITIONS.values():
        add(tree, *addition)
    return tree


RECIPE = {
    "model": "stump",
    "params": {"depth": 3},
    "placement": "halves",
    "split": "systematic",
    "calibrators": ["none", "linear", "venn_abers"],
    "options": {"linear.share": 0.5},
}


@pytest.fixture
def asked(tree):
    (tree / "recipe.json").write_text(json.dumps(RECIPE))
    return ("-m", "calib", "evaluate", "recipe.json", "sample_data/breast_cancer.csv.gz")


def test_an_addition_touches_one_registry_and_at_most_two_of_its_lines():
    for file, _, registry, *changes in ADDITIONS.values():
        assert not (ROOT / file).exists()
        assert (ROOT / registry).exists()
        assert len(changes) <= 2


def test_the_command_line_prints_and_reports_what_was_added(tree, asked):
    printed = run(tree, *asked, "--html", "report.html", "--csv", "rows.csv").stdout
    assert "linear" in printed
    assert "sharpness" in printed
    report = (tree / "report.html").read_text(encoding="utf-8")
    for words in ("Straight line", "Sharpness", "Who calls how many positive", "halves", "stump"):
        assert words in report
    assert "linear" in (tree / "rows.csv").read_text().splitlines()[0].split(",")


NUMBERS = """
import json
import numpy as np
from calib import Recipe, evaluate
from calib.calibrators import complexity_of
from calib.export import bundle, calibrator_json, read_calibrator, standalone_html
from calib.export.charts import charts
from calib.figures import DARK, LIGHT, MARKS
from calib.sources import load

recipe = Recipe.from_json(open("recipe.json").read()).replace(data="sample:breast_cancer")
assert Recipe.from_query(recipe.to_query()) == recipe
evaluation = evaluate(recipe, load(recipe))
assert evaluation.refused == {}
np.testing.assert_array_equal(evaluation.rows, np.flatnonzero(np.diff(np.floor(np.arange(570) * 0.3)) > 0))
part = evaluation.dataset.n - len(evaluation.y)
assert abs(len(evaluation.calibration_y) - part / 2) <= 1, (len(evaluation.calibration_y), part)
p, raw = evaluation.predictions["linear"].p, evaluation.predictions["none"].p
calibrating, y = evaluation.calibration_scores, evaluation.calibration_y
slope = np.polyfit(calibrating, y, 1)[0] / 2
np.testing.assert_allclose(p, np.clip(y.mean() + slope * (raw - calibrating.mean()), 0, 1))
np.testing.assert_allclose(evaluation.metrics.sharpness["linear"], np.abs(p - 0.5).mean())
text = calibrator_json(evaluation, "linear")
assert json.loads(text)["map"]["kind"] == "line" and json.loads(text)["map"]["share"] == 0.5
np.testing.assert_array_equal(read_calibrator(text).predict(evaluation.scores).p, p)
assert sorted(["venn_abers", "linear", "none"], key=complexity_of) == ["none", "linear", "venn_abers"]
assert len({mark.color for mark in MARKS.values()}) == len({mark.symbol for mark in MARKS.values()}) == len(MARKS)
drawn = {chart.key: chart for chart in charts(evaluation)}
assert "called" in drawn
for chart in drawn.values():
    for theme in (LIGHT, DARK):
        assert chart.draw(theme).to_json()
assert MARKS["linear"].color in drawn["reliability"].draw(LIGHT).to_json()
assert b"Bars of rows" in standalone_html(drawn["called"].draw(LIGHT), drawn["called"].record.alt)
assert len(bundle({"one": evaluation})) > 10_000
"""


PAGES = """
from tests.pages.app import faults, go, page, titles

at = page("explore_called", data="sample:breast_cancer", model="stump", calibrators="none,linear,platt")
assert faults(at) == [], faults(at)
assert titles(at) == ["Who calls how many positive"], titles(at)
assert "stump" in at.selectbox(key="model").value
at = go(at, "explore_reliability")
assert faults(at) == [], faults(at)
assert "One half" in at.selectbox(key="placement").options
at.number_input(key="options.linear.share").set_value(0.75).run()
assert faults(at) == [], faults(at)
assert dict(at.session_state["recipe"].options) == {"linear.share": 0.75}
shown = at.session_state["recipe"].to_query()
assert '"linear.share":0.75' in shown["options"]
table = str([frame.value for frame in at.dataframe])
assert "Straight line" in table, table
at = go(at, "learn_lessons")
assert faults(at) == [], faults(at)
texts = [*at.markdown, *at.header, *at.subheader, *at.caption]
assert "A straight line" in " ".join(element.value for element in texts)
"""


@pytest.mark.usefixtures("asked")
def test_the_chain_the_figures_the_exports_and_the_pages_take_what_was_added(tree):
    run(tree, "-c", NUMBERS + PAGES)


#: Tests of what every entry of a registry, and every page and lesson, promises. Two ask for the addition's own test
#: file: those of a lesson's claims (tests/lessons/test_claims.py, test_points.py).
CONTRACTS = (
    "tests/calibrators/test_contract.py",
    "tests/metrics/test_registry.py",
    "tests/metrics/test_table.py",
    "tests/models/test_base.py",
    "tests/placements/test_base.py",
    "tests/splits/test_contract.py",
    "tests/figures/test_captions.py",
    "tests/figures/test_marks.py",
    "tests/figures/test_titles.py",
    "tests/lessons/test_lessons.py",
    "tests/lessons/test_for_teachers.py",
    "tests/pages/test_any_page.py",
    "tests/test_floors.py",
    "tests/test_methods.py",
    "tests/test_guide.py",
    "tests/test_recipe.py",
    "tests/test_docstrings.py",
)
ADDED = ("linear", "sharpness", "stump", "halves", "systematic", "called", "straight_line")


REGISTRY_WIDE = ("registry", "every_", "holds_stands", "kinds_of")


@pytest.mark.parametrize(
    "chosen", [" or ".join((*ADDED, *REGISTRY_WIDE)), pytest.param("test", marks=pytest.mark.soak)]
)
def test_what_was_added_passes_the_contract_tests(tree, chosen):
    """Those that name an addition and those that go over a whole registry at once; when there is time, all."""
    if not (tree / "docs/pages/explore_called.md").exists():
        add_to_the_guide(tree)
    run(tree, "-m", "pytest", "-q", "-n", "0", "-m", "not soak", "-k", chosen, *CONTRACTS)


OUTSIDE = """
import numpy as np
from sklearn.naive_bayes import BernoulliNB

from calib.calibrators import ScoreCalibrator
from calib.metrics import Metric
from calib.models import ModelEntry


class Mine(ScoreCalibrator):
    key, label, source, input = "mine", "My method", "a package of its own", "score"

    def _learn(self, scores, y, weights):
        self.low_, self.high_ = scores.min(), max(scores.max(), scores.min() + 1e-9)

    def _map(self, scores):
        return np.clip((scores - self.low_) / (self.high_ - self.low_), 0, 1)


def _extreme(y, p):
    return float(np.max(np.abs(np.asarray(p) - 0.5)))


EXTREME = Metric("extreme", "Most extreme", _extreme, None, "The probability farthest from one half.")
BINARY = ModelEntry("binary_bayes", "Bernoulli Bayes", lambda random_state: BernoulliNB(), ())
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder as pip leaves it, with one package that brings all three kinds and one that is broken."""
    site = tmp_path_factory.mktemp("site")
    points = {
        "outside": "[calib.calibrators]\nmine = outside:Mine\n[calib.models]\nbinary = outside:BINARY\n"
        "[calib.metrics]\nextreme = outside:EXTREME\n",
        "broken": "[calib.calibrators]\nbad = broken:Bad\n[calib.metrics]\nbrier = outside:Mine\n",
    }
    (site / "outside.py").write_text(OUTSIDE)
    (site / "broken.py").write_text("import no_such_module_at_all\n")
    for name, text in points.items():
        info = site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(text)
    return site


LEFT_OUT = (
    "The plug-in 'bad' of the package broken is not added to calib.calibrators. "
    "ModuleNotFoundError: No module named 'no_such_module_at_all'.",
    "The plug-in 'brier' of the package broken is not added to calib.metrics. "
    "<class 'outside.Mine'> is not a calib.metrics.Metric.",
)


@pytest.mark.soak
def test_a_package_from_outside_stands_on_the_command_line_and_in_the_report(site, tmp_path):
    recipe = {"model": "binary_bayes", "calibrators": ["none", "mine", "isotonic"]}
    (tmp_path / "recipe.json").write_text(json.dumps(recipe))
    arguments = (
        str(tmp_path / "recipe.json"),
        "sample_data/breast_cancer.csv.gz",
        "--html",
        str(tmp_path / "r.html"),
    )
    done = run(ROOT, "-m", "calib", "evaluate", *arguments, path=site)
    assert "mine" in done.stdout
    assert "extreme" in done.stdout
    report = (tmp_path / "r.html").read_text(encoding="utf-8")
    for words in ("My method", "Most extreme", "binary_bayes"):
        assert words in report
    for problem in LEFT_OUT:
        assert f"warning: {problem}" in done.stderr


OUTSIDE_ON_PAGES = """
from tests.pages.app import faults, messages, page

at = page(data="sample:breast_cancer", model="binary_bayes", calibrators="none,mine")
assert faults(at) == [], faults(at)
assert {"My method", "Platt scaling"} <= set(at.multiselect(key="calibrators").options)
assert "Bernoulli Bayes" in at.selectbox(key="model").options
assert "My method" in str([frame.value for frame in at.dataframe])
for problem in PROBLEMS:
    assert problem in messages(at), messages(at)
at.multiselect(key="calibrators").set_value(["none", "mine", "venn_abers"]).run()
assert faults(at) == [], faults(at)
"""


@pytest.mark.soak
def test_a_package_from_outside_stands_in_the_sidebar_and_a_broken_one_is_named(site):
    run(ROOT, "-c", f"PROBLEMS = {LEFT_OUT!r}\n{OUTSIDE_ON_PAGES}", path=site)


def test_importing_calib_loads_no_package_from_outside(site):
    program = (
        "import sys, calib, calib.export\n"
        "assert 'outside' not in sys.modules\n"
        "from calib.calibrators import CALIBRATORS\n"
        "assert 'mine' in CALIBRATORS and 'outside' in sys.modules\n"
    )
    run(ROOT, "-c", program, path=site)

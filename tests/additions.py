"""One addition of each kind that docs/adding.md describes: its files, and the line of its registry.

``tests/test_one_file_one_line.py`` makes them all in one copy of the tree.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

CALIBRATOR = '''
"""Least squares: the straight line from the model's probability to the labels, or a part of its slope."""

from __future__ import annotations

import numpy as np

from calib.calibrators.base import ScoreCalibrator
from calib.kernel.formula import Expression
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

    def _formula(self, score: Expression) -> Expression:
        return (self.intercept_ + self.slope_ * score).clip(0.0, 1.0)

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

from calib.splits.base import TrainTestRows, Splitter


class Systematic(Splitter):
    key = "systematic"
    label = "Every so manieth row"
    help = "Right where rows stand in no order."
    seeded = False

    def holdout(self, rows, share, random_state):
        held = np.diff(np.floor(np.arange(rows.n + 1) * share)) > 0
        return TrainTestRows(np.flatnonzero(~held), np.flatnonzero(held))

    def folds(self, rows, k, random_state):
        fold = np.arange(rows.n) % k
        return [TrainTestRows(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(k)]
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
when = "After “Why calibrate?”."
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
[steps.question]
text = "Can two rows change their order?"
answers = ["Yes, often", "No", "Only two rows"]
right = 2
why = ["The slope is not negative.", "The slope is not negative.", "The slope is not negative."]

[[questions]]
story = "A straight line replaces every probability."
step = 1
text = "Does {part} of the slope change the order?"
answers = ["It turns the order round", "The order stays", "Only two rows change places"]
right = {right}
why = ["The slope is not negative.", "The slope is not negative.", "The slope is not negative."]
"""
    for part, right in (("a quarter", 2), ("half", 2), ("all", 1))
)
SYNTHETIC_SET = '''
"""Fair coins: the feature says nothing about the label."""

from __future__ import annotations

import numpy as np

from calib.kernel import checks
from calib.kernel.records import Dataset
from calib.synthetic.base import SyntheticEntry, rows_setting


class FairCoins:
    """X ~ N(0, 1) and P(Y = 1 | x) = 1/2.

    >>> FairCoins().posterior([[3.0]])
    array([0.5])
    """

    def posterior(self, X):
        return np.full(len(checks.matrix(X, "X", columns=1)), 0.5)

    def sample(self, n, random_state):
        rng = np.random.default_rng(random_state)
        X, y = rng.normal(size=(n, 1)), rng.integers(0, 2, n)
        return Dataset("Fair coins", X, y, posterior=self.posterior(X))


ROWS = (rows_setting(400),)
ENTRY = SyntheticEntry("fair_coins", "Fair coins", lambda rng: FairCoins(), ROWS, "No model can learn it.")
'''
EXPERIMENT = '''
"""How often a {key} that is thrown many times shows its better side."""

from dataclasses import replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.experiments.base import Experiment, view_of
from calib.experiments.shared.findings import Finding
from calib.figures.base import FigureEntry
from calib.figures.theme import LIGHT, layout
from calib.kernel.records import Parameter


def throw_{key}(settings, random_state, watch):
    return np.random.default_rng(random_state).integers(0, 2, settings["throws"])


def more_{key}(settings, random_state, watch):
    return throw_{key}(settings, random_state + 1, watch)


def prepare(found, digits=2):
    share = round(float(found.mean()), digits)
    table = pd.DataFrame({{"share": [share]}})
    answer = 1 if abs(share - 0.5) < 0.4 else None
    return Finding(
        title=f"Heads in {{share}} of the throws", caption="One bar.", alt="One bar.", table=table, answer=answer
    )


def further(found):
    return replace(prepare(found), answer=None)


def draw(record, theme=LIGHT):
    return go.Figure(go.Bar(x=["heads"], y=record.table["share"]), layout=layout(theme, height=300))


EXPERIMENT = Experiment(
    key="{key}",
    page="{page}",
    name="A {key}",
    question="A fair {key} is thrown many times. How many of the throws are heads?",
    answers=("About half", "All of them"),
    right=1,
    why=("Heads and tails are equally likely.", "Heads and tails are equally likely."),
    no_turn="It is fair.",
    parameters=(
        Parameter("throws", "Throws", "choice", 1000, choices=(10, 100, 1000), help="Number of throws."),
        Parameter("digits", "Digits", "integer", 2, 1, 6, help="In the title.", extra=view_of("{key}")),
    ),
    simulation=throw_{key},
    notice=("The share of heads is about half.",),
    formulas=(r"k / n",),
    source="Bernoulli (1713).",
    also={{"{key}_further": more_{key}}},
)

FIGURES = (
    FigureEntry("{key}", "Heads", prepare, draw),
    FigureEntry("{key}_further", "More heads", further, draw),
)
'''
LEARN_PAGE = '''
"""Learn · Dice."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import views

views.show(frame.open_page("pages/learn_dice.py"), "dice")
'''
STUDY_PAGE = '''
"""Study · Protocols: what the shipped protocols repeat."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.study import protocols

frame.open_page("pages/study_protocols.py")
protocols.show()
'''
STUDY_PART = '''
"""List the shipped protocols with their sources."""

import streamlit as st

from calib.study import SHIPPED, load_protocol
from pages.ui.text import plain


def show() -> None:
    for key in SHIPPED:
        st.markdown(f"**{plain(load_protocol(key).title)}** {plain(load_protocol(key).source)}")
'''
PROTOCOL = """
title = "Coins: one calibrator on one model"
source = "Bernoulli, Ars conjectandi, 1713"
setups = [
  { name = "Raw", calibrator = "none", placement = "none", model = "naive_bayes" },
  { name = "Line", calibrator = "platt", placement = "split", model = "naive_bayes" },
]

[data]
positive = "rarer"

[splits]
kind = "random"
test_size = 0.3333333333333333
stratified = true
repeats = 3

[metrics]
keys = ["accuracy", "brier"]

[recipe]
merge = "log"
"""
PRINTED = """
table,metric,data,setup,value
1,brier,urn,Raw,0.25
1,brier,urn,Line,0.24
1,brier,Mean,Raw,0.25
1,brier,Mean,Line,0.24
"""
# A page of the guide for the page, and a line for each method; the rest of the guide is written from the code
GUIDE_PAGE = """# {title}

![The page](../pictures/{stem}.webp)

## What it answers

What was added.

## How to read it

One line per thing.

## What it cannot say

What it is good for.
"""
METHODS = {
    "venn_abers": "| `linear` | p = f + b (s − m) | least squares | – |",
    "full": "| `halves` | scores of one half | the model trained on the other half | – |",
    "file": "| `systematic` | every so manieth row is a test row |",
    "given": "| `stump` | a tree of one split | – |",
    "tce": "| `sharpness` | mean abs(p − ½) | – |",
}
KIND = ("| `ranks` |", "| `line` | `intercept`, `slope`, `share` | intercept + slope s, clipped to [0, 1] |")


class Addition(NamedTuple):
    """What is added: new files with their texts, and the lines of a registry.

    Attributes
    ----------
    registry, name
        File and name of the registry.
    changes
        Pairs of what stands there and what is put in its place, where {there} is what stood there.
    """

    files: Mapping[str, str]
    registry: str
    name: str
    changes: tuple[tuple[str, str], ...]


def _experiment(key: str, page: str) -> dict[str, str]:
    return {f"calib/experiments/{key}.py": EXPERIMENT.format(key=key, page=page)}


def _imported(before: str, module: str, name: str) -> tuple[str, str]:
    return (f"from {before}", f"from {module} import {name}\n{{there}}")


ADDITIONS = {
    "A calibrator": Addition(
        {"calib/calibrators/linear.py": CALIBRATOR},
        "calib/calibrators/registry.py",
        "CALIBRATORS",
        (('            "rank": "rank:Rank",\n', '{there}            "linear": "linear:Linear",\n'),),
    ),
    "A placement": Addition(
        {"calib/placements/halves.py": PLACEMENT},
        "calib/placements/__init__.py",
        "PLACEMENTS",
        (('        "full": "full:Full",\n', '{there}        "halves": "halves:Halves",\n'),),
    ),
    "A split": Addition(
        {"calib/splits/systematic.py": SPLIT},
        "calib/splits/__init__.py",
        "SPLITS",
        (
            _imported("calib.splits.time", "calib.splits.systematic", "Systematic"),
            ("ByCluster, ByFile)", "ByCluster, ByFile, Systematic)"),
        ),
    ),
    "A metric": Addition(
        {"calib/metrics/sharpness.py": METRIC},
        "calib/metrics/registry.py",
        "METRICS",
        (
            (
                '            "rmse": "brier:RMSE",\n',
                '            "sharpness": "sharpness:SHARPNESS",\n{there}',
            ),
        ),
    ),
    "A model": Addition(
        {"calib/models/stump.py": MODEL},
        "calib/models/__init__.py",
        "MODELS",
        (('            "svm": "svm:ENTRY",\n', '            "stump": "stump:ENTRY",\n{there}'),),
    ),
    "A synthetic set": Addition(
        {"calib/synthetic/fair_coins.py": SYNTHETIC_SET},
        "calib/synthetic/__init__.py",
        "SYNTHETIC",
        (
            (
                '        "sign": "counterexample:ENTRY",\n',
                '{there}        "fair_coins": "fair_coins:ENTRY",\n',
            ),
        ),
    ),
    "A figure": Addition(
        {"calib/figures/called.py": FIGURE},
        "calib/figures/__init__.py",
        "FIGURES",
        (
            _imported("calib.figures.compared", "calib.figures.called", "CALLED"),
            ("        DIFFERENCES,\n", "        CALLED,\n{there}"),
        ),
    ),
    "An experiment on an existing Learn page": Addition(
        _experiment("coin", "simulations"),
        "calib/experiments/__init__.py",
        "EXPERIMENTS",
        (('    "finite",\n', '    "coin",\n{there}'),),
    ),
    "An experiment on a new Learn page": Addition(
        {**_experiment("dice", "dice"), "pages/learn_dice.py": LEARN_PAGE},
        "calib/experiments/__init__.py",
        "EXPERIMENTS",
        (('    "looking",\n', '    "dice",\n{there}'),),
    ),
    "An Explore page": Addition(
        {"pages/explore_called.py": PAGE},
        "pages/ui/current.py",
        "PAGES",
        (
            (
                '        Page(\n            "pages/explore_decide.py"',
                '        Page("pages/explore_called.py", "Called", "How many?", ("model", "calibrators")),\n{there}',
            ),
        ),
    ),
    "A Study page": Addition(
        {"pages/study_protocols.py": STUDY_PAGE, "pages/ui/study/protocols.py": STUDY_PART},
        "pages/ui/current.py",
        "PAGES",
        (
            (
                '        Page("pages/study_results.py"',
                '        Page("pages/study_protocols.py", "Protocols", "Which studies are there?"),\n{there}',
            ),
        ),
    ),
    "A paper's printed tables": Addition(
        {"calib/study/papers/coins_1713.csv": PRINTED},
        "calib/study/papers/printed.py",
        "PAPERS",
        (
            (
                "(FORESTS_PAPER, TREES_PAPER, VENN_ABERS)",
                '(FORESTS_PAPER, TREES_PAPER, VENN_ABERS, Paper("coins_1713", "Bernoulli 1713", ()))',
            ),
        ),
    ),
    "A study's protocol": Addition(
        {"calib/study/papers/coins_1713.toml": PROTOCOL},
        "calib/study/reading.py",
        "SHIPPED",
        (('    *("arena", ', '    "coins_1713",\n{there}'),),
    ),
    "A live quiz": Addition(
        {"calib/lessons/quizzes/straight_line.toml": LESSON},
        "calib/lessons/__init__.py",
        "QUIZZES",
        (('("bank", "diagram")', '("bank", "diagram", "straight_line")'),),
    ),
    "A term that needs an explanation": Addition(
        {},
        "calib/lessons/glossary.py",
        "GLOSSARY",
        (
            (
                '    "auc": Term(',
                '    "coin_side": Term("Heads", "One side of a coin.", ("share of heads",)),\n{there}',
            ),
        ),
    ),
}
# A new Learn page is also in the table of pages
LEARN_PAGE_LINE = (
    '        Page("pages/learn_class.py"',
    '        Page("pages/learn_dice.py", "Dice", "How many heads?"),\n{there}',
)
PAGES_ADDED = {
    "explore_called": "Explore: Called",
    "learn_dice": "Learn: Dice",
    "study_protocols": "Study: Protocols",
}

CLAIM = """

@over_seeds
@claims("coin", "The share of heads")
@claims("dice", "The share of heads")
def test_the_share_of_heads_is_about_one_half(seed):
    assert abs(found("coin", seed).mean() - 0.5) < 0.1
    assert abs(found("dice", seed).mean() - 0.5) < 0.1
"""
HEADS = "{(1, 2): 'test_the_share_of_heads_is_about_one_half'}"
# Of each lesson, experiment: the test of what it says
TESTS = (
    ("experiments/test_claims.py", "\n\ndef losses(", f"{CLAIM}{{there}}"),
    (
        "experiments/test_answers.py",
        "IN_CLAIMS = {\n",
        f"{{there}}    'coin': {HEADS},\n    'dice': {HEADS},\n",
    ),
    ("lessons/test_open_questions.py", "TELLS = {\n", "{there}    'coin': 'half', 'dice': 'half',\n"),
    ("lessons/test_points.py", "POINTS = {\n", "{there}    'straight_line': (MEANS,) * 3,\n"),
    ("lessons/test_points.py", "QUIZ = {\n", "{there}    'straight_line': (ALL_MEAN,) * 3,\n"),
    (
        "lessons/test_claims.py",
        "HELD_BY_EXPERIMENTS = {\n",
        "{there}" + "".join(f'    ("straight_line", {i}),\n' for i in (1, 2, 3)),
    ),
)

ROOT = Path(__file__).parents[1]
UNTRACKED = ("build", ".git", ".venv", ".*cache", ".hypothesis", ".cells", "*.sqlite")


def change(file: Path, there: str, new: str) -> None:
    """Replace a text that stands once in a file; {there} in the new text is what stood there."""
    source = file.read_text(encoding="utf-8")
    assert source.count(there) == 1, (file, there)
    file.write_text(source.replace(there, new.replace("{there}", there)), encoding="utf-8")


def add_everything(tree: Path) -> None:
    """Copy the tree, with what is compiled already, and make each addition in the copy."""
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*UNTRACKED), dirs_exist_ok=True)
    for files, registry, _, changes in ADDITIONS.values():
        for file, text in files.items():
            assert not (tree / file).exists()
            (tree / file).parent.mkdir(exist_ok=True)
            (tree / file).write_text(text.lstrip(), encoding="utf-8")
        for there, new in changes:
            change(tree / registry, there, new)
    change(tree / "pages/ui/current.py", *LEARN_PAGE_LINE)


def add_to_the_guide(tree: Path) -> None:
    """Write what CONTRIBUTING asks for, and let the script write the rest."""
    for stem, title in PAGES_ADDED.items():
        (tree / f"docs/pages/{stem}.md").write_text(
            GUIDE_PAGE.format(stem=stem, title=title), encoding="utf-8"
        )
        shutil.copy(tree / "docs/pictures/start.webp", tree / f"docs/pictures/{stem}.webp")
    for key, line in METHODS.items():
        methods = tree / "docs/methods.md"
        (there,) = re.findall(rf"^\| `{key}` \|.*\n", methods.read_text(encoding="utf-8"), flags=re.M)
        change(methods, there, f"{{there}}{line}\n")
    before, line = KIND
    change(tree / "docs/file_formats.md", before, f"{line}\n{{there}}")
    subprocess.run([sys.executable, "-m", "scripts.write_docs"], cwd=tree, check=True, capture_output=True)


def add_its_tests(tree: Path) -> None:
    """Write what CONTRIBUTING asks besides: the test of each claim."""
    tests = tree / "tests"
    for file, there, new in TESTS:
        change(tests / file, there, new)


def keys() -> set[str]:
    """Return what tests of one addition have in their names: that of its file."""
    return {Path(file).stem for addition in ADDITIONS.values() for file in addition.files}


def contracts() -> dict[str, list[str]]:
    """Return the test files that hold for every entry of a registry, by part of the suite.

    They go over one (its name without a key in brackets behind it), or say so by a marker, so no file can be forgotten.
    """
    names = {addition.name for addition in ADDITIONS.values()}
    tests = ROOT / "tests"
    found: dict[str, list[str]] = {}
    for file in sorted(tests.rglob("test_*.py")):
        part = "tests" if file.parent == tests else file.relative_to(tests).parts[0]
        if part != "browser" and _is_contract(file, names):
            found.setdefault(part, []).append(file.relative_to(ROOT).as_posix())
    return found


def _is_contract(file: Path, names: set[str]) -> bool:
    text = file.read_text(encoding="utf-8")
    if "pytest.mark.whole_registry" in text:
        return True
    if not any(name in text for name in names):  # quicker than to parse it, at each collection of tests
        return False
    nodes = list(ast.walk(ast.parse(text)))
    of_one = {id(node.value) for node in nodes if isinstance(node, ast.Subscript)}
    return any(isinstance(node, ast.Name) and node.id in names and id(node) not in of_one for node in nodes)

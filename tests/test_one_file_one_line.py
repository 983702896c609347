"""Adding anything is one new file and one registry line, with its import; and a package from outside needs neither.

Each addition of ``tests/additions.py`` is made to a copy of the tree, all in one copy; the chain, the exports, the
pages and the contract tests then run there in processes of their own.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import shared
from tests.additions import (
    ADDITIONS,
    ROOT,
    add_everything,
    add_its_tests,
    add_to_the_guide,
    contracts,
    keys,
)


def run(
    tree: Path, *arguments: str, path: Path | None = None, status: int = 0
) -> subprocess.CompletedProcess:
    """A Python process in the copy, with a folder of installed packages on its path."""
    # Hypothesis finds there what it has read of the same modules, which would take five seconds again
    kept = {"HYPOTHESIS_STORAGE_DIRECTORY": str(ROOT / ".hypothesis")}
    environment = os.environ | kept | {"PYTHONPATH": str(path or "")}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=tree, env=environment, capture_output=True, text=True
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    tree = tmp_path_factory.mktemp("beside") / "project"
    add_everything(tree)
    if shared.FOLDER.exists():  # contract tests read the papers' tables beside the project
        (tree.parent / "shared").symlink_to(shared.FOLDER)
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


def test_every_kind_that_the_guide_describes_is_added():
    section = (ROOT / "docs/adding.md").read_text(encoding="utf-8").partition("\n## ")[0]
    assert re.findall(r"^- \*\*(.*?)\*\*", section, flags=re.M) == list(ADDITIONS)


def test_an_addition_touches_one_registry_and_at_most_two_of_its_lines():
    for files, registry, name, changes in ADDITIONS.values():
        assert not any((ROOT / file).exists() for file in files)
        assert re.search(rf"^{name}\b", (ROOT / registry).read_text(encoding="utf-8"), flags=re.M)
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


ON_PAGES = """
from pathlib import Path
from tempfile import TemporaryDirectory
from tests.pages.app import faults, go, page, titles, verdicts
from tests.test_cli_simulate import (
    test_the_same_seed_gives_the_same_on_the_page_in_a_call_and_on_the_command_line as same_numbers,
)

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
at = go(at, "learn_class")
assert faults(at) == [], faults(at)
about = at.selectbox(key="room_about").options
assert "A straight line" in about, about
for key in ("coin", "dice"):
    with TemporaryDirectory() as folder:
        same_numbers(key, 0, {"throws": 10}, Path(folder))
at = page("learn_dice", **{"dice.guess": "1", "dice.throws": "10"})
assert faults(at) == [], faults(at)
assert [title.startswith("Heads in 0.") for title in titles(at)] == [True, True], titles(at)
(said,) = verdicts(at)
assert "Correct" in said and "About half" in said, said
"""


@pytest.mark.usefixtures("asked")
def test_the_chain_the_figures_the_exports_and_the_pages_take_what_was_added(tree):
    run(tree, "-c", NUMBERS + ON_PAGES)


PARTS = contracts()


@pytest.fixture
def tested(tree):
    """The copy, with what CONTRIBUTING asks of an addition besides."""
    if not (tree / "docs/pages/explore_called.md").exists():
        add_to_the_guide(tree)
        add_its_tests(tree)
    return tree


def test_what_was_added_passes_the_contract_tests_that_name_it_or_hold_for_a_whole_registry(tested):
    named = [f"{mark}{key}" for key in sorted(keys()) for mark in "[-"]  # begins a parameter in a test's name
    chosen = " or ".join((*named, "whole_registry"))
    files = [file for files in PARTS.values() for file in files]
    run(tested, "-m", "pytest", "-q", "-n", "0", "-m", "not soak", "-k", chosen, *files)


# Asks for a line of each calibrator in a table that takes hours to measure (scripts/arena_sizes.py)
BENCHMARKED = (
    "tests/analysis/recommendation/test_arena.py::test_every_calibrator_of_one_score_has_a_line_at_every_size"
)


@pytest.mark.soak
@pytest.mark.timeout(3600)  # of a whole part of the suite
@pytest.mark.parametrize("part", PARTS)
def test_what_was_added_passes_all_contract_tests(tested, part):
    run(tested, "-m", "pytest", "-q", "-n", "0", "-m", "not soak", f"--deselect={BENCHMARKED}", *PARTS[part])


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
    "The plug-in 'bad' of the package broken could not be added to calib.calibrators. "
    "ModuleNotFoundError: No module named 'no_such_module_at_all'.",
    "The plug-in 'brier' of the package broken could not be added to calib.metrics. "
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

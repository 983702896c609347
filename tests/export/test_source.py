"""Python source is run, and gives the numbers it says it gives."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from calib import Recipe, evaluate
from calib.analysis.audit.of_evaluation import audited
from calib.analysis.decision import decide
from calib.analysis.grouping_losses import grouping_losses
from calib.data import read_table
from calib.export import chart_source, page_source, python_source
from calib.export.source import RUN_HELP
from calib.figures import FIGURES
from calib.sources import digest, load, with_onnx_model, with_test_file
from tests.data.test_onnx_model import TABLE as SCORED
from tests.data.test_onnx_model import P as SCORED_P
from tests.data.test_onnx_model import logistic

ROOT = Path(__file__).parents[2]


def run(source: str) -> dict:
    """The names a script leaves, its printing and showing left out."""
    names = {"print": lambda *args, **kwargs: None}
    exec(source.replace(".show()", ""), names)
    return names


RECIPES = [
    Recipe(
        data="sample:loans", model="naive_bayes", calibrators=("none", "beta", "venn"), merge="square", bins=7
    ),
    Recipe(
        data="sample:loans",
        exclude=("income", "branch"),
        model="decision_tree",
        params={"max_depth": 3, "leaf": "laplace"},
        options={"isotonic.between": "step"},
        placement="cv",
        cv=3,
        seed=4,
        test_size=0.4,
    ),
    Recipe(data="synthetic:gaussian", model="logistic_regression", seed=2),
    Recipe(data="sample:predictions", content="predictions"),
]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.data)
def test_the_source_of_a_recipe_gives_its_numbers(recipe):
    evaluation = evaluate(recipe, load(recipe))
    names = run(python_source(recipe))
    assert names["recipe"] == recipe
    pd.testing.assert_frame_equal(names["evaluation"].metrics, evaluation.metrics)
    pd.testing.assert_frame_equal(names["evaluation"].frame(), evaluation.frame())


def test_the_source_of_several_recipes_gives_the_numbers_of_each(evaluations):
    names = run(python_source({name: evaluation.recipe for name, evaluation in evaluations.items()}))
    assert list(names["evaluations"]) == list(evaluations)
    for name, evaluation in evaluations.items():
        pd.testing.assert_frame_equal(names["evaluations"][name].metrics, evaluation.metrics)


@pytest.mark.parametrize("several", [False, True])
def test_all_columns_are_printed_whatever_the_terminal(several, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))  # pandas takes it for a terminal's
    recipe = RECIPES[0]
    exec(python_source({"mine": recipe} if several else recipe), {})
    lines = capsys.readouterr().out.splitlines()[several:]
    assert lines[0].split() == list(evaluate(recipe, load(recipe)).metrics.columns)
    assert [line.split()[0] for line in lines[1:]] == list(recipe.calibrators)


@pytest.mark.parametrize(
    "file", [pytest.param(False, id="sample", marks=pytest.mark.soak), pytest.param(True, id="file")]
)
def test_the_script_runs_as_its_first_line_says(file, tmp_path):
    """In a project's folder with what a fresh checkout has, by the interpreter that make run sets up."""
    shutil.copytree(ROOT / "calib", tmp_path / "calib")
    shutil.copytree(ROOT / "sample_data", tmp_path / "sample_data")
    recipe, names = RECIPES[0], {}
    if file:
        content = (ROOT / "sample_data" / "loans.csv.gz").read_bytes()
        (tmp_path / "mine.csv.gz").write_bytes(content)
        recipe, names = (
            recipe.replace(data=f"upload:{digest(content)}", target="target"),
            {digest(content): "mine.csv.gz"},
        )
    source = python_source({"one": recipe}, names)
    name, command = re.match(
        r"# Save as (\S+) in the project's folder\. .*?run (\S+ \S+) there\.\n", source
    ).groups()
    (tmp_path / name).write_text(source, encoding="utf-8")
    words = [sys.executable if word == ".venv/bin/python" else word for word in command.split()]
    own = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(words, cwd=tmp_path, env=own | {"COLUMNS": "20"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    one, head, *lines = done.stdout.splitlines()
    expected = evaluate(RECIPES[0], load(RECIPES[0])).metrics
    assert (one, head.split()) == ("one", list(expected.columns))
    for (key, row), line in zip(expected.iterrows(), lines, strict=True):
        name, *values = line.split()
        assert name == key
        np.testing.assert_allclose([float(value) for value in values], row, atol=1e-4)


def test_every_script_says_first_how_it_is_run(evaluations):
    evaluation = evaluations["Naive Bayes"]
    pages = [
        page_source(page, evaluation.recipe) for page in ("reliability", "decide", "trees", "out_of_bag")
    ]
    for source in (python_source(RECIPES[0]), chart_source("widths", evaluation, {}), *pages):
        assert source.startswith(RUN_HELP)
        assert source.count(RUN_HELP) == 1


def test_an_uploaded_file_is_read_where_the_script_is_run(tmp_path, monkeypatch):
    name = 'it\'s "mine".csv'
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=200), "label": rng.integers(0, 2, 200)})
    content = frame.to_csv(index=False).encode()
    (tmp_path / name).write_bytes(content)
    key = digest(content)
    recipe = Recipe(data=f"upload:{key}", target="label", model="naive_bayes")
    evaluation = evaluate(recipe, load(recipe, {key: read_table(content, name)}))
    monkeypatch.chdir(tmp_path)
    for source in (python_source(recipe, {key: name}), python_source({"a": recipe}, {key: name})):
        names = run(source)
        found = names["evaluation"] if "evaluations" not in names else names["evaluations"]["a"]
        pd.testing.assert_frame_equal(found.metrics, evaluation.metrics)
    assert "YOUR FILE" in python_source(recipe)


def test_so_are_a_model_that_is_there_already_and_another_file_to_judge_on(tmp_path, monkeypatch):
    files = {
        "own.csv": SCORED.to_csv(index=False).encode(),
        "new.csv": SCORED.iloc[:90].to_csv(index=False).encode(),
        "credit.onnx": logistic("both").SerializeToString(),
    }
    keys = {name: digest(content) for name, content in files.items()}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    recipe = Recipe(data=f"upload:{keys['own.csv']}", target="y", calibrators=("none", "platt"))
    recipe = recipe.replace(**with_onnx_model(f"upload:{keys['credit.onnx']}", "credit.onnx"))
    recipe = recipe.replace(**with_test_file(f"upload:{keys['new.csv']}", "new.csv"))
    monkeypatch.chdir(tmp_path)
    found = run(python_source(recipe, {key: name for name, key in keys.items()}))["evaluation"]
    np.testing.assert_allclose(found.predictions["none"].p, SCORED_P[:90], rtol=1e-12)


def test_a_name_cannot_break_out_of_its_quotes():
    trap = "'); raise SystemExit('broken out') #"
    recipe = Recipe(data="upload:00ff", target=trap)
    compile(python_source({trap: recipe}, {"00ff": trap + '"\n'}), "<source>", "exec")
    assert "\n    raise" not in python_source({trap: recipe}, {"00ff": trap})


@pytest.mark.parametrize(
    ("key", "options"),
    [
        ("reliability", {"calibrators": ("none", "platt")}),
        ("pairs", {"color": "width"}),
        ("interval_means", {}),
    ],
)
def test_the_source_of_a_chart_gives_its_numbers(key, options, evaluations):
    source = evaluations["Naive Bayes"]
    names = run(chart_source(key, source, options))
    pd.testing.assert_frame_equal(
        names["record"].to_frame(), FIGURES[key].prepare(source, **options).to_frame()
    )


def test_so_does_that_of_a_decision_and_of_several_evaluations(evaluations):
    decision = decide(evaluations["Naive Bayes"])
    names = run(chart_source("costs", decision, {}))
    pd.testing.assert_frame_equal(names["record"].to_frame(), FIGURES["costs"].prepare(decision).to_frame())
    names = run(chart_source("compared", evaluations, {"metric": "ece"}))
    expected = FIGURES["compared"].prepare(evaluations, metric="ece").to_frame()
    pd.testing.assert_frame_equal(names["record"].to_frame(), expected)
    many = list(evaluations.values())
    names = run(chart_source("widths", many, {}))
    pd.testing.assert_frame_equal(names["record"].to_frame(), FIGURES["widths"].prepare(many).to_frame())


def test_so_do_those_of_a_search_and_of_the_grouping_loss(evaluations):
    evaluation = evaluations["Naive Bayes"]
    for key, source in (
        ("audit", audited(evaluation, "platt", resamples=19, min_rows=20)),
        ("audit_walk", audited(evaluation, "platt", resamples=19, min_rows=20)),
        ("grouping_loss", grouping_losses(evaluation, "platt")),
    ):
        names = run(chart_source(key, source, {}))
        pd.testing.assert_frame_equal(names["record"].to_frame(), FIGURES[key].prepare(source).to_frame())


@pytest.mark.parametrize("view", ["search", "column", "loss"])
def test_the_page_groups_has_a_source_for_each_view(view):
    settings = {
        "groups.view": view,
        "groups.resamples": 19,
        "reliability.group": "work",
        "groups.calibrator": "platt",
    }
    recipe = Recipe(
        data="sample:loans",
        model="naive_bayes",
        segment=("work=employed",),
        calibrators=("none", "platt"),
        settings=settings,
    )
    names = run(page_source("groups", recipe))
    assert len(names["evaluation"].rows) == 900  # of all rows
    if view == "search":
        pd.testing.assert_frame_equal(
            names["found"].to_frame(), audited(names["evaluation"], "platt", resamples=19).to_frame()
        )


def test_what_is_not_made_of_recipes_has_no_source_of_its_own(evaluations):
    assert chart_source("explained", object(), {}) is None
    assert chart_source("groups", evaluations["Naive Bayes"], {"values": pd.Series([1])}) is None

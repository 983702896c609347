"""Importing the package and asking for help load nothing heavy; names and settings are found on first use."""

import json
import subprocess
import sys

import pytest

import calib
from calib.__main__ import _parser
from calib.kernel.overview import COMMANDS

HEAVY = ("numpy", "pandas", "scipy", "sklearn", "plotly", "streamlit")


def fresh(code, *arguments):
    """Run code in an interpreter of its own; return what it prints."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True
    ).stdout


def loaded(code):
    return json.loads(
        fresh(f"{code}\nimport json, sys; print(json.dumps([n for n in {HEAVY} if n in sys.modules]))")
    )


def test_importing_the_package_loads_nothing_heavy():
    assert loaded("import calib; calib.__version__; dir(calib)") == []


def test_help_loads_nothing_heavy_and_lists_the_commands_of_the_parser():
    code = "import runpy, sys; sys.argv = ['calib', '--help']"
    run = "\ntry: runpy.run_module('calib', run_name='__main__')\nexcept SystemExit: pass\nsys.stdout = sys.__stdout__"
    quiet = "\nimport io; sys.stdout = io.StringIO()"
    assert loaded(code + quiet + run) == []
    assert fresh(code + run) == _parser().format_help()
    assert list(COMMANDS) == list(_parser()._subparsers._group_actions[0].choices)


@pytest.mark.parametrize("arguments", [[], ["nothing"]])
def test_a_missing_or_unknown_command_is_refused_as_by_the_parser(arguments):
    done = subprocess.run(
        [sys.executable, "-m", "calib", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "evaluate" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", calib.__all__)
def test_every_name_is_found(name):
    assert getattr(calib, name) is not None
    assert name in dir(calib)


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'evaluat'"):
        _ = calib.evaluat


@pytest.mark.parametrize(
    "first",
    [
        "import calib.evaluate",
        "from calib.evaluate import fit",
        "import calib.evaluate.record",
        "import calib",
    ],
)
def test_the_function_evaluate_is_not_hidden_by_its_package(first):
    print_kind = (
        "from calib import evaluate; import calib; print(type(evaluate).__name__, calib.evaluate is evaluate)"
    )
    assert fresh(f"{first}\n{print_kind}").split() == ["function", "True"]


def test_settings_of_pages_are_known_although_nothing_imported_the_pages():
    settings = {"order.objects": 7, "decide.cost_miss": 3.0}
    code = f"from calib.recipe import Recipe; print(dict(Recipe(settings={settings}).settings) == {settings})"
    assert fresh(code) == "True\n"


def test_the_methods_of_an_evaluation_find_the_layers_above():
    code = (
        "from calib.evaluate import check\n"
        "e = check([0, 1] * 20, [0.2, 0.8] * 20)\n"
        "print(e.verdict.finding, type(e.figure('reliability')).__name__, type(e.recommendation()).__name__)"
    )
    assert fresh(code).split()[-2:] == ["Figure", "Recommendation"]

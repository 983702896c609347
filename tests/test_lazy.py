"""Importing the package and asking for help load nothing heavy; names and settings are found on first use."""

import json
import subprocess
import sys

import pytest

import calib
from calib.__main__ import _parser
from calib.calibrators import CALIBRATORS, JOINT
from calib.kernel.overview import COMMANDS
from calib.metrics import METRICS
from calib.models import MODELS
from calib.placements import PLACEMENTS
from calib.synthetic import SYNTHETIC

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


@pytest.mark.parametrize("p", ["[0.2, 0.8] * 20", "dict(forest=[0.2, 0.8] * 20)"])
def test_check_loads_no_library_that_fits_or_draws(p):
    code = f"from calib import check; check([0, 1] * 20, {p}, cluster=list(range(10)) * 4)"
    libraries = ("sklearn", "scipy.stats", "scipy.optimize", "joblib", "plotly", "duckdb", "sqlite3")
    show = f"import sys; print([name for name in {libraries} if name in sys.modules])"
    assert fresh(f"{code}\n{show}") == "[]\n"


def test_evaluate_imports_its_model_and_nothing_that_draws(tmp_path):
    from benchmarks.start_up import write_files

    write_files(tmp_path)
    arguments = ["evaluate", str(tmp_path / "recipe.json"), str(tmp_path / "data.csv")]
    code = f"from calib.__main__ import main; assert main({arguments}) == 0"
    others = (
        "plotly",
        "duckdb",
        "sklearn.ensemble",
        "sklearn.neural_network",
        "calib.figures",
        "calib.study",
    )
    show = f"import sys; print([name for name in {others} if name in sys.modules])"
    assert fresh(f"{code}\n{show}").splitlines()[-1] == "[]"


def test_a_text_is_read_without_the_readers_of_other_formats():
    code = "from calib.data import Connection, read_table; read_table(b'a,y\\n1,0\\n2,1\\n', 't.csv')"
    others = ("arff", "sqlite3", "duckdb", "python_calamine", "calib.data.json_table", "pyarrow.parquet")
    show = f"import sys; print([name for name in {others} if name in sys.modules])"
    assert fresh(f"{code}\n{show}") == "[]\n"


PACKAGES = (
    "calibrators",
    "data",
    "evaluate",
    "export",
    "metrics",
    "models",
    "placements",
    "study",
    "synthetic",
)


def test_every_name_of_a_package_is_found_also_after_its_modules_were_imported():
    """All packages in one process: a module imported later never hides a name of the same spelling."""
    code = (
        "import importlib, pkgutil, sys\n"
        "packages = [importlib.import_module(name) for name in sys.argv[1:]]\n"
        "for package in packages:\n"
        "    for module in pkgutil.iter_modules(package.__path__, package.__name__ + '.'):\n"
        "        if not module.name.endswith('__main__'): importlib.import_module(module.name)\n"
        "for package in packages:\n"
        "    values = [getattr(package, name) for name in package.__all__]\n"
        "    print(set(package.__all__) <= set(dir(package)), [v.__name__ for v in values if type(v) is type(sys)])"
    )
    names = ["calib", *(f"calib.{name}" for name in PACKAGES)]
    assert fresh(code, *names).splitlines() == ["True []"] * len(names)


def test_a_registry_is_listed_without_importing_what_it_holds():
    code = (
        "from calib.calibrators import CALIBRATORS; import sys\n"
        "print(sorted(CALIBRATORS)[0], 'platt' in CALIBRATORS, 'vector' in CALIBRATORS, 'nothing' in CALIBRATORS)\n"
        "print([name for name in ('sklearn', 'calib.calibrators.platt') if name in sys.modules])\n"
        "CALIBRATORS['platt']; print('calib.calibrators.beta' in sys.modules)"
    )
    assert fresh(code).splitlines() == ["auto True True False", "[]", "False"]


@pytest.mark.parametrize("registry", [CALIBRATORS, JOINT, METRICS, MODELS, PLACEMENTS, SYNTHETIC])
def test_every_entry_has_the_key_under_which_it_is_found(registry):
    keys = [getattr(entry, "key", key) for key, entry in registry.items()]
    assert keys == list(registry)


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


def test_the_function_evaluate_is_not_hidden_by_its_package():
    """Whatever was imported first: each in a process that has imported nothing of the package before."""
    first = (
        "import calib.evaluate",
        "from calib.evaluate import fit",
        "import calib.evaluate.record",
        "import calib",
    )
    code = (
        "import os, sys, pandas, scipy.stats, sklearn.ensemble\n"  # once for all
        "for first in sys.argv[1:]:\n"
        "    if not os.fork():\n"
        "        exec(first + '; from calib import evaluate; import calib')\n"
        "        print(type(evaluate).__name__, calib.evaluate is evaluate, flush=True)\n"
        "        os._exit(0)\n"
        "    os.wait()"
    )
    assert fresh(code, *first).splitlines() == ["function True"] * len(first)


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

"""Every file stands on a floor and imports only from lower floors and its own folder; calib never knows Streamlit."""

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.whole_registry

ROOT = Path(__file__).parents[1]

FLOOR = {
    "calib.kernel": 0,
    **dict.fromkeys(["calib.data", "calib.synthetic", "calib.models", "calib.calibrators"], 1),
    **dict.fromkeys(["calib.metrics", "calib.comparison"], 1),
    "calib.splits": 2,
    "calib.placements": 3,
    "calib.recipe": 4,
    **dict.fromkeys(["calib.sources", "calib.calibrated", "calib.evaluate"], 5),
    "calib.analysis": 6,
    **dict.fromkeys(["calib.figures", "calib.lessons", "calib.study"], 7),
    **dict.fromkeys(["calib.experiments", "calib.settings"], 8),
    "calib.dashboard": 6,
    "calib.export": 9,
    "calib": 9,  # the face of the package hands names on: for those outside, not for the floors below
    "calib.commands": 10,
    "calib.__main__": 11,
    "pages.ui": 11,
    "pages": 12,
    "app": 13,
}


FROM_THE_RESULT = {
    "calib.evaluate.record": (
        "calib.analysis.recommendation.advice",
        "calib.analysis.recommendation.verdict",
        "calib.export.notebook",
    )
}
"""Upper files that the methods of a result import when they are called: its verdict, recommendation and figures."""


def dotted(path: Path) -> str:
    """calib/metrics/auc.py → calib.metrics.auc; a package's __init__.py is the package."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def part_of(module: str) -> str | None:
    """The longest name in the table that the module is or lies in; None for other people's packages."""
    if module.split(".")[0] not in ("calib", "pages", "app"):
        return None
    names = module.split(".")
    longer = [".".join(names[:length]) for length in range(len(names), 0, -1)]
    return next((name for name in longer if name in FLOOR), None)


class Contents(NamedTuple):
    """What several tests ask of a file, which is parsed once.

    Attributes
    ----------
    imports
        Dotted names of all that it imports, wherever in it; `from calib import checks` counts as its own.
    handed_on
        (module, name) of each name that it imports from a module, wherever in it.
    classes
        Public classes at its top level.
    names
        Public functions and constants at its top level.
    """

    imports: list[str]
    handed_on: list[tuple[str, str]]
    classes: list[str]
    names: set[str]


@cache
def contents(path: Path, root: Path) -> Contents:
    tree, here = ast.parse(path.read_text(encoding="utf-8")), path.relative_to(root)
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    public = [name for name in classes if not name.startswith("_")]
    return Contents(_imports(tree, here, root), _handed_on(tree, here), public, _defined_names(tree))


def imports(path: Path, root: Path) -> list[str]:
    return contents(path, root).imports


def _imports(tree: ast.Module, here: Path, root: Path) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*here.parts[: -node.level], *filter(None, [node.module])])
            for alias in node.names:
                below = root.joinpath(*base.split("."), alias.name)
                is_module = below.is_dir() or below.with_suffix(".py").exists()
                found.append(f"{base}.{alias.name}" if is_module else base)
    return [name for name in found if name not in FROM_THE_RESULT.get(dotted(here), ())]


def violations(root: Path) -> list[str]:
    """Imports that go upward or sideways, and files without a floor, one sentence each."""
    wrong = []
    for path in sorted([*root.glob("calib/**/*.py"), *root.glob("pages/**/*.py"), *root.glob("app.py")]):
        module = dotted(path.relative_to(root))
        part = part_of(module)
        if module == "calib":
            continue  # it only hands names on
        if part is None or part == "calib":
            wrong.append(f"{module} stands on no floor: give it one in design and here")
            continue
        for target in imports(path, root):
            other = part_of(target)
            if other is None or other == part:
                continue
            if FLOOR[other] < FLOOR[part]:
                continue
            wrong.append(f"{module} (floor {FLOOR[part]}) imports {target} (floor {FLOOR[other]})")
    return wrong


def test_no_file_imports_upward_or_sideways():
    assert violations(ROOT) == []


def circle(root: Path) -> list[str]:
    """Files that import each other in a circle, if there are any."""
    files = {
        dotted(path.relative_to(root)): path
        for path in [*root.glob("calib/**/*.py"), *root.glob("pages/**/*.py")]
    }
    try:
        TopologicalSorter({name: imports(path, root) for name, path in files.items()}).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_files_import_each_other_in_a_circle(tmp_path):
    assert circle(ROOT) == []
    (tmp_path / "pages").mkdir()
    for name, text in {
        "a": "import pages.b",
        "b": "def f():\n    from pages import c",
        "c": "from pages.a import x",
    }.items():
        (tmp_path / f"pages/{name}.py").write_text(text)
    assert set(circle(tmp_path)) == {"pages.a", "pages.b", "pages.c"}


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("calib/metrics/auc.py", "from calib.kernel.checks import one_of", []),
        ("calib/metrics/auc.py", "from . import brier\nfrom .brier import score", []),
        ("calib/analysis/curves.py", "from calib.evaluate import evaluate", []),
        ("calib/evaluate/chain.py", "from calib.sources import load", ["calib.sources"]),
        ("calib/metrics/auc.py", "import numpy", []),
        ("calib/metrics/auc.py", "from calib.calibrators import CALIBRATORS", ["calib.calibrators"]),
        ("calib/metrics/auc.py", "def f():\n    from ..placements import split", ["calib.placements"]),
        ("calib/metrics/auc.py", "from calib import Recipe", ["calib"]),
        ("calib/recipe.py", "from calib import placements", []),
        ("calib/placements/__init__.py", "from calib.recipe import Recipe", ["calib.recipe"]),
        ("calib/__main__.py", "from calib import Recipe", []),
        ("calib/kernel/records.py", "import calib.evaluate", ["calib.evaluate"]),
        ("calib/figures/bar.py", "import pages.ui.frame", ["pages.ui.frame"]),
        ("calib/stray.py", "", ["no floor"]),
    ],
)
def test_the_check_sees_what_it_should(tmp_path, file, text, expected):
    for folder in (
        "calib/metrics",
        "calib/placements",
        "calib/calibrators",
        "calib/figures",
        "calib/kernel",
        "calib/analysis",
        "calib/evaluate",
        "pages/ui",
    ):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "__init__.py").touch()
    for name in ("kernel/records", "sources", "recipe", "metrics/brier"):
        (tmp_path / f"calib/{name}.py").touch()
    (tmp_path / file).write_text(text)
    found = violations(tmp_path)
    assert len(found) == len(expected)
    assert all(name in sentence for name, sentence in zip(expected, found, strict=True))


def test_contributing_shows_the_same_floors():
    rows = re.findall(
        r"^\| (\d+) \| (.*?) \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), flags=re.M
    )
    shown = {name: int(floor) for floor, names in rows for name in re.findall("`(.*?)`", names)}
    assert shown == {name.removeprefix("calib."): floor for name, floor in FLOOR.items()}


def places() -> list[tuple[str, str, str, str]]:
    """Rows of the table "Where is …?": what is looked for, the first guess, the file and the name in it."""
    section = (ROOT / "docs/architecture.md").read_text(encoding="utf-8").split("## Where is …?")[1]
    rows = re.findall(r"^\| (.+) \| (.+) \| `(.+\.py)` \| `(\w+)` \|$", section, re.M)
    assert len(rows) == section.count("\n| ") - 1
    return rows


def words_of(text: str) -> set[str]:
    """Words of a name or a sentence, without the endings of plurals and counting, binning …"""
    words = re.findall(r"[a-zà-ž0-9]+", text.lower().replace("_", " "))
    return {re.sub(r"(?<=\w{3})(ing|es|s|e)$", "", word) for word in words}


def test_what_the_guide_says_is_in_a_file_is_defined_there():
    for _, _, file, name in places():
        text = (ROOT / file).read_text(encoding="utf-8")
        assert re.search(rf"^(?:def|class) {name}\b|^{name}\b.* = ", text, re.M), (file, name)


REDIRECTS = (
    "number formats",
    "a Parameter",
    "CSV",
    "Excel",
    "Parquet",
    "missing values",
    "links",
    "prior shift",
)


def test_a_first_guess_hits_the_file_but_for_a_few():
    """A guess is words of the question; it hits if all of them name the file, or its folder if others are in there."""
    missed = []
    for question, guess, file, _ in places():
        assert words_of(guess) <= words_of(question), (question, guess)
        if not words_of(guess) <= words_of(file.removesuffix(".py")):
            missed.append(question)
    assert [question.partition(" (")[0] for question in missed] == [*REDIRECTS]


def test_pages_hold_no_arithmetic():
    maths = {"numpy", "scipy", "sklearn"}
    used = {
        str(path.relative_to(ROOT)): sorted(maths & {name.split(".")[0] for name in imports(path, ROOT)})
        for path in ROOT.glob("pages/**/*.py")
    }
    assert {path: names for path, names in used.items() if names} == {}


def test_importing_all_of_calib_never_loads_streamlit():
    program = (
        "import calib, importlib, pkgutil, sys\n"
        "for module in pkgutil.walk_packages(calib.__path__, 'calib.'):\n"
        "    importlib.import_module(module.name)\n"
        "print(sum(name.startswith('calib.') for name in sys.modules))\n"
        "sys.exit('streamlit' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr or "streamlit was loaded"
    assert int(done.stdout) >= len(list(ROOT.glob("calib/*.py"))) - 1


@cache
def settings_read(path: Path) -> set[str]:
    """Names of settings that a file reads from a Recipe by literal strings."""
    found, text = set(), path.read_text(encoding="utf-8")
    if ".setting(" not in text and ".given(" not in text:  # most files, which need no parsing
        return found
    for node in ast.walk(ast.parse(text)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        words = [
            arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
        ]
        if node.func.attr == "setting" and words and "." in words[0]:
            found.add(words[0])
        if node.func.attr == "given" and words:
            found |= {f"{words[0]}.{name}" for name in words[1:]}
    return found


def test_every_setting_that_is_read_by_its_name_is_declared():
    import pages.ui.everything
    from calib.kernel.declared import SETTINGS

    read = {path: settings_read(path) for path in [*ROOT.glob("calib/**/*.py"), *ROOT.glob("pages/**/*.py")]}
    assert sum(map(len, read.values())) > 20
    assert [(path.name, name) for path, names in read.items() for name in names if name not in SETTINGS] == []


def test_below_the_floor_that_declares_settings_none_is_read():
    """There, what a person chose is an argument."""
    below = [
        path
        for path in ROOT.glob("calib/**/*.py")
        if FLOOR[part_of(dotted(path.relative_to(ROOT)))] < FLOOR["calib.settings"]
    ]
    assert len(below) > 200
    assert {path.name: names for path in below if (names := settings_read(path))} == {}


def test_no_two_classes_have_one_name():
    found: dict[str, list[str]] = {}
    for path in [*ROOT.glob("calib/**/*.py"), *ROOT.glob("pages/**/*.py")]:
        for name in contents(path, ROOT).classes:
            found.setdefault(name, []).append(dotted(path.relative_to(ROOT)))
    assert {name: files for name, files in found.items() if len(files) > 1} == {}


# Names of which each file has its own, because whoever calls them chooses the file
PROTOCOL = {
    "prepare": "computes the numbers of a figure, and a Dataset of a table",
    "dataset": "pages answer from their cache what calib.sources computes",
    "load": "pages answer from their cache what calib.sources computes",
    "validate": "both names are fixed: the problems of a table, and the optimism of a model",
}


def _defined_names(tree: ast.Module) -> set[str]:
    found = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {
                part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)
            }
    return {name for name in found if not name.startswith("_")}


def _handed_on(tree: ast.Module, here: Path) -> list[tuple[str, str]]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            above = here.parts[: -node.level] if node.level else ()
            base = ".".join([*above, *filter(None, [node.module])])
            found += [(base, alias.name) for alias in node.names]
    return found


def two_meanings(root: Path) -> dict[str, list[str]]:
    """Public functions and constants that are imported from two or more modules which each define them."""
    files = {
        dotted(path.relative_to(root)): contents(path, root)
        for pattern in ("calib/**/*.py", "pages/**/*.py", "app.py")
        for path in root.glob(pattern)
    }
    where: dict[str, set[str]] = {}
    for base, name in [each for file in files.values() for each in file.handed_on]:
        while base in files and name not in files[base].names:  # a package hands it on
            sources = files[base].handed_on
            base = next((source for source, each in sources if each == name and source != base), "")
        if base in files:
            where.setdefault(name, set()).add(base)
    return {name: sorted(modules) for name, modules in where.items() if len(modules) > 1}


def test_a_function_or_constant_that_others_import_has_one_meaning():
    assert two_meanings(ROOT).keys() == PROTOCOL.keys(), two_meanings(ROOT)


def test_two_definitions_of_one_name_are_seen_also_if_a_package_hands_one_on(tmp_path):
    for folder in ("calib/data", "pages"):
        (tmp_path / folder).mkdir(parents=True)
    for name, text in {
        "calib/data/__init__": "from calib.data.read import count",
        "calib/data/read": "def count(): ...\nLIMIT, REST = 1, 2",
        "calib/other": "count: int = 3\nLIMIT = 3",
        "pages/one": "from calib.data import count\nfrom calib.data.read import LIMIT",
        "pages/two": "def f():\n    from calib.other import count",
    }.items():
        (tmp_path / f"{name}.py").write_text(text)
    assert two_meanings(tmp_path) == {"count": ["calib.data.read", "calib.other"]}

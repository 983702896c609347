"""What pages say is plain English: expressions over which readers stumbled are nowhere shown any more."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHOWN = ("pages", "calib/lessons", "calib/experiments", "calib/figures", "calib/analysis", "calib/export")
# Expression → what is said instead
BETTER = {
    r"\bdearest\b": "costliest",
    r"\bluck\b": "sampling variability, or label noise",
    r"\bwitness\b": "evidence",
    r"^So it is\b": "Correct.",
    r"\bRun through\b": "Vary",
    r"\bway is lit\b": "path is highlighted",
    r"^Placement$": "Calibration data",
    r"^Bins of$": "Binning",
    r"\bLeft open\b": "Undecided",
    r"\bMerge p0 and p1\b": "Combine p0 and p1 with",
    r"^(as there|not here)$": "confirmed, not confirmed",
    r"\bin ink\b": "black lines",
    r"\btenths\b": "per cent",
    r"\bhangs on\b": "depends on",
    r"\bto mend\b": "to remove",
    r"\bobjects\b": "rows",
    r"\b[Ll]earned\b": "learnt",
    r"\bnext to nothing\b": "almost nothing",
    r"\bfor good\b": "for ever",
    r"\btimid\b": "modest",
    r"\b(a|the) lone\b": "a single",
}
ALLOWED = {"objects"}  # the name of a setting in links


def texts(path: Path) -> list[str]:
    """Every text of a program that is no docstring, or of a lesson."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".toml":
        return list(_leaves(tomllib.loads(source)))
    tree = ast.parse(source)
    comments = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    constants = [
        node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in comments
    ]
    return [node.value for node in constants if isinstance(node.value, str) and node.value not in ALLOWED]


def _leaves(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _leaves(one)


@pytest.fixture(scope="module")
def shown() -> list[tuple[str, str]]:
    paths = [
        path
        for folder in SHOWN
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".py", ".toml")
    ]
    return [(str(path.relative_to(ROOT)), text) for path in paths for text in texts(path)]


@pytest.mark.parametrize("old", BETTER)
def test_an_expression_over_which_readers_stumbled_is_nowhere_shown(shown, old):
    assert len(shown) > 1000
    assert [(where, text) for where, text in shown if re.search(old, text)] == [], f"say {BETTER[old]!r}"

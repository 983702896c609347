"""Every chart and table of the pages says in words what it shows; what a chart is clicked for, a control does too."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHOWN = ("plotly_chart", "dataframe", "data_editor", "image", "graphviz_chart")
CALLS = [
    (path.relative_to(ROOT).as_posix(), node)
    for path in sorted((ROOT / "pages").rglob("*.py"))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SHOWN
]


@pytest.mark.parametrize(("path", "call"), CALLS, ids=lambda part: str(getattr(part, "lineno", part)))
def test_every_chart_and_table_has_an_alternative_text(path, call):
    assert "alt" in [given.arg for given in call.keywords], f"{path}:{call.lineno}"

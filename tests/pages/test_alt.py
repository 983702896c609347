"""Every chart and table of the pages says in words what it shows."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SHOWN = ("plotly_chart", "dataframe", "data_editor", "image", "graphviz_chart", "grid")


def calls(path: Path) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in SHOWN:
            yield node


def test_every_chart_and_table_has_an_alternative_text():
    shown = {f"{path}:{call.lineno}": call for path in (ROOT / "pages").rglob("*.py") for call in calls(path)}
    assert len(shown) > 20
    assert [place for place, call in shown.items() if "alt" not in [each.arg for each in call.keywords]] == []

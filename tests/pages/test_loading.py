"""What a fresh server shows while its libraries load."""

import ast
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import streamlit as st

import pages.ui.everything
from pages.ui import loading
from tests.pages.app import ROOT


def test_the_axes_are_drawn_while_another_session_loads_the_libraries(monkeypatch):
    """Of a library that is being loaded there is a module with nothing in it yet, where Plotly looks for arrays."""
    drawn, plotly_chart = [], st.delta_generator.DeltaGenerator.plotly_chart
    monkeypatch.setattr(
        st.delta_generator.DeltaGenerator,
        "plotly_chart",
        lambda *args, **more: drawn.append(plotly_chart(*args, **more)),
    )
    for name in ("numpy", "pandas"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.delitem(sys.modules, "pages.ui.everything")
    with loading.empty_axes():
        assert len(drawn) == 1


STARTED = """
import sys
from streamlit.web import cli
from calibration_explorer import __main__ as command
cli.main = lambda options: print(sorted({"calib", "pandas", "scipy", "sklearn"} & set(sys.modules)))
command.main()
"""


def test_the_command_starts_the_server_before_the_libraries_load():
    """They take longer than the server itself; they load while the browser opens the page."""
    done = subprocess.run(
        [sys.executable, "-c", STARTED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def imported(script: Path) -> list[str]:
    """The modules of ours that a script imports, in order."""
    names = [
        name
        for node in ast.walk(ast.parse(script.read_text(encoding="utf-8")))
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    ]
    return [name for name in names if name.split(".")[0] in ("calib", "pages")]


def test_every_script_passes_the_one_door_first():
    """Sessions of a fresh server that began elsewhere handed each other half-loaded modules."""
    for script in sorted((ROOT / "pages").glob("[!_]*.py")):
        assert imported(script)[0] == "pages.ui.everything", script.name
    assert imported(ROOT / "app.py")[:2] == ["pages.ui", "pages.ui.everything"]  # the axes before it
    loaded = {Path(module.__file__) for name, module in sys.modules.items() if name.startswith("pages.ui.")}
    assert set((ROOT / "pages" / "ui").rglob("*.py")) <= loaded

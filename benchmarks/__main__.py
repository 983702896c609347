"""Run all benchmarks in turn: ``python -m benchmarks``, or ``make bench``, which installs the peers first.

``--write FILE`` also writes what they print, with the date, the machine and the versions, as Markdown; names
(``python -m benchmarks venn_abers pages``) choose some of them. The exit status is 1 if a bound is broken.
"""

import argparse
import ast
import contextlib
import importlib.metadata
import io
import os
import platform
import runpy
import sys
from datetime import UTC, datetime
from pathlib import Path

NAMES = sorted(file.stem for file in Path(__file__).parent.glob("[a-z]*.py"))
VERSIONS = (
    "calib",
    "streamlit",
    "plotly",
    "numpy",
    "pandas",
    "scikit-learn",
    "scipy",
    "venn-abers",
    "probcal",
)
HEAD = """# Benchmarks

These benchmarks compare the speed of this package with the speed of other packages, as a ratio. If there is no other
package to compare with, they give seconds. Limits are in parentheses; BROKEN means that the value is outside its limit.
`python -m benchmarks --write docs/benchmarks.md` wrote this page on {day}.

{machine}.
"""


class Both(io.StringIO):
    """Stream that keeps the printed text and passes it on."""

    def write(self, text: str) -> int:
        sys.__stdout__.write(text)
        sys.__stdout__.flush()
        return super().write(text)


def run(name: str) -> tuple[str, bool]:
    """Run one benchmark; return what it prints, and whether a bound is broken."""
    said, broken = Both(), False
    with contextlib.redirect_stdout(said):
        print(f"\n{name}")
        try:
            runpy.run_module(f"benchmarks.{name}", run_name="__main__")
        except SystemExit as ended:
            broken = bool(ended.code)
    return said.getvalue(), broken


def version(name: str) -> str:
    try:
        return f"{name} {importlib.metadata.version(name)}"
    except importlib.metadata.PackageNotFoundError:  # calib in a clone
        return f"{name} {importlib.import_module(name).__version__}"


def written(results: dict[str, str]) -> str:
    """Write the page of the guide."""
    system = f"{os.cpu_count()} processors, {platform.machine()}, Python {platform.python_version()}"
    machine = ", ".join([system, *map(version, VERSIONS)])
    head = HEAD.format(day=datetime.now(UTC).date(), machine=machine)
    parts = (
        f"\n## {title(name)}\n\n{reading_of(name)}\n\n```text\n{said.strip().partition(chr(10))[2]}\n```\n"
        for name, said in results.items()
    )
    return head + "".join(parts)


def title(name: str) -> str:
    """Write the name of a benchmark for people."""
    return name.replace("_", " ").capitalize()


def reading_of(name: str) -> str:
    """Return what a benchmark's file says first, as a sentence."""
    source = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
    first = (ast.get_docstring(ast.parse(source)) or " ").partition("\n\n")[0]
    return f"This benchmark {first[0].lower()}{first[1:]}".replace("``", "`")


parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
parser.add_argument("names", nargs="*", metavar="NAME", help=f"all by default: {', '.join(NAMES)}")
parser.add_argument("--write", type=Path, metavar="FILE", help="write the results there, too")

if __name__ == "__main__":
    given = parser.parse_args()
    if unknown := set(given.names) - set(NAMES):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    sys.argv[1:] = []  # each benchmark parses its own arguments
    found, any_broken = {}, False
    for name in given.names or NAMES:
        found[name], broken = run(name)
        any_broken |= broken
        if given.write:  # after each benchmark, so that a stopped run keeps its results
            given.write.write_text(written(found), encoding="utf-8")
    sys.exit(any_broken)

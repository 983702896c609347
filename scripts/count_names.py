"""Count what makes the house hard to read: modules, lines, branches on K, names with two meanings, long functions.

    python -m scripts.count_names           # of this folder
    python -m scripts.count_names FOLDER    # of another checkout
    python -m scripts.count_names --names   # lists the names with two meanings

A branch on K is a line that asks whether there are three or more classes. A name has two meanings if modules assign it
different values: constants in upper case, and classes. ``SAME_MEANING`` lists names that mean the same in each module.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

PATTERNS = ("calib/**/*.py", "pages/**/*.py", "app.py")
K = re.compile(
    r"\bjoint\b|\bof_confidence\b|\bn_classes\b|\bTOP\b|is_joint|view_class|base_rates|\.whole\b|all_classes|"
    r"classes [=>]"
)
BRANCHES = (ast.If, ast.IfExp, ast.While, ast.comprehension, ast.BoolOp)
CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*")
SAME_MEANING = {
    "ENTRY": "what a registry reads from a module",
    "EXPERIMENT": "what the list of experiments reads from a module",
    "FIGURES": "figures by key, or those of one experiment",
    "PAGE": "name of the page that a module shows",
    "FOLDS": "number of folds",
    "REDRAWS": "number of redraws of a test",
    "STREAM": "random stream of an experiment, so that equal seeds draw differently",
    "DRAWS_PER_CHECK": "draws between two checks of Cancel",
    "ROWS_AT_ONCE": "rows in a block",
    "SAID": "places that the alternative text describes",
    "HEAD": "pixels above the lanes of a figure",
    "LANE": "pixels of a lane",
    "LONGEST": "letters of a name in a figure",
}
"""Constants that mean the same wherever they stand, with a value for each module."""

Trees = Mapping[str, tuple[str, ast.Module]]


def read_modules(root: Path) -> Trees:
    """Return path → (source, syntax tree) of all modules of a checkout."""
    paths = sorted(path for pattern in PATTERNS for path in root.glob(pattern))
    sources = {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in paths}
    return {name: (source, ast.parse(source)) for name, source in sources.items()}


def branches_on_k(trees: Trees) -> tuple[int, int]:
    """Return (number of lines that branch on the number of classes, number of modules with one)."""
    lines = {name: _branching(source, tree) for name, (source, tree) in trees.items()}
    return sum(map(len, lines.values())), sum(map(bool, lines.values()))


def _branching(source: str, tree: ast.Module) -> set[int]:
    found = set()
    for node in ast.walk(tree):
        if not isinstance(node, BRANCHES):
            continue
        for test in _conditions(node):
            if K.search(ast.get_source_segment(source, test) or ""):
                found.add(test.lineno)
    return found


def _conditions(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.comprehension):
        return node.ifs
    return node.values if isinstance(node, ast.BoolOp) else [node.test]  # type: ignore[attr-defined]


def two_meanings(trees: Trees) -> tuple[dict[str, dict[str, str]], dict[str, list[str]]]:
    """Return constants (name → module → value) and classes (name → modules) that modules define differently.

    A constant that other modules import under its own name and do not assign has one meaning.
    """
    constants: dict[str, dict[str, str]] = defaultdict(dict)
    classes: dict[str, list[str]] = defaultdict(list)
    for name, (_, tree) in trees.items():
        for node in tree.body:
            for target, value in _assigned(node):
                constants[target][name] = ast.unparse(value)
            if isinstance(node, ast.ClassDef):
                classes[node.name].append(name)
    several = {
        key: where
        for key, where in constants.items()
        if key not in SAME_MEANING and len(set(where.values())) > 1
    }
    return several, {key: where for key, where in classes.items() if len(where) > 1}


def _assigned(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """Yield the constants that a statement assigns, with their values."""
    if isinstance(node, ast.AnnAssign):
        pairs = [(node.target, node.value)]
    elif isinstance(node, ast.Assign):
        pairs = [(target, node.value) for target in node.targets]
    else:
        return
    for target, value in pairs:
        if (
            isinstance(target, ast.Tuple)
            and isinstance(value, ast.Tuple)
            and len(target.elts) == len(value.elts)
        ):
            yield from _constants(zip(target.elts, value.elts, strict=True))
        else:
            yield from _constants([(target, value)])


def _constants(pairs: object) -> Iterator[tuple[str, ast.expr]]:
    for target, value in pairs:  # type: ignore[attr-defined]
        if value is not None and isinstance(target, ast.Name) and CONSTANT.fullmatch(target.id):
            yield target.id, value


def function_lines(trees: Trees) -> np.ndarray:
    """Return the number of lines of every function, without its docstring."""
    return np.array(
        [
            _lines(node)
            for _, tree in trees.values()
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
    )


def _lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return 1 + (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 1


def main() -> None:
    """Print the counts, and the names on request."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", default=".", type=Path)
    parser.add_argument("--names", action="store_true")
    given = parser.parse_args()
    trees = read_modules(given.folder)
    constants, classes = two_meanings(trees)
    lines, modules = branches_on_k(trees)
    median, most = np.quantile(function_lines(trees), [0.5, 0.9])
    print(f"modules {len(trees)}, lines {sum(source.count(chr(10)) for source, _ in trees.values()):,}")
    print(f"branches on K: {lines} lines in {modules} modules")
    print(f"names with two meanings: {len(constants)} constants, {len(classes)} classes")
    print(f"lines of functions: median {median:.0f}, 90 % at most {most:.0f}")
    if given.names:
        for name, where in sorted(constants.items()):
            print(name, *(f"    {module}: {value[:70]}" for module, value in where.items()), sep="\n")
        for name, found in sorted(classes.items()):
            print(name, *(f"    {module}" for module in found), sep="\n")


if __name__ == "__main__":
    main()

"""Measure what the tests of the numeric core protect: the share of small faults that they find.

    python -m scripts.mutants [--draws 300] [--seed 0] [--only calib/metrics]

A mutant is a module with one operator, comparison or number changed inside a function. Each runs in a forked process,
which compiles the changed module instead of the file, so no file is changed. First come the examples of the module and
the test file of its name, then, if they pass, all tests of its folder, and those of what uses it. A mutant that fails
or does not end is killed.
Survivors are printed, for somebody to read: some compute the same in another way.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import signal
import time
from collections.abc import Iterator
from importlib import import_module
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NUMERIC = (
    *(f"calib/{part}" for part in ("metrics", "calibrators", "comparison")),
    *(f"calib/kernel/{name}.py" for name in ("base_rate", "binning", "binomial", "isotonic_regression")),
    *(f"calib/kernel/{name}.py" for name in ("likelihood", "rows", "softmax", "weights")),
)
# Tests elsewhere of formulas and of files: a calibrator predicts as its exported programs do, and calls the kernel
PROGRAMS = ("programs/test_programs.py", "programs/test_classes.py", "test_calibrators.py")
ELSEWHERE = {
    "calibrators": [f"tests/export/{name}" for name in PROGRAMS],
    "kernel": ["tests/calibrators", "tests/metrics"],
}
LIMIT = 900  # seconds in which the tests of one mutant end
LIBRARIES = ("numpy", "pandas", "scipy.stats", "scipy.optimize", "sklearn.ensemble", "hypothesis")
PAIRS = ((ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.And, ast.Or))
PAIRS += ((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq))
SWAPS: dict[type, type] = {ast.Pow: ast.Mult, ast.USub: ast.UAdd} | {
    one: other for pair in PAIRS for one, other in (pair, pair[::-1])
}
# Tests of words hold messages, and the reference holds defaults
UNREAD, ANNOTATIONS = (ast.Raise, ast.JoinedStr, ast.arguments), ("annotation", "returns")


def changeable(tree: ast.AST, within: bool = False) -> Iterator[ast.AST]:
    """Yield the nodes of functions' bodies that can be changed, always in the same order."""
    within = within or isinstance(tree, ast.FunctionDef)
    for node in _parts(tree):
        if within and (type(getattr(node, "op", None)) in SWAPS or is_comparison(node) or is_number(node)):
            yield node
        yield from changeable(node, within)


def _parts(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes directly below one, without annotations and what is not changed."""
    for field, value in ast.iter_fields(tree):
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST) and not isinstance(node, UNREAD) and field not in ANNOTATIONS:
                yield node


def is_comparison(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS


def is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def mutant(tree: ast.Module, at: int) -> tuple[ast.Module, str]:
    """Return a copy of a module with its change number ``at``, and what was changed."""
    tree = copy.deepcopy(tree)
    node = list(changeable(tree))[at]
    before = ast.unparse(node)
    if isinstance(node, ast.Compare):
        node.ops[0] = SWAPS[type(node.ops[0])]()
    elif isinstance(node, ast.Constant):
        node.value += 1
    else:
        node.op = SWAPS[type(node.op)]()
    return tree, f"line {node.lineno}: {before} → {ast.unparse(node)}"


def compiled_instead(path: Path, tree: ast.Module) -> None:
    """Let this process compile ``tree`` when it imports the module of this path."""
    usual = SourceFileLoader.get_code

    def get_code(loader, name):
        return compile(tree, str(path), "exec") if Path(loader.path) == path else usual(loader, name)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign]


def tests_of(path: Path) -> list[list[str]]:
    """Return what tests a module: its examples and the files of its name, then its folder, then tests elsewhere."""
    part = path.relative_to(ROOT / "calib").parts[0]
    own = [str(file) for file in sorted((ROOT / "tests").rglob(f"test_{path.stem}.py"))]
    return [[str(path), *own], [f"tests/{part}"], *([ELSEWHERE[part]] if part in ELSEWHERE else [])]


def survives(path: Path, tree: ast.Module) -> bool:
    """Tell whether all tests of a module pass with this tree, in a process of its own."""
    child = os.fork()
    if child == 0:
        killed = True  # also by an error that ends pytest
        try:
            os.setsid()
            compiled_instead(path, tree)
            killed = any(fails(files) for files in tests_of(path))
        finally:
            os._exit(int(killed))
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status == 0
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def fails(files: list[str]) -> bool:
    """Tell whether one of the quick tests of these files fails, without a word."""
    # Plain: pytest would compile the module itself, from its file, to rewrite its assertions
    quick = ("-qx", "-n0", "--assert=plain", "-m", "not soak", "-p", "no:randomly", "-p", "no:cacheprovider")
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        return pytest.main([*quick, *files]) not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


def all_mutants(only: str) -> Iterator[tuple[Path, int]]:
    """Yield the path and number of each possible change."""
    for part in NUMERIC:
        for path in sorted((ROOT / part).glob("*.py")) if (ROOT / part).is_dir() else [ROOT / part]:
            if path.is_relative_to(ROOT / only):
                tree = ast.parse(path.read_text(encoding="utf-8"))
                yield from ((path, at) for at in range(len(list(changeable(tree)))))


def main(draws: int, seed: int, only: str) -> None:
    for name in LIBRARIES:  # once, before the forks
        import_module(name)
    possible = list(all_mutants(only))
    chosen = random.Random(seed).sample(possible, min(draws, len(possible)))
    killed = 0
    for i, (path, at) in enumerate(chosen, start=1):
        tree, change = mutant(ast.parse(path.read_text(encoding="utf-8")), at)
        survived = survives(path, tree)
        killed += not survived
        print(
            "survives" if survived else "killed  ",
            f"{killed}/{i}",
            path.relative_to(ROOT),
            change,
            flush=True,
        )
    print(
        f"{killed} of {len(chosen)} killed ({100 * killed / len(chosen):.1f} %); {len(possible)} are possible."
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="calib", help="a folder or a file")
    main(**vars(parser.parse_args()))

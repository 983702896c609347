"""The command line: ``python -m calib evaluate RECIPE.json DATA.csv [--html report.html] [--csv predictions.csv]``.

Exit status 0 only when every calibrator of the Recipe has a result; otherwise a clear message on standard error.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pandas as pd

from calib.checks import InputError
from calib.data import guess_target, read_table
from calib.evaluate import evaluate
from calib.export import report_html, safe_csv
from calib.recipe import Recipe
from calib.records import Dataset
from calib.sources import digest, load


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m calib", description="Probability calibration from the command line."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("evaluate", help="print the metric table of one Recipe on one data file")
    command.add_argument("recipe", type=Path, metavar="RECIPE.json")
    command.add_argument("data", type=Path, metavar="DATA", help="CSV, TSV, Parquet, Excel, ARFF or JSON, also gzipped")
    command.add_argument("--html", type=Path, metavar="FILE", help="write a self-contained interactive report")
    command.add_argument("--csv", type=Path, metavar="FILE", help="write the predictions, one line a test row")
    return parser


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from None


def _on_file(recipe: Recipe, path: Path) -> tuple[Recipe, Dataset]:
    """The Recipe with the file at ``path`` as its data, and the Dataset; the label is "target" unless it names one."""
    content = _read(path)
    frame = read_table(content, path.name)
    target = recipe.target or ("target" if "target" in frame.columns else guess_target(frame))
    if target is None:
        raise InputError(f"target: set it in the Recipe to one of the columns {', '.join(map(str, frame.columns))}.")
    if target not in (recipe.target, "target"):
        print(f"note: the label is taken to be {target!r}; name another as target in the Recipe.", file=sys.stderr)
    recipe = recipe.replace(data=f"upload:{digest(content)}", data_params=(), target=target)
    return recipe, load(recipe, {digest(content): frame})


def _evaluate(args: argparse.Namespace) -> int:
    for path in (args.html, args.csv):
        if path and not path.parent.is_dir():  # said before the work, not after it
            raise InputError(f"{path} cannot be written: there is no folder {path.parent}.")
    recipe = Recipe.from_json(_read(args.recipe))
    if not recipe.calibrators:
        raise InputError("calibrators: the Recipe names none, so that there is nothing to evaluate.")
    evaluation = evaluate(*_on_file(recipe, args.data))
    with pd.option_context("display.width", None, "display.max_columns", None, "display.precision", 4):
        print(evaluation.metrics)
    for note in evaluation.notes:
        print(f"note: {note}", file=sys.stderr)
    if args.html:
        file = {evaluation.recipe.data.removeprefix("upload:"): args.data.name}
        _write(args.html, report_html(evaluation, files=file))
    if args.csv:
        _write(args.csv, safe_csv(evaluation.frame()))
    for key, why in evaluation.refused.items():
        print(f"error: {key}: {why}", file=sys.stderr)
    return 1 if evaluation.refused else 0


def main(argv: list[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    try:
        return _evaluate(args)
    except ValueError as error:  # InputError, or what a model itself refuses
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())

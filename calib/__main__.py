"""The command line: ``python -m calib evaluate RECIPE.json DATA.csv [--html report.html] [--csv predictions.csv]``.

Exit status 0 only when every calibrator of the Recipe has a result; otherwise a clear message on standard error.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pandas as pd

from calib.checks import InputError
from calib.data import guess_target, prepare, prepare_predictions, read_table
from calib.evaluate import evaluate
from calib.export import report_html, safe_csv
from calib.recipe import Recipe
from calib.records import Dataset


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


def _dataset(recipe: Recipe, path: Path) -> Dataset:
    frame = read_table(_read(path), path.name)
    target = recipe.target or ("target" if "target" in frame.columns else guess_target(frame))
    if target is None:
        raise InputError(f"target: set it in the Recipe to one of the columns {', '.join(map(str, frame.columns))}.")
    if recipe.content == "predictions":
        return prepare_predictions(frame, target, recipe.positive)
    return prepare(frame, target, recipe.positive, exclude=recipe.exclude, keep=recipe.keep)


def _evaluate(args: argparse.Namespace) -> int:
    recipe = Recipe.from_json(_read(args.recipe))
    evaluation = evaluate(recipe, _dataset(recipe, args.data))
    with pd.option_context("display.width", None, "display.max_columns", None, "display.precision", 4):
        print(evaluation.metrics)
    for note in evaluation.notes:
        print(f"note: {note}", file=sys.stderr)
    if args.html:
        args.html.write_bytes(report_html(evaluation))
    if args.csv:
        args.csv.write_bytes(safe_csv(evaluation.frame()))
    for key, why in evaluation.refused.items():
        print(f"error: {key}: {why}", file=sys.stderr)
    return 1 if evaluation.refused else 0


def main(argv: list[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    try:
        return _evaluate(args)
    except (InputError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())

"""``python -m calib evaluate``: the metric table, one metric per line and one calibrator per column."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd

from calib.analysis.differences import clipped
from calib.analysis.report_settings import REPORT_SETTINGS
from calib.commands.on_file import on_file
from calib.commands.options import (
    add_file,
    add_setting,
    check_folders,
    csv_bytes,
    names_in,
    read_file,
    write_file,
)
from calib.data import LEARN_ROWS
from calib.data.label import POSITIVE, PREDICTED_TOGETHER
from calib.evaluate import (
    FEWEST_ESTIMATED,
    Evaluation,
    announcement,
    evaluate,
    expected_cost,
    expected_seconds,
    fits_every_row,
)
from calib.export import WRITERS, print_metrics
from calib.kernel import checks
from calib.kernel.checks import InputError
from calib.kernel.overview import COMMANDS
from calib.kernel.records import Dataset
from calib.kernel.wording import counted, duration
from calib.metrics import METRICS
from calib.recipe import Recipe, with_calibrators
from calib.sources import file_key

ALL_CLASSES_SUFFIX = "_all_classes"  # suffix of scores of all K classes
SECONDS_SAID = 10.0  # a fit that is expected to take longer is announced


def add_evaluate(commands: Any) -> None:
    command = commands.add_parser("evaluate", help=COMMANDS["evaluate"])
    command.add_argument("recipe", type=Path, metavar="RECIPE.json")
    command.add_argument(
        "data",
        type=Path,
        nargs="?",
        metavar="DATA",
        help="data file (CSV, TSV, Parquet, Excel, ARFF, JSON or NumPy .npz; may be gzipped)",
    )
    command.add_argument(
        "--connection",
        metavar="NAME",
        help="instead of DATA, read from this database in .streamlit/secrets.toml",
    )
    command.add_argument("--query", metavar="NAME", help="name of the query or table in that database")
    command.add_argument(
        "--learn-rows",
        type=int,
        metavar="N",
        help="train on N rows, drawn at random within each class, and evaluate on all other rows (default "
        f"for a table too large for memory: {LEARN_ROWS:,})",
    )
    add_file(command, "--test-data", "use the rows of this file as the test set; columns are matched by name")
    add_file(
        command,
        "--onnx",
        'evaluate this existing model on DATA, which contains its inputs (needs the extra "onnx")',
    )
    add_file(command, "--html", "write a self-contained interactive report")
    add_file(command, "--pdf", "write the report as PDF (needs Chromium)")
    for setting in REPORT_SETTINGS:
        add_setting(command, setting)
    add_file(command, "--csv", "write the predictions as CSV, with one line per test row")
    command.add_argument(
        "--metrics",
        metavar="KEY,KEY",
        help="keys of the metrics to print, separated by commas (default: the everyday metrics)",
    )
    command.add_argument("--format", choices=WRITERS, default="table", help="format of the printed table")
    command.set_defaults(run=_evaluate)


def _data_source(args: argparse.Namespace) -> Path | tuple[str, str]:
    """Return the data file, or the connection and the query."""
    if args.data is None and args.connection is None and args.recipe.suffix.lower() != ".json":
        raise InputError(
            f"A Recipe is missing before the data file {args.recipe}. If the file contains predictions, write "
            f'{{"content": "predictions"}} to recipe.json. Then run: python -m calib evaluate recipe.json {args.recipe}'
        )
    if (args.data is None) == (args.connection is None):
        raise InputError("Specify either a data file, or --connection with --query.")
    if (args.query is None) != (args.connection is None):
        raise InputError("--connection and --query must be used together. Name both.")
    return args.data if args.connection is None else (args.connection, args.query)


def _evaluate(args: argparse.Namespace) -> int:
    where = _data_source(args)
    check_folders(args.html, args.pdf, args.csv)
    stated = {setting.name: getattr(args, setting.name) for setting in REPORT_SETTINGS}
    given = {f"report.{name}": text for name, text in stated.items() if text is not None}
    if args.learn_rows is not None:
        given["data_params.learn_rows"] = args.learn_rows
    recipe = Recipe.from_json(read_file(args.recipe)).replace(**given)
    if not recipe.calibrators:
        raise InputError(
            "The Recipe has no calibrators, so there is nothing to evaluate. Add a calibrator, such "
            'as "none" for the uncalibrated model.'
        )
    keys = [checks.one_of(key, METRICS, "--metrics") for key in names_in(args.metrics) or ()]
    recipe, dataset, found = on_file(recipe, where, args.test_data, args.onnx)
    print_cost(recipe, dataset)
    evaluation = evaluated(recipe, dataset)
    table = evaluation.measured(evaluation.applicable(keys)) if keys else evaluation.metrics
    if evaluation.whole is not None:
        together = evaluation.whole.metrics
        chosen = together[[key for key in together if key in keys or not keys]]
        table = pd.concat([chosen.add_suffix(ALL_CLASSES_SUFFIX), table], axis=1)
    print(evaluation.verdict.sentence, file=sys.stderr, flush=True)  # standard output has only the table
    print(print_metrics(table, args.format, clipped(evaluation, table)))
    for note in evaluation.notes:
        print(f"note: {_how_to_change(note, recipe, dataset)}", file=sys.stderr)
    recipe = evaluation.recipe
    files = {str(file_key(recipe.data)): args.data.name if args.data else f"{args.connection}/{args.query}"}
    for named, path in ((recipe.test_data, args.test_data), (recipe.onnx, args.onnx)):
        if named and path:
            files[named.removeprefix("upload:")] = path.name
    if args.html or args.pdf:
        from calib.export import print_pdf, report_html  # here, because they draw

        report = report_html(evaluation, files=files, problems={dataset.name: found})
        if args.html:
            write_file(args.html, report)
        if args.pdf:
            write_file(args.pdf, print_pdf(report.decode()))
    if args.csv:
        write_file(args.csv, csv_bytes(evaluation.frame()))
    for key, why in evaluation.refused.items():
        print(f"error: {key}: {why}", file=sys.stderr)
    return 1 if evaluation.refused else 0


def _how_to_change(note: str, recipe: Recipe, dataset: Dataset) -> str:
    """Add how to choose another positive class to the note on the classes, if the Recipe names none."""
    if dataset.joint and PREDICTED_TOGETHER in note:
        return f'{note} To predict one class against the rest, set "positive": "LABEL" in the Recipe.'
    if recipe.positive is not None or not note.startswith(POSITIVE):
        return note
    negative = dataset.classes[0]
    other = "LABEL" if negative == f"not {dataset.classes[1]}" else negative
    return f'{note} To choose another, set "positive": {json.dumps(other, ensure_ascii=False)} in the Recipe.'


def evaluated(recipe: Recipe, dataset: Dataset) -> Evaluation:
    """Evaluate, or explain why a model, which may come from a plug-in, fails."""
    try:
        return evaluate(recipe, dataset)
    except ValueError:  # InputError, or an error of the model itself
        raise
    except Exception as error:
        raise InputError(
            f"The model fails on these data ({type(error).__name__}: {error}). Try other settings or another model."
        ) from error


def print_cost(recipe: Recipe, dataset: Dataset) -> None:
    """Estimate and print, from smaller fits, how long a fit of many rows or one refit per row will take."""
    if fits_every_row(recipe):
        once = evaluated(recipe.replace(placement="split", **with_calibrators(recipe, ("none",))), dataset)
        calls, seconds = expected_cost(once, recipe.placement)
        price = f"{counted(calls, 'model fit')}, about {duration(seconds)}"
        print(f"note: placement={recipe.placement!r} needs {price}.", file=sys.stderr, flush=True)
    elif dataset.n >= FEWEST_ESTIMATED and recipe.content == "features":
        seconds = expected_seconds(recipe, dataset, short=SECONDS_SAID / 2)
        if seconds > SECONDS_SAID:
            print(f"note: {announcement(dataset.n, seconds)}", file=sys.stderr, flush=True)

"""Command line of the program.

- ``python -m calib evaluate RECIPE.json DATA.csv``: the metric table, one metric per line and one calibrator per
  column; exit status 0 only when every calibrator of the Recipe has a result.
- ``python -m calib simulate EXPERIMENT``: an experiment of the Learn pages, with the same numbers.
- ``python -m calib study PROTOCOL --store results.sqlite``: a paper's experiments, or your own, resumable; exit status
  0 only when every cell has a result.
- ``python -m calib export CALIBRATOR.json --sql | --onnx | --python | --js``: a calibrator that was saved as JSON, in
  the language of the system that will use it.
- ``python -m calib audit RECIPE.json DATA``: in which segments are the probabilities wrong? Ranked, adjusted for the
  search.
- ``python -m calib watch RECIPE.json DATA [--state FILE]``: is a model still calibrated? Exit status 3 on a new
  alarm, 4 while it stands.

``--help`` lists the options of each command. Errors are messages on standard error.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sqlite3
import sys
import time
from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from calib.kernel.overview import COMMANDS, empty_parser, show_overview

if __name__ == "__main__":  # before the imports, which take seconds
    show_overview(sys.argv[1:])

import pandas as pd

from calib.analysis.audit.of_evaluation import audit_evaluation
from calib.analysis.audit.of_evaluation import audit_sentences as audit_sentences
from calib.analysis.clipped import clipped
from calib.analysis.grouping_losses import gain_sentence
from calib.commands.options import add_file as _add_file
from calib.commands.options import add_setting as _add_setting
from calib.commands.options import check_folders as _check_folders
from calib.commands.options import read_file as _read
from calib.commands.options import write_file as _write
from calib.commands.watch import add_watch as _add_watch
from calib.dashboard import show_file
from calib.data import (
    LEARN_ROWS,
    LargeFile,
    LargeQuery,
    ReadingQuestion,
    TableFile,
    TooLargeError,
    connection,
    guess_target,
    open_if_many,
    open_large,
    read_table,
    target_candidates,
    unchanged,
)
from calib.data.target import POSITIVE, PREDICTED_TOGETHER
from calib.evaluate import (
    MANY_ROWS,
    Evaluation,
    announcement,
    evaluate,
    expected_cost,
    expected_seconds,
    fits_every_row,
)
from calib.experiments import EXPERIMENTS, Experiment
from calib.export import (
    FORMS,
    LANGUAGES,
    experiment_html,
    print_metrics,
    print_pdf,
    read_calibrator,
    report_html,
    run_experiment,
    safe_csv,
    study_archive,
    write_program,
)
from calib.export.playground import PLAYGROUND_SETTINGS, playground_html
from calib.kernel import checks
from calib.kernel.checks import InputError
from calib.kernel.declared import read
from calib.kernel.progress import Watch
from calib.kernel.records import Dataset, Parameter, Problem
from calib.kernel.wording import counted, duration
from calib.metrics import METRICS
from calib.recipe import Recipe, plugin_problems, with_calibrators
from calib.sources import (
    Upload,
    can_count,
    count_large,
    data_of_query,
    digest,
    file_digest,
    file_key,
    load_table,
    missing_files,
    parse_place,
    problems,
    read_query,
    reading,
    with_onnx_model,
    with_test_file,
)
from calib.sources import dataset as dataset_of
from calib.study import (
    SHIPPED,
    Store,
    Summary,
    distinct_failures,
    likely_paper,
    load_protocol,
    load_sets,
    run_study,
    summarise,
)
from calib.study.protocol import FOLDS, REPEATS
from calib.study.runner import BACKENDS
from calib.study.store import StoredPredictions, refusal

REPORT = ("title", "purpose", "author")  # options of the report, which are also settings of a Recipe
ALL = "_all_classes"  # suffix of scores of all K classes
MOST_ROWS = 60  # rows of a printed table; of a longer one, only both ends are printed
MOST_FAILURES = 10  # failures of a study that are printed one by one
SECONDS_SAID = 10.0  # a fit that is expected to take longer is announced
SECONDS_A_LINE = 5  # seconds between lines of a study's progress, if a line cannot be updated


def _parser() -> argparse.ArgumentParser:
    parser, commands = empty_parser()
    for add in (
        _add_evaluate,
        _add_simulate,
        _add_playground,
        _add_study,
        _add_export,
        _add_audit,
        _add_watch,
        _add_explore,
    ):
        add(commands)
    return parser


def _add_evaluate(commands: Any) -> None:
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
    command.add_argument("--query", metavar="NAME", help="its named query or table")
    command.add_argument(
        "--learn-rows",
        type=int,
        metavar="N",
        help=f"train on N rows, drawn at random within each class, and evaluate on all others (default for a table "
        f"too large for memory: {LEARN_ROWS:,})",
    )
    _add_file(command, "--judge-on", "use the rows of this file as the test set; columns are matched by name")
    _add_file(
        command,
        "--onnx",
        "evaluate this existing model on DATA, which contains its inputs (needs requirements-onnx.txt)",
    )
    _add_file(command, "--html", "write a self-contained interactive report")
    _add_file(command, "--pdf", "write the report as PDF (needs Chromium)")
    for name in REPORT:
        _add_setting(command, f"report.{name}")
    _add_file(command, "--csv", "write the predictions as CSV, with one line per test row")
    command.add_argument(
        "--metrics",
        metavar="KEY,KEY",
        help="keys of the metrics to print, separated by commas (default: the everyday metrics)",
    )
    command.add_argument("--format", choices=FORMS, default="table", help="format of the printed table")
    command.set_defaults(run=_evaluate)


def _add_simulate(commands: Any) -> None:
    command = commands.add_parser("simulate", help=COMMANDS["simulate"])
    command.add_argument(
        "experiment", nargs="?", metavar="EXPERIMENT", help="key of an experiment; --list prints all"
    )
    command.add_argument(
        "--list", action="store_true", help="list all experiments, or the settings of EXPERIMENT"
    )
    _add_set(command)
    command.add_argument("--seed", type=int, default=0, metavar="N", help="random seed (default: 0)")
    _add_file(command, "--html", "write the figures as one self-contained HTML page")
    _add_file(
        command,
        "--csv",
        "write the data of the first figure as CSV, and the data of each further figure to a file named after its key",
    )
    command.set_defaults(run=_simulate)


def _add_set(command: Any) -> None:
    command.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="change a setting from its default; may be repeated",
    )


def _add_playground(commands: Any) -> None:
    command = commands.add_parser("playground", help=COMMANDS["playground"])
    command.add_argument("--html", type=Path, metavar="FILE", required=True, help="file to write")
    _add_set(command)
    command.set_defaults(run=_playground)


def _add_export(commands: Any) -> None:
    command = commands.add_parser("export", help=COMMANDS["export"])
    command.add_argument(
        "calibrator",
        type=Path,
        metavar="CALIBRATOR.json",
        help="calibrator file (JSON) from the Compare and report page",
    )
    language = command.add_mutually_exclusive_group(required=True)
    for key, entry in LANGUAGES.items():
        language.add_argument(
            f"--{key}", dest="language", action="store_const", const=key, help=f"as {entry.label}"
        )
    command.add_argument(
        "--score", default="score", metavar="NAME", help="name of the score column (SQL) or input (ONNX)"
    )
    _add_file(command, "--output", "write to a file instead of standard output")
    command.set_defaults(run=_export)


def _add_study(commands: Any) -> None:
    command = commands.add_parser("study", help=COMMANDS["study"])
    command.add_argument("protocol", metavar="PROTOCOL", help=f"TOML file, or one of {', '.join(SHIPPED)}")
    command.add_argument(
        "--data",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help='data files with a label column "target", or openml:NUMBER, sample:KEY, synthetic:KEY',
    )
    command.add_argument(
        "--setups",
        nargs="+",
        action="extend",
        metavar="NAME",
        help="run only these setups; all means every setup of the protocol",
    )
    for setting in (REPEATS, FOLDS):
        command.add_argument(
            f"--{setting.name}",
            type=int,
            metavar="N",
            help=f"{setting.label}, from {setting.low} to {setting.high:,} (default: the protocol's). {setting.help}",
        )
    command.add_argument(
        "--metrics",
        metavar="KEY,KEY",
        help="keys of the metrics, separated by commas (default: the protocol's)",
    )
    command.add_argument("--retry-failed", action="store_true", help="repeat the runs that failed")
    command.add_argument(
        "--store",
        type=Path,
        required=True,
        metavar="FILE",
        help="results file (SQLite); name the same file to continue a study",
    )
    _add_file(command, "--csv", "write the results as CSV, with one row per setup and fold")
    _add_file(command, "--report", "write tables, tests and diagrams for every metric into a ZIP archive")
    command.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="number of parallel runs (default: 1)"
    )
    command.add_argument(
        "--backend",
        choices=BACKENDS,
        default="loky",
        help="where to run: loky is this machine, dask a Dask cluster",
    )
    command.add_argument(
        "--scheduler", metavar="ADDRESS", help="address of the Dask scheduler, such as tcp://HOST:8786"
    )
    command.set_defaults(run=_study)


def _add_audit(commands: Any) -> None:
    command = commands.add_parser("audit", help=COMMANDS["audit"])
    command.add_argument("recipe", type=Path, metavar="RECIPE.json")
    command.add_argument("data", type=Path, metavar="DATA", help="data file, or a table of predictions")
    command.add_argument(
        "--calibrator", metavar="KEY", help="whose predictions (default: the Recipe's first)"
    )
    for name in ("columns", "depth", "resamples", "min_rows", "min_events", "unweighted"):
        _add_setting(command, f"groups.{name}")
    _add_file(command, "--csv", "write all segments as CSV")
    command.set_defaults(run=_audit)


def _audit(args: argparse.Namespace) -> int:
    """Run the audit; the exit status is 0 whatever it finds."""
    _check_folders(args.csv)
    recipe, dataset, _ = _on_file(Recipe.from_json(_read(args.recipe)), args.data, whole=True)
    _print_cost(recipe, dataset)
    evaluation = _evaluated(recipe, dataset)
    key = args.calibrator or next(iter(evaluation.predictions), None)
    if key is None:
        raise InputError(next(iter(evaluation.refused.values()), "calibrators: the Recipe's list is empty."))
    watch = Watch(_progress if sys.stderr.isatty() else None)
    found = audit_evaluation(
        evaluation,
        key,
        args.columns,
        args.depth,
        args.resamples,
        args.min_rows,
        args.min_events,
        args.unweighted,
        watch,
    )
    lines = [*audit_sentences(found), gain_sentence(evaluation, key, args.columns)]
    print("\n".join(filter(None, lines)), file=sys.stderr, flush=True)  # standard output has only the table
    _print(found.segments)
    if args.csv:
        _write(args.csv, _csv(found.segments))
    return 0


def _add_explore(commands: Any) -> None:
    command = commands.add_parser("explore", help=COMMANDS["explore"])
    command.add_argument("data", type=Path, metavar="DATA", help="data file, as for evaluate")
    command.set_defaults(run=lambda args: show_file(args.data))


def _checked(path: Path) -> Path:
    """Return a path that can be read."""
    try:
        with open(path, "rb"):
            return path
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}. Check the path.") from None


def _data_source(args: argparse.Namespace) -> Path | tuple[str, str]:
    """Return the data file, or the connection and the query."""
    if (args.data is None) == (args.connection is None):
        raise InputError("Name either a data file, or --connection with --query.")
    if (args.query is None) != (args.connection is None):
        raise InputError("--connection and --query belong together. Name both.")
    return args.data if args.connection is None else (args.connection, args.query)


def _on_file(
    recipe: Recipe,
    path: Path | tuple[str, str],
    judge_on: Path | None = None,
    model: Path | None = None,
    whole: bool = False,
) -> tuple[Recipe, Dataset, list[Problem]]:
    """Return the Recipe with the file at ``path`` as its data, the Dataset and its problems.

    The label is the Recipe's target, by default "target". All other fields are kept; a field that an argument replaces
    is reported.

    ``path`` may also be a connection and its query. If ``judge_on`` names another file, its rows are the test set.
    ``model`` is an ONNX file whose inputs are in the table. ``whole`` keeps all columns of a table of predictions.
    """
    large: LargeFile | LargeQuery | None = None
    if isinstance(path, tuple):
        name = "/".join(path)
        database, query = connection(path[0]), path[1]
        *before, seen = parse_place(recipe.data) or ("", "", "")
        again = seen if before == ["database", name] else ""
        found = database.read(query) if whole else read_query(database, query, recipe.content, again)
        large, frame = (found, found.head) if isinstance(found, LargeQuery) else (None, found)
        data = data_of_query(database, query, found)
    else:
        name = path.name
        with unchanged(path):
            large, frame = _of_file(recipe, path, whole)
            data = f"upload:{file_digest(path)}"
    target = recipe.target or ("target" if "target" in frame.columns else guess_target(frame))
    if target is None:
        likely = target_candidates(frame) or list(map(str, frame.columns))
        raise InputError(
            f"target: the Recipe does not name the label column. Set target in the Recipe to "
            f"one of {', '.join(likely)}."
        )
    stated, read_so = recipe, () if recipe.data.startswith("synthetic:") else recipe.data_params
    recipe = recipe.replace(data=data, file=recipe.file and name, data_params=read_so, target=target)
    uploads: dict[str, Upload] = {str(file_key(data)): frame if large is None else large}
    if judge_on is not None:
        other = _read(judge_on)
        uploads[digest(other)] = TableFile(judge_on.name, other)
        recipe = recipe.replace(file=name, **with_test_file(f"upload:{digest(other)}", judge_on.name, recipe))
    if model is not None:
        graph = _read(model)
        uploads[digest(graph)] = graph
        recipe = recipe.replace(file=name, **with_onnx_model(f"upload:{digest(graph)}", model.name))
    for key, file in missing_files(recipe, uploads).items():
        raise InputError(
            f"The Recipe needs {file or f'the file with the digest {key}'} as well. Pass it with --judge-on "
            "(a table) or --onnx (a model)."
        )
    read_as = recipe
    if large is not None and recipe.content == "predictions":
        read_as, frame = count_large(recipe, large)
        if isinstance(large, LargeQuery):
            data = data_of_query(database, query, frame, counted=True)
            recipe, read_as = recipe.replace(data=data), read_as.replace(data=data)
        uploads = {str(file_key(data)): frame}
    table = load_table(read_as, uploads)
    dataset = dataset_of(read_as, table)
    if dataset.read_as is not None:
        print(f"read as: {dataset.read_as}", file=sys.stderr)
    if target not in (stated.target, "target"):
        print(
            f"note: the Recipe does not name the label column, so {target!r} is used. To choose another, set target in "
            "the Recipe.",
            file=sys.stderr,
        )
    _report_lost(stated.lost(recipe, asked=("data", "file", "judge_on", "judge_file", "onnx", "onnx_file")))
    found = problems(read_as, table)
    if recipe.content == "predictions" and not whole:  # keep only what a report needs of a large table
        groups = set(recipe.stated_settings("reliability", "group").values())
        dataset = replace(
            dataset, beside={name: each for name, each in dataset.beside.items() if name in groups}
        )
    for problem in found:
        if problem.severity == "warning" and not any(problem.message in note for note in dataset.notes):
            column = f"{problem.column}: " if problem.column else ""
            how = f"{problem.remedy}{_in_the_recipe(problem)}"
            print(f"warning: {column}{problem.message} {how}", file=sys.stderr)
    return recipe, dataset, found


def _of_file(recipe: Recipe, path: Path, whole: bool) -> tuple[LargeFile | None, pd.DataFrame]:
    """Return (the file if it is too large for memory or counted, its rows or the first of them)."""
    options = reading(recipe)
    try:
        if not whole and not options and (many := open_if_many(path)) and _counts(recipe, many):
            return many, many.head
        return None, read_table(_checked(path), path.name, **options)
    except TooLargeError:
        if whole:
            raise
        large = open_large(path, options.get("header"))
        return large, large.head


def _counts(recipe: Recipe, file: LargeFile) -> bool:
    """Tell whether a file of very many predictions is counted although its rows would fit into memory."""
    target = recipe.target or ("target" if "target" in file.head else guess_target(file.head))
    return target is not None and can_count(recipe.replace(target=target), file)


def _report_lost(lost: Mapping[str, Any]) -> None:
    """Report the fields of the Recipe that the given files replace."""
    for name, value in lost.items():
        given = json.dumps(value, ensure_ascii=False)
        print(
            f"note: {name} in the Recipe ({given}) is not used, because you passed other files.",
            file=sys.stderr,
        )


def _listed(text: str | None) -> list[str] | None:
    return None if text is None else text.split(",")


def _in_the_recipe(problem: Problem) -> str:
    """Return the fields of the Recipe that have the effect of the page's buttons."""
    fields = [json.dumps(dict(fix), ensure_ascii=False)[1:-1] for fix, _ in problem.fixes]
    return f" In the Recipe: {'; or '.join(fields)}." if fields else ""


def _csv(frame: pd.DataFrame) -> bytes:
    """Write CSV without a byte-order mark, for programs."""
    return safe_csv(frame).removeprefix(BOM_UTF8)


def _print(table: pd.DataFrame) -> None:
    """Print all columns on one line; ``print(table)`` would wrap at the width of the terminal."""
    with pd.option_context("display.precision", 4):
        print(table.to_string(max_rows=MOST_ROWS, min_rows=10, show_dimensions=len(table) > MOST_ROWS))


def _evaluate(args: argparse.Namespace) -> int:
    where = _data_source(args)
    _check_folders(args.html, args.pdf, args.csv)
    given = {f"report.{name}": text for name in REPORT if (text := getattr(args, name)) is not None}
    if args.learn_rows is not None:
        given["data_params.learn_rows"] = args.learn_rows
    recipe = Recipe.from_json(_read(args.recipe)).replace(**given)
    if not recipe.calibrators:
        raise InputError(
            "calibrators: the Recipe's list is empty, so there is nothing to evaluate. Add a calibrator, such "
            'as "none" for the uncalibrated model.'
        )
    keys = [checks.one_of(key, METRICS, "--metrics") for key in _listed(args.metrics) or ()]
    recipe, dataset, found = _on_file(recipe, where, args.judge_on, args.onnx)
    _print_cost(recipe, dataset)
    evaluation = _evaluated(recipe, dataset)
    table = evaluation.measured(evaluation.applicable(keys)) if keys else evaluation.metrics
    if evaluation.joint is not None:
        together = evaluation.joint.metrics
        chosen = together[[key for key in together if key in keys or not keys]]
        table = pd.concat([chosen.add_suffix(ALL), table], axis=1)
    print(evaluation.verdict.sentence, file=sys.stderr, flush=True)  # standard output has only the table
    print(print_metrics(table, args.format, clipped(evaluation, table)))
    for note in evaluation.notes:
        print(f"note: {_how_to_change(note, recipe, dataset)}", file=sys.stderr)
    recipe = evaluation.recipe
    files = {str(file_key(recipe.data)): args.data.name if args.data else f"{args.connection}/{args.query}"}
    for named, path in ((recipe.judge_on, args.judge_on), (recipe.onnx, args.onnx)):
        if named and path:
            files[named.removeprefix("upload:")] = path.name
    if args.html or args.pdf:
        report = report_html(evaluation, files=files, problems={dataset.name: found})
        if args.html:
            _write(args.html, report)
        if args.pdf:
            _write(args.pdf, print_pdf(report.decode()))
    if args.csv:
        _write(args.csv, _csv(evaluation.frame()))
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


def _evaluated(recipe: Recipe, dataset: Dataset) -> Evaluation:
    """Evaluate, or explain why a model, which may come from a plug-in, fails."""
    try:
        return evaluate(recipe, dataset)
    except ValueError:  # InputError, or an error of the model itself
        raise
    except Exception as error:
        raise InputError(
            f"The model fails on these data ({type(error).__name__}: {error}). Try other settings or another model."
        ) from error


def _print_cost(recipe: Recipe, dataset: Dataset) -> None:
    """Estimate and print, from smaller fits, how long a fit of many rows or one refit per row will take."""
    if fits_every_row(recipe):
        once = _evaluated(recipe.replace(placement="split", **with_calibrators(recipe, ("none",))), dataset)
        calls, seconds = expected_cost(once, recipe.placement)
        price = f"{counted(calls, 'model fit')}, about {duration(seconds)}"
        print(f"note: placement={recipe.placement!r} needs {price}.", file=sys.stderr, flush=True)
    elif dataset.n >= MANY_ROWS and recipe.content == "features":
        seconds = expected_seconds(recipe, dataset, short=SECONDS_SAID / 2)
        if seconds > SECONDS_SAID:
            print(f"note: {announcement(dataset.n, seconds)}", file=sys.stderr, flush=True)


def _export(args: argparse.Namespace) -> int:
    _check_folders(args.output)
    written = write_program(read_calibrator(_read(args.calibrator)), args.language, args.score)
    if args.output:
        _write(args.output, written)
    elif args.language == "onnx" and sys.stdout.isatty():
        raise InputError(
            "ONNX is a binary format, so it is not printed. Write it to a file with --output FILE or with > FILE."
        )
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(written)
        sys.stdout.buffer.flush()
    return 0


def _simulate(args: argparse.Namespace) -> int:
    if args.experiment is None and (args.set or args.csv or args.html):
        raise InputError("EXPERIMENT is missing. Name an experiment; simulate --list prints all of them.")
    if args.list or args.experiment is None:
        print(_experiments() if args.experiment is None else _settings(_experiment(args.experiment)))
        return 0
    _check_folders(args.html, args.csv)
    allowed = {parameter.name: parameter for parameter in _experiment(args.experiment).parameters}
    settings = _parsed_settings(args.set, allowed)
    run = run_experiment(
        args.experiment, settings, args.seed, Watch(_progress if sys.stderr.isatty() else None)
    )
    for i, chart in enumerate(run.charts):
        print(f"{chart.record.title}\n")
        _print(chart.record.to_frame())
        print()
        if args.csv:
            path = args.csv if i == 0 else args.csv.with_stem(f"{args.csv.stem}_{chart.key}")
            _write(path, _csv(chart.record.to_frame()))
    if args.html:
        _write(args.html, experiment_html(run))
    return 0


def _parsed_settings(texts: Sequence[str], allowed: Mapping[str, Parameter]) -> dict[str, Any]:
    """Parse the values of --set; the check of the settings later refuses unknown names and values."""
    settings: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--set needs NAME=VALUE, but is {text!r}.")
        if name in settings:
            raise InputError(f"--set: {name!r} appears twice. Set it once.")
        settings[name] = read(value, allowed[name]) if name in allowed else value
    return settings


def _playground(args: argparse.Namespace) -> int:
    _check_folders(args.html)
    _write(args.html, playground_html(_parsed_settings(args.set, PLAYGROUND_SETTINGS)))
    return 0


def _study(args: argparse.Namespace) -> int:
    _check_folders(args.csv, args.store, args.report)
    for declared, value in ((REPEATS, args.repeats), (FOLDS, args.folds)):
        if value is not None:
            checks.setting(value, declared, f"--{declared.name}")
    protocol = load_protocol(args.protocol).measuring(_listed(args.metrics))
    sets = load_sets(args.data or protocol.data.sets, protocol.data)
    if protocol.default and not args.setups:
        print(
            f"note: {len(protocol.default)} of the {len(protocol.setups)} setups of {protocol.key} will run. To choose "
            "others, use --setups; --setups all runs every setup.",
            file=sys.stderr,
        )
    with Store(args.store, write=True) as store:
        try:
            done = run_study(
                protocol,
                sets,
                store,
                setups=args.setups,
                repeats=args.repeats,
                folds=args.folds,
                jobs=args.jobs,
                backend=args.backend,
                scheduler=args.scheduler,
                retry_failed=args.retry_failed,
                watch=Watch(_Lines()),
            )
        except KeyboardInterrupt:
            print(
                "\nstopped: finished runs are saved. To continue, run the same command again.",
                file=sys.stderr,
            )
            return 130
        except sqlite3.Error as error:
            raise refusal(args.store, error) from None
        if args.csv:
            _write(args.csv, _csv(store.rows(of=done.keys)))
        if args.report:
            # Hundreds of setups take a while.
            print(f"writing {args.report}", file=sys.stderr, flush=True)
            _write(args.report, _report(store, done, protocol.metrics))
        _report_results(store, done, bool(args.csv), bool(args.report))
    return 0 if done.complete else 1


def _report(store: Store, done: Summary, metrics: Sequence[str]) -> bytes:
    rows = store.rows(of=done.keys)
    predictions: Any = StoredPredictions(
        store, rows[["data", "setup", "repeat"]].itertuples(index=False, name=None)
    )
    measured = [key for key in metrics if key in rows and rows[key].notna().any()]
    return study_archive(
        (summarise(rows, key, predictions=predictions) for key in measured), likely_paper(rows)
    )


def _report_results(store: Store, done: Summary, csv: bool, report: bool) -> None:
    for note, rows in store.notes(of=done.keys).items():
        print(f"note: in {rows:,} results: {note}", file=sys.stderr)
    failed = store.failures(of=done.keys)
    kinds = distinct_failures(failed)
    for first in kinds.head(MOST_FAILURES).to_dict("records"):
        where = "{data}, {setup}, repeat {repeat}, fold {fold}".format(**first)
        more = f" and {counted(first['results'] - 1, 'more result')}" if first["results"] > 1 else ""
        print(f"error: {where}{more}: {first['error']}", file=sys.stderr)
    if len(failed):
        hidden = len(kinds) - MOST_FAILURES
        more = f", {counted(hidden, 'kind')} of failure not shown" if hidden > 0 else ""
        print(
            f"error: {counted(len(failed), 'result')} failed{more}; their tracebacks are in {store.path}. "
            "Fix the cause, then run the same command with --retry-failed.",
            file=sys.stderr,
        )
    else:
        offers = [
            *([] if csv else ["--csv to save the results as CSV"]),
            *([] if report else ["--report to save all tables and diagrams"]),
        ]
        print(
            f"saved: {counted(len(done.keys), 'result')} in {store.path}. Open the file on the Results page"
            + (f", or add {', '.join(offers)}." if offers else "."),
            file=sys.stderr,
        )


class _Lines:
    """Show progress on standard error: one updated line on a terminal, else a new line every few seconds."""

    def __init__(self) -> None:
        self.last = -math.inf

    def __call__(self, share: float, doing: str) -> None:
        if sys.stderr.isatty():
            print(
                f"\r{share:4.0%} {doing:70.70}", end="\n" if share == 1 else "", file=sys.stderr, flush=True
            )
        elif share == 1 or time.monotonic() - self.last >= SECONDS_A_LINE:
            self.last = time.monotonic()
            print(f"{share:4.0%} {doing}", file=sys.stderr, flush=True)


def _experiment(key: str) -> Experiment:
    return EXPERIMENTS[checks.one_of(key, EXPERIMENTS, "EXPERIMENT")]


def _experiments() -> str:
    width = max(map(len, EXPERIMENTS))
    return "\n".join(f"{key:{width}}  {experiment.name}" for key, experiment in EXPERIMENTS.items())


def _settings(experiment: Experiment) -> str:
    """List the settings, one per line, with default and allowed values."""
    lines = [f"{experiment.key}: {experiment.name}"]
    for p in experiment.parameters:
        allowed = "one of " + ", ".join(map(str, p.choices)) if p.choices else ""
        if p.low is not None:
            allowed = f"from {p.low:g} to {p.high:g}"
        lines.append(f"  {p.name}={p.default}" + (f"  ({allowed})" if allowed else "") + f"\n      {p.help}")
    return "\n".join(lines)


def _progress(share: float, doing: str) -> None:
    print(f"\r{share:4.0%} {doing:40.40}", end="\n" if share == 1 else "", file=sys.stderr, flush=True)


def main(argv: list[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    for problem in plugin_problems():
        print(f"warning: {problem}", file=sys.stderr)
    try:
        status = args.run(args)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader has stopped, as `| head` does; discard the rest
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except ReadingQuestion as question:
        print(_asked(question), file=sys.stderr)
        return 2
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _asked(question: ReadingQuestion) -> str:
    """Return a question with its answers, each as fields of a Recipe and with what follows from it."""
    lines = [f"question: {question}", "Add one of these to the Recipe:"]
    for answer in question.answers:
        fields = json.dumps(dict(answer.fix), ensure_ascii=False)[1:-1]
        lines += [f"  {fields}", f"      {answer.label}. {answer.consequence}".rstrip()]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())

"""``python -m calib study``: a paper's experiments, or your own; it can be stopped and continued."""

from __future__ import annotations

import argparse
import math
import sqlite3
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from calib.commands.options import add_file, check_folders, csv_bytes, names_in, write_file
from calib.export import study_archive
from calib.kernel import checks
from calib.kernel.overview import COMMANDS
from calib.kernel.progress import Watch
from calib.kernel.wording import counted
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
from calib.study.protocol import FOLDS_PARAMETER, REPEATS
from calib.study.runner import BACKENDS
from calib.study.store import StoredPredictions, refusal

MOST_FAILURES = 10  # failures of a study that are printed one by one
SECONDS_A_LINE = 5  # seconds between lines of a study's progress, if a line cannot be updated


def add_study(commands: Any) -> None:
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
    for setting in (REPEATS, FOLDS_PARAMETER):
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
        help="results file (SQLite); give the same file again to continue a study",
    )
    add_file(command, "--csv", "write the results as CSV, with one row per setup and fold")
    add_file(command, "--report", "write tables, tests and diagrams for every metric into a ZIP archive")
    command.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="number of parallel runs (default: 1)"
    )
    command.add_argument(
        "--backend",
        choices=BACKENDS,
        default="loky",
        help="where to run: loky on this machine, dask on a Dask cluster",
    )
    command.add_argument(
        "--scheduler", metavar="ADDRESS", help="address of the Dask scheduler, such as tcp://HOST:8786"
    )
    command.set_defaults(run=_study)


def _study(args: argparse.Namespace) -> int:
    check_folders(args.csv, args.store, args.report)
    for declared, value in ((REPEATS, args.repeats), (FOLDS_PARAMETER, args.folds)):
        if value is not None:
            checks.setting(value, declared, f"--{declared.name}")
    protocol = load_protocol(args.protocol).measuring(names_in(args.metrics))
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
            write_file(args.csv, csv_bytes(store.rows(of=done.keys)))
        if args.report:
            # Hundreds of setups take a while.
            print(f"writing {args.report}", file=sys.stderr, flush=True)
            write_file(args.report, _report(store, done, protocol.metrics))
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

"""``python -m calib survival``: are risks of an event by a horizon right, if some rows are censored before it?"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pandas as pd

from calib.analysis.centres import Centres, centres
from calib.analysis.survival.check import SurvivalEvaluation
from calib.analysis.survival.table import SurvivalColumns, column
from calib.commands.options import (
    add_file,
    check_folders,
    csv_bytes,
    names_in,
    print_table,
    read_file,
    write_file,
)
from calib.data import read_table
from calib.export.survival import formatted_survival, survival_html
from calib.kernel.checks import InputError
from calib.kernel.overview import COMMANDS


def add_survival(commands: Any) -> None:
    command = commands.add_parser("survival", help=COMMANDS["survival"])
    command.add_argument("data", type=Path, metavar="DATA", help="table with one row per person")
    command.add_argument("--time", required=True, metavar="COLUMN", help="time of the event or the censoring")
    command.add_argument(
        "--event", required=True, metavar="COLUMN", help="code of what happened at that time"
    )
    command.add_argument(
        "--risk", required=True, metavar="COLUMN,COLUMN", help="predicted risks of the event by the horizon"
    )
    command.add_argument(
        "--horizon", required=True, type=float, metavar="T", help="time up to which events count"
    )
    command.add_argument("--cause", default="1", metavar="CODE", help="code of the event (default: 1)")
    command.add_argument(
        "--censored",
        default="0",
        metavar="CODE",
        help='code of censoring (default: 0), or "" if nobody was censored. All other codes are competing events',
    )
    command.add_argument(
        "--survival", action="store_true", help="the risk columns contain survival probabilities: use 1 − p"
    )
    command.add_argument("--weight", metavar="COLUMN", help="weight of each row")
    command.add_argument("--cluster", metavar="COLUMN", help="cluster of each row")
    command.add_argument(
        "--censoring-groups",
        metavar="COLUMN",
        help="estimate the censoring separately for each value of this column",
    )
    command.add_argument("--bins", type=int, default=10, metavar="N", help="bins in --csv (default: 10)")
    add_file(command, "--csv", "write predicted and observed risk per bin")
    command.add_argument("--centre", metavar="COLUMN", help="centre of each row, compared in --html")
    add_file(command, "--html", "write the validation report")
    command.set_defaults(run=_survival)


def _survival(args: argparse.Namespace) -> int:
    check_folders(args.csv, args.html)
    frame = read_table(read_file(args.data), args.data.name)
    risks = tuple(names_in(args.risk) or ())
    means = "survival" if args.survival else "risk"
    columns = SurvivalColumns(
        args.time, args.event, risks, (), args.cause, args.censored or None, means, args.horizon
    )
    roles = {
        "sample_weight": args.weight,
        "cluster": args.cluster,
        "censoring_groups": args.censoring_groups,
    }
    try:
        found = columns.check(frame, risks, **roles)
    except InputError as error:  # it names arguments of Python
        told = re.sub(r"\b(cause|censored)=", r"--\1", str(error)).replace("(None if", '("" if')
        raise InputError(told) from error
    print(found.verdict.sentence, file=sys.stderr, flush=True)  # standard output has only the table
    if args.csv:
        bins = [found.bins(args.bins, name).assign(model=name) for name in risks]
        write_file(args.csv, csv_bytes(pd.concat(bins)))
    if args.html:
        typed = f"python -m calib {shlex.join(sys.argv[1:])}"
        write_file(args.html, survival_html(found, _centres(frame, found, args.centre), source=typed))
    print_table(formatted_survival(found))  # last: its reader may stop early
    return 0


def _centres(frame: pd.DataFrame, found: SurvivalEvaluation, name: str | None) -> Centres | None:
    if name is None:
        return None
    return centres(found.evaluation, column(frame, name).astype(str).to_numpy()[found.known["row"]])

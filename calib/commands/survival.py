"""``python -m calib survival``: are risks of an event by a horizon right, if some rows are censored before it?"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import pandas as pd

from calib.analysis.survival.check import SURVIVAL_METRICS, SurvivalEvaluation
from calib.analysis.survival.table import check_survival_table
from calib.commands.options import add_file, check_folders, names_in, read_file, write_file
from calib.commands.output import csv_bytes, print_table
from calib.data import read_table
from calib.kernel.overview import COMMANDS
from calib.kernel.wording import with_interval
from calib.metrics import METRICS


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
        help="code of censoring (default: 0). All other codes are competing events",
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
    command.set_defaults(run=_survival)


def _survival(args: argparse.Namespace) -> int:
    check_folders(args.csv)
    read_file(args.data)  # refuses a missing file
    frame = read_table(args.data, args.data.name)
    risks = names_in(args.risk) or ()
    found = check_survival_table(
        frame,
        args.time,
        args.event,
        dict(zip(risks, risks, strict=True)),
        args.horizon,
        cause=args.cause,
        censored=args.censored,
        survival=args.survival,
        sample_weight=args.weight,
        cluster=args.cluster,
        censoring_groups=args.censoring_groups,
    )
    print(found.verdict.sentence, file=sys.stderr, flush=True)  # standard output has only the table
    print_table(_printed(found))
    if args.csv:
        bins = [found.bins(args.bins, name).assign(model=name) for name in risks]
        write_file(args.csv, csv_bytes(pd.concat(bins)))
    return 0


def _printed(found: SurvivalEvaluation) -> pd.DataFrame:
    """Return one row per metric and one column per risk, with intervals where they are known."""
    columns = {
        name: [with_interval(*found.table(name).loc[metric]) for metric in SURVIVAL_METRICS]
        for name in found.evaluation.predictions
    }
    return pd.DataFrame(columns, index=[METRICS[metric].label for metric in SURVIVAL_METRICS])

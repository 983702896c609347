"""``python -m calib simulate``: an experiment of the Learn pages, with the same numbers."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from calib.commands.options import (
    add_file,
    add_set,
    check_folders,
    csv_bytes,
    parsed_settings,
    print_progress,
    print_table,
    write_file,
)
from calib.experiments import EXPERIMENTS, Experiment
from calib.export import experiment_html, run_experiment
from calib.kernel import checks
from calib.kernel.checks import InputError
from calib.kernel.overview import COMMANDS
from calib.kernel.progress import Watch


def add_simulate(commands: Any) -> None:
    command = commands.add_parser("simulate", help=COMMANDS["simulate"])
    command.add_argument(
        "experiment", nargs="?", metavar="EXPERIMENT", help="key of an experiment; --list prints all"
    )
    command.add_argument(
        "--list", action="store_true", help="list all experiments, or the settings of EXPERIMENT"
    )
    add_set(command)
    command.add_argument("--seed", type=int, default=0, metavar="N", help="random seed (default: 0)")
    add_file(command, "--html", "write the figures as one self-contained HTML page")
    add_file(
        command,
        "--csv",
        "write the data of the first figure as CSV, and the data of each other figure to a file named after "
        "its key",
    )
    command.set_defaults(run=_simulate)


def _simulate(args: argparse.Namespace) -> int:
    if args.experiment is None and (args.set or args.csv or args.html):
        raise InputError("EXPERIMENT is missing. Name an experiment; simulate --list prints all of them.")
    if args.list or args.experiment is None:
        print(_experiments() if args.experiment is None else _settings(_experiment(args.experiment)))
        return 0
    check_folders(args.html, args.csv)
    allowed = {parameter.name: parameter for parameter in _experiment(args.experiment).parameters}
    settings = parsed_settings(args.set, allowed)
    run = run_experiment(
        args.experiment, settings, args.seed, Watch(print_progress if sys.stderr.isatty() else None)
    )
    for i, chart in enumerate(run.charts):
        print(f"{chart.record.title}\n")
        print_table(chart.record.to_frame())
        print()
        if args.csv:
            path = args.csv if i == 0 else args.csv.with_stem(f"{args.csv.stem}_{chart.key}")
            write_file(path, csv_bytes(chart.record.to_frame()))
    if args.html:
        write_file(args.html, experiment_html(run))
    return 0


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

"""``python -m calib audit``: in which segments are the probabilities wrong? Ranked, adjusted for the search."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from calib.analysis.audit.of_evaluation import Audited, audit_evaluation, audit_sentences
from calib.analysis.grouping_losses import gain_sentence
from calib.commands.evaluate import evaluated, print_cost
from calib.commands.on_file import on_file
from calib.commands.options import (
    add_file,
    add_setting,
    check_folders,
    csv_bytes,
    print_progress,
    print_table,
    read_file,
    write_file,
)
from calib.kernel.checks import InputError
from calib.kernel.declared import SETTINGS
from calib.kernel.overview import COMMANDS
from calib.kernel.progress import Watch
from calib.recipe import Recipe


def add_audit(commands: Any) -> None:
    command = commands.add_parser("audit", help=COMMANDS["audit"])
    command.add_argument("recipe", type=Path, metavar="RECIPE.json")
    command.add_argument("data", type=Path, metavar="DATA", help="data file, or a table of predictions")
    command.add_argument(
        "--calibrator",
        metavar="KEY",
        help="calibrator whose predictions are examined (default: the first in the Recipe)",
    )
    for name in ("columns", "depth", "resamples", "min_rows", "min_events", "unweighted"):
        add_setting(command, SETTINGS[f"groups.{name}"])
    add_file(command, "--csv", "write all segments as CSV")
    command.set_defaults(run=_audit)


def _audit(args: argparse.Namespace) -> int:
    """Run the audit; the exit status is 0 whatever it finds."""
    check_folders(args.csv)
    recipe, dataset, _ = on_file(Recipe.from_json(read_file(args.recipe)), args.data, whole=True)
    print_cost(recipe, dataset)
    evaluation = evaluated(recipe, dataset)
    key = args.calibrator or next(iter(evaluation.predictions), None)
    if key is None:
        none = 'The Recipe has no calibrators. Add at least one to "calibrators".'
        raise InputError(next(iter(evaluation.refused.values()), none))
    watch = Watch(print_progress if sys.stderr.isatty() else None)
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
    told = Audited(evaluation, key, {}, found).fit_sentence
    lines = [*audit_sentences(found), told, gain_sentence(evaluation, key, args.columns)]
    print("\n".join(filter(None, lines)), file=sys.stderr, flush=True)  # standard output has only the table
    print_table(found.segments)
    if args.csv:
        write_file(args.csv, csv_bytes(found.segments))
    return 0

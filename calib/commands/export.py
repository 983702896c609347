"""``python -m calib export``: a saved calibrator in the language of the system that will use it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from calib.commands.options import add_file, check_folders, read_file, write_file
from calib.export import LANGUAGES, read_calibrator, write_program
from calib.kernel.checks import InputError
from calib.kernel.overview import COMMANDS


def add_export(commands: Any) -> None:
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
    add_file(command, "--output", "write to a file instead of standard output")
    command.set_defaults(run=_export)


def _export(args: argparse.Namespace) -> int:
    check_folders(args.output)
    written = write_program(read_calibrator(read_file(args.calibrator)), args.language, args.score)
    if args.output:
        write_file(args.output, written)
    elif args.language == "onnx" and sys.stdout.isatty():
        raise InputError(
            "ONNX is a binary format, so it is not printed. Write it to a file with --output FILE or with > FILE."
        )
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(written)
        sys.stdout.buffer.flush()
    return 0

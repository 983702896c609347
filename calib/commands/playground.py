"""``python -m calib playground``: the playground as one HTML file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from calib.commands.options import add_set, check_folders, parsed_settings, write_file
from calib.export.playground import PLAYGROUND_SETTINGS, playground_html
from calib.kernel.overview import COMMANDS


def add_playground(commands: Any) -> None:
    command = commands.add_parser("playground", help=COMMANDS["playground"])
    command.add_argument("--html", type=Path, metavar="FILE", required=True, help="file to write")
    add_set(command)
    command.set_defaults(run=_playground)


def _playground(args: argparse.Namespace) -> int:
    check_folders(args.html)
    write_file(args.html, playground_html(parsed_settings(args.set, PLAYGROUND_SETTINGS)))
    return 0

"""``python -m calib explore``: the dashboard on a data file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from calib.dashboard import show_file
from calib.kernel.overview import COMMANDS


def add_explore(commands: Any) -> None:
    command = commands.add_parser("explore", help=COMMANDS["explore"])
    command.add_argument("data", type=Path, metavar="DATA", help="data file, as for evaluate")
    command.set_defaults(run=lambda args: show_file(args.data))

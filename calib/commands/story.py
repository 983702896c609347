"""``python -m calib story``: the story "How sure are you?" as one HTML file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from calib.commands.options import check_folders, write_file
from calib.export.story import story_html
from calib.kernel.overview import COMMANDS


def add_story(commands: Any) -> None:
    command = commands.add_parser("story", help=COMMANDS["story"])
    command.add_argument("--html", type=Path, metavar="FILE", required=True, help="file to write")
    command.set_defaults(run=_story)


def _story(args: argparse.Namespace) -> int:
    check_folders(args.html)
    write_file(args.html, story_html())
    return 0

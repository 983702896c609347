"""Overview of the command line: its commands, without the seconds that importing the whole program takes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

COMMANDS = {
    "evaluate": "evaluate a Recipe on a data file and print the metrics",
    "simulate": "run an experiment of the Learn pages and print its numbers",
    "playground": "write the playground as one HTML file that works without a server or a network",
    "story": "write the story of the Learn pages as one HTML file that works without a server or a network",
    "study": "run the protocol of a paper, or your own, on data sets; you can stop and continue the study",
    "export": "write a saved calibrator as SQL, ONNX, Python or JavaScript",
    "audit": "find segments in which the probabilities are wrong",
    "survival": "check predicted risks of an event by a horizon, if some rows are censored earlier",
    "watch": "check, as often as you like, whether predictions are still calibrated",
    "explore": "open the dashboard on a data file, until you press Ctrl+C",
}


def empty_parser() -> tuple[argparse.ArgumentParser, Any]:
    """Return the parser and its commands, of which there are none yet."""
    parser = argparse.ArgumentParser(
        prog="python -m calib",
        description="Evaluate, explore, simulate, study, export, audit and watch calibration from the command line.",
    )
    return parser, parser.add_subparsers(dest="command", required=True)


def show_overview(arguments: Sequence[str]) -> None:
    """Print the overview, or refuse the arguments, and exit; do nothing if they begin with a command."""
    if arguments and arguments[0] in COMMANDS:
        return
    parser, commands = empty_parser()
    for name, help in COMMANDS.items():
        commands.add_parser(name, help=help)
    parser.parse_args(arguments)


def main() -> int:
    """Run the command line as an installed program."""
    show_overview(sys.argv[1:])
    return import_module("calib.__main__").main()

"""Command line of the program.

- ``python -m calib evaluate RECIPE.json DATA.csv``: the metric table, one metric per line and one calibrator per
  column; exit status 0 only when every calibrator of the Recipe has a result.
- ``python -m calib simulate EXPERIMENT``: an experiment of the Learn pages, with the same numbers.
- ``python -m calib study PROTOCOL --store results.sqlite``: a paper's experiments, or your own, resumable; exit status
  0 only when every cell has a result.
- ``python -m calib export CALIBRATOR.json --sql | --onnx | --python | --js``: a calibrator that was saved as JSON, in
  the language of the system that will use it.
- ``python -m calib audit RECIPE.json DATA``: in which segments are the probabilities wrong? Ranked, adjusted for the
  search.
- ``python -m calib survival DATA --time COLUMN --event COLUMN --risk COLUMN --horizon T``: are risks of an event by a
  horizon right, if some rows are censored before it?
- ``python -m calib watch RECIPE.json DATA [--state FILE]``: is a model still calibrated? Exit status 3 on a new
  alarm, 4 while it stands.

``--help`` lists the options of each command. Errors are messages on standard error.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from calib.kernel.overview import COMMANDS, empty_parser, show_overview

if __name__ == "__main__":  # before the imports, which take a second
    show_overview(sys.argv[1:])

from calib.data.errors import ReadingQuestion
from calib.recipe import plugin_problems

if TYPE_CHECKING:
    from argparse import ArgumentParser


def _parser(only: str | None = None) -> ArgumentParser:
    """Return the parser of all commands, or of one; each command's file is imported for its options."""
    parser, commands = empty_parser()
    for name in COMMANDS:
        if only in (None, name):
            getattr(import_module(f"calib.commands.{name}"), f"add_{name}")(commands)
    return parser


def main(argv: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if argv is None else argv
    show_overview(arguments)
    args = _parser(arguments[0]).parse_args(arguments)
    for problem in plugin_problems():
        print(f"warning: {problem}", file=sys.stderr)
    try:
        status = args.run(args)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader has stopped, as `| head` does; discard the rest
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except ReadingQuestion as question:
        print(_asked(question), file=sys.stderr)
        return 2
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _asked(question: ReadingQuestion) -> str:
    """Return a question with its answers, each as fields of a Recipe and with what follows from it."""
    lines = [f"question: {question}", "Add one of these to the Recipe:"]
    for answer in question.answers:
        fields = json.dumps(dict(answer.fix), ensure_ascii=False)[1:-1]
        lines += [f"  {fields}", f"      {answer.label}. {answer.consequence}".rstrip()]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())

"""``python -m calib watch``: is a deployed model still calibrated? Made for jobs that nobody looks at.

A table that was read before is recognised, so a retry changes nothing and exits as before. The exit status tells a new
alarm from one that stands, and after an alarm the command writes the correction.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from calib.analysis.watch.history import NEW_ALARM, NO_ALARM, STILL, History
from calib.analysis.watch.state_file import load, locked, save
from calib.analysis.watch.table import (
    WatchedRows,
    WatchFindings,
    as_record,
    correction_sentences,
    find,
    watch_sentences,
    watched_rows,
    watched_rows_of_classes,
)
from calib.commands.options import add_file, add_setting, check_folders, read_file, write_file
from calib.data import read_table
from calib.export import LANGUAGES, read_calibrator, write_calibrator, write_program
from calib.kernel import checks
from calib.kernel.checks import InputError
from calib.kernel.declared import SETTINGS
from calib.recipe import Recipe
from calib.sources import reading

EXIT = {NO_ALARM: 0, NEW_ALARM: 3, STILL: 4}
SUFFIXES = {f".{language.suffix}": key for key, language in LANGUAGES.items()}
KEPT_OPTIONS = ("alpha", "horizon", "key")  # options that the next command for the same state needs too


def add_watch(commands: Any) -> None:
    """Add the command and its options."""
    command = commands.add_parser(
        "watch", help="check, as often as you like, whether predictions are still calibrated"
    )
    command.add_argument("recipe", type=Path, metavar="RECIPE.json")
    command.add_argument(
        "data", type=Path, metavar="DATA", help="table of predictions, with labels where they are known"
    )
    add_file(
        command,
        "--state",
        "continue from this file and update it; rows that were already counted are not counted again",
    )
    command.add_argument(
        "--key",
        metavar="NAME",
        help="column with a unique value per row; it identifies rows, so that labels can be added later",
    )
    for name in ("alpha", "horizon"):
        add_setting(command, SETTINGS[f"watch.{name}"])
    add_file(
        command,
        "--correction",
        "after an alarm, write the recalibration, fitted to the rows since the change, to this file: .json, "
        f"{', '.join(SUFFIXES)}",
    )
    command.add_argument(
        "--restart",
        nargs="?",
        const=True,
        metavar="TIME",
        help="after a recalibration, count only rows from this time on (default: from the first row of DATA on)",
    )
    command.add_argument(
        "--skip-unlabelled",
        action="store_true",
        help="exclude all rows without a label; use this only if their labels will never arrive",
    )
    command.add_argument("--json", action="store_true", help="print the result as JSON")
    command.set_defaults(run=_watch)


def _watch(args: argparse.Namespace) -> int:
    """Check for drift; the exit status is that of ``EXIT``."""
    _check(args)
    recipe = Recipe.from_json(read_file(args.recipe))
    rows = _rows(recipe, args)
    print(f"read as: {rows.read_as}", file=sys.stderr)
    with locked(args.state) if args.state else nullcontext():
        history = _history(args)
        read = history.read(rows.y, rows.p, rows.when, rows.key, args.restart, args.skip_unlabelled)
        if args.state and history.changed:
            save(args.state, history)
    found = find(history, read)
    classes = (f"not {recipe.positive}", recipe.positive) if recipe.positive else ("0", "1")
    if args.correction and found.correction is not None:
        write_file(args.correction, _program(found, args.correction.suffix, classes))
    elif args.correction:
        why = found.refused or "No change was found, so there is no correction to fit."
        print(f"note: {args.correction} was not written. {why}", file=sys.stderr)
    print(
        json.dumps(_record(found, args, classes), ensure_ascii=False)
        if args.json
        else "\n".join(_lines(found, args))
    )
    return EXIT[history.status]


def _check(args: argparse.Namespace) -> None:
    """Refuse options that cannot be met, before anything is read."""
    check_folders(args.state, args.correction)
    if args.correction:
        checks.one_of(args.correction.suffix, (".json", *SUFFIXES), "--correction: the ending of the file")
    if args.restart and not args.state:
        raise InputError("--restart needs --state, the file in which monitoring restarts.")


def _rows(recipe: Recipe, args: argparse.Namespace) -> WatchedRows:
    frame = read_table(read_file(args.data), args.data.name, **reading(recipe))
    target, params = recipe.target or "target", dict(recipe.data_params)
    score = recipe.score or next(iter(params.get("scores") or ()), None)
    rows = None
    if recipe.positive is None and str(score) not in map(str, frame.columns):
        rows = watched_rows_of_classes(
            frame, target, recipe.view_class, recipe.score, recipe.time, params.get("scores_as"), args.key
        )
    if rows is None and score is None:
        raise InputError(
            "score: the Recipe does not name the column of probabilities. Set score in the Recipe. With "
            "three or more classes, each class needs a column of probabilities."
        )
    return rows or watched_rows(frame, target, recipe.positive, str(score), recipe.time, args.key)


def _history(args: argparse.Namespace) -> History:
    """Return the history of the state file, or an empty one."""
    history = load(args.state) if args.state else None
    if history is None:
        return History(args.alpha, args.horizon, args.key)
    if any(getattr(history, name) != getattr(args, name) for name in KEPT_OPTIONS):
        raise InputError(
            f"--state: {args.state} was started with{_options(history)}. Use these values again, or start "
            "a new file."
        )
    return history


def _options(given: Any) -> str:
    """Write the options of a state as a command has them."""
    key = "" if given.key is None else f" --key {shlex.quote(given.key)}"
    return f" --alpha {given.alpha:g} --horizon {given.horizon}{key}"


def _lines(found: WatchFindings, args: argparse.Namespace) -> list[str]:
    lines = watch_sentences(found)
    if found.correction is None:
        return lines
    if args.correction:
        return [*lines, f"The correction was written to {args.correction}."]
    return [
        *lines,
        f"To write the correction as JSON (or .sql, .py): {_command(args)} --correction correction.json",
    ]


def _command(args: argparse.Namespace) -> str:
    """Return this command, to run again; what was read is then not read again."""
    state = ["--state", str(args.state)] if args.state else []
    return shlex.join(
        ["python", "-m", "calib", "watch", str(args.recipe), str(args.data), *state]
    ) + _options(args)


def _program(found: WatchFindings, suffix: str, classes: tuple[str, str]) -> bytes:
    """Write the correction in the language of a file name's ending, with its interval as a note."""
    assert found.correction is not None
    correction = found.correction
    p = found.history.since(found.history.watch().found.since)["p"]  # type: ignore[union-attr]
    text = write_calibrator(
        correction.calibrator,
        classes=classes,
        calibration={
            "rows": correction.rows,
            "positives": round(correction.rows * correction.observed),
            "lowest": float(p.min()),
            "highest": float(p.max()),
        },
        notes=correction_sentences(correction),
    )
    if suffix == ".json":
        return text.encode()
    written = write_program(read_calibrator(text), SUFFIXES[suffix])
    if suffix != ".sql":
        return written
    return "".join(f"-- {line}\n" for line in correction_sentences(correction)).encode() + written


def _record(found: WatchFindings, args: argparse.Namespace, classes: tuple[str, str]) -> dict[str, Any]:
    """Return the record of the finding, with the correction in each language and the exit status."""
    record = {"exit_status": EXIT[found.history.status], **as_record(found)}
    if found.correction is not None:
        texts = {
            name: _program(found, f".{suffix}", classes).decode()
            for name, suffix in (("json", "json"), ("sql", "sql"), ("python", "py"))
        }
        record["correction"] |= {
            "calibrator": json.loads(texts["json"]),
            "sql": texts["sql"],
            "python": texts["python"],
            "command": f"{_command(args)} --correction correction.json",
        }
    return record

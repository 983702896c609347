"""Options that several commands have, and files that commands read and write."""

from __future__ import annotations

import sys
from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from calib.export import safe_csv
from calib.kernel.checks import InputError
from calib.kernel.declared import list_from_text, read
from calib.kernel.records import Parameter


def add_file(command: Any, name: str, help: str) -> None:
    command.add_argument(name, type=Path, metavar="FILE", help=help)


def add_setting(command: Any, setting: Parameter) -> None:
    """Add an option for a declared setting of a page, with the page's values, default and help."""
    option: dict[str, Any] = {"default": setting.default, "help": setting.help}
    if setting.kind == "boolean":
        option["action"] = "store_true"
    elif setting.kind == "names":
        option |= {"type": partial(list_from_text, setting.name), "metavar": "NAME,NAME"}
    elif setting.kind == "text":
        option["metavar"] = "TEXT"
    else:
        values = f"from {setting.low:,.10g} to {setting.high:,.10g} (default: {setting.default:,g})"
        option["help"] = f"{setting.label}, {values}. {setting.help}"
        option |= {"type": partial(read, parameter=setting), "metavar": "N"}
    command.add_argument(f"--{setting.name.replace('_', '-')}", **option)


def read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}. Check the path.") from None


def write_file(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}. Choose another path.") from None


def check_folders(*paths: Path | None) -> None:
    """Refuse missing folders before the work starts."""
    for path in paths:
        if path and not path.parent.is_dir():
            raise InputError(
                f"{path} cannot be written: there is no folder {path.parent}. Create the folder first."
            )
        if path and path.is_dir():
            raise InputError(f"{path} is a folder. Add the name of a file.")


def add_set(command: Any) -> None:
    command.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="change a setting from its default; you can repeat this option",
    )


def parsed_settings(texts: Sequence[str], allowed: Mapping[str, Parameter]) -> dict[str, Any]:
    """Parse the values of --set; the check of the settings later refuses unknown names and values."""
    settings: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--set needs NAME=VALUE, but is {text!r}.")
        if name in settings:
            raise InputError(f"--set: {name!r} appears twice. Set it once.")
        settings[name] = read(value, allowed[name]) if name in allowed else value
    return settings


def names_in(text: str | None) -> list[str] | None:
    return None if text is None else text.split(",")


MOST_PRINTED_ROWS = 60  # rows of a printed table; of a longer one, only both ends are printed


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """Write CSV without a byte-order mark, for programs."""
    return safe_csv(frame).removeprefix(BOM_UTF8)


def print_table(table: pd.DataFrame) -> None:
    """Print all columns on one line; ``print(table)`` would wrap at the width of the terminal."""
    with pd.option_context("display.precision", 4):
        print(
            table.to_string(
                max_rows=MOST_PRINTED_ROWS, min_rows=10, show_dimensions=len(table) > MOST_PRINTED_ROWS
            )
        )


def print_progress(share: float, doing: str) -> None:
    print(f"\r{share:4.0%} {doing:40.40}", end="\n" if share == 1 else "", file=sys.stderr, flush=True)

"""Options that several commands have, and files that commands read and write."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from calib.kernel.checks import InputError
from calib.kernel.declared import SETTINGS, list_from_text, read


def add_file(command: Any, name: str, help: str) -> None:
    command.add_argument(name, type=Path, metavar="FILE", help=help)


def add_setting(command: Any, name: str) -> None:
    """Add an option for a declared setting of a page, with the page's values, default and help."""
    setting = SETTINGS[name]
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

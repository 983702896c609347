"""The error for every problem of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calib.kernel.checks import InputError


class DataError(InputError):
    """Error for a table that cannot be read or used: what was found, and what to do instead.

    >>> error = DataError("The file is empty.", "Choose another.")
    >>> str(error), error.remedy
    ('The file is empty. Choose another.', 'Choose another.')

    ``fixes`` are remedies as fields of a Recipe, each with what a button that does so says, as of a ``Problem``.
    """

    def __init__(self, message: str, remedy: str = "", fixes: tuple[tuple[Mapping[str, Any], str], ...] = ()):
        super().__init__(f"{message} {remedy}".strip())
        self.message = message
        self.remedy = remedy
        self.fixes = fixes


class TooLargeError(DataError):
    """Refusal of a table that does not fit into memory; predictions can still be counted where they are."""

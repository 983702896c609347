"""Errors for all problems of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calib.kernel.checks import InputError


class DataError(InputError):
    """Error for a table that cannot be read or used: the reason, and a remedy.

    >>> error = DataError("The file is empty.", "Choose another.")
    >>> str(error), error.remedy
    ('The file is empty. Choose another.', 'Choose another.')

    ``fixes`` are remedies as fields of a Recipe, each with the label of its button, as in a ``Problem``.
    """

    def __init__(self, message: str, remedy: str = "", fixes: tuple[tuple[Mapping[str, Any], str], ...] = ()):
        super().__init__(f"{message} {remedy}".strip())
        self.message = message
        self.remedy = remedy
        self.fixes = fixes


class TooLargeError(DataError):
    """Error for a table that does not fit into memory; predictions can still be counted in the file."""


class TooManyRowsError(TooLargeError):
    """Error for a query that returns more rows than its connection allows; predictions can still be counted."""

"""The error for every problem of a table."""

from __future__ import annotations

from calib.kernel.checks import InputError


class DataError(InputError):
    """Error for a table that cannot be read or used: what was found, and what to do instead.

    >>> error = DataError("The file is empty.", "Choose another.")
    >>> str(error), error.remedy
    ('The file is empty. Choose another.', 'Choose another.')
    """

    def __init__(self, message: str, remedy: str = ""):
        super().__init__(f"{message} {remedy}".strip())
        self.message = message
        self.remedy = remedy


class TooLargeError(DataError):
    """Refusal of a table that does not fit into memory; predictions can still be counted where they are."""

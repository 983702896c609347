"""One error for everything a table can have wrong: a message for a person, with the remedy in it."""

from __future__ import annotations

from calib.checks import InputError


class DataError(InputError):
    """A table that cannot be read or used. The message says what was found and what to do instead."""

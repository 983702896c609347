"""Errors for all problems of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from calib.kernel.checks import InputError
from calib.kernel.read_as import Answer


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


class ReadingQuestion(DataError):
    """ReadingQuestion to a person, because neither a name nor a convention says how a table is to be read.

    Nothing is evaluated until one of ``answers`` is chosen.

    >>> ReadingQuestion("Which class?", (Answer({"positive": "a"}, "Class a"),)).fixes
    (({'positive': 'a'}, 'Class a'),)
    """

    def __init__(self, message: str, answers: tuple[Answer, ...], remedy: str = ""):
        super().__init__(message, remedy, tuple((answer.fix, answer.label) for answer in answers))
        self.answers = answers


def as_answer(label: str, consequence: str = "", fields: Mapping[str, Any] = {}, **options: Any) -> Answer:
    """Return an answer that sets these fields of a Recipe, and these options of its ``data_params``.

    >>> as_answer("Classes", labels_as="classes").fix
    {'data_params': {'labels_as': 'classes'}}
    """
    return Answer({**fields, **({"data_params": options} if options else {})}, label, consequence)


class TooLargeError(DataError):
    """Error for a table that does not fit into memory; predictions can still be counted in the file."""


class TooManyRowsError(TooLargeError):
    """Error for a query that returns more rows than its connection allows; predictions can still be counted."""


def no_column(what: str, known: Iterable[str]) -> DataError:
    """Return the error for a column that the ``known`` columns do not include.

    >>> print(no_column("weight: column 'n'", ["a", "b"]))
    weight: column 'n' was not found. Choose one of a, b.
    """
    return DataError(f"{what} was not found.", f"Choose one of {', '.join(map(str, known))}.")


def first_line(error: Exception) -> str:
    """Return the first line of a library's message, at most 160 characters, without its full stop; else its type.

    >>> first_line(ValueError("no such thing.\\nDetails")), first_line(KeyError())
    ('no such thing', 'KeyError')
    """
    return (str(error).strip() or type(error).__name__).split("\n")[0].rstrip(".")[:160]

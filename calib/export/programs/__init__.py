"""A calibrator as a program for another system: SQL, ONNX, Python or JavaScript.

Every calibrator gives its map as a formula (``calib.kernel.formula``), and each language translates the terms of
formulas once. All agree with ``predict``: step functions exactly, with every tie and breakpoint on its side; other
maps within 1e-12. A score that ``predict`` refuses – missing, infinite or, for a calibrator of probabilities,
further than 1e-6 outside [0, 1] – has no answer: NULL in SQL, NaN in ONNX, None in Python, null in JavaScript. Programs
of K classes with many steps have fewer, merged ones (``outward``), so that they are small.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from calib.export.programs.formulas import check_written
from calib.export.programs.functions import write_javascript, write_python
from calib.export.programs.onnx import write_onnx
from calib.export.programs.sql import write_sql


@dataclass(frozen=True)
class Language:
    """A language in which a calibrator can be written.

    Attributes
    ----------
    label
        Its name for people.
    suffix, mime
        The file name extension and the MIME type.
    named
        Whether the score can be given a name.
    """

    key: str
    label: str
    suffix: str
    mime: str
    write: Callable[..., str | bytes]
    named: bool


LANGUAGES: dict[str, Language] = {
    language.key: language
    for language in (
        Language("sql", "SQL", "sql", "application/sql", write_sql, True),
        Language("onnx", "ONNX", "onnx", "application/octet-stream", write_onnx, True),
        Language("python", "Python", "py", "text/x-python", write_python, False),
        Language("js", "JavaScript", "js", "text/javascript", write_javascript, False),
    )
}


def write_program(calibrator: Any, language: str, score: str = "score") -> bytes:
    """Write the calibrator as a file in one of ``LANGUAGES``; ``score`` is the name of the score, if the language uses
    one.

    Parameters
    ----------
    calibrator
        Fitted, or read from a file.
    language : str
        A key of ``LANGUAGES``.
    score : str
        Name of the score in SQL and ONNX.

    Raises
    ------
    InputError
        As ``check_written``, or for a name that cannot be used.
    """
    entry = LANGUAGES[language]
    written = entry.write(calibrator, score) if entry.named else entry.write(calibrator)
    return written if isinstance(written, bytes) else f"{written}\n".encode()


__all__ = [
    "LANGUAGES",
    "Language",
    "check_written",
    "write_javascript",
    "write_onnx",
    "write_program",
    "write_python",
    "write_sql",
]

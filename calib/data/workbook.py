"""Read a spreadsheet (.xlsx, .xlsm, .xlsb, .xls, .ods) as rows of values, with python-calamine.

calamine holds all cells between the first and the last one, and it ends the process if memory does not suffice. So a
spreadsheet is read in a process of its own (``confined``).
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import Any

from python_calamine import CalamineSheet, CalamineWorkbook, PasswordError, SheetTypeEnum

from calib.data.errors import DataError
from calib.data.limits import most_unpacked, too_large

SPREADSHEET_PARTS = (
    "xl/workbook.xml",
    "xl/workbook.bin",
    "content.xml",
)  # one of them is in every packed spreadsheet
EXACT_WHOLE_NUMBERS = 2.0**53  # whole numbers below are exact
Row = tuple[int, tuple[Any, ...]]  # number of a row, and its cells up to the last one that is filled


class Workbook:
    """Sheets of a spreadsheet; formulas count as their saved values.

    Raises
    ------
    DataError
        If the file is not a spreadsheet, expands too much, or is protected by a password.
    """

    def __init__(self, content: bytes, name: str) -> None:
        if content.startswith(b"PK"):
            _check_archive(content, name)
        try:
            self._book = CalamineWorkbook.from_filelike(io.BytesIO(content))
        except PasswordError:
            raise DataError(
                f"{name} is protected by a password.", "Save the file without a password, or as CSV."
            ) from None
        self._last: tuple[str, CalamineSheet] | None = None

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the sheets with content."""
        for sheet in self._book.sheets_metadata:
            if sheet.typ == SheetTypeEnum.WorkSheet and next(self.rows(sheet.name), None):
                yield sheet.name

    def rows(self, title: str) -> Iterator[Row]:
        """Yield each row that has values."""
        if self._last is None or self._last[0] != title:
            self._last = None  # before the next one is held
            self._last = title, self._book.get_sheet_by_name(title)
        sheet = self._last[1]
        _, left = sheet.start or (0, 0)  # calamine leaves out the columns before, but not the rows
        for number, row in enumerate(sheet.iter_rows(), start=1):
            cells = [*[None] * left, *map(_value, row)]
            while cells and cells[-1] is None:
                cells.pop()
            if cells:
                yield number, tuple(cells)


def _value(cell: Any) -> Any:
    """Return the value of a cell: None if it is empty, and whole numbers without a decimal point."""
    if cell == "":
        return None
    return (
        int(cell) if type(cell) is float and cell.is_integer() and abs(cell) < EXACT_WHOLE_NUMBERS else cell
    )


def _check_archive(content: bytes, name: str) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {member.filename: member.file_size for member in archive.infolist()}
    if not members.keys() & set(SPREADSHEET_PARTS):
        raise DataError(
            f"{name} is a ZIP archive, not an Excel table.",
            "Extract the table that it contains, and upload that table.",
        )
    if sum(members.values()) > most_unpacked(len(content)):
        raise too_large(name, most_unpacked(len(content)))

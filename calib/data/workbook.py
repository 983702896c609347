"""Read an Excel file as rows of values: openpyxl parses the XML, with a limit on how much is read.

openpyxl itself scans a sheet twice if it has no <dimension>, reads every sheet, and builds a row before it can be
counted. Here the elements of each part are counted as it is unpacked, before objects are made of them.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from functools import partial
from typing import Any
from xml.etree.ElementTree import Element, SubElement, iterparse

from openpyxl.reader.excel import ExcelReader
from openpyxl.styles.stylesheet import apply_stylesheet
from openpyxl.worksheet._reader import DATA_TAG, INLINE_STRING, ROW_TAG, VALUE_TAG, WorkSheetParser
from openpyxl.xml.constants import SHARED_STRINGS, SHEET_MAIN_NS

from calib.data import limits
from calib.kernel.progress import Watch

WHOLE = 16  # weight of an element that openpyxl turns into objects: a style, a name
TEXTS = 10  # bytes of memory per byte of the shared texts
LAST_COLUMN = 1 << 14  # last column that Excel allows
ITEM, RUN, TEXT = (f"{{{SHEET_MAIN_NS}}}{tag}" for tag in ("si", "r", "t"))


class Workbook:
    """Sheets of an Excel file; formulas count as their saved values."""

    def __init__(self, content: bytes, watch: Watch) -> None:
        reader = ExcelReader(io.BytesIO(content), read_only=True, data_only=True)
        reader.archive = self._archive = _Archive(io.BytesIO(content), watch)
        reader.read_manifest()
        reader.read_workbook()
        apply_stylesheet(self._archive, reader.wb)
        self._book, self._texts = reader.wb, _texts(reader)
        self._parts = {
            sheet.name: rel.target
            for sheet, rel in reader.parser.find_sheets()
            if rel.target in reader.valid_files and "chartsheet" not in rel.Type
        }

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def rows(self, sheet: str) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """Yield (number, values up to the last one) of each row that has values."""
        last, book = 0, self._book
        with self._archive.open(self._parts[sheet]) as part:
            parser = _Parser(part, self._texts, True, book.epoch, book._date_formats, book._timedelta_formats)
            for _, element in iterparse(part):
                if element.tag == DATA_TAG:  # only formatting follows
                    return
                if element.tag != ROW_TAG:
                    continue
                number, cells = parser.parse_row(element)
                element.clear()
                self._archive.forget()
                filled = {cell["column"]: cell["value"] for cell in cells if cell["value"] is not None}
                if filled and number > last:
                    last = number
                    yield number, tuple(map(filled.get, range(1, max(filled) + 1)))


class _Parser(WorkSheetParser):
    def parse_row(self, row: Any) -> Any:
        if len(row) > LAST_COLUMN:
            raise ValueError(f"a row has more than {LAST_COLUMN:,} cells")
        return super().parse_row(row)

    def parse_cell(self, element: Element) -> Any:
        inline = element.find(INLINE_STRING) if element.get("t") == "inlineStr" else None
        if inline is not None:
            element[:] = []
            element.set("t", "str")
            SubElement(element, VALUE_TAG).text = _text(inline)
        return super().parse_cell(element)


class _Archive(zipfile.ZipFile):
    """ZIP archive that counts the memory of elements, and sees a Cancel, as its parts are unpacked."""

    def __init__(self, file: io.BytesIO, watch: Watch) -> None:
        super().__init__(file)
        self._watch, self._size = watch, sum(member.file_size for member in self.infolist())
        self._read = self._whole = self._held = self._cleared = 0

    def forget(self) -> None:
        """Count an element whose parts were cleared."""
        self._cleared += limits.ELEMENT // 4
        self._held = 0

    def open(self, *given: Any, **named: Any) -> Any:
        part = super().open(*given, **named)
        part.read = partial(self._counted, part.read, [b""])  # type: ignore[method-assign]
        self._held = 0
        return part

    def _counted(self, read: Any, end: list[bytes], size: int | None = -1, whole: bool = False) -> bytes:
        """Return what ``read`` returns, after counting it; ``end`` keeps the end of the previous piece."""
        if size is None or size < 0:
            return b"".join(iter(partial(self._counted, read, end, 1 << 20, True), b""))
        piece = read(size)
        self._read += len(piece)
        self._watch.step(min(self._read / self._size, 1.0), "")
        elements = limits.ELEMENT * (piece.count(b"<") - piece.count(b"</"))
        self._held += elements + len(piece)
        self._whole += whole * WHOLE * elements
        limits.check_memory(self._held + self._whole + self._cleared)
        # a DOCTYPE may define entities that expand recursively
        if b"<!DOCTYPE" in (end[0] + piece).replace(b"\x00", b""):
            raise ValueError("its XML has a DOCTYPE, which Excel does not write")
        end[0] = piece[-16:]
        return piece


def _texts(reader: ExcelReader) -> list[str]:
    """Return the shared texts, which cells refer to by number."""
    part = reader.package.find(SHARED_STRINGS)
    if part is None:
        return []
    texts = []
    limits.check_memory(TEXTS * reader.archive.getinfo(part.PartName[1:]).file_size)
    with reader.archive.open(part.PartName[1:]) as file:
        for _, item in iterparse(file):
            if item.tag == ITEM:
                texts.append(_text(item).replace("x005F_", ""))
                item.clear()
                reader.archive.forget()
    return texts


def _text(item: Element) -> str:
    """Return a text without formatting; openpyxl's own method takes ten times as long."""
    plain = (*item.findall(TEXT), *item.findall(f"{RUN}/{TEXT}"))
    return "".join(part.text or "" for part in plain)

"""Files as a ZIP whose bytes depend on their paths and contents alone: the same files, the same bytes."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable

EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest that a ZIP can say


def zipped(files: Iterable[tuple[str, str | bytes]]) -> bytes:
    """A ZIP of (path, content), packed one by one as they come.

    >>> zipped([("a.txt", "a")]) == zipped([("a.txt", b"a")])
    True
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files:
            archive.writestr(zipfile.ZipInfo(path, EPOCH), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()

"""Files as a ZIP whose bytes depend only on paths and contents: the same files give the same bytes."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable

EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest date that a ZIP can store


def zipped(files: Iterable[tuple[str, str | bytes]]) -> bytes:
    """Return a ZIP of (path, content), compressed one by one as they arrive.

    >>> zipped([("a.txt", "a")]) == zipped([("a.txt", b"a")])
    True
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files:
            archive.writestr(zipfile.ZipInfo(path, EPOCH), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()

"""Keep uploads in memory if they fit, and start the process that reads them.

Starlette writes uploads above one megabyte to disk, and accepts them whatever memory is free. Streamlit keeps all files
that a session sends. ``tests/pages/test_streamlit_internals.py`` has the reason for each private name.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any
from weakref import WeakKeyDictionary

from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from streamlit import runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from calib.data import confined, limits
from calib.data.confined import apart
from calib.data.too_large import BYTES_OF_END
from calib.export import uploaded
from calib.kernel import memory
from pages.ui.session_cache import OF_UPLOADS

# With "+" and the size of the file of which only the ends are there
MEDIA_TYPE_OF_ENDS = "application/x-ends"


class Ends(UploadFile):
    """An upload that does not fit into memory: only its ends are kept, which show its columns.

    Its type says so, as ``scripts/ends.js`` does for files above the limit.
    """

    def __init__(self, filename: str | None, size: int) -> None:
        super().__init__(
            io.BytesIO(), filename=filename, headers=Headers({"content-type": f"{MEDIA_TYPE_OF_ENDS}+{size}"})
        )
        self._first, self._last = bytearray(), bytearray()

    async def write(self, data: bytes) -> None:
        left = BYTES_OF_END - len(self._first)
        self._first += data[:left]
        self._last += data[left:] if left else data
        if len(self._last) > 2 * BYTES_OF_END:
            del self._last[:-BYTES_OF_END]

    async def read(self, size: int = -1) -> bytes:
        return bytes(self._first + self._last[-BYTES_OF_END:])


class _Coming:
    """The uploads in transit. Each needs twice its size in memory when it is complete."""

    def __init__(self) -> None:
        self._uploads: WeakKeyDictionary[UploadFile, int] = WeakKeyDictionary()

    def fits_memory(self, upload: UploadFile, size: int) -> bool:
        """Tell whether memory suffices for one more upload, and register it if so; a few small ones always fit."""
        needed = 2 * size + sum(2 * whole - (one.size or 0) for one, whole in list(self._uploads.items()))
        if needed > 2 * limits.LARGE_FILE and memory.free() - limits.SPARE - limits.promised() < needed:
            return False
        self._uploads[upload] = size
        return True


def _within_memory(
    finish: Callable[[MultiPartParser], None], coming: _Coming
) -> Callable[[MultiPartParser], None]:
    """Wrap a parser's ``on_headers_finished``: an upload that does not fit into memory keeps only its ends.

    Browsers say how long an upload is, and send nothing but the file; anything else is refused.
    """

    @wraps(finish)
    def finished(parser: MultiPartParser) -> None:
        finish(parser)
        upload, stated = parser._current_part.file, parser.headers.get("content-length")
        if upload is None or stated is None:
            raise MultiPartException("An upload must be one file, with a Content-Length.")
        if not coming.fits_memory(upload, int(stated)):
            parser._current_part.file = Ends(upload.filename, int(stated))

    return finished


def _within_bound(add: Callable[..., None]) -> Callable[..., None]:
    """Wrap ``add_file``: of the files that a session sent, the newest stay, within the bound of a session."""

    @wraps(add)
    def added(manager: MemoryUploadedFileManager, session_id: str, file: UploadedFileRec) -> None:
        add(manager, session_id, file)
        sent = manager.file_storage[session_id]
        older = [key for key in list(sent) if key != file.file_id]
        left = OF_UPLOADS - len(file.data)
        for key in reversed(older):
            left -= len(sent[key].data)
            if left < 0:
                manager.remove_file(session_id, key)

    return added


def keep_uploads_in_memory() -> None:
    """Let the server receive uploads in memory, as many as fit; calling it again has no effect."""
    if not hasattr(MultiPartParser.on_headers_finished, "__wrapped__"):
        finish: Any = _within_memory(MultiPartParser.on_headers_finished, _Coming())
        MultiPartParser.on_headers_finished = finish
        MemoryUploadedFileManager.add_file = _within_bound(MemoryUploadedFileManager.add_file)  # type: ignore[method-assign]
    MultiPartParser.spool_max_size = sys.maxsize  # bytes; server.maxUploadSize ends an upload before


def warm_readers() -> None:
    """Start the process that reads uploads, and in a server fits: after a page's run, as it would delay the first
    picture.

    Nobody can upload before the first page is drawn.
    """
    serves = runtime.exists() and type(runtime.get_instance()) is runtime.Runtime  # AppTest has another one
    confined.warm(uploaded.__name__, *(apart.MODULES if serves else ()))

"""Receive the one file of a server that a notebook or a command started, before Streamlit starts."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass
from typing import BinaryIO


@dataclass(frozen=True)
class GivenFile:
    """File, the Recipe that opens it (as JSON, or None), and the token that a browser must present.

    Its content is read like that of an upload.
    """

    token: str
    name: str
    content: bytes
    recipe: str | None
    type: str = ""

    @property
    def size(self) -> int:
        return len(self.content)

    def getvalue(self) -> bytes:
        return self.content


_given: list[GivenFile] = []


def given() -> GivenFile | None:
    """Return the file, or None for a server that was not started with one."""
    return _given[0] if _given else None


def receive(stream: BinaryIO) -> None:
    """Read the file from the parent process, and end this process when the parent ends and closes the pipe."""
    header = json.loads(stream.readline())
    content = stream.read(header.pop("size"))
    _given[:] = [GivenFile(content=content, **header)]
    threading.Thread(target=_end_with, args=(stream,), daemon=True).start()


def _end_with(stream: BinaryIO) -> None:
    while stream.read(1):
        pass
    os._exit(0)

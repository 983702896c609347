"""List and read the tables in one folder of the server, in place; links and paths never lead out of it.

Whoever starts the server names the folder; there is no default. A table is opened once, folder by folder without
following a link, and all that is read later is read from that open file. So a name that becomes a link in between leads
nowhere. Only what would be listed is opened.
"""

from __future__ import annotations

import hashlib
import os
import stat
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from calib.data.errors import DataError
from calib.data.read import EXTENSIONS
from calib.kernel.progress import Watch

MOST_LISTED_TABLES = 1_000  # most tables that are listed
MOST_NESTED = 4  # depth of nested folders
DIGESTED_AT_ONCE = 4_000_000  # bytes that are digested between two looks at Cancel
NO_LINKS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # nor wait at a pipe
OPEN_FOLDER = NO_LINKS | getattr(os, "O_DIRECTORY", 0)


@dataclass(frozen=True)
class FolderTable:
    """Table in the folder.

    Attributes
    ----------
    name
        Path relative to the folder, with "/" between the parts.
    size
        Size in bytes.
    changed
        Time of the last change, in nanoseconds since 1970.
    """

    name: str
    size: int
    changed: int

    @property
    def label(self) -> str:
        """Name, size and date.

        >>> FolderTable("a/b.csv", 1_500_000, 10**18).label.startswith("a/b.csv (1.5 MB, 2001-09-")
        True
        >>> FolderTable("b.csv", 1_500, 10**21).label    # in the year 33658, which Python's dates do not reach
        'b.csv (1.5 kB, date unknown)'
        """
        try:
            when = f"{datetime.fromtimestamp(self.changed / 1e9):%Y-%m-%d %H:%M}"
        except (ValueError, OverflowError, OSError):
            when = "date unknown"
        size = f"{self.size / 1e6:,.1f} MB" if self.size >= 1e6 else f"{self.size / 1e3:,.1f} kB"
        return f"{self.name} ({size}, {when})"


class Listing(NamedTuple):
    """Tables by name, at most ``MOST_LISTED_TABLES``; the number of further ones, and of those whose names are not
    UTF-8."""

    tables: list[FolderTable]
    more: int
    unnamed: int


class OpenPath(type(Path())):  # type: ignore[misc]
    """Path by which an open file can be read again, as long as this object is alive; its name is the file's own."""

    name: str = ""


@dataclass(frozen=True, eq=False)
class OpenTable(FolderTable):
    """Table that is open: ``path`` reads the file that was checked, whatever its name leads to by then."""

    path: Path
    state: tuple[int, ...]

    @property
    def known_digest(self) -> str | None:
        """Digest of the content in this state, if it was computed before."""
        return _DIGESTS.get(self.state)

    def digest(self, watch: Watch | None = None) -> str:
        """Return the digest of the content, as for an upload; it is read once per state.

        Raises
        ------
        DataError
            If the file cannot be read, or changes while it is read.
        Cancelled
            If it was cancelled.
        """
        if (known := self.known_digest) is not None:
            return known
        watch, done, found = watch or Watch(), 0, hashlib.blake2b(digest_size=8)
        try:
            with open(self.path, "rb") as file:
                while piece := file.read(DIGESTED_AT_ONCE):
                    found.update(piece)
                    done += len(piece)
                    watch.step(min(done / max(self.size, 1), 1.0), f"{done / 1e6:,.0f} MB checked")
        except OSError as error:
            raise DataError(f"{self.name} cannot be read ({error.strerror}).", "Check the file.") from None
        self.check()
        if len(_DIGESTS) >= MOST_LISTED_TABLES:
            _DIGESTS.clear()
        return _DIGESTS.setdefault(self.state, found.hexdigest())

    def check(self) -> None:
        """Refuse a table that has changed since it was opened."""
        if _state(os.stat(self.path)) != self.state:
            raise DataError(f"{self.name} changed while it was being read.", "Open it again.")


_DIGESTS: dict[tuple[int, ...], str] = {}
"""State of a file → digest of its content, for all sessions; at most ``MOST_LISTED_TABLES``."""


def _state(known: os.stat_result) -> tuple[int, ...]:
    """Return what changes if the content of a file changes."""
    return known.st_dev, known.st_ino, known.st_size, known.st_mtime_ns, known.st_ctime_ns


class Folder:
    """Folder of tables.

    Parameters
    ----------
    root
        Path of the folder.

    Raises
    ------
    DataError
        If it is not a folder that can be read, or the system cannot open a file within an open folder (Windows).

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as root:
    ...     _ = Path(root, "scores.csv").write_text("y,p\\n1,0.5\\n", encoding="utf-8")
    ...     [table.name for table in Folder(root).listing().tables]
    ['scores.csv']
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root).resolve()
        if os.open not in os.supports_dir_fd:
            raise DataError(
                "A folder of tables needs Linux or macOS.", "Start without --folder, and upload files."
            )
        if not self.root.is_dir():
            raise DataError(f"{root} is not a folder.", "Specify an existing folder.")
        if not _is_text(self.root.name):
            raise DataError("The name of the folder is not UTF-8.", "Rename it.")
        if not os.access(self.root, os.R_OK | os.X_OK):
            raise DataError(f"{root} cannot be read: no permission.", "Give this user permission to read it.")

    def listing(self) -> Listing:
        """List the readable tables by name, without hidden files and links.

        Raises
        ------
        DataError
            If the folder can no longer be read.
        """
        try:
            with _opened(self.root, os.O_RDONLY) as at:
                found = sorted(_walk(at, PurePosixPath(), MOST_NESTED), key=lambda table: table.name)
        except OSError as error:
            raise DataError(
                f"The server's folder cannot be read ({error.strerror}).",
                "Ask the administrator of the server.",
            ) from None
        named = [table for table in found if _is_text(table.name)]
        return Listing(named[:MOST_LISTED_TABLES], len(named[MOST_LISTED_TABLES:]), len(found) - len(named))

    def open(self, name: str) -> OpenTable:
        """Open a table: a file that the folder lists, or would list if it had fewer tables.

        Raises
        ------
        DataError
            For a name that leads out of the folder, or is not a table there that can be read.
        """
        parts = PurePosixPath(name)
        if parts.is_absolute() or ".." in parts.parts or "\\" in name or "\0" in name:
            raise DataError(
                f"{name} is not in the server's folder.", "Choose one of its tables on the Data page."
            )
        try:
            hidden = any(part.startswith(".") for part in parts.parts)
            if not 0 < len(parts.parts) <= MOST_NESTED + 1 or hidden or not _is_text(name):
                raise FileNotFoundError
            with _opened(self.root, os.O_RDONLY) as at:
                return self._open(at, parts, parts)
        except PermissionError:
            raise DataError(
                f"{name} cannot be read: no permission.", "Ask the administrator of the server."
            ) from None
        except OSError:
            raise DataError(
                f"There is no table {name} in the server's folder.", "Choose another table on the Data page."
            ) from None

    def _open(self, at: int, left: PurePosixPath, parts: PurePosixPath) -> OpenTable:
        """Open the rest of a path below an open folder, and check what was opened."""
        first, *others = left.parts
        if others:
            with _opened(first, OPEN_FOLDER, at) as inner:
                return self._open(inner, PurePosixPath(*others), parts)
        file = os.open(first, NO_LINKS, dir_fd=at)
        # macOS has no such path: there, ``check`` finds that a file was swapped after it was read
        opened = Path(f"/proc/{os.getpid()}/fd/{file}")
        path = OpenPath(opened if opened.exists() else self.root / parts)
        path.name = first
        weakref.finalize(path, os.close, file)
        known = os.fstat(file)
        if not _is_table(first, known):
            raise FileNotFoundError
        return OpenTable(str(parts), known.st_size, known.st_mtime_ns, path, _state(known))


@contextmanager
def _opened(path: str | Path, flags: int, at: int | None = None) -> Iterator[int]:
    """Open a folder for this block."""
    found = os.open(path, flags, dir_fd=at)
    try:
        yield found
    finally:
        os.close(found)


def _walk(at: int, place: PurePosixPath, deep: int) -> Iterator[FolderTable]:
    for entry in sorted(os.scandir(at), key=lambda entry: entry.name):
        try:
            if entry.name.startswith("."):
                continue
            known = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(known.st_mode) and deep:
                with _opened(entry.name, OPEN_FOLDER, at) as inner:
                    yield from _walk(inner, place / entry.name, deep - 1)
            elif _is_table(entry.name, known) and os.access(entry.name, os.R_OK, dir_fd=at):
                yield FolderTable((place / entry.name).as_posix(), known.st_size, known.st_mtime_ns)
        except OSError:  # a folder without permission, or gone by now, is skipped
            continue


def _is_table(name: str, known: os.stat_result) -> bool:
    return stat.S_ISREG(known.st_mode) and _ending(name) in EXTENSIONS


def _is_text(name: str) -> bool:
    """Tell whether a name can be shown: names that are not UTF-8 contain surrogates.

    >>> _is_text("ü.csv"), _is_text(os.fsdecode(b"\\xff.csv"))
    (True, False)
    """
    return not any("\ud800" <= letter <= "\udfff" for letter in name)


def _ending(name: str) -> str:
    """Return the extension that identifies the format.

    >>> _ending("a.CSV.gz"), _ending("notes")
    ('csv', '')
    """
    parts = name.lower().removesuffix(".gz").rsplit(".", 1)
    return parts[1] if len(parts) == 2 else ""

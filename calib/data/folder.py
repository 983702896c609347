"""List and read the tables in one folder of the server, in place; links and paths never lead out of it.

Whoever starts the server names the folder; there is no default.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path, PurePosixPath

from calib.data.errors import DataError
from calib.data.read import EXTENSIONS

MOST_TABLES = 1_000  # most tables that are listed
DEEPEST = 4  # depth of nested folders


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
        """
        when = datetime.fromtimestamp(self.changed / 1e9)
        size = f"{self.size / 1e6:,.1f} MB" if self.size >= 1e6 else f"{self.size / 1e3:,.1f} kB"
        return f"{self.name} ({size}, {when:%Y-%m-%d %H:%M})"


class Folder:
    """Folder of tables.

    Parameters
    ----------
    root
        Path of the folder.

    Raises
    ------
    DataError
        If it is not a folder that can be read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as root:
    ...     _ = Path(root, "scores.csv").write_text("y,p\\n1,0.5\\n", encoding="utf-8")
    ...     [table.name for table in Folder(root).tables()]
    ['scores.csv']
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root).resolve()
        if not self.root.is_dir():
            raise DataError(f"{root} is not a folder.", "Name an existing folder.")
        if not os.access(self.root, os.R_OK | os.X_OK):
            raise DataError(f"{root} cannot be read: no permission.", "Allow this user to read it.")

    def tables(self) -> list[FolderTable]:
        """List the readable tables by name, without hidden files and links."""
        found = sorted(self._walk(self.root, DEEPEST), key=lambda table: table.name)
        return found[:MOST_TABLES]

    def _walk(self, folder: Path, deep: int) -> Iterator[FolderTable]:
        try:
            entries = list(os.scandir(folder))
        except OSError:  # a folder without permission is skipped
            return
        for entry in entries:
            if entry.name.startswith(".") or entry.is_symlink():
                continue
            if entry.is_dir(follow_symlinks=False):
                if deep:
                    yield from self._walk(Path(entry.path), deep - 1)
            elif entry.is_file() and _ending(entry.name) in EXTENSIONS and os.access(entry.path, os.R_OK):
                yield self._placed(Path(entry.path), entry.stat())

    def _placed(self, path: Path, known: os.stat_result) -> FolderTable:
        return FolderTable(path.relative_to(self.root).as_posix(), known.st_size, known.st_mtime_ns)

    def path(self, name: str) -> Path:
        """Return the path of a table.

        Raises
        ------
        DataError
            For a name that leads out of the folder, or is not a file there that can be read.
        """
        parts = PurePosixPath(name)
        if parts.is_absolute() or ".." in parts.parts or "\\" in name or "\0" in name:
            raise DataError(f"{name} is not in the server's folder.", "Choose one of its tables on Data.")
        path = self.root / parts
        try:
            inside = path.resolve(strict=True) == path and stat.S_ISREG(path.lstat().st_mode)
        except (OSError, RuntimeError):
            inside = False
        if not inside or any(part.startswith(".") for part in parts.parts):
            raise DataError(f"There is no table {name} in the server's folder.", "Choose another on Data.")
        if not os.access(path, os.R_OK):
            raise DataError(f"{name} cannot be read: no permission.", "Ask whoever runs the server.")
        return path

    def find(self, name: str) -> FolderTable:
        """Return a table in its current state; raise the errors of ``path``."""
        path = self.path(name)
        return self._placed(path, path.stat())

    def digest(self, table: FolderTable) -> str:
        """Return the digest of a table's content, as for an upload.

        Raises
        ------
        DataError
            If the file has changed since it was listed.
        """
        found = _digest(self.path(table.name), table.size, table.changed)
        self.check(table)
        return found

    def check(self, table: FolderTable) -> None:
        """Refuse a table that has changed since it was listed."""
        if self.find(table.name) != table:
            raise DataError(f"{table.name} changed while it was read.", "Open it again.")


def _ending(name: str) -> str:
    """Return the extension that identifies the format.

    >>> _ending("a.CSV.gz"), _ending("notes")
    ('csv', '')
    """
    parts = name.lower().removesuffix(".gz").rsplit(".", 1)
    return parts[1] if len(parts) == 2 else ""


@lru_cache(maxsize=64)
def _digest(path: Path, size: int, changed: int) -> str:
    """Return the digest of a file's content; it is read once per state."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, _empty).hexdigest()
    except OSError as error:
        raise DataError(f"{path.name} cannot be read ({error.strerror}).", "Check the file.") from None


def _empty() -> hashlib._Hash:
    return hashlib.blake2b(digest_size=8)  # type: ignore[return-value]

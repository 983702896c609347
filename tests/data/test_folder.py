"""The tables of a folder: all that are in it and nothing else, whatever a name or a link says."""

import os
import tempfile
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from calib.data import DataError, Folder, TableFile, folder
from calib.data.folder import MOST_NESTED
from calib.kernel.progress import Cancelled, Watch
from calib.sources import digest
from tests.nobody import as_nobody

OPEN_FILES = Path("/proc/self/fd").exists()
CONTENT = b"y,p\n1,0.5\n0,0.25\n"


@pytest.fixture
def root(tmp_path):
    """A folder of three tables, with all that must not be read in it and beside it."""
    inside, outside = tmp_path / "tables", tmp_path / "others"
    for one in (inside / "2026", inside / ".hidden", outside):
        one.mkdir(parents=True)
    for path in (
        "scores.csv",
        "2026/march.parquet",
        "a@b.csv.gz",
        ".secret.csv",
        ".hidden/x.csv",
        "notes.txt",
        "run.py",
    ):
        (inside / path).write_bytes(CONTENT)
    (outside / "secret.csv").write_bytes(CONTENT)
    (inside / "link.csv").symlink_to(outside / "secret.csv")
    (inside / "linked").symlink_to(outside)
    (inside / "own.csv").symlink_to(inside / "scores.csv")
    os.mkfifo(inside / "pipe.csv")
    return inside


def test_its_tables_are_listed_and_no_link_nor_hidden_file(root):
    assert [table.name for table in Folder(root).listing().tables] == [
        "2026/march.parquet",
        "a@b.csv.gz",
        "scores.csv",
    ]


def test_a_table_is_read_where_it_is_and_known_by_its_content(root):
    table = Folder(root).open("scores.csv")
    assert (table.size, table.known_digest, table.digest()) == (len(CONTENT), None, digest(CONTENT))
    assert Folder(root).open("scores.csv").known_digest == digest(
        CONTENT
    )  # in the same state, not read again
    assert table.path.samefile(root / "scores.csv")
    assert table.path.name == "scores.csv"
    assert TableFile("scores.csv", table.path).read()["p"].tolist() == [0.5, 0.25]


@pytest.mark.parametrize(
    "name",
    [
        "../others/secret.csv",
        "2026/../../others/secret.csv",
        "/etc/passwd",
        "link.csv",
        "own.csv",
        "linked/secret.csv",
        "pipe.csv",
        "2026",
        ".",
        "",
        "none.csv",
        ".secret.csv",
        ".hidden/x.csv",
        "scores.csv\0",
        "..\\others\\secret.csv",
        "x" * 5_000,
        "notes.txt",
        "passwords",
        "1/2/3/4/5/6/7.csv",
        "latin-\udcfc.csv",
    ],
)
def test_what_is_not_a_table_of_the_folder_is_refused(root, name):
    (root / "passwords").write_bytes(CONTENT)
    (root / "1/2/3/4/5/6").mkdir(parents=True)
    (root / "1/2/3/4/5/6/7.csv").write_bytes(CONTENT)
    (root / os.fsdecode(b"latin-\xfc.csv")).write_bytes(CONTENT)
    with pytest.raises(DataError, match="server's folder"):
        Folder(root).open(name)


def test_all_that_is_listed_opens_and_nothing_else(root):
    for depth in range(7):
        inner = root.joinpath(*"123456"[:depth])
        inner.mkdir(exist_ok=True)
        for name in ("a.csv", "b.CSV.GZ", "c.txt", "d", ".e.csv", "f.csv.zip", "g.xlsx"):
            (inner / name).write_bytes(CONTENT)
    listed = [table.name for table in Folder(root).listing().tables]
    assert len([name for name in listed if name.endswith("/a.csv")]) == MOST_NESTED
    opened = []
    for path in root.rglob("*"):
        with suppress(DataError):
            opened.append(Folder(root).open(path.relative_to(root).as_posix()).name)
    assert sorted(opened) == listed


def test_a_name_that_is_not_utf_8_and_a_date_beyond_the_calendar_break_nothing(root):
    (root / os.fsdecode(b"latin-\xfc.csv")).write_bytes(CONTENT)
    os.utime(root / "scores.csv", ns=(2**62, 2**62))
    found = Folder(root).listing()
    assert (len(found.tables), found.more, found.unnamed) == (3, 0, 1)
    assert found.tables[-1].label.encode().startswith(b"scores.csv (0.0 kB, ")


def test_a_folder_whose_own_name_is_not_utf_8_is_refused(tmp_path):
    (tmp_path / os.fsdecode(b"latin-\xfc")).mkdir()
    with pytest.raises(DataError, match="not UTF-8"):
        Folder(tmp_path / os.fsdecode(b"latin-\xfc"))


def test_more_tables_than_are_listed_are_counted(root, monkeypatch):
    monkeypatch.setattr(folder, "MOST_LISTED_TABLES", 2)
    found = Folder(root).listing()
    assert (len(found.tables), found.more) == (2, 1)


@pytest.mark.skipif(not OPEN_FILES, reason="no /proc here: a swapped file is found after it was read")
def test_what_was_checked_is_what_is_read_whatever_its_name_becomes(root):
    table = Folder(root).open("scores.csv")
    key = table.digest()
    (root / "scores.csv").unlink()
    (root / "scores.csv").symlink_to(root.parent / "others" / "secret.csv")
    (root.parent / "others" / "secret.csv").write_bytes(b"y,p\n1,0.9\n1,0.9\n")
    assert table.path.read_bytes() == CONTENT
    assert (key, TableFile("scores.csv", table.path).read()["p"].tolist()) == (digest(CONTENT), [0.5, 0.25])
    opened = int(str(table.path).rpartition("/")[2])
    del table
    with pytest.raises(OSError, match="Bad file"):  # closed with the last that reads it
        os.fstat(opened)


@pytest.mark.parametrize("name", ["swapped.csv", "swapped/t.csv"], ids=["file", "folder"])
def test_a_name_swapped_for_a_link_all_the_time_never_reads_outside(root, name):
    """While one thread swaps a file, or its folder, for a link, another opens and reads."""
    outside, swapped = root.parent / "others", root / name.partition("/")[0]
    (outside / "t.csv").write_bytes(b"secret")
    (root / "aside").mkdir()
    (root / "aside" / "t.csv").write_bytes(CONTENT)
    own, link = root / "aside", root / "link"
    link.symlink_to(outside)
    if "/" not in name:
        own, link = own / "t.csv", root / "link.to"
        link.symlink_to(outside / "t.csv")
    ended = threading.Event()

    def swap():
        while not ended.is_set():
            for one in (own, link):
                os.rename(one, swapped)
                os.rename(swapped, one)

    swapping = threading.Thread(target=swap)
    swapping.start()
    found = Counter()
    try:
        while min(found["read"], found["refused"]) < 100:
            try:
                assert Folder(root).open(name).path.read_bytes() == CONTENT
                found["read"] += 1
            except DataError:
                found["refused"] += 1
    finally:
        ended.set()
        swapping.join()


def test_digesting_a_large_table_tells_its_progress_and_is_cancelled(root, monkeypatch):
    monkeypatch.setattr(folder, "DIGESTED_AT_ONCE", 4)
    table = Folder(root).open("scores.csv")
    shares = []

    def report(share, _):
        shares.append(share)
        if len(shares) == 2:
            watch.cancel.set()

    watch = Watch(report)
    with pytest.raises(Cancelled):
        table.digest(watch)
    assert shares == [4 / len(CONTENT), 8 / len(CONTENT)]
    assert table.known_digest is None
    assert table.digest() == digest(CONTENT)


def test_a_table_that_became_a_link_is_refused(root):
    (root / "scores.csv").unlink()
    (root / "scores.csv").symlink_to(root.parent / "others" / "secret.csv")
    with pytest.raises(DataError, match="no table scores.csv"):
        Folder(root).open("scores.csv")


def test_a_table_that_changes_while_it_is_read_is_said(root):
    table = Folder(root).open("scores.csv")
    (root / "scores.csv").write_bytes(CONTENT * 2)
    with pytest.raises(DataError, match=r"scores\.csv changed while it was being read"):
        table.digest()
    assert Folder(root).open("scores.csv").digest() == digest(CONTENT * 2)


def test_a_folder_that_goes_away_is_said(root):
    found = Folder(root)
    os.rename(root, root.with_name("gone"))
    with pytest.raises(DataError, match="folder cannot be read"):
        found.listing()
    with pytest.raises(DataError, match="no table"):
        found.open("scores.csv")


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(DataError, match="is not a folder"):
        Folder(tmp_path / "none")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_to_a_user_without_rights_a_folder_and_its_tables_are_refused_in_words():
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        root.chmod(0o755)
        (root / "open.csv").write_bytes(CONTENT)
        (root / "locked.csv").write_bytes(CONTENT)
        (root / "closed").mkdir()
        (root / "closed" / "inside.csv").write_bytes(CONTENT)
        (root / "locked.csv").chmod(0)
        (root / "closed").chmod(0)
        assert as_nobody(lambda: [table.name for table in Folder(root).listing().tables]) == ["open.csv"]
        locked = "locked.csv cannot be read: no permission. Ask the administrator of the server."
        assert as_nobody(lambda: str(Folder(root).open("locked.csv"))) == locked
        inside = "closed/inside.csv cannot be read: no permission. Ask the administrator of the server."
        assert as_nobody(lambda: str(Folder(root).open("closed/inside.csv"))) == inside
        root.chmod(0)
        refused = f"{root} cannot be read: no permission. Give this user permission to read it."
        assert as_nobody(lambda: str(Folder(root).root)) == refused
        root.chmod(0o755)
        (root / "closed").chmod(0o755)

"""The tables of a folder: all that are in it and nothing else, whatever a name or a link says."""

import json
import os
import tempfile
from pathlib import Path

import pytest

from calib.data import DataError, Folder, TableFile
from calib.sources import digest

CONTENT = b"y,p\n1,0.5\n0,0.25\n"


@pytest.fixture
def root(tmp_path):
    """A folder of three tables, with all that must not be read in it and beside it."""
    inside, outside = tmp_path / "tables", tmp_path / "others"
    for folder in (inside / "2026", inside / ".hidden", outside):
        folder.mkdir(parents=True)
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
    assert [table.name for table in Folder(root).tables()] == [
        "2026/march.parquet",
        "a@b.csv.gz",
        "scores.csv",
    ]


def test_a_table_is_read_where_it_is_and_known_by_its_content(root):
    folder = Folder(root)
    table = folder.find("scores.csv")
    assert (table.size, folder.digest(table)) == (len(CONTENT), digest(CONTENT))
    assert TableFile("scores.csv", folder.path("scores.csv")).read()["p"].tolist() == [0.5, 0.25]


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
    ],
)
def test_what_is_not_a_table_of_the_folder_is_refused(root, name):
    with pytest.raises(DataError, match="server's folder"):
        Folder(root).path(name)


def test_a_table_that_becomes_a_link_is_refused(root):
    folder = Folder(root)
    table = folder.find("scores.csv")
    (root / "scores.csv").unlink()
    (root / "scores.csv").symlink_to(root.parent / "others" / "secret.csv")
    with pytest.raises(DataError, match="no table scores.csv"):
        folder.digest(table)


def test_a_table_that_changes_while_it_is_read_is_said(root):
    folder = Folder(root)
    table = folder.find("scores.csv")
    (root / "scores.csv").write_bytes(CONTENT * 2)
    with pytest.raises(DataError, match=r"scores\.csv changed while it was read"):
        folder.digest(table)
    assert folder.digest(folder.find("scores.csv")) == digest(CONTENT * 2)


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(DataError, match="is not a folder"):
        Folder(tmp_path / "none")


def test_a_folder_without_rights_is_said(root, monkeypatch):
    denied = {str(root / "scores.csv")}
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) not in denied and access(path, mode))
    assert "scores.csv" not in [table.name for table in Folder(root).tables()]
    with pytest.raises(DataError, match="no permission"):
        Folder(root).path("scores.csv")
    denied.add(str(root))
    with pytest.raises(DataError, match="no permission"):
        Folder(root)


def as_nobody(call):
    """Return what ``call`` returns or how it is refused, computed in a process that is not root's."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            said = call()
        except DataError as error:
            said = str(error)
        except BaseException as error:
            said = repr(error)
        os.write(writes, json.dumps(said).encode())
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as told:
        said = json.loads(told.read())
    os.waitpid(child, 0)
    return said


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
        assert as_nobody(lambda: [table.name for table in Folder(root).tables()]) == ["open.csv"]
        locked = "locked.csv cannot be read: no permission. Ask whoever runs the server."
        assert as_nobody(lambda: str(Folder(root).path("locked.csv"))) == locked
        inside = "There is no table closed/inside.csv in the server's folder. Choose another on Data."
        assert as_nobody(lambda: str(Folder(root).path("closed/inside.csv"))) == inside
        root.chmod(0)
        refused = f"{root} cannot be read: no permission. Allow this user to read it."
        assert as_nobody(lambda: str(Folder(root).root)) == refused
        root.chmod(0o755)
        (root / "closed").chmod(0o755)

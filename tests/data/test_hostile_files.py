"""Small files that would take gigabytes or minutes: each is read or refused in one message, within its limits."""

import pytest

from calib.data import DataError, confined, limits, read_confined
from scripts.hostile import LIBRARIES, Watching, children
from scripts.hostile_files import FILES

pytestmark = pytest.mark.skipif(not confined.can_confine(), reason="this system cannot confine a process")
# Of every format; `make soak` reads all
SOME = {
    *(
        "quotes.csv",
        "members.csv.gz",
        "keys-of-one.json",
        "nulls.parquet",
        "elsewhere.parquet",
        "format.xlsx",
    ),
    *(
        "corner.xlsx",
        "far-row.xlsx",
        "laughs.xlsx",
        "repeated-cells.ods",
        "far.xls",
        "sparse.arff",
        "shape.npz",
    ),
}
LATE = 150  # MB that a process may take before the next look at it


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in SOME else pytest.mark.soak) for name in FILES]
)
def test_a_hostile_file_is_read_or_refused_within_its_limits(name):
    content = FILES[name]()
    confined.warm("calib.export.uploaded")
    watching = Watching(lambda: children(confined._WAITING.process.pid))
    watching.start()
    said = None
    try:
        read_confined(content, name)
    except DataError as error:
        said = error
    most = watching.stop()
    assert most < limits.bounds(content).memory / 1e6 + LIBRARIES + LATE
    if said is not None:
        assert said.remedy
        assert len(str(said)) < 500
        assert "Traceback" not in str(said)


def test_there_are_91_of_them_and_more():
    assert len(FILES) >= 91
    kinds = {"csv", "gz", "json", "parquet", "xlsx", "xls", "ods", "arff", "npz"}
    assert {name.rpartition(".")[2] for name in FILES} >= kinds

"""The select list in PostgreSQL, where its server is installed: a cluster of its own, which ends with the tests."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest

from calib.calibrators import CALIBRATORS, VennAbers, joint_calibrator
from calib.placements.cross_validation import FoldCalibrators
from tests.export.programs import test_classes
from tests.export.programs.engines import answering, columns, names
from tests.export.programs.test_programs import VARIANTS, agree, asked, calibration, expected, is_steps
from tests.export.programs.test_sql import tiny_cases

pytestmark = pytest.mark.soak  # a server is started, and only some machines have one
SERVERS = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))


@pytest.fixture(scope="module")
def psql():
    """Runs SQL and returns what is printed; the server listens on a socket in a folder only."""
    if not SERVERS or shutil.which("psql") is None or (os.geteuid() == 0 and shutil.which("runuser") is None):
        pytest.skip("no PostgreSQL server is installed here")
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are closed to other users
        yield from _server(Path(folder))


def _server(folder):
    bin_, user = SERVERS[-1].parent, []
    if os.geteuid() == 0:  # a server refuses to run as root
        user = ["runuser", "-u", "postgres", "--"]
        shutil.chown(folder, "postgres")
    data, run = str(folder / "data"), {"check": True, "capture_output": True, "text": True, "cwd": folder}
    subprocess.run([*user, bin_ / "initdb", "-D", data, "-A", "trust", "-U", "postgres", "--no-sync"], **run)
    control = [*user, bin_ / "pg_ctl", "-D", data, "-w", "-l", str(folder / "log")]
    subprocess.run([*control, "-o", f"-k {folder} -c listen_addresses='' -c fsync=off", "start"], **run)

    def say(sql: str) -> str:
        command = ["psql", "-h", str(folder), "-U", "postgres", "-qAtX", "-F,", "-v", "ON_ERROR_STOP=1"]
        done = subprocess.run(command, input=sql, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    yield say
    subprocess.run([*control, "-m", "immediate", "stop"], **run)


def answered(psql, fitted, scores, kind="DOUBLE PRECISION"):
    matrix = columns(scores)
    rows = "\n".join("\t".join([str(i), *map(repr, row)]) for i, row in enumerate(matrix.tolist()))
    fields = ", ".join(f"{name} {kind}" for name in names(matrix))
    said = psql(
        f"CREATE TEMP TABLE t (place INTEGER, {fields});\nCOPY t FROM STDIN;\n{rows}\n\\.\n"
        f"{answering(fitted)} ORDER BY place;"
    )
    return np.array([[float(cell or "nan") for cell in line.split(",")[1:]] for line in said.splitlines()])


@pytest.mark.parametrize("unfitted", VARIANTS, ids=repr)
def test_every_calibrator_answers_as_predict_does(unfitted, psql):
    scores, y = calibration()
    fitted = unfitted.fit(scores, y)
    queries = asked(fitted, scores)
    agree(answered(psql, fitted, queries), expected(fitted, queries), is_steps(fitted))


@pytest.mark.parametrize(
    "unfitted", [v for v in VARIANTS if v.takes == "score" and v.key != "none"], ids=repr
)
def test_margins_of_any_size_neither_overflow_nor_underflow(unfitted, psql):
    scores, y = calibration(600, margins=True)
    fitted = unfitted.fit(scores, y)
    queries = asked(fitted, scores, 5000, margins=True)
    agree(answered(psql, fitted, queries), expected(fitted, queries), is_steps(fitted))


@pytest.mark.parametrize("case", range(7))
def test_scores_next_to_0_are_neither_refused_nor_taken_for_0(psql, case):
    fitted, scores = tiny_cases()[case]
    found = answered(psql, fitted, scores)[:, -1]
    np.testing.assert_allclose(found, fitted.predict(scores), rtol=1e-9, atol=1e-306)


def test_a_numeric_column_is_compared_as_doubles(psql):
    scores = np.arange(1001) / 1000
    fitted = VennAbers().fit(scores, np.arange(1001) * 7 % 1001 > np.arange(1001)[::-1])
    agree(answered(psql, fitted, scores, "NUMERIC(9, 3)"), expected(fitted, scores), exact=True)


@pytest.mark.parametrize("key", test_classes.KEYS)
def test_every_calibrator_of_several_classes_answers_as_predict_does(key, psql):
    fitted = joint_calibrator(CALIBRATORS[key]()).fit(test_classes.P, test_classes.Y)
    agree(answered(psql, fitted, test_classes.NEW), test_classes.expected(fitted), exact=False)


def test_folds_and_what_predict_refuses(psql):
    scores, y = calibration(600)
    folds = FoldCalibrators((VennAbers().fit(scores[:300], y[:300]), VennAbers().fit(scores[300:], y[300:])))
    predicted = answered(psql, folds, np.array([[0.0, 1.0], [0.4, np.nan], [np.inf, 0.4], [0.4, 0.6]]))
    assert np.isfinite(predicted).all(axis=1).tolist() == [True, False, False, True]

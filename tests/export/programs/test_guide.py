"""What the guide says about running calibrators elsewhere runs as it stands there."""

import json
import re
import sqlite3
import subprocess
from pathlib import Path

import duckdb
import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from calib import CalibratedClassifier
from calib.calibrators import OneVsRest
from calib.export import write_javascript, write_sql
from tests.export.programs.engines import ENGINES, NODE

GUIDE = (Path(__file__).parents[3] / "docs" / "export.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, flags=re.S)


@pytest.fixture(scope="module")
def names():
    """What the guide's Python leaves behind."""
    found: dict = {}
    for block in blocks("python"):
        exec(block, found)
    return found


def test_the_python_gives_the_calibrators_own_answers(names):
    pairs = names["fitted"].predict_interval([0.3])
    assert (names["p0"], names["p1"]) == tuple(pairs[0])
    assert names["p"] == names["fitted"].predict([0.3])[0]
    np.testing.assert_array_equal(names["merged"], names["fitted"].predict([0.2, 0.3, 0.8]))
    assert isinstance(names["lower"], np.ndarray)


def test_the_javascript_runs_beside_the_exported_file(names, tmp_path):
    (tmp_path / "venn_abers.js").write_text(write_javascript(names["fitted"]), encoding="utf-8")
    (block,) = blocks("js")
    (tmp_path / "run.js").write_text(
        f"{block}console.log(JSON.stringify([p0, p1, p, merged]))", encoding="utf-8"
    )
    done = subprocess.run([NODE, "run.js"], cwd=tmp_path, capture_output=True, text=True, check=True)
    p0, p1, p, merged = json.loads(done.stdout)
    assert (p0, p1, p) == (names["p0"], names["p1"], names["p"])
    assert merged == names["merged"].tolist()


@pytest.mark.parametrize("base", [sqlite3, duckdb])
def test_the_view_of_three_classes_runs(base):
    rows = np.random.default_rng(0).dirichlet([1, 1, 1], 60)
    fitted = OneVsRest("venn_abers").fit(rows, rows.argmax(axis=1))
    *_, view = blocks("sql")
    with base.connect(":memory:") as connection:
        columns = ", ".join(f"score_{k} DOUBLE PRECISION" for k in (1, 2, 3))
        connection.execute(f"CREATE TABLE scores (id INTEGER, {columns})")
        connection.executemany(
            "INSERT INTO scores VALUES (?, ?, ?, ?)", [(i, *row) for i, row in enumerate(rows.tolist())]
        )
        connection.execute(view.replace("/* query */", write_sql(fitted)))
        found = connection.execute("SELECT * FROM calibrated ORDER BY id").fetchall()
    np.testing.assert_allclose(np.array(found)[:, 1:], fitted.predict(rows), rtol=0, atol=1e-12)


@pytest.mark.parametrize("base", [sqlite3, duckdb])
def test_every_query_runs(names, base):
    scores = np.linspace(0, 1, 101)
    with base.connect(":memory:") as connection:
        connection.execute("CREATE TABLE scores (id INTEGER, score DOUBLE PRECISION, label INTEGER)")
        rows = [(i, score, int(score > 0.5)) for i, score in enumerate(scores.tolist())]
        connection.executemany("INSERT INTO scores VALUES (?, ?, ?)", rows)
        select, view, grouped, _ = (
            block.replace("/* select list */", names["select_list"]) for block in blocks("sql")
        )
        said = sorted(connection.execute(select).fetchall())
        np.testing.assert_array_equal([row[3] for row in said], names["fitted"].predict(scores))
        connection.execute(view)
        assert sorted(connection.execute("SELECT id, p FROM calibrated").fetchall()) == [
            (r[0], r[3]) for r in said
        ]
        assert sum(n for _, n, _ in connection.execute(grouped).fetchall()) == 101


@pytest.mark.parametrize("placement", ["train", "split", "cv"])
def test_a_classifier_with_its_calibrator_is_written_as_its_calibrator(placement):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    model = GaussianNB().fit(X[:200], y[:200])
    base = FrozenEstimator(model) if placement == "train" else model
    calibrated = CalibratedClassifier(base, "venn_abers", placement, cv=3, random_state=0).fit(
        X[200:], y[200:]
    )
    scored = calibrated.placed_.score(X)
    scores = scored.scores if placement != "cv" else scored.by_fold.T
    predicted = ENGINES["sqlite"](calibrated, scores)
    np.testing.assert_allclose(predicted[:, -1], calibrated.predict_proba(X)[:, 1], rtol=0, atol=1e-12)

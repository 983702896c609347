"""What the guide says about running calibrators elsewhere runs as it stands there."""

import re
import sqlite3
from pathlib import Path

import duckdb
import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from calib import CalibratedClassifier
from tests.export.programs.engines import ENGINES

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


@pytest.mark.parametrize("base", [sqlite3, duckdb])
def test_every_query_runs(names, base):
    scores = np.linspace(0, 1, 101)
    with base.connect(":memory:") as connection:
        connection.execute("CREATE TABLE scores (id INTEGER, score DOUBLE PRECISION, label INTEGER)")
        rows = [(i, score, int(score > 0.5)) for i, score in enumerate(scores.tolist())]
        connection.executemany("INSERT INTO scores VALUES (?, ?, ?)", rows)
        select, view, grouped = (
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

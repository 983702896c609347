"""The SQL that is downloaded from the page runs, and gives the page's probabilities."""

import sqlite3

import numpy as np

from calib import Recipe, evaluate
from calib.sources import load

QUERY = {"data": "sample:breast_cancer", "model": "naive_bayes"}


def test_downloaded_sql_gives_the_probabilities_of_the_page(tab):
    tab.open("explore_compare", **QUERY)
    content = tab.download(tab.page.get_by_role("button", name="SQL", exact=True).click)
    recipe = Recipe.from_query(QUERY)
    evaluation = evaluate(recipe, load(recipe))
    wanted = evaluation.predictions[list(evaluation.calibrators)[-1]]
    with sqlite3.connect(":memory:") as base:
        base.execute("CREATE TABLE t (score REAL)")
        base.executemany("INSERT INTO t VALUES (?)", evaluation.scores[:, None].tolist())
        said = np.array(base.execute(f"SELECT {content.decode()} FROM t ORDER BY rowid").fetchall())
    np.testing.assert_array_equal(said, np.column_stack([wanted.p0, wanted.p1, wanted.p]))

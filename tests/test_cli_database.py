"""``python -m calib evaluate RECIPE --connection NAME --query NAME``: the numbers of the same rows in a file."""

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest

from calib.__main__ import main

RNG = np.random.default_rng(0)
SECRETS = """
[connections.warehouse]
url = "sqlite:///w.sqlite"
[connections.warehouse.queries]
counted = "SELECT label, p, COUNT(*) AS count FROM scores GROUP BY label, p ORDER BY p, label"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    p = np.round(RNG.random(900), 2)
    rows = pd.DataFrame({"label": (RNG.random(900) < p).astype(int), "p": p})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "secrets.toml").write_text(SECRETS, encoding="utf-8")
    with sqlite3.connect("w.sqlite") as made:
        rows.to_sql("scores", made, index=False)
    rows.to_csv("scores.csv", index=False)
    counts = rows.value_counts(["label", "p"]).rename("count").reset_index().sort_values(["p", "label"])
    counts.to_csv("counted.csv", index=False)
    return tmp_path


def run(*where, **recipe):
    given = {"content": "predictions", "target": "label", "calibrators": ["none", "platt"]} | recipe
    with open("recipe.json", "w", encoding="utf-8") as file:
        json.dump(given, file)
    return main(["evaluate", "recipe.json", *where, "--format", "csv"])


COUNTS = {"weight": "count", "weight_as": "counts", "data_params": {"scores": ["p"]}}


@pytest.mark.parametrize(("name", "recipe"), [("scores", {}), ("counted", COUNTS)])
@pytest.mark.usefixtures("folder")
def test_the_numbers_are_those_of_the_same_rows_in_a_file(capsys, name, recipe):
    assert run(f"{name}.csv", **recipe) == 0
    expected = capsys.readouterr().out
    assert run("--connection", "warehouse", "--query", name, **recipe) == 0
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ((), "Specify either a data file, or --connection with --query"),
        (("scores.csv", "--connection", "warehouse", "--query", "scores"), "Specify either a data file"),
        (("--connection", "warehouse"), "must be used together"),
        (("--connection", "warehouse", "--query", "nothing"), "has no query or table 'nothing'"),
        (("--connection", "elsewhere", "--query", "scores"), "Connection 'elsewhere' is not defined"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_is_not_there_is_refused_by_name(capsys, where, words):
    assert run(*where) == 2
    assert words in capsys.readouterr().err


def test_a_query_without_the_label_is_refused_by_name(folder, capsys):
    secrets = folder / ".streamlit" / "secrets.toml"
    secrets.write_text(SECRETS + 'scored = "SELECT p FROM scores"\n', encoding="utf-8")
    assert run("--connection", "warehouse", "--query", "scored") == 2
    assert "label" in capsys.readouterr().err

"""Real files go the whole way – bytes, table, problems, Dataset, evaluation, figure – without an error.

The sets lie beside the project, with a list of what each holds.
"""

import gzip
from functools import cache

import numpy as np
import pandas as pd
import pytest

from calib import Evaluation, Recipe, evaluate
from calib.data import class_counts, guess_target, prepare, preprocessor, read_table, validate
from calib.figures import DARK, FIGURES, LIGHT
from tests import shared
from tests.pages.app import bring, faults, go, headline, page

SETS = shared.data_sets()
QUICK = Recipe(params={"n_estimators": 20}, calibrators=("none", "platt", "isotonic", "beta", "venn_abers"))


def content_of(name: str) -> bytes:
    return shared.path(f"datasets/{name}.csv").read_bytes()


def test_the_sets_are_as_varied_as_a_user_s():
    shared.path("datasets/sources.csv")
    features = [int(entry["features"]) for entry in SETS.values()]
    assert len(SETS) >= 10
    assert (min(features) <= 5, max(features) >= 290) == (True, True)
    assert sum(int(entry["missing_cells"]) > 0 for entry in SETS.values()) >= 3


@cache
def table_of(name: str) -> pd.DataFrame:
    return read_table(content_of(name), f"{name}.csv")


@cache
def evaluation_of(name: str) -> Evaluation:
    return evaluate(QUICK, prepare(table_of(name), "target"))


each_set = pytest.mark.parametrize("name", shared.swept())


@each_set
def test_a_real_file_is_read_as_its_list_says(name):
    frame, entry = table_of(name), SETS[name]
    assert frame.shape == (int(entry["rows"]), int(entry["features"]) + 1)
    assert class_counts(frame, "target") == {
        label: int(rows) for label, _, rows in (part.rpartition("=") for part in entry["classes"].split("|"))
    }
    assert int(frame.drop(columns="target").isna().sum().sum()) == int(entry["missing_cells"])


@each_set
def test_a_real_file_s_label_is_guessed_and_nothing_forbids_to_learn(name):
    frame = table_of(name)
    assert guess_target(frame) == "target"
    assert all(problem.severity != "error" for problem in validate(frame, "target"))


@each_set
def test_every_row_of_a_real_file_becomes_finite_numbers(name):
    dataset = prepare(table_of(name), "target")
    assert dataset.n == len(table_of(name))
    assert dataset.y.mean() <= 0.5 or dataset.read_as.why == "convention"
    assert np.isfinite(preprocessor(dataset.X).fit(dataset.X).transform(dataset.X)).all()


@each_set
def test_a_real_file_is_evaluated_no_worse_than_by_guessing(name):
    evaluation = evaluation_of(name)
    assert not evaluation.refused
    share = evaluation.dataset.y.mean()
    assert evaluation.metrics.loc["venn_abers", "brier"] < share * (1 - share) + 0.03
    assert np.isfinite(evaluation.metrics.loc["venn_abers", "log_loss"])


@each_set
def test_every_test_row_of_a_real_file_is_in_the_picture(name):
    evaluation = evaluation_of(name)
    record = FIGURES["reliability"].prepare(evaluation)
    assert (record.to_frame().groupby("calibrator")["count"].sum() == len(evaluation.y)).all()
    for theme in (LIGHT, DARK):
        assert len(FIGURES["reliability"].draw(record, theme).to_json()) < 2_000_000


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        pytest.param("breast-cancer_ljubljana", ".csv", marks=pytest.mark.soak),  # nominal
        pytest.param("heart-hungarian", ".tsv", marks=pytest.mark.soak),
        ("house_votes_84", ".csv.gz"),  # missing
        pytest.param("scene", ".csv", marks=pytest.mark.soak),  # 299 columns
        pytest.param("haberman", ".json", marks=pytest.mark.soak),
        pytest.param("german_credit", ".parquet", marks=pytest.mark.soak),
        ("liver_bupa", ".xlsx"),
    ],
)
def test_a_real_file_is_uploaded_and_shown(name, ending, tmp_path):
    content = content_of(name)
    table = pd.read_csv(shared.path(f"datasets/{name}.csv"))
    path = tmp_path / f"{name}{ending}"
    match ending:
        case ".tsv":
            content = table.to_csv(sep="\t", index=False).encode("utf-16")
        case ".csv.gz":
            content = gzip.compress(content)
        case ".json":
            content = table.to_json(orient="records").encode()
        case ".parquet":
            table.to_parquet(path)
            content = path.read_bytes()
        case ".xlsx":
            table.to_excel(path, index=False)
            content = path.read_bytes()
    at = page("explore_data", model="naive_bayes")
    bring(at, path.name, content)
    assert faults(at) == []
    assert headline(at)["Rows"] == f"{len(table):,}"
    go(at, "explore_reliability")
    assert faults(at) == []
    assert len(at.get("plotly_chart")) == 1

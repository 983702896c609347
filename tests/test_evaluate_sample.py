"""A model that learns from a sample and is evaluated on all other rows, which are only counted by score and label."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
from sklearn.naive_bayes import GaussianNB

from calib import Recipe, evaluate
from calib.analysis.audit.of_evaluation import audit_evaluation
from calib.analysis.validation import trained_here
from calib.data import counting, relation
from calib.kernel.checks import InputError
from calib.sources import load

RNG = np.random.default_rng(0)
METHODS = ("none", "platt", "isotonic", "venn_abers")


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    X = RNG.normal(size=(12_000, 4))
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame["kind"] = RNG.choice(["u", "v", "w"], len(X))
    frame.loc[::17, "b"] = np.nan
    frame["y"] = np.where(
        RNG.random(len(X)) < 1 / (1 + np.exp(1 - X[:, 0] - (frame["kind"] == "u"))), "yes", "no"
    )
    return frame


def sampled(frame, **given):
    recipe = Recipe(
        **{"data": "upload:00", "target": "y", "model": "naive_bayes", "calibrators": METHODS}
        | {"data_params": {"learn_rows": 3_000}}
        | given
    )
    return recipe, load(recipe, {"00": frame})


@pytest.mark.parametrize("placement", ["split", "train"])
def test_the_numbers_are_those_of_the_ordinary_evaluation_on_the_same_rows(table, placement, monkeypatch):
    monkeypatch.setattr(relation, "BLOCK_ROWS", 700)
    recipe, data = sampled(table, placement=placement, seed=5)
    found = evaluate(recipe, data)
    assert (data.n, found.size, len(found.rows)) == (3_000, 9_000, found.dataset.n)
    drawn = np.concatenate([chosen for _, chosen, _ in data.rest._passed(None)])
    marked = table.assign(part=np.where(drawn, "train", "test"))
    ordinary, whole = sampled(marked, placement=placement, seed=5, data_params={}, split="file", part="part")
    expected = evaluate(ordinary, whole)
    np.testing.assert_allclose(found.metrics, expected.metrics, rtol=1e-9)
    assert found.verdict.sentence == expected.verdict.sentence
    assert found.recommendation().answer == expected.recommendation().answer
    assert trained_here(found)
    assert found.on_every_row() is found  # the rows that calibrate are not among those evaluated


def test_the_numbers_are_those_of_scikit_learn_by_hand(table):
    numbers = table[["a", "c", "d", "y"]]
    recipe, data = sampled(numbers, placement="none", calibrators=("none",))
    found = evaluate(recipe, data).metrics.loc["none"]
    drawn = np.concatenate([chosen for _, chosen, _ in data.rest._passed(None)])
    model = GaussianNB().fit(numbers.loc[drawn, ["a", "c", "d"]].to_numpy(), numbers.loc[drawn, "y"])
    rest = numbers[~drawn]
    place = list(model.classes_).index(data.classes[1])
    p, y = model.predict_proba(rest[["a", "c", "d"]].to_numpy())[:, place], rest["y"] == data.classes[1]
    expected = [brier_score_loss(y, p), roc_auc_score(y, p), log_loss(y, p)]
    np.testing.assert_allclose(found[["brier", "auc", "log_loss"]].astype(float), expected, rtol=1e-9)


def test_a_base_rate_weighs_the_counted_rows(table):
    recipe, data = sampled(table, base_rate=0.1)
    drawn = np.concatenate([chosen for _, chosen, _ in data.rest._passed(None)])
    marked = table.assign(part=np.where(drawn, "train", "test"))
    ordinary, whole = sampled(marked, data_params={}, split="file", part="part", base_rate=0.1)
    np.testing.assert_allclose(evaluate(recipe, data).metrics, evaluate(ordinary, whole).metrics, rtol=1e-9)


def test_scores_that_differ_in_every_row_are_rounded_within_the_stated_bound():
    scores, y = RNG.random(30_000), RNG.integers(0, 2, 30_000)
    pieces = [(scores[at : at + 1_000], y[at : at + 1_000]) for at in range(0, 30_000, 1_000)]
    lines, (note,) = counting.count_scores(pieces, most=2_000)
    assert lines["n"].sum() == 30_000
    assert lines["score"].nunique() <= 2_000
    by_hand = pd.DataFrame({"label": y, "score": scores}).sort_values("score")
    order = np.repeat(lines["score"].to_numpy(), lines["n"].to_numpy())
    moved = float(note.partition("each score changed by at most ")[2].split(",")[0])
    assert np.abs(np.sort(order) - by_hand["score"]).max() <= moved
    brier = np.average((lines["score"] - lines["label"]) ** 2, weights=lines["n"])
    assert abs(brier - ((scores - y) ** 2).mean()) <= 2 * moved


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"evaluation": "folds"}, "evaluation is 'folds'"),
        ({"placement": "cv"}, "placement is 'cv'.*Choose placement='split' or 'train'"),
        ({"cluster": "kind"}, "cluster is 'kind', but learn_rows is set"),
        ({"time": "a", "split": "time"}, "time is 'a'"),
        ({"weight": "a"}, "weight is 'a'"),
        ({"segment": ("kind = u",)}, "segment is"),
        ({"content": "predictions"}, "content is 'predictions'"),
        ({"data_params": {"learn_rows": 3_000, "merge_labels": True}}, r"data_params\.merge_labels is True"),
        ({"data_params": {"learn_rows": 9_000}}, "Choose at most 6,000"),
        ({"target": "kind"}, "three or more classes.*the positive class"),
    ],
)
def test_what_needs_all_rows_is_refused_by_name(table, given, words):
    with pytest.raises(InputError, match=words):
        evaluate(*sampled(table, **given))


def test_one_class_of_three_can_be_predicted_against_the_rest(table):
    recipe, data = sampled(table, target="kind", positive="u", calibrators=("none",))
    found = evaluate(recipe, data)
    assert found.size == 9_000
    assert found.share == pytest.approx((table["kind"] == "u").mean(), abs=2e-4)


def test_groups_of_counted_rows_are_refused(table):
    found = evaluate(*sampled(table))
    with pytest.raises(InputError, match="only counted by score and label"):
        audit_evaluation(found, "none")
    refused = evaluate(*sampled(table, calibrators=("none", "multicalibration"))).refused
    assert "needs the features of each row" in refused["multicalibration"]


MEASURED = """
import resource, sys
from calib.__main__ import main
assert main(sys.argv[1:]) == 0
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def test_memory_grows_with_the_sample_and_not_with_the_table(tmp_path):
    def megabytes(rows: int) -> float:
        path = tmp_path / f"{rows}.parquet"
        X = {f"x{i}": RNG.random(rows, dtype=np.float32) for i in range(20)}
        X["y"] = (RNG.random(rows) < X["x0"]).astype(np.int8)
        pyarrow.parquet.write_table(pa.table(X), path, row_group_size=50_000)
        given = {"target": "y", "model": "decision_tree", "params": {"max_depth": 3}, "calibrators": ["none"]}
        (tmp_path / "recipe.json").write_text(json.dumps(given), encoding="utf-8")
        command = ["evaluate", str(tmp_path / "recipe.json"), str(path), "--learn-rows", "5000"]
        run = subprocess.run(
            [sys.executable, "-c", MEASURED, *command], capture_output=True, text=True, check=True
        )
        return float(run.stdout.split()[-1])

    few, many = 50_000, 400_000
    as_a_table = (many - few) * 20 * 8 / 2**20
    assert megabytes(many) - megabytes(few) < as_a_table / 2

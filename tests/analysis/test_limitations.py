"""Each limit follows from the split, the rows or the settings, with numbers that are counted here again."""

import numpy as np
import pandas as pd

from calib import Evaluation, Recipe, evaluate
from calib.analysis.recommendation.advice import recommend
from calib.analysis.validation import limits
from calib.calibrators import name_of
from calib.sources import load, with_test_file
from tests.saying import assert_says


def said(**fields):
    """(what the limits say as one text, the Evaluation)."""
    recipe = Recipe(**{"model": "naive_bayes", "calibrators": ("none", "platt")} | fields)
    evaluation = evaluate(recipe, load(recipe))
    return " ".join(limits(evaluation)), evaluation


def uploaded(frame, **fields):
    recipe = Recipe(data="upload:00ff", target="label", model="naive_bayes", **fields)
    return evaluate(recipe, load(recipe, {"00ff": frame}))


def table(n=400):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    return pd.DataFrame({"x": x, "label": (rng.random(n) < 1 / (1 + np.exp(-x))).astype(int)})


def test_where_the_test_rows_come_from():
    text, _ = said(data="sample:loans")
    assert "from one table" in text
    assert "internal validation" in text
    text, _ = said(data="sample:dated", time="ordered", split="time")
    assert "temporal" in text
    assert "internal" not in text
    text, _ = said(data="sample:customers", cluster="customer_id", split="cluster")
    assert_says(text, "clusters", "new")
    text, evaluation = said(data="sample:loans", **with_test_file("sample:loans"))
    assert evaluation.dataset.test_file in text
    assert "internal" not in text
    text, _ = said(data="synthetic:gaussian")
    assert "simulated" in text


def test_one_split_and_folds_are_told_apart():
    text, _ = said(data="sample:breast_cancer", seed=7)
    assert "split once with seed 7" in text
    text, _ = said(data="sample:breast_cancer", evaluation="folds", folds=3)
    assert "3 folds" in text
    assert "no single model was validated" in text
    assert "split once" not in text


def test_a_method_chosen_on_the_test_rows_is_named():
    text, evaluation = said(data="sample:digits")
    assert f"use {name_of(recommend(evaluation).choice)}" in text
    assert_says(text, "2 methods", "same test rows")
    text, _ = said(data="sample:digits", calibrators=("none",))
    assert "same test rows" not in text
    text, _ = said(data="sample:digits", placement="train")
    assert "fitted to training scores" in text


def test_the_number_of_minority_rows_and_whether_it_is_usual():
    text, evaluation = said(data="sample:breast_cancer")
    rare = int(np.bincount(evaluation.y).min())
    assert_says(text, f"{rare} test rows", "fewer", 100)
    text, evaluation = said(data="sample:loans")
    assert f"{np.bincount(evaluation.y).min()} test rows. " in text


def test_rows_excluded_and_rows_with_gaps_are_counted():
    frame = table()
    frame["label"] = frame["label"].astype(float)
    frame.loc[:39, "label"] = np.nan
    frame.loc[100:199, "x"] = np.nan
    evaluation = uploaded(frame)
    text = " ".join(limits(evaluation))
    assert_says(text, "40 of 400 rows", "10 %", "excluded")
    gaps = int(evaluation.dataset.X.iloc[evaluation.rows]["x"].isna().sum())
    assert gaps
    assert f"{gaps} test rows" in text
    complete = " ".join(limits(uploaded(table())))
    assert "excluded" not in complete
    assert "missing values" not in complete


def test_clusters_are_counted_and_a_split_through_them_is_told():
    text, _ = said(data="sample:loans")
    assert "No cluster column was chosen" in text
    text, evaluation = said(data="sample:customers", cluster="customer_id", split="cluster")
    assert f"{len(np.unique(evaluation.cluster)):,} clusters" in text
    assert "both the training and the test set" not in text
    text, _ = said(data="sample:customers", cluster="customer_id")
    assert "both the training and the test set" in text


def test_importance_weights_are_told_and_counts_are_not():
    frame = table()
    frame["w"] = np.random.default_rng(1).random(len(frame)) + 0.5
    assert "by the column “w”" in " ".join(limits(uploaded(frame, weight="w")))
    text, _ = said(data="sample:counts", content="predictions", weight="count")
    assert "weights represent" not in text


def test_the_base_rate_for_which_the_numbers_hold():
    text, evaluation = said(data="sample:loans")
    assert_says(text, f"{100 * evaluation.y.mean():.3g} %", "as in the test set", "differ")
    text, _ = said(data="sample:loans", base_rate=0.05)
    assert "deployment base rate of 5 %" in text
    assert "as in the test set" not in text


def test_subgroups_and_costs_that_nobody_chose():
    text, evaluation = said(data="sample:loans")
    assert "No subgroups were examined" in text
    assert "No costs were chosen" in text
    text = " ".join(limits(evaluation, "income", costs_chosen=True))
    assert "Only the subgroups by “income”" in text
    assert "No costs were chosen" not in text


def test_a_model_from_elsewhere_may_have_seen_the_rows():
    rng = np.random.default_rng(0)
    p = rng.random(300)
    evaluation = Evaluation.from_predictions(rng.random(300) < p, p)
    text = " ".join(limits(evaluation))
    assert "trained elsewhere" in text
    assert "split once" not in text

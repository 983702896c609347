"""Validity over all rows: means by brute force, of class 1 and of the predicted label, and the verdict's side."""

import numpy as np
import pandas as pd
import pytest

from calib.figures.interval_means import draw, prepare
from calib.kernel.checks import InputError
from calib.kernel.records import Dataset
from calib.kernel.wording import some_of
from tests.figures.evaluations import METHODS, evaluation


def test_means_of_class_one_and_of_the_predicted_label():
    said = [evaluation(), evaluation(placement="train")]
    record = prepare(said)
    table = record.to_frame().set_index(["method", "event"])
    for series in record.series:
        predictions = series.predictions
        own = table.loc[series.name, "class 1"]
        assert (own.lower, own.upper) == pytest.approx((predictions.p0.mean(), predictions.p1.mean()))
        assert own.observed == pytest.approx(said[0].y.mean())
        ends = [(p0, p1) if p0 > 1 - p1 else (1 - p1, 1 - p0) for p0, p1 in predictions.pairs.tolist()]
        right = [
            (p0 > 1 - p1) == label
            for (p0, p1), label in zip(predictions.pairs.tolist(), said[0].y, strict=True)
        ]
        label = table.loc[series.name, "predicted label"]
        assert (label.lower, label.upper) == pytest.approx(tuple(np.mean(ends, axis=0)))
        assert label.observed == pytest.approx(np.mean(right))
    assert "Simplified" in record.caption
    held = sum(one.valid for one, _ in record.summaries)
    assert f"as {some_of(held, 4, 'method')} predicted" in record.title
    assert record.title.startswith("Class 'yes' occurred in "), "whatever label counts as class 1"
    assert len(draw(record).data) == 4 * 4


def test_the_verdict_says_on_which_side_the_frequency_lies():
    from calib import Recipe, evaluate

    rng = np.random.default_rng(1)
    score = rng.random(6000)
    y = (rng.random(6000) < score).astype(int)
    recipe = Recipe(content="predictions", calibrators=METHODS)
    evaluation = evaluate(recipe, Dataset("given", pd.DataFrame({"s": score}), y, predictions=True))
    assert prepare(evaluation).table()["Frequency in interval?"].str.startswith("yes").all()
    for turned, words in (
        (np.ones_like(evaluation.y), "no, above"),
        (np.zeros_like(evaluation.y), "no, below"),
    ):
        wrong = {
            key: type(one)(turned, one.p, one.lower, one.upper, one.p0, one.p1)
            for key, one in evaluation.predictions.items()
            if one.lower is not None
        }
        from dataclasses import replace

        assert set(
            prepare(replace(evaluation, y=turned, predictions=wrong)).table()["Frequency in interval?"]
        ) == {words}
        alone = prepare(replace(evaluation, y=turned, predictions=dict(list(wrong.items())[:1])))
        assert alone.title.endswith(f"not as {alone.series[0].name} predicted")


def test_without_intervals_the_reason_is_said():
    with pytest.raises(InputError, match="calibration scores"):
        prepare(evaluation(placement="none"))

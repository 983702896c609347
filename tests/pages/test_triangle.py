"""The triangle's numbers are those of the experiment with three classes."""

import json
import subprocess

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from calib.experiments.three_classes import ANGLES, error, model, posterior
from calib.export import playground
from pages.ui.learn.triangle import THREE_CLASSES
from tests.export.programs.engines import NODE

PROGRAM = """
const all = photos(1500)
for (const model of JSON.parse(require("fs").readFileSync(0, "utf8"))) {
    const { predicted, after, before, now } = classified(all, model)
    const back = predicted.map(P => truthOf(P, model)), power = bestPower(predicted, all.map(({ truth }) => truth))
    const truths = all.map(({ truth }) => truth), shows = all.map(({ shows }) => shows)
    console.log(JSON.stringify({ truths, shows, predicted, after, back, before, now, power }))
}"""
MODELS = [(3.0, 1.0), (1.0, 2.0), (2.5, 0.7), (1.0, 1.0)]


@pytest.fixture(scope="module")
def found():
    cases = [
        {"tilt": tilt, "sharpness": sharpness, "calibrator": key}
        for tilt, sharpness in MODELS
        for key in ("none", "temperature", "rest", "vector")
    ]
    code = playground.script((*playground.NUMBERS, THREE_CLASSES)) + PROGRAM
    done = subprocess.run([NODE, "-e", code], input=json.dumps(cases), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return list(zip(cases, map(json.loads, done.stdout.splitlines()), strict=True))


def test_model_and_errors_are_those_of_the_experiment(found):
    for case, one in found:
        q, P, after = (np.array(one[name]) for name in ("truths", "predicted", "after"))
        np.testing.assert_allclose(P, model(q, case["tilt"], case["sharpness"]), rtol=0, atol=1e-12)
        np.testing.assert_allclose(one["back"], q, rtol=0, atol=1e-9)
        for name, answer in (("before", P), ("now", after)):
            top = answer.argmax(axis=1)
            rows = np.arange(len(q))
            assert one[name]["confidence"] == pytest.approx(error(q[rows, top], answer[rows, top]), abs=1e-9)
            classes = np.mean([error(q[:, k], answer[:, k]) for k in range(3)])
            assert one[name]["classes"] == pytest.approx(classes, abs=1e-9)
        np.testing.assert_allclose(after.sum(axis=1), 1)


def test_photos_show_each_animal_as_often_as_is_true(found):
    _, one = found[0]
    q, shows = np.array(one["truths"]), np.array(one["shows"])
    for k in range(3):
        for low, high in ((0, 0.2), (0.2, 0.8), (0.8, 1)):
            inside = (q[:, k] >= low) & (q[:, k] < high)
            expected, spread = q[inside, k].sum(), np.sqrt((q[inside, k] * (1 - q[inside, k])).sum())
            assert abs((shows[inside] == k).sum() - expected) < 4 * spread


def test_true_probabilities_follow_bayes_rule():
    centres = 1.5 * np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])
    X = np.random.default_rng(0).normal(size=(200, 2))
    densities = np.exp(-((X[:, None] - centres) ** 2).sum(axis=2) / 2)
    np.testing.assert_allclose(posterior(X, centres), densities / densities.sum(axis=1, keepdims=True))


def test_the_power_has_the_lowest_log_loss(found):
    for _, one in found:
        q, logs = np.array(one["truths"]), np.log(one["predicted"])
        best = minimize_scalar(
            lambda power, logs=logs, q=q: -(q * log_softmax(power * logs, axis=1)).sum(),
            bounds=(0.1, 5),
            method="bounded",
            options={"xatol": 1e-10},
        )
        assert one["power"] == pytest.approx(best.x, abs=1e-6)


def test_vector_scaling_finds_the_truth_and_temperature_scaling_only_without_a_favour(found):
    for case, one in found:
        if case["calibrator"] == "vector":
            np.testing.assert_allclose(one["after"], one["truths"], atol=1e-9)
        if case["calibrator"] == "temperature":
            assert (one["now"]["classes"] < 1e-6) == (case["tilt"] == 1)

"""Calibrators of K classes as SQL, ONNX, Python and JavaScript: each engine answers as ``predict`` does."""

import numpy as np
import pytest

from calib.calibrators import CALIBRATORS, TABLES, OneVsRest, Pairwise, joint_calibrator
from calib.export import write_javascript, write_onnx, write_python, write_sql
from calib.kernel.checks import InputError

from . import engines

RNG = np.random.default_rng(0)
K = 4
Y = RNG.integers(0, K, 400)
P = RNG.dirichlet([1, 1, 1, 1], 400) * 0.7 + 0.3 * np.eye(K)[Y]
P[:8] = np.eye(K)[RNG.integers(0, K, 8)]  # certain rows
NEW = np.vstack([RNG.dirichlet([0.5, 0.5, 0.5, 0.5], 60), np.eye(K), P[:20], np.full((1, K), 1 / K)])
KEYS = [
    key
    for key, method in CALIBRATORS.everything().items()
    if method.input not in TABLES and key != "pairwise"
]
ENGINES = [engines.sqlite, engines.duckdb, engines.onnx, engines.python, engines.javascript]


def expected(fitted):
    answers = [fitted.predict(NEW)]
    if fitted.gives_interval:
        pairs = fitted.predict_interval(NEW)
        answers.append(pairs.reshape(len(NEW), -1))
    return np.hstack(answers)


@pytest.mark.parametrize("key", KEYS)
def test_every_engine_answers_as_predict_does(key):
    fitted = joint_calibrator(CALIBRATORS[key]()).fit(P, Y)
    for engine in ENGINES:
        np.testing.assert_allclose(engine(fitted, NEW), expected(fitted), atol=1e-11, err_msg=engine.__name__)


@pytest.mark.parametrize("key", ["isotonic", "vector", "structured_matrix"])
def test_a_class_without_calibration_rows_keeps_its_probability(key):
    there = Y != 2
    fitted = joint_calibrator(CALIBRATORS[key]()).fit(P[there], Y[there])
    for engine in ENGINES:
        np.testing.assert_allclose(engine(fitted, NEW), expected(fitted), atol=1e-11, err_msg=engine.__name__)


def test_a_row_of_zeros_is_shared_by_all():
    """Isotonic regression can give every class 0."""
    fitted = OneVsRest("isotonic").fit(np.eye(3)[[0, 1, 2, 0, 1, 2]], [1, 2, 0, 1, 2, 0])
    rows = np.eye(3) * 0.4 + 0.2
    assert engines.python(fitted, rows) == pytest.approx(fitted.predict(rows))


@pytest.mark.parametrize("write", [write_sql, write_onnx, write_python, write_javascript])
def test_pairwise_calibrators_are_refused_by_name(write):
    with pytest.raises(InputError, match="Pairwise Venn–Abers cannot .*SQL, ONNX"):
        write(Pairwise().fit(P, Y))

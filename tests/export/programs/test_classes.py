"""Calibrators of K classes as SQL, ONNX, Python and JavaScript: each engine answers as ``predict`` does."""

import numpy as np
import pytest

from calib.calibrators import CALIBRATORS, INPUT_TABLES, OneVsRest, Pairwise, joint_calibrator
from calib.export import (
    read_calibrator,
    write_calibrator,
    write_javascript,
    write_onnx,
    write_program,
    write_python,
    write_sql,
)
from calib.export.programs import sql
from calib.export.programs.formulas import MOST_STEPS, with_few_steps
from calib.kernel.checks import InputError

from . import engines

RNG = np.random.default_rng(0)
K = 4
Y = RNG.integers(0, K, 400)
P = RNG.dirichlet([1, 1, 1, 1], 400) * 0.7 + 0.3 * np.eye(K)[Y]
P[:8] = np.eye(K)[RNG.integers(0, K, 8)]  # certain rows
NEW = np.vstack([RNG.dirichlet([0.5, 0.5, 0.5, 0.5], 60), np.eye(K), P[:20], np.full((1, K), 1 / K)])
KEYS = [key for key, method in CALIBRATORS.everything().items() if method.input not in INPUT_TABLES]
ENGINES = [engines.sqlite, engines.duckdb, engines.onnx, engines.python, engines.javascript]


def expected(fitted, rows=NEW):
    answers = [fitted.predict(rows)]
    if fitted.gives_interval:
        pairs = fitted.predict_interval(rows)
        answers.append(pairs.reshape(len(rows), -1))
    return np.hstack(answers)


@pytest.mark.parametrize("key", KEYS)
def test_every_engine_answers_as_predict_does(key):
    fitted = joint_calibrator(CALIBRATORS[key]()).fit(P, Y)
    for engine in ENGINES:
        np.testing.assert_allclose(engine(fitted, NEW), expected(fitted), atol=1e-11, err_msg=engine.__name__)


@pytest.mark.parametrize("key", ["venn_abers", "structured_matrix", "pairwise"])
def test_duckdb_answers_the_same_without_the_fences(key, monkeypatch):
    fitted = joint_calibrator(CALIBRATORS[key]()).fit(P, Y)
    assert sql.FENCE in write_sql(fitted).partition("*/")[2]
    monkeypatch.setattr(sql, "FENCE", "")
    np.testing.assert_allclose(engines.duckdb(fitted, NEW), expected(fitted), atol=1e-11)


@pytest.mark.parametrize("key", ["isotonic", "vector", "structured_matrix", "pairwise"])
def test_a_class_without_calibration_rows_keeps_its_probability(key):
    there = Y != 2
    fitted = joint_calibrator(CALIBRATORS[key]()).fit(P[there], Y[there])
    for engine in ENGINES:
        np.testing.assert_allclose(engine(fitted, NEW), expected(fitted), atol=1e-11, err_msg=engine.__name__)


@pytest.mark.parametrize("key", ["isotonic", "venn_abers"])
def test_of_two_classes_one_calibrator_answers_for_both(key):
    both, new = (np.column_stack([rows[:, :2].sum(axis=1), rows[:, 2:].sum(axis=1)]) for rows in (P, NEW))
    fitted = OneVsRest(key).fit(both, Y > 1)
    for engine in (engines.python, engines.duckdb):
        np.testing.assert_allclose(engine(fitted, new), expected(fitted, new), atol=1e-11)


def test_a_row_of_zeros_is_shared_by_all():
    """Isotonic regression can give every class 0."""
    fitted = OneVsRest("isotonic").fit(np.eye(3)[[0, 1, 2, 0, 1, 2]], [1, 2, 0, 1, 2, 0])
    rows = np.eye(3) * 0.4 + 0.2
    assert engines.python(fitted, rows) == pytest.approx(fitted.predict(rows))


@pytest.mark.parametrize("fitted", [Pairwise("isotonic"), CALIBRATORS["vector"]()], ids=repr)
def test_rounding_beyond_1_is_taken_for_1(fitted):
    rows = np.vstack([np.eye(3) * 0.4 + 0.2, [[1.0, 1.2e-16, 0.0]]])
    assert rows[-1].sum() > 1
    fitted.fit(rows, [0, 1, 2, 0])
    for engine in ENGINES:
        assert engine(fitted, rows)[-1, 0] == fitted.predict(rows)[-1, 0] == 1


TEN = 10
SMALL = 200_000  # bytes


def ten_classes(n, seed=1):
    """Rows of ten probabilities that sum to 1, many near 0, and classes that go with them."""
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(TEN, 0.3), n)
    sharp = rows**1.5 / (rows**1.5).sum(axis=1, keepdims=True)
    labels = (rng.random((n, 1)) > np.cumsum(sharp, axis=1)).sum(axis=1)
    return rows, np.minimum(labels, TEN - 1)


def questions(calibration, m):
    """Odd rows, certain ones, calibration rows, which are ties with breakpoints, single precision, and others."""
    odd = np.eye(TEN)[:6]
    odd[0, :2] = 1.0000001, -1e-17
    odd[1, 0], odd[2, 1], odd[3, 2], odd[4, 3], odd[5, 5] = np.nan, np.inf, -np.inf, -2e-6, 1.01
    single = ten_classes(m, 2)[0].astype(np.float32).astype(np.float64)
    rows = np.vstack([odd, np.eye(TEN), np.full((1, TEN), 0.1), calibration, single, ten_classes(m, 3)[0]])
    return rows[:m]


def agrees(fitted, rows):
    """Every engine gives the answers of ``predict``, and none for the odd rows but the first."""
    fair = np.ones(len(rows), dtype=bool)
    fair[1:6] = False
    wanted = np.full((len(rows), TEN), np.nan)
    wanted[fair] = fitted.predict(rows[fair])
    if fitted.gives_interval:
        ends = np.full((len(rows), 2 * TEN), np.nan)
        ends[fair] = fitted.predict_interval(rows[fair]).reshape(fair.sum(), -1)
        wanted = np.hstack([wanted, ends])
    for engine in ENGINES:
        np.testing.assert_allclose(engine(fitted, rows), wanted, rtol=0, atol=1e-11, err_msg=engine.__name__)


@pytest.mark.parametrize("m", [600, pytest.param(100_000, marks=pytest.mark.soak)])
@pytest.mark.parametrize("key", KEYS)
def test_ties_ends_single_precision_and_refused_rows_of_ten_classes(key, m):
    rows, labels = ten_classes(180)
    fitted = joint_calibrator(CALIBRATORS[key]()).fit(rows, labels)
    assert with_few_steps(fitted)[0] is fitted or key in ("venn_abers", "pairwise")
    agrees(with_few_steps(fitted)[0], questions(rows, m))


@pytest.mark.parametrize("n", [2000, pytest.param(20_000, marks=pytest.mark.soak)])
@pytest.mark.parametrize("key", KEYS)
def test_a_program_of_ten_classes_is_small(key, n):
    fitted = joint_calibrator(CALIBRATORS[key]()).fit(*ten_classes(n))
    for language in ("sql", "onnx", "python", "js"):
        assert len(write_program(fitted, language)) <= SMALL, language


@pytest.mark.parametrize("key", ["venn_abers", "pairwise"])
def test_merged_steps_contain_the_intervals_and_the_file_says_by_how_much(key):
    rows, labels = ten_classes(1500)
    fitted = joint_calibrator(CALIBRATORS[key]()).fit(rows, labels)
    few, (note,) = with_few_steps(fitted)
    for exact, merged in zip(fitted.calibrators_.values(), few.calibrators_.values(), strict=True):
        scores = exact.aligned_steps()[0]
        near = np.clip(
            np.concatenate([scores, np.nextafter(scores, 0), np.nextafter(scores, 1), [0, 1]]), 0, 1
        )
        (p0, p1), (low, high) = exact.predict_interval(near).T, merged.predict_interval(near).T
        assert (low <= p0).all()
        assert (high >= p1).all()
        assert ((low <= merged.predict(near)) & (merged.predict(near) <= high)).all()
    steps = sum(len(each.table.p) for each in few.calibrators_.values())
    assert 0.8 * MOST_STEPS < steps <= MOST_STEPS
    assert np.abs(few.predict(rows) - fitted.predict(rows)).max() < 0.02
    assert f"{steps:,} steps" in note
    for written in (write_sql(fitted), write_python(fitted), write_javascript(fitted)):
        assert f"{steps:,} steps" in written
    assert f"{steps:,} steps".encode() in write_onnx(fitted)
    saved = read_calibrator(write_calibrator(fitted, classes=list("0123456789")))
    np.testing.assert_array_equal(saved.predict(rows).p, fitted.predict(rows))


def test_few_steps_stay_exact():
    fitted = OneVsRest("venn_abers").fit(P, Y)
    assert with_few_steps(fitted) == (fitted, ())


def test_a_score_with_the_name_of_an_answer_is_refused_and_the_table_has_a_name():
    fitted = OneVsRest("isotonic").fit(P, Y)
    with pytest.raises(InputError, match="score must not be 'p_0' in SQL"):
        write_sql(fitted, [f"p_{k}" for k in range(K)])
    assert 'FROM warehouse."Today"' in write_sql(fitted, table="warehouse.Today")


def test_columns_that_are_no_columns_are_refused():
    module: dict = {}
    exec(write_python(OneVsRest("isotonic").fit(P, Y)), module)
    with pytest.raises(ValueError, match=r"calibrate\(\*P.T\)"):
        module["calibrate"](P, P, P, P)
    with pytest.raises(ValueError, match="shorter"):
        module["calibrate"]([0.25, 0.5], [0.25], [0.25, 0.5], [0.25, 0.5])

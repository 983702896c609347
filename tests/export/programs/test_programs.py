"""A calibrator written in another language answers there as ``predict`` does here."""

import ast
import json
import sqlite3

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from calib import Recipe, evaluate
from calib.calibrators import (
    CALIBRATORS,
    INPUT_TABLES,
    PPA,
    Isotonic,
    Platt,
    Rank,
    ScoreCalibrator,
    Venn,
    VennAbers,
)
from calib.calibrators.histogram import Histogram
from calib.calibrators.spline import Spline
from calib.export import (
    LANGUAGES,
    calibrator_json,
    check_written,
    read_calibrator,
    write_calibrator,
    write_javascript,
    write_onnx,
    write_program,
    write_python,
    write_sql,
)
from calib.kernel.checks import InputError
from calib.kernel.formula import Expression, sigmoid
from calib.placements.cross_validation import FoldCalibrators, merge_folds
from calib.sources import load
from tests.export.programs.engines import ENGINES, run

EXACT = ("venn", "venn_abers", "histogram")
VARIANTS = [
    *(method() for method in CALIBRATORS.values() if method.input not in INPUT_TABLES),
    *(Isotonic(between=between, regularise=True) for between in ("linear", "step", "nearest")),
    *(Venn(taxonomy, bins=7, merge="square") for taxonomy in ("uniform", "quantile")),
    VennAbers(merge="midpoint"),
    VennAbers(merge="square"),
    PPA(variant="sigmoid"),
    Platt(on="log-odds"),
    Histogram(strategy="uniform", bins=200),
    Spline(knots=3, penalty=0.01),
]


def calibration(n=1500, margins=False, seed=0):
    """Scores with ties, and labels that go with them."""
    rng = np.random.default_rng(seed)
    p = np.concatenate([rng.integers(0, 57, n // 3) / 56, rng.random(n - n // 3)])
    y = (rng.random(n) < p**1.5).astype(int)
    return (8 * p - 4) ** 3 if margins else p, y


def asked(fitted, scores, m=20_000, margins=False, seed=1):
    """Ties, every breakpoint, one float beside each, points between and beyond them, and any others: m scores."""
    breaks = [
        values
        for values in vars(fitted).values()
        if np.ndim(values) == 1 and np.asarray(values).dtype == float
    ]
    steps = fitted.aligned_steps()[0] if hasattr(fitted, "aligned_steps") else np.array([0.5])
    bins = np.concatenate([np.arange(201) / 200, (np.arange(1, 8) - 1e-9) / 7])
    points = np.concatenate(
        [scores, np.unique(scores)[1:] / 2 + np.unique(scores)[:-1] / 2, steps, bins, *breaks]
    )
    points = points[np.isfinite(points)]
    near = np.concatenate([points, np.nextafter(points, -np.inf), np.nextafter(points, np.inf)])
    rng = np.random.default_rng(seed)
    rest = rng.normal(scale=50, size=m) if margins else rng.random(m)
    far = np.array([-1e300, -800.0, 800.0, 1e300, 5e-324, 1.7976931348623157e308])
    every = np.concatenate([near, far, rest])
    return (every if margins else every[(every >= 0) & (every <= 1)])[: max(m, len(near))]


def expected(fitted, scores):
    p = fitted.predict(scores)[:, None]
    return np.hstack([fitted.predict_interval(scores), p]) if fitted.gives_interval else p


def is_steps(fitted):
    return fitted.key in EXACT or getattr(fitted, "between", "linear") != "linear"


def agree(predicted, wanted, exact):
    assert predicted.shape == wanted.shape
    if exact:
        np.testing.assert_array_equal(predicted, wanted)
    else:
        np.testing.assert_allclose(predicted, wanted, rtol=0, atol=1e-12)


MANY = pytest.param(1500, 20_000, marks=pytest.mark.soak)


@pytest.mark.parametrize(("n", "m"), [(200, 2000), MANY])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("unfitted", VARIANTS, ids=repr)
def test_every_calibrator_answers_as_predict_does_of_weighted_rows_too(unfitted, engine, n, m):
    scores, y = calibration(n)
    fitted = unfitted.fit(scores, y, sample_weight=np.random.default_rng(2).integers(1, 5, n))
    queries = asked(fitted, scores, m)
    assert len(queries) >= m
    agree(ENGINES[engine](fitted, queries), expected(fitted, queries), is_steps(fitted))


@pytest.mark.parametrize("distinct", [2, 3, 40])
@pytest.mark.parametrize("unfitted", VARIANTS, ids=repr)
def test_beyond_the_calibration_scores_programs_go_on_as_predict_does(unfitted, distinct):
    """Frequencies of two and three scores rise; those of forty also fall, so a curve is level at its upper end."""
    scores = np.resize(np.linspace(0.3, 0.7, distinct), 400)
    truth = scores if distinct < 40 else 0.9 - 20 * (scores - 0.5) ** 2
    fitted = unfitted.fit(scores, (np.random.default_rng(3).random(400) < truth).astype(int))
    queries = np.concatenate([np.linspace(0, 1, 101), np.unique(scores)])
    agree(ENGINES["python"](fitted, queries), expected(fitted, queries), is_steps(fitted))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "unfitted", [v for v in VARIANTS if v.takes == "score" and v.key != "none"], ids=repr
)
def test_margins_of_any_size_are_answered_too(unfitted, engine):
    scores, y = calibration(200, margins=True)
    fitted = unfitted.fit(scores, y)
    queries = asked(fitted, scores, 1000, margins=True)
    agree(ENGINES[engine](fitted, queries), expected(fitted, queries), is_steps(fitted))


@pytest.mark.soak
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "unfitted", {v.kind + getattr(v, "between", ""): v for v in VARIANTS}.values(), ids=repr
)
def test_a_million_scores(unfitted, engine):
    scores, y = calibration(20_000)
    fitted = unfitted.fit(scores, y)
    queries = asked(fitted, scores, 1_000_000)
    assert len(queries) == 1_000_000
    agree(ENGINES[engine](fitted, queries), expected(fitted, queries), is_steps(fitted))


@pytest.mark.parametrize(
    "key", [key for key, method in CALIBRATORS.items() if method.input not in INPUT_TABLES]
)
def test_one_that_went_through_a_file_answers_alike(key):
    scores, y = calibration(200)
    fitted = CALIBRATORS[key]().fit(scores, y)
    saved = read_calibrator(write_calibrator(fitted))
    queries = np.linspace(0, 1, 301)
    np.testing.assert_array_equal(ENGINES["python"](saved, queries), ENGINES["python"](fitted, queries))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("merge", ["log", "square", "midpoint"])
def test_cross_venn_abers_merges_its_folds_as_the_placement_does(merge, engine):
    scores, y = calibration(900)
    parts = np.arange(900).reshape(3, 300)
    folds = FoldCalibrators(tuple(VennAbers(merge=merge).fit(scores[part], y[part]) for part in parts))
    rng = np.random.default_rng(4)
    queries = rng.random((3000, 3))
    queries[:900] = rng.choice(scores, (900, 3))  # ties; the outermost ones have pairs of 0 and 1
    queries[900:902] = [[0, 0, 0], [1, 1, 1]]
    pairs = [fold.predict_interval(column) for fold, column in zip(folds.folds, queries.T, strict=True)]
    p0, p1 = np.moveaxis(np.stack(pairs), 2, 0)
    wanted = merge_folds(p0, p1, merge)
    agree(ENGINES[engine](folds, queries), np.column_stack([wanted.p0, wanted.p1, wanted.p]), exact=False)
    assert (wanted.p0 == 0).any()
    assert (wanted.p1 == 1).any()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("key", ["isotonic", "beta", "logistic", "spline", "venn", "venn_abers", "histogram"])
def test_one_class_is_a_constant_or_its_own_table(key, label, engine):
    scores = np.linspace(0.1, 0.9, 9)
    fitted = CALIBRATORS[key]().fit(scores, np.full(9, label))
    queries = np.append(scores, [0.0, 0.15, 1.0])
    agree(ENGINES[engine](fitted, queries), expected(fitted, queries), exact=True)


@pytest.mark.parametrize("engine", ENGINES)
def test_thousands_of_breakpoints_are_answered_exactly(engine):
    scores = np.sort(np.random.default_rng(0).random(6000))
    fitted = VennAbers().fit(scores, np.zeros(6000, dtype=int))  # one class: a step at every score
    assert len(fitted.aligned_steps()[0]) >= 6000
    queries = asked(fitted, scores)[::20]
    agree(ENGINES[engine](fitted, queries), expected(fitted, queries), exact=True)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("key", ["none", "venn_abers", "platt", "spline", "isotonic"])
def test_what_predict_refuses_has_no_answer(key, engine):
    scores, y = calibration(100)
    fitted = CALIBRATORS[key]().fit(scores, y)
    wrong = [np.nan, np.inf, -np.inf, *([-1.1e-6, 1.0000011, 1.5] if fitted.takes == "probability" else [])]
    predicted = ENGINES[engine](fitted, np.array([0.5, *wrong]))
    assert np.isfinite(predicted[0]).all()
    assert np.isnan(predicted[1:]).all()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("key", ["none", "beta", "temperature", "ppa"])
def test_what_single_precision_rounds_out_of_0_to_1_is_clipped(key, engine):
    fitted = CALIBRATORS[key]().fit(*calibration(100))
    rounded = np.array(
        [1.0000001, 1 + 1e-6, float(np.nextafter(np.float32(1), np.float32(2))), -1e-17, -1e-6]
    )
    ends = np.array([1.0, 1.0, 1.0, 0.0, 0.0])
    agree(ENGINES[engine](fitted, rounded), expected(fitted, ends), exact=False)
    np.testing.assert_array_equal(fitted.predict(rounded), fitted.predict(ends))


def test_a_column_gives_a_column_of_its_kind():
    fitted = VennAbers().fit(*calibration(100))
    module: dict = {}
    exec(write_python(fitted), module)
    calibrate, p = module["calibrate"], fitted.predict([0.2, 0.7])
    series = pd.Series([0.2, None, 0.7], index=[5, 6, 7])
    assert calibrate(0.2)[2] == calibrate(np.float64(0.2))[2] == calibrate(np.array(0.2))[2] == p[0]
    assert calibrate([0.2, 0.7])[2] == list(p)
    np.testing.assert_array_equal(calibrate(np.array([0.2, np.nan, 0.7]))[2], [p[0], np.nan, p[1]])
    pd.testing.assert_series_equal(calibrate(series)[2], pd.Series([p[0], np.nan, p[1]], index=[5, 6, 7]))
    assert calibrate([])[2] == []
    assert calibrate(np.float32(0.2))[2] == fitted.predict([float(np.float32(0.2))])[0]
    code = "const said = [...calibrate([0.2, NaN, 0.7])[2], ...calibrate(Float64Array.of(0.2, 0.7))[2]]"
    found = run(f"{write_javascript(fitted)}{code}.map(x => x === null ? -1 : x);", np.zeros((1, 1)))
    assert found.tolist() == [p[0], -1, p[1], *p]


def test_what_is_no_number_has_no_answer_in_programs():
    fitted = Isotonic().fit([0.2, 0.8], [0, 1])
    module: dict = {}
    exec(write_python(fitted), module)
    assert module["calibrate"](None) is None
    venn: dict = {}
    exec(write_python(Venn().fit([0.2, 0.8], [0, 1])), venn)
    assert venn["calibrate"](None) == (None, None, None)
    assert module["calibrate"]("a score") is None
    predicted = run(
        write_javascript(fitted) + "const said = [null, undefined, '0.5', true].map(calibrate).map("
        "x => x === null ? -1 : 1);",
        np.zeros((1, 1)),
    )
    assert predicted.tolist() == [-1, -1, -1, -1]


def test_python_imports_nothing_but_math_and_javascript_nothing():
    for unfitted in VARIANTS:
        fitted = unfitted.fit(*calibration(100))
        imported = [
            n
            for n in ast.walk(ast.parse(write_python(fitted)))
            if isinstance(n, (ast.Import, ast.ImportFrom))
        ]
        assert [alias.name for node in imported for alias in node.names] in ([], ["math"])
        assert "require" not in write_javascript(fitted)


STEPS_OR_LINES = ("none", "isotonic", "centered_isotonic", "venn", "venn_abers", "histogram")


def test_logarithms_and_powers_stand_only_where_the_method_has_them():
    assert "EXP(" in write_sql(Platt().fit(*calibration(100)))
    for unfitted in VARIANTS:
        if unfitted.key in STEPS_OR_LINES or unfitted.get_params().get("variant") == "constant":
            written = write_sql(unfitted.fit(*calibration(100)))
            assert "LN(" not in written
            assert "EXP(" not in written


@pytest.mark.parametrize("language", LANGUAGES)
def test_rank_is_refused_by_name(language):
    rng = np.random.default_rng(0)
    fitted = Rank().fit(rng.random((40, 3)), rng.integers(0, 2, 40))
    with pytest.raises(InputError, match="Rank calibration needs every tree's score"):
        write_program(fitted, language)
    with pytest.raises(InputError, match="Rank calibration needs"):
        check_written(read_calibrator(write_calibrator(fitted)))


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_not_fitted_is_refused(language):
    for method in (Platt, VennAbers):
        with pytest.raises(NotFittedError):
            write_program(method(), language)


class Squared(ScoreCalibrator):
    key, label, source, input = "squared", "Squared", "a test", "score"

    def _learn(self, scores, y, weights):
        self.a_ = float(y.mean())

    def _map(self, scores):
        return 1 / (1 + np.exp(-self.a_ * scores * scores))


class Told(Squared):
    key, label = "told", "Told"

    def _formula(self, score: Expression) -> Expression:
        return sigmoid(self.a_ * score * score)


@pytest.mark.parametrize("language", LANGUAGES)
def test_one_from_outside_without_a_formula_is_refused_by_name(language):
    with pytest.raises(InputError, match="Squared cannot be written as SQL"):
        write_program(Squared().fit([1, 2], [0, 1]), language)


@pytest.mark.parametrize("engine", ENGINES)
def test_one_from_outside_with_a_formula_is_written_in_every_language(engine):
    fitted = Told().fit([1.0, 2.0], [0, 1])
    queries = np.linspace(-9, 9, 101)
    agree(ENGINES[engine](fitted, queries), expected(fitted, queries), exact=False)


def test_notes_and_names_out_of_a_file_stay_comments():
    value = json.loads(write_calibrator(Platt().fit([0, 1], [0, 1])))
    value["notes"] = ["first\nraise SystemExit\u2028throw 1 */"]
    value["classes"] = ["no\n", "yes\n"]
    saved = read_calibrator(json.dumps(value))
    module: dict = {}
    exec(write_python(saved), module)
    queries = np.array([0.0, 1.0])
    assert module["calibrate"](0.5) == pytest.approx(0.5)
    agree(ENGINES["javascript"](saved, queries), ENGINES["python"](saved, queries), exact=False)
    name = 's" FROM t; DROP TABLE t; --\n'
    with sqlite3.connect(":memory:") as base:
        base.execute('CREATE TABLE t ("{}" REAL)'.format(name.replace('"', '""')))
        base.execute("INSERT INTO t VALUES (0.5)")
        ((predicted,),) = base.execute(f"SELECT {write_sql(saved, name)} FROM t")
    assert predicted == pytest.approx(0.5)


def test_an_evaluations_calibrator_runs_from_its_file():
    recipe = Recipe(
        data="sample:breast_cancer", model="naive_bayes", placement="cv", cv=3, calibrators=("venn_abers",)
    )
    content = calibrator_json(evaluate(recipe, load(recipe)), "venn_abers")
    saved = read_calibrator(content)
    scores = np.random.default_rng(0).random((50, 3))
    predictions = saved.predict(scores)
    agree(
        ENGINES["duckdb"](saved, scores),
        np.column_stack([predictions.p0, predictions.p1, predictions.p]),
        exact=False,
    )
    with pytest.raises(InputError, match="score must contain 3 different names"):
        write_sql(saved, ["a", "b"])
    assert "second" in write_sql(saved, ["first", "second", "third"])


def test_the_onnx_file_passes_the_checker():
    import onnx

    for unfitted in VARIANTS:
        model = onnx.load_from_string(write_onnx(unfitted.fit(*calibration(100)), "my score"))
        onnx.checker.check_model(model, full_check=True)
        assert [value.name for value in model.graph.input] == ["my score"]
        assert {value.type.tensor_type.elem_type for value in model.graph.output} == {onnx.TensorProto.DOUBLE}
    with pytest.raises(InputError, match="score must not be 'p'"):
        write_onnx(Platt().fit([0, 1], [0, 1]), "p")

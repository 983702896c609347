"""Names that other people's programs import and read: they stay where they are, whatever moves behind them."""

import inspect
import json
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

NAMES = {
    "calib": "CalibratedClassifier Evaluation Recipe check check_survival evaluate explore sources validate",
    "calib.analysis.audit": "audit",
    "calib.analysis.grouping": "grouping_loss",
    "calib.analysis.watch": "watch",
    "calib.calibrators": "CALIBRATORS OneVsRest Pairwise ScoreCalibrator register",
    "calib.comparison": "average_ranks bergmann_hommel friedman nemenyi_critical_difference paired_t",
    "calib.data": "DataError load_sample prepare read_table validate",
    "calib.evaluate": "fit",
    "calib.export": "write_sql",
    "calib.figures": "DARK FIGURES LIGHT",
    "calib.metrics": "METRICS accuracy auc brier_score classwise_calibration_error confidence_calibration_error "
    "corp_decomposition expected_calibration_error interval_summary log_loss loss_decomposition "
    "murphy_decomposition top_label_calibration_error true_calibration_error",
    "calib.metrics.confidence": "confidence_interval",
    "calib.models": "MODELS ProbabilityForest ProbabilityTree",
    "calib.synthetic": "GaussianMixturePair GaussianPair overlap_path",
}
PARAMETERS = {
    "calib.check": "y p sample_weight cluster features pos_label",
    "calib.check_survival": "time event risk horizon",
    "calib.validate": "estimator X y",
    "calib.CalibratedClassifier": "estimator calibrator placement calibration_size cv random_state",
    "calib.CalibratedClassifier.fit": "X y sample_weight groups fit_params",
    "calib.analysis.audit.audit": "y p frame depth resamples min_rows sample_weight cluster random_state",
    "calib.analysis.grouping.grouping_loss": "y p X bins random_state",
    "calib.analysis.watch.watch": "y p when horizon alpha",
    "calib.export.write_sql": "score",
    "calib.metrics.murphy_decomposition": "y p bins",
    "calib.metrics.expected_calibration_error": "y p bins strategy",
    "calib.metrics.loss_decomposition": "posterior p loss groups",
    "calib.synthetic.overlap_path": "d steps max_distance random_state",
    "calib.comparison.paired_t": "a b alternative",
    "calib.comparison.nemenyi_critical_difference": "k n alpha",
}
SCORE_CALIBRATORS = "none platt isotonic beta temperature venn venn_abers ppa rank auto"
FURTHER_CALIBRATORS = "quadratic spline centered_isotonic histogram offset"
CALIBRATORS_OF_CLASSES = "dirichlet vector matrix structured_vector structured_matrix temperature"
FIELDS = "data target positive model calibrators placement calibration_size seed bins binning merge split"
COLUMNS = "weight time cluster part"


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    p = rng.random(400)
    X = pd.DataFrame({"a": p, "b": rng.normal(size=400)})
    return (rng.random(400) < p**2).astype(int), p, X


@pytest.mark.parametrize("module", NAMES)
def test_what_others_import_is_there(module):
    assert [name for name in NAMES[module].split() if not hasattr(import_module(module), name)] == []


@pytest.mark.parametrize("path", PARAMETERS)
def test_what_others_pass_by_name_is_a_parameter(path):
    parts = path.split(".")
    at = next(i for i, part in enumerate(parts) if not _is_module(".".join(parts[: i + 1])))
    found = import_module(".".join(parts[:at]))
    for part in parts[at:]:
        found = getattr(found, part)
    named = inspect.signature(found).parameters
    assert [name for name in PARAMETERS[path].split() if name not in named] == []


def _is_module(path):
    try:
        import_module(path)
    except ImportError:
        return False
    return True


def test_the_keys_of_calibrators_and_the_fields_of_a_recipe_stay():
    calib = import_module("calib")
    assert {*SCORE_CALIBRATORS.split(), *FURTHER_CALIBRATORS.split()} <= set(calib.calibrators.CALIBRATORS)
    recipe = calib.Recipe(model="naive_bayes", seed=3, bins=7)
    assert [name for name in (*FIELDS.split(), *COLUMNS.split()) if not hasattr(recipe, name)] == []
    assert calib.Recipe.from_query(recipe.to_query()) == recipe == calib.Recipe.from_json(recipe.to_json())
    assert json.loads(recipe.to_json())["seed"] == 3
    assert "seed=3" in recipe.to_python()


@pytest.mark.parametrize("splits", [1, 5])
def test_what_check_and_evaluate_return_has_the_names_that_others_read(rows, splits):
    from calib import Recipe, check, evaluate
    from calib.data import prepare
    from calib.evaluate import fit

    y, p, X = rows
    result = check(y, {"forest": p}, features=X)
    assert result.verdict.finding == "miscalibrated"
    assert result.verdict.sentence.startswith("Forest is not calibrated: it overestimates")
    assert result.figure("reliability", bins=15).data
    advice = result.recommendation()
    assert advice.choice
    assert advice.answer
    assert advice.reasons
    assert advice.fit().predict(p).shape == p.shape
    assert result.read_as
    placement = {"placement": "cv", "cv": splits} if splits > 1 else {}
    recipe = Recipe(model="naive_bayes", target="y", calibrators=("none", "venn_abers"), **placement)
    dataset = prepare(X.assign(y=y), "y")
    assert dataset.X.shape == (400, 2)
    assert dataset.classes == ("0", "1")
    assert dataset.posterior is None
    evaluation = evaluate(recipe, dataset)
    assert list(evaluation.metrics.index) == ["none", "venn_abers"]
    shown = evaluation.predictions["venn_abers"]
    assert (shown.lower <= shown.p).all()
    assert (shown.p <= shown.upper).all()
    assert len(shown.y) == len(shown.p)
    for part in fit(recipe, dataset).parts:
        assert not set(part.train) & set(part.test)


def test_calibrators_and_analyses_return_what_others_read(rows):
    from calib import CalibratedClassifier
    from calib.analysis.audit import audit
    from calib.analysis.grouping import grouping_loss
    from calib.analysis.watch import watch
    from calib.calibrators import CALIBRATORS
    from calib.export import write_sql
    from calib.metrics import corp_decomposition, interval_summary, loss_decomposition, murphy_decomposition
    from calib.metrics.confidence import confidence_interval

    y, p, X = rows
    fitted = CALIBRATORS["venn_abers"](merge="log").fit(p, y)
    pairs = fitted.predict_interval(p)
    assert pairs.shape == (400, 2)
    assert "p0" in write_sql(fitted, score="p")
    assert CALIBRATORS["temperature"]().fit(p, y).T_ > 0
    assert np.isfinite(CALIBRATORS["ppa"](variant="constant").fit(p, y).r_)
    low, high = confidence_interval("brier", y, p)
    assert low < np.mean((y - p) ** 2) < high
    summary = interval_summary(y, pairs)
    assert summary.width == pytest.approx(summary.upper - summary.lower)
    assert summary.observed == y.mean()
    assert isinstance(summary.valid, (bool, np.bool_))
    murphy = murphy_decomposition(y, p, bins=100)
    parts = murphy.reliability - murphy.resolution + murphy.uncertainty + murphy.within
    assert parts == pytest.approx(np.mean((y - p) ** 2))
    corp = corp_decomposition(y, p)
    assert corp.miscalibration - corp.discrimination + corp.uncertainty == pytest.approx(
        np.mean((y - p) ** 2)
    )
    known = loss_decomposition(p**2, p, loss="brier", groups=None)
    assert known.calibration > 0 == pytest.approx(known.grouping)
    assert known.irreducible > 0
    found = audit(y, p, X, depth=1, resamples=19, min_rows=50)
    assert list(found.segments.columns[:6]) == [
        "segment",
        "rows",
        "predicted",
        "observed",
        "statistic",
        "p_value",
    ]
    assert 0 < found.p_value <= 1
    assert found.threshold > 0
    loss = grouping_loss(y, p, X, bins=15, random_state=0)
    assert all(hasattr(loss, name) for name in ("lower", "interval", "explained", "bias", "induced"))
    seen = watch(y, p)
    assert seen.evidence.shape == y.shape
    assert seen.alarm is not None
    assert seen.cause in ("level", "slope", "shape")
    model = CalibratedClassifier(GaussianNB(), "venn_abers", "cv", cv=3, random_state=0).fit(X, y)
    assert model.predict_proba(X).shape == model.predict_interval(X).shape == (400, 2)


@pytest.mark.parametrize("key", CALIBRATORS_OF_CLASSES.split())
def test_a_calibrator_of_all_classes_has_its_key(key):
    from calib.calibrators import CALIBRATORS

    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(3), size=300)
    y = (P.cumsum(axis=1) < rng.random((300, 1))).sum(axis=1)
    assert CALIBRATORS[key]().fit(P, y).predict(P).shape == (300, 3)

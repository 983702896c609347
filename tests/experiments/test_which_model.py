"""Every model is the one that scikit-learn fits; who is biased and who scatters, over many seeds."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from calib.calibrated import CalibratedClassifier
from calib.experiments import EXPERIMENTS
from calib.experiments.shared.gaussian_plane import draw_plane
from calib.experiments.which_model import FOLDS, OTHERS, fit_one
from calib.kernel.progress import Cancelled, Watch

simulate = EXPERIMENTS["which_model"].simulate

SEEDS = range(6)


@pytest.fixture(scope="module")
def found():
    return [list(simulate(random_state=seed).rows.values()) for seed in SEEDS]


def test_models_are_those_of_scikit_learn():
    plane = draw_plane("unequal", 200, 4)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=4)
    svm = make_pipeline(StandardScaler(), SVC(random_state=4))
    expected = {
        "Forest": RandomForestClassifier(20, random_state=4),
        "SVM with Platt scaling": CalibratedClassifierCV(svm, method="sigmoid", cv=folds, ensemble=False),
        "Logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
    }
    rows = simulate(random_state=4, n=200, trees=20).rows
    assert list(rows) == ["Equal covariances", "Unequal covariances"]
    for errors, (name, model) in zip(rows["Unequal covariances"], expected.items(), strict=True):
        assert errors.name == name
        p = model.fit(plane.X, plane.y).predict_proba(plane.test)[:, 1]
        assert errors.p == pytest.approx(p, abs=1e-3)
        assert errors.tce == pytest.approx(((p - plane.posterior) ** 2).mean(), abs=1e-3)


def mean_of(models, quantity):
    return np.mean([getattr(errors, quantity) for errors in models])


@pytest.mark.soak
def test_logistic_regression_is_closest_where_its_assumption_holds(found):
    for (forest, svm, logistic), _ in found:
        assert logistic.tce < 0.5 * min(forest.tce, svm.tce)


@pytest.mark.soak
def test_with_unequal_covariances_it_is_biased_and_the_svm_closest(found):
    for _, (forest, svm, logistic) in found:
        assert logistic.bias > max(forest.bias, svm.bias)
        assert svm.tce < 0.5 * min(forest.tce, logistic.tce)
    forests, _, logistics = zip(*(models for _, models in found), strict=True)
    assert mean_of(logistics, "bias") > 4 * mean_of(forests, "bias")


@pytest.mark.soak
def test_the_forest_scatters_and_is_hardly_biased(found):
    for models in (row for rows in found for row in rows):
        forest, svm, _ = models
        assert forest.scatter > 3 * forest.bias
        assert forest.scatter > 3 * svm.scatter
    forests = [row[0] for rows in found for row in rows]
    assert mean_of(forests, "scatter") > 10 * mean_of(forests, "bias")


@pytest.mark.parametrize(
    "other", [key for key in OTHERS if key not in ("none", "tuned_forest", "curtailed_forest")]
)
def test_any_model_of_the_menu_joins_in(other):
    asked = []

    def quick(seed, covariances, n, model, settings, calibrator, watch):
        asked.append((model, calibrator))
        if model == other and not settings and covariances == "equal":
            return fit_one(seed, covariances, n, model, settings, calibrator, watch)
        return np.array([0.2, 0.8]), np.array([0.3, 0.6])

    rows = simulate(random_state=0, n=100, other=other, using={"fit": quick}).rows
    assert asked[3] == (other, "platt" if other == "svm" else "none")
    for models in rows.values():
        assert len(models) == 4
        assert 0 <= models[3].tce < 0.15


@pytest.mark.soak
def test_its_calibration_is_on_out_of_fold_scores():
    plane = draw_plane("equal", 200, 2)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=2)
    model = CalibratedClassifierCV(
        RandomForestClassifier(100, random_state=2), method="isotonic", cv=folds, ensemble=False
    )
    p = model.fit(plane.X, plane.y).predict_proba(plane.test)[:, 1]
    _, own = fit_one(2, "equal", 200, "random_forest", (), "isotonic")
    assert own == pytest.approx(p, abs=1e-6)


def test_intervals_are_merged_over_the_folds():
    plane = draw_plane("equal", 100, 2)
    model = CalibratedClassifier(GaussianNB(), "venn_abers", "cv", random_state=2).fit(plane.X, plane.y)
    _, own = fit_one(2, "equal", 100, "naive_bayes", (), "venn_abers")
    assert own == pytest.approx(model.predict_proba(plane.test)[:, 1], abs=1e-12)


def test_a_long_search_can_be_called_off():
    watch = Watch(lambda share, what: "setting 2" in what and watch.cancel.set())
    with pytest.raises(Cancelled):
        simulate(random_state=0, n=50, other="tuned_forest", watch=watch)

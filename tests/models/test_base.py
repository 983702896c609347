"""The registry's contract over every entry, and fitting pipelines step by step."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder
from sklearn.svm import LinearSVC

from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.models import MODELS, ProbabilityForest, class_one_score, gives_probability
from calib.models.base import before_last_step, fit_model, last_step
from calib.models.out_of_bag import refuse_without_bagging

X, Y = make_classification(120, 5, n_informative=3, flip_y=0.2, random_state=0)
SMALL = {
    "tuned_forest": {"draws": 2, "n_estimators": 5},
    "large_forest": {"n_estimators": 20},
    "neural_network": {"max_iter": 400},
}
SMALL |= {"random_forest": {"n_estimators": 10}, "curtailed_forest": {"n_estimators": 5, "highest": 9}}
SQUASHED = 1 / (1 + np.exp(-X))


@pytest.fixture(params=MODELS, ids=str)
def entry(request):
    return MODELS[request.param]


def data(entry):
    return SQUASHED if entry.key == "given" else X


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
class TestEveryEntry:
    def test_is_clonable_deterministic_and_forgets_on_refit(self, entry):
        rows = data(entry)
        model = entry.build(SMALL.get(entry.key, {}), 0)
        first = class_one_score(clone(model).fit(rows, Y), rows)
        assert np.array_equal(class_one_score(clone(model).fit(rows, Y), rows), first)
        again = clone(model).fit(rows[:80], 1 - Y[:80]).fit(rows, Y)
        assert np.array_equal(class_one_score(again, rows), first)

    def test_leaves_its_input_alone(self, entry):
        rows, labels = data(entry).copy(), Y.copy()
        entry.build(SMALL.get(entry.key, {}), 0).fit(rows, labels)
        assert np.array_equal(rows, data(entry))
        assert np.array_equal(labels, Y)

    def test_has_the_kind_of_score_it_declares(self, entry):
        rows = data(entry)
        model = entry.build(SMALL.get(entry.key, {}), 0).fit(rows, Y)
        scores = class_one_score(model, rows)
        assert gives_probability(model) == (entry.score == "probability")
        if entry.score == "probability":
            assert scores.min() >= 0
            assert scores.max() <= 1
        if entry.key != "given":
            assert scores[Y == 1].mean() > scores[Y == 0].mean()

    def test_a_decision_function_beside_probabilities_is_their_log_odds(self, entry):
        """So that a sigmoid through the log-odds is the one that scikit-learn draws through the decision function."""
        model = entry.build(SMALL.get(entry.key, {}), 0).fit(data(entry), Y)
        if gives_probability(model) and hasattr(model, "decision_function"):
            log_odds = logit(class_one_score(model, data(entry)))
            np.testing.assert_allclose(model.decision_function(data(entry)), log_odds, atol=1e-9)
            assert entry.key in ("gradient_boosting", "logistic_regression")

    def test_has_out_of_bag_scores_exactly_when_it_says_so(self, entry):
        model = last_step(entry.build({}, 0))
        if entry.bagged:
            refuse_without_bagging(model)
        else:
            with pytest.raises(InputError, match="Out-of-bag scores need"):
                refuse_without_bagging(model)

    def test_explains_each_setting_and_takes_both_ends_of_its_range(self, entry):
        assert entry.help
        assert entry.label
        for parameter in entry.parameters:
            assert parameter.help.endswith(".")
            entry.build({parameter.name: parameter.default}, 0)
            ends = parameter.choices if parameter.kind == "choice" else (parameter.low, parameter.high)
            for end in ends:
                built = entry.build({parameter.name: end}, 0)
                assert end in [
                    value for value in built.get_params(deep=True).values() if type(value) is type(end)
                ] or (parameter.name in ("units", "layers"))

    def test_refuses_what_is_out_of_range_or_unknown_by_name(self, entry):
        with pytest.raises(InputError, match=f"{entry.label} has no setting 'n_estimatorz'"):
            entry.build({"n_estimatorz": 3}, 0)
        for parameter in entry.parameters:
            if parameter.kind in ("integer", "number"):
                with pytest.raises(InputError, match=f"^{parameter.name} must be"):
                    entry.build({parameter.name: parameter.high + 1}, 0)
            elif parameter.choices:
                with pytest.raises(InputError, match=f"^{parameter.name} must be one of"):
                    entry.build({parameter.name: "no such"}, 0)


def test_the_keys_are_those_a_recipe_may_name():
    assert set(MODELS) >= {
        *(
            "decision_tree",
            "random_forest",
            "bagged_trees",
            "gradient_boosting",
            "logistic_regression",
            "naive_bayes",
        ),
        *("svm", "neural_network", "nearest_neighbours", "tuned_forest", "large_forest", "given"),
    }
    assert all(key == entry.key for key, entry in MODELS.items())


@pytest.mark.parametrize("key", ["logistic_regression", "svm", "nearest_neighbours", "neural_network"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scale_sensitive_models_do_not_notice_the_unit_of_a_feature(key):
    grams = X * np.array([1024.0, 1, 1, 1, 0.125])
    fitted = [class_one_score(MODELS[key].build({}, 0).fit(rows, Y), rows) for rows in (X, grams)]
    assert np.allclose(*fitted, atol=1e-6)


def test_score_of_class_one_is_the_second_column_or_the_margin():
    probability, margin = LogisticRegression().fit(X, Y), LinearSVC().fit(X, Y)
    assert np.array_equal(class_one_score(probability, X), probability.predict_proba(X)[:, 1])
    assert np.array_equal(class_one_score(margin, X), margin.decision_function(X))


def test_an_estimator_without_scores_is_refused_with_the_remedy():
    with pytest.raises(
        InputError, match="StandardScaler gives neither probabilities nor margins.*predict_proba"
    ):
        gives_probability(StandardScaler())


class Recorder(ClassifierMixin, BaseEstimator):
    """Keeps the matrix it was fitted on."""

    def fit(self, X, y):
        self.X_, self.classes_ = X, np.unique(y)
        return self


def test_a_pipeline_is_fitted_as_scikit_learn_fits_it():
    frame = pd.DataFrame({"town": np.array(["a", "b", "c"])[np.arange(120) % 3], "x": X[:, 0]})
    steps = [
        (
            "columns",
            ColumnTransformer([("one", OneHotEncoder(), ["town"]), ("rest", StandardScaler(), ["x"])]),
        ),
        ("inner", Pipeline([("scale", StandardScaler(with_mean=False)), ("model", LogisticRegression())])),
    ]
    theirs = Pipeline(steps).fit(frame, Y)
    estimator = clone(Pipeline(steps))
    ours, matrix = fit_model(estimator, frame, Y)
    assert np.allclose(ours.predict_proba(frame), theirs.predict_proba(frame), atol=1e-12)
    assert np.array_equal(matrix, before_last_step(ours, frame))
    assert isinstance(last_step(ours), LogisticRegression)
    assert not hasattr(estimator.steps[0][1], "transformers_"), "the estimator handed in stays unfitted"


def test_the_matrix_is_the_one_the_model_was_fitted_on_even_where_transform_would_differ():
    # TargetEncoder encodes its training rows out of fold: transform() of the same rows would leak their
    # labels.
    towns = np.array(["a", "b", "c", "d"])[np.random.default_rng(0).integers(0, 4, 120)][:, None]
    model, matrix = fit_model(Pipeline([("code", TargetEncoder()), ("model", Recorder())]), towns, Y)
    assert matrix is last_step(model).X_
    assert not np.allclose(matrix, before_last_step(model, towns))


@pytest.mark.parametrize(
    ("model", "at_least"), [(ProbabilityForest(40, random_state=0), 3), (LogisticRegression(), 2)]
)
def test_progress_reaches_a_model_that_reports_it_and_brackets_one_that_does_not(model, at_least):
    seen = []
    watch = Watch(lambda share, what: seen.append(share))
    fit_model(Pipeline([("scale", StandardScaler()), ("model", model)]), X, Y, watch)
    assert len(seen) >= at_least
    assert (seen[0], seen[-1]) == (0, 1)


def test_more_neighbours_than_rows_are_refused_with_the_remedy():
    with pytest.raises(InputError, match=r"n_neighbors=15 .*\b15 .*rows.*\b10\b.*fewer"):
        MODELS["nearest_neighbours"].build({}, 0).fit(X[:10], Y[:10])

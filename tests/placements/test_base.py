"""The contract of every placement with every calibrator, and what all placements refuse."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from calib.calibrators import CALIBRATORS, INPUT_TABLES, Platt, VennAbers
from calib.kernel.checks import InputError
from calib.kernel.progress import Cancelled, Watch
from calib.models import ProbabilityForest
from calib.placements import PLACEMENTS

from .helpers import NEW, CountingForest, Margins, X, Y, same_outcome

FOREST = ProbabilityForest(8, max_depth=3, random_state=0)
FEW = NEW[:4]


def answers(placement, calibrator):
    """Whether the combination is one that methods can be composed of."""
    kind = CALIBRATORS[calibrator]
    if placement == "none":
        return calibrator == "none"
    if placement == "full":
        return (kind.gives_interval and kind.input not in INPUT_TABLES) or calibrator == "none"
    return kind.input != "tree_scores" or PLACEMENTS[placement].scores_trees


@pytest.fixture(scope="module", params=PLACEMENTS)
def placed(request):
    return PLACEMENTS[request.param]().fit(FOREST, X, Y, random_state=0)


@pytest.mark.parametrize("key", ["split", "oob", "oob_whole"])
def test_other_leaves_give_what_fitting_with_them_gives(key):
    def fit(leaf):
        forest = ProbabilityForest(8, leaf=leaf, random_state=0)
        return PLACEMENTS[key]().fit(
            Pipeline([("scale", StandardScaler()), ("forest", forest)]), X, Y, random_state=0
        )

    one, other = fit("frequency"), fit("laplace")
    changed = one.with_model(
        Pipeline([*one.model.steps[:-1], ("forest", one.model[-1].with_leaf("laplace"))])
    )
    assert not np.array_equal(one.scores, other.scores)
    np.testing.assert_array_equal(changed.scores, other.scores)
    np.testing.assert_array_equal(changed.score(FEW).scores, other.score(FEW).scores)


@pytest.mark.parametrize("key", ["split", "oob"])
def test_a_light_copy_says_the_same_and_holds_neither_model_nor_rows(key):
    placed = PLACEMENTS[key]().fit(FOREST, X, Y, random_state=0)
    tests = placed.score(NEW)
    light = placed.light()
    assert not {"model", "_matrix", "_held_out", "bag", "ensemble"} & set(vars(light))
    for key in ("platt", "venn_abers"):
        same_outcome(
            light.predict(light.calibrate(CALIBRATORS[key]()), tests),
            placed.predict(placed.calibrate(CALIBRATORS[key]()), tests),
        )


def test_a_placement_of_several_models_takes_no_other_model():
    placed = PLACEMENTS["cv"]().fit(FOREST, X, Y, cv=3, random_state=0)
    with pytest.raises(InputError, match="several models"):
        placed.with_model(placed.model)


@pytest.mark.parametrize("calibrator", CALIBRATORS)
def test_every_combination_answers_in_range_or_is_refused_by_name(placed, calibrator):
    method = CALIBRATORS[calibrator]()
    if not answers(placed.key, calibrator):
        with pytest.raises(InputError, match=r"[Cc]hoose"):
            placed.calibrate(method, X)
        return
    outcome = placed.predict(placed.calibrate(method, X), placed.score(FEW))
    assert outcome.p.shape == (4,)
    assert ((outcome.p >= 0) & (outcome.p <= 1)).all()
    assert (outcome.p0 is not None) == method.gives_interval
    if method.gives_interval:
        assert (outcome.lower <= outcome.p).all()
        assert (outcome.p <= outcome.upper).all()
        assert np.array_equal(outcome.lower, np.minimum(outcome.p0, outcome.p1))
        assert np.array_equal(outcome.upper, np.maximum(outcome.p0, outcome.p1))
        if placed.key != "full":
            assert (outcome.p0 <= outcome.p1).all()
    with pytest.raises(NotFittedError):
        check_is_fitted(method)


@pytest.mark.parametrize("key", PLACEMENTS)
def test_each_shows_an_example_and_says_what_it_is(key):
    kind = PLACEMENTS[key]
    assert kind.key == key
    assert ">>>" in kind.__doc__
    assert kind.label
    assert kind.help.endswith(".")


@pytest.mark.parametrize("key", PLACEMENTS)
def test_same_seed_same_answer_and_a_refit_forgets(key):
    method = VennAbers() if key != "none" else CALIBRATORS["none"]()
    first = PLACEMENTS[key]().fit(FOREST, X, Y, random_state=3)
    again = (
        PLACEMENTS[key]().fit(FOREST, X[:90], 1 - Y[:90], random_state=9).fit(FOREST, X, Y, random_state=3)
    )
    assert np.array_equal(first.scores, again.scores)
    assert first.notes == again.notes
    same_outcome(*(placed.predict(placed.calibrate(method), placed.score(FEW)) for placed in (first, again)))


@pytest.mark.parametrize("key", PLACEMENTS)
def test_inputs_stay_as_they_were(key):
    rows, labels, estimator = X.copy(), Y.copy(), clone(FOREST)
    placed = PLACEMENTS[key]().fit(estimator, rows, labels, random_state=0)
    new = FEW.copy()
    placed.score(new)
    assert np.array_equal(rows, X)
    assert np.array_equal(labels, Y)
    assert np.array_equal(new, FEW)
    assert not hasattr(estimator, "estimators_")


@pytest.mark.parametrize("key", PLACEMENTS)
def test_calibration_set_names_its_rows(key):
    placed = PLACEMENTS[key]().fit(FOREST, X, Y, random_state=0)
    assert len(placed.scores) == len(placed.y) == len(placed.index)
    assert np.array_equal(placed.y, Y[placed.index])
    assert placed.probability
    assert len(set(placed.index)) == len(placed.index)
    if key in ("cv", "train", "full", "oob", "oob_whole"):
        missing = int(np.isnan(placed.model.oob_scores()).sum()) if key.startswith("oob") else 0
        assert len(placed.index) == 150 - missing
    elif key in ("none", "split"):
        assert len(placed.index) == {"none": 0, "split": 50}[key]


@pytest.mark.parametrize(
    ("key", "training", "scoring"),
    [
        ("none", 1, 0),
        ("split", 1, 0),
        ("cv", 5, 0),
        ("oob", 1, 0),
        ("oob_whole", 1, 0),
        ("train", 1, 0),
        ("full", 1, 8),
    ],
)
def test_the_base_model_is_fitted_no_more_often_than_needed(key, training, scoring):
    CountingForest.fits = 0
    estimator = Pipeline([("scale", StandardScaler()), ("model", CountingForest(3, random_state=0))])
    placed = PLACEMENTS[key]().fit(estimator, X, Y, cv=4, random_state=0)
    assert CountingForest.fits == training
    tests = placed.score(FEW)
    assert CountingForest.fits == training + scoring
    for calibrator in CALIBRATORS:
        if answers(key, calibrator) and CALIBRATORS[calibrator].input not in INPUT_TABLES:
            placed.predict(placed.calibrate(CALIBRATORS[calibrator]()), tests)
    assert CountingForest.fits == training + scoring


@pytest.mark.parametrize("key", PLACEMENTS)
def test_any_two_labels_and_the_later_in_sorted_order_is_class_one(key):
    words = np.where(Y == 1, "yes", "no")
    method = VennAbers() if key != "none" else CALIBRATORS["none"]()
    numbers, named = (PLACEMENTS[key]().fit(FOREST, X, y, random_state=0) for y in (Y, words))
    assert named.classes.tolist() == ["no", "yes"]
    assert np.array_equal(numbers.y, named.y)
    same_outcome(
        *(placed.predict(placed.calibrate(method), placed.score(FEW)) for placed in (numbers, named))
    )


def test_class_weights_are_spelt_in_the_callers_labels():
    words = np.where(Y == 1, "yes", "no")
    light, heavy = (
        PLACEMENTS["split"]().fit(
            LogisticRegression(class_weight={"no": 1, "yes": w}), X, words, random_state=0
        )
        for w in (1, 20)
    )
    assert heavy.scores.mean() > light.scores.mean() + 0.1


def mixed(X):
    return pd.DataFrame(
        {
            "town": pd.Categorical(
                np.array(["a", "b", "c"])[(X[:, 0] * 3).astype(int) % 3], categories=list("abc")
            ),
            "size": X[:, 1],
            "old": X[:, 2] > 0,
            "gap": np.where(X[:, 3] > 1, np.nan, X[:, 3]),
        }
    )


@pytest.mark.parametrize("key", PLACEMENTS)
def test_data_frames_of_mixed_types_go_through_a_pipeline(key):
    columns = ColumnTransformer(
        [("one", OneHotEncoder(handle_unknown="ignore"), ["town"])], remainder="passthrough"
    )
    estimator = Pipeline([("columns", columns), ("model", FOREST)])
    table, new, method = mixed(X), mixed(NEW)[:4], VennAbers() if key != "none" else CALIBRATORS["none"]()
    placed = PLACEMENTS[key]().fit(estimator, table, Y, random_state=0)
    whole = placed.predict(placed.calibrate(method), placed.score(new))
    by_hand = columns.fit_transform(table)
    same = PLACEMENTS[key]().fit(FOREST, by_hand, Y, random_state=0)
    if key == "oob":  # drawn from the rows as they were given
        same.reference = lambda matrix: placed.reference(new)
    same_outcome(whole, same.predict(same.calibrate(method), same.score(columns.transform(new))))


@pytest.mark.parametrize("key", PLACEMENTS)
def test_sparse_rows_answer_as_dense_ones(key):
    thin, new = (np.where(np.abs(rows) > 0.5, rows, 0) for rows in (X, FEW))
    method = VennAbers() if key != "none" else CALIBRATORS["none"]()
    outcomes = []
    for convert in (np.asarray, csr_array):
        placed = PLACEMENTS[key]().fit(FOREST, convert(thin), Y, random_state=0)
        outcomes.append(placed.predict(placed.calibrate(method), placed.score(convert(new))))
    same_outcome(*outcomes)


@pytest.mark.parametrize("key", [key for key in PLACEMENTS if not key.startswith("oob") and key != "none"])
def test_margins_calibrate_where_a_method_takes_any_score(key):
    placed = PLACEMENTS[key]().fit(Margins(), X, Y, random_state=0)
    assert not placed.probability
    assert placed.scores.min() < 0
    tests = placed.score(FEW)
    for name in ("none", "beta", "temperature", "ppa"):
        if answers(key, name):
            with pytest.raises(InputError, match="needs probabilities.*Margins .*Choose Platt"):
                placed.calibrate(CALIBRATORS[name]())
    for name in ("platt", "isotonic", "venn", "venn_abers"):
        if answers(key, name):
            p = placed.predict(placed.calibrate(CALIBRATORS[name]()), tests).p
            assert ((p >= 0) & (p <= 1)).all()


@pytest.mark.parametrize("key", [key for key in PLACEMENTS if answers(key, "platt")])
def test_platt_is_handed_log_odds_of_probabilities_and_margins_as_they_come(key):
    placed = PLACEMENTS[key]().fit(FOREST, X, Y, random_state=0)
    assert placed.calibrate(Platt()).on == placed.calibrate(Platt("log-odds")).on == "log-odds"
    assert placed.calibrate(Platt("score")).on == "score"
    if key.startswith("oob"):
        return
    margins = PLACEMENTS[key]().fit(Margins(), X, Y, random_state=0)
    assert {margins.calibrate(Platt(on)).on for on in ("auto", "log-odds", "score")} == {"score"}


def test_venns_predicted_label_changes_at_zero_for_margins():
    placed = PLACEMENTS["split"]().fit(Margins(), X, Y, random_state=0)
    assert placed.calibrate(CALIBRATORS["venn"]()).threshold == 0
    assert placed.calibrate(CALIBRATORS["venn"](threshold=-1.0)).threshold == -1
    forest = PLACEMENTS["split"]().fit(FOREST, X, Y, random_state=0)
    assert forest.calibrate(CALIBRATORS["venn"]()).threshold == 0.5


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (np.ones(150), "at least two classes, but contains 1 class"),
        (Y[:149], "inconsistent numbers of samples"),
        (np.linspace(0, 1, 150), "Unknown label type"),
        (np.where(np.arange(150) == 3, np.nan, Y), "1 of 150 are missing .the first at position 3"),
        (np.column_stack([Y, Y]), "1d array"),
        (None, "requires y to be passed"),
    ],
)
def test_labels_that_are_no_classes_are_refused(y, said):
    with pytest.raises(ValueError, match=said):
        PLACEMENTS["split"]().fit(FOREST, X, y, random_state=0)


@pytest.mark.parametrize(
    ("option", "value"),
    [("calibration_size", 0), ("calibration_size", 1.5), ("cv", 1), ("cv", 2.5), ("cv", "5")],
)
def test_options_out_of_range_are_refused_by_name(option, value):
    with pytest.raises(InputError, match=f"^{option} must be"):
        PLACEMENTS["split"]().fit(FOREST, X, Y, **{option: value})


@pytest.mark.parametrize("key", list(PLACEMENTS))
def test_progress_rises_to_one_and_cancelling_stops(key):
    shares = []
    forest = ProbabilityForest(30, random_state=0)
    PLACEMENTS[key]().fit(forest, X, Y, random_state=0, watch=Watch(lambda share, what: shares.append(share)))
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1, abs=0.01)
    stopped = Watch()
    stopped.cancel.set()
    with pytest.raises(Cancelled):
        PLACEMENTS[key]().fit(forest, X, Y, random_state=0, watch=stopped)


def test_rank_needs_the_trees_of_a_forest():
    placed = PLACEMENTS["split"]().fit(LogisticRegression(), X, Y, random_state=0)
    with pytest.raises(InputError, match="individual trees.*LogisticRegression .*no trees"):
        placed.calibrate(CALIBRATORS["rank"]())


def test_a_seed_is_drawn_where_none_is_given_and_then_kept():
    placed = PLACEMENTS["oob"]().fit(FOREST, X, Y)
    fitted = placed.calibrate(Platt())
    same_outcome(placed.predict(fitted, placed.score(NEW)), placed.predict(fitted, placed.score(NEW)))

"""Calibrators of K classes beside scikit-learn, probmetrics and venn-abers, and by optimality conditions."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from calib.calibrators import CALIBRATORS, JOINT, Dirichlet, OneVsRest, Pairwise, Platt, VennAbers
from calib.calibrators.auto import JOINT_CANDIDATES
from calib.calibrators.by_class import _coupled
from calib.kernel.checks import InputError
from scripts.joint_references import simulated
from tests.saying import assert_says

REFERENCE = json.loads(Path(__file__).with_name("joint_reference.json").read_text())
P, Y, NEW = simulated(4, 300, 5)
WRAPPED = {
    **{key: CALIBRATORS[key] for key in JOINT},
    "auto": JOINT["auto"],
    "one_vs_rest": OneVsRest,
    "pairwise": Pairwise,
    "one_vs_rest_isotonic": lambda: OneVsRest("isotonic"),
}
FIXED = {**WRAPPED, "dirichlet": lambda: Dirichlet(0.5, 0.2)}  # its inner folds depend on which rows are one
every = pytest.mark.parametrize("make", WRAPPED.values(), ids=WRAPPED)


@pytest.fixture(scope="module")
def forest():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(5, 6))
    y = rng.integers(0, 5, 1200)
    X = centres[y] + rng.normal(size=(1200, 6)) * 1.3
    return RandomForestClassifier(50, random_state=0).fit(X[:400], y[:400]), X[400:], y[400:]


@pytest.mark.parametrize(
    ("method", "make", "error"),
    [
        ("isotonic", lambda: OneVsRest("isotonic"), 1e-9),
        ("sigmoid", lambda: OneVsRest("platt"), 1e-6),
        ("temperature", CALIBRATORS["temperature"], 1e-6),
    ],
)
@pytest.mark.filterwarnings("ignore:Since FrozenEstimator")
@pytest.mark.parametrize("weighted", [False, True])
def test_as_in_scikit_learn(forest, method, make, error, weighted):
    model, X, y = forest
    weight = np.random.default_rng(1).integers(1, 5, 400) if weighted else None
    theirs = CalibratedClassifierCV(FrozenEstimator(model), method=method).fit(
        X[:400], y[:400], sample_weight=weight
    )
    ours = make().fit(model.predict_proba(X[:400]), y[:400], weight)
    given = model.predict_proba(X[400:])
    np.testing.assert_allclose(ours.predict(given), theirs.predict_proba(X[400:]), atol=error)


@pytest.mark.parametrize("case", REFERENCE["cases"], ids=lambda case: str(case["classes"]))
@pytest.mark.parametrize("key", ["structured_vector", "structured_matrix", "pairwise", "one_vs_rest"])
def test_as_in_the_packages_that_define_them(case, key):
    rows, y, new = simulated(case["classes"], case["n"], case["seed"])
    np.testing.assert_allclose(WRAPPED[key]().fit(rows, y).predict(new), case[key], atol=1e-4)


def test_vector_and_matrix_scaling_cannot_be_bettered():
    """Another search, from random starts, over the likelihood as it is written in the paper."""
    z = np.log(P)

    def loss(x, shape):
        W = np.diag(x[:4]) if shape == "vector" else x[:16].reshape(4, 4)
        return -log_softmax(z @ W.T + x[-4:], axis=1)[np.arange(len(Y)), Y].mean()

    for shape, size in (("vector", 8), ("matrix", 20)):
        ours = CALIBRATORS[shape]().fit(P, Y)
        found = -np.log(ours.predict(P))[np.arange(len(Y)), Y].mean()
        starts = np.random.default_rng(0).normal(size=(2, size))
        other = [minimize(loss, x, args=(shape,), options={"maxiter": 3000, "gtol": 1e-8}) for x in starts]
        best = min(other, key=lambda each: each.fun)
        assert found == pytest.approx(best.fun, abs=1e-7)
        W = np.diag(best.x[:4]) if shape == "vector" else best.x[:16].reshape(4, 4)
        np.testing.assert_allclose(
            ours.predict(NEW), softmax(np.log(NEW) @ W.T + best.x[-4:], axis=1), atol=2e-4
        )


def test_dirichlet_minimises_its_objective_and_chooses_strengths_by_folds():
    ours = Dirichlet(off_diagonal=0.5, intercepts=0.2).fit(P, Y)
    z = np.log(P)

    def objective(x):
        W, b = x[:16].reshape(4, 4), x[16:]
        off = W - np.diag(np.diag(W))
        loss = -log_softmax(z @ W.T + b, axis=1)[np.arange(len(Y)), Y].mean()
        return loss + 0.5 / 12 * (off**2).sum() + 0.2 / 4 * (b**2).sum()

    here = np.concatenate([ours.W_.ravel(), ours.b_])
    rng = np.random.default_rng(0)
    assert all(objective(here) <= objective(here + 1e-3 * rng.normal(size=20)) for _ in range(200))
    chosen = Dirichlet().fit(P, Y)
    again = Dirichlet(chosen.off_diagonal_, chosen.intercepts_).fit(P, Y)
    np.testing.assert_allclose(chosen.predict(NEW), again.predict(NEW), atol=1e-9)


@every
def test_predictions_are_rows_of_probabilities_and_an_estimator_can_be_cloned(make):
    made = make()
    with pytest.raises(NotFittedError):
        made.predict(NEW)
    p = made.fit(P, Y).predict(NEW)
    assert p.shape == NEW.shape
    assert ((p >= 0) & (p <= 1)).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(clone(made).fit(P, Y).predict(NEW), p)


@pytest.mark.parametrize("make", FIXED.values(), ids=FIXED)
def test_whole_weights_repeat_rows(make):
    weight = np.random.default_rng(2).integers(0, 4, len(Y))
    weighted = make().fit(P, Y, weight)
    repeated = make().fit(np.repeat(P, weight, axis=0), np.repeat(Y, weight))
    np.testing.assert_allclose(weighted.predict(NEW), repeated.predict(NEW), atol=1e-6)


@pytest.mark.parametrize("key", FIXED)
def test_the_order_of_the_classes_has_no_effect(key):
    make, folds_move = FIXED[key], 0.02 if key == "auto" else 0  # the random folds see rows in their order
    order = np.array([2, 0, 3, 1])
    place = np.argsort(order)
    there = make().fit(P[:, order], place[Y]).predict(NEW[:, order])
    np.testing.assert_allclose(there, make().fit(P, Y).predict(NEW)[:, order], atol=1e-6 + folds_move)


@every
def test_a_class_without_calibration_rows_is_named_and_keeps_its_share(make):
    rows = Y != 1
    made = make().fit(P[rows], Y[rows])
    assert made.notes_[0].startswith("Class 1 has no calibration row")
    p = made.predict(NEW)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    if not isinstance(made, OneVsRest):
        np.testing.assert_allclose(p[:, 1], NEW[:, 1], atol=1e-15)
        others = [0, 2, 3]
        among = P[rows][:, others] / P[rows][:, others].sum(axis=1, keepdims=True)
        alone = make().fit(among, np.searchsorted(others, Y[rows]))
        new = NEW[:, others] / NEW[:, others].sum(axis=1, keepdims=True)
        np.testing.assert_allclose(p[:, others], alone.predict(new) * (1 - NEW[:, [1]]), atol=1e-9)


def test_intervals_are_those_of_each_class_against_the_rest():
    pairs = OneVsRest().fit(P, Y).predict_interval(NEW)
    assert pairs.shape == (*NEW.shape, 2)
    for k in range(4):
        one = VennAbers().fit(P[:, k], k == Y)
        np.testing.assert_array_equal(pairs[:, k], one.predict_interval(NEW[:, k]))


def test_of_two_classes_the_second_is_calibrated_and_the_first_is_the_rest():
    y = (Y > 1).astype(int)
    both = np.column_stack([P[:, :2].sum(axis=1), P[:, 2:].sum(axis=1)])
    made, one = OneVsRest().fit(both, y), VennAbers().fit(both[:, 1], y)
    low, high = one.predict_interval(both[:, 1]).T
    np.testing.assert_array_equal(made.predict(both)[:, 1], one.predict(both[:, 1]))
    np.testing.assert_array_equal(made.predict_interval(both)[:, 0], np.column_stack([1 - high, 1 - low]))
    np.testing.assert_array_equal(made.predict_interval(both)[:, 1], np.column_stack([low, high]))


def test_pairwise_by_hand_and_its_intervals_hold_the_point_before_rows_are_divided():
    made = Pairwise().fit(P, Y)
    pairs = made.predict_pairs(NEW)
    assert np.isnan(pairs[:, range(4), range(4)]).all()
    low, p, high = np.empty(NEW.shape), np.empty(NEW.shape), np.empty(NEW.shape)
    for i in range(4):
        sums = np.zeros((3, len(NEW)))
        for j in set(range(4)) - {i}:
            rows = (i == Y) | (j == Y)
            one = VennAbers().fit(P[rows, i] / (P[rows, i] + P[rows, j]), Y[rows] == i)
            share = NEW[:, i] / (NEW[:, i] + NEW[:, j])
            each = np.stack([one.predict(share), *one.predict_interval(share).T])
            np.testing.assert_allclose(pairs[:, i, j].T, each, atol=1e-12)
            with np.errstate(divide="ignore"):
                sums += 1 / each[[1, 2, 0]]
        low[:, i], high[:, i], p[:, i] = 1 / (sums - 2)
    np.testing.assert_allclose(made.predict_interval(NEW), np.stack([low, high], axis=-1), atol=1e-12)
    np.testing.assert_allclose(made.predict(NEW), p / p.sum(axis=1, keepdims=True), atol=1e-12)
    assert ((low <= p + 1e-12) & (p <= high + 1e-12)).all()


def test_pairwise_coupling_is_exact_for_pairs_of_one_distribution():
    truth = np.random.default_rng(4).dirichlet(np.ones(5), 50)
    inverse = sum(
        (truth[:, :, None] + truth[:, None, :])[:, :, j] / truth * (np.arange(5) != j) for j in range(5)
    )
    np.testing.assert_allclose(_coupled(inverse), truth, atol=1e-12)


def test_rows_of_zeros_become_equal_shares():
    """In each column the new value is below one of another class, so isotonic regression says 0."""
    rows = np.array([[0.6, 0.05, 0.35], [0.35, 0.6, 0.05], [0.05, 0.35, 0.6]])
    made = OneVsRest("isotonic").fit(rows, [0, 1, 2])
    np.testing.assert_allclose(
        made.predict([[0.34, 0.33, 0.33], [0.6, 0.05, 0.35]]), [[1 / 3] * 3, [1, 0, 0]]
    )


def test_calibration_lowers_the_loss_of_overconfident_rows():
    rows, y, _ = simulated(4, 4000, 6)

    def loss(p):
        return -np.log(np.maximum(p[np.arange(2000), y[2000:]], 1e-15)).mean()

    raw = loss(rows[2000:])
    losses = {
        key: loss(make().fit(rows[:2000], y[:2000]).predict(rows[2000:])) for key, make in WRAPPED.items()
    }
    assert max(losses.values()) < raw, losses
    assert losses["structured_matrix"] < losses["temperature"], losses


def test_bad_input_is_refused_by_name():
    cases = [
        (lambda: CALIBRATORS["vector"]().fit(P, np.zeros(300, int)), "at least two classes.*only class 0"),
        (lambda: CALIBRATORS["vector"]().fit(np.log(P), Y), "must lie in"),
        (lambda: CALIBRATORS["matrix"]().fit(P * 2 / 3, Y), "must sum to 1.*softmax"),
        (lambda: CALIBRATORS["dirichlet"](off_diagonal=-1.0).fit(P, Y), "off_diagonal must be"),
        (lambda: OneVsRest("nothing").fit(P, Y), "key must be one of"),
        (
            lambda: OneVsRest("multicalibration").fit(P, Y),
            "supported by .*ulticalibration, which needs more than one score",
        ),
        (
            lambda: OneVsRest("rank").fit(P, Y),
            "supported by .*ank calibration, which needs more than one score",
        ),
        (lambda: OneVsRest("isotonic").fit(P, Y).predict_interval(NEW), "gives no interval"),
        (
            lambda: Pairwise().fit(P, Y).predict(NEW[:, :3] / NEW[:, :3].sum(axis=1, keepdims=True)),
            "4 columns",
        ),
        (lambda: Pairwise().fit(P[:, 0], Y), "one column per class"),
        (lambda: CALIBRATORS["temperature"]().fit(P, Y).to_map(), "three or more classes cannot be saved"),
        (lambda: CALIBRATORS["temperature"]().fit(P, Y).predict(P[:, 0]), "one column per class"),
    ]
    for call, said in cases:
        with pytest.raises(InputError, match=said):
            call()


def test_rounding_beyond_1_is_taken_for_1():
    above = [[1 + 2e-16, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.25, 0.25], [0.2, 0.2, 0.6]]
    p = OneVsRest("isotonic").fit(above, [0, 1, 0, 2]).predict(above)
    assert p[0].tolist() == [1, 0, 0]


def test_methods_for_two_classes_alone_are_listed():
    """So that no list of a two-class page offers one of K classes."""
    assert set(JOINT) & set(CALIBRATORS) == {"temperature", "auto"}
    assert all(CALIBRATORS[key] is JOINT[key] for key in set(JOINT) - set(CALIBRATORS))


def test_automatic_calibration_is_the_mixture_of_its_candidates_with_the_least_held_out_loss():
    auto = JOINT["auto"]().fit(P, Y)
    every = [JOINT["structured_vector"](), JOINT["structured_matrix"](), OneVsRest(Platt()), OneVsRest()]
    logs = [w * np.log(each.fit(P, Y).predict(NEW)) for w, each in zip(auto.weights_, every, strict=True)]
    mixed = softmax(sum(logs), axis=1)
    np.testing.assert_allclose(
        auto.predict(NEW), mixed, atol=0.00625
    )  # steps are rounded to 0.05 in log-odds
    assert_says(auto.notes_[0], "structured matrix scaling", f"{100 * auto.weights_[1]:.0f} %")


@pytest.mark.parametrize(
    ("bent", "better"),
    [
        (lambda P: softmax(np.log(P) @ [[1, 1.5, 0], [0, 1, 0], [-0.5, 0, 1]], axis=1), 1),
        (lambda P: np.where(P > 0.4, 6 * P, 0.5 * P + 0.1), 3),
    ],
)
def test_the_rows_decide_between_a_linear_map_and_curves(bent, better):
    """If classes depend on each other's log-probabilities, the structured matrix; if they jump, each class's curve."""
    rng = np.random.default_rng(0)
    rows = rng.dirichlet(np.ones(3), 6000)
    truth = bent(rows) / bent(rows).sum(axis=1, keepdims=True)
    y = (rng.random(6000)[:, None] > truth.cumsum(axis=1)).sum(axis=1)
    auto = JOINT["auto"]().fit(rows, y)
    alone = [np.abs(each().fit(rows, y).predict(rows) - truth).mean() for each in JOINT_CANDIDATES.values()]
    assert auto.weights_.argmax() == better == np.argmin(alone)
    assert np.abs(auto.predict(rows) - truth).mean() < 1.1 * alone[better]


def test_two_rows_that_cannot_be_held_out_give_equal_weights():
    auto = JOINT["auto"]().fit(P[:2], [0, 1])
    assert auto.weights_.tolist() == [0.25] * 4

"""The finding above the picture of a step, and a guess in it, are so: numbers of the step, computed anew.

The heading speaks of the picture, so its own seed decides; ``test_claims.py`` has what must hold over seeds.
"""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats
from sklearn.isotonic import IsotonicRegression

from calib.analysis.curves import binned_curve
from calib.analysis.decision import decide
from calib.experiments import EXPERIMENTS, chosen_experiment
from calib.figures import FIGURES
from calib.lessons import LESSONS
from calib.metrics import auc
from tests.experiments.simulated import found
from tests.lessons.test_claims import of, simulated, step

CHECKS: dict[str, tuple[str, Callable[[], None]]] = {}
DEFINES = {"reliability_diagram:6", "two_probabilities:3"}
"""Steps whose heading names what is drawn, and states nothing that could be wrong."""


def says(place: str, words: str) -> Callable:
    """Register a check for the heading of a step, such as three_classes:1, and the words that it holds."""

    def register(check: Callable[[], None]) -> Callable[[], None]:
        CHECKS[place] = (words.replace(" %", "\u00a0%"), check)  # a number and its sign stay in one line
        return check

    return register


def here(key: str, number: int, page: str, simulation: str | None = None):
    """The result of the experiment of a step, remembered for its other steps."""
    settings = dict(step(key, number).recipe.settings)
    experiment = chosen_experiment(settings, page)
    return found(experiment.key, 0, simulation, **experiment.numbers(experiment.values(settings), simulation))


def gaps(key: str, number: int, calibrator: str = "none", least: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Mean prediction, and observed share less it, of the bins of a step that hold so many rows."""
    evaluation = of(key, number)
    curve = binned_curve(evaluation.y, evaluation.predictions[calibrator].p, bins=evaluation.recipe.bins)
    some = curve.count >= least
    return curve.mean_p[some], (curve.observed - curve.mean_p)[some]


def test_every_heading_has_a_check_of_its_own_words():
    """Other words need another look at their check."""
    headings = {one.place: one.heading for lesson in LESSONS.values() for one in lesson.steps if one.heading}
    assert {place: words for place, (words, _) in CHECKS.items()} == {
        place: words for place, words in headings.items() if place not in DEFINES
    }


@says("why_calibrate:1", "High risks are too high")
def high():
    predicted, off = gaps("why_calibrate", 1)
    assert (off[predicted > 0.4] < -0.05).all()


@says("why_calibrate:2", "Overconfident: low risks too low, high risks too high")
def overconfident(number: int = 2):
    predicted, off = gaps("why_calibrate", number)
    assert off[0] > 0.05
    assert (off[predicted > 0.4] < -0.05).all()


@says("why_calibrate:3", "Platt scaling: the marks move near the diagonal")
def platt_moves():
    (_, before), (_, after) = gaps("why_calibrate", 3), gaps("why_calibrate", 3, "platt")
    assert np.abs(before).max() > 0.3
    assert np.abs(after).max() < 0.15
    scores = of("why_calibrate", 3).metrics.ece
    assert scores["platt"] < scores["none"] / 3


@says("why_calibrate:4", "The marks move, the order stays")
def order_stays():
    evaluation = of("why_calibrate", 4)
    before, after = (evaluation.predictions[key].p for key in ("none", "platt"))
    assert np.abs(before - after).max() > 0.2
    assert stats.kendalltau(before, after).statistic == pytest.approx(1)


@says("why_calibrate:5", "Other customers, the same fault")
def same_fault():
    overconfident(5)
    assert of("why_calibrate", 5).recipe.seed != of("why_calibrate", 2).recipe.seed


@says("reliability_diagram:1", "Underconfident: high predictions too low, low ones too high")
def underconfident():
    predicted, off = gaps("reliability_diagram", 1)
    assert (off[predicted > 0.6] > 0).all()
    assert (off[predicted < 0.5] < 0).all()


@says("reliability_diagram:2", "A correct model: marks near the diagonal")
def near_diagonal():
    predicted, off = gaps("reliability_diagram", 2, least=1)
    assert np.abs(off[:-1]).max() < 0.05
    evaluation = of("reliability_diagram", 2)
    assert (len(predicted), (evaluation.predictions["none"].p > 0.8).sum()) == (5, 9), (
        "too few rows for a mark"
    )


@says("reliability_diagram:3", "25 bins: the same predictions, a larger ECE")
def larger_ece():
    few, many = of("reliability_diagram", 2), of("reliability_diagram", 3)
    assert np.array_equal(few.predictions["none"].p, many.predictions["none"].p)
    assert many.metrics.ece["none"] > 3 * few.metrics.ece["none"]


@says("reliability_diagram:4", "Bins with few rows have a wide band")
def wide_band():
    evaluation = of("reliability_diagram", 4)
    curve = binned_curve(evaluation.y, evaluation.predictions["none"].p, bins=15)
    some = curve.count >= 10
    widths = (curve.band_upper - curve.band_lower)[some]
    assert stats.spearmanr(curve.count[some], widths).statistic < -0.7


@says("reliability_diagram:5", "Equal counts: the marks crowd at the ends")
def crowd():
    evaluation = of("reliability_diagram", 5)
    p = evaluation.predictions["none"].p
    means = binned_curve(evaluation.y, p, bins=10, strategy="quantile").mean_p
    assert ((means < 0.1) | (means > 0.9)).all()


@says("labels_to_steps:2", "The joined pool has 1 of 3 rows in class 1")
def joined():
    made = simulated("labels_to_steps", 2)
    assert made.ratio(2, made.joined[1]) == (1, 3)


@says("labels_to_steps:3", "In the end: 0 at the left, 1 at the right")
def ends():
    made = simulated("labels_to_steps", 3)
    values = made.fitted(made.moves)
    assert (values[0], values[-1]) == (0, 1)


@says("labels_to_steps:4", "Isotonic regression: near the diagonal")
def isotonic_near():
    assert np.abs(gaps("labels_to_steps", 4, "isotonic")[1]).max() < 0.15
    scores = of("labels_to_steps", 4).metrics.ece
    assert scores["isotonic"] < scores["none"] / 3


@says("labels_to_steps:5", "At the right end p1 is 1, and p0 is below 1")
def right_end():
    rows = of("labels_to_steps", 5)
    scores = np.append(rows.calibration_scores, rows.calibration_scores.max() + 1)
    labels = (np.append(rows.calibration_y, label) for label in (0, 1))
    assert [IsotonicRegression().fit_transform(scores, y)[-1] for y in labels] == pytest.approx([5 / 8, 1])


@says("labels_to_steps:6", "Isotonic regression: hardly ever finite")
def hardly_finite():
    made = here("labels_to_steps", 6, "validity")
    assert all(np.isfinite(made.log_loss(key)).all(axis=1).mean() < 0.2 for key in ("dir", "isotonic"))


@says("two_probabilities:1", "Right on average: the one for the true label")
def right_on_average():
    errors = mean_errors()
    assert abs(errors["P_Y, for the true label"]) < 0.01
    assert min(abs(errors[name]) for name in ("p0", "p1")) > 0.05
    assert errors["p0"] > 0 > errors["p1"]


def mean_errors() -> dict[str, float]:
    """Mean of label less probability over all draws, by line of the picture."""
    record = FIGURES["theorem"].prepare(here("two_probabilities", 1, "validity"))
    return {line.name: line.y[-1] for line in FIGURES["theorem"].draw(record).data if line.name}


@says("two_probabilities:2", "p1 is above p0 for every digit")
def above():
    pairs = of("two_probabilities", 2).predictions["venn_abers"]
    assert (pairs.upper > pairs.lower).all()


@says("two_probabilities:4", "Three times the rows halve the width")
def halved():
    made = here("two_probabilities", 4, "validity")
    slope = np.polyfit(np.log(made.sizes), np.log(made.mean), 1)[0]
    assert 2.5 < 2 ** (-1 / slope) < 3.5


@says("two_probabilities:5", "The best number is nearer to 1/2")
def nearer():
    p = np.linspace(1e-3, 1 - 1e-3, 99_801)
    p0, p1 = 0.1, 0.5
    worst = np.maximum(np.log((1 - p0) / (1 - p)), np.log(p1 / p))
    assert abs(p[worst.argmin()] - 0.5) < abs((p0 + p1) / 2 - 0.5) - 0.02


@says("not_useful:1", "Valid, but useless")
def useless():
    """A constant pair includes the frequency on average, and tells no two rows apart."""
    rng = np.random.default_rng(0)
    y = rng.random((4000, 101)) < 0.46
    ones = y[:, :-1].sum(axis=1)
    p0, p1 = ones / 101, (ones + 1) / 101
    assert abs(np.mean(np.where(y[:, -1], p1, p0) - y[:, -1])) < 3 * 0.5 / np.sqrt(4000)


@says("not_useful:2", "Calibrated, and of no use")
def of_no_use():
    evaluation = of("not_useful", 2)
    p = evaluation.predictions["none"].p
    assert abs(p.mean() - evaluation.y.mean()) < 0.01
    assert auc(evaluation.y, p) == 0.5


@says("not_useful:3", "Naive Bayes has the larger ECE")
def bayes_ece():
    assert of("not_useful", 3).metrics.ece["none"] > 10 * of("not_useful", 2).metrics.ece["none"]


@says("not_useful:4", "Everybody is above the threshold")
def everybody():
    assert (of("not_useful", 4).predictions["none"].p > 1 / 6).all()


@says("when_it_helps:1", "Unequal covariances: the support-vector machine with Platt scaling is closest")
def svm():
    _, panels = here("when_it_helps", 1, "which_model").rows.values()
    closest = min(panels, key=lambda panel: panel.tce)
    assert closest.name == "SVM with Platt scaling"


@says("when_it_helps:2", "In two dimensions, calibrating helps most if classes overlap")
def overlap():
    """In two dimensions, as the question says: the gain of each calibrator, along the distance of the classes."""
    record = FIGURES["overlap"].prepare(here("when_it_helps", 2, "overlap"))
    lines = [line for line in FIGURES["overlap"].draw(record).data if line.xaxis == "x" and line.legendgroup]
    by_name = {line.name: np.array(line.y, dtype=float) for line in lines}
    raw = by_name.pop("Same forest, uncalibrated")
    for name in ("Platt scaling", "Isotonic regression", "Beta calibration", "Venn–Abers"):
        assert (raw - by_name[name]).argmax() == 0, name


@says("when_it_helps:3", "Here tuning on all rows is better than any calibrator")
def tuning():
    record = FIGURES["calibration_size"].prepare(here("when_it_helps", 3, "calibration_size"))
    last = {line.name: line.y[-1] for line in FIGURES["calibration_size"].draw(record).data if line.name}
    tuned = last.pop("Tuned forest on all rows")
    forests = {name for name in last if name.endswith("on all rows")}
    assert all(tuned < value for name, value in last.items() if name not in forests)


@says("when_it_helps:4", "Loans: the forest overestimates above 30 %")
def loans():
    predicted, off = gaps("when_it_helps", 4)
    assert (off[predicted > 0.3] < 0).all()


@says("three_classes:1", "The confidence is right, the classes are not")
def confidence():
    errors = classes(1)
    assert (
        errors["confidence"]["temperature scaling"]
        < 1
        < 5
        < errors["individual classes, mean"]["temperature scaling"]
    )


@says("three_classes:2", "Dividing makes the classes worse")
def dividing():
    errors = classes(2)["individual classes, mean"]
    assert errors["… divided by the sum"] > 2 * errors["one against the rest"]


@says("three_classes:3", "One number repairs both")
def one_number():
    errors = classes(3)
    assert all(error["temperature scaling"] < 0.5 < 5 < error["uncalibrated"] for error in errors.values())


def classes(number: int) -> dict[str, dict[str, float]]:
    """Errors in percentage points, by line and method, as the picture shows them."""
    experiment, settings = EXPERIMENTS["three_classes"], dict(step("three_classes", number).recipe.settings)
    made = here("three_classes", number, "three_classes")
    record = FIGURES["three_classes"].prepare(
        made, **experiment.view(experiment.values(settings), "three_classes")
    )
    drawn = FIGURES["three_classes"].draw(record).data
    return {line.name: dict(zip(line.y, line.x, strict=True)) for line in drawn}


@says("three_classes:4", "The forest is right more often than it says")
def right_more_often():
    assert (gaps("three_classes", 4)[1] > 0).all()
    assert np.abs(gaps("three_classes", 4, "temperature")[1]).max() < 0.05


@pytest.mark.parametrize("place", CHECKS)
def test_a_heading_is_so(place):
    CHECKS[place][1]()


# ---------------------------------------------------------------------------------------------------------------------
# What an answer would look like in the picture, where the guess stays


def sketch(key: str, number: int, answer: int | None = None):
    """The sketch of an answer to the question of a step, of the right one by default."""
    one = step(key, number)
    asked = one.question or chosen_experiment(dict(one.recipe.settings), one.page.removeprefix("learn_"))
    return asked.ghosts[(answer or asked.right) - 1]


def heights(drawing) -> list[float]:
    return [y for line in drawing["lines"] for _, y in line]


def test_the_right_answer_is_sketched_where_the_picture_shows_it():
    made = simulated("labels_to_steps", 1)
    first = made.joined[0]
    points = sorted(made.points)[first : first + 2]
    assert [tuple(point) for point in sketch("labels_to_steps", 1)["lines"][0]] == points
    assert heights(sketch("labels_to_steps", 2)) == [pytest.approx(1 / 3, abs=1e-3)] * 2
    assert heights(sketch("labels_to_steps", 3)) == [0, 0, 1, 1]
    p0 = of("labels_to_steps", 5).predictions["venn_abers"].lower.max()
    assert heights(sketch("labels_to_steps", 5)) == [pytest.approx(p0, abs=0.01), 1]
    assert heights(sketch("two_probabilities", 3)) == [pytest.approx(4 / 7, abs=1e-3)]
    share = here("labels_to_steps", 6, "validity").log_loss("dir")
    assert heights(sketch("labels_to_steps", 6)) == [
        pytest.approx(np.isfinite(share).all(axis=1).mean(), abs=0.05)
    ]


def test_benefits_and_errors_are_sketched_at_their_values():
    decision = decide(of("not_useful", 4), cost_false_alarm=1, cost_miss=5)
    drawn, share = FIGURES["net_benefit"].prepare(decision), decision.evaluation.share
    everybody, perfect, nobody = (sketch("not_useful", 4, answer)["lines"][0][0] for answer in (1, 2, 3))
    at_threshold = np.interp(decision.threshold, drawn.thresholds, drawn.all_)
    for (x, y), benefit in ((everybody, at_threshold), (perfect, share), (nobody, 0)):
        assert (x, y) == (
            pytest.approx(decision.threshold, abs=0.002),
            pytest.approx(benefit, abs=0.002),
        )
    (low, _), (high, _) = sketch("not_useful", 3)["lines"][0]
    assert low < of("not_useful", 3).metrics.ece["none"] < high


@pytest.mark.parametrize("number", [1, 2, 3])
def test_errors_of_classes_are_sketched_around_their_values(number):
    errors = classes(number)["individual classes, mean"]
    (low, method), (high, _) = sketch("three_classes", number)["lines"][0]
    assert low <= errors[method] <= high


@pytest.mark.parametrize(
    ("key", "number", "page"),
    [
        ("two_probabilities", 1, "validity"),
        ("two_probabilities", 4, "validity"),
        ("not_useful", 1, "validity"),
        ("when_it_helps", 3, "calibration_size"),
    ],
)
def test_a_sketch_names_traces_of_its_picture(key, number, page):
    experiment = chosen_experiment(dict(step(key, number).recipe.settings), page)
    figure = FIGURES[experiment.key]
    names = {trace.name for trace in figure.draw(figure.prepare(here(key, number, page))).data}
    assert {name for one in experiment.ghosts for name in one.get("traces", ())} <= names

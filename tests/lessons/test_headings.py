"""The finding above the picture of a step, and a guess in it, are so: numbers of the step, computed anew.

The heading speaks of the picture, so its own seed decides; ``test_claims.py`` has what must hold over seeds.
"""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats
from sklearn.isotonic import IsotonicRegression

from calib.analysis.curves import binned_curve
from calib.experiments import chosen_experiment
from calib.figures import FIGURES
from tests.experiments.simulated import found
from tests.lessons.every import EVERY
from tests.lessons.test_claims import of, simulated, step

CHECKS: dict[str, tuple[str, Callable[[], None]]] = {}
DEFINES = {"venn_abers:7"}
"""Steps whose heading names what is drawn, and states nothing that could be wrong."""


def says(place: str, words: str) -> Callable:
    """Register a check for the heading of a step, such as venn_abers:1, and the words that it holds."""

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
    headings = {one.place: one.heading for lesson in EVERY.values() for one in lesson.steps if one.heading}
    assert {place: words for place, (words, _) in CHECKS.items()} == {
        place: words for place, words in headings.items() if place not in DEFINES
    }


@says("bank:1", "High risks are too high")
def high():
    predicted, off = gaps("bank", 1)
    assert (off[predicted > 0.4] < -0.05).all()


@says("bank:2", "Overconfident: low risks too low, high risks too high")
def overconfident(number: int = 2):
    predicted, off = gaps("bank", number)
    assert off[0] > 0.05
    assert (off[predicted > 0.4] < -0.05).all()


@says("bank:3", "Platt scaling: the marks move near the diagonal")
def platt_moves():
    (_, before), (_, after) = gaps("bank", 3), gaps("bank", 3, "platt")
    assert np.abs(before).max() > 0.3
    assert np.abs(after).max() < 0.15
    scores = of("bank", 3).metrics.ece
    assert scores["platt"] < scores["none"] / 3


@says("bank:4", "The marks move, the order stays")
def order_stays():
    evaluation = of("bank", 4)
    before, after = (evaluation.predictions[key].p for key in ("none", "platt"))
    assert np.abs(before - after).max() > 0.2
    assert stats.kendalltau(before, after).statistic == pytest.approx(1)


@says("bank:5", "Other customers, the same fault")
def same_fault():
    overconfident(5)
    assert of("bank", 5).recipe.seed != of("bank", 2).recipe.seed


@says("diagram:1", "Underconfident: high predictions too low, low ones too high")
def underconfident():
    predicted, off = gaps("diagram", 1)
    assert (off[predicted > 0.6] > 0).all()
    assert (off[predicted < 0.5] < 0).all()


@says("diagram:2", "A correct model: marks near the diagonal")
def near_diagonal():
    predicted, off = gaps("diagram", 2, least=1)
    assert np.abs(off[:-1]).max() < 0.05
    evaluation = of("diagram", 2)
    assert (len(predicted), (evaluation.predictions["none"].p > 0.8).sum()) == (5, 9), (
        "too few rows for a mark"
    )


@says("diagram:3", "25 bins: the same predictions, a larger ECE")
def larger_ece():
    few, many = of("diagram", 2), of("diagram", 3)
    assert np.array_equal(few.predictions["none"].p, many.predictions["none"].p)
    assert many.metrics.ece["none"] > 3 * few.metrics.ece["none"]


@says("diagram:4", "Bins with few rows have a wide band")
def wide_band():
    evaluation = of("diagram", 4)
    curve = binned_curve(evaluation.y, evaluation.predictions["none"].p, bins=15)
    some = curve.count >= 10
    widths = (curve.band_upper - curve.band_lower)[some]
    assert stats.spearmanr(curve.count[some], widths).statistic < -0.7


@says("venn_abers:2", "In the end: 0 at the left, 1 at the right")
def ends():
    made = simulated("venn_abers", 2)
    values = made.fitted(made.moves)
    assert (values[0], values[-1]) == (0, 1)


@says("venn_abers:3", "Isotonic regression: near the diagonal")
def isotonic_near():
    assert np.abs(gaps("venn_abers", 3, "isotonic")[1]).max() < 0.15
    scores = of("venn_abers", 3).metrics.ece
    assert scores["isotonic"] < scores["none"] / 3


@says("venn_abers:5", "At the right end p1 is 1, and p0 is below 1")
def right_end():
    rows = of("venn_abers", 5)
    scores = np.append(rows.calibration_scores, rows.calibration_scores.max() + 1)
    labels = (np.append(rows.calibration_y, label) for label in (0, 1))
    assert [IsotonicRegression().fit_transform(scores, y)[-1] for y in labels] == pytest.approx([5 / 8, 1])


@says("venn_abers:4", "Isotonic regression: hardly ever finite")
def hardly_finite():
    made = here("venn_abers", 4, "two_probabilities")
    assert all(np.isfinite(made.log_loss(key)).all(axis=1).mean() < 0.2 for key in ("dir", "isotonic"))


@says("venn_abers:8", "Right on average: the one for the true label")
def right_on_average():
    errors = mean_errors()
    assert abs(errors["P_Y, for the true label"]) < 0.01
    assert min(abs(errors[name]) for name in ("p0", "p1")) > 0.05
    assert errors["p0"] > 0 > errors["p1"]


def mean_errors() -> dict[str, float]:
    """Mean of label less probability over all draws, by line of the picture."""
    record = FIGURES["theorem"].prepare(here("venn_abers", 8, "two_probabilities"))
    return {line.name: line.y[-1] for line in FIGURES["theorem"].draw(record).data if line.name}


@says("venn_abers:6", "p1 is above p0 for every digit")
def above():
    pairs = of("venn_abers", 6).predictions["venn_abers"]
    assert (pairs.upper > pairs.lower).all()


@says("venn_abers:9", "Three times the rows halve the width")
def halved():
    made = here("venn_abers", 9, "two_probabilities")
    slope = np.polyfit(np.log(made.sizes), np.log(made.mean), 1)[0]
    assert 2.5 < 2 ** (-1 / slope) < 3.5


@says("venn_abers:10", "The best number is nearer to 1/2")
def nearer():
    p = np.linspace(1e-3, 1 - 1e-3, 99_801)
    p0, p1 = 0.1, 0.5
    worst = np.maximum(np.log((1 - p0) / (1 - p)), np.log(p1 / p))
    assert abs(p[worst.argmin()] - 0.5) < abs((p0 + p1) / 2 - 0.5) - 0.02


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
    made = simulated("venn_abers", 1)
    first = made.joined[0]
    points = sorted(made.points)[first : first + 2]
    assert [tuple(point) for point in sketch("venn_abers", 1)["lines"][0]] == points
    assert heights(sketch("venn_abers", 2)) == [0, 0, 1, 1]
    p0 = of("venn_abers", 5).predictions["venn_abers"].lower.max()
    assert heights(sketch("venn_abers", 5)) == [pytest.approx(p0, abs=0.01), 1]
    assert heights(sketch("venn_abers", 7)) == [pytest.approx(4 / 7, abs=1e-3)]
    share = here("venn_abers", 4, "two_probabilities").log_loss("dir")
    assert heights(sketch("venn_abers", 4)) == [
        pytest.approx(np.isfinite(share).all(axis=1).mean(), abs=0.05)
    ]


@pytest.mark.parametrize("number", [8, 9])
def test_a_sketch_names_traces_of_its_picture(number):
    experiment = chosen_experiment(dict(step("venn_abers", number).recipe.settings), "two_probabilities")
    figure = FIGURES[experiment.key]
    record = figure.prepare(here("venn_abers", number, "two_probabilities"))
    names = {trace.name for trace in figure.draw(record).data}
    assert {name for one in experiment.ghosts for name in one.get("traces", ())} <= names

"""The playground's numbers are calib's for the rows that it simulates."""

import json
import math
import re
import subprocess

import numpy as np
import pytest
from scipy.stats import halfnorm, norm

from calib.analysis.curves import curve_of
from calib.analysis.decision import realised_costs, threshold
from calib.analysis.recommendation.advice import recommend
from calib.analysis.selection import telling_mark
from calib.calibrators import Isotonic, Platt, VennAbers
from calib.evaluate import evaluate
from calib.export import playground
from calib.figures import DARK, LIGHT
from calib.kernel.checks import InputError
from calib.metrics import brier_score, corp_decomposition, expected_calibration_error, log_loss
from calib.recipe import Recipe
from calib.sources import load
from tests.export.programs.engines import NODE

CASES, MANY = 60, 1000
PROGRAM = """
for (const settings of JSON.parse(require("fs").readFileSync(0, "utf8"))) {
    const { test, calibration, map, fits, before, now } = explored(settings)
    const maps = {}
    if (total(calibration.y) > 0 && total(calibration.y) < settings.rows)
        for (const key of ["platt", "isotonic", "venn_abers"]) {
            const one = CALIBRATORS[key](calibration)
            maps[key] = [0, 1, ...calibration.p.slice(0, 5), ...test.p.slice(0, 20)].map(one)
        }
    const bands = binned(test, settings.bins).filter(({ rows }) => rows).map(band)
    const plain = ({ p, y }) => ({ p: [...p], y: [...y] })
    console.log(JSON.stringify({ test: plain(test), calibration: plain(calibration), maps, fits, before, now, bands,
        truth: settings.curve ? [] : [...test.p].map(p => frequency(settings, p)) }))
}"""


def javascript(cases: list[dict]) -> list[dict]:
    return run(PROGRAM, cases)


def run(program: str, given: object) -> list:
    """What a program prints with the playground's functions, a line of JSON each."""
    code = playground.script(playground.NUMBERS) + program
    done = subprocess.run([NODE, "-e", code], input=json.dumps(given), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def settings(seed: int, **changes) -> dict:
    rng = np.random.default_rng(seed)
    return {
        "level": rng.uniform(-3, 3),
        "slope": rng.uniform(0.1, 4),
        "rows": int(rng.integers(5, 2000 if seed % 20 == 0 else 200)),
        "prevalence": rng.uniform(0.02, 0.98),
        "spread": rng.uniform(0.2, 4),
        "noise": rng.choice([0.0, rng.uniform(0, 3)]),
        "bins": int(rng.integers(2, 51)),
        "threshold": float(rng.uniform(0.05, 0.95)),
        "calibrator": str(rng.choice(["none", "platt", "isotonic", "venn_abers"])),
        "seed": seed,
        "curve": list(rng.uniform(0, 1, 21)) if seed % 5 == 0 else None,
    } | changes


@pytest.mark.parametrize("count", [CASES, pytest.param(MANY, marks=pytest.mark.soak)])
def test_scores_and_calibrators_are_those_of_calib(count):
    cases = [settings(seed) for seed in range(count)]
    fitted = 0
    for case, found in zip(cases, javascript(cases), strict=True):
        p, y = np.array(found["test"]["p"]), np.array(found["test"]["y"])
        before, corp = found["before"], corp_decomposition(y, p)
        mine = [
            brier_score(y, p),
            log_loss(y, p),
            expected_calibration_error(y, p, case["bins"]),
            corp.miscalibration,
            corp.discrimination,
            corp.uncertainty,
        ]
        names = ("brier", "logLoss", "ece", "miscalibration", "discrimination", "uncertainty")
        shown = [math.inf if before[name] is None else before[name] for name in names]  # JSON has no infinity
        np.testing.assert_allclose(shown, mine, rtol=0, atol=1e-12)
        _same_chance(found, p, case["bins"])
        _same_costs(found, p, y, case["threshold"])
        if found["maps"]:
            fitted += 1
            _same_calibrators(found)
    assert fitted > count / 2


def _same_chance(found, p, bins):
    """Band, mean and deviation of the ECE in their closed forms, from normal sums with the variances p (1 − p)."""
    inside = [p[np.floor(p * bins + 1e-9).clip(0, bins - 1) == i] for i in range(bins)]
    inside = [one for one in inside if one.size]
    deviations = np.array([np.sqrt((one * (1 - one)).sum()) for one in inside])
    rows, centres = np.array([[one.size, one.mean()] for one in inside]).T
    half = norm.ppf(0.975) * deviations / rows
    bands = np.clip(np.column_stack([centres - half, centres + half]), 0, 1)
    np.testing.assert_allclose(found["bands"], bands, rtol=0, atol=1e-12)
    chance = halfnorm(scale=deviations / len(p))
    mine = [chance.mean().sum(), np.sqrt(chance.var().sum())]
    shown = [found["before"][name] for name in ("byChance", "spreadByChance")]
    np.testing.assert_allclose(shown, mine, rtol=0, atol=1e-12)


def _same_costs(found, p, y, t):
    """The costs are those of the page Decide, with a miss that costs (1 − t)/t false alarms."""
    act = p > threshold(t, 1 - t)
    costs = realised_costs(y, act, 1.0, (1 - t) / t)
    before = found["before"]
    assert before["cost"] == pytest.approx(100 * costs.mean(), abs=1e-9)
    assert (before["alarms"], before["misses"]) == (np.sum(act & (y == 0)), np.sum(~act & (y == 1)))


def _same_calibrators(found):
    p, y = (np.array(found["calibration"][name]) for name in "py")
    at = np.array([0, 1, *p[:5], *found["test"]["p"][:20]])
    isotonic = Isotonic().fit(p, y).predict(at)
    np.testing.assert_allclose([one[0] for one in found["maps"]["isotonic"]], isotonic, rtol=0, atol=1e-12)
    pairs = VennAbers().fit(p, y)
    mine = np.column_stack([pairs.predict(at), pairs.predict_interval(at)])
    np.testing.assert_allclose(found["maps"]["venn_abers"], mine, rtol=0, atol=1e-12)
    platt = Platt(on="log-odds").fit(p, y).predict(at)
    np.testing.assert_allclose([one[0] for one in found["maps"]["platt"]], platt, rtol=0, atol=1e-9)


def test_labels_have_the_frequencies_of_the_curve_and_the_prevalence_that_was_chosen():
    for seed in range(1, 5):
        case = settings(seed, rows=5000, noise=0.0, prevalence=0.3, curve=None)
        (found,) = javascript([case])
        truth, y = np.array(found["truth"]), np.array(found["test"]["y"])
        error = math.sqrt((truth * (1 - truth)).sum()) / len(y)
        assert abs(y.mean() - truth.mean()) < 4 * error
        assert truth.mean() == pytest.approx(0.3, abs=0.04)
        p = np.array(found["test"]["p"])
        np.testing.assert_allclose(
            np.log(truth / (1 - truth)), case["level"] + case["slope"] * np.log(p / (1 - p)), atol=1e-6
        )


def test_a_model_that_says_other_things_is_about_the_same_people():
    """Their true probabilities and labels stay, and the predictions go where the handles are."""
    program = """
    for (const settings of JSON.parse(require("fs").readFileSync(0, "utf8"))) {
        const before = explored(settings), other = says(settings, before.middle + 0.4, 1.7 * settings.spread)
        const after = explored({ ...settings, ...other })
        const of = ({ middle, test }) => ({ middle, truths: [...test.truths], y: [...test.y], p: [...test.p] })
        console.log(JSON.stringify([of(before), of(after)]))
    }"""
    cases = [
        settings(seed, curve=None, level=0.2, slope=1.5, spread=1.0, noise=0.3, prevalence=0.3)
        for seed in range(9)
    ]
    for before, after in run(program, cases):
        np.testing.assert_allclose(after["truths"], before["truths"], atol=1e-6)
        assert after["y"] == before["y"]
        said = [np.log(p / (1 - p)) for p in (np.array(one["p"]) for one in (before, after))]
        expected = before["middle"] + 0.4 + 1.7 * (said[0] - before["middle"])
        np.testing.assert_allclose(said[1], expected, atol=1e-6)


def test_a_changed_truth_leaves_the_predictions():
    program = """
    for (const settings of JSON.parse(require("fs").readFileSync(0, "utf8"))) {
        const middle = centre(settings), other = { ...settings, slope: 0.6, level: -0.5 }
        console.log(JSON.stringify([middle, centre({ ...other, prevalence: prevalenceAt(other, middle) })]))
    }"""
    for before, after in run(program, [settings(seed, curve=None, prevalence=0.4) for seed in range(9)]):
        assert after == pytest.approx(before, abs=1e-5)


def test_the_band_and_the_ece_by_chance_are_what_calibrated_labels_give():
    """Against labels drawn from the predictions themselves; both are normal approximations."""
    case = settings(7, rows=2000, bins=10, spread=1.5, prevalence=0.5, level=0.0, slope=1.0, curve=None)
    (found,) = javascript([case])
    p, rng = np.array(found["test"]["p"]), np.random.default_rng(0)
    index = np.minimum(9, (p * 10).astype(int))
    labels = rng.random((4000, len(p))) < p
    rows = np.bincount(index, minlength=10)
    frequencies = np.stack([np.bincount(index, row, 10) for row in labels]) / rows
    low, high = np.array(found["bands"]).T
    inside = ((low <= frequencies) & (frequencies <= high)).mean(axis=0)
    assert np.all(np.abs(inside - 0.95) < 0.03), inside
    gaps = np.abs(frequencies - np.bincount(index, p, 10) / rows) @ (rows / len(p))
    assert found["before"]["byChance"] == pytest.approx(gaps.mean(), rel=0.02)
    assert found["before"]["spreadByChance"] == pytest.approx(gaps.std(), rel=0.05)


def test_the_start_page_draws_the_bins_of_the_model_and_of_its_calibrator():
    evaluation = evaluate(Recipe(), load(Recipe()))
    mark, choice = telling_mark(evaluation), recommend(evaluation).choice
    told = playground.before_and_after(evaluation, mark, choice)
    program = """
    const { p, y, bins } = JSON.parse(require("fs").readFileSync(0, "utf8"))
    for (const at of p) console.log(JSON.stringify(binned({ p: at, y }, bins)))"""
    for key, bins in zip((mark.calibrator, choice), run(program, told), strict=True):
        curve = curve_of(evaluation, key)
        rows, ones, total = (np.array([one[name] for one in bins]) for name in ("rows", "ones", "sum"))
        np.testing.assert_array_equal(rows, curve.count)
        filled = rows > 0
        found = [total[filled] / rows[filled], ones[filled] / rows[filled]]
        np.testing.assert_allclose(found, [curve.mean_p[filled], curve.observed[filled]], rtol=0, atol=1e-12)
    rows = told["ringed"]
    assert (len(rows), np.mean(np.array(told["p"][0])[rows])) == (mark.rows, pytest.approx(mark.predicted))
    after = round(100 * np.mean(np.array(told["p"][1])[rows]))
    assert f"predicted {after} % on average" in told["words"][1]


def test_a_setting_that_does_not_exist_or_is_out_of_range_is_refused_by_name():
    for wrong, words in (
        ({"slop": 1}, "slop"),
        ({"slope": 9}, "slope"),
        ({"calibrator": "beta"}, "calibrator"),
    ):
        with pytest.raises(InputError, match=words):
            playground.playground_html(wrong)


def test_the_page_has_the_grey_of_the_uncalibrated_model_for_each_theme():
    (choice,) = [one for one in playground.described()["calibrators"] if one["key"] == "none"]
    assert choice["colour"] == "var(--uncalibrated)"
    greys = re.findall(r"--uncalibrated: (#\w+)", (playground.HERE / "page.html").read_text())
    assert [grey.upper() for grey in greys] == [LIGHT.uncalibrated, DARK.uncalibrated]


def test_a_binned_line_is_straight_over_bins_with_few_rows_whose_shares_are_noise():
    recipe = Recipe(model="naive_bayes", calibrators=("none",), bins=10, curve="binned")
    evaluation = evaluate(recipe, load(recipe))
    (curve,) = playground.marks_of(evaluation, ["none"])["curves"]
    few = [point for point in curve if not point[2]]
    (x0, y0, _), (x1, y1, _) = (point for point in curve if point[2])
    assert few
    for x, y, _ in few:
        assert y == pytest.approx(y0 + (y1 - y0) * (x - x0) / (x1 - x0))

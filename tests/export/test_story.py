"""The story's numbers are calib's for the same people."""

import itertools
import json
import subprocess

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import chi2, norm, poisson_binom

from calib.analysis.curves import binned_curve
from calib.analysis.watch.evidence import Block, Stream
from calib.calibrators import Isotonic, Platt
from calib.evaluate.fitting import fit
from calib.experiments.looking import hosmer_lemeshow
from calib.export.playground import script
from calib.export.story import PEOPLE, STORY_ARITHMETIC, STORY_SCRIPTS, story_html
from calib.kernel.binomial import binomial_interval
from calib.metrics import brier_score, expected_calibration_error, loss_decomposition
from calib.sources import load
from scripts import write_story
from tests.export.programs.engines import NODE

DATA = json.loads(PEOPLE.read_text())
P, Y, TRUTH = (np.array(DATA[name]) for name in ("p", "y", "truth"))
SCORES, LABELS = (np.array(DATA["calibration"][name]) for name in "py")
WITHIN = "const within = (value, low, high) => Math.min(Math.max(value, low), high)\n"
WEEKS, PER_WEEK, LATER = 50, 18, 25


def run(program: str, given: object):
    """What an expression of the story's functions and ``given`` is worth."""
    code = (
        f"{script(STORY_ARITHMETIC)}{WITHIN}const given = JSON.parse(require('fs').readFileSync(0, 'utf8'))\n"
        f"const data = JSON.parse(require('fs').readFileSync({json.dumps(str(PEOPLE))}, 'utf8'))\n"
        f"console.log(JSON.stringify({program}))"
    )
    done = subprocess.run([NODE, "-e", code], input=json.dumps(given), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def same(found, mine) -> None:
    np.testing.assert_allclose(found, mine, rtol=0, atol=1e-12)


def platt() -> np.ndarray:
    return Platt(on="log-odds").fit(SCORES, LABELS).predict(P)


def uniforms(seed: int, count: int) -> list[float]:
    """Mulberry32, as a reference for the browser's."""
    state, found = (seed * 2654435761) % 2**32, []
    for _ in range(count):
        state = (state + 0x6D2B79F5) % 2**32
        t = (state ^ state >> 15) * (state | 1) % 2**32
        t ^= (t + (t ^ t >> 7) * (t | 61)) % 2**32
        found.append(((t ^ t >> 14) + 0.5) / 2**32)
    return found


def test_the_people_are_the_test_rows_of_the_sample_loans():
    bank = write_story.evaluated(write_story.BANK)
    same(P, bank.predictions["none"].p)
    same(platt(), bank.predictions["platt"].p)
    same(SCORES, bank.calibration_scores)
    made = write_story.columns(bank)
    same(TRUTH, made.pop("truth"))
    assert made == {name: DATA[name] for name in made}
    (root,) = DATA["trees"][0]["values"]
    same(root, write_story.constant(bank)[0])


def test_its_labels_are_a_typical_draw_from_the_true_probabilities():
    silent = np.array([one is None for one in DATA["income"]])
    assert DATA["y"] == write_story.typical_labels(P, TRUTH, silent).tolist()
    bins = np.minimum((P * 5 + 1e-9).astype(int), 4)
    draws = (np.random.default_rng(1).random((4000, len(P))) < TRUTH).astype(int)
    for group in (*(bins == k for k in range(5)), silent):
        low, high = np.quantile(draws[:, group].sum(axis=1), [0.25, 0.75])
        assert low <= Y[group].sum() <= high
    # so each mark lies within those of the reader's twenty redraws
    drawn = run("given.map(seed => otherCustomers(data.p, seed, data.truth))", [*range(1, 21)])
    marks = np.array([_marks(np.array(one["p"]), np.array(one["y"])) for one in drawn])
    mine = _marks(P, Y)
    assert ((marks.min(axis=0) <= mine) & (mine <= marks.max(axis=0))).all()


def _marks(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    bins = np.minimum((p * 5 + 1e-9).astype(int), 4)
    return np.array([y[bins == k].mean() for k in range(5)])


@pytest.mark.parametrize(
    "depth", [3, *(pytest.param(d, marks=pytest.mark.soak) for d in (1, 2, 4, 5, 6, 7, 8))]
)
def test_a_tree_of_the_story_is_a_tree_of_calib(depth):
    tree = DATA["trees"][depth]
    same(np.array(tree["values"])[tree["leaf"]], write_story.tree(depth))


def test_columns_and_their_bands_are_those_of_a_binned_curve():
    for bins in (2, 5, 10, 23, 70):
        for p in (P, platt()):
            found = run(
                "binned({ p: given.p, y: data.y }, given.bins).filter(c => c.rows)"
                ".map(c => [c.rows, c.sum / c.rows, c.ones / c.rows, ...consistency(c)])",
                {"p": p.tolist(), "bins": bins},
            )
            curve = binned_curve(Y, p, bins=bins)
            filled = curve.count > 0
            mine = np.column_stack(
                [curve.count, curve.mean_p, curve.observed, curve.band_lower, curve.band_upper]
            )[filled]
            same(found, mine)


def test_other_customers_are_drawn_as_stated():
    """Twice 900 uniform numbers: who comes, and whether the person defaults."""
    for seed, risks in ((1, TRUTH), (20, P)):
        found = run(
            "otherCustomers(data.p, given.seed, given.risks)", {"seed": seed, "risks": risks.tolist()}
        )
        u = np.array(uniforms(seed, 1800)).reshape(-1, 2)
        who = np.floor(u[:, 0] * 900).astype(int)
        assert found["who"] == who.tolist()
        assert found["y"] == (u[:, 1] < risks[who]).astype(int).tolist()
        same(found["p"], P[who])


def test_the_highest_mark_of_the_redraws_is_the_one_named():
    drawn = run("given.map(seed => otherCustomers(data.p, seed, data.truth))", [*range(1, 21)])
    p, y = (np.array([one[name] for one in drawn]) for name in "py")
    fourth = (p >= 0.6) & (p < 0.8)
    predicted, observed = ((values * fourth).sum(axis=1) / fourth.sum(axis=1) for values in (p, y))
    top = int(observed.argmax())
    assert f"The highest of the twenty is at {100 * observed[top]:.0f} %." in story_html().decode()
    far = predicted - observed
    assert (f"{100 * predicted[top]:.1f}", f"{100 * observed[top]:.1f}") == ("68.4", "61.8")
    assert (f"{100 * far[top]:.1f}", far.argmin()) == ("6.6", top)


def test_errors_and_calibrators_are_those_of_calib():
    found = run(
        "[brierScore(data.p, data.y), ...[5, 10, 70].map(n => scores(data, n).ece),"
        " ...[platt, isotonic].map(fit => data.p.map(fit(data.calibration)))"
        ".flatMap(q => [brierScore(q, data.y), ...q])]",
        None,
    )
    maps = [platt(), Isotonic().fit(SCORES, LABELS).predict(P)]
    mine = [brier_score(Y, P), *(expected_calibration_error(Y, P, n) for n in (5, 10, 70))]
    for q in maps:
        mine += [brier_score(Y, q), *q]
    same(found, mine)


def test_losses_of_every_tree_are_those_of_calib():
    found = run(
        "data.trees.map(t => Object.values(lossParts(data.truth, t.leaf.map(k => t.values[k]))))", None
    )
    for tree, losses in zip(DATA["trees"], found, strict=True):
        mine = loss_decomposition(TRUTH, np.array(tree["values"])[tree["leaf"]])
        same(losses, [mine.calibration, mine.grouping, mine.irreducible])


def test_tails_and_intervals_are_those_of_scipy_and_calib():
    cases = [(df, x) for df in range(1, 13) for x in (0.0, 1e-3, 0.5, df, 3.0 * df, 40.0, 300.0)]
    same(run("given.map(([df, x]) => gammaTail(df / 2, x / 2))", cases), [chi2.sf(x, df) for df, x in cases])
    pairs = [(k, n) for n in (1, 7, 20, 100) for k in (0, 1, n // 2, n)]
    same(
        run("given.map(([k, n]) => wilson(k, n))", pairs),
        [[float(end) for end in binomial_interval(k, n)] for k, n in pairs],
    )


def test_the_usual_number_of_true_statements_is_a_poisson_binomial():
    rng = np.random.default_rng(0)
    cases = [rng.integers(0, 11, n) / 10 for n in (1, 2, 5, 10, 20) for _ in range(20)]
    cases += [np.zeros(3), np.ones(3), np.full(10, 0.5), np.array([0, 1, 0.3])]
    found = run("given.map(p => [poissonBinomial(p), usualNumber(p)])", [p.tolist() for p in cases])
    for p, (shares, ends) in zip(cases, found, strict=True):
        each = np.array(list(itertools.product((0, 1), repeat=len(p)))) if len(p) <= 10 else None
        if each is not None:  # by counting every outcome
            probability = np.prod(np.where(each, p, 1 - p), axis=1)
            same(shares, np.bincount(each.sum(axis=1), probability))
        known = poisson_binom(p)
        same(shares, known.pmf(np.arange(len(p) + 1)))
        cdf = np.cumsum(shares)
        assert ends == [int(np.argmax(cdf >= q - 1e-12)) for q in (0.025, 0.975)]


def test_the_weekly_test_is_hosmer_and_lemeshows():
    rng = np.random.default_rng(3)
    for shift in (0.0, 0.6):
        x = rng.normal(size=WEEKS * PER_WEEK)
        y = (rng.random(len(x)) < expit(x + shift)).astype(int)
        group = np.minimum((norm.cdf(x) * 10).astype(int), 9)
        given = {"p": expit(x).tolist(), "y": y.tolist(), "group": group.tolist()}
        same(run("testsSoFar(given.p, given.y, given.group, 18)", given), hosmer_lemeshow(y, x, PER_WEEK))


@pytest.mark.parametrize("seed", [1, 6, pytest.param(100, marks=pytest.mark.soak)])
@pytest.mark.parametrize("change", [WEEKS, LATER])
def test_evidence_is_that_of_the_watch_page(seed, change):
    q = platt()
    year = run(
        "yearOf(given.q, tenthsOf(given.q), given.seed, given.change)",
        {"q": q.tolist(), "seed": seed, "change": change},
    )
    assert sorted(year["order"]) == list(range(900))
    p, y = np.array(year["p"]), np.array(year["y"], dtype=float)
    same(p, q[year["order"]])
    starts = np.arange(WEEKS) * PER_WEEK
    log, _ = Stream().add(Block(logit(p), y, p, None, starts))
    np.testing.assert_allclose(year["evidence"], log, rtol=1e-12, atol=1e-12)
    u = np.array(uniforms(seed, 1800))
    assert year["order"] == np.argsort(u[:900], kind="stable").tolist()
    risk = expit(logit(p) + 0.8 * (np.arange(900) >= change * PER_WEEK))
    assert y.tolist() == (u[900:] < risk).astype(float).tolist()


def test_the_numbers_in_its_sentences_are_those_of_its_people():
    text = story_html().decode()
    low, risky = P < 0.2, (P >= 0.6) & (P < 0.8)
    assert (low.sum(), Y[low].sum(), round(P[low].sum())) == (618, 89, 34)
    assert (risky.sum(), Y[risky].sum()) == (49, 22)
    assert round(100 * P[low].mean(), 1) == 5.5
    q = platt()
    before, after = brier_score(Y, P), brier_score(Y, q)
    assert f"It falls from {before:.3f} to {after:.3f}, by {100 * (1 - after / before):.0f} %." in text
    a, b = 32, 714
    assert (Y[a], Y[b], round(P[a], 2), round(P[b], 2)) == (0, 1, 0.7, 0.4)
    assert f"A stays above B: {100 * q[a]:.0f} and {100 * q[b]:.0f} %." in text
    silent = np.array([one is None for one in DATA["income"]])
    predicted, observed = (round(100 * values[silent].mean(), 1) for values in (q, Y))
    gap = f"{observed - predicted:.1f} points too low"  # the difference of the values shown
    assert f"For the {silent.sum()} customers who did not state their income, it is {gap}." in text


def test_what_it_says_of_the_losses_by_depth_is_true():
    text, losses = story_html().decode(), [_losses(depth) for depth in range(9)]
    calibration, grouping = (
        np.array([getattr(one, name) for one in losses]) for name in ("calibration", "grouping")
    )
    assert (np.diff(calibration) > 0).all()  # "calibration loss falls all the way from depth 8 to 0"
    assert (np.diff(grouping)[:6] < 0).all()  # "smallest at depth 6"
    assert (np.diff(grouping)[6:] > 0).all()
    both = calibration + grouping
    best = int(both.argmin())
    assert f"Depth {best} has: {both[best]:.3f}. Depth 8 has {both[8]:.3f}." in text
    assert f"It is {calibration[0]:.4f} with none, {calibration[8]:.4f} with eight." in text


def test_by_leaf_grouping_loss_never_rises_with_depth():
    """So it rises only because customers of several leaves have the same prediction."""
    found = []
    for depth in range(1, 9):
        params = {"max_depth": depth}
        recipe = write_story.BANK.replace(model="decision_tree", calibrators=("none",), params=params)
        fitted = fit(recipe, load(recipe))
        model, rows = fitted.parts[0].placed.model, fitted.dataset.X.iloc[fitted.parts[0].test]
        leaf, p = model[-1].apply(model[:-1].transform(rows)), model.predict_proba(rows)[:, 1]
        each = [TRUTH[leaf == k] for k in np.unique(leaf)]
        found.append(sum(len(one) * one.var() for one in each) / 900)
    assert (np.diff(found) < 0).all()
    assert len(np.unique(leaf[p == 0])) > 1


def test_how_often_the_weekly_test_raises_a_false_alarm():
    q = platt().tolist()
    program = "(g => { const t = tenthsOf(g.q); return g.seeds.map(s => falseAlarm(g.q, t, s)) })(given)"
    alarms = run(program, {"q": q, "seeds": [*range(100, 120), *range(1000, 3000)]})
    assert sum(alarms[:20]) == 6
    low, high = binomial_interval(sum(alarms[20:]), 2000)
    share, low, high = (f"{100 * one:.0f}" for one in (np.mean(alarms[20:]), low, high))
    assert f"in 2,000 simulated years, {share} % had one ({low} to {high} %)" in story_html().decode()


def _losses(depth: int):
    tree = DATA["trees"][depth]
    return loss_decomposition(TRUTH, np.array(tree["values"])[tree["leaf"]])


def test_the_file_asks_for_nothing_and_is_small():
    text = story_html().decode()
    for loads in ("src=", "@import", "fetch(", "[[STYLE", "[[SCRIPT", "[[DATA", "http://", "https://"):
        assert loads not in text.replace("http://www.w3.org/2000/svg", ""), loads
    assert len(text.encode()) < 400_000
    assert all(file.exists() for file in STORY_SCRIPTS)

"""Points that are dragged: the browser's numbers are calib's, to the last digits."""

import json
import subprocess

import numpy as np

from calib.calibrators import MERGE_RULES, VennAbers
from calib.synthetic import FiniteExample
from pages.ui.points import ARITHMETIC_SCRIPTS
from tests.export.programs.engines import NODE

ASKED = "\nconsole.log(JSON.stringify(JSON.parse(require('fs').readFileSync(0, 'utf8')).map(one => {"


def javascript(body: str, cases: list) -> list:
    """What the arithmetic of the page says to each case, in Node."""
    code = "".join(file.read_text(encoding="utf-8") for file in ARITHMETIC_SCRIPTS) + ASKED + body + "})))"
    done = subprocess.run([NODE, "-e", code], input=json.dumps(cases), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def drawn(rng) -> dict:
    """A calibration set with ties and weights, of one class at times, and a score among its own or beside them."""
    n = int(rng.integers(1, 60))
    scores = rng.integers(0, rng.integers(1, 40), n) / 7 if rng.random() < 0.7 else rng.normal(size=n)
    labels = (rng.random(n) < rng.choice([0.0, 0.1, 0.5, 1.0])).astype(int)
    rows = rng.integers(1, 5, n) if rng.random() < 0.5 else np.ones(n, dtype=int)
    score = float(rng.choice([scores[0], scores.min() - 1, scores.max() + 1, rng.normal()]))
    return {
        "rows": [[float(s), int(y), int(w)] for s, y, w in zip(scores, labels, rows, strict=True)],
        "score": score,
        "rule": str(rng.choice([*MERGE_RULES])),
    }


def test_the_pair_of_a_row_is_that_of_venn_abers_in_hundreds_of_random_sets_with_ties():
    cases = [drawn(np.random.default_rng(seed)) for seed in range(600)]
    body = "const { p0, p1, p, zero, one: up } = pair(one.rows, one.score, one.rule);"
    body += "return [p0, p1, p, zero.pool.low, zero.pool.high, zero.pool.rows, zero.pool.ones,"
    body += "up.pool.low, up.pool.high, up.pool.rows, up.pool.ones]"
    for case, found in zip(cases, javascript(body, cases), strict=True):
        scores, labels, rows = map(np.array, zip(*case["rows"], strict=True))
        fitted = VennAbers(case["rule"]).fit(scores, labels, sample_weight=rows)
        said, explained = fitted.predict([case["score"]])[0], fitted.explain(case["score"])
        pools = [
            value for fit in (explained.zero, explained.one) for value in (*fit.pool, fit.rows, fit.positives)
        ]
        np.testing.assert_allclose(
            found, [*fitted.predict_interval([case["score"]])[0], said, *pools], rtol=0, atol=1e-12
        )


def test_the_leaves_and_losses_of_a_line_are_those_of_the_finite_example():
    cases, expected = [], []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 13))
        x, labels = np.sort(rng.choice(100, n, replace=False)).astype(float), rng.integers(-1, 2, n)
        labels[rng.integers(n)] = 1  # at least one point has a label
        posterior, cuts = rng.integers(0, 101, n) / 100, np.flatnonzero(rng.random(n - 1) < 0.3)
        cases.append(
            {
                "points": [
                    [float(a), float(b), None if c < 0 else int(c)]
                    for a, b, c in zip(x, posterior, labels, strict=True)
                ],
                "cuts": cuts.tolist(),
            }
        )
        known = labels >= 0
        example = FiniteExample(tuple(x), tuple(posterior), tuple(x[known]), tuple(labels[known].tolist()))
        part = example.partition((x[cuts] + x[cuts + 1]) / 2)
        expected.append([*part.p, *part.calibrated, part.calibration, part.grouping, part.irreducible])
    body = "const { said, cl, gl, il } = partition(one.points, one.cuts);"
    body += "return [...said.map(s => s.p), ...said.map(s => s.c), cl, gl, il]"
    for found, wanted in zip(javascript(body, cases), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)

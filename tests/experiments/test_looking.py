"""Weekly alarms: the test is that of its definition, the evidence that of ``watch``."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import chi2, norm

from calib.analysis.watch import watch
from calib.analysis.watch.evidence import Block, Stream
from calib.experiments.looking import FirstAlarms, hosmer_lemeshow


def drawn(n, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return x, (rng.random(n) < expit(x + shift)).astype(float)


def test_the_p_value_of_every_week_is_that_of_all_rows_so_far():
    x, y = drawn(300)
    for week, p_value in enumerate(hosmer_lemeshow(y, x, 100), start=1):
        z, labels = x[: 100 * week], y[: 100 * week]
        statistic = 0.0
        for k in range(10):
            own = (norm.cdf(z) >= k / 10) & (norm.cdf(z) < (k + 1) / 10)
            p = expit(z[own])
            statistic += (labels[own].sum() - p.sum()) ** 2 / (p * (1 - p)).sum()
        assert p_value == pytest.approx(chi2.sf(statistic, 10))


def test_the_evidence_is_that_of_the_watch_page():
    x, y = drawn(500, shift=0.5)
    log, _ = Stream().add(Block(x, y, expit(x), None, np.arange(5) * 100))
    assert log == pytest.approx(watch(y, expit(x), np.arange(500) // 100).log_evidence[::100])


def test_shares_and_delays_are_those_of_the_runs_without_an_earlier_alarm():
    result = FirstAlarms(
        {"test": np.array([1, 0, 3, 0])},
        {"test": np.array([1, 4, 6, 0])},
        3,
        before=2,
        after=3,
        rows=1,
        shift=1.0,
    )
    assert result.share("calm", "test").tolist() == [0.25, 0.25, 0.5]
    assert result.share("changed", "test") == pytest.approx([0, 1 / 3, 1 / 3])
    assert result.delay("test") == 4

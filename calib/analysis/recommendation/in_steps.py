"""Compute what a recommendation needs one number after the other, to report progress on very many rows."""

from __future__ import annotations

from calib.analysis.differences import reference_of
from calib.analysis.recommendation.advice import Recommendation, recommend
from calib.analysis.recommendation.verdict import judged_rows, verdict_of
from calib.evaluate import Evaluation
from calib.kernel.progress import Watch
from calib.metrics import METRICS

SLOW_MEASURES = ("slope", "observed_expected", "auc")
"""Metrics of the verdict whose intervals take long."""


def recommend_in_steps(evaluation: Evaluation, watch: Watch) -> Recommendation:
    """Recommend as ``recommend`` does, with progress; what is computed is cached and serves verdict and diagram.

    >>> from calib import Recipe, evaluate, load_sample
    >>> found = evaluate(Recipe(model="naive_bayes", calibrators=("none", "platt")), load_sample("digits"))
    >>> seen = []
    >>> recommend_in_steps(found, Watch(lambda share, what: seen.append(what))).answer, seen[0], seen[-1]
    ('Use Platt scaling.', 'Calibration slope', 'calibrators')
    """
    before = evaluation.unadjusted or evaluation
    metrics = SLOW_MEASURES if before.predictions else ()
    steps = len(metrics) + 2
    for i, metric in enumerate(metrics):
        watch.step(i / steps, METRICS[metric].label)
        key = reference_of(before.predictions)
        judged_rows(before, key).estimate(metric, key)
    watch.step((steps - 2) / steps, "verdict")
    verdict_of(evaluation)
    watch.step((steps - 1) / steps, "calibrators")
    return recommend(evaluation)

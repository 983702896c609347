"""The forests of the long experiments, every calibrator on two of them, and their measures.

Shaker and Hüllermeier (2025), section 5.2 and appendix C.3. RF_d, RF_opt, RF_large and CT learn from all rows; a
calibrated forest learns from some and is calibrated on the rest. The entropies of the paper's Table 3 show that it
calibrated a tuned forest: calibrating the default forest would leave its many equal scores equal.

The search for the settings of RF_opt and CT (Tables 1 and 2) is the costly part; one search serves all repetitions of a
step. Its results for the experiments' default settings are in ``searches.json``, written by
``scripts/long_experiments.py``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import entropy

from calib.calibrators import CALIBRATORS
from calib.kernel.binning import BINS, bin_index
from calib.kernel.checks import Array
from calib.kernel.progress import Watch
from calib.kernel.records import Dataset
from calib.metrics import METRICS
from calib.metrics.tce import excess_brier, true_calibration_error
from calib.models import ProbabilityForest
from calib.models.tuned import CurtailedForest, TunedForest

SEARCH_DRAWS = 50
SEARCHES_FILE = "searches.json"


@dataclass(frozen=True)
class ForestSettings:
    """Settings that the search chose.

    Attributes
    ----------
    forest
        Keyword arguments of RF_opt, a ProbabilityForest.
    curtail
        Threshold of CT.
    """

    forest: Mapping[str, Any]
    curtail: int


def search(
    X: Array, y: Array, random_state: int, draws: int = SEARCH_DRAWS, watch: Watch | None = None
) -> ForestSettings:
    """Find RF_opt's settings and CT's threshold with the lowest Brier score over five folds of these rows.

    Parameters
    ----------
    X : (n, d)
    y : (n,)
    draws
        Number of settings tried for RF_opt.
    """
    watch = watch or Watch()
    opt = TunedForest(draws, random_state=random_state).fit(X, y, watch=watch.within(0.0, 0.9))
    curtailed = CurtailedForest(random_state=random_state).fit(X, y, watch=watch.within(0.9, 1.0))
    return ForestSettings(opt.best_params_, curtailed.best_params_["curtail"])


@lru_cache
def stored_searches() -> dict[str, ForestSettings]:
    """Read the stored results by case, for the experiments' default seed."""
    stored = json.loads(
        resources.files("calib.experiments.shared").joinpath(SEARCHES_FILE).read_text(encoding="utf-8")
    )
    return {case: ForestSettings(**found) for case, found in stored.items()}


def as_json(found: Mapping[str, ForestSettings]) -> str:
    """Write the file that ``stored_searches`` reads, one case per line."""
    lines = (f"{json.dumps(case)}: {json.dumps(asdict(one))}" for case, one in sorted(found.items()))
    return "{\n" + ",\n".join(lines) + "\n}\n"


FEW_TREES, MANY_TREES = 100, 500
PAPER_OPTIONS = {"venn_abers": {"merge": "square"}}  # the paper's merge rule


def baselines(data: Dataset, test: Dataset, found: ForestSettings, random_state: int) -> pd.DataFrame:
    """Train RF_d, RF_opt, RF_large and CT on ``data``; return one row of measures on ``test`` for each."""
    shapes: dict[str, dict[str, Any]] = {
        "rf_d": {},
        "rf_opt": dict(found.forest),
        "rf_large": {"n_estimators": MANY_TREES},
        "ct": {"curtail": found.curtail},
    }
    return _table(
        (name, "", measured(test, scores(forest(data, random_state, **shape), test)))
        for name, shape in shapes.items()
    )


def forest(data: Dataset, random_state: int, **shape: Any) -> ProbabilityForest:
    """Fit a forest of FEW_TREES trees unless ``shape`` says otherwise."""
    return ProbabilityForest(**({"n_estimators": FEW_TREES} | shape), random_state=random_state).fit(
        data.X, data.y
    )


def scores(model: ProbabilityForest, data: Dataset) -> Array:
    """Return the probability of class 1, (n,)."""
    return model.predict_proba(data.X)[:, 1]


class Calibrated:
    """The two base forests of one training set, with stored predictions for a pool and for test rows.

    The first rows of the pool are the calibration set of every size.
    """

    def __init__(
        self, train: Dataset, pool: Dataset, test: Dataset, found: ForestSettings, random_state: int
    ) -> None:
        self.pool, self.test = pool, test
        shapes: dict[str, Mapping[str, Any]] = {"tuned": found.forest, "default": {}}
        self.scores, self.votes = {}, {}
        for base, shape in shapes.items():
            model = forest(train, random_state, **shape)
            self.scores[base] = scores(model, pool), scores(model, test)
            # Rank needs this: pure leaves of the default forest are all equal otherwise
            laplace = model.with_leaf("laplace")
            self.votes[base] = laplace.tree_scores(pool.X), laplace.tree_scores(test.X)

    def table(self, size: int) -> pd.DataFrame:
        """Return one row per base and calibrator, fitted on the first ``size`` rows of the pool."""
        rows = []
        for base in self.scores:
            for key, method in CALIBRATORS.shipped.items():
                if method.input == "features":
                    continue  # multicalibration calibrates segments of the features
                pool, test = (self.votes if method.input == "tree_scores" else self.scores)[base]
                calibrator = method(**PAPER_OPTIONS.get(key, {})).fit(pool[:size], self.pool.y[:size])
                rows.append((key, base, measured(self.test, calibrator.predict(test))))
        return _table(rows)


def measured(test: Dataset, p: Array) -> dict[str, float]:
    """Compute every measure of MEASURES; log loss is missing because it is infinite for most forests.

    CL + GL is the Brier score minus that of the true probability on the same labels, as in the paper's Figure 10.
    """
    y, posterior = test.y, test.posterior
    assert posterior is not None
    by_y = {key: METRICS[key].function(y, p) for key in ("ece", "brier", "accuracy", "group_entropy")}
    return by_y | {
        "tce": true_calibration_error(posterior, p),
        "excess": excess_brier(y, p, posterior),
        "irreducible": float(np.mean(posterior * (1 - posterior))),
        "bin_entropy": bin_entropy(p),
    }


def bin_entropy(p: Array, bins: int = BINS) -> float:
    """Compute the entropy, in bits, of the predictions over equal-width bins, in [0, log2 bins].

    >>> bin_entropy(np.array([0.01, 0.02, 0.51, 0.99]))
    1.5
    """
    return float(entropy(np.bincount(bin_index(p, bins)) / len(p), base=2))


def _table(rows: Iterable[tuple[str, str, dict[str, float]]]) -> pd.DataFrame:
    return pd.DataFrame([{"method": method, "base": base, **values} for method, base, values in rows])

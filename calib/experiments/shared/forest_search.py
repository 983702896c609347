"""Search for the settings of RF_opt and CT, the costly part of the long experiments, with stored results.

Shaker and Hüllermeier (2025), Tables 1 and 2. One search serves all repetitions of a step. The results for the
experiments' default settings are in ``searches.json``, written by ``scripts/long_experiments.py``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from calib.kernel.checks import Array
from calib.kernel.progress import Watch
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

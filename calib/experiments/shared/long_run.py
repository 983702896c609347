"""Results of the long experiments, made beforehand by ``scripts/long_experiments.py``, and how they were made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

import pandas as pd


@dataclass(frozen=True, eq=False)
class Shipped:
    """table : as the experiment's ``gathered`` returns it · settings, seed : which run it is · when : a date

    minutes : of processor time, searches apart · versions : of what computed it
    """

    table: pd.DataFrame
    settings: Mapping[str, Any]
    seed: int
    when: str
    minutes: float
    versions: Mapping[str, str]

    def told(self) -> str:
        """One sentence on how it was made."""
        tools = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        return (
            f"Computed beforehand, on {self.when}, with seed {self.seed} by scripts/long_experiments.py in "
            f"{self.minutes:.0f} minutes of processor time, the searches for RF_opt apart ({tools})."
        )


@lru_cache
def _read(key: str) -> Shipped | None:
    folder = resources.files(__name__)
    about = folder.joinpath(f"{key}.json")
    if not about.is_file():
        return None
    with resources.as_file(folder.joinpath(f"{key}.csv.gz")) as path:
        table = pd.read_csv(path, keep_default_na=False, na_values=["nan"])
    return Shipped(table, **json.loads(about.read_text(encoding="utf-8")))


def shipped_results(key: str, random_state: int, values: Mapping[str, Any]) -> Shipped | None:
    """The results of the experiment ``key`` where ``values`` ask for them and are what they were made with.

    A setting that the file does not name chooses among its results, and so may have any value.
    """
    made = _read(key)
    if made is None or values["results"] != "shipped" or random_state != made.seed:
        return None
    return made if all(values[name] == value for name, value in made.settings.items()) else None

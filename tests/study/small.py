"""A study that takes a second: three setups on two model fits, and files of made rows for it."""

from pathlib import Path

import numpy as np
import pandas as pd

PROTOCOL = """
title = "Small"
source = "made"
setups = [
  { name = "Raw", calibrator = "none", placement = "split" },
  { name = "VAP", calibrator = "venn_abers", placement = "split" },
  { name = "Forest", calibrator = "none", placement = "none", model = "random_forest", params = { n_estimators = 5 } },
]
[data]
positive = "later"
[splits]
folds = 3
repeats = 2
[metrics]
keys = ["accuracy", "brier", "log_loss", "reliability", "width"]
[recipe]
model = "naive_bayes"
"""


FAILING = PROTOCOL.replace('model = "naive_bayes"', 'model = "given"')
"""The same on a column that holds no probabilities, so that Raw fails on these rows and the rest does not."""


def table(n: int = 90, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(6)
    target = np.where(X[:, 0] + rng.normal(size=n) > 0, "yes", "no")
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "target": target})


def files(folder: Path, *names: str, text: str = PROTOCOL) -> tuple[Path, list[Path]]:
    """Write (protocol, data files) to a folder, and return their paths."""
    protocol = folder / "small.toml"
    protocol.write_text(text, encoding="utf-8")
    paths = []
    for seed, name in enumerate(names or ("one",)):
        paths.append(folder / f"{name}.csv")
        table(seed=seed).to_csv(paths[-1], index=False)
    return protocol, paths

"""Simulated files that the tests upload, and the results of ``calib`` for them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from calib import Evaluation, Recipe, evaluate
from calib.analysis.differences import differences
from calib.analysis.recommendation.advice import recommend
from calib.data import read_table
from calib.kernel.wording import briefly, values_and_change
from calib.sources import digest, load


def churn(rows: int = 400, seed: int = 0) -> pd.DataFrame:
    """Draw customers who stay or leave: numbers with gaps, a category, and a label in words."""
    rng = np.random.default_rng(seed)
    months, calls = rng.integers(1, 72, rows), rng.poisson(2.0, rows)
    contract = rng.choice(["monthly", "yearly"], rows, p=[0.6, 0.4])
    lean = -0.04 * months + 0.7 * calls - 1.2 * (contract == "yearly")
    left = rng.random(rows) < 1 / (1 + np.exp(-lean))
    fee = np.where(rng.random(rows) < 0.1, np.nan, rng.normal(50, 15, rows).round(2))
    outcome = np.where(left, "left", "stayed")
    return pd.DataFrame(
        {"months": months, "calls": calls, "fee": fee, "contract": contract, "outcome": outcome}
    )


def as_csv(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False).encode()


def as_arff(frame: pd.DataFrame, relation: str = "churn") -> bytes:
    """Write a table as ARFF: nominal attributes, quoted names, ``?`` for missing values."""
    kinds = [
        "numeric" if pd.api.types.is_numeric_dtype(column) else "{" + ",".join(sorted(column.unique())) + "}"
        for _, column in frame.items()
    ]
    head = [f"@attribute '{name}' {kind}" for name, kind in zip(frame.columns, kinds, strict=True)]
    body = frame.to_csv(index=False, header=False, na_rep="?")
    return "\n".join([f"@relation {relation}", *head, "@data", body]).encode()


def judged(rows: int = 600, seed: int = 1) -> pd.DataFrame:
    """Draw labels with two columns of predictions made elsewhere: one overconfident, one underconfident."""
    rng = np.random.default_rng(seed)
    logit = rng.normal(0, 1.5, rows)
    label = np.where(rng.random(rows) < 1 / (1 + np.exp(-logit)), "yes", "no")
    bold, modest = (1 / (1 + np.exp(-factor * logit)) for factor in (3.0, 0.4))
    return pd.DataFrame({"label": label, "p_bold": bold.round(6), "p_modest": modest.round(6)})


def evaluation_of(query: dict[str, str], name: str, content: bytes) -> Evaluation:
    """Compute with ``calib`` alone the Evaluation of a page's address and the same file."""
    recipe = Recipe.from_query(query)
    return evaluate(recipe, load(recipe, {digest(content): read_table(content, name)}))


def headline_of(evaluation):
    """Return label and value of the headline's Brier score: the model's own, then the recommended method's."""
    choice = recommend(evaluation).choice
    brier = evaluation.metrics["brier"]
    if choice in (None, "none"):
        return "Brier score", briefly(brier["none"])[0]
    line = differences(evaluation, ["brier"]).line("brier", choice)
    before, after, _ = values_and_change(*brier[["none", choice]], line.value, line.low, line.high, digits=2)
    return "Brier score", f"{before} → {after}"

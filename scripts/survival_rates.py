"""Measure intervals, test and bins of ``check_survival`` on simulated rows whose true risks are known.

``python -m scripts.survival_rates [--draws 200] [--only n=500]``. The log-odds of the true risk by the
horizon are normal; the time to the event is exponential given the risk, and so is the time to the censoring. The
overconfident model doubles the log-odds. "Censored" is the share of rows whose status at the horizon is unknown. Where
the censoring depends on the risk, rows of high risk are followed for a shorter time. Run by hand: an hour on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit, logit

from calib.analysis.survival.check import SurvivalEvaluation, check_survival
from calib.kernel.checks import InputError
from calib.kernel.records import Predictions
from calib.metrics import METRICS, metric_value

SHARES = (0.2, 0.5, 0.7)
SHOWN = ("observed_expected", "in_the_large", "slope", "ici", "e50", "e90", "brier", "brier_skill", "auc")
OF_CURVE = {"ici": np.mean, "e50": np.median, "e90": lambda distances: np.quantile(distances, 0.9)}
POPULATION = 400_000
BAND = slice(20, -20)  # cells of the curve, without those at the ends


@dataclass(frozen=True)
class World:
    """Where rows come from, and what is known of their censoring.

    Attributes
    ----------
    share
        Share of rows of unknown status.
    model
        "calibrated" or "overconfident".
    n
        Number of rows.
    depends
        "" if the censoring is independent, "ignored" if it depends on the risk, "groups" if it is also estimated in
        groups of the risk.
    competing
        Whether a competing event can come first.
    """

    share: float
    model: str = "calibrated"
    n: int = 500
    depends: str = ""
    competing: bool = False

    @property
    def name(self) -> str:
        more = {"": "", "ignored": ", dependent", "groups": ", dependent, in groups"}[self.depends]
        return f"{self.share:.0%}{more}{', competing' if self.competing else ''}".replace("%", " %")


def risks(rng: np.random.Generator, n: int) -> np.ndarray:
    """Draw true risks by the horizon 1."""
    return np.clip(expit(rng.normal(-0.8, 1.2, n)), 1e-4, 0.99)


def drawn(world: World, rng: np.random.Generator, n: int, rate: float) -> tuple[np.ndarray, ...]:
    """Return time, event, true risk, and group of censoring, each (n,)."""
    risk = risks(rng, n)
    hazard, other = -np.log1p(-risk), np.full(n, np.inf)
    if (
        world.competing
    ):  # P(event by 1) is the risk: the first event has hazard h, and is of this kind with share q
        total = 1 - (1 - risk) * rng.permutation(np.linspace(0.6, 1, n))
        first = rng.random(n) < risk / total
        hazard = -np.log1p(-total)
        other = np.where(first, np.inf, 0.0)
    high = risk > 0.3
    until = rng.exponential(1 / (rate * np.where(high & bool(world.depends), 3.0, 1.0)))
    event = rng.exponential(1 / hazard)
    kind = np.where(event <= until, np.where(other == 0, 2, 1), 0)
    return np.minimum(event, until), kind, risk, high


@cache
def rate_of(world: World) -> float:
    """Return the rate of censoring at which the share of rows of unknown status is the world's."""

    def excess(rate: float) -> float:
        time, kind, *_ = drawn(world, np.random.default_rng(1), 40_000, rate)
        return float(((kind == 0) & (time < 1)).mean()) - world.share

    return float(brentq(excess, 1e-3, 50, xtol=1e-3))


def predicted(world: World, risk: np.ndarray) -> np.ndarray:
    """Return the model's predictions."""
    return risk if world.model == "calibrated" else expit(2 * logit(risk))


@cache
def truth(model: str) -> dict[str, float]:
    """Return the population's value of each metric."""
    world, rng = World(0, model), np.random.default_rng(99)
    risk = risks(rng, POPULATION)
    p, y = predicted(world, risk), (rng.random(POPULATION) < risk).astype(int)
    found = {key: metric_value(METRICS[key], Predictions(y, p)) for key in SHOWN if key not in OF_CURVE}
    distances = {key: float(of(np.abs(p - risk))) for key, of in OF_CURVE.items()}
    return {**found, **distances, "risk": float(risk.mean())}


def one(world: World, seed: int) -> dict[str, tuple[float, float]]:
    """Return (1 if the interval includes the true value, width) of each metric; of the verdict, whether it errs."""
    rng = np.random.default_rng(seed)
    time, kind, risk, high = drawn(world, rng, world.n, rate_of(world))
    p, true = predicted(world, risk), truth(world.model)
    group = high if world.depends == "groups" else None
    try:
        found = check_survival(time, kind, p, 1.0, censoring_groups=group)
    except InputError:  # nobody in a group is followed up to the horizon
        return dict.fromkeys((*SHOWN, "bins", "curve", "verdict"), (np.nan, np.nan))
    lines = {key: _covers(found.estimate(key).low, found.estimate(key).high, true[key]) for key in SHOWN}
    lines |= {"bins": _bins(found, p, risk), "curve": _curve(found, world)}
    return lines | {"verdict": (float(found.verdict.finding in ("miscalibrated", "negligible")), np.nan)}


def _covers(low: float, high: float, true: float) -> tuple[float, float]:
    return (float(low <= true <= high), high - low) if np.isfinite(low) else (np.nan, np.nan)


def _bins(found: SurvivalEvaluation, p: np.ndarray, risk: np.ndarray) -> tuple[float, float]:
    """Return the share of bins whose interval includes the mean true risk of their rows, and the mean width."""
    table = found.bins(5)
    at = np.searchsorted(table["right"], p, side="left")
    means = pd.Series(risk).groupby(np.minimum(at, len(table) - 1)).mean().reindex(range(len(table)))
    inside = (table["lower"] <= means) & (means <= table["upper"])
    return float(inside.mean()), float((table["upper"] - table["lower"]).mean())


def _curve(found: SurvivalEvaluation, world: World) -> tuple[float, float]:
    """Return the share of the curve's points whose interval includes the true risk, without the ends."""
    curve = found.curve().iloc[BAND]
    true = curve["risk"] if world.model == "calibrated" else expit(logit(curve["risk"]) / 2)
    return float(((curve["lower"] <= true) & (true <= curve["upper"])).mean()), float(
        (curve["upper"] - curve["lower"]).mean()
    )


def rates(world: World, draws: int) -> dict[str, str | int]:
    """Return one line of the table: coverage in %, and the median width."""
    found = [one(world, seed) for seed in range(draws)]
    cells: dict[str, str | int] = {"model": world.model, "rows": world.n, "censored": world.name}
    for key in (*SHOWN, "bins", "curve"):
        covered, widths = np.array([each[key] for each in found]).T
        cells[key] = f"{100 * np.nanmean(covered):.1f} ({np.nanmedian(widths):.3f})"
    verdicts = np.array([each["verdict"][0] for each in found])
    cells |= {"verdict": f"{100 * np.nanmean(verdicts):.1f}", "refused": int(np.isnan(verdicts).sum())}
    return cells


def worlds() -> Iterator[World]:
    """Yield what is simulated."""
    for n in (300, 1000):
        for model in ("calibrated", "overconfident"):
            yield from (World(share, model, n) for share in SHARES)
    yield from (World(share, depends=depends) for depends in ("ignored", "groups") for share in SHARES)
    yield from (World(share, competing=True) for share in SHARES)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--only", default="")
    args = parser.parse_args(arguments)
    for world in worlds():
        if args.only in f"{world}":
            print(rates(world, args.draws), flush=True)


if __name__ == "__main__":
    main()

"""Check that a change of the code left every number as it was: random cases, before and after.

    python -m scripts.same_numbers write before.json        # at the commit before
    python -m scripts.same_numbers compare before.json      # at the commit after; exit status 1 if numbers differ
    python -m scripts.same_numbers compare before.json --every 20    # a first look, at one case in twenty

``write`` draws the cases of ``scripts.drawn_cases``: Recipes of two and of K classes, arrays, and figures of studies
and experiments. Of each Evaluation it keeps sums over its arrays, its metrics, verdict, recommendation and tables, and
some intervals and figures; all cases together reach every figure. ``compare`` reads the cases from the file, so that a
new calibrator or a new order of a registry does not change what is drawn. Words may change; numbers may differ by
rounding, at most ``CLOSE``.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from inspect import signature
from typing import Any

import numpy as np
import pandas as pd

from calib import Recipe, check, sources
from calib.analysis.audit.of_evaluation import audited, columns_of
from calib.analysis.class_decision import decide_class
from calib.analysis.decision import decide
from calib.analysis.depth import depth_scores, grow, sweep_depths
from calib.analysis.explain import explain, widest_row
from calib.analysis.grown_tree import grown_tree
from calib.analysis.recommendation.rule import advise
from calib.analysis.sample_size import too_few
from calib.analysis.watch.over_time import over_time
from calib.evaluate import Evaluation, Fitted, calibrate, evaluate, fit
from calib.experiments import EXPERIMENTS
from calib.figures import FIGURES
from calib.kernel.cache import cached_result
from calib.kernel.checks import InputError
from calib.metrics import METRICS
from calib.study.papers.ten_setups import setup_recipes, setup_table
from calib.synthetic import GaussianPair
from scripts.drawn_cases import WOODS, Case, cases, logistic_graph, tables

CLOSE = 1e-9
Numbers = dict[str, Any]
"""Name → number, or a word of a few that are part of a result, such as a finding."""


def numbers(case: str) -> Numbers:
    """Compute one case (JSON) and return its numbers by name; what the program refuses is a number, too."""
    given, found = json.loads(case), Numbers()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found.update(KINDS[given["kind"]](given))
        except Exception as error:
            found["refused"] = type(error).__name__
    return found


def _of_recipe(case: Case) -> Iterator[tuple[str, Any]]:
    recipe = Recipe(**case["recipe"])
    fitted = fit(recipe, sources.load(recipe, _uploads()))
    found = calibrate(recipe, fitted)
    yield from _of_evaluation(found, case["intervals"])
    yield from _of_figures(case["figures"], found, fitted)


@cache
def _uploads() -> dict[str, Any]:
    graph = logistic_graph()
    return {**tables(), **({} if graph is None else {"logistic": graph})}


def _of_arrays(case: Case) -> Iterator[tuple[str, Any]]:
    """Evaluate arrays of 2 or K classes; the seed decides which of the other arguments there are."""
    seed, K = case["seed"], case["classes"]
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(K), 400)
    y = np.array([rng.choice(K, p=row) for row in P**1.3 / (P**1.3).sum(axis=1, keepdims=True)])
    p = {"forest": P if K > 2 else P[:, 1], "even": (P + 1 / K) / 2 if K > 2 else (P[:, 1] + 0.5) / 2}
    more: dict[str, Any] = {}
    if seed % 3:
        more["sample_weight"] = rng.integers(0, 4, 400) if seed % 3 == 1 else rng.gamma(2, 1, 400)
    if seed % 5 == 0:
        more["groups"] = rng.integers(0, 60, 400)
    if seed % 4 < 2:
        more["features"] = pd.DataFrame({"x": rng.normal(size=400), "kind": rng.choice(["u", "v"], 400)})
    labels: Any = y
    if seed % 7 > 3 and K > 2:
        labels = np.array(WOODS)[y]
        p = {name: pd.DataFrame(each, columns=WOODS) for name, each in p.items()}
    elif seed % 7 > 3:
        labels, more["pos_label"] = np.array(["sun", "rain"])[y], "rain"
    if seed % 2:
        p = p["forest"]
    result = check(labels, p, **more)
    if result.classes > 2:
        yield from _of_classes(result)
        result = result.of("top" if seed % 8 > 3 else 1)
    yield from _of_evaluation(result, case["intervals"])
    yield from _of_figures(case["figures"], result, None)


def _of_evaluation(found: Evaluation, intervals: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield what an Evaluation holds and what is concluded from it."""
    yield from [("rows", len(found.y)), ("positives", found.share), ("notes", len(found.notes))]
    for name in (
        "rows",
        "y",
        "scores",
        "calibration_scores",
        "calibration_y",
        "weight",
        "cluster",
        "posterior",
    ):
        yield name, _sum(getattr(found, name))
    yield "flow", _sum(pd.json_normalize([dict(each) for each in found.flow]).map(_total).to_numpy())
    yield from ((f"{key} refused", 1.0) for key in found.refused)
    for key, one in found.predictions.items():
        yield from (
            (f"{key} {name}", _sum(getattr(one, name))) for name in ("p", "lower", "upper", "p0", "p1")
        )
    shown = [key for key, m in METRICS.items() if m.needs != "posterior" or found.posterior is not None]
    yield from _of_frame("metric", found.measured(found.applicable(shown)))
    yield from _of_frame("frame", found.frame())
    for key in list(found.predictions)[:1]:
        for metric in intervals:
            yield from _tried(f"{key} interval {metric}", lambda m=metric, k=key: found.interval(m, k))
    yield from _of_conclusions(found)
    if found.unadjusted is not None:
        yield from ((f"before {name}", each) for name, each in _of_frame("metric", found.unadjusted.metrics))
    if found.whole is not None:
        yield from _of_classes(found.whole)


def _total(counted: Any) -> float:
    return float(np.sum([np.sum(each) for each in np.atleast_1d(counted)]))


def _of_conclusions(found: Evaluation) -> Iterator[tuple[str, Any]]:
    if not found.predictions:
        return
    verdict, advice = found.verdict, found.recommendation()
    yield "finding", verdict.finding
    yield from ((name, getattr(verdict, name)) for name in ("p_value", "unseen", "largest"))
    yield "choice", str(advice.choice)
    yield from [
        ("reasons", len(advice.reasons)),
        ("warnings", len(advice.warnings)),
        ("too few", len(too_few(found))),
    ]


def _of_classes(whole: Evaluation) -> Iterator[tuple[str, Any]]:
    """Yield the tables of all classes together."""
    chosen = whole.chosen
    yield from [("classes", whole.classes), ("shares", _sum(whole.shares)), ("chosen", _sum(chosen))]
    for key, P in whole.distributions.items():
        yield f"joint {key}", _sum(P)
    if not whole.predictions:
        return
    yield "joint choice", advise(whole).choice
    first = next(iter(whole.predictions))
    for name, make in {
        "joint metric": lambda: whole.metrics,
        "joint interval": whole.intervals,
        "joint by class": whole.by_class,
        "joint frame": whole.frame,
    }.items():
        yield from _tried(f"{name} of {first}", make)


def _of_figures(keys: Sequence[str], found: Evaluation, fitted: Fitted | None) -> Iterator[tuple[str, Any]]:
    for key in keys:
        yield from _tried(f"figure {key}", lambda key=key: _record(key, found, fitted).to_frame())


def _record(key: str, found: Evaluation, fitted: Fitted | None) -> Any:
    """Prepare a figure of an Evaluation; one of a single method shows the first with intervals."""
    prepare = FIGURES[key].prepare
    view = {"calibrator": _first(found)} if "calibrator" in signature(prepare).parameters else {}
    if key == "groups":
        view["group"] = next(iter(columns_of(found)), None)
    return prepare(SOURCES.get(key, lambda found, _: found)(found, fitted), **view)


def _first(found: Evaluation) -> str:
    if not found.predictions:
        raise InputError("Nothing is predicted.")
    return min(found.predictions, key=lambda name: found.predictions[name].p0 is None)


def _explained(found: Evaluation, fitted: Fitted | None) -> Any:
    if fitted is None:
        raise InputError("Arrays have no fitted calibrators.")
    return explain(found, fitted, widest_row(found, _first(found)))


SOURCES: Mapping[str, Callable[[Evaluation, Fitted | None], Any]] = {
    **dict.fromkeys(("costs", "net_benefit"), lambda found, _: decide(found)),
    "class_costs": lambda found, _: decide_class(found),
    "compared": lambda found, _: {"a": found, "b": found.with_view(found.recipe.replace(bins=7))},
    "set_reliability": lambda found, _: found.predictions,
    "explained": _explained,
    **dict.fromkeys(
        ("audit", "audit_sizes", "audit_walk"),
        lambda found, _: cached_result(found, "net", lambda: audited(found, resamples=99)),
    ),
    **dict.fromkeys(
        ("watch_evidence", "watch_moved", "watch_periods"),
        lambda found, _: cached_result(found, "watched", lambda: over_time(found, _first(found))),
    ),
}
"""Figure → what it is made of, if not of the Evaluation itself."""


def _of_study(case: Case) -> Iterator[tuple[str, Any]]:
    key = case["figure"]
    yield from _tried(key, lambda: FIGURES[key].prepare(STUDY_SOURCES[key](case["seed"])).to_frame())


def _plane(seed: int) -> Any:
    return GaussianPair([0, 0], [1, 1], [1.5, 0], [1, 2]).sample(240, random_state=seed)


FEW_TREES = Recipe(params={"n_estimators": 4}, calibrators=("none", "platt", "isotonic", "venn_abers"))


@cache
def _depths(seed: int) -> list[pd.DataFrame]:
    return [depth_scores(FEW_TREES, point) for point in sweep_depths(FEW_TREES, _plane(seed))]


def _setups(seed: int) -> pd.DataFrame:
    recipes = list(setup_recipes(FEW_TREES).items())[:3]
    return setup_table({key: evaluate(recipe, _plane(seed)) for key, recipe in recipes})


def _win_rates(seed: int) -> pd.DataFrame:
    ends = np.sort(np.random.default_rng(seed).random((4, 3)), axis=1)
    return pd.DataFrame(ends, list("abcd"), ["lower", "mean", "upper"])


def _p_values(seed: int) -> pd.DataFrame:
    p = np.random.default_rng(seed).random((4, 4))
    return pd.DataFrame((p + p.T) / 2, list("abcd"), list("abcd"))


STUDY_SOURCES: Mapping[str, Callable[[int], Any]] = {
    "depth": _depths,
    "depth_losses": _depths,
    "tree": lambda seed: grown_tree(FEW_TREES, grow(FEW_TREES, _plane(seed), "tree", 3)[0]),
    "setups": _setups,
    "critical_difference": lambda seed: _win_rates(seed)["mean"] * 3 + 1,
    "win_rates": _win_rates,
    "significance": _p_values,
}


def _of_experiment(case: Case) -> Iterator[tuple[str, Any]]:
    experiment, figure = EXPERIMENTS[case["experiment"]], case["figure"]
    values = experiment.values({f"{experiment.key}.{name}": each for name, each in case["settings"].items()})

    def frame() -> pd.DataFrame:
        used = experiment.numbers(values, case["simulation"])
        result = experiment.simulate(case["simulation"], random_state=case["seed"], **used)
        return FIGURES[figure].prepare(result, **experiment.view(values, figure)).to_frame()

    yield from _tried(figure, frame)


KINDS: Mapping[str, Callable[[Case], Iterator[tuple[str, Any]]]] = {
    "recipe": _of_recipe,
    "arrays": _of_arrays,
    "study": _of_study,
    "experiment": _of_experiment,
}


def _tried(name: str, make: Callable[[], Any]) -> Iterator[tuple[str, Any]]:
    """Yield the numbers of a table or an array, or the name of the error if there is none."""
    try:
        made = make()
    except Exception as error:
        yield f"{name} refused", type(error).__name__
    else:
        yield from _of_frame(name, made) if isinstance(made, pd.DataFrame) else [(name, _sum(np.array(made)))]


def _of_frame(name: str, frame: pd.DataFrame) -> Iterator[tuple[str, float]]:
    """Yield a sum per column; of words, that of their order of first appearance, so that words may change."""
    yield f"{name} lines", len(frame)
    for i, column in enumerate(frame):
        values = frame.iloc[:, i]
        yield f"{name}: {column}", _sum(values if _is_number(values) else pd.factorize(values.astype(str))[0])


def _is_number(values: pd.Series) -> bool:
    return values.dtype.kind in "biuf"


def _sum(values: Any) -> float:
    """Sum values with weights by position, so that order counts; infinite and missing values count only by number."""
    flat = np.ravel(np.asarray([] if values is None else values, dtype=np.float64))
    finite = np.isfinite(flat)
    weights = 1 + np.arange(len(flat)) % 97 / 97
    return float(np.where(finite, flat, 0) @ weights + 1e6 * np.count_nonzero(~finite))


def differences(before: Numbers, after: Numbers) -> list[str]:
    """Name what is only on one side and the numbers that differ.

    >>> differences({"p": 1.0, "finding": "negligible"}, {"p": 1.0 + 1e-12, "finding": "no sign"})
    ["finding: 'negligible' → 'no sign'"]
    """
    only = [
        f"{name}: only {side}"
        for side, a, b in (("before", before, after), ("after", after, before))
        for name in a
        if name not in b
    ]
    return only + [
        f"{name}: {before[name]!r} → {after[name]!r}"
        for name in before
        if name in after and not _close(before[name], after[name])
    ]


def _close(a: Any, b: Any) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    return math.isclose(a, b, rel_tol=CLOSE, abs_tol=CLOSE) or (math.isnan(a) and math.isnan(b))


def undrawn(found: Mapping[str, Numbers]) -> list[str]:
    """Return the figures that all cases refuse.

    >>> len(undrawn({})) == len(FIGURES), "scores" in undrawn({"case": {"figure scores lines": 4}})
    (True, False)
    """
    names = {name for numbers in found.values() for name in numbers}
    return [key for key in FIGURES if not names & {f"figure {key} lines", f"{key} lines"}]


def main() -> int:
    """Write the numbers, or compare them with those of a file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("write", "compare"))
    parser.add_argument("file")
    parser.add_argument("--every", type=int, default=1, help="take one case in so many")
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    if given.what == "write":
        kept: dict[str, Numbers] = {json.dumps(case): {} for case in cases()}
    else:
        with open(given.file, encoding="utf-8") as file:
            kept = json.load(file)
    kept = dict(list(kept.items())[:: given.every])
    with ProcessPoolExecutor(given.workers) as pool:
        found = dict(zip(kept, pool.map(numbers, kept, chunksize=5), strict=True))
    total = f"{len(found)} cases, {sum(map(len, found.values())):,} numbers"
    if given.every == 1 and (missing := undrawn(found)):
        print("No case draws", *missing, file=sys.stderr)
    if given.what == "write":
        with open(given.file, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)
        print(total)
        return 0
    changed = {case: told for case in kept if (told := differences(kept[case], found[case]))}
    for case, told in changed.items():
        print(case, *told, sep="\n    ")
    print(f"{total}; {len(changed)} cases differ", file=sys.stderr if changed else sys.stdout)
    return int(bool(changed))


if __name__ == "__main__":
    raise SystemExit(main())

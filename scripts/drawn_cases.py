"""Random cases for ``scripts.same_numbers``: Recipes of two and of K classes, arrays, and figures that need no Recipe.

A case is a JSON object with its ``kind``, so a file of results says what was computed. Every field of a Recipe takes
each of its values. Tables that a Recipe uploads are made by ``tables`` from a seed. Options that only read a table (a
sheet, a header, the answer to a question) have tests of their own.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from calib import Recipe
from calib.calibrators import CALIBRATORS
from calib.data import WEIGHT_AS
from calib.experiments import EXPERIMENTS
from calib.figures import FIGURES
from calib.kernel.checks import InputError
from calib.kernel.records import Parameter
from calib.metrics.confidence_intervals import INTERVALS
from calib.models import MODELS
from calib.placements import PLACEMENTS
from calib.recipe import FIELDS, all_options
from calib.splits import SPLITS
from calib.synthetic import SYNTHETIC

Case = dict[str, Any]

TWO_CLASSES, K_CLASSES, ARRAYS, PER_EXPERIMENT = 500, 150, 40, 2
FIGURES_PER_CASE, INTERVALS_PER_CASE = 2, 3
STUDIES = ("depth", "depth_losses", "tree", "setups", "critical_difference", "win_rates", "significance")
"""Figures made of several Recipes or of results of a study; each is a case of its own."""
OF_K = ("class_costs", "class_intervals", "class_pairs", "simplex")
OF_EXPERIMENTS = {
    figure: (key, simulation)
    for key, experiment in EXPERIMENTS.items()
    for simulation, figures in experiment.runs.items()
    for figure in figures
}
OF_EVALUATIONS = tuple(key for key in FIGURES if key not in (*STUDIES, *OF_K, *OF_EXPERIMENTS))

SMALL: dict[str, dict[str, Any]] = {  # models that are large by default
    **{key: {"n_estimators": 10} for key in ("random_forest", "bagged_trees", "large_forest")},
    "tuned_forest": {"draws": 2, "n_estimators": 5},
    "curtailed_forest": {"highest": 3, "n_estimators": 5},
    "gradient_boosting": {"max_iter": 10},
    "neural_network": {"units": 4, "max_iter": 30},
}
SMALL_ONLY = ("tuned_forest", "curtailed_forest")  # models of two classes that search among many fits
STORED = (
    "overlap",
    "calibration_size",
)  # long experiments, with results of one seed and the default settings
SAMPLES = (
    *("digits", "breast_cancer", "rare_faults", "loans", "predictions", "dated", "customers", "counts"),
    "hidden_group",
)
WITHOUT_COLUMN = [key for key, split in SPLITS.items() if split.needs is None]
OF_SAMPLES: dict[str, dict[str, Any]] = {
    "sample:dated": {"time": "ordered", "split": "time"},
    "sample:customers": {"cluster": "customer_id", "split": "cluster"},
    "sample:counts": {"weight": "count"},
}
SCORED = ("sample:predictions", "sample:counts", "sample:hidden_group", "upload:scores", "upload:k_scores")
WOODS = ("ash", "birch", "cedar", "oak")
ROWS = 600


@cache
def tables() -> Mapping[str, pd.DataFrame]:
    """Return table by digest: features and predictions, of two classes and of four, and later rows of the same form."""
    made = {}
    for seed, name in enumerate(("rows", "later", "woods", "later_woods")):
        rng = np.random.default_rng(seed)
        frame = _features(rng)
        code = _labels(frame, rng, len(WOODS) if "woods" in name else 2)
        made[name] = frame.assign(target=np.array(WOODS if "woods" in name else ("no", "yes"))[code])
    rng = np.random.default_rng(len(made))
    made["scores"] = _features(rng).assign(target=rng.choice(["no", "yes"], ROWS))
    z = 1.5 * (made["scores"]["target"] == "yes") + rng.normal(size=ROWS) - 0.75
    made["scores"] = made["scores"].assign(forest=_logistic(0.6 * z).round(3), boosting=_logistic(1.8 * z))
    made["k_scores"] = _features(rng).assign(target=rng.choice(WOODS, ROWS))
    one_hot = made["k_scores"]["target"].to_numpy()[:, None] == np.array(WOODS)
    P = _softmax(1.5 * one_hot + rng.normal(size=(ROWS, len(WOODS))))
    made["k_scores"] = made["k_scores"].assign(**{f"p_{wood}": P[:, k] for k, wood in enumerate(WOODS)})
    return made


def _features(rng: np.random.Generator) -> pd.DataFrame:
    """Return three features, and the columns that have a role."""
    return pd.DataFrame(
        {
            "a": rng.normal(size=ROWS).round(2),
            "b": rng.normal(size=ROWS),
            "region": rng.choice(["north", "east", "south"], ROWS, p=[0.6, 0.3, 0.1]),
            "person": [f"P{each:03}" for each in rng.integers(0, 150, ROWS)],
            "day": pd.date_range("2024-01-01", periods=ROWS // 3).repeat(3),
            "count": rng.integers(1, 5, ROWS),
            "importance": rng.gamma(2, 1, ROWS).round(2) + 0.1,
            "part": rng.choice(["train", "calibrate", "test"], ROWS, p=[0.5, 0.2, 0.3]),
        }
    )


def _labels(frame: pd.DataFrame, rng: np.random.Generator, classes: int) -> np.ndarray:
    levels = np.linspace(-1, 1, classes)
    z = (
        1.5 * frame[["a"]].to_numpy() * levels
        + 0.8 * (frame["region"] == "east").to_numpy()[:, None] * levels**2
    )
    return (z + rng.gumbel(size=z.shape)).argmax(axis=1)


def _logistic(z: Any) -> np.ndarray:
    return 1 / (1 + np.exp(-z))


def _softmax(z: np.ndarray) -> np.ndarray:
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def logistic_graph() -> bytes | None:
    """Return an ONNX file with the logistic regression of the inputs a and b; None without the package."""
    try:
        from onnx import TensorProto, helper
    except ImportError:
        return None
    one = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, 1]) for name in ("a", "b")]
    out = helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [None, 1])
    weight = helper.make_tensor("w", TensorProto.FLOAT, [1], [1.2])
    nodes = [
        helper.make_node("Mul", ["a", "w"], ["m"]),
        helper.make_node("Add", ["m", "b"], ["z"]),
        helper.make_node("Sigmoid", ["z"], ["probabilities"]),
    ]
    graph = helper.make_graph(nodes, "logistic", one, [out], [weight])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    return made.SerializeToString()


def cases() -> Iterator[Case]:
    """Draw all cases; what a Recipe refuses is drawn again."""
    draw = random.Random(7)
    figures, of_k, intervals = (_in_turn(draw, keys) for keys in (OF_EVALUATIONS, OF_K, list(INTERVALS)))
    for kind in ["two"] * TWO_CLASSES + ["k"] * K_CLASSES:
        yield {
            "kind": "recipe",
            "recipe": json.loads(_drawn(draw, kind).to_json()),
            "figures": [*islice(figures, FIGURES_PER_CASE), *islice(of_k, kind == "k")],
            "intervals": list(islice(intervals, INTERVALS_PER_CASE)),
        }
    for i in range(ARRAYS):
        yield {
            "kind": "arrays",
            "seed": i,
            "classes": 2 + 2 * (i % 2),
            "figures": list(islice(figures, 1)),
            "intervals": list(islice(intervals, INTERVALS_PER_CASE)),
        }
    for key in STUDIES:
        yield {"kind": "study", "figure": key, "seed": 0}
    for figure, (key, simulation) in OF_EXPERIMENTS.items():
        free = [p for p in EXPERIMENTS[key].parameters if key not in STORED or "view" in p.extra]
        for i in range(PER_EXPERIMENT):
            yield {
                "kind": "experiment",
                "figure": figure,
                "experiment": key,
                "simulation": simulation,
                "settings": {p.name: _value(draw, p) for p in free} if i else {},
                "seed": 0 if key in STORED else i,
            }


def _in_turn(draw: random.Random, keys: Sequence[str]) -> Iterator[str]:
    """Yield all keys again and again, each round in another order."""
    while True:
        yield from draw.sample(keys, len(keys))


def _drawn(draw: random.Random, kind: str) -> Recipe:
    """Draw a Recipe that a person could choose, of two classes or of K."""
    while True:
        try:
            return Recipe(**(_two_classes if kind == "two" else _k_classes)(draw))
        except InputError:
            continue


def _two_classes(draw: random.Random) -> dict[str, Any]:
    uploads = [*["upload:rows"] * 3, *["upload:scores"] * 2, "upload:woods"]
    data = draw.choice(
        [*(f"sample:{key}" for key in SAMPLES), *(f"synthetic:{key}" for key in sorted(SYNTHETIC)), *uploads]
    )
    fields = _chain(draw, data, sorted(CALIBRATORS), of_k=False)
    fields["base_rate"] = draw.choice([None, None, None, 0.1, 0.4])
    if data.startswith("synthetic:"):
        entry = SYNTHETIC[data.partition(":")[2]]
        fields["data_params"] = {p.name: _value(draw, p) for p in entry.parameters if draw.random() < 0.3}
    if draw.random() < 0.7:
        fields |= OF_SAMPLES.get(data, {})
    if data == "upload:woods":
        fields["positive"] = draw.choice(WOODS)
    if data == "upload:rows" and draw.random() < 0.1:
        fields |= {"onnx": "upload:logistic", "onnx_file": "logistic.onnx", "content": "predictions"}
    return fields


def _k_classes(draw: random.Random) -> dict[str, Any]:
    data = draw.choice(["sample:all_digits", *["upload:woods"] * 4, "upload:k_scores"])
    fields = _chain(draw, data, sorted(CALIBRATORS.everything()), of_k=True)
    names = [str(k) for k in range(10)] if data == "sample:all_digits" else list(WOODS)
    fields["view_class"] = draw.choice([None, *draw.sample(names, 2)])
    if data == "sample:all_digits":
        fields["calibrators"] = tuple(draw.sample(fields["calibrators"], 1))
        fields["options"] = {}
    if draw.random() < 0.3:
        parts = [draw.randint(1, 5) for _ in names]
        fields["base_rates"] = {name: part / sum(parts) for name, part in zip(names, parts, strict=True)}
    return fields


def _chain(draw: random.Random, data: str, calibrators: Sequence[str], of_k: bool) -> dict[str, Any]:
    """Draw the fields that Recipes of two and of K classes share."""
    given = data in SCORED
    own = MODELS.keys() - {"given"} - (set(SMALL_ONLY) if of_k else set())
    model = "given" if given and draw.random() < 0.2 else draw.choice(sorted(own))
    allowed = {key for key, one in PLACEMENTS.items() if one.for_k or not of_k} - {"full"}
    if given or not MODELS[model].bagged:
        allowed -= {"oob", "oob_whole"}
    placement = draw.choice(sorted(allowed))
    if not of_k and draw.random() < 0.02:  # seldom, because it fits once per test row
        model, placement = "naive_bayes", "full"
    chosen = tuple(draw.sample(calibrators, draw.randint(1, 5)))
    fields: dict[str, Any] = {
        "data": data,
        "content": "predictions" if given else "features",
        "model": model,
        "params": _params(draw, model),
        "placement": placement,
        "evaluation": draw.choice(["holdout", "holdout", "folds"]),
        "calibrators": chosen,
        "options": _options(draw, chosen),
        "settings": {"order.objects": 7} if draw.random() < 0.05 else {},
    }
    fields |= {name: draw.choice(values) for name, values in NUMBERS.items()}
    fields |= {
        name: draw.choice(list(FIELDS[name].choices or ())) for name in ("merge", "binning", "band", "curve")
    }
    return fields | (_roles(draw, data, given) if data.startswith("upload:") else {})


NUMBERS: dict[str, tuple[Any, ...]] = {
    "folds": (2, 3),
    "cv": (2, 3),
    "test_size": (0.2, 0.3, 0.5),
    "calibration_size": (0.2, 1 / 3, 0.5),
    "bins": (5, 10, 20),
    "seed": tuple(range(10)),
}


def _params(draw: random.Random, model: str) -> dict[str, Any]:
    """Draw settings of a model among those that choose, and those of ``SMALL``."""
    chosen = {
        p.name: _value(draw, p)
        for p in MODELS[model].parameters
        if p.choices and model not in SMALL_ONLY and draw.random() < 0.3
    }
    return SMALL.get(model, {}) | chosen


def _options(draw: random.Random, calibrators: Sequence[str]) -> dict[str, Any]:
    return {
        name: _value(draw, parameter)
        for name, parameter in all_options().items()
        if name.partition(".")[0] in calibrators and draw.random() < 0.3
    }


def _roles(draw: random.Random, data: str, given: bool) -> dict[str, Any]:
    """Draw which columns of an uploaded table have a role, which rows are evaluated, and on which file."""
    woods = data in ("upload:woods", "upload:k_scores")
    roles: dict[str, Any] = {"file": f"{data.partition(':')[2]}.csv", "target": "target"}
    drawn: list[Callable[[], dict[str, Any]]] = [
        lambda: {"weight": "importance"},
        lambda: {"weight": "count", "weight_as": draw.choice([None, *WEIGHT_AS])},
        lambda: {"time": "day", "split": "time", "data_params": {"gap": draw.choice([0.0, 5.0])}},
        lambda: {"time": "day", "period": "2024-04-01..2024-07-01"},
        lambda: {"cluster": "person", "split": draw.choice(["cluster", *WITHOUT_COLUMN])},
        lambda: {"part": "part", "split": "file", "evaluation": "holdout", "placement": "split"},
        lambda: {"segment": draw.choice([("region=north",), ("a=-1..1",), ("region!=east", "b=0..3")])},
        lambda: {"exclude": draw.choice([("a",), ("person", "day")])},
        lambda: {"keep": ("person",)},
        lambda: {"data_params": draw.choice(TIDY_WOODS if data == "upload:woods" else TIDY)},
        lambda: {"positive": draw.choice(("no", "yes"))} if not woods else {},
        lambda: {"score": draw.choice(("forest", "boosting"))} if data == "upload:scores" else {},
        lambda: (
            {
                "test_data": "upload:later_woods" if woods else "upload:later",
                "test_file": "later.csv",
                "split": "file",
                "evaluation": "holdout",
            }
            if not given
            else {}
        ),
    ]
    for one in draw.sample(drawn, draw.randint(0, 3)):
        roles |= one()
    return roles


TIDY: tuple[dict[str, Any], ...] = (
    {"merge_labels": True},
    {"drop_repeated": True},
    {"learn_rows": 1_000},
    {"drop_labels": ("unknown",)},
)
TIDY_WOODS = (*TIDY, {"join_labels": ("ash", "oak")}, {"drop_labels": ("cedar",)})


def _value(draw: random.Random, parameter: Parameter) -> Any:
    """Draw a value of a setting: any choice, or a number near its default."""
    if parameter.choices:
        return draw.choice(list(parameter.choices))
    if parameter.kind == "boolean":
        return draw.random() < 0.5
    low, high = parameter.low, parameter.high
    if parameter.kind == "integer" and isinstance(parameter.default, int):
        near = {parameter.default, parameter.default - 1, max(low or 0, parameter.default // 2)}
        return draw.choice(sorted(each for each in near if low <= each <= high))
    if parameter.kind == "number" and isinstance(parameter.default, float) and low is not None:
        return draw.choice([parameter.default, min(high, max(low, 0.7 * parameter.default))])
    return parameter.default

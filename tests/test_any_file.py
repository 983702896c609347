"""Any file of ours, broken in any way, and any two tables with any roles: read, or refused in one clear message."""

import json
import random
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib import Recipe, evaluate, sources
from calib.analysis.label_shift import estimate_of_rows
from calib.calibrators import CALIBRATORS, INPUT_TABLES
from calib.data import read_table
from calib.data.onnx_model import onnx_scores
from calib.evaluate import calibrate, fit
from calib.export import (
    calibrator_json,
    read_calibrator,
    read_recipes,
    write_calibrator,
    write_javascript,
    write_onnx,
    write_python,
    write_recipes,
    write_sql,
)
from calib.kernel.checks import InputError
from calib.kernel.records import Predictions
from calib.study import Store, as_rows, check_rows, summarise
from calib.study.cell import pack
from calib.study.reading import read_protocol
from calib.study.rows import measured
from tests.data.test_onnx_model import TABLE, TensorProto, logistic
from tests.study.test_store import result

LONGEST = 1200  # letters of a message, of which some list all that is allowed
ODD = [
    *(None, True, -1, 0, 0.5, 1e308, float("nan"), float("inf"), 10**400, 2**63),
    *("", "x", "\ud800", "=1+1", "<b>", "Infinity", [], {}, [[]], {"a": 1}, [1, "a"]),
]


def refused(error):
    """What a person is told."""
    said = str(error)
    assert said.endswith((".", ")", "’", "'"))
    assert len(said) < LONGEST
    assert not any(word in said for word in ("Traceback", "NoneType", "dtype", "ndarray"))


# --- files of ours
# ----------------------------------------------------------------------------------------------------------


def use_calibrator(content):
    """Everything that is done with a saved calibrator."""
    saved = read_calibrator(content)
    for write in (write_sql, write_python, write_javascript, write_onnx):
        write(saved)
    names = [f"s{i}" for i in range(saved.columns)]
    table = pd.DataFrame({name: [0.0, 0.1, 0.5, None, 1.0] for name in names})
    saved.apply(table, names)


def use_rows(content):
    rows = check_rows(read_table(content, "rows.csv"))
    for metric in measured(rows)[:2]:
        summarise(rows, metric)


def use_store(content):
    with Store.of_bytes(content, "results.sqlite") as store:
        store.rows()
        store.failures()
        store.notes()
        store.pooled("one", "VAP")


READ = {
    "calibrator": use_calibrator,
    "recipe": lambda content: Recipe.from_json(content.decode("utf-8", "replace")),
    "recipes": read_recipes,
    "rows": use_rows,
    "protocol": lambda content: read_protocol(content.decode("utf-8", "replace"), "mine.toml"),
    "store": use_store,
    "model": lambda content: onnx_scores(content, TABLE, "y"),
}
JSON = ("calibrator", "recipe", "recipes")


@cache
def valid(kind):
    """Files of this kind that are in order."""
    if kind == "calibrator":
        rng = np.random.default_rng(0)
        scores = rng.random(60).round(2)
        y = (rng.random(60) < scores).astype(int)
        single = [
            method().fit(scores, y)
            for method in CALIBRATORS.shipped.values()
            if method.input not in INPUT_TABLES
        ]
        recipe = Recipe(
            data="sample:breast_cancer",
            model="naive_bayes",
            placement="cv",
            cv=2,
            calibrators=("venn_abers",),
            base_rate=0.1,
        )
        folds = calibrator_json(evaluate(recipe, sources.load(recipe)), "venn_abers")
        return [*(write_calibrator(each).encode() for each in single), folds.encode()]
    if kind == "recipe":
        return [
            Recipe(params={"n_estimators": 3}, settings={"decide.cost_miss": 9}, base_rate=0.2)
            .to_json()
            .encode()
        ]
    if kind == "recipes":
        return [write_recipes({"a": Recipe(), "b": Recipe(model="naive_bayes", seed=3)}).encode()]
    if kind == "rows":
        return [as_rows("forests_calibrated").iloc[:60].to_csv(index=False).encode()]
    if kind == "protocol":
        return [(Path(sources.__file__).parent / "study" / "papers" / "arena.toml").read_bytes()]
    if kind == "store":
        return [one_store()]
    return [logistic("zipmap", TensorProto.FLOAT).SerializeToString()]


def one_store():
    judged = pack({"": Predictions(np.array([0, 1]), np.array([0.2, 0.9]))})
    with Store.in_memory() as store:
        store.add([result(fold=fold, predictions=judged) for fold in range(3)])
        return store.content()


def places(value, at=()):
    """Ways to every part of what JSON holds; of long lists to the first three."""
    yield at
    inner = (
        value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    )
    for key, part in inner:
        yield from places(part, (*at, key))


def with_part(whole, at, part):
    """What JSON holds, with another part at this place."""
    if not at:
        return part
    holder = whole
    for key in at[:-1]:
        holder = holder[key]
    holder[at[-1]] = part
    return whole


def with_odd_parts(content, rng):
    """One or two parts are replaced, left out or joined by others."""
    whole = json.loads(content)
    for _ in range(rng.choice([1, 1, 2])):
        *way, last = rng.choice([at for at in places(whole) if at])
        holder = whole
        for key in way:
            holder = holder[key]
        if rng.random() < 0.2:
            del holder[last]
        elif isinstance(holder, dict) and rng.random() < 0.2:
            holder["extra"] = rng.choice(ODD)
        else:
            holder[last] = json.loads(json.dumps(rng.choice(ODD)))
    return json.dumps(whole).encode()


def with_odd_bytes(content, rng):
    """The end is missing, or some bytes are others, more or fewer."""
    if rng.random() < 0.2:
        return content[: rng.randrange(len(content))]
    changed = bytearray(content)
    for _ in range(rng.choice([1, 3, 20])):
        at, length = rng.randrange(len(changed)), rng.randrange(9)
        changed[at : at + rng.choice([0, length])] = rng.randbytes(length)
    return bytes(changed)


@pytest.mark.parametrize("kind", READ)
@given(seed=st.integers(0, 2**32))
def test_a_broken_file_is_read_or_refused_in_one_message(kind, seed):
    rng = random.Random(seed)
    content = rng.choice(valid(kind))
    broken = with_odd_parts if kind in JSON and rng.random() < 0.7 else with_odd_bytes
    try:
        READ[kind](broken(content, rng))
    except InputError as error:
        refused(error)


@pytest.mark.parametrize(
    ("kind", "read"), [("calibrator", read_calibrator), *((kind, READ[kind]) for kind in JSON[1:])]
)
def test_whatever_one_field_holds_the_file_is_read_or_refused_in_one_message(kind, read):
    for number, content in enumerate(valid(kind)):
        for i, at in enumerate(places(json.loads(content))):
            try:
                read(json.dumps(with_part(json.loads(content), at, ODD[(i + number) % len(ODD)])).encode())
            except InputError as error:
                refused(error)


@pytest.mark.parametrize("kind", READ)
def test_what_is_broken_was_in_order(kind):
    for content in valid(kind):
        READ[kind](content)


# --- two tables, and what their columns stand for
# ----------------------------------------------------------------------------------------------------------

NUMBERS = ["1", "0", "-1", "", "nan", "inf", "-inf", "1e308", "1e-320", "abc", "1,5", "9" * 21, "0.5", "=1+1"]
CELLS = {
    "x": NUMBERS,
    "y": ["no", "yes", "", "maybe"],
    "w": NUMBERS,
    "t": [
        *(
            "2024-05-31",
            "31.05.2024",
            "05/31/2024",
            "2024-05-31T12:00:00Z",
            "2024-05-31 12:00+02:00",
            "20240531",
        ),
        *(
            "1717113600",
            "May 31, 2024",
            "Q2 2024",
            "24:00",
            "9999-12-31",
            "99999-01-01",
            "2024-02-30",
            "",
            "NaT",
        ),
    ],
    "c": ["a", "b", "", "nan", "1", "1.0", "<b>", "x" * 500],
    "p": ["train", "Train ", "TEST", "validation", "hold-out", "tset", "", "nan", "1"],
}
GOOD = {
    "x": [f"{i * 7919 % 97 / 97:.3f}" for i in range(60)],
    "y": ["no", "yes"] * 30,
    "w": ["1", "2", "3"] * 20,
    "t": [f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(60)],
    "c": [f"c{i % 9}" for i in range(60)],
    "p": ["train", "calibrate", "test"] * 20,
}
ROLES = {"weight": "w", "time": "t", "cluster": "c", "part": "p"}
NEEDED = {"random": (), "time": ("time",), "cluster": ("cluster",), "file": ("part",)}


def a_file(rng):
    """A CSV; half of its columns are in order, the others hold of their odd cells."""
    rows, columns = rng.choice([1, 3, 20, 60, 60, 60]), {}
    for name, cells in CELLS.items():
        odd = rng.choices(rng.sample(cells, rng.randrange(1, 4)), k=rows)
        columns[name] = odd if rng.random() < (0.15 if name == "y" else 0.4) else GOOD[name][:rows]
    return pd.DataFrame(columns).to_csv(index=False).encode()


def a_recipe(rng, first, second):
    split = rng.choice(sorted(NEEDED))
    roles = {role: ROLES[role] for role in (*NEEDED[split], *rng.choice([(), ("weight",)]))}
    judged = sources.with_test_file(f"upload:{second}", "second.csv") if rng.random() < 0.3 else {}
    return Recipe(
        data=f"upload:{first}",
        file="first.csv",
        target="y",
        model=rng.choice(["naive_bayes", "decision_tree"]),
        calibrators=("none", "platt", "venn_abers", "isotonic"),
        placement=rng.choice(["split", "cv", "none"]),
        cv=2,
        split=split,
        base_rate=rng.choice([None, None, 0.01, 1e-9]),
        content=rng.choice(["features", "predictions"]),
        exclude=tuple(set(ROLES.values()) - set(roles.values())),
        weight_as=rng.choice([None, "counts", "importance"]) if "weight" in roles else None,
        **roles,
    ).replace(**judged)


@pytest.mark.filterwarnings("ignore")  # of the models, which find constant columns odd
@given(seed=st.integers(0, 2**32))
def test_two_tables_are_answered_or_refused(seed):
    rng = random.Random(seed)
    first, second = a_file(rng), a_file(rng)
    frames = {}
    try:
        for content, name in ((first, "first.csv"), (second, "second.csv")):
            frames[sources.digest(content)] = read_table(content, name)
        recipe = a_recipe(rng, *map(sources.digest, (first, second)))
        fitted = fit(recipe, sources.load(recipe, frames))
        evaluation = calibrate(recipe, fitted)
        assert not evaluation.measured(["brier", "accuracy"]).isna().any(axis=None)
        for predictions in evaluation.predictions.values():
            assert ((predictions.p >= 0) & (predictions.p <= 1)).all()
        for key in evaluation.predictions:
            estimate_of_rows(evaluation, fitted, frames[sources.digest(second)], key)
    except InputError as error:
        refused(error)

"""A column that gives the label away is named with its area; honest ones, and noise on few rows, are left in peace."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from calib.data import prepare, read_table, validate
from calib.data.column_types import typed_frame
from calib.data.columns import inspect
from calib.data.leakage import (
    GLANCED,
    NEARLY,
    WORTH_A_LOOK,
    WORTH_MORE,
    _area,
    _areas,
    _areas_by_level,
    leaks,
    leaks_of_classes,
)
from tests import shared

STATED = shared.data_sets()
RNG = np.random.default_rng(0)


def found(frame, y):
    typed = typed_frame(frame)
    return leaks(typed, np.asarray(y, dtype=int), [inspect(typed[name], name) for name in typed.columns])


def survival(n=74):
    """Months survived, and whether a patient was alive after twelve: one follows from the other."""
    months = RNG.gamma(1.3, 18, n).round(1)
    frame = pd.DataFrame({"age": RNG.normal(60, 9, n), "pump": RNG.normal(0.3, 0.1, n), "survival": months})
    return frame.assign(alive=np.where(months > 12, "yes", "no"))


def test_what_follows_the_outcome_is_named_with_its_area_and_left_out_by_the_remedy():
    frame = survival()
    (problem,) = [p for p in validate(frame, "alive") if "separates the classes" in p.message]
    assert problem.severity == "warning"
    assert problem.column == "survival"
    assert "(AUC 1.00)" in problem.message
    assert problem.fix == {"exclude": ("survival",)}
    assert "survival" not in prepare(frame, "alive", **problem.fix).X
    assert not [p for p in validate(frame, "alive", **problem.fix) if "the classes" in p.message]


Y = np.arange(200) % 3 == 0
GIVEN_AWAY = {
    "number": np.where(Y, 1.0, -1.0) + RNG.normal(0, 0.1, 200),
    "the other way": np.where(Y, -5, 5) + RNG.integers(0, 3, 200),
    "category": np.where(Y, RNG.choice(["a", "b"], 200), RNG.choice(["c", "d", "e"], 200)),
    "truth value": Y,
    "date": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.where(Y, 0, 400) + np.arange(200), unit="D"),
    "gaps": pd.Series(RNG.random(200)).mask(Y),
    "gaps among words": pd.Series(RNG.choice(["a", "b"], 200)).mask(~Y),
    "nearly": np.where(np.arange(200) == 3, 0.0, Y) + RNG.normal(0, 0.01, 200),
}


@pytest.mark.parametrize("what", GIVEN_AWAY)
def test_every_kind_of_column_can_give_the_label_away(what):
    (leak,) = found(pd.DataFrame({"x": RNG.random(200), "it": GIVEN_AWAY[what]}), Y)
    assert leak.columns == ("it",)
    assert leak.auc >= NEARLY
    if what in ("number", "nearly"):
        assert leak.auc == pytest.approx(roc_auc_score(Y, GIVEN_AWAY[what]))


def test_columns_looked_at_together_reach_what_each_reaches_alone():
    frame = typed_frame(
        pd.DataFrame(GIVEN_AWAY | {"noise": RNG.random(200), "level": RNG.choice(list("abc"), 200)})
    )
    some, y = np.sort(RNG.choice(200, 150, replace=False)), Y.astype(int)
    numbers = {name: frame[name] for name in ("number", "the other way", "date", "nearly", "noise")}
    levels = {name: frame[name] for name in ("category", "level")}
    together = _areas(numbers, y, some) | _areas_by_level(levels, y, some)
    assert set(together) == {*numbers, *levels}
    for name, area in together.items():
        assert area == pytest.approx(_area(frame[name].iloc[some], y[some]), abs=1e-12)


def test_a_glance_at_few_rows_loses_no_column_that_leaks():
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, 6000)
    frame = pd.DataFrame(
        {f"x{i}": shift * y + rng.normal(0, 1, 6000) for i, shift in enumerate(np.linspace(2, 4, 120))}
    )
    areas = {name: roc_auc_score(y, frame[name]) for name in frame}
    leaking = {name for name, area in areas.items() if area >= NEARLY}
    assert 20 < len(leaking) < 60
    assert {leak.columns[0] for leak in found(frame, y)} == leaking


def test_the_least_area_of_a_glance_is_ten_standard_errors_below_that_of_the_screening():
    a, n = WORTH_MORE, GLANCED
    terms = a * (1 - a) + (n - 1) * (a / (2 - a) + 2 * a**2 / (1 + a) - 2 * a**2)  # Hanley and McNeil (1982)
    assert 10 * np.sqrt(terms) / n < WORTH_MORE - WORTH_A_LOOK


def test_the_other_columns_of_a_category_whose_own_is_the_label():
    fault = RNG.choice(["scratch", "stain", "bump", "other"], 400, p=[0.2, 0.3, 0.1, 0.4])
    dummies = pd.get_dummies(pd.Series(fault)).astype(int)
    y = dummies.pop("other")
    (leak,) = found(dummies.assign(x=RNG.random(400)), y)
    assert set(leak.columns) == {"scratch", "stain", "bump"}
    assert leak.auc == 1
    # a fault without a column: the label is not known any more
    assert found(dummies.drop(columns="bump"), y) == []
    overlapping = dummies.assign(bump=(dummies["bump"] | (dummies["stain"] & (RNG.random(400) < 0.5))))
    assert found(overlapping, y) == []  # not of one category


HONEST = {
    "a name for every row": [f"name {i}" for i in range(200)],
    "a level for every two rows": [f"name {i // 2}" for i in range(200)],
    "one level": np.where(np.arange(200) < 199, "a", "b"),
    "good": Y + RNG.normal(0, 0.6, 200),
    "gaps anywhere": pd.Series(RNG.random(200)).mask(RNG.random(200) < 0.4),
    "nothing but gaps and one value": pd.Series(np.ones(200)).mask(RNG.random(200) < 0.4),
}


@pytest.mark.parametrize("what", HONEST)
def test_what_says_little_or_nothing_is_left_in_peace(what):
    assert found(pd.DataFrame({"it": HONEST[what], "x": RNG.random(200)}), Y) == []


@pytest.mark.parametrize(("ones", "zeros"), [(2, 30), (3, 8), (5, 5), (10, 100)])
@pytest.mark.soak
def test_fifty_columns_of_noise_on_few_rows_raise_no_alarm(ones, zeros):
    """At most one table in twenty would be too many; in 100 there is none or one."""
    y = np.repeat([1, 0], [ones, zeros])
    alarms = sum(bool(found(pd.DataFrame(RNG.normal(size=(len(y), 50))), y)) for _ in range(100))
    assert alarms <= 1


def test_a_very_good_honest_column_is_seldom_suspected():
    """Area 0.95, as good as the best of real sets, on as few rows as a small study has."""
    y = np.repeat([1, 0], [30, 50])
    shift = np.sqrt(2) * norm.ppf(0.95)
    alarms = sum(bool(found(pd.DataFrame({"x": RNG.normal(size=80) + shift * y}), y)) for _ in range(200))
    assert alarms <= 20


@pytest.mark.parametrize("name", shared.swept())
def test_of_the_real_sets_only_the_one_with_its_sisters_as_columns_is_suspected(name):
    """SPF: the label is "other faults", and the six named faults are columns of 0 and 1."""
    frame = read_table(shared.path(f"datasets/{name}.csv"))
    said = [
        p.column
        for p in validate(frame, "target", STATED[name]["positive_class"])
        if "the classes" in p.message
    ]
    assert said == (["V28, V29, V30, V31, V32 and V33"] if name == "SPF" else [])


LABEL = np.repeat(np.arange(4), [120, 60, 90, 30])
OF_CLASSES = {
    "code": LABEL * 1.0 + RNG.normal(0, 0.05, 300),
    "name": pd.Series(LABEL).map(dict(enumerate(["red", "blue", "green", "pink"]))),
    "dummy": LABEL == 3,
    "dummy, the other way": np.where(LABEL == 1, 0, 1),
}
HONEST_OF_CLASSES = {
    "one class": np.where(LABEL == 0, 5.0, 0.0) + RNG.normal(size=300),  # and nothing of the other three
    "half": (LABEL > 1) + RNG.normal(0, 0.01, 300),  # two and two
    "noise": RNG.normal(size=300),
    "a name for every row": [f"n{i}" for i in range(300)],
    "good": LABEL + RNG.normal(0, 0.5, 300),
    "nearly a dummy": np.where(RNG.random(300) < 0.1, 1, LABEL == 3),
}


def found_of_classes(frame, label=LABEL):
    typed = typed_frame(frame)
    return leaks_of_classes(typed, label, [inspect(typed[name], name) for name in typed.columns])


@pytest.mark.parametrize("what", OF_CLASSES)
def test_a_column_can_give_all_classes_or_one_of_them_away(what):
    (leak,) = found_of_classes(pd.DataFrame({"x": HONEST_OF_CLASSES["noise"], "it": OF_CLASSES[what]}))
    assert leak.columns == ("it",)
    assert leak.separates == ("one class from the others" if "dummy" in what else "the classes")
    if "dummy" in what:
        k = 3 if what == "dummy" else 1
        assert leak.auc == pytest.approx(abs(roc_auc_score(k == LABEL, OF_CLASSES[what]) - 0.5) + 0.5)


@pytest.mark.parametrize("what", HONEST_OF_CLASSES)
def test_what_separates_some_of_several_classes_is_left_in_peace(what):
    assert found_of_classes(pd.DataFrame({"it": HONEST_OF_CLASSES[what]})) == []


def test_classes_of_hardly_any_rows_say_nothing():
    label = np.r_[LABEL, [4, 4, 5]]
    frame = pd.DataFrame({"code": np.r_[OF_CLASSES["code"], [9.0, 0.0, 0.0]]})
    assert [leak.columns for leak in found_of_classes(frame, label)] == [("code",)]
    few = np.arange(6)
    assert found_of_classes(pd.DataFrame({"x": few * 1.0}), few) == []


def test_validate_names_a_copy_of_the_label_of_several_classes():
    frame = pd.DataFrame({"x": HONEST_OF_CLASSES["noise"], "copy": OF_CLASSES["name"], "target": LABEL})
    (problem,) = [p for p in validate(frame, "target") if "separates" in p.message]
    assert problem.column == "copy"
    assert problem.message.startswith("Alone separates the classes (AUC 1.00)")
    assert problem.fix == {"exclude": ("copy",)}


def test_no_column_of_real_sets_of_several_classes_is_suspected():
    """The best features of these sets separate one class, such as the sky of image.csv, and not all of them."""
    folder = shared.path("datasets/multiclass/yeast.csv").parent
    files = [file for file in sorted(folder.glob("*.csv")) if file.name != "sources.csv"]
    assert len(files) == 12
    for file in files:
        found = [p for p in validate(read_table(file), "target") if "Alone separates" in p.message]
        assert found == [], file.name

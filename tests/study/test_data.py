"""Data for studies: files with a target column and OpenML numbers, made into Datasets as the protocol says."""

import gzip

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier

from calib.kernel.checks import InputError
from calib.study import load_protocol, load_sets
from calib.study.protocol import DataRules
from tests import shared

from .openml import recorded, unreachable
from .small import table


@pytest.fixture
def file(tmp_path):
    def write(frame, name="jEdit_4.0_4.2.csv"):
        frame.to_csv(tmp_path / name, index=False)
        return str(tmp_path / name)

    return write


def only(sets):
    (data,) = sets.values()
    return data


def test_the_name_is_the_file_s_stem(file, tmp_path):
    path = file(table())
    (tmp_path / "z.tsv.gz").write_bytes(gzip.compress(table().to_csv(sep="\t", index=False).encode()))
    assert list(load_sets([path, str(tmp_path / "z.tsv.gz")], DataRules())) == ["jEdit_4.0_4.2", "z"]


def test_the_positive_class_is_the_later_label_or_the_rarer_one(file):
    frame = pd.DataFrame({"x": np.arange(10.0), "target": ["b"] * 7 + ["a"] * 3})
    assert only(load_sets([file(frame)], DataRules(positive="later"))).classes == ("a", "b")
    assert only(load_sets([file(frame)], DataRules(positive="rarer"))).classes == ("b", "a")
    frame["target"] = [10] * 3 + [9] * 7
    assert only(load_sets([file(frame)], DataRules(positive="later"))).classes == ("9", "10")


def test_all_columns_stay_where_the_protocol_says_so(file):
    frame = table().assign(same=1.0)
    assert list(only(load_sets([file(frame)], DataRules())).X) == ["a", "b", "c"]
    assert list(only(load_sets([file(frame)], DataRules(columns="all"))).X) == ["a", "b", "c", "same"]


def test_scaling_is_scikit_learn_s_over_all_rows(file):
    frame = table().assign(same=3.0)
    frame.loc[4, "b"] = np.nan
    X = only(load_sets([file(frame)], DataRules(columns="all", scale="min_max"))).X
    expected = MinMaxScaler().fit_transform(frame[["a", "b", "c", "same"]])
    np.testing.assert_allclose(X.to_numpy(), expected, rtol=0, atol=1e-15)
    assert np.isnan(X.loc[4, "b"])


def test_of_rows_with_equal_features_the_first_stays_in_the_sets_named(file):
    again = table().head(30)
    again["target"] = again["target"].map({"yes": "no", "no": "yes"})
    frame = pd.concat([table(), table().tail(5), again], ignore_index=True)
    rules = DataRules(drop_duplicates=("kc1",), positive="later")
    kept = only(load_sets([file(frame, "kc1.csv")], rules))
    np.testing.assert_array_equal(kept.X, table()[["a", "b", "c"]])
    np.testing.assert_array_equal(kept.y, table()["target"] == "yes")
    assert only(load_sets([file(frame, "other.csv")], rules)).n == 125


@pytest.mark.parametrize(
    ("name", "scoring", "value"),
    [
        ("kc2", "accuracy", 0.727),  # with all its rows 0.796
        ("kc3", "accuracy", 0.834),  # 0.883
        ("haberman", "accuracy", 0.664),  # 0.695
        ("transfusion", "accuracy", 0.704),  # 0.742
        ("pc1_req", "roc_auc", 0.692),  # 0.581
    ],
)
def test_without_repeated_rows_trees_are_as_the_trees_paper_prints_them(name, scoring, value):
    """Tables 1 and 2, uncalibrated frequencies, by five times ten folds of scikit-learn."""
    rules = load_protocol("probability_trees_2019").data
    data = only(load_sets([str(shared.path(f"datasets/{name}.csv"))], rules))
    tree = DecisionTreeClassifier(min_samples_split=10, random_state=0)
    folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=5, random_state=0)
    found = cross_val_score(tree, data.X, data.y, cv=folds, scoring=scoring).mean()
    assert found == pytest.approx(value, abs=0.015)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda file: [], "--data is missing. Name at least one file"),
        (lambda file: [file(table().rename(columns={"target": "y"}))], "There is no column 'target'"),
        (lambda file: [file(table().assign(target="yes"))], "contains only the label 'yes'"),
        (lambda file: [file(table()), file(table())], "two data sets are called 'jEdit_4.0_4.2'"),
        (lambda file: ["nowhere.csv"], "nowhere.csv cannot be opened"),
        (lambda file: ["sample:nowhere"], "there is no sample data set 'nowhere'"),
    ],
)
def test_what_cannot_be_used_is_named(file, make, message):
    with pytest.raises(InputError, match=message):
        load_sets(make(file), DataRules())


def test_three_or_more_classes_together_are_refused_where_there_are_two():
    rules = DataRules(positive="all")
    (data,) = load_sets(["sample:all_digits"], rules).values()
    assert (data.n_classes, data.labels.max()) == (10, 9)
    for name in ("sample:digits", "synthetic:gaussian"):
        with pytest.raises(InputError, match=f"{name}: .*three or more.*has two.*arena"):
            load_sets([name], rules)


def test_samples_and_synthetic_sets_are_taken_by_their_key():
    sets = load_sets(["sample:digits", "synthetic:gaussian"], DataRules())
    assert sets["sample:digits"].n == 1797
    assert sets["synthetic:gaussian"].posterior is not None


def test_an_openml_set_comes_out_of_scikit_learn_s_cache(tmp_path, monkeypatch):
    frame = pd.DataFrame({"x": np.arange(20) / 4, "class": ["good", "bad"] * 10})
    recorded(tmp_path, monkeypatch, 40, frame)
    data = load_sets(["openml:40"], DataRules(positive="later"))["openml:40"]
    assert data.classes == ("bad", "good")
    np.testing.assert_array_equal(data.X["x"], frame["x"])
    np.testing.assert_array_equal(data.y, frame["class"] == "good")


def test_without_a_network_the_message_says_so_and_no_warning_with_it(tmp_path, monkeypatch, recwarn):
    unreachable(tmp_path, monkeypatch)
    with pytest.raises(InputError, match="openml:41: .*not be reached .*Check your connection"):
        load_sets(["openml:41"], DataRules())
    assert not [str(one.message) for one in recwarn if "network" in str(one.message)]

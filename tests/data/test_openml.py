"""An OpenML number gives a table, or one clear message."""

from types import SimpleNamespace
from urllib.error import HTTPError, URLError

import pandas as pd
import pytest
import sklearn.datasets

from calib.data import DataError, fetch_openml, prepare

FRAME = pd.DataFrame({"x": [1.5, 2.5, 3.5], "class": pd.Categorical(["a", "b", "a"])})


def serve(monkeypatch, answer):
    def fetch(**options):
        assert options["data_id"] == 31
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)


def test_a_data_set_is_a_table_with_its_label_named(monkeypatch):
    serve(monkeypatch, SimpleNamespace(frame=FRAME, target=FRAME["class"], details={"name": "credit-g"}))
    frame, target, _ = fetch_openml("31")
    assert target == "class"
    data = prepare(frame, target)
    assert (data.name, data.classes) == ("credit-g", ("a", "b"))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (URLError("no route"), "could not be reached"),
        (TimeoutError("slow"), "could not be reached"),
        (HTTPError("u", 412, "none", {}, None), "could not be reached"),
        (ValueError("Dataset 31 not found."), "cannot be used"),
        (SimpleNamespace(frame=FRAME, target=None, details={}), "label column"),
        (SimpleNamespace(frame=FRAME, target=FRAME, details={}), "label column"),
    ],
)
def test_what_goes_wrong_is_said(monkeypatch, answer, said):
    serve(monkeypatch, answer)
    with pytest.raises(DataError, match=said) as caught:
        fetch_openml(31)
    assert caught.value.remedy


@pytest.mark.parametrize("number", ["iris", None, ""])
def test_what_is_no_number_is_refused(number):
    with pytest.raises(DataError, match="number of an OpenML data set"):
        fetch_openml(number)

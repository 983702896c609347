"""NumPy archives are read as tables, arrays of K columns and all, and nothing in them is executed."""

import io
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest

from calib import Recipe, sources
from calib.data import (
    DataError,
    guess_target,
    limits,
    looks_like_predictions,
    prepare_predictions,
    read_table,
    reading_of,
)
from tests.saying import assert_any_says, assert_says

N = 60
RNG = np.random.default_rng(0)
P = RNG.dirichlet([1, 1, 1], N)
Y = np.array([RNG.choice(3, p=row) for row in P])
ANIMALS = np.array(["cat", "dog", "fox"])


def npz(save=np.savez, **arrays):
    file = io.BytesIO()
    save(file, **arrays)
    return file.getvalue()


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("kind", ["<f4", ">f8", "<f2"])
def test_labels_and_an_array_of_probabilities_are_predictions_of_all_classes(save, kind):
    frame = read_table(npz(save, y=Y, probs=P.astype(kind)), "net.npz")
    assert list(frame) == ["y", "probs_0", "probs_1", "probs_2"]
    np.testing.assert_array_equal(frame["y"], Y)
    np.testing.assert_array_equal(frame.iloc[:, 1:], P.astype(kind).astype(float))
    assert frame["probs_0"].dtype == (np.float64 if kind == ">f8" else np.float32)
    assert guess_target(frame) == "y"
    assert looks_like_predictions(frame)
    data = prepare_predictions(frame, "y")
    assert data.columns == {"predictions": ("probs_0", "probs_1", "probs_2")}
    np.testing.assert_array_equal(data.labels, Y)
    assert_any_says(reading_of(frame).notes, "'probs'", "60 × 3", "3 columns")
    assert reading_of(frame).name == "net"


@pytest.mark.parametrize("key", ["logits", "outputs", "net_logits"])
def test_logits_are_recognised_by_the_name_of_their_array(key):
    frame = read_table(npz(labels=Y, **{key: (np.log(P) + 2).astype(np.float32)}), "net.npz")
    assert looks_like_predictions(frame)
    np.testing.assert_allclose(prepare_predictions(frame, "labels").X, P, atol=1e-5)


def test_arrays_without_names_are_predictions_once_somebody_says_so():
    file = io.BytesIO()
    np.savez(file, np.log(P), Y)
    frame = read_table(file.getvalue(), "net.npz")
    assert not looks_like_predictions(frame)  # three features, perhaps
    np.testing.assert_allclose(prepare_predictions(frame, "arr_1").X, P)
    features = read_table(npz(X=RNG.normal(size=(N, 5)), y=Y), "data.npz")
    assert not looks_like_predictions(features)
    assert list(features) == [*(f"X_{k}" for k in range(5)), "y"]


def test_several_arrays_are_several_models_beside_other_columns():
    frame = read_table(
        npz(
            y_true=Y,
            forest=P,
            boosting=P[:, ::-1],
            who=np.array([f"p{i}" for i in range(N)]),
            day=np.datetime64("2024-01-01") + np.arange(N),
            code=np.array([b"a", b"b"])[np.arange(N) % 2],
            seen=Y > 0,
            flat=np.ones((N, 1)),
        ),
        "models.npz",
    )
    assert frame["who"].tolist()[:2] == ["p0", "p1"]
    assert frame["code"].tolist()[:2] == ["a", "b"]
    assert frame["day"].iloc[1] == pd.Timestamp("2024-01-02")
    assert frame["seen"].dtype == bool
    assert frame["flat"].tolist() == [1.0] * N
    data = prepare_predictions(frame, "y_true")
    assert data.scores == ["forest", "boosting"]
    np.testing.assert_array_equal(data.X[["boosting_0", "boosting_1", "boosting_2"]], P[:, ::-1])


def test_classes_are_named_by_an_array_of_their_names():
    for labels in (Y, ANIMALS[Y], np.eye(3)[Y]):
        frame = read_table(npz(labels=labels, probs=P, class_names=ANIMALS), "net.npz")
        assert list(frame) == ["labels", "probs_cat", "probs_dog", "probs_fox"]
        assert frame["labels"].tolist() == ANIMALS[Y].tolist()
        data = prepare_predictions(frame, "labels")
        assert data.names == tuple(ANIMALS)
        np.testing.assert_array_equal(data.labels, Y)
        shape, names = reading_of(frame).notes
        assert_says(shape, "'probs'", "60 × 3", "3 columns")
        assert_says(names, "'class_names'", "contains the class names")
    one_hot = read_table(npz(y=np.eye(3)[Y], probs=P), "net.npz")
    np.testing.assert_array_equal(one_hot["y"], Y)


def test_arrays_of_other_shapes_are_named_and_not_read():
    frame = read_table(
        npz(y=Y, probs=P, images=np.zeros((N, 2, 2)), epoch=np.array(3), mean=np.ones(4)), "n.npz"
    )
    assert frame.shape == (N, 4)
    others = "'images' (60 × 2 × 2), 'epoch' (a single value) and 'mean' (4)"
    assert_any_says(reading_of(frame).notes, "ignored", others)


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"y": Y}, r"does not contain two arrays of the same length: 'y' \(60\)"),
        ({"y": Y, "probs": P[:50]}, r"'y' \(60\) and 'probs' \(50 × 3\)"),
        ({"y": Y[:0], "probs": P[:0]}, "no rows"),
        ({"y": Y, "y_0": Y, "q": Y, "p": np.column_stack([P, P]), "p_0": Y}, "both called 'p_0'"),
        ({"images": np.zeros((5, 2, 2))}, "two arrays of the same length"),
    ],
)
def test_arrays_that_are_no_table_are_refused_with_their_shapes(arrays, said):
    with pytest.raises(DataError, match=said):
        read_table(npz(**arrays), "net.npz")


class Harmful:
    def __reduce__(self):
        raise AssertionError("it was pickled")


def test_python_objects_are_never_opened():
    file = io.BytesIO()
    np.savez(file, y=np.array([{"a": 1}] * 3, dtype=object), probs=np.ones((3, 3)))
    with pytest.raises(DataError, match="'y' of net.npz .*Python objects"):
        read_table(file.getvalue(), "net.npz")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:  # a pickle behind the ending of an array
        packed.writestr("y.npy", pickle.dumps([1, 2, 3]))
    with pytest.raises(DataError, match="damaged NumPy archive"):
        read_table(archive.getvalue(), "net.npz")


def altered(header, rest=b"\0" * 24):
    """An archive with one array that has this header."""
    text = repr(header).encode().ljust(117) + b"\n"
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("y.npy", b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + rest)
        packed.writestr("p.npy", npz_entry(np.ones(3)))
    return file.getvalue()


def npz_entry(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@pytest.mark.parametrize(
    "shape", [(10**12,), (3, 10**9), (-1,), (10**400,), ("3",), (2**63, 0), (3,)], ids=str
)
def test_a_header_that_lies_is_refused_before_memory_is_taken(shape):
    content = altered({"descr": "<f8", "fortran_order": False, "shape": shape})
    if shape == (3,):
        assert read_table(content, "net.npz").shape == (3, 2)
        return
    with pytest.raises(DataError, match="damaged NumPy archive|not contain two arrays"):
        read_table(content, "net.npz")


def test_damaged_and_disguised_archives_are_refused():
    whole = npz(np.savez_compressed, y=Y, probs=P)
    for content in (whole[:-30], whole[: len(whole) // 2], whole[:200] + b"\xff" * 40 + whole[240:]):
        with pytest.raises(DataError):
            read_table(content, "net.npz")
    with pytest.raises(DataError, match=".xlsx.*NumPy archive"):
        read_table(whole, "net.xlsx")
    with pytest.raises(DataError, match="net.npy .*NumPy array, not a table"):
        read_table(npz_entry(P), "net.npy")
    locked = bytearray(npz(y=Y, probs=P))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # the flag that says that it is encrypted
        locked[locked.index(mark) + offset] |= 1
    with pytest.raises(DataError, match="damaged NumPy archive"):
        read_table(bytes(locked), "net.npz")


def test_archives_are_bounded_by_what_they_expand_to(monkeypatch):
    monkeypatch.setattr(limits, "ALWAYS", 100_000)
    with pytest.raises(DataError, match=r"net.npz .*more than \d MB"):
        read_table(npz(np.savez_compressed, y=np.zeros(100_000), probs=np.zeros((100_000, 3))), "net.npz")


def test_a_recipe_reads_an_archive():
    content = npz(y=Y, probs=P)
    key = sources.digest(content)
    recipe = Recipe(data=f"upload:{key}", target="y", content="predictions")
    data = sources.load(recipe, {key: read_table(content, "net.npz")})
    assert data.joint
    assert data.name == "net"

"""A model cannot read a file, whatever it says: it is refused, and if it were not, it could open none."""

import os

import numpy as np
import onnx
import pandas as pd
import pytest
from onnx import TensorProto, helper

from calib.data import DataError, confined
from calib.data.limits import Bounds
from calib.data.onnx_model import _parts, _refuse, onnx_scores
from tests.data import confined_calls as calls
from tests.data.external_models import external, places
from tests.data.test_onnx_model import TABLE, P, logistic, packed

pytestmark = pytest.mark.skipif(not confined.can_confine(), reason="this system cannot confine a process")
TWICE = list(places(2))  # a graph in a graph, too
REFUSED = "weights in another file"


def refuse(content):
    with pytest.raises(DataError, match=REFUSED):
        _refuse(onnx.load_model_from_string(content))


def test_the_places_are_all_that_are_known_and_more():
    named = {".".join(place) for place in TWICE}
    assert named >= {
        *("graph.initializer", "graph.sparse_initializer.values", "graph.sparse_initializer.indices"),
        *(
            "graph.node.attribute.t",
            "graph.node.attribute.tensors",
            "graph.node.attribute.sparse_tensor.values",
        ),
        *("graph.node.attribute.sparse_tensors.indices", "graph.node.attribute.g.node.attribute.t"),
        *("graph.node.attribute.graphs.initializer", "functions.node.attribute.sparse_tensor.values"),
        *("functions.attribute_proto.t", "training_info.algorithm.initializer"),
        "training_info.initialization.node.attribute.g.sparse_initializer.values",
    }


def test_a_tensor_of_another_file_is_refused_wherever_it_is():
    for place in TWICE:
        refuse(external(place))


def test_half_of_what_names_another_file_is_refused_as_well():
    for place in places(1):
        refuse(external(place, data_location=TensorProto.DEFAULT))
    model = logistic()
    model.graph.initializer[0].data_location = TensorProto.EXTERNAL
    refuse(model.SerializeToString())


def test_the_same_model_with_its_own_data_is_not_refused():
    """So it is the other file that is refused."""
    for place in TWICE:
        if place[0] != "functions":
            model = onnx.load_model_from_string(external(place))
            for part in _parts(model):
                if isinstance(part, TensorProto):
                    part.ClearField("data_location")
                    part.ClearField("external_data")
            _refuse(model)


@pytest.mark.parametrize("place", list(places(1))[:9], ids=".".join)
def test_it_is_refused_from_the_bytes_on(place):
    with pytest.raises(DataError, match=REFUSED):
        onnx_scores(external(place), TABLE, "y")


def test_what_this_onnx_does_not_know_is_not_run():
    """A newer onnxruntime may know a field that this onnx cannot look into."""
    unknown = b"\xfa\x07" + bytes([40]) + logistic().SerializeToString()[:40]  # field 127
    content = logistic().SerializeToString() + unknown
    model = onnx.load_model_from_string(content)
    assert len(model.SerializeToString()) == len(content)
    np.testing.assert_allclose(onnx_scores(content, TABLE, "y")["model_score"], P, rtol=1e-12)


def leaking():
    """The bytes of the file "secret" as scores: a constant with a sparse value whose values lie outside."""
    values = onnx.TensorProto(
        name="v", data_type=TensorProto.UINT8, dims=[6], data_location=TensorProto.EXTERNAL
    )
    entry = values.external_data.add()
    entry.key, entry.value = "location", "secret"
    indices = helper.make_tensor("i", TensorProto.INT64, [6], range(6))
    sparse = onnx.SparseTensorProto(values=values, indices=indices, dims=[6])
    nodes = [
        helper.make_node("Constant", [], ["c"], sparse_value=sparse),
        helper.make_node("Cast", ["c"], ["p"], to=TensorProto.DOUBLE),
    ]
    x, p = (helper.make_tensor_value_info(name, TensorProto.DOUBLE, [None]) for name in "xp")
    return packed(nodes, [x], [p]).SerializeToString()


def test_a_model_that_is_not_refused_could_still_open_no_file(tmp_path, monkeypatch):
    """The first line shows that the attack works in a process with files."""
    (tmp_path / "secret").write_bytes(b"secret")
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame({"x": np.zeros(6)})
    assert calls.unchecked(leaking(), table["x"]) == str([float(letter) for letter in b"secret"])
    monkeypatch.setattr(confined, "WORKING_DIRECTORY", os.fspath(tmp_path))
    confined._WAITING.stop()  # the next one starts in this folder
    found = confined.run(calls.unchecked, [leaking()], [table], name="model", bounds=Bounds(10**9, 20))
    assert found.isalpha(), "the name of an error, and no numbers"

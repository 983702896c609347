"""ONNX models with a tensor outside the file, in every place of the format that can hold a tensor.

The places are found in the format itself: every path of protobuf fields from a model to a tensor, in which a message
comes at most ``depth`` times. So a place that a later version of ONNX adds is among them.
"""

from collections.abc import Iterator

from onnx import ModelProto, TensorProto

from tests.data.test_onnx_model import logistic

PATH = "../../../../etc/passwd"
Place = tuple[str, ...]


def places(depth: int, kind=ModelProto.DESCRIPTOR, above: Place = (), seen: Place = ()) -> Iterator[Place]:
    """Yield the names of the fields that lead to a tensor."""
    if kind.full_name == TensorProto.DESCRIPTOR.full_name:
        yield above
    elif seen.count(kind.full_name) < depth:
        for field in kind.fields:
            if field.message_type is not None:
                yield from places(depth, field.message_type, (*above, field.name), (*seen, kind.full_name))


def external(place: Place, **changes) -> bytes:
    """A model that works, and at this place a tensor of another file; ``changes`` replace fields of the tensor."""
    model = logistic()
    tensor = tensor_at(model, place)
    for name, value in (
        {"data_location": TensorProto.EXTERNAL, "data_type": TensorProto.UINT8} | changes
    ).items():
        setattr(tensor, name, value)
    tensor.dims.append(64)
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", PATH
    return model.SerializeToString()


def tensor_at(part, place: Place):
    """The tensor at a place, which is made with all that it is in."""
    for name in place:
        held = getattr(part, name)
        part = held.add() if hasattr(held, "add") else held
    part.SetInParent()
    return part

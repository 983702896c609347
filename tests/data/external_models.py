"""ONNX models with a tensor outside the file, in every place of the format that can hold a tensor.

The places are found in the format itself: every path of protobuf fields from a model to a tensor, in which no message
comes twice. So a place that a later version of ONNX adds is among them.
"""

from collections.abc import Iterator

from onnx import ModelProto, TensorProto

from tests.data.test_onnx_model import logistic

PATH = "../../../../etc/passwd"
Place = tuple[str, ...]


def places(kind=ModelProto.DESCRIPTOR, above: Place = (), seen: tuple[str, ...] = ()) -> Iterator[Place]:
    """Yield the names of the fields that lead to a tensor."""
    if kind.full_name == TensorProto.DESCRIPTOR.full_name:
        yield above
    elif kind.full_name not in seen:
        for field in kind.fields:
            if field.message_type is not None:
                yield from places(field.message_type, (*above, field.name), (*seen, kind.full_name))


def external(place: Place, **changes) -> bytes:
    """A model that works, and at this place a tensor of another file; ``changes`` replace fields of the tensor."""
    model = logistic()
    part = model
    for name in place:
        held = getattr(part, name)
        part = held.add() if hasattr(held, "add") else held
    fields = {"data_location": TensorProto.EXTERNAL, "data_type": TensorProto.UINT8, "name": "there"} | changes
    for name, value in fields.items():
        setattr(part, name, value)
    part.dims.append(64)
    entry = part.external_data.add()
    entry.key, entry.value = "location", PATH
    return model.SerializeToString()

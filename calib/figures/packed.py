"""The values of a trace, which Plotly packs when it writes a figure as JSON."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def unpacked(values: Sequence[Any] | Mapping[str, str]) -> list[Any]:
    """Return the values of a trace as a list.

    Parameters
    ----------
    values
        A list, or an array as ``to_json_plotly`` writes it.

    Examples
    --------
    >>> from plotly.io.json import to_json_plotly
    >>> import json
    >>> unpacked(json.loads(to_json_plotly({"x": np.array([0.5, 1.0])}))["x"]), unpacked(["a"])
    ([0.5, 1.0], ['a'])
    """
    if not isinstance(values, Mapping):
        return list(values)
    return np.frombuffer(b64decode(values["bdata"]), np.dtype(values["dtype"])).tolist()

"""A trace's values come back as they were, whether Plotly packs them or not."""

import json

import numpy as np
import plotly.graph_objects as go
from plotly.io.json import to_json_plotly

from calib.figures.narrowing import unpacked


def test_values_come_back_as_they_were():
    for values in (np.linspace(0, 1, 7), np.arange(5, dtype=np.int16), np.array([0.5, np.nan])):
        packed = json.loads(to_json_plotly(go.Figure(go.Scatter(x=values)).to_dict()))["data"][0]["x"]
        np.testing.assert_array_equal(np.array(unpacked(packed), dtype=float), values.astype(float))
    assert unpacked(("a", "b")) == ["a", "b"]

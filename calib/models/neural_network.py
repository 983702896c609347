"""A small feed-forward network on standardised features."""

from __future__ import annotations

from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from calib.kernel.records import Parameter
from calib.models.base import ModelEntry


def _make(units: int, layers: int, alpha: float, max_iter: int, random_state: int | None):
    network = MLPClassifier(
        hidden_layer_sizes=(units,) * layers, alpha=alpha, max_iter=max_iter, random_state=random_state
    )
    return Pipeline([("scale", StandardScaler()), ("model", network)])


ENTRY = ModelEntry(
    key="neural_network",
    label="Neural network",
    make=_make,
    parameters=(
        Parameter("units", "Units per layer", "integer", 50, 1, 500, help="More units fit more closely."),
        Parameter(
            "layers", "Hidden layers", "integer", 1, 1, 4, help="More layers allow a more curved boundary."
        ),
        Parameter(
            "alpha",
            "Weight decay",
            "number",
            1e-3,
            1e-7,
            10,
            help="Larger values keep probabilities less extreme.",
        ),
        Parameter(
            "max_iter",
            "Epochs",
            "integer",
            300,
            1,
            2000,
            help="Passes over the data; longer training makes it more confident.",
        ),
    ),
    help="Flexible; the longer it trains, the more confident its probabilities.",
)

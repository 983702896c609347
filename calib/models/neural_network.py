"""Small feed-forward network on standardised features."""

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
        Parameter(
            "units",
            "Units per layer",
            "integer",
            50,
            1,
            500,
            help="With more units, the model fits more closely.",
        ),
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
            help="Larger values make the probabilities less extreme.",
        ),
        Parameter(
            "max_iter",
            "Epochs",
            "integer",
            300,
            1,
            2000,
            help="Maximum number of passes over the data. Longer training makes the model more confident.",
        ),
    ),
    help="A flexible model. The longer the training, the more extreme its probabilities become.",
)

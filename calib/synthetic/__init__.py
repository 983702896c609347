"""Data whose true probabilities are known, so that errors of estimates can be computed exactly.

Sources: Shaker and Hüllermeier (2025), Figure 2 and appendices C.1, C.3.1 and C.3.2; Vovk and Petej (2014),
proposition 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from calib.kernel import lazy

if TYPE_CHECKING:
    from calib.synthetic.base import KnownDistribution, SyntheticEntry
    from calib.synthetic.counterexample import SignExample
    from calib.synthetic.finite import FiniteExample, Partition, Partitions
    from calib.synthetic.gaussian import COVARIANCES, GaussianPair
    from calib.synthetic.mixture import CALIBRATION_SHARES, GaussianMixturePair, SizeSweep, size_sweep
    from calib.synthetic.overlap import overlap_path

lazy.attach(__name__)


SYNTHETIC: lazy.Entries[SyntheticEntry] = lazy.Entries(
    "calib.synthetic",
    {
        "gaussian": "gaussian:ENTRY",
        "mixture": "mixture:ENTRY",
        "overlap": "overlap:ENTRY",
        "finite": "finite:ENTRY",
        "sign": "counterexample:ENTRY",
    },
)
"""Key → entry; a Recipe names one as ``data="synthetic:gaussian"``."""

__all__ = [
    "CALIBRATION_SHARES",
    "COVARIANCES",
    "SYNTHETIC",
    "FiniteExample",
    "GaussianMixturePair",
    "GaussianPair",
    "KnownDistribution",
    "Partition",
    "Partitions",
    "SignExample",
    "SizeSweep",
    "SyntheticEntry",
    "overlap_path",
    "size_sweep",
]

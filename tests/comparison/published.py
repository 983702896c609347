"""Numbers that papers print, to hold ours against, and where the papers' own tables are found beside the project."""

import csv
import re

import numpy as np

from tests import shared

# Demšar (2006), Table 6: ranks of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf on 14 data sets, by AUC.
DEMSAR_RANKS = np.array(
    [
        [4, 3, 2, 1],
        [1, 2, 3, 4],
        [4, 1, 2, 3],
        [4, 1, 3, 2],
        [4, 2, 3, 1],
        [1, 2.5, 4, 2.5],
        [3, 2, 4, 1],
        [2.5, 2.5, 4, 1],
        [4, 3, 2, 1],
        [2.5, 2.5, 2.5, 2.5],
        [4, 2.5, 1, 2.5],
        [3, 2, 4, 1],
        [4, 1, 2, 3],
        [3, 1, 4, 2],
    ]
)

# Demšar (2006), Table 5a: q_α of the Nemenyi test for k = 2 … 10.
NEMENYI_Q = {
    0.05: (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164),
    0.10: (1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920),
}

# Shaker and Hüllermeier (2025), last rows of Tables 5–8, 30 data sets.
P2_METHODS = ("RF_d", "RF_opt", "RF_large", "Platt", "ISO", "Beta", "VA", "CT", "PPA", "Rank")
P2_RANKS = {
    "acc": (3.56667, 3.81667, 2.61667, 5.98333, 7.36667, 5.83333, 7.46667, 5.0, 4.76667, 8.58333),
    "brier": (3.96667, 3.0, 2.46667, 5.33333, 8.06667, 5.86667, 7.73333, 4.7, 4.76667, 9.1),
    "logloss": (5.96667, 3.8, 3.33333, 3.46667, 9.23333, 6.13333, 4.73333, 4.76667, 4.73333, 8.83333),
    "ece": (5.5, 4.86667, 5.43333, 7.76667, 5.53333, 7.1, 2.73333, 5.1, 5.26667, 5.7),
}

# Johansson, Löfström and Boström (2019), mean ranks of Tree, Platt, Iso and VAP over 25 data sets, Tables 1
# and 2.
P1_METHODS = ("Tree", "Platt", "Iso", "VAP")
P1_RANKS = {
    ("Accuracy", "RF"): (2.92, 2.84, 2.26, 1.98),
    ("Accuracy", "LaP"): (3.16, 2.84, 2.24, 1.76),
    ("AUC", "RF"): (2.24, 3.72, 2.56, 1.48),
    ("AUC", "LaP"): (1.12, 3.96, 3.00, 1.92),
    ("Brier loss", "RF"): (3.72, 2.68, 2.44, 1.16),
    ("Brier loss", "LaP"): (3.52, 3.04, 2.28, 1.16),
}


def p2_table(metric: str) -> np.ndarray:
    """Read the 30 × 10 means of P2's Tables 5–8 from the shared folder."""
    with shared.path(f"reference/rf_calibration_2025_{metric}.csv").open(encoding="utf-8") as lines:
        return np.array([[float(row[name]) for name in P2_METHODS] for row in csv.DictReader(lines)])


def p1_table(title: str) -> np.ndarray:
    """Read the 25 × 8 numbers of one of P1's tables from the paper's text in the shared folder."""
    text = shared.path("papers/001_*.txt").read_text(encoding="utf-8")
    body = text.split(f": {title}\n", 1)[1].split("\nMean\t", 1)[0]
    rows = [re.findall(r"\t([\d.]+)", line) for line in body.splitlines()]
    return np.array([[float(cell) for cell in row] for row in rows if len(row) == 8])

"""Tables of predictions as people report them: every kind with its right Brier score, or with a question's answers."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

N = 300
REFUSED = "refused"


@dataclass(frozen=True)
class Kind:
    """File, and what is right: a Brier score, ``REFUSED``, or the score that follows from each answer of a question.

    ``answers`` maps a word of an answer's label to its score; None accepts whatever it leads to. ``joint`` is the score
    summed over the classes.
    """

    name: str
    content: bytes
    brier: float | str | None = None
    answers: Mapping[str, float | None] = field(default_factory=dict)
    joint: float | None = None


def brier(p: np.ndarray, y: np.ndarray) -> float:
    return float(((np.asarray(p) - y) ** 2).mean())


def as_csv(**columns: Any) -> bytes:
    return pd.DataFrame(columns).to_csv(index=False).encode()


def draw(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return (p, y) of a calibrated model that ranks well, with more ones than zeros."""
    rng = np.random.default_rng(seed)
    p = rng.beta(2.5, 1.2, N).round(4)
    return p, (rng.random(N) < p).astype(int)


def sigmoid(z: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-z))


P, Y = draw()
LOGIT = np.log(P.clip(1e-4, 1 - 1e-4) / (1 - P.clip(1e-4, 1 - 1e-4)))
WORDS = np.where(Y, "grün", "rot")
GUESS = (P >= 0.5).astype(int)
SURE = np.maximum(P, 1 - P)
RNG = np.random.default_rng(1)
ANIMALS = np.array(["cat", "dog", "fox"])
SHARES = RNG.dirichlet([1, 1, 1], N).round(6)
SHARES[:, 2] = 1 - SHARES[:, 0] - SHARES[:, 1]
CODE = np.array([RNG.choice(3, p=np.abs(row) / np.abs(row).sum()) for row in SHARES])
LEVEL = RNG.normal(20, 2, (N, 1))  # which the softmax takes off
JOINT = float(((SHARES - np.eye(3)[CODE]) ** 2).sum(axis=1).mean())
OTHER = (1 - P) ** 2
SOFT = np.clip(np.round(2 * P) / 2, 0, 1)
TRIALS = RNG.integers(1, 40, 30)
EVENTS = RNG.binomial(TRIALS, np.linspace(0.1, 0.9, 30))
RATE = np.linspace(0.1, 0.9, 30).round(3)
COUNTED = float((EVENTS * (1 - RATE) ** 2 + (TRIALS - EVENTS) * RATE**2).sum() / TRIALS.sum())
WRONG = np.where(np.arange(N) == 7, 1.8, P)
CODED = np.where(np.arange(N) % 50 == 3, -999, Y)
KNOWN = CODED >= 0


ROUNDED = np.where(P > 0.9, 1 + 1e-7, np.where(P < 0.2, -1e-17, P))
GUESSED = np.where(GUESS, "grün", "rot")


def per_class(values: np.ndarray, prefix: str = "") -> dict[str, np.ndarray]:
    """Return one column per animal."""
    return {f"{prefix}{name}": values[:, k] for k, name in enumerate(ANIMALS)}


LOGITS = np.log(SHARES.clip(1e-9)) + LEVEL + 20


def parquet(frame: pa.Table) -> bytes:
    file = io.BytesIO()
    pq.write_table(frame, file)
    return file.getvalue()


def spark() -> bytes:
    vector = [{"type": 1, "size": None, "indices": None, "values": [1 - p, p]} for p in P]
    raw = [{"type": 1, "size": None, "indices": None, "values": [-z, z]} for z in LOGIT]
    columns = {
        "label": Y.astype(float),
        "rawPrediction": raw,
        "probability": vector,
        "prediction": GUESS.astype(float),
    }
    return parquet(pa.table({name: pa.array(list(values)) for name, values in columns.items()}))


def npz() -> bytes:
    file = io.BytesIO()
    np.savez(file, y_true=Y, probs=np.column_stack([1 - P, P]))
    return file.getvalue()


def frame_as(write: Callable[[pd.DataFrame], str | None]) -> bytes:
    return str(write(pd.DataFrame({"y": Y, "p": P}))).encode()


def r_table() -> bytes:
    lines = [f'"{i}" {y} {p}' for i, (y, p) in enumerate(zip(Y, P, strict=True), start=1)]
    return "\n".join(['"y" "p"', *lines, ""]).encode()


KINDS: dict[str, Kind] = {
    "confidence of two classes": Kind(
        "c.csv",
        as_csv(gold=np.where(Y, "spam", "ham"), guess=np.where(GUESS, "spam", "ham"), conf=SURE),
        brier(P, Y),
    ),
    "confidence of classes without a convention": Kind(
        "c.csv",
        as_csv(truth=WORDS, prediction=GUESSED, certainty=SURE),
        brier(SURE, GUESS == Y),
    ),
    "confidence of three classes": Kind(
        "c.csv",
        as_csv(label=ANIMALS[CODE], predicted=ANIMALS[SHARES.argmax(axis=1)], top_prob=SHARES.max(axis=1)),
        brier(SHARES.max(axis=1), SHARES.argmax(axis=1) == CODE),
    ),
    "predicted classes in words": Kind("h.csv", as_csv(y=WORDS, y_hat=GUESSED), REFUSED),
    "predicted classes 0 and 1": Kind("h.csv", as_csv(actual=Y, predicted=GUESS), REFUSED),
    "predicted class beside a probability": Kind("h.csv", as_csv(y=WORDS, pred=GUESSED, p=P), brier(P, Y)),
    "one column per class that does not add up": Kind(
        "t.csv",
        as_csv(y=WORDS, p_rot=OTHER, p_grün=P),
        answers={
            "Use only 'p_grün'": brier(P, Y),
            "Use only 'p_rot'": brier(OTHER, 1 - Y),
            "Divide": brier(P / (P + OTHER), Y),
        },
    ),
    "one column per class": Kind("t.csv", as_csv(y=WORDS, p_rot=1 - P, p_grün=P), brier(P, Y)),
    "two columns without names": Kind(
        "t.csv",
        as_csv(y=Y, a=1 - P, b=P),
        answers={"'a' is the probability of '1'": brier(1 - P, Y), "'b' is": brier(P, Y)},
    ),
    "two logits": Kind(
        "t.csv",
        as_csv(y=Y, logit_0=LEVEL[:, 0], logit_1=LOGIT + LEVEL[:, 0]),
        brier(sigmoid(LOGIT), Y),
    ),
    "one logit": Kind("t.csv", as_csv(y=Y, log_odds=LOGIT), brier(sigmoid(LOGIT), Y)),
    "three logits, all positive": Kind(
        "t.csv",
        as_csv(
            animal=ANIMALS[CODE],
            **{
                f"logits {name}": np.log(SHARES.clip(1e-9)[:, k]) + LEVEL[:, 0] + 20
                for k, name in enumerate(ANIMALS)
            },
        ),
        joint=JOINT,
    ),
    "three columns, all above 1": Kind(
        "t.csv",
        as_csv(
            animal=ANIMALS[CODE],
            **per_class(LOGITS),
        ),
        answers={"logits": None, "Divide": None},
    ),
    "three percentages": Kind(
        "t.csv",
        as_csv(animal=ANIMALS[CODE], **per_class(100 * SHARES, "p.")),
        joint=JOINT,
    ),
    "vectors of Spark": Kind("s.parquet", spark(), brier(P, Y)),
    "lists in cells": Kind("l.csv", as_csv(y=Y, prob=[f"[{1 - p}, {p}]" for p in P]), brier(P, Y)),
    "dictionaries in cells": Kind(
        "d.csv", as_csv(y=WORDS, prob=[f"{{'grün': {p}, 'rot': {1 - p}}}" for p in P]), brier(P, Y)
    ),
    "NumPy archive": Kind("a.npz", npz(), brier(P, Y)),
    "off by rounding": Kind(
        "e.csv",
        as_csv(y=Y, p=np.where(P > 0.9, 1 + 1e-7, np.where(P < 0.2, -1e-17, P))),
        brier(np.where(P > 0.9, 1, np.where(P < 0.2, 0, P)), Y),
    ),
    "one wrong cell": Kind(
        "w.csv",
        as_csv(y=Y, p=WRONG),
        answers={
            "Exclude": brier(P[WRONG <= 1], Y[WRONG <= 1]),
            "Percentages": None,
            "Not probabilities": None,
        },
    ),
    "soft labels": Kind("s.csv", as_csv(y=SOFT, p=P), answers={"Shares": brier(P, SOFT), "Classes": None}),
    "events and trials": Kind("e.csv", as_csv(risk=RATE, n_events=EVENTS, n_trials=TRIALS), COUNTED),
    "deaths and patients": Kind("e.csv", as_csv(deaths=EVENTS, patients=TRIALS, p=RATE), COUNTED),
    "a class without rows": Kind(
        "k.csv",
        as_csv(y=ANIMALS[CODE][CODE < 2], **per_class(SHARES[CODE < 2])),
        joint=float(((SHARES[CODE < 2] - np.eye(3)[CODE[CODE < 2]]) ** 2).sum(axis=1).mean()),
    ),
    "a code for a missing label": Kind(
        "m.csv", as_csv(y=CODED, p=P), answers={"Missing": brier(P[KNOWN], Y[KNOWN]), "A class": None}
    ),
    "unknown labels": Kind(
        "m.csv",
        as_csv(y=np.where(KNOWN, np.where(Y, "yes", "no"), "unknown"), p=P),
        answers={"Missing": brier(P[KNOWN], Y[KNOWN]), "A class": None},
    ),
    "words without a convention": Kind(
        "u.csv", as_csv(y=WORDS, p=P), answers={"'grün'": brier(P, Y), "'rot'": brier(P, 1 - Y)}
    ),
    "labels 1 and 2": Kind(
        "u.csv", as_csv(y=Y + 1, p=P), answers={"'2'": brier(P, Y), "'1'": brier(P, 1 - Y)}
    ),
    "a convention that the ranks contradict": Kind(
        "r.csv", as_csv(y=Y, p=1 - P), answers={"'0'": brier(P, Y), "as currently read": brier(1 - P, Y)}
    ),
    "percentages by name": Kind("p.csv", as_csv(y=Y, risk_pct=100 * P), brier(P, Y)),
    "numbers up to 100": Kind(
        "p.csv", as_csv(y=Y, p=100 * P), answers={"Percentages": brier(P, Y), "Not": None}
    ),
    "R's write.table": Kind("r.txt", r_table(), brier(P, Y)),
    "pandas' to_json": Kind("j.json", frame_as(lambda frame: frame.to_json()), brier(P, Y)),
    "pandas' orient split": Kind(
        "j.json", frame_as(lambda frame: frame.to_json(orient="split")), brier(P, Y)
    ),
    "pandas' orient index": Kind(
        "j.json", frame_as(lambda frame: frame.to_json(orient="index")), brier(P, Y)
    ),
}

"""Makes the sample data: ``python sample_data/make.py [FOLDER]``. Same versions, same bytes inside the .gz files.

Two sets are scikit-learn's own copies of UCI data; three are drawn with fixed seeds, so that what they show is known.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC


def digits() -> pd.DataFrame:
    """1797 digits of 8 × 8 pixels, 0 … 16 (UCI Optical Recognition of Handwritten Digits); odd or even."""
    bunch = load_digits(as_frame=True)
    frame = bunch.data.astype(int)
    return frame.assign(target=np.where(bunch.target % 2, "odd", "even"))


def breast_cancer() -> pd.DataFrame:
    """569 fine-needle aspirates (UCI Breast Cancer Wisconsin, Diagnostic); malignant or benign."""
    bunch = load_breast_cancer(as_frame=True)
    names = {name: name.replace(" ", "_") for name in bunch.data.columns}
    return bunch.data.rename(columns=names).assign(target=np.where(bunch.target, "benign", "malignant"))


def rare_faults(n: int = 5000) -> pd.DataFrame:
    """Machines with six sensors; faults come from heat and vibration together, 5 % overall."""
    rng = np.random.default_rng(20190)
    hours = rng.gamma(2.0, 900.0, n)
    heat = rng.normal(60 + hours / 300, 8.0)
    vibration = rng.lognormal(0.3, 0.5, n)
    pressure, humidity = rng.normal(4.0, 0.6, n), rng.uniform(20, 90, n)
    current = 8 + 0.05 * heat + rng.normal(0, 0.8, n)
    hot = heat - 66
    logit = -4.5 + 0.14 * hot + 1.0 * (vibration - 1.3) + 0.05 * hot * (vibration - 1.5) + (pressure < 3.2)
    fault = rng.random(n) < 1 / (1 + np.exp(-logit))
    sensors = {"hours": hours.round(), "heat": heat.round(1), "vibration": vibration.round(3)}
    others = {"pressure": pressure.round(2), "humidity": humidity.round(), "current": current.round(2)}
    return pd.DataFrame({**sensors, **others, "target": np.where(fault, "fault", "ok")})


def loans(n: int = 3000) -> pd.DataFrame:
    """Invented loans: gaps that mean something, categories with rare levels, a date, an identifier."""
    rng = np.random.default_rng(20191)
    income = rng.lognormal(10.3, 0.5, n)
    amount = income * rng.beta(2, 5, n)
    age = rng.integers(19, 75, n)
    purposes = np.array(["car", "home", "debts", "study", "wedding", "boat", "solar", "horse", "studio", "patent"])
    purpose = rng.choice(purposes, n, p=[0.3, 0.25, 0.25, 0.12, 0.04, 0.02, 0.01, 0.004, 0.003, 0.003])
    work = rng.choice(["employed", "self-employed", "retired", "none"], n, p=[0.65, 0.2, 0.1, 0.05])
    history = rng.choice(["good", "short", "late once", "late often"], n, p=[0.55, 0.2, 0.15, 0.1])
    opened = np.datetime64("2018-01-01") + rng.integers(0, 2000, n).astype("timedelta64[D]")
    risk = pd.Series(history).map({"good": -0.6, "short": 0.2, "late once": 0.5, "late often": 1.4}).to_numpy()
    risk = risk + pd.Series(work).map({"employed": -0.2, "self-employed": 0.3, "retired": 0, "none": 0.9}).to_numpy()
    logit = -1.6 + risk + 3 * (amount / income - 0.3) - 0.5 * np.log(income / 30_000) + 0.6 * (purpose == "debts")
    default = rng.random(n) < 1 / (1 + np.exp(-logit))
    # Who has something to hide leaves the field empty: missing income is itself a sign.
    hidden = rng.random(n) < np.where(default, 0.25, 0.08)
    silent = rng.random(n) < 0.12
    return pd.DataFrame(
        {
            "loan_id": [f"L{number:05d}" for number in rng.permutation(n) + 1],
            "opened": opened,
            "age": age,
            "income": pd.Series(income.round(-2)).astype("Int64").mask(hidden),
            "amount": amount.round(-1).astype(int),
            "purpose": purpose,
            "work": pd.Series(work).mask(silent),
            "history": history,
            "years_at_address": pd.Series(rng.integers(0, 30, n)).mask(rng.random(n) < 0.05).astype("Int64"),
            "branch": "main",
            "target": np.where(default, "default", "paid"),
        }
    )


def predictions(train: int = 1000, test: int = 3000) -> pd.DataFrame:
    """Three models' scores for new cases on twelve noisy copies of three causes, which naive Bayes takes for proof."""
    rng = np.random.default_rng(20192)
    cause = rng.normal(size=(train + test, 3))
    X = np.repeat(cause, 4, axis=1) + rng.normal(scale=0.7, size=(train + test, 12))
    y = rng.random(train + test) < 1 / (1 + np.exp(-(cause @ [1.6, 1.0, -0.8] - 0.4)))
    X_train, y_train, X_test, y_test = X[:train], y[:train], X[train:], y[train:]
    scaler = StandardScaler().fit(X_train)
    bayes = GaussianNB().fit(X_train, y_train)
    forest = ExtraTreesClassifier(n_estimators=200, max_depth=4, random_state=0).fit(X_train, y_train)
    svm = SVC().fit(scaler.transform(X_train), y_train)
    return pd.DataFrame(
        {
            "target": np.where(y_test, "yes", "no"),
            "naive_bayes": bayes.predict_proba(X_test)[:, 1].round(5),
            "forest": forest.predict_proba(X_test)[:, 1].round(5),
            "svm_margin": svm.decision_function(scaler.transform(X_test)).round(4),
        }
    )


TABLES = {f.__name__: f for f in (digits, breast_cancer, rare_faults, loans, predictions)}


def make(folder: Path) -> None:
    """Write each table to ``folder`` as name.csv.gz; no time of day goes into the files."""
    for name, table in TABLES.items():
        text = table().to_csv(index=False, lineterminator="\n")
        with gzip.GzipFile(folder / f"{name}.csv.gz", "wb", mtime=0) as file:
            file.write(text.encode())


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)

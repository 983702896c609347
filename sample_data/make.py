"""Makes the sample data: ``python sample_data/make.py [FOLDER]``. Same versions, same bytes inside the .gz files.

Two sets are scikit-learn's own copies of UCI data; the others are drawn with fixed seeds, so that what they
show is known. Of several the truth is known as well: ``*_truth`` is the probability that labels were
drawn from.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable
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


def all_digits() -> pd.DataFrame:
    """The digits with all ten classes."""
    bunch = load_digits(as_frame=True)
    return bunch.data.astype(int).assign(target=bunch.target)


def breast_cancer() -> pd.DataFrame:
    """569 fine-needle aspirates (UCI Breast Cancer Wisconsin, Diagnostic); malignant or benign."""
    bunch = load_breast_cancer(as_frame=True)
    names = {name: name.replace(" ", "_") for name in bunch.data.columns}
    return bunch.data.rename(columns=names).assign(target=np.where(bunch.target, "benign", "malignant"))


def rare_faults(n: int = 5000) -> pd.DataFrame:
    """Machines with six sensors; faults come from heat and vibration together, 5% overall."""
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
    return _loans(n)[0]


def loans_truth(n: int = 3000) -> np.ndarray:
    """Return each loan's probability of default, given its causes and whether its income is missing."""
    frame, logit = _loans(n)
    odds = np.where(frame["income"].isna(), 0.25 / 0.08, 0.75 / 0.92)
    return 1 / (1 + np.exp(-(logit + np.log(odds))))


def _loans(n: int) -> tuple[pd.DataFrame, np.ndarray]:
    """The loans, and the log-odds of default from which their labels are drawn."""
    rng = np.random.default_rng(20191)
    income = rng.lognormal(10.3, 0.5, n)
    amount = income * rng.beta(2, 5, n)
    age = rng.integers(19, 75, n)
    purposes = np.array(
        ["car", "home", "debts", "study", "wedding", "boat", "solar", "horse", "studio", "patent"]
    )
    purpose = rng.choice(purposes, n, p=[0.3, 0.25, 0.25, 0.12, 0.04, 0.02, 0.01, 0.004, 0.003, 0.003])
    work = rng.choice(["employed", "self-employed", "retired", "none"], n, p=[0.65, 0.2, 0.1, 0.05])
    history = rng.choice(["good", "short", "late once", "late often"], n, p=[0.55, 0.2, 0.15, 0.1])
    opened = np.datetime64("2018-01-01") + rng.integers(0, 2000, n).astype("timedelta64[D]")
    risk = (
        pd.Series(history).map({"good": -0.6, "short": 0.2, "late once": 0.5, "late often": 1.4}).to_numpy()
    )
    risk = (
        risk
        + pd.Series(work).map({"employed": -0.2, "self-employed": 0.3, "retired": 0, "none": 0.9}).to_numpy()
    )
    logit = (
        -1.6 + risk + 3 * (amount / income - 0.3) - 0.5 * np.log(income / 30_000) + 0.6 * (purpose == "debts")
    )
    default = rng.random(n) < 1 / (1 + np.exp(-logit))
    # Who has something to hide leaves the field empty: missing income is itself a sign.
    hidden = rng.random(n) < np.where(default, 0.25, 0.08)
    silent = rng.random(n) < 0.12
    frame = pd.DataFrame(
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
    return frame, logit


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


DAYS = 720  # that the dated orders span


def dated(n: int = 4000, first_day: int = 0, days: int = DAYS, seed: int = 20193) -> pd.DataFrame:
    """Invented orders by day: what makes a customer send one back is the same all along, but the share grows."""
    rng = np.random.default_rng(seed)
    day = np.sort(first_day + rng.integers(0, days, n))
    frame = pd.DataFrame(
        {
            "ordered": np.datetime64("2022-01-03") + day.astype("timedelta64[D]"),
            "price": rng.lognormal(3.5, 0.6, n).round(2),
            "items": rng.integers(1, 8, n),
            "discount": rng.choice([0, 10, 20, 30], n, p=[0.5, 0.2, 0.2, 0.1]),
            "delivery_days": rng.poisson(3, n) + 1,
        }
    )
    return frame.assign(target=np.where(rng.random(n) < dated_truth(frame), "returned", "kept"))


def dated_truth(frame: pd.DataFrame) -> np.ndarray:
    """The probability that an order is sent back: its log-odds grow by 2 in the two years of the table."""
    day = (frame["ordered"] - pd.Timestamp("2022-01-03")).dt.days.to_numpy()
    lean = 0.5 * (np.log(frame["price"]) - 3.5) + 0.15 * (frame["items"] - 4) + 0.02 * frame["discount"]
    return 1 / (1 + np.exp(-(-2.6 + 2.0 * day / DAYS + lean + 0.1 * (frame["delivery_days"] - 4)).to_numpy()))


CUSTOMERS = 600


def customers(people: int = CUSTOMERS, seed: int = 20194) -> pd.DataFrame:
    """Invented calls of customers, some often: who complains once does so again, and age and income tell who it is."""
    rng = np.random.default_rng(seed)
    calls = 1 + rng.geometric(1 / 8, people)
    temper = rng.normal(0, 2, people)
    own = pd.DataFrame(
        {"age": rng.uniform(18, 90, people).round(1), "income": rng.lognormal(10.3, 0.5, people).round(-1)}
    )
    who = np.repeat(np.arange(people), calls)
    frame = own.iloc[who].reset_index(drop=True)
    frame.insert(0, "customer_id", [f"C{number:04d}" for number in who])
    frame["waited"] = rng.gamma(2, 4, len(who)).round(1)
    logit = -1.2 + 0.12 * (frame["waited"] - 8) + temper[who]
    return frame.assign(target=np.where(rng.random(len(who)) < 1 / (1 + np.exp(-logit)), "complaint", "none"))


def customers_truth(frame: pd.DataFrame) -> np.ndarray:
    """The probability that a customer of whom nothing else is known complains: the mean over all tempers."""
    nodes, shares = np.polynomial.hermite_e.hermegauss(60)
    lean = (-1.2 + 0.12 * (frame["waited"].to_numpy() - 8))[:, None] + 2 * nodes
    return (1 / (1 + np.exp(-lean))) @ (shares / shares.sum())


def counts(rows: float = 1e9) -> pd.DataFrame:
    """A billion predictions of 0.001 to 0.999 as GROUP BY leaves them: how many there are of each score and label."""
    rng = np.random.default_rng(20195)
    score = np.arange(1, 1000) / 1000
    share = score**0.3 * (1 - score) ** 2
    n = rng.poisson(rows * share / share.sum())
    ones = rng.binomial(n, counts_truth(score))
    table = pd.DataFrame({"score": np.repeat(score, 2), "target": ["no", "yes"] * len(score)})
    return table.assign(count=np.column_stack([n - ones, ones]).ravel())


def counts_truth(score: np.ndarray) -> np.ndarray:
    """Return the true probability at a score, which is overconfident and a little too high."""
    return 1 / (1 + np.exp(-(0.7 * np.log(score / (1 - score)) - 0.3)))


def drift_abrupt(n: int = 12_000, seed: int = 20196) -> pd.DataFrame:
    """Predictions of a deployed model by day, 20 per day: after 300 days the log-odds of the truth are 0.8 higher."""
    return _watched(n, seed, lambda day: 0.8 * (day >= 300), lambda day: 1.0 + 0.0 * day)


def drift_slow(n: int = 12_000, seed: int = 20197) -> pd.DataFrame:
    """Predictions by day: from day 200 on the slope of the log-odds falls from 1 to 0.5, as a model ages."""
    return _watched(n, seed, lambda day: 0.0 * day, lambda day: 1 - 0.5 * np.clip((day - 200) / 300, 0, 1))


def _watched(
    n: int, seed: int, shift: Callable[[np.ndarray], np.ndarray], slope: Callable[[np.ndarray], np.ndarray]
) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    day = np.arange(n) // 20
    score = (1 / (1 + np.exp(-rng.normal(-0.7, 1.3, n)))).round(4)
    logit = shift(day) + slope(day) * np.log(score / (1 - score))
    return pd.DataFrame(
        {
            "day": np.datetime64("2023-01-02") + day.astype("timedelta64[D]"),
            "score": score,
            "target": np.where(rng.random(n) < 1 / (1 + np.exp(-logit)), "yes", "no"),
        }
    )


GROUP_GAP = 0.15


def hidden_group(n: int = 10_000, seed: int = 20200) -> pd.DataFrame:
    """Predictions that are calibrated on average and too low for the self-employed of 60 and over, 5 % of the rows."""
    rng = np.random.default_rng(seed)
    young = n * 4 // 5 - 1  # so that 60 is the age at which the oldest fifth begins
    age = rng.permutation(np.append(rng.integers(20, 60, young), rng.integers(60, 80, n - young)))
    frame = pd.DataFrame(
        {
            "age": age,
            "employment": rng.choice(
                ["employed", "self-employed", "public", "not working"], n, p=[0.45, 0.25, 0.2, 0.1]
            ),
            "region": rng.choice(["north", "east", "south", "west"], n),
            "income": rng.lognormal(10.3, 0.5, n).round(-2).astype(int),
            "channel": rng.choice(["branch", "phone", "web"], n, p=[0.2, 0.3, 0.5]),
            "score": (0.05 + 0.75 * rng.beta(2, 3, n)).round(4),
        }
    )
    return frame.assign(target=np.where(rng.random(n) < hidden_group_truth(frame), "yes", "no"))


def hidden_group_truth(frame: pd.DataFrame) -> np.ndarray:
    """The true probability: the score and 0.15 in the group, and so much less elsewhere that the score is right."""
    group = (frame["age"] >= 60) & (frame["employment"] == "self-employed")
    share = 0.2 * 0.25
    return (frame["score"] + np.where(group, GROUP_GAP, -GROUP_GAP * share / (1 - share))).to_numpy()


HOSPITALS = "ABCDEFGH"
RELAPSE, DEATH = 0.09, 0.05  # hazards a year of an average patient


def relapses(n: int = 1600, seed: int = 20210) -> pd.DataFrame:
    """Patients of eight hospitals until relapse, death or censoring, with overconfident risks by each year."""
    rng = np.random.default_rng(seed)
    hospital, score, age = rng.integers(0, len(HOSPITALS), n), rng.normal(size=n), rng.normal(65, 9, n)
    slope = rng.normal(1.0, 0.2, len(HOSPITALS))[hospital]
    level = rng.normal(0.0, 0.3, len(HOSPITALS))[hospital]
    death = DEATH * np.exp(0.05 * (age - 65))
    until = rng.exponential(1 / (RELAPSE * np.exp(level + slope * score)), n), rng.exponential(1 / death, n)
    until = np.round([*until, np.minimum(rng.exponential(12, n), rng.uniform(2, 9, n))], 2)
    predicted = 0.8 * RELAPSE * np.exp(1.5 * score)
    together = predicted + DEATH
    risks = {f"risk_{t}": (predicted / together * -np.expm1(-t * together)).round(4) for t in range(1, 6)}
    return pd.DataFrame(
        {
            "hospital": np.array(list(HOSPITALS))[hospital],
            "age": age.round().astype(int),
            "time": until.min(axis=0),
            **risks,
            "target": np.array(["relapse", "death", "censored"])[until.argmin(axis=0)],
        }
    )


TABLES = {
    f.__name__: f
    for f in (
        digits,
        all_digits,
        breast_cancer,
        rare_faults,
        loans,
        predictions,
        dated,
        customers,
        counts,
        drift_abrupt,
        drift_slow,
        hidden_group,
        relapses,
    )
}


def make(folder: Path) -> None:
    """Write each table to ``folder`` as name.csv.gz; no time of day goes into the files."""
    for name, table in TABLES.items():
        text = table().to_csv(index=False, lineterminator="\n")
        with gzip.GzipFile(folder / f"{name}.csv.gz", "wb", mtime=0) as file:
            file.write(text.encode())


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)

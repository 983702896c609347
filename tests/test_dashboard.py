"""What ``explore`` hands to the dashboard: the same rows, scores and labels, and a Recipe that names them."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from calib import Recipe, check, dashboard, evaluate, explore
from calib.__main__ import main
from calib.data import TableFile, large_file, read
from calib.kernel.checks import InputError
from calib.sources import digest, load
from tests.saying import assert_says

RNG = np.random.default_rng(1)
X = pd.DataFrame(RNG.normal(size=(300, 2)), columns=["age", "income"])
Y = np.where(X["age"] + RNG.normal(size=300) > 0, "yes", "no")
P = RNG.random(300)


@pytest.fixture
def handed(monkeypatch):
    """What a call hands on instead of starting a server: its Recipe, if there is one, and the Dataset that it loads."""

    def hand(*args, **options):
        calls = []
        monkeypatch.setattr(dashboard, "serve", lambda *call: calls.append(call))
        explore(*args, **options)
        ((name, content, said, _),) = calls
        recipe = Recipe(data=f"upload:{digest(content)}", file=name, **(said or {"target": "y"}))
        return said, load(recipe, {digest(content): TableFile(name, content)})

    return hand


def test_probabilities_of_one_model_are_the_scores_and_1_is_the_positive_class(handed):
    y = (RNG.random(300) < P).astype(int)
    said, data = handed(y, P)
    np.testing.assert_array_equal(data.X["prediction"], P)
    np.testing.assert_array_equal(data.y, y)
    assert data.predictions
    assert json.loads(json.dumps(said)) == said
    recipe = Recipe(data="upload:0", calibrators=("none",), content="predictions")
    shown = evaluate(recipe, data).on_every_row().metrics.loc["none", "brier"]
    assert shown == pytest.approx(check(y, P).metrics["brier"].item(), abs=1e-12)


def test_probabilities_of_two_models_keep_their_names(handed):
    _, data = handed(np.arange(300) % 2, {"forest": P, "boosting": np.column_stack([1 - P, P])})
    np.testing.assert_array_equal(data.X["forest"], P)
    np.testing.assert_array_equal(data.X["boosting"], P)


@pytest.mark.parametrize("model", [LogisticRegression(), SVC()])
def test_a_fitted_model_scores_its_rows_here_and_its_columns_go_along(handed, model):
    model.fit(X, Y)
    _, data = handed(model, X, Y)
    score = model.predict_proba(X)[:, 1] if hasattr(model, "predict_proba") else model.decision_function(X)
    np.testing.assert_allclose(data.X[type(model).__name__], score, rtol=1e-12)
    assert data.classes == ("no", "yes")
    assert {"age", "income"} <= set(data.beside)


ROWS = RNG.dirichlet([1, 1, 1], 300)
CODES = np.array([RNG.choice(3, p=row) for row in ROWS])


def test_probabilities_of_k_classes_are_those_of_check(handed):
    sharp = ROWS**2 / (ROWS**2).sum(axis=1, keepdims=True)
    said, data = handed(CODES, {"forest": ROWS, "deep net": sharp})
    assert data.joint
    assert data.scores == ["forest", "deep net"]
    np.testing.assert_array_equal(data.labels, CODES)
    assert json.loads(json.dumps(said)) == said
    recipe = Recipe(data="upload:0", calibrators=("none",), content="predictions", score="deep net")
    table = evaluate(recipe, data).whole.metrics.loc["none"]
    pd.testing.assert_series_equal(table, check(CODES, sharp).metrics.loc["none"], rtol=1e-9)


def test_a_fitted_model_of_k_classes_scores_its_rows_here(handed):
    kinds = np.array(["cat", "dog", "owl"])[np.digitize(X["age"], [-0.5, 0.5])]
    model = LogisticRegression().fit(X, kinds)
    _, data = handed(model, X, kinds)
    assert data.names == ("cat", "dog", "owl")
    np.testing.assert_allclose(data.X.to_numpy(), model.predict_proba(X), rtol=1e-12)
    assert {"age", "income"} <= set(data.beside)
    _, data = handed(X.assign(kind=kinds), target="kind")
    assert data.joint
    with pytest.raises(InputError, match="does not know the label 'ant'"):
        explore(model, X, np.where(kinds == "cat", "ant", kinds))


def test_a_table_is_handed_on_as_it_is(handed):
    said, data = handed(X.assign(y=Y), target="y")
    assert said == {"content": "features", "target": "y"}
    pd.testing.assert_frame_equal(data.X, X, check_exact=True)
    said, _ = handed(X.assign(y=Y))
    assert said == {}


@pytest.mark.parametrize(
    ("args", "options", "message"),
    [
        (([0, 1],), {}, "p is missing"),
        (([0, 1], [0.2, 1.2]), {}, r"\[0, 1\]"),
        (([0, 1], [0.2]), {}, "Lengths differ: y has 2, p has 1"),
        ((LogisticRegression(),), {}, "X or y is missing"),
        ((LogisticRegression().fit(X, Y), X, ["a"] * 300), {}, "two classes"),
        ((X,), {"target": "z"}, "there is no column 'z'"),
    ],
)
def test_what_does_not_fit_is_refused_before_a_server_starts(monkeypatch, args, options, message):
    monkeypatch.setattr(dashboard, "_start", lambda: pytest.fail("a server was started"))
    with pytest.raises(InputError, match=message):
        explore(*args, **options)


def test_a_file_is_opened_from_the_command_line(tmp_path, monkeypatch, capsys):
    file = tmp_path / "people.csv"
    X.assign(y=Y).to_csv(file, index=False)
    served = []

    class Ended:
        url = "http://localhost:1/?token=t"

        def wait(self):
            return 0

    monkeypatch.setattr(dashboard, "serve", lambda *call: served.append(call) or Ended())
    assert main(["explore", str(file)]) == 0
    assert served == [("people.csv", file.read_bytes(), None)]
    assert Ended.url in capsys.readouterr().out
    assert main(["explore", str(tmp_path / "none.csv")]) == 2
    assert "cannot be opened" in capsys.readouterr().err


def test_predictions_that_do_not_fit_into_memory_are_opened_as_counts(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(read, "UPLOAD_LIMIT", 2_000)
    monkeypatch.setattr(large_file, "FIRST_BYTES", 1_500)
    p = np.round(RNG.random(1_000), 2)
    table = pd.DataFrame({"y": (RNG.random(1_000) < p).astype(int), "p": p})
    table.to_csv(tmp_path / "scores.csv", index=False)
    calls = []
    monkeypatch.setattr(
        dashboard, "serve", lambda *call: calls.append(call) or (_ for _ in ()).throw(InputError("x"))
    )
    assert main(["explore", str(tmp_path / "scores.csv")]) == 2
    ((name, content, said),) = calls
    assert_says(capsys.readouterr().out, "1,000 rows were grouped", "score and label")
    table.assign(age=np.arange(1_000) % 50).to_csv(tmp_path / "people.csv", index=False)
    assert main(["explore", str(tmp_path / "people.csv")]) == 2
    assert "columns other than a label and scores" in capsys.readouterr().err
    monkeypatch.undo()
    recipe = Recipe(data=f"upload:{digest(content)}", file=name, calibrators=("none",), **said)
    found = evaluate(recipe, load(recipe, {digest(content): TableFile(name, content)})).on_every_row()
    assert found.metrics.loc["none", "brier"] == pytest.approx(
        ((table["p"] - table["y"]) ** 2).mean(), abs=1e-12
    )


def test_a_server_that_does_not_start_is_said_with_its_last_words(monkeypatch):
    monkeypatch.setattr(dashboard.sys, "executable", "/bin/false")
    with pytest.raises(InputError, match="did not start"):
        explore([0, 1], [0.2, 0.8], open_browser=False)


def test_a_notebook_shows_a_frame_under_its_own_name_of_the_machine_and_the_way_from_another_one():
    class Process:
        stdin = None

        def poll(self):
            return None

    shown = dashboard.Session(Process(), 8765, "secret")._repr_html_()
    assert 'frame.src = "http://localhost:8765/?token=secret".replace("localhost", host)' in shown
    assert "ssh -L 8765:localhost:8765" in shown


def test_labels_of_arrays_keep_their_names_and_the_stated_class(handed):
    words = np.where(Y == "yes", "good", "bad")
    said, data = handed(words, P, pos_label="good")
    assert (said["positive"], data.classes) == ("good", ("bad", "good"))
    np.testing.assert_array_equal(data.y, Y == "yes")
    with pytest.raises(InputError, match="pos_label"):
        handed(words, P)

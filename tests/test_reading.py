"""Tables of predictions are read right, or the program asks: never a wrong number with exit status 0."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from calib import Recipe, check, evaluate, sources
from calib.__main__ import main
from calib.data import DataError, ReadingQuestion, guess_target, prepare_predictions, read_table
from calib.kernel.checks import InputError
from calib.sources import digest, with_answer, without_answers
from tests.kinds import CODE, KINDS, REFUSED, SHARES, Kind, P, Y, brier
from tests.saying import assert_says
from tests.shared import path as shared

READ = [name for name, kind in KINDS.items() if kind.brier != REFUSED and not kind.answers]
ASKED = [name for name, kind in KINDS.items() if kind.answers]


def run(tmp_path, kind: Kind, **fields) -> int:
    recipe = {"content": "predictions", "calibrators": ["none"], **fields}
    (tmp_path / "recipe.json").write_text(json.dumps(recipe), encoding="utf-8")
    (tmp_path / kind.name).write_bytes(kind.content)
    command = ["evaluate", str(tmp_path / "recipe.json"), str(tmp_path / kind.name)]
    return main([*command, "--metrics", "brier", "--format", "csv"])


def printed(out: str, column: str = "brier") -> float:
    return float(pd.read_csv(io.StringIO(out), index_col=0).loc[column].iloc[0])


@pytest.mark.parametrize("name", READ)
def test_the_command_line_reads_it_right_and_says_how(name, tmp_path, capsys):
    kind = KINDS[name]
    assert run(tmp_path, kind) == 0
    out, said = capsys.readouterr()
    assert said.startswith("read as: ")
    expected, column = (kind.brier, "brier") if kind.joint is None else (kind.joint, "brier_all_classes")
    assert printed(out, column) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", ASKED)
def test_the_command_line_asks_and_each_printed_answer_leads_on(name, tmp_path, capsys):
    kind = KINDS[name]
    assert run(tmp_path, kind) == 2
    out, said = capsys.readouterr()
    assert out == ""
    lines = said.split("Add one of these to the Recipe:\n")[1].splitlines()
    for word, expected in kind.answers.items():
        (at,) = [i for i, line in enumerate(lines) if i % 2 and word in line]
        status = run(tmp_path, kind, **json.loads(f"{{{lines[at - 1]}}}"))
        out, _ = capsys.readouterr()
        if expected is not None:
            assert status == 0, word
            assert printed(out) == pytest.approx(expected, abs=1e-6), word


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.brier == REFUSED])
def test_classes_are_refused_as_such(name, tmp_path, capsys):
    assert run(tmp_path, KINDS[name]) == 2
    assert_says(capsys.readouterr().err, "predicted classes, not probabilities", "predict_proba()")


@pytest.mark.parametrize("name", [*READ, *ASKED])
def test_python_reads_the_same(name):
    kind = KINDS[name]
    frame = read_table(kind.content, kind.name)
    key = digest(kind.content)
    recipe = Recipe(
        data=f"upload:{key}", content="predictions", target=guess_target(frame), calibrators=("none",)
    )
    if kind.answers:
        with pytest.raises(ReadingQuestion) as asked:
            sources.load(recipe, {key: frame})
        for word, expected in kind.answers.items():
            (answer,) = [answer for answer in asked.value.answers if word in answer.label]
            answered = recipe.replace(**with_answer(recipe, answer.fix))
            if expected is not None:
                found = evaluate(answered, sources.load(answered, {key: frame}))
                assert found.metrics["brier"].iloc[0] == pytest.approx(expected, abs=1e-9), word
                assert answered.replace(**with_answer(answered, without_answers(answered))) == recipe
        return
    found = evaluate(recipe, sources.load(recipe, {key: frame}))
    assert found.read_as == found.dataset.read_as
    if kind.joint is None:
        assert found.metrics["brier"].iloc[0] == pytest.approx(kind.brier, abs=1e-9)
    else:
        assert found.whole.metrics["brier"].iloc[0] == pytest.approx(kind.joint, abs=1e-9)


def test_other_readings_are_one_answer_away_and_lead_to_other_numbers():
    kind = KINDS["confidence of two classes"]
    frame = read_table(kind.content, kind.name)
    data = prepare_predictions(frame, "gold")
    assert_says(str(data.read_as), "'conf'", "confidence of the class in 'guess'", "'spam'", "'gold'")
    labels = {answer.label: answer.fix for answer in data.read_as.others}
    right = prepare_predictions(
        frame, "gold", **labels["Probability that the prediction is right"]["data_params"]
    )
    assert right.classes == ("wrong", "right")
    assert brier(right.X["conf"], right.y) == pytest.approx(kind.brier)  # of two classes both have one score
    assert right.y.mean() == ((P >= 0.5) == Y).mean()


@pytest.mark.parametrize(
    "weights", [np.arange(len(Y)) % 3, 0.5 * (np.arange(len(Y)) % 3)], ids=["whole", "fractions"]
)
def test_zero_weights_mean_what_leaving_the_rows_out_means(weights):
    kept = weights > 0
    found, without = check(Y, P, sample_weight=weights), check(Y[kept], P[kept], sample_weight=weights[kept])
    pd.testing.assert_frame_equal(found.metrics, without.metrics)
    assert found.verdict.sentence == without.verdict.sentence
    assert found.figure("reliability").to_json() == without.figure("reliability").to_json()
    assert "<table" in found._repr_html_()
    joint, other = (
        check(CODE[rows], SHARES[rows], sample_weight=weights[rows]) for rows in (slice(None), kept)
    )
    pd.testing.assert_frame_equal(joint.metrics, other.metrics)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: check(pd.array([None, *Y[1:].astype(bool)], dtype="boolean"), P),
            "y is missing at position 0",
        ),
        (lambda: check([*Y[:-1], None], P), f"y is missing at position {len(Y) - 1}"),
        (lambda: check(Y, P, cluster=["a", None, *"b" * (len(Y) - 2)]), "cluster is missing at position 1"),
        (lambda: check(np.where(Y, "good", "bad"), P), "pos_label='bad' or pos_label='good'"),
        (lambda: check(Y + 1, P), "pos_label='1' or pos_label='2'"),
        (lambda: check(Y, P, pos_label="maybe"), "pos_label must be one of '0', '1'"),
        (lambda: check(Y, np.column_stack([1 - P, P**2])), "rows of p must sum to 1"),
        (lambda: check(CODE, SHARES + 0.01), "sum to 1"),
        (lambda: check(Y, P > 0.5), "predicted classes, not probabilities"),
        (lambda: check(["cat"] * len(Y), SHARES), "DataFrame whose columns are named"),
        (lambda: check(Y, P, sample_weight=np.zeros(len(Y))), "not all weights may be zero"),
    ],
)
def test_arrays_that_leave_something_open_are_refused_by_name(call, said):
    with pytest.raises(InputError, match=said):
        call()


def test_arrays_are_read_by_their_names_and_what_is_stated():
    names = np.array(["cat", "dog", "fox"])
    found = check(names[CODE], pd.DataFrame(SHARES, columns=names)[["fox", "cat", "dog"]])
    assert found.names == ("fox", "cat", "dog")
    pd.testing.assert_frame_equal(found.metrics, check(CODE, SHARES).metrics)
    words = np.where(Y, "good", "bad")
    for label, ones in (("good", Y), ("bad", 1 - Y)):
        stated = check(words, P, pos_label=label)
        assert stated.metrics["brier"].iloc[0] == pytest.approx(brier(P, ones))
        assert_says(str(stated.read_as), f"'{label}'", "as stated")
    both = check(words, pd.DataFrame({"good": P, "bad": 1 - P}), pos_label="bad")
    assert both.metrics["brier"].iloc[0] == pytest.approx(brier(1 - P, 1 - Y))
    assert check(np.where(Y, "dead", "alive"), P).metrics["brier"].iloc[0] == pytest.approx(brier(P, Y))


@pytest.mark.parametrize("tiny", [1e-300, 5e-324, -1e-17])
def test_the_smallest_probabilities_get_a_verdict(tiny):
    p = np.where(P < 0.3, tiny, P)
    assert check(Y, p).verdict.sentence
    single = check(Y, np.where(P > 0.7, 1.0000001, P).astype(np.float32))
    assert_says(single.dataset.notes[0], "p:", "clipped")


SHARED_CASES = {
    "actual_predicted_confidence.csv": 0.1515,
    "case_control_majority.csv": 0.1576,
    "llm_correct_wrong.csv": 0.1953,
    "two_logits.csv": 0.1592,
    "spark_ml.parquet": 0.1592,
    "one_plus_eps.csv": 0.1585,
    "events_trials.csv": 0.1593,
    "r_write_table_default.txt": 0.1592,
    "pandas_default.json": 0.1592,
}


@pytest.mark.parametrize(("name", "expected"), SHARED_CASES.items())
def test_reported_tables_have_their_published_score(name, expected, tmp_path, capsys):
    kind = Kind(name, shared(f"cases/{name}").read_bytes())
    assert run(tmp_path, kind) == 0
    assert printed(capsys.readouterr().out) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("name", ["p_no_p_yes.csv", "soft_labels.csv", "sentinel_label.csv"])
def test_reported_tables_that_leave_something_open_are_asked_about(name, tmp_path, capsys):
    assert run(tmp_path, Kind(name, shared(f"cases/{name}").read_bytes())) == 2
    assert "Add one of these to the Recipe" in capsys.readouterr().err


def test_labels_of_training_tables_follow_the_convention(tmp_path, capsys):
    kind = Kind("t.csv", KINDS["a code for a missing label"].content)
    assert run(tmp_path, kind, content="features", model="naive_bayes") == 2
    assert "'-999'" in capsys.readouterr().err
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    table = pd.DataFrame({"x": x, "z": x + rng.normal(size=400), "y": (rng.random(400) < 0.7).astype(int)})
    kind = Kind("t.csv", table.to_csv(index=False).encode())
    assert run(tmp_path, kind, content="features", model="naive_bayes") == 0
    assert_says(
        capsys.readouterr().err, "read as: 'y' is the label", "'1' is the positive class", "by convention"
    )


def test_a_column_of_text_is_refused_with_its_cells():
    with pytest.raises(DataError, match="not numbers"):
        prepare_predictions(pd.DataFrame({"y": Y, "p": ["a1"] + ["b2"] * (len(Y) - 1)}), "y", scores=["p"])


SEPARATORS = (",", ";", "\t", "|")
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "cp1252")
OTHER_COLUMNS = ("site", "Region", "comment", "fold", "patient_id", "age group", "größe")
LABEL_NAMES = ("y", "label", "Target", "y_true", "outcome", "TRUTH", "ground truth", "actual", "Class")
SCORE_NAMES = ("p", "Prob", "score", "probability", "risk", "p_hat", "y_score", "model p", "Prediction prob")
PAIRS = (
    *(
        ("0", "1"),
        ("no", "yes"),
        ("No", "YES"),
        ("false", "true"),
        ("alive", "dead"),
        ("benign", "malignant"),
    ),
    *(
        ("control", "case"),
        ("pass", "fail"),
        ("stayed", "churned"),
        ("negative", "positive"),
        ("wrong", "correct"),
    ),
    *(("ham", "spam"), ("not fraud", "fraud"), ("nein", "ja"), ("absent", "present")),
)
UNKNOWN = (("rot", "grün"), ("good", "bad"), ("A", "B"), ("left side", "right side"), ("male", "female"))


def plain_table(seed: int) -> tuple[pd.DataFrame, bytes, str, float]:
    """Return a table that needs no question, its file, the label column, and the Brier score of the first model."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 400))
    p = rng.beta(2, 2, n).round(int(rng.integers(2, 7)))
    y = (rng.random(n) < np.clip(p + rng.normal(0, 0.1, n), 0, 1)).astype(int)
    label, score = str(rng.choice(LABEL_NAMES)), str(rng.choice(SCORE_NAMES))
    pairs = PAIRS + UNKNOWN if seed % 3 == 0 else PAIRS
    names = np.array(pairs[rng.integers(len(pairs))])
    columns = {label: names[y]}
    if seed % 3 == 0:  # columns named after the classes
        glue = str(rng.choice(["p_{}", "prob {}", "{}", "P({})", "forest_{}", "{}_probability"]))
        each = {glue.format(names[1]): p, glue.format(names[0]): 1 - p}
        columns |= dict(sorted(each.items(), key=lambda _: rng.random()))
    else:
        columns[score] = p
    if rng.random() < 0.3:
        columns[str(rng.choice(OTHER_COLUMNS))] = rng.choice(["north", "south", "west"], n)
    order = rng.permutation(list(columns))
    frame = pd.DataFrame({name: columns[name] for name in order})
    text = frame.to_csv(index=False, sep=str(rng.choice(SEPARATORS)), decimal=".")
    return frame, text.encode(str(rng.choice(ENCODINGS))), label, brier(p, y)


def check_plain(seed: int) -> None:
    frame, content, label, expected = plain_table(seed)
    read = read_table(content, "t.csv")
    assert guess_target(read) == label, list(frame)
    data = prepare_predictions(read, label)
    assert brier(data.X.iloc[:, 0], data.y) == pytest.approx(expected, abs=1e-12), str(data.read_as)


@pytest.mark.parametrize("seed", range(60))
def test_plain_tables_need_no_question(seed):
    check_plain(seed)


@pytest.mark.soak
def test_two_thousand_plain_tables_need_no_question():
    for seed in range(60, 2_060):
        check_plain(seed)

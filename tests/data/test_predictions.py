"""Predictions made elsewhere become a Dataset of scores, and nothing is dropped without a word."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.metrics import roc_auc_score

from calib.data import (
    DataError,
    ReadingQuestion,
    guess_target,
    looks_like_predictions,
    prepare_predictions,
    read_table,
    score_columns,
    score_meaning,
    validate,
)
from calib.data.score_columns import named_class, scores_among_features
from calib.data.score_problems import ranking_problems, scale_problems
from calib.kernel.wording import number, percent
from tests.saying import assert_any_says, assert_says, says

N = 200
RNG = np.random.default_rng(2)
Y = RNG.random(N) < 0.3
GOOD = np.clip(0.3 + 0.4 * Y + RNG.normal(0, 0.2, N), 0, 1)
FRAME = pd.DataFrame({"label": np.where(Y, "sick", "well"), "p_forest": GOOD, "margin": 4 * GOOD - 2})


def test_scores_become_the_columns_of_x():
    data = prepare_predictions(FRAME, "label")
    assert data.predictions
    assert data.classes == ("well", "sick")
    assert data.X.columns.tolist() == ["p_forest", "margin"]
    assert (data.X.dtypes == "float64").all()
    np.testing.assert_array_equal(data.X["margin"], FRAME["margin"])
    np.testing.assert_array_equal(data.y, Y)
    (note,) = data.notes
    assert_says(note, "Positive class", "'sick'", f"{Y.sum()} rows")


def test_scores_can_be_chosen_and_the_rest_is_named():
    data = prepare_predictions(FRAME.assign(fold=RNG.integers(0, 3, N)), "label", scores=["margin"])
    assert data.X.columns.tolist() == ["margin"]
    assert data.notes[-1] == "Not used as scores: p_forest, fold."


LABELS = [
    ((0, 1), "1"),
    ((-1, 1), "1"),
    ((0.0, 1.0), "1"),
    ((False, True), "True"),
    (("no", "yes"), "yes"),
    (("NO", "Yes"), "Yes"),
    (("n", "y"), "y"),
    (("F", "T"), "T"),
    (("negative", "positive"), "positive"),
    (("-", "+"), "+"),
    (("nein", "ja"), "ja"),
    (("не", "да"), None),
    (("нет", "да"), "да"),
    (("not churned", "churned"), "churned"),
    (("stayed", "left"), "left"),
    (("control", "case"), "case"),
    (("Alive", "dead"), "dead"),
    (("good", "bad"), None),
    ((1, 2), None),
]


@pytest.mark.parametrize("share", [0.3, 0.7])
@pytest.mark.parametrize(("pair", "positive"), LABELS)
def test_a_convention_or_a_person_decides_which_class_the_scores_are_for(pair, positive, share):
    """The data never do: without a convention, and if they contradict it, the question names both classes."""
    y = np.arange(N) % 10 < 10 * share
    names = [str(label).removesuffix(".0") for label in pair]
    for agree, given in ((True, 0.1 + 0.8 * y), (False, 0.9 - 0.8 * y)):
        frame = pd.DataFrame({"y": np.array(pair)[y.astype(int)], "model": given})
        if positive is None or not agree:
            with pytest.raises(ReadingQuestion) as asked:
                prepare_predictions(frame, "y")
            assert {answer.fix["positive"] for answer in asked.value.answers} == set(names)
            assert "pos_label" in str(asked.value)
        else:
            data = prepare_predictions(frame, "y")
            assert (data.classes[1], data.read_as.why) == (positive, "convention")
        for name in names:
            data = prepare_predictions(frame, "y", name)
            ones = y if name == names[1] else ~y
            assert (data.classes[1], data.read_as.why) == (name, "stated")
            assert ((data.X["model"] - data.y) ** 2).mean() == pytest.approx(((given - ones) ** 2).mean())


@pytest.mark.parametrize(
    ("names", "labels", "positive"),
    [
        (["p_yes"], ("no", "yes"), "yes"),
        (["p_no"], ("no", "yes"), "no"),
        (["prob_0"], (0, 1), "0"),
        (["prob_1"], (0, 1), "1"),
        (["probability of malignant"], ("benign", "malignant"), "malignant"),
        (["score_benign"], ("benign", "malignant"), "benign"),
        (["predBenign"], ("benign", "malignant"), "benign"),
        (["P(not left)"], ("left", "not left"), "not left"),
        (["score_0"], (0, 1), "1"),  # the first score, not that of class 0
        (["score_0", "score_1"], (0, 1), "1"),
        (["p_no", "forest"], ("no", "yes"), "no"),
        (["no"], ("no", "yes"), "no"),  # the label itself
        (["0", "1"], (0, 1), "1"),
    ],
)
def test_a_score_column_may_be_named_after_its_class(names, labels, positive):
    rng = np.random.default_rng(0)
    label = np.array(labels)[(np.arange(60) % 3 == 0).astype(int) ^ (labels == ("a", "b"))]
    data = prepare_predictions(pd.DataFrame({"y": label, **{name: rng.random(60) for name in names}}), "y")
    assert data.classes[1] == positive


def test_of_two_columns_that_add_up_to_one_the_positive_class_s_is_the_score():
    p = RNG.random(N).round(4)
    data = prepare_predictions(pd.DataFrame({"y": Y.astype(int), "prob_0": 1 - p, "prob_1": p}), "y")
    assert data.X.columns.tolist() == ["prob_1"]
    assert data.classes == ("0", "1")
    assert "Not used as scores: prob_0." in data.notes


def test_two_columns_of_classes_that_do_not_add_up_are_asked_about_and_each_belongs_to_its_name():
    p = RNG.random(N).round(4)
    both = pd.DataFrame({"y": np.where(Y, "b", "a"), "p_a": (1 - p) ** 2, "p_b": p})
    with pytest.raises(ReadingQuestion, match="do not sum to 1") as asked:
        prepare_predictions(both, "y")
    brier = {
        answer.label: brier_of(prepare_predictions(both, "y", **as_arguments(answer)))
        for answer in asked.value.answers
    }
    assert brier["Use only 'p_a', as the probability of 'a'"] == pytest.approx(
        ((both["p_a"] - ~Y) ** 2).mean()
    )
    assert brier["Use only 'p_b', as the probability of 'b'"] == pytest.approx(((p - Y) ** 2).mean())
    shares = p / (p + both["p_a"])
    assert brier["Divide each row by its sum"] == pytest.approx(((shares - Y) ** 2).mean())


def as_arguments(answer):
    return {"positive": answer.fix.get("positive"), **answer.fix.get("data_params", {})}


def brier_of(data):
    return ((data.X.iloc[:, 0] - data.y) ** 2).mean()


@pytest.mark.parametrize("head", ["", "prob_"])
def test_of_a_column_a_class_the_positive_class_s_is_the_score(head):
    """What predict_proba gives for three classes: the other columns are no scores of the positive class."""
    share = RNG.dirichlet((1, 1, 1, 1), N).round(3)
    names = ["cat", "dog", "fox", "owl"]
    label = [RNG.choice(names, p=row / row.sum()) for row in share]
    frame = pd.DataFrame({"label": label, **{head + name: share[:, k] for k, name in enumerate(names)}})
    assert looks_like_predictions(frame)
    for positive in names:
        data = prepare_predictions(frame, "label", positive)
        assert data.X.columns.tolist() == [head + positive]
        assert ranking_problems(data) == []
    assert list(prepare_predictions(frame, "label", "dog", [f"{head}cat"]).X) == [f"{head}cat"]
    with pytest.raises(DataError, match="No score column belongs to 'cat'"):
        prepare_predictions(frame.drop(columns=f"{head}cat"), "label", "cat")


@pytest.mark.parametrize("head", ["class_", "score_", "p"])
@pytest.mark.parametrize("names", [["0", "1", "10"], ["no", "yes"], ["a", "B", "ab"]])
def test_of_a_column_a_class_that_add_up_to_one_the_end_is_the_class(head, names):
    """A number after "score" is a model's otherwise."""
    share = RNG.dirichlet([1] * len(names), N).round(2)
    label = [RNG.choice(names, p=row / row.sum()) for row in share]
    frame = pd.DataFrame({"label": label, **{head + name: share[:, k] for k, name in enumerate(names)}})
    for positive in names:
        assert prepare_predictions(frame, "label", positive).X.columns.tolist() == [head + positive]
    frame[head + names[0]] /= 2
    if named_class(head + names[1], names) is None:  # columns that are named after all classes
        assert list(prepare_predictions(frame, "label", names[1]).X) == [head + names[1]]


def backwards(n=400, strength=0.2, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return pd.DataFrame({"y": y, "model": np.clip(0.5 - strength * (y - 0.5) + rng.normal(0, 0.15, n), 0, 1)})


def test_scores_that_rank_the_classes_backwards_are_a_finding_with_a_switch():
    frame = backwards()
    data = prepare_predictions(frame, "y", "1")
    (found,) = ranking_problems(data)
    assert found.severity == "warning"
    area = roc_auc_score(frame["y"], frame["model"])
    assert_says(found.message, "in reverse", f"AUC {area:.3f}")
    assert_any_says(data.notes, "model:", "in reverse")
    assert found.fix == {"positive": "0"}
    turned = prepare_predictions(frame, "y", **found.fix)
    assert ranking_problems(turned) == []
    assert roc_auc_score(turned.y, turned.X["model"]) == pytest.approx(1 - area)


def test_one_score_for_all_rows_is_named_as_what_it_is():
    """Not as scores of another class, nor with an interval that its area, always one half, has not."""
    frame = pd.DataFrame({"y": [0, 1] * 20, "model": 0.3})
    (found,) = ranking_problems(prepare_predictions(frame, "y"))
    assert_says(found.message, "same score", "0.300", "cannot rank")
    assert found.fix is None


def test_an_area_that_may_be_one_half_is_no_better_than_chance():
    frame = backwards(strength=0.02, seed=4)
    (found,) = ranking_problems(prepare_predictions(frame, "y"))
    assert 0.44 < roc_auc_score(frame["y"], frame["model"]) < 0.5
    assert_says(found.message, "not rank", "clearly better than chance", "AUC 0.466")
    (found,) = ranking_problems(prepare_predictions(frame, "y", "0"))
    assert "clearly better than chance: AUC 0.5" in found.message
    assert found.fix is None


def test_of_several_classes_none_can_be_switched_to():
    frame = backwards().assign(y=lambda t: np.where(t.y == 0, RNG.choice(["a", "b"], len(t)), "c"))
    (found,) = ranking_problems(prepare_predictions(frame, "y", "c"))
    assert "in reverse" in found.message
    assert found.fix is None


def test_percentages_are_asked_about_unless_their_name_says_so():
    table = pd.DataFrame({"y": Y.astype(int), "p": (100 * GOOD).round(1)})
    with pytest.raises(ReadingQuestion, match="may be percentages") as asked:
        prepare_predictions(table, "y")
    percentages, others = (
        prepare_predictions(table, "y", **as_arguments(one)) for one in asked.value.answers
    )
    named = prepare_predictions(table.rename(columns={"p": "risk %"}), "y")
    for data in (percentages, named):
        np.testing.assert_allclose(data.X.iloc[:, 0], table["p"] / 100)
        assert "divided by 100" in str(data.read_as)
    np.testing.assert_array_equal(others.X["p"], table["p"])
    assert others.read_as.scores[0].kind == "margin"
    (found,) = [p for p in validate(table, "y", content="predictions") if p.severity == "error"]
    assert [action for _, action in found.fixes] == ["Percentages", "Not probabilities"]


@pytest.mark.parametrize("scores", [None, ["p"]], ids=["found", "chosen"])
def test_text_in_a_column_of_scores_is_quoted(scores):
    p = GOOD.round(3).astype(object)
    p[[3, 7]] = "n/k", "<0.1"
    table = pd.DataFrame({"y": Y.astype(int), "p": p})
    with pytest.raises(DataError) as refused:
        prepare_predictions(table, "y", scores=scores)
    assert_says(str(refused.value), "'p'", "not numbers", "'n/k'", "'<0.1'")


@pytest.mark.parametrize("wrong", [1.7, -0.2, 85.0])
def test_a_wrong_value_among_probabilities_is_named_with_its_row_and_the_person_chooses(wrong):
    p = GOOD.copy()
    p[3] = wrong
    table = pd.DataFrame({"y": Y.astype(int), "p": p})
    with pytest.raises(ReadingQuestion) as asked:
        prepare_predictions(table, "y")
    assert_says(asked.value.message, "1 of 200 scores in 'p' is not between 0 and 1", "row 4", number(wrong))
    data = prepare_predictions(table, "y", **as_arguments(asked.value.answers[0]))
    assert data.X.index.tolist() == [i for i in range(N) if i != 3]
    assert_any_says(data.notes, "Excluded", "'p'", "1 row", "row 4")
    assert data.read_as.scores[0].kind == "probability"
    with pytest.raises(ReadingQuestion):  # also if the column is stated to hold probabilities
        prepare_predictions(table, "y", scores_as="probabilities")


@pytest.mark.parametrize("off", [1.0000000000000002, float(np.float32(1.0000001)), -1e-17])
def test_values_off_by_rounding_are_clipped_and_counted(off):
    p = GOOD.copy()
    p[:2] = off
    data = prepare_predictions(pd.DataFrame({"y": Y.astype(int), "p": p}), "y")
    np.testing.assert_array_equal(data.X["p"], [round(off)] * 2 + list(p[2:]))
    assert_any_says(data.notes, "'p'", "2 values", "rounding", "clipped")


def test_a_single_column_of_logits_can_be_read_as_such():
    p = np.clip(GOOD, 0.01, 0.99)
    logits = np.log(p / (1 - p))
    table = pd.DataFrame({"y": Y.astype(int), "forest": GOOD, "svm": logits})
    (found,) = [p for p in scale_problems(prepare_predictions(table, "y")) if p.column == "svm"]
    assert (found.severity, found.column, found.action) == ("info", "svm", "These are logits")
    assert found.fix == {"data_params": {"scores_as": "logits"}}
    data = prepare_predictions(table, "y", scores_as="logits")
    np.testing.assert_array_equal(data.X["forest"], GOOD)  # a probability stays what it is
    np.testing.assert_allclose(data.X["svm"], p, atol=1e-12)
    assert_any_says(data.notes, "svm:", "logits", "sigmoid")
    assert [p.column for p in scale_problems(data) if p.column != "forest"] == []
    shift = RNG.normal(size=N)  # which the softmax takes off
    both = pd.DataFrame({"y": Y.astype(int), "logit_0": shift - logits, "logit_1": shift})
    data = prepare_predictions(both, "y", scores_as="logits")
    assert data.classes == ("0", "1")
    np.testing.assert_allclose(data.X["logit_1"], p, atol=1e-12)
    np.testing.assert_allclose(prepare_predictions(both, "y").X["logit_1"], p, atol=1e-12)  # by their names


ANIMALS = np.array(["cat", "dog", "fox"])
SHARES = RNG.dirichlet([1, 1, 1], N)
ANIMAL = ANIMALS[[RNG.choice(3, p=row) for row in SHARES]]
OF_ALL = pd.DataFrame({"label": ANIMAL, **{f"forest_{name}": SHARES[:, k] for k, name in enumerate(ANIMALS)}})
LOGITS = pd.DataFrame({f"net_{name}": np.log(SHARES[:, k]) + 4 for k, name in enumerate(ANIMALS)})


def test_a_column_for_each_of_three_classes_is_a_dataset_of_all_of_them():
    frame = pd.concat([OF_ALL, LOGITS], axis=1).assign(hospital=RNG.integers(0, 3, N), weight=1)
    assert looks_like_predictions(OF_ALL)
    data = prepare_predictions(frame, "label")
    assert data.joint
    assert data.predictions
    assert data.names == tuple(ANIMALS)
    np.testing.assert_array_equal(ANIMALS[data.labels], ANIMAL)
    assert data.columns == {
        model: tuple(f"{model}_{name}" for name in ANIMALS) for model in ("forest", "net")
    }
    assert data.scores == ["forest", "net"]
    assert list(data.X) == [*data.columns["forest"], *data.columns["net"]]
    np.testing.assert_array_equal(data.X[list(data.columns["forest"])], SHARES)
    np.testing.assert_allclose(data.X[list(data.columns["net"])], SHARES, atol=1e-12)
    rarest = min(ANIMALS[::-1], key=list(ANIMAL).count)
    assert data.classes == (f"not {rarest}", rarest)
    np.testing.assert_array_equal(data.y, rarest == ANIMAL)
    assert_says(data.notes[0], "3 classes", "together", "'cat'")
    assert "Not used as scores: hospital, weight." in data.notes
    assert ranking_problems(data) == scale_problems(data) == []


def test_one_class_against_the_rest_has_one_column_per_model():
    frame = pd.concat([OF_ALL, LOGITS], axis=1)
    data = prepare_predictions(frame, "label", "dog")
    assert (data.classes, data.labels, list(data.X)) == (("not dog", "dog"), None, ["forest_dog", "net_dog"])
    np.testing.assert_array_equal(data.X["forest_dog"], SHARES[:, 1])
    np.testing.assert_allclose(data.X["net_dog"], SHARES[:, 1], atol=1e-12)  # of all logits, not of one
    chosen = ["forest_cat", "forest_dog"]
    assert list(prepare_predictions(frame, "label", "dog", chosen).X) == chosen  # as a person says
    some = prepare_predictions(frame, "label", None, list(LOGITS))
    assert some.columns == {"net": tuple(LOGITS)}


def test_ten_columns_of_logits_are_one_model_and_not_ten():
    labels = RNG.permutation(600) % 10
    logits = RNG.normal(size=(600, 10)) + 2 * np.eye(10)[labels]
    frame = pd.DataFrame({"label": labels, **{f"logit_{k}": logits[:, k] for k in range(10)}})
    assert looks_like_predictions(frame)
    data = prepare_predictions(frame, "label")
    assert (data.scores, data.X.shape, len(data.names)) == (["predictions"], (600, 10), 10)
    np.testing.assert_allclose(data.X, softmax(logits, axis=1))
    assert any("so their softmax is used" in note for note in data.notes)
    assert [p.severity for p in validate(frame, "label", content="predictions")] == ["info"]


def test_rows_that_do_not_sum_to_one_are_an_error_with_a_button():
    frame = OF_ALL.assign(forest_cat=OF_ALL["forest_cat"] * np.where(np.arange(N) == 4, 0.25, 1))
    (error,) = [p for p in validate(frame, "label", content="predictions") if p.severity == "error"]
    assert_says(error.message, "'forest'", "not sum to 1", "1 of 200 rows", "row 5")
    assert [action for _, action in error.fixes] == ["Exclude these rows", "Divide each row by its sum"]
    data = prepare_predictions(frame, "label", wrong_scores="exclude")
    assert data.X.index.tolist() == [i for i in range(N) if i != 4]
    data = prepare_predictions(frame, "label", scores_as="shares")
    assert np.abs(data.X.sum(axis=1) - 1).max() < 1e-12
    assert list(prepare_predictions(frame, "label", "cat").X) == ["forest_cat"]  # which needs no sums


def test_rows_without_a_probability_or_a_label_are_left_out_of_all_classes():
    frame = OF_ALL.astype({"label": object})
    frame.loc[0, "label"], frame.loc[3, "forest_dog"], frame.loc[[3, 7], "forest_fox"] = None, np.nan, np.inf
    data = prepare_predictions(frame, "label")
    assert data.X.index.tolist() == [i for i in range(N) if i not in (0, 3, 7)]
    why = "Excluded because a probability of 'forest' is missing or infinite: 2 rows (rows 4, 8)."
    assert why in data.notes
    np.testing.assert_array_equal(data.unlabelled_scores, SHARES[:1])


def test_a_class_without_a_row_keeps_its_column():
    frame = OF_ALL.rename(columns={"forest_fox": "forest_wolf"}).assign(
        label=np.where(ANIMAL == "fox", "ant", ANIMAL), forest_ant=0.0
    )
    data = prepare_predictions(frame, "label")
    assert data.names == ("ant", "cat", "dog", "wolf")
    assert set(data.labels) == {0, 1, 2}
    few = next(p for p in validate(frame, "label", content="predictions") if "fewer than 30" in p.message)
    assert "'wolf' (0)" in few.message


def test_predictions_that_are_right_by_chance_are_named():
    turned = OF_ALL.rename(
        columns={f"forest_{a}": f"forest_{b}" for a, b in zip(ANIMALS, np.roll(ANIMALS, 1), strict=True)}
    )
    data = prepare_predictions(turned, "label")
    (found,) = ranking_problems(data)
    guess = np.roll(ANIMALS, 1)[SHARES.argmax(axis=1)]
    assert f"right in {percent((guess == ANIMAL).mean())} of the rows" in found.message
    counts = pd.Series(ANIMAL).value_counts(normalize=True)
    assert f"by chance ({percent(counts[guess].mean())})" in found.message
    assert any(found.message in note for note in data.notes)
    blind = OF_ALL.assign(label=RNG.permutation(ANIMAL))
    assert len(ranking_problems(prepare_predictions(blind, "label"))) == 1
    weighed = prepare_predictions(OF_ALL.assign(n=3), "label", roles={"weight": "n"}, weight_as="counts")
    assert ranking_problems(weighed) == []


def test_labels_of_several_classes_without_their_columns_are_one_against_the_rest():
    frame = OF_ALL[["label", "forest_dog"]].rename(columns={"forest_dog": "p_dog"})
    data = prepare_predictions(frame, "label")
    assert (data.labels, data.classes) == (None, ("not dog", "dog"))
    told = next(p for p in validate(frame, "label", content="predictions") if "3 classes" in p.message)
    assert "needs one column per class" in told.remedy
    assert told.fix is None
    chosen = validate(OF_ALL, "label", "dog", content="predictions")
    assert next(p for p in chosen if "3 classes" in p.message).fix == {"positive": None}


@pytest.mark.parametrize("column", ["confidence", "conf", "max_prob", "model A confidence"])
def test_a_confidence_beside_a_label_of_several_classes_is_refused_unless_a_class_is_chosen(column):
    """Read as the score of the rarest class it would only seem to rank the classes in reverse."""
    frame = pd.DataFrame({"label": list("aabbc") * 20, column: SHARES.max(axis=1)[:100]})
    with pytest.raises(DataError, match="the probability of the predicted class"):
        prepare_predictions(frame, "label")
    assert prepare_predictions(frame, "label", "c").classes == ("not c", "c")


@pytest.mark.parametrize(
    "truth", [("0", "1"), ("wrong", "right"), ("incorrect", "correct"), ("False", "True")]
)
def test_confidence_and_whether_it_was_right_are_a_table(truth):
    """Right is the positive class also where it is the more frequent one."""
    right = ANIMALS[SHARES.argmax(axis=1)] == ANIMAL
    frame = pd.DataFrame({"confidence": SHARES.max(axis=1), "correct": np.where(right, truth[1], truth[0])})
    assert looks_like_predictions(frame)
    assert guess_target(frame) == "correct"
    data = prepare_predictions(frame, "correct")
    assert data.classes == truth
    np.testing.assert_array_equal(data.y, right)


def test_a_thousand_classes_of_a_few_rows_are_read():
    labels = RNG.permutation(3000) % 1000
    values = RNG.dirichlet(np.full(1000, 0.01), 3000)
    frame = pd.concat(
        [pd.DataFrame(values, columns=[f"p_{k}" for k in range(1000)]), pd.Series(labels, name="label")],
        axis=1,
    )
    assert looks_like_predictions(frame)
    data = prepare_predictions(frame, "label")
    assert data.names == tuple(map(str, range(1000)))
    np.testing.assert_array_equal(data.labels, labels)
    np.testing.assert_array_equal(data.X, values)


def test_scores_that_say_nothing_leave_the_convention():
    frame = pd.DataFrame({"y": [0, 0, 1], "s": [0.5, 0.5, 0.5], "t": [-1.0, 2.0, 1.5]})
    assert prepare_predictions(frame, "y").classes == ("0", "1")


def test_more_classes_become_one_against_the_rest():
    frame = FRAME.assign(label=np.where(Y, "sick", np.where(RNG.random(N) < 0.5, "well", "better")))
    data = prepare_predictions(frame, "label", "sick")
    assert data.classes == ("not sick", "sick")
    np.testing.assert_array_equal(data.y, Y)


def test_rows_without_label_or_score_are_left_out_and_named():
    frame = FRAME.copy()
    frame.loc[0, "label"], frame.loc[3, "p_forest"], frame.loc[[3, 7], "margin"] = None, np.nan, np.inf
    data = prepare_predictions(frame, "label")
    assert data.X.index.tolist() == [i for i in range(N) if i not in (0, 3, 7)]
    left_out = [note for note in data.notes if says(note, "Excluded")]
    facts = ("label", "1 row", "row 1"), ("'p_forest'", "1 row", "row 4"), ("'margin'", "2 rows", "rows 4, 8")
    assert len(left_out) == 3
    for note, said in zip(left_out, facts, strict=True):
        assert_says(note, *said)


@pytest.mark.parametrize(
    ("change", "scores", "said"),
    [
        ({}, ["nothing"], "Score column 'nothing' was not found"),
        ({}, ["label"], "Score column 'label' was not found"),
        ({"word": ["a", "b"] * 100}, ["word"], "'word' contains values that are not numbers"),
        ({"p_forest": np.nan, "margin": "x"}, None, "The table has no score column"),
        ({"p_forest": np.nan}, ["p_forest"], "No row has both"),
        ({"label": "sick"}, None, "only the label"),
    ],
)
def test_what_cannot_be_used_is_refused(change, scores, said):
    with pytest.raises(DataError, match=said):
        prepare_predictions(FRAME.assign(**change), "label", scores=scores)


def test_a_score_that_is_the_same_for_all_is_one_where_there_is_no_other():
    frame = pd.DataFrame({"label": np.where(Y, "sick", "well"), "p": 0.5, "site": "north", "none": np.nan})
    assert prepare_predictions(frame, "label", "sick").X["p"].tolist() == [0.5] * N
    assert score_columns(frame.assign(other=np.linspace(0.1, 0.9, N)), "label") == ["other"]


def test_identifiers_and_words_are_no_scores():
    frame = FRAME.assign(id=RNG.permutation(N) * 3, row=np.arange(N), name=[f"n{i}" for i in range(N)])
    assert score_columns(frame, "label") == ["p_forest", "margin"]
    assert looks_like_predictions(frame)


@pytest.mark.parametrize(
    ("columns", "answer"),
    [
        ({"y": Y.astype(int), "p": GOOD}, True),
        ({"y": Y.astype(int), "nb": GOOD, "forest": GOOD**2}, True),
        ({"y": Y.astype(int), "score1": 4 * GOOD, "score2": 9 * GOOD}, True),
        ({"y": Y.astype(int), "y_prob": GOOD, "svm_margin": 9 * GOOD, "y_pred": GOOD > 0.5}, True),
        ({"y": Y.astype(int), "age": 40 + 9 * GOOD}, False),
        ({"y": Y.astype(int), "p": GOOD, "colour": RNG.choice(["r", "g", "b"], N)}, True),
        ({"y": Y.astype(int), "share": GOOD, "colour": RNG.choice(["r", "g", "b"], N)}, False),
        ({"y": Y.astype(int), "nb": GOOD, "forest": GOOD**2, "sample_weight": RNG.random(N)}, True),
        ({"y": Y.astype(int), "p": GOOD, "age": RNG.integers(18, 90, N)}, False),
        ({"y": Y.astype(int), **{f"x{i}": RNG.random(N) for i in range(8)}}, False),
        ({"y": Y.astype(int), "score": 0.3}, True),
        ({"y": Y.astype(int), "score": 0.3, "age": 40 + 9 * GOOD}, False),
        ({"y": Y.astype(int), "site": 3}, False),
        ({"y": Y.astype(int)}, False),
        ({"x": GOOD}, False),
    ],
)
def test_a_table_of_predictions_is_told_from_one_of_cases(columns, answer):
    assert looks_like_predictions(pd.DataFrame(columns)) is answer


BESIDE = pd.DataFrame(
    {
        "y_true": Y.astype(int),
        "model_a": GOOD,
        "model_b": GOOD**2,
        "sample_weight": RNG.random(N),
        "date": pd.date_range("2024-01-01", periods=N),
        "hospital": RNG.choice(["north", "south"], N),
    }
)


def test_weights_dates_and_groups_may_stand_beside_predictions_and_are_no_scores():
    assert looks_like_predictions(BESIDE)
    assert score_columns(BESIDE, "y_true") == ["model_a", "model_b"]
    data = prepare_predictions(BESIDE, "y_true")
    assert data.X.columns.tolist() == ["model_a", "model_b"]
    assert_any_says(data.notes, "Not", "scores", "sample_weight, date, hospital")


def test_predictions_among_features_are_noticed_not_taken():
    frame = BESIDE.assign(age=RNG.integers(18, 90, N), income=RNG.normal(3e4, 1e3, N))
    assert not looks_like_predictions(frame)
    assert scores_among_features(frame, "y_true") == ["model_a", "model_b"]
    assert (
        scores_among_features(frame.rename(columns={"model_a": "share", "model_b": "rate"}), "y_true") == []
    )


def test_columns_of_no_other_sign_are_scores_as_a_last_resort():
    assert score_columns(pd.DataFrame({"y": [0, 1, 1], "grade": [1, 4, 5]}), "y") == ["grade"]
    assert score_columns(
        pd.DataFrame({"y": [0, 1, 1], "svm": [-0.5, 1.5, 2.0], "nb": [0.1, 0.4, 0.9]}), "y"
    ) == [
        "svm",
        "nb",
    ]


def test_the_label_of_predictions_is_guessed():
    assert guess_target(FRAME) == "label"


@pytest.mark.soak
def test_a_million_predictions_arrive_whole():
    n = 1_000_000
    rng = np.random.default_rng(3)
    p, y = rng.random(n).round(6), rng.integers(0, 2, n)
    text = "target,p\n" + "\n".join(map("{},{}".format, y, p))
    data = prepare_predictions(read_table(text.encode(), "big.csv"), "target", 1)
    np.testing.assert_array_equal(data.X["p"], p)
    np.testing.assert_array_equal(data.y, y)


def _grouped(n=4_000):
    """(rows, their table of counts) of scores that rank well."""
    rng = np.random.default_rng(4)
    p = rng.beta(1.2, 1.5, n).round(2).clip(0.01, 0.99)
    rows = pd.DataFrame({"score": p, "y": (rng.random(n) < p).astype(int)})
    return rows, rows.groupby(["score", "y"], as_index=False).size()


@pytest.mark.parametrize("name", ["count", "how_many"])
def test_a_table_of_counts_without_its_counts_is_not_judged_by_its_ranks(name):
    rows, grouped = _grouped()
    grouped = grouped.rename(columns={"size": name})
    alone = prepare_predictions(grouped, "y", scores=["score"])
    (found,) = ranking_problems(alone)
    assert "as in a table of counts" in found.message
    assert "“Weight or count”" in found.remedy
    said = [
        *alone.notes,
        *(p.message for p in validate(grouped, "y", content="predictions", scores=["score"])),
    ]
    assert not any("chance" in text for text in said)
    counted = prepare_predictions(grouped, "y", scores=["score"], roles={"weight": name}, weight_as="counts")
    assert ranking_problems(counted) == ranking_problems(prepare_predictions(rows, "y")) == []


def test_scores_of_few_values_that_rank_nothing_are_still_named():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"score": rng.random(400).round(2), "y": rng.integers(0, 2, 400)})
    (found,) = ranking_problems(prepare_predictions(frame, "y"))
    assert "not rank the classes clearly better than chance" in found.message


def test_the_question_for_the_class_does_not_compare_all_pairs_of_thousands_of_labels(monkeypatch):
    asked = []
    monkeypatch.setattr(score_meaning, "conventional", lambda names: asked.append(names))
    table = pd.DataFrame({"y": [f"label {i}" for i in range(3_000)], "p": np.linspace(0.1, 0.9, 3_000)})
    with pytest.raises(ReadingQuestion):
        prepare_predictions(table, "y")
    assert len(asked) <= 3_000

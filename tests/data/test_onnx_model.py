"""A model that is there already: its graph's own numbers, and everything that is no plain graph refused."""

import sys

import numpy as np
import onnx
import pandas as pd
import pytest
from onnx import TensorProto, helper, numpy_helper
from scipy.special import expit
from skl2onnx import to_onnx
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from calib import Recipe, evaluate
from calib.__main__ import main
from calib.data import DataError
from calib.data.onnx_model import model_inputs, onnx_scores
from calib.sources import load, missing_files, with_onnx_model, with_test_file
from tests.saying import assert_says, says

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame({"a": RNG.normal(size=300), "b": RNG.normal(size=300)})
P = expit(0.5 * TABLE["a"] - TABLE["b"] + 0.25).to_numpy()
TABLE["y"] = (RNG.random(300) < P).astype(int)


def packed(nodes, inputs, outputs, weights=(), domains=(), functions=()):
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)]
    opsets += [helper.make_opsetid(domain, 1) for domain in domains]
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(weights))
    model = helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=9)
    return model


def logistic(form="column", kind=TensorProto.DOUBLE):
    """0.5 a − b + 0.25 through a sigmoid; two columns and ZipMap take 1 − p beside it."""
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    weights = [
        numpy_helper.from_array(np.array([[0.5], [-1.0]], dtype), "w"),
        numpy_helper.from_array(np.array([0.25], dtype), "c"),
        numpy_helper.from_array(np.array([1.0], dtype), "one"),
    ]
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["m"]),
        helper.make_node("Add", ["m", "c"], ["z"]),
        helper.make_node("Sigmoid", ["z"], ["p"]),
        helper.make_node("Sub", ["one", "p"], ["q"]),
        helper.make_node("Concat", ["q", "p"], ["both"], axis=1),
    ]
    out = helper.make_tensor_value_info(
        *{"column": ("p", kind, [None, 1])}.get(form, ("both", kind, [None, 2]))
    )
    if form == "zipmap":
        nodes.append(
            helper.make_node("ZipMap", ["both"], ["said"], domain="ai.onnx.ml", classlabels_int64s=[0, 1])
        )
        value = helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(kind, []))
        out = helper.make_value_info("said", helper.make_sequence_type_proto(value))
    return packed(nodes, [helper.make_tensor_value_info("x", kind, [None, 2])], [out], weights)


@pytest.mark.parametrize(
    ("form", "kind", "name"),
    [
        ("column", TensorProto.DOUBLE, "model_score"),
        ("both", TensorProto.DOUBLE, "p_1"),
        ("both", TensorProto.FLOAT, "p_1"),
        ("zipmap", TensorProto.FLOAT, "p_1"),  # as skl2onnx writes a classifier by itself
    ],
)
def test_the_probabilities_are_those_of_the_graph(form, kind, name):
    said = onnx_scores(logistic(form, kind).SerializeToString(), TABLE, "y")
    assert said.columns[-1] == name
    np.testing.assert_allclose(said[name], P, rtol=1e-12 if kind == TensorProto.DOUBLE else 1e-5)
    assert name not in TABLE.columns


def named(kinds):
    """A model with an input for each column, of which the numbers are added up."""
    inputs = [helper.make_tensor_value_info(name, kind, [None, 1]) for name, kind in kinds.items()]
    return packed(
        [helper.make_node("Add", ["a", "b"], ["z"]), helper.make_node("Sigmoid", ["z"], ["p"])],
        inputs,
        [helper.make_tensor_value_info("p", TensorProto.FLOAT, [None, 1])],
    ).SerializeToString()


def test_inputs_are_matched_by_name_and_all_that_does_not_fit_is_told():
    model = named({"b": TensorProto.FLOAT, "a": TensorProto.FLOAT})
    said = onnx_scores(model, TABLE[["y", "a", "b"]], "y")
    np.testing.assert_allclose(said["model_score"], expit(TABLE["a"] + TABLE["b"]), rtol=1e-5)
    wrong = TABLE.assign(a="word").drop(columns="b")
    with pytest.raises(DataError) as refused:
        onnx_scores(model, wrong, "y")
    assert "no column 'b'" in refused.value.message
    assert "'a' is not numeric" in refused.value.message
    with pytest.raises(DataError, match=r"\b2 input columns.*\b3 without the label"):
        onnx_scores(logistic().SerializeToString(), TABLE.assign(more=1.0), "y")


def foreign():
    x, p = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, 2]) for name in ("x", "p"))
    return packed([helper.make_node("Run", ["x"], ["p"], domain="com.evil")], [x], [p], domains=["com.evil"])


def foreign_within():
    """The same, in a branch of a graph."""
    run = helper.make_node("Run", ["x"], ["c"], domain="com.evil")
    branch = helper.make_graph([run], "b", [], [])
    model = logistic()
    model.graph.node.append(helper.make_node("If", ["x"], ["z2"], then_branch=branch, else_branch=branch))
    return model


def of_functions():
    opsets = [helper.make_opsetid("", 18)]
    same = helper.make_node("Identity", ["x"], ["y"])
    model = logistic()
    model.functions.append(helper.make_function("", "Mine", ["x"], ["y"], [same], opsets))
    return model


def elsewhere():
    model = logistic()
    onnx.external_data_helper.set_external_data(model.graph.initializer[0], "/etc/passwd")
    return model


def that_adds(total, weights, *nodes):
    """The sigmoid of 0.5 a − b and of what the nodes make, called ``total``."""
    nodes = [
        *nodes,
        helper.make_node("MatMul", ["x", "w"], ["m"]),
        helper.make_node("Add", ["m", total], ["z"]),
        helper.make_node("Sigmoid", ["z"], ["p"]),
    ]
    x, p = (
        helper.make_tensor_value_info(name, TensorProto.DOUBLE, [None, n]) for name, n in (("x", 2), ("p", 1))
    )
    weights = [numpy_helper.from_array(np.array(value), name) for name, value in weights.items()]
    return packed(nodes, [x], [p], [*weights, logistic().graph.initializer[0]]).SerializeToString()


def of_any_size(rows):
    """A graph of a few bytes that fills a table of so many rows, of ones, and adds their sum."""
    ones = helper.make_tensor("v", TensorProto.DOUBLE, [1], [1.0])
    return that_adds(
        "sum",
        {"rows": [rows]},
        helper.make_node("ConstantOfShape", ["rows"], ["large"], value=ones),
        helper.make_node("ReduceSum", ["large"], ["sum"], keepdims=0),
    )


def of_many_turns(turns):
    """A loop that hands on what it was given."""
    given = [("turn", TensorProto.INT64), ("go", TensorProto.BOOL), ("held", TensorProto.DOUBLE)]
    inner, outer = (
        [helper.make_tensor_value_info(name + end, kind, []) for name, kind in kinds]
        for end, kinds in (("", given), ("_on", given[1:]))
    )
    hand_on = [helper.make_node("Identity", [name], [f"{name}_on"]) for name in ("go", "held")]
    return that_adds(
        "end",
        {"turns": turns, "yes": True, "zero": 0.0},
        helper.make_node(
            "Loop", ["turns", "yes", "zero"], ["end"], body=helper.make_graph(hand_on, "b", inner, outer)
        ),
    )


def of_many_products(products):
    """A table of 500 × 500 without an input, multiplied with itself so many times, and the sum of its cells."""
    nothing = helper.make_tensor("v", TensorProto.DOUBLE, [1], [0.0])
    return that_adds(
        "sum",
        {"shape": [500, 500]},
        helper.make_node("ConstantOfShape", ["shape"], ["t0"], value=nothing),
        *(helper.make_node("MatMul", [f"t{i}", "t0"], [f"t{i + 1}"]) for i in range(products)),
        helper.make_node("ReduceSum", [f"t{products}"], ["sum"], keepdims=0),
    )


@pytest.mark.parametrize(("graph", "much"), [(of_many_turns, 2**62), (of_many_products, 2_000)])
def test_a_graph_that_computes_for_longer_than_a_bound_is_ended(monkeypatch, graph, much):
    np.testing.assert_allclose(
        onnx_scores(graph(3), TABLE, "y")["model_score"], expit(0.5 * TABLE["a"] - TABLE["b"]), rtol=1e-12
    )
    monkeypatch.setattr("calib.data.onnx_model.LONGEST_RUN", 1)
    with pytest.raises(DataError, match=r"exceeds a limit: .*1 seconds for 300 rows"):
        onnx_scores(graph(much), TABLE, "y")


@pytest.mark.parametrize("rows", [10**9, 10**15])
def test_a_graph_that_asks_for_more_memory_than_a_bound_is_refused(rows):
    assert len(onnx_scores(of_any_size(10), TABLE, "y")) == len(TABLE)
    with pytest.raises(DataError, match=r"fails on this table|exceeds a limit: 2\.1 GB"):
        onnx_scores(of_any_size(rows), TABLE, "y")


def test_a_broken_model_is_told_by_its_message_alone(capfd):
    with pytest.raises(DataError, match="ONNX model cannot be run"):
        onnx_scores(
            logistic("zipmap", TensorProto.FLOAT).SerializeToString().replace(b"ZipMap", b"Zi\xbfMap"[:6]),
            TABLE,
            "y",
        )
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (foreign().SerializeToString(), "operators of 'com.evil'"),
        (foreign_within().SerializeToString(), "operators of 'com.evil'"),
        (of_functions().SerializeToString(), "custom functions"),
        (elsewhere().SerializeToString(), "weights in another file"),
        (b"\x80\x04K\x01.", "ONNX model cannot be run"),
        (b"", "ONNX model cannot be run"),
    ],
)
def test_what_is_not_the_graph_alone_is_refused(content, words):
    with pytest.raises(DataError, match=words):
        onnx_scores(content, TABLE, "y")


def test_the_command_line_judges_the_model_as_it_is(tmp_path, capsys):
    data, model, recipe = tmp_path / "d.csv", tmp_path / "m.onnx", tmp_path / "r.json"
    TABLE.to_csv(data, index=False)
    model.write_bytes(logistic("zipmap", TensorProto.FLOAT).SerializeToString())
    recipe.write_text('{"target": "y", "calibrators": ["none", "platt"], "seed": 3}')
    command = ["evaluate", str(recipe), str(data), "--metrics", "brier,auc", "--format", "csv"]
    assert main([*command, "--onnx", str(model)]) == 0
    judged = capsys.readouterr().out
    TABLE[["y"]].assign(p_1=P).to_csv(data, index=False)
    recipe.write_text(
        '{"target": "y", "content": "predictions", "calibrators": ["none", "platt"], "seed": 3}'
    )
    assert main(command) == 0
    scored = capsys.readouterr().out

    def numbers(text):
        return [float(cell) for line in text.splitlines()[1:] for cell in line.split(",")[1:]]

    np.testing.assert_allclose(numbers(judged), numbers(scored), atol=1e-4)


def test_the_table_of_inputs_names_the_column_that_fits_or_what_does_not():
    model = named({"b": TensorProto.FLOAT, "a": TensorProto.FLOAT})
    found = model_inputs(model, TABLE.assign(a="word").drop(columns="b"), ["y"])
    assert not found.fit
    assert not found.by_position
    assert found.to_frame().to_numpy().tolist() == [
        ["b", "float", "–", "the table has no column 'b'"],
        ["a", "float", "a", "'a' is not numeric, but the model needs float"],
    ]
    whole = logistic().SerializeToString()
    found = model_inputs(whole, TABLE.assign(more=1.0), ["y"])
    assert found.by_position
    assert found.to_frame()["column"].tolist() == ["a", "b", "more"]
    assert says(found.to_frame()["fits"].iloc[2], "not use")
    assert found.to_frame()["fits"].tolist()[:2] == ["yes", "yes"]
    assert model_inputs(whole, TABLE.assign(more=1.0), ["y", "more"]).fit
    first, second = model_inputs(whole, TABLE, ["y", "b"]).to_frame()["fits"]
    assert first == "yes"
    assert_says(second, "no column")


def test_a_recipe_holds_the_model_and_needs_its_file_like_a_table():
    model = logistic("both").SerializeToString()
    recipe = Recipe(data="upload:00aa", file="old.csv", target="y", calibrators=("none", "platt"))
    recipe = recipe.replace(exclude=("more",), **with_onnx_model("upload:00bb", "credit.onnx"))
    assert Recipe.from_query(recipe.to_query()) == recipe
    assert missing_files(recipe, ["00aa"]) == {"00bb": "credit.onnx"}
    table = TABLE.assign(more=1.0)
    with pytest.raises(DataError, match="Upload credit.onnx again"):
        load(recipe, {"00aa": table})
    data = load(recipe, {"00aa": table, "00bb": model})
    assert (list(data.X), data.predictions) == (["p_1"], True)
    np.testing.assert_allclose(
        evaluate(recipe, data).predictions["none"].p, P[evaluate(recipe, data).rows], rtol=1e-12
    )
    there = TABLE.sample(80, random_state=1).reset_index(drop=True).assign(more=2.0)
    elsewhere = recipe.replace(**with_test_file("upload:00cc", "new.csv"))
    judged = evaluate(elsewhere, load(elsewhere, {"00aa": table, "00bb": model, "00cc": there}))
    at = expit(0.5 * there["a"] - there["b"] + 0.25)
    np.testing.assert_allclose(judged.predictions["none"].p, at, rtol=1e-12)
    # By name, though the model knows its columns by their order alone
    turned = there[["y", "b", "more", "a"]].assign(other="left out")
    data = load(elsewhere, {"00aa": table, "00bb": model, "00cc": turned})
    np.testing.assert_allclose(evaluate(elsewhere, data).predictions["none"].p, at, rtol=1e-12)
    assert any("other" in note for note in data.notes)
    with pytest.raises(DataError, match="not trained"):
        load(recipe.replace(content="features"), {"00aa": table, "00bb": model})
    for content, uploaded in ((b"no model", table), (model, TABLE.drop(columns="b"))):
        with pytest.raises(DataError, match=r"^credit\.onnx: .*(cannot be run|has 2 input columns)"):
            load(recipe.replace(exclude=()), {"00aa": uploaded, "00bb": content})


def test_without_the_packages_the_way_to_them_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(DataError, match=r"pip install \"calibration-explorer\[onnx\]\""):
        model_inputs(logistic().SerializeToString(), TABLE, ["y"])


def test_a_model_of_scikit_learn_says_what_it_said_there():
    """With names, words and whole numbers among its inputs, by skl2onnx."""
    rows = TABLE.assign(town=RNG.choice(["Ulm", "Kiel"], 300), n=RNG.integers(0, 9, 300))
    X = rows[["a", "town", "n"]].astype({"a": "float32"})
    columns = make_column_transformer((StandardScaler(), ["a", "n"]), (OneHotEncoder(), ["town"]))
    fitted = make_pipeline(columns, LogisticRegression()).fit(X, rows["y"])
    graph = to_onnx(fitted, X[:1], options={id(fitted): {"zipmap": False}}).SerializeToString()
    table = rows.assign(a=X["a"].astype(float))[["y", "n", "town", "b", "a"]]
    asked = model_inputs(graph, table, ["y"]).to_frame()
    assert asked[["input", "type"]].to_numpy().tolist() == [
        ["a", "float"],
        ["town", "string"],
        ["n", "int64"],
    ]
    said = onnx_scores(graph, table, "y")
    np.testing.assert_allclose(said["p_1"], fitted.predict_proba(X)[:, 1], atol=1e-6)

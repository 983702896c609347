"""A file of predictions that does not fit into memory is counted: the numbers are those of its single rows."""

import html
import io
import json
import re

import numpy as np
import pandas as pd
import pytest

from calib import Recipe, check, evaluate
from calib.__main__ import main
from calib.commands.on_file import on_file
from calib.data import large_file, read
from tests.saying import assert_says

RNG = np.random.default_rng(0)


def limit(monkeypatch) -> None:
    monkeypatch.setattr(read, "UPLOAD_LIMIT", 10_000)
    monkeypatch.setattr(large_file, "FIRST_BYTES", 5_000)


@pytest.fixture
def small_memory(monkeypatch):
    limit(monkeypatch)


@pytest.fixture
def rows() -> pd.DataFrame:
    p = np.round(RNG.beta(0.5, 2, 4_000), 3)
    return pd.DataFrame(
        {"label": (RNG.random(4_000) < p**1.3).astype(int), "p": p, "site": np.arange(4_000) % 7}
    )


def run(tmp_path, table, *options, name="p.csv", **recipe):
    given = {"content": "predictions", "target": "label", "calibrators": ["none", "platt"]} | recipe
    (tmp_path / "recipe.json").write_text(json.dumps(given), encoding="utf-8")
    table.to_csv(tmp_path / name, index=False)
    return main(["evaluate", str(tmp_path / "recipe.json"), str(tmp_path / name), *options])


def printed(capsys) -> tuple[pd.DataFrame, str]:
    out, said = capsys.readouterr()
    return pd.read_csv(io.StringIO(out), index_col=0), said


@pytest.mark.usefixtures("small_memory")
def test_the_numbers_are_those_of_the_single_rows(tmp_path, rows, capsys):
    assert run(tmp_path, rows, score="p") == 0
    said = capsys.readouterr().err
    single = check(rows["label"], rows["p"])
    recipe, data, _ = on_file(Recipe(content="predictions", target="label", score="p"), tmp_path / "p.csv")
    counted = evaluate(recipe, data).on_every_row()
    np.testing.assert_allclose(counted.metrics.loc["none"], single.metrics.loc["none"], rtol=1e-9)
    assert counted.verdict.finding == single.verdict.finding
    assert_says(said, "4,000 rows were grouped", "score and label")
    assert "on these 4,000 rows in" in said


def test_a_recipe_reads_the_counts_as_it_reads_a_table_of_counts(tmp_path, rows, capsys, monkeypatch):
    lines = rows.value_counts(["p", "label"]).rename("count").reset_index().sort_values(["p", "label"])
    assert run(tmp_path, lines, "--format", "csv", score="p", weight="count", weight_as="counts") == 0
    expected, _ = printed(capsys)
    limit(monkeypatch)
    assert run(tmp_path, rows, "--format", "csv", score="p") == 0
    pd.testing.assert_frame_equal(printed(capsys)[0], expected)


@pytest.mark.usefixtures("small_memory")
def test_classes_without_a_convention_are_asked_about_and_counted_in_rows(tmp_path, capsys):
    few = pd.DataFrame({"label": "good", "p": np.round(RNG.random(900), 3)})
    many = pd.DataFrame({"label": "late", "p": np.full(3_000, 0.25)})
    assert run(tmp_path, pd.concat([few, many]), score="p") == 2
    assert_says(
        capsys.readouterr().err, "'p' may be the probability", '"positive": "late"', '"positive": "good"'
    )
    assert run(tmp_path, pd.concat([few, many]), score="p", positive="good") == 0
    assert_says(capsys.readouterr().err, "'p' is read as the probability of 'good'", "900 rows")


@pytest.mark.usefixtures("small_memory")
def test_the_report_holds_the_recipe_that_was_given_and_its_numbers_of_rows(tmp_path, rows):
    report = tmp_path / "report.html"
    assert run(tmp_path, rows, "--html", str(report), "--csv", str(tmp_path / "out.csv"), score="p") == 0
    text = report.read_text(encoding="utf-8")
    assert_says(html.unescape(text), "4,000 rows were grouped", "score and label")
    own = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    described = json.loads(html.unescape(re.search(r"<pre>(.*?)</pre>", own, re.DOTALL)[1]))
    assert described["score"] == "p"
    assert described["weight"] is None  # the column of counts is not one of the file
    tested = pd.read_csv(tmp_path / "out.csv")["weight"].sum()
    assert abs(tested - 0.3 * 4_000) < 120  # four standard deviations of a binomial draw


@pytest.mark.usefixtures("small_memory")
@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ({"cluster": "site"}, "cluster is 'site', but p.csv is too large for memory"),
        ({"segment": ["site = 1"]}, "segment is .* is too large for memory"),
        ({"weight": "site"}, "weight: 'site' is not a count of rows"),
        ({"score": None}, "several score columns, p and q"),
        ({"score": "r"}, "score: column 'r' was not found"),
        ({"target": "labels"}, "target: column 'labels' was not found"),
        ({"data_params": {"drop_repeated": True}}, "drop_repeated"),
    ],
)
def test_what_needs_single_rows_is_refused_by_name(tmp_path, rows, capsys, recipe, words):
    rows = rows.assign(q=np.round(rows["p"] ** 2, 3))
    assert run(tmp_path, rows, **({"score": "p"} | recipe)) == 2
    assert re.search(words, capsys.readouterr().err)


@pytest.mark.usefixtures("small_memory")
def test_a_single_score_is_found_and_a_named_class_kept(tmp_path, rows, capsys):
    rows = rows.drop(columns="site").rename(columns={"p": "p_0"})
    assert run(tmp_path, rows, "--format", "csv") == 0
    found, said = printed(capsys)
    assert_says(said, "Positive class", "'0'", "named in 'p_0'")
    assert found.loc["auc", "none"] < 0.5  # because these are scores of class 1


def test_recipes_of_single_rows_are_unchanged(tmp_path, rows, capsys):
    assert run(tmp_path, rows, score="p", cluster="site") == 0
    assert "counted" not in capsys.readouterr().err


@pytest.fixture
def features() -> pd.DataFrame:
    X = RNG.normal(size=(4_000, 3))
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=RNG.choice(["u", "v"], len(X)))
    return frame.assign(label=(RNG.random(len(X)) < 1 / (1 + np.exp(-X[:, 0]))).astype(int))


@pytest.mark.usefixtures("small_memory")
def test_features_are_learned_from_in_part_and_evaluated_on_all_other_rows(tmp_path, features, capsys):
    given = {"content": "features", "model": "naive_bayes", "calibrators": ["none"]}
    assert run(tmp_path, features, "--learn-rows", "1500", "--format", "csv", **given) == 0
    found, said = printed(capsys)
    assert "learns from 1,500 of 4,000 rows" in said
    assert "on these 2,500 test rows" in said
    recipe = Recipe.from_json((tmp_path / "recipe.json").read_bytes()).replace(
        **{"data_params.learn_rows": 1_500}
    )
    recipe, data, _ = on_file(recipe, tmp_path / "p.csv")
    np.testing.assert_allclose(evaluate(recipe, data).metrics["brier"], found["none"]["brier"], rtol=1e-6)


@pytest.mark.usefixtures("small_memory")
def test_without_an_option_half_of_so_few_rows_are_learned_from(tmp_path, features, capsys):
    given = {"content": "features", "model": "naive_bayes", "placement": "cv"}
    assert run(tmp_path, features, **given) == 2
    assert_says(capsys.readouterr().err, "placement", "'cv'", "sample")
    assert run(tmp_path, features, **(given | {"placement": "split"})) == 0
    assert "learns from 2,000 of 4,000 rows" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["p.csv", "p.parquet"])
def test_very_many_predictions_are_counted_even_if_they_fit_into_memory(
    tmp_path, rows, capsys, monkeypatch, name
):
    table = pd.concat([rows] * 3, ignore_index=True)[["label", "p"]]
    table.to_parquet(tmp_path / name) if name.endswith("parquet") else table.to_csv(
        tmp_path / name, index=False
    )
    given = Recipe(content="predictions", target="label")
    lines = table.value_counts(["label", "p"])
    for most, kept in ((20_000, len(table)), (10_000, len(lines))):
        monkeypatch.setattr(large_file, "COUNTED_ROWS", most)
        recipe, data, _ = on_file(given, tmp_path / name)
        assert data.n == kept
    counted = evaluate(recipe, data).on_every_row()
    single = check(table["label"], table["p"])
    np.testing.assert_allclose(counted.metrics.loc["none"], single.metrics.loc["none"], rtol=1e-9)
    by_row = given.replace(segment=("p=0.5..",))
    assert on_file(by_row, tmp_path / name)[1].n == len(table)  # it needs single rows


def test_a_file_that_changes_while_it_is_read_is_refused_without_a_result(tmp_path, capsys, monkeypatch):
    """Else the Recipe would state the digest of other rows than those that it evaluates."""
    table = pd.DataFrame({"label": [0, 1] * 60, "p": np.tile([0.25, 0.75, 0.5], 40)})
    table.to_csv(tmp_path / "p.csv", index=False)
    (tmp_path / "recipe.json").write_text('{"content": "predictions", "target": "label"}', encoding="utf-8")
    command = ["evaluate", str(tmp_path / "recipe.json"), str(tmp_path / "p.csv")]

    def changing(path, *given, **asked):
        found = read.read_table(path, *given, **asked)
        table.iloc[:50].to_csv(path, index=False)
        return found

    monkeypatch.setattr("calib.commands.on_file.read_table", changing)
    assert main(command) != 0
    said = capsys.readouterr()
    assert_says(said.err, "p.csv changed", "Read it again")
    assert not said.out
    monkeypatch.undo()
    assert main(command) == 0

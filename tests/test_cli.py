"""``python -m calib evaluate``: the metric table, a report, the predictions; status 0 only when all is there."""

import dataclasses
import html
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from calib import Recipe, evaluate
from calib.__main__ import main
from calib.data import prepare, read_table
from calib.sources import digest, with_test_file
from tests.saying import assert_says

ROOT = Path(__file__).parents[1]
RECIPE = Recipe(model="naive_bayes", calibrators=("none", "platt", "venn_abers"), seed=3)
SECRET = "Ulm-on-the-Danube"


@pytest.fixture
def files(tmp_path):
    """A Recipe and a data file in a folder of their own."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2)).round(6)
    town = np.where(rng.random(300) < 0.5, SECRET, "Bonn")
    target = np.where(x[:, 0] + rng.normal(size=300) > 0, "yes", "no")
    pd.DataFrame({"x": x[:, 0], "z": x[:, 1], "town": town, "target": target}).to_csv(
        tmp_path / "data.csv", index=False
    )
    (tmp_path / "recipe.json").write_text(RECIPE.to_json(), encoding="utf-8")
    return tmp_path


def expected(folder, recipe=RECIPE):
    content = (folder / "data.csv").read_bytes()
    return evaluate(recipe, prepare(read_table(content, "data.csv"), "target", recipe.positive))


def run(folder, *more, recipe=None, data="data.csv"):
    if recipe is not None:
        (folder / "recipe.json").write_text(
            recipe if isinstance(recipe, str) else recipe.to_json(), encoding="utf-8"
        )
    return main(["evaluate", str(folder / "recipe.json"), str(folder / data), *map(str, more)])


WORDS = {"–": "nan", "∞": "inf", "−∞": "-inf"}


def printed_table(text: str) -> pd.DataFrame:
    """The metric table as ``Evaluation.metrics`` has it, out of its parts of at most 80 characters a line."""
    parts = []
    values = re.sub(r" \(clipped: [\d.]+\)", "", text)
    for block in values.strip("\n").split("\n\n"):
        header, *lines = block.splitlines()
        cells = {line.split()[0]: line.split()[1:] for line in lines}
        parts.append(pd.DataFrame(cells, index=header.split()).replace(WORDS).astype(float))
    return pd.concat(parts)


def test_it_prints_the_metric_table_of_evaluate(files, capsys):
    assert run(files) == 0
    table = printed_table(capsys.readouterr().out)
    pd.testing.assert_frame_equal(table, expected(files).metrics, check_names=False, atol=6e-5, rtol=1e-3)


def test_it_runs_as_a_program_of_its_own(files):
    done = subprocess.run(
        [sys.executable, "-m", "calib", "evaluate", str(files / "recipe.json"), str(files / "data.csv")],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert list(printed_table(done.stdout).index) == ["none", "platt", "venn_abers"]
    assert "error" not in done.stderr


def test_a_reader_who_leaves_early_sees_no_traceback():
    read_end, write_end = os.pipe()
    os.close(read_end)  # as `| head` does when it has seen enough
    done = subprocess.run(
        [sys.executable, "-m", "calib", "simulate"],
        cwd=ROOT,
        stdout=write_end,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(write_end)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("columns", ["20", "80", "400"])
def test_what_is_printed_depends_neither_on_the_terminal_nor_on_what_pandas_takes_the_session_for(
    files, capsys, monkeypatch, columns
):
    recipe = RECIPE.replace(calibrators=("none", "platt", "isotonic", "beta", "venn_abers"))
    assert run(files, recipe=recipe) == 0
    printed = capsys.readouterr().out
    monkeypatch.setenv("COLUMNS", columns)
    # As AppTest leaves one: without __file__
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    assert run(files, recipe=recipe) == 0
    assert capsys.readouterr().out == printed
    assert max(map(len, printed.splitlines())) <= 80
    table = printed_table(printed)
    assert list(table.index) == list(recipe.calibrators)
    assert list(table.columns) == list(expected(files).metrics.columns)


def test_a_table_of_many_calibrators_goes_on_below(files, capsys):
    recipe = RECIPE.replace(
        calibrators=("none", "platt", "isotonic", "beta", "temperature", "venn", "venn_abers", "ppa")
    )
    assert run(files, recipe=recipe) == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    metrics = expected(files, recipe).metrics
    assert len(printed.split("\n\n")) == 2
    pd.testing.assert_frame_equal(printed_table(printed), metrics, check_names=False, atol=6e-5, rtol=1e-3)


def test_fitting_the_model_for_every_row_says_its_price_before_it_begins(files, capsys):
    lines = (files / "data.csv").read_text(encoding="utf-8").splitlines()[:41]
    (files / "data.csv").write_text("\n".join(lines), encoding="utf-8")
    assert run(files, recipe=RECIPE.replace(placement="full", calibrators=("venn_abers",))) == 0
    assert re.search(
        r"note: placement='full' needs \d+ model fits, about \d+ seconds?\.", capsys.readouterr().err
    )
    run(files, recipe=RECIPE)
    assert "model fits" not in capsys.readouterr().err


@pytest.mark.parametrize("command", ["evaluate", "audit"])
@pytest.mark.parametrize(("expected", "said"), [(200.0, "3 minutes"), (5.0, None)])
def test_a_long_fit_of_many_rows_says_its_time_before_it_begins(
    files, capsys, monkeypatch, command, expected, said
):
    begun = []
    monkeypatch.setattr("calib.commands.evaluate.FEWEST_ESTIMATED", 100)
    monkeypatch.setattr("calib.commands.evaluate.expected_seconds", lambda recipe, data, short: expected)
    monkeypatch.setattr(
        "calib.commands.evaluate.evaluate",
        lambda *args: begun.append(capsys.readouterr().err) or evaluate(*args),
    )
    assert main([command, str(files / "recipe.json"), str(files / "data.csv")]) == 0
    notes = [line for line in begun[0].splitlines() if "takes about" in line]
    assert notes == ([f"note: Fitting 300 rows takes about {said}."] if said else [])


def test_other_forms_hold_the_same_numbers_and_all_their_digits(files, capsys):
    metrics = expected(files).metrics
    assert run(files, "--format", "csv") == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out), index_col=0)
    pd.testing.assert_frame_equal(table.T, metrics, check_names=False, check_exact=True)
    assert run(files, "--format", "json") == 0
    values = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert values["brier"] == metrics["brier"].to_dict()
    assert values["width"]["none"] is None
    assert run(files, "--format", "markdown") == 0
    header, rule, *lines = capsys.readouterr().out.splitlines()
    assert header == "| metric | none | platt | venn_abers |"
    assert rule == "| --- | --: | --: | --: |"
    assert [line.split(" | ")[0].removeprefix("| ") for line in lines] == list(metrics.columns)


def test_metrics_out_of_the_everyday_table_are_asked_for_by_key(files, capsys):
    assert run(files, "--metrics", "within,brier") == 0
    table = printed_table(capsys.readouterr().out)
    assert list(table.columns) == ["within", "brier"]
    assert run(files, "--metrics", "brier,charm") == 2
    assert "--metrics must be one of" in capsys.readouterr().err


def test_the_csv_holds_the_predictions_of_evaluate(files):
    assert run(files, "--csv", files / "out.csv") == 0
    table = pd.read_csv(files / "out.csv", encoding="utf-8-sig")
    evaluation = expected(files)
    np.testing.assert_array_equal(table["row"], evaluation.rows + 1)
    np.testing.assert_array_equal(table["y"], evaluation.y)
    for key, predictions in evaluation.predictions.items():
        np.testing.assert_array_equal(table[key], predictions.p)
    np.testing.assert_array_equal(table["venn_abers_lower"], evaluation.predictions["venn_abers"].lower)


def test_the_report_stands_alone_holds_the_recipe_and_no_row_of_the_data(files):
    assert run(files, "--html", files / "out.html") == 0
    page = (files / "out.html").read_text(encoding="utf-8")
    own = re.sub(r"<script>.*?</script>", "", page, count=1, flags=re.DOTALL)  # without Plotly's own source
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", own)
    assert "<link" not in own
    assert "Plotly.newPlot" in own
    described = json.loads(html.unescape(re.search(r"<pre>(.*?)</pre>", own, re.DOTALL)[1]))
    content = (files / "data.csv").read_bytes()
    assert Recipe(**described) == RECIPE.replace(data=f"upload:{digest(content)}", target="target")
    for value in (SECRET, "Bonn", *read_table(content, "data.csv")["x"].astype(str)[:50]):
        assert value not in own


def test_the_report_shows_the_numbers_of_evaluate(files):
    assert run(files, "--html", files / "out.html") == 0
    rows = re.findall(r"<tr.*?</tr>", (files / "out.html").read_text(encoding="utf-8"), re.DOTALL)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]
    with_intervals, shown = (row[1:] for row in cells if row[:1] == ["Brier score"])
    brier = expected(files).metrics["brier"]
    assert [text.split()[0] for text in with_intervals] == [f"{value:.2f}" for value in brier]
    np.testing.assert_allclose([float(text.removesuffix(" ★")) for text in shown], brier, rtol=5e-3)
    assert [text.endswith("★") for text in shown] == list(brier == brier.min())


def test_it_is_judged_on_the_rows_of_another_file(files, capsys):
    table = read_table((files / "data.csv").read_bytes(), "data.csv")
    table[["target", "z", "x", "town"]].iloc[:80].to_csv(files / "new.csv", index=False)
    assert (
        run(files, "--test-data", files / "new.csv", "--csv", files / "p.csv", "--html", files / "out.html")
        == 0
    )
    said = pd.read_csv(files / "p.csv", encoding="utf-8-sig")
    assert said["row"].tolist() == list(range(301, 381))
    np.testing.assert_array_equal(said["y"], table["target"][:80] == "yes")
    report = (files / "out.html").read_text(encoding="utf-8")
    assert "evaluated on new" in report
    assert "for file in (&#39;data.csv&#39;, &#39;new.csv&#39;):" in report
    capsys.readouterr()
    table.drop(columns=["town", "z"]).to_csv(files / "new.csv", index=False)
    assert run(files, "--test-data", files / "new.csv") == 2
    assert_says(capsys.readouterr().err, "new.csv", "not match", "data.csv", "no column 'z', 'town'")


def test_a_stated_base_rate_holds_for_the_file_that_is_named(files, capsys):
    """Against the definition: the Brier score of each class, weighted by the stated rate."""
    rate = 0.01
    recipe = RECIPE.replace(base_rate=rate, calibrators=("none",))
    assert run(files, recipe=recipe) == 0
    printed = printed_table(capsys.readouterr().out)
    plain, moved = (expected(files, one) for one in (recipe.replace(base_rate=None), recipe))
    q, y = moved.predictions["none"].p, plain.y
    brier = rate * ((1 - q[y == 1]) ** 2).mean() + (1 - rate) * (q[y == 0] ** 2).mean()
    assert printed.loc["none", "brier"] == pytest.approx(brier, abs=6e-5)
    assert printed.loc["none", "brier"] < 0.02 < plain.metrics.loc["none", "brier"]


def test_all_that_a_recipe_states_is_kept_for_the_file_that_is_named(files):
    table = read_table((files / "data.csv").read_bytes(), "data.csv")
    more = table.assign(w=1 + table.index % 3, day=table.index, who=table.index // 4, id_code=table.index)
    more.rename(columns={"target": "label"}).to_csv(files / "more.csv", index=False)
    recipe = RECIPE.replace(
        **{"data": "upload:00ff", "file": "old.csv", "target": "label", "positive": "no", "base_rate": 0.2},
        **{
            "exclude": ("town",),
            "keep": ("id_code",),
            "weight": "w",
            "weight_as": "counts",
            "time": "day",
            "cluster": "who",
        },
        **{"split": "time", "data_params": {"gap": 3.0, "header": 1}, "evaluation": "folds", "folds": 3},
        **{"params": {"var_smoothing": 1e-6}, "options": {"platt.on": "score"}, "merge": "square", "bins": 9},
        **{"settings": {"decide.cost_miss": 9}},
    )
    assert run(files, "--html", files / "out.html", recipe=recipe, data="more.csv") == 0
    page = (files / "out.html").read_text(encoding="utf-8")
    used = Recipe(**json.loads(html.unescape(re.search(r"<pre>(.*?)</pre>", page, re.DOTALL)[1])))
    key = digest((files / "more.csv").read_bytes())
    assert used == dataclasses.replace(recipe, data=f"upload:{key}", file="more.csv")


def test_what_a_file_named_takes_the_place_of_is_told(files, capsys):
    made = RECIPE.replace(data="synthetic:gaussian", data_params={"n": 500})
    assert run(files, recipe=made) == 0
    assert_says(capsys.readouterr().err, "note: data_params.n in the Recipe (500)", "not used")
    assert run(files, recipe=RECIPE) == 0
    assert "is not used" not in capsys.readouterr().err
    table = read_table((files / "data.csv").read_bytes(), "data.csv").assign(day=range(300))
    table.to_csv(files / "days.csv", index=False)
    table.iloc[:80].to_csv(files / "new.csv", index=False)
    in_time = RECIPE.replace(time="day", split="time", evaluation="folds", data_params={"gap": 2.0})
    assert run(files, "--test-data", files / "new.csv", recipe=in_time, data="days.csv") == 0
    said = capsys.readouterr().err
    for words in (
        'split in the Recipe ("time")',
        'evaluation in the Recipe ("folds")',
        "data_params.gap in the Recipe (2.0)",
    ):
        assert f"note: {words} is not used" in said
    assert "time in the Recipe" not in said


def test_a_further_file_that_the_recipe_needs_is_asked_for(files, capsys):
    judged = RECIPE.replace(**with_test_file("upload:00ff", "new.csv"))
    assert run(files, recipe=judged) == 2
    assert_says(capsys.readouterr().err, "needs new.csv", "--test-data")


def test_what_would_have_no_effect_is_refused_by_name(files, capsys):
    for text, words in {
        '{"settings": {"decide.cost_mis": 9}}': "'decide.cost_mis' is not a known setting",
        '{"settings": {"decide.cost_miss": "nine"}}': "decide.cost_miss must be a number",
        '{"base_rate": 0.1, "base_rate": 0.2}': "'base_rate' is given twice",
        '{"target": ["target"]}': "target must be a non-empty string",
        '{"cluster": "nobody"}': "cluster",
        '{"options": {"venn.bins": 5}}': "'venn.bins' belongs to 'venn'",
        '{"data_params": {"gap": 5}}': "data_params.gap is an option of split='time'",
    }.items():
        assert run(files, recipe=text) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert words in line


def test_it_says_which_class_is_taken_and_how_to_take_another(files, capsys):
    """Without a choice it is the conventional one; without a convention the rarer one of all rows of both files."""
    table = read_table((files / "data.csv").read_bytes(), "data.csv")
    rare, often = table["target"].value_counts().index[::-1]
    another = "To choose another", '"positive": "no"'
    assert run(files) == 0
    rows = (table["target"] == "yes").sum()
    assert_says(capsys.readouterr().err, "Positive class: 'yes', by convention", f"{rows} rows", *another)
    table["target"] = table["target"].map({rare: (rare := "red"), often: (often := "green")})
    table.to_csv(files / "data.csv", index=False)
    assert run(files) == 0
    counts = table["target"].value_counts()
    facts = "Positive class", f"{rare!r}", "minority class", f"{counts[rare]} rows"
    assert_says(capsys.readouterr().err, *facts, "To choose another", f'"positive": "{often}"')
    many = pd.concat([table[table["target"] == rare]] * 9 + [table[table["target"] == often].iloc[:20]])
    many.to_csv(files / "new.csv", index=False)
    assert run(files, "--test-data", files / "new.csv") == 0
    facts = "Positive class", f"{often!r}", "both files together", f"{counts[often] + 20} rows"
    assert_says(capsys.readouterr().err, *facts, f'"positive": "{rare}"')
    assert run(files, "--test-data", files / "new.csv", recipe=RECIPE.replace(positive=rare)) == 0
    said = capsys.readouterr().err
    assert f"Positive class: {rare!r}, as chosen" in said
    assert "To choose another" not in said
    three = table.assign(target=np.where(table.index % 5, table["target"], "third"))
    three.to_csv(files / "three.csv", index=False)
    assert run(files, recipe=RECIPE, data="three.csv") == 0
    said = capsys.readouterr().err
    assert_says(said, "3 classes", "together", "one class", '"positive": "LABEL"')
    assert run(files, recipe=RECIPE.replace(positive="third"), data="three.csv") == 0
    assert "note: Positive class: 'third', as chosen" in capsys.readouterr().err


def test_a_calibrator_without_a_result_is_an_error_and_the_others_are_printed(files, capsys):
    assert run(files, recipe=RECIPE.replace(model="svm", calibrators=("platt", "beta"))) == 1
    said = capsys.readouterr()
    assert list(printed_table(said.out).index) == ["platt"]
    assert "error: beta" in said.err
    assert "probabilit" in said.err


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ("", "not valid JSON"),
        ("[1]", "JSON object"),
        ('{"modle": "svm"}', "modle"),
        ('{"model": "oracle"}', "model.*random_forest"),
        ('{"bins": 1}', "bins.*2 to 100"),
        ('{"calibrators": []}', "calibrators"),
        ('{"target": "elsewhere"}', "elsewhere"),
        ('{"positive": "perhaps"}', "perhaps"),
        ('{"exclude": ["nothing"]}', "nothing"),
        ('{"exclude": ["x", "z", "town"]}', "No usable feature"),
        ('{"model": "nearest_neighbours", "params": {"n_neighbors": 500}}', "neighbors"),
        ('{"placement": "oob", "model": "naive_bayes"}', "bag"),
    ],
)
def test_a_recipe_that_cannot_be_followed_is_an_error(files, capsys, recipe, words):
    assert run(files, recipe=recipe) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert re.search(f"(?m)^error: .*{words}", said.err)
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("missing.csv", None, "missing.csv.*No such file"),
        ("empty.csv", b"", "empty"),
        ("table.pkl", b"\x80\x04\x95" + bytes(40), "pickle"),
        ("one.csv", b"x,target\n1,a\n2,a\n3,a\n", "class"),
        ("few.csv", b"x,target\n1,a\n2,b\n3,a\n", "row"),
        ("none.csv", b"x,z\n" + b"".join(b"%d.5,%d.25\n" % (i, i * i) for i in range(60)), "target.*x, z"),
    ],
)
def test_data_that_cannot_be_used_are_an_error(files, capsys, name, content, words):
    if content is not None:
        (files / name).write_bytes(content)
    assert run(files, data=name) == 2
    said = capsys.readouterr()
    assert re.search(f"(?m)^error: .*{words}", said.err)
    assert said.out == ""


def test_a_recipe_that_is_not_there_is_an_error(files, capsys):
    (files / "recipe.json").unlink()
    assert run(files) == 2
    assert re.search("^error: .*recipe.json cannot be read", capsys.readouterr().err)


def test_a_data_file_alone_is_told_what_recipe_it_needs_which_then_works(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    p = rng.random(400).round(6)
    pd.DataFrame({"p": p, "y": (rng.random(400) < p).astype(int)}).to_csv("scores.csv", index=False)
    assert main(["evaluate", "scores.csv"]) == 2
    said = capsys.readouterr().err
    Path("recipe.json").write_text(re.search(r"write (\{.*\}) to recipe.json", said)[1], encoding="utf-8")
    assert main(said.partition("python -m calib ")[2].split()) == 0


def test_a_place_that_cannot_be_written_to_is_said_before_the_work(files, capsys, monkeypatch):
    monkeypatch.setattr("calib.commands.evaluate.evaluate", None)
    assert run(files, "--html", files / "nowhere" / "out.html") == 2
    assert "no folder" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--csv", "--html", "--pdf"])
def test_a_folder_in_the_file_s_place_is_said_before_the_work(files, capsys, monkeypatch, option):
    monkeypatch.setattr("calib.commands.evaluate.evaluate", None)
    assert run(files, option, files) == 2
    assert re.search("^error: .* is a folder. Add the name of a file", capsys.readouterr().err)


def test_no_metrics_are_not_all_of_them(files, capsys):
    assert run(files, "--metrics", "") == 2
    assert "--metrics must be one of 'accuracy'" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["evaluate"], ["dance"], ["evaluate", "a", "b", "--docx", "c"]])
def test_wrong_arguments_end_with_the_usage(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage: python -m calib" in capsys.readouterr().err


def test_predictions_made_elsewhere_and_other_formats_are_taken_too(files, capsys):
    rng = np.random.default_rng(1)
    p = rng.random(200).round(4)
    label = np.where(rng.random(200) < p, "yes", "no")
    pd.DataFrame({"verdict": label, "p_model": p}).to_csv(files / "scores.tsv.gz", sep="\t", index=False)
    recipe = Recipe(content="predictions", target="verdict", positive="yes", calibrators=("none", "isotonic"))
    assert run(files, "--csv", files / "out.csv", recipe=recipe, data="scores.tsv.gz") == 0
    table = pd.read_csv(files / "out.csv", encoding="utf-8")
    assert (
        (files / "out.csv").read_text(encoding="utf-8").startswith("row,")
    )  # for programs: no byte-order mark
    np.testing.assert_array_equal(table["none"], p[table["row"] - 1])


def test_a_label_that_is_guessed_is_named(files, capsys):
    table = pd.read_csv(files / "data.csv").rename(columns={"target": "outcome"})
    table.to_csv(files / "other.csv", index=False)
    assert run(files, data="other.csv") == 0
    assert_says(capsys.readouterr().err, "not name the label column", "'outcome'")


def test_the_same_command_gives_the_same_files(files):
    for name in ("one", "two"):
        assert run(files, "--csv", files / f"{name}.csv") == 0
    assert (files / "one.csv").read_bytes() == (files / "two.csv").read_bytes()


def test_a_label_in_doubt_is_asked_for_with_the_candidates(tmp_path, capsys):
    (tmp_path / "recipe.json").write_text(RECIPE.to_json(), encoding="utf-8")
    rows = "".join(f"{i},{i % 2},{(i // 2) % 2},{i % 3}\n" for i in range(60))
    (tmp_path / "colic.csv").write_text("pulse,lesion,surgery,outcome\n" + rows)
    assert run(tmp_path, data="colic.csv") == 2
    assert "to one of outcome, lesion, surgery" in capsys.readouterr().err


def test_warnings_and_the_way_of_reading_are_those_of_the_page(tmp_path, capsys):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    table = pd.DataFrame({"x": rng.normal(size=200), "after": y + rng.normal(0, 0.01, 200), "target": y})
    (tmp_path / "t.csv").write_text("All of 2020\n" + table.to_csv(index=False))
    recipe = RECIPE.replace(data_params={"header": 2})
    assert run(tmp_path, recipe=recipe, data="t.csv") == 0
    said = capsys.readouterr().err
    assert_says(said, "warning: after", "AUC 1.00")
    assert "note: The header is in line 2" in said
    backwards = pd.DataFrame({"target": y, "model": np.clip(0.6 - 0.3 * y + rng.normal(0, 0.2, 200), 0, 1)})
    backwards.to_csv(tmp_path / "p.csv", index=False)
    assert run(tmp_path, recipe=RECIPE.replace(content="predictions"), data="p.csv") == 2
    said = capsys.readouterr().err
    assert said.count("ranks the classes in reverse: AUC 0.") == 1
    stated = RECIPE.replace(content="predictions", positive="1")
    assert run(tmp_path, recipe=stated, data="p.csv") == 0
    said = capsys.readouterr().err
    assert said.count("rank the classes in reverse: AUC 0.") == 1
    assert run(tmp_path, recipe=RECIPE, data="p.csv") == 0
    assert 'In the Recipe: "content": "predictions".\n' in capsys.readouterr().err

"""The report and the ZIP: everything is in them, nothing is loaded from elsewhere, and the data are not there."""

import csv
import html
import inspect
import io
import json
import re
import zipfile
from datetime import date

import numpy as np
import pandas as pd
import pytest

from calib import Evaluation, Recipe, evaluate, load_sample
from calib.analysis.audit.of_evaluation import audit_sentences as audit_sentences
from calib.analysis.audit.of_evaluation import audited
from calib.analysis.centres import centres
from calib.analysis.optimism import leave_out_recipe, validate_recipe
from calib.analysis.recommendation.advice import recommend
from calib.analysis.split_optimism import random_recipe, split_optimism
from calib.analysis.subgroups import group_rows, judge_groups
from calib.analysis.validation import limits, rows_needed
from calib.data import SAMPLES, read_table, sample_table
from calib.export import bundle, python_source, read_calibrator, read_recipes, report_html, safe_csv
from calib.export import chromium as chromium_module
from calib.export.bundle import _folders
from calib.export.charts import charts
from calib.figures import FIGURES, formatted_metrics
from calib.kernel.progress import Watch
from calib.kernel.records import Problem
from calib.kernel.wording import number, percent, two_decimals, with_interval
from calib.metrics.confidence_intervals import confidence_interval
from calib.sources import data_problems, digest, load
from calib.splits import SPLITS
from tests.evaluated import evaluated
from tests.saying import assert_any_says, assert_says
from tests.sweep import sweep

PLOTLY = re.compile(r"<script>/\*\*.*?</script>", re.S)


@pytest.fixture(scope="module")
def report(evaluations):
    return report_html(evaluations).decode()


@pytest.fixture(scope="module")
def alone(evaluations):
    """The report of one evaluation."""
    return report_html(evaluations["Naive Bayes"]).decode()


def own(report: str) -> str:
    """The report without Plotly's own script."""
    text, replaced = PLOTLY.subn("", report, count=1)
    assert replaced == 1
    return text


def test_the_report_loads_nothing_from_anywhere(report):
    text = own(report)
    assert not re.search(r"""(src|href)\s*=\s*["']?(?!#)""", text.replace('href="#', "#"))
    assert not re.search(r"url\(|@import|<link|<iframe|https?://(?!www\.w3\.org)", text)


def test_every_chart_can_be_zoomed_scrolled_past_and_sent_nowhere(report):
    """A drag does nothing until a tool is chosen, so that a finger scrolls; Plotly's own button would upload it."""
    text = own(report)
    assert '"fixedrange":true' not in text
    charts = text.count("Plotly.newPlot")
    for words in ('"showSendToCloud": false', '"showAxisDragHandles": false', '"doubleClick": "reset"'):
        assert text.count(words) == charts
    assert text.count('"dragmode":false') == charts


def test_the_report_has_charts_tables_recipes_versions_and_digest(report, evaluations, reported):
    text = own(report)
    count = sum(map(len, reported.values()))
    assert text.count('role="img"') == count + 2  # and two metrics side by side
    assert count >= 2 * 9
    for name, evaluation in evaluations.items():
        assert evaluation.dataset.digest in text
        assert name.replace("<", "&lt;").replace(">", "&gt;") in text
        for label, value in formatted_metrics(evaluation).T["Platt scaling"].items():
            assert re.search(
                rf"<th>{re.escape(label)}</th>(\s*<td>[^<]*</td>)*\s*<td>{re.escape(value)}</td>", text
            )
    assert "<i>cross</i>" not in text
    for package in ("calib 0", "numpy", "scikit-learn", "plotly", "Python 3"):
        assert package in text
    assert '"model": "naive_bayes"' in html.unescape(text)


def test_every_chart_of_a_report_says_what_it_shows(report, reported):
    text = html.unescape(own(report))
    for chart in reported["Naive Bayes"] + reported["Tree, <i>cross</i>"]:
        assert all(words in text for words in (chart.record.title, chart.record.caption, chart.record.alt))


def test_the_report_begins_with_the_recommendation(report, evaluations):
    text = html.unescape(own(report))
    for evaluation in evaluations.values():
        advice = recommend(evaluation)
        (at,) = [
            found.start() for found in re.finditer(re.escape(f'<p class="answer">{advice.answer}</p>'), text)
        ][:1]
        assert at < text.index(charts(evaluation, leading=True)[0].record.title)
        assert all(words in text for words in (*advice.reasons, *advice.warnings))


def test_curves_that_cover_each_other_are_those_of_two_methods(evaluations):
    """The uncalibrated model and the method recommended; a chart by itself has all of them."""
    evaluation = evaluations["Naive Bayes"]
    two = set(FIGURES["reliability"].prepare(evaluation).leading)
    assert len(two) == 2 < len(evaluation.predictions)
    assert {"none", recommend(evaluation).choice} <= two
    for chart in charts(evaluation, leading=True):
        if FIGURES[chart.key].overlaid:
            frame = chart.record.to_frame()
            shown = (
                set(frame["calibrator"]) if "calibrator" in frame else {*frame} & {*evaluation.predictions}
            )
            assert shown == two, chart.key
    everything = {chart.key: chart.record.to_frame() for chart in charts(evaluation)}
    assert set(everything["reliability"]["calibrator"]) == set(evaluation.predictions)
    assert set(evaluation.predictions) <= set(everything["net_benefit"])


def test_the_first_page_has_title_purpose_author_date_data_and_model(evaluations, alone, report):
    evaluation = evaluations["Naive Bayes"]
    given = {"report.title": "Loans, <b>spring</b>", "report.purpose": "Set a rate", "report.author": "A. Bo"}
    asked = evaluation.with_view(evaluation.recipe.replace(**given))
    text = own(report_html(asked).decode())
    head = html.unescape(re.sub(r"<[^>]*>", " ", text.partition("<header>")[2].partition("</header>")[0]))
    for words in (*given.values(), date.today().strftime("%B %Y"), SAMPLES["loans"].label, "Naive Bayes"):
        assert words in head
    assert "<b>spring" not in text
    events = f"{evaluation.dataset.y.sum()} of 3,000 rows"
    tested = f"{evaluation.y.sum()} of {evaluation.size} test rows ({100 * evaluation.y.mean():.3g} %)"
    assert f"{events} ({100 * evaluation.dataset.y.mean():.3g} %); {tested}" in " ".join(head.split())
    positive, negative = evaluation.dataset.classes[::-1]
    assert_says(head, f"'{positive}' (event)", f"'{negative}' (no event)")
    bare = own(alone).partition("</header>")[0]
    for word, said in (
        ("Purpose", "Not given"),
        ("Author", "Not given"),
        ("Program", "Calibration Explorer 0"),
    ):
        assert re.search(rf"<dt>{word}</dt>\s*<dd>{said}", bare)
    (_, (name, evaluation)) = evaluations.items()  # without a title the models and data are named
    assert "These settings" not in report_html({name: evaluation}).decode()
    headings = re.findall("<h1>(.*?)</h1>", own(report))
    assert_any_says(headings, "naive Bayes", "decision tree", SAMPLES["loans"].label)


def test_data_warnings_are_in_the_report_with_their_columns(evaluations, alone):
    evaluation = evaluations["Naive Bayes"]
    found = [
        Problem("warning", "a", "Too good.", "Leave it out."),
        Problem("warning", "b", "Too good.", "Leave it out."),
        Problem("info", "c", "A few gaps.", "Nothing to do."),
        Problem("info", "p", "Predictions.", "Use as features.", {"content": "features"}),
    ]
    name = evaluation.dataset.name
    said = sections(report_html(evaluation, problems={name: found}).decode())["Data and flow of rows"]
    assert_says(said, "a and b: Too good", "Leave it out")
    assert_says(said, "c: A few gaps", "Nothing to do")  # a remark, too
    assert "Use as features." not in said
    assert "found no problem" not in said
    none = sections(report_html(evaluation, problems={name: []}).decode())["Data and flow of rows"]
    assert "found no problem" in none
    assert "found no problem" not in sections(alone)["Data and flow of rows"]


def test_columns_that_are_excluded_and_remarks_of_the_data_page_are_in_the_report():
    recipe = Recipe(data="sample:loans", model="naive_bayes", calibrators=("none",))
    evaluation, problems = evaluated(recipe), data_problems(recipe)
    assert {each.severity for each in problems} >= {"warning", "info"}
    content = report_html({"one": evaluation}, problems={"one": problems}).decode()
    said = html.unescape(sections(content)["Data and flow of rows"])
    assert "loan_id: The column looks like an identifier" in said
    for problem in problems:
        assert problem.message in said, problem


SCREEN = re.compile(r"\b(click|press|tap|drag|hover|box select|camera|slider|sidebar)", re.I)


def test_nothing_on_paper_asks_for_a_click(report, archive):
    """Captions say what there is to see; what can be done with a chart is said beside it on its page."""
    pages = {"report": report} | {
        name: archive.read(name).decode() for name in archive.namelist() if name.endswith(".html")
    }
    for name, content in pages.items():
        words = html.unescape(
            re.sub(r"<[^>]*>", " ", re.sub(r"<(script|style)\b.*?</\1>", "", content, flags=re.S))
        )
        assert not SCREEN.search(words), name


LOANS = Recipe(data="sample:loans", model="naive_bayes", calibrators=("none", "platt"))


@pytest.mark.parametrize("column", sweep(["income", "branch", "loan_id"], "income", "branch"))
def test_any_column_of_the_table_makes_the_groups_of_the_report(column):
    """Also one that the model does not see, as on the page: branch is constant, loan_id an identifier."""
    recipe = LOANS.replace(exclude=("income",), **{"reliability.group": column})
    evaluation = evaluate(recipe, load(recipe))
    assert column not in evaluation.dataset.X
    text = html.unescape(own(report_html(evaluation).decode()))
    assert "chosen" not in text.partition("<h2>Subgroups</h2>")[2].partition("<h2>")[0]
    values = sample_table("loans")[0][column].iloc[evaluation.rows]
    expected = judge_groups(evaluation, group_rows(values), ["none"]).table
    record = next(chart.record for chart in charts(evaluation) if chart.key == "groups")
    got = record.table[record.table["calibrator"] == "none"]
    assert got["count"].sum() == len(evaluation.y)
    if column == "income":
        np.testing.assert_allclose(got["observed"], expected["observed"])
        np.testing.assert_allclose(got["mean_p"], expected["mean_p"])


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (None, "no column was chosen"),
        ("gone", "the data have no column 'gone'"),
    ],
)
def test_without_groups_the_report_says_why(column, said):
    evaluation = evaluate(LOANS, load(LOANS))
    evaluation = evaluation.with_view(LOANS.replace(**{"reliability.group": column}))
    found = sections(report_html(evaluation).decode())
    assert f"Subgroups: {said}" in found["Not in this report"]
    assert "Subgroups" not in found  # a section would have nothing to say


def _upload(frame, **changes):
    """(Recipe, evaluation) of a table as a file."""
    content = frame.to_csv(index=False).encode()
    recipe = Recipe(data=f"upload:{digest(content)}", target="target", model="naive_bayes", **changes)
    return recipe, evaluate(recipe, load(recipe, {digest(content): read_table(content, "t.csv")}))


@pytest.fixture(scope="module")
def repeating():
    """Two hundred rows, thirty of them twice and one three times; the Recipe of the file, its evaluation and report."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"x": rng.normal(size=200).round(6), "target": rng.integers(0, 2, 200)})
    frame = pd.concat([frame, frame.iloc[:30], frame.iloc[:1]], ignore_index=True)
    recipe, evaluation = _upload(frame)
    return frame, recipe, evaluation, own(report_html(evaluation).decode())


def test_repeated_rows_that_flatter_stand_in_the_report_until_they_are_left_out(repeating):
    frame, _, _, text = repeating
    said = "31 of the 231 rows used are copies of an earlier row. If copies of a row are in both"
    begin, end = "<h2>Data and flow of rows</h2>", "<h2>Model, split and calibrators</h2>"
    assert said in text.partition(begin)[2].partition(end)[0]
    _, once = _upload(frame, data_params={"drop_repeated": True})
    assert once.dataset.n == 200
    assert once.dataset.row_numbers.tolist() == list(range(1, 201))
    text = own(report_html(once).decode())
    assert "copies of an earlier row. If copies" not in text
    assert_says(text.partition(begin)[2].partition(end)[0], "Excluded", "copies of an earlier row", "31 rows")
    _, unique = _upload(frame.drop_duplicates())
    pd.testing.assert_frame_equal(once.metrics, unique.metrics)


def test_a_file_has_one_digest_in_the_report(repeating):
    """That by which settings and source know it."""
    _, recipe, evaluation, text = repeating
    assert f"digest {recipe.data.removeprefix('upload:')}." in text
    assert evaluation.dataset.digest not in text


def test_the_data_are_not_in_the_report_nor_in_the_zip():
    """Every feature value of a table made to be recognised is looked for."""
    rng = np.random.default_rng(0)
    marks = [f"secret{i:04d}" for i in range(8)]
    frame = pd.DataFrame(
        {
            "number": (rng.random(400) * 1e6).round(3) + 7_000_000,
            "word": rng.choice(marks, 400),
            "label": rng.integers(0, 2, 400),
        }
    )
    recipe = Recipe(data="upload:00ff", target="label", model="decision_tree", params={"max_depth": 3})
    evaluation = evaluate(recipe, load(recipe, {"00ff": frame}))
    report = report_html(evaluation).decode()
    archive = zipfile.ZipFile(io.BytesIO(bundle({"mine": evaluation})))
    texts = {"report": report} | {
        name: archive.read(name).decode() for name in archive.namelist() if not name.endswith("plotly.min.js")
    }
    numbers = set(frame["number"].astype(str))
    for name, text in texts.items():
        assert not [mark for mark in marks if mark in text], name
        assert not numbers & set(re.findall(r"7\d{6}\.\d+", text)), name
    assert "digest 00ff." in report


SECTIONS = [
    *("Summary", "Data and flow of rows", "Model, split and calibrators"),
    *("Discrimination and overall performance", "Calibration", "Predictions by outcome"),
    *("Differences from the uncalibrated model", "Net benefit and costs", "Sample size"),
    *("Intervals of single probabilities", "All metrics on the test set"),
    *(
        "What was excluded, imputed or chosen",
        "Limits",
        "Not in this report",
        "Settings",
        "How this report was made",
    ),
    "Items of TRIPOD+AI",
]


def sections(text: str) -> dict[str, str]:
    """Heading → what stands below it, as text."""
    parts = re.split(r"<h2>(.*?)</h2>", own(text))[1:]
    words = [" ".join(html.unescape(re.sub(r"<[^>]*>", " ", part)).split()) for part in parts[1::2]]
    return dict(zip(map(html.unescape, parts[::2]), words, strict=True))


def test_a_report_answers_what_reviewers_of_a_validation_ask(evaluations, alone):
    """The items of TRIPOD+AI, in their order; numbers with the intervals of their own functions."""
    evaluation = evaluations["Naive Bayes"]
    found = sections(alone)
    assert list(found) == SECTIONS
    assert "3,000 rows" in own(alone).partition("<h2>")[0]
    assert f"Test {evaluation.size:,} {evaluation.y.sum():,}" in found["Data and flow of rows"]
    for key, predictions in evaluation.predictions.items():
        ends = confidence_interval("auc", predictions.y, predictions.p)
        area = evaluation.measured(["auc"]).loc[key, "auc"]
        assert two_decimals(area, *ends) in found["Discrimination and overall performance"]
        slope = evaluation.measured(["slope"]).loc[key, "slope"]
        ends = confidence_interval("slope", predictions.y, predictions.p)
        assert two_decimals(slope, *ends) in found["Calibration"]
    chance = evaluation.measured(["ece_chance"]).loc["none", "ece_chance"]
    assert f"ECE below {number(chance, 2)}" in found["Calibration"]
    assert "DeLong" in found["Discrimination and overall performance"]
    for key in ("reliability", "reliability_log_odds"):  # on two scales, each with its band
        leading = FIGURES["reliability"].prepare(evaluation).leading
        assert FIGURES[key].prepare(evaluation, leading).title in found["Calibration"]
    assert "95 % confidence" in found["Calibration"]
    assert rows_needed(evaluation)[1].finding in found["Sample size"]
    assert all(sentence in found["Limits"] for sentence in limits(evaluation))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {"data": "sample:dated", "time": "ordered", "split": "time"},
            "Comparison with a random split: not computed",
        ),
        pytest.param(
            {"data": "sample:counts", "content": "predictions", "weight": "count"},
            "Lines (each may count as several rows)",
            marks=pytest.mark.soak,
        ),
        (
            {"data": "sample:customers", "cluster": "customer_id", "split": "cluster"},
            "Each cluster counts as one independent observation",
        ),
    ],
    ids=["time", "counts", "cluster"],
)
def test_a_report_of_an_honest_split_says_so(fields, words):
    recipe = Recipe(model="naive_bayes", calibrators=("none", "platt"), **fields)
    evaluation = evaluate(recipe, load(recipe))
    found = sections(report_html(evaluation).decode())
    assert words in " ".join(found.values())
    assert SPLITS[recipe.split].help.partition(". ")[0] in found["Model, split and calibrators"]
    assert f"{evaluation.size:,}" in found["Data and flow of rows"]


def test_what_a_random_split_would_have_claimed_stands_where_it_is_known():
    recipe = Recipe(
        data="sample:dated", time="ordered", split="time", model="naive_bayes", calibrators=("none",)
    )
    honest, at_random = (evaluate(one, load(one)) for one in (recipe, random_recipe(recipe)))
    found = sections(report_html({"mine": honest}, at_random={"mine": at_random}).decode())
    assert split_optimism(honest, at_random).sentence("none") in found["Model, split and calibrators"]


def test_the_subgroups_chosen_have_their_numbers():
    recipe = Recipe(
        data="sample:loans",
        model="naive_bayes",
        calibrators=("none", "platt"),
        settings={"reliability.group": "income"},
    )
    evaluation = evaluate(recipe, load(recipe))
    found = sections(report_html(evaluation).decode())["Subgroups"]
    table = judge_groups(evaluation, group_rows(evaluation.dataset.X["income"].iloc[evaluation.rows])).table
    for line in table.itertuples():
        assert with_interval(line.observed, line.lower, line.upper) in found
        assert number(line.mean_p) in found


def test_the_search_of_segments_is_in_the_report_if_it_was_added():
    recipe = Recipe(
        data="sample:hidden_group",
        content="predictions",
        calibrators=("none",),
        settings={"groups.in_report": True, "groups.resamples": 99},
    )
    evaluation = evaluate(recipe, load(recipe))
    made = audited(evaluation, resamples=99)
    report = report_html(evaluation).decode()
    found = sections(report)["Subgroups"]
    for sentence in audit_sentences(made.found):
        assert sentence in found
    worst = made.found.segments.iloc[made.causes[0].line]
    assert f"{worst['rows']:,} {percent(worst['predicted'])} {percent(worst['observed'])}" in found
    assert_says(sections(report)["Limits"], "Only", "age, employment, region, income and channel")


def test_a_search_that_is_refused_says_why_in_the_report():
    recipe = LOANS.replace(base_rate=0.5, **{"groups.in_report": True})
    assert "Remove the deployment base rate" in report_html(evaluate(recipe, load(recipe))).decode()


def test_figures_are_numbered_in_their_order_over_all_sections(report):
    numbers = [int(number) for number in re.findall(r"<h3>Figure (\d+)\. ", report)]
    assert numbers == list(range(1, len(numbers) + 1))
    told = re.findall(r"Figures? (\d+)(?: (?:and|to) (\d+))? shows?", report)
    assert {int(number) for ends in told for number in ends if number} <= set(numbers)


def test_predictions_alone_have_a_report():
    """All rows are test rows: nothing is trained, calibrated or left unused."""
    rng = np.random.default_rng(0)
    p = rng.random(300)
    found = sections(report_html(Evaluation.from_predictions(rng.random(300) < p, p)).decode())
    assert "Test 300" in found["Data and flow of rows"]
    assert "Train" not in found["Data and flow of rows"]
    assert "all rows are test rows" in found["Model, split and calibrators"]
    assert "Differences from the uncalibrated model" not in found


def test_one_evaluation_needs_no_names(alone):
    text = own(alone)
    assert "Side by side" not in text
    assert re.search("<h1>Validation of naive Bayes on “[^”]*”</h1>", text)
    assert "recipe = Recipe(" in text


def test_where_nothing_answers_the_report_says_why():
    recipe = Recipe(data="sample:breast_cancer", model="svm", calibrators=("beta",))
    text = own(report_html(evaluate(recipe, load(recipe))).decode())
    assert "needs probabilities" in text
    assert 'role="img"' not in text


def test_every_figure_made_of_an_evaluation_alone_is_in_the_report():
    missing = [
        key
        for key, entry in FIGURES.items()
        if "Evaluation" in str(next(iter(inspect.signature(entry.prepare).parameters.values())).annotation)
        and entry.reported is None
    ]
    searched = {"audit_sizes", "audit_walk", "grouping_loss"}  # what takes a search is computed on request
    # The head of a report has their numbers; survival has a report of its own
    assert set(missing) - searched == {"compared", "survival"}


@pytest.fixture(scope="module")
def archive(evaluations):
    seen = []
    content = bundle(evaluations, watch=Watch(lambda share, what: seen.append((round(share, 2), what))))
    assert seen == [(0.0, "Naive Bayes"), (0.33, "Tree, <i>cross</i>"), (0.67, "report")]
    return zipfile.ZipFile(io.BytesIO(content))


@pytest.fixture(scope="module")
def drawn(evaluations):
    return {name: charts(evaluation) for name, evaluation in evaluations.items()}


@pytest.fixture(scope="module")
def reported(evaluations):
    return {name: charts(evaluation, leading=True) for name, evaluation in evaluations.items()}


def table(archive, path) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(archive.read(path)), encoding="utf-8-sig")


def test_the_zip_holds_charts_numbers_recipes_source_and_calibrators(archive, evaluations, drawn):
    names = set(archive.namelist())
    assert {
        "report.html",
        "reproduce.py",
        "recipes.json",
        "side_by_side.csv",
        "README.txt",
        "plotly.min.js",
    } <= names
    for folder, (name, evaluation) in zip(
        ("1-Naive-Bayes", "2-Tree-i-cross-i"), evaluations.items(), strict=True
    ):
        metrics = table(archive, f"{folder}/metrics.csv").set_index("calibrator")
        pd.testing.assert_frame_equal(metrics, evaluation.metrics, check_names=False)
        frame = table(archive, f"{folder}/predictions.csv")
        pd.testing.assert_frame_equal(frame, evaluation.frame(), check_dtype=False)
        assert Recipe.from_json(archive.read(f"{folder}/recipe.json")) == evaluation.recipe
        for chart in drawn[name]:
            assert f"{folder}/charts/{chart.key}.html" in names
            rows = list(
                csv.reader(io.StringIO(archive.read(f"{folder}/charts/{chart.key}.csv").decode("utf-8-sig")))
            )
            assert len(rows) == len(chart.record.to_frame()) + 1
        for key in evaluation.predictions:
            saved = read_calibrator(archive.read(f"{folder}/calibrators/{key}.json"))
            assert saved.method == key
    assert read_recipes(archive.read("recipes.json")) == {k: e.recipe for k, e in evaluations.items()}
    side = table(archive, "side_by_side.csv").set_index(["recipe", "calibrator"])
    assert (
        side.loc[("Naive Bayes", "platt"), "brier"]
        == evaluations["Naive Bayes"].metrics.loc["platt", "brier"]
    )


def test_the_charts_in_the_zip_take_their_script_from_beside_them(archive):
    text = archive.read("1-Naive-Bayes/charts/reliability.html").decode()
    assert re.findall(r'src="([^"]*)"', text) == ["../../plotly.min.js"]
    assert len(text) < 2_000_000


def test_the_source_in_the_zip_gives_the_numbers_in_the_zip(archive):
    names = {"print": lambda *args, **kwargs: None}
    exec(archive.read("reproduce.py").decode(), names)
    side = table(archive, "side_by_side.csv").set_index(["recipe", "calibrator"])
    for name, evaluation in names["evaluations"].items():
        np.testing.assert_allclose(evaluation.metrics["brier"], side.loc[name]["brier"], rtol=0, atol=0)


def test_the_same_evaluation_gives_the_same_files(archive, evaluations):
    again = zipfile.ZipFile(io.BytesIO(bundle({"Naive Bayes": evaluations["Naive Bayes"]})))
    boxes = re.compile(rb"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")  # Plotly names them at random
    own = [name for name in archive.namelist() if name.startswith("1-")]
    assert own == [name for name in again.namelist() if name.startswith("1-")]
    for name in own:
        assert boxes.sub(b"", archive.read(name)) == boxes.sub(b"", again.read(name)), name


def test_names_cannot_leave_the_folder(archive):
    names = ["../../etc/passwd", "C:\\x", "…", "a" * 90, "a/b", "a b"]
    folders = _folders(dict.fromkeys(names))
    assert list(folders.values()) == ["1-etc-passwd", "2-C-x", "3-recipe", "4-" + "a" * 40, "5-a-b", "6-a-b"]
    for path in archive.namelist():
        assert re.fullmatch(r"(\d-[\w-]+/)?(\w+/)?\w[\w.]*", path)


def test_what_is_left_out_is_said(evaluations, monkeypatch):
    recipe = Recipe(data="sample:breast_cancer", model="naive_bayes", evaluation="folds", folds=2)
    monkeypatch.setattr(chromium_module, "find_chromium", lambda: None)
    content = bundle({"folds": evaluate(recipe, load(recipe))}, images=("svg",))
    archive = zipfile.ZipFile(io.BytesIO(content))
    text = archive.read("README.txt").decode()
    assert "platt as JSON" in text
    assert "one per fold" in text
    assert "Chromium was not found" in text
    assert not [name for name in archive.namelist() if "/calibrators/" in name or name.endswith(".svg")]


def test_csv_is_safe_to_open_and_keeps_every_digit():
    cells = ["=1+1", "+1", "-1", "@x", "\tx", "plain", "＝1"]
    frame = pd.DataFrame({"=cmd": cells, "p": [0.1 + 0.2, 1e-17, -3, 0, 1, 2, 3]})
    rows = list(csv.reader(io.StringIO(safe_csv(frame).decode("utf-8-sig"))))
    assert rows[0] == ["'=cmd", "p"]
    assert [row[0] for row in rows[1:]] == ["'" + cell if cell != "plain" else cell for cell in cells]
    assert [float(row[1]) for row in rows[1:]] == frame["p"].tolist()
    indexed = safe_csv(pd.DataFrame({"p": [1.0]}, index=["=2"]), index=True).decode("utf-8-sig")
    assert "'=2" in indexed


def test_json_of_recipes_in_the_report_is_the_recipe(report, evaluations):
    found = [
        Recipe.from_json(html.unescape(text)) for text in re.findall(r"<pre>(\{.*?\})</pre>", report, re.S)
    ]
    assert found == [evaluation.recipe for evaluation in evaluations.values()]
    assert f"<pre>{python_source({n: e.recipe for n, e in evaluations.items()})}</pre>" in html.unescape(
        report
    )
    assert (
        json.loads(html.unescape(re.findall(r"<pre>(\{.*?\})</pre>", report, re.S)[0]))["model"]
        == "naive_bayes"
    )


def test_weights_that_are_no_counts_are_drawn_too():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    frame = pd.DataFrame(
        {"x": x, "w": rng.random(300) + 0.5, "label": (rng.random(300) < 1 / (1 + np.exp(-x))) + 0}
    )
    recipe = Recipe(data="upload:00ff", target="label", weight="w", model="naive_bayes")
    for chart in charts(evaluate(recipe, load(recipe, {"00ff": frame}))):
        assert chart.draw().data


def test_optimism_and_centres_are_sections_with_figures_methods_and_items_of_the_checklist(alone):
    settings = {"reliability.group": "purpose"}  # subgroups follow
    recipe = Recipe(data="sample:loans", model="naive_bayes", calibrators=("none",), settings=settings)
    found = evaluate(recipe, load_sample("loans"))
    name, data = found.dataset.name, found.dataset
    validated = validate_recipe(recipe, data, "none", 20)
    left_out = leave_out_recipe(recipe, data, "none", "purpose")
    of_test = centres(found, found.column("purpose").astype(str).to_numpy())
    made = {"Centres": of_test, "Leave one centre out": left_out}
    text = html.unescape(report_html(found, validated={name: validated}, centres={name: made}).decode())
    places = [
        text.index(f"{heading}</h2>")
        for heading in ("Net benefit and costs", "Optimism", *made, "Subgroups", "Sample size")
    ]
    assert places == sorted(places)
    assert validated.sentence in text
    assert all(sentence in text for each in made.values() for sentence in each.sentences)
    assert "20 bootstrap resamples (Harrell, Lee & Mark 1996" in text
    line = validated.table().loc["slope"]
    assert two_decimals(line.corrected, line.low, line.high) in text
    assert re.search(r"<td>12d</td>\s*<td>[^<]*</td>\s*<td>Centres</td>", text)
    numbers = [int(number) for number in re.findall(r"Figure (\d+)\. ", text)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert "Optimism</h2>" not in alone
    assert "Centres</h2>" not in alone

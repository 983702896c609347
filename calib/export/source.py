"""Python source that gives the same numbers as one Recipe, several Recipes, a page or a chart."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from calib.analysis.audit.of_evaluation import SEARCH, Audited
from calib.analysis.decision import FALSE_ALARM, MISS, Decision
from calib.analysis.depth import DRAWN_DEPTH, LEAF_ESTIMATES
from calib.analysis.explain import Explained
from calib.analysis.grouping_losses import GroupingLosses
from calib.evaluate import Evaluation
from calib.recipe import Recipe
from calib.settings import PAGE_SETTINGS
from calib.sources import file_key, reading
from calib.study import STORES

FILE = "YOUR FILE"
RUN_HELP = "# Save as reproduce.py in the project's folder. After make run, run .venv/bin/python reproduce.py there.\n"

REPORT = """
from calib.export import report_html

with open("report.html", "wb") as file:
    file.write(report_html({}))
"""

WORD_SOURCES = {
    "two_probabilities": """from calib.lessons import LESSONS

for lesson in LESSONS.values():
    for step in lesson.steps:
        print(lesson.title, step.title, step.page, step.recipe.to_query(), sep=" | ")
""",
    "class": """from calib.experiments.ballots import rounds
from calib.lessons import LESSONS, QUIZZES

for lesson in [*QUIZZES.values(), *LESSONS.values()]:
    for asked in rounds(lesson):
        print(lesson.key, asked.title, asked.text, asked.answers, asked.right, sep=" | ")
""",
    "glossary": """from calib.lessons.glossary import GLOSSARY

for term in GLOSSARY.values():
    print(term.name, term.meaning, sep=": ")
""",
    "story": """from calib.export.story import story_html

with open("story.html", "wb") as file:
    file.write(story_html())
""",
}
"""Page without numbers → a script that prints its words."""

PLAYGROUND = """from calib.export.playground import playground_html

with open("playground.html", "wb") as file:
    file.write(playground_html({}))
"""


def python_source(recipes: Recipe | Mapping[str, Recipe], files: Mapping[str, str] | None = None) -> str:
    """Write a script that evaluates the Recipe, or each of several by name, and prints its metrics.

    It also writes the report if a Recipe gives the report's title, purpose or author.

    Parameters
    ----------
    files
        Digest → name of the uploaded files; the script reads them from the folder where it runs.

    Examples
    --------
    >>> print(python_source(Recipe(seed=3)))
    # Save as reproduce.py in the project's folder. After make run, run .venv/bin/python reproduce.py there.
    from calib import Recipe, evaluate
    from calib.sources import load
    <BLANKLINE>
    recipe = Recipe(seed=3)
    evaluation = evaluate(recipe, load(recipe))
    print(evaluation.metrics.round(4).to_string())
    <BLANKLINE>
    """
    several = {"": recipes} if isinstance(recipes, Recipe) else recipes
    reports = any(name.startswith("report.") for one in several.values() for name, _ in one.settings)
    made = "evaluation" if isinstance(recipes, Recipe) else "evaluations"
    return RUN_HELP + _evaluating(recipes, files) + (REPORT.format(made) if reports else "")


def _evaluating(recipes: Recipe | Mapping[str, Recipe], files: Mapping[str, str] | None) -> str:
    several = [recipes] if isinstance(recipes, Recipe) else list(recipes.values())
    head, uploads = _imports(several, files or {})
    if isinstance(recipes, Recipe):
        read = "print(evaluation.read_as)\n" if recipes.content == "predictions" else ""
        body = (
            f"{recipes.to_python()}\nevaluation = evaluate(recipe, load(recipe{', uploads' if uploads else ''}))\n"
            f"{read}"
            "print(evaluation.metrics.round(4).to_string())\n"
        )
    else:
        lines = "".join(f"    {name!r}: {_indented(recipe)},\n" for name, recipe in recipes.items())
        body = (
            f"recipes = {{\n{lines}}}\nevaluations = {{}}\nfor name, recipe in recipes.items():\n"
            f"    evaluations[name] = evaluate(recipe, load(recipe{', uploads' if uploads else ''}))\n"
            "    print(name, evaluations[name].metrics.round(4).to_string(), sep='\\n')\n"
        )
    return f"{head}\n{uploads}{body}"


PAGE_IMPORTS = {
    "watch": "from calib.analysis.watch.over_time import over_time\n",
    "groups": "from calib.analysis.audit.of_evaluation import audit_sentences, audited\n"
    "from calib.figures import FIGURES\n",
    "groups_column": "from calib.figures import FIGURES\n",
    "groups_loss": "from calib.analysis.audit.of_evaluation import audited_by_default\n"
    "from calib.analysis.grouping_losses import grouping_losses\nfrom calib.figures import FIGURES\n",
    "decide": "from calib.analysis.decision import decide\n",
    "trees": "from calib.analysis.depth import at_depth, depth_scores, sweep_depths\n"
    "from calib.figures import FIGURES\n"
    "from calib.analysis.grown_tree import grown_tree\n",
    "out_of_bag": "from calib.figures import FIGURES\n"
    "from calib.study.papers.ten_setups import setup_recipes, setup_table\n",
}
PAGE_BODIES = {
    "watch": """evaluation = evaluate(recipe.replace(period=None), data)
found = over_time(evaluation, {watched}{watching})
print(found.watched.now, found.watched.alarm, found.watched.since, found.watched.cause, found.watched.advice)
print(found.table.round(4).to_string(max_rows=60))
""",
    "groups": """evaluation = evaluate(recipe.replace(segment=()), data)
found = audited(evaluation{searching})
print(*audit_sentences(found.found), sep="\\n")
print(found.to_frame().round(4).to_string(max_rows=60))
FIGURES["audit"].draw(FIGURES["audit"].prepare(found)).show()
""",
    "groups_column": """evaluation = evaluate(recipe.replace(segment=()), data)
record = FIGURES["groups"].prepare(evaluation{grouped})
print(record.to_frame().round(4).to_string(max_rows=60))
FIGURES["groups"].draw(record).show()
""",
    "groups_loss": """evaluation = evaluate(recipe.replace(segment=()), data)
found = grouping_losses(evaluation, {regions})
print(found.to_frame().round(5).to_string())
FIGURES["grouping_loss"].draw(FIGURES["grouping_loss"].prepare(found)).show()
""",
    "decide": """decision = decide(evaluate(recipe, data){costs})
print(decision.table.round(4).to_string(max_rows=60))
""",
    "trees": """points = {{point.key: point for point in sweep_depths(recipe, data)}}
scores = [depth_scores(recipe, point) for point in points.values()]
record = FIGURES["depth"].prepare(scores{metric})
print(record.to_frame().round(4).to_string(max_rows=60))

tree = grown_tree(recipe, at_depth(points, "tree", {leaves!r}, "{depth}"){method})
print(tree.table().to_string(max_rows=60))
""",
    "out_of_bag": """evaluations = {{key: evaluate(setup, data) for key, setup in setup_recipes(recipe, data).items()}}
table = setup_table(evaluations)
print(table.round(4).to_string())
FIGURES["setups"].draw(FIGURES["setups"].prepare(table)).show()
""",
}


def page_source(page: str, recipe: Recipe, files: Mapping[str, str] | None = None) -> str:
    """Write a script that gives the numbers of the page with this key, or else the Recipe's evaluation.

    On Study pages the script gives the summary of the open rows ("results") or runs the study ("run"); on a Learn
    page without numbers it prints the page's words.

    Parameters
    ----------
    page : str
        Its key, without section: "trees" for pages/explore_trees.py.
    recipe
        The open Recipe, with the page's own settings.
    files : mapping, optional
        As for ``python_source``.
    """
    if page == "run":
        return _run_source(recipe)
    if page == "results":
        return _results_source(recipe)
    if page in WORD_SOURCES:
        return WORD_SOURCES[page]
    if page == "labs":
        return PLAYGROUND.format(
            recipe.stated_settings("playground", *(one.name for one in PAGE_SETTINGS["playground"]))
        )
    if page == "survival":
        return _survival_source(recipe, files)
    if page == "groups" and (view := recipe.setting("groups.view")) != "search":
        page = f"groups_{view}"
    if page not in PAGE_BODIES:
        return python_source(recipe, files)
    head, uploads = _imports([recipe], files or {})
    lines = [*head.splitlines(), *PAGE_IMPORTS[page].splitlines()]
    ours = sorted((line for line in lines if line.startswith("from calib")), key=lambda line: line.split()[1])
    before = "".join(f"{line}\n" for line in lines if line and line not in ours)
    if page == "trees":
        ours[0] = "from calib import Recipe"
    imports = "\n".join([*([before] if before else []), *ours])
    return (
        f"{RUN_HELP}{imports}\n\n{uploads}{recipe.to_python()}\n"
        f"data = load(recipe{', uploads' if uploads else ''})\n{PAGE_BODIES[page].format(**_chosen(recipe))}"
    )


SURVIVAL_SETTINGS = ("duration", "event", "risks", "cause", "censored", "means", "horizon")
SURVIVAL_BODY = """frame, label, positive = load_table(recipe, {uploads})
columns = survival_columns(frame, label, positive{stated})
found = columns.check(frame{roles})
print(found.verdict.sentence)
print(found.table().round(4).to_string())
print(found.bins().round(4).to_string())
"""


def _survival_source(recipe: Recipe, files: Mapping[str, str] | None) -> str:
    given = {
        "sample_weight": recipe.weight,
        "cluster": recipe.cluster,
        "censoring_groups": recipe.setting("survival.within"),
    }
    begin = "from calib import Recipe\nfrom calib.analysis.survival.table import survival_columns\n"
    head, uploads = _imports([recipe], files or {}, begin, "load_table")
    body = SURVIVAL_BODY.format(
        uploads="uploads" if uploads else "{}",
        stated=_keywords(recipe.stated_settings("survival", *SURVIVAL_SETTINGS)),
        roles=_keywords({name: column for name, column in given.items() if column is not None}),
    )
    return f"{RUN_HELP}{head}\n{uploads}{recipe.to_python()}\n{body}"


def _results_source(recipe: Recipe) -> str:
    settings = recipe.stated_settings("results", "rows", "file_name", "metric", "setups")
    opened = settings.get("rows", "published:forests_calibrated")
    head, rows, more = _reading_rows(opened, settings.get("file_name", FILE))
    setups = {"setups": list(settings["setups"])} if settings.get("setups") else {}
    given = f"rows, {settings.get('metric', 'brier')!r}{_keywords(setups)}{more}"
    return (
        f"{RUN_HELP}{head}rows = {rows}\nsummary = summarise({given})\nprint(summary.means.round(4).to_string())\n"
        "print(summary.average_ranks.round(3).to_string())\nprint(summary.win_rates.round(3).to_string())\n"
    )


def _reading_rows(opened: str, file_name: str) -> tuple[str, str, str]:
    """Return source of imports and the results file, of the rows, and of further arguments of ``summarise``."""
    kind, _, key = opened.partition(":")
    if kind != "upload":
        return "from calib.study import as_rows, summarise\n\n", f"as_rows({key!r})", ""
    if file_name.lower().endswith(STORES):
        head = f"from calib.study import Store, check_rows, summarise\n\nstore = Store({file_name!r})\n"
        return head, "check_rows(store.rows())", ", predictions=store.repeats()"
    head = "from calib.data import read_table\nfrom calib.study import check_rows, summarise\n\n"
    return head, f"check_rows(read_table({file_name!r}))", ""


RUN_KEYS = ("protocol", "protocol_file", "sets", "setups", "metrics", "repeats", "test_folds")
EXAMPLE_PROTOCOL, SETS, STORE = "venn_forests_2019", ("sample:breast_cancer",), "results.sqlite"


def _study(recipe: Recipe) -> dict[str, Any]:
    """Return the choices on the page Run that differ from the protocol, with files by their names."""
    settings = {
        name: value
        for name, value in recipe.stated_settings("run", *RUN_KEYS).items()
        if value not in (None, ())
    }
    if "test_folds" in settings:
        settings["folds"] = settings.pop("test_folds")
    protocol = settings.pop("protocol", EXAMPLE_PROTOCOL)
    uploaded = settings.pop("protocol_file", FILE)
    sets = [
        name.split(":", 2)[-1] if name.startswith("upload:") else name for name in settings.pop("sets", SETS)
    ]
    return {"protocol": uploaded if protocol.startswith("upload:") else protocol, "data": sets} | settings


def study_command(recipe: Recipe) -> str:
    """Return the command line that runs the study of the page Run.

    Parameters
    ----------
    recipe
        With the settings of the page, as "run.sets".

    Examples
    --------
    >>> print(study_command(Recipe(settings={"run.sets": ["sample:digits"]})))
    python -m calib study venn_forests_2019 --data sample:digits --store results.sqlite --csv rows.csv
    """
    settings = _study(recipe)
    words = [settings.pop("protocol")]
    if "metrics" in settings:
        settings["metrics"] = ",".join(settings["metrics"])
    for name, value in settings.items():
        words += [f"--{name}", *(map(str, value) if isinstance(value, list | tuple) else [str(value)])]
    return f"python -m calib study {shlex.join(words)} --store {STORE} --csv rows.csv"


def _run_source(recipe: Recipe) -> str:
    settings = _study(recipe)
    protocol, data, metrics = settings.pop("protocol"), settings.pop("data"), settings.pop("metrics", None)
    measuring = f".measuring({metrics!r})" if metrics else ""
    return (
        f"{RUN_HELP}from calib.study import Store, load_protocol, load_sets, run_study\n\n"
        f"protocol = load_protocol({protocol!r}){measuring}\nsets = load_sets({data!r}, protocol.data)\n"
        f"with Store({STORE!r}, write=True) as store:\n"
        f"    done = run_study(protocol, sets, store{_keywords(settings)})\n"
        "    print(store.rows(of=done.keys).round(4).to_string(max_rows=60))\n"
    )


def _chosen(recipe: Recipe) -> dict[str, Any]:
    """Return the settings of pages as source: keyword arguments, left out if they are the defaults."""
    costs = recipe.stated_settings("decide", "cost_false_alarm", "cost_miss")
    trees = recipe.stated_settings("trees", "metric", "leaves", "depth", "interval")
    watched = recipe.setting("watch.calibrator")
    preferred = recipe.setting("groups.calibrator")
    audited = preferred if preferred in recipe.calibrators else None
    return {
        "searching": _keywords(
            ({"calibrator": audited} if audited else {}) | recipe.stated_settings("groups", *SEARCH)
        ),
        "grouped": _keywords(recipe.stated_settings("reliability", "group")),
        "regions": (repr(audited) if audited else "audited_by_default(evaluation)")
        + _keywords(recipe.stated_settings("groups", "columns")),
        "costs": _keywords(costs),
        "watching": _keywords(recipe.stated_settings("watch", "alpha", "horizon", "skip_unlabelled")),
        "watched": repr(watched) if watched in recipe.calibrators else "next(iter(evaluation.predictions))",
        "metric": _keywords({"metric": trees["metric"]} if "metric" in trees else {}),
        "leaves": trees.get("leaves", next(iter(LEAF_ESTIMATES))),
        "depth": trees.get("depth", DRAWN_DEPTH),
        "method": _keywords({"method": trees["interval"]} if "interval" in trees else {}),
    }


def _keywords(options: Mapping[str, Any]) -> str:
    """Return source of keyword arguments that follow others in a call."""
    return "".join(f", {name}={value!r}" for name, value in options.items())


def _indented(recipe: Recipe) -> str:
    return recipe.to_python().removeprefix("recipe = ").replace("\n", "\n    ")


def _imports(
    recipes: list[Recipe],
    files: Mapping[str, str],
    begin: str = "from calib import Recipe, evaluate\n",
    load: str = "load",
) -> tuple[str, str]:
    """Return the import lines, which begin with these and load by this function, and those that read uploads."""
    names = _names([data for recipe in recipes for data in (recipe.data, recipe.test_data)], files)
    models = _names([recipe.onnx for recipe in recipes], files)
    if not names + models:
        return f"{begin}from calib.sources import {load}\n", ""
    # If a Recipe names a sheet or a header line, the file is passed on unread, and each Recipe reads it itself.
    reader = "TableFile(file, content)" if any(map(reading, recipes)) else "read_table(content, file)"
    return (
        f"from pathlib import Path\n\n{begin}from calib.data import {reader.partition('(')[0]}\n"
        f"from calib.sources import digest, {load}\n",
        "uploads = {}  # Recipes know a file by the digest of its content\n"
        f"{_reading(names, reader)}{_reading(models, 'content') if models else ''}\n",
    )


def _names(fields: Iterable[str | None], files: Mapping[str, str]) -> list[str]:
    """Return the names of the files among fields of Recipes that name data."""
    digests = filter(None, map(file_key, fields))
    return [files.get(digest, FILE) for digest in dict.fromkeys(digests)]


def _reading(names: Sequence[str], reader: str) -> str:
    """Return the lines that read files."""
    listed = ", ".join(map(repr, names)) + ("," if len(names) == 1 else "")
    return (
        f"for file in ({listed}):\n    content = Path(file).read_bytes()\n"
        f"    uploads[digest(content)] = {reader}\n"
    )


def chart_source(
    key: str, source: Any, options: Mapping[str, Any], files: Mapping[str, str] | None = None
) -> str | None:
    """Write a script that computes the numbers of one chart and shows it, or return None if it cannot be written.

    A script exists if the chart follows from Recipes and literal options alone.

    Parameters
    ----------
    key, source, options
        As for ``FIGURES[key].prepare(source, **options)``.
    """
    if not all(_is_literal(value) for value in options.values()):
        return None
    imports, given = "from calib.figures import FIGURES\n", "evaluation"
    if isinstance(source, Decision):
        imports, given = f"from calib.analysis.decision import decide\n{imports}", _deciding(source)
        source = source.evaluation
    if isinstance(source, Audited | GroupingLosses):
        searched = isinstance(source, Audited)
        function = "audited" if searched else "grouping_losses"
        imported = "audit.of_evaluation" if searched else "grouping_losses"
        imports = f"from calib.analysis.{imported} import {function}\n{imports}"
        given = f"{function}(evaluation, {source.calibrator!r}{_keywords(source.options)})"
        source = source.evaluation
    if isinstance(source, Explained):
        functions = "explain" if source.what_if is None else "explain, with_moved_rows"
        imports = f"from calib.evaluate import fit\nfrom calib.analysis.explain import {functions}\n{imports}"
        text = _evaluating(source.recipe, files)
        given = f"explain(evaluation, fit(recipe, evaluation.dataset), row={source.row})"
        if source.what_if is not None:
            given = f"with_moved_rows({given}, {', '.join(map(repr, source.what_if))})"
    elif isinstance(source, Evaluation):
        text = _evaluating(source.recipe, files)
    elif (
        isinstance(source, Mapping)
        and source
        and all(isinstance(item, Evaluation) for item in source.values())
    ):
        text, given = _evaluating({name: item.recipe for name, item in source.items()}, files), "evaluations"
    elif isinstance(source, list | tuple) and source and all(isinstance(item, Evaluation) for item in source):
        named = {str(i): item.recipe for i, item in enumerate(source, 1)}
        text, given = _evaluating(named, files), "list(evaluations.values())"
    else:
        return None
    return (
        f"{RUN_HELP}{imports}{text}\nrecord = FIGURES[{key!r}].prepare({given}{_keywords(options)})\n"
        f"print(record.to_frame().to_string(max_rows=60))\nFIGURES[{key!r}].draw(record).show()\n"
    )


def _deciding(decision: Decision) -> str:
    costs = {"cost_false_alarm": decision.cost_false_alarm, "cost_miss": decision.cost_miss}
    default = {"cost_false_alarm": FALSE_ALARM, "cost_miss": MISS}
    return f"decide(evaluation{_keywords({name: cost for name, cost in costs.items() if cost != default[name]})})"


def _is_literal(value: Any) -> bool:
    """Tell whether ``repr`` gives source that recreates the value."""
    if isinstance(value, list | tuple):
        return all(map(_is_literal, value))
    return value is None or type(value) in (str, int, float, bool)

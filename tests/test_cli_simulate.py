"""``python -m calib simulate``: the same seed gives the same numbers on the page, in a call and on the command line."""

import json
import re
import subprocess
import sys
from codecs import BOM_UTF8
from pathlib import Path
from types import ModuleType

import pytest

from calib.__main__ import main
from calib.experiments import EXPERIMENTS
from calib.export import run_experiment, safe_csv
from calib.figures import FIGURES, LIGHT
from tests.pages.app import faults, page, query

ROOT = Path(__file__).parents[1]


def simulate(*arguments):
    return main(["simulate", *map(str, arguments)])


def on_page(at):
    """Key of a figure → its traces, of every chart on a page."""
    charts = at.get("plotly_chart")
    return {chart.proto.id.rsplit("-chart_", 1)[1]: json.loads(chart.proto.spec)["data"] for chart in charts}


def in_html(text):
    """The traces of every chart in a page that stands alone."""
    return [
        json.JSONDecoder().raw_decode(text, at.end())[0]
        for at in re.finditer(r'Plotly\.newPlot\(\s*"[^"]+",\s*', text)
    ]


SAME = [
    ("theorem", 7, {"draws": 500, "predictor": "venn", "objects": 20}),
    ("narrowing", 3, {"draws": 10, "gap": 2.25}),
    ("cl_gl", 11, {"n": 100, "depth": 4, "leaf": "laplace", "against": "leaf", "loss": "log"}),
    ("regret", 0, {"p0": 0.3}),
    ("finite", 0, {"line": "1:0.1:0 2:0.3:1 | 3:0.9:1"}),
]


@pytest.mark.parametrize(("key", "seed", "settings"), SAME, ids=[key for key, *_ in SAME])
def test_the_same_seed_gives_the_same_on_the_page_in_a_call_and_on_the_command_line(
    key, seed, settings, tmp_path
):
    experiment = EXPERIMENTS[key]
    values = experiment.values({}) | settings
    records = {}
    for simulation, figures in experiment.runs.items():
        found = experiment.simulate(simulation, random_state=seed, **experiment.numbers(values, simulation))
        records |= {name: FIGURES[name].prepare(found, **experiment.view(values, name)) for name in figures}
    traces = {
        name: json.loads(FIGURES[name].draw(record, LIGHT).to_json())["data"]
        for name, record in records.items()
    }

    given = [f"--set={name}={value}" for name, value in settings.items()]
    assert (
        simulate(key, *given, "--seed", seed, "--csv", tmp_path / "a.csv", "--html", tmp_path / "a.html") == 0
    )
    for name, record in records.items():
        file = tmp_path / ("a.csv" if name == key else f"a_{name}.csv")
        assert BOM_UTF8 + file.read_bytes() == safe_csv(record.to_frame())  # the page's is for spreadsheets
    assert in_html((tmp_path / "a.html").read_text(encoding="utf-8")) == list(traces.values())

    learn = {f"{key}.{name}": value for name, value in settings.items()}
    learn |= {f"{experiment.page}.experiment": key, f"{key}.guess": "skip"}
    at = page(experiment.script, **query(learn), seed=str(seed))
    assert faults(at) == []
    assert on_page(at) == traces


def test_a_setting_that_is_given_twice_is_refused(capsys):
    assert simulate("order", "--set", "objects=6", "--set", "objects=7") == 2
    assert "--set: 'objects' appears twice" in capsys.readouterr().err


def test_another_seed_gives_another_picture(tmp_path):
    for seed in (1, 2):
        assert (
            simulate("theorem", "--set", "draws=500", "--seed", seed, "--csv", tmp_path / f"{seed}.csv") == 0
        )
    assert (tmp_path / "1.csv").read_bytes() != (tmp_path / "2.csv").read_bytes()


def test_it_prints_title_and_table_of_every_picture(capsys):
    assert simulate("finite", "--set", "line=1:0.1:0 2:0.3 | 3:0.9:1") == 0
    printed = capsys.readouterr().out
    for chart in run_experiment("finite", {"line": "1:0.1:0 2:0.3 | 3:0.9:1"}).charts:
        assert chart.record.title in printed
    row = re.search(r"Lowest loss +(\S+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+)", printed)
    # Point 2 has no label, so it shares the leaf of point 1: predictions 0, 0, 1 of the frequencies 0.2, 0.2, 0.9
    assert [float(value) for value in row.groups()] == [2, 2, 0.06, 0.0133, 0.26, 0.3333]


def test_the_table_is_as_wide_as_it_is_and_a_long_one_is_printed_by_its_ends(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))  # pandas takes it for a terminal's
    assert simulate("cl_gl", "--set", "n=100") == 0
    printed = capsys.readouterr().out
    for chart in run_experiment("cl_gl", {"n": 100}).charts:
        frame = chart.record.to_frame()
        assert " ".join(frame.columns) in [" ".join(line.split()) for line in printed.splitlines()]
        assert (f"[{len(frame)} rows x {frame.shape[1]} columns]" in printed) == (len(frame) > 60)


@pytest.mark.soak
def test_it_runs_as_a_program_of_its_own():
    done = subprocess.run(
        [sys.executable, "-m", "calib", "simulate", "order", "--set", "objects=6", "--set", "ones=3"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "10 of 20 orderings" in done.stdout
    assert done.stderr == ""


def test_the_lists_name_every_experiment_and_every_setting(capsys):
    assert simulate("--list") == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(EXPERIMENTS)
    assert simulate() == 0
    assert capsys.readouterr().out.startswith("cl_gl ")
    for key, experiment in EXPERIMENTS.items():
        assert simulate(key, "--list") == 0
        printed = capsys.readouterr().out
        for parameter in experiment.parameters:
            assert f"\n  {parameter.name}={parameter.default}" in printed
            assert all(str(choice) in printed for choice in parameter.choices)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing"], "EXPERIMENT must be one of 'cl_gl'.*but is 'nothing'"),
        (["nothing", "--list"], "EXPERIMENT must be one of"),
        (["theorem", "--set", "draws=7"], "draws must be one of 500, 1000.*but is 7"),
        (["theorem", "--set", "predictor=Full2"], "predictor must be one of 'full'"),
        (["theorem", "--set", "gap=nan"], "gap must be a number from 0 to 4"),
        (["theorem", "--set", "gap=9"], "gap must be a number from 0 to 4, but is 9"),
        (["pooling", "--set", "step=1.5"], "step must be a whole number"),
        (["pooling", "--set", "points=1:0 2:7"], "'2:7' is not"),
        (["theorem", "--set", "guess=1"], "has no setting 'guess'; its settings are predictor, objects"),
        (["theorem", "--set", "gap"], "NAME=VALUE, but is 'gap'"),
        (["theorem", "--seed", "-1"], "seed must be a whole number from 0"),
        (["theorem", "--csv", "nowhere/a.csv"], "no folder"),
        (["theorem", "--csv", "."], "is a folder"),
        (["--csv", "a.csv"], "EXPERIMENT is missing"),
        (["--set", "gap=1"], "EXPERIMENT is missing"),
    ],
)
def test_what_cannot_be_is_refused_with_what_is_allowed(capsys, arguments, words):
    assert simulate(*arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert re.search(f"^error: .*{words}", said.err)
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    ("text", "expected"),
    [("depth=None", None), ("depth=none", None), ("depth=3", 3), ("leaf=LAPLACE", "laplace")],
)
def test_a_setting_can_be_written_as_it_is_shown(text, expected, monkeypatch):
    seen = {}
    monkeypatch.setattr(
        "calib.commands.simulate.run_experiment", lambda key, settings, *more: seen.update(settings) or 1 / 0
    )
    with pytest.raises(ZeroDivisionError):
        simulate("cl_gl", "--set", text)
    assert seen == {text.partition("=")[0]: expected}

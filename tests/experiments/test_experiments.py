"""Every experiment is whole: words, settings that a link holds, numbers, pictures, Python that runs."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import calib.experiments
from calib.experiments import EXPERIMENTS, chosen_experiment
from calib.figures import FIGURES
from calib.kernel.checks import InputError
from calib.kernel.declared import SETTINGS
from calib.recipe import Recipe
from tests.saying import assert_says

ALL = pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS)


@pytest.mark.whole_registry
def test_every_module_of_an_experiment_is_in_the_list():
    here = Path(calib.experiments.__file__).parent
    modules = [*here.glob("[a-z]*.py"), *(path.parent for path in here.glob("*/__init__.py"))]
    defining = {
        path.stem
        for path in modules
        if hasattr(import_module(f"calib.experiments.{path.stem}"), "EXPERIMENT")
    }
    assert defining == set(EXPERIMENTS)
    assert [experiment.key for experiment in EXPERIMENTS.values()] == list(EXPERIMENTS)


@pytest.mark.whole_registry
def test_no_two_experiments_share_the_name_of_a_simulation_or_a_figure():
    runs = [run for experiment in EXPERIMENTS.values() for run in experiment.runs.items()]
    for names in ([simulation for simulation, _ in runs], [key for _, figures in runs for key in figures]):
        assert len(set(names)) == len(names)


@ALL
def test_the_figures_of_an_experiment_are_those_of_its_module(experiment):
    here = import_module(f"calib.experiments.{experiment.key}").FIGURES
    named = [key for figures in experiment.runs.values() for key in figures]
    assert sorted(entry.key for entry in here) == sorted(named)
    assert all(FIGURES[entry.key] is entry for entry in here)


def test_figures_lists_those_of_the_experiments_with_all_others():
    assert {"reliability", "cl_gl_sweep"} <= set(FIGURES)
    assert len(list(FIGURES)) == len(set(FIGURES)) == len(FIGURES)
    assert "no such figure" not in FIGURES


def run_alone(program):
    """What a fresh Python says; its exit status is 0."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.strip()


CHECKED = """
try:
    Recipe(settings={"decide.cost_miss": -1})
except ValueError as error:
    print(error)
import sys
print("plotly" in sys.modules, "calib.figures" in sys.modules)
"""


def test_a_recipe_checks_the_settings_of_a_page_and_loads_nothing_that_draws():
    refusal, drawing = run_alone(f"from calib import Recipe{CHECKED}").splitlines()
    assert_says(refusal, "decide.cost_miss", "-1")
    assert drawing == "False False"


@ALL
def test_an_experiment_is_whole(experiment):
    assert experiment.question.endswith("?")
    assert 2 <= len(experiment.answers) <= 6
    assert experiment.notice
    assert experiment.formulas
    assert experiment.source.endswith(".")
    assert all(p.label and p.help.endswith((".", ";", "?")) for p in experiment.parameters)
    assert experiment.check({}) == experiment.values({})


@ALL
def test_every_setting_of_a_link_comes_back_and_is_refused_by_name(experiment):
    for parameter in (*experiment.parameters, experiment.guess):
        name = f"{experiment.key}.{parameter.name}"
        values = parameter.choices or (
            [parameter.low, parameter.high] if parameter.low is not None else [parameter.default]
        )
        for value in values:
            recipe = Recipe(settings={name: value})
            assert Recipe.from_query(recipe.to_query()) == recipe
            assert Recipe.from_json(recipe.to_json()) == recipe
        with pytest.raises(InputError, match=name):
            Recipe(settings={name: -3 if parameter.low is None or parameter.low > -3 else "?"})


def test_a_setting_that_is_none_is_refused():
    with pytest.raises(InputError, match="settings: 'theorem.colour' is not a known"):
        Recipe(settings={"theorem.colour": 1})


def test_settings_of_learn_change_no_fit():
    assert Recipe(settings={"theorem.objects": 5}).digest("calibrate") == Recipe().digest("calibrate")


def test_a_page_shows_its_first_experiment_until_another_is_chosen():
    first = next(each for each in EXPERIMENTS.values() if each.page == "simulations")
    assert chosen_experiment({}, "simulations") is first
    assert chosen_experiment({"labs.experiment": "looking"}, "labs").key == "looking"
    assert chosen_experiment({}, "labs") is None
    assert all(EXPERIMENTS[key].page == "simulations" for key in SETTINGS["simulations.experiment"].choices)


LONG = ("tree_depth", "tree_count", "leaf_estimates", "overlap")  # by make soak


@pytest.mark.parametrize(
    "experiment",
    [
        pytest.param(each, id=key, marks=pytest.mark.soak if key in LONG else ())
        for key, each in EXPERIMENTS.items()
    ],
)
def test_show_python_runs_and_prints_the_numbers_of_the_pictures(experiment, capsys):
    few = {
        f"{experiment.key}.{p.name}": p.choices[0] if p.choices else p.low
        for p in experiment.parameters
        if p.name in ("draws", "n", "tables", "runs")
    }
    seed = 3
    if any(p.name == "results" for p in experiment.parameters):
        few, seed = {}, 0  # hours of work, unless it is the run that was made beforehand
    exec(experiment.to_python(few, seed), {})
    values = experiment.values(few)
    records = []
    for simulation, figures in experiment.runs.items():
        result = experiment.simulate(simulation, random_state=seed, **experiment.numbers(values, simulation))
        records += [FIGURES[key].prepare(result, **experiment.view(values, key)) for key in figures]
    assert capsys.readouterr().out == "".join(
        f"{record.to_frame().to_string(max_rows=60)}\n" for record in records
    )


@ALL
def test_a_question_fits_one_line_of_a_laptops_page(experiment):
    assert len(experiment.question) <= 165

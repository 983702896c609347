"""Cache trees, models and results that the tests of several experiments share."""

from functools import cache

from calib.experiments import EXPERIMENTS
from calib.experiments.cl_gl.simulation import one_point
from calib.experiments.shared.gaussian_plane import grow
from calib.experiments.which_model import fit_one
from calib.figures import FIGURES

grow, one_point, fit = cache(grow), cache(one_point), cache(lambda *what: fit_one(*what))
USING = {
    "cl_gl": {"point": one_point},
    "which_model": {"fit": lambda *what, watch: fit(*what)},
    **{key: {"grow": grow} for key in ("tree_depth", "tree_count", "leaf_estimates")},
}


@cache
def found(key, seed=0, simulation=None, **settings):
    """Return the result of an experiment's simulation, with defaults for missing settings."""
    return EXPERIMENTS[key].simulate(simulation, random_state=seed, using=USING.get(key), **settings)


@cache
def record(figure, key, seed=0, **settings):
    """Return the record of one of an experiment's pictures from its settings, including those of the view."""
    experiment = EXPERIMENTS[key]
    simulation = next(name for name, figures in experiment.runs.items() if figure in figures)
    values = experiment.values({f"{key}.{name}": value for name, value in settings.items()})
    result = found(key, seed, simulation, **experiment.numbers(values, simulation))
    return FIGURES[figure].prepare(result, **experiment.view(values, figure))

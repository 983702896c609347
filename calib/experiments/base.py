"""An experiment of the Learn pages: a question, answers to choose from, settings, what computes, formula and source.

Each has a folder of its own with this entry, its simulation and, in ``figure.py``, its pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from calib.kernel import checks
from calib.kernel.progress import Watch
from calib.kernel.records import Parameter

ASK, SKIP, COVER = "ask", "skip", "cover"
"""A reader who has not answered yet, one who would rather not, and one who sees the picture only after answering."""

Simulation = Callable[..., Any]
"""``simulation(settings, random_state, watch) → numbers``; settings: name → value, complete and checked."""


@dataclass(frozen=True)
class Experiment:
    """One idea that can be tried.

    Attributes
    ----------
    key, page
        Its name in a Recipe and the stem of the page it is on.
    name
        A word or two for choosing it.
    question
        What the reader is asked beside the picture.
    answers
        What can be predicted.
    right
        Number of the answer that comes true with the usual settings.
    why
        For each answer one sentence: why it is so, or what it mistakes for what.
    turn
        One setting with which another answer comes true.
    parameters
        Settings with range and default; the first two stand under the picture, the others are folded. Those with
        ``view_of`` only change pictures.
    simulation
        What computes the numbers, of which the figure of the same key and ``more_figures`` are drawn.
    notice
        What to look for.
    formulas
        In LaTeX.
    source
        The paper, with its theorem, equation or figure.
    also
        Key → further simulation of the same settings, each with the figure of its key.
    terms
        Keys of the glossary that stand in its pictures only.
    drawn
        Whether chance, and so the seed, matters.
    large
        Whether its pictures need the whole width.
    plays
        The setting that a play button steps through, a choice or a whole number.
    """

    key: str
    page: str
    name: str
    question: str
    answers: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    simulation: Simulation
    notice: tuple[str, ...]
    formulas: tuple[str, ...]
    source: str
    right: int = 0
    why: tuple[str, ...] = ()
    turn: Mapping[str, Any] = field(default_factory=dict)
    more_figures: tuple[str, ...] = ()
    also: Mapping[str, Simulation] = field(default_factory=dict)
    terms: tuple[str, ...] = ()
    drawn: bool = True
    large: bool = False
    plays: str = ""

    @property
    def figures(self) -> tuple[str, ...]:
        """Keys of its pictures, its own first."""
        return self.key, *self.more_figures

    @property
    def runs(self) -> dict[str, tuple[str, ...]]:
        """Every simulation of it, its own first, with the keys of the pictures of what it returns."""
        return {self.key: self.figures} | {key: (key,) for key in self.also}

    @property
    def guess(self) -> Parameter:
        """The reader's prediction: none yet, skipped, awaited before the picture is shown, or an answer's number."""
        numbers = tuple(str(i) for i in range(1, len(self.answers) + 1))
        return Parameter("guess", "Your prediction", "choice", ASK, choices=(ASK, SKIP, COVER, *numbers))

    def usual(self, values: Mapping[str, Any]) -> bool:
        """Whether the numbers are those that the question is about."""
        return self.numbers(values) == self.numbers(self.values({}))

    def simulate(
        self,
        simulation: str | None = None,
        *,
        random_state: int = 0,
        watch: Watch | None = None,
        using: Mapping[str, Callable[..., Any]] | None = None,
        **settings: Any,
    ) -> Any:
        """The numbers of its pictures, or of those of another one of its ``runs``; defaults where settings say nothing.

        Parameters
        ----------
        using
            Functions that remember what they returned, in place of the simulation's own of these names.

        Raises
        ------
        InputError
            Where a setting is unknown or out of its range.
        """
        compute = self.simulation if simulation in (None, self.key) else self.also[str(simulation)]
        return compute(
            self.numbers(self.check(settings), simulation), random_state, watch or Watch(), **(using or {})
        )

    def values(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Every parameter's value out of a Recipe's settings, defaults where it says nothing."""
        return {p.name: settings.get(f"{self.key}.{p.name}", p.default) for p in self.parameters}

    def numbers(self, values: Mapping[str, Any], simulation: str | None = None) -> dict[str, Any]:
        """Those of the values that change the numbers: of its own simulation, or of another one of its ``runs``."""
        return {
            p.name: values[p.name]
            for p in self.parameters
            if "view" not in p.extra or simulation in p.extra.get("numbers_of", ())
        }

    def view(self, values: Mapping[str, Any], figure: str) -> dict[str, Any]:
        """Those that only change this picture."""
        return {p.name: values[p.name] for p in self.parameters if figure in p.extra.get("view", ())}

    def to_python(self, settings: Mapping[str, Any], seed: int) -> str:
        """Python source that computes the numbers of all its pictures."""

        def arguments(named: Mapping[str, Any]) -> str:
            return "".join(f", {name}={value!r}" for name, value in named.items())

        values = self.values(settings)
        lines = ["from calib.experiments import EXPERIMENTS", "from calib.figures import FIGURES"]
        lines += ["", f'experiment = EXPERIMENTS["{self.key}"]']
        for simulation, figures in self.runs.items():
            which = "" if simulation == self.key else f'"{simulation}", '
            given = f"{which}random_state={seed}{arguments(self.numbers(values, simulation))}"
            lines += ["", f"result = experiment.simulate({given})"]
            records = (
                f'FIGURES["{key}"].prepare(result{arguments(self.view(values, key))})' for key in figures
            )
            lines += [f"print({record}.to_frame().to_string(max_rows=60))" for record in records]
        return "\n".join(lines) + "\n"

    def check(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """All settings of a call from a notebook, with defaults; refused by name where they cannot be."""
        return checks.settings(values, self.parameters, self.name)


def with_default(parameter: Parameter, default: Any) -> Parameter:
    """The same setting starting elsewhere."""
    return replace(parameter, default=default)


def view_of(*figures: str, **extra: Any) -> dict[str, Any]:
    """``extra`` of a setting that changes only these pictures, not the numbers behind them.

    ``numbers_of=(simulation, …)`` names those of an experiment's further simulations that do take it.
    """
    return {"view": figures} | extra

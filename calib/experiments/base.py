"""An experiment of the Learn pages: question, answers, settings, simulation, formulas and source.

Each experiment is a module with this entry, its simulation and its pictures; a long one is a folder, with the
simulation in a file of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from calib.kernel import checks
from calib.kernel.progress import Watch
from calib.kernel.records import Parameter

ASK, SKIP, COVER_TEXT = "ask", "skip", "cover"
"""Values of a guess: asked and not answered yet, skipped, and another word for the first in old links."""

Simulation = Callable[..., Any]
"""``simulation(settings, random_state, watch) → numbers``; settings are name → value, complete and checked."""


@dataclass(frozen=True)
class Experiment:
    """One idea that a reader can try.

    Attributes
    ----------
    key, page
        Name in a Recipe, and its page: "labs", "two_probabilities" or "simulations".
    lab
        View of the page, by default its own; experiments of one view share it.
    name
        Short name to choose it by.
    question
        Question beside the picture.
    answers
        Possible predictions.
    right
        Number of the right answer with the default settings.
    why
        For each answer, why it is right or which mistake it makes.
    turn
        One setting that makes another answer right.
    no_turn
        Why no one setting does, if ``turn`` is empty.
    parameters
        Settings with range and default. The first two are below the picture, the others are folded. Settings with
        ``view_of`` only change pictures.
    simulation
        Computes the numbers for the figure with the experiment's key and for ``more_figures``.
    notice
        Sentences that say what to notice.
    formulas
        Formulas in LaTeX.
    source
        The paper, with its theorem, equation or figure.
    also
        Key → further simulation with the same settings, each with the figure of its key.
    terms
        Keys of glossary entries that occur only in its pictures.
    seeded
        Whether the numbers depend on the seed.
    large
        Whether its pictures need the whole width.
    plays
        The setting that a play button steps through, a choice or a whole number.
    ghosts
        For each answer, what it would look like in the picture (``Question.ghosts``), as ``panels`` if that is a panel.
    posed
        Whether the picture belongs to the question. Others are empty until the reader answers: they show the answer.
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
    no_turn: str = ""
    more_figures: tuple[str, ...] = ()
    also: Mapping[str, Simulation] = field(default_factory=dict)
    terms: tuple[str, ...] = ()
    seeded: bool = True
    large: bool = False
    lab: str = ""
    plays: str = ""
    posed: bool = False
    ghosts: tuple[Mapping[str, Any], ...] = ()

    @property
    def script(self) -> str:
        """Stem of its page's script."""
        return f"{'study' if self.page == 'simulations' else 'learn'}_{self.page}"

    @property
    def figures(self) -> tuple[str, ...]:
        """Keys of all pictures, the main one first."""
        return self.key, *self.more_figures

    @property
    def runs(self) -> dict[str, tuple[str, ...]]:
        """Every simulation, the main one first, with the keys of its pictures."""
        return {self.key: self.figures} | {key: (key,) for key in self.also}

    @property
    def guess(self) -> Parameter:
        """The setting that holds the reader's prediction: ``ASK``, ``SKIP`` or the number of an answer."""
        numbers = tuple(str(i) for i in range(1, len(self.answers) + 1))
        words = "Number of your answer; without an answer, “ask” to show the question or “skip” to omit it."
        usual = ASK if self.posed else SKIP  # no picture is empty at first
        return Parameter(
            "guess", "Your prediction", "choice", usual, choices=(SKIP, ASK, COVER_TEXT, *numbers), help=words
        )

    def usual(self, values: Mapping[str, Any]) -> bool:
        """Tell whether these settings are the ones that the question is about."""
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
        """Compute the numbers of its pictures, or those of another of its ``runs``; missing settings take defaults.

        Parameters
        ----------
        using
            Cached functions that replace the simulation's own functions of these names.

        Raises
        ------
        InputError
            If a setting is unknown or out of range.
        """
        compute = self.simulation if simulation in (None, self.key) else self.also[str(simulation)]
        return compute(
            self.numbers(self.check(settings), simulation), random_state, watch or Watch(), **(using or {})
        )

    def values(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Read the value of every parameter from a Recipe's settings; missing values take defaults."""
        return {p.name: settings.get(f"{self.key}.{p.name}", p.default) for p in self.parameters}

    def numbers(self, values: Mapping[str, Any], simulation: str | None = None) -> dict[str, Any]:
        """Select the values that change the numbers of its own simulation, or of another of its ``runs``."""
        return {
            p.name: values[p.name]
            for p in self.parameters
            if "view" not in p.extra or simulation in p.extra.get("numbers_of", ())
        }

    def view(self, values: Mapping[str, Any], figure: str) -> dict[str, Any]:
        """Select the values that only change this picture."""
        return {p.name: values[p.name] for p in self.parameters if figure in p.extra.get("view", ())}

    def to_python(self, settings: Mapping[str, Any], seed: int) -> str:
        """Write Python source that computes the numbers of all its pictures."""

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
        """Complete the settings of a call with defaults; an invalid setting raises an error with its name."""
        return checks.settings(values, self.parameters, self.name)


def with_default(parameter: Parameter, default: Any) -> Parameter:
    """Copy a setting with another default."""
    return replace(parameter, default=default)


def view_of(*figures: str, **extra: Any) -> dict[str, Any]:
    """Return ``extra`` for a setting that changes only these pictures, not their numbers.

    ``numbers_of=(simulation, …)`` names further simulations of the experiment that do take the setting.
    """
    return {"view": figures} | extra

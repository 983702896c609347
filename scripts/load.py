"""Simulate many users at once: ``python -m scripts.load [--clients 20] [--minutes 5] [--tabs 3] [--fits 4]``.

``--windows 8`` instead measures the cost of each further browser window, ``--phones 40`` a class in a room. All
measure a fresh server on this machine by its memory and processor time, as Linux counts them for its process: other
work on the machine makes users wait but hardly changes either.

Some clients fit large forests without a pause; the others move sliders, upload tables, change models, close their tab
and open another, and pause in between, as people do. A few are tabs of a real Chromium, the others use Streamlit's
protocol directly. Every client has its own settings; afterwards all that it was shown is compared with
``calib.evaluate`` of these settings. Prints the waiting times for a slider, with and without concurrent fits, and the
server's memory before, at most, and after all have left. The exit status is 1 if an answer was wrong, an error was
shown, the server logged an error, sliders were slow, or memory was not released.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from math import isfinite
from pathlib import Path
from typing import IO
from urllib.parse import parse_qsl, urlencode

import numpy as np

from calib import Evaluation, Recipe, evaluate
from calib.analysis.recommendation.advice import recommend
from calib.sources import load
from pages.ui.learn.live_quiz import PHONE, PROJECTOR
from tests.browser import files
from tests.browser.driver import Tab, chromium, free_port, started
from tests.browser.reader import Reader, phone

PAUSES = (3.0, 9.0)  # seconds that a user looks at an answer before the next step
FORGOTTEN = 10  # seconds after which this server forgets a closed tab; 120 by default
SLOW = 1.0  # highest median of a slider's answer in seconds, while four fits run
KEPT_AT_MOST = 0.5  # share of the memory increase that may remain after all have left
QUICK = ("naive_bayes", "logistic_regression", "decision_tree")
TREES = 400  # trees of the forests that are fitted without a pause
STEPS = 10  # slider steps in each window
OPEN = 20  # seconds for which phones poll their room
TICKS = os.sysconf("SC_CLK_TCK")
SHOWN = {"Brier score": "brier", "ECE": "ece", "Log loss": "log_loss", "Accuracy": "accuracy"}


class Process:
    """A server's process, found by its port."""

    def __init__(self, port: int) -> None:
        wanted = f"--port\0{port}\0".encode()
        found = (path.parent for path in Path("/proc").glob("[0-9]*/cmdline") if wanted in path.read_bytes())
        (self._folder,) = found

    @property
    def megabytes(self) -> float:
        lines = (self._folder / "status").read_text().splitlines()
        (line,) = (line for line in lines if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024

    @property
    def seconds(self) -> float:
        """Seconds of processor time, user and system, threads included."""
        fields = (self._folder / "stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


@contextmanager
def server(output: IO | None = None, port: int = 0, **environment: str) -> Iterator[tuple[str, Process]]:
    """Start a fresh server by its command, and yield its address and its process."""
    port = port or free_port()
    with started(output, port, OMP_NUM_THREADS="1", **environment) as address:
        yield address, Process(port)


# Many at once


@dataclass(frozen=True)
class Answer:
    """Numbers that a client was shown, and the settings that it asked for."""

    client: str
    query: str
    shown: dict[str, str]
    mine: dict[str, str]
    file: tuple[str, bytes] | None = None


@dataclass
class Figures:
    """Measurements, filled by all clients."""

    # Seconds for a slider's answer, and the number of concurrent fits
    waits: list[tuple[float, int]] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)  # places in the queue, as shown
    memory: list[float] = field(default_factory=list)
    fitting: int = 0
    fits: int = 0
    uploads: int = 0
    reopened: int = 0
    before: float = 0.0
    after: float = 0.0
    processor: float = 0.0  # the server's seconds of work per second

    @contextmanager
    def fit(self):
        self.fitting += 1
        try:
            yield
        finally:
            self.fitting -= 1
            self.fits += 1

    def waited(self, fits: int = 0) -> list[float]:
        """Return the sorted waits during which at least this many fits ran."""
        return sorted(wait for wait, beside in self.waits if beside >= fits)

    @property
    def kept(self) -> float:
        """The share of the memory that came during the load and is still there."""
        return (self.after - self.before) / max(1.0, max(self.memory) - self.before)


class Client(threading.Thread):
    """A person at work until the time is over."""

    def __init__(self, name: str, address: str, until: float, figures: Figures) -> None:
        super().__init__(name=name, daemon=True)
        self.address, self.until, self.figures = address, until, figures
        self.number = int(name.rpartition(" ")[2])
        self.rng = random.Random(self.number)

    def run(self) -> None:
        try:
            self.work()
        except Exception as error:
            self.figures.faults.append(f"{self.name}: {type(error).__name__}: {error}")

    def think(self) -> None:
        time.sleep(max(0.0, min(self.rng.uniform(*PAUSES), self.until - time.monotonic())))

    @property
    def over(self) -> bool:
        return time.monotonic() > self.until

    def work(self) -> None:
        raise NotImplementedError

    def saw(self, reader: Reader, mine: dict[str, str], file: tuple[str, bytes] | None = None) -> None:
        self.figures.faults += [f"{self.name}: {fault}" for fault in reader.faults]
        reader.faults.clear()
        if not reader.working:  # else the shown numbers belong to the previous settings
            self.figures.answers.append(Answer(self.name, reader.query, reader.headline(), mine, file))


class Fitter(Client):
    """Fits one large forest after the other."""

    def work(self) -> None:
        sample = {"data": "sample:digits", "model": "large_forest", "seed": str(self.number)}
        reader, trees = Reader(self.address, **sample), TREES
        while not self.over:
            trees += 1
            with self.figures.fit():
                reader.query = urlencode(sample | {"params": f'{{"n_estimators":{trees}}}'})
                reader.open()
                self.figures.places += [text for text in reader.progress if "in the queue" in text]
                reader.settled()
            self.saw(reader, {"seed": str(self.number), "params": f'{{"n_estimators":{trees}}}'})
        reader.close()


class Student(Client):
    """Moves sliders on samples or on a table of their own."""

    def work(self) -> None:
        while not self.over:
            self.visit()
            self.figures.reopened += 1

    def visit(self) -> None:
        """Use one tab, from opening to closing."""
        mine, file = {"seed": str(self.number), "model": self.rng.choice(QUICK)}, None
        reader = Reader(self.address, **mine)
        if self.rng.random() < 0.5:
            file = self.bring(reader)
            mine["file"] = file[0]
        reader.page = "explore_reliability"
        reader.open().settled()
        self.saw(reader, mine, file)
        for _ in range(self.rng.randrange(4, 12)):
            self.think()
            if self.over:
                break
            self.slide(reader, file, mine)
        reader.close()

    def bring(self, reader: Reader) -> tuple[str, bytes]:
        number = self.rng.randrange(10**6)
        frame = files.churn(self.rng.randrange(300, 3000), seed=number)
        file = f"mine {self.number} {number}.csv", files.as_csv(frame)
        reader.page = "explore_data"
        reader.open().upload(*file)
        self.figures.uploads += 1
        return file

    def slide(self, reader: Reader, file: tuple[str, bytes] | None, mine: dict[str, str]) -> None:
        bins, begin, beside = self.rng.randrange(5, 60), time.monotonic(), self.figures.fitting
        reader.slide("bins", bins)
        self.figures.waits.append((time.monotonic() - begin, min(beside, self.figures.fitting)))
        reader.settled()
        self.saw(reader, mine | ({} if bins == Recipe().bins else {"bins": str(bins)}), file)


class Tabs(Client):
    """A few tabs of a real browser, one after the other."""

    def __init__(self, name: str, address: str, until: float, figures: Figures, count: int) -> None:
        super().__init__(name, address, until, figures)
        self.count = count

    def work(self) -> None:
        with chromium() as browser:
            tabs = [Tab(browser.new_context().new_page(), self.address) for _ in range(self.count)]
            for i, tab in enumerate(tabs):
                tab.open("explore_reliability", model=QUICK[i % len(QUICK)], seed=str(1000 + i))
            while not self.over:
                for i, tab in enumerate(tabs):
                    tab.slide("bins", 1)
                    mine = {"seed": str(1000 + i), "model": QUICK[i % len(QUICK)]}
                    query = tab.page.evaluate("location.search.slice(1)")
                    self.figures.answers.append(Answer(f"tab {i}", query, tab.headline(), mine))
                    self.think()
            self.figures.faults += [f"tab: {fault}" for tab in tabs for fault in tab.faults()]


def expected(answer: Answer, known: dict[str, Evaluation]) -> dict[str, list[float]]:
    """Return the values of the headline that ``calib`` itself gives for these settings, before and after."""
    query = _fields(answer.query)
    recipe = Recipe.from_query(query)
    key = f"{recipe.data} {recipe.digest('calibrate')}"
    if key not in known:
        known[key] = (
            files.evaluation_of(query, *answer.file) if answer.file else evaluate(recipe, load(recipe, {}))
        )
    evaluation = known[key].with_view(recipe)
    table = evaluation.metrics.loc[list(dict.fromkeys(["none", recommend(evaluation).choice]))]
    return {label: [float(value) for value in table[name]] for label, name in SHOWN.items()}


def agrees(shown: str, values: list[float]) -> bool:
    """Tell whether a headline such as "∞ (clipped: 1.57) → 0.27" shows these values, rounded as it is rounded.

    >>> agrees("0.0764 → 0.0744", [0.07641, 0.07438]), agrees("0.91", [0.912, 0.909]), agrees("0.91", [0.92, 0.92])
    (True, True, False)
    """
    parts = [part.split(" (")[0] for part in shown.split(" → ")]
    parts *= len(values) if len(parts) == 1 else 1  # values that are rounded alike are shown once
    return len(parts) == len(values) and all(map(_is_rounded, parts, values))


def _is_rounded(text: str, value: float) -> bool:
    if not isfinite(value):
        return text == "∞"
    return (
        abs(Decimal(text) - Decimal(value))
        <= Decimal("0.5000001") * Decimal(10) ** Decimal(text).as_tuple().exponent
    )


def _fields(query: str) -> dict[str, str]:
    return dict(parse_qsl(query))


def wrong(figures: Figures, fits: int = 2) -> list[str]:
    """Return the answers that do not fit the client's settings; only a few of the large fits are recomputed."""
    known: dict[str, Evaluation] = {}
    found, large = [], 0
    for answer in figures.answers:
        fields = {"seed": str(Recipe().seed), "model": Recipe().model} | _fields(answer.query)
        if any(fields.get(name) != value for name, value in answer.mine.items()):
            found.append(f"{answer.client} asked for {answer.mine} and was shown {fields}")
        large += "params" in answer.mine
        if "params" in answer.mine and large > fits:
            continue
        right = expected(answer, known)
        if answer.shown.keys() != right.keys() or not all(agrees(answer.shown[k], right[k]) for k in right):
            found.append(f"{answer.client}, {answer.query}: {answer.shown} and not {right}")
    return found


def run(clients: int, minutes: float, tabs: int = 3, fits: int = 4) -> Figures:
    """Let so many work at once; all that happened."""
    figures = Figures()
    forgotten = {"STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": str(FORGOTTEN)}
    with tempfile.TemporaryFile("w+") as said:
        with server(said, **forgotten) as (address, process):
            _first(address)
            figures.before, begin, spent = process.megabytes, time.monotonic(), process.seconds
            kinds = [Fitter] * fits + [Student] * (clients - fits - tabs)
            until = begin + 60 * minutes
            at_work: list[Client] = [
                kind(f"client {i}", address, until, figures) for i, kind in enumerate(kinds)
            ]
            if tabs:
                at_work.append(Tabs("tabs 999", address, until, figures, tabs))
            _together(at_work, figures, process)
            figures.processor = (process.seconds - spent) / (time.monotonic() - begin)
            _empty(figures, process)
        said.seek(0)
        figures.faults += [f"server: {line}" for line in said.read().splitlines() if _complains(line)]
    return figures


def _first(address: str) -> None:
    """Let one visitor come first, so that libraries are loaded before memory is measured."""
    reader = Reader(address).open().settled()
    reader.close()


def _together(at_work: list[Client], figures: Figures, process: Process) -> None:
    for client in at_work:
        client.start()
        time.sleep(0.3)
    while any(client.is_alive() for client in at_work):
        figures.memory.append(process.megabytes)
        time.sleep(1)


def _empty(figures: Figures, process: Process) -> None:
    """Measure the memory after all have left and the server has forgotten them."""
    end = time.monotonic() + 3 * FORGOTTEN
    while time.monotonic() < end:
        time.sleep(1)
        figures.after = process.megabytes


def _complains(line: str) -> bool:
    return any(word in line for word in ("Error", "Exception", "Traceback", "a job failed"))


def report(figures: Figures, complaints: list[str]) -> str:
    """Write the measurements as lines of a table."""

    def waits(fits: int) -> str:
        found = figures.waited(fits)
        if not found:
            return "none"
        late = found[min(len(found) - 1, int(0.95 * len(found)))]
        return f"median {statistics.median(found):.2f} s, 95 % within {late:.2f} s, {len(found)} answers"

    lines: list[tuple[str, object]] = [
        ("a slider's answer", waits(0)),
        ("… while at least four fits run or wait", waits(4)),
        ("large fits, uploads, tabs closed", f"{figures.fits}, {figures.uploads}, {figures.reopened}"),
        ("times a place in the queue was shown", len(figures.places)),
        ("answers compared", len(figures.answers)),
        ("wrong answers, errors, complaints of the server", len(complaints)),
        ("memory after the first visitor", f"{figures.before:.0f} MiB"),
        ("memory at most", f"{max(figures.memory):.0f} MiB"),
        (
            "memory when all have gone",
            f"{figures.after:.0f} MiB ({100 * figures.kept:.0f} % of the increase)",
        ),
        ("processors in use by the server", f"{figures.processor:.2f} of {os.cpu_count()}"),
    ]
    return "\n".join(f"| {what} | {value} |" for what, value in lines)


def crowd(clients: int, minutes: float, tabs: int, fits: int) -> int:
    """Print the figures of so many at once; 1 where something of them is not as it should be."""
    figures = run(clients, minutes, tabs, fits)
    complaints = figures.faults + wrong(figures)
    print(report(figures, complaints))
    print(*complaints[:20], sep="\n")
    slow = statistics.median(figures.waited(4) or [0.0]) > SLOW
    return int(bool(complaints) or slow or figures.kept > KEPT_AT_MOST)


# One window after the other


def windows(count: int) -> int:
    """In ever more Chromium windows, open the first page, move a slider and open two more pages."""
    with server() as (address, process), chromium() as browser:
        print(f"no session yet: {process.megabytes:.0f} MiB")
        for number in range(1, count + 1):
            begin = process.seconds
            tab = Tab(browser.new_context(viewport={"width": 1400, "height": 900}).new_page(), address).open(
                "explore_reliability"
            )
            opened = process.seconds
            for _ in range(STEPS):
                tab.slide("bins", 1)
            moved = process.seconds
            tab.go("Decide").go("Venn–Abers")
            print(
                f"session {number}: {process.megabytes:.0f} MiB, {opened - begin:.2f} processor seconds to open, "
                f"{(moved - opened) / STEPS:.2f} per step of the slider, {(process.seconds - moved) / 2:.2f} per page",
                flush=True,
            )
    return 0


# A class in a live quiz


def phones(count: int) -> int:
    """Let this many phones and a projector poll a room as often as their pages do, then all answer at once."""
    with server() as (address, process), ThreadPoolExecutor(count + 1) as pool:
        host = Reader(address, "learn_two_probabilities").open().press("Start a live quiz")
        room, before, memory = _fields(host.query)["room"], process.seconds, process.megabytes
        seats = [f"seat-of-student-{number:03}" for number in range(count)]
        joined = list(pool.map(lambda seat: phone(address, room, seat), seats))
        print(
            f"{count} phones join: {(process.seconds - before) / count:.3f} s of a processor and "
            f"{(process.megabytes - memory) / count:.1f} MiB each"
        )
        host.press("Begin")
        before = process.seconds
        looking = [(host, PROJECTOR), *((phone, PHONE) for phone in joined)]
        projector, *waits = pool.map(lambda one: _looked(*one), looking)
        used, polls = process.seconds - before, len(projector) + sum(map(len, waits))
        middle, late = 1000 * np.quantile(np.concatenate(waits), [0.5, 0.95])
        print(
            f"open for {OPEN} s: {100 * used / OPEN:.0f} % of one processor, {1000 * used / polls:.1f} ms per poll, "
            f"and a phone waits {middle:.0f} ms (95 % at most {late:.0f} ms)"
        )
        took = pool.map(lambda phone: _took(partial(phone.press, "**A**")), joined)
        print(f"all answer at once: the last one waits {max(took):.2f} s")
    return 0


def _looked(phone: Reader, every: float) -> list[float]:
    """Return the seconds that each poll took."""
    end, took = time.monotonic() + OPEN, list[float]()
    while time.monotonic() < end:
        took.append(_took(phone.poll))
        time.sleep(max(0.0, every - took[-1]))
    return took


def _took(act: Callable[[], object]) -> float:
    begin = time.monotonic()
    act()
    return time.monotonic() - begin


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--tabs", type=int, default=3, help="how many of them are tabs of a Chromium")
    parser.add_argument(
        "--fits", type=int, default=4, help="how many of them fit large forests without a pause"
    )
    parser.add_argument("--windows", type=int, help="measure one window after the other instead")
    parser.add_argument("--phones", type=int, help="measure a class in a room instead")
    options = parser.parse_args()
    if options.windows:
        return windows(options.windows)
    if options.phones:
        return phones(options.phones)
    return crowd(options.clients, options.minutes, options.tabs, options.fits)


if __name__ == "__main__":
    sys.exit(main())

"""Run a study cell by cell, here or on a cluster; each result is stored as soon as it arrives.

Stored results are not computed again, so that a run that was stopped in any way continues where it was.
Cells are distributed one at a time, by joblib or to a Dask cluster; a worker that dies costs only the cells that it
was computing.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import joblib

from calib.kernel import checks
from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.kernel.records import Dataset
from calib.kernel.version import to_install
from calib.kernel.wording import duration
from calib.study.cell import Result, Task, outside, run
from calib.study.grid import Cell, check_rows_for, study_cells
from calib.study.papers.models import check_installed
from calib.study.protocol import Protocol, Setup
from calib.study.rows import measures
from calib.study.store import Key, Store

BACKENDS = ("loky", "dask")
MOST_DEATHS = 3  # workers lost in a row without a result
SECONDS_IDLE = 10  # seconds until an idle worker ends, such as one whose study was killed
SECONDS_FOR_SCHEDULER = 20  # seconds for a Dask scheduler to answer, and for its first worker
HOSTLESS = ("inproc", "ucx")  # kinds of Dask addresses without HOST:PORT

Numbered = tuple[int, list[Result]]
Runs = Callable[[Sequence[Task]], Generator[Numbered]]


@dataclass(frozen=True)
class Summary:
    """Result of running a study.

    Attributes
    ----------
    cells
        Number of cells in the study.
    computed
        Number of cells in this run.
    failed
        Rows without a result.
    keys
        Keys of all rows of the study in the store.
    """

    cells: int
    computed: int
    failed: int
    keys: frozenset[Key]

    @property
    def complete(self) -> bool:
        return self.failed == 0


def run_study(
    protocol: Protocol,
    sets: Mapping[str, Dataset],
    store: Store,
    *,
    setups: Iterable[str] | None = None,
    repeats: int | None = None,
    folds: int | None = None,
    jobs: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
    retry_failed: bool = False,
    breadth_first: bool = False,
    shared: bool = False,
    watch: Watch | None = None,
) -> Summary:
    """Compute the results of a study that the store lacks, and store them.

    Parameters
    ----------
    protocol, sets
        The protocol, and the data sets by name.
    store
        A store open for writing.
    setups, repeats, folds
        See ``study_cells``.
    jobs
        Cells at once with the backend "loky"; with "dask" the cluster's cores decide.
    scheduler
        Address of a Dask scheduler, such as ``tcp://host:8786``.
    retry_failed
        Whether cells that failed before are tried again.
    breadth_first
        Whether the first fold of every set and model comes before the second of any: their time then shows
        how long the others take.
    shared
        Whether this process does other work at the same time, as a server does: cells of several studies then
        take turns, and warnings of models are not recorded.
    watch
        Reports progress and can cancel the run between cells.

    Raises
    ------
    InputError
        If the study cannot be run, before anything is run; Cancelled if cancelled, with all finished cells stored.
    """
    cells = study_cells(protocol, sets, setups, repeats, folds)
    _check_sets(cells, sets, protocol.metrics)
    wanted = _wanted(cells, sets, store)
    store.note_order(setup.name for setup in protocol.setups)
    store.complete(wanted, protocol.metrics)
    there = store.stored_keys(failed=False if retry_failed else None)
    missing = [todo for cell in cells if (todo := _lacking(cell, sets, there)).setups]
    more = outside()
    tasks = [Task(cell, sets[cell.data], protocol.metrics, more, shared) for cell in missing]
    if breadth_first:
        tasks.sort(key=lambda task: (task.cell.repeat, task.cell.fold))
    progress = Progress(watch or Watch(), len(cells), len(tasks))
    _compute(tasks, store, _pool(jobs, backend, scheduler), progress)
    return Summary(
        len(cells), len(tasks), len(wanted.keys() - store.stored_keys(failed=False)), frozenset(wanted)
    )


def _check_sets(cells: Sequence[Cell], sets: Mapping[str, Dataset], metrics: Iterable[str]) -> None:
    """Refuse a study that no data set allows; if only some do not, their cells fail and the others run."""
    for key in metrics:
        if measures()[key].needs == "posterior" and all(data.posterior is None for data in sets.values()):
            raise InputError(
                f"The metric {key!r} needs true probabilities, but no data set has them. Remove the metric, or add a "
                "synthetic data set such as synthetic:gaussian."
            )
    refused: dict[str, str] = {}
    for name, splits in dict.fromkeys((cell.data, cell.splits) for cell in cells):
        try:
            check_rows_for(splits, sets[name])
        except InputError as error:
            refused.setdefault(name, str(error))
    if cells and len(refused) == len(sets):
        raise InputError(": ".join(next(iter(refused.items()))))


def _wanted(cells: Sequence[Cell], sets: Mapping[str, Dataset], store: Store) -> dict[Key, Setup]:
    """Return the rows of the study, if this machine and this store can take them."""
    for setup in {setup for cell in cells for setup in cell.setups}:
        check_installed(setup.estimator)
    wanted = {key_of(cell, setup, sets): setup for cell in cells for setup in cell.setups}
    _refuse_others(store, wanted)
    return wanted


@dataclass(frozen=True)
class StudyProgress:
    """Progress of a study.

    Attributes
    ----------
    cells
        Number of cells in the study.
    done
        Cells with all results, including failed ones.
    failed
        Results that failed.
    keys
        Keys of all rows of the study, stored or not.
    """

    cells: int
    done: int
    failed: int
    keys: frozenset[Key]


def study_progress(
    protocol: Protocol,
    sets: Mapping[str, Dataset],
    store: Store,
    setups: Iterable[str] | None = None,
    repeats: int | None = None,
    folds: int | None = None,
) -> StudyProgress:
    """Return how much of a study a store already contains; parameters as for ``run_study``.

    Parameters
    ----------
    protocol, sets, store, setups, repeats, folds
        See ``run_study``.
    """
    there, cells = store.stored_keys(), study_cells(protocol, sets, setups, repeats, folds)
    keys = frozenset(key_of(cell, setup, sets) for cell in cells for setup in cell.setups)
    done = sum(not _lacking(cell, sets, there).setups for cell in cells)
    return StudyProgress(len(cells), done, len(keys & store.stored_keys(failed=True)), keys)


def key_of(cell: Cell, setup: Setup, sets: Mapping[str, Dataset]) -> Key:
    """Return the key of a setup's result in a cell."""
    return (cell.data, setup.name, sets[cell.data].digest, setup.digest, cell.repeat, cell.fold, cell.seed)


def _lacking(cell: Cell, sets: Mapping[str, Dataset], there: set[Key]) -> Cell:
    """Return the cell with the setups that the store lacks."""
    return replace(cell, setups=tuple(s for s in cell.setups if key_of(cell, s, sets) not in there))


def _refuse_others(store: Store, wanted: Iterable[Key]) -> None:
    """Refuse to mix results of one name from different data or settings."""
    given = {key[:2]: key[2:4] for key in wanted}
    for data, setup, *digests in sorted({key[:4] for key in store.stored_keys()}):
        if given.get((data, setup), tuple(digests)) != tuple(digests):
            what = (
                "the data have" if given[data, setup][0] != digests[0] else "the protocol or the folds have"
            )
            raise InputError(
                f"{store.path} contains results of {setup!r} on {data!r}, but {what} changed since. "
                "Choose another results file (--store) for the new results."
            )


class Progress:
    """Report after each cell how many are done, how fast, and how much time remains."""

    def __init__(self, watch: Watch, cells: int, missing: int) -> None:
        self.watch, self.cells, self.missing = watch, cells, missing
        self.done, self.begin = 0, time.perf_counter()

    def step(self, cells: int) -> None:
        self.done += cells
        there = self.cells - self.missing + self.done
        text = f"{there:,} of {self.cells:,} runs"
        if self.done and self.done < self.missing:
            rate = self.done / (time.perf_counter() - self.begin)
            text += f", {rate:.2g} per second, {duration((self.missing - self.done) / rate)} remaining"
        self.watch.step(there / self.cells if self.cells else 1.0, text)


def _compute(
    tasks: Sequence[Task], store: Store, pool: contextlib.AbstractContextManager[Runs], progress: Progress
) -> None:
    """Run the tasks and store their results; tasks of a dead worker are distributed again."""
    left, deaths = {id(task): task for task in tasks}, 0
    with pool as runs:
        progress.step(0)
        while left:
            results = runs(list(left.values()))
            try:
                for number, found in results:
                    store.add(found)
                    del left[number]
                    deaths = 0
                    progress.step(1)
            except _died() as error:
                deaths += 1
                if deaths == MOST_DEATHS:
                    raise InputError(
                        f"The system killed workers {MOST_DEATHS} times in a row, usually because memory ran out. Use "
                        f"fewer --jobs or a smaller data set. Results so far are saved. ({error})"
                    ) from None
            finally:
                results.close()


@contextlib.contextmanager
def _pool(jobs: int, backend: str, scheduler: str | None) -> Iterator[Runs]:
    """Yield a function that runs tasks, for one run of the study."""
    checks.one_of(backend, BACKENDS, "--backend")
    if backend == "loky":
        if scheduler is not None:
            raise InputError(
                "--scheduler has an effect only with --backend dask. Add this option, or remove --scheduler."
            )
        jobs = checks.in_range(jobs, "--jobs", 1, 1024, integer=True)
        with joblib.parallel_config("loky", n_jobs=jobs, idle_worker_timeout=SECONDS_IDLE):
            yield _here
        return
    with _client(scheduler) as client:
        yield partial(_on_cluster, client)


def _here(tasks: Sequence[Task]) -> Any:
    """Return (id of the task, its results) as they arrive, in any order, from processes on this machine."""
    parallel = joblib.Parallel(batch_size=1, return_as="generator_unordered")
    return parallel(joblib.delayed(_numbered)(id(task), task) for task in tasks)


def _on_cluster(client: Any, tasks: Sequence[Task]) -> Generator[Numbered]:
    """Yield the results from a Dask cluster, with two cells per core submitted.

    joblib's own backend is not used: it waits forever for a cell that Dask gave up after its workers were lost.
    """
    from distributed import as_completed

    waiting, under_way = iter(tasks), as_completed(loop=client.loop)
    while True:
        free = 2 * max(1, sum(client.nthreads().values())) - under_way.count()
        more = (
            client.submit(_numbered, id(task), task, pure=False) for task in islice(waiting, max(0, free))
        )
        under_way.update(more)
        if under_way.is_empty():
            return
        yield next(under_way).result()


def _numbered(number: int, task: Task) -> Numbered:
    return number, run(task)


def _client(scheduler: str | None) -> Any:
    """Return a connection to the Dask scheduler at an address."""
    if not scheduler:
        raise InputError(
            "--backend dask needs the address of the scheduler. Add --scheduler tcp://HOST:8786."
        )
    try:
        from distributed import Client
        from distributed.comm.addressing import get_address_host_port, parse_address
    except ImportError:
        raise InputError(
            f"--backend dask needs the package distributed. Install it with {to_install('dask')}."
        ) from None
    try:
        if parse_address(scheduler)[0] not in HOSTLESS:
            get_address_host_port(scheduler)  # Client itself would fail with a traceback only 40 s later
        client = Client(scheduler, timeout=SECONDS_FOR_SCHEDULER, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"No Dask scheduler responds at {scheduler} ({error}). Check the address.") from None
    try:
        # So that an adaptive cluster starts its first worker
        client.submit(int, pure=False).result(timeout=SECONDS_FOR_SCHEDULER)
    except TimeoutError:
        client.close()
        raise InputError(
            f"The Dask scheduler at {scheduler} has no workers. Start workers with dask worker {scheduler}."
        ) from None
    return client


def _died() -> tuple[type[BaseException], ...]:
    """Return the exceptions raised when a worker of either kind is killed."""
    from joblib.externals.loky.process_executor import BrokenProcessPool, TerminatedWorkerError

    kinds: tuple[type[BaseException], ...] = (TerminatedWorkerError, BrokenProcessPool)
    with contextlib.suppress(ImportError):
        from distributed.scheduler import KilledWorker

        kinds = (*kinds, KilledWorker)
    return kinds

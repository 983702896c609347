"""Read uploaded settings, calibrators, protocols and results first where reading can be ended: in a confined process.

The server then reads these files itself, because they hold objects. A file that would take all its memory or time is
refused before.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from calib.calibrators import CALIBRATORS, JOINT
from calib.data import confined
from calib.data.errors import DataError
from calib.data.limits import Bounds
from calib.experiments import EXPERIMENTS
from calib.export.calibrators import read_calibrator
from calib.export.recipes import read_recipes
from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.metrics import METRICS
from calib.models import MODELS
from calib.placements import PLACEMENTS
from calib.splits import SPLITS
from calib.study.reading import read_protocol
from calib.study.store import Store

MODEL_MEMORY = 100_000_000  # bytes besides the libraries
MEMORY_PER_BYTE_OF_FILE = 8  # bytes more
MODEL_SECONDS, MODEL_BYTES_PER_SECOND = 5, 5_000_000  # of processor time
AS_SAVED = "Use the file as it was saved."


def load() -> None:
    """Import what the functions below need, which a confined process cannot import any more."""
    for registry in (
        CALIBRATORS.everything(),
        JOINT,
        MODELS,
        PLACEMENTS,
        SPLITS,
        METRICS,
        METRICS.unlisted,
        EXPERIMENTS,
    ):
        list(registry.values())


@contextmanager
def _refused_later() -> Iterator[None]:
    """Leave it to the server to say why a file is refused."""
    with suppress(InputError, sqlite3.Error, ValueError):
        yield


@_refused_later()
def calibrator(content: bytes, name: str) -> None:
    """Read a calibrator."""
    read_calibrator(content)


@_refused_later()
def recipes(content: bytes, name: str) -> None:
    """Read settings."""
    read_recipes(content, name)


@_refused_later()
def protocol(content: bytes, name: str) -> None:
    """Read the protocol of a study."""
    read_protocol(content.decode(), name)


@_refused_later()
def results(content: bytes, name: str) -> None:
    """Read the results of a study."""
    store = Store.of_bytes(content, name)
    store.rows()
    store.failures()


def check_ends(
    read: Callable[[bytes, str], None], content: bytes, name: str, watch: Watch | None = None
) -> None:
    """Refuse a file whose reading does not end within its limits.

    Parameters
    ----------
    read
        One of the functions above.
    content, name
        Of the file.
    watch
        Cancel ends the process.

    Raises
    ------
    InputError
        If it takes more memory or time, or breaks the reader.
    """
    size = len(content)
    bounds = Bounds(
        MODEL_MEMORY + MEMORY_PER_BYTE_OF_FILE * size, MODEL_SECONDS + size // MODEL_BYTES_PER_SECOND
    )
    try:
        confined.run(read, [content], (), {"name": name}, name=name, bounds=bounds, watch=watch)
    except DataError as error:
        raise InputError(f"{error.message} {AS_SAVED}") from None

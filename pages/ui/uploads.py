"""Read uploaded files once, when they arrive, and name them in messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from calib import sources
from calib.data import DataError, TableFile, TooLargeError, guess_target, looks_like_predictions
from calib.data.limits import FEWER, LATER, UPLOAD_LIMIT, format_bytes
from calib.data.too_large import BYTES_OF_END, confined_remedy
from calib.kernel.checks import InputError
from calib.kernel.progress import Cancelled, Watch
from calib.recipe import DEFAULT_DATA
from pages.ui import browser, controls, jobs, session_cache, state, upload_memory
from pages.ui.text import about_file, plain
from pages.ui.waiting import in_background

Found = TypeVar("Found")
Reader = Callable[[bytes, str, Watch], Any]
KEPT_UPLOADS = 4
ARRIVED = "arrived_table"  # the upload that is being read
LIMIT = min(UPLOAD_LIMIT, st.get_option("server.maxUploadSize") * 10**6)  # bytes
LARGE_UPLOAD = 20_000_000  # bytes; reading a larger file takes a second or more


def _read_table(content: bytes, name: str, watch: Watch) -> tuple[str, state.Upload]:
    file, key = TableFile(name, content, confined=True), sources.digest(content)
    table = file.read(watch=watch)
    return key, state.Upload(name, table, guess_target(table), looks_like_predictions(table), file)


def keep_file(key: str, file: state.Upload | state.Model) -> None:
    """Keep a file with the latest few, within the limits; files that the settings need always stay."""
    files, needed = state.uploaded_files(), {key, *sources.missing_files(state.recipe(), ())}
    files[key] = file
    for other in [one for one in files if one not in needed][: max(0, len(files) - KEPT_UPLOADS)]:
        del files[other]
    session_cache.within(files, session_cache.OF_UPLOADS, needed)


def table_picker(label: str, key: str, on_change: Callable[[], None], help: str) -> None:
    """Draw a picker of tables; of a file above the limit only the ends come, which show its columns."""
    st.file_uploader(label, key=key, on_change=on_change, help=help)
    browser.ends_of_large_files(key, LIMIT, BYTES_OF_END, upload_memory.MEDIA_TYPE_OF_ENDS)


def received(widget: str, read: Callable[[bytes, str], Found], instead: str = "") -> Found | None:
    """Return ``read(content, name)`` of the file in a picker, or None.

    An error message appears at the head of the page, and says what is still in use (``instead``).
    """
    file = st.session_state[widget]
    if file is None:
        return None
    state.say(None)
    return _or_said(file, read, instead)


def receive_table(widget: str, then: Callable[[str], None], instead: str = "") -> None:
    """Read and keep the table in a picker, if there is one, as ``open_table`` does."""
    file = st.session_state[widget]
    if file is not None:
        state.say(None)
        open_table(file, then, instead)


def open_table(file: Any, then: Callable[[str], None], instead: str = "") -> None:
    """Read and keep a table at the head of the page (``read_arrived``), and call ``then`` with its digest."""
    st.session_state[ARRIVED] = (file, then, instead)


def read_arrived() -> bool:
    """Read the table that ``open_table`` has put here, with progress and Cancel; return whether settings changed.

    It stays until it has been read or refused, so a click on something else only begins the reading again.
    """
    before = state.recipe()
    if (arrived := st.session_state.get(ARRIVED)) is not None:
        file, then, instead = arrived
        key = _or_said(file, _keep_table, instead)
        st.session_state.pop(ARRIVED, None)
        if key is not None:
            then(key)
    return state.recipe() != before


def _keep_table(content: bytes, name: str) -> str:
    key, file = in_background(f"Reading {name}", partial(_read_table, content, name), cancel_reading)
    keep_file(key, file)
    return key


def cancel_reading() -> None:
    """After Cancel, show the previous data again, or the first data set."""
    st.session_state.pop(ARRIVED, None)
    if sources.file_key(state.recipe().data) not in state.uploaded_files() and sources.parse_place(
        state.recipe().data
    ):
        controls.choose_data(DEFAULT_DATA)
    state.say("Reading was cancelled.")


def _or_said(file: Any, read: Callable[[bytes, str], Found], instead: str) -> Found | None:
    """Return ``read(content, name)`` of a file, or None after a message that says why it is refused."""
    still = instead and f" Still using: {instead}."
    try:
        return read(_whole(file), file.name)
    except TooLargeError as error:
        content = file.getvalue()
        remedy = confined_remedy(
            content[:BYTES_OF_END], file.name, content[max(BYTES_OF_END, len(content) - BYTES_OF_END) :]
        )
        reason = about_file(
            file.name, DataError(error.message, remedy.advice if remedy.query else error.remedy)
        )
        state.say_with_query(f"{reason}{still}", remedy.query)
    except InputError as error:
        state.say(f"{about_file(file.name, error)}{still}")
    except Cancelled:
        state.say(f"Reading {file.name} was cancelled.{still}")
    return None


def _whole(file: Any) -> bytes:
    """The content of a file, or the refusal of one of which only the ends were taken."""
    _, ends, size = file.type.partition(f"{upload_memory.MEDIA_TYPE_OF_ENDS}+")
    if not ends:
        return file.getvalue()
    if int(size) > LIMIT:
        raise TooLargeError(
            f"The file has {format_bytes(int(size))}, but the limit is {format_bytes(LIMIT)}.", FEWER
        )
    raise TooLargeError("The server has too little memory for this file now.", f"{FEWER} {LATER}")


@dataclass
class Picked:
    """Content of a picker's last file that could be read, with its name, and what became of the latest file.

    The latest file is being read (``arriving``), or there is a reason why it is not used (``refused``). The content is
    not in use while the picker is empty (``taken_out``), as it is before a browser replaces a file.
    """

    name: str = ""
    found: Any = None
    taken_out: bool = False
    arriving: tuple[Any, Reader] | None = None
    refused: str | None = None

    def take(self, name: str, found: Any) -> None:
        """End the reading of a file with its content, or with the reason why there is none."""
        self.arriving, self.refused = None, None
        if isinstance(found, InputError):
            self.refused = about_file(name, found)
        else:
            self.name, self.found = name, found


def _picked(widget: str) -> Picked:
    return st.session_state.setdefault(f"{widget}_picked", Picked())


def remember(widget: str, read: Reader) -> None:
    """Keep ``read(content, name, watch)`` of the picker's file, because the picker forgets it on another page.

    ``remembered`` reads a large file in the background. A refused or cancelled file changes nothing.
    """
    file, picked = st.session_state[widget], _picked(widget)
    # A file that was not used takes nothing with it
    picked.taken_out = file is None and picked.arriving is None and picked.refused is None
    picked.arriving, picked.refused = None, None
    if file is not None and file.size > LARGE_UPLOAD:
        picked.arriving = file, read
    elif file is not None:
        picked.take(file.name, jobs.or_why(_read_whole, file, read, Watch()))


def remembered(widget: str) -> Any:
    """Return what ``remember`` kept, or None; show the progress of a large file, or why the latest is not used."""
    picked, kind = _picked(widget), f"reading_{widget}"
    if picked.arriving is None:
        jobs.cancel_others(kind, ())
    else:
        _read_picked(picked, kind)
    found = None if picked.taken_out else picked.found
    still = "" if found is None else f"Still using: {picked.name}."
    if picked.refused is not None:
        st.warning(plain(f"{picked.refused} {still}"))
    elif picked.arriving is not None:
        st.caption(plain(still))
    return found


def _read_picked(picked: Picked, kind: str) -> None:
    """Read the large file of a picker as a job, unless that was cancelled."""
    assert picked.arriving is not None
    file, read = picked.arriving
    calls = {file.file_id: partial(jobs.or_why, _read_whole, file, read)}
    if jobs.was_cancelled(kind, file.file_id):
        done = [InputError(f"Reading {file.name} was cancelled.")]
    else:
        done = jobs.run(kind, f"Reading {file.name}", calls)
    if done is not None:
        picked.take(file.name, *done)
        jobs.forget(kind, list(calls))


def _read_whole(file: Any, read: Reader, watch: Watch) -> Any:
    watch.step(0.0, format_bytes(file.size))
    return read(_whole(file), file.name, watch)

"""What passes between a process and the confined one: parts with their length, JSON, and tables in Arrow's format.

The confined process may be in a stranger's hands, so what it sends is data only, and its tables are checked.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from calib.data.column_types import arrow
from calib.data.table import TableReading, note_reading, reading_of
from calib.kernel.cache import is_known, mark_known

Send = Callable[[Any], None]  # sends bytes
Take = Callable[[int], Any]  # returns exactly so many bytes
LENGTH_BYTES = 8  # bytes of a length
SECONDS_BETWEEN_REPORTS = 0.2  # seconds between reports of progress


def send_part(send: Send, part: Any) -> None:
    """Send bytes after their length."""
    view = memoryview(part).cast("B")
    send(view.nbytes.to_bytes(LENGTH_BYTES, "little"))
    send(view)


def take_part(take: Take) -> Any:
    return take(int.from_bytes(take(LENGTH_BYTES), "little"))


def take_from(data: socket.socket, size: int) -> bytearray:
    """Return exactly so many bytes of a socket that waits.

    Raises
    ------
    EOFError
        If the other process has ended.
    """
    taken = bytearray(size)
    view = memoryview(taken)
    while view:
        got = data.recv_into(view)
        if not got:
            raise EOFError
        view = view[got:]
    return taken


def send_json(send: Send, value: Any) -> None:
    send_part(send, json.dumps(value, default=_plain).encode())


def take_json(take: Take) -> Any:
    return json.loads(bytes(take_part(take)))


def _plain(value: Any) -> Any:
    """Convert NumPy's numbers to Python's."""
    return value.item()


def send_table(send: Send, frame: pd.DataFrame) -> None:
    """Send a typed table and what is known of it, column by column, so that no copy of the whole is made."""
    # pairs, because the keys of a JSON object are texts
    known = reading_of(frame)._asdict()
    spelling = {name: list(spelt.items()) for name, spelt in known.pop("spelling").items()}
    send_json(send, {"columns": list(frame.columns), "reading": known, "spelling": spelling})
    for _, column in frame.items():
        typed = column.dtype == "str" and is_known(arrow(column), "typed")
        values = pa.array(column.to_numpy() if isinstance(column.dtype, np.dtype) else column.array)
        table = pa.table([values], pa.schema([pa.field("", values.type)], {"typed": str(typed)}))
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        send_part(send, sink.getvalue())


def take_table(take: Take) -> pd.DataFrame:
    """Return the table that ``send_table`` sent.

    Raises
    ------
    ValueError
        If it is damaged.
    """
    head = take_json(take)
    columns = {str(name): _column(take_part(take)) for name in head["columns"]}
    known = head["reading"] | {name: tuple(head["reading"][name]) for name in ("notes", "sheets", "top")}
    known["spelling"] = {name: dict(spelt) for name, spelt in head["spelling"].items()}
    return note_reading(pd.DataFrame(columns, copy=False), **TableReading(**known)._asdict())


def _column(part: Any) -> pd.Series:
    table = pa.ipc.open_stream(pa.py_buffer(part)).read_all()
    table.validate(full=True)
    values, kind = table.column(0), table.schema.types[0]
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        # a copy, because what Arrow holds cannot be changed
        return pd.Series(np.array(values.to_numpy()), copy=False)
    truth = pa.types.is_boolean(kind) and values.null_count
    column = values.to_pandas(types_mapper={pa.bool_(): pd.BooleanDtype()}.get if truth else None)
    if table.schema.metadata[b"typed"] == b"True":
        mark_known(arrow(column), "typed")
    return column.rename(None)


class Reports:
    """Sends progress, not too often."""

    def __init__(self, send: Send) -> None:
        self.send, self.last = send, 0.0

    def __call__(self, share: float, doing: str) -> None:
        if (now := time.monotonic()) >= self.last + SECONDS_BETWEEN_REPORTS:
            self.last = now
            send_json(self.send, {"share": share, "doing": doing})

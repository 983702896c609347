"""What a class costs a server: ``python -m scripts.measure_class [STUDENTS]``.

A fresh server on this machine, a room, and phones that ask for news as often as a page does, each a session over
Streamlit's own protocol. Printed is the server's processor time, as Linux counts it for its process, and how long
phones waited.
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from urllib.parse import parse_qs

import numpy as np

from pages.ui.learn.room import PHONE, PROJECTOR
from scripts.measure_sessions import megabytes, seconds, server_process
from tests.browser.driver import free_port, served_by
from tests.phones import Phone

LASTS = 20  # seconds of polling


def polled(phone: Phone, every: float) -> list[float]:
    """Seconds that each poll took."""
    end, took = time.monotonic() + LASTS, []
    while (begin := time.monotonic()) < end:
        phone.poll()
        took.append(time.monotonic() - begin)
        time.sleep(max(0.0, every - took[-1]))
    return took


def pressed(phone: Phone, letter: str) -> float:
    begin = time.monotonic()
    phone.press(f"**{letter}**")
    return time.monotonic() - begin


def main(students: int = 40) -> None:
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "calibration_explorer", "--address", "127.0.0.1", "--port", str(port)]
    environment = os.environ | {"STREAMLIT_SERVER_HEADLESS": "true", "OMP_NUM_THREADS": "1"}
    with served_by(command, address, env=environment), ThreadPoolExecutor(students + 1) as pool:
        process = server_process(port)
        host = Phone(address, "learn_algorithms").press("Ask a class")
        room, before, memory = parse_qs(host.query)["room"][0], seconds(process), megabytes(process)
        phones = list(pool.map(lambda _: Phone(address, "learn_class", room=room), range(students)))
        joined = seconds(process) - before
        print(
            f"{students} phones join: {joined / students:.3f} s of a processor and "
            f"{(megabytes(process) - memory) / students:.1f} MB each"
        )
        host.press("Begin")
        before = seconds(process)
        runs = [
            pool.submit(polled, host, PROJECTOR),
            *(pool.submit(polled, phone, PHONE) for phone in phones),
        ]
        took = np.concatenate([run.result() for run in runs[1:]])
        used = seconds(process) - before
        polls = sum(len(run.result()) for run in runs)
        print(
            f"open for {LASTS} s: {used / LASTS:.0%} of one processor, {1000 * used / polls:.1f} ms of it a poll; "
            f"a phone waits {1000 * np.median(took):.0f} ms (95 %: {1000 * np.quantile(took, 0.95):.0f} ms)"
        )
        waits = list(pool.map(partial(pressed, letter="A"), phones))
        print(f"all answer at once: the last one waits {max(waits):.2f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

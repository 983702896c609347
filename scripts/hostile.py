"""Upload hostile files to a server, and measure the time, the memory, and how long a second session waits meanwhile.

``python -m scripts.hostile`` measures all of ``scripts.hostile_files``, ``python -m scripts.hostile json`` those whose
name has "json". It fails if a second session waits for half a second more of the server's work than on an idle server,
or if a process takes more memory than its limit. A wait is counted in processor time of the server, because other work
on the machine makes everybody wait.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from calib.data import limits
from scripts.hostile_files import FILES
from tests.browser.driver import serving
from tests.browser.reader import Reader

PAGE = "learn_glossary"  # of the second session: it computes nothing
LONGEST = 0.5  # seconds that the second session may wait longer than alone
LIBRARIES = 250  # MB of a process before it reads
PAUSE = 0.05
ALONE = 20  # runs of the second session alone


class Measured(NamedTuple):
    """Seconds until the file was read or refused, MB of the process that read it and of the server, and the longest
    wait of the second session in seconds of the server's work."""

    seconds: float
    reader: float
    server: float
    wait: float


def children(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    with suppress(OSError):
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    return []


def readers(server: int) -> list[int]:
    """Return the processes that read files: the children of the one that waits for them."""
    return [reader for waiting in children(server) for reader in children(waiting)]


def taken(pid: int) -> float:
    """Return the MB that a process takes now."""
    with suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6
    return 0.0


class Watching(threading.Thread):
    """Looks at the memory of processes every few milliseconds."""

    def __init__(self, pids: Callable[[], list[int]]) -> None:
        super().__init__(daemon=True)
        self.pids, self.most, self.ended = pids, 0.0, threading.Event()

    def run(self) -> None:
        while not self.ended.wait(0.01):
            self.most = max([self.most, *map(taken, self.pids())])

    def stop(self) -> float:
        self.ended.set()
        self.join()
        return self.most


def worked(pid: int) -> float:
    """Return the seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_of(session: Reader, server: int) -> float:
    """Return the seconds that the server works before a session has its page."""
    begin = worked(server)
    session.rerun()
    session.answered()
    return worked(server) - begin


def upload_to(session: Reader, name: str, content: bytes) -> None:
    """Upload a file, and wait until the page names it, because a run of the page before may end meanwhile."""
    session.upload(name, content)
    while name not in session.heard:
        session.answered()


def measure(address: str, server: int, second: Reader, name: str, content: bytes) -> tuple[Measured, str]:
    """Upload a file while the second session works; return what it cost, and what the page said."""
    first = Reader(address, "explore_data", data="sample:breast_cancer").open()
    watching = Watching(lambda: readers(server)), Watching(lambda: [server])
    for each in watching:
        each.start()
    upload = threading.Thread(target=upload_to, args=(first, name, content))
    begin, longest = time.monotonic(), 0.0
    upload.start()
    while upload.is_alive():
        longest = max(longest, wait_of(second, server))
        time.sleep(PAUSE)
    found = Measured(time.monotonic() - begin, *(each.stop() for each in watching), longest)
    said = next(text for text in first.heard.split("\n") if name in text)
    first.close()
    return found, said


def main(part: str = "") -> int:
    broken = 0
    with serving() as address:
        (server,) = children(os.getpid())
        second = Reader(address, PAGE).open()
        alone = max(wait_of(second, server) for _ in range(ALONE))
        print(f"A second session waits at most {alone:.2f} s on an idle server.")
        print(f"{'file':24} {'size':>8} {'time':>7} {'reader':>8} {'server':>8} {'wait':>7}")
        for name in [name for name in FILES if part in name]:
            content = FILES[name]()
            found, said = measure(address, server, second, name, content)
            bound = limits.bounds(content).memory / 1e6 + LIBRARIES
            bad = found.wait > alone + LONGEST or found.reader > bound
            broken += bad
            print(
                f"{name:24} {len(content) / 1e6:5.2f} MB {found.seconds:5.1f} s {found.reader:5.0f} MB "
                f"{found.server:5.0f} MB {found.wait:5.2f} s {'BROKEN' if bad else said[:80]}",
                flush=True,
            )
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

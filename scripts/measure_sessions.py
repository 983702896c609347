"""What an open session costs a server: ``python -m scripts.measure_sessions [SESSIONS]``.

A fresh server on this machine; Chromium opens the first page in ever more windows, each a session of its own,
and moves a slider there and in turn opens another page. Printed are the server's resident memory and the
processor time that it took, both as Linux counts them for its process: other work on the machine slows the
walk and changes neither by much.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.driver import CHROMIUM_FLAGS, Tab, find_chromium, free_port, served_by

STEPS = 10
TICKS = os.sysconf("SC_CLK_TCK")


def server_process(port: int) -> Path:
    """Its folder under /proc, found by its command line."""
    wanted = f"--port\0{port}\0".encode()
    (found,) = (p.parent for p in Path("/proc").glob("[0-9]*/cmdline") if wanted in p.read_bytes())
    return found


def megabytes(process: Path) -> float:
    (line,) = (line for line in (process / "status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def seconds(process: Path) -> float:
    """Of processor time, user and system, threads included."""
    fields = (process / "stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def main(sessions: int = 10) -> None:
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "calibration_explorer", "--address", "127.0.0.1", "--port", str(port)]
    environment = os.environ | {"STREAMLIT_SERVER_HEADLESS": "true", "OMP_NUM_THREADS": "1"}
    with served_by(command, address, env=environment), sync_playwright() as playwright:
        process = server_process(port)
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(CHROMIUM_FLAGS))
        print(f"no session yet: {megabytes(process):.0f} MB")
        for number in range(1, sessions + 1):
            begin = seconds(process)
            tab = Tab(browser.new_context(viewport={"width": 1400, "height": 900}).new_page(), address).open()
            opened = seconds(process)
            for _ in range(STEPS):
                tab.slide("bins", 1)
            moved = seconds(process)
            tab.go("Decide").go("Venn–Abers")
            print(
                f"session {number}: {megabytes(process):.0f} MB; processor seconds: {opened - begin:.2f} to open, "
                f"{(moved - opened) / STEPS:.2f} a step of the slider, {(seconds(process) - moved) / 2:.2f} a page",
                flush=True,
            )
        browser.close()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

"""Say which share of the soak ran when, and record a landing.

    python -m scripts.soak_state        print, for each share, the last landing whose run began with it
    python -m scripts.soak_state order  print the shares in the order in which .ci/run takes them now
    python -m scripts.soak_state land   add a line to .ci/landings, to be committed as the last thing before a landing

``make soak`` as a whole takes two hours, so each ``.ci/run`` runs a hundredth of it, and further ones while there is
time: where ten fit, all of it has run after ten landings, and where one fits, after a hundred. Which one comes first
depends on the number of landings alone, which Git does not know: several commits land at once. A line of
``.ci/landings`` is a landing: the number of commits (``git rev-list --count``) and the day. On a machine that is too
slow for a share, ``.ci/run`` says so, and then the share has not run although it is listed here.
"""

from __future__ import annotations

import argparse
import datetime
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
LANDINGS = ROOT / ".ci" / "landings"
SHARES = 100


def landings() -> list[str]:
    """Return the lines of the record, the oldest first."""
    return LANDINGS.read_text(encoding="utf-8").splitlines()


def share_of(landing: int) -> int:
    """Return the share, from 1 to ``SHARES``, with which a landing begins; the first is landing 1.

    Landings begin ten shares apart, and one share further on after each ten.

    >>> [share_of(landing) for landing in (1, 2, 10, 11, 101)]
    [1, 11, 91, 2, 11]
    """
    before = landing - 1
    return (10 * before + before // 10) % SHARES + 1


def order(landing: int) -> list[int]:
    """Return all shares in the order in which a landing takes them.

    >>> order(11)[:3], order(11)[-1]
    ([2, 3, 4], 1)
    """
    first = share_of(landing)
    return [(first - 1 + i) % SHARES + 1 for i in range(SHARES)]


def state(lines: list[str]) -> dict[int, str]:
    """Return, for each share, the line of the last landing that began with it; "not yet" if there is none."""
    last = {share_of(landing): line for landing, line in enumerate(lines, start=1)}
    return {share: last.get(share, "not yet") for share in range(1, SHARES + 1)}


def land(today: datetime.date) -> str:
    """Return the line of a landing whose last commit is made next."""
    command = ("git", "rev-list", "--count", "HEAD")
    counted = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return f"{int(counted) + 1} {today}"


def main(wanted: str) -> None:
    if wanted == "order":
        print(*(f"{share}/{SHARES}" for share in order(len(landings()))))
        return
    if wanted == "land":
        with LANDINGS.open("a", encoding="utf-8") as record:
            record.write(land(datetime.datetime.now(datetime.UTC).date()) + "\n")
    for share, line in state(landings()).items():
        print(f"share {share:3} of {SHARES}: {line}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wanted", nargs="?", choices=["state", "order", "land"], default="state")
    main(**vars(parser.parse_args()))

"""Where a view of the app is: the script of its page, and the setting that opens it."""

from __future__ import annotations

from calib.experiments import EXPERIMENTS


def where(view: str) -> tuple[str, dict[str, str]]:
    """Return the stem of the page's script and the query of a view: an experiment or the playground.

    >>> where("looking")
    ('learn_labs', {'labs.experiment': 'looking'})
    """
    if view not in EXPERIMENTS:
        return "learn_labs", {"labs.experiment": view}
    return EXPERIMENTS[view].script, {f"{EXPERIMENTS[view].page}.experiment": view}

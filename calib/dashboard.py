"""Open the dashboard on the data of a notebook or a script, in a server that ends with this process.

The server receives the table through its standard input, as Parquet, and never writes it to disk. It listens only on
this machine, and shows nothing to a browser whose URL lacks the session's token.
"""

from __future__ import annotations

import html
import io
import json
import os
import re
import secrets
import subprocess
import sys
import threading
import time
import webbrowser
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, is_classifier

from calib.data import (
    LargeFile,
    TooLargeError,
    guess_target,
    looks_like_predictions,
    open_if_many,
    open_large,
    read_table,
    reading_of,
)
from calib.evaluate import check
from calib.kernel.checks import InputError
from calib.models import class_one_score, class_scores
from calib.placements.base import coded_classes
from calib.recipe import Recipe, with_classes
from calib.sources import count_large, digest, holds_predictions

LABEL_COLUMN, SCORE_COLUMN = "label", "prediction"
SECONDS_FOR_SERVER = 120.0  # seconds for the server to start, on a busy machine
SERVER_SETTINGS = {  # which count more than those of the person, whose server is another
    "PYTHONUNBUFFERED": "1",
    "STREAMLIT_SERVER_HEADLESS": "true",
    "STREAMLIT_SERVER_ALLOWED_HOSTS": "localhost 127.0.0.1",
    "STREAMLIT_BROWSER_SERVER_ADDRESS": "127.0.0.1",
    "STREAMLIT_LOGGER_HIDE_WELCOME_MESSAGE": "false",  # it has the port
}
FRAME = Path(__file__).with_suffix(".html")


class Session:
    """Running dashboard.

    Attributes
    ----------
    url
        URL of the dashboard, with the token that opens it.
    """

    def __init__(self, process: subprocess.Popen[bytes], port: int, token: str) -> None:
        self._process, self._port = process, port
        self.url = f"http://localhost:{port}/?token={token}"

    @property
    def running(self) -> bool:
        """Tell whether the server is still running."""
        return self._process.poll() is None

    def wait(self) -> int:
        """Wait until the server ends, and return its exit status."""
        return self._process.wait()

    def stop(self) -> None:
        """Stop the server and discard its data. Nothing happens if it has already ended."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.terminate()
        self._process.wait()

    def __repr__(self) -> str:
        return f"Calibration Explorer at {self.url}" if self.running else "Calibration Explorer, stopped"

    def _repr_html_(self) -> str:
        if not self.running:
            return "<p>Calibration Explorer was stopped.</p>"
        shown = html.escape(self.url.partition("?")[0])
        frame = Template(FRAME.read_text(encoding="utf-8"))
        return frame.substitute(url=html.escape(self.url), shown=shown, port=self._port)


def explore(
    data: Any,
    p: Any = None,
    y: ArrayLike | None = None,
    *,
    target: str | None = None,
    pos_label: Any = None,
    open_browser: bool | None = None,
) -> Session:
    """Open the dashboard on predictions, on a fitted model, or on a table.

    The forms are ``explore(y, p)``, ``explore(y, {name: p, …})``, ``explore(model, X, y)`` and ``explore(frame,
    target="y")``. A model stays in this process: its scores are computed here.

    Parameters
    ----------
    data
        Labels (n,) of two classes, or of 0 … K − 1; or a fitted scikit-learn classifier; or a DataFrame.
    p
        Probabilities of class 1, (n,) or (n, 2), or of K classes (n, K), or a mapping from names to such arrays; for a
        model, its rows X.
    y
        Labels of the rows X, for a model.
    target
        Label column of a DataFrame; by default the dashboard proposes one.
    pos_label
        Positive class of labels (n,), as in ``check``.
    open_browser
        Whether a browser opens; by default it does, except in a notebook, which shows the dashboard in a frame.

    Returns
    -------
    Session
        Session with ``url`` and ``stop()``, which ends with this process.

    Raises
    ------
    InputError
        If the data do not fit each other, or the server does not start.

    Examples
    --------
    >>> session = explore([0, 1, 1, 0], [0.2, 0.9, 0.6, 0.4], open_browser=False)  # doctest: +SKIP
    >>> session.url                                                                # doctest: +SKIP
    'http://localhost:8765/?token=…'
    """
    if isinstance(data, BaseEstimator) or hasattr(data, "predict_proba"):
        name, frame, said = _of_model(data, p, y)
    elif isinstance(data, pd.DataFrame) and p is None:
        name, frame, said = _of_table(data, target)
    else:
        name, frame, said = _of_predictions(data, p, pos_label)
    content = io.BytesIO()
    frame.to_parquet(content, index=False)
    return serve(f"{name}.parquet", content.getvalue(), said, open_browser)


def _of_predictions(y: Any, p: Any, pos_label: Any = None) -> tuple[str, pd.DataFrame, dict[str, Any]]:
    if p is None:
        raise InputError(
            "p is missing. Pass labels and probabilities, a fitted model with X and y, or a DataFrame."
        )
    found = check(y, p, pos_label=pos_label)
    if found.classes > 2:
        names = list(map(str, found.names))
        tables = {SCORE_COLUMN if name == "none" else name: P for name, P in found.distributions.items()}
        return "predictions", *_of_classes(pd.DataFrame(), tables, names, found.y)
    checked = found.dataset
    columns = {SCORE_COLUMN if name == "none" else name: checked.X[name] for name in checked.X}
    named = checked.y if checked.classes == ("0", "1") else np.array(checked.classes)[checked.y]
    return "predictions", *_scored(pd.DataFrame(columns), list(columns), named, checked.classes[1])


def _of_model(model: Any, X: Any, y: Any) -> tuple[str, pd.DataFrame, dict[str, Any]]:
    if X is None or y is None:
        raise InputError(
            "X or y is missing. Pass a fitted model with rows and their labels: explore(model, X, y)."
        )
    if not is_classifier(model):
        raise InputError(
            f"{type(model).__name__} is not a classifier. Pass a fitted scikit-learn classifier."
        )
    classes, _ = coded_classes(y)
    rows = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))
    name = type(model).__name__
    if len(model.classes_) > 2:
        tables = {name: class_scores(model, X, model.classes_)}
        return name, *_of_classes(rows, tables, list(map(str, model.classes_)), _places_of(model, y))
    positive = classes[1]
    frame = rows.reset_index(drop=True).rename(columns=str).assign(**{name: class_one_score(model, X)})
    return name, *_scored(frame, [name], np.asarray(y), str(positive))


def _places_of(model: Any, y: Any) -> np.ndarray:
    """Return the position (n,) of each label among the classes of a model; refuse a label that it does not know."""
    y = np.asarray(y)
    unknown = y[~np.isin(y, model.classes_)]
    if len(unknown):
        raise InputError(
            f"y: the model does not know the label {str(unknown[0])!r}. Remove the rows with this label."
        )
    return np.searchsorted(model.classes_, y)


def _of_classes(
    rows: pd.DataFrame, tables: Mapping[str, np.ndarray], names: list[str], y: np.ndarray
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the table with a column name_class for each class of each array, and fields of a Recipe."""
    columns = {f"{name}_{each}": P[:, k] for name, P in tables.items() for k, each in enumerate(names)}
    frame = pd.concat([rows.reset_index(drop=True).rename(columns=str), pd.DataFrame(columns)], axis=1)
    found, said = _scored(frame, list(columns), np.array(names)[y], names[-1])
    del said["positive"]
    methods = with_classes(Recipe(), len(names)).get("calibrators")
    return found, said | ({"calibrators": list(methods)} if methods else {})


def _scored(
    frame: pd.DataFrame, scores: list[str], y: np.ndarray, positive: str
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the table with its labels, and fields of a Recipe for it."""
    label = LABEL_COLUMN
    while label in frame:
        label += "_"
    said = {
        "content": "predictions",
        "target": label,
        "positive": positive,
        "data_params": {"scores": scores},
    }
    return frame.assign(**{label: y}), said


def _of_table(frame: pd.DataFrame, target: str | None) -> tuple[str, pd.DataFrame, dict[str, Any]]:
    if target is not None and target not in frame:
        raise InputError(
            f"target: there is no column {target!r}. Choose one of {', '.join(map(str, frame))}."
        )
    content = "predictions" if looks_like_predictions(frame) else "features"
    said = {} if target is None else {"content": content, "target": target}
    return "table", frame.rename(columns=str), said


def serve(
    name: str, content: bytes, said: Mapping[str, Any] | None = None, open_browser: bool | None = None
) -> Session:
    """Start a server that shows one file.

    Parameters
    ----------
    name, content
        Name and content of the file, in any format that *Data* reads.
    said
        Fields of the Recipe; without them, the user chooses on *Data*.
    open_browser
        See ``explore``.
    """
    token = secrets.token_urlsafe(32)
    recipe = Recipe(data=f"upload:{digest(content)}", file=name, **said).to_json() if said else None
    process, said_last = _start()
    header = {"token": token, "name": name, "size": len(content), "recipe": recipe}
    try:
        assert process.stdin is not None
        process.stdin.write(json.dumps(header).encode() + b"\n" + content)
        process.stdin.flush()  # it stays open, because closing it ends the server
    except BrokenPipeError:
        pass  # its last output is raised below
    session = Session(process, _port_of(process, said_last), token)
    if not _in_notebook() if open_browser is None else open_browser:
        webbrowser.open(session.url)
    return session


def show_file(path: Path) -> int:
    """Open the dashboard on a file, and wait until it ends or Ctrl+C is pressed.

    Raises
    ------
    InputError
        If the file cannot be read, or the server does not start.
    """
    name, content, said = _content_of(path)
    session = serve(name, content, said)
    print(f"The dashboard is at {session.url}. Press Ctrl+C to stop it.", flush=True)
    try:
        return session.wait()
    except KeyboardInterrupt:
        session.stop()
        return 0


def _content_of(path: Path) -> tuple[str, bytes, dict[str, Any] | None]:
    """Return (name, content, fields of a Recipe or None) of a file, or of its counts if it has too many rows."""
    many = open_if_many(path)
    if many is None or not holds_predictions(many):
        with suppress(TooLargeError):
            read_table(path)  # raises the errors of the file
            return path.name, path.read_bytes(), None
    return _counts_of(many or open_large(path))


def _counts_of(file: LargeFile) -> tuple[str, bytes, dict[str, Any]]:
    """Count predictions that do not fit into memory: return (name, counts as Parquet, fields of a Recipe).

    Raises
    ------
    TooLargeError
        If the file does not contain predictions.
    """
    target = guess_target(file.head)
    if target is None or not looks_like_predictions(file.head):
        raise TooLargeError(
            f"{file.name} is too large for memory, and it contains columns other than a label and scores.",
            "Save only these columns, or a sample of the rows.",
        )
    recipe, frame = count_large(Recipe(content="predictions", target=target), file)
    print("\n".join(reading_of(frame).notes), flush=True)
    content = io.BytesIO()
    frame.to_parquet(content, index=False)
    names = ("content", "target", "weight", "weight_as", "data_params")
    said = {name: getattr(recipe, name) for name in names}
    return f"{file.name.split('.')[0]}.parquet", content.getvalue(), said


def _start() -> tuple[subprocess.Popen[bytes], deque[str]]:
    """Return the server's process, and the last lines of its output.

    The server binds a free port itself, so no other process can take the port in between.
    """
    home = str(Path(__file__).parents[1])
    path = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")]))
    process = subprocess.Popen(
        [sys.executable, "-m", "calibration_explorer", "--given", "--address", "127.0.0.1", "--port", "0"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=os.environ | {"PYTHONPATH": path} | SERVER_SETTINGS,
    )
    said: deque[str] = deque(maxlen=20)
    threading.Thread(target=_listen, args=(process, said), daemon=True).start()
    return process, said


def _listen(process: subprocess.Popen[bytes], said: deque[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        said.append(line.decode(errors="replace"))


def _port_of(process: subprocess.Popen[bytes], said: deque[str]) -> int:
    """Wait until the server says at which port it answers, and return the port."""
    until = time.monotonic() + SECONDS_FOR_SERVER
    while process.poll() is None and time.monotonic() < until:
        if found := re.search(r"http://127\.0\.0\.1:(\d+)", "".join(said.copy())):
            return int(found[1])
        time.sleep(0.05)
    process.kill()
    raise InputError(
        "The dashboard did not start. "
        f"{''.join(said.copy()).strip() or 'The dashboard did not respond in time.'}"
    )


def _in_notebook() -> bool:
    """Tell whether this code runs in a Jupyter kernel."""
    kernel = sys.modules.get("ipykernel")
    return kernel is not None and "IPKernelApp" in getattr(sys.modules["IPython"].get_ipython(), "config", {})

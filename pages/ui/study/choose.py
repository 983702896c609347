"""Upper parts of the Run page: protocol, data sets, setups, metrics, repeats and folds; the study that they make.

No file of the server is read, whatever a link or a protocol names: data sets are the samples, the synthetic ones,
uploads, and OpenML's by their numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from calib.data import SAMPLES, read_confined
from calib.export import uploaded
from calib.kernel.checks import InputError
from calib.kernel.declared import SETTINGS
from calib.kernel.progress import Watch
from calib.kernel.records import Dataset
from calib.kernel.wording import counted, percent
from calib.recipe import Recipe
from calib.sources import digest
from calib.study import (
    SHIPPED,
    Extent,
    Protocol,
    extent,
    load_protocol,
    load_sets,
    read_protocol,
)
from calib.study.data import TARGET, stem
from calib.study.protocol import DataRules
from calib.study.rows import measures
from calib.synthetic import SYNTHETIC
from pages.ui import controls, jobs, session_cache, state
from pages.ui.text import about_file, plain
from pages.ui.uploads import received
from pages.ui.widget import show_widget

MOST_VALUES = 10_000_000  # in all uploaded tables together: 80 MB
MOST_PROTOCOL = 1  # megabytes
KEPT_PROTOCOLS, KEPT_STUDY_FILES, KEPT_SETS = 4, 50, 2
UPLOAD_PREFIX, OPENML_PREFIX = "upload:", "openml:"
FETCH = "fetch"


@dataclass(frozen=True, eq=False)
class Study:
    """Requested study: the arguments of ``run_study``, and its extent."""

    protocol: Protocol
    sets: Mapping[str, Dataset]
    chosen: Mapping[str, Any]
    key: tuple
    extent: Extent

    @property
    def pace(self) -> tuple:
        """Key of studies whose runs take equally long: the whole request except the repeats."""
        return (*self.key[:4], self.chosen["folds"])


def protocols() -> dict[str, Protocol]:
    """Return the protocols uploaded in this session, digest → protocol."""
    return st.session_state.setdefault("study_protocols", {})


def tables() -> dict[str, pd.DataFrame]:
    """Return the tables uploaded in this session, upload:DIGEST:NAME → table; they are never written to disk."""
    return st.session_state.setdefault("study_tables", {})


def protocol(recipe: Recipe) -> Protocol:
    """Return the protocol that the Recipe names, or end the page and say what to upload."""
    chooser, picker = st.columns(2, gap="large")
    with picker:
        st.file_uploader(
            "Your own protocol (TOML file)",
            key="run_protocol_file",
            on_change=lambda: received("run_protocol_file", _keep_protocol),
            max_upload_size=MOST_PROTOCOL,
            help="The file sets the title, setups, splits and metrics; the guide describes the format. The "
            "file stays in this session's memory.",
        )
    known = shipped() | {f"{UPLOAD_PREFIX}{key}": one for key, one in reversed(protocols().items())}
    chosen = recipe.setting("run.protocol")
    found = known.get(chosen)
    if found is None:
        st.warning(plain(_wanted(recipe)))
    with chooser:
        show_widget(
            st.selectbox,
            "run.protocol",
            chosen if found else None,
            lambda key: state.update(**_opening(key, known[key])),
            "Protocol",
            list(known),
            format_func=lambda key: (
                known[key].title if key in SHIPPED else f"{known[key].title} ({known[key].key})"
            ),
            placeholder="Choose a protocol",
            help=plain(f"A protocol sets the splits, setups and metrics of a study. {_source(found)}"),
        )
        if found:
            st.caption(plain(_described(found)))
    if found is None:
        st.stop()
    return found


@st.cache_resource
def shipped() -> dict[str, Protocol]:
    return {name: load_protocol(name) for name in SHIPPED}


def _wanted(recipe: Recipe) -> str:
    chosen = recipe.setting("run.protocol")
    if not chosen.startswith(UPLOAD_PREFIX):
        return f"Protocol {chosen!r} does not exist. Choose a protocol, or upload a file."
    what = recipe.setting("run.protocol_file") or "the protocol of this link"
    return f"Upload {what} again to continue; links do not contain files."


def _described(protocol: Protocol) -> str:
    splits = protocol.splits
    how = (
        f"{splits.folds}-fold cross-validation"
        if splits.kind == "folds"
        else f"{percent(splits.test_size)} of the rows as test set"
    )
    times = counted(splits.repeats, "repeat")
    return f"{counted(len(protocol.setups), 'setup')}, {times}, {how}."


def _source(protocol: Protocol | None) -> str:
    return f"Source: {protocol.source}." if protocol and protocol.source else ""


def _opening(key: str, protocol: Protocol) -> dict[str, Any]:
    """Return the settings that change with the protocol; data sets that it names are chosen if available."""
    named = tuple(name for name in protocol.data.sets if name in _known(protocol.data.sets))
    return {
        "run.protocol": key,
        "run.protocol_file": f"{protocol.key}.toml" if key.startswith(UPLOAD_PREFIX) else None,
        **{"run.setups": (), "run.metrics": (), "run.repeats": None, "run.test_folds": None},
        **({"run.sets": named} if named else {}),
    }


def _keep_protocol(content: bytes, name: str) -> None:
    """Read a protocol, keep it and continue with it."""
    uploaded.check_ends(uploaded.protocol, content, name)
    try:
        found = read_protocol(content.decode(), name)
    except UnicodeDecodeError:
        raise InputError(f"{name} is not UTF-8 text. Choose a TOML file.") from None
    protocols()[digest(content)] = found
    session_cache.latest(protocols(), KEPT_PROTOCOLS)
    key = f"{UPLOAD_PREFIX}{digest(content)}"
    if state.recipe().setting("run.protocol") != key:  # else a link waited for it
        state.update(**_opening(key, found))


def here() -> dict[str, str]:
    """Return the data sets available at once, name → label."""
    found = {f"sample:{key}": sample.label for key, sample in SAMPLES.items() if not sample.predictions}
    found |= {f"synthetic:{key}": entry.label for key, entry in SYNTHETIC.items()}
    return {name: _file(name) for name in tables()} | found


def _known(names: Iterable[str]) -> dict[str, str]:
    """Return all available data sets, name → label: those at hand, and among these names those of OpenML."""
    numbers = {
        name: f"OpenML {name.removeprefix(OPENML_PREFIX)}" for name in names if name.startswith(OPENML_PREFIX)
    }
    return here() | numbers


def data_sets(recipe: Recipe, protocol: Protocol) -> dict[str, Dataset]:
    """Return the chosen data sets, as the protocol reads them, or end the page and say what is missing."""
    chooser, picker = st.columns(2, gap="large")
    with picker:
        st.file_uploader(
            f"Your own tables (the label column must be called {TARGET})",
            accept_multiple_files=True,
            key="run_files",
            on_change=_files_received,
            help="CSV, TSV, Parquet, Excel, ARFF or JSON records, also gzipped. You can choose several "
            "files; they stay in this session's memory.",
        )
    chosen = recipe.setting("run.sets")
    known = _known(chosen)
    there = [name for name in chosen if name in known]
    with chooser:
        controls.choice(
            "run.sets",
            recipe,
            there,
            known,
            st.multiselect,
            format_func=known.get,
            placeholder="Choose data sets",
        )
        _openml(recipe, protocol)
    for name in chosen:
        if name not in known:
            st.warning(plain(_missing(name)))
    if not there or len(there) < len(chosen):
        if not chosen:
            st.info("Choose at least one data set.")
        st.stop()
    return _loaded(there, protocol)


def _missing(name: str) -> str:
    if name.startswith(UPLOAD_PREFIX):
        return f"Upload {_file(name)} again to continue; links do not contain files."
    return f"Data set {name!r} does not exist. Choose another data set, or upload a file."


def _openml(recipe: Recipe, protocol: Protocol) -> None:
    """Draw the choice of OpenML data sets by number; a new request repeats a failed download."""
    with st.form("run_openml", border=False):
        field, press = st.columns([0.7, 0.3], vertical_alignment="bottom")
        numbers = field.text_input(
            "OpenML numbers",
            key="run_openml_numbers",
            placeholder="for example 37, 1464",
            help="The server downloads these data sets from openml.org and keeps them in its cache.",
        )
        if press.form_submit_button("Fetch", width="stretch"):
            names = [f"{OPENML_PREFIX}{number}" for number in numbers.replace(",", " ").split()]
            jobs.forget(FETCH, [(name, protocol.data) for name in names])
            before = recipe.stated_settings("run", "sets").get("sets", ())  # the default gives way
            state.update(**{"run.sets": tuple(dict.fromkeys([*before, *names]))} if names else {})
            st.rerun()


def _loaded(names: list[str], protocol: Protocol) -> dict[str, Dataset]:
    """Return the sets in this order; those of OpenML are fetched in the background, because a network may be slow."""
    rules, remote = protocol.data, [name for name in names if name.startswith(OPENML_PREFIX)]
    calls = {(name, rules): partial(_fetched, name, rules) for name in remote}
    found = jobs.run(FETCH, "Fetching from OpenML", calls)
    if found is None:
        st.stop()
    fetched = {name: data for one in found for name, data in one.items()}
    local = tuple(name for name in names if name not in remote)
    files = {_file(name): tables()[name] for name in local if name in tables()}
    given = [_file(name) for name in local]
    try:
        fetched |= jobs.cached(
            "study_sets", KEPT_SETS, (local, rules), lambda: load_sets(given, rules, files) if given else {}
        )
    except InputError as error:
        st.error(plain(error))
        st.stop()
    return {stem(_file(name)): fetched[stem(_file(name))] for name in names}


def _fetched(name: str, rules: DataRules, watch: Watch) -> dict[str, Dataset]:
    watch.step(0.0, name)
    found = load_sets([name], rules)
    if found[name].X.size > MOST_VALUES:
        raise InputError(f"{name} is too large for the browser. Use the command line.")
    return found


def _files_received() -> None:
    """Keep the new files; name the refused ones, each with its reason."""
    problems, new = [], []
    for file in st.session_state["run_files"] or ():
        content = file.getvalue()
        name = f"{UPLOAD_PREFIX}{digest(content)}:{file.name}"
        if name in tables():
            continue
        try:
            _keep(name, _table(content, file.name))
            new.append(name)
        except InputError as error:
            problems.append(about_file(file.name, error))
    if new:
        chosen = state.recipe().stated_settings("run", "sets").get("sets", ())  # the default gives way
        another = [name for name in chosen if name not in new and _file(name) in map(_file, new)]
        state.update(
            **{"run.sets": tuple(dict.fromkeys([name for name in chosen if name not in another] + new))}
        )
        problems += [
            f"This {_file(name)} differs from the earlier file of the same name, and replaces that file."
            for name in another
        ]
    if problems:
        state.say(" ".join(problems))


def _file(name: str) -> str:
    """Return the file's name in upload:DIGEST:NAME, or the name of another set."""
    return name.split(":", 2)[-1] if name.startswith(UPLOAD_PREFIX) else name


def _table(content: bytes, name: str) -> pd.DataFrame:
    frame = read_confined(content, name)
    if TARGET not in map(str, frame.columns):
        raise InputError(
            f"There is no column {TARGET!r}. Rename your label column to {TARGET!r}, because a study reads "
            "the label from this column."
        )
    if frame.size + sum(table.size for table in tables().values()) > MOST_VALUES:
        raise InputError(
            "Your tables together are too large for the browser. Use fewer tables, or the command line."
        )
    return frame


def _keep(name: str, frame: pd.DataFrame) -> None:
    """Keep a table in place of an earlier one with the same file name."""
    for other in [other for other in tables() if _file(other) == _file(name)]:
        del tables()[other]
    tables()[name] = frame
    session_cache.latest(tables(), KEPT_STUDY_FILES)


def details(recipe: Recipe, protocol: Protocol, sets: Mapping[str, Dataset]) -> Study:
    """Draw setups, metrics, repeats and folds, by default the protocol's; return the study that they make."""
    left, middle, beside, right = st.columns([0.34, 0.28, 0.19, 0.19])
    with left:
        setups = _subset(
            recipe,
            "setups",
            [one.name for one in protocol.setups],
            f"{len(protocol.default or protocol.setups)} (protocol)",
        )
    with middle:
        known = measures(protocol.data.joint)
        metrics = _subset(
            recipe,
            "metrics",
            list(known),
            f"{len(protocol.metrics)} (protocol)",
            format_func=lambda key: known[key].label,
        )
    with beside:
        _number(recipe, "run.repeats", protocol.splits.repeats)
    with right:
        if protocol.splits.kind == "folds":
            _number(recipe, "run.test_folds", protocol.splits.folds)
    folds = recipe.setting("run.test_folds") if protocol.splits.kind == "folds" else None
    chosen = {"setups": setups or None, "repeats": recipe.setting("run.repeats"), "folds": folds}
    key = (recipe.setting("run.protocol"), tuple(recipe.setting("run.sets")), tuple(metrics))
    measured = protocol.measuring(metrics)
    of = extent(measured, sets, **chosen)
    return Study(measured, sets, chosen, (*key, tuple(setups), chosen["repeats"], folds), of)


def _subset(recipe: Recipe, name: str, options: list[str], placeholder: str, **more: Any) -> list[str]:
    """Draw a choice among options and return it; empty for the protocol's own."""
    stated = recipe.setting(f"run.{name}")
    chosen = [one for one in stated if one in options]
    controls.choice(f"run.{name}", recipe, chosen, options, st.multiselect, placeholder=placeholder, **more)
    for one in stated:
        if one not in options:
            st.warning(plain(f"{one!r} is not among the {name} of the protocol, so it is not used."))
    return chosen


def _number(recipe: Recipe, name: str, usual: int) -> None:
    controls.parameter_control(SETTINGS[name], name, recipe.setting(name), none=f"{usual} (protocol)")

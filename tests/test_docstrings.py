"""What docstrings list stands in numpydoc's sections, under names that there are: else it does not render."""

import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from typing import Any

import pytest
from numpydoc.docscrape import NumpyDocString

import calib

pytestmark = pytest.mark.whole_registry

NAMES = r"\**[a-zA-Z_]\w*(?:,? \([^)]*\))?"
LISTED = re.compile(rf"(?:^|· |[.;] ){NAMES}(?:, {NAMES})* : \S", flags=re.M)
RAISES = re.compile(r"\bRaises [A-Z]\w*(?:Error|Cancelled)")


def documented() -> Iterator[tuple[str, Any]]:
    """Every public class, function and method of the package that has a docstring of its own, by its name."""
    for module in pkgutil.walk_packages(calib.__path__, "calib."):
        if module.name.endswith("__main__"):
            continue
        for name, thing in vars(import_module(module.name)).items():
            if name.startswith("_") or getattr(thing, "__module__", None) != module.name:
                continue
            where = f"{module.name}.{name}"
            if inspect.isclass(thing):
                yield where, thing
                for method, found in vars(thing).items():
                    found = getattr(found, "__func__", found)
                    if inspect.isfunction(found) and not method.startswith("_"):
                        yield f"{where}.{method}", found
            elif inspect.isfunction(thing):
                yield where, thing


@cache
def known(thing: Any) -> set[str]:
    """Names of a function's arguments; of a class's also its attributes, those that its code sets among them."""
    if not inspect.isclass(thing):
        return set(inspect.signature(thing).parameters)
    code = "".join(inspect.getsource(each) for each in thing.__mro__ if each.__module__.startswith("calib"))
    stated = {name for each in thing.__mro__ for name in (*vars(each), *getattr(each, "__annotations__", ()))}
    listed = {field.name for field in fields(thing)} if is_dataclass(thing) else set()
    return stated | listed | set(re.findall(r"self\.(\w+)", code)) | set(inspect.signature(thing).parameters)


DOCUMENTED = {name: (thing, inspect.cleandoc(thing.__doc__)) for name, thing in documented() if thing.__doc__}


def test_no_list_stands_in_running_text():
    for text in (
        "One row.\n\ny : (n,) · p : (n,)",
        "Rows. index : int (n,)",
        "A mean.\n\nweight (n,) : of rows",
    ):
        assert LISTED.search(text)  # as these once stood there
    listed = []
    for name, (_, text) in DOCUMENTED.items():
        parsed = NumpyDocString(text)
        running = "\n".join([*parsed["Summary"], *parsed["Extended Summary"]])
        if LISTED.search(running) or RAISES.search(running):
            listed.append(name)
    assert len(DOCUMENTED) > 1000
    assert not listed


def test_examples_are_no_part_of_another_section():
    swallowed = [
        name
        for name, (_, text) in DOCUMENTED.items()
        for section in ("Parameters", "Attributes", "Returns", "Raises")
        if ">>>" in "".join(line for listed in NumpyDocString(text)[section] for line in listed.desc)
    ]
    assert not swallowed


def test_what_is_listed_is_there():
    unknown = [
        f"{name}: {entry}"
        for name, (thing, text) in DOCUMENTED.items()
        for section in ("Parameters", "Attributes")
        for listed in NumpyDocString(text)[section]
        for entry in listed.name.replace("*", "").split(", ")
        if entry not in known(thing)
    ]
    assert not unknown

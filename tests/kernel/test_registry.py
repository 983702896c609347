"""A registry holds what it ships, what is registered and what installed packages bring; what is broken is named."""

import sys
import threading
from types import SimpleNamespace

import pytest

from calib.kernel.checks import InputError
from calib.kernel.registry import Registry, check_named
from tests.saying import assert_says

GROUP = "calib_tests.things"


def thing(key, label="A thing", make=len):
    return SimpleNamespace(key=key, label=label, make=make)


def registry(*shipped):
    return Registry(
        GROUP, shipped, check=lambda entry: check_named(entry, "thing"), origin=lambda entry: entry.make
    )


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Installs packages by hand: name → (entry points, source of the module)."""

    def install(**packages):
        for name, (points, source) in packages.items():
            (tmp_path / f"{name}.py").write_text(source)
            info = tmp_path / f"{name}-1.0.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
            (info / "entry_points.txt").write_text(f"[{GROUP}]\n{points}\n")

    monkeypatch.syspath_prepend(tmp_path)
    yield install
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(path.stem, None)


GOOD = """from types import SimpleNamespace
def make(): ...
ONE = SimpleNamespace(key='{key}', label='One', make=make)
"""


def test_what_installed_packages_bring_stands_after_what_is_shipped(installed):
    installed(
        plug_b=("two = plug_b:ONE", GOOD.format(key="b")), plug_a=("one = plug_a:ONE", GOOD.format(key="a"))
    )
    found = registry(thing("z"))
    assert list(found) == ["z", "a", "b"]  # by the entry points' names
    assert list(found.shipped) == ["z"]
    assert found["a"].label == "One"
    assert found.problems == ()


def test_packages_are_loaded_when_the_registry_is_first_looked_into_and_once(installed):
    installed(plug_c=("c = plug_c:ONE", GOOD.format(key="c")))
    found = registry()
    assert "plug_c" not in sys.modules
    assert len(found) == 1
    del sys.modules["plug_c"]
    assert "c" in found
    assert "plug_c" not in sys.modules


@pytest.mark.parametrize(
    ("points", "source", "words"),
    [
        ("p = plug_d:ONE", "import no_such_module_at_all", "ModuleNotFoundError: No module named 'no_such"),
        ("p = plug_d:ONE", "import sys\nsys.exit(3)", "SystemExit: 3"),
        ("p = plug_d:TWO", GOOD.format(key="d"), "AttributeError"),
        ("p = plug_d:ONE", GOOD.format(key="D d"), "key must be lower-case letters.*'D d'"),
        ("p = plug_d:ONE", GOOD.format(key="z"), "key: 'z' is taken"),
        ("p = plug_d", "", "key must be"),
    ],
)
def test_a_broken_package_is_named_and_left_out_and_the_others_stay(installed, points, source, words):
    installed(plug_d=(points, source), plug_e=("q = plug_e:ONE", GOOD.format(key="e")))
    found = registry(thing("z"))
    assert list(found) == ["z", "e"]
    (problem,) = found.problems
    assert_says(problem, "'p'", "plug_d", "not", GROUP)
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(problem)


def test_one_that_registers_itself_before_its_module_fails_is_left_out_too(installed, monkeypatch):
    found = registry(thing("z"))
    monkeypatch.setattr("calib.kernel.registry.found", found, raising=False)
    source = (
        "from calib.kernel import registry\n" + GOOD.format(key="f") + "registry.found.register(ONE)\n1 / 0\n"
    )
    installed(plug_f=("f = plug_f:ONE", source))
    assert list(found) == ["z"]
    assert "ZeroDivisionError" in found.problems[0]


def test_one_that_registers_itself_and_is_an_entry_point_too_is_one(installed, monkeypatch):
    found = registry()
    monkeypatch.setattr("calib.kernel.registry.found", found, raising=False)
    source = "from calib.kernel import registry\n" + GOOD.format(key="g") + "registry.found.register(ONE)\n"
    installed(plug_g=("g = plug_g:ONE", source + "assert list(registry.found) == ['g']\n"))
    assert (list(found), found.problems) == (["g"], ())


def test_other_threads_wait_until_all_packages_are_loaded(installed, monkeypatch):
    found, begun, seen = registry(), threading.Event(), []
    monkeypatch.setattr("calib.kernel.registry.begun", begun, raising=False)

    def look():
        begun.wait(10)
        seen.append(list(found))

    other = threading.Thread(target=look)
    other.start()
    installed(
        plug_h=(
            "h = plug_h:ONE",
            "from calib.kernel import registry\nregistry.begun.set()\n" + GOOD.format(key="h"),
        )
    )
    assert list(found) == ["h"]
    other.join(10)
    assert seen == [["h"]]


def test_registering_gives_the_entry_back_and_a_key_is_taken_once():
    found = registry(thing("z"))
    mine = thing("mine")
    assert found.register(mine) is mine
    assert found["mine"] is mine
    for key in ("mine", "z"):
        with pytest.raises(InputError, match=f"'{key}' is taken in {GROUP}"):
            found.register(thing(key, make=sum))
    with pytest.raises(InputError, match="'z' is taken"):
        found.register(thing("z"))


def test_a_definition_made_anew_takes_the_place_of_its_earlier_self():
    found = registry()

    def define():
        def make():
            """As a notebook's cell would define it again."""

        return found.register(thing("mine", make=make))

    first, second = define(), define()
    assert first is not second
    assert found["mine"] is second


@pytest.mark.parametrize("key", ["", "Mine", "my-method", "1st", "a.b", "a:b", "a,b", None, 3])
def test_keys_that_could_not_stand_in_a_link_are_refused(key):
    with pytest.raises(InputError, match="key must .*lower-case letters, digits"):
        registry().register(thing(key))


def test_an_entry_needs_a_name_for_people():
    with pytest.raises(InputError, match="label must .*' '"):
        registry().register(thing("mine", label=" "))

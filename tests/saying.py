"""What a text says, whatever its words: a sentence may be written better, but its facts stay."""

import re
from collections.abc import Iterable


def says(text: str, *facts: object) -> bool:
    """Tell whether a text holds every fact as a whole word, one after the other.

    A fact is a number as the text writes it, a name, or a word that turns the meaning, such as "not". A number is
    whole with its sign and all its digits: "0.3" is neither in "0.33" nor in "−0.3".
    """
    return _first_missing(text, facts) is None


def assert_says(text: str, *facts: object) -> None:
    """Fail, with the text and the first missing fact, unless the text says these facts."""
    fact = _first_missing(text, facts)
    assert fact is None, f"{fact!r} of {', '.join(map(repr, facts))} is missing in this order in: {text}"


def assert_any_says(texts: Iterable[str], *facts: object) -> None:
    """Fail, with the texts, unless one of them says these facts."""
    given = list(texts)
    assert any(says(text, *facts) for text in given), f"none says {', '.join(map(repr, facts))}: {given}"


def _first_missing(text: str, facts: tuple[object, ...]) -> object | None:
    at = 0
    for fact in facts:
        found = re.compile(_whole(str(fact))).search(text, at)
        if not found:
            return fact
        at = found.end()
    return None


def _whole(fact: str) -> str:
    """Return the pattern of a fact that no longer word or number continues on either side."""
    words = r"\s+".join(map(re.escape, fact.split()))  # a number and its unit may be kept in one line
    before = r"(?<![\w+−-])(?<!\d[.,])" if fact[0].isdigit() else r"(?<!\w)" if fact[0].isalpha() else ""
    after = r"(?!\w)(?![.,]\d)" if fact[-1].isdigit() else r"(?!\w)" if fact[-1].isalpha() else ""
    return before + words + after

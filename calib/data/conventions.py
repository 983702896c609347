"""Words for labels: which of two is positive by convention, and which mean that the label is missing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import product

from calib.kernel.wording import split_words

# (words for the negative class, words for the positive one); the words of one side may be spellings of one another
NO_AND_YES: tuple[tuple[str, str], ...] = (
    *(("0", "1"), ("-1", "1"), ("-", "+"), ("no n", "yes y"), ("false f", "true t"), ("off", "on")),
    *(("negative neg", "positive pos"), ("absent", "present"), ("wrong incorrect", "right correct")),
    *(("nein", "ja"), ("falsch", "wahr"), ("nee", "ja"), ("nej", "ja"), ("non", "oui"), ("faux", "vrai")),
    *(("no", "sí si sì"), ("falso", "verdadero vero"), ("não", "sim"), ("nie", "tak")),
    *(("нет", "да"), ("否", "是"), ("いいえ", "はい")),
)
# Outcomes of which one reading is all but universal
OUTCOMES: tuple[tuple[str, str], ...] = (
    *(("alive living", "dead died deceased"), ("benign", "malignant"), ("control controls", "case cases")),
    *(("pass passed", "fail failed failure"), ("stayed stay retained", "churned churn churner left")),
    *(("healthy well", "sick ill diseased"), ("normal", "abnormal anomaly anomalous"), ("ham", "spam")),
    *(
        ("legit legitimate genuine", "fraud fraudulent"),
        ("inactive", "active"),
        ("lost lose loss", "won win"),
    ),
)
CONVENTION = frozenset(
    pair
    for negative, positive in NO_AND_YES + OUTCOMES
    for pair in product(negative.split(), positive.split())
)
NO, YES = (
    frozenset(word for side in sides for word in side.split()) for sides in zip(*NO_AND_YES, strict=True)
)
NEGATIONS = frozenset(("not", "non", "no", "never"))
# Words in the name of a column that is not the probability of 1
NEGATIVE_WORDS = NEGATIONS | {"neg", "negative", "false", "absent", "benign", "alive", "ham", "legit"}
NOT = r"(not|non|no|never|un)[ _-]?{}|{}[ _-]?(free|negative)"
# Names of columns of predicted classes
PREDICTED = re.compile(
    r"(?i)(^|[_\W\d])(pred\w*|y_?hat|guess\w*|decision|decided|output|answer\w*|assigned|classified|chosen|choice|"
    r"winner|argmax|top_?1?_?(class|label)|scored[_ ]labels?|"
    r"vorhersagen?|vorhergesagt\w*|prognosen?|pr[ée]di(ction|t)\w*)($|[_\W\d])"
)
# Words that mean "unknown"
NO_LABEL = frozenset(
    (
        *split_words("unknown unk missing undefined undetermined none nil n.a. na n/a nan null - -- . ?"),
        *("not known", "not available", "not applicable"),
        *split_words("unbekannt k.a. inconnu desconocido"),
    )
)
MAY_BE_CLASSES = frozenset(("none", "nil"))  # words of ``NO_LABEL`` that often name a class
CODE = re.compile(r"-?9+|-1|77+|88+|98|998|-?9+\.0|-1\.0")
FAR = 4  # a positive code is larger than the other numbers by this factor


LONGEST_WORD = 1000  # letters; a longer label spells no number and is not folded, which could take a second


def number_of(text: str) -> float | None:
    """Return the number that a label spells, or None."""
    try:
        return float(text) if len(text) <= LONGEST_WORD else None
    except ValueError:
        return None


def number_text(name: str) -> str:
    """Normalise a label: lower case, whole numbers without a decimal point.

    >>> number_text("Yes"), number_text("1.0"), number_text("1.5")
    ('yes', '1', '1.5')
    """
    value = number_of(name)
    return folded_case(name) if value is None or not value.is_integer() else str(int(value))


def folded(name: str) -> str:
    return folded_case(" ".join(name.split())) if len(name) <= LONGEST_WORD else name


def folded_case(name: str) -> str:
    return name.casefold() if len(name) <= LONGEST_WORD else name


def conventional(names: Collection[str]) -> str | None:
    """Return which of two labels is positive by convention, or None if no convention applies.

    >>> conventional(["1.0", "0.0"]), conventional(["No", "YES"]), conventional(["not spam", "spam"])
    ('1.0', 'YES', 'spam')
    >>> conventional(["dead", "Alive"]), conventional(["1", "2"]), conventional(["good", "bad"])
    ('dead', None, None)
    """
    if len(names) != 2:
        return None
    plain = {number_text(folded(name)): name for name in names}
    for pair in (tuple(plain), tuple(plain)[::-1]):
        if pair in CONVENTION:
            return plain[pair[1]]
    for positive, other in zip(plain, [*plain][::-1], strict=True):
        if re.fullmatch(NOT.format(re.escape(positive), re.escape(positive)), other):
            return plain[positive]
    return None


def codes_for_missing(counts: Mapping[str, int]) -> list[str]:
    """Return labels that are probably codes or words for a missing label, if two classes remain without them.

    >>> codes_for_missing({"-999": 3, "0": 5, "1": 4}), codes_for_missing({"0": 5, "1": 4, "unknown": 2})
    (['-999'], ['unknown'])
    >>> codes_for_missing(dict.fromkeys("0123456789", 5)), codes_for_missing({"-1": 3, "0": 5, "1": 4})
    ([], ['-1'])
    """
    words = [name for name in counts if folded(name) in NO_LABEL - MAY_BE_CLASSES]
    rest = [name for name in counts if name not in words and folded(name) not in MAY_BE_CLASSES]
    found = [*words, *(name for name in rest if _is_code(name, [other for other in rest if other != name]))]
    return found if len(counts) - len(found) >= 2 else []


def _is_code(name: str, others: Iterable[str]) -> bool:
    """Tell whether a number is a code for a missing label beside these labels."""
    if not CODE.fullmatch(name):
        return False
    classes = [number_text(other) for other in others if not CODE.fullmatch(other) or other in ("9", "-1")]
    value, numbers = float(name), [number_of(other) for other in classes]
    if None in numbers:
        return value <= -9 or abs(value) >= 99  # a number among words
    largest = max((abs(number) for number in numbers if number is not None), default=0)
    if value == -1:
        return {"0", "1"} <= set(classes) or {"1", "2"} == set(classes)
    return len(classes) >= 2 and abs(value) > FAR * max(largest, 1)

"""Check that pages, messages, documents and docstrings use plain words and short sentences.

    python -m scripts.check_words                     # the whole tree
    python -m scripts.check_words calib/lessons docs  # some files or folders

Prints file, line, rule and text for each finding; exit status 1 if there are any. ``RULES`` are patterns that are
almost always wrong. A sentence has at most 25 words on a page and 30 in a document, and at most one colon or semicolon.
The rest of a text that stands after its return statement is found too.
To keep a sentence as it is, write ``words: right, REASON`` in a comment on one of its lines or on the line above.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("app.py", "benchmarks", "calib", "calibration_explorer", "docs", "pages", "sample_data", "scripts")
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
MOST_WORDS = {"page": 25, "document": 30}
VALUE = "…"  # stands for a value in an f-string
MARKER = re.compile(r"words: right, \w+")
EVERYWHERE = frozenset({"page", "document", "docstring", "comment"})
SHOWN = frozenset({"page", "document"})


@dataclass(frozen=True)
class Text:
    """One string, paragraph, docstring or comment, with the lines that it takes up."""

    first: int
    last: int
    kind: str
    words: str


@dataclass(frozen=True)
class Rule:
    """A pattern that is almost always wrong, and what to write instead."""

    pattern: str
    instead: str
    kinds: frozenset[str] = EVERYWHERE

    def found(self, text: Text) -> str | None:
        """Return the part of a text that breaks the rule."""
        match = re.search(self.pattern, text.words) if text.kind in self.kinds else None
        return match.group().strip() if match else None


THING = (
    r"(row|fit|fold|setup|line|file|method|model|metric|calibrator|class|column|group|bin|set|split|page|panel|point"
    r"|run|word)"
)
RULES = [
    Rule(r"\btoo (modest|timid)\b", "underconfident, or underestimates"),
    Rule(r"\btoo (sure|bold)\b", "overconfident, or overestimates"),
    Rule(r"\bpromise[sd]? too (much|little)\b", "overestimates, underestimates"),
    Rule(r"\btold apart\b", "clearly different"),
    Rule(r"\banew\b", "again, or resampled"),
    Rule(r"\b(beyond|more than) sampling variability\b", "the 95 % interval excludes 0; clearly"),
    Rule(r"\brarer class\b", "minority class"),
    Rule(r"\b(holds?|leaves? out) (0|zero)\b", "includes 0, excludes 0"),
    Rule(r"\bstated base rate\b", "deployment base rate"),
    Rule(r"\bcalibration in the large\b", "calibration-in-the-large"),
    Rule(r"\bmade[- ]up\b", "simulated, synthetic", SHOWN),
    Rule(
        r"(?<![Tt]here )\b(is|are|was|were) no "
        r"(?!longer|more|less|better|worse|fewer|larger|smaller|higher|lower|wider|narrower|one\b|such|evidence|proof|reason|doubt)",
        "is not a",
    ),
    Rule(rf"\b(one|two|three|an?|its own|\d+) {THING} an? {THING}\b", "per"),
    Rule(r"^(The same|Those|Of|As)\b", "begin with a verb or a noun", frozenset({"docstring"})),
    Rule(r"\b[Mm]end(s|ed|ing)?\b", "fix"),
    Rule(
        r"\b(next to nothing|[Ll]uck|[Ww]itness|dearest|in ink|tenths|hangs on|for good|objects)\b",
        "plain words",
        SHOWN,
    ),
    Rule(r"‘|(?<!\w)’", "“…” for people, straight quotes in code", SHOWN),
    Rule(rf"[\d{VALUE}]%(?!\w)", "a space before %", SHOWN),
    Rule(
        r"\b([Cc]olor|[Bb]ehavior|[Nn]eighbor|[Cc]enter|[Ff]avor)(s|ed|ing|hood|ite)?\b"
        r"|\b([Nn]ormal|[Ss]tandard|[Gg]eneral|[Ss]ummar|[Oo]ptim|[Mm]inim|[Mm]axim|[Rr]andom|[Rr]ecogn|[Oo]rgan)iz"
        r"|\banalyz|\b[Ll]earned\b",
        "British spelling",
        frozenset({"page"}),
    ),
]


def complaints(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield the line, the rule and the words of everything that breaks a rule in one file."""
    source = path.read_text(encoding="utf-8")
    right = {n for n, line in enumerate(source.splitlines(), start=1) if MARKER.search(line)}
    for text in READERS[path.suffix](source):
        if right.intersection(range(text.first - 1, text.last + 1)):
            continue
        for rule in RULES:
            if found := rule.found(text):
                yield text.first, f"“{found}”: {rule.instead}", text.words
        if most := MOST_WORDS.get(text.kind):
            yield from ((text.first, *complaint) for complaint in _too_long(text.words, most))
    if path.suffix == ".py":
        yield from _cut_off(source)


def _cut_off(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield what follows a return or raise, such as the second line of a text without brackets."""
    for node in ast.walk(ast.parse(source)):
        for before, after in pairwise(getattr(node, "body", ()) if isinstance(node, ast.stmt) else ()):
            if isinstance(before, ast.Return | ast.Raise):
                yield after.lineno, "never reached: put the text in brackets", ast.unparse(after)


def _too_long(words: str, most: int) -> Iterator[tuple[str, str]]:
    for sentence in sentences(words):
        if (count := len(re.findall(r"\S*\w\S*|…", sentence))) > most:
            yield f"{count} words in a sentence, at most {most}", sentence
        if (
            len(re.findall(rf"[;:](?=\s)(?!\s{VALUE}\W*$)", LABELLED.sub("", sentence))) > 1
        ):  # a reason may end it
            yield "more than one colon or semicolon in a sentence", sentence


LABELLED = re.compile(r"^([\w…-]+|“[^”]*”): ")  # "Bars: …" and "note: …" name what the sentence is about
ABBREVIATED = r"(?<!e\.g\.)(?<!i\.e\.)(?<! vs\.)(?<! al\.)(?<! pp\.)(?<! cf\.)"


def sentences(text: str) -> list[str]:
    """Split a text into sentences; paragraphs and items of lists end them too.

    >>> sentences("One half (0.5) is rare. Is it? Yes, e.g. Here.")
    ['One half (0.5) is rare.', 'Is it?', 'Yes, e.g. Here.']
    """
    parts = re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.)\s|<br>| · ", text)
    ends = ABBREVIATED + r"(?<=[.!?])[*”\")]*\s+(?=[A-Z0-9“\"*(\[`…]|p[01])"
    return [" ".join(one.split()) for part in parts for one in re.split(ends, part) if one.strip()]


# ---- Readers: from a source to its texts


def python_texts(source: str) -> Iterator[Text]:
    """Yield strings of three words and more, docstrings and comments of a program."""
    tree = ast.parse(source)
    documented = _docstrings(tree)
    for node in documented.values():
        yield Text(node.lineno, node.end_lineno or node.lineno, "docstring", _without_examples(node.value))
    yield from _strings(tree, documented)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Text(token.start[0], token.start[0], "comment", token.string.lstrip("# "))


def _docstrings(tree: ast.AST) -> dict[int, ast.Constant]:
    """Find the strings that stand alone as statements."""
    alone = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
    return {
        id(node): node for node in alone if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def _without_examples(docstring: str) -> str:
    return re.sub(r"(?m)^\s*>>>.*(\n\s*\S.*)*", "", docstring).strip()


def _strings(node: ast.AST, skipped: dict[int, ast.Constant]) -> Iterator[Text]:
    """Yield the texts of a tree, an f-string as one text in which ``VALUE`` stands for its values."""
    if id(node) in skipped:
        return
    words = _words(node)
    if words is None or isinstance(node, ast.JoinedStr):
        for child in ast.iter_child_nodes(node):
            if words is None or isinstance(child, ast.FormattedValue):
                yield from _strings(child.value if isinstance(child, ast.FormattedValue) else child, skipped)
    words = words and _filled(words)
    if words and is_prose(words):
        yield Text(node.lineno, node.end_lineno, "page", re.sub(r"<[^>]+>", " ", words))


def _words(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            _value(part) if isinstance(part, ast.FormattedValue) else part.value for part in node.values
        )
    return None


def _value(part: ast.FormattedValue) -> str:
    """Write ``…`` for a value, and ``…%`` for one that is formatted as a percentage."""
    form = _words(part.format_spec) if part.format_spec else ""
    return VALUE + ("%" if form and form.endswith("%") else "")


FIELD = re.compile(r"%?\{[\w.\[\]]*(![rs])?(:[^{}\s]*)?\}")


def _filled(text: str) -> str:
    """Write ``VALUE`` for the fields of a template, such as ``{rows:,}`` or ``%{x:.3f}``."""
    return FIELD.sub(VALUE, text)


CODE = re.compile(
    r"[{}]|;\s*$|=>|</?(style|script|svg|div|span)|^(SELECT|import|from|def|var|const|let) |\\[a-z]+\b"
)


def is_prose(text: str) -> bool:
    """Tell words for people from keys, style sheets and source code.

    >>> is_prose("Share of rows"), is_prose("top center"), is_prose("a {color: red; top: 0 px}")
    (True, False, False)
    >>> is_prose(_filled("mean of {rows:,} rows, {} of them"))
    True
    """
    return len(re.findall(r"[\w…-]+", text)) > 2 and " " in text and not CODE.search(text)


def toml_texts(source: str) -> Iterator[Text]:
    """Yield the strings of a TOML file; a line is found by the first letters of a string."""
    start = 0
    for value in _leaves(tomllib.loads(source)):
        if is_prose(value):
            start = max(start, source.find(value[:20], start))
            first = source.count("\n", 0, start) + 1
            yield Text(first, first + source.count("\n", start, start + len(value)), "page", value)


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _leaves(one)


def markdown_texts(source: str) -> Iterator[Text]:
    """Yield the paragraphs, items and table cells of a document, without code and formulas."""
    blank = re.sub(r"(?ms)^[ \t]*(```|~~~|\$\$).*?^[ \t]*\1|^---\n.*?^---$|\$\$.*?\$\$", _blanked, source)
    first, block = 1, []
    for n, line in enumerate([*blank.splitlines(), ""], start=1):
        begins = re.match(r"\s*([-*+]|\d+\.)\s|\||#|>|:::|<!--", line)
        if (not line.strip() or begins) and block:
            yield from _paragraph(first, block)
            block = []
        if line.strip():
            first, block = (first, block) if block else (n, [])
            block.append(line)


def _blanked(match: re.Match[str]) -> str:
    return "\n" * match.group().count("\n")


def _paragraph(first: int, lines: list[str]) -> Iterator[Text]:
    text = re.sub(r"`[^`]*`|\$[^$\n]*\$", "X", "\n".join(lines))
    text = re.sub(r"<!--.*?-->|<[^>]+>", " ", re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text))
    for cell in text.split("|") if text.startswith("|") else [text]:
        if is_prose(cell):
            yield Text(
                first, first + len(lines) - 1, "document", re.sub(r"^\s*([-*+#>]+|\d+\.)\s", "", cell).strip()
            )


def script_texts(source: str) -> Iterator[Text]:
    """Yield the strings of a script for the browser, in which ``VALUE`` stands for values."""
    for match in re.finditer(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`', source):
        words = re.sub(r"\$\{[^{}]*\}", VALUE, match.group(1) or match.group(2) or "")
        if is_prose(words):
            first = source.count("\n", 0, match.start()) + 1
            yield Text(first, first + match.group().count("\n"), "page", words)


READERS = {".py": python_texts, ".toml": toml_texts, ".md": markdown_texts, ".js": script_texts}


def files(named: Iterable[Path]) -> list[Path]:
    """List the files that are read, of files and folders."""
    found = [file for path in named for file in (sorted(path.rglob("*")) if path.is_dir() else [path])]
    return [file for file in found if file.suffix in READERS and file.is_file() and not file.is_symlink()]


def main(named: list[str]) -> int:
    """Print every finding, and return the exit status."""
    paths = [Path(name).resolve() for name in named] or [ROOT / name for name in (*FOLDERS, *DOCUMENTS)]
    count = 0
    for path in files(path for path in paths if path.exists()):
        for line, rule, words in complaints(path):
            count += 1
            print(f"{path.relative_to(ROOT)}:{line}: {rule}\n    {' '.join(words.split())[:300]}")
    print(f"{count} findings" if count else "The words are plain.")
    return int(count > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

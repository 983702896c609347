"""Read the pages of a PDF printed by Chromium, from the few relevant operators of its content streams."""

import re
import zlib
from collections.abc import Iterator

TOP, BOTTOM = 14, 18  # margins in style.css, in millimetres
POINTS = 72 / 25.4
PAINT = {"f", "f*", "F", "S", "s", "B", "B*", "b", "b*"}
Matrix = tuple[float, ...]
TOKEN = re.compile(rb"<[0-9A-F]*>|\((?:\\.|[^()\\])*\)|/[^\s/<>\[\]()]+|[^\s/<>\[\]()]+")


def largest_gaps(pdf: bytes) -> list[float]:
    """Return the highest strip without ink of each page, as a share of the height between the margins."""
    objects = _objects(pdf)
    found = []
    for page in _pages(objects):
        (height,) = re.findall(rb"/MediaBox \[0 0 [\d.]+ ([\d.]+)\]", page)
        content = _stream(objects[_only(rb"/Contents (\d+) 0 R", page)])
        forms = {name: objects[number] for name, number in re.findall(rb"(/X\d+) (\d+) 0 R", page)}
        low, high = BOTTOM * POINTS, float(height) - TOP * POINTS
        inked = sorted((max(a, low), min(b, high)) for a, b in _ink(content, forms) if b > low and a < high)
        end, gap = low, 0.0
        for a, b in [*inked, (high, high)]:
            gap, end = max(gap, a - end), max(end, b)
        found.append(gap / (high - low))
    return found


def scales(pdf: bytes) -> list[float]:
    """Return how much Chromium shrank each page, 1 for not at all: it does so if a table is wider than the sheet."""
    objects = _objects(pdf)
    contents = [_stream(objects[_only(rb"/Contents (\d+) 0 R", page)]) for page in _pages(objects)]
    margins, bodies = rb"cm\nq\n([\d.]+) 0 0", rb"W\* n\nq\n([\d.]+) 0 0"
    return [
        float(re.findall(bodies, content)[0]) / float(re.findall(margins, content)[0]) for content in contents
    ]


def texts(pdf: bytes) -> list[str]:
    """Return the text of each page, without its spaces."""
    objects = _objects(pdf)
    found = []
    for page in _pages(objects):
        fonts = {name: _characters(objects, font) for name, font in re.findall(rb"(/F\d+) (\d+) 0 R", page)}
        font: dict[int, str] = {}
        text = ""
        for token in TOKEN.findall(_stream(objects[_only(rb"/Contents (\d+) 0 R", page)])):
            if token.startswith(b"/F"):
                font = fonts.get(token, font)
            elif token.startswith(b"<"):
                text += "".join(font.get(int(token[i : i + 4], 16), "") for i in range(1, len(token) - 1, 4))
        found.append("".join(text.split()))
    return found


def _characters(objects: dict[bytes, bytes], font: bytes) -> dict[int, str]:
    """Return glyph → characters, from the font's table."""
    if b"/ToUnicode" not in objects[font]:
        return {}
    table = _stream(objects[_only(rb"/ToUnicode (\d+) 0 R", objects[font])])
    found = {}
    for block in re.findall(rb"beginbfchar(.*?)endbfchar", table, re.S):
        for glyph, text in re.findall(rb"<(\w+)> <(\w+)>", block):
            found[int(glyph, 16)] = bytes.fromhex(text.decode()).decode("utf-16-be")
    for block in re.findall(rb"beginbfrange(.*?)endbfrange", table, re.S):
        for ends in re.findall(rb"<(\w+)> <(\w+)> <(\w+)>", block):
            first, last, character = (int(each, 16) for each in ends)
            found |= {glyph: chr(character + glyph - first) for glyph in range(first, last + 1)}
    return found


def _objects(pdf: bytes) -> dict[bytes, bytes]:
    return dict(re.findall(rb"(?<![^\n])(\d+) 0 obj\n(.*?)endobj", pdf, re.S))


def _pages(objects: dict[bytes, bytes]) -> list[bytes]:
    return [text for text in objects.values() if b"/Type /Page\n" in text]


def _only(pattern: bytes, text: bytes) -> bytes:
    (found,) = re.findall(pattern, text)
    return found


def _stream(text: bytes) -> bytes:
    return zlib.decompress(text.partition(b"stream\n")[2].rpartition(b"\nendstream")[0])


def _ink(content: bytes, forms: dict[bytes, bytes]) -> Iterator[tuple[float, float]]:
    """Yield (lowest, highest) point of everything that is painted, in points from the lower edge."""
    matrix: Matrix = (1, 0, 0, 1, 0, 0)
    kept: list[Matrix] = []
    line: Matrix = matrix
    size = 0.0
    path: list[float] = []
    values: list[float] = []
    names: list[bytes] = []

    def height(x: float, y: float) -> float:
        return matrix[1] * x + matrix[3] * y + matrix[5]

    for token in TOKEN.findall(content):
        try:
            values.append(float(token))
            continue
        except ValueError:
            word = token.decode("latin-1")
        if word[0] in "/<(":
            names.append(token)
            continue
        if word == "q":
            kept.append(matrix)
        elif word == "Q":
            matrix = kept.pop()
        elif word == "cm":
            matrix = _product(tuple(values), matrix)
        elif word in ("m", "l", "c"):
            path += [height(x, y) for x, y in zip(values[::2], values[1::2], strict=True)]
        elif word == "re":
            x, y, _, tall = values
            path += [height(x, y), height(x, y + tall)]
        elif word in PAINT and path:
            yield min(path), max(path)
        elif word == "Tf":
            size = values[-1]
        elif word == "Tm":
            line = tuple(values)
        elif word == "Td":
            line = _product((1, 0, 0, 1, *values), line)
        elif word == "Tj":
            base, top = height(*line[4:]), height(line[4], line[5] - size)
            yield min(base, top), max(base, top)
        elif word == "Do" and names[-1] in forms and b"/BBox" in forms[names[-1]]:
            box = [float(value) for value in _only(rb"/BBox \[([^\]]*)\]", forms[names[-1]]).split()]
            ends = [height(box[0], box[1]), height(box[2], box[3])]
            yield min(ends), max(ends)
        if word in PAINT or word == "n":
            path = []
        values, names = [], []


def _product(a: Matrix, b: Matrix) -> Matrix:
    """Return the matrix that applies a, then b, each as PDF writes it."""
    return (
        a[0] * b[0] + a[1] * b[2],
        a[0] * b[1] + a[1] * b[3],
        a[2] * b[0] + a[3] * b[2],
        a[2] * b[1] + a[3] * b[3],
        a[4] * b[0] + a[5] * b[2] + b[4],
        a[4] * b[1] + a[5] * b[3] + b[5],
    )

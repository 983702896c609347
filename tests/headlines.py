"""Check how a headline writes its numbers."""

from __future__ import annotations

import re

DIGITS = 2


def long_numbers(text: str) -> list[str]:
    """Return decimals with more than two significant digits, unless two digits would not distinguish them."""
    found = re.findall(r"\d+\.\d+", text)
    short = {number: f"{float(number):.{DIGITS - 1}e}" for number in found}
    alike = [one for number, one in short.items() if number in set(found)]
    return [
        number
        for number in dict.fromkeys(found)
        if len(number.replace(".", "").lstrip("0")) > DIGITS
        and alike.count(short[number]) < 2
        and float(short[number]) not in (1, 100)
    ]

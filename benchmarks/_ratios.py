"""How a ratio is printed beside its bound, once."""


def verdict(ratio: float, bound: float | None, *, at_least: bool = False) -> str:
    """The ratio, the bound it must keep where there is one, and BROKEN where it does not."""
    if bound is None:
        return f"{ratio:9.2f}"
    kept = ratio >= bound if at_least else ratio <= bound
    return f"{ratio:9.2f} ({'≥' if at_least else '≤'} {bound:g}{'' if kept else ' BROKEN'})"

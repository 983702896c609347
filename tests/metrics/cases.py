"""Random labelled predictions for property tests: continuous ones, ones full of ties, ones on bin edges."""

import numpy as np
from hypothesis import strategies as st

decimals = st.integers(0, 100).map(lambda i: i / 100)
probabilities = st.one_of(
    st.floats(0, 1, allow_subnormal=False), decimals, st.sampled_from([0.0, 0.15, 0.29, 0.5, 1.0])
)


@st.composite
def labelled(draw, chances=probabilities, smallest=1, largest=40):
    """Draw y and p of one length."""
    p = draw(st.lists(chances, min_size=smallest, max_size=largest))
    y = draw(st.lists(st.integers(0, 1), min_size=len(p), max_size=len(p)))
    return np.array(y), np.array(p)


@st.composite
def pairs(draw, largest=30):
    """Draw labels and pairs of probabilities, in any order."""
    y, first = draw(labelled(largest=largest))
    second = draw(st.lists(probabilities, min_size=len(y), max_size=len(y)))
    return y, np.column_stack([first, second])


def random_case(seed, n=500, decimals=None):
    """Draw n labels and somewhat wrong predictions, rounded to ``decimals``, if given, so that there are ties."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n)
    y = (rng.random(n) < truth).astype(int)
    p = np.clip(truth + 0.2 * rng.normal(size=n), 0.001, 0.999)
    return y, p if decimals is None else p.round(decimals)

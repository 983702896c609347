"""Which method is better over many data sets: ranks, tests that allow for having asked often, paired differences."""

from calib.comparison.bergmann_hommel import bergmann_hommel, rank_pvalues
from calib.comparison.paired import PairedTest, paired_t
from calib.comparison.ranks import (
    FriedmanTest,
    average_ranks,
    cliques,
    friedman,
    nemenyi_critical_difference,
    ranks,
)

__all__ = [
    "FriedmanTest",
    "PairedTest",
    "average_ranks",
    "bergmann_hommel",
    "cliques",
    "friedman",
    "nemenyi_critical_difference",
    "paired_t",
    "rank_pvalues",
    "ranks",
]

"""Compare methods over many data sets: ranks, tests that correct for multiple comparisons, paired differences."""

from calib.comparison.ranks import (
    FriedmanTest,
    average_ranks,
    bergmann_hommel,
    best_ranked,
    cliques,
    friedman,
    nemenyi_critical_difference,
    rank_pvalues,
    ranks,
)
from calib.comparison.win_rate import (
    Means,
    PairedTest,
    mean_share,
    paired_t,
    paired_t_matrix,
    regrets,
    win_rates,
    wins,
)

__all__ = [
    "FriedmanTest",
    "Means",
    "PairedTest",
    "average_ranks",
    "bergmann_hommel",
    "best_ranked",
    "cliques",
    "friedman",
    "mean_share",
    "nemenyi_critical_difference",
    "paired_t",
    "paired_t_matrix",
    "rank_pvalues",
    "ranks",
    "regrets",
    "win_rates",
    "wins",
]

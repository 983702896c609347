"""The words of the Learn pages, each explained in a sentence or two; pages link to them where they are first used."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """A word that needs explaining.

    Attributes
    ----------
    name
        As it is written.
    meaning
        In words that need no other entry.
    forms
        Other writings that are linked.
    linked
        Whether texts link to it; words that everybody reads past are explained, and left unlinked.

    Examples
    --------
    >>> GLOSSARY["gl"].anchor
    'grouping-loss-gl'
    """

    name: str
    meaning: str
    forms: tuple[str, ...] = ()
    linked: bool = True

    @property
    def anchor(self) -> str:
        return "-".join(re.findall(r"[a-z0-9]+", self.name.lower().replace("²", "2")))

    @property
    def written(self) -> tuple[str, ...]:
        """How texts write it: its forms, or its name."""
        return self.forms or (self.name,)


ENTRIES = {
    "auc": Term("AUC", "The chance that a row of class 1 is scored above a row of class 0; 0.5 is guessing."),
    "band": Term(
        "Consistency band",
        "Where 95 in 100 marks would fall if the model were right.",
        ("band belongs", "The band shows"),
    ),
    "bhattacharyya": Term(
        "Bhattacharyya distance",
        "How far two distributions lie apart: 0 where they are the same, 5.72 where they hardly touch.",
    ),
    "bias": Term(
        "Bias² and scatter",
        "The two parts of TCE: what is wrong the same way for all rows that are equally "
        "likely, squared, and how much predictions differ among them.",
        ("bias²", "scatter"),
    ),
    "brier": Term(
        "Brier score",
        "Mean squared difference of prediction and label: 0 is perfect, 0.25 is predicting one half for every row.",
    ),
    "calibrated": Term(
        "Calibrated",
        "Of the rows that get the prediction p, the share p belongs to class 1.",
        ("perfectly calibrated", "well calibrated", "is calibrated"),
    ),
    "calibrator": Term(
        "Calibrator",
        "A map from a model’s score to a probability, learnt on rows that the model has not seen.",
        ("Calibrator", "calibrator", "calibrators"),
    ),
    "cl": Term(
        "Calibration loss (CL)",
        "What is lost because the prediction of a group of rows differs from its mean "
        "true probability. A calibrator can lower it.",
        ("Calibration loss", "calibration loss", "CL"),
    ),
    "corp": Term(
        "CORP", "A reliability diagram without bins: isotonic regression of the labels on the predictions."
    ),
    "ct": Term("CT", "A forest of curtailed trees.", ("CT",)),
    "curtailment": Term(
        "Curtailment",
        "A leaf with too few rows takes the frequency of the first ancestor that has enough.",
        ("Curtailment", "curtailment", "curtailed", "Curtailed"),
    ),
    "dir": Term(
        "DIR",
        "Direct isotonic regression: isotonic regression on the scores of the rows that trained the model.",
        ("DIR",),
    ),
    "ece": Term(
        "ECE",
        "Expected calibration error: the mean gap of the marks to the diagonal, weighted by the rows of "
        "each bin. It depends on the bins.",
        ("ECE",),
    ),
    "entropy": Term(
        "Entropy",
        "How many bits it takes to tell the values apart; many different predictions have a large one.",
        ("Entropy", "entropies"),
    ),
    "gl": Term(
        "Grouping loss (GL)",
        "What is lost because rows of one group differ in their true probability. Only another model lowers it.",
        ("Grouping loss", "grouping loss", "GL"),
    ),
    "group": Term(
        "Group",
        "Rows that a loss takes together: those with the same prediction, those of one leaf, or a "
        "bin of predictions. Each picture says which.",
        ("A group", "groups"),
    ),
    "il": Term(
        "Irreducible loss (IL)",
        "What is lost even by the true probabilities: nobody can lower it.",
        ("IL",),
    ),
    "isotonic": Term(
        "Isotonic regression",
        "The rising step function that is closest to the labels, found by pooling neighbours.",
        ("Isotonic regression", "isotonic regression"),
    ),
    "laplace": Term("Laplace’s estimate", "(n1 + 1)/(n + 2) in place of n1/n: never 0 or 1.", ("Laplace",)),
    "leaf": Term(
        "Leaf",
        "An end of a tree; all rows that arrive there get the same prediction. It is pure where all "
        "its training rows are of one class.",
        ("pure leaves", "Pure leaves"),
    ),
    "log_loss": Term(
        "Log loss",
        "Mean of −ln of the probability given to the true label; ∞ after one certain mistake.",
        ("log loss", "Log loss"),
    ),
    "minimax": Term("Minimax", "The choice whose worst case is least bad.", ("minimax",)),
    "oob": Term(
        "Out of bag",
        "A tree of a forest grows on a random draw of the rows; the rows left out are out of its "
        "bag, and can calibrate.",
        ("out of bag", "out-of-bag"),
    ),
    "p0p1": Term(
        "p0 and p1",
        "The two probabilities of a Venn predictor: those for the label 0 and the label 1 of the "
        "new row. P_Y is the one that belongs to its true label.",
        ("p0 and p1", "P_Y"),
    ),
    "platt": Term(
        "Platt scaling",
        "A calibrator with two parameters: a sigmoid of the score.",
        ("Platt scaling", "Platt"),
    ),
    "pool": Term(
        "Pool",
        "Neighbouring rows that isotonic regression gives the same probability.",
        ("pools", "pool", "Pools"),
    ),
    "posterior": Term(
        "Posterior",
        "The true probability of class 1 of a row, known only where the data are made up; also written π.",
        ("posterior", "posteriors", "true probability", "true probabilities"),
    ),
    "ppa": Term(
        "PPA",
        "Parameterised probability adjustment: a calibrator with one parameter that moves all "
        "probabilities away from the middle.",
        ("PPA",),
    ),
    "rank": Term(
        "Rank",
        "A calibrator of forests: the trees rank the rows, and the mean rank is mapped to "
        "probabilities by isotonic regression.",
        ("rank",),
        linked=False,
    ),
    "reliability": Term(
        "Reliability",
        "Murphy’s part of the Brier score that calibration can remove, measured in 100 "
        "bins; with few rows it is mostly noise.",
        linked=False,
    ),
    "reliability_diagram": Term(
        "Reliability diagram",
        "Marks at the mean prediction of a bin and as high as the share of its rows that came true.",
        linked=False,
    ),
    "rf_d": Term(
        "RF_d", "A forest with scikit-learn’s default settings: its trees are fully grown.", ("RF_d",)
    ),
    "rf_large": Term("RF_large", "The same with 500 trees.", ("RF_large",)),
    "rf_opt": Term(
        "RF_opt",
        "A forest whose settings were searched for the least Brier score: it is tuned.",
        ("RF_opt", "Tuned forest", "tuned forest"),
    ),
    "score": Term(
        "Score",
        "What a model gives a row before calibration; higher means more likely of class 1.",
        linked=False,
    ),
    "tce": Term(
        "TCE",
        "True calibration error: the mean squared difference of prediction and true probability. It is "
        "free of label noise, and known only where the data are made up.",
        ("TCE", "true calibration error"),
    ),
    "valid": Term(
        "Valid",
        "A promise that holds for any number of rows: on average the selected probability equals the label.",
        ("valid", "validity", "Validity"),
        linked=False,
    ),
    "venn": Term(
        "Venn predictor",
        "Puts the new row into a category with others, once with label 0 and once with "
        "label 1, and gives the share of class 1 there: two probabilities.",
        ("Venn predictor",),
    ),
    "venn_abers": Term(
        "Venn–Abers",
        "A Venn predictor whose categories are the pools of isotonic regression.",
        ("Venn–Abers",),
    ),
}
GLOSSARY: dict[str, Term] = dict(sorted(ENTRIES.items(), key=lambda entry: entry[1].name.lower()))
"""Key → term, in the order of the alphabet."""

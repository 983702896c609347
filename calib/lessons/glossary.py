"""Glossary of the terms that pages use, each explained in a sentence or two; pages link a term at its first use."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """One entry of the glossary.

    Attributes
    ----------
    name
        The term.
    meaning
        Its explanation, which needs no other entry.
    forms
        Spellings in texts that are linked to it.
    linked
        Whether texts link to it; very common words are explained but not linked.

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
        """Spellings in texts: its forms, or its name."""
        return self.forms or (self.name,)


TERMS = {
    "auc": Term(
        "AUC",
        "The probability that a row of class 1 gets a higher score than a row of class 0; guessing gives 0.5.",
    ),
    "band": Term(
        "Consistency band",
        "The range in which a mark falls 95 % of the time if the model is calibrated.",
        ("band belongs", "The band shows"),
    ),
    "base_rate": Term(
        "Base rate",
        "The share of class 1 among the rows, also called prevalence. The base rate in deployment can "
        "differ from the base rate of the table; probabilities can then be adjusted.",
        linked=False,
    ),
    "bhattacharyya": Term(
        "Bhattacharyya distance",
        "A measure of the difference between two distributions: 0 if they are identical, larger the less they overlap.",
    ),
    "bias": Term(
        "Bias² and scatter",
        "The two parts of TCE. Bias is the mean error of rows with the same true probability; scatter is the "
        "variance of their predictions.",
        ("bias²", "scatter"),
    ),
    "brier": Term(
        "Brier score",
        "The mean squared difference between prediction and label. It is 0 for perfect predictions, and 0.25 if every "
        "prediction is one half.",
    ),
    "calibrated": Term(
        "Calibrated",
        "A model is calibrated if, for every p, a share p of the rows with prediction p is in class 1.",
        ("perfectly calibrated", "well calibrated", "is calibrated"),
    ),
    "calibrator": Term(
        "Calibrator",
        "A map from a model's score to a probability, learnt on rows that the model has not seen.",
        ("Calibrator", "calibrator", "calibrators"),
    ),
    "cl": Term(
        "Calibration loss (CL)",
        "The part of the loss that arises because the prediction of a group differs from its mean true probability. A "
        "calibrator can lower this loss.",
        ("Calibration loss", "calibration loss", "CL"),
    ),
    "corp": Term(
        "CORP",
        "A reliability diagram that needs no choice of bins: isotonic regression of the labels on the predictions.",
        linked=False,
    ),
    "ct": Term("CT", "A forest of curtailed trees.", ("CT", "Curtailed forest on all rows")),
    "curtailment": Term(
        "Curtailment",
        "If a leaf has too few rows, it takes the share of class 1 from its nearest ancestor with enough rows.",
        ("Curtailment", "curtailment", "curtailed", "Curtailed"),
    ),
    "dir": Term(
        "DIR",
        "Direct isotonic regression: isotonic regression on the scores of the model's own training rows.",
        ("DIR",),
    ),
    "ece": Term(
        "ECE",
        "Expected calibration error: the mean gap between the marks and the diagonal, weighted by the "
        "number of rows in each bin. Its value depends on the bins.",
        ("ECE",),
    ),
    "entropy": Term(
        "Entropy",
        "The number of bits needed to encode the predictions. The entropy is high if there are many "
        "different predictions.",
        ("Entropy", "entropies"),
    ),
    "evidence": Term(
        "Evidence",
        "A number that starts at 1 and grows if labels contradict the predictions. If the model is calibrated, the "
        "probability that the evidence ever reaches 20 is at most 5 %, however often you look. Papers call it an "
        "e-process.",
        ("The evidence", "the evidence"),
    ),
    "net_benefit": Term(
        "Net benefit",
        "The share of true positives, minus the share of false positives weighted by t/(1 − t), where t is the "
        "threshold above which you act. Higher is better; the net benefit of acting on no row is 0.",
        linked=False,
    ),
    "oe": Term(
        "O/E",
        "The number of observed events divided by the number expected from the predictions. Above 1 the model "
        "underestimates on average, below 1 it overestimates.",
        linked=False,
    ),
    "offset": Term(
        "Offset",
        "A constant that is added to the log-odds of every prediction. The calibrator “Intercept only” fits it: it "
        "corrects the level and leaves the slope as it is.",
        linked=False,
    ),
    "gl": Term(
        "Grouping loss (GL)",
        "The part of the loss that arises because the rows of a group differ in their true probability. "
        "Only a different model can lower this loss.",
        ("Grouping loss", "grouping loss", "GL"),
    ),
    "group": Term(
        "Group",
        "A set of rows over which a loss is averaged: all rows with the same prediction, in the same leaf, or in the "
        "same bin. Each picture says which kind of group it uses.",
        ("A group", "groups"),
    ),
    "il": Term(
        "Irreducible loss (IL)",
        "The loss that remains even if you predict the true probabilities. No method can lower this loss.",
        ("IL",),
    ),
    "isotonic": Term(
        "Isotonic regression",
        "The non-decreasing step function that is closest to the labels, found by pooling neighbouring rows.",
        ("Isotonic regression", "isotonic regression"),
    ),
    "laplace": Term(
        "Laplace's estimate",
        "A leaf with n1 of n rows in class 1 predicts (n1 + 1)/(n + 2) instead of n1/n, so it never "
        "predicts 0 or 1.",
        ("Laplace",),
    ),
    "leaf": Term(
        "Leaf",
        "An end node of a tree. All rows in a leaf get the same prediction. A leaf is pure if all its training rows "
        "are in one class.",
        ("pure leaves", "Pure leaves"),
    ),
    "log_loss": Term(
        "Log loss",
        "The mean of −ln of the probability given to the true label. One wrong prediction of 0 or 1 makes "
        "the log loss infinite.",
        ("log loss", "Log loss"),
    ),
    "minimax": Term(
        "Minimax", "The choice that makes the loss in the worst case as small as possible.", ("minimax",)
    ),
    "multicalibration": Term(
        "Multicalibration",
        "Calibration in every segment of the features, at every level of the prediction. The calibrator of "
        "this name corrects segments in which the probabilities are wrong.",
        ("Multicalibration", "multicalibration"),
        linked=False,
    ),
    "oob": Term(
        "Out of bag",
        "Each tree of a forest grows on a random draw of the rows. Rows that are not drawn are out of bag "
        "for this tree, so their scores can be used for calibration.",
        ("out of bag", "out-of-bag"),
        linked=False,
    ),
    "p0p1": Term(
        "p0 and p1",
        "The two probabilities of a Venn predictor: p0 if the new row has label 0, p1 if it has label 1. P_Y is the "
        "probability that belongs to the row's true label.",
        ("p0 and p1", "P_Y"),
    ),
    "platt": Term(
        "Platt scaling",
        "A calibrator that fits a sigmoid function of the score, which has two parameters.",
        ("Platt scaling", "Platt"),
    ),
    "pool": Term(
        "Pool",
        "Neighbouring rows to which isotonic regression gives the same probability.",
        ("pools", "pool", "Pools"),
    ),
    "posterior": Term(
        "True probability",
        "The probability of class 1 for a row, known only for simulated data. Papers call it the posterior and "
        "write π.",
        ("posterior", "posteriors", "true probability", "true probabilities"),
    ),
    "ppa": Term(
        "PPA",
        "Parameterised probability adjustment: a calibrator with one parameter that moves all probabilities "
        "away from one half.",
        ("PPA",),
    ),
    "rank": Term(
        "Rank",
        "A calibrator for forests: each tree ranks the rows, and isotonic regression maps the mean rank to "
        "probabilities.",
        ("rank",),
        linked=False,
    ),
    "reliability": Term(
        "Reliability",
        "The part of the Brier score that calibration can remove, as Murphy defined it, over 100 bins. With "
        "few rows, this number is mostly noise.",
        linked=False,
    ),
    "reliability_diagram": Term(
        "Reliability diagram",
        "A plot of bins, with the mean prediction on the horizontal axis and the observed share of class 1 on the "
        "vertical axis.",
        linked=False,
    ),
    "rf_d": Term(
        "RF_d",
        "A forest with scikit-learn's default settings, in which trees are fully grown.",
        ("RF_d", "Default forest on all rows"),
    ),
    "rf_large": Term(
        "RF_large", "A forest like RF_d, but with 500 trees.", ("RF_large", "Forest of 500 trees on all rows")
    ),
    "rf_opt": Term(
        "RF_opt",
        "A tuned forest: a search chose the settings with the lowest Brier score.",
        ("RF_opt", "Tuned forest on all rows", "Tuned forest", "tuned forest"),
    ),
    "score": Term(
        "Score",
        "A model's output for a row before calibration. A higher score means that class 1 is more likely.",
        linked=False,
    ),
    "segment": Term(
        "Segment",
        "The rows that meet one or several conditions on columns, such as age 60 to 79 and self-employed.",
        linked=False,
    ),
    "slope": Term(
        "Slope",
        "The calibration slope: the coefficient of the log-odds of the prediction in a logistic regression of the "
        "labels, with a free intercept. A slope of 1 is right; below 1 the model is overconfident, above 1 "
        "underconfident.",
        linked=False,
    ),
    "tce": Term(
        "TCE",
        "True calibration error: the mean squared difference between prediction and true probability. It "
        "contains no label noise, but is known only for simulated data.",
        ("TCE", "true calibration error"),
    ),
    "valid": Term(
        "Valid",
        "A Venn predictor is valid: for any number of rows, the probability for the true label (P_Y) equals the label "
        "on average.",
        ("valid", "validity", "Validity"),
        linked=False,
    ),
    "venn": Term(
        "Venn predictor",
        "A predictor that gives two probabilities. It adds the new row to a category of similar rows, once with label "
        "0 and once with label 1. Each probability is the share of class 1 in that category.",
        ("Venn predictor",),
    ),
    "venn_abers": Term(
        "Venn–Abers",
        "A Venn predictor whose categories are the pools of isotonic regression.",
        ("Venn–Abers",),
    ),
}
GLOSSARY: dict[str, Term] = dict(sorted(TERMS.items(), key=lambda entry: entry[1].name.lower()))
"""Key → term, in the order of the alphabet."""

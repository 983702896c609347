"""What a person may state about how a table is read; a Recipe checks these options without importing what reads."""

SCORES_AS = {
    "probabilities": "Probabilities",
    "percentages": "Percentages: each value is divided by 100",
    "logits": "Logits: converted by the sigmoid, or by the softmax if there is one column per class",
    "margins": "Scores that are not probabilities",
    "shares": "Shares: each row is divided by its sum",
    "right": "Confidence: the probability that the predicted class is right",
    "confidence": "Confidence of the predicted class, converted to the positive class",
}
"""How a person may state that scores are to be read → its words."""
WRONG_SCORES = {
    "exclude": "Exclude their rows",
    "certain": "Exclude rows with a score of exactly 0 or 1, because these values represent missing scores",
}
LABELS_AS = {
    "classes": "Classes: every label is a class",
    "shares": "Shares: the share of annotators who chose class 1",
}
"""How a person may state that labels are to be read → its words."""
WEIGHT_AS = {"counts": "repeats the row", "importance": "weights the row"}
"""Meaning of whole weights → the effect of each line of the table."""
LEARN_ROWS = 1_000_000  # default number of rows to learn from, of a table too large for memory

"""Analyses of an Evaluation: curves, comparisons, advice, decisions, tree depth, explanations and subgroups."""

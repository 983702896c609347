"""What takes an Evaluation apart: curves, comparisons, advice, decisions, depth, explanations, subgroups."""

"""What several experiments share: data, models, what predictions are worth, and shapes of their pictures."""

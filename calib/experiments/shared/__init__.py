"""Data, models, measures and pictures that several experiments share."""

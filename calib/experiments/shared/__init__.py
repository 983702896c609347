"""What several experiments share: their data and models, how they are judged, and shapes of their pictures."""

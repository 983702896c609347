"""Commands of the command line, one per file, and what they share."""

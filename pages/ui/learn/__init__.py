"""The parts of the Learn pages: a page's own in a file with its stem, beside what all of them share."""

"""The parts of each Study page, in a file of the page's own name."""

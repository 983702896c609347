"""The parts of each Explore page, in a file of the page's own name."""

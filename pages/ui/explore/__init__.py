"""Parts of each Explore page, in a file with the page's name."""

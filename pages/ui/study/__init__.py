"""Parts of each Study page, in a file with the page's name."""

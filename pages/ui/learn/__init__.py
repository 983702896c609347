"""Parts of the Learn pages: each page's own in a file with its name, beside what all of them share."""

"""The pages, found beside app.py even where another installed package is called ``pages`` as well."""

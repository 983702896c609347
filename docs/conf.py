"""The guide and the API reference as a static site: ``make docs``."""

from calib import __version__

project = "Calibration Explorer"
version = release = __version__
copyright = "the authors, MIT licence"
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}  # the front page is the README, in full width
html_static_path = ["site"]
html_css_files = ["site.css"]
html_title = project
html_show_sourcelink = html_copy_source = False
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True  # 1/3, not all its digits
autodoc_typehints = "none"  # the texts say shapes and ranges
toc_object_entries_show_parents = "hide"  # a method's name alone: with its class the list is too wide
numpydoc_show_class_members = False  # each stands there with its own text
myst_heading_anchors = 3
suppress_warnings = ["ref.term", "ref.ref"]  # inherited texts point into scikit-learn's own pages


# Files of the project's root, as links on a forge name them, and the pages of the site that include them.
ROOT_FILES = {"../README.md": "index.md"} | {
    f"../{name}.md": f"{name}.md" for name in ("CONTRIBUTING", "SECURITY")
}


def setup(app):
    app.connect("source-read", _root_files)
    app.connect("autodoc-skip-member", lambda app, what, name, *_: name.endswith("_request") or None)
    app.connect("autodoc-process-docstring", _bars)


def _root_files(app, name, content):
    for path, page in ROOT_FILES.items():
        content[0] = content[0].replace(f"]({path}", f"]({page}")


def _bars(app, what, name, thing, options, lines):
    """|x| is an absolute value in our texts, and a substitution in Sphinx's."""
    lines[:] = [
        line if line.lstrip().startswith((">>>", "...")) else line.replace("|", r"\|") for line in lines
    ]

"""Learn · Glossary: what the words on these pages mean."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import glossary

frame.open_page("pages/learn_glossary.py")
glossary.listed()

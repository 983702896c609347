"""Learn · Venn–Abers: the lesson, its three questions and its experiments."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import views

views.show(frame.open_page("pages/learn_two_probabilities.py"), "two_probabilities")

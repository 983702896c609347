"""Study · Simulations: the simulations of the papers, with known true probabilities."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import views

views.show(frame.open_page("pages/study_simulations.py"), "simulations")

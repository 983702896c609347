"""Learn · Labs: change a setting and see the numbers change, in the playground and in four experiments."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import views

views.show(frame.open_page("pages/learn_labs.py"), "labs")

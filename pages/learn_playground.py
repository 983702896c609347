"""Learn · Playground: miscalibration to drag; every number follows in the browser."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import playground

playground.show(frame.open_page("pages/learn_playground.py"))

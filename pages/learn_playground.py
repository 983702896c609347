"""Learn · Playground: drag a miscalibration; the browser updates every number."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import playground

playground.show(frame.open_page("pages/learn_playground.py"))

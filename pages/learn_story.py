"""Learn · Story: seven parts about calibration beside one picture; the browser computes every number."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import story

frame.open_page("pages/learn_story.py")
story.show()

"""Learn · Class: a room in which a teacher asks and phones answer."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import room

if not room.opened():
    frame.open_page(room.SCRIPT)
    room.begin()

"""Learn · Class: a room in which a teacher asks and phones answer."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import room

if code := room.named():
    frame.open_alone(room.SCRIPT, f"Room {code}")
    room.show(code)
else:
    frame.open_page(room.SCRIPT)
    room.begin()

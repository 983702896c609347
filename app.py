"""Run the app: set up the page table; the address without a path opens the start page."""

from pages.ui import loading

with loading.empty_axes():
    import pages.ui.everything
    from pages.ui import frame

frame.run_app()

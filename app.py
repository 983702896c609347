"""The start page is the first diagram: ``streamlit run app.py`` opens on Reliability with a sample loaded.

Pages open their own frame (pages/ui/frame.py), so there is no page table here that another script would depend on.
"""

import runpy
from pathlib import Path

runpy.run_path(str(Path(__file__).with_name("pages") / "explore_reliability.py"))

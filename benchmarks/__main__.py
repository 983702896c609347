"""All benchmarks, one after the other: ``python -m benchmarks``, or ``make bench``, which installs the peers first.

The exit status is 1 where a bound is broken.
"""

import runpy
import sys
from pathlib import Path

status = 0
for file in sorted(Path(__file__).parent.glob("[a-z]*.py")):
    print(f"\n{file.stem}", flush=True)
    try:
        runpy.run_module(f"benchmarks.{file.stem}", run_name="__main__")
    except SystemExit as ended:
        status |= bool(ended.code)
sys.exit(status)

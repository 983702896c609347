"""All benchmarks, one after the other: ``python -m benchmarks``, or ``make bench``, which installs the peers first."""

import runpy
from pathlib import Path

for file in sorted(Path(__file__).parent.glob("[a-z]*.py")):
    print(f"\n{file.stem}", flush=True)
    runpy.run_module(f"benchmarks.{file.stem}", run_name="__main__")

"""Write the lock file of deployments, or ask a public list of advisories about what it names.

``python -m scripts.lock`` resolves ``pyproject.toml``, with what builds the wheel, and writes
``deploy/requirements.lock`` with a version and hashes for every package. ``python -m scripts.lock audit`` ends with
exit status 1 if one of these versions has a known vulnerability; without a network it is skipped by name. The tools,
pip-tools and pip-audit, are installed in a temporary environment, because nothing else needs them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "deploy" / "requirements.lock"
HEAD = "# Written by python -m scripts.lock: what deploy/install.sh installs, with the hashes of its files.\n"
WRITE = (
    *(
        "--quiet",
        "--generate-hashes",
        "--strip-extras",
        "--allow-unsafe",
        "--build-deps-for=wheel",
        "--no-header",
    ),
    *(
        "--no-emit-index-url",
        "--no-emit-trusted-host",
        "--no-emit-options",
        "--no-emit-find-links",
        "--no-annotate",
    ),
)


@contextmanager
def tool(package: str) -> Iterator[Path]:
    """Install a package in a temporary environment, and yield the folder of its programs.

    Raises
    ------
    subprocess.CalledProcessError
        If it cannot be installed, as without a network.
    """
    with tempfile.TemporaryDirectory() as name:
        venv.create(name, with_pip=True)
        programs = Path(name, "bin")
        subprocess.run([programs / "python", "-m", "pip", "install", "--quiet", package], check=True)
        yield programs


def write() -> None:
    """Resolve all dependencies and write the lock file."""
    with tool("pip-tools>=7.6,<8") as programs, tempfile.TemporaryDirectory() as name:
        made = Path(name, LOCK.name)
        command = [programs / "pip-compile", *WRITE, f"--output-file={made}", "pyproject.toml"]
        subprocess.run(command, cwd=ROOT, check=True)
        LOCK.write_text(HEAD + made.read_text(encoding="utf-8"), encoding="utf-8")


def audit() -> int:
    """Print the known vulnerabilities of the locked versions; return 1 if there are any."""
    with tempfile.TemporaryDirectory() as name:
        found = Path(name, "found.json")
        options = (
            "--disable-pip",
            "--require-hashes",
            "--requirement",
            LOCK,
            "--format=json",
            "--output",
            found,
        )
        try:
            with tool("pip-audit>=2.10,<3") as programs:
                subprocess.run([programs / "pip-audit", *options, "--progress-spinner=off"], check=False)
            packages = json.loads(found.read_text(encoding="utf-8"))["dependencies"]
        except (subprocess.CalledProcessError, OSError):
            print(
                "SKIPPED: the list of advisories cannot be reached, so the locked versions were not checked."
            )
            return 0
    return report(packages)


def report(packages: list[dict]) -> int:
    """Print each vulnerability, and the number of packages; return 1 if there are any.

    >>> report([{"name": "a", "version": "1", "vulns": []}])
    1 locked packages, 0 with a known vulnerability
    0
    >>> report([{"name": "a", "version": "1", "vulns": [{"id": "CVE-1", "fix_versions": ["2"]}]}])
    a 1: CVE-1, fixed in 2
    1 locked packages, 1 with a known vulnerability
    1
    """
    bad = [one for one in packages if one.get("vulns")]
    for one in bad:
        for known in one["vulns"]:
            fixed = ", ".join(known["fix_versions"]) or "no version"
            print(f"{one['name']} {one['version']}: {known['id']}, fixed in {fixed}")
    print(f"{len(packages)} locked packages, {len(bad)} with a known vulnerability")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(audit() if sys.argv[1:] == ["audit"] else write())

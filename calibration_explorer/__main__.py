"""``calibration-explorer``: the dashboard on this machine, or for others behind a proxy (docs/deployment.md).

Streamlit reads ``.streamlit/config.toml`` from the folder of the script that it runs, wherever it is started
from.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from streamlit.web import cli

HERE = Path(__file__).resolve().parent
# a wheel's, or a clone's
APP = next(path for path in (HERE / "app.py", HERE.parent / "app.py") if path.is_file())
# Option → Streamlit's name of it: what is not given is asked of STREAMLIT_SERVER_… and then of config.toml.
SERVER = {"address": "address", "port": "port", "path_prefix": "baseUrlPath"}
HERE_ALONE = ("localhost", "127.0.0.1", "::1")
HOSTS = "STREAMLIT_SERVER_ALLOWED_HOSTS"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="calibration-explorer",
        description="Start Calibration Explorer, and open it in a browser if there is a screen.",
    )
    parser.add_argument(
        "--address",
        help="address to listen on; 0.0.0.0 accepts connections from other machines (or set "
        "STREAMLIT_SERVER_ADDRESS)",
    )
    parser.add_argument(
        "--host",
        action="append",
        default=[],
        metavar="NAME",
        help="host in the URL by which other machines reach the dashboard, such as stats.example.edu; may be repeated. "
        f"Only localhost is answered without it (or set {HOSTS}, with blanks between names)",
    )
    parser.add_argument("--port", type=int, help="port, by default 8501 (or set STREAMLIT_SERVER_PORT)")
    parser.add_argument(
        "--path-prefix",
        metavar="PATH",
        help="path of the URL behind a proxy, such as calibration for https://host/calibration/ (or set "
        "STREAMLIT_SERVER_BASE_URL_PATH)",
    )
    parser.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE",
        help="open this data file, for yourself alone: on this machine, at a free port, with a secret in the address",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        metavar="DIR",
        help="list the tables in this folder on Data for everybody who can open the dashboard; they are read in place "
        "(or set CALIBRATION_EXPLORER_FOLDER)",
    )
    parser.add_argument("--given", action="store_true", help=argparse.SUPPRESS)  # of calib.explore, on stdin
    return parser


def arguments(argv: list[str] | None = None) -> list[str]:
    """What ``streamlit`` is asked to do.

    >>> arguments(["--port", "8600", "--path-prefix", "/course/"])[2:]
    ['--server.fileWatcherType=none', '--server.port=8600', '--server.baseUrlPath=course']
    >>> arguments(["--host", "stats.example.edu"])[-1]
    '--server.allowedHosts=stats.example.edu'
    """
    given = vars(_parser().parse_args(argv))
    del given["given"], given["file"], given["folder"]
    hosts = (*HERE_ALONE, *given.pop("host")) if given["host"] else given.pop("host")
    if given["path_prefix"]:
        given["path_prefix"] = given["path_prefix"].strip("/")
    options = [f"--server.{SERVER[name]}={value}" for name, value in given.items() if value is not None]
    options += [f"--server.allowedHosts={name}" for name in hosts]
    return ["run", str(APP), "--server.fileWatcherType=none", *options]  # nobody edits an installed page


def main() -> None:
    sys.path.insert(0, str(APP.parent))  # as Streamlit does for the script
    from pages.ui import server

    server.protect_data()
    server.limit_arenas()
    asked, options = _parser().parse_args(), arguments()
    if asked.file is None and not asked.given:
        _say_who_is_answered(asked)
    if asked.file is not None:
        sys.exit(_show(asked.file))
    if asked.folder is not None:
        _offer(asked.folder)
    if asked.given:
        from pages.ui import given_file

        given_file.receive(sys.stdin.buffer)
    server.begin_with_app()
    sys.exit(cli.main(options))


def _say_who_is_answered(asked: argparse.Namespace) -> None:
    """Say that a server for other machines refuses them unless their name for it is known."""
    address = asked.address or os.environ.get("STREAMLIT_SERVER_ADDRESS", HERE_ALONE[0])
    if address not in HERE_ALONE and not asked.host and HOSTS not in os.environ:
        print(
            "Only a browser on this machine is answered (localhost). For others, name the host in their URL, such as "
            f"--host stats.example.edu, or set {HOSTS}.",
            file=sys.stderr,
        )


def _offer(folder: Path) -> None:
    """Let the pages list the tables of a folder; end with the reason if it cannot be read."""
    from calib.data import Folder
    from calib.kernel.checks import InputError

    try:
        os.environ["CALIBRATION_EXPLORER_FOLDER"] = str(Folder(folder).root)
    except InputError as error:
        sys.exit(f"error: --folder: {error}")


def _show(file: Path) -> int:
    from calib.dashboard import show_file
    from calib.kernel.checks import InputError

    try:
        return show_file(file)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    main()

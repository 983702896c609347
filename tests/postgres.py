"""A PostgreSQL server of its own on loopback, run by an unprivileged user, for as long as a test module needs it."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.browser.driver import free_port
from tests.waiting import until

USER, PASSWORD = "owner", "of the warehouse"


def programs() -> Path:
    """Return the folder of PostgreSQL's programs; without them skip the test, or fail in CI."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    if name := shutil.which("initdb"):
        return Path(name).parent
    if os.environ.get("CI"):
        pytest.fail("PostgreSQL is missing: .ci/run installs it")
    pytest.skip("PostgreSQL is missing: apt-get install postgresql")


def unprivileged() -> dict[str, object]:
    """Return options that run the server as another user, because root may not run it."""
    if os.geteuid():
        return {}
    names = {user.pw_name for user in pwd.getpwall()}
    return {"user": "postgres" if "postgres" in names else "nobody", "group": "nogroup", "extra_groups": []}


class Server:
    """A running server.

    Attributes
    ----------
    url
        Of its database, as its owner.
    """

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port = folder, port
        self.url = f"postgresql://{USER}:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{port}/postgres"
        self.process: subprocess.Popen | None = None

    def run(self, *command: str) -> None:
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder, **unprivileged())  # type: ignore[call-overload]

    def start(self) -> None:
        options = [
            "-c",
            f"unix_socket_directories={self.folder}",
            "-c",
            "listen_addresses=127.0.0.1",
            "-c",
            "fsync=off",
        ]
        command = [
            str(programs() / "postgres"),
            "-D",
            str(self.folder / "data"),
            "-p",
            str(self.port),
            *options,
        ]
        self.process = subprocess.Popen(
            command,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **unprivileged(),  # type: ignore[call-overload]
        )
        until(self.answers, "PostgreSQL answers")

    def answers(self) -> bool:
        import psycopg

        assert self.process is not None
        assert self.process.poll() is None, "PostgreSQL did not start"
        try:
            psycopg.connect(self.url).close()
        except psycopg.OperationalError:
            return False
        return True

    def do(self, *statements: str) -> None:
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)  # type: ignore[arg-type]

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait()


@contextmanager
def server() -> Iterator[Server]:
    """Start a server on a free port of this machine, and remove all of it afterwards."""
    found = programs()
    with tempfile.TemporaryDirectory(prefix="calib-postgres-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "password").write_text(PASSWORD, encoding="utf-8")
        if who := unprivileged():
            for path in (folder, folder / "password"):
                shutil.chown(path, str(who["user"]))
        one = Server(folder, free_port())
        secret = ["--username", USER, "--pwfile", str(folder / "password"), "--auth", "scram-sha-256"]
        one.run(str(found / "initdb"), "-D", str(folder / "data"), "--no-sync", *secret)
        one.start()
        try:
            yield one
        finally:
            one.stop()

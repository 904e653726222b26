"""Boards in processes of their own."""

import subprocess
import sys

import pytest


class Server:
    """A board in a process of its own."""

    def __init__(self, *arguments: str):
        self._process = subprocess.Popen(
            [sys.executable, "-m", "celosia_sim.wire", *arguments], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.port = self._process.stdout.readline().strip()

    def stop(self) -> str:
        return self._process.communicate(timeout=60)[0]

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate(timeout=60)


@pytest.fixture
def server():
    """Make servers that are gone when the test ends."""
    servers = []

    def make(*arguments: str) -> Server:
        servers.append(Server(*arguments))
        return servers[-1]

    yield make
    for each in servers:
        each.kill()

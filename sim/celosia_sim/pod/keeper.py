"""The process that keeps the boards of a pod: it replaces those that end.

    python -m celosia_sim.pod.keeper FILE BOARDS [CLUSTER]

is started by ``celosia pod start``, says "ready", and ends at a SIGTERM, with all boards. They are
processes of this machine, or with a cluster actors of Ray (`celosia_sim.pod.ray_starter`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Protocol

from celosia_sim.pod.apart import LocalStarter, Starter, WatchedHost
from celosia_sim.pod.board import PodBoardError
from celosia_sim.pod.kept import KeptBoard, KeptPod, begun

__all__ = ["main"]

#: A board that ends within so many seconds, so often without another one, is not started again.
_SOON, _OFTEN = 2.0, 5


class _Starter(Starter, Protocol):
    """What a keeper wants of one.

    Attributes
    ----------
    processes
        That it has started beside the boards.
    """

    @property
    def processes(self) -> Sequence[int]: ...

    def start(self, number: int) -> WatchedHost: ...

    def close(self) -> None: ...


class _Keeper:
    def __init__(self, path: Path, starter: _Starter):
        self.path, self.starter = path, starter
        self.since = time.time()
        #: Numbers of boards that have ended, and None: all are to.
        self.ended: SimpleQueue[int | None] = SimpleQueue()
        self.hosts: dict[int, WatchedHost] = {}
        self.serials: dict[int, int] = {}
        self.others: dict[int, str] = {}
        self.soon: dict[int, tuple[float, int]] = {}

    def start(self, numbers: Sequence[int]) -> None:
        """Start boards, and write where all are."""
        for number in numbers:
            self.hosts[number] = self.starter.start(number)
            self.serials[number] = self.serials.get(number, -1) + 1
        boards = []
        for number, host in sorted(self.hosts.items()):
            address = host.address()
            boards.append(KeptBoard(self.serials[number], *address, host.pid, begun(host.pid)))
        self.others |= {pid: begun(pid) for pid in self.starter.processes}
        KeptPod(os.getpid(), begun(os.getpid()), self.since, self.starter.token.hex(),
                tuple(boards), tuple(self.others.items())).write(self.path)
        for number in numbers:
            threading.Thread(target=self._watch, args=[number, self.hosts[number]],
                             daemon=True).start()

    def _watch(self, number: int, host: WatchedHost) -> None:
        host.wait()
        self.ended.put(number)

    def run(self) -> int:
        """Replace boards until all are to end; return the exit code."""
        while (number := self.ended.get()) is not None:
            host = self.hosts[number]
            print(f"celosia: {host.name} of board {number} {host.end()}; another one is started",
                  file=sys.stderr, flush=True)
            last, often = self.soon.get(number, (self.since, 0))
            often = often + 1 if time.time() - last < _SOON else 0
            self.soon[number] = time.time(), often
            if often >= _OFTEN:
                print(f"celosia: board {number} must not end again and again, but it has, "
                      f"{often + 1} times", file=sys.stderr, flush=True)
                return 1
            host.kill()
            self.start([number])
        return 0

    def close(self) -> None:
        """End all boards."""
        for host in self.hosts.values():
            host.kill()
        self.starter.close()
        for pid, at in self.others.items():  # those of a node that was killed have no parent
            if begun(pid) == at:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        self.path.unlink(missing_ok=True)


def _keep(path: Path, boards: int, cluster: str | None) -> int:
    ready = os.dup(1)
    os.dup2(2, 1)  # what others print there goes to the log
    starter: _Starter = LocalStarter()
    if cluster is not None:
        from celosia_sim.pod.ray_starter import RayStarter
        starter = RayStarter(boards, cluster)
    keeper = _Keeper(path, starter)
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(each, lambda *_: keeper.ended.put(None))
    try:
        keeper.start(range(boards))
        os.write(ready, b"ready\n")
        os.close(ready)
        return keeper.run()
    finally:
        keeper.close()


def main(argv: Sequence[str] | None = None) -> int:
    """Keep boards until a SIGTERM comes; 1: they cannot be kept, and a sentence says why."""
    path, boards, *cluster = sys.argv[1:] if argv is None else argv
    try:
        return _keep(Path(path), int(boards), cluster[0] if cluster else None)
    except PodBoardError as error:
        print(f"celosia: the pod must be kept, but {error}", file=sys.stderr, flush=True)
        return 1


if __name__ == "__main__":
    sys.exit(main())

"""The process that keeps the boards of a pod: it replaces those that end.

    python -m celosia_sim.pod.keeper FILE BOARDS CLUSTER

is started by ``celosia pod start``, says "ready", and ends at a SIGTERM, with all boards.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from queue import SimpleQueue

from celosia_sim.pod.apart import LocalHost, LocalStarter
from celosia_sim.pod.kept import KeptBoard, KeptPod, begun

__all__ = ["main"]

#: A board that ends within so many seconds, so often without another one, is not started again.
_SOON, _OFTEN = 2.0, 5


class _Keeper:
    def __init__(self, path: Path, cluster: str):
        self.path, self.cluster = path, cluster
        self.starter = LocalStarter()
        self.since = time.time()
        #: Numbers of boards that have ended, and None: all are to.
        self.ended: SimpleQueue[int | None] = SimpleQueue()
        self.hosts: dict[int, LocalHost] = {}
        self.serials: dict[int, int] = {}
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
        KeptPod(os.getpid(), begun(os.getpid()), self.since, self.starter.token.hex(),
                self.cluster, tuple(boards)).write(self.path)
        for number in numbers:
            threading.Thread(target=self._watch, args=[number, self.hosts[number]],
                             daemon=True).start()

    def _watch(self, number: int, host: LocalHost) -> None:
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
        self.path.unlink(missing_ok=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Keep boards until a SIGTERM comes."""
    path, boards, cluster = sys.argv[1:] if argv is None else argv
    keeper = _Keeper(Path(path), cluster)
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(each, lambda *_: keeper.ended.put(None))
    try:
        keeper.start(range(int(boards)))
        print("ready", flush=True)
        return keeper.run()
    finally:
        keeper.close()


if __name__ == "__main__":
    sys.exit(main())

"""Boards as actors of Ray, which decides where they are and says when one has ended.

The only module that knows Ray (the extra ``ray``). Ray carries where boards are, and nothing else:
what programs and boards say goes by the boards' own connections.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import threading
from pathlib import Path
from typing import Any

from celosia_sim.pod.apart import BoardLost
from celosia_sim.pod.door import Address, Door
from celosia_sim.pod.kept import begun
from celosia_sim.pod.process import serve

__all__ = ["RayHost", "RayStarter"]

#: Seconds that Ray may take to start an actor, and to end one.
_BEGIN, _END = 60.0, 10.0
#: Nodes of a cluster of this machine, at most, and bytes of the store that each has.
_MOST_NODES, _STORE = 3, 80 << 20
#: A node whose process is gone is seen in 2 s, and one that is slow is left alone.
_HEALTH = {"health_check_initial_delay_ms": 1000, "health_check_period_ms": 500,
           "health_check_timeout_ms": 5000, "health_check_failure_threshold": 4}
#: Programs wait for boards: they are no work of the background, as Ray's workers else are.
_PRIORITY = {"worker_niceness": 0}


class _Actor:
    """A board in a process of Ray's."""

    def __init__(self, token: bytes, local: bool):
        import ray
        self._door = Door(token, "127.0.0.1" if local else ray.util.get_node_ip_address())
        threading.Thread(target=serve, args=[self._door, token], daemon=True).start()

    def where(self) -> tuple[str, int, int]:
        """Return host, port and the number of the process."""
        return *self._door.address, os.getpid()

    def wait(self) -> None:
        """Wait for ever: who waits for this hears when the process has ended."""
        threading.Event().wait()


class RayHost:
    """An actor: a `celosia_sim.pod.apart.WatchedHost`."""

    def __init__(self, actor: Any, local: bool):
        self._actor, self._local, self._begun = actor, local, ""
        self._where, self._waits = actor.where.remote(), actor.wait.remote()
        self._how, self.pid, self.name = "has hung up", 0, "an actor of Ray"

    def address(self) -> Address:
        """As of `celosia_sim.pod.apart.Host`."""
        import ray
        try:
            host, port, self.pid = ray.get(self._where, timeout=_BEGIN)
        except ray.exceptions.RayError as error:
            raise BoardLost(f"an actor of Ray must be a board within {_BEGIN:g} s, but "
                            f"{_line(error)}") from None
        self.name = f"the process {self.pid} of Ray"
        self._begun = begun(self.pid) if self._local else ""
        return host, port

    def wait(self) -> None:
        """Wait until it has ended."""
        import ray
        try:
            ray.get(self._waits)
        except ray.exceptions.RayError as error:
            self._how = f"has ended: {_line(error)}"

    def end(self) -> str:
        """As of `celosia_sim.pod.apart.Host`."""
        return self._how

    def kill(self) -> None:
        """As of `celosia_sim.pod.apart.Host`."""
        import ray
        with contextlib.suppress(ray.exceptions.RayError):
            ray.kill(self._actor, no_restart=True)
        # A process may live on for long after its node.
        if self._begun and begun(self.pid) == self._begun:
            with contextlib.suppress(OSError):
                os.kill(self.pid, signal.SIGKILL)

    def leave(self) -> None:
        """As of `celosia_sim.pod.apart.Host`."""
        self.kill()


class RayStarter:
    """Starts actors of Ray: a `celosia_sim.pod.apart.Starter`.

    Boards are spread over the nodes; one that comes in another's place goes to any node, and waits
    for none that is dead.

    Parameters
    ----------
    boards
        How many.
    cluster
        "local": a cluster of this machine, with a node for each board, three at most, one more for
        what is of all, and no dashboard; else the address of one that is there.
    """

    def __init__(self, boards: int, cluster: str):
        self._local, self._cluster = cluster == "local", None
        if self._local:
            # Ray listens at the machine's own address: who has not this token is refused. It looks
            # for it when it is imported.
            os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        import ray

        self.token = secrets.token_bytes(32)
        if self._local:
            cluster = self._begin(boards)
        ray.init(address=cluster, configure_logging=False)
        self._group = ray.util.placement_group([{"CPU": 1}] * boards, strategy="SPREAD")
        try:
            ray.get(self._group.ready(), timeout=_BEGIN)
        except ray.exceptions.GetTimeoutError:
            self.close()
            raise BoardLost(f"the cluster at {cluster} must have a free processor for each of "
                            f"{boards} boards within {_BEGIN:g} s, but it has not") from None
        self._started: set[int] = set()

    def _begin(self, boards: int) -> str:
        """Start a cluster of this machine; return its address."""
        from ray.cluster_utils import Cluster

        # This process ends with the node that it is on, so no board is on that one. On any other
        # there is room for all.
        node = {"object_store_memory": _STORE}
        self._cluster = Cluster(initialize_head=True, head_node_args={
            **node, "num_cpus": 0, "include_dashboard": False, "no_monitor": True,
            "_system_config": _HEALTH | _PRIORITY})
        for _ in range(min(boards, _MOST_NODES)):
            self._cluster.add_node(wait=False, num_cpus=2 * boards, **node)
        self._cluster.wait_for_nodes(_BEGIN)
        return self._cluster.address

    @property
    def processes(self) -> list[int]:
        """Of the cluster, if it was started here: those that this one has started, and theirs."""
        return _descendants(os.getpid()) if self._local else []

    def start(self, number: int) -> RayHost:
        """As of `celosia_sim.pod.apart.Starter`."""
        import ray
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        first = number not in self._started
        self._started.add(number)
        made = ray.remote(_Actor).options(
            num_cpus=1, max_restarts=0, max_concurrency=2,
            scheduling_strategy=PlacementGroupSchedulingStrategy(
                self._group, placement_group_bundle_index=number) if first else "SPREAD")
        return RayHost(made.remote(self.token, self._local), self._local)

    def close(self) -> None:
        """Leave the cluster, and end it if it was started here."""
        import ray
        ray.shutdown()
        if self._cluster is not None:
            self._cluster.shutdown()


def _descendants(pid: int) -> list[int]:
    """Return the processes that one has started, and those that these have."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(path.read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(path.parent.name))
    found = [pid]
    for each in found:
        found += children.get(each, [])
    return found[1:]


def _line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]

"""Chips that links connect: what their programs mean together.

Each direction of a link is a queue, one chip puts into it and one takes out: a network of Kahn
(1974). So any order in which the chips run gives the same; here each runs till it waits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from celosia.arch.registers import Status
from celosia.model.checks import Stop
from celosia.model.kept import KeptRuns
from celosia.model.links import LinkMessage
from celosia.model.machine import JoinedRun, KeptRun, PlainMachine
from celosia.model.state import ModelResult
from celosia.storage.uncollected import uncollected

__all__ = ["Pod", "PodProgram", "PodStopped"]

#: Instructions of a chip between two looks.
_PACE = 256
#: A chip and its port.
_End = tuple[int, int]


class PodStopped(RuntimeError):
    """Chips wait for messages that nobody sends; the message names them all.

    Attributes
    ----------
    waits
        The instruction at which each of them waits, by the chip.
    """

    def __init__(self, message: str, waits: Mapping[int, int]):
        super().__init__(message)
        self.waits = waits


class PodProgram(NamedTuple):
    """What one chip is to run: as of `PlainMachine.run`."""

    program: int
    length: int
    windows: Sequence[tuple[int, int]] = ()


class _Ports:
    """The ports of one chip in a pod."""

    def __init__(self, chip: int, pod: Pod):
        self.chip, self.chips, self._pod = chip, len(pod.machines), pod

    def inbox(self, port: int) -> deque[LinkMessage] | None:
        peer = self._pod.peers.get((self.chip, port))
        return None if peer is None else self._pod.queues[peer]

    def outbox(self, port: int) -> deque[LinkMessage] | None:
        return self._pod.queues.get((self.chip, port))


class Pod:
    """Chips and the links between them.

    Parameters
    ----------
    machines
        The chips; each gets its number in here.
    links
        For an end, a chip and its port, the other one; each link once or from both ends.

    Attributes
    ----------
    peers
        The other end of each one.
    queues
        What is under way from each end.

    Raises
    ------
    ValueError
        If a link leads to a chip or a port that there is not, or two to one.
    """

    def __init__(self, machines: Sequence[PlainMachine], links: Mapping[_End, _End]):
        self.machines = list(machines)
        self.peers: dict[_End, _End] = {}
        for a, b in links.items():
            for end, other in ((a, b), (b, a)):
                chip, port = end
                if not (0 <= chip < len(machines) and 0 <= port < machines[chip].config.ports):
                    raise ValueError(f"link must lead from a port of a chip, not from port {port} "
                                     f"of chip {chip}")
                if self.peers.setdefault(end, other) != other or end == other:
                    raise ValueError(f"port {port} of chip {chip} must have one link, not to chip "
                                     f"{other[0]} and chip {self.peers[end][0]}")
        self.queues: dict[_End, deque[LinkMessage]] = {end: deque() for end in self.peers}
        self._ports = [_Ports(chip, self) for chip in range(len(machines))]
        self._kept: KeptRuns[Sequence[KeptRun]] = KeptRuns()
        self._connect()

    def _connect(self) -> None:
        for machine, ports in zip(self.machines, self._ports, strict=True):
            machine.ports = ports

    def run(self, programs: Sequence[PodProgram],
            order: Sequence[int] | None = None, *,
            look: Callable[[], None] | None = None) -> list[ModelResult]:
        """Run a program on each chip until all have halted or faulted.

        Links are empty when it begins. A chip that waits for one that has ended, or for itself,
        waits for ever.

        Parameters
        ----------
        programs
            One for each chip.
        order
            Of the chips, in which they get their turns; the result is the same.
        look
            Called now and then; what it raises ends the run.

        Raises
        ------
        PodStopped
            If chips wait and none can go on.
        """
        if len(programs) != len(self.machines):
            raise ValueError(f"there must be a program for each of {len(self.machines)} chips, "
                             f"not {len(programs)}")
        self._connect()
        for queue in self.queues.values():
            queue.clear()
        key = [(*each[:2], tuple(each.windows)) for each in programs]
        codes = [machine.code(*each[:2])
                 for machine, each in zip(self.machines, programs, strict=True)]
        kept = None if None in codes else self._kept.find(tuple(key), codes)
        if kept is not None:
            return self._go([each.start() for each in kept], order, look)
        runs = [machine.start(*each)
                for machine, each in zip(self.machines, programs, strict=True)]
        with uncollected():
            results = self._go(runs, order, look)
        if None not in codes and all(each.status == Status.DONE for each in results):
            made = [each for each in (run.kept() for run in runs) if each is not None]
            if len(made) == len(runs):
                self._kept.keep(tuple(key), codes, made,
                                sum(each.instructions for each in results))
        return results

    def _go(self, runs: Sequence[JoinedRun], order: Sequence[int] | None,
            look: Callable[[], None] | None) -> list[ModelResult]:
        """Let each chip run till it waits, again and again."""
        results: dict[int, ModelResult] = {}
        moved = True
        while moved:
            moved = False
            for chip in range(len(runs)) if order is None else order:
                while chip not in results and runs[chip].waits() is None:
                    moved = True
                    if look is not None and runs[chip].executed % _PACE == 0:
                        look()
                    result = _step(runs[chip])
                    if result is not None:
                        results[chip] = result
        if len(results) < len(runs):
            raise PodStopped(self._why(runs, results), {
                chip: run.pc for chip, run in enumerate(runs) if chip not in results})
        return [results[chip] for chip in range(len(runs))]

    def _why(self, runs: Sequence[JoinedRun], results: Mapping[int, ModelResult]) -> str:
        """Say who waits for whom."""
        said = []
        for chip, run in enumerate(runs):
            port = run.waits()
            if chip in results or port is None:
                continue
            peer, other = self.peers[chip, port]
            does = "waits, too"
            if peer in results:
                result = results[peer]
                does = (f"stopped with {result.cause.name} at instruction {result.pc}"
                        if result.cause else f"halted at instruction {result.pc}")
            said.append(f"chip {chip} waits at instruction {run.pc}, recv on port {port}, for chip "
                        f"{peer}, port {other}, which {does}")
        return "a message must come: " + "; ".join(said)


def _step(run: JoinedRun) -> ModelResult | None:
    """Let a chip execute one instruction; the result if it was the last."""
    try:
        running = run.step()
    except Stop as stop:
        return run.result(stop)
    run.executed += 1
    return None if running else run.result()

"""A plan of a pod that is larger than what is here, from what small ones are measured to need."""

from __future__ import annotations

import secrets
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.arch.words import ceil_div
from celosia.bench.pod import measure_pod
from celosia.bench.simulation import measure_simulation
from celosia.collectives import Topology
from celosia.driver.backends import missing_package
from celosia.driver.errors import needs
from celosia.train import Classifier

__all__ = ["PodPlan", "Rates", "measure_rates", "plan", "plan_lines"]

#: Pods whose steps are measured, by golden chips' clock.
_SMALL, _LARGE = Topology((8, 8)), Topology((16, 16))
#: Windows whose exchange is measured, and the links of each.
_WINDOWS, _LINKS = 2000, 8
#: What boards do for the states that they keep may take this part of the time.
_PART = 1 / 20
#: Boards that have a state, its own among them; chips whose states are given at once to measure.
_HAVE, _GIVEN = 3, 16


@dataclass(frozen=True)
class Rates:
    """What is measured.

    Attributes
    ----------
    cycles
        Of a chip, that a processor simulates in a second.
    state_bytes, save_seconds, give_seconds
        Of a chip with a page of external memory, what it takes to save it, and until another board
        has it.
    window_seconds
        Until a message of a window, of eight links, has come by TCP from another thread.
    small, large
        Cycles of a step on 8x8 and on 16x16 chips.
    """

    cycles: float
    state_bytes: int
    save_seconds: float
    give_seconds: float
    window_seconds: float
    small: int
    large: int


@dataclass(frozen=True)
class PodPlan:
    """What a pod needs, spread over boards of one processor each.

    Attributes
    ----------
    chips_each
        Of a board, at most.
    crossing
        Links that leave a board, at most.
    step_cycles
        Of a step of training.
    chip_seconds, window_seconds
        Of a step: what a board takes for its chips, and for the messages of its windows.
    board_bytes, total_bytes
        States that a board has, its own and those that it keeps for others, and all have.
    save_seconds, every_seconds
        To save a board's chips and to give their states to two others, and how often that may be.
    """

    topology: str
    chips: int
    boards: int
    chips_each: int
    crossing: int
    step_cycles: int
    windows: int
    chip_seconds: float
    window_seconds: float
    board_bytes: int
    total_bytes: int
    save_seconds: float
    every_seconds: float


def _hops(topology: Topology) -> int:
    """Return how far chips are from each other, along all dimensions."""
    return sum(each - 1 for each in topology.extents)


def _exchange(size: int) -> float:
    """Return the seconds until a message of a window has come from another thread, over TCP."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        near = socket.create_connection(server.getsockname()[:2], 10)
        far = server.accept()[0]
    ends: Sequence[socket.socket] = near, far
    for each in ends:
        each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        each.settimeout(10)
    data = bytes(size)

    def answer() -> None:
        for _ in range(_WINDOWS):
            far.recv(size, socket.MSG_WAITALL)
            far.sendall(data)

    with near, far:
        other = threading.Thread(target=answer, daemon=True)
        other.start()
        begin = time.perf_counter()
        for _ in range(_WINDOWS):
            near.sendall(data)
            near.recv(size, socket.MSG_WAITALL)
        seconds = time.perf_counter() - begin
        other.join(10)
    return seconds / 2 / _WINDOWS


def _give(state: NDArray[np.uint8]) -> float:
    """Return the seconds until another board has such a state, of some that go together."""
    from celosia_sim.pod.door import Door
    from celosia_sim.pod.states import States

    token = secrets.token_bytes(32)
    doors = [Door(token) for _ in range(2)]
    one, other = (States(door, token) for door in doors)
    for each in (one, other):
        each.begin(0, 60)
    threading.Thread(target=other.take, daemon=True).start()
    one.put(1, 0, [state.data] * _GIVEN)
    begin = time.perf_counter()
    one.give(1, 0, [(1, *doors[1].address)], lambda: None)
    seconds = time.perf_counter() - begin
    for door in doors:
        door.close()
    return seconds / _GIVEN


def measure_rates(config: TpuConfig, net: Classifier, *, seed: int = 0, latency: int = 64) -> Rates:
    """Measure what a plan is made of, on this machine; parameters as of `measure_pod`."""
    if package := missing_package("rtl"):
        raise needs("a plan", package, "sim")
    from celosia_sim.rtl import RtlTransport

    _, one, _ = measure_simulation(config, Topology((2, 2)), ["work"])
    chip = RtlTransport(replace(config, ports=_LARGE.ports), quiet=True).chip
    chip.write_memory(0, b"x")  # a page
    begin = time.perf_counter()
    state = chip.save()
    seconds = time.perf_counter() - begin
    chip.close()
    small, large = (measure_pod(config, "model", each, net, seed=seed, latency=latency,
                                check=False).cycles for each in (_SMALL, _LARGE))
    return Rates(one.cpu_rate, state.size, seconds, _give(state),
                 _exchange(latency * (1 + config.link_bytes) * _LINKS), small, large)


def plan(rates: Rates, topology: Topology, boards: int, latency: int = 64) -> PodPlan:
    """Return what a pod needs, spread over boards in order; parameters as of `measure_pod`.

    Raises
    ------
    ValueError
        If there are more boards than chips.
    """
    if not 1 <= boards <= topology.chips:
        raise ValueError(f"boards must be from 1 to the {topology.chips} chips of the topology, "
                         f"not {boards}")
    chips = topology.chips
    each = ceil_div(chips, boards)
    place = [chip * boards // chips for chip in range(chips)]
    crossing = [0] * boards
    for (a, _), (b, _) in topology.links.items():
        for one, other in ((place[a], place[b]), (place[b], place[a])):
            crossing[one] += one != other
    hop = (rates.large - rates.small) / (_hops(_LARGE) - _hops(_SMALL))
    cycles = round(rates.large + hop * (_hops(topology) - _hops(_LARGE)))
    windows = ceil_div(cycles, latency)
    have = min(boards, _HAVE)
    save = each * (rates.save_seconds + (have - 1) * rates.give_seconds)
    return PodPlan(str(topology), chips, boards, each, max(crossing), cycles, windows,
                   cycles * each / rates.cycles, windows * rates.window_seconds * (boards > 1),
                   have * each * rates.state_bytes, have * chips * rates.state_bytes, save,
                   save / _PART)


def plan_lines(rates: Rates, found: PodPlan) -> Iterator[str]:
    """Yield what was measured, and the plan, each figure with what it is made of."""
    yield f"measured  {rates.cycles:,.0f} cycles of a chip in a second of a processor"
    yield (f"          a state of {rates.state_bytes:,} bytes a chip, saved in "
           f"{rates.save_seconds * 1e3:.2f} ms, with another board in "
           f"{rates.give_seconds * 1e3:.2f} ms")
    yield ("          a message of a window from another thread: "
           f"{rates.window_seconds * 1e6:.0f} us")
    yield (f"          a step of {rates.small:,} cycles on {_SMALL}, {rates.large:,} on {_LARGE} "
           "(golden chips' clock)")
    yield (f"pod       {found.topology}: {found.chips:,} chips on {found.boards:,} boards of at "
           f"most {found.chips_each}, of each {found.crossing} links to others")
    yield (f"step      {found.step_cycles:,} cycles = those of {_LARGE}, and as many more for each "
           f"chip along a dimension as from {_SMALL} to it; {found.windows:,} windows")
    yield (f"time      {found.chip_seconds + found.window_seconds:.1f} s a step = "
           f"{found.chip_seconds:.1f} s of chips (cycles x chips of a board / rate) + "
           f"{found.window_seconds:.2f} s of messages (windows x one)")
    yield (f"states    {found.board_bytes / 2**20:,.0f} MiB of a board, with those of two others, "
           f"{found.total_bytes / 2**30:,.1f} GiB of all; saved and given to two in "
           f"{found.save_seconds * 1e3:.1f} ms, so every {found.every_seconds:.2f} s at most (a "
           "twentieth of the time)")

"""Collective operations of chips that links connect, with the columns of nccl-tests."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.arch.encoding import encode, insn
from celosia.arch.isa import DmaFormat, RecvOp
from celosia.arch.latency import Latency
from celosia.collectives import ReplicaGroup, Topology
from celosia.collectives.schedule import Exchange, Payload
from celosia.collectives.schedule.emit import Slice
from celosia.driver.backends import missing_package
from celosia.driver.errors import needs
from celosia.model import Machine, ModelResult, Pod, PodProgram
from celosia.model.timing import link_timings

__all__ = ["OPS", "CollectiveMeasurement", "lines", "measure_collective"]

#: The operations, as they are called here and in `Exchange`.
OPS = {"all_reduce": "all_reduce", "reduce_scatter": "reduce_scatter", "all_gather": "all_gather",
       "all_to_all": "all_to_all", "permute": "collective_permute"}
#: What the chips have equal shares of.
_SHARED = ("reduce_scatter", "all_gather", "all_to_all")
_WORD = 4
_PAGE = 4096
_MOST_CYCLES = 100_000_000
#: Addresses of what a chip gives and what it gets.
_SOURCE, _TARGET = _PAGE, 1 << 28


@dataclass(frozen=True)
class CollectiveMeasurement:
    """What a run gave.

    Attributes
    ----------
    bytes
        Of a chip's payload: the larger one of what it gives and what it gets.
    cycles
        Of the chip that took the most; an estimate on the golden model.
    algbw, busbw
        Bytes a cycle: of the payload; times what a chip must send of it, by the same operation, as
        nccl-tests has it.
    share
        Of the cycles that must pass because of the links, `celosia.collectives.schedule.bound`.
    wrong
        Elements of all results that are not those of `celosia.collectives.ReplicaGroup`, bit for
        bit.
    memory
        Where payloads are before and after: ``acc``, the accumulators, if there is room for all of
        them, else ``external``, from which and to which parts are brought meanwhile.
    seconds
        Of the run on the host.
    """

    op: str
    topology: str
    preset: str
    backend: str
    bytes: int
    cycles: int
    algbw: float
    busbw: float
    share: float
    wrong: int
    memory: str
    seconds: float


def _factor(op: str, chips: int) -> float:
    """Return what nccl-tests multiplies algbw with to get busbw."""
    part = (chips - 1) / chips
    return {"all_reduce": 2 * part, "permute": 1.0}.get(op, part)


def _wanted(op: str, topology: Topology, arrays: Sequence[NDArray],
            pairs: Sequence[tuple[int, int]]) -> list[NDArray]:
    group = ReplicaGroup(tuple(range(topology.chips)), topology)
    match op:
        case "all_reduce":
            return group.all_reduce(arrays, "add")
        case "reduce_scatter":
            return group.reduce_scatter(arrays, "add", 0)
        case "all_gather":
            return group.all_gather(arrays, 0)
        case "all_to_all":
            return group.all_to_all(arrays, 0, 0)
    return group.permute(arrays, pairs)


class _Chips:
    """Chips that links connect, RTL or golden ones, in one way."""

    def __init__(self, config: TpuConfig, backend: str, topology: Topology, **lines: Any):
        self._rtl: Any = None
        if backend == "model":
            self._machines = [Machine(config, timing=timing) for timing in link_timings(
                topology.chips, topology.links, lines["latency"], lines["seed"])]
            self._pod = Pod(self._machines, topology.links)
            self.memories = [each.memory for each in self._machines]
            return
        if package := missing_package("rtl"):
            raise needs("backend 'rtl'", package, "sim")
        from celosia_sim.pod import RtlPod
        self._rtl = RtlPod(config, topology.chips, topology.links, **lines)

    def write(self, chip: int, address: int, data: bytes) -> None:
        if self._rtl is None:
            self.memories[chip].write(address, data)
        else:
            self._rtl.chips[chip].write_memory(address, data)

    def read(self, chip: int, address: int, size: int) -> bytes:
        return bytes(self.memories[chip].read(address, size) if self._rtl is None else
                     self._rtl.chips[chip].read_memory(address, size))

    def acc(self, chip: int) -> NDArray[np.uint32]:
        return (self._machines[chip].acc if self._rtl is None else
                self._rtl.memory(chip, "acc"))

    def set_acc(self, chip: int, rows: NDArray[np.uint32]) -> None:
        if self._rtl is None:
            self._machines[chip].acc[:] = rows
        else:
            self._rtl.set_memory(chip, "acc", rows)

    def run(self, programs: Sequence[PodProgram]) -> list[ModelResult]:
        return (self._pod.run(programs) if self._rtl is None
                else self._rtl.run(programs, _MOST_CYCLES))

    def close(self) -> None:
        if self._rtl is not None:
            self._rtl.close()


def _run(chips: _Chips, config: TpuConfig, exchange: Exchange, op: RecvOp,
         arrays: Sequence[NDArray], size: int) -> tuple[int, list[NDArray], bool, float]:
    """Run an operation; return cycles, results, whether they stayed on the chips, seconds."""
    end = _TARGET + -(-size // _PAGE) * _PAGE
    resident = exchange.resident(config, 0) is not None
    places = () if resident else ([Payload(_SOURCE, DmaFormat.W32)],
                                  [Payload(_TARGET, DmaFormat.W32)])
    programs, results = [], []
    for chip, array in enumerate(arrays):
        insns = [*exchange.emit(config, chip, op, *places), insn("halt")]
        chips.write(chip, end, b"".join(map(encode, insns)))
        if (held := exchange.resident(config, chip)) is not None:
            chips.set_acc(chip, _rows(config, held[0], array))
            results.append(held[1])
        else:
            chips.write(chip, _SOURCE, array.tobytes())
        programs.append(PodProgram(end, len(insns), [(_SOURCE, end - 1)]))
    begin = time.perf_counter()
    ended = chips.run(programs)
    seconds = time.perf_counter() - begin
    for chip, result in enumerate(ended):
        if result.cause:
            raise RuntimeError(f"chip {chip} must halt, not stop with {result.cause.name} at "
                               f"instruction {result.pc}")
    found = []
    for chip in range(len(arrays)):
        if resident:
            acc = chips.acc(chip)
            found.append(np.concatenate([acc[a:b].ravel()[:each.count] for each in results[chip]
                                         for a, b in [each.rows]]))
        else:
            found.append(np.frombuffer(chips.read(chip, _TARGET, size), np.uint32))
    return max(each.cycles for each in ended), found, resident, seconds


def _rows(config: TpuConfig, slices: Sequence[Slice], array: NDArray) -> NDArray[np.uint32]:
    """Return the accumulators with a chip's array in them."""
    acc = np.zeros((config.acc_rows, config.dim), np.uint32)
    for _, first, count, (start, stop) in slices:
        flat = np.zeros((stop - start) * config.dim, np.uint32)
        flat[:count] = array[first:first + count].view(np.uint32)
        acc[start:stop] = flat.reshape(-1, config.dim)
    return acc


def measure_collective(config: TpuConfig, backend: str, topology: Topology, op: str, nbytes: int,
                       seed: int = 0, *, latency: Latency = 64,
                       errors: float = 0) -> CollectiveMeasurement:
    """Run an operation on float32 elements once, on chips that have just been made.

    Parameters
    ----------
    config
        Of each chip; it gets the topology's ports.
    backend
        ``rtl``, or ``model`` for golden chips.
    op
        Of `OPS`; a permutation is from each chip to the next one.
    nbytes
        Of a chip's payload.
    latency, errors
        Of links, as of `celosia_sim.pod.PodOptions`; errors are of RTL chips'.

    Raises
    ------
    ValueError
        If the payload cannot be cut, or the topology has too many ports.
    """
    chips, words = topology.chips, nbytes // _WORD
    if nbytes % (_WORD * chips if op in _SHARED else _WORD):
        raise ValueError(f"--bytes must be a multiple of {_WORD} for each of {chips} chips, "
                         f"not {nbytes}")
    config = replace(config, ports=topology.ports)
    pairs = tuple((chip, (chip + 1) % chips) for chip in range(chips)) if op == "permute" else ()
    words //= chips if op == "all_gather" else 1
    exchange = Exchange(OPS[op], topology, (words,), pairs)
    rng = np.random.default_rng(seed)
    arrays = [rng.standard_normal(words).astype(np.float32) for _ in range(chips)]
    join = RecvOp.SUM_F if config.bf16 else RecvOp.SUM_I
    if not config.bf16:
        arrays = [each.view(np.int32) for each in arrays]
    wanted = _wanted(op, topology, arrays, pairs)
    pod = _Chips(config, backend, topology, latency=latency, errors=errors, seed=seed)
    try:
        cycles, found, resident, seconds = _run(pod, config, exchange, join, arrays,
                                                wanted[0].nbytes)
    finally:
        pod.close()
    wrong = sum(int(np.count_nonzero(a != b.ravel().view(np.uint32)))
                for a, b in zip(found, wanted, strict=True))
    return CollectiveMeasurement(
        op, str(topology), config.name, backend, nbytes, cycles, nbytes / cycles,
        _factor(op, chips) * nbytes / cycles, exchange.bound() / cycles, wrong,
        "acc" if resident else "external", seconds)


def lines(measured: Iterator[CollectiveMeasurement]) -> Iterator[str]:
    """Yield the lines of a table, as they are measured; bandwidths are bytes a cycle."""
    yield (f"{'op':16}{'topology':>9}{'bytes':>10}{'cycles':>10}{'algbw':>8}{'busbw':>8}"
           f"{'share':>8}{'wrong':>7}  memory")
    for m in measured:
        yield (f"{m.op:16}{m.topology:>9}{m.bytes:10}{m.cycles:10}{m.algbw:8.3f}{m.busbw:8.3f}"
               f"{m.share:8.2%}{m.wrong:7}  {m.memory}")

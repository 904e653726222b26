"""The checks that need register values.

The order is that of docs/chip.md; the first check that fails names the fault.
"""

from __future__ import annotations

from collections.abc import Sequence

from celosia.arch.commands import DST_MEM, SRC_MEM, Command, Dma, Matmul, Vector
from celosia.arch.config import COUNT_MAX, TpuConfig
from celosia.arch.faults import AnyFault, Fault
from celosia.arch.isa import Mem
from celosia.arch.messages import MessageCommand
from celosia.arch.streams import Stream
from celosia.arch.vector import INDEXED_OPS, STREAM_SRCS, TABLE_LIMIT, Reduce
from celosia.arch.vector import VectorOp as Op
from celosia.arch.words import WORD_MASK

__all__ = ["EVERYWHERE", "Stop", "check"]

Windows = Sequence[tuple[int, int]]
#: A window of all external memory.
EVERYWHERE = ((0, WORD_MASK),)


class Stop(Exception):
    """A fault: cause, FAULT_ADDR, and of a count what it must be."""

    def __init__(self, fault: AnyFault, addr: int = 0, wanted: str = ""):
        super().__init__(fault.name)
        self.fault, self.addr, self.wanted = fault, addr & WORD_MASK, wanted


def check(config: TpuConfig, command: Command | MessageCommand, windows: Windows) -> None:
    """Ask whether a chip executes a command.

    Raises
    ------
    Stop
        If a check fails.
    """
    if isinstance(command, Matmul):
        _matmul(config, command)
    elif isinstance(command, Vector):
        _vector(config, command)
    elif isinstance(command, MessageCommand):
        if 0 in command.rows.counts:
            raise _count("n0 and n1 must be 1 to 65535, not "
                         f"{', '.join(map(str, command.rows.counts[:2]))}")
        _range(config, command.mem, command.rows)
    else:
        _dma(config, command, windows)


def _range(config: TpuConfig, mem: Mem, stream: Stream) -> None:
    rows, fault = ((config.ub_rows, Fault.UB_RANGE) if mem == Mem.UB
                   else (config.acc_rows, Fault.ACC_RANGE))
    if stream.last >= rows:
        raise Stop(fault, stream.last)


def _count(wanted: str) -> Stop:
    return Stop(Fault.ILLEGAL_COUNT, wanted=wanted)


def _counts(counts: Sequence[int]) -> None:
    if 0 in counts or counts[2] > COUNT_MAX:
        raise _count(f"n0, n1 and n2 must be 1 to 65535, not {', '.join(map(str, counts))}")


def _dma(config: TpuConfig, command: Dma, windows: Windows) -> None:
    rows, cols, size = command.rows, command.cols, command.fmt.nbytes
    if rows == 0 or cols == 0:
        raise _count(f"rows and cols must be 1 to 65535, not {rows}, {cols}")
    if command.addr % size or command.pitch % size:
        raise Stop(Fault.MISALIGNED, command.addr)
    _range(config, command.mem, command.chip(config.dim))
    if not any(base <= command.addr and command.end - 1 <= last for base, last in windows):
        raise Stop(Fault.WINDOW, command.addr)


def _matmul(config: TpuConfig, command: Matmul) -> None:
    _counts(command.counts)
    weights = command.weights
    if weights is not None and not 1 <= weights.counts[0] <= config.dim:
        raise _count(f"wrows must be 1 to {config.dim}, not {weights.counts[0]}")
    _range(config, Mem.ACC, command.acc)
    _range(config, Mem.UB, command.acts)
    if weights is not None:
        _range(config, Mem.UB, weights)


def _vector(config: TpuConfig, command: Vector) -> None:
    op, n0, param = command.op, command.counts[0], command.param
    _counts(command.counts)
    if op == Op.TRANSPOSE and n0 % config.dim:
        raise _count(f"n0 of transpose must be a multiple of {config.dim}, not {n0}")
    if (op in INDEXED_OPS or command.reduce == Reduce.COLLECT) and n0 > config.dim:
        raise _count(f"n0 of gather, scatter and collect must be at most {config.dim}, not {n0}")
    if op in INDEXED_OPS and not 1 <= param <= TABLE_LIMIT:
        raise _count(f"param, the rows of the table, must be 1 to {TABLE_LIMIT}, not {param}")
    for source in command.sources:
        if source.lane is not None and source.lane >= config.dim:
            raise Stop(Fault.INDEX_RANGE, source.lane)
    mem = DST_MEM[command.kind]
    _range(config, mem, command.dst)
    for source in command.sources:
        if source.stream is not None:
            _range(config, SRC_MEM[source.kind], source.stream)
    # Never in place where rows of the destination are not those of the walk.
    shared = op in INDEXED_OPS or command.reduce in (Reduce.ROWS, Reduce.COLLECT)
    for source in command.sources:
        if (source.stream is not None and source.kind in STREAM_SRCS
                and SRC_MEM[source.kind] == mem
                and _overlap(command.dst, source.stream, command.counts, shared)):
            raise Stop(Fault.OVERLAP, command.dst.base)


def _overlap(dst: Stream, src: Stream, counts: tuple[int, int, int], shared: bool) -> bool:
    if dst.last < src.base or src.last < dst.base:
        return False
    in_place = (not shared and dst.base == src.base and dst.strides[0] == src.strides[0] > 0
                and counts[1:] == (1, 1))
    return not in_place

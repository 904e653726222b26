"""Ports of the on-chip memories."""

from amaranth.hdl import Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2, exact_log2

from celosia.arch.config import TpuConfig

__all__ = ["READ_LATENCY", "ReadPort", "ReadPortSignature", "WritePort", "WritePortSignature",
           "beat_bits", "row_bits"]

#: Cycles from a granted read (valid & ready) to its data: granted in cycle t, ``data`` holds the
#: row during cycle t + READ_LATENCY, and in no other cycle.
READ_LATENCY = 2


def row_bits(config: TpuConfig) -> int:
    """Bits of a row address: enough for either memory."""
    return ceil_log2(max(config.ub_rows, config.acc_rows))


def beat_bits(config: TpuConfig) -> int:
    """Bits of the address of a beat of the vector unit: which of its row, then the row's."""
    return exact_log2(config.fold) + row_bits(config)


class ReadPortSignature(wiring.Signature):
    """Read port, from the requester's side.

    A request is granted in a cycle with ``valid & ready``. ``valid`` must not depend on
    ``ready``; a request once made may be withdrawn. Data cannot be held back: the requester has
    room for it before it asks. In cycles in which none is due, ``data`` is zero. A read granted
    before the cycle in which the same row is written returns the old row; later, the new one; in
    that cycle, anything.
    """

    def __init__(self, row_bits: int, width: int):
        super().__init__({
            "addr": Out(row_bits), "valid": Out(1), "ready": In(1), "data": In(width),
        })


class WritePortSignature(wiring.Signature):
    """Write port, from the requester's side: a whole row is written in a cycle with
    ``valid & ready``; ``valid`` must not depend on ``ready``.
    """

    def __init__(self, row_bits: int, width: int):
        super().__init__({
            "addr": Out(row_bits), "valid": Out(1), "ready": In(1), "data": Out(width),
        })


class ReadPort(wiring.PureInterface):
    """Type of an interface of :class:`ReadPortSignature`, for annotations."""

    addr: Signal
    valid: Signal
    ready: Signal
    data: Signal


class WritePort(wiring.PureInterface):
    """Type of an interface of :class:`WritePortSignature`, for annotations."""

    addr: Signal
    valid: Signal
    ready: Signal
    data: Signal

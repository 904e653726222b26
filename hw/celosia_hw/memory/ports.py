"""Ports of the on-chip memories."""

from amaranth.hdl import Const, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2, exact_log2

from celosia.arch.config import TpuConfig

__all__ = ["READ_LATENCY", "ReadPort", "ReadPortSignature", "WritePort", "WritePortSignature",
           "asked_row", "beat_bits", "row_bits", "same_bank"]

#: Cycles from a granted read to its data: granted in cycle t, ``data`` holds the row during cycle
#: t + READ_LATENCY, and in no other cycle.
READ_LATENCY = 2


def row_bits(config: TpuConfig) -> int:
    """Bits of a row address: enough for either memory."""
    return ceil_log2(max(config.ub_rows, config.acc_rows))


def beat_bits(config: TpuConfig) -> int:
    """Bits of the address of a beat of the vector unit: which of its row, then the row's."""
    return exact_log2(config.fold) + row_bits(config)


def same_bank(config: TpuConfig, one: Value, other: Value) -> Value:
    """Whether two rows of a memory are in one bank of it, so that their requests meet."""
    bits = exact_log2(config.banks)
    return one[:bits] == other[:bits] if bits else Const(1)


def asked_row(config: TpuConfig) -> data.StructLayout:
    """What a port asks for in a cycle, if ``valid``: a row. Who waits for it has a look at it."""
    return data.StructLayout({"valid": 1, "row": row_bits(config)})


class ReadPortSignature(wiring.Signature):
    """Read port, from the requester's side.

    A request is taken in a cycle with ``valid & ready``. It is granted in that cycle or later, in
    the order in which they were taken: what the memory refuses it keeps, and makes again itself.
    ``ready`` comes out of a flip-flop and says that it keeps none; ``granted`` does, too: a request
    was granted in the cycle before. Data cannot be held back: the requester has room for it before
    it asks. In cycles in which none is due, ``data`` is zero. A read granted before the cycle in
    which the same row is written returns the old row; later, the new one; in that cycle, anything.
    """

    def __init__(self, row_bits: int, width: int):
        super().__init__({
            "addr": Out(row_bits), "valid": Out(1), "ready": In(1), "granted": In(1),
            "data": In(width),
        })


class WritePortSignature(wiring.Signature):
    """Write port, from the requester's side: a whole row is taken in a cycle with
    ``valid & ready``, and written in that cycle or later: as of :class:`ReadPortSignature`.
    """

    def __init__(self, row_bits: int, width: int):
        super().__init__({
            "addr": Out(row_bits), "valid": Out(1), "ready": In(1), "granted": In(1),
            "data": Out(width),
        })


class ReadPort(wiring.PureInterface):
    """Type of an interface of :class:`ReadPortSignature`, for annotations."""

    addr: Signal
    valid: Signal
    ready: Signal
    granted: Signal
    data: Signal


class WritePort(wiring.PureInterface):
    """Type of an interface of :class:`WritePortSignature`, for annotations."""

    addr: Signal
    valid: Signal
    ready: Signal
    granted: Signal
    data: Signal

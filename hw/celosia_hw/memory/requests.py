"""Requests of either on-chip memory, in order, and what comes of them."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, ShapeLike, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia_hw.memory.ports import (
    READ_LATENCY,
    ReadPort,
    ReadPortSignature,
    WritePort,
    WritePortSignature,
    row_bits,
)
from celosia_hw.stream import delayed

__all__ = ["ReadRequests", "WriteRequests", "asked_layout", "brought_layout", "ub_lanes"]


def asked_layout(bits: int, tag: ShapeLike) -> data.StructLayout:
    """A row to be read: of which memory, or of none; its address; what goes along with it."""
    return data.StructLayout({"ub": 1, "acc": 1, "addr": bits, "tag": tag})


def _under_way(m: Module, port: Any, name: str) -> Signal:
    """Return whether a request of a port may not have been granted: it was taken in the cycle
    before, or the memory kept it then.
    """
    under_way = Signal(name=f"in_{name}")
    m.d.sync += under_way.eq(port.valid | ~port.ready)
    return under_way


class ReadRequests(wiring.Component):
    """Asks one of both memories at a time, so that rows come in the order of their requests.

    A request is made in the cycle in which it is taken, a request a cycle, and a cycle between
    requests of one memory and of the other: whether the first keeps the last of them is known only
    then, out of its flip-flop. One of neither memory waits as well, and comes READ_LATENCY cycles
    after it was taken; nothing waits for it.

    Parameters
    ----------
    bits, ub_bits, acc_bits
        Bits of an address, of the words of the unified buffer, of the accumulators.
    tag
        Shape of what goes along with a request.

    Members
    -------
    i : In(stream of asked_layout)
    ub, acc : Out(ReadPortSignature)
    granted : Out(1)
        A request was granted in the cycle before.
    refused : Out(1)
        One was refused then.
    arrives : Out(1), from_ub, from_acc : Out(1), tag : Out
        A row is there, at that port; that of neither is zero. Its tag.
    """

    i: stream.Interface
    ub: ReadPort
    acc: ReadPort
    granted: Signal
    refused: Signal
    arrives: Signal
    from_ub: Signal
    from_acc: Signal
    tag: Any

    def __init__(self, bits: int, ub_bits: int, acc_bits: int, tag: ShapeLike):
        self._tag = tag
        super().__init__({
            "i": In(stream.Signature(asked_layout(bits, tag))),
            "ub": Out(ReadPortSignature(bits, ub_bits)),
            "acc": Out(ReadPortSignature(bits, acc_bits)),
            "granted": Out(1), "refused": Out(1), "arrives": Out(1), "from_ub": Out(1),
            "from_acc": Out(1), "tag": Out(tag),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        asked, neither = self.i.payload, Signal()
        in_ub, in_acc = _under_way(m, self.ub, "ub"), _under_way(m, self.acc, "acc")
        taken = Signal()
        m.d.comb += [
            self.i.ready.eq(Mux(asked.ub, self.ub.ready, ~in_ub)
                            & Mux(asked.acc, self.acc.ready, ~in_acc)),
            taken.eq(self.i.valid & self.i.ready),
            self.ub.addr.eq(asked.addr), self.acc.addr.eq(asked.addr),
            self.ub.valid.eq(self.i.valid & asked.ub & ~in_acc),
            self.acc.valid.eq(self.i.valid & asked.acc & ~in_ub),
            self.granted.eq(self.ub.granted | self.acc.granted | neither),
            self.refused.eq(~self.ub.ready | ~self.acc.ready),
        ]
        m.d.sync += neither.eq(taken & ~asked.ub & ~asked.acc)
        # While a memory keeps a request its tag stays the latest.
        latest = Signal.like(asked, name="latest", reset_less=True)
        with m.If(taken):
            m.d.sync += latest.eq(asked)
        late: Any = delayed(m, latest, READ_LATENCY - 1, name="late", reset_less=True)[-1]
        m.d.comb += [
            self.arrives.eq(delayed(m, self.granted, READ_LATENCY - 1, name="arriving")[-1]),
            self.tag.eq(late.tag), self.from_ub.eq(late.ub), self.from_acc.eq(late.acc),
        ]
        return m


def brought_layout(config: TpuConfig) -> data.StructLayout:
    """A row to be written: of which memory (``ub``, or the accumulators), its address, its lanes of
    32 bits. ``last`` ends a command, ``error`` is that of the command, with ``last``.
    """
    return data.StructLayout({"ub": 1, "last": 1, "error": 1, "address": row_bits(config),
                              "lanes": config.acc_row_bits})


def ub_lanes(config: TpuConfig, lanes: Value) -> Value:
    """What of lanes of 32 bits goes into the unified buffer: the low bits of each."""
    return Cat(lanes.word_select(k, 32)[:config.lane_bits] for k in range(config.dim))


class WriteRequests(wiring.Component):
    """Writes rows to either memory, in order, a row a cycle.

    A row is offered in the cycle in which it comes; a cycle lies between rows of one memory and of
    the other, as of :class:`ReadRequests`.

    Parameters
    ----------
    config

    Members
    -------
    i : In(stream of brought_layout)
        The unified buffer takes the low bits of each lane.
    ub, acc : Out(WritePortSignature)
    wrote : Out(1), last, error : Out(1)
        A row was written in the cycle before, and what was said of it.
    refused : Out(1)
        One was refused then.
    pending, row : Out
        The last row of the accumulators may not have been written yet, and its address.
    """

    i: stream.Interface
    ub: WritePort
    acc: WritePort
    wrote: Signal
    last: Signal
    error: Signal
    refused: Signal
    pending: Signal
    row: Signal

    def __init__(self, config: TpuConfig):
        self._config, bits = config, row_bits(config)
        super().__init__({
            "i": In(stream.Signature(brought_layout(config))),
            "ub": Out(WritePortSignature(bits, config.ub_row_bits)),
            "acc": Out(WritePortSignature(bits, config.acc_row_bits)),
            "wrote": Out(1), "last": Out(1), "error": Out(1), "refused": Out(1),
            "pending": Out(1), "row": Out(bits),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        row = self.i.payload
        in_ub, in_acc = _under_way(m, self.ub, "ub"), _under_way(m, self.acc, "acc")
        m.d.comb += [
            self.i.ready.eq(Mux(row.ub, self.ub.ready & ~in_acc, self.acc.ready & ~in_ub)),
            self.ub.valid.eq(self.i.valid & row.ub & ~in_acc),
            self.acc.valid.eq(self.i.valid & ~row.ub & ~in_ub),
            self.ub.addr.eq(row.address), self.acc.addr.eq(row.address),
            self.acc.data.eq(row.lanes),
            self.ub.data.eq(ub_lanes(self._config, row.lanes)),
            self.wrote.eq(self.ub.granted | self.acc.granted),
            self.refused.eq(~self.ub.ready | ~self.acc.ready), self.pending.eq(in_acc),
        ]
        with m.If(self.i.valid & self.i.ready):  # while a memory keeps a row this is of it
            m.d.sync += [self.last.eq(row.last), self.error.eq(row.error), self.row.eq(row.address)]
        return m

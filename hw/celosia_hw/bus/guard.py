"""What lets the chip be reset at any time without breaking the memory bus."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia_hw.bus.axi import (
    LENGTH_BITS,
    AxiRead,
    AxiReadSignature,
    AxiWrite,
    AxiWriteSignature,
    address_layout,
)
from celosia_hw.stream import Queue, outstanding

__all__ = ["AxiGuard"]

#: Read bursts, and write bursts, that may be outstanding.
_OUTSTANDING = 255
#: Write bursts of which data may still be owed.
_OWED = 8


class BurstGuard(wiring.Component):
    """A register on an address channel; counts the bursts that have passed and are not answered.

    Members
    -------
    i, o : In(stream), Out(stream)
        Payload of AR or AW. A burst a cycle.
    room, abort : In(1)
        No burst is taken without ``room``, none with ``abort``; one that is offered stays.
    answered : In(1)
        A burst has been answered for good.
    outstanding : Out(1)
        Some are not.
    """

    i: stream.Interface
    o: stream.Interface
    room: Signal
    abort: Signal
    answered: Signal
    outstanding: Signal

    def __init__(self):
        channel = stream.Signature(address_layout())
        super().__init__({"i": In(channel), "o": Out(channel), "room": In(1), "abort": In(1),
                          "answered": In(1), "outstanding": Out(1)})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        taken = self.i.valid & self.i.ready
        count = outstanding(m, taken, self.answered, _OUTSTANDING, name="count")
        m.d.comb += [
            self.i.ready.eq((~self.o.valid | self.o.ready) & (count != _OUTSTANDING) & self.room
                            & ~self.abort),
            self.outstanding.eq(count != 0),
        ]
        with m.If(taken):
            m.d.sync += [self.o.valid.eq(1), self.o.payload.eq(self.i.payload)]
        with m.Elif(self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        return m


class AxiGuard(wiring.Component):
    """Stands between the managers of the chip and the memory port, and remembers what is owed.

    Without ``abort`` it is a register on AR, AW and W, and wires on R and B. A beat of W is taken
    once its burst is offered on the bus, not before, and need not wait until it is accepted there
    (the bus may want both, AXI4 A3.3.1).

    With ``abort`` no further burst leaves. What was offered stays until it is accepted. Data that
    bursts still owe are sent with no byte strobed, and every beat of R and every B is taken; the
    managers see none of it. When ``drained`` the managers may be reset; ``abort`` must
    last until they are. Not in the reset domain of the managers.

    Throughput: a burst a cycle each way (while 255 at most are outstanding), a beat a cycle each
    way.

    Members
    -------
    i_read, i_write : In
        The managers.
    o_read, o_write : Out
        The memory port.
    abort : In(1)
    drained : Out(1)
        Nothing is outstanding. It stays high as long as ``abort`` does.
    """

    i_read: AxiRead
    i_write: AxiWrite
    o_read: AxiRead
    o_write: AxiWrite
    abort: Signal
    drained: Signal

    def __init__(self, config: TpuConfig):
        read = AxiReadSignature(config.bus_bytes)
        write = AxiWriteSignature(config.bus_bytes)
        super().__init__({
            "i_read": In(read), "i_write": In(write), "o_read": Out(read), "o_write": Out(write),
            "abort": In(1), "drained": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        i_r, o_r = self.i_read.r, self.o_read.r
        m.d.comb += [
            i_r.payload.eq(o_r.payload), i_r.valid.eq(o_r.valid & ~self.abort),
            o_r.ready.eq(i_r.ready | self.abort),
        ]
        m.submodules.reads = reads = BurstGuard()
        wiring.connect(m, wiring.flipped(self.i_read.ar), reads.i)
        wiring.connect(m, reads.o, wiring.flipped(self.o_read.ar))
        m.d.comb += [reads.abort.eq(self.abort), reads.room.eq(1),
                     reads.answered.eq(o_r.valid & o_r.ready & o_r.payload.last)]

        i_b, o_b = self.i_write.b, self.o_write.b
        m.d.comb += [
            i_b.payload.eq(o_b.payload), i_b.valid.eq(o_b.valid & ~self.abort),
            o_b.ready.eq(i_b.ready | self.abort),
        ]
        m.submodules.owed = owed = Queue(LENGTH_BITS, _OWED)  # beats - 1 of bursts that owe data
        m.submodules.writes = writes = BurstGuard()
        wiring.connect(m, wiring.flipped(self.i_write.aw), writes.i)
        wiring.connect(m, writes.o, wiring.flipped(self.o_write.aw))
        m.d.comb += [
            writes.abort.eq(self.abort), writes.room.eq(owed.i.ready),
            writes.answered.eq(o_b.valid & o_b.ready),
            owed.i.valid.eq(writes.i.valid & writes.i.ready),
            owed.i.payload.eq(writes.i.payload.len),
        ]

        i_w, o_w = self.i_write.w, self.o_write.w
        data = Signal.like(o_w.payload.data, reset_less=True)
        beat = Signal(LENGTH_BITS)  # of the burst whose data pass
        go, last = Signal(), Signal()
        free = ~o_w.valid | o_w.ready
        m.d.comb += [
            o_w.payload.data.eq(data),
            last.eq(beat == owed.o.payload),
            i_w.ready.eq(free & owed.o.valid & ~self.abort),
            go.eq(free & owed.o.valid & (i_w.valid | self.abort)),
            owed.o.ready.eq(go & last),
        ]
        with m.If(go):
            m.d.sync += [
                o_w.valid.eq(1), data.eq(i_w.payload.data), o_w.payload.last.eq(last),
                o_w.payload.strb.eq(Mux(self.abort, 0, i_w.payload.strb)),
                beat.eq(Mux(last, 0, beat + 1)),
            ]
        with m.Elif(o_w.ready):
            m.d.sync += o_w.valid.eq(0)

        m.d.comb += self.drained.eq(~reads.outstanding & ~writes.outstanding)
        return m

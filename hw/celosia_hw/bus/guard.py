"""What lets the chip be reset at any time without breaking the memory bus."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia_hw.bus.axi import AxiReadSignature, AxiWriteSignature
from celosia_hw.stream import Queue, outstanding

__all__ = ["AxiGuard"]

#: Read bursts, and write bursts, that may be outstanding.
_OUTSTANDING = 255
#: Write bursts of which data may still be owed.
_OWED = 8


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

    i_read: Any
    i_write: Any
    o_read: Any
    o_write: Any
    abort: Signal
    drained: Signal

    def __init__(self, config: TpuConfig):
        read = AxiReadSignature(config.bus_bytes)
        write = AxiWriteSignature(config.bus_bytes)
        super().__init__({
            "i_read": In(read), "i_write": In(write), "o_read": Out(read), "o_write": Out(write),
            "abort": In(1), "drained": Out(1),
        })

    def _address(self, m: Module, i, o, room, ends, name: str) -> tuple[Signal, Signal]:
        """Join an address channel; return (a burst was taken, bursts outstanding).

        ``room`` permits a burst; ``ends`` is high where one has been answered for good.
        """
        taken = Signal(name=f"{name}_taken")
        count = outstanding(m, taken, ends, _OUTSTANDING, name=f"{name}_outstanding")
        m.d.comb += [
            i.ready.eq((~o.valid | o.ready) & (count != _OUTSTANDING) & room & ~self.abort),
            taken.eq(i.valid & i.ready),
        ]
        with m.If(taken):
            m.d.sync += [o.valid.eq(1), o.payload.eq(i.payload)]
        with m.Elif(o.ready):
            m.d.sync += o.valid.eq(0)
        return taken, count

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        i_r, o_r = self.i_read.r, self.o_read.r
        m.d.comb += [
            i_r.payload.eq(o_r.payload), i_r.valid.eq(o_r.valid & ~self.abort),
            o_r.ready.eq(i_r.ready | self.abort),
        ]
        _, reads = self._address(m, self.i_read.ar, self.o_read.ar, 1,
                                 o_r.valid & o_r.ready & o_r.payload.last, "reads")

        i_b, o_b = self.i_write.b, self.o_write.b
        m.d.comb += [
            i_b.payload.eq(o_b.payload), i_b.valid.eq(o_b.valid & ~self.abort),
            o_b.ready.eq(i_b.ready | self.abort),
        ]
        m.submodules.owed = owed = Queue(8, _OWED)  # beats - 1 of bursts that owe data
        taken, writes = self._address(m, self.i_write.aw, self.o_write.aw, owed.i.ready,
                                      o_b.valid & o_b.ready, "writes")
        m.d.comb += [owed.i.valid.eq(taken), owed.i.payload.eq(self.i_write.aw.payload.len)]

        i_w, o_w = self.i_write.w, self.o_write.w
        data = Signal.like(o_w.payload.data, reset_less=True)
        beat = Signal(8)  # of the burst whose data pass
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

        m.d.comb += self.drained.eq((reads == 0) & (writes == 0))
        return m

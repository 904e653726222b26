"""What stands between the units and the memory bus."""

from amaranth.hdl import Module, Mux, ResetInserter, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia_hw.bus.axi import (
    FETCH_ID,
    LENGTH_BITS,
    AxiRead,
    AxiReadSignature,
    AxiWrite,
    AxiWriteSignature,
    address_layout,
)
from celosia_hw.stream import Queue, SkidBuffer, outstanding

__all__ = ["MemoryPort"]

#: Read bursts, and write bursts, that may be outstanding.
_OUTSTANDING = 255
#: Write bursts of which data may still be owed.
_OWED = 8


class BurstGuard(wiring.Component):
    """A register on an address channel; counts the bursts that have passed and are not answered.

    Members
    -------
    i, o : In(stream), Out(stream)
        Payload of AR or AW. A burst a cycle. One that waits at ``i`` may give way to another.
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


class MemoryPort(wiring.Component):
    """Stands between the managers of the chip and the memory bus, and remembers what is owed.

    Without ``abort``, AR, AW and W leave out of registers, a cycle after they were taken at the
    earliest, and ``ready`` towards the managers comes out of flip-flops; of a chip that is
    ``small``, only fetch's: the others' follows the bus. R and B are wires: both readers see every
    beat of R and look at its ID. Load takes its own beats where it is ready; fetch must always be,
    and store for B, and their ``ready`` is not looked at. So no path goes through, but for that of
    R's ``ready``, which follows the ID.

    Fetch goes before load. It asks seldom, so load does not starve. A beat of W leaves once its
    burst is offered on the bus, not before, and need not wait until it is accepted there (the bus
    may want both, AXI4 A3.3.1).

    With ``abort`` no further burst leaves: one of load or store that was taken and is not offered
    on the bus yet is dropped, and so are those that they go on to offer. What was offered stays
    until it is accepted. Data that bursts still owe are sent with no byte strobed, whatever store
    has offered of them, and every beat of R and every B is taken; load and store must not look at
    them. When ``drained`` the managers may be reset; ``abort`` must last until they are. Not in the
    reset domain of the managers.

    Throughput: a burst a cycle each way (while 255 at most are outstanding; of fetch, every other
    cycle), a beat a cycle each way.

    Members
    -------
    load, fetch : In(AxiReadSignature)
        Each with its own ID, LOAD_ID and FETCH_ID, for every burst.
    store : In(AxiWriteSignature)
    read, write : Out
        The bus.
    abort : In(1)
    drained : Out(1)
        Nothing is outstanding. It stays high as long as ``abort`` does.
    read_beat, write_beat : Out(1)
        A beat moved on the bus in the cycle before.
    """

    load: AxiRead
    fetch: AxiRead
    store: AxiWrite
    read: AxiRead
    write: AxiWrite
    abort: Signal
    drained: Signal
    read_beat: Signal
    write_beat: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        read = AxiReadSignature(config.bus_bytes)
        write = AxiWriteSignature(config.bus_bytes)
        super().__init__({
            "load": In(read), "fetch": In(read), "store": In(write),
            "read": Out(read), "write": Out(write),
            "abort": In(1), "drained": Out(1), "read_beat": Out(1), "write_beat": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        reads, writes = self._reads(m), self._writes(m)
        m.d.comb += self.drained.eq(~reads.outstanding & ~writes.outstanding)
        r, w = self.read.r, self.write.w
        m.d.sync += [self.read_beat.eq(r.valid & r.ready), self.write_beat.eq(w.valid & w.ready)]
        return m

    def _held(self, m: Module, name: str, channel: stream.Interface) -> stream.Interface:
        """Return what a manager offers, behind a skid buffer that ``abort`` empties."""
        skid = SkidBuffer(channel.payload.shape(), holds=not self._config.small)
        m.submodules[name] = ResetInserter(self.abort)(skid)
        wiring.connect(m, wiring.flipped(channel), skid.i)
        return skid.o

    def _reads(self, m: Module) -> BurstGuard:
        """Drive AR and R."""
        m.submodules.reads = reads = BurstGuard()
        fetch, load, r = self.fetch, self.load, self.read.r
        loads = self._held(m, "loads", load.ar)
        # An offer of fetch stays until fetch is told, a cycle after it was taken: nothing holds it.
        fetches, fetched = Signal(), Signal()
        m.d.comb += [
            fetches.eq(fetch.ar.valid & ~fetched), fetch.ar.ready.eq(fetched),
            reads.i.valid.eq(fetches | loads.valid),
            reads.i.payload.eq(Mux(fetches, fetch.ar.payload, loads.payload)),
            loads.ready.eq(reads.i.ready & ~fetches),
            reads.abort.eq(self.abort), reads.room.eq(1),
            reads.answered.eq(r.valid & r.ready & r.payload.last),
        ]
        m.d.sync += fetched.eq(fetches & reads.i.ready)
        wiring.connect(m, reads.o, wiring.flipped(self.read.ar))
        m.d.comb += [
            load.r.payload.eq(r.payload), load.r.valid.eq(r.valid),
            fetch.r.payload.eq(r.payload), fetch.r.valid.eq(r.valid),
            r.ready.eq(self.abort | (r.payload.id == FETCH_ID) | load.r.ready),
        ]
        return reads

    def _writes(self, m: Module) -> BurstGuard:
        """Drive AW, W and B."""
        m.submodules.owed = owed = Queue(LENGTH_BITS, _OWED)  # beats - 1 of bursts that owe data
        m.submodules.writes = writes = BurstGuard()
        bursts = self._held(m, "bursts", self.store.aw)
        wiring.connect(m, bursts, writes.i)
        wiring.connect(m, writes.o, wiring.flipped(self.write.aw))
        b = self.write.b
        m.d.comb += [
            self.store.b.payload.eq(b.payload), self.store.b.valid.eq(b.valid), b.ready.eq(1),
            writes.abort.eq(self.abort), writes.room.eq(owed.i.ready), writes.answered.eq(b.valid),
            owed.i.valid.eq(writes.i.valid & writes.i.ready),
            owed.i.payload.eq(writes.i.payload.len),
        ]

        beats, w = self._held(m, "beats", self.store.w), self.write.w
        data = Signal.like(w.payload.data, reset_less=True)
        beat = Signal(LENGTH_BITS)  # of the burst whose data pass
        go, last, free = Signal(), Signal(), Signal()
        m.d.comb += [
            free.eq(~w.valid | w.ready), w.payload.data.eq(data),
            last.eq(beat == owed.o.payload),
            beats.ready.eq(free & owed.o.valid & ~self.abort),
            go.eq(free & owed.o.valid & (beats.valid | self.abort)),
            owed.o.ready.eq(go & last),
        ]
        with m.If(go):
            m.d.sync += [
                w.valid.eq(1), data.eq(beats.payload.data), w.payload.last.eq(last),
                w.payload.strb.eq(Mux(self.abort, 0, beats.payload.strb)),
                beat.eq(Mux(last, 0, beat + 1)),
            ]
        with m.Elif(w.ready):
            m.d.sync += w.valid.eq(0)
        return writes

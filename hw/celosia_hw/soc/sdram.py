"""A controller of a 16-bit SDRAM behind AXI4."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia_hw.bus.axi import AxiReadSignature, AxiWriteSignature
from celosia_hw.soc.sdram_bursts import Bursts
from celosia_hw.soc.sdram_data import ReadData, WriteData
from celosia_hw.soc.sdram_timers import CommandTimers, SdramCommand
from celosia_hw.soc.sdram_timing import SdramTiming
from celosia_hw.soc.sdram_upkeep import Upkeep
from celosia_hw.soc.sdram_walk import PieceWalk

__all__ = ["SdramController", "sdram_pins"]

_ADDRESS_10 = 1 << 10  # with PRECHARGE: all banks


def sdram_pins(timing: SdramTiming) -> dict[str, Any]:
    """Members for the pins of the device; ``dq`` is three signals, for the pads are elsewhere."""
    return {
        "cke": Out(1), "cs_n": Out(1, init=1),  # type: ignore[call-arg]
        "ras_n": Out(1, init=1), "cas_n": Out(1, init=1),  # type: ignore[call-arg]
        "we_n": Out(1, init=1), "ba": Out(timing.bank_bits),  # type: ignore[call-arg]
        "a": Out(timing.row_bits), "dqm": Out(2, init=3),  # type: ignore[call-arg]
        "dq_o": Out(16), "dq_oe": Out(1), "dq_i": In(16),
    }


class SdramController(wiring.Component):
    """Serves AXI bursts from an SDRAM, a word of 16 bits a cycle, in the order of AR and AW.

    Every word has a READ or WRITE command of its own (burst length 1), so a burst may begin, end
    and be masked anywhere. Rows stay open, one a bank, until another is wanted or a refresh comes;
    the next burst is looked up while one runs, so bursts of four words or more within open rows
    follow one another without a pause. A row is 1 KiB and the banks take turns, so a page of 4 KiB
    is one row of every bank.

    A burst waits for its data, read or written, without holding up refreshes. Addresses wrap at the
    size of the device.

    Pins change after a clock edge and the device takes them with the next edge of its own clock,
    which is this one inverted (or any phase that meets its setup and hold times). ``dq_i`` is to
    carry, at the end of cycle t + CAS + ``pad_cycles``, the word of a READ that is on the pins in
    cycle t; that is a device that hears a clock in phase and answers CAS edges later, as its page
    says. All pins are flip-flops, ``dq_i`` goes to nothing but flip-flops.

    Latency of a read: 10 cycles and ``pad_cycles`` from AR to the first word in an open row. Reset:
    the power-up sequence begins again.

    Parameters
    ----------
    config
        For the width of the bus.
    clock_hz
        Of ``sync``, for the timing.
    timing
        The device.
    pad_cycles
        Cycles that further registers at the pads add, out and in together.

    Members
    -------
    read : In(AxiReadSignature), write : In(AxiWriteSignature)
    cke, cs_n, ras_n, cas_n, we_n, ba, a, dqm, dq_o, dq_oe : Out, dq_i : In
        The device.
    """

    read: Any
    write: Any
    cke: Signal
    cs_n: Signal
    ras_n: Signal
    cas_n: Signal
    we_n: Signal
    ba: Signal
    a: Signal
    dqm: Signal
    dq_o: Signal
    dq_oe: Signal
    dq_i: Signal

    def __init__(self, config: TpuConfig, clock_hz: int, timing: SdramTiming | None = None, *,
                 pad_cycles: int = 0):
        self._config, self._timing = config, timing or SdramTiming()
        self._cycles = self._timing.cycles(clock_hz)
        self._pad_cycles = pad_cycles
        super().__init__({
            "read": In(AxiReadSignature(config.bus_bytes)),
            "write": In(AxiWriteSignature(config.bus_bytes)), **sdram_pins(self._timing)})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        cycles, timing = self._cycles, self._timing
        m.submodules.bursts = bursts = Bursts(self._config, timing)
        m.submodules.writes = writes = WriteData(self._config)
        m.submodules.reads = reads = ReadData(
            self._config, 2 + cycles.cas + self._pad_cycles)
        wiring.connect(m, wiring.flipped(self.read.ar), bursts.ar)
        wiring.connect(m, wiring.flipped(self.write.aw), bursts.aw)
        wiring.connect(m, wiring.flipped(self.write.w), writes.w)
        wiring.connect(m, reads.r, wiring.flipped(self.read.r))
        wiring.connect(m, bursts.b, wiring.flipped(self.write.b))
        m.d.comb += reads.dq.eq(self.dq_i)

        m.submodules.walk = walk = PieceWalk(self._config, timing)
        m.submodules.timers = timers = CommandTimers(cycles)
        piece, command = walk.piece, timers.command
        m.submodules.upkeep = upkeep = Upkeep(cycles)
        m.d.comb += [upkeep.free.eq(timers.free), upkeep.may_close.eq(timers.may_close)]

        active, row = Signal(), Signal()
        go, take, writing = Signal(), Signal(), Signal()
        m.d.comb += [
            command.eq(SdramCommand.NOP), writing.eq(go & piece.write), bursts.take.eq(take),
            bursts.done.eq(writing & walk.ends & piece.final),
            bursts.bank.eq(piece.bank), bursts.row.eq(piece.row),
            bursts.close_all.eq(upkeep.closes),
            walk.next.eq(bursts.piece), walk.take.eq(take), walk.step.eq(go),
        ]
        with m.If(take):
            m.d.sync += active.eq(1)
        with m.FSM(init="UPKEEP"):
            with m.State("UPKEEP"):
                m.d.comb += command.eq(upkeep.command)
                with m.If(upkeep.done):
                    m.next = "CHOOSE"
            with m.State("CHOOSE"):
                with m.If(upkeep.due):
                    m.d.comb += upkeep.begin.eq(1)
                    m.next = "UPKEEP"
                with m.Elif(active):
                    m.next = "ACTIVATE"
                with m.Elif(bursts.ready):
                    m.d.comb += take.eq(1)
                    with m.If(bursts.hit):
                        m.next = "RUN"
                    with m.Elif(bursts.is_open):
                        m.next = "PRECHARGE"
                    with m.Else():
                        m.next = "ACTIVATE"
            with m.State("PRECHARGE"):
                with m.If(timers.free & timers.may_close):
                    m.d.comb += command.eq(SdramCommand.PRECHARGE)
                    m.next = "ACTIVATE"
            with m.State("ACTIVATE"):
                with m.If(timers.free):
                    m.d.comb += [command.eq(SdramCommand.ACTIVATE), row.eq(1), bursts.opened.eq(1)]
                    m.next = "OPEN"
            with m.State("OPEN"):
                with m.If(timers.free):
                    m.next = "RUN"
            with m.State("RUN"):
                # Nothing holds a word within a beat, such as the last one, and no refresh comes.
                m.d.comb += go.eq(walk.word.any() | ~upkeep.due & Mux(
                    piece.write, writes.ready & timers.may_write, reads.room))
                with m.If(walk.ends):
                    with m.If(bursts.ready & bursts.hit):
                        m.d.comb += take.eq(1)
                    with m.Else():
                        m.d.sync += active.eq(0)
                        m.next = "CHOOSE"
                with m.Elif(upkeep.due & ~walk.word.any()):
                    m.d.comb += upkeep.begin.eq(1)
                    m.next = "UPKEEP"
        with m.If(go):
            m.d.comb += command.eq(Mux(piece.write, SdramCommand.WRITE, SdramCommand.READ))
        m.d.comb += [
            writes.shift.eq(writing), writes.ends.eq(walk.ends_beat),
            reads.issue.eq(go & ~piece.write), reads.begins.eq(~walk.word.any()),
            reads.ends.eq(walk.ends_beat), reads.last.eq((piece.left == 0) & piece.final),
            reads.id.eq(piece.id),
        ]
        column = Cat(walk.word, piece.beat) | Mux(upkeep.closes, _ADDRESS_10, 0)
        m.d.sync += [
            self.cke.eq(1), self.cs_n.eq(0),
            Cat(self.we_n, self.cas_n, self.ras_n).eq(Value.cast(command)),
            self.ba.eq(Mux(upkeep.sets, 0, piece.bank)),
            self.a.eq(Mux(row, piece.row, Mux(upkeep.sets, cycles.cas << 4, column))),
            self.dqm.eq(Mux(writing, ~writes.strb, Mux(upkeep.up, 0, 3))),
            self.dq_oe.eq(writing), self.dq_o.eq(writes.data),
        ]
        return m

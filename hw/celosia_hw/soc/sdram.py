"""A controller of a 16-bit SDRAM behind AXI4."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import TpuConfig
from celosia.arch.words import ceil_div
from celosia_hw.bus.axi import AxiReadSignature, AxiWriteSignature
from celosia_hw.soc.sdram_bursts import Bursts, piece_layout
from celosia_hw.soc.sdram_data import ReadData, WriteData
from celosia_hw.soc.sdram_timing import SdramTiming

__all__ = ["SdramCommand", "SdramController", "sdram_pins"]

#: Refreshes before the mode register is set (2 or 8, by part).
_FIRST_REFRESHES = 8
_ADDRESS_10 = 1 << 10  # with PRECHARGE: all banks


class SdramCommand(enum.Enum, shape=3):
    """RAS#, CAS#, WE# (bits 2, 1, 0)."""

    MODE = 0b000
    REFRESH = 0b001
    PRECHARGE = 0b010
    ACTIVATE = 0b011
    WRITE = 0b100
    READ = 0b101
    NOP = 0b111


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
        words = self._config.bus_bytes // 2
        inner_bits = exact_log2(words)
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

        # The piece of a burst that runs: words of one row.
        piece = Signal(piece_layout(self._config, timing), reset_less=True)
        active, inner, final_beat = Signal(), Signal(inner_bits), Signal()
        ends_beat = Signal()
        m.d.comb += [ends_beat.eq(inner.all()), final_beat.eq(piece.left == 0)]
        ends = Signal()
        m.d.comb += ends.eq(ends_beat & final_beat)

        # Times that run on while others do: in cycles that are still to wait.
        timer = Signal(range(max(cycles.refresh, cycles.precharge, cycles.mode,
                                 cycles.activate_to_column)))
        held = Signal(range(cycles.activate_to_precharge))
        writing_back = Signal(range(cycles.write_recovery))
        turning = Signal(range(cycles.cas + 2))
        for counter in (timer, held, writing_back, turning):
            with m.If(counter != 0):
                m.d.sync += counter.eq(counter - 1)
        free, closable = Signal(), Signal()
        m.d.comb += [free.eq(timer == 0), closable.eq((held == 0) & (writing_back == 0))]

        tick, due = Signal(range(cycles.interval)), Signal()
        m.d.sync += tick.eq(Mux(tick == 0, cycles.interval - 1, tick - 1))
        # Power-up is so many intervals; then so many refreshes are due.
        pauses = ceil_div(cycles.power_up, cycles.interval) + 1
        first = Signal(range(max(pauses, _FIRST_REFRESHES) + 1), init=pauses)

        command = Signal(SdramCommand, init=SdramCommand.NOP)
        all_banks, row, sets, up = (
            Signal(name=name) for name in ("all_banks", "row", "sets", "up"))
        go, take = Signal(), Signal()
        m.d.comb += [
            bursts.take.eq(take), bursts.done.eq(go & ends & piece.write & piece.final),
            bursts.bank.eq(piece.bank), bursts.row.eq(piece.row),
        ]
        with m.If(take):
            m.d.sync += [piece.eq(bursts.piece), active.eq(1)]
        with m.FSM(init="POWER"):
            with m.State("POWER"):
                with m.If(due):
                    m.d.sync += [due.eq(0), first.eq(first - 1)]
                with m.If(first == 0):
                    m.d.sync += first.eq(_FIRST_REFRESHES)
                    m.next = "CLOSE"
            with m.State("CLOSE"):
                with m.If(free & closable):
                    m.d.comb += [command.eq(SdramCommand.PRECHARGE), all_banks.eq(1),
                                 bursts.close_all.eq(1)]
                    m.d.sync += timer.eq(cycles.precharge - 1)
                    m.next = "REFRESH"
            with m.State("REFRESH"):
                with m.If(free):
                    m.d.comb += command.eq(SdramCommand.REFRESH)
                    m.d.sync += [timer.eq(cycles.refresh - 1), due.eq(0)]
                    with m.If(first == 0):
                        m.next = "CHOOSE"
                    with m.Else():
                        m.d.sync += first.eq(first - 1)
                        with m.If(first == 1):
                            m.next = "MODE"
            with m.State("MODE"):
                with m.If(free):
                    m.d.comb += [command.eq(SdramCommand.MODE), sets.eq(1)]
                    m.d.sync += [timer.eq(cycles.mode - 1), up.eq(1)]
                    m.next = "CHOOSE"
            with m.State("CHOOSE"):
                with m.If(due):
                    m.next = "CLOSE"
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
                with m.If(free & closable):
                    m.d.comb += command.eq(SdramCommand.PRECHARGE)
                    m.d.sync += timer.eq(cycles.precharge - 1)
                    m.next = "ACTIVATE"
            with m.State("ACTIVATE"):
                with m.If(free):
                    m.d.comb += [command.eq(SdramCommand.ACTIVATE), row.eq(1), bursts.opened.eq(1)]
                    m.d.sync += [timer.eq(cycles.activate_to_column - 2),
                                 held.eq(cycles.activate_to_precharge - 1)]
                    m.next = "OPEN"
            with m.State("OPEN"):
                with m.If(free):
                    m.next = "RUN"
            with m.State("RUN"):
                # A beat that has begun goes on.
                m.d.comb += go.eq(inner.any() | ~due & Mux(
                    piece.write, writes.ready & (turning == 0), reads.room))
                with m.If(due & ~inner.any()):
                    m.next = "CLOSE"
                with m.Elif(go & ends):
                    with m.If(bursts.ready & bursts.hit):
                        m.d.comb += take.eq(1)
                    with m.Else():
                        m.d.sync += active.eq(0)
                        m.next = "CHOOSE"
        with m.If(tick == 0):
            m.d.sync += due.eq(1)
        with m.If(go):
            m.d.comb += command.eq(Mux(piece.write, SdramCommand.WRITE, SdramCommand.READ))
            m.d.sync += inner.eq(inner + 1)
            with m.If(ends_beat & ~take):
                m.d.sync += [piece.beat.eq(piece.beat + 1), piece.left.eq(piece.left - 1)]
            with m.If(piece.write):
                m.d.sync += writing_back.eq(cycles.write_recovery - 1)
            with m.Else():
                m.d.sync += turning.eq(cycles.cas + 1)
        m.d.comb += [
            writes.shift.eq(go & piece.write), writes.ends.eq(ends_beat),
            reads.issue.eq(go & ~piece.write), reads.begins.eq(~inner.any()),
            reads.ends.eq(ends_beat), reads.last.eq(final_beat & piece.final),
            reads.id.eq(piece.id),
        ]

        column = Cat(inner, piece.beat)
        writing = Signal()
        m.d.comb += writing.eq(go & piece.write)
        m.d.sync += [
            self.cke.eq(1), self.cs_n.eq(0),
            Cat(self.we_n, self.cas_n, self.ras_n).eq(command.as_value()),
            self.ba.eq(Mux(sets, 0, piece.bank)),
            self.a.eq(Mux(row, piece.row, Mux(sets, cycles.cas << 4,
                                              column | Mux(all_banks, _ADDRESS_10, 0)))),
            self.dqm.eq(Mux(writing, ~writes.strb, Mux(up, 0, 3))),
            self.dq_oe.eq(writing), self.dq_o.eq(writes.data),
        ]
        return m

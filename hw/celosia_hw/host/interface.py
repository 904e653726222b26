"""The register file of the chip."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch import registers
from celosia.arch.config import TpuConfig
from celosia.arch.registers import AccessMode, Control
from celosia_hw.bus.axi import AxiLiteSignature
from celosia_hw.commands import fault_layout, window_layout
from celosia_hw.host.axil import READ_CYCLES, AxiLiteResponder
from celosia_hw.host.counters import READ_LATENCY, PerfCounters, events_layout
from celosia_hw.host.run import RunControl

__all__ = ["HostInterface", "constants"]

#: Registers that may not change while a program runs.
FIXED_IN_A_RUN = ("PROGRAM", "LENGTH", "WATCHDOG",
                  *(f"WINDOW{i}_{end}" for i in range(registers.NUM_WINDOWS)
                    for end in ("BASE", "LAST")))


def _slot(word: Any) -> Any:
    """Where a register of FIXED_IN_A_RUN is kept for reading, by the number of its word."""
    return word & 7 | (word >> 5 & 1) << 3


def constants(config: TpuConfig) -> dict[str, int]:
    """Values of the registers that describe the chip."""
    return {
        "MAGIC": registers.MAGIC, "VERSION": registers.ISA_VERSION,
        "FINGERPRINT": config.fingerprint, "DIM": config.dim,
        "FORMATS": config.int8 | config.bf16 << 1, "UB_ROWS": config.ub_rows,
        "ACC_ROWS": config.acc_rows, "BUS_BYTES": config.bus_bytes,
        "WINDOW": config.window, "IBUF": config.ibuf,
    }


class HostInterface(wiring.Component):
    """Registers, run control and performance counters behind AXI4-Lite.

    The map is ``celosia.arch.registers.REGISTERS``. Answered SLVERR, without effect: an address
    without a register or not on a word, a write to a read-only register, a write that does not
    set all four strobes, START while a run or a reset goes on, after a fault, or while PROGRAM is
    not a multiple of PROGRAM_ALIGN, and while a program runs a write to PROGRAM, LENGTH, WATCHDOG
    or a window. RESET is always accepted, and wins over START in the same write. Bits without a
    meaning are ignored when written and read as 0.

    A counter is read as LO, then HI: reading a LO keeps the upper bits of that moment, which any
    HI then shows. Counters restart with START and outlive a reset.

    The interface itself is not reset by ``unit_reset``, so registers outlive a soft reset.

    Members
    -------
    axil : In(AxiLiteSignature)
    irq : Out(1)
        Level: IRQ_STATUS & IRQ_ENABLE.
    start : Out(1)
        High for one cycle when a run begins; ``program``, ``length`` and ``windows`` are stable
        from then to its end.
    program : Out(32)
        Byte address of the first instruction.
    length : Out(32)
        Instructions.
    windows : Out(ArrayLayout(window_layout(), NUM_WINDOWS))
    running : Out(1)
        High in every cycle of a run, first the one after ``start``.
    halted : In(1)
        The run ends normally with this cycle.
    fault, fault_valid : In
        The run ends with this cycle, by a fault.
    pc : In(32)
        Instruction that is executed now.
    abort : Out(1)
        From the cycle after a fault or a RESET: units start nothing new, the memory port drains.
    drained : In(1)
        While ``abort``: nothing is outstanding on the memory port.
    unit_reset : Out(1)
        Reset of everything but this component, for two cycles, when a RESET has drained.
    events : In(events_layout())
        What the performance counters count.
    """

    axil: Any
    irq: Signal
    start: Signal
    program: Signal
    length: Signal
    windows: data.View
    running: Signal
    halted: Signal
    fault: data.View
    fault_valid: Signal
    pc: Signal
    abort: Signal
    drained: Signal
    unit_reset: Signal
    events: data.View

    def __init__(self, config: TpuConfig):
        self._config = config
        self._counters = PerfCounters(config)
        super().__init__({
            "axil": In(AxiLiteSignature()), "irq": Out(1),
            "start": Out(1), "program": Out(32), "length": Out(32),
            "windows": Out(data.ArrayLayout(window_layout(), registers.NUM_WINDOWS)),
            "running": Out(1), "halted": In(1), "fault": In(fault_layout()),
            "fault_valid": In(1), "pc": In(32), "abort": Out(1), "drained": In(1),
            "unit_reset": Out(1), "events": In(events_layout()),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.responder = responder = AxiLiteResponder()
        m.submodules.control = control = RunControl()
        m.submodules.counters = counters = self._counters
        wiring.connect(m, wiring.flipped(self.axil), responder.axil)

        stored = {name: Signal(32, init=registers.BY_NAME[name].init, name=name.lower())
                  for name in FIXED_IN_A_RUN}
        irq_enable, irq_status = Signal(), Signal()
        m.d.comb += [
            self.irq.eq(irq_enable & irq_status),
            self.program.eq(stored["PROGRAM"]), self.length.eq(stored["LENGTH"]),
            control.watchdog.eq(stored["WATCHDOG"]),
            control.halted.eq(self.halted), control.fault.eq(self.fault),
            control.fault_valid.eq(self.fault_valid), control.pc.eq(self.pc),
            control.drained.eq(self.drained),
            self.start.eq(control.started), self.running.eq(control.running),
            self.abort.eq(control.abort), self.unit_reset.eq(control.unit_reset),
            counters.run.eq(control.running), counters.clear.eq(control.started),
            counters.events.eq(self.events),
        ]
        for i in range(registers.NUM_WINDOWS):
            m.d.comb += [self.windows[i].base.eq(stored[f"WINDOW{i}_BASE"]),
                         self.windows[i].last.eq(stored[f"WINDOW{i}_LAST"])]

        selected = self._elaborate_writes(m, responder, control, stored, irq_enable, irq_status)
        variable: dict[str, Value] = {
            "STATUS": control.status,
            "IRQ_ENABLE": irq_enable, "IRQ_STATUS": irq_status,
            "FAULT_CAUSE": control.last_fault.cause, "FAULT_PC": control.last_fault.pc,
            "FAULT_ADDR": control.last_fault.addr, "PC": self.pc,
        }
        self._elaborate_reads(m, responder, counters, stored, selected, variable)
        return m

    def _elaborate_writes(self, m: Module, responder, control, stored, irq_enable,
                          irq_status) -> dict[str, Signal]:
        """Carry out writes; return the signals that say that a register is written.

        An end of a run that comes with a write to IRQ_STATUS is not lost.
        """
        value = responder.write_data
        align = exact_log2(registers.PROGRAM_ALIGN)
        ready = Signal()
        start = value[exact_log2(Control.START)]
        reset = value[exact_log2(Control.RESET)]
        here = {}  # in the cycle of ``write``: the register is at ``write_word``
        for register in registers.REGISTERS:
            if register.access is not AccessMode.RO:
                here[register.name] = Signal(name=f"at_{register.name.lower()}", reset_less=True)
                m.d.sync += here[register.name].eq(
                    responder.write_word == register.offset >> 2)
        fixed = Signal(reset_less=True)
        m.d.sync += fixed.eq(Cat(
            responder.write_word == registers.BY_NAME[name].offset >> 2
            for name in FIXED_IN_A_RUN).any())
        written = {}
        for name in FIXED_IN_A_RUN:
            written[name] = Signal(name=f"write_{name.lower()}")
            m.d.comb += written[name].eq(responder.write & here[name] & ~control.running)
            with m.If(written[name]):
                m.d.sync += stored[name].eq(value)
        m.d.sync += ready.eq(control.can_start & (stored["PROGRAM"][:align] == 0))
        to_control = responder.write & here["CONTROL"]
        m.d.comb += [
            control.start.eq(to_control & start & ready),
            control.reset.eq(to_control & reset),
            responder.write_error.eq(
                ~((fixed & ~control.running) | here["IRQ_ENABLE"] | here["IRQ_STATUS"]
                  | (here["CONTROL"] & (~start | reset | ready)))),
        ]
        with m.If(responder.write & here["IRQ_ENABLE"]):
            m.d.sync += irq_enable.eq(value[0])
        with m.If(control.reset):
            m.d.sync += irq_status.eq(0)
        with m.Elif(control.ended):
            m.d.sync += irq_status.eq(1)
        with m.Elif(responder.write & here["IRQ_STATUS"] & value[0]):
            m.d.sync += irq_status.eq(0)
        return written

    def _elaborate_reads(self, m: Module, responder, counters, stored, written,
                         variable: dict[str, Value]) -> None:
        """Answer every read after READ_CYCLES: the time that a counter takes, and a cycle each
        to decode the address and to choose.

        The address stays, so nothing here is told when a read begins, but the counters.
        """
        assert READ_CYCLES == READ_LATENCY + 2
        word = responder.read_word
        m.d.comb += responder.read_data.eq(
            self._constant(m, word) | self._stored(m, responder, stored, written)
            | self._variable(m, word, variable) | self._counter(m, responder, counters))
        missing = Signal(reset_less=True)
        m.d.comb += responder.read_error.eq(missing)
        with m.Switch(word):
            with m.Case(*(register.offset >> 2 for register in registers.REGISTERS)):
                m.d.sync += missing.eq(0)
            with m.Default():
                m.d.sync += missing.eq(1)

    def _constant(self, m: Module, word: Value) -> Signal:
        """Return the constant at ``word``, or 0."""
        result = Signal(32, name="constant", reset_less=True)
        with m.Switch(word):
            for name, value in constants(self._config).items():
                with m.Case(registers.BY_NAME[name].offset >> 2):
                    m.d.sync += result.eq(value)
            with m.Default():
                m.d.sync += result.eq(0)
        return result

    def _stored(self, m: Module, responder, stored, written) -> Signal:
        """Return the register of FIXED_IN_A_RUN at ``read_word``, or 0.

        They are read out of a RAM of their own: it costs less than choosing one of them. What was
        not written since the reset is not in it.
        """
        assert len({_slot(registers.BY_NAME[name].offset >> 2) for name in stored}) == len(stored)
        m.submodules.copy = copy = Memory(shape=32, depth=16, init=[])
        source, sink = copy.read_port(domain="comb"), copy.write_port()
        result = Signal(32, name="stored", reset_less=True)
        written_before, first = Signal(reset_less=True), Signal(reset_less=True)
        m.d.comb += [
            source.addr.eq(_slot(responder.read_word)), sink.addr.eq(_slot(responder.write_word)),
            sink.data.eq(responder.write_data), sink.en.eq(Cat(written.values()).any()),
        ]
        m.d.sync += [written_before.eq(0), first.eq(0)]
        for name in stored:
            register = registers.BY_NAME[name]
            assert register.init in (0, 1)
            ever = Signal(name=f"ever_{name.lower()}")
            with m.If(written[name]):
                m.d.sync += ever.eq(1)
            with m.If(responder.read_word == register.offset >> 2):
                m.d.sync += [written_before.eq(ever), first.eq(~ever & register.init)]
        m.d.sync += result.eq(source.data)
        with m.If(~written_before):
            m.d.sync += result.eq(first)
        return result

    def _variable(self, m: Module, word: Value, variable: dict[str, Value]) -> Signal:
        """Return the register of ``variable`` at ``word``, or 0."""
        result = Signal(32, name="variable", reset_less=True)
        with m.Switch(word):
            for name, value in variable.items():
                with m.Case(registers.BY_NAME[name].offset >> 2):
                    m.d.sync += result.eq(value)
            with m.Default():
                m.d.sync += result.eq(0)
        return result

    def _counter(self, m: Module, responder, counters) -> Signal:
        """Return the word of a counter at ``read_word``, or 0. A LO is read from the counters."""
        first = min(registers.COUNTERS.values()) >> 2
        count = len(registers.COUNTERS)
        assert list(registers.COUNTERS.values()) == [4 * first + 8 * i for i in range(count)]
        # The index is the address: no subtraction.
        assert first % (2 << len(counters.index)) == 0
        word = responder.read_word
        result = Signal(32, name="counted", reset_less=True)
        here, begin = Signal(reset_less=True), Signal()
        m.d.sync += [
            begin.eq(responder.read),
            here.eq((word >= first) & (word < first + 2 * count)),
            result.eq(Mux(word[0], counters.value >> 32, counters.value)),
        ]
        m.d.comb += [counters.read.eq(begin & here & ~word[0]),
                     counters.index.eq(word[1:])]
        with m.If(~here):
            m.d.sync += result.eq(0)
        return result

"""The register file of the chip."""

from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch import registers
from celosia.arch.config import TpuConfig
from celosia.arch.registers import Access, Control
from celosia_hw.bus.axi import AxiLiteSignature
from celosia_hw.host.axil import READ_CYCLES, AxiLiteResponder
from celosia_hw.host.counters import READ_LATENCY, PerfCounters, events_layout
from celosia_hw.host.run import RunControl, fault_layout

__all__ = ["HostInterface", "constants", "window_layout"]

#: Registers that may not change while a program runs.
FIXED_IN_A_RUN = ("PROGRAM", "LENGTH", "WATCHDOG",
                  *(f"WINDOW{i}_{end}" for i in range(registers.NUM_WINDOWS)
                    for end in ("BASE", "LAST")))


def window_layout() -> data.StructLayout:
    """First and last byte of a DMA window; closed where last < base."""
    return data.StructLayout({"base": 32, "last": 32})


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

        readable: dict[str, object] = {
            **constants(self._config), **stored,
            "CONTROL": 0, "STATUS": control.status,
            "IRQ_ENABLE": irq_enable, "IRQ_STATUS": irq_status,
            "FAULT_CAUSE": control.last_fault.cause, "FAULT_PC": control.last_fault.pc,
            "FAULT_ADDR": control.last_fault.addr, "PC": self.pc,
        }
        self._elaborate_writes(m, responder, control, stored, irq_enable, irq_status)
        self._elaborate_reads(m, responder, counters, readable)
        return m

    def _elaborate_writes(self, m: Module, responder, control, stored, irq_enable,
                          irq_status) -> None:
        """Decode writes; an end of a run that comes with a write to IRQ_STATUS is not lost."""
        value = responder.write_data
        align = exact_log2(registers.PROGRAM_ALIGN)
        with m.Switch(responder.write_word):
            for register in registers.REGISTERS:
                if register.access is Access.RO:
                    continue
                with m.Case(register.offset >> 2):
                    if register.name in FIXED_IN_A_RUN:
                        m.d.comb += responder.write_error.eq(control.running)
                        with m.If(responder.write & ~control.running):
                            m.d.sync += stored[register.name].eq(value)
                    elif register.name == "CONTROL":
                        start = (value & Control.START) != 0
                        reset = (value & Control.RESET) != 0
                        ready = control.can_start & (stored["PROGRAM"][:align] == 0)
                        m.d.comb += [
                            responder.write_error.eq(start & ~reset & ~ready),
                            control.start.eq(responder.write & start & ready),
                            control.reset.eq(responder.write & reset),
                        ]
                    elif register.name == "IRQ_ENABLE":
                        with m.If(responder.write):
                            m.d.sync += irq_enable.eq(value[0])
                    elif register.name == "IRQ_STATUS":
                        with m.If(responder.write & value[0]):
                            m.d.sync += irq_status.eq(0)
                    else:
                        raise NotImplementedError(f"register {register.name} cannot be written")
            with m.Default():
                m.d.comb += responder.write_error.eq(1)
        with m.If(control.reset):
            m.d.sync += irq_status.eq(0)
        with m.Elif(control.ended):
            m.d.sync += irq_status.eq(1)

    def _elaborate_reads(self, m: Module, responder, counters, readable) -> None:
        """Answer every read after READ_CYCLES: the time that a counter takes."""
        assert READ_CYCLES == READ_LATENCY
        first = min(registers.COUNTERS.values())
        assert list(registers.COUNTERS.values()) == [
            first + 8 * i for i in range(len(registers.COUNTERS))]
        word = responder.read_word - (first >> 2)
        low, high = Signal(), Signal()
        upper = Signal(registers.COUNTER_BITS - 32, reset_less=True)
        plain = Signal(32, reset_less=True)
        missing = Signal(reset_less=True)
        m.d.comb += [counters.index.eq(word[1:]), counters.read.eq(low)]
        answer_low, answer_high = Signal(), Signal()
        with m.If(responder.read):
            m.d.sync += [missing.eq(0), plain.eq(0)]
            with m.Switch(responder.read_word):
                for name, value in readable.items():
                    with m.Case(registers.BY_NAME[name].offset >> 2):
                        m.d.sync += plain.eq(value)
                with m.Case(*(offset >> 2 for offset in registers.COUNTERS.values())):
                    m.d.comb += low.eq(1)
                with m.Case(*((offset >> 2) + 1 for offset in registers.COUNTERS.values())):
                    m.d.comb += high.eq(1)
                with m.Default():
                    m.d.sync += missing.eq(1)
            m.d.sync += [answer_low.eq(low), answer_high.eq(high)]
        m.d.comb += responder.read_error.eq(missing)
        with m.If(answer_low):
            m.d.comb += responder.read_data.eq(counters.value)
            m.d.sync += upper.eq(counters.value >> 32)
        with m.Elif(answer_high):
            m.d.comb += responder.read_data.eq(upper)
        with m.Else():
            m.d.comb += responder.read_data.eq(plain)

"""The register file of the chip."""

from amaranth.hdl import Module, Mux, Signal, ValueLike
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Member, Out

from celosia.arch import registers
from celosia.arch.config import TpuConfig
from celosia.arch.registers import link_register
from celosia_hw.bus.axi import AxiLite, AxiLiteSignature
from celosia_hw.commands import fault_layout, window_layout
from celosia_hw.host.axil import READ_CYCLES, AxiLiteResponder
from celosia_hw.host.counters import READ_LATENCY, PerfCounters, events_layout
from celosia_hw.host.run import RunControl
from celosia_hw.host.writes import FIXED_IN_A_RUN, RegisterWrites

__all__ = ["HostInterface", "constants"]


def constants(config: TpuConfig) -> dict[str, int]:
    """Values of the registers that describe the chip."""
    return {
        "MAGIC": registers.MAGIC, "VERSION": registers.ISA_VERSION,
        "FINGERPRINT": config.fingerprint, "DIM": config.dim,
        "FORMATS": config.int8 | config.bf16 << 1 | config.ports << 8, "UB_ROWS": config.ub_rows,
        "ACC_ROWS": config.acc_rows, "BUS_BYTES": config.bus_bytes,
        "WINDOW": config.window, "IBUF": config.ibuf,
    }


def _of_links(ports: int) -> dict[str, Member]:
    counts = data.ArrayLayout(32, len(registers.LINK_COUNTERS))
    return {"device": Out(32), "links": In(ports), "link_status": In(data.ArrayLayout(32, ports)),
            "link_counts": In(data.ArrayLayout(counts, ports))}


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
    prepare, forget : Out(1)
        LENGTH has been written, PROGRAM is aligned: the program may be fetched. PROGRAM has been
        written: what was fetched is not of it.
    program : Out(32)
        Byte address of the first instruction.
    length : Out(32)
        Instructions.
    windows : Out(ArrayLayout(window_layout(), NUM_WINDOWS))
    running : Out(1)
        The performance counters count this cycle.
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
        Reset of everything but this component, for two cycles, when a RESET has drained, and in the
        cycle behind a reset of this component.
    events : In(events_layout())
        What the performance counters count.
    device : Out(32), links : In, link_status, link_counts : In
        On a chip with ports: its number; of each port, whether its link is up, its status and
        its counters.
    """

    axil: AxiLite
    irq: Signal
    start: Signal
    prepare: Signal
    forget: Signal
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
    device: Signal
    links: Signal
    link_status: data.View
    link_counts: data.View

    def __init__(self, config: TpuConfig):
        self._config = config
        self._counters = PerfCounters(config)
        super().__init__({
            "axil": In(AxiLiteSignature()), "irq": Out(1),
            "start": Out(1), "prepare": Out(1), "forget": Out(1),
            "program": Out(32), "length": Out(32),
            "windows": Out(data.ArrayLayout(window_layout(), registers.NUM_WINDOWS)),
            "running": Out(1), "halted": In(1), "fault": In(fault_layout(config.ports)),
            "fault_valid": In(1), "pc": In(32), "abort": Out(1), "drained": In(1),
            "unit_reset": Out(1), "events": In(events_layout()),
            **(_of_links(config.ports) if config.ports else {}),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.responder = responder = AxiLiteResponder()
        m.submodules.control = control = RunControl(self._config.ports)
        m.submodules.writes = writes = RegisterWrites(self._config.ports)
        m.submodules.counters = counters = self._counters
        wiring.connect(m, wiring.flipped(self.axil), responder.axil)
        stored = writes.stored
        m.d.comb += [
            writes.write.eq(responder.write), writes.word.eq(responder.write_word),
            writes.value.eq(responder.write_data), responder.write_error.eq(writes.error),
            *(getattr(writes, name).eq(getattr(control, name))
              for name in ("running", "can_start", "ended")),
            self.irq.eq(writes.irq_enable & writes.irq_status),
            control.start.eq(writes.start), control.reset.eq(writes.reset),
            control.watchdog.eq(stored.WATCHDOG),
            *(getattr(control, name).eq(getattr(self, name))
              for name in ("halted", "fault", "fault_valid", "pc", "drained")),
            self.start.eq(control.started), self.abort.eq(control.abort),
            self.unit_reset.eq(control.unit_reset),
            self.prepare.eq(writes.prepare), self.forget.eq(writes.forget),
            self.program.eq(stored.PROGRAM), self.length.eq(stored.LENGTH),
            self.running.eq(control.running), counters.run.eq(self.running),
            counters.clear.eq(control.started),
            counters.events.eq(self.events),
        ]
        for i in range(registers.NUM_WINDOWS):
            m.d.comb += [self.windows[i].base.eq(stored[f"WINDOW{i}_BASE"]),
                         self.windows[i].last.eq(stored[f"WINDOW{i}_LAST"])]

        # Reads. The address stays until READ_CYCLES later: the time that a counter takes, and a
        # cycle each to decode the address and to choose. Nothing but the counters is told when a
        # read begins.
        assert READ_CYCLES == READ_LATENCY + 2
        values: dict[str, ValueLike] = {
            **constants(self._config), **{name: stored[name] for name in FIXED_IN_A_RUN},
            "CONTROL": 0, "STATUS": control.status, "IRQ_ENABLE": writes.irq_enable,
            "IRQ_STATUS": writes.irq_status, "FAULT_CAUSE": control.last_fault.cause,
            "FAULT_PC": control.last_fault.pc, "FAULT_ADDR": control.last_fault.addr, "PC": self.pc,
        }
        if self._config.ports:
            m.d.comb += self.device.eq(writes.device)
            values |= {"DEVICE": writes.device, "LINKS": self.links}
            for port in range(self._config.ports):
                values[link_register(port, "status")] = self.link_status[port]
                values |= {link_register(port, name): self.link_counts[port][i]
                           for i, name in enumerate(registers.LINK_COUNTERS)}
        word = responder.read_word
        value, counted = (Signal(32, name=name, reset_less=True) for name in ("value", "counted"))
        missing, is_counter, begin = Signal(reset_less=True), Signal(reset_less=True), Signal()
        first, count = min(registers.COUNTERS.values()) >> 2, len(registers.COUNTERS)
        assert list(registers.COUNTERS.values()) == [4 * first + 8 * i for i in range(count)]
        # The index is the address: no subtraction.
        assert first % (2 << len(counters.index)) == 0
        at_counter = (word >= first) & (word < first + 2 * count)
        m.d.sync += [
            begin.eq(responder.read), is_counter.eq(at_counter),
            counted.eq(Mux(is_counter, Mux(word[0], counters.value >> 32, counters.value), 0)),
        ]
        with m.Switch(word):
            for name, each in values.items():
                with m.Case(registers.BY_NAME[name].offset >> 2):
                    m.d.sync += [value.eq(each), missing.eq(0)]
            with m.Default():
                m.d.sync += [value.eq(0), missing.eq(~at_counter)]
        m.d.comb += [
            counters.read.eq(begin & is_counter & ~word[0]), counters.index.eq(word[1:]),
            responder.read_data.eq(value | counted), responder.read_error.eq(missing),
        ]
        return m

"""The registers that the host sets, and what its writes start."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch import registers
from celosia.arch.registers import ADDRESS_BITS, BY_NAME, AccessMode, Control

__all__ = ["FIXED_IN_A_RUN", "RegisterWrites"]

#: Registers that may not change while a program runs.
FIXED_IN_A_RUN = ("PROGRAM", "LENGTH", "WATCHDOG",
                  *(f"WINDOW{i}_{end}" for i in range(registers.NUM_WINDOWS)
                    for end in ("BASE", "LAST")))


class RegisterWrites(wiring.Component):
    """Carries out writes, or refuses them.

    Members
    -------
    write : In(1), word : In, value : In(32)
        As of `AxiLiteResponder`.
    error : Out(1)
        With ``write``: it is refused, and does nothing.
    running, can_start, ended : In(1)
        As of `RunControl`.
    start, reset : Out(1)
        Start a run; soft reset.
    prepare, forget : Out(1)
        In the cycle after a write to LENGTH, where PROGRAM is aligned; to PROGRAM.
    stored : Out
        The registers FIXED_IN_A_RUN.
    irq_enable, irq_status : Out(1)
        An end of a run that comes with a write to IRQ_STATUS is not lost.
    device : Out(32)
        The register DEVICE, on a chip with ports.
    """

    write: Signal
    word: Signal
    value: Signal
    error: Signal
    running: Signal
    can_start: Signal
    ended: Signal
    start: Signal
    reset: Signal
    prepare: Signal
    forget: Signal
    stored: data.View
    irq_enable: Signal
    irq_status: Signal
    device: Signal

    def __init__(self, ports: int = 0):
        self._ports = ports
        super().__init__({
            "write": In(1), "word": In(ADDRESS_BITS - 2), "value": In(32), "error": Out(1),
            "running": In(1), "can_start": In(1), "ended": In(1), "start": Out(1),
            "reset": Out(1), "prepare": Out(1), "forget": Out(1),
            "irq_enable": Out(1), "irq_status": Out(1),
            "stored": Out(data.StructLayout(dict.fromkeys(FIXED_IN_A_RUN, 32))),
            **({"device": Out(32)} if ports else {}),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        # Whether a register is at ``word``, in the cycle of ``write``.
        selected = {register.name: Signal(name=f"selected_{register.name.lower()}",
                                          reset_less=True)
                    for register in registers.registers(self._ports)
                    if register.access is not AccessMode.RO}
        for name, signal in selected.items():
            m.d.sync += signal.eq(self.word == BY_NAME[name].offset >> 2)
        fixed = Signal(reset_less=True)
        m.d.sync += fixed.eq(Cat(
            self.word == BY_NAME[name].offset >> 2 for name in FIXED_IN_A_RUN).any())
        for name in FIXED_IN_A_RUN:
            register = Signal(32, init=BY_NAME[name].init, name=name.lower())
            m.d.comb += self.stored[name].eq(register)
            with m.If(self.write & selected[name] & ~self.running):
                m.d.sync += register.eq(self.value)

        ready = Signal()
        start, reset = (self.value[exact_log2(bit)] for bit in (Control.START, Control.RESET))
        aligned = self.stored.PROGRAM[:exact_log2(registers.PROGRAM_ALIGN)] == 0
        control = self.write & selected["CONTROL"]
        m.d.sync += [
            ready.eq(self.can_start & aligned),
            self.prepare.eq(self.write & selected["LENGTH"] & ~self.running & aligned),
            self.forget.eq(self.write & selected["PROGRAM"] & ~self.running),
        ]
        allowed = ((fixed & ~self.running) | selected["IRQ_ENABLE"] | selected["IRQ_STATUS"]
                   | (selected["CONTROL"] & (~start | reset | ready)))
        if self._ports:
            allowed |= selected["DEVICE"]
        m.d.comb += [self.start.eq(control & start & ready), self.reset.eq(control & reset),
                     self.error.eq(~allowed)]
        if self._ports:
            with m.If(self.write & selected["DEVICE"]):
                m.d.sync += self.device.eq(self.value)
        with m.If(self.write & selected["IRQ_ENABLE"]):
            m.d.sync += self.irq_enable.eq(self.value[0])
        with m.If(self.reset):
            m.d.sync += self.irq_status.eq(0)
        with m.Elif(self.ended):
            m.d.sync += self.irq_status.eq(1)
        with m.Elif(self.write & selected["IRQ_STATUS"] & self.value[0]):
            m.d.sync += self.irq_status.eq(0)
        return m

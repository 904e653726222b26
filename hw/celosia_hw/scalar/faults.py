"""Which fault ends a run: of those that are there, the one that the oldest instruction met."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.faults import Fault, LinkFault
from celosia.arch.isa import OPCODE_BITS, Unit
from celosia_hw.commands import CAUSE_BITS, fault_layout
from celosia_hw.scalar.encoding import PC_BITS
from celosia_hw.scalar.errors import error_layout

__all__ = ["FaultReport"]


class FaultReport(wiring.Component):
    """Stops the run at a fault.

    An error of the bus or of a link stops it at once; any other fault, once everything older has
    finished. Of those, an older instruction's is found later: in a unit, then the checker, then the
    scalar unit.

    Members
    -------
    begin : In(1)
        A run begins.
    active : In(1)
        There is a run, and it has not been stopped.
    fail : In
        A fault of the instruction that the scalar unit executes, ``Fault.NONE`` without one.
    draining : In(1)
        The scalar unit waits for what is older.
    pc : In(32), opcode : In, row, lane : In(32)
        The instruction that it executes; row and lane of ``read``.
    checked : In(fault_layout()), checker_idle : In(1)
        What the checker has found, cause ``Fault.NONE`` if nothing.
    error : In(error_layout()), empty : In(1)
        Of the scoreboard; whether no instruction is in it.
    cause : Out
        The fault for which the scalar unit drains.
    drain : Out(1)
        It must drain: the vector unit has met a bad index.
    valid : Out(1), fault : Out(fault_layout())
        High for one cycle: the run stops.
    """

    begin: Signal
    active: Signal
    fail: Signal
    draining: Signal
    pc: Signal
    opcode: Signal
    row: Signal
    lane: Signal
    checked: data.View
    checker_idle: Signal
    error: data.View
    empty: Signal
    cause: Signal
    drain: Signal
    valid: Signal
    fault: data.View

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "begin": In(1), "active": In(1), "fail": In(CAUSE_BITS), "draining": In(1),
            "pc": In(PC_BITS), "opcode": In(OPCODE_BITS), "row": In(32), "lane": In(32),
            "checked": In(fault_layout()), "checker_idle": In(1), "error": In(error_layout(config)),
            "empty": In(1), "cause": Out(CAUSE_BITS), "drain": Out(1),
            "valid": Out(1), "fault": Out(fault_layout(config.ports)),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        checked, error = self.checked, self.error
        bad_index = Signal()  # ``cause`` is of the vector unit
        bus_error = error.valid & (error.unit != Unit.VPU)
        refused = checked.cause != Fault.NONE
        with m.If(self.begin):
            m.d.sync += [self.cause.eq(Fault.NONE), bad_index.eq(0)]
        with m.Elif(self.fail != Fault.NONE):
            m.d.sync += self.cause.eq(self.fail)
        # A fault waits for everything older; that this is over is known a cycle later.
        settled = Signal()
        waits = Mux(refused & ~bad_index, 1, self.draining & (self.cause != Fault.NONE)
                    & (self.checker_idle | refused))
        m.d.sync += settled.eq(self.active & ~error.valid & self.empty & waits)
        with m.If(self.active):
            with m.If(bus_error):
                m.d.comb += self.valid.eq(1)
            with m.Elif(error.valid & ~bad_index):
                m.d.comb += self.drain.eq(1)
                m.d.sync += [self.cause.eq(Fault.INDEX_RANGE), bad_index.eq(1)]
            with m.Else():
                m.d.comb += self.valid.eq(settled)

        address = Signal(32)  # of a fault of the scalar unit
        with m.Switch(self.cause):
            with m.Case(Fault.PC_RANGE, Fault.BUS_FETCH):
                m.d.comb += address.eq(self.pc)
            with m.Case(Fault.ILLEGAL_OPCODE):
                m.d.comb += address.eq(self.opcode)
            with m.Case(Fault.ACC_RANGE):
                m.d.comb += address.eq(self.row)
            with m.Case(Fault.INDEX_RANGE):
                m.d.comb += address.eq(self.lane)
        fault = self.fault
        m.d.comb += [fault.pc.eq(self.pc), fault.addr.eq(address), fault.cause.eq(self.cause)]
        with m.If(bus_error | bad_index):
            m.d.comb += [fault.pc.eq(error.pc), fault.addr.eq(error.detail)]
        with m.Elif(refused):
            m.d.comb += [fault.pc.eq(checked.pc), fault.cause.eq(checked.cause),
                         fault.addr.eq(checked.addr)]
        with m.If(bus_error):
            m.d.comb += fault.cause.eq(
                Mux(error.unit == Unit.LOAD, Fault.BUS_READ, Fault.BUS_WRITE))
        if self._config.ports:
            with m.If(bus_error & (error.unit > Unit.VPU)):
                m.d.comb += fault.cause.eq(
                    Mux(error.down, LinkFault.LINK_DOWN, LinkFault.LINK_MISMATCH))
        return m

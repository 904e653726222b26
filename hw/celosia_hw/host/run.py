"""The life of a run: started, ended, faulted, reset."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.faults import Fault
from celosia.arch.registers import Status
from celosia_hw.commands import fault_layout

__all__ = ["RunControl"]

#: Cycles of ``unit_reset``.
RESET_CYCLES = 2
#: Cycles after ``abort`` rises in which ``drained`` is not looked at: it may be a register.
SETTLE_CYCLES = 2


class RunControl(wiring.Component):
    """State machine behind CONTROL and STATUS.

    ::

        IDLE, DONE -- start --> RUNNING -- halted --> DONE
                                RUNNING -- fault_valid, watchdog --> FAULTED
        any -- reset --> RESETTING -- drained, RESET_CYCLES of unit_reset --> IDLE

    What comes in the same cycle is taken in this order: reset, fault, halted, watchdog. So a run
    that ends in the last cycle that the watchdog allows has ended.

    Parameters
    ----------
    ports
        Of the chip.

    Members
    -------
    start : In(1)
        Start a run; looked at only where ``can_start``.
    can_start : Out(1)
        The state is IDLE or DONE.
    reset : In(1)
        Soft reset, at any time.
    watchdog : In(32)
        Cycles that a run may take, read with ``start``; 0: no limit.
    halted : In(1)
        The run ends normally with this cycle.
    fault, fault_valid : In
        The run ends with this cycle, by a fault.
    pc : In(32)
        Instruction that a watchdog fault names.
    drained : In(1)
        While ``abort``: nothing is outstanding on the memory port.
    started : Out(1)
        High for one cycle when a run begins; ``running`` from the next cycle on.
    ended : Out(1)
        High in the last cycle of a run, unless it ends by a reset.
    running : Out(1)
        High in every cycle of a run.
    abort : Out(1)
        High after a fault and during a reset: units start nothing new.
    unit_reset : Out(1)
        Reset of everything but the host interface, out of a flip-flop: in the cycle behind a reset
        of this component, too.
    status : Out(Status)
    last_fault : Out(fault_layout())
        The fault of the last run; all zeros if there was none, or after a reset.
    """

    start: Signal
    can_start: Signal
    reset: Signal
    watchdog: Signal
    halted: Signal
    fault: data.View
    fault_valid: Signal
    pc: Signal
    drained: Signal
    started: Signal
    ended: Signal
    running: Signal
    abort: Signal
    unit_reset: Signal
    status: Signal
    last_fault: data.View

    def __init__(self, ports: int = 0):
        super().__init__({
            "start": In(1), "can_start": Out(1), "reset": In(1), "watchdog": In(32),
            "halted": In(1), "fault": In(fault_layout(ports)), "fault_valid": In(1), "pc": In(32),
            "drained": In(1),
            "started": Out(1), "ended": Out(1), "running": Out(1), "abort": Out(1),
            "unit_reset": Out(1, init=1),  # type: ignore[call-arg]
            "status": Out(Status), "last_fault": Out(fault_layout(ports)),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        left = Signal(32, reset_less=True)  # cycles until the watchdog expires
        limited = Signal(reset_less=True)
        expired = Signal()
        final = Signal(reset_less=True)  # one cycle is left
        wait = Signal(range(max(SETTLE_CYCLES, RESET_CYCLES) + 1))
        settled = Signal()
        m.d.comb += [
            self.can_start.eq((self.status == Status.IDLE) | (self.status == Status.DONE)),
            self.started.eq(self.start & self.can_start & ~self.reset),
            self.running.eq(self.status == Status.RUNNING),
            expired.eq(limited & final),
            self.ended.eq(self.running & (self.fault_valid | self.halted | expired) & ~self.reset),
        ]
        m.d.sync += self.unit_reset.eq(0)
        with m.If(self.reset & (self.status != Status.RESETTING)):
            m.d.sync += [
                self.status.eq(Status.RESETTING), self.abort.eq(1), self.last_fault.eq(0),
                settled.eq(0), wait.eq(SETTLE_CYCLES),
            ]
        with m.Elif(self.started):
            m.d.sync += [
                self.status.eq(Status.RUNNING), self.last_fault.eq(0),
                left.eq(self.watchdog), limited.eq(self.watchdog != 0),
                final.eq(self.watchdog == 1),
            ]
        with m.Elif(self.running):
            m.d.sync += [left.eq(left - 1), final.eq(left == 2)]
            with m.If(self.fault_valid):
                m.d.sync += [self.status.eq(Status.FAULTED), self.abort.eq(1),
                             self.last_fault.eq(self.fault)]
            with m.Elif(self.halted):
                m.d.sync += self.status.eq(Status.DONE)
            with m.Elif(expired):
                m.d.sync += [self.status.eq(Status.FAULTED), self.abort.eq(1),
                             self.last_fault.cause.eq(Fault.WATCHDOG),
                             self.last_fault.pc.eq(self.pc), self.last_fault.addr.eq(0)]
        with m.Elif(self.status == Status.RESETTING):
            with m.If(wait != 0):
                m.d.sync += wait.eq(wait - 1)
                with m.If(settled):
                    m.d.sync += self.unit_reset.eq(wait != 1)
                    with m.If(wait == 1):
                        m.d.sync += [self.abort.eq(0), self.status.eq(Status.IDLE)]
            with m.Elif(self.drained):
                m.d.sync += [settled.eq(1), self.unit_reset.eq(1), wait.eq(RESET_CYCLES)]
        return m

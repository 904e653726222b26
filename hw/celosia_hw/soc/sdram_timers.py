"""The times that must pass after commands of an SDRAM."""

from amaranth.hdl import Module, Signal
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from celosia_hw.soc.sdram_timing import SdramCycles

__all__ = ["CommandTimers", "SdramCommand"]


class SdramCommand(enum.Enum, shape=3):
    """RAS#, CAS#, WE# (bits 2, 1, 0)."""

    MODE = 0b000
    REFRESH = 0b001
    PRECHARGE = 0b010
    ACTIVATE = 0b011
    WRITE = 0b100
    READ = 0b101
    NOP = 0b111


class CommandTimers(wiring.Component):
    """Says which commands may be given, of those that were.

    READ and WRITE take a cycle each, so nothing here holds them but ``free`` and ``may_write``.

    Parameters
    ----------
    cycles
        Times of the device.

    Members
    -------
    command : In(SdramCommand)
        Given in this cycle.
    free : Out(1)
        Any command may be given that the next two do not hold.
    may_close : Out(1)
        Rows may be closed: they were open long enough, and what was written is in them.
    may_write : Out(1)
        The data that was read last has left the bus.
    """

    command: Signal
    free: Signal
    may_close: Signal
    may_write: Signal

    def __init__(self, cycles: SdramCycles):
        self._cycles = cycles
        super().__init__({
            "command": In(SdramCommand), "free": Out(1, init=1),  # type: ignore[call-arg]
            "may_close": Out(1), "may_write": Out(1, init=1)})  # type: ignore[call-arg]

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        cycles, command = self._cycles, SdramCommand
        open_long, written = Signal(init=1), Signal(init=1)
        # What a command forbids, and in how many cycles beyond the next.
        for over, waits in (
                (self.free, {
                    command.PRECHARGE: cycles.precharge - 1, command.REFRESH: cycles.refresh - 1,
                    command.MODE: cycles.mode - 1,
                    # A cycle lies between the end of this wait and the first word.
                    command.ACTIVATE: cycles.activate_to_column - 2}),
                (open_long, {command.ACTIVATE: cycles.activate_to_precharge - 1}),
                (written, {command.WRITE: cycles.write_recovery - 1}),
                (self.may_write, {command.READ: cycles.cas + 1})):
            left = Signal(range(max(waits.values()) + 1))
            with m.If(left != 0):
                m.d.sync += left.eq(left - 1)
            m.d.sync += over.eq(left <= 1)
            with m.Switch(self.command):
                for each, wait in waits.items():
                    with m.Case(each):
                        m.d.sync += [left.eq(wait), over.eq(wait == 0)]
        m.d.comb += self.may_close.eq(open_long & written)
        return m

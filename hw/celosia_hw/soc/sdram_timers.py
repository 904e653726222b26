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
        super().__init__({"command": In(SdramCommand), "free": Out(1), "may_close": Out(1),
                          "may_write": Out(1)})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        cycles = self._cycles
        # In cycles that are still to wait.
        busy = Signal(range(max(cycles.refresh, cycles.precharge, cycles.mode,
                                cycles.activate_to_column)))
        held = Signal(range(cycles.activate_to_precharge))
        writing_back = Signal(range(cycles.write_recovery))
        turning = Signal(range(cycles.cas + 2))
        for counter in (busy, held, writing_back, turning):
            with m.If(counter != 0):
                m.d.sync += counter.eq(counter - 1)
        with m.Switch(self.command):
            with m.Case(SdramCommand.PRECHARGE):
                m.d.sync += busy.eq(cycles.precharge - 1)
            with m.Case(SdramCommand.REFRESH):
                m.d.sync += busy.eq(cycles.refresh - 1)
            with m.Case(SdramCommand.MODE):
                m.d.sync += busy.eq(cycles.mode - 1)
            with m.Case(SdramCommand.ACTIVATE):
                # A cycle lies between the end of this wait and the first word.
                m.d.sync += [busy.eq(cycles.activate_to_column - 2),
                             held.eq(cycles.activate_to_precharge - 1)]
            with m.Case(SdramCommand.WRITE):
                m.d.sync += writing_back.eq(cycles.write_recovery - 1)
            with m.Case(SdramCommand.READ):
                m.d.sync += turning.eq(cycles.cas + 1)
        m.d.comb += [self.free.eq(busy == 0), self.may_write.eq(turning == 0),
                     self.may_close.eq((held == 0) & (writing_back == 0))]
        return m

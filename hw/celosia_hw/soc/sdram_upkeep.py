"""Power-up and refresh of an SDRAM."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.words import ceil_div
from celosia_hw.soc.sdram_timers import SdramCommand
from celosia_hw.soc.sdram_timing import SdramCycles

__all__ = ["Upkeep"]

#: Refreshes before the mode register is set (2 or 8, by part).
_FIRST_REFRESHES = 8


class Upkeep(wiring.Component):
    """Gives the commands that no burst asks for: all rows are closed and a refresh follows.

    It has the device from the reset on, until it has powered it up: a pause, then eight refreshes
    and the mode register.

    Parameters
    ----------
    cycles
        Times of the device.

    Members
    -------
    due : Out(1)
        A refresh is to be given.
    begin : In(1)
        The device is this one's from the next cycle on; only when it was not.
    command : Out(SdramCommand)
    closes, sets : Out(1)
        It is PRECHARGE, of all banks; MODE.
    done : Out(1)
        The device is no longer this one's, after this cycle.
    up : Out(1)
        The device is powered up.
    free, may_close : In(1)
        As of `CommandTimers`.
    """

    due: Signal
    begin: Signal
    command: Signal
    closes: Signal
    sets: Signal
    done: Signal
    up: Signal
    free: Signal
    may_close: Signal

    def __init__(self, cycles: SdramCycles):
        self._cycles = cycles
        super().__init__({"due": Out(1), "begin": In(1), "command": Out(SdramCommand),
                          "closes": Out(1), "sets": Out(1), "done": Out(1), "up": Out(1),
                          "free": In(1), "may_close": In(1)})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        cycles = self._cycles
        tick = Signal(range(cycles.interval))
        m.d.sync += tick.eq(Mux(tick == 0, cycles.interval - 1, tick - 1))
        # Power-up is so many intervals; then so many refreshes are due.
        pauses = ceil_div(cycles.power_up, cycles.interval) + 1
        first = Signal(range(max(pauses, _FIRST_REFRESHES) + 1), init=pauses)
        m.d.comb += self.command.eq(SdramCommand.NOP)
        with m.FSM(init="POWER"):
            with m.State("POWER"):
                with m.If(self.due):
                    m.d.sync += [self.due.eq(0), first.eq(first - 1)]
                with m.If(first == 0):
                    m.d.sync += first.eq(_FIRST_REFRESHES)
                    m.next = "CLOSE"
            with m.State("CLOSE"):
                with m.If(self.free & self.may_close):
                    m.d.comb += [self.command.eq(SdramCommand.PRECHARGE), self.closes.eq(1)]
                    m.next = "REFRESH"
            with m.State("REFRESH"):
                with m.If(self.free):
                    m.d.comb += self.command.eq(SdramCommand.REFRESH)
                    m.d.sync += self.due.eq(0)
                    with m.If(first == 0):
                        m.d.comb += self.done.eq(1)
                        m.next = "IDLE"
                    with m.Else():
                        m.d.sync += first.eq(first - 1)
                        with m.If(first == 1):
                            m.next = "MODE"
            with m.State("MODE"):
                with m.If(self.free):
                    m.d.comb += [self.command.eq(SdramCommand.MODE), self.sets.eq(1),
                                 self.done.eq(1)]
                    m.d.sync += self.up.eq(1)
                    m.next = "IDLE"
            with m.State("IDLE"):
                with m.If(self.begin):
                    m.next = "CLOSE"
        with m.If(tick == 0):
            m.d.sync += self.due.eq(1)
        return m

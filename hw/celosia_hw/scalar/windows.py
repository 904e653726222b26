"""Whether a range of bytes lies in a window of external memory."""

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.registers import NUM_WINDOWS
from celosia_hw.commands import window_layout

__all__ = ["WindowCheck"]


class WindowCheck(wiring.Component):
    """Compares a range with one window after another, from the cycle after ``clear`` on.

    Members
    -------
    windows : In
    clear : In(1)
        Another range comes.
    check : In(1), first, last : In(32), wraps : In(1)
        Compare ``first``..``last``, which lies in no window if it ``wraps``.
    inside : Out(1)
        A window compared so far holds it.
    done : Out(1)
        With ``check``: it is known, or will be in the next cycle.
    """

    windows: data.View
    clear: Signal
    check: Signal
    first: Signal
    last: Signal
    wraps: Signal
    inside: Signal
    done: Signal

    def __init__(self):
        super().__init__({
            "windows": In(data.ArrayLayout(window_layout(), NUM_WINDOWS)),
            "clear": In(1), "check": In(1), "first": In(32), "last": In(32), "wraps": In(1),
            "inside": Out(1), "done": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        window, number = Signal(window_layout(), reset_less=True), Signal(range(NUM_WINDOWS))
        coming = Signal.like(number)
        m.d.comb += [coming.eq(Mux(self.check, number + 1, 0)),
                     self.done.eq(self.inside | (number == NUM_WINDOWS - 1))]
        m.d.sync += [window.eq(Array(self.windows[i] for i in range(NUM_WINDOWS))[coming]),
                     number.eq(coming)]
        with m.If(self.clear):
            m.d.sync += self.inside.eq(0)
        with m.Elif(self.check):
            m.d.sync += self.inside.eq(self.inside | (
                (window.base <= self.first) & ~self.wraps & (self.last <= window.last)))
        return m

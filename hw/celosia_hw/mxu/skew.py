"""Triangular delay lines: lane i is delayed by i steps, or by the last lane's index minus i."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Deskew", "Skew"]


class Skew(wiring.Component):
    """Delays lane k of ``i`` by k steps.

    Parameters
    ----------
    lanes, width
        Number of lanes, bits of each.
    step
        Cycles of a step.
    reset
        Whether the lines are cleared by a reset; else they hold what they held.
    """

    i: Signal
    o: Signal

    def __init__(self, lanes: int, width: int, *, step: int = 1, reset: bool = False):
        self._lanes, self._width, self._step, self._reset = lanes, width, step, reset
        super().__init__({"i": In(lanes * width), "o": Out(lanes * width)})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        width = self._width
        # The lanes that wait longest are the low ones, so that a stage is the low part of the one
        # before it.
        stage = Cat(*(self.i.word_select(k, width) for k in reversed(range(self._lanes))))
        outputs = [stage[-width:]]
        for k in range(1, self._lanes):
            for _ in range(self._step):
                register = Signal((self._lanes - k) * width, name=f"stage{k}",
                                  reset_less=not self._reset)
                m.d.sync += register.eq(stage[:len(register)])
                stage = register
            outputs.append(stage[-width:])
        m.d.comb += self.o.eq(Cat(*outputs))
        return m


class Deskew(wiring.Component):
    """Delays lane k of ``i`` by lanes - 1 - k cycles. Parameters as of :class:`Skew`."""

    i: Signal
    o: Signal

    def __init__(self, lanes: int, width: int):
        self._lanes, self._width = lanes, width
        super().__init__({"i": In(lanes * width), "o": Out(lanes * width)})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        stage = self.i.word_select(0, self._width)
        for k in range(1, self._lanes):
            register = Signal(k * self._width, name=f"stage{k}", reset_less=True)
            m.d.sync += register.eq(stage)
            stage = Cat(register, self.i.word_select(k, self._width))
        m.d.comb += self.o.eq(stage)
        return m

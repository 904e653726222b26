"""The program counter: where the program is, and which instruction comes next."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia_hw.scalar.encoding import PC_BITS
from celosia_hw.scalar.loops import LoopStack

__all__ = ["PLACES", "ProgramCounter", "meant"]

#: Where an instruction is looked for: where the program is, where it goes on, where a loop starts.
PLACES = 3


def meant(which: Signal, places: Sequence[Signal]) -> Value:
    """Return that one of ``places`` of which ``which`` has a bit set."""
    found: Value = places[0]
    for i, place in enumerate(places):
        found = Mux(which[i], place, found)
    return found


class ProgramCounter(wiring.Component):
    """Steps through the program: on, to the target of a branch, back to the start of a loop.

    The next instruction is ``target``, but where a loop ends there that runs again: its start. A
    branch changes ``target``; whether a loop ends there is known two cycles later.

    Members
    -------
    start : In(1)
        Begin a run at instruction 0.
    length : In(32)
        Instructions of the program.
    fetch : In(1)
        The instruction at ``pc`` is looked for; ``target`` becomes the one behind it.
    branch : In(1), destination : In(32)
        ``target`` becomes ``destination``.
    leave : In(1)
        The instruction is through. The next one is looked for, unless ``popping``.
    enter : In(1), end, count : In(32)
        Enter a loop from ``target`` to ``end``, where it has a body and runs at all; one that does
        not run sets ``target`` to ``end``. ``end`` and ``count`` are the same in the cycle after.
    too_deep : Out(1)
        In that cycle: it cannot be entered, for too many are.
    pc : Out(32)
    popping : Out(1)
        A loop that ends at ``target`` has run for the last time: ``leave`` pops it, and the loop
        around it is to be looked at.
    look : Out(1), which : Out, places : Out
        Look for the instruction at that one of the places. Which one it is comes out of registers,
        as the places do, and does not depend on ``leave``, which is known late.
    past_end : Out(1)
        What was looked for in the cycle before is behind the program's end.
    keep_valid : Out(1), keep : Out(32)
        As of `LoopStack`.
    """

    start: Signal
    length: Signal
    fetch: Signal
    branch: Signal
    destination: Signal
    leave: Signal
    enter: Signal
    end: Signal
    count: Signal
    too_deep: Signal
    pc: Signal
    popping: Signal
    look: Signal
    which: Signal
    places: list[Signal]
    past_end: Signal
    keep_valid: Signal
    keep: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "start": In(1), "length": In(32), "fetch": In(1), "branch": In(1),
            "destination": In(PC_BITS), "leave": In(1), "enter": In(1), "end": In(PC_BITS),
            "count": In(32), "too_deep": Out(1), "pc": Out(PC_BITS), "popping": Out(1),
            "look": Out(1), "which": Out(PLACES), "places": Out(PC_BITS).array(PLACES),
            "past_end": Out(1), "keep_valid": Out(1), "keep": Out(PC_BITS),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.loops = loops = LoopStack(self._config)
        target = Signal(PC_BITS, reset_less=True)
        runs, some = Signal(), Signal()  # of the loop that was to be entered: it has a body
        known = Signal()  # the instruction is through, and which one is next
        following = Mux(loops.at_end, loops.start, target)
        inside = runs & some
        m.d.comb += [
            loops.clear.eq(self.start), loops.pc.eq(target), loops.push.eq(inside & ~loops.full),
            loops.new_end.eq(self.end), loops.new_count.eq(self.count),
            loops.step.eq(self.leave & loops.at_end),
            self.too_deep.eq(inside & loops.full),
            self.popping.eq(loops.at_end & ~loops.again),
            self.keep_valid.eq(loops.keep_valid), self.keep.eq(loops.keep),
            known.eq(self.leave & ~self.popping),
            self.look.eq(self.fetch | known),
            self.which.eq(Cat(self.fetch, ~self.fetch & ~loops.at_end,
                              ~self.fetch & loops.at_end)),
            *(place.eq(value) for place, value in zip(
                self.places, (self.pc, target, loops.start), strict=True)),
        ]
        if self._config.small:
            behind = meant(self.which, self.places) >= self.length
        else:  # which place it is is chosen last
            behind = (self.which & Cat(place >= self.length for place in self.places)).any()
        m.d.sync += [self.past_end.eq(self.look & behind),
                     runs.eq(self.enter & self.count.any()), some.eq(self.end != target)]
        with m.If(self.start):
            m.d.sync += self.pc.eq(0)
        with m.Elif(known):
            m.d.sync += self.pc.eq(following)
        with m.If(self.fetch):
            m.d.sync += target.eq(self.pc + 1)
        with m.Elif(self.branch):
            m.d.sync += target.eq(self.destination)
        with m.Elif(self.enter & ~self.count.any()):
            m.d.sync += target.eq(self.end)
        return m

"""Which instructions of the window wait for which."""

from collections.abc import Iterable
from functools import reduce
from operator import or_

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from celosia.arch.config import TpuConfig
from celosia.arch.isa import Unit

__all__ = ["FOLLOWERS", "WaitMatrix"]

#: Units that follow, and whom.
FOLLOWERS = {Unit.MXU: Unit.LOAD, Unit.STORE: Unit.MXU}


def _any(values: Iterable[Value]) -> Value:
    return reduce(or_, values)


class WaitMatrix(wiring.Component):
    """Keeps for each slot of the window the slots whose instructions wait for its own.

    Latency: a cycle.

    Members
    -------
    enter : In(1), slot : In, others : In(window)
        An instruction enters the window there and waits for those in ``others``.
    finished : In(window)
        Nobody waits for these any more.
    independent : In(window), of : In
        As of `ConflictCheck`.
    followed_mxu, followed_store : In(window)
        Slots whose rows that unit may follow.
    moved : In(1)
        ``followed_*`` may have changed, otherwise than with ``finished``.
    ready : Out(window)
        Slots of which an instruction waits for none.
    may_follow_mxu, may_follow_store : Out(window)
        For none but those that the unit may follow.
    """

    enter: Signal
    slot: Signal
    others: Signal
    finished: Signal
    independent: Signal
    of: Signal
    followed_mxu: Signal
    followed_store: Signal
    moved: Signal
    ready: Signal
    may_follow_mxu: Signal
    may_follow_store: Signal

    def __init__(self, config: TpuConfig):
        self._window = window = config.window
        names = [unit.name.lower() for unit in FOLLOWERS]
        super().__init__({
            "enter": In(1), "slot": In(ceil_log2(window)), "others": In(window),
            "finished": In(window), "independent": In(window), "of": In(ceil_log2(window)),
            "moved": In(1), "ready": Out(window),
            **{f"followed_{name}": In(window) for name in names},
            **{f"may_follow_{name}": Out(window) for name in names},
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        slots = range(self._window)
        waiters = [Signal(self._window, name=f"waiters{j}", reset_less=True) for j in slots]
        left = [Signal(self._window, name=f"left{j}") for j in slots]
        entering = self.enter << self.slot
        # Nothing changes but with one of these, so a simulator evaluates it then.
        with m.If(self.enter | self.finished.any() | self.independent.any() | self.moved):
            for j in slots:
                independent = self.independent[j] << self.of
                m.d.comb += left[j].eq(Mux(
                    self.finished[j], 0, waiters[j] & ~independent & ~entering
                    | Mux(self.others[j], entering, 0)))
                m.d.sync += waiters[j].eq(left[j])
            m.d.sync += self.ready.eq(~_any(left))
            for unit in FOLLOWERS:
                followed, may_follow = (getattr(self, f"{word}_{unit.name.lower()}")
                                        for word in ("followed", "may_follow"))
                m.d.sync += may_follow.eq(~_any(Mux(followed[j], 0, left[j]) for j in slots))
        return m

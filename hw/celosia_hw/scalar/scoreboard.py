"""The scoreboard: a window of instructions, started as soon as nothing older conflicts."""

from collections.abc import Callable
from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.isa import Unit
from celosia.arch.registers import Activity
from celosia_hw.commands import LINK_DOWN_BIT, UnitPort
from celosia_hw.follow import FOLLOWED, rises
from celosia_hw.scalar.conflicts import ConflictCheck, comparators, entry_layout
from celosia_hw.scalar.dispatch import (
    Dispatcher,
    PortUnit,
    issue_units,
    part_layout,
    unit_signature,
)
from celosia_hw.scalar.encoding import word_layout
from celosia_hw.scalar.errors import ErrorLookup, error_layout
from celosia_hw.scalar.order import UnitOrder
from celosia_hw.scalar.streams import STREAMS

__all__ = ["Scoreboard"]

#: Units that others follow: how many of their oldest instructions, and whether one writes its rows
#: in order.
_LEADERS: dict[Unit | PortUnit, tuple[int, Callable[..., Value]]] = {
    Unit.LOAD: (FOLLOWED, rises),
    Unit.MXU: (1, lambda config, command: command.acc.linear)}
#: Units that follow, and whom.
_FOLLOWERS: dict[Unit | PortUnit, Unit] = {Unit.MXU: Unit.LOAD, Unit.STORE: Unit.MXU}


class Scoreboard(wiring.Component):
    """Holds ``config.window`` instructions and orders the tensor units against one another.

    An instruction enters with the rows and bytes that it touches. It waits for each older
    instruction of another unit (for the vector unit: of any unit) with which it conflicts: one of
    the two writes what the other reads or writes. On entry it waits for all of these, which are
    then compared with it, one after another (of a window above 8, two or more), and cleared where
    there is no conflict; the others, as they finish. Each unit is offered its instructions in
    program order.

    Two units follow others row by row and are offered an instruction earlier: the matrix unit one
    that waits for the oldest loads alone, where these write rows of the unified buffer in order
    (``rises``); the store engine one that waits for the oldest matmul alone, where that writes
    consecutive rows of the accumulators. They keep behind: see ``following`` and `LoadProgress`.

    Latency: an instruction is offered to its unit 4 cycles after it entered, or 3 after its last
    comparison, 4 where paths are `cut`. The next may enter once its last comparison has started.

    Members
    -------
    entry : In(stream of entry_layout())
        The next instruction.
    word, word_valid, part, part_index, part_valid : In
        Its command, see ``Dispatcher``: written before it enters.
    port_load, port_store, port_mxu, port_vpu : Out(UnitSignature)
    port_tx0, port_rx0, .. : Out(UnitSignature)
        Of each port.
    following : Out(1)
        A store that the engine has taken waits for the oldest matmul.
    comparing : Out(1)
        The entry that was taken last is still looked at, on a chip that is ``small``.
    empty : Out(1)
        No instruction is in the window, no error on its way.
    error : Out(error_layout())
        Two cycles ago an instruction finished with an error.
    activities : Out
        Activity of each unit in the cycle before, WAIT_DEPS included.
    """

    entry: stream.Interface
    word: data.View
    word_valid: Signal
    part: data.View
    part_index: Signal
    part_valid: Signal
    port_load: UnitPort
    port_mxu: UnitPort
    port_store: UnitPort
    port_vpu: UnitPort
    following: Signal
    comparing: Signal
    empty: Signal
    error: data.View
    activities: list[Signal]

    def __init__(self, config: TpuConfig):
        self._config = config
        self._units = issue_units(config)
        members = {
            "entry": In(stream.Signature(entry_layout(config))),
            "word": In(word_layout()), "word_valid": In(1), "part": In(part_layout(config)),
            "part_index": In(range(STREAMS)), "part_valid": In(1),
            "following": Out(1), "comparing": Out(1), "empty": Out(1),
            "error": Out(error_layout(config)),
            "activities": Out(Activity).array(len(self._units)),
        }
        for unit in self._units:
            members[f"port_{unit.name.lower()}"] = Out(unit_signature(config, unit))
        super().__init__(members)

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config, window = self._config, self._config.window
        slots = range(window)
        m.submodules.dispatcher = dispatcher = Dispatcher(config)
        for name in ("word", "word_valid", "part", "part_index", "part_valid"):
            m.d.comb += getattr(dispatcher, name).eq(getattr(self, name))

        valid, finished = Signal(window, name="valid"), Signal(window)  # finished: in this cycle
        waits = [Signal(window, name=f"waits{i}", reset_less=True) for i in slots]
        units = [Signal.like(self.entry.payload.unit, name=f"unit{i}", reset_less=True)
                 for i in slots]
        m.submodules.conflicts = conflicts = ConflictCheck(config)
        m.submodules.errors = errors = ErrorLookup(config)
        entry = self.entry.payload
        enter, others = Signal(), Signal(window)
        free, full, none = self._slots(m, valid, finished, enter)
        m.d.comb += [
            self.entry.ready.eq(~full & ~conflicts.busy),
            enter.eq(self.entry.valid & self.entry.ready), dispatcher.push.eq(enter),
            dispatcher.unit.eq(entry.unit),
        ]
        m.d.comb += [
            others.eq(valid & ~finished & Cat(
                (entry.unit != unit) | (entry.unit == Unit.VPU) for unit in units)),
            conflicts.enter.eq(enter), conflicts.slot.eq(free), conflicts.entry.eq(entry),
            conflicts.others.eq(others), errors.enter.eq(enter), errors.slot.eq(free),
            errors.pc.eq(entry.pc), errors.detail.eq(self._detail(m, errors)),
            self.error.eq(errors.error), self.empty.eq(none & ~errors.busy),
            *([self.comparing.eq(conflicts.busy)] if config.small else ()),
        ]
        # Slots of taken instructions that write row after row; those whose rows others may follow
        # now; slots of which an instruction waits for none, or for none that its unit follows.
        rising, followed = ({unit: Signal(window, name=f"{word}_{unit.name.lower()}")
                             for unit in _LEADERS} for word in ("rising", "followed"))
        ready, may_follow = Signal(window), {
            unit: Signal(window, name=f"may_follow_{unit.name.lower()}") for unit in _FOLLOWERS}
        groups, everything = comparators(config), Const((1 << window) - 1, window)
        for i in slots:
            comes = Signal(name=f"comes{i}")
            left, compared = (Signal(window, name=f"{word}{i}") for word in ("left", "compared"))
            m.d.comb += [
                comes.eq(~full & (free == i)), left.eq(waits[i] & ~finished),
                compared.eq(conflicts.compared & (conflicts.of == i).replicate(window)),
            ]
            # What is compared is added last: whether it conflicts is known late in a cycle.
            surely, perhaps = left & ~compared, left & compared

            def waiting_for(which: Value, /, surely=surely, perhaps=perhaps) -> Value:
                each = perhaps & which
                return (surely & which).any() | Cat(
                    conflict & each[group.start:group.stop].any()
                    for conflict, group in zip(conflicts.conflicts, groups, strict=True)).any()

            # An instruction is in its unit's register cycles after it entered: what it waits for
            # from then on is known by then.
            m.d.sync += [
                waits[i].eq(surely | perhaps & Cat(
                    conflict.replicate(len(group))
                    for conflict, group in zip(conflicts.conflicts, groups, strict=True))),
                ready[i].eq(~waiting_for(everything)),
                *(may_follow[unit][i].eq(~waiting_for(~followed[leader]))
                  for unit, leader in _FOLLOWERS.items())]
            # That one enters is known late, too: what it would be is there before.
            with m.If(comes):
                m.d.sync += [waits[i].eq(others), units[i].eq(entry.unit),
                             *(each[i].eq(0) for each in rising.values())]

        done: list[Value] = []
        for unit in self._units:
            name = unit.name.lower()
            port = getattr(self, f"port_{name}")
            most, in_order = _LEADERS.get(unit, (1, None))
            m.submodules[f"order_{name}"] = order = UnitOrder(window, most)
            slot = dispatcher.slots[unit]
            startable = may_follow.get(unit, ready).bit_select(slot, 1)
            m.d.comb += [
                order.enter.eq(enter & (entry.unit == unit)), order.slot.eq(free),
                order.done.eq(port.done), order.number.eq(dispatcher.loaded[unit]),
                dispatcher.next_slots[unit].eq(order.numbered),
                port.command.valid.eq(dispatcher.valid[unit] & startable),
                port.command.payload.eq(getattr(dispatcher, f"command_{name}")),
                dispatcher.take[unit].eq(port.command.valid & port.command.ready),
            ]
            m.d.sync += self.activities[unit].eq(Mux(
                (port.activity == Activity.IDLE) & dispatcher.waiting[unit],
                Activity.WAIT_DEPS, port.activity))
            if in_order:  # what is not in the window is not among ``rising``
                for each in order.oldest:
                    with m.If(rising[unit].bit_select(each, 1)):
                        m.d.comb += followed[unit].bit_select(each, 1).eq(1)
                with m.If(dispatcher.take[unit] & in_order(config, port.command.payload)):
                    m.d.sync += rising[unit].bit_select(slot, 1).eq(1)
            done.append(order.first & port.done.replicate(window))
            m.d.comb += [errors.failed[unit].eq(port.done & port.error),
                         errors.slots[unit].eq(order.oldest[0])]
        m.d.comb += finished.eq(reduce(or_, done))
        waiting = ~ready.bit_select(dispatcher.slots[Unit.STORE], 1)
        self._follow(m, dispatcher.take[Unit.STORE] & waiting)
        return m

    def _slots(self, m: Module, valid: Signal, finished: Signal,
               enter: Signal) -> tuple[Signal, Signal, Signal]:
        """Keep ``valid``; return the slot that the next instruction enters, whether there is none
        for it, and whether all are free, out of flip-flops.

        What finishes, and that an instruction enters, is known late: a slot that was free before is
        taken first, which is known early, and one that finishes where there is none.
        """
        free, full, none = Signal(range(len(valid))), Signal(), Signal(init=1)
        stays, taken = Signal.like(valid, name="stays"), Signal.like(valid, name="taken")
        entered = valid | (1 << free)
        m.d.comb += [stays.eq(valid & ~finished), taken.eq(stays | (1 << free))]
        m.d.sync += [valid.eq(Mux(enter, taken, stays)),
                     full.eq(Mux(enter, taken.all(), stays.all())),
                     none.eq(~enter & ~stays.any())]
        freed, *spare = (_first(m, slots, name) for slots, name in (
            (finished, "freed"), (~valid, "spare"), (~entered, "spare_then")))
        m.d.sync += free.eq(Mux(enter, Mux(entered.all(), freed, spare[1]),
                                Mux(valid.all(), freed, spare[0])))
        return free, full, none

    def _detail(self, m: Module, errors: ErrorLookup) -> Value:
        """Return the detail of what fails in this cycle."""
        detail: Value = self.port_vpu.detail
        for unit in self._units:
            if isinstance(unit, PortUnit):
                port: UnitPort = getattr(self, f"port_{unit.name.lower()}")
                fails = port.done & port.error
                detail = Mux(fails, port.detail[:LINK_DOWN_BIT], detail)
                with m.If(fails):
                    m.d.comb += errors.down.eq(port.detail[LINK_DOWN_BIT])
        return detail

    def _follow(self, m: Module, follows: Value) -> None:
        """Note that a store is taken that ``follows`` the oldest matmul, until that is done."""
        with m.If(self.port_mxu.done):
            m.d.sync += self.following.eq(0)
        with m.Elif(follows):
            m.d.sync += self.following.eq(1)


def _first(m: Module, slots: Value, name: str) -> Signal:
    """Return the lowest of ``slots``, 0 where there is none."""
    found = Signal(range(len(slots)), name=name)
    for i in reversed(range(len(slots))):
        with m.If(slots[i]):
            m.d.comb += found.eq(i)
    return found

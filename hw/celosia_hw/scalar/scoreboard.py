"""The scoreboard: a window of instructions, started as soon as nothing older conflicts."""

from typing import Any

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from celosia.arch.config import TpuConfig
from celosia.arch.isa import Unit
from celosia.arch.registers import Activity
from celosia_hw.commands import LAYOUTS, UnitSignature
from celosia_hw.memory.ports import row_bits
from celosia_hw.scalar.dispatch import TENSOR_UNITS, Dispatcher, part_layout
from celosia_hw.scalar.encoding import PC_BITS, word_layout

__all__ = ["READ_SPANS", "TENSOR_UNITS", "Scoreboard", "span_layout", "ticket_layout"]

READ_SPANS = 3
#: Slots that are compared with a new instruction one after another; a larger window has several
#: comparators, so that a new instruction can enter every ten cycles or so.
SERIAL = 8


def span_layout(config: TpuConfig) -> data.StructLayout:
    """Rows ``low``..``high``, both inclusive, of the memory ``mem`` (isa.Mem), where ``used``."""
    bits = row_bits(config)
    return data.StructLayout({"used": 1, "mem": 1, "low": bits, "high": bits})


def ticket_layout(config: TpuConfig) -> data.StructLayout:
    """What the scoreboard must know of an instruction.

    ``first`` is what it writes, of a store what it reads; ``reads`` is what else it reads.
    ``low``..``high`` are the bytes of external memory that a load reads or a store writes.
    """
    span = span_layout(config)
    return data.StructLayout({
        "unit": 2, "pc": PC_BITS, "first": span,
        "reads": data.ArrayLayout(span, READ_SPANS), "low": 32, "high": 32,
    })


def _touched_layout(config: TpuConfig) -> data.StructLayout:
    fields = dict(ticket_layout(config).members)
    del fields["pc"]
    return data.StructLayout(fields)


def _overlap(a, b):
    return a.used & b.used & (a.mem == b.mem) & (a.low <= b.high) & (b.low <= a.high)


def _conflict(new, old):
    """Return whether two instructions, of different units or both of the vector unit, conflict."""
    # Two stores do not meet here, so one of the first spans is written.
    stores = [item.unit == Unit.STORE for item in (new, old)]
    rows = _overlap(new.first, old.first)
    for span in old.reads:
        rows |= _overlap(new.first, span) & ~stores[0]
    for span in new.reads:
        rows |= _overlap(span, old.first) & ~stores[1]
    both_external = ~new.unit[1] & ~old.unit[1]
    return rows | (both_external & (new.low <= old.high) & (old.low <= new.high))


class Scoreboard(wiring.Component):
    """Holds ``config.window`` instructions and orders the tensor units against one another.

    An instruction enters with the rows and bytes that it touches. It waits for each older
    instruction of another unit (for the vector unit: of any unit) with which it conflicts: one of
    the two writes what the other reads or writes. On entry it waits for all of these, which are
    then compared with it, one after another (of a window above 8, two or more), and cleared where
    there is no conflict; the others, as they finish. Each unit is offered its instructions in
    program order.

    Latency: an instruction is offered to its unit 4 cycles after it entered, or 3 after its last
    comparison. The next may enter once its last comparison has begun.

    Members
    -------
    ticket : In(stream of ticket_layout())
        The next instruction.
    word, word_valid, part, part_index, part_valid : In
        Its command, see ``Dispatcher``: written before it enters.
    port_load, port_store, port_mxu, port_vpu : Out(UnitSignature)
    empty : Out(1)
        No instruction is in the window, no error on its way.
    error : Out(1), error_unit : Out(2)
        Two cycles ago an instruction finished with an error.
    error_pc : Out(32), error_detail : Out(32)
        Of this error; after one of the vector unit they stay, until there is a bus error.
    activities : Out
        Activity of each unit, WAIT_DEPS included.
    """

    ticket: stream.Interface
    word: data.View
    word_valid: Signal
    part: data.View
    part_index: Signal
    part_valid: Signal
    empty: Signal
    error: Signal
    error_unit: Signal
    error_pc: Signal
    error_detail: Signal
    activities: Any

    def __init__(self, config: TpuConfig):
        self._config = config
        members = {
            "ticket": In(stream.Signature(ticket_layout(config))),
            "word": In(word_layout()), "word_valid": In(1), "part": In(part_layout(config)),
            "part_index": In(2), "part_valid": In(1),
            "empty": Out(1), "error": Out(1), "error_unit": Out(2), "error_pc": Out(PC_BITS),
            "error_detail": Out(32), "activities": Out(Activity).array(len(TENSOR_UNITS)),
        }
        for unit in TENSOR_UNITS:
            members[f"port_{unit.name.lower()}"] = Out(UnitSignature(LAYOUTS[unit](config)))
        super().__init__(members)

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config, window = self._config, self._config.window
        slots = range(window)
        index_bits = ceil_log2(window)
        m.submodules.dispatcher = dispatcher = Dispatcher(config)
        for name in ("word", "word_valid", "part", "part_index", "part_valid"):
            m.d.comb += getattr(dispatcher, name).eq(getattr(self, name))

        valid, finished = Signal(window), Signal(window)  # finished: in this cycle
        waits = [Signal(window, name=f"waits{i}", reset_less=True) for i in slots]
        units = [Signal(2, name=f"unit{i}", reset_less=True) for i in slots]
        unchecked = Signal(window)  # slots that the last instruction is to be compared with
        ticket = self.ticket.payload
        enter, free = Signal(), Signal(index_bits)
        for i in reversed(slots):
            with m.If(~valid[i]):
                m.d.comb += free.eq(i)
        m.d.comb += [
            self.ticket.ready.eq(~valid.all() & ~unchecked.any()),
            enter.eq(self.ticket.valid & self.ticket.ready),
            dispatcher.unit.eq(ticket.unit), dispatcher.push.eq(enter), dispatcher.slot.eq(free),
        ]
        others = Signal(window)
        m.d.comb += others.eq(valid & ~finished & Cat(
            (ticket.unit != unit) | (ticket.unit == Unit.VPU) for unit in units))
        unrelated = self._compare(m, unchecked, enter, free, others)
        for i in slots:
            m.d.sync += waits[i].eq(waits[i] & ~finished & ~unrelated[i])
            with m.If(finished[i]):
                m.d.sync += valid[i].eq(0)
            with m.If(enter & (free == i)):
                m.d.sync += [valid[i].eq(1), units[i].eq(ticket.unit), waits[i].eq(others)]

        ready = Array(~waits[i].any() for i in slots)
        failed, failed_slot = [], []
        for unit in TENSOR_UNITS:
            name = unit.name.lower()
            port = getattr(self, f"port_{name}")
            # Slots of this unit's instructions, in order.
            m.submodules[f"ring_{name}"] = ring = memory.Memory(
                shape=index_bits, depth=window, init=[])
            put, get = ring.write_port(), ring.read_port(domain="comb")
            entered, done = (Signal(index_bits, name=f"{word}_{name}")
                             for word in ("entered", "done"))
            startable = ready[dispatcher.slots[unit]]  # type: ignore[attr-defined]
            m.d.comb += [
                put.addr.eq(entered), put.data.eq(free), get.addr.eq(done),
                put.en.eq(enter & (ticket.unit == unit)),
                port.command.valid.eq(dispatcher.valid[unit] & startable),
                port.command.payload.eq(getattr(dispatcher, f"command_{name}")),
                dispatcher.take[unit].eq(port.command.valid & port.command.ready),
                self.activities[unit].eq(Mux(
                    (port.activity == Activity.IDLE) & dispatcher.waiting[unit],
                    Activity.WAIT_DEPS, port.activity)),
            ]
            with m.If(put.en):
                m.d.sync += entered.eq(entered + 1)
            with m.If(port.done):
                m.d.comb += finished.bit_select(get.data, 1).eq(1)
                m.d.sync += done.eq(done + 1)
            failed.append(port.done & port.error)
            failed_slot.append(get.data)
        self._errors(m, valid, enter, free, failed, failed_slot)
        return m

    def _compare(self, m: Module, unchecked, enter, free, others):
        """Compare the last instruction with the slots ``unchecked``.

        Returns for each slot a mask of the slots that it need not wait for.
        """
        config, window = self._config, self._config.window
        layout, bits = _touched_layout(config), ceil_log2(window)
        new, new_slot = Signal(layout, reset_less=True), Signal(bits, reset_less=True)
        with m.If(enter):
            m.d.sync += [
                new_slot.eq(free),
                *(new[name].eq(self.ticket.payload[name]) for name in layout.members),
            ]
        unrelated = Signal(window)
        begun = Signal(window)
        for first in range(0, window, SERIAL):
            group = range(first, min(first + SERIAL, window))
            m.submodules[f"touched{first}"] = touched = memory.Memory(
                shape=layout, depth=len(group), init=[])
            put, get = touched.write_port(), touched.read_port(domain="comb")
            old = Signal(layout, name=f"old{first}", reset_less=True)
            old_slot, valid = Signal(window, name=f"old_slot{first}"), Signal(window)
            m.d.comb += [
                put.addr.eq(free), put.en.eq(enter & (free >> ceil_log2(len(group))
                                                      == first // len(group))),
                *(put.data[name].eq(self.ticket.payload[name]) for name in layout.members),
            ]
            for i in reversed(group):
                with m.If(unchecked[i]):
                    m.d.comb += [get.addr.eq(i - first), valid.eq(1 << i)]
            m.d.comb += begun[first:first + len(group)].eq(valid[first:first + len(group)])
            m.d.sync += [old.eq(get.data), old_slot.eq(valid)]
            with m.If(~_conflict(new, old)):
                m.d.comb += unrelated[first:first + len(group)].eq(
                    old_slot[first:first + len(group)])
        m.d.sync += unchecked.eq(Mux(enter, others, unchecked & ~begun))
        return [unrelated & (new_slot == i).replicate(window) for i in range(window)]

    def _errors(self, m: Module, valid, enter, free, failed, slots) -> None:
        """Look up which instruction has failed: in the first cycle its slot, then its index.

        Should two units fail at once, the first of TENSOR_UNITS is told.
        """
        m.submodules.pcs = pcs = memory.Memory(
            shape=PC_BITS, depth=self._config.window, init=[])
        put, get = pcs.write_port(), pcs.read_port(domain="comb")
        found, unit, known = Signal(), Signal(2, reset_less=True), Signal()
        slot, detail = Signal.like(free, reset_less=True), Signal(32, reset_less=True)
        m.d.comb += [put.addr.eq(free), put.data.eq(self.ticket.payload.pc), put.en.eq(enter),
                     get.addr.eq(slot), self.empty.eq(~valid.any() & ~found & ~self.error)]
        m.d.sync += [found.eq(Cat(failed).any()), self.error.eq(found), self.error_unit.eq(unit),
                     detail.eq(self.port_vpu.detail)]  # type: ignore[attr-defined]
        for i, fails in reversed(list(enumerate(failed))):
            with m.If(fails):
                m.d.sync += [slot.eq(slots[i]), unit.eq(i)]
        with m.If(found & ~(known & (unit == Unit.VPU))):
            m.d.sync += [self.error_pc.eq(get.data), known.eq(unit == Unit.VPU)]
            with m.If(unit == Unit.VPU):
                m.d.sync += self.error_detail.eq(detail)
            with m.Else():
                m.d.sync += self.error_detail.eq(0)

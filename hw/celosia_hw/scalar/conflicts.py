"""Whether instructions conflict: one writes rows or bytes that the other reads or writes."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from celosia.arch.config import TpuConfig
from celosia.arch.isa import LinkUnit, Mem, Unit
from celosia_hw.memory.ports import row_bits
from celosia_hw.scalar.dispatch import PortUnit, issue_units, unit_bits
from celosia_hw.scalar.encoding import PC_BITS
from celosia_hw.scalar.streams import STREAMS

__all__ = ["READ_SPANS", "ConflictCheck", "comparators", "span_layout", "entry_layout"]

#: Spans of rows that an instruction reads: of each source stream.
READ_SPANS = STREAMS - 1
#: Slots that are compared with a new instruction one after another; a larger window has several
#: comparators, so that a new instruction can enter every ten cycles or so.
SERIAL = 8


def comparators(config: TpuConfig) -> list[range]:
    """Return the slots of the window that each comparator compares with new instructions."""
    return [range(first, min(first + SERIAL, config.window))
            for first in range(0, config.window, SERIAL)]


def span_layout(config: TpuConfig) -> data.StructLayout:
    """Rows ``low``..``high``, both inclusive, of the memory ``mem`` (isa.Mem), where ``used``."""
    bits = row_bits(config)
    return data.StructLayout({"used": 1, "mem": Mem, "low": bits, "high": bits})


def entry_layout(config: TpuConfig) -> data.StructLayout:
    """What the scoreboard must know of an instruction.

    ``first`` is what it writes, of a store or a send what it reads; ``reads`` is what else it
    reads. ``low``..``high`` are the bytes of external memory that a load reads or a store writes.
    """
    span = span_layout(config)
    return data.StructLayout({
        "unit": unit_bits(config), "pc": PC_BITS, "first": span,
        "reads": data.ArrayLayout(span, READ_SPANS), "low": 32, "high": 32,
    })


def _touched_layout(config: TpuConfig) -> data.StructLayout:
    fields = dict(entry_layout(config).members)
    del fields["pc"]
    return data.StructLayout(fields)


def _overlap(a, b):
    return a.used & b.used & (a.mem == b.mem) & (a.low <= b.high) & (b.low <= a.high)


def _conflict(config: TpuConfig, new, old):
    """Return whether two instructions, of different units or both of the vector unit, conflict."""
    # Two stores do not meet here, so one of the first spans is written, but for sends.
    stores = [item.unit == Unit.STORE for item in (new, old)]
    rows = _overlap(new.first, old.first)
    senders = [unit for unit in issue_units(config)
               if isinstance(unit, PortUnit) and unit.kind is LinkUnit.TX]
    if senders:
        stores = [store | Cat(item.unit == unit for unit in senders).any()
                  for store, item in zip(stores, (new, old), strict=True)]
        rows &= ~(stores[0] & stores[1])
    for span in old.reads:
        rows |= _overlap(new.first, span) & ~stores[0]
    for span in new.reads:
        rows |= _overlap(span, old.first) & ~stores[1]
    transfers = [(item.unit == Unit.LOAD) | (item.unit == Unit.STORE) for item in (new, old)]
    return rows | (transfers[0] & transfers[1] & (new.low <= old.high) & (old.low <= new.high))


class ConflictCheck(wiring.Component):
    """Compares each instruction that enters the window with older ones, one after another.

    On a chip that is ``small`` the entry stays while ``busy``, and is compared where it is. Of a
    window above SERIAL, two or more at once. Latency: the first slot is ``compared`` two
    cycles after the instruction entered, three where paths are `cut`, each further one a cycle
    later.

    Members
    -------
    enter : In(1), slot : In, entry : In(entry_layout())
        An instruction enters the window there; never while ``busy``.
    others : In(window)
        With it: the slots that it is to be compared with.
    busy : Out(1)
        Comparisons are still to be started, or an instruction entered in the cycle before. Out of a
        flip-flop.
    compared : Out(window), of : Out
        Slots that the instruction in slot ``of`` is compared with. Out of flip-flops.
    conflicts : Out
        It conflicts with the one of them that is in a comparator's group, as of `comparators`. Out
        of flip-flops where paths are `cut`.
    """

    enter: Signal
    slot: Signal
    entry: data.View
    others: Signal
    busy: Signal
    compared: Signal
    conflicts: Signal
    of: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        bits = ceil_log2(config.window)
        super().__init__({
            "enter": In(1), "slot": In(bits), "entry": In(entry_layout(config)),
            "others": In(config.window), "busy": Out(1), "compared": Out(config.window),
            "conflicts": Out(len(comparators(config))), "of": Out(bits),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        window = self._config.window
        layout = _touched_layout(self._config)
        new = self.entry if self._config.small else Signal(layout, reset_less=True)
        of = Signal.like(self.of, reset_less=True)
        pending, started = Signal(window), Signal(window)
        # On an FPGA comparators and window are too far apart for one cycle.
        result = m.d.sync if self._config.cut else m.d.comb
        result += self.of.eq(of)
        with m.If(self.enter):
            m.d.sync += of.eq(self.slot)
            if new is not self.entry:
                m.d.sync += [new[name].eq(self.entry[name]) for name in layout.members]
        for number, group in enumerate(comparators(self._config)):
            first = group.start
            m.submodules[f"touched{first}"] = touched = memory.Memory(
                shape=layout, depth=len(group), init=[])
            put, get = touched.write_port(), touched.read_port(domain="comb")
            old = Signal(layout, name=f"old{first}", reset_less=True)
            old_slot, valid = Signal(window, name=f"old_slot{first}"), Signal(window)
            m.d.comb += [
                put.addr.eq(self.slot),
                put.en.eq(self.enter & (self.slot >> ceil_log2(len(group))
                                        == first // len(group))),
                *(put.data[name].eq(self.entry[name]) for name in layout.members),
            ]
            for i in reversed(group):
                with m.If(pending[i]):
                    m.d.comb += [get.addr.eq(i - first), valid.eq(1 << i)]
            m.d.comb += started[first:first + len(group)].eq(valid[first:first + len(group)])
            m.d.sync += [old.eq(get.data), old_slot.eq(valid)]
            result += [
                self.compared[first:group.stop].eq(old_slot[first:group.stop]),
                self.conflicts[number].eq(_conflict(self._config, new, old)),
            ]
        left = pending & ~started
        m.d.sync += [pending.eq(Mux(self.enter, self.others, left)),
                     self.busy.eq(self.enter | left.any())]
        return m

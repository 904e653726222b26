"""The scoreboard: a window of instructions, started as soon as nothing older conflicts."""

from typing import Any

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import data, fifo, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from celosia.arch.config import TpuConfig
from celosia.arch.isa import Unit
from celosia_hw.commands import LAYOUTS, Activity, UnitSignature
from celosia_hw.memory.ports import row_bits
from celosia_hw.scalar.encoding import PC_BITS

__all__ = ["READ_SPANS", "TENSOR_UNITS", "Scoreboard", "span_layout", "ticket_layout"]

READ_SPANS = 3
TENSOR_UNITS = (Unit.LOAD, Unit.STORE, Unit.MXU, Unit.VPU)


def span_layout(config: TpuConfig) -> data.StructLayout:
    """Rows ``low``..``high``, both inclusive, of the memory ``mem`` (isa.Mem), where ``used``."""
    bits = row_bits(config)
    return data.StructLayout({"used": 1, "mem": 1, "low": bits, "high": bits})


def ticket_layout(config: TpuConfig) -> data.StructLayout:
    """What the scoreboard must know of an instruction.

    ``low``..``high`` are the bytes of external memory that a load reads or a store writes.
    """
    span = span_layout(config)
    return data.StructLayout({
        "unit": 2, "pc": PC_BITS, "write": span,
        "reads": data.ArrayLayout(span, READ_SPANS), "low": 32, "high": 32,
    })


def _overlap(a, b):
    return a.used & b.used & (a.mem == b.mem) & (a.low <= b.high) & (b.low <= a.high)


class Scoreboard(wiring.Component):
    """Holds ``config.window`` instructions and orders the tensor units against one another.

    An instruction enters with the rows and bytes that it touches. It waits for each older
    instruction of another unit (for the vector unit: of any unit) with which it conflicts: one of
    the two writes what the other reads or writes. Conflicts are found once, on entry, and cleared
    as instructions finish. Each unit is offered its instructions in program order.

    Latency: an instruction without conflicts is offered to its unit 2 cycles after it entered.

    Members
    -------
    ticket : In(stream of ticket_layout())
        The next instruction; its command is on ``load``, ``store``, ``mxu`` or ``vpu``.
    commands : In
        The command of the ticket, in a member for each layout.
    port_load, port_store, port_mxu, port_vpu : Out(UnitSignature)
    empty : Out(1)
        No instruction is in the window.
    error : Out(1), error_unit : Out(2), error_pc : Out(32), error_detail : Out(32)
        An instruction has just finished with an error; the detail is that of the unit's port.
    activities : Out
        Activity of each unit, WAIT_DEPS included.
    """

    ticket: stream.Interface
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
            "empty": Out(1), "error": Out(1), "error_unit": Out(2), "error_pc": Out(PC_BITS),
            "error_detail": Out(32), "activities": Out(Activity).array(len(TENSOR_UNITS)),
        }
        for unit in TENSOR_UNITS:
            members[f"command_{unit.name.lower()}"] = In(LAYOUTS[unit](config))
            members[f"port_{unit.name.lower()}"] = Out(UnitSignature(LAYOUTS[unit](config)))
        super().__init__(members)

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config, window = self._config, self._config.window
        slots = range(window)
        index_bits = ceil_log2(window)
        new = self.ticket.payload

        valid = Signal(window)
        finished = Signal(window)  # in this cycle
        waits = [Signal(window, name=f"waits{i}") for i in slots]
        held = [Signal(ticket_layout(config), name=f"slot{i}", reset_less=True) for i in slots]

        # Conflicts of the ticket with each slot, a cycle ahead of the entry.
        conflicts, known = Signal(window, reset_less=True), Signal()
        found = []
        for old in held:
            rows = _overlap(new.write, old.write)
            for span in old.reads:
                rows |= _overlap(new.write, span)
            for span in new.reads:
                rows |= _overlap(span, old.write)
            bytes_ = ((new.unit ^ old.unit) == 1) & ~new.unit[1] & ~old.unit[1] & (
                (new.low <= old.high) & (old.low <= new.high))
            other = (new.unit != old.unit) | (new.unit == Unit.VPU)
            found.append(other & (rows | bytes_))
        free = Signal(index_bits)
        for i in reversed(slots):
            with m.If(~valid[i]):
                m.d.comb += free.eq(i)
        room = Signal(len(TENSOR_UNITS))
        enter = Signal()
        m.d.comb += [
            self.ticket.ready.eq(known & ~valid.all() & Array(room)[new.unit]),
            enter.eq(self.ticket.valid & self.ticket.ready),
            self.empty.eq(~valid.any()),
        ]
        with m.If(self.ticket.valid & ~known):
            m.d.sync += [known.eq(1), conflicts.eq(Cat(found))]
        with m.If(enter):
            m.d.sync += known.eq(0)
        for i in slots:
            with m.If(finished[i]):
                m.d.sync += valid[i].eq(0)
            m.d.sync += waits[i].eq(waits[i] & ~finished)
            with m.If(enter & (free == i)):
                m.d.sync += [
                    valid[i].eq(1), held[i].eq(new),
                    waits[i].eq(conflicts & valid & ~finished),
                ]

        errors = []
        for unit in TENSOR_UNITS:
            name = unit.name.lower()
            port = getattr(self, f"port_{name}")
            command = getattr(self, f"command_{name}")
            queue = fifo.SyncFIFOBuffered(width=len(command.as_value()), depth=window)
            m.submodules[f"queue_{name}"] = queue
            # Slots of this unit's instructions, in order: entered, started, finished.
            ring = Array(Signal(index_bits, name=f"ring_{name}{i}", reset_less=True)
                         for i in slots)
            # One bit more than an index, so that a full ring differs from an empty one.
            entered, started, done = (Signal(index_bits + 1, name=f"{word}_{name}")
                                      for word in ("entered", "started", "done"))
            first_waiting, first_running = started[:index_bits], done[:index_bits]
            push = enter & (new.unit == unit)
            ready_to_start = Signal(name=f"ready_{name}")
            m.d.comb += [
                room[unit].eq(queue.w_rdy),
                queue.w_en.eq(push), queue.w_data.eq(command),
                ready_to_start.eq(Array(waits)[ring[first_waiting]] == 0),
                port.command.valid.eq(queue.r_rdy & ready_to_start),
                port.command.payload.eq(queue.r_data),
                queue.r_en.eq(port.command.ready & ready_to_start),
                self.activities[unit].eq(Mux(
                    (port.activity == Activity.IDLE) & (started != entered),
                    Activity.WAIT_DEPS, port.activity)),
            ]
            with m.If(push):
                m.d.sync += [ring[entered[:index_bits]].eq(free), entered.eq(entered + 1)]
            with m.If(port.command.valid & port.command.ready):
                m.d.sync += started.eq(started + 1)
            with m.If(port.done):
                m.d.comb += finished.bit_select(ring[first_running], 1).eq(1)
                m.d.sync += done.eq(done + 1)
            errors.append((unit, port, Array(held)[ring[first_running]].pc))
        # Should two units fail at once, the first of TENSOR_UNITS is reported.
        for unit, port, pc in reversed(errors):
            with m.If(port.done & port.error):
                m.d.comb += [self.error.eq(1), self.error_unit.eq(unit), self.error_pc.eq(pc),
                             self.error_detail.eq(port.detail)]
        return m

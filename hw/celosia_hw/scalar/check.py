"""The checker: a tensor instruction's streams become checked spans and the parts of a command."""

from typing import Any

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import data, enum, memory, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch import isa
from celosia.arch.config import COUNT_BITS, TpuConfig
from celosia.arch.faults import Fault
from celosia.arch.isa import Mem, Opcode
from celosia.arch.registers import NUM_WINDOWS
from celosia.arch.vector import LANE_BITS_LSB
from celosia_hw.commands import window_layout
from celosia_hw.scalar.dispatch import part_layout
from celosia_hw.scalar.encoding import PC_BITS, header_layout, packed_layout, reaches, word_layout
from celosia_hw.scalar.scoreboard import span_layout, ticket_layout
from celosia_hw.scalar.streams import STREAMS, StreamTable, shape_layout, stride_layout
from celosia_hw.scalar.sums import StreamSum

__all__ = ["Checker", "resolved_layout"]


def resolved_layout() -> data.StructLayout:
    """An instruction whose operand words hold values, and its index."""
    return data.StructLayout({"word": word_layout(), "pc": PC_BITS})


class _State(enum.Enum):
    IDLE = 0
    WALK = 1
    SETTLE = 2
    WINDOWS = 3
    JUDGE = 4
    TELL = 5
    FAULT = 6


class Checker(wiring.Component):
    """Makes the spans of an instruction's streams, checks them, enters it in the scoreboard.

    The streams go through one datapath, a term of (count - 1) * stride a cycle: pick a stream,
    choose its term, multiply, add, compare. The ticket of a matmul on consecutive rows is offered 8
    cycles after it was taken, of a vector instruction 7, and one more for each of b and c that is
    in memory; terms of further dimensions longer than 1 take a cycle each. DMA takes 11 and one
    more for each window before the first that it fits. The next instruction is taken as the ticket
    leaves. After a fault the checker takes nothing until a reset.

    Members
    -------
    i : In(stream of resolved_layout())
        Tensor instructions that have passed the decoder.
    stride_write : In(1), stride_index : In(3), stride : In(stride_layout())
        Set a stride register, 1 to 7; only while ``idle``.
    windows : In
        DMA windows.
    word : Out(word_layout()), word_valid : Out(1)
    part : Out, part_index : Out(2), part_valid : Out(1)
        To the dispatcher.
    ticket : Out
        To the scoreboard.
    idle : Out(1)
        Nothing is being checked.
    fault : Out(4), fault_pc : Out(32), fault_addr : Out(32)
        A fault other than ``Fault.NONE`` is held until a reset.
    """

    i: stream.Interface
    stride_write: Signal
    stride_index: Signal
    stride: data.View
    windows: data.View
    word: data.View
    word_valid: Signal
    part: data.View
    part_index: Signal
    part_valid: Signal
    ticket: stream.Interface
    idle: Signal
    fault: Signal
    fault_pc: Signal
    fault_addr: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "i": In(stream.Signature(resolved_layout())),
            "stride_write": In(1), "stride_index": In(3), "stride": In(stride_layout()),
            "windows": In(data.ArrayLayout(window_layout(), NUM_WINDOWS)),
            "word": Out(word_layout()), "word_valid": Out(1),
            "part": Out(part_layout(config)), "part_index": Out(2), "part_valid": Out(1),
            "ticket": Out(stream.Signature(ticket_layout(config))),
            "idle": Out(1), "fault": Out(4), "fault_pc": Out(PC_BITS), "fault_addr": Out(32),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config = self._config
        state = Signal(_State)
        held = Signal(resolved_layout(), reset_less=True)
        cause = Signal(4, reset_less=True)
        m.submodules.table = table = StreamTable(config)
        m.submodules.sum = total = StreamSum(config)
        m.d.comb += [
            table.word.eq(held.word), self.word.eq(held.word),
            self.word_valid.eq(state == _State.WALK), self.idle.eq(state == _State.IDLE),
            self.fault_pc.eq(held.pc), self.fault_addr.eq(total.address),
            self.fault.eq(Mux(state == _State.FAULT, cause, Fault.NONE)),
        ]
        # x0 is strides of consecutive rows, and cannot be set.
        rows: list[Any] = [{"s0": 1, "s1": 0, "s2": 0}]
        m.submodules.strides = strides = memory.Memory(
            shape=stride_layout(), depth=isa.NUM_STRIDES, init=rows)
        put, get = strides.write_port(), strides.read_port(domain="comb")

        # Picked: a stream. It stays while its terms go into the sum.
        index = Signal(range(STREAMS))
        picked, valid = Signal(shape_layout(), reset_less=True), Signal()
        which = Signal.like(index, reset_less=True)
        flat, plane = Signal(reset_less=True), Signal(reset_less=True)  # n1 == n2 == 1; n2 == 1
        lane = Signal()  # tell the lane of the operand, rather than check its stream
        m.d.comb += [
            table.index.eq(index), get.addr.eq(picked.x),
            put.addr.eq(self.stride_index), put.data.eq(self.stride), put.en.eq(self.stride_write),
            self.part_valid.eq(valid), self.part_index.eq(which),
            self.part.value.eq(picked.value), self.part.linear.eq(picked.x == 0),
            *(self.part[name].eq(get.data[name]) for name in ("s0", "s1", "s2")),
        ]
        m.d.sync += [
            plane.eq(table.n2 == 1), flat.eq((table.n1 == 1) & (table.n2 == 1)),
        ]
        final = index == Mux(table.vector, STREAMS - 1, STREAMS - 2)
        advance = Signal()
        telling = state == _State.TELL
        with m.If(advance):
            m.d.sync += [picked.eq(table.shape), which.eq(index),
                         valid.eq((state == _State.WALK) | (telling & ~valid))]
        m.d.comb += advance.eq(~valid | total.final)

        self._terms(m, held, table, picked, which, get.data, flat, plane, lane, total)
        m.d.comb += [total.valid.eq(valid & (picked.used | telling)), total.index.eq(which),
                     total.whole.eq(telling)]

        # What the sums of whole streams tell: spans, rows outside the memory, overlaps.
        spans = [Signal(span_layout(config), name=f"span{i}", reset_less=True)
                 for i in range(STREAMS)]
        out, done = total.o, total.o_valid
        first_step, same_step = Signal(COUNT_BITS, reset_less=True), Signal()
        with m.If(valid & (which == 0)):
            m.d.sync += first_step.eq(get.data.s0)
        m.d.comb += [
            same_step.eq((get.data.s0 == first_step) & get.data.s0.any() & flat & table.paired),
            total.stream.eq(picked.stream), total.same_step.eq(same_step),
        ]
        outside = total.over | Mux(out.mem == Mem.ACC, reaches(total.address, config.acc_rows),
                                   reaches(total.address, config.ub_rows))
        last = total.address
        target = spans[0]
        overlapping = Signal()
        leaves = done & ~out.external & outside
        m.d.comb += total.freeze.eq(leaves | (cause != Fault.NONE))
        with m.If(done):
            for i, span in enumerate(spans):
                with m.If(out.index == i):
                    m.d.sync += [span.used.eq(~out.external), span.mem.eq(out.mem),
                                 span.low.eq(out.base), span.high.eq(last)]
            with m.If(leaves & (cause == Fault.NONE)):
                m.d.sync += cause.eq(Mux(out.mem == Mem.ACC, Fault.ACC_RANGE, Fault.UB_RANGE))
            with m.If(out.stream & (out.mem == target.mem) & (out.base <= target.high)
                      & (target.low <= last[:len(target.low)])
                      & ~(out.same_step & (out.base == target.low))):
                m.d.sync += overlapping.eq(1)

        # The windows, one after another.
        window, number = Signal(window_layout(), reset_less=True), Signal(range(NUM_WINDOWS))
        coming = Signal.like(number)
        m.d.comb += coming.eq(Mux(state == _State.WINDOWS, number + 1, 0))
        m.d.sync += [window.eq(Array(self.windows[i] for i in range(NUM_WINDOWS))[coming]),
                     number.eq(coming)]
        inside, first_byte = Signal(), held.word.operands[1]
        bad = Signal(3 + 2, reset_less=True)
        bad_lanes, bad_count, misaligned = bad[:3], bad[3], bad[4]
        m.d.sync += bad.eq(Cat(table.bad_lanes, table.bad_count, table.misaligned))

        def tell(fault, operand):
            m.d.sync += [cause.eq(fault), index.eq(operand), state.eq(_State.TELL)]

        with m.Switch(state):
            with m.Case(_State.IDLE):
                m.d.comb += self.i.ready.eq(1)
            with m.Case(_State.WALK):
                with m.If(advance):
                    m.d.sync += index.eq(index + 1)
                    with m.If(final):
                        m.d.sync += state.eq(_State.SETTLE)
            with m.Case(_State.SETTLE):
                with m.If(~valid & ~total.busy):
                    m.d.sync += state.eq(Mux(table.vector | table.matmul, _State.JUDGE,
                                             _State.WINDOWS))
            with m.Case(_State.WINDOWS):
                m.d.sync += inside.eq(inside | ((window.base <= first_byte) & ~total.over
                                                & (total.address <= window.last)))
                with m.If(inside | (number == NUM_WINDOWS - 1)):
                    m.d.sync += state.eq(_State.JUDGE)
            with m.Case(_State.JUDGE):
                with m.If(bad_count):
                    m.d.comb += total.clear.eq(1)
                    m.d.sync += [cause.eq(Fault.ILLEGAL_COUNT), state.eq(_State.FAULT)]
                with m.Elif(misaligned):
                    tell(Fault.MISALIGNED, 1)
                with m.Elif(bad_lanes.any()):
                    m.d.sync += lane.eq(1)
                    tell(Fault.INDEX_RANGE, Mux(bad_lanes[0], 1, Mux(bad_lanes[1], 2, 3)))
                with m.Elif(cause != Fault.NONE):
                    m.d.sync += state.eq(_State.FAULT)
                with m.Elif(~inside & ~table.vector & ~table.matmul):
                    tell(Fault.WINDOW, 1)
                with m.Elif(overlapping):
                    tell(Fault.OVERLAP, 0)
                with m.Else():
                    m.d.comb += [self.ticket.valid.eq(1), self.i.ready.eq(self.ticket.ready)]
                    with m.If(self.ticket.ready):
                        m.d.sync += state.eq(_State.IDLE)
            with m.Case(_State.TELL):  # the operand itself goes through the sum
                with m.If(done):
                    m.d.sync += state.eq(_State.FAULT)
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += [
                held.eq(self.i.payload), state.eq(_State.WALK), index.eq(0), cause.eq(Fault.NONE),
                overlapping.eq(0), inside.eq(0), lane.eq(0), *(span.used.eq(0) for span in spans),
            ]

        ticket = self.ticket.payload
        m.d.comb += [
            ticket.pc.eq(held.pc), ticket.low.eq(first_byte), ticket.high.eq(total.address),
            ticket.unit.eq(Cat(table.vector | held.word.opcode[0], table.matmul | table.vector)),
            ticket.first.eq(spans[0]),
            *(ticket.reads[i].eq(span) for i, span in enumerate(spans[1:])),
        ]
        return m

    def _terms(self, m: Module, held, table, picked, which, strides, flat, plane, lane,
               total) -> None:
        """Say which (count - 1) * stride, and which first address, go into the sum next."""
        values, dim = held.word.operands, self._config.dim
        dma = data.View(header_layout(Opcode.LOAD), held.word.as_value()[:isa.HEADER_BITS])
        steps = data.View(packed_layout(Opcode.LOAD, "steps"), values[4])
        size = Signal(3)
        m.d.comb += size.eq(1 << dma.fmt)
        term = Signal(2)
        with m.If(total.valid):
            m.d.sync += term.eq(Mux(total.final, 0, term + 1))
        linear = picked.x == 0
        count, step, zero, final = Signal(COUNT_BITS), Signal(32), Signal(), Signal()
        with m.Switch(term):
            with m.Case(0):
                m.d.comb += count.eq(Mux(picked.table, values[5], table.n0))
            with m.Case(1):
                m.d.comb += count.eq(table.n1)
            with m.Default():
                m.d.comb += count.eq(table.n2)
        groups_of_columns = Signal()
        m.d.comb += [
            total.step.eq(step), total.zero.eq(zero), total.final.eq(final | total.whole),
            total.factor.eq(Mux(groups_of_columns, (count - 1)[:COUNT_BITS] >> exact_log2(dim),
                                count - 1)),
            total.external.eq(picked.external), total.mem.eq(picked.mem),
            total.first.eq(term == 0),
        ]
        with m.If(table.vector | table.matmul):
            m.d.comb += zero.eq(picked.single | total.whole | (picked.groups & (term == 0)))
            with m.Switch(term):
                with m.Case(0):
                    m.d.comb += [step.eq(strides.s0),
                                 final.eq(picked.single | picked.table | flat)]
                with m.Case(1):
                    m.d.comb += [
                        step.eq(Mux(linear, Mux(picked.groups, 1, table.n0), strides.s1)),
                        final.eq(plane)]
                with m.Case(2):
                    # n0 * n1 * n2 - 1 is (n0 - 1) + (n1 - 1) * n0 + (n2 - 1) * n0, and the second
                    # of these, which has just been made, times n2 - 1.
                    m.d.comb += [
                        step.eq(Mux(linear, Mux(picked.groups, table.n1, table.n0), strides.s2)),
                        final.eq(~linear | picked.groups)]
                with m.Default():
                    m.d.comb += [step.eq(total.product), final.eq(1)]
        with m.Else():
            m.d.comb += [zero.eq(total.whole), final.eq(term[0] | ~picked.used)]
            with m.If(picked.external):
                m.d.comb += step.eq(Mux(term[0], size, values[3]))
            with m.Else():
                m.d.comb += [step.eq(Mux(term[0], steps.group_step, steps.row_step)),
                             groups_of_columns.eq(term[0])]
        # The last byte of an element whose address is a multiple of its size.
        low = (size - 1)[:2] & (picked.external & ~total.whole).replicate(2)
        upper = picked.value[LANE_BITS_LSB:]
        m.d.comb += total.base.eq(Mux(
            lane, upper,
            Cat(picked.value[:2] | low, picked.value[2:LANE_BITS_LSB],
                Mux(picked.masked & ~total.whole, Const(0, len(upper)), upper))))

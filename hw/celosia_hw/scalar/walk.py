"""The walk over the streams of an instruction, to the last address of each."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch import isa
from celosia.arch.config import COUNT_BITS, TpuConfig
from celosia_hw.scalar.dispatch import issue_units, part_layout, unit_bits
from celosia_hw.scalar.encoding import instruction, word_layout
from celosia_hw.scalar.streams import STREAMS, StreamTable, shape_layout, stride_layout
from celosia_hw.scalar.sums import ADDRESS_BITS, StreamSum, summed_layout
from celosia_hw.scalar.terms import TermSource, final_terms

__all__ = ["StreamWalk", "flaws_layout"]


def flaws_layout() -> data.StructLayout:
    """What is wrong with an instruction before a stream is walked, as of `StreamTable`."""
    return data.StructLayout({"count": 1, "misaligned": 1, "lanes": STREAMS - 1})


class StreamWalk(wiring.Component):
    """Sums up the streams through one datapath, a term of (count - 1) * stride a cycle: picks a
    stream, chooses its term, multiplies, adds.

    Members
    -------
    word : In(word_layout())
        The instruction, whose operand words hold values.
    begin : In(1)
        The next stream is the first.
    walk : In(1)
        Walk on.
    report : In(1), operand : In, lane : In(1)
        Next comes that operand as it is, or its lane.
    reporting : In(1)
        It goes into the sum.
    stride_write : In(1), stride_index : In, stride : In(stride_layout())
        Set a stride register.
    freeze, clear : In(1)
        As of `StreamSum`.
    last : Out(1)
        With ``walk``: the last stream is picked.
    busy : Out(1)
        Streams are on their way into the sum.
    dma, flaws : Out
        Of the instruction, a cycle after ``word``.
    unit : Out
        The tensor unit that it is for.
    part : Out, part_index : Out, part_valid : Out(1)
        Of each stream, for the dispatcher.
    o_valid : Out(1), o : Out(summed_layout()), address : Out(32), over : Out(1)
        As of `StreamSum`.
    """

    word: data.View
    begin: Signal
    walk: Signal
    report: Signal
    operand: Signal
    lane: Signal
    reporting: Signal
    stride_write: Signal
    stride_index: Signal
    stride: data.View
    freeze: Signal
    clear: Signal
    last: Signal
    busy: Signal
    dma: Signal
    flaws: data.View
    unit: Signal
    part: data.View
    part_index: Signal
    part_valid: Signal
    o_valid: Signal
    o: data.View
    address: Signal
    over: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "word": In(word_layout()), "operand": In(range(STREAMS)),
            **{name: In(1) for name in ("begin", "walk", "report", "lane", "reporting",
                                        "stride_write", "freeze", "clear")},
            "stride_index": In(range(isa.NUM_STRIDES)), "stride": In(stride_layout()),
            "last": Out(1), "busy": Out(1), "dma": Out(1), "flaws": Out(flaws_layout()),
            "unit": Out(unit_bits(config)), "part": Out(part_layout(config)),
            "part_index": Out(range(STREAMS)), "part_valid": Out(1), "o_valid": Out(1),
            "o": Out(summed_layout(config)), "address": Out(ADDRESS_BITS), "over": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.table = table = StreamTable(self._config)
        m.submodules.terms = terms = TermSource(self._config)
        m.submodules.sum = total = StreamSum(self._config)
        # x0 is strides of consecutive rows, and cannot be set.
        consecutive: list[Any] = [{"s0": 1, "s1": 0, "s2": 0}]
        m.submodules.strides = strides = memory.Memory(
            shape=stride_layout(), depth=isa.NUM_STRIDES, init=consecutive)
        put, get = strides.write_port(), strides.read_port(domain="comb")

        index, lane = Signal(range(STREAMS)), Signal()
        picked, valid = Signal(shape_layout(), reset_less=True), Signal()
        which, advance = Signal.like(index, reset_less=True), Signal()
        with m.If(self.begin):
            m.d.sync += [index.eq(0), lane.eq(0)]
        with m.Elif(self.report):
            m.d.sync += [index.eq(self.operand), lane.eq(self.lane)]
        with m.Elif(self.walk & advance):
            m.d.sync += index.eq(index + 1)
        with m.If(advance):
            m.d.sync += [picked.eq(table.shape), which.eq(index),
                         valid.eq(self.walk | (self.reporting & ~valid))]
        line, plane, was_line = Signal(), Signal(), Signal(reset_less=True)
        # Known before it is asked for: the checker waits for the final term of the last stream.
        finals = Signal.like(terms.finals, reset_less=True)
        m.d.comb += [plane.eq(table.n2 == 1), line.eq((table.n1 == 1) & plane),
                     terms.finals.eq(finals)]
        with m.If(advance):
            m.d.sync += finals.eq(final_terms(table.shape, dma=self.dma, line=line, plane=plane))
        m.d.sync += [
            was_line.eq(line),
            self.flaws.count.eq(table.bad_count), self.flaws.misaligned.eq(table.misaligned),
            self.flaws.lanes.eq(table.bad_lanes),
        ]
        first_step, same_step = Signal(COUNT_BITS, reset_less=True), Signal()
        with m.If(valid & (which == 0)):
            m.d.sync += first_step.eq(get.data.s0)
        m.d.comb += [
            advance.eq(~valid | terms.o.final), table.word.eq(self.word), table.index.eq(index),
            self.last.eq(advance & (index == Mux(table.vector, STREAMS - 1, STREAMS - 2))),
            self.busy.eq(valid | total.busy), self.dma.eq(~table.vector & ~table.matmul),
            self.unit.eq(Mux(table.vector, isa.Unit.VPU, Mux(table.matmul, isa.Unit.MXU, Mux(
                self.word.opcode == isa.Opcode.STORE, isa.Unit.STORE, isa.Unit.LOAD)))),
            get.addr.eq(picked.x), put.addr.eq(self.stride_index), put.data.eq(self.stride),
            put.en.eq(self.stride_write),
            self.part_valid.eq(valid), self.part_index.eq(which),
            self.part.value.eq(picked.value), self.part.linear.eq(picked.linear),
            *(self.part[name].eq(get.data[name]) for name in ("s0", "s1", "s2")),
            terms.next.eq(total.valid), terms.word.eq(self.word), terms.dma.eq(self.dma),
            terms.stream.eq(picked), terms.strides.eq(get.data), terms.product.eq(total.product),
            *(terms.counts[name].eq(getattr(table, name)) for name in ("n0", "n1", "n2")),
            terms.whole.eq(self.reporting), terms.lane.eq(lane),
            same_step.eq((get.data.s0 == first_step) & get.data.s0.any() & was_line & table.paired),
            total.valid.eq(valid & (picked.used | self.reporting)), total.whole.eq(self.reporting),
            *(getattr(total, name).eq(terms.o[name])
              for name in ("first", "final", "factor", "step", "zero", "base")),
            *(getattr(total, name).eq(picked[name]) for name in ("external", "mem", "stream")),
            total.index.eq(which), total.same_step.eq(same_step), total.freeze.eq(self.freeze),
            total.clear.eq(self.clear), self.o_valid.eq(total.o_valid), self.o.eq(total.o),
            self.address.eq(total.address), self.over.eq(total.over),
        ]
        if self._config.ports:
            first = len(issue_units(self._config)) - 2 * self._config.ports
            send = instruction(isa.Opcode.SEND, self.word)
            m.d.comb += self.dma.eq(~table.vector & ~table.matmul & ~table.message)
            with m.If(table.message):
                m.d.comb += self.unit.eq(first + Cat(self.word.opcode[0], send.port))
        return m

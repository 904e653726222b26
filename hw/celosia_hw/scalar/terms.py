"""The terms of a stream: which (count - 1) * stride, and which first address, are summed."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import COUNT_BITS, TpuConfig
from celosia.arch.isa import DmaFormat, Opcode, operand_index
from celosia.arch.vector import LANE_BITS_LSB
from celosia_hw.scalar.encoding import instruction, word_layout
from celosia_hw.scalar.streams import shape_layout, stride_layout
from celosia_hw.scalar.sums import ADDRESS_BITS

__all__ = ["TermSource", "counts_layout", "final_terms", "term_layout"]

#: The operand that says how many rows a table has, or a weight tile.
_TABLE_ROWS = operand_index(Opcode.VECTOR, "param")
assert _TABLE_ROWS == operand_index(Opcode.MATMUL, "wrows")


#: Terms that a stream has at most.
_TERMS = 4


def counts_layout() -> data.StructLayout:
    """Counts of an instruction."""
    return data.StructLayout({"n0": COUNT_BITS, "n1": COUNT_BITS, "n2": COUNT_BITS})


def final_terms(stream: data.View, *, dma: Value, line: Value, plane: Value) -> Value:
    """Whether each term, if a stream comes so far, is its final one.

    Parameters
    ----------
    stream
        Of shape_layout().
    dma
        Its instruction is DMA.
    line, plane
        n1 == n2 == 1; n2 == 1.
    """
    return Mux(dma, Cat(~stream.used, Const(-1, _TERMS - 1)), Cat(
        stream.single | stream.table | line, plane, ~stream.linear | stream.groups, 1))


def term_layout() -> data.StructLayout:
    """A term, ``factor * step``, or 0 where ``zero``; the ``first``, the ``final`` of a stream.

    ``base`` is the stream's first address; of external bytes, the last of its first element.
    """
    return data.StructLayout({"first": 1, "final": 1, "factor": COUNT_BITS, "step": ADDRESS_BITS,
                              "zero": 1, "base": ADDRESS_BITS})


class TermSource(wiring.Component):
    """Gives the terms of a stream, one after another; of rows n0 * n1 * n2 it has up to four.

    Combinational but for the number of the term.

    Members
    -------
    next : In(1)
        Go on to the next term; after the final one, to the first of the next stream.
    word : In(word_layout())
        The instruction, whose operand words hold values; ``dma`` : In(1), whether it is DMA.
    stream : In(shape_layout()), strides : In(stride_layout())
        The stream; its stride register.
    counts : In(counts_layout())
    finals : In(4)
        As of `final_terms`.
    product : In(32)
        factor * step of the term before the one before.
    whole : In(1)
        Give the operand itself, as one term of 0; its lane, if ``lane``.
    lane : In(1)
    o : Out(term_layout())
    """

    next: Signal
    word: data.View
    dma: Signal
    stream: data.View
    strides: data.View
    counts: data.View
    finals: Signal
    product: Signal
    whole: Signal
    lane: Signal
    o: data.View

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "next": In(1), "word": In(word_layout()), "dma": In(1), "stream": In(shape_layout()),
            "strides": In(stride_layout()), "counts": In(counts_layout()), "finals": In(_TERMS),
            "product": In(ADDRESS_BITS), "whole": In(1), "lane": In(1), "o": Out(term_layout()),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        dim = self._config.dim
        stream, strides, counts, o = self.stream, self.strides, self.counts, self.o
        dma = instruction(Opcode.LOAD, self.word)
        size = Signal(range(max(each.nbytes for each in DmaFormat) + 1))
        m.d.comb += size.eq(1 << dma.fmt)
        term = Signal(2)
        with m.If(self.next):
            m.d.sync += term.eq(Mux(o.final, 0, term + 1))
        linear = stream.linear
        count, final = Signal(COUNT_BITS), Signal()
        table_rows = self.word.operands[_TABLE_ROWS]
        with m.Switch(term):
            with m.Case(0):
                m.d.comb += count.eq(Mux(stream.table, table_rows, counts.n0))
            with m.Case(1):
                m.d.comb += count.eq(counts.n1)
            with m.Default():
                m.d.comb += count.eq(counts.n2)
        groups_of_columns = Signal()
        m.d.comb += [
            o.first.eq(term == 0), o.final.eq(final | self.whole),
            o.factor.eq(Mux(groups_of_columns, (count - 1)[:COUNT_BITS] >> exact_log2(dim),
                            count - 1)),
        ]
        m.d.comb += final.eq(self.finals.bit_select(term, 1))
        with m.If(self.dma):
            m.d.comb += o.zero.eq(self.whole)
            with m.If(stream.external):
                m.d.comb += o.step.eq(Mux(term[0], size, dma.pitch))
            with m.Else():
                m.d.comb += [o.step.eq(Mux(term[0], dma.steps.group_step, dma.steps.row_step)),
                             groups_of_columns.eq(term[0])]
        with m.Else():
            m.d.comb += o.zero.eq(stream.single | self.whole | (stream.groups & (term == 0)))
            with m.Switch(term):
                with m.Case(0):
                    m.d.comb += o.step.eq(strides.s0)
                with m.Case(1):
                    m.d.comb += o.step.eq(
                        Mux(linear, Mux(stream.groups, 1, counts.n0), strides.s1))
                with m.Case(2):
                    # n0 * n1 * n2 - 1 is (n0 - 1) + (n1 - 1) * n0 + (n2 - 1) * n0, and the second
                    # of these, which has just been made, times n2 - 1.
                    m.d.comb += o.step.eq(
                        Mux(linear, Mux(stream.groups, counts.n1, counts.n0), strides.s2))
                with m.Default():
                    m.d.comb += o.step.eq(self.product)
        # The last byte of an element whose address is a multiple of its size.
        bits = exact_log2(max(each.nbytes for each in DmaFormat))
        low = (size - 1)[:bits] & (stream.external & ~self.whole).replicate(bits)
        upper = stream.value[LANE_BITS_LSB:]
        m.d.comb += o.base.eq(Mux(
            self.lane, upper,
            Cat(stream.value[:bits] | low, stream.value[bits:LANE_BITS_LSB],
                Mux(stream.masked & ~self.whole, Const(0, len(upper)), upper))))
        return m

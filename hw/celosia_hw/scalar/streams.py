"""The streams of rows that an instruction names, one at a time."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch import isa
from celosia.arch.config import COUNT_BITS, TpuConfig
from celosia.arch.isa import Mem, Opcode
from celosia.arch.vector import (
    INDEXED_OPS,
    LANE_BITS_LSB,
    SOURCES,
    TABLE_LIMIT,
    Dst,
    Reduce,
    SourceRows,
    VectorOp,
)
from celosia_hw.scalar.encoding import instruction, word_layout

__all__ = ["STREAMS", "StreamTable", "shape_layout", "stride_layout"]

#: Streams of an instruction: the destination and up to three sources. The second stream of a DMA
#: instruction is the one in external memory.
STREAMS = 4


def stride_layout() -> data.StructLayout:
    """A stride register."""
    return data.StructLayout({"s0": COUNT_BITS, "s1": COUNT_BITS, "s2": COUNT_BITS})


def shape_layout() -> data.StructLayout:
    """A stream: the operand that it begins, and how it walks.

    ``used`` where it is rows of a memory or ``external`` bytes. ``value`` is the operand,
    ``masked`` where its upper bits are a lane. ``x`` is its stride register. A ``single`` stream is
    one row; a ``table`` has as many rows as operand 5 says; ``groups`` has a row for each group of
    n0. ``stream`` marks a source that is read row by row while the destination is written.
    """
    return data.StructLayout({
        "used": 1, "external": 1, "mem": Mem, "value": 32, "masked": 1,
        "x": range(isa.NUM_STRIDES), "single": 1,
        "table": 1, "groups": 1, "stream": 1,
    })


class StreamTable(wiring.Component):
    """Describes stream ``index`` of an instruction whose operand words hold values. Combinational.

    Members
    -------
    word : In(word_layout())
    index : In(2)
        0: destination of a matmul or vector instruction, on-chip rows of a DMA instruction.
        1, 2, 3: acts and weights; a, b, c; the external rows.
    shape : Out(shape_layout())
    matmul, vector : Out(1)
        What the instruction is; neither is DMA. Like all below, does not depend on ``index``.
    bad_count : Out(1)
        A count is zero or too large.
    bad_lanes : Out(3)
        Lanes of a, b, c, where their kind has one, are not below D.
    misaligned : Out(1)
        External address or pitch is not a multiple of the element size.
    paired : Out(1)
        Row i of each stream of a vector instruction goes with row i of its destination.
    n0, n1, n2 : Out(16)
        The instruction's own counts; of DMA, rows and columns, and n2 means nothing.
    """

    word: data.View
    index: Signal
    shape: data.View
    matmul: Signal
    vector: Signal
    bad_count: Signal
    bad_lanes: Signal
    misaligned: Signal
    paired: Signal
    n0: Signal
    n1: Signal
    n2: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "word": In(word_layout()), "index": In(2), "shape": Out(shape_layout()),
            "matmul": Out(1), "vector": Out(1), "bad_count": Out(1), "bad_lanes": Out(STREAMS - 1),
            "misaligned": Out(1), "paired": Out(1), "n0": Out(COUNT_BITS), "n1": Out(COUNT_BITS),
            "n2": Out(COUNT_BITS),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        word, shape = self.word, self.shape
        dim = self._config.dim
        matmul, vector, dma = (instruction(opcode, word)
                               for opcode in (Opcode.MATMUL, Opcode.VECTOR, Opcode.LOAD))
        # Among tensor instructions a bit of the opcode tells them apart.
        m.d.comb += [self.matmul.eq(word.opcode[exact_log2(Opcode.MATMUL ^ Opcode.LOAD)]),
                     self.vector.eq(word.opcode[exact_log2(Opcode.VECTOR ^ Opcode.LOAD)])]
        m.d.comb += [
            self.n0.eq(Mux(self.vector, vector.counts.n0,
                           Mux(self.matmul, matmul.counts.n0, dma.shape_.rows))),
            self.n1.eq(Mux(self.vector, vector.counts.n1,
                           Mux(self.matmul, matmul.counts.n1, dma.shape_.cols))),
            self.n2.eq(Mux(self.vector, vector.n2, matmul.n2)),
            shape.value.eq(Array(word.operands[i] for i in range(STREAMS))[self.index]),
        ]
        too_few = ~self.n0.any() | ~self.n1.any()

        with m.If(self.vector):
            self._vector(m, vector, too_few)
        with m.Elif(self.matmul):
            wrows, limit = matmul.wrows, exact_log2(dim)
            m.d.comb += [
                self.bad_count.eq(
                    too_few | ~self.n2.any() | matmul.n2[COUNT_BITS:].any() | matmul.wload & (
                        ~wrows.any() | wrows[limit + 1:].any()
                        | (wrows[limit] & wrows[:limit].any()))),
                shape.used.eq(Mux(self.index[1], ~self.index[0] & matmul.wload, 1)),
                shape.mem.eq(Mux(self.index == 0, Mem.ACC, Mem.UB)),
                shape.x.eq(Array([matmul.xacc, matmul.xacts, matmul.xw, 0])[self.index]),
                shape.table.eq(self.index[1]),
            ]
        with m.Else():
            m.d.comb += [
                self.bad_count.eq(too_few),
                self.misaligned.eq(((dma.addr | dma.pitch)[:2]
                                    & Mux(dma.fmt == isa.DmaFormat.W32, 3, dma.fmt)).any()),
                shape.used.eq(~self.index[1]), shape.external.eq(self.index[0]),
                shape.mem.eq(dma.mem),
            ]
        return m

    def _vector(self, m: Module, vector, too_few) -> None:
        """Describe the streams of a vector instruction."""
        shape, param = self.shape, vector.param.as_value()
        limit = exact_log2(self._config.dim)
        indexed, to_groups = Signal(), Signal()  # the destination has a row for each group
        over = self.n0[limit + 1:].any() | (self.n0[limit] & self.n0[:limit].any())
        m.d.comb += [
            indexed.eq(Cat(vector.op == op for op in INDEXED_OPS).any()),
            to_groups.eq((vector.reduce == Reduce.ROWS) | (vector.reduce == Reduce.COLLECT)),
            self.paired.eq(~to_groups & ~indexed),
            self.bad_count.eq(
                too_few | ~self.n2.any()
                | (vector.op == VectorOp.TRANSPOSE) & self.n0[:limit].any()
                | (indexed | (vector.reduce == Reduce.COLLECT)) & over
                | indexed & (~param.any() | param[exact_log2(TABLE_LIMIT + 1):].any())),
        ]
        kind = Array([0, vector.a_kind, vector.b_kind, vector.c_kind])[self.index]
        m.d.comb += shape.x.eq(Array([vector.xdst, vector.xa, vector.xb, vector.xc])[self.index])
        with m.Switch(kind):
            for src, source in SOURCES.items():
                with m.Case(int(src)):
                    streams = source.repeat is SourceRows.STREAM
                    m.d.comb += [
                        shape.used.eq(source.mem is not None), shape.mem.eq(source.mem or Mem.UB),
                        shape.stream.eq(streams), shape.single.eq(not streams),
                        shape.masked.eq(source.lane),
                    ]
        with m.Switch(self.index):
            with m.Case(0):
                m.d.comb += [shape.used.eq(1), shape.single.eq(0), shape.masked.eq(0),
                             shape.mem.eq(Mux(vector.dst_kind == Dst.ACC, Mem.ACC, Mem.UB)),
                             shape.groups.eq(to_groups),
                             shape.table.eq(vector.op == VectorOp.SCATTER)]
            with m.Case(1):
                m.d.comb += shape.table.eq(vector.op == VectorOp.GATHER)
            with m.Case(2):
                m.d.comb += shape.groups.eq(indexed)
        for i, name in enumerate("abc"):
            with_lane = Cat(vector[f"{name}_kind"] == src
                            for src, source in SOURCES.items() if source.lane)
            m.d.comb += self.bad_lanes[i].eq(
                with_lane.any() & vector[name][LANE_BITS_LSB + limit:].any())

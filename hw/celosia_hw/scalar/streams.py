"""The streams of rows that an instruction names, one at a time."""

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch import isa
from celosia.arch.config import COUNT_BITS, TpuConfig
from celosia.arch.isa import Mem, Opcode
from celosia.arch.vector import (
    INDEXED_OPS,
    LANE_BITS_LSB,
    LANE_ROW_SRCS,
    LANE_SRCS,
    MEMORY_SRCS,
    STREAM_SRCS,
    TABLE_LIMIT,
    Dst,
    Reduce,
    Src,
    VectorOp,
)
from celosia_hw.scalar.encoding import header_layout, packed_layout, word_layout

__all__ = ["STREAMS", "StreamTable", "shape_layout", "stride_layout"]

#: Streams of an instruction: the destination and up to three sources. The second stream of a DMA
#: instruction is the one in external memory.
STREAMS = 4
#: Bits of a lane in an operand word.
LANE_BITS = 32 - LANE_BITS_LSB


def stride_layout() -> data.StructLayout:
    """A stride register."""
    return data.StructLayout({"s0": COUNT_BITS, "s1": COUNT_BITS, "s2": COUNT_BITS})


def shape_layout() -> data.StructLayout:
    """A stream: where it starts and how it walks.

    ``external`` streams count bytes; ``base`` is then the last byte of the first row. ``linear``
    streams are consecutive and ignore the steps but ``s0``, which is 1. ``counted`` streams walk
    the instruction's own counts. ``stream`` marks a source that is read row by row while the
    destination is written.
    """
    return data.StructLayout({
        "used": 1, "external": 1, "mem": 1, "linear": 1, "counted": 1, "stream": 1, "base": 34,
        "n0": COUNT_BITS, "n1": COUNT_BITS, "n2": COUNT_BITS,
        "s0": 32, "s1": COUNT_BITS, "s2": COUNT_BITS,
    })


class StreamTable(wiring.Component):
    """Describes stream ``index`` of an instruction whose operand words hold values. Combinational.

    Members
    -------
    word : In(word_layout())
    strides : In
        The stride registers.
    index : In(2)
        0: destination of a matmul or vector instruction, on-chip rows of a DMA instruction.
        1, 2, 3: acts and weights; a, b, c; the external rows.
    shape : Out(shape_layout())
    bad_count : Out(1)
        A count is zero or too large; does not depend on ``index``.
    lanes : Out
        Lanes of a, b, c, where their kind has one.
    bad_lanes : Out(3)
        These are not below D.
    misaligned : Out(1)
        External address or pitch is not a multiple of the element size.
    flat : Out(1)
        The instruction's own counts are n1 == n2 == 1, or it has none (DMA).
    paired : Out(1)
        Row i of each stream of a vector instruction goes with row i of its destination.
    n0, n1, n2 : Out(16)
        The instruction's own counts (not of DMA).
    """

    word: data.View
    index: Signal
    shape: data.View
    bad_count: Signal
    lanes: list[Signal]
    bad_lanes: Signal
    misaligned: Signal
    flat: Signal
    paired: Signal
    n0: Signal
    n1: Signal
    n2: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "word": In(word_layout()), "strides": In(stride_layout()).array(isa.NUM_STRIDES),
            "index": In(2), "shape": Out(shape_layout()), "bad_count": Out(1),
            "lanes": Out(LANE_BITS).array(STREAMS - 1), "bad_lanes": Out(STREAMS - 1),
            "misaligned": Out(1), "flat": Out(1), "paired": Out(1), "n0": Out(COUNT_BITS),
            "n1": Out(COUNT_BITS), "n2": Out(COUNT_BITS),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        word, values, shape = self.word, self.word.operands, self.shape
        header = word.as_value()[:isa.HEADER_BITS]
        matmul = data.View(header_layout(Opcode.MATMUL), header)
        vector = data.View(header_layout(Opcode.VECTOR), header)
        dma = data.View(header_layout(Opcode.LOAD), header)
        counts_word = Signal(32)
        counts = data.View(packed_layout(Opcode.MATMUL, "counts"), counts_word)
        m.d.comb += [self.n0.eq(counts.n0), self.n1.eq(counts.n1),
                     self.flat.eq((self.n1 == 1) & (self.n2 == 1))]
        no_rows = (self.n0 == 0) | (self.n1 == 0) | (self.n2 == 0)

        x = Signal(3)
        strides = Array(self.strides)  # type: ignore[attr-defined]
        m.d.comb += [
            shape.used.eq(1), shape.counted.eq(1), shape.linear.eq(x == 0),
            shape.base.eq(Array(values)[self.index]),
            shape.n0.eq(self.n0), shape.n1.eq(self.n1), shape.n2.eq(self.n2),
            shape.s0.eq(Mux(x == 0, 1, strides[x].s0)),
            shape.s1.eq(strides[x].s1), shape.s2.eq(strides[x].s2),
        ]

        with m.Switch(word.opcode):
            with m.Case(Opcode.MATMUL):
                wrows = values[5]
                m.d.comb += [
                    counts_word.eq(values[3]), self.n2.eq(values[4]),
                    self.bad_count.eq(
                        no_rows | values[4][COUNT_BITS:].any()
                        | matmul.wload & ((wrows == 0) | (wrows > self._config.dim))),
                ]
                with m.Switch(self.index):
                    with m.Case(0):
                        m.d.comb += [shape.mem.eq(Mem.ACC), x.eq(matmul.xacc)]
                    with m.Case(1):
                        m.d.comb += [shape.mem.eq(Mem.UB), x.eq(matmul.xacts)]
                    with m.Case(2):
                        m.d.comb += [shape.mem.eq(Mem.UB), x.eq(matmul.xw),
                                     shape.used.eq(matmul.wload), shape.n0.eq(wrows),
                                     shape.n1.eq(1), shape.n2.eq(1), shape.counted.eq(0)]
                    with m.Default():
                        m.d.comb += shape.used.eq(0)
            with m.Case(Opcode.VECTOR):
                m.d.comb += [counts_word.eq(values[4]), self.n2.eq(vector.n2)]
                self._vector(m, vector, x, no_rows)
            with m.Default():
                self._dma(m, dma)
        return m

    def _vector(self, m: Module, vector, x, no_rows) -> None:
        """Describe the streams of a vector instruction."""
        shape, values, dim = self.shape, self.word.operands, self._config.dim
        param = values[5]
        indexed = Signal()
        to_groups = Signal()  # the destination has a row for each group of n0 rows
        groups, is_table = Signal(), Signal()  # this stream: a row for each group; a table
        m.d.comb += [
            indexed.eq(Cat(vector.op == op for op in INDEXED_OPS).any()),
            to_groups.eq((vector.reduce == Reduce.ROWS) | (vector.reduce == Reduce.COLLECT)),
            self.paired.eq(~to_groups & ~indexed),
            self.bad_count.eq(
                no_rows
                | (vector.op == VectorOp.TRANSPOSE) & self.n0[:exact_log2(dim)].any()
                | (indexed | (vector.reduce == Reduce.COLLECT)) & (self.n0 > dim)
                | indexed & ((param == 0) | param[exact_log2(TABLE_LIMIT + 1):].any())),
        ]
        with m.Switch(self.index):
            with m.Case(0):
                m.d.comb += [shape.mem.eq(Mux(vector.dst_kind == Dst.ACC, Mem.ACC, Mem.UB)),
                             x.eq(vector.xdst), groups.eq(to_groups),
                             is_table.eq(vector.op == VectorOp.SCATTER)]
            for i, name in enumerate("abc", 1):
                with m.Case(i):
                    self._source(m, vector[f"{name}_kind"])
                    m.d.comb += x.eq(vector[f"x{name}"])
                    if name == "a":
                        m.d.comb += is_table.eq(vector.op == VectorOp.GATHER)
                    if name == "b":
                        m.d.comb += groups.eq(indexed)
        # Consecutive groups are walked as groups of n1 rows, n1 apart.
        with m.If(groups):
            m.d.comb += [shape.counted.eq(0), shape.n0.eq(1)]
            with m.If(x == 0):
                m.d.comb += [shape.s1.eq(1), shape.s2.eq(self.n1)]
        with m.If(is_table):
            m.d.comb += [shape.counted.eq(0), shape.n0.eq(param), shape.n1.eq(1), shape.n2.eq(1)]
        for i, name in enumerate("abc"):
            with_lane = Cat(vector[f"{name}_kind"] == src for src in LANE_SRCS | LANE_ROW_SRCS)
            m.d.comb += [
                self.lanes[i].eq(values[1 + i][LANE_BITS_LSB:]),
                self.bad_lanes[i].eq(with_lane.any() & (self.lanes[i] >= dim)),
            ]

    def _source(self, m: Module, kind) -> None:
        """Describe a vector operand but for its stride register."""
        shape = self.shape
        with m.Switch(kind):
            for src in Src:
                with m.Case(int(src)):
                    m.d.comb += [
                        shape.used.eq(src in MEMORY_SRCS),
                        shape.mem.eq(Mem.ACC if src.name.startswith("ACC") else Mem.UB),
                        shape.stream.eq(src in STREAM_SRCS),
                    ]
                    if src not in STREAM_SRCS:
                        m.d.comb += [shape.n0.eq(1), shape.n1.eq(1), shape.n2.eq(1),
                                     shape.counted.eq(0)]
                    if src in LANE_SRCS | LANE_ROW_SRCS:
                        m.d.comb += shape.base[LANE_BITS_LSB:].eq(0)

    def _dma(self, m: Module, dma) -> None:
        """Describe the on-chip and the external rows of a load or store."""
        shape, values = self.shape, self.word.operands
        extent = data.View(packed_layout(Opcode.LOAD, "shape"), values[2])
        steps = data.View(packed_layout(Opcode.LOAD, "steps"), values[4])
        groups, row_bytes = Signal(COUNT_BITS), Signal(COUNT_BITS + 2)
        dim = self._config.dim
        m.d.comb += [
            groups.eq((extent.cols + (dim - 1)) >> exact_log2(dim)),
            # i8, bf16 and w32 are 0, 1 and 2: the logarithm of their size.
            row_bytes.eq(extent.cols << dma.fmt),
            self.bad_count.eq((extent.rows == 0) | (extent.cols == 0)),
            self.misaligned.eq(((values[1] | values[3])
                                & Mux(dma.fmt == isa.DmaFormat.W32, 3, dma.fmt)).any()),
            self.flat.eq(1), shape.linear.eq(0), shape.counted.eq(0),
            shape.n0.eq(extent.rows), shape.n2.eq(1), shape.s2.eq(0),
        ]
        with m.If(self.index == 0):
            m.d.comb += [shape.mem.eq(dma.mem), shape.n1.eq(groups),
                         shape.s0.eq(steps.row_step), shape.s1.eq(steps.group_step)]
        with m.Elif(self.index == 1):
            m.d.comb += [shape.external.eq(1), shape.base.eq(values[1] + row_bytes - 1),
                         shape.n1.eq(1), shape.s0.eq(values[3]), shape.s1.eq(Const(0))]
        with m.Else():
            m.d.comb += shape.used.eq(0)

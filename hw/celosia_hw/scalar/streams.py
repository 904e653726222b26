"""The streams of rows that an instruction names, one at a time."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch import isa
from celosia.arch.config import COUNT_BITS, TpuConfig
from celosia.arch.isa import DmaFormat, Mem, Opcode
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

#: Operands that begin a stream: destination and sources, of a DMA instruction on-chip rows and
#: external ones. A stream has the number of its operand.
_DST, _A, _B, _C = (isa.operand_index(Opcode.VECTOR, name) for name in ("dst", "a", "b", "c"))
_ACC, _ACTS, _W = (isa.operand_index(Opcode.MATMUL, name) for name in ("acc", "acts", "w"))
_ROW, _ADDR = (isa.operand_index(Opcode.LOAD, name) for name in ("row", "addr"))
#: Streams that an instruction has at most.
STREAMS = 1 + max(_DST, _A, _B, _C)
#: Bits of an address below those of the largest element.
_ALIGN_BITS = exact_log2(max(fmt.nbytes for fmt in DmaFormat))


def stride_layout() -> data.StructLayout:
    """A stride register."""
    return data.StructLayout({"s0": COUNT_BITS, "s1": COUNT_BITS, "s2": COUNT_BITS})


def shape_layout() -> data.StructLayout:
    """A stream: the operand that it begins, and how it walks.

    ``used`` where it is rows of a memory or ``external`` bytes. ``value`` is the operand,
    ``masked`` where its upper bits are a lane. ``x`` is its stride register, ``linear`` where that
    is 0. A ``single`` stream is one row; a ``table`` has as many rows as operand 5 says; ``groups``
    has a row for each group of n0. ``stream`` marks a source that is read row by row while the
    destination is written.
    """
    return data.StructLayout({
        "used": 1, "external": 1, "mem": Mem, "value": 32, "masked": 1,
        "x": range(isa.NUM_STRIDES), "linear": 1, "single": 1,
        "table": 1, "groups": 1, "stream": 1,
    })


class StreamTable(wiring.Component):
    """Describes stream ``index`` of an instruction whose operand words hold values. Combinational.

    Members
    -------
    word : In(word_layout())
    index : In
        The number of its operand.
    shape : Out(shape_layout())
    matmul, vector : Out(1)
        What the instruction is; neither is DMA. Like all below, does not depend on ``index``.
    bad_count : Out(1)
        A count is zero or too large.
    bad_lanes : Out
        Lanes of a, b, c, where their kind has one, are not below D.
    misaligned : Out(1)
        External address or pitch is not a multiple of the element size.
    paired : Out(1)
        Row i of each stream of a vector instruction goes with row i of its destination.
    message : Out(1)
        It is a send or a recv, on a chip with ports.
    n0, n1, n2 : Out
        The instruction's own counts; of DMA, rows and columns, and n2 means nothing.
    """

    word: data.View
    index: Signal
    shape: data.View
    matmul: Signal
    vector: Signal
    message: Signal
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
            "word": In(word_layout()), "index": In(range(STREAMS)), "shape": Out(shape_layout()),
            "matmul": Out(1), "vector": Out(1), "bad_count": Out(1), "bad_lanes": Out(STREAMS - 1),
            "misaligned": Out(1), "paired": Out(1), "n0": Out(COUNT_BITS), "n1": Out(COUNT_BITS),
            "n2": Out(COUNT_BITS), **({"message": Out(1)} if config.ports else {}),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        word, shape = self.word, self.shape
        limit = exact_log2(self._config.dim)
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
            shape.linear.eq(shape.x == 0),
            shape.value.eq(Array(word.operands[i] for i in range(STREAMS))[self.index]),
        ]
        too_few = ~self.n0.any() | ~self.n1.any()
        if self._config.ports:
            self._messages(m)

        with m.If(self.vector):
            param = vector.param.as_value()
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
            strides = Array([vector.xdst, vector.xa, vector.xb, vector.xc])
            m.d.comb += shape.x.eq(strides[self.index])
            with m.Switch(Array([0, vector.a_kind, vector.b_kind, vector.c_kind])[self.index]):
                for src, source in SOURCES.items():
                    with m.Case(int(src)):
                        streams = source.repeat is SourceRows.STREAM
                        m.d.comb += [
                            shape.used.eq(source.mem is not None),
                            shape.mem.eq(source.mem or Mem.UB), shape.stream.eq(streams),
                            shape.single.eq(not streams), shape.masked.eq(source.lane),
                        ]
            with m.Switch(self.index):
                with m.Case(_DST):
                    m.d.comb += [shape.used.eq(1), shape.single.eq(0), shape.masked.eq(0),
                                 shape.mem.eq(Mux(vector.dst_kind == Dst.ACC, Mem.ACC, Mem.UB)),
                                 shape.groups.eq(to_groups),
                                 shape.table.eq(vector.op == VectorOp.SCATTER)]
                with m.Case(_A):
                    m.d.comb += shape.table.eq(vector.op == VectorOp.GATHER)
                with m.Case(_B):
                    m.d.comb += shape.groups.eq(indexed)
            for i, name in enumerate("abc"):
                with_lane = Cat(vector[f"{name}_kind"] == src
                                for src, source in SOURCES.items() if source.lane)
                m.d.comb += self.bad_lanes[i].eq(
                    with_lane.any() & vector[name][LANE_BITS_LSB + limit:].any())
        with m.Elif(self.matmul):
            wrows = matmul.wrows
            m.d.comb += self.bad_count.eq(
                too_few | ~self.n2.any() | matmul.n2[COUNT_BITS:].any() | matmul.wload & (
                    ~wrows.any() | wrows[limit + 1:].any()
                    | (wrows[limit] & wrows[:limit].any())))
            with m.Switch(self.index):
                with m.Case(_ACC):
                    m.d.comb += [shape.used.eq(1), shape.mem.eq(Mem.ACC), shape.x.eq(matmul.xacc)]
                with m.Case(_ACTS):
                    m.d.comb += [shape.used.eq(1), shape.mem.eq(Mem.UB), shape.x.eq(matmul.xacts)]
                with m.Case(_W):
                    m.d.comb += [shape.used.eq(matmul.wload), shape.mem.eq(Mem.UB),
                                 shape.x.eq(matmul.xw), shape.table.eq(1)]
        if self._config.ports:
            with m.Elif(self.message):
                send = instruction(Opcode.SEND, word)
                m.d.comb += [self.bad_count.eq(too_few), shape.used.eq(self.index == 0),
                             shape.single.eq(self.index != 0),
                             shape.mem.eq(send.mem), shape.x.eq(send.xrow)]
        with m.Else():
            below = ((1 << dma.fmt) - 1)[:_ALIGN_BITS]  # the size of an element
            m.d.comb += [
                self.bad_count.eq(too_few), shape.mem.eq(dma.mem),
                self.misaligned.eq(((dma.addr | dma.pitch)[:_ALIGN_BITS] & below).any()),
                shape.used.eq((self.index == _ROW) | (self.index == _ADDR)),
                shape.external.eq(self.index == _ADDR),
            ]
        return m

    def _messages(self, m: Module) -> None:
        """Tell messages from other instructions, and their counts."""
        send = instruction(Opcode.SEND, self.word)
        m.d.comb += self.message.eq(
            self.word.opcode[exact_log2(Opcode.SEND ^ Opcode.LOAD)])
        with m.If(self.message):
            m.d.comb += [self.n0.eq(send.counts.n0), self.n1.eq(send.counts.n1), self.n2.eq(1)]

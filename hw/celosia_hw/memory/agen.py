"""The strided address generator that drives every stream of rows."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import COUNT_BITS, TpuConfig
from celosia_hw.memory.ports import row_bits

__all__ = ["AddressGenerator", "counts_layout", "stream_layout"]


def counts_layout() -> data.StructLayout:
    """Rows in each dimension, innermost first; each at least 1."""
    return data.StructLayout({"n0": COUNT_BITS, "n1": COUNT_BITS, "n2": COUNT_BITS})


def stream_layout(config: TpuConfig) -> data.StructLayout:
    """A stream of rows: first row and strides, all modulo the address space.

    Where ``linear`` is set the strides are ignored and rows are consecutive.
    """
    bits = row_bits(config)
    return data.StructLayout({"base": bits, "linear": 1, "s0": bits, "s1": bits, "s2": bits})


class AddressGenerator(wiring.Component):
    """Walks ``base + i0*s0 + i1*s1 + i2*s2``, i0 innermost.

    ``start`` loads ``counts`` and ``stream``; from the next cycle ``row`` is the first row.
    ``step`` goes on to the next row. ``last`` marks the last row of the walk; a step from there
    leaves ``row`` meaningless until the next start. ``start`` may come in the same cycle as the
    last step. Throughput: a row a cycle.

    Members
    -------
    counts, stream : In
        Shape of the walk, read in the cycle of ``start``.
    start, step : In(1)
    row : Out(row_bits)
    last : Out(1)
    """

    counts: data.View
    stream: data.View
    start: Signal
    step: Signal
    row: Signal
    last: Signal

    def __init__(self, config: TpuConfig):
        self._bits = row_bits(config)
        super().__init__({
            "counts": In(counts_layout()), "stream": In(stream_layout(config)),
            "start": In(1), "step": In(1), "row": Out(self._bits), "last": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        shape = Signal.like(self.stream)
        counts = Signal.like(self.counts)
        left = [Signal(COUNT_BITS, name=f"left{i}") for i in range(3)]  # steps left, 0 at the last
        starts = [Signal(self._bits, name=f"start{i}") for i in range(2)]  # of this row, this plane
        ends = [Signal(name=f"end{i}") for i in range(3)]
        m.d.comb += [end.eq(count == 0) for end, count in zip(ends, left, strict=True)]
        m.d.comb += self.last.eq(ends[0] & ends[1] & ends[2])
        next_line = (starts[0] + shape.s1)[:self._bits]
        next_plane = (starts[1] + shape.s2)[:self._bits]
        step = Mux(shape.linear, 1, shape.s0)
        with m.If(self.start):
            m.d.sync += [
                shape.eq(self.stream), counts.eq(self.counts), self.row.eq(self.stream.base),
                *(start.eq(self.stream.base) for start in starts),
                left[0].eq(self.counts.n0 - 1), left[1].eq(self.counts.n1 - 1),
                left[2].eq(self.counts.n2 - 1),
            ]
        with m.Elif(self.step):
            with m.If(~ends[0]):
                m.d.sync += [left[0].eq(left[0] - 1), self.row.eq(self.row + step)]
            with m.Else():
                m.d.sync += left[0].eq(counts.n0 - 1)
                with m.If(~ends[1]):
                    m.d.sync += [left[1].eq(left[1] - 1), starts[0].eq(next_line),
                                 self.row.eq(Mux(shape.linear, self.row + 1, next_line))]
                with m.Else():
                    m.d.sync += [left[1].eq(counts.n1 - 1), left[2].eq(left[2] - 1),
                                 starts[0].eq(next_plane), starts[1].eq(next_plane),
                                 self.row.eq(Mux(shape.linear, self.row + 1, next_plane))]
        return m

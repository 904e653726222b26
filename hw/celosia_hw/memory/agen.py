"""The strided address generator that drives every stream of rows."""

from amaranth.hdl import Module, Mux, Signal, Value
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

    Parameters
    ----------
    config
    beside
        A generator that starts and steps whenever this one does, with the same counts and ``ones``:
        this one does not count.

    Members
    -------
    counts, stream : In
        Shape of the walk, read in the cycle of ``start``.
    ones : In(3)
        Dimensions that have one row, whatever ``counts`` says; read in the cycle of ``start``.
    still : In(1)
        The rows of a line are all the first of them, and where they are consecutive the next line
        is the next row; read in the cycle of ``start``.
    start, step : In(1)
    row : Out(row_bits)
    line : Out(1)
        This row is the last of its line, which is what the innermost dimension makes.
    last : Out(1)
    """

    counts: data.View
    stream: data.View
    ones: Signal
    still: Signal
    start: Signal
    step: Signal
    row: Signal
    line: Signal
    last: Signal

    def __init__(self, config: TpuConfig, *, beside: "AddressGenerator | None" = None):
        self._bits, self._beside = row_bits(config), beside
        # The last of this line, plane, walk.
        self._ends = [Signal(name=f"end{i}") for i in range(3)]
        super().__init__({
            "counts": In(counts_layout()), "stream": In(stream_layout(config)),
            "ones": In(3), "still": In(1), "start": In(1), "step": In(1),
            "row": Out(self._bits), "line": Out(1), "last": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        ends = (self._beside or self)._ends
        step = self.step
        m.d.comb += [self.line.eq(ends[0]), self.last.eq(ends[0] & ends[1] & ends[2])]
        steps = step, step & ends[0], step & ends[0] & ends[1]
        if not self._beside:
            for i, (end, go) in enumerate(zip(ends, steps, strict=True)):
                self._count(m, i, self.counts[f"n{i}"], end, go)

        # One adder: the next row is a stride behind this row, or behind the first row of this line
        # or plane.
        linear, rises = Signal(reset_less=True), Signal(reset_less=True)
        strides = [Signal(self._bits, name=f"s{i}", reset_less=True) for i in range(3)]
        firsts = [Signal(self._bits, name=f"first{i}", reset_less=True) for i in range(2)]
        with m.If(self.start):
            m.d.sync += [
                linear.eq(self.stream.linear), rises.eq(self.stream.linear & self.still),
                strides[0].eq(Mux(self.still, 0, Mux(self.stream.linear, 1, self.stream.s0))),
                strides[1].eq(self.stream.s1), strides[2].eq(self.stream.s2),
            ]
        turn = ends[0] & ~linear
        before = Mux(turn, Mux(ends[1], firsts[1], firsts[0]), self.row)
        inside = strides[0] | (rises & ends[0])
        stride = Mux(turn, Mux(ends[1], strides[2], strides[1]), inside)
        row = Mux(self.start, self.stream.base, before + stride)
        for register, go in zip((self.row, *firsts), steps, strict=True):
            with m.If(self.start | go):
                m.d.sync += register.eq(row)
        return m

    def _count(self, m: Module, index: int, count: Signal, end: Signal, go: Value) -> None:
        """Count ``count`` rows with ``go``, over and over; ``end`` marks the last.

        ``end`` comes out of a flip-flop, and nothing is to be loaded when a count begins anew.
        """
        whole = Signal(COUNT_BITS, name=f"n{index}", reset_less=True)
        left = Signal(COUNT_BITS, name=f"left{index}", reset_less=True)
        single, anew = Signal(name=f"single{index}"), Signal(name=f"anew{index}")
        now = Signal(COUNT_BITS, name=f"now{index}")
        m.d.comb += now.eq(Mux(anew, whole, left))
        with m.If(go):
            m.d.sync += [left.eq(now - 1), anew.eq(end), end.eq(Mux(end, single, now == 2))]
        with m.If(self.start):
            one = self.ones[index] | (count == 1)
            m.d.sync += [whole.eq(count), single.eq(one), end.eq(one), anew.eq(1)]

"""The last address of a stream: a sum of products, a term a cycle."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import COUNT_BITS, TpuConfig
from celosia.arch.isa import Mem
from celosia_hw.memory.ports import row_bits
from celosia_hw.scalar.streams import STREAMS
from celosia_hw.stream import delayed

__all__ = ["ADDRESS_BITS", "StreamSum", "summed_layout"]

#: Of rows and of bytes alike.
ADDRESS_BITS = 32


def summed_layout(config: TpuConfig) -> data.StructLayout:
    """The stream of a sum, as it was told with its terms; ``base`` is cut to a row."""
    return data.StructLayout({
        "index": range(STREAMS), "external": 1, "mem": Mem, "stream": 1, "same_step": 1,
        "base": row_bits(config),
    })


class StreamSum(wiring.Component):
    """Adds ``factor * step`` of each term to the base of a stream.

    Latency: a term is in the sum 3 cycles later, ``product`` (of the factors' lower half) 2 cycles
    later. Throughput: a term a cycle.

    Members
    -------
    valid, first, final : In(1)
        A term; the first, the last one of a stream.
    factor : In, step : In(32), zero : In(1)
        The term is 0 where ``zero``.
    base : In(32)
        With the first term.
    index, external, mem, stream, same_step : In
        Of the stream; come out again.
    freeze, whole : In(1)
        Keep the sum of the last stream, unless ``whole``.
    clear : In(1)
        The sum is 0.
    busy : Out(1)
        Terms are on their way.
    product : Out(32)
        factor * step[:16].
    o_valid : Out(1), o : Out(summed_layout())
        ``address`` is a whole sum.
    address : Out(32), over : Out(1)
        The sum mod 2**32; it is larger.
    """

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "valid": In(1), "first": In(1), "final": In(1), "factor": In(COUNT_BITS),
            "step": In(ADDRESS_BITS), "zero": In(1), "base": In(ADDRESS_BITS),
            "index": In(range(STREAMS)), "external": In(1), "mem": In(Mem),
            "stream": In(1), "same_step": In(1), "freeze": In(1), "whole": In(1), "clear": In(1),
            "busy": Out(1), "product": Out(ADDRESS_BITS), "o_valid": Out(1),
            "o": Out(summed_layout(config)), "address": Out(ADDRESS_BITS), "over": Out(1),
        })

    valid: Signal
    first: Signal
    final: Signal
    factor: Signal
    step: Signal
    zero: Signal
    base: Signal
    index: Signal
    external: Signal
    mem: Signal
    stream: Signal
    same_step: Signal
    freeze: Signal
    whole: Signal
    clear: Signal
    busy: Signal
    product: Signal
    o_valid: Signal
    o: data.View
    address: Signal
    over: Signal

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        half = ADDRESS_BITS // 2
        factor, step = (Signal(COUNT_BITS, reset_less=True), Signal(ADDRESS_BITS, reset_less=True))
        upper = Signal(ADDRESS_BITS, reset_less=True)  # factor * step[16:]
        term = Signal(data.StructLayout({
            "first": 1, "final": 1, "base": ADDRESS_BITS, "of": summed_layout(self._config)}))
        m.d.comb += [
            *(term[name].eq(getattr(self, name)) for name in ("first", "final", "base")),
            *(term.of[name].eq(getattr(self, name))
              for name in ("index", "external", "mem", "stream", "same_step", "base")),
        ]
        m.d.sync += [
            factor.eq(self.factor), step.eq(self.step), self.product.eq(factor * step[:half]),
            upper.eq(factor * step[half:]),
        ]
        _, multiplied, summed = delayed(m, self.valid, 2, name="valid")
        stage = delayed(m, term, 2, name="term", reset_less=True)[-1]
        with m.If(self.zero):
            m.d.sync += factor.eq(0)

        old, lower, higher = Signal(ADDRESS_BITS), Signal(ADDRESS_BITS + 1), Signal(half + 2)
        m.d.comb += [
            old.eq(Mux(stage.first, stage.base, self.address)),
            lower.eq(old + self.product), higher.eq(lower[half:] + upper[:half]),
            self.busy.eq(multiplied | summed),
        ]
        with m.If(self.clear):
            m.d.sync += self.address.eq(0)
        with m.Elif(summed & (self.whole | ~self.freeze)):
            m.d.sync += [
                self.address[:half].eq(lower), self.address[half:].eq(higher),
                self.over.eq((self.over & ~stage.first) | upper[half:].any()
                             | higher[half:].any()),
            ]
        m.d.sync += [self.o_valid.eq(summed & stage.final), self.o.eq(stage.of)]
        return m

"""A lane of the vector unit: the data path of one column of rows."""

from types import SimpleNamespace

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.isa import VectorOp
from celosia_hw.fp import convert as fp_convert
from celosia_hw.fp import fma
from celosia_hw.fp.wire import wire
from celosia_hw.vpu import requant
from celosia_hw.vpu.control import Source, control_layout, lane_latency
from celosia_hw.vpu.stages import FMA, convert, posts, simple

__all__ = ["Lane"]


class Lane(wiring.Component):
    """Operands of 32 bits to a result of 32 bits, ``lane_latency(config)`` cycles later, one a cycle.

    Stages, each ending in registers: select operands | prepare (one-step operations; operands of
    the multiplier) | multiply | sum of the partial products | align, shift | add, clamp | normalise |
    round | second stage | conversion to the destination. A chip without bf16 has no normalise and
    round. Registers of a part that the row does not use keep their value. int8 results come
    sign-extended, bf16 results in the low half.

    Members
    -------
    p, q : In(32)
        Words of the two streams, meaningful where they are selected.
    scalars : In(32), three of them
        Values of a, b, c where they are scalars.
    hold : In(Source), three of them
        In this cycle, keep this word as the held word of a, b, c.
    select : In(Source), three of them
        Operands a, b, c of the row that enters in this cycle: P, Q or SELF, the held word.
    control : In(control_layout), one for each stage
        control[k] belongs to the row that entered k cycles before.
    result : Out(32)
    """

    p: Signal
    q: Signal
    scalars: list[Signal]
    hold: list[Signal]
    select: list[Signal]
    control: list[data.View]
    result: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "p": In(32), "q": In(32), "scalars": In(32).array(3), "hold": In(Source).array(3),
            "select": In(Source).array(3),
            "control": In(control_layout(config)).array(lane_latency(config)),
            "result": Out(32),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        self._m, self._stage = m, 0
        control = self.control
        operands = self._operands()
        r = self._register(control[1].valid & ~control[1].product,
                           r=simple(m, self._config, control[1].op, operands.a, operands.b)).r
        if self._config.bf16:
            r = self._float(operands, r)
        else:
            r = self._integer(operands, r)
        r = self._register(control[-2].valid,
                           r=posts(m, self._config, control[-2].post, r, control[-2].param)).r
        m.d.comb += self.result.eq(self._register(
            control[-1].valid, r=convert(m, self._config, control[-1].dst, r)).r)
        return m

    def _register(self, enable: Value, **values) -> SimpleNamespace:
        """Registers of the stage that follows; they take the values where ``enable``."""
        out = {}
        for name, value in values.items():
            value = Value.cast(value)
            out[name] = Signal(value.shape(), name=f"{name}{self._stage}", reset_less=True)
            with self._m.If(enable):
                self._m.d.sync += out[name].eq(value)
        return SimpleNamespace(**out)

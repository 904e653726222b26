"""A lane of the vector unit: the data path of one column of rows."""

from types import SimpleNamespace
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia_hw.fp import convert, fma
from celosia_hw.vpu import requant, stages
from celosia_hw.vpu.control import Source, control_layout, lane_latency

__all__ = ["Lane"]

#: What goes into the registers at the end of a stage: groups of values with their enables.
_Inputs = list[tuple[Value, dict[str, Any]]]


class Lane(wiring.Component):
    """Makes a word of the result from a word of each operand.

    Latency: ``lane_latency(config)`` cycles, throughput: a word a cycle. Stages, each ending in
    registers: select operands | prepare (operations of one step; operands of the multiplier) |
    multiply | sum of the partial products | align, shift | add, clamp | normalise | round | second
    stage | conversion to the destination. A chip without bf16 has no normalise and round.
    Registers of a part that the row does not use keep their value. int8 results come
    sign-extended, bf16 results in the low half.

    Members
    -------
    active : In(1)
        Low only in cycles in which no stage has a row and nothing is to be held. For simulators:
        the lane itself does not need it.
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

    active: Signal
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
            "active": In(1), "p": In(32), "q": In(32), "scalars": In(32).array(3),
            "hold": In(Source).array(3),
            "select": In(Source).array(3),
            "control": In(control_layout(config)).array(lane_latency(config)),
            "result": Out(32),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        logics = [self._operands, self._prepare, self._multiply, self._sum, self._shift,
                  self._combine]
        if self._config.bf16:
            logics += [self._normalise, self._round]
        logics += [self._second, self._convert]
        row = SimpleNamespace()
        for stage, (logic, control) in enumerate(zip(logics, self.control, strict=True), 1):
            row = self._registers(m, stage, logic(m, row, control))
        m.d.comb += self.result.eq(row.r)
        return m

    @staticmethod
    def _registers(m: Module, stage: int, inputs: _Inputs) -> SimpleNamespace:
        """Registers at the end of a stage, each group with its enable."""
        out = SimpleNamespace()
        for enable, values in inputs:
            for name, value in values.items():
                value = Value.cast(value)
                register = Signal(value.shape(), name=f"{name}_{stage}", reset_less=True)
                with m.If(enable):
                    m.d.sync += register.eq(value)
                setattr(out, name, register)
        return out

    def _carried(self, control) -> Value:
        """The row's ``r`` is the result, or what a conversion starts from."""
        return control.valid & ~control.fma if self._config.bf16 else control.valid

    def _operands(self, m: Module, row, control) -> _Inputs:
        values = {}
        for name, scalar, hold, select in zip("abc", self.scalars, self.hold, self.select,
                                              strict=True):
            held = Signal(32, name=f"held_{name}", reset_less=True)
            with m.If(hold != Source.SELF):
                m.d.sync += held.eq(Mux(hold == Source.P, self.p,
                                        Mux(hold == Source.Q, self.q, scalar)))
            values[name] = Mux(select == Source.P, self.p, Mux(select == Source.Q, self.q, held))
        return [(control.valid, values)]

    def _prepare(self, m: Module, row, control) -> _Inputs:
        config = self._config
        x, y = Signal(signed(32), name="x"), Signal(32, name="y")
        multiplies = control.product | control.requant
        groups: _Inputs = []
        with m.If(control.product):
            m.d.comb += [x.eq(row.a), y.eq(row.b)]
        with m.Else():
            m.d.comb += [x.eq(row.a + row.c), y.eq(row.b[:16])]
        if config.bf16:
            multiplies = multiplies | control.fma
            operands = [Signal(32, name=f"fma_{name}") for name in "xyz"]
            with m.Switch(control.op):
                for op, function in stages.FMA.items():
                    with m.Case(op):
                        m.d.comb += [operand.eq(value) for operand, value in
                                     zip(operands, function(row.a, row.b, row.c), strict=True)]
            unpacked = fma.unpack(m, *operands)
            with m.If(control.fma):
                m.d.comb += [x.eq(unpacked.x), y.eq(unpacked.y)]
            del unpacked.x, unpacked.y
            groups.append((control.fma, vars(unpacked)))
        return [
            (self._carried(control), {"r": stages.simple(m, config, control.op, row.a, row.b)}),
            (multiplies, {"x": x, "y": y}), (control.requant, {"distance": row.b[16:22]}), *groups,
        ]

    def _multiply(self, m: Module, row, control) -> _Inputs:
        groups: _Inputs = [(self._carried(control), {"r": row.r})]
        lows, highs = control.product | control.requant, control.product
        if self._config.bf16:
            lows, highs = lows | control.fma, highs | control.fma
            compared = fma.compare(m, row.product_exponent, row.addend_exponent)
            groups.append((control.fma, {
                **vars(compared), "addend": row.addend,
                "subtract": row.product_sign ^ row.addend_sign,
                "big_sign": Mux(compared.swap, row.addend_sign, row.product_sign),
                "zero_sign": row.product_sign & row.addend_sign,
                "nan": row.nan, "inf": row.inf, "inf_sign": row.inf_sign}))
        return [
            *groups, (control.requant, {"right": row.distance}),
            (lows, {"low": (row.x * row.y[:16])[:48].as_signed()}),
            (highs, {"high": (row.x * row.y[16:])[:32]}),
        ]

    def _sum(self, m: Module, row, control) -> _Inputs:
        high = Mux(control.requant, 0, row.high)
        product = (row.low + Cat(Const(0, 16), high))[:48].as_signed()
        groups: _Inputs = [
            (self._carried(control), {"r": row.r}), (control.requant, {"right": row.right}),
            (control.product | control.requant, {"product": product}),
        ]
        if self._config.bf16:
            groups[-1] = (control.product | control.requant | control.fma, {"product": product})
            names = ("addend", "swap", "distance", "exponent", "subtract", "big_sign",
                     "zero_sign", "nan", "inf", "inf_sign")
            groups.append((control.fma, {name: getattr(row, name) for name in names}))
        return groups

    def _shift(self, m: Module, row, control) -> _Inputs:
        groups: _Inputs = [
            (self._carried(control), {"r": Mux(control.product, row.product[:32], row.r)}),
            (control.requant, {"shifted": requant.shift(m, row.product, row.right)}),
        ]
        if self._config.bf16:
            aligned = fma.align(m, row.product.as_unsigned(), row.addend, row.swap, row.distance)
            names = ("exponent", "subtract", "big_sign", "zero_sign", "nan", "inf", "inf_sign")
            groups += [
                (control.fma, {**vars(aligned), **{name: getattr(row, name) for name in names}}),
                (control.f2i, {"fixed": convert.f32_to_i32_shift(m, row.r, "f2i")}),
            ]
        return groups

    def _combine(self, m: Module, row, control) -> _Inputs:
        result = Signal(32, name="combined")
        m.d.comb += result.eq(row.r)
        with m.If(control.requant):
            m.d.comb += result.eq(requant.finish(m, row.shifted, control.param))
        groups: _Inputs = [(self._carried(control), {"r": result})]
        if self._config.bf16:
            with m.If(control.f2i):
                m.d.comb += result.eq(convert.f32_to_i32_round(m, row.r, row.fixed, "f2i"))
            added = fma.add(m, row.big, row.small, row.subtract, row.big_sign)
            negative = row.r[31]
            integer = Mux(negative, -row.r, row.r)[:32] << fma.I32_SHIFT
            convert_int = control.i2f
            groups.append((control.fma | control.i2f, {
                "total": Mux(convert_int, integer, added.total)[:fma.SUM_BITS],
                "exponent": Mux(convert_int, fma.I32_EXPONENT, row.exponent).as_signed(),
                "sign": Mux(convert_int, negative, added.sign),
                **{name: getattr(row, name) & ~convert_int
                   for name in ("zero_sign", "nan", "inf")},
                "inf_sign": row.inf_sign}))
        return groups

    def _normalise(self, m: Module, row, control) -> _Inputs:
        normal = fma.normalise(m, row.total, row.exponent)
        names = ("sign", "zero_sign", "nan", "inf", "inf_sign")
        return [(self._carried(control), {"r": row.r}),
                (control.fma | control.i2f,
                 {**vars(normal), **{name: getattr(row, name) for name in names}})]

    def _round(self, m: Module, row, control) -> _Inputs:
        rounded = fma.finish(m, row.significand, row.exponent, row.sign, row.zero_sign,
                             row.nan, row.inf, row.inf_sign)
        return [(control.valid, {"r": Mux(control.fma | control.i2f, rounded, row.r)})]

    def _second(self, m: Module, row, control) -> _Inputs:
        return [(control.valid,
                 {"r": stages.posts(m, self._config, control.post, row.r, control.param)})]

    def _convert(self, m: Module, row, control) -> _Inputs:
        return [(control.valid,
                 {"r": stages.convert(m, self._config, control.dst, row.r)})]

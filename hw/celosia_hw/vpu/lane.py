"""A lane of the vector unit: the data path of one column of rows."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.vector import Post
from celosia_hw.fp import convert, fma
from celosia_hw.fp.wire import choose, wire
from celosia_hw.vpu import operands, product, requant, special, stages, steps
from celosia_hw.vpu.control import LaneSource, control_layout, lane_latency
from celosia_hw.vpu.joins import join

__all__ = ["Lane"]

#: Of a multiply-add: what goes along from the multiplication to the sum.
_CARRIED = ("exponent", "subtract", "big_sign", "zero_sign", "nan", "inf", "inf_sign")
#: What goes into the registers at the end of a stage: groups of values with their enables.
_Inputs = list[tuple[Value, dict[str, Any]]]
_Logic = Callable[[Module, Any, Any], _Inputs]


class Lane(wiring.Component):
    """Makes a word of the result from a word of each operand.

    Latency: ``lane_latency(config)`` cycles, throughput: a word a cycle. Stages, each ending in
    registers: load operands | prepare (sum and comparison of one step, see
    :mod:`celosia_hw.vpu.steps`; factors) | multiply | sum of partial products (with bf16 in one
    stage with these) | shift, align | shift, add | requantised word; normalise and round | second
    stages of one step | with bf16, where c has come along as the numerator of a quotient, the
    others, see :mod:`celosia_hw.vpu.special`: look up | inner product | outer product | multiply
    and combine | normalise and round || reduce rows | conversion to the destination. No stage is
    longer than the fp32 adder that joins rows in one cycle. Registers of a part that the row does
    not use keep their value. Of int8 results the bits that a lane of the unified buffer has are
    meaningful, sign-extended; bf16 results come in the low half.

    Where rows are reduced, each row's result is that of its group so far.

    Members
    -------
    active : In(1)
        Low only in cycles in which no stage has a row and nothing is to be held. For simulators:
        the lane itself does not need it.
    number : In(8)
        Number of the lane; constant.
    p, q : In(32)
        Words of the two streams, meaningful where they are selected.
    p_lane, q_lane : In(32)
        Word of the one lane of P and Q that goes to all lanes, meaningful where it is selected. In
        one cycle, either this or the lane's own word of a stream is selected.
    indexes : In(32), three of them
        Words of a, b, c of the row that enters where they are an index of rows; of the first row
        after a ``hold`` of ``SCALAR`` or ``INDEX`` the value held.
    hold : In(Source), three of them
        Operand a, b, c stays, from now on or, if it is a value, from the next row on, what this
        gives. Words of streams only while no row enters.
    select : In(Source), three of them
        Operands a, b, c of the row that enters in this cycle; not ``SCALAR``; a is not ``Q`` or
        ``Q_LANE``.
    control : In(control_layout), one for each stage
        control[k] belongs to the row that entered k cycles before.
    result : Out(32)
    """

    active: Signal
    number: Signal
    p: Signal
    q: Signal
    p_lane: Signal
    q_lane: Signal
    indexes: list[Signal]
    hold: list[Signal]
    select: list[Signal]
    control: list[data.View]
    result: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "active": In(1), "number": In(8), "p": In(32), "q": In(32), "p_lane": In(32),
            "q_lane": In(32), "indexes": In(32).array(3),
            "hold": In(LaneSource).array(3), "select": In(LaneSource).array(3),
            "control": In(control_layout(config)).array(lane_latency(config)),
            "result": Out(32),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        logics: list[tuple[_Logic, ...]] = [(self._operands,), (self._prepare,)]
        if self._config.bf16:
            # The special functions make the lane long; it is not to be longer still.
            logics += [(self._multiply, self._sum)]
        else:
            logics += [(self._multiply,), (self._sum,)]
        logics += [(self._shift,), (self._combine,), (self._round,), (self._second,)]
        if self._config.bf16:
            logics += [(self._look_up,), (self._inner,), (self._outer,), (self._scale,),
                       (self._round_special,)]
        logics += [(self._reduce,), (self._convert,)]
        row = SimpleNamespace()
        for stage, (parts, control) in enumerate(zip(logics, self.control, strict=True), 1):
            # A module for each: Amaranth's simulator evaluates all of one when a part changes.
            m.submodules[f"stage_{stage}"] = part = Module()
            for logic in parts[:-1]:
                row = self._wires(part, logic(part, row, control))
            row = self._registers(part, stage, parts[-1](part, row, control))
        m.d.comb += self.result.eq(row.r)
        return m

    @staticmethod
    def _wires(m: Module, inputs: _Inputs) -> SimpleNamespace:
        """What goes on to more logic of the same stage."""
        return SimpleNamespace(**{name: wire(m, Value.cast(value), name)
                                  for _, values in inputs for name, value in values.items()})

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

    def _numerator(self, row, control) -> _Inputs:
        """What a quotient still needs of the operands."""
        return [(control.div, {"numerator": row.numerator})] if self._config.bf16 else []

    def _operands(self, m: Module, row, control) -> _Inputs:
        self._words = operands.load(m, self._config, self, control.valid)
        return [(control.valid, steps.decode(m, self._config, control.op))]

    def _prepare(self, m: Module, row, control) -> _Inputs:
        config = self._config
        row.a, row.b, row.c = self._words
        first = steps.start(m, config, row)
        y = wire(m, product.factor(m, row), "y")
        groups: _Inputs = []
        multiplies = control.product | control.requant
        if config.bf16:
            table = {op: function(row.a, row.b, row.c) for op, function in stages.FMA.items()}
            factors = [choose(m, control.op, {op: words[k] for op, words in table.items()}, 0,
                              name=f"fma_{name}") for k, name in enumerate("xyz")]
            unpacked = fma.unpack(m, *factors)
            first["total"] = Mux(control.fma, unpacked.x, first["total"])
            first["top"] = first["top"] & ~control.fma
            y = Mux(control.fma, unpacked.y, y)
            multiplies = multiplies | control.fma
            del unpacked.x, unpacked.y
            groups.append((control.fma, vars(unpacked)))
        high = Mux(control.requant, row.b[20:22], product.distance(m, row))
        row.numerator = row.c
        return [*self._numerator(row, control), (control.valid, first), (multiplies, {"y": y[:32]}),
                (control.product | control.requant, {"high": high[:2], "low": row.b[16:20]}),
                *groups]

    def _multiply(self, m: Module, row, control) -> _Inputs:
        config = self._config
        multiplies = control.product | control.requant
        groups: _Inputs = [(self._carried(control), {"r": steps.result(m, config, row)}),
                           (multiplies, {"high": row.high, "low": row.low})]
        if config.bf16:
            multiplies = multiplies | control.fma
            compared = fma.compare(m, row.product_exponent, row.addend_exponent)
            groups.append((control.fma, {
                **vars(compared), "addend": row.addend,
                "subtract": row.product_sign ^ row.addend_sign,
                "big_sign": Mux(compared.swap, row.addend_sign, row.product_sign),
                "zero_sign": row.product_sign & row.addend_sign,
                "nan": row.nan, "inf": row.inf, "inf_sign": row.inf_sign}))
        groups += self._numerator(row, control)
        return [*groups, (multiplies, product.partial(config, row.total, row.top, row.y))]

    def _sum(self, m: Module, row, control) -> _Inputs:
        multiplies = control.product | control.requant
        groups: _Inputs = [(self._carried(control), {"r": row.r}),
                           (multiplies, {"high": row.high, "low": row.low})]
        if self._config.bf16:
            multiplies = multiplies | control.fma
            names = ("swap", "distance", "addend", *_CARRIED)
            groups.append((control.fma, {name: getattr(row, name) for name in names}))
        groups += self._numerator(row, control)
        return [*groups, (multiplies, {"product": product.total(m, self._config, row)})]

    def _shift(self, m: Module, row, control) -> _Inputs:
        shifted = product.shift(m, row.product, row.high)
        groups: _Inputs = [
            (self._carried(control), {"r": Mux(control.product, shifted[1:33], row.r)}),
            (control.requant, requant.coarse(m, row.product, shifted, row.high, row.low)),
        ]
        if self._config.bf16:
            aligned = fma.align(m, row.product[:48], row.addend, row.swap, row.distance)
            groups.append((control.fma, {
                **vars(aligned), **{name: getattr(row, name) for name in _CARRIED}}))
        return groups + self._numerator(row, control)

    def _combine(self, m: Module, row, control) -> _Inputs:
        groups: _Inputs = [
            (self._carried(control), {"r": row.r}),
            (control.requant, {**requant.fine(m, row), **requant.edges(control.param)})]
        if self._config.bf16:
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
        return groups + self._numerator(row, control)

    def _round(self, m: Module, row, control) -> _Inputs:
        scaled = requant.finish(m, row, control.param)
        result = wire(m, Mux(control.requant, scaled, row.r)[:32], "rounded_word")
        if self._config.bf16:
            normal = fma.normalise(m, row.total, row.exponent)
            rounded = fma.finish(m, normal.significand, normal.exponent, row.sign, row.zero_sign,
                                 row.nan, row.inf, row.inf_sign)
            result = Mux(control.fma | control.i2f, rounded, result)
        return [(control.valid, {"r": result}), *self._numerator(row, control)]

    def _second(self, m: Module, row, control) -> _Inputs:
        word = stages.posts(m, self._config, control.post, row.r, control.param)
        groups: _Inputs = [(control.valid, {"r": word})]
        if self._config.bf16:
            groups.append((control.fixed,
                           {"fixed": convert.f32_to_i32_shift(m, row.r, "second")}))
        return groups + self._numerator(row, control)

    @staticmethod
    def _unspecial(control) -> Value:
        """The row's ``r`` is its result."""
        return control.valid & ~control.special

    def _look_up(self, m: Module, row, control) -> _Inputs:
        parts = special.segment(m, control.post, row.r, row.fixed, row.numerator)
        self._coefficients = special.look_up(m, parts.address, control.table)
        integer = convert.f32_to_i32_round(
            m, row.r, row.fixed, control.post == Post.F2I_FLOOR, control.post == Post.F2I_TRUNC,
            "f2i")
        return [(self._unspecial(control), {"r": Mux(control.fixed, integer, row.r)}),
                (control.table, {"offset": parts.offset}),
                (control.special, {name: getattr(parts, name) for name in special.CARRIED})]

    def _special(self, row, control, *used: str) -> _Inputs:
        """The row's ``r``, or what its special function still needs but for ``used``."""
        carried = {name: getattr(row, name) for name in special.CARRIED if name not in used}
        return [(self._unspecial(control), {"r": row.r}), (control.special, carried)]

    def _inner(self, m: Module, row, control) -> _Inputs:
        c0, c1, c2 = self._coefficients
        return [*self._special(row, control), (control.table, {
            "c0": c0, "c1": c1, "offset": row.offset, "inner": special.inner(m, c2, row.offset)})]

    def _outer(self, m: Module, row, control) -> _Inputs:
        value = special.outer(m, row.c0, row.c1, row.inner, row.offset)
        return [*self._special(row, control), (control.special, {
            "value": Mux(control.table, value, special.square_value(row.factor))})]

    def _scale(self, m: Module, row, control) -> _Inputs:
        product = wire(m, special.multiply(m, row.factor, row.value), "special_product")
        total = special.combine(m, control.post == Post.LOG2, product, row.whole, row.minus)
        return [*self._special(row, control, "factor", "whole", "minus"),
                (control.special, {"total": total})]

    def _round_special(self, m: Module, row, control) -> _Inputs:
        normal = fma.normalise(m, row.total, row.exponent)
        rounded = fma.finish(m, normal.significand, normal.exponent, row.sign, row.sign,
                             row.nan, row.inf, row.sign)
        return [(control.valid, {"r": Mux(control.special, rounded, row.r)})]

    def _reduce(self, m: Module, row, control) -> _Inputs:
        # The row before is still at the end of this stage, however long ago it was.
        self._joined = before = Signal(32, name="joined_row", reset_less=True)
        alone = ~control.reduce | control.first
        with m.If(control.valid):
            m.d.sync += before.eq(
                join(m, self._config, control.reduce_op, before, row.r, alone))
        return []

    def _convert(self, m: Module, row, control) -> _Inputs:
        return [(control.valid,
                 {"r": stages.convert(m, self._config, control.dst, self._joined)})]

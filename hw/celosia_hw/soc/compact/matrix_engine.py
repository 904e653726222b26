"""The matrix unit of the compact chip: rows of activations times a weight tile."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from celosia.arch.config import COUNT_BITS, TpuConfig
from celosia.arch.words import ceil_div
from celosia_hw.mxu.pe import sum_bits
from celosia_hw.soc.compact.dot_products import ProductPair
from celosia_hw.soc.compact.element import PRODUCT_CYCLES, SUM_CYCLES, Adder, ElementUnit
from celosia_hw.soc.compact.memory_map import ACCUMULATE_BIT, FORMAT_BIT, EngineRegister

__all__ = ["MatrixEngine"]


#: Cycles from a row of activations that is asked for to its being there: address and row in
#: registers.
_ROW_CYCLES = 2
#: Likewise of a word of the accumulators.
_WORD_CYCLES = 3
#: From activations to the sum that a word of the accumulators is added to: operands, products, sums
#: of pairs, sum of int8 products.
_TREE_CYCLES = 4


class MatrixEngine(wiring.Component):
    """Multiplies rows of the unified buffer by a weight tile and adds to the accumulators.

    After a write to ``START``, row i = 0, 1, .. of the accumulators, ``ACC_ROW + i * ACC_STEP``,
    becomes, or with accumulate grows by, the product of row ``ACTS_ROW + i * ACTS_STEP`` of the
    unified buffer with the tile. A column multiplies a whole row of activations in a cycle, and
    hands it on to the next column: so no wire goes far. Each column has its accumulators, a cycle
    after the one before.

    Throughput: a row a cycle; ``busy`` for rows + D + ``latency`` cycles. A word of the
    accumulators is asked for ``acc_latency`` cycles before it is written: with accumulate,
    ``ACC_STEP`` is not 0 unless there is one row. Registers are not to be written while ``busy``.

    Sums of int8 products are added as a tree. On a chip with bf16 a column adds the products of a
    row one after the other, as the array of the pipelined chip does, for an fp32 sum is rounded at
    each; those of int8 go the same way.

    Parameters
    ----------
    config
        A chip with int8, or int8 and bf16.
    mac16
        See :class:`~celosia_hw.soc.compact.dot_products.ProductPair`; not with bf16.

    Attributes
    ----------
    latency
        Cycles from a row of activations that is asked for to the first of its sums.
    acc_latency
        Of them, those after a word of the accumulators is asked for.

    Members
    -------
    write : In(1), word : In(5), data : In(32)
        Write ``data`` to the register ``word``, an
        :class:`~celosia_hw.soc.compact.memory_map.EngineRegister`.
    busy : Out(1)
    ub_read : Out(1), ub_row : Out, ub_data : In
        Reads a row; its data come two cycles later.
    acc_read, acc_read_row, acc_data, acc_write, acc_write_row, acc_sums
        Of each column, a tuple: likewise its words of 32 bits, which come three cycles later.
    """

    write: Signal
    word: Signal
    data: Signal
    busy: Signal
    ub_read: Signal
    ub_row: Signal
    ub_data: Signal
    acc_read: Sequence[Signal]
    acc_read_row: Sequence[Signal]
    acc_data: Sequence[Signal]
    acc_write: Sequence[Signal]
    acc_write_row: Sequence[Signal]
    acc_sums: Sequence[Signal]

    def __init__(self, config: TpuConfig, *, mac16: bool = False):
        if not config.int8 or config.bf16 and mac16:
            raise ValueError(f"config must be a chip with int8{' alone' if mac16 else ''}, not "
                             f"{config.name} with {' and '.join(config.formats)}")
        self._config, self._mac16 = config, mac16
        adding = SUM_CYCLES if config.bf16 else 1
        summing = PRODUCT_CYCLES + config.dim * SUM_CYCLES if config.bf16 else _TREE_CYCLES
        self.latency = _ROW_CYCLES + summing + adding
        self.acc_latency = _WORD_CYCLES + adding
        ub, acc = ceil_log2(config.ub_rows), ceil_log2(config.acc_rows)
        super().__init__({
            "write": In(1), "word": In(5), "data": In(32), "busy": Out(1),
            "ub_read": Out(1), "ub_row": Out(ub), "ub_data": In(config.ub_row_bits),
            **{name: member.array(config.dim) for name, member in {
                "acc_read": Out(1), "acc_read_row": Out(acc), "acc_data": In(32),
                "acc_write": Out(1), "acc_write_row": Out(acc), "acc_sums": Out(32)}.items()},
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        dim = self._config.dim
        left, accumulate, floats = Signal(COUNT_BITS), Signal(), Signal()
        acts_row, acts_step = Signal.like(self.ub_row), Signal.like(self.ub_row)
        acc_row, acc_step = Signal.like(self.acc_read_row[0]), Signal.like(self.acc_read_row[0])
        loads: Any = {EngineRegister.ACTS_ROW: acts_row, EngineRegister.ACTS_STEP: acts_step,
                      EngineRegister.ACC_ROW: acc_row, EngineRegister.ACC_STEP: acc_step}
        # Bit k: a row was asked for k cycles ago.
        line, before = Signal(self.latency + dim), Signal(self.latency + dim - 1)
        asked = self.latency - self.acc_latency
        m.d.comb += [line.eq(Cat(self.ub_read, before)), self.ub_row.eq(acts_row)]
        starts = self.write & (self.word == EngineRegister.START)
        m.d.sync += self.busy.eq(starts | line.any())
        m.d.sync += before.eq(line)
        with m.If(self.ub_read):
            m.d.sync += [left.eq(left - 1), self.ub_read.eq(left != 1),
                         acts_row.eq(acts_row + acts_step)]
        with m.If(line[asked]):
            m.d.sync += acc_row.eq(acc_row + acc_step)
        with m.If(starts):
            m.d.sync += [left.eq(self.data), self.ub_read.eq(1),
                         accumulate.eq(self.data[ACCUMULATE_BIT]),
                         floats.eq(self.data[FORMAT_BIT])]
        with m.If(self.write):
            for register, value in loads.items():
                with m.If(self.word == register):
                    m.d.sync += value.eq(self.data)

        rows = [acc_row]
        for k in range(self.acc_latency + dim - 1):
            rows.append(Signal.like(acc_row, name=f"acc_row_{k}", reset_less=True))
            m.d.sync += rows[-1].eq(rows[-2])
        acts = self._skewed(m) if self._config.bf16 else self.ub_data
        for column in range(dim):
            old = Mux(accumulate, self.acc_data[column], 0)
            if self._config.bf16:
                # Each column and element has a copy, for wires are long: formats come before acts.
                floats, above = self._late(m, floats, f"floats_{column}"), floats
                self._bf16_column(m, column, acts, old, above)
            else:
                self._int8_column(m, column, acts, old)
            acts = self._late(m, acts, f"acts_{column}")
            m.d.comb += [
                self.acc_read[column].eq(line[asked + column]),
                self.acc_read_row[column].eq(rows[column]),
                self.acc_write[column].eq(line[self.latency + column]),
                self.acc_write_row[column].eq(rows[self.acc_latency + column]),
            ]
        return m

    @staticmethod
    def _late(m: Module, value, name: str) -> Signal:
        held = Signal(len(value), name=name, reset_less=True)
        m.d.sync += held.eq(value)
        return held

    def _weight(self, column: int, k: int):
        """Return the weight of activation k, and whether it is written."""
        bits = self._config.lane_bits
        lanes = 32 // bits
        place = k * ceil_div(self._config.dim, lanes) + column // lanes
        return (self.data.word_select(column % lanes, bits),
                self.write & (self.word == EngineRegister.WEIGHTS + place))

    def _skewed(self, m: Module):
        """Return the row of activations, each as late as the sum that its product is added to."""
        lanes = []
        for k in range(self._config.dim):
            lane = self.ub_data.word_select(k, 16)
            for _ in range(k * SUM_CYCLES):
                lane = self._late(m, lane, f"act_{k}")
            lanes.append(lane)
        return Cat(*lanes)

    def _bf16_column(self, m: Module, column: int, acts, old, floats) -> None:
        total = Const(0, 32)
        for k in range(self._config.dim):
            floats = self._late(m, floats, f"floats_{k}_{column}")
            element = ElementUnit(sum_bits(replace(self._config, bf16=False)))
            m.submodules[f"element_{k}_{column}"] = element
            weight, chosen = self._weight(column, k)
            m.d.comb += [
                element.floats.eq(floats), element.act.eq(acts.word_select(k, 16)),
                element.weight.eq(weight), element.take.eq(chosen), element.sum_i.eq(total),
            ]
            total = element.sum_o
        m.submodules[f"adder_{column}"] = adder = Adder()
        floats = self._late(m, floats, f"floats_{column}_sums")
        m.d.comb += [adder.floats.eq(floats), adder.a.eq(total), adder.b.eq(old),
                     self.acc_sums[column].eq(adder.total)]

    def _int8_column(self, m: Module, column: int, acts, old) -> None:
        dim = self._config.dim
        pairs = []
        for k in range(0, dim, 2):
            pair = ProductPair(mac16=self._mac16)
            m.submodules[f"products_{k}_{column}"] = pair
            # A block of two products has one hold for both weights, which come in two rows.
            earlier = Signal(8, name=f"earlier_{k}_{column}", reset_less=True)
            weight, first = self._weight(column, k)
            _, second = self._weight(column, k + 1)
            with m.If(first):
                m.d.sync += earlier.eq(weight)
            total = Signal(signed(17), name=f"pair_{k}_{column}", reset_less=True)
            m.d.comb += [
                pair.a0.eq(acts.word_select(k, 8).as_signed()),
                pair.a1.eq(acts.word_select(k + 1, 8).as_signed()),
                pair.b0.eq(earlier), pair.b1.eq(weight), pair.take_b.eq(second),
            ]
            m.d.sync += total.eq(pair.p0 + pair.p1)
            pairs.append(total)
        total = Signal(signed(16 + ceil_log2(dim)), name=f"sum_{column}", reset_less=True)
        m.d.sync += [total.eq(sum(pairs[1:], pairs[0])),
                     self.acc_sums[column].eq(total + old.as_signed())]

"""The matrix unit of the compact chip: rows of activations times a weight tile."""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from celosia.arch.config import COUNT_BITS, TpuConfig
from celosia_hw.compact.dot_products import ProductPair
from celosia_hw.compact.memory_map import ACCUMULATE_BIT, EngineRegister

__all__ = ["MatrixEngine"]


#: Cycles from a row of activations that is asked for to the first of its sums: the address in a
#: register, memory, operands, products, sums of pairs, sums, accumulators.
_LATENCY = 7
#: When a word of the accumulators is asked for, in cycles before its sum.
_ACC_LATENCY = 4


class MatrixEngine(wiring.Component):
    """Multiplies rows of the unified buffer by a weight tile and adds to the accumulators.

    After a write to ``START``, row i = 0, 1, .. of the accumulators, ``ACC_ROW + i * ACC_STEP``,
    becomes, or with accumulate grows by, the product of row ``ACTS_ROW + i * ACTS_STEP`` of the
    unified buffer with the tile. A column multiplies a whole row of activations in a cycle, and
    hands it on to the next column: so no wire goes far. Each column has its accumulators, a cycle
    after the one before.

    Throughput: a row a cycle; ``busy`` for rows + D + 6 cycles. A word of the accumulators is asked
    for four cycles before it is written: with accumulate, ``ACC_STEP`` is not 0 unless there is one
    row. Registers are not to be written while ``busy``.

    Parameters
    ----------
    config
        A chip with int8 only.
    mac16
        See :class:`~celosia_hw.compact.dot_products.ProductPair`.

    Members
    -------
    write : In(1), word : In(5), data : In(32)
        Write ``data`` to the register ``word``, an
        :class:`~celosia_hw.compact.memory_map.EngineRegister`.
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
        if config.bf16:
            raise ValueError(f"config must be a chip with int8 only, not {config.name} with bf16")
        self._config, self._mac16 = config, mac16
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
        left, accumulate = Signal(COUNT_BITS), Signal()
        acts_row, acts_step = Signal.like(self.ub_row), Signal.like(self.ub_row)
        acc_row, acc_step = Signal.like(self.acc_read_row[0]), Signal.like(self.acc_read_row[0])
        loads: Any = {EngineRegister.ACTS_ROW: acts_row, EngineRegister.ACTS_STEP: acts_step,
                      EngineRegister.ACC_ROW: acc_row, EngineRegister.ACC_STEP: acc_step}
        # Bit k: a row was asked for k cycles ago.
        line, before = Signal(_LATENCY + dim), Signal(_LATENCY + dim - 1)
        m.d.comb += [line.eq(Cat(self.ub_read, before)), self.busy.eq(line.any()),
                     self.ub_row.eq(acts_row)]
        m.d.sync += before.eq(line)
        with m.If(self.ub_read):
            m.d.sync += [left.eq(left - 1), self.ub_read.eq(left != 1),
                         acts_row.eq(acts_row + acts_step)]
        with m.If(line[_LATENCY - _ACC_LATENCY]):
            m.d.sync += acc_row.eq(acc_row + acc_step)
        with m.If(self.write):
            with m.If(self.word == EngineRegister.START):
                m.d.sync += [left.eq(self.data), self.ub_read.eq(1),
                             accumulate.eq(self.data[ACCUMULATE_BIT])]
            for register, value in loads.items():
                with m.If(self.word == register):
                    m.d.sync += value.eq(self.data)

        rows = [acc_row]
        for k in range(_ACC_LATENCY + dim - 1):
            rows.append(Signal.like(acc_row, name=f"acc_row_{k}", reset_less=True))
            m.d.sync += rows[-1].eq(rows[-2])
        acts = self.ub_data
        for column in range(dim):
            acts = self._column(m, column, acts, accumulate)
            m.d.comb += [
                self.acc_read[column].eq(line[_LATENCY - _ACC_LATENCY + column]),
                self.acc_read_row[column].eq(rows[column]),
                self.acc_write[column].eq(line[_LATENCY + column]),
                self.acc_write_row[column].eq(rows[_ACC_LATENCY + column]),
            ]
        return m

    def _column(self, m: Module, column: int, acts, accumulate):
        """Add a column; return the row of activations for the next one."""
        dim = self._config.dim
        place, lane = column // 4, 8 * (column % 4)

        def chosen(k: int):
            """Whether the weight of activation k is written."""
            return self.write & (
                self.word == EngineRegister.WEIGHTS + k * -(-dim // 4) + place)

        held = Signal.like(acts, name=f"acts_{column}", reset_less=True)
        m.d.sync += held.eq(acts)
        weight = self.data[lane:lane + 8].as_signed()
        pairs = []
        for k in range(0, dim, 2):
            pair = ProductPair(mac16=self._mac16)
            m.submodules[f"products_{k}_{column}"] = pair
            # A block of two products has one hold for both weights, which come in two rows.
            earlier = Signal(8, name=f"earlier_{k}_{column}", reset_less=True)
            with m.If(chosen(k)):
                m.d.sync += earlier.eq(weight)
            total = Signal(signed(17), name=f"pair_{k}_{column}", reset_less=True)
            m.d.comb += [
                pair.a0.eq(acts.word_select(k, 8).as_signed()),
                pair.a1.eq(acts.word_select(k + 1, 8).as_signed()),
                pair.b0.eq(earlier), pair.b1.eq(weight), pair.take_b.eq(chosen(k + 1)),
            ]
            m.d.sync += total.eq(pair.p0 + pair.p1)
            pairs.append(total)
        total = Signal(signed(16 + ceil_log2(dim)), name=f"sum_{column}", reset_less=True)
        old = Mux(accumulate, self.acc_data[column], 0)
        m.d.sync += [total.eq(sum(pairs[1:], pairs[0])),
                     self.acc_sums[column].eq(total + old.as_signed())]
        return held

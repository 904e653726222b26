"""The matrix unit of the compact chip: rows of activations times a weight tile."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from celosia.arch.config import COUNT_BITS, TpuConfig
from celosia_hw.compact.dot_products import ProductPair
from celosia_hw.compact.memory_map import ACCUMULATE_BIT, EngineRegister

__all__ = ["MatrixEngine"]


#: Cycles from the address of a row of activations to the row of sums: memory, operands, products,
#: sums of pairs, sums, accumulators.
_LATENCY = 6


class MatrixEngine(wiring.Component):
    """Multiplies rows of the unified buffer by a weight tile and adds to the accumulators.

    After a write to ``START``, row i = 0, 1, .. of the accumulators, ``ACC_ROW + i * ACC_STEP``,
    becomes, or with accumulate grows by, the product of row ``ACTS_ROW + i * ACTS_STEP`` of the
    unified buffer with the tile. All D x D products are made at once: for arrays so small that no
    wire is long, a systolic array would only add registers.

    Throughput: a row a cycle; ``busy`` for rows + 6 cycles. A row of the accumulators is read two
    cycles before it is written: with accumulate, ``ACC_STEP`` is not 0 unless there is one row.
    Registers are not to be written while ``busy``.

    Parameters
    ----------
    config
        A chip with int8 only.
    mac16
        See :class:`~celosia_hw.compact.dot_products.ProductPair`.

    Members
    -------
    write : In(1), word : In(4), data : In(32)
        Write ``data`` to the register ``word``, an
        :class:`~celosia_hw.compact.memory_map.EngineRegister`.
    busy : Out(1)
    ub_read : Out(1), ub_row : Out, ub_data : In
        Reads a row; its data come a cycle later.
    acc_read : Out(1), acc_read_row : Out, acc_data : In
    acc_write : Out(1), acc_write_row : Out, acc_sums : Out
        Likewise; writes take a cycle.
    """

    write: Signal
    word: Signal
    data: Signal
    busy: Signal
    ub_read: Signal
    ub_row: Signal
    ub_data: Signal
    acc_read: Signal
    acc_read_row: Signal
    acc_data: Signal
    acc_write: Signal
    acc_write_row: Signal
    acc_sums: Signal

    def __init__(self, config: TpuConfig, *, mac16: bool = False):
        if config.bf16:
            raise ValueError(f"config must be a chip with int8 only, not {config.name} with bf16")
        self._config, self._mac16 = config, mac16
        ub, acc = ceil_log2(config.ub_rows), ceil_log2(config.acc_rows)
        super().__init__({
            "write": In(1), "word": In(4), "data": In(32), "busy": Out(1),
            "ub_read": Out(1), "ub_row": Out(ub), "ub_data": In(config.ub_row_bits),
            "acc_read": Out(1), "acc_read_row": Out(acc), "acc_data": In(config.acc_row_bits),
            "acc_write": Out(1), "acc_write_row": Out(acc), "acc_sums": Out(config.acc_row_bits),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        dim = self._config.dim
        left, accumulate = Signal(COUNT_BITS), Signal()
        acts_row, acts_step = Signal.like(self.ub_row), Signal.like(self.ub_row)
        acc_row, acc_step = Signal.like(self.acc_read_row), Signal.like(self.acc_read_row)
        loads: Any = {EngineRegister.ACTS_ROW: acts_row, EngineRegister.ACTS_STEP: acts_step,
                      EngineRegister.ACC_ROW: acc_row, EngineRegister.ACC_STEP: acc_step}
        # Bit k: a row was asked for k cycles ago.
        line = Signal(_LATENCY)
        first = Signal()
        m.d.comb += [first.eq(left != 0), self.busy.eq(first | line.any()),
                     self.ub_read.eq(first), self.ub_row.eq(acts_row)]
        m.d.sync += line.eq(Cat(first, line[:-1]))
        with m.If(first):
            m.d.sync += [left.eq(left - 1), acts_row.eq(acts_row + acts_step)]
        with m.If(line[2]):
            m.d.sync += acc_row.eq(acc_row + acc_step)
        with m.If(self.write):
            with m.If(self.word == EngineRegister.START):
                m.d.sync += [left.eq(self.data), accumulate.eq(self.data[ACCUMULATE_BIT])]
            for register, value in loads.items():
                with m.If(self.word == register):
                    m.d.sync += value.eq(self.data)

        def byte(word, lane: int):
            return word.word_select(lane, 8).as_signed()

        sums = []
        for column in range(dim):
            pairs = []
            for k in range(0, dim, 2):
                pair = ProductPair(mac16=self._mac16)
                m.submodules[f"products_{k}_{column}"] = pair
                # A block of two products has one hold for both weights, which come in two rows.
                earlier = Signal(8, name=f"earlier_{k}_{column}", reset_less=True)
                with m.If(self.write & (self.word == EngineRegister.WEIGHTS + k)):
                    m.d.sync += earlier.eq(byte(self.data, column))
                total = Signal(signed(17), name=f"pair_{k}_{column}", reset_less=True)
                m.d.comb += [
                    pair.a0.eq(byte(self.ub_data, k)), pair.a1.eq(byte(self.ub_data, k + 1)),
                    pair.b0.eq(earlier), pair.b1.eq(byte(self.data, column)),
                    pair.take_b.eq(
                        self.write & (self.word == EngineRegister.WEIGHTS + k + 1)),
                ]
                m.d.sync += total.eq(pair.p0 + pair.p1)
                pairs.append(total)
            total = Signal(signed(16 + ceil_log2(dim)), name=f"sum_{column}", reset_less=True)
            m.d.sync += total.eq(sum(pairs[1:], pairs[0]))
            sums.append(total)

        # line[0]: the row is at the output of the memory; [1]: operands; [2]: products; [3]: sums
        # of pairs, and the accumulators are asked; [4]: sums, and the accumulators' row; [5]: out.
        before = Signal.like(self.acc_read_row)
        m.d.comb += [self.acc_read.eq(line[3]), self.acc_read_row.eq(before),
                     self.acc_write.eq(line[5])]
        m.d.sync += before.eq(acc_row)
        write_row = Signal.like(self.acc_write_row)
        m.d.sync += [write_row.eq(before), self.acc_write_row.eq(write_row)]
        for column, total in enumerate(sums):
            old = self.acc_data.word_select(column, 32)
            m.d.sync += self.acc_sums.word_select(column, 32).eq(
                (total + Mux(accumulate, old, 0).as_signed())[:32])
        return m

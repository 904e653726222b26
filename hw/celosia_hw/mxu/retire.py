"""From sums to accumulators: set a row, or read it, add, and write it back."""

from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia_hw.fp.add import f32_add
from celosia_hw.grid import Grid
from celosia_hw.memory.ports import (
    READ_LATENCY,
    ReadPort,
    ReadPortSignature,
    WritePort,
    WritePortSignature,
    row_bits,
)
from celosia_hw.mxu.array import SystolicArray
from celosia_hw.mxu.pe import sum_bits
from celosia_hw.stream import delayed, outstanding

__all__ = ["AccumulatorLane", "Retire", "retire_layout", "rmw_cycles"]


def rmw_cycles(config: TpuConfig) -> int:
    """Cycles from a row until one of the same address may start that accumulates onto it.

    Read, READ_LATENCY, add, write; a read sees what was written the cycle before.
    """
    return READ_LATENCY + config.sum_cycles + 1


def retire_layout(config: TpuConfig) -> data.StructLayout:
    """What becomes of a row: its accumulator row, and whether it is the command's last."""
    return data.StructLayout({
        "row": row_bits(config), "accumulate": 1, "bf16": 1, "last": 1})


class AccumulatorLane(wiring.Component):
    """``o`` becomes ``sum``, or ``acc + sum``, ``config.sum_cycles`` later.

    ``valid``: there is a row in one of these cycles.
    """

    valid: Signal
    accumulate: Signal
    bf16: Signal
    sum: Signal
    acc: Signal
    o: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "valid": In(1), "accumulate": In(1), "bf16": In(1), "sum": In(sum_bits(config)),
            "acc": In(32), "o": Out(32)})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        cycles = self._config.sum_cycles
        result = Signal(32, reset_less=True)
        addend = Signal(signed(32))
        m.d.comb += addend.eq(self.sum.as_signed())

        def late(value: Value, name: str) -> Value:
            return delayed(m, value, cycles - 1, name=name, reset_less=True)[-1]

        # One word beside the fp32 sum: what becomes of the row without it.
        total, accumulate, word = (self.acc + addend)[:32], self.accumulate, addend
        if self._config.bf16:
            floating = self.accumulate
            if self._config.int8:
                floating = self.accumulate & self.bf16
                word = Mux(self.accumulate, total, addend)
            total = f32_add(m, self.acc, addend, name="add", cycles=cycles)
            accumulate, word = late(floating, "floating"), late(word, "word")
        m.d.comb += self.o.eq(result)
        with m.If(self.valid):
            m.d.sync += result.eq(Mux(accumulate, total, word))
        return m


class Retire(wiring.Component):
    """Follows each row through the array and writes its sums.

    A row that starts in cycle t has its sums READ_LATENCY + ``SystolicArray.latency`` later and is
    written ``config.sum_cycles`` behind them. The accumulator ports must always be ready.

    Members
    -------
    i_valid, i : In
        A row starts; its activations are at the array READ_LATENCY cycles later.
    i_sums : In(D * sum_bits)
        Out of the array.
    read, write : Out
        Ports of the accumulators.
    coming : Out(1), row : Out(row_bits)
        A row is written in the next cycle: the port does not refuse it.
    done : Out(1)
        It is the last one of a command.
    busy : Out(1)
        Rows are in flight.
    """

    i_valid: Signal
    i: data.View
    i_sums: Signal
    read: ReadPort
    write: WritePort
    coming: Signal
    row: Signal
    done: Signal
    busy: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "i_valid": In(1), "i": In(retire_layout(config)),
            "i_sums": In(config.dim * sum_bits(config)),
            "read": Out(ReadPortSignature(row_bits(config), config.acc_row_bits)),
            "write": Out(WritePortSignature(row_bits(config), config.acc_row_bits)),
            "coming": Out(1), "row": Out(row_bits(config)), "done": Out(1), "busy": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config = self._config
        layout = retire_layout(config)
        delay = SystolicArray.latency(config)  # to the cycle of the read
        late = READ_LATENCY + config.sum_cycles  # from there to the cycle of the write

        # A ring: an entry is written in the cycle behind its row's, and read in the one before it
        # is due. Its position wraps by itself.
        depth = 1 << (delay - 2).bit_length()
        newest = Signal(layout, reset_less=True)
        m.submodules.ring = ring = Memory(shape=layout, depth=depth, init=[])
        write, read = ring.write_port(), ring.read_port()
        position = Signal(range(depth))
        m.d.sync += [position.eq(position + 1), newest.eq(self.i)]
        m.d.comb += [
            write.addr.eq(position), write.data.eq(newest), write.en.eq(1),
            read.addr.eq(position + (depth - delay + 2)), read.en.eq(1),
        ]
        line = Signal(delay)
        m.d.sync += line.eq(Cat(self.i_valid, line[:-1]))

        valid, entry = line[-1], read.data
        m.d.comb += [self.read.valid.eq(valid & entry.accumulate), self.read.addr.eq(entry.row)]
        # Out of a flip-flop, for the scoreboard has much to do with it.
        done = delayed(m, valid & entry.last, late - 1, name="done")[-1]
        valids = delayed(m, valid, late, name="valid")
        entries = delayed(m, entry, late, name="entry", reset_less=True)
        sums = entries[READ_LATENCY]

        m.submodules.lanes = lanes = Grid(
            lambda: AccumulatorLane(config), module="celosia_accumulator_lane", cols=config.dim,
            shared=("valid", "accumulate", "bf16"))
        adder = lanes.members
        m.d.comb += [
            adder["valid"].eq(reduce(or_, valids[READ_LATENCY:-1])),
            adder["accumulate"].eq(sums.accumulate),
            adder["bf16"].eq(sums.bf16), adder["sum"].eq(self.i_sums),
            adder["acc"].eq(self.read.data),
            self.write.valid.eq(valids[-1]), self.write.addr.eq(entries[-1].row),
            self.write.data.eq(adder["o"]),
            self.coming.eq(valids[-2]), self.row.eq(entries[-2].row), self.done.eq(done),
        ]

        in_flight = outstanding(m, self.i_valid, valids[-1], delay + late, name="in_flight")
        m.d.comb += self.busy.eq(in_flight != 0)
        return m

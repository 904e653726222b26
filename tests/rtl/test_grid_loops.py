"""A grid as loops over arrays does what its elements do."""

import ctypes

import numpy as np
import pytest
from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from verilated import library

from celosia_hw.grid import Grid
from celosia_hw.verilog.emit import instances, verilog
from celosia_sim.loops.vectorise import loops

COLS, CYCLES = 5, 400
WORDS = [(k * 37 + 11) & 0xFF for k in range(16)]
SHIM = """
extern "C" void steps(uint32_t cycles, const uint8_t* enables, const uint64_t* each,
                      uint64_t* result) {
    static VerilatedContext context;
    static Vdut* top = new Vdut(&context);
    for (uint32_t t = 0; t < cycles; t++) {
        top->rst = 0; top->enable = enables[t]; top->each = each[t];
        top->clk = 0; top->eval();
        top->clk = 1; top->eval();
        result[t] = top->result;
    }
}
"""


class Cell(wiring.Component):
    """Registers under conditions of all kinds, of which some read each other."""

    def __init__(self):
        super().__init__({"enable": In(6), "each": In(8), "result": Out(8)})

    def elaborate(self, platform):
        m = Module()
        first, second, third, swapped, looked = (
            Signal(8, name=name, reset_less=True)
            for name in ("first", "second", "third", "swapped", "looked"))
        slices = Signal(8)
        m.submodules.words = words = Memory(shape=8, depth=16, init=WORDS)
        table, direct = words.read_port(), words.read_port(domain="comb")
        m.d.comb += [table.addr.eq(first[:4]), table.en.eq(self.enable[1]),
                     direct.addr.eq(second[4:])]
        with m.If(self.enable[0]):
            m.d.sync += [first.eq(self.each), second.eq(first + third)]
        with m.If(self.enable[2] & ~self.enable[0]):  # reads what it and others update
            m.d.sync += swapped.eq(third ^ swapped)
        with m.If(self.enable[3] & self.each[0]):  # not the same for all elements
            m.d.sync += third.eq(swapped + direct.data)
        with m.If(self.enable[4]):
            m.d.sync += [looked.eq(table.data), slices[:4].eq(looked[4:])]
        with m.If(self.enable[5]):
            m.d.sync += slices[4:].eq(looked[:4])
        m.d.sync += self.result.eq(slices ^ looked ^ second)
        return m


class Modal(wiring.Component):
    """Adds or subtracts, as its register ``mode`` says, which comes from the highest bit."""

    alike = ("mode",)

    def __init__(self):
        super().__init__({"enable": In(6), "each": In(8), "result": Out(8)})

    def elaborate(self, platform):
        m = Module()
        mode = Signal(reset_less=True)
        with m.If(self.enable[0]):
            m.d.sync += mode.eq(self.each[7])
        m.d.sync += self.result.eq(Mux(mode, self.result + self.each, self.result - self.each))
        return m


class Passing(wiring.Component):
    """Sums what comes down and what is kept of what comes from the left, handed on late."""

    seldom = ("key", "take")
    alike = ("mode",)

    def __init__(self):
        super().__init__({
            "key_i": In(8), "key_o": Out(8), "take_i": In(1), "take_o": Out(1), "sum_i": In(8),
            "sum_o": Out(8)})

    def elaborate(self, platform):
        m = Module()
        late, kept = Signal(8, reset_less=True), Signal(8, reset_less=True)
        mode = Signal()
        m.d.sync += [late.eq(self.key_i), self.key_o.eq(late), self.take_o.eq(self.take_i),
                     mode.eq(kept[0])]
        with m.If(self.take_i):
            m.d.sync += kept.eq(late)
        m.d.sync += self.sum_o.eq(self.sum_i + Mux(mode, kept, ~kept) + self.key_i)
        return m


class Passes(wiring.Component):
    """A grid of them: ``enable`` takes a row a bit, ``each`` are keys of the rows and sums."""

    def __init__(self):
        super().__init__({"enable": In(6), "each": In(8 * COLS), "result": Out(8 * COLS)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.grid = grid = Grid(Passing, module="node", rows=2, cols=3,
                                        right=("key",), down=("take", "sum"))
        ports, mine = grid.members, vars(self)
        m.d.comb += [ports["key_i"].eq(mine["each"][:16]), ports["sum_i"].eq(mine["each"][16:]),
                     ports["take_i"].eq(mine["enable"][:3]), mine["result"].eq(ports["sum_o"])]
        return m


class Top(wiring.Component):
    def __init__(self, cell=Cell):
        self.cell = cell
        super().__init__({"enable": In(6), "each": In(8 * COLS), "result": Out(8 * COLS)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.grid = grid = Grid(self.cell, module="node", cols=COLS,
                                        shared=("enable",))
        ports, mine = grid.members, vars(self)
        m.d.comb += [ports["enable"].eq(mine["enable"]), ports["each"].eq(mine["each"]),
                     mine["result"].eq(ports["result"])]
        return m


def expected(enables, each):
    registers = dict.fromkeys(
        ("first", "second", "third", "swapped", "table", "looked", "low", "high", "result"),
        np.zeros(COLS, int))
    words, results = np.array(WORDS), []
    for enable, row in zip(enables, each, strict=True):
        old, new = registers, dict(registers)
        if enable & 1:
            new["first"], new["second"] = row, (old["first"] + old["third"]) & 255
        if enable & 2:
            new["table"] = words[old["first"] & 15]
        if enable & 4 and not enable & 1:
            new["swapped"] = old["third"] ^ old["swapped"]
        if enable & 8:
            new["third"] = np.where(row & 1, (old["swapped"] + words[old["second"] >> 4]) & 255,
                                    old["third"])
        if enable & 16:
            new["looked"], new["low"] = old["table"], old["looked"] >> 4
        if enable & 32:
            new["high"] = old["looked"] & 15
        new["result"] = (old["low"] | old["high"] << 4) ^ old["looked"] ^ old["second"]
        registers = new
        results.append(new["result"])
    return np.array(results)


def run(enables, each, top, form=loops):
    """Results of the loops of ``top``, or of another form of it, a row a cycle."""
    shifts = np.arange(COLS) * 8
    packed = np.sum(each << shifts, axis=1).astype(np.uint64)
    result = np.zeros(len(enables), np.uint64)
    steps = library(verilog(top, name="dut", write_grid=form), SHIM).steps
    steps(len(enables), *(x.ctypes.data_as(ctypes.c_void_p) for x in (enables, packed, result)))
    return result.astype(np.int64)[:, np.newaxis] >> shifts & 255


def test_loops_equal_a_model_of_the_element():
    rng = np.random.default_rng(0)
    enables = rng.integers(0, 64, CYCLES, np.uint8)
    each = rng.integers(0, 256, (CYCLES, COLS))
    np.testing.assert_array_equal(run(enables, each, Top()), expected(enables, each))


def test_what_is_alike_may_differ():
    rng = np.random.default_rng(1)
    enables = rng.integers(0, 2, CYCLES, np.uint8)
    each = rng.integers(0, 128, (CYCLES, COLS))
    third = CYCLES // 3  # all set, none, and some
    each[:third] |= 128
    each[2 * third:] |= rng.integers(0, 2, (CYCLES - 2 * third, COLS)) << 7
    mode, total, wanted = np.zeros(COLS, int), np.zeros(COLS, int), []
    for enable, row in zip(enables, each, strict=True):
        total = np.where(mode, total + row, total - row) & 255
        mode = row >> 7 if enable & 1 else mode
        wanted.append(total)
    np.testing.assert_array_equal(run(enables, each, Top(Modal)), wanted)


def test_what_is_alike_is_a_register_of_one_bit(monkeypatch):
    for name in ("result", "other"):
        monkeypatch.setattr(Modal, "alike", (name,))
        with pytest.raises(ValueError, match="what is alike in a grid of node must be a register "
                                             f"of one bit, not '{name}'"):
            verilog(Top(Modal), name="dut", write_grid=loops)


def test_what_rests_moves_again():
    rng = np.random.default_rng(2)
    each = rng.integers(0, 256, (CYCLES, COLS))
    enables = rng.integers(0, 8, CYCLES, np.uint8)
    for period, start in ((1, 0), (3, 100), (9, 200), (25, 300)):
        for first in range(start, start + 100, period):  # of which the last cycle alone is another
            each[first:first + period, :2], enables[first:first + period] = each[first, :2], 0
            enables[first + period - 1] = rng.integers(0, 8)
    found = run(enables, each, Passes())
    np.testing.assert_array_equal(found, run(enables, each, Passes(), instances))
    assert len(np.unique(found[300:], axis=0)) > 50
    text = verilog(Passes(), name="dut", write_grid=loops)
    # A key takes five cycles to what the third element has of it, which is kept, and sets its mode.
    assert "still < 8" in text

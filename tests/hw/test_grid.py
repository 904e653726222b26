# amaranth: UnusedElaboratable=no
import re

import numpy as np
import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from celosia_hw.grid import Grid
from celosia_hw.verilog.emit import instances, verilog
from celosia_sim.loops.vectorise import loops
from hw.engine import Simulator


class Cell(wiring.Component):
    """down' = down + right * shared + each; right' = right; each' is a running sum of right."""

    def __init__(self):
        super().__init__({"right_i": In(8), "right_o": Out(8), "down_i": In(16), "down_o": Out(16),
                          "gain": In(4).array(2), "bias": In(8), "seen": Out(8)})

    def elaborate(self, platform):
        m = Module()
        m.d.sync += [
            self.right_o.eq(self.right_i), self.seen.eq(self.seen + self.right_i),
            self.down_o.eq(self.down_i + self.right_i * (self.gain[0] + self.gain[1]) + self.bias)]
        return m


def grid(rows, cols):
    return Grid(Cell, module="node", rows=rows, cols=cols, right=("right",), down=("down",),
                shared=("gain",))


def test_ports():
    signature = grid(2, 3).signature
    shapes = {name: (member.flow, member.shape) for name, member in signature.members.items()}
    assert shapes == {
        "right_i": (In, 2 * 8), "down_i": (In, 3 * 16), "down_o": (Out, 3 * 16), "gain__0": (In, 4),
        "gain__1": (In, 4), "bias": (In, 6 * 8), "seen": (Out, 6 * 8)}


def test_what_changes_seldom_is_passed(monkeypatch):
    monkeypatch.setattr(Cell, "seldom", ("right", "bias"), raising=False)
    with pytest.raises(ValueError, match="^what changes seldom in a grid of node must be passed "
                                         "right or down, not 'bias'$"):
        grid(1, 1)


def test_elements_are_connected_right_down_each_and_shared():
    rows, cols, cycles = 2, 3, 12
    rng = np.random.default_rng(0)
    right, down = rng.integers(0, 256, (cycles, rows)), rng.integers(0, 1 << 16, (cycles, cols))
    bias, gain = rng.integers(0, 256, (cycles, rows, cols)), rng.integers(0, 16, (cycles, 2))
    dut = grid(rows, cols)

    def word(values, bits):
        return sum(int(x) << (bits * i) for i, x in enumerate(np.ravel(values)))

    async def bench(ctx):
        state = {name: np.zeros((rows, cols), int) for name in ("right", "down", "seen")}
        for t in range(cycles):
            ctx.set(dut.members["right_i"], word(right[t], 8))
            ctx.set(dut.members["down_i"], word(down[t], 16))
            ctx.set(dut.members["bias"], word(bias[t], 8))
            for k in range(2):
                ctx.set(dut.members[f"gain__{k}"], int(gain[t, k]))
            r = np.column_stack([right[t], state["right"][:, :-1]])
            d = np.vstack([down[t], state["down"][:-1]])
            state = {"right": r, "down": (d + r * gain[t].sum() + bias[t]) & 0xFFFF,
                     "seen": (state["seen"] + r) & 0xFF}
            await ctx.tick()
            assert ctx.get(dut.members["down_o"]) == word(state["down"][-1], 16)
            assert ctx.get(dut.members["seen"]) == word(state["seen"], 8)

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize("form", [loops, instances])
def test_verilog_does_not_grow_with_the_grid(form):
    small, large = (verilog(grid(8, n), name="top", write_grid=form) for n in (2, 16))
    assert large == verilog(grid(8, 16), name="top", write_grid=form)
    for text in (small, large):
        modules = re.findall(r"^module (\w+)", text, re.MULTILINE)
        assert modules == ["top", "node_grid"] if form is loops else ["top", "node", "node_grid"]
    operations = [text.count(" * ") for text in (small, large)]
    assert operations[0] == operations[1] <= 4 + 8 * (form is instances)


class Odd(wiring.Component):
    """Outputs a word of a memory, or what is no register."""

    def __init__(self, memory, written=False):
        self._memory, self._written = memory, written
        super().__init__({"a": In(4), "b": Out(4)})

    def elaborate(self, platform):
        m = Module()
        register = Signal(4)
        m.d.sync += register.eq(self.a)
        if self._memory:
            m.submodules.memory = memory = Memory(shape=4, depth=16, init=[1, 14])
            port = memory.read_port()
            m.d.comb += [port.addr.eq(register), self.b.eq(port.data)]
            if self._written:
                write = memory.write_port()
                m.d.comb += [write.addr.eq(register), write.en.eq(1)]
        else:
            m.d.comb += self.b.eq(register + self.a)
        return m


def test_output_that_is_no_register_is_refused():
    with pytest.raises(ValueError, match="^output b of module odd must be a register$"):
        verilog(Grid(lambda: Odd(False), module="odd", cols=2), name="top", write_grid=loops)


def test_register_that_does_not_start_at_zero_is_refused():
    class Toggle(wiring.Component):
        def __init__(self):
            super().__init__({"o": Out(1, init=1)})

        def elaborate(self, platform):
            m = Module()
            m.d.sync += self.o.eq(~self.o)
            return m

    with pytest.raises(ValueError,
                       match="^register o of module toggle must start at zero, not '1'$"):
        verilog(Grid(Toggle, module="toggle", cols=2), name="top", write_grid=loops)


def test_memory_that_is_written_is_refused():
    with pytest.raises(ValueError, match="^memory memory of module odd must be read only, not "):
        verilog(Grid(lambda: Odd(True, True), module="odd", cols=2), name="top", write_grid=loops)


@pytest.mark.parametrize("form", [loops, instances])
def test_memory_is_written_once_for_all_elements(form):
    text = verilog(Grid(lambda: Odd(True), module="odd", cols=8), name="top",
                   write_grid=form)
    assert text.count("initial begin") == 1
    assert re.findall(r"memory\[1\] = 4'he", text) == ["memory[1] = 4'he"]

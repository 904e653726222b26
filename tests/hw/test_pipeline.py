# amaranth: UnusedElaboratable=no
"""Pipelines as tables: what a stage takes, when it comes, and what stays."""

import pytest
from amaranth.hdl import Module, Signal

from celosia_hw.pipeline import Logic, Pipeline
from celosia_hw.stream import delayed
from hw.engine import Simulator

CYCLES = 12


def run(m, inputs, output):
    """Return ``output`` of each cycle; ``inputs`` are signals, each with its value in a cycle."""
    found = []

    async def bench(ctx):
        for cycle in range(CYCLES):
            for signal, value in inputs:
                ctx.set(signal, value(cycle))
            found.append(ctx.get(output))
            await ctx.tick()

    simulator = Simulator(m)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return found


def copied(m, value):
    """Return a signal of 8 bits that equals ``value``."""
    signal = Signal(8)
    m.d.comb += signal.eq(value)
    return signal


def test_values_wait_for_the_stage_that_takes_them():
    m, a, b = Module(), Signal(8), Signal(8)
    stages = [[Logic(lambda a, b: {"product": a * b, "a": a})],
              [Logic(lambda product, shared: {"product": product + shared})],
              [Logic(lambda product, a: {"sum": product + a})]]
    row = Pipeline([m] * 3, stages, {"a": a, "b": b, "shared": Signal(4, init=3)})
    output = copied(m, row.value("sum", 3))
    found = run(m, [(a, lambda cycle: cycle), (b, lambda cycle: cycle + 2)], output)
    assert found[3:] == [k * (k + 2) + 3 + k for k in range(CYCLES - 3)]


def test_registers_keep_what_no_row_uses():
    m, word = Module(), Signal(8)
    valid = [Signal(name=f"valid{k}") for k in range(2)]
    m.d.sync += valid[1].eq(valid[0])
    row = Pipeline([m] * 2, [[Logic(lambda word: {"word": word}, lambda valid: valid)], []],
                   {"word": word}, controls=[{"valid": each} for each in valid])
    output = copied(m, row.value("word", 2))
    found = run(m, [(word, lambda cycle: cycle), (valid[0], lambda cycle: cycle % 3 == 1)], output)
    assert found == [0, 0, 0, *(k - 2 - (k - 2 - 1) % 3 for k in range(3, CYCLES))]


def test_what_comes_out_of_registers_is_not_delayed_again():
    def counted(m, word):
        held = Signal(8)
        m.d.sync += held.eq(word + 1)
        return {"word": held}

    m, word = Module(), Signal(8)
    row = Pipeline([m] * 2, [[Logic(counted, registered=True)], []], {"word": word})
    with pytest.raises(ValueError, match="^word must be taken from stage 1 on, not 0$"):
        row.value("word", 0)
    output = copied(m, row.value("word", 1))
    assert run(m, [(word, lambda cycle: cycle)], output) == [0, *range(1, CYCLES)]


def test_what_takes_cycles_is_there_behind_them():
    def counted(m, word):
        held = Signal(8)
        m.d.sync += held.eq(word + 1)
        return {"word": delayed(m, held, 1, name="late")[-1]}

    m, word = Module(), Signal(8)
    row = Pipeline([m] * 3, [[Logic(counted, registered=2)], [], []], {"word": word})
    with pytest.raises(ValueError, match="^word must be taken from stage 2 on, not 1$"):
        row.value("word", 1)
    output = copied(m, row.value("word", 2))
    assert run(m, [(word, lambda cycle: cycle)], output) == [0, 0, *range(1, CYCLES - 1)]


def test_what_is_made_anew_stands_for_the_value_before():
    m, word = Module(), Signal(8)
    stages = [[Logic(lambda word: {"word": word + 1}), Logic(lambda word: {"word": word * 2})]]
    row = Pipeline([m], stages, {"word": word})
    output = Signal(8)
    m.d.sync += output.eq(row.value("word", 0))
    found = run(m, [(word, lambda cycle: cycle)], output)
    assert found == [0, *(2 * (k + 1) for k in range(CYCLES - 1))]


def test_what_nobody_makes_is_named():
    with pytest.raises(ValueError, match=r"^stage 1 takes 'c', which is none of a, b, shared$"):
        Pipeline([Module()] * 2, [[Logic(lambda a: {"b": a})], [Logic(lambda c: {"d": c})]],
                 {"a": Signal(), "shared": Signal()})

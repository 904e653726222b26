import numpy as np
import pytest
from works import unrolled

from celosia.arch.encoding import Imm
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.assemble import assemble
from celosia.compiler.codegen.nodes import Loop
from celosia.compiler.codegen.roll import roll


def executed(insns):
    """Return (mnemonic, fields, operand words) of the tensor instructions as they run."""
    registers, stack, out, pc = [0] * 32, [], [], 0
    while insns[pc].instruction.mnemonic != "halt":
        insn = insns[pc]
        words = [word.value if isinstance(word, Imm) else registers[word.number]
                 for word in insn.operands]
        name = insn.instruction.mnemonic
        pc += 1
        if name == "mov":
            registers[insn.fields["rd"]] = words[0]
        elif name == "add":
            registers[insn.fields["rd"]] = (words[0] + words[1]) % (1 << 32)
        elif name == "loop":
            stack.append([pc, words[1], words[0]])
        else:
            out.append((name, tuple(insn.fields.items()), tuple(words)))
        while stack and stack[-1][1] == pc:
            stack[-1][2] -= 1
            if stack[-1][2]:
                pc = stack[-1][0]
                break
            stack.pop()
    return out


def matmul(acc, acts, w, rows=16):
    return nodes.matmul(0, acc, acts, w, rows, 4)


def load(row, addr):
    return nodes.load(0, 0, row, addr, 4, 4, 4)


def random_nest(rng, depth=0):
    """Return operations that repeat in nested loops, with what breaks the pattern between them."""
    if depth == 3 or rng.random() < 0.3:
        return [matmul(*map(int, rng.integers(0, 50, 3))) if rng.random() < 0.6
                else load(*map(int, rng.integers(0, 50, 2))) for _ in range(rng.integers(1, 4))]
    body = [node for _ in range(rng.integers(1, 3)) for node in random_nest(rng, depth + 1)]
    steps = [tuple(map(int, rng.integers(-3, 6, len(node.varying)))) for node in body]
    out = []
    for turn in range(int(rng.integers(1, 6))):
        out += [node.with_varying(tuple(value + turn * step for value, step
                                        in zip(node.varying, own, strict=True)))
                for node, own in zip(body, steps, strict=True)]
    return out


@pytest.mark.parametrize("seed", range(60))
def test_rolled_programs_run_the_same_instructions_in_the_same_order(seed):
    rng = np.random.default_rng(seed)
    flat = [node for _ in range(3) for node in random_nest(rng)]
    rolled = roll(flat)
    assert unrolled(rolled) == flat
    assert executed(assemble(rolled).insns) == executed(assemble(flat).insns)


def test_nested_repeats_become_nested_loops():
    flat = [matmul(m, 100 * n + k, 7 * k) for m in range(5) for n in range(4) for k in range(9)]
    (outer,) = roll(flat)
    assert isinstance(outer, Loop)
    assert outer.count == 5
    assert len(assemble([outer]).insns) < 16


def test_what_does_not_repeat_stays():
    flat = [matmul(0, 0, 0), matmul(1, 5, 0), matmul(2, 9, 0), matmul(3, 9, 0, rows=8)]
    assert roll(flat) == flat


def test_addresses_in_registers_are_relocated_where_they_are_set():
    code = assemble(roll([load(i, 64 * i + 5) for i in range(9)]))
    ((index, operand),) = code.relocations
    assert code.insns[index].instruction.mnemonic == "mov"
    assert code.insns[index].operands[operand] == Imm(5)


def test_addresses_in_instructions_are_relocated_there():
    assert assemble([matmul(0, 0, 0), load(3, 9)]).relocations == [(1, 1)]


def body_of(inner, outer):
    """Return a body of ``outer`` nodes: one, three turns of ``inner`` nodes, others."""
    rows = np.random.default_rng(inner).permutation(1 << 14)[:outer - 2 * inner].tolist()
    single, *rows = rows
    turns = [matmul(row, 7 * turn, 0) for turn in range(3) for row in rows[:inner]]
    return [matmul(single, 0, 0), *turns, *(matmul(row, 0, 0) for row in rows[inner:])]


@pytest.mark.parametrize(("inner", "outer"), [
    (4, 13), *(pair for longest in (16, 64, 256)
               for pair in ((longest, 3 * longest + 1), (longest // 3, longest + 1)))])
def test_short_bodies_are_found_before_long_ones(inner, outer):
    """So that loops nest: in each stage of `PERIODS` of `codegen.roll`, from edge to edge."""
    flat = [node.with_varying((node.varying[0], node.varying[1], turn))
            for turn in range(3) for node in body_of(inner, outer)]
    (loop,) = roll(flat)
    assert loop.count == 3
    nested = loop.body[1]
    assert isinstance(nested, Loop)
    assert (nested.count, len(nested.body)) == (3, inner)


@pytest.mark.parametrize(("period", "nodes_"), [(1024, 1), (1025, 3 * 1025)])
def test_bodies_have_a_longest(period, nodes_):
    rows = np.random.default_rng(0).permutation(1 << 14)[:period].tolist()
    assert len(roll([matmul(row, turn, 0) for turn in range(3) for row in rows])) == nodes_

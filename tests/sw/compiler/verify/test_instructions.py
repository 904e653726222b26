"""Each rule of instructions, broken once."""

import pytest

from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Insn, Reg, insn
from celosia.arch.isa import DmaFormat, Mem
from celosia.compiler.codegen import generate, nodes
from celosia.compiler.codegen.assemble import Assembled
from celosia.compiler.codegen.blocks import Emitted
from celosia.compiler.errors import IllFormed
from celosia.compiler.verify.instructions import check_instructions

CHIP = TpuConfig("small", dim=4, int8=False, bf16=True, ub_rows=64, acc_rows=64, bus_bytes=16)
HALT, MOV = insn("halt"), insn("mov", rd=1, a=5)
LOAD = insn("load", mem="acc", fmt="w32", row=0, addr=64, rows=1, cols=4, pitch=16)


def add(register):
    return insn("add", rd=2, a=Reg(register), b=1)


def loop(end):
    return insn("loop", count=3, end=end)


def branch(target):
    return insn("beq", a=0, b=0, target=target)


def code(*insns: Insn, relocations=()):
    return Assembled(list(insns), ["here"] * len(insns), list(relocations))


def refused(*insns, relocations=()):
    """Return what the check says of instructions."""
    with pytest.raises(IllFormed) as error:
        check_instructions(CHIP, code(*insns, relocations=relocations))
    first, *lines = str(error.value).split("\n  ")
    assert first == "the program is not well formed:"
    return "; ".join(lines)


def test_what_is_well_formed_is_accepted():
    check_instructions(CHIP, code(MOV, loop(4), add(1), branch(2), LOAD, HALT,
                                  relocations=[(4, 1)]))


@pytest.mark.parametrize(("insns", "said"), [
    ([], "the last instruction must be halt"),
    ([MOV], "the last instruction must be halt"),
    ([insn("load", mem="ub", fmt="i8", row=0, addr=0, rows=1, cols=4, pitch=4), HALT],
     "load at 0, of here: fmt i8 needs a chip with int8"),
    ([branch(9), HALT], "beq at 0, of here: it must go on in the program, not at 9"),
    ([loop(9), MOV, HALT], "loop at 0, of here: the body must end behind it, not at 9"),
    ([MOV, loop(1), HALT], "loop at 1, of here: the body must end behind it, not at 1"),
    ([loop(3), loop(4), MOV, MOV, HALT],
     "loop at 1, of here: the body must end in the loop around it, not at 4"),
    ([*(loop(6) for _ in range(5)), MOV, HALT],
     "loop at 4, of here: loops must nest 4 deep, not 5"),
    ([loop(3), MOV, branch(4), MOV, HALT],
     "beq at 2, of here: it must go on in the loop that it is in, not at 4"),
    ([branch(2), loop(4), MOV, MOV, HALT],
     "beq at 0, of here: it must go on in the loop that it is in, not at 2"),
    ([add(1), HALT], "add at 0, of here: r1 must be set before it is read"),
    ([insn("vector", op="mov", dst_kind="acc", a_kind="acc", dst=0, a=0, n0=1, xa=2), HALT],
     "vector at 0, of here: x2, its xa, must be set before it is read"),
    ([LOAD, HALT], "load at 0, of here: its address must move with the arena"),
])
def test_instructions(insns, said):
    assert said in refused(*insns).split("; ")


@pytest.mark.parametrize("relocation", [(5, 0), (0, 7), (1, 0)])
def test_what_moves_with_the_arena_is_a_number(relocation):
    at, operand = relocation
    assert refused(MOV, add(1), HALT, relocations=[relocation]) == (
        f"what is moved with the arena must be a number, not operand {operand} at {at}")


def test_an_operand_moves_once():
    assert refused(LOAD, HALT, relocations=[(0, 1), (0, 1)]) == (
        "an operand must be moved with the arena once")


def test_every_instruction_has_a_source():
    with pytest.raises(IllFormed, match="every instruction must have a source, 1, not 0"):
        check_instructions(CHIP, Assembled([HALT]))


def test_what_is_assembled_is_checked(monkeypatch):
    works = [Emitted([nodes.load(Mem.ACC, DmaFormat.W32, 0, 0, 1, 4, 16)])]
    generate.generate(CHIP, works)
    monkeypatch.setattr(generate.Assembler, "nodes", lambda self, nodes: self.out.add(LOAD, "here"))
    with pytest.raises(IllFormed, match="its address must move with the arena"):
        generate.generate(CHIP, works)
    monkeypatch.setenv("CELOSIA_CHECK", "0")
    generate.generate(CHIP, works)

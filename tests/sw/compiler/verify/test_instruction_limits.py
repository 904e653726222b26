"""Where branches and loops may go, and which registers and numbers there must be: either side."""

import pytest

from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Reg, insn
from celosia.compiler.codegen.assemble import Assembled
from celosia.compiler.errors import IllFormed
from celosia.compiler.verify.instructions import check_instructions

CHIP = TpuConfig("small", dim=4, int8=False, bf16=True, ub_rows=64, acc_rows=64, bus_bytes=16)
HALT, MOV = insn("halt"), insn("mov", rd=1, a=5)
LOAD = insn("load", mem="acc", fmt="w32", row=0, addr=64, rows=1, cols=4, pitch=16)
STORE = insn("store", mem="acc", fmt="w32", row=0, addr=64, rows=1, cols=4, pitch=16)
SOMEWHERE = insn("load", mem="acc", fmt="w32", row=0, addr=Reg(1), rows=1, cols=4, pitch=16)
#: Targets that a branch may have in seven instructions with a loop of those at 2 and 3.
OUTSIDE, INSIDE = {0, 1, 4, 5, 6}, {2, 3, 4}


def said(*insns, relocations=(), source="here"):
    """Return the lines that a check has to say of instructions."""
    code = Assembled(list(insns), [source] * len(insns), list(relocations))
    try:
        check_instructions(CHIP, code)
    except IllFormed as error:
        return str(error).split("\n  ")[1:]
    return []


def loop(end):
    return insn("loop", count=3, end=end)


@pytest.mark.parametrize("target", range(9))
@pytest.mark.parametrize(("at", "good"), [(0, OUTSIDE), (2, INSIDE), (3, INSIDE), (4, OUTSIDE),
                                          (5, OUTSIDE)])
def test_where_branches_go(at, good, target):
    insns = [MOV, loop(4), MOV, MOV, MOV, MOV, HALT]
    insns[at] = insn("beq", a=0, b=0, target=target)
    name = f"beq at {at}, of here: it must go on in the"
    wanted = []
    if target > 6:
        wanted.append(f"{name} program, not at {target}")
    if target not in good and (target <= 6 or good is INSIDE):
        wanted.append(f"{name} loop that it is in, not at {target}")
    assert said(*insns) == wanted


@pytest.mark.parametrize(("insns", "lines"), [
    ([loop(1), HALT], []),
    ([loop(2), MOV, HALT], []),
    ([loop(3), MOV, HALT], ["loop at 0, of here: the body must end behind it, not at 3"]),
    ([MOV, loop(1), HALT], ["loop at 1, of here: the body must end behind it, not at 1"]),
    ([loop(3), loop(3), MOV, HALT], []),
    ([loop(4), loop(3), MOV, MOV, HALT], []),
    ([loop(3), loop(4), MOV, MOV, HALT],
     ["loop at 1, of here: the body must end in the loop around it, not at 4"]),
    # One after another: the first is over where the second one begins.
    ([loop(2), MOV, loop(4), MOV, HALT], []),
    ([loop(2), MOV, *[loop(7)] * 4, MOV, HALT], []),
    ([*[loop(5)] * 4, MOV, HALT], []),
    ([*[loop(6)] * 5, MOV, HALT], ["loop at 4, of here: loops must nest 4 deep, not 5"]),
    ([*[loop(7)] * 6, MOV, HALT], ["loop at 4, of here: loops must nest 4 deep, not 5",
                                   "loop at 5, of here: loops must nest 4 deep, not 6"]),
])
def test_where_loops_end(insns, lines):
    assert said(*insns) == lines


def test_a_target_in_a_register_may_be_anywhere():
    to = insn("beq", a=0, b=0, target=Reg(1))
    assert "it must go on" not in "".join(said(MOV, loop(4), to, MOV, HALT))


def test_instructions_of_no_source_are_named():
    assert said(LOAD, HALT, source="") == [
        "load at 0, of unknown source: its address must move with the arena"]


@pytest.mark.parametrize(("insns", "lines"), [
    ([MOV, insn("add", rd=2, a=Reg(1), b=1), insn("add", rd=2, a=Reg(2), b=Reg(1)), HALT], []),
    ([insn("add", rd=1, a=Reg(1), b=1), HALT],
     ["add at 0, of here: r1 must be set before it is read"]),
    ([MOV, insn("add", rd=2, a=1, b=Reg(3)), HALT],
     ["add at 1, of here: r3 must be set before it is read"]),
    ([SOMEWHERE, MOV, HALT], ["load at 0, of here: r1 must be set before it is read"]),
    ([MOV, SOMEWHERE, HALT], []),
])
def test_registers_are_set_before_they_are_read(insns, lines):
    assert said(*insns) == lines


@pytest.mark.parametrize(("before", "good"), [((2,), True), ((1, 2, 3), True), ((), False),
                                              ((1, 3), False)])
def test_stride_registers_are_set_before_they_are_read(before, good):
    copied = insn("vector", op="mov", dst_kind="acc", a_kind="acc", dst=0, a=0, n0=1, xa=2)
    insns = [insn("stride", x=x, s0=1, s1=0, s2=0) for x in before]
    assert said(*insns, copied, HALT) == ([] if good else [
        f"vector at {len(before)}, of here: x2, its xa, must be set before it is read"])


@pytest.mark.parametrize(("relocations", "lines"), [
    ([(0, 1), (1, 1)], []),
    ([(0, 1)], ["store at 1, of here: its address must move with the arena"]),
    ([(1, 1)], ["load at 0, of here: its address must move with the arena"]),
    ([(0, 0), (1, 1)], ["load at 0, of here: its address must move with the arena"]),
    ([(0, 1), (1, 1), (1, 1)], ["an operand must be moved with the arena once"]),
    *(([(0, 1), (1, 1), (at, operand)], [
        f"what is moved with the arena must be a number, not operand {operand} at {at}"])
      for at, operand in ((5, 0), (4, 0), (0, len(LOAD.operands)), (3, 1), (-1, 0))),
])
def test_what_moves_with_the_arena(relocations, lines):
    assert said(LOAD, STORE, MOV, SOMEWHERE, HALT, relocations=relocations) == lines

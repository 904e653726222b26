"""Ways to write the same instruction, and the least and the most that its parts may be."""

import pytest

from celosia.arch.config import preset
from celosia.program.asm import AsmError, assemble

CORE = preset("core")
HEAD = (".equ kind, 1\n.equ two, 2\n.equ half, 0.5\n.equ wide, 9\n.equ wload, 1\n"
        ".buffer x, int8[4], input\nstart: nop\n")


def program(line):
    return assemble(HEAD + line + "\n", CORE)


@pytest.mark.parametrize("lines", [
    ("load ub[0], 5, rows=4, cols=2", "load ub, 5, rows=4, cols=2",
     "load ub, addr=5, rows=4, cols=2",
     "load mem=ub, row=0, addr=5, rows=4, cols=2", "LOAD UB[0], 5, rows=4, cols=2",
     "load 0[0], 5, cols=2, rows=4", "load ub[1 - 1], 2 + 3, rows=two * 2, cols=two",
     "load ub[0], 5, shape=2 << 16 | 4"),
    ("load acc[3], 5, fmt=w32, rows=1, cols=1", "load 1[3], 5, fmt=2, rows=1, cols=1",
     "load kind[3], 5, fmt=two, rows=1, cols=1", "load acc[3], 5, fmt=W32, rows=1, cols=1",
     "load mem=kind, row=3, addr=5, fmt=two, rows=1, cols=1"),
    ("matmul acc[8], ub[4], ub[2], accumulate, n0=4, wrows=4",
     "matmul acc[8], ub[4], ub[2], accumulate=1, n0=4, wrows=4",
     "matmul accumulate, acc[8], ub[4], ub[2], n0=4, wrows=4",
     "matmul acc=8, acts=4, w=2, accumulate=1, wrows=4, n0=4"),
    ("vector mov, acc[0, x1], acc[4, x2], n0=3", "vector mov, acc[0], acc[4], xdst=x1, xa=x2, n0=3",
     "vector mov, acc[0], acc[4], xdst=1, xa=two, n0=3"),
    ("vector mov, acc[0], acc_lane[5, lane=3], n0=1",
     "vector mov, acc[0], acc_lane[5 | 3 << 24], n0=1"),
    ("add r1, r2, -1", "add rd=r1, a=r2, b=-1", "add r1, r2, 0 - 1"),
    ("mov r1, 0.5", "mov r1, half", "mov r1, 0x3f000000", "mov r1, f32(0.5)"),
    ("add r1, r2, 4294967295", "add r1, r2, b=0xffffffff"),
    ("jump start", "jump 0"), ("jump target=start", "jump 0"),
])
def test_the_same(lines):
    first, *others = lines
    for other in others:
        assert program(other).insns == program(first).insns, other


@pytest.mark.parametrize(("line", "said"), [
    ("load ub[0], 5, fmt=0, rows=1, cols=1", None), ("load ub[0], 5, fmt=3, rows=1, cols=1", None),
    ("load ub[0], 5, fmt=-1, rows=1, cols=1", "20: fmt must be from 0 to 3, not -1"),
    ("load ub[0], 5, fmt=4, rows=1, cols=1", "20: fmt must be from 0 to 3, not 4"),
    ("load ub[0], 5, fmt=wide, rows=1, cols=1", "20: fmt must be from 0 to 3, not 9"),
    ("load ub[0], 5, fmt=half, rows=1, cols=1", "20: fmt must be one of i8, bf16, w32, not 'half'"),
    ("load 0[0], 5, rows=1, cols=1", None), ("load 1[0], 5, rows=1, cols=1", None),
    ("load 2[0], 5, rows=1, cols=1", "6: mem must be from 0 to 1, not 2"),
    ("load wide[0], 5, rows=1, cols=1", "6: mem must be from 0 to 1, not 9"),
    ("load ub[0], -2147483648, rows=1, cols=1", None),
    ("load ub[0], 4294967295, rows=1, cols=1", None),
    ("load ub[0], -2147483649, rows=1, cols=1",
     "13: addr must be from -2147483648 to 4294967295, not -2147483649"),
    ("load ub[0], 4294967296, rows=1, cols=1",
     "13: addr must be from -2147483648 to 4294967295, not 4294967296"),
    ("load ub[0], @x, rows=1, cols=1", None), ("load ub[0], @4294967295, rows=1, cols=1", None),
    ("load ub[0], @x - 1, rows=1, cols=1", "13: addr must be from 0 to 4294967295, not -1"),
    ("load ub[0], @4294967295 + 1, rows=1, cols=1",
     "13: addr must be from -2147483648 to 4294967295, not 4294967296"),
    ("load ub[0], 5, rows=0, cols=1", None), ("load ub[0], 5, rows=65535, cols=1", None),
    ("load ub[0], 5, rows=-1, cols=1", "21: rows must be from 0 to 65535, not -1"),
    ("load ub[0], 5, rows=65536, cols=1", "21: rows must be from 0 to 65535, not 65536"),
    ("load ub[0], 5, rows=1 2", "23: the end of the argument must come here, not '2'"),
    ("load ub[0] 5, 5, rows=1, cols=1", "12: the end of the argument must come here, not '5'"),
    ("load ub[0], addr 5, rows=1", (
        "13: a name must be a label or a constant (.equ) from above, not 'addr'")),
    ("vector mov, acc[0], acc[0], n0=1, zp=-128", None),
    ("vector mov, acc[0], acc[0], n0=1, zp=127", None),
    ("vector mov, acc[0], acc[0], n0=1, zp=128", "38: zp must be from -128 to 127, not 128"),
    ("vector mov, acc[0], acc_lane[16777215, lane=255], n0=1", None),
    ("vector mov, acc[0], acc_lane[0, lane=0], n0=1", None),
    ("vector mov, acc[0], acc_lane[0, lane=-1], n0=1", "38: lane must be from 0 to 255, not -1"),
    ("vector mov, acc[0], acc_lane[-1, lane=0], n0=1", "34: a must be from 0 to 16777215, not -1"),
    ("stride x0, 1", None), ("stride x7, 1", None), ("stride 7, 1", None),
    ("stride 8, 1", "8: x must be from 0 to 7, not 8"),
    ("stride r1, 1", "8: a register x0..x7 must come here, not 'r1'"),
    ("add r0, r0, 1", None), ("add r31, r31, 1", None),
    ("add r32, r1, 1", "5: a register r0..r31 must come here, not 'r32'"),
    ("add 5, r1, 1", "5: a register r0..r31 must come here, not '5'"),
    ("add r1, x1, 1", "9: a register r0..r31 must come here, not 'x1'"),
    ("load ub[0], half, rows=1, cols=1", "13: addr must be an integer, not 0.5"),
    ("matmul acc[0], ub[0], ub[0], accumulate=2, n0=1, wrows=1",
     "41: accumulate must be from 0 to 1, not 2"),
    # A constant that is called as a flag is the flag where it is alone.
    ("matmul acc[0], ub[0], wload, n0=1, wrows=1", None),
    ("halt", None), ("halt now", "6: halt must end here, not go on with 'now'"),
])
def test_limits(line, said):
    if said is None:
        assert len(program(line).insns) == 2
        return
    with pytest.raises(AsmError) as caught:
        program(line)
    (problem,) = caught.value.problems
    assert f"{problem.column}: {problem.message}" == said


@pytest.mark.parametrize(("line", "operands"), [
    ("load ub[0], @x, rows=1, cols=1", [(1, 1)]), ("load ub[0], 5, rows=1, cols=1", []),
    ("load ub[@x], @x, rows=1, cols=1", [(1, 0), (1, 1)]),
    ("add r1, @x, @x + 1", [(1, 0), (1, 1)]), ("add r1, 5, @x", [(1, 1)]),
    ("mov r1, @x", [(1, 0)])])
def test_what_moves_with_the_arena(line, operands):
    assert list(program(line).relocations) == operands

"""Costs of programs whose way depends on data."""

import numpy as np

import celosia
from celosia.compiled.expected import decisions, expected
from celosia.graph import parse
from celosia.program.asm import assemble

LOOP = """
        .chip   core
        .buffer n, int32[1], input
top:    load    acc[0], @n, fmt=w32, rows=1, cols=1
        vector  isub, acc[0], acc_row[0], scalar[1], n0=1
        store   acc[0], @n, fmt=w32, rows=1, cols=1
        read    r1, acc[0]
        add     r2, r1, 4
        read    r0, acc[0]
        beq     r0, 0, leave
        jump    top
leave:  halt
"""


def test_a_loop_that_depends_on_data_is_taken_once():
    program = assemble(LOOP)
    (decision,) = decisions(program)
    assert program.insns[decision + 1].instruction.mnemonic == "beq"
    config = celosia.preset("core")
    found = expected(program, config)
    with celosia.open("model", config=config) as device:
        cycles = [device.run(program, {"n": np.array([n], np.int32)}).cycles for n in (1, 2, 3)]
    assert cycles[0] < found.cycles == cycles[1] < cycles[2]


def test_dynamic_slices_are_taken_from_the_beginning(monkeypatch, tmp_path):
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path))
    graph = parse("""graph pick(%0: f32[8,16] "x", %1: i32[] "i", %2: i32[] "j") {
  %3 = dynamic_slice(%0, %1, %2) sizes=[2,16] : f32[2,16]
  %4 = add(%3, %3) : f32[2,16]
  return %4
}
""")
    compiled = celosia.compile(graph)
    x = np.arange(128, dtype=np.float32).reshape(8, 16)
    with celosia.open("model", "core") as device, compiled.load(device) as executable:
        for i in (0, 3, 6):
            (found,) = executable(x, i, 0)
            np.testing.assert_array_equal(found, 2 * x[i:i + 2])
            assert executable.cycles == compiled.prediction.cycles
    assert not compiled.report(json=True)["depends_on_data"]

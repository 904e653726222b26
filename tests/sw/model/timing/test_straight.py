"""Programs without their control flow do the same."""

from dataclasses import replace

import numpy as np
import pytest

from celosia import driver
from celosia.arch.config import preset
from celosia.arch.encoding import Imm
from celosia.compiled.artifact import Compiled
from celosia.compiler.api import compile
from celosia.compiler.builder import Builder
from celosia.graph import DType, Graph, Source, TensorType, parameter
from celosia.model.timing.straight import straight
from celosia.program import Program
from celosia.program.asm import assemble

CORE = preset("core")


def product():
    make = Builder(Source())
    x, w = (parameter(TensorType(DType.F32, shape), name)
            for name, shape in (("x", (96, 300)), ("w", (300, 80))))
    return Graph("product", (x, w), (make("tanh", make(
        "dot", x, w, dtype=DType.F32, contract=[(1, 0)])),))


def test_a_program_that_is_written_out_has_the_same_results():
    compiled = compile(product(), CORE)
    program = compiled.program
    found = straight(program, CORE)
    assert found is not None
    assert any(each.instruction.mnemonic == "loop" for each in program.insns)
    assert len(found.insns) > len(program.insns)
    assert not any(each.insn.instruction.mnemonic in ("loop", "mov", "add", "halt")
                   or not all(isinstance(operand, Imm) for operand in each.insn.operands)
                   for each in found.insns)
    assert [each.time for each in found.insns] == sorted(each.time for each in found.insns)
    assert 0 < found.acc_rows <= CORE.acc_rows
    assert found.cycles > found.insns[-1].time
    halt = program.insns[-1]
    plain = replace(program, insns=(*(each.insn for each in found.insns), halt),
                    sources=(*(each.source for each in found.insns), ""),
                    relocations=tuple((i, operand) for i, each in enumerate(found.insns)
                                      for operand in each.relocations))
    step = replace(compiled.steps[0], program=plain)
    rng = np.random.default_rng(1)
    given = [rng.standard_normal(shape).astype(np.float32) for shape in ((96, 300), (300, 80))]
    with driver.open("model", config=CORE) as device:
        wanted = np.asarray(compiled.load(device)(*given))
        got = np.asarray(Compiled([step], compiled.gives, CORE, compiled.inputs, compiled.outputs,
                                  compiled.name, compiled.graph).load(device)(*given))
    assert wanted.tobytes() == got.tobytes()


@pytest.mark.parametrize("text", ["read r1, 0, 0", "chip r1"])
def test_what_is_otherwise_in_each_run_cannot_be_written_out(text):
    config = replace(CORE, ports=2)
    program = assemble(f".chip core\n{text}\nhalt\n", config)
    assert isinstance(program, Program)
    assert straight(program, config) is None

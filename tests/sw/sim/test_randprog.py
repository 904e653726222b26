"""Random programs use all of the instruction set, and end as they should, on the model."""

import pytest

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia.arch.faults import Fault
from celosia.arch.isa import Opcode
from celosia.arch.vector import (
    FLOAT_OPS,
    FLOAT_POSTS,
    FLOAT_REDUCES,
    INDEXED_OPS,
    Post,
    Reduce,
    ReduceOp,
    Src,
    VectorOp,
)
from celosia.model import Machine
from celosia_sim.randprog import random_faulting_program, random_program

BOTH = TpuConfig("both", dim=4, int8=True, bf16=True, ub_rows=64, acc_rows=64, bus_bytes=8)
INT8 = TpuConfig("int8", dim=8, int8=True, bf16=False, ub_rows=64, acc_rows=32, bus_bytes=8)


@pytest.mark.parametrize("config", [BOTH, INT8], ids=lambda config: config.name)
def test_all_of_the_instruction_set_is_used(config):
    machine = Machine(config)
    seen: dict[str, set] = {"opcode": set(), "op": set(), "post": set(), "src": set(),
                            "join": set()}
    for seed in range(160):
        program = random_program(config, seed)
        assert program.run(machine).cause == Fault.NONE, seed
        for insn in program.insns:
            seen["opcode"].add(insn.instruction.opcode)
            if insn.instruction.opcode == Opcode.VECTOR:
                fields = insn.fields
                seen["op"].add(fields["op"])
                seen["post"].add(fields["post"])
                seen["src"] |= {fields[f"{name}_kind"] for name in "abc"}
                seen["join"].add((fields["reduce"], fields["reduce_op"]))
    assert seen["opcode"] == {i.opcode for i in isa.INSTRUCTIONS}
    floats = config.bf16
    assert seen["op"] == {op for op in VectorOp if floats or op not in FLOAT_OPS}
    assert seen["post"] == {post for post in Post if floats or post not in FLOAT_POSTS}
    assert seen["src"] == {src for src in Src if floats or not src.name.startswith("UB_BF16")}
    assert seen["join"] == {(0, 0)} | {
        (reduce, join) for reduce in Reduce if reduce for join in ReduceOp
        if floats or join not in FLOAT_REDUCES}


def test_bad_indices_are_followed_by_what_waits():
    """So that chip and model stop in the same state, although they are found late."""
    late = 0
    for seed in range(100):
        program = random_faulting_program(BOTH, seed)
        assert program.expected is not None
        pc = program.expected.pc
        code = [program.code[32 * i:32 * i + 32] for i in (pc, pc + 1)]
        op = int.from_bytes(code[0][:8], "little") >> 12 & 63
        if program.expected.cause == Fault.INDEX_RANGE and op in INDEXED_OPS and (
                code[0][0] & 63 == Opcode.VECTOR):
            assert code[1][0] & 63 in (Opcode.FENCE, Opcode.HALT)
            late += 1
    assert late >= 3

"""The decoder against the model's, on legal instructions and on ones with bits changed."""

import random

import pytest

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia.arch.encoding import encode, insn
from celosia.arch.faults import Fault
from celosia.model.decode import decode_checked
from celosia_hw.scalar.decode import Decoder
from celosia_sim.randprog import random_program
from hw.engine import Simulator
from hw.scalar.vectors import changed, random_vector

SIZES = {"dim": 4, "ub_rows": 64, "acc_rows": 32, "bus_bytes": 8}


def decoded(config, words, weights=1):
    dut = Decoder(config)
    faults = []

    async def bench(ctx):
        ctx.set(dut.weights, weights)
        for word in words:
            ctx.set(dut.word.as_value(), int.from_bytes(word, "little"))
            faults.append(Fault(ctx.get(dut.fault)))

    sim = Simulator(dut)
    sim.add_testbench(bench)
    sim.run()
    return faults


def candidates(config, rng):
    """Legal instructions, each followed by versions with one or two bits or bytes changed."""
    for seed in range(12):
        for instruction in random_program(config, seed).insns:
            word = bytearray(encode(instruction))
            yield bytes(word)
            for _ in range(3):
                changed = bytearray(word)
                for _ in range(rng.choice((1, 1, 2))):
                    bit = rng.choice((rng.randrange(64), rng.randrange(256)))
                    changed[bit // 8] ^= 1 << bit % 8
                yield bytes(changed)
            cleared = bytearray(word)
            at = 8 + 4 * rng.randrange(6)
            cleared[at:at + 4] = bytes(4)
            yield bytes(cleared)


@pytest.mark.parametrize(("int8", "bf16"), [(True, True), (True, False), (False, True)])
def test_same_faults_as_the_model(int8, bf16):
    rng = random.Random(7)
    config = TpuConfig("both", int8=True, bf16=True, **SIZES)
    words = list(candidates(config, rng))
    config = TpuConfig("chip", int8=int8, bf16=bf16, **SIZES)
    expected = [decode_checked(config, word).fault for word in words]
    assert set(expected) == {Fault.NONE, Fault.ILLEGAL_OPCODE, Fault.ILLEGAL_FIELD}
    got = decoded(config, words)
    for word, wanted, came in zip(words, expected, got, strict=True):
        assert came == wanted, word.hex()


@pytest.mark.parametrize(("int8", "bf16"), [(True, True), (True, False), (False, True)])
def test_vectors_as_the_model_has_them(int8, bf16):
    rng = random.Random(11)
    config = TpuConfig("chip", int8=int8, bf16=bf16, **SIZES)
    both = TpuConfig("both", int8=True, bf16=True, **SIZES)
    legal = [random_vector(config, rng) for _ in range(1000)]
    words = [encode(item) for one in legal
             for item in (one, changed(one, rng), changed(one, rng), random_vector(both, rng))]
    expected = [decode_checked(config, word).fault for word in words]
    assert set(expected[::4]) == {Fault.NONE}
    assert expected.count(Fault.ILLEGAL_FIELD) > 600
    for word, wanted, came in zip(words, expected, decoded(config, words), strict=True):
        assert came == wanted, word.hex()


def test_every_opcode():
    config = TpuConfig("chip", int8=True, bf16=True, **SIZES)
    words = [bytes([opcode]) + bytes(31) for opcode in range(1 << isa.OPCODE_BITS)]
    for opcode, fault in enumerate(decoded(config, words)):
        assert (fault == Fault.ILLEGAL_OPCODE) == (
            opcode not in [each.opcode for each in isa.instructions(ports=0)])


def test_a_matmul_without_wload_needs_an_earlier_tile():
    config = TpuConfig("chip", int8=True, bf16=False, **SIZES)
    word = encode(insn("matmul", acc=0, acts=0, n0=4, wload=0))
    assert decoded(config, [word], weights=1) == [Fault.NONE]
    assert decoded(config, [word], weights=0) == [Fault.ILLEGAL_FIELD]

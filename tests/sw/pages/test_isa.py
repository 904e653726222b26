from pathlib import Path

import numpy as np
import pytest
from pages.isa import isa_page
from pages.isa_texts import (
    DMA,
    DSTS,
    EXAMPLES,
    JOINS,
    OPS,
    POSTS,
    PROGRAM,
    REDUCES,
    SRCS,
    VECTORS,
)

import celosia
from celosia.arch import faults, isa, registers
from celosia.arch.config import preset
from celosia.arch.vector import Dst, Post, Reduce, ReduceOp, Src, VectorOp
from celosia.program.asm import assemble

ROOT = Path(__file__).parents[3]


def test_every_name_of_the_tables_is_on_the_page():
    page = isa_page()
    names = [*isa.BY_MNEMONIC, *(f"{fault.name}" for fault in faults.FAULTS.values()),
             *(register.name for register in registers.REGISTERS if register.offset < 0x200),
             *registers.COUNTERS]
    names += [item.name for instruction in isa.instructions(ports=1)
              for item in (*instruction.fields, *instruction.operands)]
    for name in names:
        assert f"`{name}`" in page, name
    for table, enum in ((OPS, VectorOp), (POSTS, Post), (SRCS, Src), (DSTS, Dst),
                        (REDUCES, Reduce), (JOINS, ReduceOp), (DMA, isa.DmaFormat)):
        assert list(table) == list(enum)


@pytest.mark.parametrize("mnemonic", list(isa.BY_MNEMONIC))
def test_examples_assemble(mnemonic):
    (insn,) = assemble(EXAMPLES[mnemonic][0], preset("core")).insns
    assert insn.instruction.mnemonic == mnemonic


def test_program_of_the_page_computes_the_product():
    rng = np.random.default_rng(0)
    x = rng.integers(-128, 128, (64, 64), dtype=np.int8)
    w = rng.integers(-128, 128, (64, 16), dtype=np.int8)
    with celosia.open("model", "core") as device:
        result = device.run(assemble(PROGRAM), {"x": x, "w": w})
    np.testing.assert_array_equal(result["y"], x.astype(np.int32) @ w.astype(np.int32))
    assert PROGRAM in isa_page()


@pytest.mark.parametrize("text", [text for text, _ in VECTORS])
def test_vectors_of_the_page_run(text):
    assert text in isa_page()
    with celosia.open("model", "core") as device:
        assert device.run(assemble(f"{text}\nhalt", preset("core")), {}).instructions == 2

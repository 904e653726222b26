"""Programs that copy within external memory, instruction by instruction."""

import numpy as np
import pytest

from celosia.arch.config import TpuConfig
from celosia.driver.copies import COPY_BYTES, copy_program
from celosia.model import Machine, Memory

#: Half of the accumulators are 8 rows of 16 bytes.
CHIP = TpuConfig("chip", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=16, bus_bytes=8,
                 window=4, ibuf=16)


def parts(*spans):
    """Return of each load and store its first row, rows, words of a row and address."""
    program = copy_program(CHIP, spans)
    assert (program.name, program.fingerprint) == ("copy", CHIP.fingerprint)
    assert program.insns[-1].instruction.mnemonic == "halt"
    found = []
    for each in program.insns[:-1]:
        shape, pitch = each.operand("shape").value, each.operand("pitch").value
        found.append((each.instruction.mnemonic, each.operand("row").value, shape & 0xFFFF,
                      shape >> 16, each.operand("addr").value))
        assert pitch == 4 * (shape >> 16)
    return found


def both(row, rows, words, source, into):
    return [("load", row, rows, words, source), ("store", row, rows, words, into)]


@pytest.mark.parametrize(("nbytes", "wanted"), [
    (0, []),
    (4, both(0, 1, 1, 0x100, 0x900)),
    (12, both(0, 1, 3, 0x100, 0x900)),
    (16, both(0, 1, 4, 0x100, 0x900)),
    (20, both(0, 1, 4, 0x100, 0x900) + both(8, 1, 1, 0x110, 0x910)),
    (128, both(0, 8, 4, 0x100, 0x900)),
    (132, both(0, 8, 4, 0x100, 0x900) + both(8, 1, 1, 0x180, 0x980)),
    (144, both(0, 8, 4, 0x100, 0x900) + both(8, 1, 4, 0x180, 0x980)),
    (268, both(0, 8, 4, 0x100, 0x900) + both(8, 8, 4, 0x180, 0x980)
     + both(0, 1, 3, 0x200, 0xA00)),
])
def test_what_is_copied_at_once(nbytes, wanted):
    assert COPY_BYTES == 4
    assert parts((0x100, 0x900, nbytes)) == wanted


def test_halves_of_the_accumulators_take_turns_from_span_to_span():
    assert parts((0x100, 0x900, 16), (0x200, 0xA00, 4), (0x300, 0xB00, 32)) == [
        *both(0, 1, 4, 0x100, 0x900), *both(8, 1, 1, 0x200, 0xA00),
        *both(0, 2, 4, 0x300, 0xB00)]
    assert parts() == []


def test_all_bits_are_copied():
    program = copy_program(CHIP, [(0x1000, 0x3000, 268), (0x2000, 0x4000, 8)])
    machine = Machine(CHIP, Memory(1 << 16))
    data = np.random.default_rng(3).integers(0, 256, 0x1100, dtype=np.uint8)
    machine.memory.write(0x1000, data)
    machine.memory.write(0, program.code())
    machine.run(0, len(program.insns), [(0, 0xFFFF)] * 4, 0)
    np.testing.assert_array_equal(machine.memory.read(0x3000, 268), data[:268])
    np.testing.assert_array_equal(machine.memory.read(0x4000, 8), data[0x1000:0x1008])
    assert not machine.memory.read(0x3000 + 268, 64).any()
    assert not machine.memory.read(0x4008, 64).any()

"""The driver of the live page: results, counters and errors are those of `celosia.driver`."""

import numpy as np
import pytest
from website.tables import tables

import celosia
from celosia.arch.config import preset
from celosia.arch.encoding import decode
from celosia.arch.isa import INSTRUCTION_BYTES
from celosia.driver.errors import DeviceError
from celosia.program import Program
from celosia.program.asm import assemble, disassemble
from celosia_sim.randprog import random_bad_indexes, random_faulting_program, random_program
from celosia_sim.wasm import build_wasm
from node import ROOT, WEB, answers, script

pytestmark = pytest.mark.extra(name="docs")
NANO = preset("nano")
_LIMIT = 100_000


def _ran(texts, tmp_path, inputs=None):
    file, made = tmp_path / "isa.json", build_wasm(NANO)
    file.write_text(tables(NANO))
    return answers([script("run.mjs"), WEB, file, made.module, made.description],
                   [{"text": text, "inputs": inputs or {}, "watchdog": _LIMIT} for text in texts])


def _expected(device, text, inputs=None):
    try:
        result = device.run(assemble(text), inputs or {}, timeout=_LIMIT)
    except DeviceError as error:
        return {"error": str(error)}
    return {"counters": dict(result.counters),
            "outputs": {name: value.tobytes().hex() for name, value in result.outputs.items()}}


def _texts(count):
    """Random programs, most of which stop at a fault."""
    for seed in range(count):
        for make in (random_program, random_faulting_program, random_bad_indexes):
            code = make(NANO, seed).code
            try:
                insns = tuple(decode(code[at:at + INSTRUCTION_BYTES])
                              for at in range(0, len(code), INSTRUCTION_BYTES))
            except ValueError:
                continue  # nothing that can be written as text
            yield disassemble(Program(NANO.fingerprint, insns, arena_bytes=1 << 23))


def test_counters_and_faults_are_those_of_the_rtl(tmp_path):
    """To the cycle, and to the letter."""
    texts = list(_texts(60))
    texts.append(".chip nano\n.arena 64\nL0: jump L0\n")
    found = _ran(texts, tmp_path)
    with celosia.open("rtl", preset="nano") as device:
        for text, each in zip(texts, found, strict=True):
            assert each == _expected(device, text), text
    said = "\n".join(each["error"] for each in found if "error" in each)
    for name in ("ILLEGAL_COUNT", "ILLEGAL_FIELD", "UB_RANGE", "WINDOW", "timeout"):
        assert name in said


def test_the_example_computes_the_product(tmp_path):


    rng = np.random.default_rng(0)
    inputs = {"a": rng.integers(-128, 128, (8, 4), np.int8),
              "b": rng.integers(-128, 128, (4, 4), np.int8)}
    text = (ROOT / "examples" / "product.s").read_text()
    (found,) = _ran([text], tmp_path, {name: each.tobytes().hex() for name, each in inputs.items()})
    wanted = inputs["a"].astype(np.int32) @ inputs["b"].astype(np.int32)
    assert found["outputs"]["c"] == wanted.tobytes().hex()


def test_a_program_of_another_chip_is_refused(tmp_path):
    (found,) = _ran([".chip core\nhalt"], tmp_path)
    assert "must be for this chip, nano" in found["error"]

"""The assembler of the live page gives what `celosia.program.asm` gives: programs, and errors."""

import json
import random
import re

import pytest
from website.tables import tables

from celosia.arch.config import preset
from celosia.arch.encoding import decode
from celosia.arch.isa import INSTRUCTION_BYTES
from celosia.program import Program
from celosia.program.asm import AsmError, assemble, disassemble
from celosia_sim.randprog import random_program
from node import ROOT, WEB, answers, script

pytestmark = pytest.mark.extra(name="docs")

#: Directives and expressions, which random programs do not have.
_HEAD = """\
        .chip nano
        .name "a b"
        .buffer a, int8[8, 4], input
        .buffer k, int32[3], constant
        .data k, 1, -2, 0x10
        .buffer f, bfloat16[2, 3], constant, 0x100
        .data f, 1.5, 2, -3e8, 1/3.0
        .bytes f, "00 00 80 3f"
        .equ n, 4
        .equ q 3.25
        load ub[0], @a + 4, fmt=i8, rows=n, cols=n*2-4, pitch=1<<2
x:      vector fadd, acc[0], acc[4], scalar[1.5], n0=4
        .source "here"
        jump x
        vector mov, acc[0], a_kind=acc, a=3, n0=2
"""
_PIECES = [
    "1/0", "(1.5)", "2**3", "-(3)", "pair(1,70000)", "f32(1.1)", "bf16(3)", "1<<70", "1<<70000",
    "10%3", "-7%3", "7.5%-2", "1e400", "@a-1", "@a*2", "1.5|2", "'x'", '"s"', "0x", "1__0", "1_0",
    "0b12", "r31", "r32", "x7", "x8", "ub[1,x1]", "acc_lane[3,lane=2]", "r5", "1e-7", "1e16",
    "123456789012345680000.0", "é", "😀", "1>>99999999999999999999"]


def _random_texts(count: int) -> list[str]:
    texts = []
    for name in ("nano", "core"):
        config = preset(name)
        for seed in range(count // 2):
            code = random_program(config, seed).code
            insns = (decode(code[at:at + INSTRUCTION_BYTES])
                     for at in range(0, len(code), INSTRUCTION_BYTES))
            texts.append(disassemble(Program(config.fingerprint, tuple(insns))))
    return texts


def _damaged(text: str, words: list[str], rng: random.Random) -> str:
    """Return a text with a few of its words lost, moved, mistyped or replaced."""
    lines = text.split("\n")
    for _ in range(rng.randrange(1, 4)):
        i = rng.randrange(len(lines))
        pieces = re.findall(r"\s+|[A-Za-z_.@0-9]+|.", lines[i]) or [""]
        j = rng.randrange(len(pieces))
        word, at = pieces[j], rng.randrange(len(pieces[j]) + 1)
        pieces[j] = rng.choice([
            rng.choice(words), "", word + rng.choice(words), word[:at] + word[at + 1:],
            word[:at] + rng.choice("abcxyz059_'\"\\()[],=+-*/%&|<>@#;\t") + word[at + 1:],
            rng.choice(_PIECES)])
        lines[i] = "".join(pieces)
    return "\n".join(lines)


def _expected(text: str) -> dict[str, object]:
    try:
        program = assemble(text)
    except AsmError as error:
        return {"wrong": str(error)}
    return {"code": program.code().hex(), "name": program.name,
            "fingerprint": program.fingerprint, "arena": program.arena_bytes,
            "buffers": [[b.name, b.offset, list(b.shape), b.dtype, b.kind]
                        for b in program.buffers],
            "constants": {name: value.tobytes().hex()
                          for name, value in program.constants.items()},
            "relocations": [list(pair) for pair in program.relocations],
            "sources": list(program.sources)}


def _assembled(texts: list[str], tmp_path) -> list[dict]:
    file = tmp_path / "isa.json"
    file.write_text(tables(preset("nano")))
    return answers([script("assemble.mjs"), WEB, file], texts)


def test_random_programs_are_the_same_bytes(tmp_path):
    texts = [*_random_texts(200), _HEAD, (ROOT / "examples" / "product.s").read_text()]
    found = _assembled(texts, tmp_path)
    assert found == [_expected(text) for text in texts]
    assert not any("wrong" in each for each in found)


def test_damaged_programs_are_refused_in_the_same_words(tmp_path):
    rng = random.Random(1)
    whole = _random_texts(40)
    words = sorted(set(re.findall(r"[A-Za-z_.@]+|0x[0-9a-f]+|\d+\.?\d*|\S", "\n".join(whole))))
    parts = [_HEAD, *("\n".join(text.split("\n")[:8]) for text in whole)]
    texts = [_damaged(rng.choice(parts), words, rng) for _ in range(3000)]
    found = _assembled(texts, tmp_path)
    for text, each in zip(texts, found, strict=True):
        assert each == _expected(text), text
    assert sum("wrong" in each for each in found) > 1000


def test_tables_are_those_of_the_architecture():
    made = json.loads(tables(preset("nano")))
    assert made["chip"]["fingerprint"] == preset("nano").fingerprint
    assert [each["mnemonic"] for each in made["instructions"]][:3] == ["halt", "nop", "fence"]

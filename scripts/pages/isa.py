"""Makes docs/isa.md from the tables of `celosia.arch`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from pathlib import Path

from celosia.arch import faults, isa, registers
from celosia.arch.isa import Instruction, Operand, OperandType
from celosia.arch.legality import RULES
from celosia.arch.vector import (
    FLOAT_OPS,
    FLOAT_POSTS,
    FLOAT_REDUCES,
    LANE_BITS_LSB,
    LANE_ROW_SRCS,
    LANE_SRCS,
    STREAM_SRCS,
    ReduceOp,
    operand_names,
)
from celosia.program.asm.syntax import is_flag
from pages.isa_texts import (
    DIRECTIVES,
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
from pages.page import write_page

__all__ = ["isa_page", "main"]

_INTRO = """\
# The instruction set

Made by `scripts/docs` from `sw/celosia/arch/`; edit the tables there, not this page.

Instructions mean what they mean when they run one after another; the chip overlaps what does not
conflict. How it does that, and the order in which faults are found, is in [chip.md](chip.md); the
arithmetic, exactly, is `sw/celosia/arch/numerics.py`; the golden model in `sw/celosia/model/`
executes all of this. D is the side of the array.
"""


def _prose(text: object) -> str:
    """Keep Markdown from reading stars and bars outside code as its own."""
    parts = str(text).split("`")
    parts[::2] = [part.replace("*", "\\*") for part in parts[::2]]
    return "`".join(parts)


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(_prose(cell).replace("|", "\\|") for cell in row) + " |"
    yield ""


def _code(lines: Iterable[str]) -> Iterator[str]:
    yield "```"
    yield from lines
    yield "```"
    yield ""


def _members(enum: type[IntEnum]) -> str:
    return ", ".join(f"{member.value} `{member.name.lower()}`" for member in enum)


def _encoding() -> Iterator[str]:
    last = isa.HEADER_BITS - 1
    yield "## Encoding"
    yield ""
    yield (f"An instruction is {isa.INSTRUCTION_BYTES} bytes: a header of {isa.HEADER_BITS} bits "
           f"and {isa.NUM_OPERANDS} operands of 32 bits, all little-endian. A program begins at a "
           f"multiple of {registers.PROGRAM_ALIGN} bytes.")
    yield ""
    yield from _table(("bytes", "bits", "what"), (
        ("0..7", f"{isa.OPCODE_LSB}..{isa.OPCODE_BITS - 1}", "opcode"),
        ("", f"{isa.REGMASK_LSB}..{isa.REGMASK_LSB + isa.REGMASK_BITS - 1}",
         ("register mask: where bit i is set, operand i is the number of a scalar register whose "
          "value is used, else it is an immediate")),
        ("", f"{isa.FIELDS_LSB}..{last}", "fields"),
        *((f"{8 + 4 * i}..{11 + 4 * i}", "0..31", f"operand {i}")
          for i in range(isa.NUM_OPERANDS))))
    yield ("Bits and operands that an instruction does not use must be zero, or it is an "
           "`ILLEGAL_FIELD`. Opcode 0 is illegal: cleared memory stops the chip.")
    yield ""


def _state() -> Iterator[str]:
    yield "## State"
    yield ""
    yield from _table(("what", "size", "when a run starts"), (
        (f"scalar registers r0..r{isa.NUM_REGISTERS - 1}", "32 bits", "0"),
        (f"stride registers x0..x{isa.NUM_STRIDES - 1}", "3 x 16 bits",
         "0; x0 stands for consecutive rows and cannot be set"),
        ("loop stack", f"{isa.LOOP_DEPTH} loops", "empty"),
        ("weight tile", "D x D operands", "none: a matmul must load one first"),
        ("unified buffer", "rows of D operands", "as the last run left it"),
        ("accumulators", "rows of D x 32 bits", "as the last run left them")))
    yield ("A stream is a list of rows: n0 innermost, then n1, then n2. With x0 they are "
           "consecutive; with another stride register row (i0, i1, i2) is "
           "`base + i0*s0 + i1*s1 + i2*s2`.")
    yield ""


def _assembly() -> Iterator[str]:
    yield "## Assembly"
    yield ""
    yield from _code(PROGRAM.splitlines())
    yield "- One instruction a line; `label:` before it; `;` or `#` begins a comment."
    yield ("- First, without a name: the register that is set, the operation of `vector`, every "
           "operand of a scalar instruction, rows and addresses of the others.")
    yield ("- All else is `name=value`: fields, operands, parts of packed operands. What is left "
           "out takes its default. A field of one bit is set by its bare name (`accumulate`).")
    yield ("- A row is `memory[row]`, or `memory[row, x1]` with a stride register; the memory of "
           "`load`, `store` and `vector` is the name of a value of the field `mem` or `.._kind`. "
           "Where one lane of a row is used, it stands last: `acc_lane[row, x1, lane=3]`.")
    yield ("- A whole operand may be a register: `ub[r1]`, `counts=r5`, `rd` and targets too.")
    yield ("- Numbers: `64`, `-1`, `0x40`, `0b11`, `1_000`; `1.5` is an fp32 where a vector or "
           "scalar operand takes bits. Expressions: `+ - * / % << >> & |` and parentheses; `/` "
           "must have no remainder; at most 64 parentheses may be inside of each other. "
           "`pair(lo, hi)` is two halves of a word, `f32(x)` and `bf16(x)` are bits.")
    yield ("- `@x` is the address of buffer x, `@x + 64` an address in it, `@0x40` an offset into "
           "the arena: the driver adds where the arena lies when it loads the program.")
    yield ""
    yield from _table(("directive", "meaning"),
                      ((f"`{text}`", meaning) for text, meaning in DIRECTIVES))


def _bits(lsb: int, width: int) -> str:
    return str(lsb) if width == 1 else f"{lsb}..{lsb + width - 1}"


def _default(operand: Operand) -> object:
    if operand.default is not None:
        return operand.default
    return ", ".join(f"{part.name} {part.default}" for part in operand.parts
                     if part.default is not None)


def _operand(index: int, operand: Operand) -> Sequence[object]:
    kind = operand.type.value
    if operand.type is OperandType.PACKED:
        kind = ", ".join(f"`{part.name}` {_bits(part.lsb, part.width)}"
                         f"{' signed' if part.signed else ''}" for part in operand.parts)
    return index, f"`{operand.name}`", kind, _default(operand), operand.doc


def _card(instruction: Instruction) -> Iterator[str]:
    yield f"### {instruction.mnemonic}"
    yield ""
    yield (f"{instruction.summary[0].upper()}{instruction.summary[1:]}. Opcode "
           f"{instruction.opcode.value:#04x}, {instruction.unit.name.lower()} unit.")
    yield ""
    yield f"**Action:** {_prose(instruction.action)}."
    yield ""
    if instruction.fields:
        yield from _table(("bits", "field", "values", "default", "meaning"), (
            (_bits(field.lsb, field.width), f"`{field.name}`",
             "see below" if field.enum is not None and len(field.enum) > 3 else
             _members(field.enum) if field.enum is not None else
             "flag" if is_flag(field) else f"0..{(1 << field.width) - 1}",
             "" if field.name in ("rd", "x", "op") else field.default, field.doc)
            for field in instruction.fields))
    if instruction.operands:
        yield from _table(("operand", "name", "what", "default", "meaning"),
                          (_operand(i, operand) for i, operand in enumerate(instruction.operands)))
    if instruction.faults:
        yield f"**Faults:** {', '.join(f'`{fault}`' for fault in instruction.faults)}."
        yield ""
    if instruction.cycles:
        yield f"**Cycles:** {_prose(instruction.cycles)}."
        yield ""
    if instruction.notes:
        yield f"**Notes:** {_prose(instruction.notes)}"
        yield ""
    text, meaning = EXAMPLES[instruction.mnemonic]
    yield from _code((f"{text}    ; {meaning}",))


def _cards() -> Iterator[str]:
    yield "## Instructions"
    yield ""
    yield from _table(("opcode", "instruction", "unit", "what it does"), (
        (f"{i.opcode.value:#04x}", f"[`{i.mnemonic}`](#{i.mnemonic})", i.unit.name.lower(),
         i.summary) for i in isa.INSTRUCTIONS))
    for instruction in isa.INSTRUCTIONS:
        yield from _card(instruction)


def _links() -> Iterator[str]:
    yield "## Links"
    yield ""
    yield ("A chip whose configuration has `ports` (1 to 6, and none of the presets has any) talks "
           "to others over links. It has the instructions of this section; on other chips they are "
           "an `ILLEGAL_OPCODE`. Each direction of a link is a queue of messages in order. Chips "
           "that links connect are a `celosia.model.Pod` on the golden model and a "
           "`celosia_sim.pod.RtlPod` in RTL; boards have no links. The registers `DEVICE` and "
           "`LINKS` are those of such chips alone.")
    yield ""
    yield from _table(("opcode", "instruction", "unit", "what it does"), (
        (f"{i.opcode.value:#04x}", f"[`{i.mnemonic}`](#{i.mnemonic})", i.unit.name.lower(),
         i.summary) for i in isa.LINK_INSTRUCTIONS))
    for instruction in isa.LINK_INSTRUCTIONS:
        yield from _card(instruction)
    yield "Elements of a message are those of [load and store](#formats-of-load-and-store)."
    yield ""
    yield from _table(("op of recv", "number", "needs bf16", "mem", "row ="), (
        (f"`{op.name.lower()}`", op.value,
         "yes" if op and ReduceOp[op.name] in FLOAT_REDUCES else "",
         "`acc`" if op else "any",
         f"a op b as of the `reduce_op` `{op.name.lower()}`: a has arrived, b is the row" if op
        else "what has arrived")
        for op in isa.RecvOp))


def _vector() -> Iterator[str]:
    yield "## Vector operations"
    yield ""
    yield ("Floating point is fp32, nearest even, subnormals flushed to zero of the same sign on "
           "the way in and out, every NaN made is 0x7fc00000. `mov` changes no bit.")
    yield ""
    yield from _table(("op", "number", "operands", "needs bf16", "t ="), (
        (f"`{op.name.lower()}`", op.value, operand_names(op),
         "yes" if op in FLOAT_OPS else "", text) for op, text in OPS.items()))
    yield from _table(("post", "number", "needs bf16", "t ="), (
        (f"`{post.name.lower()}`", post.value, "yes" if post in FLOAT_POSTS else "", text)
        for post, text in POSTS.items()))
    yield ("An index of `gather` or `scatter` that is not below `param` is found while the "
           "instruction runs: the row that `gather` takes is zeros, `scatter` leaves it out, all "
           "else is done, and the chip stops with `INDEX_RANGE`.")
    yield ""
    yield from _table(("reduce", "number", "result"), (
        (f"`{reduce.name.lower()}`", reduce.value, text) for reduce, text in REDUCES.items()))
    yield from _table(("reduce_op", "number", "needs bf16", "a op b ="), (
        (f"`{join.name.lower()}`", join.value, "yes" if join in FLOAT_REDUCES else "", text)
        for join, text in JOINS.items()))
    yield from _table(("source (`a_kind` ..)", "number", "stream", "lane", "meaning"), (
        (f"`{src.name.lower()}`", src.value, "yes" if src in STREAM_SRCS else "",
         "yes" if src in LANE_SRCS | LANE_ROW_SRCS else "", text)
        for src, text in SRCS.items()))
    yield (f"The operand of a source with a lane holds the row in bits 0..{LANE_BITS_LSB - 1} and "
           f"the lane in bits {LANE_BITS_LSB}..31; the lane must be below D.")
    yield ""
    yield from _table(("destination (`dst_kind`)", "number", "meaning"), (
        (f"`{dst.name.lower()}`", dst.value, text) for dst, text in DSTS.items()))
    yield "Examples:"
    yield ""
    yield from _code(line for text, meaning in VECTORS for line in (f"; {meaning}", text))


def _dma() -> Iterator[str]:
    yield "## Formats of load and store"
    yield ""
    yield from _table(("fmt", "number", "bytes", "in the unified buffer", "in the accumulators"), (
        (f"`{fmt.name.lower()}`", fmt.value, *texts) for fmt, texts in DMA.items()))


def _values(insn: Instruction, name: str, values: frozenset[int]) -> str:
    """Return values of a field in words: those, or those that are not meant if they are fewer."""
    enum = next((field.enum for field in insn.fields if field.name == name), None)
    if enum is None:
        return ", ".join(map(str, sorted(values)))
    others = frozenset(enum) - values
    if not others:
        return "any"
    if len(others) >= len(values):
        return ", ".join(f"`{enum(value).name.lower()}`" for value in sorted(values))
    return "all but " + ", ".join(f"`{enum(value).name.lower()}`" for value in sorted(others))


def _legality() -> Iterator[str]:
    yield "## What is legal"
    yield ""
    yield ("Each field has one of its values, what an instruction does not use is zero, and a "
           "register is one of those that there are. Beside that these rules hold; what breaks "
           "one is an `ILLEGAL_FIELD`. The 0 of an operand must be an immediate. The first of two "
           "rules that an instruction breaks is the one that the golden model names.")
    yield ""
    for opcode, found in RULES.items():
        insn = isa.BY_OPCODE[opcode]
        yield f"**{insn.mnemonic}**"
        yield ""
        yield from _table(("field or operand", "must be", "where", "on chips without"), (
            (f"`{rule.field}`", _values(insn, rule.field, rule.values),
             "; ".join(f"`{name}`: {_values(insn, name, values)}"
                       for name, values in rule.when.items()), rule.lacks) for rule in found))


def _faults() -> Iterator[str]:
    yield "## Faults"
    yield ""
    yield from _table(("FAULT_CAUSE", "fault", "what happened", "FAULT_ADDR"), (
        (fault.value, f"`{fault.name}`", *faults.FAULT_DOCS[fault])
        for fault in faults.FAULTS.values()))


def _registers() -> Iterator[str]:
    yield "## Control and status registers"
    yield ""
    yield (f"AXI4-Lite, 32-bit words, {registers.ADDRESS_BITS} address bits. Window bases start "
           f"as 1 and lasts as 0: closed.")
    yield ""
    low = min(registers.COUNTERS.values())
    yield from _table(("offset", "register", "access", "meaning"), (
        (f"{register.offset:#05x}", f"`{register.name}`", register.access.value, register.doc)
        for register in sorted(registers.registers(1), key=lambda each: each.offset)
        if register.offset < low))
    yield "## Performance counters"
    yield ""
    yield (f"{registers.COUNTER_BITS} bits each, `.._LO` at the offset and `.._HI` 4 bytes on; "
           f"read LO first. They count the last run.")
    yield ""
    yield from _table(("offset", "counter"), (
        (f"{offset:#05x}", f"`{name}`") for name, offset in registers.COUNTERS.items()))
    yield "In every cycle of a run each unit is in one of these states:"
    yield ""
    yield from _table(("state", "meaning"), (
        (f"`{state.name.lower()}`", registers.ACTIVITY_DOCS[state])
        for state in registers.Activity))


def isa_page() -> str:
    """Return docs/isa.md."""
    parts = (_encoding(), _state(), _assembly(), _cards(), _vector(), _dma(),
             _links(), _legality(), _faults(), _registers())
    lines = [_INTRO]
    for part in parts:
        lines += part
    return "\n".join(lines).rstrip() + "\n"


def main(argv: Sequence[str] | None = None, root: Path | None = None) -> int:
    """Write docs/isa.md; arguments and result are those of `pages.page.write_page`."""
    return write_page("isa.md", lambda _: isa_page(), argv, root)


if __name__ == "__main__":
    sys.exit(main())

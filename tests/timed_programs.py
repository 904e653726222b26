"""Small programs, and the cycles that the RTL of core takes for them.

Their addresses are offsets into the arena; tests/rtl/test_timed_programs.py runs them.
"""

from collections.abc import Callable, Iterator

from celosia.arch.config import PRESETS
from celosia.arch.encoding import Insn, insn
from celosia.program import Program

CORE = PRESETS["core"]
Words = Iterator[Insn]


def move(mnemonic: str, row: int, addr: int, rows: int, cols: int = 16, pitch: int = 64,
         fmt: str = "w32", mem: str = "acc", group_step: int = 0) -> Insn:
    return insn(mnemonic, mem=mem, fmt=fmt, row=row, addr=addr, rows=rows, cols=cols, pitch=pitch,
                group_step=group_step)


def vector(op: str, dst: int, rows: int, *sources: tuple[str, int], kind: str = "acc",
           **more: int | str) -> Insn:
    words: dict[str, int | str] = {}
    for name, (source, value) in zip("abc", sources, strict=False):
        words |= {f"{name}_kind": source, name: value}
    return insn("vector", op=op, dst_kind=kind, dst=dst, n0=rows, **words, **more)


def acc(row: int) -> tuple[str, int]:
    return "acc", row


def matmul(to: int, acts: int, w: int, rows: int, n1: int = 1, **more: int) -> Insn:
    return insn("matmul", fmt="bf16", acc=to, acts=acts, w=w, n0=rows, n1=n1, wrows=16, **more)


def unaligned_loads() -> Words:
    for i in range(8):
        yield move("load", 128 * i, 64 * i + 8, 128, pitch=2044)


def unaligned_stores() -> Words:
    for i in range(8):
        yield move("store", 128 * i, 65536 * i + 8, 64, 32, 1032, group_step=64)


def single_rows() -> Words:
    for i in range(20):
        yield vector("ffma", 256 + 32 * i, 32, acc(0), ("acc_row", 100), ("acc_row", 101))


def transposes_between_moves() -> Words:
    for i in range(10):
        yield vector("transpose", 256 + 32 * i, 32, acc(0))
        yield vector("mov", 1024 + 32 * i, 32, acc(0))


def softmax() -> Words:
    for row in range(0, 384, 64):
        yield vector("mov", 600 + row, 64, acc(row), reduce="lanes", reduce_op="max_f")
        yield vector("fsub", row, 64, acc(row), acc(600 + row), post="exp2")
        yield vector("mov", 600 + row, 64, acc(row), reduce="lanes", reduce_op="sum_f")
        yield vector("mov", 600 + row, 64, acc(600 + row), post="recip")
        yield vector("fmul", row, 64, acc(row), acc(600 + row))


def elementwise() -> Words:
    """Loads of rows of two beats, beside rows that the vector unit writes."""
    for i in range(20):
        at = i % 2 * 256
        yield move("load", at, 4096 * i, 64)
        yield move("load", at + 64, 4096 * i + (1 << 20), 64)
        yield vector("fadd", at + 128, 64, acc(at), acc(at + 64))
        yield vector("fmul", at + 192, 64, acc(at + 128), acc(at))
        yield move("store", at + 192, (1 << 21) + 4096 * i, 64)


def transposes_of_blocks() -> Words:
    """Loads whose groups lie in one bank, beside the vector unit."""
    for i in range(8):
        at, to = i % 2 * 256, 1000 + i % 2 * 256
        yield move("load", at, 8192 * i, 64, 64, 128, "bf16", "ub", 64)
        yield vector("transpose", to, 64, ("ub_bf16", at), kind="ub_bf16", n1=4)
        yield move("store", to, (1 << 20) + 8192 * i, 64, 64, 128, "bf16", "ub", 64)


def convolution() -> Words:
    """Activations all in one bank: the weights wait for them."""
    yield insn("stride", x=1, s0=4, s1=64)
    for i in range(9):
        for panel in range(2):
            yield matmul(256 * panel, i // 3 * 34 + i % 3, 8000 + 32 * i + 16 * panel, 16, 16,
                         accumulate=int(i > 0), xacts=1)
    for panel in range(2):
        yield vector("ffma", 1024 + 256 * panel, 256, acc(256 * panel), ("acc_row", 1900),
                     ("acc_row", 1901), post="relu_f")
        yield move("store", 1024 + 256 * panel, (1 << 20) + 64 * panel, 256, pitch=128)


def layers() -> Words:
    for i in range(16):
        at = i % 2
        yield move("load", 2048 + 64 * at, 2048 * i, 64, 16, 1024, "bf16", "ub")
        yield move("load", 4096 + 16 * at, 2048 * i + (1 << 20), 16, 16, 1024, "bf16", "ub")
        yield matmul(64 * at, 2048 + 64 * at, 4096 + 16 * at, 64)
        yield vector("ffma", 128 + 64 * at, 64, acc(64 * at), ("acc_row", 1000),
                     ("acc_row", 1001), post="relu_f")
        yield move("store", 128 + 64 * at, (1 << 21) + 4096 * i, 64)


def fences() -> Words:
    for i in range(12):
        yield move("load", 16 * i, 1024 * i, 16, fmt="bf16", mem="ub")
        yield insn("fence")
        yield vector("fadd", 0, 16, acc(512), ("scalar", 0))
        yield insn("fence")


def reads() -> Words:
    for i in range(12):
        yield vector("fadd", 0, 16, acc(512), ("scalar", 0))
        yield insn("read", rd=1, row=0, lane=1)
        yield insn("beq", a=7, b=5, target=3 * i + 3)


#: Each with its cycles.
TIMED = {
    unaligned_loads: 3061, unaligned_stores: 2495, single_rows: 719, transposes_between_moves: 867,
    softmax: 2481, elementwise: 5564, transposes_of_blocks: 3264, convolution: 6008, layers: 2449,
    fences: 1901, reads: 713}


def timed(insns: Callable[[], Words]) -> Program:
    """Return one of them as a program."""
    made = *insns(), insn("halt")
    moves = tuple((i, [each.name for each in word.instruction.operands].index("addr"))
                  for i, word in enumerate(made) if word.instruction.mnemonic in ("load", "store"))
    return Program(CORE.fingerprint, made, insns.__name__, arena_bytes=1 << 23, relocations=moves)

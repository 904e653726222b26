"""Instructions on the firmware and on the golden model: what random programs seldom meet."""

import itertools
import random

import numpy as np
import pytest

from celosia.arch import isa
from celosia.arch.config import preset
from celosia.arch.encoding import Reg, encode, insn
from celosia.arch.faults import Fault
from celosia.arch.link import LinkConfig
from celosia.arch.registers import BY_NAME, Control, Status
from celosia.arch.vector import (
    DIV_OPS,
    FLOAT_OPS,
    FLOAT_POSTS,
    FLOAT_REDUCES,
    MOVEMENT_OPS,
    PARAM_POSTS,
    VECTOR_OPERANDS,
    Post,
    Reduce,
    ReduceOp,
    Src,
    VectorOp,
    operand_names,
)
from celosia.model import Machine, Memory
from celosia_sim.compact import CompactHost
from celosia_sim.lockstep import Lockstep
from celosia_sim.randbuild import DATA_ADDR, RandomProgram

MEMORY = 1 << 22
HALT = insn("halt")
#: fp32: zeros, subnormals, the ends of the normal range, numbers near powers of two and halves,
#: what the special functions have an end at, infinities, NaN.
FLOATS = [sign << 31 | bits for sign in (0, 1) for bits in (
    0, 1, 0x7FFFFF, 0x800000, 0x800001, 0xFFFFFF, 0x1000000, 0x1F800000, 0x3EFFFFFF, 0x3F000000,
    0x3F000001, 0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x3FBFFFFF, 0x3FC00000, 0x40200000, 0x42FC0000,
    0x42FE0000, 0x43000000, 0x4AFFFFFF, 0x4B000001, 0x4EFFFFFF, 0x4F000000, 0x5F000000, 0x7F000000,
    0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000)]
EDGES = (0, 1, 2, 31, 32, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF)
WINDOWS = ((DATA_ADDR, DATA_ADDR + 0xFFFF), (1, 0), (1, 0), (1, 0))


class Both:
    """Firmware and model, whose external memory ends at the same place."""

    def __init__(self, name: str):
        self.config = preset(name)
        self.chip = CompactHost(self.config, LinkConfig(25_000_000, memory_bytes=MEMORY))
        self.lockstep = Lockstep(self.config, self.chip, exact=False)
        self.lockstep.machine = Machine(self.config, Memory(MEMORY))

    def run(self, *insns, image: bytes = bytes(64), windows=WINDOWS):
        """Run instructions, or their bytes; what they leave is compared."""
        code = b"".join(i if isinstance(i, bytes) else encode(i) for i in insns)
        return self.lockstep.run(RandomProgram(self.config, 0, code, (), image, windows))

    def fault(self, *insns, **options) -> tuple[Fault, int, int]:
        outcome = self.run(*insns, **options)
        assert outcome.status == Status.FAULTED
        return outcome.cause, outcome.pc, outcome.addr

    def read(self, name: str) -> int:
        return self.chip.read_register(BY_NAME[name].offset)

    def write(self, name: str, value: int) -> None:
        self.chip.write_register(BY_NAME[name].offset, value)

    def fill(self, seed: int) -> None:
        """Put numbers into both on-chip memories, many of them extreme."""
        rng, machine = np.random.default_rng(seed), self.lockstep.machine
        ub = rng.integers(0, 256, machine.ub.shape).astype(machine.ub.dtype)
        acc = rng.integers(0, 1 << 32, machine.acc.shape, dtype=np.uint32)
        acc >>= rng.integers(0, 32, acc.shape, dtype=np.uint32)
        special = rng.random(acc.shape) < 0.3
        acc[special] = rng.choice(np.array(EDGES, np.uint32), int(special.sum()))
        if self.config.bf16:
            floats = np.array(FLOATS, np.uint32)
            for rows, shift in ((acc, 0), (ub, 16)):
                ordinary = rng.normal(0, 4, rows.shape).astype(np.float32).view(np.uint32)
                for words, share in ((ordinary, 0.4), (rng.choice(floats, rows.shape), 0.4)):
                    chosen = rng.random(rows.shape) < share
                    rows[chosen] = (words[chosen] >> shift).astype(rows.dtype)
        machine.ub[:], machine.acc[:] = ub, acc
        self.chip.poke("ub", 0, ub.view(np.uint8))
        self.chip.poke("acc", 0, acc.view(np.uint8))


#: `core4` has all that the others have, and another firmware with bf16; theirs runs random programs
#: in tests/sw/compact/test_execute.py.
@pytest.fixture(scope="module", params=[
    "core4", *(pytest.param(name, marks=pytest.mark.slow) for name in ("pico", "nano"))])
def both(request):
    both = Both(request.param)
    yield both
    both.chip.close()


ALU = [i.mnemonic for i in isa.INSTRUCTIONS
       if [operand.name for operand in i.operands] == ["a", "b"]]
BRANCHES = [i.mnemonic for i in isa.INSTRUCTIONS
            if [operand.name for operand in i.operands] == ["a", "b", "target"]]


def kept(row: int):
    """Keep r3 in a row of the accumulators."""
    return insn("vector", op="mov", dst_kind="acc", dst=row, a_kind="scalar", a=Reg(3), n0=1)


@pytest.mark.parametrize("mnemonic", ALU)
def test_alu(both, mnemonic):
    program = []
    for row, (a, b) in enumerate(itertools.product(EDGES, EDGES)):
        program += [insn("mov", rd=1, a=a), insn(mnemonic, rd=3, a=Reg(1), b=b), kept(row)]
    assert both.run(*program, HALT).status == Status.DONE


@pytest.mark.parametrize("mnemonic", BRANCHES)
def test_branches(both, mnemonic):
    program = []
    for row, (a, b) in enumerate(itertools.product(EDGES, EDGES)):
        at = len(program)
        program += [insn("mov", rd=3, a=1), insn(mnemonic, a=a, b=b, target=at + 3),
                    insn("mov", rd=3, a=2), kept(row)]
    assert both.run(*program, HALT).status == Status.DONE


def test_loops(both):
    count = insn("add", rd=3, a=Reg(3), b=1)
    for program in (
            [insn("loop", count=0, end=2), count],
            [insn("loop", count=5, end=2), count],
            [insn("loop", count=5, end=1), count],  # an empty body
            [insn("loop", count=3, end=4)] * 4 + [count],  # bodies that are empty, or end alike
            [*[insn("loop", count=3, end=5)] * 4, count],
            # Out of a loop, which stays on the stack, and back to its end.
            [insn("loop", count=3, end=3), insn("beq", a=Reg(3), b=1, target=5), count,
             count, insn("jump", target=7), count, insn("jump", target=3)]):
        assert both.run(*program, kept(7), HALT).status == Status.DONE
    nested = [insn("loop", count=1, end=9) for _ in range(5)]
    assert both.fault(*nested, HALT) == (Fault.LOOP_DEPTH, 4, 0)


SIMPLE = [op for op in VectorOp if op not in MOVEMENT_OPS]
FLAT = {Src.ACC_ROW: 20, Src.UB_I8_ROW: 20, Src.SCALAR: 0x123456, Src.LANE_INDEX: 0xFFFFFFFE,
        Src.ROW_INDEX: 0xFFFFFFF0, Src.ACC_LANE_ROW: 1 << 24 | 21, Src.UB_I8_LANE_ROW: 22}
STREAMS = {Src.ACC: 40, Src.UB_I8: 40, Src.ACC_LANE: 1 << 24 | 44, Src.UB_I8_LANE: 1 << 24 | 48}
FLAT_BF16 = {Src.UB_BF16_ROW: 20, Src.UB_BF16_LANE_ROW: 1 << 24 | 23}
STREAMS_BF16 = {Src.UB_BF16: 40, Src.UB_BF16_LANE: 52}


def sources(op, post, rng, bf16: bool):
    """Return sources for an operation: at most two streams."""
    names = operand_names(op, post)
    still = rng.randrange(3) if len(names) == 3 else -1
    flat, streams = (FLAT | FLAT_BF16, STREAMS | STREAMS_BF16) if bf16 else (FLAT, STREAMS)
    fields = {}
    for i, name in enumerate(names):
        kinds = flat if i == still else flat | streams
        kind = rng.choice(list(kinds))
        fields |= {f"{name}_kind": kind, name: kinds[kind]}
    return fields


@pytest.mark.parametrize("op", SIMPLE)
def test_operations_stages_and_reductions(both, op):
    rng, bf16 = random.Random(op), both.config.bf16
    if op in FLOAT_OPS and not bf16:
        pytest.skip("no bf16")
    program = []
    posts = [post for post in Post if bf16 or post not in FLOAT_POSTS]
    joins = [join for join in ReduceOp if bf16 or join not in FLOAT_REDUCES]
    if op == VectorOp.REQUANT:
        posts = [Post.NONE]
    if op not in DIV_OPS:
        posts = [post for post in posts if post != Post.DIV]
    choices = itertools.product(posts, ("acc", "ub_i8", *["ub_bf16"] * bf16),
                                [Reduce.NONE, *Reduce] * 2)
    for post, dst, reduce in choices:
        param = rng.getrandbits(32) if post in PARAM_POSTS or op == VectorOp.REQUANT else 0
        join = rng.choice(joins) if reduce else 0
        program.append(insn("vector", op=op, post=post, dst_kind=dst, reduce=reduce,
                            reduce_op=join, dst=rng.randrange(100, 150), param=param,
                            n0=both.config.dim, n1=rng.randrange(1, 4), n2=rng.randrange(1, 4),
                            **sources(op, post, rng, bf16)))
    for seed in range(3):
        both.fill(seed)
        assert both.run(*program, HALT).status == Status.DONE


@pytest.mark.parametrize(("op", "post"), [(op, Post.NONE) for op in sorted(FLOAT_OPS)
                                          if VECTOR_OPERANDS[op] == 2] + [("mov", Post.DIV)])
def test_pairs_of_floats(both, op, post):
    if not both.config.bf16:
        pytest.skip("no bf16")
    dim = both.config.dim
    pairs = np.array(list(itertools.product(FLOATS, FLOATS)), np.uint32)
    for part in np.array_split(pairs, 4):
        both.lockstep.machine.acc[:], both.lockstep.machine.ub[:] = 0, 0
        rows = -(-len(part) // dim)
        for k in range(2):
            words = np.resize(part[:, k], (rows, dim))
            both.lockstep.machine.acc[k * rows:(k + 1) * rows] = words
        both.chip.poke("acc", 0, both.lockstep.machine.acc.view(np.uint8))
        both.chip.poke("ub", 0, both.lockstep.machine.ub.view(np.uint8))
        second = "c" if post == Post.DIV else "b"
        assert both.run(insn("vector", op=op, post=post, dst_kind="acc", dst=2 * rows,
                             a_kind="acc", a=0, **{f"{second}_kind": "acc", second: rows},
                             n0=rows), HALT).status == Status.DONE


@pytest.mark.parametrize("post", sorted(FLOAT_POSTS - {Post.DIV}))
def test_floats_through_the_second_stage(both, post):
    """As many as the accumulators hold: any bits, ordinary numbers, and those at the ends."""
    if not both.config.bf16:
        pytest.skip("no bf16")
    machine, rng = both.lockstep.machine, np.random.default_rng(int(post))
    param = 0x40A0C0A0 if post in PARAM_POSTS else 0  # -5 to 5
    for number in range(4):
        shape = machine.acc.shape
        words = rng.integers(0, 1 << 32, shape, dtype=np.uint32)
        if number % 2:
            words = rng.normal(0, 10 ** rng.uniform(-3, 3), shape).astype(np.float32).view(
                np.uint32)
        words.reshape(-1)[:len(FLOATS)] = FLOATS
        machine.acc[:], machine.ub[:] = words, 0
        both.chip.poke("acc", 0, machine.acc.view(np.uint8))
        both.chip.poke("ub", 0, machine.ub.view(np.uint8))
        assert both.run(insn("vector", op="mov", post=post, dst_kind="acc", dst=0, a_kind="acc",
                             a=0, n0=len(words), param=param), HALT).status == Status.DONE


def test_transfers_between_formats(both):
    if not both.config.bf16:
        pytest.skip("no bf16")
    both.fill(7)
    program = []
    for number, (mem, fmt) in enumerate(itertools.product(("ub", "acc"), ("i8", "bf16", "w32"))):
        at = {"mem": mem, "fmt": fmt, "rows": 5, "cols": 7, "pitch": 32,
              "addr": DATA_ADDR + 1024 * number}
        program += [insn("store", row=0, **at), insn("load", row=100 + 20 * number, **at)]
        # What another format has left there is taken for this one.
        program += [insn("load", row=300 + 20 * number, **at | {"addr": DATA_ADDR}),
                    insn("load", row=500 + 20 * number, **at | {"addr": DATA_ADDR + 2048})]
    assert both.run(*program, HALT).status == Status.DONE


def test_requant_at_every_shift(both):
    for seed in range(10):
        both.fill(seed)
        rng = random.Random(seed)
        program = []
        for shift in range(64):
            scale = rng.choice((0, 1, 0x7FFF, 0x8000, 0xFFFF, rng.getrandbits(16)))
            program += [insn("vector", op="requant", dst_kind="acc", dst=200 + 4 * shift, n0=4,
                             a_kind="acc", a=rng.randrange(100), b_kind="scalar",
                             b=scale | shift << 16 | rng.getrandbits(10) << 22,
                             c_kind=rng.choice(("acc_row", "ub_i8_row")), c=rng.randrange(100),
                             param=rng.getrandbits(32))]
        assert both.run(*program, HALT).status == Status.DONE


def test_single_rows_are_read_before_the_first_row_is_written(both):
    for kind, row in (("acc_row", 12), ("acc_lane_row", 1 << 24 | 13)):
        both.fill(1)
        assert both.run(insn("vector", op="iadd", dst_kind="acc", dst=10, a_kind="acc", a=10,
                             b_kind=kind, b=row, n0=8), HALT).status == Status.DONE


@pytest.mark.parametrize("op", ["transpose", "rotate"])
def test_movement_in_place(both, op):
    both.fill(2)
    b = {"b_kind": "scalar", "b": 0xFFFFFFFF} if op == "rotate" else {}
    for memory in ("acc", "ub_i8"):
        assert both.run(
            insn("stride", x=3, s0=3),
            insn("vector", op=op, dst_kind=memory, dst=5, a_kind=memory, a=5, xdst=3, xa=3,
                 n0=2 * both.config.dim, **b), HALT).status == Status.DONE


def test_matmul_adds_to_one_row_again_and_again(both):
    both.fill(3)
    for strides in ((0, 0, 0), (0, 1, 0), (1, 0, 2), (65535, 0, 0)):
        counts = {"n0": 1 if strides[0] > 5 else 3, "n1": 4, "n2": 5}
        s0, s1, s2 = strides
        assert both.run(
            insn("stride", x=1, s0=s0, s1=s1, s2=s2), insn("stride", x=2, s0=2, s1=0, s2=1),
            insn("matmul", acc=9, acts=20, w=5, wrows=both.config.dim, transpose=1, xacc=1, xacts=2,
                 accumulate=1, **counts),
            insn("matmul", acc=50, acts=20, wload=0, xacc=1, accumulate=0, **counts),
            HALT).status == Status.DONE


def test_tile_does_not_outlive_a_run(both):
    keeps = insn("matmul", acc=0, acts=0, wload=0, n0=1)
    loads = insn("matmul", acc=0, acts=0, w=0, wrows=1, n0=1)
    assert both.run(loads, keeps, HALT).status == Status.DONE
    assert both.fault(keeps, HALT) == (Fault.ILLEGAL_FIELD, 0, 0)


def test_accesses_beyond_the_memory(both):
    all_of_it = ((0, 0xFFFFFFFF), (1, 0), (1, 0), (1, 0))
    assert not both.chip.fault_light
    for mnemonic, cause in (("load", Fault.BUS_READ), ("store", Fault.BUS_WRITE)):
        def move(mnemonic=mnemonic, **fields):
            fields = {"mem": "ub", "fmt": "i8", "rows": 2, "cols": 2, "pitch": 4} | fields
            return insn(mnemonic, row=0, **fields)

        both.fill(4)
        last = MEMORY - 6
        assert both.run(move(addr=last), HALT, windows=all_of_it).status == Status.DONE
        for fields in ({"addr": last + 1}, {"addr": MEMORY}, {"addr": 0xFFFFFFF0},
                       {"addr": 0, "pitch": MEMORY}, {"addr": 2, "pitch": 0xFFFFFFF8}):
            wanted = cause
            if fields["addr"] + fields.get("pitch", 4) + 2 > 1 << 32:
                wanted = Fault.WINDOW
            assert both.fault(move(**fields), HALT, windows=all_of_it)[:2] == (wanted, 0)
    assert both.chip.fault_light


def test_program_that_ends_with_the_memory(both):
    both.write("WINDOW0_BASE", 1)
    for addr, wanted in ((MEMORY - 128, (Fault.BUS_FETCH, 4, 4)),
                         (MEMORY, (Fault.BUS_FETCH, 0, 0)),
                         (0xFFFFFF80, (Fault.BUS_FETCH, 0, 0))):
        if addr < MEMORY:
            both.chip.write_memory(addr, encode(insn("nop")) * 4)
        for name, value in (("PROGRAM", addr), ("LENGTH", 100), ("WATCHDOG", 0),
                            ("CONTROL", Control.START)):
            both.write(name, value)
        both.chip.run(1000)
        found = Fault(both.read("FAULT_CAUSE")), both.read("FAULT_PC"), both.read("FAULT_ADDR")
        assert (both.read("STATUS"), found) == (Status.FAULTED, wanted)
        both.write("CONTROL", Control.RESET)


LONG = insn("vector", op="iadd", dst_kind="acc", dst=0, xdst=1, a_kind="acc", a=4, xa=1,
            b_kind="scalar", b=1, n0=65535, n1=65535, n2=1023)
SHORT_STRIDE = insn("stride", x=1, s0=0)


def start(both, *insns, watchdog=0):
    both.chip.write_memory(0x1000, b"".join(map(encode, insns)))
    for name, value in (("PROGRAM", 0x1000), ("LENGTH", len(insns)), ("WATCHDOG", watchdog),
                        ("IRQ_STATUS", 1), ("IRQ_ENABLE", 1), ("CONTROL", Control.START)):
        both.write(name, value)


def test_watchdog_ends_a_walk_of_ages(both):
    start(both, SHORT_STRIDE, LONG, HALT, watchdog=5000)
    assert both.chip.wait_interrupt(6000)
    assert [both.read(name) for name in ("STATUS", "FAULT_CAUSE", "FAULT_PC", "FAULT_ADDR")] == [
        Status.FAULTED, Fault.WATCHDOG, 1, 0]
    assert 5000 <= both.read("CYCLES_LO") < 5100
    both.write("CONTROL", Control.RESET)
    both.fill(5)


def test_host_ends_a_walk_of_ages(both):
    start(both, SHORT_STRIDE, LONG, HALT)
    assert not both.chip.wait_interrupt(3000)
    assert (both.read("STATUS"), both.read("PC")) == (Status.RUNNING, 1)
    assert both.read("VPU_BUSY_LO") > 2000
    both.write("CONTROL", Control.RESET)
    assert both.read("STATUS") == Status.IDLE
    assert [both.read(name) for name in ("FAULT_CAUSE", "FAULT_PC", "IRQ_STATUS")] == [0, 0, 0]
    both.fill(6)
    assert both.run(HALT).status == Status.DONE


def test_spans_beyond_32_bits(both):
    """FAULT_ADDR is the lower half of the last row."""
    vector = {"op": "mov", "dst_kind": "acc", "a_kind": "scalar"}
    stride = insn("stride", x=1, s0=65535, s1=65535, s2=65535)
    most = {"n0": 65535, "n1": 65535}
    both.fault(insn("vector", dst=0, n2=1023, **most, **vector), HALT)
    both.fault(insn("vector", dst=0xFFFFFFFF, n2=1023, **most, **vector), HALT)
    both.fault(stride, insn("vector", dst=0xFFFFFFFF, xdst=1, n2=1023, **most, **vector), HALT)
    both.fault(insn("matmul", acc=0, acts=0, w=0, wrows=1, n2=65535, **most), HALT)
    both.fault(insn("load", mem="ub", fmt="i8", row=0xFFFFFFFF, addr=DATA_ADDR, rows=65535,
                    cols=65535, row_step=65535, group_step=65535), HALT)
    both.fault(insn("load", mem="ub", fmt="i8", row=0, addr=DATA_ADDR, rows=65535, cols=1,
                    row_step=0, pitch=0xFFFFFFFF), HALT)


LEGAL = (
    insn("nop"), insn("mov", rd=3, a=Reg(2)), insn("add", rd=1, a=5, b=Reg(2)),
    insn("beq", a=0, b=1, target=2), insn("loop", count=1, end=2), insn("stride", x=1, s0=2),
    insn("read", rd=1, row=3),
    insn("load", mem="ub", fmt="i8", row=0, addr=DATA_ADDR, rows=2, cols=3, pitch=4),
    insn("store", mem="acc", fmt="w32", row=0, addr=DATA_ADDR, rows=2, cols=2, pitch=8),
    insn("matmul", acc=0, acts=0, w=4, wrows=2, n0=2),
    insn("matmul", acc=0, acts=0, wload=0, n0=2),
    insn("vector", op="requant", dst_kind="ub_i8", dst=0, a_kind="acc", a=0, b_kind="acc_row",
         b=3, c_kind="scalar", c=4, n0=2),
    insn("vector", op="mov", dst_kind="acc", dst=0, a_kind="ub_i8", a=0, reduce="rows", n0=2),
    insn("vector", op="rotate", dst_kind="acc", dst=0, a_kind="ub_i8", a=0, b_kind="scalar", b=1,
         n0=2),
    insn("vector", op="gather", dst_kind="ub_i8", dst=0, a_kind="acc", a=0, b_kind="acc", b=50,
         n0=2, param=9),
    insn("vector", op="scatter", dst_kind="ub_i8", dst=0, a_kind="acc", a=0, b_kind="acc", b=50,
         n0=2, param=9),
)
LEGAL_BF16 = (
    insn("load", mem="ub", fmt="bf16", row=0, addr=DATA_ADDR, rows=2, cols=3, pitch=8),
    insn("store", mem="ub", fmt="w32", row=0, addr=DATA_ADDR, rows=2, cols=2, pitch=8),
    insn("matmul", fmt="bf16", acc=0, acts=0, w=4, wrows=2, n0=2),
    insn("vector", op="fadd", post="relu_f", dst_kind="ub_bf16", dst=0, a_kind="acc", a=0,
         b_kind="ub_bf16", b=3, n0=2),
    insn("vector", op="ffma", post="clamp_f", dst_kind="acc", dst=0, a_kind="acc", a=0,
         b_kind="acc_row", b=3, c_kind="scalar", c=0x3F800000, param=0x40004000, n0=2),
    insn("vector", op="i2f", post="exp2", dst_kind="acc", dst=0, a_kind="ub_i8", a=0,
         reduce="lanes", reduce_op="sum_f", n0=2),
    insn("vector", op="gather", post="f2i", dst_kind="ub_i8", dst=0, a_kind="ub_bf16", a=0,
         b_kind="acc", b=50, n0=2, param=9),
)


@pytest.mark.parametrize("number", range(len(LEGAL + LEGAL_BF16)))
def test_every_bit_of_an_instruction_is_checked(both, number):
    if number >= len(LEGAL) and not both.config.bf16:
        pytest.skip("no bf16")
    code = encode((LEGAL + LEGAL_BF16)[number])
    before = (insn("matmul", acc=0, acts=0, w=4, wrows=2, n0=1),)
    causes = set()
    for bit in range(256):
        flipped = bytearray(code)
        flipped[bit // 8] ^= 1 << bit % 8
        try:
            causes.add(both.run(*before, bytes(flipped), HALT).cause)
        except TimeoutError:  # the model does not walk so far
            continue
    assert Fault.ILLEGAL_FIELD in causes

"""The scalar unit with stand-ins for the tensor units: what it hands out, and what it faults on."""

import functools
import random
from dataclasses import dataclass, field

import pytest

from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Reg, encode, insn
from celosia.arch.faults import Fault
from celosia_hw.scalar.dispatch import TENSOR_UNITS
from celosia_hw.scalar.unit import ScalarUnit
from hw.simulation import World

CONFIG = TpuConfig("tiny", dim=4, int8=True, bf16=True, ub_rows=64, acc_rows=32, bus_bytes=8,
                   window=4, ibuf=16)
PROGRAM = 0x1000


@functools.cache
def world() -> World:
    """The unit, made once."""
    return World(ScalarUnit(CONFIG))


@dataclass
class Run:
    """What a run did: commands by unit, in order of their start; bursts fetched; how it ended."""

    commands: list[tuple[str, dict[str, int]]] = field(default_factory=list)
    starts: list[tuple[str, int]] = field(default_factory=list)
    dones: list[tuple[str, int]] = field(default_factory=list)
    bursts: list[int] = field(default_factory=list)
    reads: list[int] = field(default_factory=list)
    cycles: int = 0
    halted: bool = False
    fault: tuple[Fault, int, int] | None = None


def run(program, *, latency=5, work=10, fail_unit=None, limit=4000, bad_fetch=None,
        length=None, detail=0, slow_unit=None, prepare=0, forget=False,
        before=()) -> Run:
    """Run ``program``; every tensor command takes ``work`` cycles, of ``slow_unit`` 20 times that.

    ``prepare``: so many cycles before the start the program may be fetched; ``forget``: not any
    more. ``before``: a program that runs first.

    Lane n of accumulator row r holds 0x4000 + 16 * r + n.
    """
    dut = world().component
    result = Run()
    image = b""

    async def memory(ctx):
        queue = []
        now = 0
        while True:
            ctx.set(dut.axi.ar.ready, 1)
            ready = [item for item in queue if item[0] <= now]
            ctx.set(dut.axi.r.valid, bool(ready))
            if ready:
                _, address, last = ready[0]
                offset = address - PROGRAM
                chunk = image[offset:offset + CONFIG.bus_bytes].ljust(CONFIG.bus_bytes, b"\0")
                bad = bad_fetch is not None and offset // 32 == bad_fetch
                ctx.set(dut.axi.r.payload, {"data": int.from_bytes(chunk, "little"),
                                            "resp": 2 if bad else 0, "last": last, "id": 1})
            _, _, valid, payload = await ctx.tick().sample(dut.axi.ar.valid, dut.axi.ar.payload)
            now += 1
            if ready:
                queue.pop(0)
            if valid:
                result.bursts.append((payload.addr - PROGRAM) // 32)
                for i in range(payload.len + 1):
                    queue.append((now + latency, payload.addr + i * CONFIG.bus_bytes,
                                  i == payload.len))

    def unit(name):
        port = getattr(dut, f"port_{name}")

        async def process(ctx):
            while True:
                ctx.set(port.command.ready, 1)
                ctx.set(port.done, 0)
                _, _, valid, payload = await ctx.tick().sample(
                    port.command.valid, port.command.payload)
                if not valid:
                    continue
                result.commands.append((name, payload))
                result.starts.append((name, result.cycles))
                ctx.set(port.command.ready, 0)
                await ctx.tick().repeat(20 * work if name == slow_unit else work)
                ctx.set(port.done, 1)
                ctx.set(port.error, name == fail_unit)
                ctx.set(port.detail, detail)
                await ctx.tick()
                result.dones.append((name, result.cycles))
        return process

    async def accumulators(ctx):
        port, data = dut.acc_read, 0
        ctx.set(port.ready, 1)
        while True:
            _, _, valid, row = await ctx.tick().sample(port.valid, port.addr)
            ctx.set(port.data, data)  # in the second cycle after the request, and no other
            ctx.set(port.granted, valid)
            data = 0
            if valid:
                result.reads.append(result.cycles)
                data = sum(0x4000 + 16 * row + n << 32 * n for n in range(CONFIG.dim))

    async def bench(ctx):
        for i, (base, last) in enumerate([(0x4000, 0x4FFF), (1, 0), (1, 0), (1, 0)]):
            ctx.set(dut.windows[i], {"base": base, "last": last})
        nonlocal image
        ctx.set(dut.program, PROGRAM)
        if before:
            image = b"".join(map(encode, before))
            ctx.set(dut.length, len(before))
            ctx.set(dut.start, 1)
            await ctx.tick()
            ctx.set(dut.start, 0)
            await ctx.tick().until(dut.halted)
        image = b"".join(map(encode, program))
        ctx.set(dut.length, len(program) if length is None else length)
        for signal, cycles in ((dut.prepare, prepare), (dut.forget, forget), (dut.start, 1)):
            if cycles:
                ctx.set(signal, 1)
                await ctx.tick()
                ctx.set(signal, 0)
                if cycles > 1:
                    await ctx.tick().repeat(cycles - 1)
        while result.cycles < limit:
            _, _, halted, valid, fault = await ctx.tick().sample(
                dut.halted, dut.fault_valid, dut.fault)
            result.cycles += 1
            if halted:
                result.halted = True
                return
            if valid:
                result.fault = (Fault(fault.cause), fault.pc, fault.addr)
                return
        raise AssertionError(f"the program did not end in {limit} cycles")

    world().run(bench, memory, accumulators,
                *(unit(tensor_unit.name.lower()) for tensor_unit in TENSOR_UNITS))
    return result


def show(register):
    """A store whose address shows a register's value modulo the window."""
    return insn("store", row=0, addr=register, rows=1, cols=1, mem="ub", fmt="i8")


def shown(result):
    return [payload.addr - 0x4000 for name, payload in result.commands if name == "store"]


def test_arithmetic():
    program = [
        insn("mov", rd=1, a=0x4000),
        insn("add", rd=2, a=Reg(1), b=5), show(Reg(2)),
        insn("mul", rd=3, a=7, b=Reg(2)), insn("sub", rd=3, a=Reg(3), b=7 * 0x4000 - 0x4000),
        show(Reg(3)),
        insn("slt", rd=4, a=-1, b=1), insn("sltu", rd=5, a=-1, b=1),
        insn("shl", rd=6, a=Reg(4), b=4), insn("or", rd=6, a=Reg(6), b=Reg(1)), show(Reg(6)),
        insn("sar", rd=7, a=-64, b=3), insn("add", rd=7, a=Reg(7), b=0x4010), show(Reg(7)),
        insn("shr", rd=8, a=0x80000000, b=31), insn("xor", rd=8, a=Reg(8), b=0x4002), show(Reg(8)),
        insn("add", rd=9, a=Reg(5), b=Reg(1)), show(Reg(9)), insn("halt"),
    ]
    result = run(program)
    assert result.halted
    assert shown(result) == [5, 35, 16, 8, 3, 0]


def test_nested_loops_are_fetched_once_and_cost_nothing():
    program = [
        insn("mov", rd=1, a=0x4000),
        insn("loop", count=3, end=8),
        insn("add", rd=1, a=Reg(1), b=1),
        insn("loop", count=4, end=6),
        insn("add", rd=1, a=Reg(1), b=16),
        insn("nop"),
        insn("loop", count=0, end=7),
        insn("add", rd=1, a=Reg(1), b=1),
        show(Reg(1)),
        insn("halt"),
    ]
    result = run(program, latency=30)
    assert shown(result) == [3 * (1 + 64 + 1)]
    assert result.bursts == [0, 4, 8]
    body = [insn("nop")] * 2
    cycles = [run([insn("loop", count=n, end=3), *body, insn("halt")]).cycles for n in (10, 30)]
    assert cycles[1] - cycles[0] == 20 * len(body) * 3


def test_branches_and_backward_jumps_refetch_what_was_evicted():
    far = 30
    program = [insn("mov", rd=1, a=0x4000), insn("jump", target=far)]
    program += [insn("nop")] * (far - len(program))
    program += [insn("add", rd=1, a=Reg(1), b=1), insn("blt", a=Reg(1), b=0x4003, target=1),
                show(Reg(1)), insn("halt")]
    result = run(program)
    assert shown(result) == [3]


@pytest.mark.parametrize(("program", "fault"), [
    ([insn("nop")], (Fault.PC_RANGE, 1, 1)),
    ([insn("jump", target=77)], (Fault.PC_RANGE, 77, 77)),
    ([insn("loop", count=2, end=9)] * 5, (Fault.LOOP_DEPTH, 4, 0)),
    ([insn("matmul", acc=29, acts=0, w=0, n0=4, wrows=4)], (Fault.ACC_RANGE, 0, 32)),
    ([insn("matmul", acc=28, acts=0, w=61, n0=4, wrows=4)], (Fault.UB_RANGE, 0, 64)),
    ([insn("matmul", acc=0, acts=0, w=0, n0=4, wrows=5)], (Fault.ILLEGAL_COUNT, 0, 0)),
    ([insn("matmul", acc=0, acts=0, n0=4, wload=0)], (Fault.ILLEGAL_FIELD, 0, 0)),
    ([insn("load", row=0, addr=0x4FFF, rows=1, cols=2)], (Fault.WINDOW, 0, 0x4FFF)),
    ([insn("load", row=0, addr=0x4FF8, rows=2, cols=4, pitch=8)], (Fault.WINDOW, 0, 0x4FF8)),
    ([insn("load", row=0, addr=0x4001, rows=1, cols=2, fmt="bf16")],
     (Fault.MISALIGNED, 0, 0x4001)),
    ([insn("vector", dst=1, dst_kind="acc", a=0, a_kind="acc", n0=4)], (Fault.OVERLAP, 0, 1)),
    ([insn("vector", dst=0, dst_kind="acc", a=0, a_kind="acc", n0=4, n1=4, n2=3)],
     (Fault.ACC_RANGE, 0, 47)),
    ([insn("vector", dst=0, dst_kind="acc", a=4 << 24, a_kind="ub_i8_lane", n0=4)],
     (Fault.INDEX_RANGE, 0, 4)),
    ([insn("nop"), insn("read", rd=1, row=32, lane=4)], (Fault.ACC_RANGE, 1, 32)),
    ([insn("read", rd=1, row=31, lane=4)], (Fault.INDEX_RANGE, 0, 4)),
    ([insn("mov", rd=1, a=-1), insn("read", rd=1, row=0, lane=Reg(1))],
     (Fault.INDEX_RANGE, 1, 0xFFFFFFFF)),
])
def test_faults(program, fault):
    assert run(program).fault == fault


def test_older_instructions_finish_before_a_fault():
    program = [insn("load", row=0, addr=0x4000, rows=1, cols=4),
               insn("load", row=64, addr=0x4000, rows=1, cols=4)]
    result = run(program, work=200)
    assert result.fault == (Fault.UB_RANGE, 1, 64)
    assert result.dones


def test_bus_errors():
    program = [insn("nop"), insn("load", row=0, addr=0x4000, rows=1, cols=4), insn("halt")]
    assert run(program, fail_unit="load").fault == (Fault.BUS_READ, 1, 0)
    assert run(program, bad_fetch=0).fault == (Fault.BUS_FETCH, 0, 0)
    around = [insn("jump", target=8), *[insn("nop")] * 7, insn("jump", target=14), *program * 2]
    assert run(around, bad_fetch=5).halted
    assert run(around, bad_fetch=8).fault == (Fault.BUS_FETCH, 8, 8)


def test_a_bad_index_that_the_vector_unit_finds():
    vector = insn("vector", dst=0, dst_kind="acc", a=0, a_kind="ub_i8", n0=4)
    program = [insn("nop"), vector, insn("read", rd=1, row=0), show(Reg(1)), insn("halt")]
    result = run(program, fail_unit="vpu", detail=0x80000001)
    assert result.fault == (Fault.INDEX_RANGE, 1, 0x80000001)
    assert not result.reads


@pytest.mark.parametrize("younger", [
    [insn("halt")], [insn("matmul", acc=29, acts=0, w=0, n0=4, wrows=4)],
    [insn("jump", target=77)],
    [insn("load", row=8, addr=0x4000, rows=1, cols=4)] * 6 + [insn("halt")]])
def test_everything_older_finishes_before_a_bad_index_stops_the_run(younger):
    older = insn("load", row=32, addr=0x4000, rows=1, cols=4)
    vector = insn("vector", dst=0, dst_kind="acc", a=0, a_kind="ub_i8", n0=4)
    result = run([older, vector, *younger], fail_unit="vpu", detail=9, slow_unit="load")
    assert result.fault == (Fault.INDEX_RANGE, 1, 9)
    assert [name for name, _ in result.dones[:2]] == ["vpu", "load"]
    assert len(result.dones) == len(result.starts)


def test_the_first_of_two_bad_indexes_is_told():
    load = insn("load", row=32, addr=0x4000, rows=1, cols=4)
    vectors = [insn("vector", dst=row, dst_kind="acc", a=row, a_kind="ub_i8", n0=4)
               for row in (0, 8)]
    result = run([load, *vectors, insn("halt")], fail_unit="vpu", slow_unit="load")
    assert [name for name, _ in result.dones] == ["vpu", "vpu", "load"]
    assert result.fault == (Fault.INDEX_RANGE, 1, 0)


def test_read():
    vector = insn("vector", dst=0, dst_kind="acc", a=0, a_kind="ub_i8", n0=4)
    program = [insn("mov", rd=2, a=3), insn("read", rd=1, row=5, lane=Reg(2)), show(Reg(1)),
               insn("read", rd=3, row=31), vector, insn("read", rd=4, row=0, lane=1),
               show(Reg(3)), show(Reg(4)), insn("halt")]
    result = run(program, work=200)
    assert result.halted
    assert shown(result) == [16 * 5 + 3, 16 * 31, 1]
    assert len(result.reads) == 3
    # The second waits for the store, the third for the vector instruction.
    assert result.reads[1] > dict(result.dones[:1])["store"]
    assert result.reads[2] > dict(result.dones)["vpu"]


def test_read_takes_five_cycles_more_than_fence():
    cycles = [run([insn("loop", count=20, end=3), instruction, insn("nop"), insn("halt")]).cycles
              for instruction in (insn("read", rd=1, row=3), insn("fence"))]
    assert cycles[0] - cycles[1] == 5 * 20


def test_conflicts_order_units():
    load = insn("load", row=0, addr=0x4000, rows=4, cols=8, pitch=8, group_step=4)
    reads = insn("matmul", acc=0, acts=0, w=16, n0=8, wrows=4)
    free = insn("matmul", acc=8, acts=32, w=16, n0=8, wrows=4)
    other = insn("vector", dst=40, dst_kind="ub_i8", a=16, a_kind="acc", n0=4)
    result = run([load, reads, free, other, insn("halt")], work=100)
    start = dict(result.starts)
    loaded = dict(result.dones)["load"]
    first = min(cycle for name, cycle in result.starts if name == "mxu")
    assert first > loaded
    assert start["vpu"] < loaded


def test_the_array_follows_the_oldest_loads():
    """Row by row where a load writes consecutive rows; so does the store engine the array."""
    loads = [insn("load", row=8 * i, addr=0x4000, rows=8, cols=4, pitch=4) for i in range(3)]
    product = insn("matmul", acc=0, acts=0, w=16, n0=8, wrows=4)
    stored = insn("store", mem="acc", fmt="w32", row=4, addr=0x4800, rows=8, cols=4, pitch=16)
    result = run([*loads, product, stored, insn("halt")], work=100)
    start, done = dict(result.starts), [cycle for name, cycle in result.dones if name == "load"]
    assert done[1] < start["mxu"] < done[2]
    assert start["mxu"] < start["store"] < dict(result.dones)["mxu"]


@pytest.mark.parametrize("change", [
    {"row_step": 2}, {"cols": 8, "group_step": 8}, {"mem": "acc", "fmt": "w32", "pitch": 16}])
def test_the_array_waits_for_loads_that_write_other_rows(change):
    load = insn("load", **{"row": 0, "addr": 0x4000, "rows": 8, "cols": 4, "pitch": 8} | change)
    product = insn("matmul", acc=0, acts=0, w=16, n0=8, wrows=4)
    result = run([load, product, insn("halt")], work=100)
    assert dict(result.starts)["mxu"] > dict(result.dones)["load"]


def test_the_store_engine_waits_for_products_that_write_other_rows():
    product = insn("matmul", acc=0, xacc=1, acts=0, w=16, n0=8, wrows=4)
    stored = insn("store", mem="acc", fmt="w32", row=4, addr=0x4800, rows=8, cols=4, pitch=16)
    result = run([insn("stride", x=1, s0=2), product, stored, insn("halt")], work=100)
    assert dict(result.starts)["store"] > dict(result.dones)["mxu"]


def test_strides_change_between_two_commands():
    """A command has those that there were before it, the next one the new ones."""
    def product(**where):
        return insn("matmul", xacc=1, w=16, n0=4, wrows=4, **where)

    changes = [insn("stride", x=1, s0=s0) for s0 in (1, 2)]
    found = [run([changes[0], product(acc=0, acts=0), *between, changes[1],
                  product(acc=16, acts=32), insn("halt")]).commands for between in (
                      [], [insn("fence")])]
    assert found[0] == found[1]
    assert [payload.acc.s0 for _, payload in found[0]] == [1, 2]


@pytest.mark.parametrize("wait", [1, 8, 100])
def test_a_program_is_fetched_before_it_starts(wait):
    """And its registers are cleared; as long as it is the same one."""
    program = [insn("add", rd=1, a=Reg(1), b=5), insn("load", row=Reg(1), addr=0x4000, rows=8,
                                                      cols=4, pitch=4), insn("halt")]
    late, early = run(program, latency=40), run(program, latency=40, prepare=wait)
    assert early.commands == late.commands
    assert early.bursts == late.bursts
    saved = min(wait, 60)
    assert late.cycles - saved - 5 <= early.cycles <= late.cycles - saved + 5
    longer = run(program, latency=40, prepare=wait, before=[insn("nop")] * 40 + [insn("halt")])
    assert longer.commands == late.commands
    assert longer.cycles == early.cycles
    forgotten = run(program, latency=40, prepare=wait, forget=True)
    assert forgotten.commands == late.commands
    assert forgotten.cycles >= late.cycles


def rows(mnemonic, first, count=4):
    """A transfer of rows of the unified buffer that no other test shares bytes with."""
    return insn(mnemonic, row=first, addr=0x4000 + 16 * first + 1024 * (mnemonic == "store"),
                rows=count, cols=4, pitch=4)


def bytes_at(mnemonic, first, count=4, row=0):
    """A transfer of one row to or from the bytes from ``first`` on."""
    return insn(mnemonic, row=row, addr=0x4000 + first, rows=1, cols=count)


def vector(dst, a, n0=4):
    return insn("vector", dst=dst, dst_kind="ub_i8", a=a, a_kind="acc", n0=n0)


#: Two instructions, the second of which waits for the first where ``by`` is no more than 0: they
#: are so many rows or bytes apart, on either side.
PAIRS = {
    "rows, read after write": lambda by: (rows("load", 8), rows("store", 11 + by)),
    "rows, write after read": lambda by: (rows("store", 8), rows("load", 11 + by)),
    "rows, write after write": lambda by: (rows("load", 8), vector(11 + by, 0)),
    "rows below, read after write": lambda by: (rows("load", 8), rows("store", 5 - by)),
    "rows below, write after read": lambda by: (rows("store", 8), rows("load", 5 - by)),
    "rows below, write after write": lambda by: (rows("load", 8), vector(5 - by, 0)),
    "bytes, read after write": lambda by: (bytes_at("store", 8), bytes_at("load", 11 + by, row=9)),
    "bytes, write after read": lambda by: (bytes_at("load", 8), bytes_at("store", 11 + by, row=9)),
    "bytes below, read after write":
        lambda by: (bytes_at("store", 8), bytes_at("load", 5 - by, row=9)),
    "bytes below, write after read":
        lambda by: (bytes_at("load", 8), bytes_at("store", 5 - by, row=9)),
}


def test_one_row_or_byte_in_common_is_a_conflict_and_none_is_not():
    cases = [(name, apart) for name in PAIRS for apart in (0, 1)]
    program = []
    for name, apart in cases:
        program += [*PAIRS[name](apart), insn("fence")]
    result = run([*program, insn("halt")], work=30)
    overlapped = {}
    for k, case in enumerate(cases):
        (first, _), (_, start) = result.starts[2 * k:2 * k + 2]
        overlapped[case] = start < dict(result.dones[2 * k:2 * k + 2])[first]
    assert overlapped == {(name, apart): bool(apart) for name, apart in cases}


def test_random_memory_latency_changes_nothing():
    program = [insn("mov", rd=1, a=0x4000), insn("loop", count=20, end=14)]
    program += [insn("add", rd=1, a=Reg(1), b=i) for i in range(12)]
    program += [show(Reg(1)), insn("halt")]
    for latency in random.Random(1).sample(range(1, 60), 3):
        assert shown(run(program, latency=latency)) == [20 * 66]

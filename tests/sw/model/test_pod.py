"""Golden chips that links connect: what arrives, what faults, and who waits for whom."""

import random
import re
from dataclasses import replace

import numpy as np
import pytest

from celosia.arch import numerics
from celosia.arch.config import TpuConfig
from celosia.arch.encoding import encode, insn
from celosia.arch.faults import Fault, LinkFault
from celosia.arch.isa import DmaFormat, RecvOp
from celosia.collectives import Topology
from celosia.collectives.schedule import Action, all_reduce, all_to_all, chain, meaning
from celosia.driver.errors import ChipFault
from celosia.model import Machine, PlainMachine, Pod, PodProgram, PodStopped
from celosia.program.asm import assemble

CHIP = TpuConfig("linked", dim=4, int8=True, bf16=True, ub_rows=64, acc_rows=64, bus_bytes=8,
                 ports=4)
PAIR = {(0, 0): (1, 1)}
RNG = np.random.default_rng(23)
HALT = insn("halt")


def chips(count, config=CHIP, machine=Machine):
    made = [machine(config) for _ in range(count)]
    for each in made:
        each.acc[:] = RNG.integers(0, 1 << 32, each.acc.shape, np.uint64)
        each.ub[:] = RNG.integers(0, 1 << 8 * each.ub.itemsize, each.ub.shape)
    return made


def load(machine, text):
    """Put a program, text or instructions, into a chip's memory."""
    insns = assemble(text, machine.config).insns if isinstance(text, str) else (*text, HALT)
    machine.memory.write(0, b"".join(map(encode, insns)))
    return PodProgram(0, len(insns))


def run(machines, links, *texts, order=None):
    programs = [load(machine, text) for machine, text in zip(machines, texts, strict=True)]
    return Pod(machines, links).run(programs, order)


def outcome(*texts, machines=None, links=PAIR):
    found = run(machines or chips(len(texts)), links, *texts)
    return [(each.cause, each.pc, each.addr) for each in found]


@pytest.mark.parametrize("mem", ["acc", "ub"])
@pytest.mark.parametrize("fmt", list(DmaFormat))
def test_a_message_is_a_store_and_a_load(mem, fmt):
    name = fmt.name.lower()
    a, b = chips(2)
    alone = Machine(CHIP)
    alone.acc[:], alone.ub[:] = a.acc, a.ub
    program = load(alone, f"""
        store {mem}[8], 0x1000, fmt={name}, rows=6, cols=4, pitch=16
        load {mem}[20], 0x1000, fmt={name}, rows=6, cols=4, pitch=16
        halt""")
    assert alone.run(*program[:2], windows=[(0x1000, 0x1FFF)]).cause == Fault.NONE
    run([a, b], PAIR, f"send {mem}[8], fmt={name}, n0=6\nhalt",
        f"recv set, {mem}[20], fmt={name}, port=1, n0=6\nhalt")
    found, wanted = (getattr(each, mem)[20:26] for each in (b, alone))
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("op", list(RecvOp)[1:])
def test_what_arrives_is_joined(op):
    a, b = chips(2)
    before, sent = b.acc.copy(), a.acc[[0, 3, 1, 4]]
    run([a, b], PAIR, "stride x1, 3, 1\nsend acc[0, x1], fmt=w32, n0=2, n1=2, tag=9\nhalt",
        f"recv {op.name.lower()}, acc[10], fmt=w32, port=1, n0=4, tag=9\nhalt")
    join = {"SUM_I": np.add, "AND": np.bitwise_and, "OR": np.bitwise_or,
            "MAX_I": lambda x, y: np.maximum(x.view(np.int32), y.view(np.int32)).view(np.uint32),
            "MIN_I": lambda x, y: np.minimum(x.view(np.int32), y.view(np.int32)).view(np.uint32),
            "SUM_F": numerics.f32_add, "MAX_F": numerics.f32_max, "MIN_F": numerics.f32_min}
    np.testing.assert_array_equal(b.acc[10:14], join[op.name](sent, before[10:14]))
    np.testing.assert_array_equal(b.acc[14:], before[14:])


def test_a_row_that_comes_again_is_joined_again():
    a, b = chips(2)
    before = b.acc[5].copy()
    run([a, b], PAIR, "send acc[0], fmt=w32, n0=3\nhalt",
        "stride x1, 0\nrecv sum_i, acc[5, x1], fmt=w32, port=1, n0=3\nhalt")
    np.testing.assert_array_equal(b.acc[5], before + a.acc[:3].sum(0, np.uint32))


def emit(schedule, chip, join):
    """Return a chip's program of a schedule whose words are rows of the accumulators."""
    for _, _, port, words, action in schedule.of_chip(chip):
        rest = {"mem": "acc", "fmt": "w32", "port": port, "row": words.start, "n0": words.count,
                "tag": words.start}
        if action == Action.SEND:
            yield insn("send", **rest)
        else:
            yield insn("recv", op="set" if action == Action.SET else join, **rest)


@pytest.mark.parametrize("machine", [Machine, PlainMachine])
@pytest.mark.parametrize(("schedule", "join", "ufunc"), [
    (all_reduce(Topology.ring(5), 23), "sum_f", numerics.f32_add),
    (all_reduce(Topology((2, 3)), 48, 1), "sum_f", numerics.f32_add),
    (chain(Topology.ring(4), 20), "sum_f", numerics.f32_add),
    (all_reduce(Topology.ring(2), 64), "max_i", lambda a, b: np.maximum(
        a.view(np.int32), b.view(np.int32)).view(np.uint32)),
    (all_to_all(Topology.ring(4), 16), "set", np.add),
])
def test_chips_do_what_a_schedule_means(machine, schedule, join, ufunc):
    count = schedule.topology.chips
    config = replace(CHIP, ports=schedule.topology.ports, acc_rows=max(64, schedule.words))
    links = {(chip, port): schedule.topology.peer(chip, port)
             for chip in range(count) for port in range(schedule.topology.ports)}
    start = RNG.standard_normal((count, config.acc_rows, 4)).astype(np.float32).view(np.uint32)
    rng, found = random.Random(5), []
    for turn in range(3):
        machines = chips(count, config, machine)
        for each, rows in zip(machines, start, strict=True):
            each.acc[:] = rows
        order = list(range(count)) if turn else None
        rng.shuffle(order or [])
        results = run(machines, links, *(list(emit(schedule, chip, join))
                                         for chip in range(count)), order=order)
        assert all(each.cause == Fault.NONE for each in results)
        found.append(np.stack([each.acc for each in machines]))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    for lane in range(4):
        given = [np.concatenate([start[chip, slice(*held.words), lane] for held in each])
                 for chip, each in enumerate(schedule.given)]
        for chip, wanted in enumerate(meaning(schedule, given, ufunc)):
            held = [found[0][chip, slice(*each.words), lane] for each in schedule.result[chip]]
            np.testing.assert_array_equal(np.concatenate(held), wanted)


def test_one_program_knows_its_chip():
    machines = chips(3)
    text = "chip r1\nbeq r1, 1, skip\nvector mov, acc[0], scalar[r1], n0=1\nskip: halt"
    before = machines[1].acc[0].copy()
    run(machines, {}, text, text, text)
    assert [list(machine.acc[0]) for machine in machines] == [[0] * 4, list(before), [2] * 4]


def test_what_is_not_what_recv_names():
    for other, addr in (("fmt=w32, n0=2, tag=6", 5 | 2 << 12 | 2 << 16),
                        ("fmt=bf16, n0=2, tag=5", 5 | 2 << 12 | 2 << 16),
                        ("fmt=w32, n0=3, tag=5", 5 | 2 << 12 | 2 << 16)):
        assert outcome("send acc[0], fmt=w32, n0=2, tag=5\nhalt",
                       f"nop\nrecv set, acc[0], {other}, port=1\nhalt") == [
            (Fault.NONE, 1, 0), (LinkFault.LINK_MISMATCH, 1, addr)]


@pytest.mark.parametrize(("text", "cause", "addr"), [
    ("send acc[0], fmt=w32, port=2, n0=1", LinkFault.LINK_DOWN, 2),
    ("recv set, acc[0], fmt=w32, port=3, n0=1", LinkFault.LINK_DOWN, 3),
    ("recv set, acc[0], fmt=w32, port=4, n0=1", Fault.ILLEGAL_FIELD, 0),
    ("recv sum_i, ub[0], fmt=i8, port=1, n0=1", Fault.ILLEGAL_FIELD, 0),
    ("recv set, acc[63], fmt=w32, port=1, n0=2", Fault.ACC_RANGE, 64),
    ("send ub[64], fmt=i8, n0=1", Fault.UB_RANGE, 64),
    ("send ub[0], fmt=i8, n0=0", Fault.ILLEGAL_COUNT, 0),
])
def test_faults_before_anything_is_waited_for(text, cause, addr):
    assert outcome(f"{text}\nhalt", "halt")[0] == (cause, 0, addr)


@pytest.mark.parametrize("mnemonic", ["chip", "send", "recv"])
def test_a_chip_without_ports_has_no_such_instruction(mnemonic):
    machine = Machine(replace(CHIP, ports=0))
    text = {"chip": "chip r1", "send": "send acc[0], fmt=w32, n0=1",
            "recv": "recv set, acc[0], fmt=w32, n0=1"}[mnemonic]
    result = machine.run(*load(machine, f"{text}\nhalt")[:2])
    assert (result.cause, result.addr) == (
        Fault.ILLEGAL_OPCODE, insn(mnemonic, **{"chip": {"rd": 1}}.get(
            mnemonic, {"row": 0, "n0": 1})).instruction.opcode)


def test_chips_that_wait_for_ever():
    machines = chips(3)
    links = {(0, 0): (1, 1), (1, 0): (2, 1)}
    with pytest.raises(PodStopped) as caught:
        run(machines, links, "recv set, acc[0], fmt=w32, n0=1\nhalt",
            "nop\nrecv set, acc[0], fmt=w32, port=1, n0=1\nhalt", "halt")
    assert str(caught.value) == (
        "a message must come: chip 0 waits at instruction 0, recv on port 0, for chip 1, port 1, "
        "which waits, too; chip 1 waits at instruction 1, recv on port 1, for chip 0, port 0, "
        "which waits, too")
    with pytest.raises(PodStopped, match="for chip 1, port 1, which stopped with ILLEGAL_COUNT at "
                       "instruction 1$"):
        run(chips(2), PAIR, "recv set, acc[0], fmt=w32, n0=1\nhalt",
            "nop\nsend acc[0], fmt=w32, port=1, n0=0\nhalt")
    with pytest.raises(PodStopped, match="for chip 1, port 1, which halted at instruction 0$"):
        run(chips(2), PAIR, "recv set, acc[0], fmt=w32, n0=1\nhalt", "halt")


@pytest.mark.parametrize(("links", "message"), [
    ({(0, 4): (1, 0)}, "link must lead from a port of a chip, not from port 4 of chip 0"),
    ({(0, 0): (2, 0)}, "link must lead from a port of a chip, not from port 0 of chip 2"),
    ({(0, 0): (1, 0), (0, 1): (1, 0)},
     "port 0 of chip 1 must have one link, not to chip 0 and chip 0"),
])
def test_links_that_cannot_be(links, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Pod(chips(2), links)


def test_a_program_for_each_chip():
    with pytest.raises(ValueError, match="^there must be a program for each of 2 chips, not 1$"):
        Pod(chips(2), PAIR).run([PodProgram(0, 1)])


def test_the_driver_names_what_a_link_did():
    fault = ChipFault(LinkFault.LINK_DOWN, 3, 2, "send acc[0]", "", "step")
    assert str(fault).startswith(
        "fault LINK_DOWN: no chip answers at the other end of the link (the port: 2)")


@pytest.mark.parametrize(("count", "looks"), [(1, 1), (255, 1), (256, 1), (257, 2), (513, 3)])
def test_each_chip_is_looked_at_before_every_256_instructions(count, looks):
    machines, seen = chips(2), []
    programs = [load(machine, [insn("nop")] * (count - 1)) for machine in machines]
    found = Pod(machines, PAIR).run(programs, look=lambda: seen.append(None))
    assert [(each.cause, each.instructions) for each in found] == [(Fault.NONE, count)] * 2
    assert len(seen) == 2 * looks


def test_what_a_look_raises_ends_the_run():
    machines = chips(2)
    programs = [load(machine, [insn("nop")]) for machine in machines]

    def look():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Pod(machines, PAIR).run(programs, look=look)

"""RTL chips that links connect beside golden ones: every row of every chip, with ``==``."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from celosia.arch.config import PRESETS
from celosia.arch.encoding import encode, insn
from celosia.arch.faults import Fault, LinkFault
from celosia.collectives import Topology
from celosia.collectives.schedule import Action, all_reduce, bound
from celosia.model import Machine, Pod, PodProgram
from celosia.program.asm import assemble
from celosia_sim.pod import RtlPod
from celosia_sim.podcheck import JOINS, compare, main, random_programs

#: The one chip with ports that tests build.
CHIP = replace(PRESETS["nano"], ports=2)
RING = Topology.ring(4)
LINKS = {(chip, 0): RING.peer(chip, 0) for chip in range(RING.chips)}


def pods(**options):
    """Return a pod of RTL chips in a ring."""
    return RtlPod(CHIP, RING.chips, LINKS, **options)


@pytest.fixture(scope="module")
def pod():
    made = pods(latency=8)
    yield made
    made.close()


def both(pod, texts, seed=0):
    """Run a program on each chip, RTL and golden; return how both pods ended."""
    return compare(pod, RING, texts, seed)


def ended(results):
    return [(each.cause, each.pc, each.addr) for each in results]


def test_rows_of_every_format_go_round(pod):
    texts = ["chip r1\nadd r1, r1, 20\nstride x1, 3, 17" for _ in range(RING.chips)]
    for number, (mem, fmt) in enumerate([("ub", "i8"), ("acc", "i8"), ("acc", "w32")]):
        for chip in range(RING.chips):
            texts[chip] += (
                f"\nsend {mem}[r1, x1], fmt={fmt}, port=0, tag={number}, n0=3, n1=2"
                f"\nrecv set, {mem}[{100 + 8 * number}], fmt={fmt}, port=1, tag={number}, n0=6")
    golden, found = both(pod, texts)
    assert ended(found) == ended(golden)
    assert all(each.cause == Fault.NONE for each in golden)


@pytest.mark.parametrize("op", JOINS, ids=lambda op: op.name.lower())
def test_what_arrives_is_joined(pod, op):
    # A row that comes again is joined again, with what it has become.
    mine = (f"send acc[0], fmt=w32, port=0, n0=9\nstride x1, {0 if op else 1}, 0\n"
            f"recv {op.name.lower()}, acc[32, x1], fmt=w32, port=1, n0=9")
    golden, found = both(pod, [mine] * RING.chips, seed=op)
    assert ended(found) == ended(golden)


@pytest.mark.parametrize(("sent", "taken"), [
    ("acc[0], fmt=w32, n0=3, tag=5", "acc[8], fmt=w32, n0=3, tag=6"),
    ("acc[0], fmt=i8, n0=3, tag=5", "acc[8], fmt=w32, n0=3, tag=5"),
    ("acc[0], fmt=w32, n0=3, tag=5", "acc[8], fmt=w32, n0=4, tag=5"),
])
def test_a_message_that_recv_does_not_name_is_a_fault(pod, sent, taken):
    golden, found = both(pod, [f"send {sent}", f"nop\nrecv set, {taken}, port=1", "nop", "nop"])
    assert golden[1].cause == LinkFault.LINK_MISMATCH
    assert ended(found) == ended(golden)
    pod.reset()


@pytest.mark.parametrize("latency", [40, (40, 300)])
def test_windows_and_threads_change_nothing(latency):
    """Whatever simulates the chips: all counters, and all that was ever sent and when."""
    found = []
    for window, threads in ((1, 1), (1, 3), (7, 2), (40, 1), (None, 4)):
        made = pods(latency=latency, window=window, threads=threads, errors=1e-4, seed=3)
        for seed in range(3):
            golden, ended_so = compare(made, RING, random_programs(RING, seed), seed)
            assert not any(each.cause for each in golden)
            assert ended(ended_so) == ended(golden)
        found.append((made.counters(), made.sent().tolist()))
        made.close()
    assert all(each == found[0] for each in found)
    assert len({value for line in found[0][1] for value in line}) == 2 * RING.chips


@pytest.mark.parametrize(("options", "message"), [
    ({"latency": 0},
     "latency must be a positive number of cycles, or the least and the most of them, not 0"),
    ({"latency": (9, 300), "window": 10},
     "window must be from 1 to the latency of 9 cycles, not 10"),
    ({"latency": 8, "window": 9}, "window must be from 1 to the latency of 8 cycles, not 9"),
    ({"window": 0}, "window must be from 1 to the latency of 64 cycles, not 0"),
    ({"threads": 0}, "threads must be a positive number, not 0"),
])
def test_what_is_wrong(options, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        pods(**options)


def test_a_port_that_leads_nowhere_is_a_fault():
    alone = RtlPod(CHIP, 1, {}, latency=64)
    for text in ("send acc[0], fmt=w32, port=1, n0=1", "recv set, acc[0], fmt=w32, port=1, n0=1"):
        insns = assemble(text + "\nhalt", CHIP).insns
        alone.chips[0].write_memory(0, b"".join(map(encode, insns)))
        assert ended(alone.run([PodProgram(0, 2)])) == [(LinkFault.LINK_DOWN, 0, 1)]
        alone.reset()
    alone.close()


@pytest.mark.parametrize("seed", range(6))
def test_random_programs_are_those_of_the_golden_pod(pod, seed):
    golden, found = both(pod, random_programs(RING, seed), seed)
    assert all(each.cause == Fault.NONE for each in golden)
    assert ended(found) == ended(golden)


def test_pods_of_two_to_four_chips_with_errors_on_their_lines(capsys):
    assert main(["--programs", "30", "--errors", "1e-4"]) == 0
    assert capsys.readouterr().out == "30 programs: every row of every chip equal\n"


def test_neither_latency_nor_errors_change_a_bit():
    for latency, errors in ((1, 0), (300, 0), (20, 2e-4), ((1, 300), 0), ((1, 300), 1e-6)):
        made = pods(latency=latency, errors=errors, seed=77)
        golden, found = both(made, random_programs(RING, 77), 77)
        assert ended(found) == ended(golden)
        made.close()


def test_who_waits_for_ever_is_named(pod):
    texts = ["recv set, acc[0], fmt=w32, port=1, n0=1", "nop", "nop", "nop"]
    insns = [assemble(text + "\nhalt", CHIP).insns for text in texts]
    for chip, each in enumerate(insns):
        pod.chips[chip].write_memory(0, b"".join(map(encode, each)))
    with pytest.raises(TimeoutError, match=(
            "^all chips must end within 2000 cycles, but chip 0 waits at instruction 0, recv on "
            "port 1, for chip 3, port 0, which halted at instruction 1$")):
        pod.run([PodProgram(0, 2)] * RING.chips, limit=2000)
    pod.reset()


@pytest.mark.slow
@pytest.mark.parametrize(("kib", "share", "work"), [(64, .965, 0), (128, .975, 0), (64, .965, 56)])
def test_an_all_reduce_on_a_ring_of_eight(kib, share, work):
    """As near to its bound as it must be, also with 8,248 cycles of vector work in between."""
    config = replace(PRESETS["core"], ports=2)
    ring = Topology.ring(8)
    links = {(chip, 0): ring.peer(chip, 0) for chip in range(ring.chips)}
    words = kib * 1024 // 4
    schedule = all_reduce(ring, words // config.dim)  # of rows
    made = RtlPod(config, ring.chips, links)
    machines, programs = [Machine(config) for _ in range(ring.chips)], []
    rng = np.random.default_rng(8)
    idle = [insn("vector", op="fadd", dst_kind="acc", a_kind="acc", b_kind="acc", dst=1536, a=1024,
                 b=1280, n0=128)] * work
    for chip, machine in enumerate(machines):
        machine.acc[:] = rng.standard_normal(machine.acc.shape).astype(np.float32).view(np.uint32)
        made.set_memory(chip, "acc", machine.acc)
        steps, insns = schedule.of_chip(chip), []
        for at, step in enumerate(steps):
            rest = {"mem": "acc", "fmt": "w32", "port": step.port, "row": step.words.start,
                    "n0": step.words.count, "tag": step.words.start}
            insns.append(insn("send", **rest) if step.action == Action.SEND else insn(
                "recv", op="sum_f" if step.action == Action.JOIN else "set", **rest))
            insns += idle[at * work // len(steps):(at + 1) * work // len(steps)]
        insns.append(insn("halt"))
        for memory in (machine.memory.write, made.chips[chip].write_memory):
            memory(0, b"".join(map(encode, insns)))
        programs.append(PodProgram(0, len(insns)))
    found = made.run(programs)
    golden = Pod(machines, links).run(programs)
    assert ended(found) == ended(golden)
    for chip, machine in enumerate(machines):
        np.testing.assert_array_equal(made.memory(chip, "acc"), machine.acc)
    made.close()
    for a, b in zip(golden, found, strict=True):
        assert abs(a.cycles - b.cycles) <= .02 * b.cycles
    assert bound(all_reduce(ring, words)) >= share * max(each.cycles for each in found)

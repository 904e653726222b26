"""What a chip's registers say of its links, and who waits for a message that nobody sends."""

from __future__ import annotations

from dataclasses import replace
from time import monotonic

import numpy as np
import pytest

from celosia.arch.config import PRESETS
from celosia.arch.encoding import encode
from celosia.arch.registers import BY_NAME, LINK_COUNTERS, link_register, registers
from celosia.collectives import Topology
from celosia.model import Machine, Pod, PodProgram, PodStopped
from celosia.program.asm import assemble
from celosia_sim.pod import RtlPod
from celosia_sim.podcheck import compare, random_programs

#: That of test_pod.py.
CHIP = replace(PRESETS["nano"], ports=2)
RING = Topology.ring(3)


def status(pod, port):
    return pod.read(BY_NAME[link_register(port, "status")].offset)


def test_registers_of_ports_are_those_of_chips_with_ports():
    names = [[register.name for register in registers(ports)] for ports in (0, 1, 6)]
    assert not any(name.startswith("LINK") for name in names[0])
    assert [len(each) - len(names[0]) for each in names] == [
        0, 2 + (1 + len(LINK_COUNTERS)), 2 + 6 * (1 + len(LINK_COUNTERS))]
    offsets = [register.offset for register in registers(6)]
    assert len(set(offsets)) == len(offsets)


def test_frames_are_counted_where_they_leave_and_where_they_come():
    counts = []
    for errors in (0, 3e-4):
        pod = RtlPod(CHIP, RING.chips, RING.links, latency=20, errors=errors)
        for seed in range(3):
            compare(pod, RING, random_programs(RING, seed), seed)
        found = pod.link_counters()
        counts.append(found)
        assert [each & 3 for each in status(pod, 0)] == [1] * RING.chips
        for chip in range(RING.chips):
            for port in range(2):
                to = RING.peer(chip, port)
                assert found["received"][to] == found["sent"][chip, port] - (
                    found["resent"][chip, port]) > 0
        pod.close()
    clean, noisy = counts
    for name in ("resent", "garbled"):
        assert not clean[name].any()
        assert noisy[name].any()
    np.testing.assert_array_equal(noisy["tx_busy"], clean["tx_busy"])
    assert (noisy["rx_wait"] > 0).all()


def test_a_message_that_nobody_sends_is_said_as_golden_chips_say_it():
    texts = ["recv set, acc[0], fmt=w32, port=0, tag=9, n0=1",
             "nop\nsend acc[0], fmt=w32, port=0, n0=1\n"
             "recv set, acc[0], fmt=w32, port=1, tag=3, n0=2\n"
             "vector iadd, acc[0], acc[0], acc[8], n0=1" + "\nnop" * 9,
             "recv set, acc[0], fmt=w32, port=1, n0=1"]
    pod = RtlPod(CHIP, RING.chips, RING.links)
    machines, programs = [Machine(CHIP) for _ in texts], []
    for chip, text in enumerate(texts):
        insns = assemble(text + "\nhalt", CHIP).insns
        for memory in (machines[chip].memory.write, pod.chips[chip].write_memory):
            memory(0, b"".join(map(encode, insns)))
        programs.append(PodProgram(0, len(insns)))
    with pytest.raises(PodStopped) as golden:
        Pod(machines, RING.links).run(programs)
    begin = monotonic()
    with pytest.raises(TimeoutError) as found:
        pod.run(programs, limit=8192)
    assert monotonic() - begin < 5  # 0.1 s where nothing else runs
    assert str(golden.value) == "a message must come: " + (said := (
        "chip 0 waits at instruction 0, recv on port 0, for chip 1, port 1, which waits, too; "
        "chip 1 waits at instruction 2, recv on port 1, for chip 0, port 0, which waits, too"))
    assert str(found.value) == f"all chips must end within 8192 cycles, but {said}"
    assert status(pod, 1)[1] >> 16 == 3
    pod.close()


def test_of_chips_that_wait_for_nobody_it_is_said_where_they_are():
    """Once each: not of one that waits for a message, or has halted."""
    pod = RtlPod(CHIP, RING.chips, RING.links)
    programs = []
    for chip, text in enumerate(["recv set, acc[0], fmt=w32, port=0, n0=1", "nop", "jump 0"]):
        insns = assemble(text + "\nhalt", CHIP).insns
        pod.chips[chip].write_memory(0, b"".join(map(encode, insns)))
        programs.append(PodProgram(0, len(insns)))
    with pytest.raises(TimeoutError) as found:
        pod.run(programs, limit=2000)
    waits, said = pod.waits()
    pod.close()
    assert [(each.chip, each.port) for each in waits] == [(0, 0)]
    assert str(found.value) == f"all chips must end within 2000 cycles, but {said}"
    assert said == ("chip 0 waits at instruction 0, recv on port 0, for chip 1, port 1, which "
                    "halted at instruction 1; chip 2 is at instruction 0")

"""A pod in several processes is the pod in one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from celosia.arch.config import PRESETS
from celosia.arch.registers import BY_NAME
from celosia.collectives import Topology
from celosia.driver.errors import BusError
from celosia_sim.pod import PodBoardError, RtlPod
from celosia_sim.podcheck import compare, main, random_programs

#: That of test_pod.py.
CHIP = replace(PRESETS["nano"], ports=2)
RING = Topology.ring(4)


def test_a_pod_in_two_processes():
    found = []
    for processes in (1, 2):
        pod = RtlPod(CHIP, RING.chips, RING.links, latency=(16, 300), window=16 // processes,
                     errors=1e-4, processes=processes)
        for seed in range(2):
            compare(pod, RING, random_programs(RING, seed), seed)
        found.append((pod.counters(), pod.sent().tolist()))
        if processes == 1:
            pod.close()
    assert found[0] == found[1]
    # A chip is what it is in this process.
    chip = pod.chips[3]
    chip.write_memory(1 << 20, np.arange(10, dtype=np.uint8)[::2])
    assert chip.read_memory(1 << 20, 6).tolist() == [0, 2, 4, 6, 8, 0]
    assert chip.read_register(BY_NAME["DEVICE"].offset) == 3
    with pytest.raises(BusError, match=r"^register offset must be from 0 to 0xfff, not 0x1000$"):
        chip.read_register(1 << 12)
    pod.close()
    with pytest.raises(PodBoardError, match="^the pod must be open, but it was closed$"):
        pod.read(0)


def test_what_a_process_cannot_do_is_said_here():
    with pytest.raises(ValueError, match="^processes must be a positive number, not 0$"):
        RtlPod(CHIP, RING.chips, RING.links, processes=0)


@pytest.mark.slow
def test_windows_and_processes_change_nothing(capsys):
    """The bar of eight chips: nine ways, one set of counters and frames."""
    assert main(["--chips", "8", "--windows", "1", "16", "64", "--processes", "1", "2", "4"]) == 0
    assert capsys.readouterr().out.endswith("are the same in all 9\n")

"""Golden chips that links connect, each with a device and a thread."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from celosia.arch.config import PRESETS
from celosia.collectives import Topology
from celosia.driver import ChipFault, Device
from celosia.driver import pod as module
from celosia.driver.pod import ModelPod, PodEnded
from celosia.program.asm import assemble

CHIP = replace(PRESETS["nano"], ports=2)
PAIR = Topology.ring(2)


@pytest.fixture
def devices():
    return [Device(each, "model") for each in ModelPod(CHIP, 2, PAIR.links).transports]


def run(devices, *texts):
    """Run a program on each chip; return how each one ended."""
    programs = [assemble(f"{text}\nhalt", CHIP) for text in texts]

    def one(device, program):
        try:
            return device.run(program)
        except (ChipFault, PodEnded) as error:
            return error

    with ThreadPoolExecutor(len(devices)) as pool:
        return list(pool.map(one, devices, programs))


def test_a_message_arrives(devices):
    machines = [device.transport.machine for device in devices]
    machines[0].acc[:3] = np.arange(12).reshape(3, 4)
    run(devices, "send acc[0], fmt=w32, port=0, n0=3", "recv set, acc[7], fmt=w32, port=1, n0=3")
    np.testing.assert_array_equal(machines[1].acc[7:10], machines[0].acc[:3])


def test_another_message_than_that_which_was_wanted(devices):
    _, error = run(devices, "send acc[0], fmt=w32, port=0, tag=5, n0=3",
                   "recv set, acc[0], fmt=i8, port=1, tag=6, n0=2, n1=2")
    assert isinstance(error, ChipFault)
    assert str(error).startswith(
        "fault LINK_MISMATCH: the message that arrived has not the format, the rows or the tag "
        "that recv names (of the message that arrived: the tag in bits 0..11, the format in "
        "12..13, the rows mod 65,536 in 16..31: ")
    assert ("which is tag 5 with 3 rows of w32; port 1 was to bring tag 6 with 4 rows of i8)"
            in str(error))


def test_what_nobody_sends(devices):
    ended, error = run(devices, "chip r1", "recv set, acc[0], fmt=w32, port=1, tag=6, n0=2")
    # The run is one of both chips.
    assert isinstance(ended, PodEnded)
    assert str(ended) == str(error)
    assert ("chip 1 waits at instruction 0, recv on port 1, for chip 0, port 0, which halted at "
            "instruction 1" in str(error))


def test_who_does_not_come_is_named(devices, monkeypatch):
    """A program without send and recv is run alone, whoever waits for its chip."""
    monkeypatch.setattr(module, "_PATIENCE", .2)
    error, ended = run(devices, "recv set, acc[0], fmt=w32, port=1, n0=2", "nop")
    assert not isinstance(ended, Exception)
    assert isinstance(error, PodEnded)
    assert str(error) == (
        "chip 0 must begin its run together with all 2 chips within 0.2 s, but of chip 1 nobody "
        "has run such a program: one without send and recv is run alone")
    ended, error = run(devices, "chip r1", "recv set, acc[0], fmt=w32, port=1, tag=6, n0=2")
    assert "chip 1 waits at instruction 0" in str(error)  # the next one is well

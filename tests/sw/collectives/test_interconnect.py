"""Devices meet, or end with an error; nothing waits for ever."""

import re
import threading
import time

import numpy as np
import pytest

import celosia
from celosia.collectives import (
    Cancelled,
    HostInterconnect,
    ReplicaGroup,
    Topology,
    interpret_spmd,
    run_spmd,
)
from celosia.collectives.run import on_all
from celosia.graph import interpret, parse
from celosia.graph.node import Node
from celosia.graph.types import DType

ONES = np.ones(3, np.float32)


def node(op, **attrs):
    x = Node("parameter", (), {"dtype": DType.F32, "shape": (3,)}).result
    return Node(op, (x,), attrs)


SUM = node("all_reduce", groups=[[0, 1, 2, 3]], reducer="add")
PAIRS = node("all_reduce", groups=[[0, 1], [2, 3]], reducer="add")


def test_many_meetings_of_groups_and_of_all():
    net = HostInterconnect(4, timeout=20)

    def work(number, peer):
        total = np.full(3, number, np.float32)
        for i in range(300):
            total = peer.exchange(PAIRS if i % 3 else SUM, [total]) % 7
        return total

    found = on_all(net, work)
    assert net.meetings == 100 + 2 * 200
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[2], found[3])


def test_an_error_on_one_device_ends_all_and_is_raised():
    seen = []

    def work(number, peer):
        if number == 2:
            time.sleep(0.05)
            raise ValueError("argument 0 of step, x, must be float32[3]")
        try:
            peer.exchange(SUM, [ONES])
        except Cancelled as error:
            seen.append((str(error), type(error.first)))
            raise

    start = time.monotonic()
    with pytest.raises(ValueError, match=r"argument 0 of step, x, must be") as caught:
        on_all(HostInterconnect(4), work)
    assert time.monotonic() - start < 5
    assert caught.value.__notes__ == ["on device 2 of 4"]
    assert seen == [("device 2 ended: argument 0 of step, x, must be float32[3]",
                     ValueError)] * 3


def test_a_device_that_ends_early():
    with pytest.raises(Cancelled, match="all_reduce: device 1 ended without it"):
        on_all(HostInterconnect(4), lambda number, peer: number == 1 or peer.exchange(
            SUM, [ONES]))


def test_a_device_that_does_not_come_in_time():
    net, late = HostInterconnect(2, timeout=0.2), threading.Event()
    both = node("all_reduce", groups=[[0, 1]], reducer="add")

    def work(number, peer):
        if number:
            late.wait(10)
            return None
        try:
            return peer.exchange(both, [ONES])
        finally:
            late.set()

    with pytest.raises(Cancelled, match=r"all_reduce: device 1 must come within 0\.2 s"):
        on_all(net, work)


def test_devices_at_different_operations():
    with pytest.raises(ValueError, match="devices must meet at one operation: device . is at "):
        on_all(HostInterconnect(4), lambda number, peer: peer.exchange(
            SUM if number else node("all_gather", groups=[[0, 1, 2, 3]], dim=0), [ONES]))


def test_cancelled_from_outside():
    net = HostInterconnect(4)
    threading.Timer(0.1, net.cancel, [KeyboardInterrupt()]).start()
    with pytest.raises(Cancelled, match="a device ended: KeyboardInterrupt"), \
            net.device(0) as peer:
        peer.exchange(SUM, [ONES])
    with pytest.raises(Cancelled), net.device(1) as peer:
        peer.exchange(SUM, [ONES])


def test_an_exception_set_by_another_thread_reaches_a_waiting_one():
    import ctypes
    net, ended = HostInterconnect(4), []

    def wait():
        try:
            with net.device(0) as peer:
                peer.exchange(SUM, [ONES])
        except InterruptedError as error:
            ended.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.1)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread.ident or 0), ctypes.py_object(InterruptedError))
    thread.join(5)
    assert ended


@pytest.mark.parametrize(("wrong", "message"), [
    (lambda: HostInterconnect(0), "count must be a positive number of devices, not 0"),
    (lambda: HostInterconnect(2, 0), "timeout must be a positive number of seconds, not 0"),
    (lambda: HostInterconnect(2).device(2).__enter__(), "device must be 0 to 1, not 2"),
    (lambda: run_spmd([], []), "there must be arguments for each of 0 devices, not for 0"),
    (lambda: interpret_spmd(parse(SMALL), [[ONES]] * 2),
     'a.py:3:1: all_reduce must be run on 4 devices or more, not on 2'),
])
def test_wrong_numbers(wrong, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}(\n|$)"):
        wrong()


SMALL = """graph small(
  %0: f32[3] "x"
) {
  %1 = all_reduce(%0) groups=[[0,1,2,3]] reducer=add : f32[3] @ "a.py":3:1
  %2 = add(%1, %0) : f32[3]
  return %2
}
"""


def test_wrong_argument_of_one_chip_leaves_the_chips_usable():
    compiled = celosia.compile(parse(SMALL), "core", strict=True)
    chips = [celosia.open("model", "core") for _ in range(4)]
    executables = [compiled.load(chip) for chip in chips]
    for _ in range(3):
        with pytest.raises(ValueError, match=r"argument 0 of small, x, must be float32\[3\], not "
                                             r"float32\[2\]"):
            run_spmd(executables, [[ONES], [ONES], [ONES[:2]], [ONES]])
        found = run_spmd(executables, [[ONES * i] for i in range(4)])
        for i, [each] in enumerate(found):
            np.testing.assert_array_equal(each, ONES * (6 + i))
    for chip in chips:
        chip.close()


def test_a_program_without_collectives():
    text = SMALL.replace("all_reduce(%0) groups=[[0,1,2,3]] reducer=add", "negate(%0)")
    compiled = celosia.compile(parse(text), "core")
    with celosia.open("model", "core") as a, celosia.open("model", "core") as b:
        found = run_spmd([compiled.load(a), compiled.load(b)], [[ONES], [ONES * 2]])
    np.testing.assert_array_equal(found, np.zeros((2, 1, 3)))




def test_a_chip_that_takes_too_long_ends_all_and_all_are_usable():
    compiled = celosia.compile(parse(SMALL.replace("all_reduce(%0)", "negate(%0) : f32[3]\n"
                                                   "  %3 = all_reduce(%1)", 1).replace(
        "add(%1, %0)", "add(%3, %0)").replace("%2", "%4")), "core", strict=True)
    chips = [celosia.open("model", "core") for _ in range(4)]
    executables = [compiled.load(chip) for chip in chips]
    with pytest.raises(celosia.RunTimeout):
        run_spmd(executables, [[ONES]] * 4, cycles=3)
    for [each] in run_spmd(executables, [[ONES]] * 4):
        np.testing.assert_array_equal(each, -3 * ONES)
    for chip in chips:
        chip.close()


def test_many_runs_at_the_same_time():
    graph = parse(SMALL)
    found = []

    def runs(number):
        for i in range(25):
            for device, [each] in enumerate(interpret_spmd(
                    graph, [[ONES * (number + k)] for k in range(4)], timeout=30)):
                wanted = 4 * number + 6 + number + device
                assert (each == wanted).all(), (number, i)
        found.append(number)

    threads = [threading.Thread(target=runs, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(found) == list(range(8))


def test_a_topology_says_how_sums_are_joined():
    graph = parse("""graph f(
  %0: f32[16]
) {
  %1 = all_reduce(%0) groups=[[0,1,2,3]] reducer=add : f32[16]
  return %1
}
""")
    big = [[np.full(16, x, np.float32)] for x in (1e8, 1, -1e8, 1)]
    square, devices = Topology((2, 2)), (0, 1, 2, 3)
    for interconnect, group in (
            (HostInterconnect(4, topology=square), ReplicaGroup(devices, square)),
            (HostInterconnect(4, order="group"), ReplicaGroup(devices, order="group")),
            (HostInterconnect(4), ReplicaGroup(devices))):
        found = on_all(interconnect, lambda number, peer: interpret(
            graph, big[number], peer=peer))
        wanted = group.all_reduce([each for [each] in big], "add")
        for [a], b in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_topology_must_have_the_group():
    with pytest.raises(ValueError, match=r"^topology must be of 4 devices, not 3$"):
        HostInterconnect(4, topology=Topology((3,)))
    graph = parse("""graph f(
  %0: f32[16]
) {
  %1 = all_reduce(%0) groups=[[0,3],[1,2]] reducer=add : f32[16]
  return %1
}
""")
    with pytest.raises(ValueError, match=r"all_reduce: group must be all chips along dimensions of "
                       r"2x2, in their order, not \["):
        on_all(HostInterconnect(4, topology=Topology((2, 2))), lambda number, peer: interpret(
            graph, [np.zeros(16, np.float32)], peer=peer))

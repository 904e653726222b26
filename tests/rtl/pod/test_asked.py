"""What threads ask chips of several boards at once, and where boards are."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Any

import pytest

from celosia.arch.registers import BY_NAME
from celosia_sim.pod import PodOptions, RtlPod
from celosia_sim.pod.apart import ApartBoard
from celosia_sim.pod.fleet import Fleet
from celosia_sim.pod_chips import RtlPodChips
from rtl.pod.test_fleet import CHIP, RING, fleet, pod, process

_STATUS, _DEVICE = (BY_NAME[name].offset for name in ("STATUS", "DEVICE"))


@pytest.fixture(scope="module")
def made() -> Iterator[RtlPod]:
    found = pod()
    yield found
    found.close()


def at_once(made: RtlPod, *asked: Callable[[], Any]) -> list[Any]:
    """Have threads ask for a thing each while boards answer another one; return what each gets, or
    its error.
    """
    found: list[Any] = [None] * len(asked)

    def work(number: int) -> None:
        try:
            found[number] = asked[number]()
        except ValueError as error:
            found[number] = error

    def waiting() -> int:
        return sum(len(chip._parts) for chip in fleet(made).chips)

    threads = [threading.Thread(target=work, args=[number]) for number in range(len(asked))]
    with fleet(made).lock:
        wanted, end = waiting() + len(asked), monotonic() + 60
        for each in threads:
            each.start()
        while waiting() < wanted:
            assert monotonic() < end, f"{waiting()} of {wanted} are asked"
            sleep(0.01)
    for each in threads:
        each.join(60)
    return found


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    begin, said = ApartBoard.begin, list[str]()
    monkeypatch.setattr(ApartBoard, "begin", lambda self, name, *arguments, data=b"": (
        said.append(name), begin(self, name, *arguments, data=data)))
    yield said
    monkeypatch.undo()


def test_it_is_one_message_to_each_board(made, monkeypatch):
    for number, chip in enumerate(made.chips):
        chip.write_memory(0, bytes([number] * 5))
    with counted(monkeypatch) as said:
        found = at_once(made, *(each for chip in made.chips for each in (
            lambda chip=chip: chip.read_register(_DEVICE),
            lambda chip=chip: bytes(chip.read_memory(1, 3)))))
    assert found == [each for number in range(4) for each in (number, bytes([number] * 3))]
    assert said == ["chips"] * 2


def test_the_driver_asks_several_chips_at_once(monkeypatch):
    chips = RtlPodChips(CHIP, RING.chips, RING.links, latency=40, processes=2)
    fleet(chips.pod)._flush()
    with counted(monkeypatch) as said:
        assert at_once(chips.pod, *(lambda chip=chip: chip.read_register(_DEVICE)
                                    for chip in chips.transports)) == [0, 1, 2, 3]
    assert said == ["chips"] * 2
    chips.close()


def test_an_error_is_of_the_chip_that_was_asked(made):
    """The others of its board, which were asked in the same message, are answered."""
    first, second, *_ = made.chips
    second.write_memory(9, b"a")
    found = at_once(made, lambda: first.peek("nothing", 0, 1),
                    lambda: bytes(second.read_memory(9, 1)))
    assert isinstance(found[0], ValueError)
    assert "nothing" in str(found[0])
    assert found[1] == b"a"
    assert first.read_register(_DEVICE) == 0


def test_what_nobody_waits_for_is_not_done_in_silence(made, monkeypatch):
    """The error of something written is raised by what takes it along."""
    chip = made.chips[3]
    monkeypatch.setattr("celosia_sim.pod.asked.check_write", lambda offset, value: None)
    chip.write_register(_DEVICE, -1)
    with pytest.raises(ValueError, match="-1"):
        made.read(_STATUS)
    monkeypatch.undo()
    assert made.read(_DEVICE) == [0, 1, 2, 3]


def test_who_only_looks_takes_nothing_away(made):
    """Somebody may look at the links while threads wait for answers."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    ended, failed = threading.Event(), list[BaseException]()

    def look() -> None:
        while not ended.is_set():
            made.links(0)

    def ask(number: int) -> None:
        try:
            for _ in range(60):
                assert made.chips[number].read_register(_DEVICE) == number
        except BaseException as error:
            failed.append(error)

    looker = threading.Thread(target=look)
    threads = [threading.Thread(target=ask, args=[number]) for number in range(4)]
    for each in (looker, *threads):
        each.start()
    for each in threads:
        each.join(60)
    ended.set()
    looker.join(60)
    sys.setswitchinterval(before)
    assert not failed


@pytest.mark.skipif(sys.platform != "linux", reason="processes of other systems are not bound")
@pytest.mark.parametrize("processes", [2, 4])
def test_neighbours_share_a_processor_where_there_are_too_few(processes):
    """Each board has all, if there is one for each."""
    here = os.sched_getaffinity(0)
    two = sorted(here)[:2]
    os.sched_setaffinity(0, two)
    try:
        made = Fleet(CHIP, RING.links, PodOptions(latency=40), [
            range(4 * i // processes, 4 * (i + 1) // processes) for i in range(processes)])
    finally:
        os.sched_setaffinity(0, here)
    found = [os.sched_getaffinity(process(board).pid) for board in made.boards]
    made.close()
    assert found == ([set(two)] * 2 if processes == 2 <= len(two) else
                     [{two[i * len(two) // processes]} for i in range(processes)])

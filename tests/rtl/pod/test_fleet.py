"""Boards that end, at any time, are replaced, and nothing else is different."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import threading
from dataclasses import replace
from time import monotonic
from typing import Any

import numpy as np
import pytest

from celosia.arch.config import PRESETS
from celosia.arch.registers import BY_NAME, REGISTERS
from celosia.collectives import Topology
from celosia.driver.transport import read_memories, read_registers, write_registers
from celosia_sim.pod import PodBoardError, PodOptions, RtlPod
from celosia_sim.pod.apart import ApartBoard, LocalHost
from celosia_sim.pod.board import VERSION, NeighbourLost, say_chips
from celosia_sim.pod.fleet import Fleet
from celosia_sim.podcheck import compare, random_programs

#: That of test_pod.py.
CHIP = replace(PRESETS["nano"], ports=2)
RING = Topology.ring(4)


def pod(**options) -> RtlPod:
    return RtlPod(CHIP, RING.chips, RING.links, **{
        "latency": 40, "errors": 1e-4, "processes": 2, **options})


def fleet(made: RtlPod) -> Fleet:
    assert isinstance(made._boards, Fleet)
    return made._boards


def process(board: ApartBoard) -> subprocess.Popen[bytes]:
    assert isinstance(board.host, LocalHost)
    return board.host.process


def run(made: RtlPod, programs: int = 2) -> list[object]:
    """Run programs; return all that says what chips have done, and when."""
    for seed in range(programs):
        compare(made, RING, random_programs(RING, seed), seed)
    return [made.counters(), made.sent().tolist(),
            [chip.read_register(0) for chip in made.chips],
            [made.memory(chip, "acc").tolist() for chip in range(4)]]


@pytest.fixture(scope="module")
def undisturbed():
    made = pod(processes=1)
    found = run(made)
    made.close()
    return found


@pytest.fixture
def killing(monkeypatch):
    """Have a signal come to a board that was asked for something for the nth time in all."""
    def at(asked: dict[int, int], sent: signal.Signals = signal.SIGKILL) -> list[str]:
        begin, said = ApartBoard.begin, list[str]()

        def counted(self: ApartBoard, name: str, *arguments: object, data: bytes = b"") -> None:
            begin(self, name, *arguments, data=data)
            said.append(name)
            if len(said) in asked and process(self).poll() is None:
                os.kill(process(self).pid, sent)

        monkeypatch.setattr(ApartBoard, "begin", counted)
        return said
    return at


def kill(made: RtlPod, *boards: int) -> None:
    """End boards, and all at once: nobody is asked anything in between."""
    for each in boards:
        process(fleet(made).boards[each]).kill()
    for each in boards:
        process(fleet(made).boards[each]).wait()


@pytest.mark.parametrize("count", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_killed_boards_change_nothing(count, undisturbed, killing, monkeypatch, capfd):
    """Each at another time, which its seed decides: while it runs, is saved or begins anew."""
    for seed in range(count):
        rng = random.Random(seed)
        kills = {rng.randrange(5, 450) for _ in range(2)}  # an undisturbed run asks 516 times
        killing(dict.fromkeys(kills))
        made = pod(processes=4, save_seconds=rng.choice([.02, .1, 2]))
        pids = [process(board).pid for board in fleet(made).boards]
        begin = monotonic()
        assert run(made) == undisturbed, f"seed {seed}"
        assert monotonic() - begin < 60
        assert 1 <= len(made.replaced) <= 2, f"seed {seed}"
        assert any(f"the process {pid} of " in made.replaced[0] for pid in pids)
        assert made.replaced[0].endswith("must go on, but it was ended by SIGKILL")
        made.close()
        monkeypatch.undo()
    assert capfd.readouterr().err.count("celosia: the process ") >= count


def test_two_neighbours_that_end_at_once_come_back_from_the_third():
    """And two more: what the first were to keep is kept again. Nothing else is different."""
    found = []
    for kills in ([], [(0, 1), (2, 0)]):
        made = pod(processes=3, save_seconds=1e6)
        for seed in range(2):
            compare(made, RING, random_programs(RING, seed), seed)
            # Boards are saved, and asked for a little more, which has to be done again.
            fleet(made)._save()
            made.chips[1].write_memory(64, bytes([seed]))
            made.pass_cycles(500)
            for each in kills[seed:seed + 1]:
                kill(made, *each)
        found.append([made.counters(), made.sent().tolist(),
                      [bytes(each.read_memory(0, 256)) for each in made.chips]])
        assert len(made.replaced) == 2 * len(kills)
        made.close()
    assert found[0] == found[1]


def test_states_do_not_come_to_the_controller(monkeypatch):
    made, end, sizes = pod(), ApartBoard.end, list[int]()

    def counted(self: ApartBoard) -> tuple[Any, bytearray]:
        value, data = end(self)
        sizes.append(len(data))
        return value, data

    monkeypatch.setattr(ApartBoard, "end", counted)
    fleet(made)._save()
    assert sizes == [0] * 4  # two boards save, and forget what was before
    made.close()


@pytest.mark.parametrize(("boards", "ended"), [(1, [0]), (2, [0, 1]), (4, [3, 0, 1])])
def test_a_state_that_nobody_has_any_more(boards, ended):
    """A board and its keepers at once: the sentence has all of them."""
    spans = [range(4 * i // boards, 4 * (i + 1) // boards) for i in range(boards)]
    made = Fleet(CHIP, RING.links, PodOptions(latency=40), spans)
    made._save()
    every = [process(board) for board in made.boards]
    for each in ended:
        every[each].kill()
        every[each].wait()
    gone = "; ".join(f"the process {every[each].pid} of {say_chips(spans[each])}" for each in ended)
    for _ in range(2):
        with pytest.raises(PodBoardError, match=(
                f"^one of the boards that had the state of {say_chips(spans[ended[0]])} must live, "
                f"but all have ended: {gone}: the run must go on from a checkpoint of its program$"
                )):
            made.all("access", [[0]] * boards)
    assert all(process(board).poll() is not None for board in made.boards)
    made.close()


def test_before_anything_is_saved_all_may_end(undisturbed):
    made = pod(save_seconds=1e6)
    kill(made, 0, 1)
    assert run(made) == undisturbed
    assert len(made.replaced) == 2
    made.close()


def test_a_board_that_stands_still_is_replaced(undisturbed, killing):
    killing({130: 1}, signal.SIGSTOP)
    made = pod(patience=2)
    assert run(made) == undisturbed
    [said] = made.replaced
    assert said.endswith("must go on, but it has said nothing for 2.5 s")
    made.close()


def test_boards_that_end_again_and_again(killing):
    made = pod()
    processes = [process(board) for board in fleet(made).boards]
    killing(dict.fromkeys(range(1, 1000)))
    message = r"^the process \d+ of chips (0 to 1|2 to 3) must go on, but it was ended by SIGKILL$"
    with pytest.raises(PodBoardError, match=message):
        made.pass_cycles(1000)
    with pytest.raises(PodBoardError, match=message):
        made.read(0)
    # One or both, four times, as it was noticed; one of them is what was raised.
    assert 4 - 1 <= len(made.replaced) <= 2 * 4 - 1
    assert all(each.poll() is not None for each in processes)
    assert all(process(board).poll() is not None for board in fleet(made).boards)
    made.close()


@pytest.mark.parametrize("lost", [0, 1])
def test_who_waits_for_one_that_is_lost_goes_on(lost, undisturbed, monkeypatch):
    """One ends when it is asked for a connection with the other, which waits for it then."""
    begin, started = ApartBoard.begin, list[ApartBoard]()

    def killed(self: ApartBoard, name: str, *arguments: Any, data: bytes = b"") -> None:
        if name == "open" and self not in started:
            started.append(self)
            if self.numbers.start == 2 * lost and len(started) <= 2:
                process(self).kill()
                process(self).wait()
        begin(self, name, *arguments, data=data)

    monkeypatch.setattr(ApartBoard, "begin", killed)
    made = pod()
    # The other one is not given up: it says at once that it waits for nobody any more.
    assert len(started) == 3
    assert started[1 - lost] in fleet(made).boards
    assert len(made.replaced) == 1
    assert run(made) == undisturbed
    made.close()


def test_one_that_ends_behind_its_answer_is_named(monkeypatch):
    """Its neighbour sees that it is gone; that is one end, and not two."""
    made = pod()
    first, second = fleet(made).boards
    end = ApartBoard.end

    def ended(self: ApartBoard) -> Any:
        found = end(self)
        if self is first and process(second).poll() is None:
            process(second).kill()
            process(second).wait()
            raise NeighbourLost("the board of chips 2 to 3 must go on, but it is gone")
        return found

    monkeypatch.setattr(ApartBoard, "end", ended)
    made.chips[0].read_register(0)
    [said] = made.replaced
    assert said.endswith("of chips 2 to 3 must go on, but it was ended by SIGKILL")
    monkeypatch.undo()
    made.close()


def test_what_is_refused_is_refused_again_and_no_more(undisturbed, killing):
    """An answer that is an error is none of a board that has ended, and is part of what is kept."""
    made = pod()
    with pytest.raises(ValueError, match="^a span of memory must lie in"):
        made.chips[2].write_memory(-1, b"x")
    os.kill(process(fleet(made).boards[1]).pid, signal.SIGKILL)
    assert run(made) == undisturbed
    assert len(made.replaced) == 1
    made.close()


def test_several_accesses_are_one_message(monkeypatch):
    """What is written to memory goes with what is asked next, and is kept as that is."""
    made, asked = pod(), list[str]()
    begin = ApartBoard.begin
    monkeypatch.setattr(ApartBoard, "begin", lambda self, name, *arguments, data=b"": (
        asked.append(name), begin(self, name, *arguments, data=data)))
    chip, other = made.chips[1], pod(processes=1)
    offsets = [each.offset for each in REGISTERS]
    for each in (chip, other.chips[1]):
        each.write_memory(5, b"abc")
        each.write_memory(7, b"defg")
        write_registers(each, [(BY_NAME["WATCHDOG"].offset, 7), (BY_NAME["LENGTH"].offset, 0)])
    assert read_registers(chip, offsets) == read_registers(other.chips[1], offsets)
    assert [bytes(each) for each in read_memories(chip, [(5, 7), (7, 1), (7, 0)])] == [
        b"abdefg\0", b"d", b""]
    assert read_memories(chip, []) == []
    assert asked == ["chips"] * 2
    chip.write_memory(0, b"x")
    os.kill(process(fleet(made).boards[0]).pid, signal.SIGKILL)
    assert bytes(chip.read_memory(0, 1)) == b"x"
    assert len(made.replaced) == 1
    made.close()
    other.close()


def test_boards_of_another_version(monkeypatch):
    monkeypatch.setattr("celosia_sim.pod.fleet.VERSION", "0.0")
    with pytest.raises(PodBoardError, match=(
            f"^a board must be of version 0.0, as its controller, not {re.escape(VERSION)}$")):
        pod()


def test_threads_ask_at_once():
    made = pod()
    rng = np.random.default_rng(0)
    data = rng.integers(0, 256, (4, 40, 5000), np.uint8)
    found: list[bool] = []

    def work(number: int) -> None:
        for place, each in enumerate(data[number]):
            made.chips[number].write_memory(place * 5000, each)
            read = made.chips[number].read_memory(place * 5000, 5000)
            found.append(np.array_equal(read, each))

    threads = [threading.Thread(target=work, args=[number]) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert found == [True] * 160
    made.close()


def test_what_was_put_is_kept_up_to_a_size(monkeypatch):
    """Behind that all boards are saved, however short the time was."""
    monkeypatch.setattr("celosia_sim.pod.fleet._MOST_KEPT", 10_000)
    made = pod(save_seconds=1e6)
    for _ in range(5):
        made.chips[0].write_memory(0, bytes(4000))
        made.read(0)
        assert fleet(made)._kept <= 10_000
    assert fleet(made)._saved.number
    made.close()

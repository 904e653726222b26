"""Boards of a pod, and what is at the other end of a wire if it is no board."""

from __future__ import annotations

import contextlib
import socket
import threading
from dataclasses import replace

import numpy as np
import pytest

from celosia.arch.config import PRESETS
from celosia.arch.encoding import encode
from celosia.arch.registers import BY_NAME, Control, Status
from celosia.collectives import Topology
from celosia.program.asm import assemble
from celosia_sim.pod import PodBoard, PodBoardError, PodOptions, RtlPod
from celosia_sim.pod.board import _greeting
from celosia_sim.podcheck import random_programs

#: That of test_pod.py.
CHIP = replace(PRESETS["nano"], ports=2)
LINKS = {(chip, 0): Topology.ring(4).peer(chip, 0) for chip in range(4)}
OPTIONS = PodOptions(latency=8, patience=.2)


@pytest.fixture
def other():
    """The other end of a wire of a board with two of four chips, and what makes the board."""
    ours, theirs = socket.socketpair()
    with theirs:
        yield theirs, lambda: PodBoard(CHIP, range(2), LINKS, OPTIONS, [(range(2, 4), ours)])
    ours.close()


@pytest.mark.parametrize(("said", "message"), [
    (b"x" * 32, "have this version, configuration, links, latency and window, but it has others"),
    (b"x" * 31, "greet within 0.2 s"),
    (_greeting(CHIP, LINKS, replace(OPTIONS, latency=9)),
     "have this version, configuration, links, latency and window, but it has others"),
    # Some link has another latency.
    (_greeting(CHIP, LINKS, replace(OPTIONS, latency=(8, 300), window=8)),
     "have this version, configuration, links, latency and window, but it has others"),
])
def test_who_is_of_another_pod_is_refused(other, said, message):
    wire, make = other
    wire.sendall(said)
    with pytest.raises(PodBoardError, match=f"^the board of chips 2 to 3 must {message}$"):
        make()


def test_who_hangs_up_instead_of_greeting(other):
    wire, make = other
    wire.close()
    with pytest.raises(PodBoardError, match="^the board of chips 2 to 3 must greet, but it is"):
        make()


def test_a_neighbour_that_does_not_go_on(other):
    wire, make = other
    wire.sendall(_greeting(CHIP, LINKS, OPTIONS))
    with make() as board:
        # What comes after the latency has not been sent yet.
        assert not board.advance(8)
        assert wire.recv(1 << 16)[32:40] == (8).to_bytes(8, "little")
        with pytest.raises(PodBoardError, match="^the board of chips 2 to 3 must go on with chips "
                                                "0 to 1, but it has said nothing for 0.2 s$"):
            board.advance(8)
        with pytest.raises(PodBoardError, match="but it is gone$"):
            board.access(BY_NAME["DEVICE"].offset)
    with pytest.raises(PodBoardError, match="^the board of chips 0 to 1 must be open, but it was"):
        board.advance(1)


def test_a_board_in_the_middle_of_a_run_goes_on_as_another_one():
    """Saved at every place, and loaded into one that has done something else."""
    first, second = (PodBoard(CHIP, range(4), LINKS, replace(OPTIONS, errors=1e-3, seed=3))
                     for _ in range(2))
    with first, second:
        texts = random_programs(Topology.ring(4), 1)
        for board, others in ((first, texts), (second, texts[::-1])):
            for chip, text in zip(board.chips, others, strict=True):
                insns = assemble(text + "\nhalt", CHIP).insns
                chip.write_memory(0, b"".join(map(encode, insns)))
                chip.write_register(BY_NAME["LENGTH"].offset, len(insns))
            board.access(BY_NAME["CONTROL"].offset, [Control.START] * 4)
        busy = []
        for _ in range(30):
            first.advance(37)
            second.load(first.save())
            busy.append(first.access(BY_NAME["STATUS"].offset) == [Status.RUNNING] * 4)
            second.access(BY_NAME["STATUS"].offset)
        assert any(busy)
        second.advance(5000)
        first.advance(5000)
        assert first.runs == second.runs == 1
        assert [each.tolist() for each in first.save()] == [each.tolist() for each in second.save()]
        assert first.sent().tolist() == second.sent().tolist()
        assert len({*first.sent().reshape(-1).tolist()}) == 8


def test_a_look_changes_nothing():
    found = []
    for looks in (False, True):
        pod = RtlPod(CHIP, 4, Topology.ring(4).links, latency=8, errors=1e-3)
        board = pod._boards
        assert isinstance(board, PodBoard)
        pod.pass_cycles(500)
        for chip, text in zip(pod.chips, random_programs(Topology.ring(4), 1), strict=True):
            insns = assemble(text + "\nhalt", CHIP).insns
            chip.write_memory(0, b"".join(map(encode, insns)))
            chip.write_register(BY_NAME["LENGTH"].offset, len(insns))
        pod.start(range(4))
        seen = []
        for _ in range(20):
            board.advance(50)
            if looks:
                seen.append(board.look())
        found.append([board.sent().tolist(), pod.counters(),
                      [pod.memory(chip, "acc").tolist() for chip in range(4)]])
        if looks:
            assert [each["running"] for each in seen[:1]] == [4]
            board.advance(20_000)  # to read takes time, in which nothing more is sent
            last, counters = board.look(), pod.link_counters()
            assert (last["up"], last["down"], last["links"], last["runs"]) == (8, 0, 8, 1)
            assert last["sent"] == counters["sent"].sum() > 0
            assert 0 < last["garbled"] <= counters["garbled"].sum()  # which takes time to read
        pod.close()
    assert found[0] == found[1]


def test_a_state_that_is_of_something_else():
    with PodBoard(CHIP, range(2), {}, OPTIONS) as board, \
            PodBoard(CHIP, range(1), {}, OPTIONS) as small:
        with pytest.raises(ValueError, match="^a state must be of chips 0 to 1 and their links, "
                                             "not of 1 chips$"):
            board.load(small.save())
        runs, links, chip = small.save()
        with pytest.raises(ValueError, match="^a state must be of such links, not these 3 bytes$"):
            small.load([runs, links[:3], chip])
        for wrong in (chip[:-1], np.append(chip, 0), np.full(chip.size, 255, np.uint8)):
            with pytest.raises(ValueError, match="^a state must be of such a chip, not these "
                                                 f"{wrong.size} bytes$"):
                small.load([runs, links, wrong.astype(np.uint8)])
        small.load([runs, links, chip])
        small.advance(100)


def test_what_comes_long_before_it_is_wanted_stays_outside(other):
    """A neighbour that takes nothing, and gives windows that are right, but far ahead."""
    wire, make = other
    wire.sendall(_greeting(CHIP, LINKS, OPTIONS))
    windows = b"".join(cycle.to_bytes(8, "little") + bytes(2 * 5 * 8)
                       for cycle in range(8, 8 * 50_000, 8))
    sent = 0

    def flood() -> None:
        nonlocal sent
        wire.settimeout(1)
        with contextlib.suppress(OSError):
            while sent < len(windows):
                sent += wire.send(windows[sent:sent + 4096])

    with make() as board:
        thread = threading.Thread(target=flood)
        thread.start()
        with pytest.raises(PodBoardError, match="but it has said nothing for 0.2 s$"):
            board.advance(8 * 10_000)
        thread.join(10)
    assert len(windows) > 4 << 20
    assert sent < 1 << 20  # what sockets hold, and little more


def test_nobody_waits_for_one_that_has_come_to_its_end():
    """It reads no more then, and a socket takes few windows of a cycle each."""
    options = PodOptions(latency=400, window=1, patience=5)
    ends = socket.socketpair()
    parts = range(2), range(2, 4)
    boards: list[PodBoard] = []

    def make(place: int) -> None:
        boards.append(PodBoard(CHIP, parts[place], LINKS, options,
                               [(parts[1 - place], ends[place])]))

    def together(*works) -> None:
        threads = [threading.Thread(target=work) for work in works]
        for each in threads:
            each.start()
        for each in threads:
            each.join(60)

    together(lambda: make(0), lambda: make(1))
    first, second = boards
    whole = PodBoard(CHIP, range(4), LINKS, options)
    # Each goes as far as it can alone.
    first.advance(400)
    second.advance(400)
    for _ in range(3):
        together(lambda: first.advance(400), lambda: second.advance(400))
    whole.advance(1600)
    states: list[object] = []
    together(lambda: states.append(first.save()), lambda: states.append(second.save()))
    assert len(states) == 2
    for board in sorted(boards, key=lambda each: each.numbers.start):
        assert board.sent().tolist() == whole.sent()[board.numbers].tolist()
    for board in (*boards, whole):
        board.close()


def test_a_window_that_there_cannot_be(other):
    wire, make = other
    wire.sendall(_greeting(CHIP, LINKS, OPTIONS) + (1 << 40).to_bytes(8, "little"))
    with make() as board, pytest.raises(PodBoardError, match="but it is gone$"):
        board.advance(9)

"""Who may come in to a board, and who may not, whatever it says."""

from __future__ import annotations

import contextlib
import io
import random
import re
import socket
import struct
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep
from types import SimpleNamespace

import pytest

from celosia.arch.config import PRESETS
from celosia.collectives import Topology
from celosia_sim.pod import PodBoardError, RtlPod
from celosia_sim.pod import door as doors
from celosia_sim.pod.apart import LocalHost
from celosia_sim.pod.door import Address, Door, Hello, Role, enter
from celosia_sim.pod.fleet import Fleet
from celosia_sim.podcheck import compare, random_programs

TOKEN = bytes(range(32))
#: What both say first: what it is, who, and bytes that were never said before.
HELLO = struct.Struct("<8sI32s")
#: Bytes that show the token.
PROOF = 32


@pytest.fixture
def door(monkeypatch):
    monkeypatch.setattr(doors, "_PATIENCE", .3)
    made = Door(TOKEN)
    yield made
    made.close()


@pytest.fixture
def printed(monkeypatch):
    """What this process says on stderr, all of it: pytest's own loses what comes while it looks."""
    made = io.StringIO()
    monkeypatch.setattr(doors, "sys", SimpleNamespace(stderr=made))
    return made


def refused(printed: io.StringIO, door: Door, message: str) -> None:
    """Wait until a sentence about a stranger is there."""
    end = monotonic() + 5
    while monotonic() < end and not printed.getvalue().endswith("\n"):
        sleep(.01)
    said = printed.getvalue()
    start = f"celosia: the board at 127.0.0.1:{door.address[1]} has refused 127.0.0.1:"
    assert said.startswith(start)
    assert re.fullmatch(rf"{message} \(1 refused\)\n", said.split(": ", 2)[2])


def stranger(address: Address) -> socket.socket:
    connection = socket.create_connection(address, 5)
    what, who, said = HELLO.unpack(connection.recv(HELLO.size, socket.MSG_WAITALL))
    assert (what, who) == (b"celosia1", 0)
    assert any(said)
    return connection


def rest(connection: socket.socket) -> bytes:
    """Return what is said until the other end hangs up."""
    found = b""
    with contextlib.suppress(ConnectionError):
        while more := connection.recv(100):
            found += more
    return found


@pytest.mark.parametrize("named", [True, False])
def test_who_knows_the_token_comes_in(named, door, monkeypatch):
    """By a Unix socket of this machine, where there are any that have names."""
    monkeypatch.setattr(doors, "_NAMED", named and doors._NAMED)
    assert door.address[0] == "127.0.0.1"
    with enter(door.address, TOKEN, Hello(Role.CONTROL), 5) as ours, door.controller() as theirs:
        assert theirs.family == (socket.AF_UNIX if doors._NAMED else socket.AF_INET)
        ours.sendall(b"x")
        assert theirs.recv(1) == b"x"
        with pytest.raises(PodBoardError, match=(
                rf"^the board at 127.0.0.1:{door.address[1]} must let this one in within 0.1 s, "
                "but it has a controller$")):
            enter(door.address, TOKEN, Hello(Role.CONTROL), .1)
        with enter(door.address, TOKEN, Hello(Role.WIRE, 7, 4), 5) as wire:
            found = door.wire(7, 4, 5, lambda: None)
            wire.sendall(b"y")
            assert found.recv(1) == b"y"
            found.close()
        with pytest.raises(PodBoardError, match=(
                "^the board from chip 4 on must connect within 0.1 s, but it did not$")):
            door.wire(8, 4, .1, lambda: None)
    # When it has gone there may be another one.
    enter(door.address, TOKEN, Hello(Role.CONTROL), 5).close()


@pytest.mark.parametrize(("said", "message"), [
    (b"", f"it must greet in time, but it has said 0 of {HELLO.size} bytes"),
    (b"x" * 43, f"it must greet in time, but it has said 43 of {HELLO.size} bytes"),
    (b"x" * 76, "it must begin with b'celosia1', not b'xxxxxxxx'"),
    (b"GET / HTTP/1.1\r\n\r\n".ljust(76), "it must begin with b'celosia1', not b'GET / HT'"),
    (struct.pack("<IQ", 10, 1 << 31).ljust(76, b"\0"), re.escape(
        f"it must begin with b'celosia1', not {struct.pack('<II', 10, 1 << 31)!r}")),
    (HELLO.pack(b"celosia1", 1, bytes(32)), "it must greet in time, but it has said 0 of 32 bytes"),
    (HELLO.pack(b"celosia1", 1, bytes(32)) + bytes(PROOF),
     "it must know the token, but it has another one"),
    (HELLO.pack(b"celosia1", 0, bytes(32)) + bytes(PROOF), "it must be another one than 0"),
], ids=str)
def test_strangers(door, said, message, printed):
    with stranger(door.address) as connection:
        connection.sendall(said)
        assert len(rest(connection)) in (0, PROOF)
        refused(printed, door, message)


def test_who_says_a_byte_now_and_then_has_no_longer_than_others(door, printed):
    with stranger(door.address) as connection:
        begin = monotonic()
        with contextlib.suppress(ConnectionError):
            while monotonic() - begin < 5:
                connection.sendall(b"x")
                sleep(.02)
        assert monotonic() - begin < 3
        refused(printed, door, r"it must greet in time, but it has said \d+ of 44 bytes")


def test_who_hangs_up(door, printed):
    stranger(door.address).close()
    refused(printed, door, "it must greet, but it is gone")


def test_another_token(door, printed):
    with pytest.raises(PodBoardError, match=(
            r"^who is at \('127.0.0.1', \d+\) must be a board of this pod, but it must know the "
            "token, but it has another one$")):
        enter(door.address, bytes(32), Hello(Role.CONTROL), 5)
    refused(printed, door, "it must know the token, but it has another one")


def test_a_proof_is_of_one_connection(door):
    """What somebody has said who knows the token does not let another one in."""
    heard: list[bytes] = []
    between = socket.create_server(("127.0.0.1", 0))

    def listen() -> None:
        with between.accept()[0] as client, socket.create_connection(door.address) as server:
            client.sendall(server.recv(HELLO.size, socket.MSG_WAITALL))
            heard.append(client.recv(HELLO.size + PROOF, socket.MSG_WAITALL))

    thread = threading.Thread(target=listen)
    thread.start()
    with pytest.raises(PodBoardError):
        enter(between.getsockname(), TOKEN, Hello(Role.CONTROL), .1)
    thread.join(5)
    between.close()
    assert len(heard[0]) == HELLO.size + PROOF
    with stranger(door.address) as connection:
        connection.sendall(heard[0] + struct.pack("<BQI", Role.CONTROL, 0, 0))
        assert len(rest(connection)) == PROOF


@pytest.mark.parametrize(("says", "message"), [
    (b"celosia9".ljust(HELLO.size), "it must begin with b'celosia1', not b'celosia9'"),
    (HELLO.pack(b"celosia1", 0, bytes(32)) + bytes(PROOF),
     "it must know the token, but it has another one"),
])
def test_who_is_no_board(says, message):
    with socket.create_server(("127.0.0.1", 0)) as server:
        def answer() -> None:
            with server.accept()[0] as connection, contextlib.suppress(OSError):
                connection.sendall(says)
                connection.recv(HELLO.size + PROOF, socket.MSG_WAITALL)

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(PodBoardError, match=(
                rf"^who is at \('127.0.0.1', \d+\) must be a board of this pod, but {message}$")):
            enter(server.getsockname(), TOKEN, Hello(Role.CONTROL), 2)
        thread.join(5)


def test_many_that_never_speak(door, printed):
    """They do not keep out who knows the token; those beyond a number are sent away at once."""
    with contextlib.ExitStack() as silent:
        for _ in range(60):
            silent.enter_context(socket.create_connection(door.address, 5))
        with enter(door.address, TOKEN, Hello(Role.CONTROL), 5), door.controller():
            pass
        end = monotonic() + 15
        while f"there must be at most {doors._MOST} at once" not in printed.getvalue():
            assert monotonic() < end, printed.getvalue()
            sleep(.01)


@contextlib.contextmanager
def attacked(addresses: list[Address], frames: int) -> Iterator[list[int]]:
    """Have a stranger say one mutated frame after the other to boards."""
    done = [0]
    end = threading.Event()

    def attack() -> None:
        rng = random.Random(0)
        while done[0] < frames and not end.is_set():
            with contextlib.suppress(OSError), stranger(rng.choice(addresses)) as connection:
                said = bytearray(HELLO.pack(b"celosia1", rng.choice((0, 1)), rng.randbytes(32))
                                 + rng.randbytes(PROOF)
                                 + struct.pack("<BQI", rng.choice((1, 2)), 0, 0))
                for _ in range(rng.randrange(4)):
                    said[rng.randrange(len(said))] ^= 1 << rng.randrange(8)
                connection.sendall(said[:rng.choice((1, 60, 89, 89, 89))])
                if rng.random() < .5:
                    connection.sendall(struct.pack("<IQ", 1 << 31, 1 << 31) + bytes(1000))
                connection.shutdown(socket.SHUT_WR)
                rest(connection)
            done[0] += 1

    thread = threading.Thread(target=attack)
    thread.start()
    try:
        yield done
        thread.join(600)
    finally:
        end.set()
        thread.join(10)


@pytest.mark.parametrize("frames", [200, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_run_goes_on_whoever_knocks(frames, capfd):
    chip, ring = replace(PRESETS["nano"], ports=2), Topology.ring(4)
    found = []
    for attack in (False, True):
        made = RtlPod(chip, ring.chips, ring.links, latency=40, processes=2)
        capfd.readouterr()  # that a chip was built
        assert isinstance(made._boards, Fleet)
        hosts = [board.host for board in made._boards.boards]
        before = [_memory(host) for host in hosts]
        with attacked([host.address() for host in hosts], frames * attack) as done:
            for seed in range(2):
                compare(made, ring, random_programs(ring, seed), seed)
        assert done == [frames * attack]
        found.append([made.counters(), made.sent().tolist(), made.replaced])
        assert all(_memory(host) - was < 32 << 20
                   for host, was in zip(hosts, before, strict=True))
        made.close()
    assert found[0] == found[1]
    said = capfd.readouterr().err.splitlines()
    assert 20 <= len(said) <= 2 * (doors._SAID + frames // 1000)
    assert all(" has refused 127.0.0.1:" in line for line in said)


def _memory(host: object) -> int:
    assert isinstance(host, LocalHost)
    [line] = [line for line in Path(f"/proc/{host.process.pid}/status").read_text().splitlines()
              if line.startswith("VmRSS")]
    return int(line.split()[1]) * 1024

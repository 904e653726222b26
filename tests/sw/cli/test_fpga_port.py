"""Commands on a board: a pseudo-terminal with the Python board at its other end."""

import json
import os
import re
import select
import threading
import tty

import pytest

from celosia.arch.config import PRESETS
from celosia.arch.link import IDENTITY, PROTOCOL_VERSION, LinkConfig
from celosia.cli import port as module
from celosia.cli.main import main
from celosia.driver.model import ModelTransport
from sw.driver.link.board import Board

PRODUCT = "examples/product.s"
SIZE = 1 << 20


@pytest.fixture
def plug():
    """Plug in a board with a chip; return the name of its port."""
    ends = []

    def make(name: str = "nano", size: int = SIZE) -> str:
        board = Board(ModelTransport(PRESETS[name], size), PRESETS[name],
                      LinkConfig(8_000_000, memory_bytes=size))
        ours, theirs = os.openpty()
        tty.setraw(theirs)
        end, stop = os.pipe()

        def carry() -> None:
            while True:
                ready = select.select([ours, end], [], [])[0]
                if end in ready:
                    return
                os.write(ours, board.feed(os.read(ours, 4096)))

        thread = threading.Thread(target=carry)
        thread.start()
        ends.append((thread, stop, (ours, theirs, end, stop)))
        return os.ttyname(theirs)

    yield make
    for thread, stop, descriptors in ends:
        os.write(stop, b"!")
        thread.join()
        for descriptor in descriptors:
            os.close(descriptor)


@pytest.fixture(autouse=True)
def root(monkeypatch, request):
    monkeypatch.chdir(request.config.rootpath)


def error(capsys, *arguments: str) -> str:
    assert main(arguments) == 1
    return capsys.readouterr().err


def test_info_shows_the_board(plug, capsys):
    port = plug()
    assert main(["info", "--port", port]) == 0
    out = capsys.readouterr().out
    assert f"board        {port}, 3,000,000 baud\n" in out
    assert f"nano, 4x4 array, int8, fingerprint {PRESETS['nano'].fingerprint:#010x}\n" in out
    assert "memory       1 MiB\n" in out
    assert "clock        not counted\n" in out  # the Python board has none
    assert main(["info", "--port", port, "--baud", "115200", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["name"], data["port"], data["memory_bytes"]) == ("nano", port, SIZE)


def test_program_runs_on_the_board(plug, capsys):
    port = plug()
    assert main(["run", PRODUCT, "--port", port, "--random", "0", "--json", "--dump", "c"]) == 0
    there = json.loads(capsys.readouterr().out)
    assert there["backend"] == "serial"
    assert main(["run", PRODUCT, "--random", "0", "--json", "--dump", "c"]) == 0
    assert json.loads(capsys.readouterr().out)["buffers"] == there["buffers"]
    assert main(["run", PRODUCT, "--port", port, "--random", "0"]) == 0
    assert f"backend       serial at {port}\n" in capsys.readouterr().out


def test_demo_runs_on_the_board_as_it_is(plug, capsys):
    port = plug()
    assert main(["demo", "--port", port, "--images", "40", "--hidden", "16"]) == 0
    out = capsys.readouterr().out
    assert "compiled for nano (4x4 array) in int8" in out
    assert re.search(rf"^run +[\d.]+ s with transfers and checks, board at {port}$", out, re.M)
    assert "bit for bit   equal to NumPy and the golden model\n" in out


def test_demo_that_the_memory_does_not_hold_says_how_many_images_to_try(plug, capsys):
    found = error(capsys, "demo", "--port", plug(size=8192), "--images", "400", "--hidden", "16")
    assert "--images 200 or fewer need less" in found


@pytest.mark.parametrize("command", [("info", "core"), ("run", PRODUCT, "--random", "0"),
                                     ("demo", "--preset", "nano", "--images", "4")])
def test_board_with_another_chip_is_an_error(plug, capsys, command):
    port = plug("edge")
    wanted = "core" if "core" in command else "nano"
    assert re.match(f"celosia: error: the board on {port} must hold the chip {wanted}, not preset "
                    "edge with dim 8", error(capsys, *command, "--port", port))


def test_bitstream_of_another_version_is_an_error(plug, capsys, monkeypatch):
    monkeypatch.setattr("celosia.arch.link.PROTOCOL_VERSION", PROTOCOL_VERSION + 1)
    port = plug()
    assert any(field.name == "version" for field in IDENTITY)
    assert error(capsys, "info", "--port", port) == (
        f"celosia: error: version of the link on {port} must be {PROTOCOL_VERSION:#x}, not "
        f"{PROTOCOL_VERSION + 1:#x}: the bitstream is of another version\n")


def test_chip_of_another_isa_is_an_error(plug, capsys, monkeypatch):
    read = ModelTransport.read_register
    monkeypatch.setattr(ModelTransport, "read_register",
                        lambda self, offset: 99 if offset == 4 else read(self, offset))
    assert "register VERSION must be 2, not 99: this driver is for another version of the ISA" in (
        error(capsys, "info", "--port", plug()))


@pytest.mark.parametrize("command", [("info",), ("run", PRODUCT, "--random", "0"), ("demo",)])
def test_port_that_is_not_there_is_an_error(capsys, command):
    found = error(capsys, *command, "--port", "/dev/ttyNOWHERE")
    assert found.startswith("celosia: error: port '/dev/ttyNOWHERE' must be a serial port that can "
                            "be opened: ")
    assert found.count("\n") == 1


@pytest.mark.parametrize(("options", "message"), [
    (("--baud", "9600"), "--baud must be used with --port"),
    (("--port", "p", "--backend", "rtl"),
     "--backend must be left out where there is a --port, not 'rtl'"),
    (("--port", "p", "--baud", "0"), "baud must be a positive integer, not 0"),
    (("--port", ""), "port must be the name of a serial port, not ''"),
])
def test_options_that_contradict_each_other(capsys, options, message):
    assert error(capsys, "run", PRODUCT, "--random", "0", *options) == (
        f"celosia: error: {message}\n")


def test_trace_of_a_board_is_an_error(capsys):
    assert error(capsys, "run", PRODUCT, "--random", "0", "--port", "p", "--trace", "x.vcd") == (
        "celosia: error: --trace must be used with --backend rtl or cocotb, not 'serial'\n")


def test_clock_is_what_the_board_counts_in_the_time_that_passes(monkeypatch):
    now, counts = iter((0.0, 1.0, 1.5)), iter((5, 2**32 - 1_000_000, 49_000_000))

    class Link:
        def transact(self, requests):
            reply = type("Reply", (), {})()
            reply.payload = next(counts).to_bytes(4, "little")
            return [reply]

    device = type("Device", (), {"transport": type("Transport", (), {"link": Link()})()})()
    monkeypatch.setattr(module.time, "sleep", lambda seconds: None)
    assert module.clock_hz(device, lambda: next(now)) == 100e6
    other = type("Device", (), {"transport": object()})()
    assert module.clock_hz(other) is None

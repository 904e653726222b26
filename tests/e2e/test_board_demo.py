"""A board without the board: its bitstream's Verilog in one process, the driver in another."""

import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

import celosia
from celosia import ops
from celosia.arch.config import preset
from celosia.demo.data import digits
from celosia.demo.host import train
from celosia.link import DeviceLost
from celosia_hw.boards import BOARDS
from celosia_sim.board_library import build_board

BAUD = 12_500_000
#: Seconds; the simulation is some thousand times slower than the board.
PATIENCE = 120.0


class Server:
    """A board in a process of its own."""

    def __init__(self, *arguments: str):
        self._process = subprocess.Popen(
            [sys.executable, "-m", "celosia_sim.board", *arguments], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.port = self._process.stdout.readline().strip()

    def stop(self) -> tuple[int, str, str]:
        out, err = self._process.communicate(timeout=60)
        return self._process.returncode, out, err

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate(timeout=60)


@pytest.fixture
def server() -> Iterator:
    """Make servers that are gone when the test ends."""
    servers = []

    def make(*arguments: str) -> Server:
        servers.append(Server(*arguments))
        return servers[-1]

    yield make
    for each in servers:
        each.kill()


@pytest.fixture(scope="module")
def network():
    """The digits for `edge` in int8, some images, and what NumPy reads."""
    data = digits()
    layers = train(data.train_x, data.train_y, 64, 20)
    quantised = ops.quantise_network(layers, data.train_x[:1000])
    x = quantised.quantise(data.test_x[:6])
    config = preset("edge")
    program = ops.dense_network(config, len(x), list(quantised.layers))
    return config, program, x, data.test_y[:6]


def check_digits(server, network, *arguments: str, baud: int) -> None:
    config, program, x, labels = network
    build_board(BOARDS["ulx3s"], config, baud=baud)  # before the clock of a timeout runs
    board = server("--board", "ulx3s", "--preset", config.name, "--baud", str(baud), *arguments)
    with celosia.open("model", config=config) as model:
        wanted = model.run(program, {"x": x})
    with celosia.open("serial", port=board.port, timeout=PATIENCE) as device:
        assert device.config == config
        result = device.run(program, {"x": x})
    assert np.array_equal(result["y"], wanted["y"])
    assert (np.asarray(result["y"]).argmax(axis=1) == labels).mean() > 0.8
    code, out, err = board.stop()
    assert (code, err) == (0, "")
    assert out.splitlines()[0].endswith(" cycles, 0 faults")
    assert out.splitlines()[1].endswith(" refreshes, 0 violations")


def test_board_reads_digits_bit_for_bit(server, network):
    check_digits(server, network, baud=BAUD)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["W9825G6KH-6", "IS42S16160G-7"])
def test_board_reads_digits_at_its_own_baud(server, network, part):
    check_digits(server, network, "--sdram", part, baud=BOARDS["ulx3s"].baud)


def test_unplugging_in_a_transfer_and_plugging_in_again(server):
    build_board(BOARDS["ulx3s"], baud=BAUD)
    board = server("--baud", str(BAUD))
    device = celosia.open("serial", port=board.port, timeout=PATIENCE, attempts=1)
    handle = device.put(np.arange(500, dtype=np.int32))
    board.kill()
    with pytest.raises(DeviceLost, match=f"^the board on {board.port} must "):
        handle.numpy()
    device.close()
    with celosia.open("serial", port=server("--baud", str(BAUD)).port,
                      timeout=PATIENCE) as device:
        data = np.arange(300, dtype=np.int32)
        assert np.array_equal(device.put(data).numpy(), data)

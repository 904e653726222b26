"""A board without the board: its bitstream's Verilog in one process, the driver in another."""

from collections.abc import Iterator

import numpy as np
import pytest

import celosia
from celosia import ops
from celosia.arch.config import preset
from celosia.cli.demo.data import digits
from celosia.cli.demo.host import train
from celosia.driver.link import DeviceLost
from celosia_hw.boards import BOARDS
from celosia_sim.board_library import build_board
from celosia_sim.board_process import BoardProcess

#: Those of tests/rtl/boards, which share what is compiled for them.
BAUD = 10_000_000
#: Seconds; the simulation is some thousand times slower than the board.
PATIENCE = 120.0


@pytest.fixture
def server() -> Iterator:
    """Make servers that are gone when the test ends."""
    servers = []

    def make(*arguments: str) -> BoardProcess:
        servers.append(BoardProcess(*arguments))
        return servers[-1]

    yield make
    for each in servers:
        each.kill()


@pytest.fixture(scope="module")
def network():
    """Make the digits for a chip, as many images as asked for, and what they show."""
    data = digits()
    layers = train(data.train_x, data.train_y, 64, 20)
    quantised = ops.quantise_network(layers, data.train_x[:1000])

    def make(name: str, images: int):
        config = preset(name)
        program = ops.dense_network(config, images, list(quantised.layers))
        return config, program, quantised.quantise(data.test_x[:images]), data.test_y[:images]

    return make


def check_digits(server, network, name: str, *arguments: str, baud: int) -> tuple[str, ...]:
    """Return what the simulation said at its end."""
    config, program, x, labels = network
    # Before the clock of a timeout runs.
    build_board(BOARDS[name], config, baud=baud)
    board = server("--board", name, "--preset", config.name, "--baud", str(baud), *arguments)
    with celosia.open("model", config=config) as model:
        wanted = model.run(program, {"x": x})
    with celosia.open("serial", port=board.port, timeout=PATIENCE) as device:
        assert device.config == config
        result = device.run(program, {"x": x})
    assert np.array_equal(result["y"], wanted["y"])
    assert (np.asarray(result["y"]).argmax(axis=1) == labels).mean() > 0.8
    end = board.stop()
    assert (end.code, end.broken) == (0, ())
    assert end.said[0].endswith(" cycles, 0 faults")
    return end.said


def check_sdram(said: tuple[str, ...]) -> None:
    assert said[1].endswith(" refreshes, 0 violations")


def test_board_reads_digits_bit_for_bit(server, network):
    check_sdram(check_digits(server, network("edge", 2), "ulx3s", baud=BAUD))


@pytest.mark.slow
@pytest.mark.parametrize("part", ["W9825G6KH-6", "IS42S16160G-7"])
def test_board_reads_digits_at_its_own_baud(server, network, part):
    baud = BOARDS["ulx3s"].baud
    check_sdram(check_digits(server, network("edge", 2), "ulx3s", "--sdram", part, baud=baud))


def test_unplugging_in_a_transfer_and_plugging_in_again(server):
    build_board(BOARDS["ulx3s"], preset("edge"), baud=BAUD)
    arguments = ("--board", "ulx3s", "--preset", "edge", "--baud", str(BAUD))
    board = server(*arguments)
    device = celosia.open("serial", port=board.port, timeout=PATIENCE, attempts=1)
    handle = device.put(np.arange(500, dtype=np.int32))
    board.kill()
    with pytest.raises(DeviceLost, match=f"^the board on {board.port} must "):
        handle.numpy()
    device.close()
    with celosia.open("serial", port=server(*arguments).port, timeout=PATIENCE) as device:
        data = np.arange(300, dtype=np.int32)
        assert np.array_equal(device.put(data).numpy(), data)

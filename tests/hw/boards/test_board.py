from dataclasses import replace

import pytest

from celosia.arch.config import PRESETS
from celosia.arch.link import LinkConfig
from celosia_hw.boards import BOARDS, board
from celosia_hw.boards.platform_pins import board_pins
from celosia_hw.soc.sdram_timing import SdramTiming


@pytest.mark.parametrize("name", list(BOARDS))
def test_facts_fit_together(name):
    item = board(name)
    assert item.name == name
    assert item.preset in PRESETS
    link = LinkConfig(item.freq_hz, item.baud, item.memory_bytes)
    assert abs(link.actual_baud / item.baud - 1) < 0.005
    if item.memory == "sdram":
        assert item.memory_bytes == SdramTiming().bytes
    config = PRESETS[item.preset]
    assert config.pes <= item.capacity.multipliers


def test_a_board_folds_the_chip_of_a_preset():
    nano, tang = PRESETS["nano"], board("tangprimer20k")
    folded = tang.folded(nano)
    assert (folded.lanes, folded.banks) == (1, 1)
    assert folded.fingerprint == nano.fingerprint
    assert tang.folded(folded) is folded
    mine = replace(nano, banks=2)
    assert tang.folded(mine) is mine
    assert board("ulx3s").folded(nano) == nano


@pytest.mark.parametrize("name", list(BOARDS))
def test_every_port_has_a_pin_of_its_own(name):
    ports = board_pins(board(name))
    assert ports[0].port == "clk"
    assert ports[0].clock_hz == board(name).clock_hz
    assert [port.port for port in ports[1:3]] == ["rx", "tx"]
    pins = [pin for port in ports for pin in port.names]
    assert len(pins) == len(set(pins))


def test_there_is_no_such_board():
    with pytest.raises(ValueError, match=f"^board must be one of {', '.join(BOARDS)}, not 'de10'$"):
        board("de10")

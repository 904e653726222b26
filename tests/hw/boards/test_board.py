import pytest

from celosia.arch.config import PRESETS
from celosia.arch.link import LinkConfig
from celosia_hw.boards import BOARDS, board
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
    # Products of a compact chip may share a block.
    assert config.pes <= item.capacity.multipliers * (2 if item.family == "ice40" else 1)


def test_there_is_no_such_board():
    with pytest.raises(ValueError, match="^board must be one of ulx3s, icebreaker, tangnano9k, "
                                         "tangprimer20k, arty_a7, not 'de10'$"):
        board("de10")

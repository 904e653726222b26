import re

import pytest

from celosia_hw.boards import BOARDS, board
from celosia_hw.boards.pll import LIMITS, pll


@pytest.mark.parametrize("name", list(BOARDS))
@pytest.mark.parametrize("share", [0.6, 0.77, 0.9, 1, 1.1, 1.2])
def test_settings_are_in_their_ranges_and_near(name, share):
    item = board(name)
    limits = LIMITS[item.series or item.family]
    wish = round(item.freq_hz * share)
    found = pll(item.family, item.series, item.clock_hz, wish)
    detector = item.clock_hz / found.input
    assert limits.detector[0] <= detector <= limits.detector[1]
    assert limits.vco[0] <= found.vco_hz <= limits.vco[1]
    assert limits.inputs[0] <= found.input <= limits.inputs[1]
    assert limits.feedbacks[0] <= found.feedback <= limits.feedbacks[1]
    assert found.output in limits.outputs
    if limits.feedback_is_output:
        assert found.freq_hz == detector * found.feedback
        assert found.vco_hz == found.freq_hz * found.output
    else:
        assert found.vco_hz == detector * found.feedback
        assert found.freq_hz == found.vco_hz / found.output
    assert abs(found.freq_hz - wish) <= 0.05 * wish


@pytest.mark.parametrize(("name", "setting"), [
    ("ulx3s", (1, 4, 6, 100e6)), ("icebreaker", (1, 64, 32, 24e6)),
    ("tangnano9k", (1, 2, 16, 54e6)), ("tangprimer20k", (7, 13, 16, 27e6 / 7 * 13)),
    ("arty_a7", (1, 12, 12, 100e6)),
])
def test_settings_of_the_default_clocks(name, setting):
    item = board(name)
    found = pll(item.family, item.series, item.clock_hz, item.freq_hz)
    assert (found.input, found.feedback, found.output, found.freq_hz) == setting


def test_dividers_of_gowin_are_powers_of_two_and_multiples_of_16():
    """As its data sheets have them, and no other ones."""
    for name in ("GW1N-9C", "GW2A-18"):
        assert LIMITS[name].outputs == (2, 4, 8, *range(16, 129, 16))


@pytest.mark.parametrize(("name", "freq_hz", "message"), [
    ("icebreaker", 5_000_000, ("freq_hz must be a frequency that SB_PLL40_PAD makes of 12000000 "
                               "Hz, from 8328125 to 533000000, not 5000000")),
    ("ulx3s", 900_000_000, ("freq_hz must be a frequency that EHXPLLL makes of 25000000 Hz, from "
                            "3125000 to 800000000, not 900000000")),
    ("ulx3s", 3_340_000, ("freq_hz must be a frequency that EHXPLLL makes of 25000000 Hz within 5 "
                          "%, not 3340000; the nearest is 3125000")),
])
def test_frequencies_out_of_reach(name, freq_hz, message):
    item = board(name)
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        pll(item.family, item.series, item.clock_hz, freq_hz)

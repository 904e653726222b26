import itertools
import random
import re

import pytest

from celosia_hw.boards import BOARDS, board
from celosia_hw.boards.pll import LIMITS, PllLimits, pll


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
    ("ulx3s", (5, 16, 7, 80e6)), ("tangprimer20k", (7, 13, 16, 27e6 / 7 * 13)),
    ("arty_a7", (1, 12, 12, 100e6)),
])
def test_settings_of_the_default_clocks(name, setting):
    item = board(name)
    found = pll(item.family, item.series, item.clock_hz, item.freq_hz)
    assert (found.input, found.feedback, found.output, found.freq_hz) == setting


def test_dividers_of_gowin_are_powers_of_two_and_multiples_of_16():
    """As its data sheets have them, and no other ones."""
    assert LIMITS["GW2A-18"].outputs == (2, 4, 8, *range(16, 129, 16))


@pytest.mark.parametrize(("name", "freq_hz", "message"), [
    ("ulx3s", 900_000_000, ("freq_hz must be a frequency that EHXPLLL makes of 25000000 Hz, from "
                            "3125000 to 800000000, not 900000000")),
    ("ulx3s", 3_340_000, ("freq_hz must be a frequency that EHXPLLL makes of 25000000 Hz within 5 "
                          "%, not 3340000; the nearest is 3125000")),
])
def test_frequencies_out_of_reach(name, freq_hz, message):
    item = board(name)
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        pll(item.family, item.series, item.clock_hz, freq_hz)


def best_of_all(limits, clock_hz, freq_hz):
    """Try every setting."""
    found = []
    for divide in range(limits.inputs[0], limits.inputs[1] + 1):
        detector = clock_hz / divide
        for feedback, output in itertools.product(
                range(limits.feedbacks[0], limits.feedbacks[1] + 1), limits.outputs):
            made = detector * feedback
            vco, freq = (made * output, made) if limits.feedback_is_output else (
                made, made / output)
            if (limits.detector[0] <= detector <= limits.detector[1]
                    and limits.vco[0] <= vco <= limits.vco[1]):
                found.append((abs(freq - freq_hz), divide, abs(vco - sum(limits.vco) / 2),
                              feedback, output))
    return min(found, default=None)


@pytest.mark.parametrize("of_output", [False, True])
def test_no_setting_is_nearer(of_output, monkeypatch):
    rng, reached = random.Random(of_output), 0
    for _ in range(150):
        limits = PllLimits("PLL", (10.0, rng.choice((50.0, 80.0))), (200.0, 500.0),
                           (rng.choice((1, 2)), 6), (rng.choice((1, 3)), 12), (1, 2, 3, 4, 6),
                           of_output, "none")
        monkeypatch.setitem(LIMITS, "few", limits)
        clock, freq = rng.choice((20, 50, 60, 100)), rng.randrange(20, 400)
        wanted = best_of_all(limits, clock, freq)
        if wanted is None or wanted[0] > 0.05 * freq:
            with pytest.raises(ValueError, match="freq_hz must be a frequency that PLL makes"):
                pll("ecp5", "few", clock, freq)
            continue
        found = pll("ecp5", "few", clock, freq)
        assert (abs(found.freq_hz - freq), found.input, abs(found.vco_hz - 350)) == wanted[:3]
        reached += 1
    assert 40 < reached < 140

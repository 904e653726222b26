"""Words over a link whose lines garble: the command, and that it can fail."""

from __future__ import annotations

import re

import pytest

from celosia.arch.config import preset
from celosia_sim.linkcheck import build_layer, main, run_link


def test_a_few_thousand_frames(capsys):
    assert main(["--frames", "4000", "--errors", "3e-4"]) == 0
    assert re.fullmatch(r"4,00\d frames, [\d,]+ words in [\d,]+ cycles; [1-9][\d,]* garbled, "
                        r"[1-9][\d,]* sent again: none lost, doubled or out of order\n",
                        capsys.readouterr().out)


def test_a_line_that_lets_nothing_through_is_found():
    with pytest.raises(AssertionError, match=r"^words must come after \d+ cycles, but there are 0"):
        run_link(build_layer(preset("nano")), 10, 0, .5)


@pytest.mark.slow
def test_a_million_frames(capsys):
    """The bar: bit errors of 1e-4, latencies from 1 to 300, random pauses."""
    assert main(["--frames", "1000000", "--errors", "1e-4"]) == 0
    assert "none lost, doubled or out of order" in capsys.readouterr().out

"""What Yosys's solver says of a link: all runs of so many cycles, with all that lines may do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from celosia.arch.config import PRESETS
from hw.ici import link_proof
from hw.ici.link_induction import LongRun, seen
from hw.ici.link_proof import OneWay, Recovery, prove, small

CHIP = replace(PRESETS["nano"], ports=1, link_frames=2)
#: Cycles: a word is on its way for 12.
DEPTH = 18
#: Cycles in which anything may be lost, and those behind, after which all has come; what is asked
#: for is said again, and frames are sent again, after so many.
ILL, WELL = 8, 52
BEAT, RESEND = 4, 16
#: Cycles from which the next one follows.
STEPS = 5


@pytest.mark.slow
def test_words_come_once_and_in_order_and_no_buffer_is_overrun(tmp_path):
    with small():
        found = prove(OneWay(CHIP), DEPTH, tmp_path)
    assert f"Base case for induction length {DEPTH} proven." in found
    assert "FAIL" not in found


@pytest.mark.slow
def test_a_crc_that_finds_nothing_is_found_out(tmp_path, monkeypatch):
    monkeypatch.setattr(link_proof, "_GARBLED", 0)  # what a right END has here
    with small():
        found = prove(OneWay(CHIP), DEPTH, tmp_path)
    assert "model found for base case: FAIL!" in found


@pytest.mark.slow
def test_however_long_a_run_is_words_leave_the_buffer_once_and_in_order(tmp_path):
    with seen():
        found = prove(LongRun(CHIP), STEPS, tmp_path, forever=True)
    assert "Induction step proven: SUCCESS!" in found
    assert "FAIL" not in found


@pytest.mark.slow
def test_nothing_is_proved_of_a_crc_that_finds_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(link_proof, "_GARBLED", 0)
    with seen():
        found = prove(LongRun(CHIP), STEPS, tmp_path, forever=True)
    assert "Induction step proven" not in found


@pytest.mark.slow
def test_after_any_loss_there_is_progress(tmp_path):
    with small(BEAT, RESEND):
        found = prove(Recovery(CHIP, ILL, WELL), ILL + WELL + 1, tmp_path)
    assert f"Base case for induction length {ILL + WELL + 1} proven." in found
    assert "FAIL" not in found


@pytest.mark.slow
def test_progress_takes_its_time(tmp_path):
    """A loss is made good by a frame that is sent again, which cannot have come so soon."""
    with small(BEAT, RESEND):
        found = prove(Recovery(CHIP, ILL, RESEND // 2), ILL + RESEND // 2 + 1, tmp_path)
    assert "model found for base case: FAIL!" in found

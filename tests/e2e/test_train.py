"""Training on the RTL: the same bits as the golden model, the same losses as float32, and fast."""

import json
import re

import pytest

from celosia.cli.main import main


def test_demo_trains_on_the_chip_bit_for_bit(capsys, tmp_path):
    picture = tmp_path / "loss.png"
    assert main(["demo", "--train", "--steps", "10", "--picture", str(picture)]) == 0
    text = capsys.readouterr().out
    assert ("bit for bit   10 steps equal to the golden model: loss, parameters, state and every "
            "row of the on-chip memories\n") in text
    (apart,) = re.findall(r"apart +([\d.]+)% at most", text)
    assert float(apart) < 1
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("layers", ["64-128-10", "45-37-7"])
def test_step_is_exact_on_the_chip(capsys, layers):
    assert main(["bench", "train", "--layers", layers, "--batch", "32", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bit_exact"] is True


def test_array_is_busy_in_a_step_of_784_512_10(capsys):
    assert main(["bench", "train", "--preset", "core", "--batch", "128", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["bit_exact"] is True
    assert result["counters"]["mxu_busy"] == 128 * (2 * 49 * 32 + 2 * 32) + 10 * 8 * 32
    assert result["cycles"] <= 424_207, "what the step took that was scheduled by hand"


@pytest.mark.slow
def test_a_hundred_steps_on_the_chip_follow_float32(capsys, tmp_path):
    assert main(["demo", "--train", "--picture", str(tmp_path / "loss.png")]) == 0
    text = capsys.readouterr().out
    assert "bit for bit   100 steps equal to the golden model" in text
    (apart,) = re.findall(r"apart +([\d.]+)% at most", text)
    assert float(apart) < 1

import argparse
import re
import sys

import pytest

from celosia.cli import demo
from celosia.cli.demo import curve, on_chip
from celosia.driver import DeviceError


def run(*argv):
    parser = argparse.ArgumentParser()
    demo.add_arguments(parser)
    args = parser.parse_args(["--train", *argv])
    return args.run(args)


def test_training_follows_the_host_and_draws_the_losses(capsys, tmp_path):
    path = tmp_path / "loss.png"
    assert run("--backend", "model", "--hidden", "32", "--batch", "32", "--steps", "20",
               "--images", "200", "--picture", str(path)) == 0
    text = capsys.readouterr().out
    assert re.findall(r"^step (\d+)/20", text, re.MULTILINE) == ["10", "20"]
    (apart,) = re.findall(r"apart +([\d.]+)% at most", text)
    assert float(apart) < 1
    chip, host = re.search(r"accuracy +([\d.]+)% trained on the chip, ([\d.]+)%", text).groups()
    assert float(chip) > 15
    assert "of 200 images not seen" in text
    assert abs(float(chip) - float(host)) < 3
    assert path.read_bytes().startswith(b"\x89PNG")


def test_terminal_gets_one_line_that_changes(capsys, monkeypatch):
    monkeypatch.setattr(on_chip.sys.stdout, "isatty", lambda: True)
    live = on_chip._Live()
    live.show("one", keep=False)
    live.show("two", keep=True)
    assert capsys.readouterr().out == "\rone\x1b[K\rtwo\x1b[K\n"


def test_training_says_when_the_chip_differs(capsys, tmp_path, monkeypatch):
    opened = on_chip.open_device
    monkeypatch.setattr(on_chip, "open_device",
                        lambda name, config: opened("model", config=config))
    picture = ("--picture", str(tmp_path / "loss.png"))
    sizes = ("--hidden", "16", "--batch", "16", "--steps", "3")
    assert run(*sizes, *picture) == 0
    assert "bit for bit   3 steps equal to the golden model" in capsys.readouterr().out
    monkeypatch.setattr(on_chip.Trainer, "equals", lambda self, other: False)
    assert run(*sizes, "--chip-steps", "1", *picture) == 1
    assert "bit for bit   1 step DIFFERENT from the golden model" in capsys.readouterr().out


def test_what_cannot_be_is_refused(tmp_path):
    with pytest.raises(ValueError, match="^--chip-steps must be at least 1, not 0$"):
        run("--chip-steps", "0")
    with pytest.raises(ValueError, match="^--format must be bf16 to train, not int8$"):
        run("--format", "int8")
    missing = tmp_path / "none" / "loss.png"
    with pytest.raises(ValueError, match="^--picture must be a file in a folder that exists, not "):
        run("--picture", str(missing))
    with pytest.raises(ValueError, match="^--picture must be a file in a folder that exists, not "):
        run("--picture", str(tmp_path))
    with pytest.raises(ValueError, match="^chip must have bf16 to train, nano has int8 only$"):
        run("--preset", "nano", "--backend", "model")


def test_nothing_is_trained_where_nothing_can_be_drawn(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(DeviceError, match="^the picture needs the package matplotlib: pip "):
        run("--backend", "model")
    assert capsys.readouterr().out == ""


def test_results_are_shown_though_the_picture_fails(capsys, monkeypatch, tmp_path):
    def fail(*_):
        raise OSError("disk full")
    monkeypatch.setattr(on_chip, "draw", fail)
    with pytest.raises(OSError, match="^disk full$"):
        run("--backend", "model", "--hidden", "16", "--batch", "16", "--steps", "1",
            "--picture", str(tmp_path / "loss.png"))
    assert "trained on the chip" in capsys.readouterr().out


def test_picture_is_of_both_curves(tmp_path):
    one, two = tmp_path / "one.png", tmp_path / "two.png"
    curve.draw(one, "t", [1.0, 0.5], [1.0, 0.5])
    curve.draw(two, "t", [1.0, 0.5], [1.0, 0.6])
    assert one.read_bytes() != two.read_bytes()

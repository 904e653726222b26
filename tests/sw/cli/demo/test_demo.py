import argparse
import gzip
import re
import shutil

import numpy as np
import pytest

from celosia import ops
from celosia.cli import demo
from celosia.cli.demo import data, host, show


def run(*argv):
    parser = argparse.ArgumentParser()
    demo.add_arguments(parser)
    args = parser.parse_args(argv)
    return args.run(args)


@pytest.mark.parametrize("options", [(), ("--format", "bf16"), ("--preset", "nano")])
def test_demo_on_the_model_reads_digits_and_agrees(capsys, options):
    assert run("--backend", "model", "--images", "60", "--hidden", "16", *options) == 0
    text = capsys.readouterr().out
    accuracy, wanted = map(float, re.search(
        r"accuracy +([\d.]+)% on the chip in \w+, ([\d.]+)% on the host", text).groups())
    assert accuracy > 85
    assert abs(accuracy - wanted) < 5
    assert "bit for bit   equal to NumPy\n" in text
    assert "images        60 " in text
    assert "reads " in text


def test_demo_says_when_the_chip_differs(capsys, monkeypatch):
    monkeypatch.setattr(ops, "reference_network", lambda x, layers, dim:
                        np.zeros((len(x), 10), np.int32))
    assert run("--backend", "model", "--images", "5", "--hidden", "4") == 1
    assert "bit for bit   DIFFERENT from NumPy\n" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--hidden", "--images"])
def test_demo_refuses_sizes_below_one(option):
    with pytest.raises(ValueError, match=f"^{option} must be at least 1, not 0$"):
        run("--backend", "model", option, "0")


def test_digits_are_split_once_and_for_all():
    digits = data.digits()
    assert (digits.train_x.shape, digits.test_x.shape) == ((1348, 64), (449, 64))
    assert digits.train_x.min() == 0
    assert digits.train_x.max() == 1
    np.testing.assert_array_equal(digits.test_x, data.digits().test_x)
    seen = {row.tobytes() for row in digits.train_x}
    assert not any(row.tobytes() in seen for row in digits.test_x)


def test_training_is_repeatable_and_learns():
    digits = data.digits()
    layers = host.train(digits.train_x, digits.train_y, 16, 10)
    again = host.train(digits.train_x, digits.train_y, 16, 10)
    np.testing.assert_array_equal(layers[0].weights, again[0].weights)
    assert host.accuracy(host.forward(layers, digits.test_x), digits.test_y) > 0.85


@pytest.mark.parametrize(("rows", "batches"), [
    (1, [1]), (64, [64]), (65, [64, 1]), (9_999, [64] * 156 + [15]), (10_000, [256] * 39 + [16])])
def test_a_large_data_set_has_large_batches(monkeypatch, rows, batches):
    seen, shapes = [], []

    class Trainer:
        def __init__(self, first):
            self.first = first
            shapes.append({name: value.shape for name, value in first.items()})

        def step(self, x, y, rate):
            assert rate == 0.002
            np.testing.assert_array_equal(x[:, 0], y)
            seen.append(y)

        def parameters(self):
            return self.first

    monkeypatch.setattr(host, "HostTrainer", Trainer)
    y = np.arange(rows)
    layers = host.train(np.repeat(y[:, np.newaxis], 3, 1).astype(np.float32), y, 5, 2)
    assert [len(each) for each in seen] == batches * 2
    assert shapes == [{"w1": (5, 3), "b1": (5,), "w2": (10, 5), "b2": (10,)}]
    for turn in (seen[:len(batches)], seen[len(batches):]):
        assert sorted(np.concatenate(turn)) == y.tolist()
    assert [(each.weights.shape, each.relu) for each in layers] == [
        ((3, 5), True), ((5, 10), False)]
    assert all(each.weights.flags.c_contiguous for each in layers)


def test_small_images_take_two_characters_a_pixel():
    assert show.picture(np.array([[0.0, 1.0], [0.5, 0.25]]), "utf-8") == ["  ██", "▒▒░░"]
    assert show.picture(np.array([[0.0, 1.0], [0.5, 0.25]]), "ascii") == ["  @@", "++.."]


def test_large_images_take_a_character_for_two_pixels():
    image = np.zeros((28, 28))
    image[:2, 3] = 1
    lines = show.picture(image, None)
    assert len(lines) == 14
    assert lines[0] == "   @" + " " * 24


@pytest.mark.parametrize(("side", "size"), [(1, (1, 2)), (16, (16, 32)), (17, (8, 17)),
                                            (18, (9, 18))])
def test_a_picture_is_about_as_wide_as_high_on_a_terminal(side, size):
    lines = show.picture(np.ones((side, side)), "utf-8")
    assert (len(lines), len(lines[0])) == size
    assert set("".join(lines)) == {"█"}


@pytest.mark.parametrize("encoding", [None, "latin-1", "no such"])
def test_five_shades_are_a_fifth_each(encoding):
    image = np.array([[-0.5, 0.19, 0.21, 0.39], [0.41, 0.59, 0.61, 0.79],
                      [0.81, 0.99, 1.0, 1.5], [0, 0, 0, 0]])
    assert show.picture(image, encoding) == ["    ....", "++++####", "@@@@@@@@", "        "]


def test_what_is_blank_in_all_pictures_is_left_out():
    first, second = ["  ", "# ", "  ", "  ", "  "], ["  ", "  ", "  ", " #", "  "]
    assert show.side_by_side([first, second], ["1", "two"]) == [
        "#", "", "      #", "1    two"]
    assert show.side_by_side([["  "], ["  "]], ["a", "b"]) == ["", "a    b"]


def test_pictures_stand_above_their_captions():
    assert show.side_by_side([["##", "##"], ["..", ".."]], ["a", "b"], gap=1) == [
        "## ..", "## ..", "a  b"]


def test_missing_mnist_file_is_named(tmp_path):
    with pytest.raises(ValueError, match=re.escape(
            f"--mnist must name a folder with train-images-idx3-ubyte.gz (or "
            f"train-images-idx3-ubyte), there is none in {tmp_path}")):
        run("--mnist", str(tmp_path))


def test_wrong_mnist_file_is_named_with_both_sums(tmp_path):
    path = tmp_path / "train-images-idx3-ubyte.gz"
    path.write_bytes(gzip.compress(b"x"))
    with pytest.raises(ValueError, match=re.escape(
            f"{path} must hold MNIST (MD5 6bbc9ace898e44ae57da46a324031adb unpacked), not data "
            f"with MD5 9dd4e461268c8034f5c8564e155c67a6: fetch it again")):
        data.mnist(tmp_path)


def test_cut_mnist_file_is_named(tmp_path):
    path = tmp_path / "train-images-idx3-ubyte.gz"
    path.write_bytes(gzip.compress(bytes(1000))[:20])
    with pytest.raises(ValueError, match=re.escape(f"{path} must be a gzip file, but: ")):
        data.mnist(tmp_path)


@pytest.mark.parametrize("packed", [False, True])
def test_mnist_files_are_read_packed_or_not(tmp_path, monkeypatch, packed):
    contents = {
        "train images": bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 51, 255, 0]),
        "train labels": bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 9]),
        "test images": bytes([0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 255, 102]),
        "test labels": bytes([0, 0, 8, 1, 0, 0, 0, 1, 4]),
    }
    files = {}
    for key, raw in contents.items():
        name = data.MNIST_FILES[key][0]
        files[key] = name, data.hashlib.md5(raw).hexdigest()
        (tmp_path / (name + ".gz" * packed)).write_bytes(gzip.compress(raw) if packed else raw)
    monkeypatch.setattr(data, "MNIST_FILES", files)
    digits = data.mnist(tmp_path)
    np.testing.assert_allclose(digits.train_x, [[0, 0.2], [1, 0]])
    assert digits.train_y.tolist() == [7, 9]
    np.testing.assert_allclose(digits.test_x, [[1, 0.4]])
    assert digits.test_y.tolist() == [4]


def test_as_many_digits_are_shown_as_the_terminal_is_wide(capsys, monkeypatch):
    for columns, shown in ((40, 2), (100, 5)):
        monkeypatch.setattr(shutil, "get_terminal_size",
                            lambda columns=columns: argparse.Namespace(columns=columns))
        run("--backend", "model", "--images", "80", "--hidden", "8")
        assert capsys.readouterr().out.count("reads ") == shown


def test_margins_that_all_pictures_share_are_left_out():
    assert show.side_by_side([["  ", " #", "  "], ["  ", "  ", " ."]], ["a", "b"], gap=1) == [
        " #", "    .", "a  b"]

"""`celosia data`: MNIST where Keras looks for it."""

import gzip
import re
import struct

import numpy as np
import pytest

from celosia.cli import idx
from celosia.cli.main import main


def write(folder, packed=False, **changed):
    """Write four small IDX files; changed: contents by the first word of the name."""
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(0)
    arrays = []
    for name in idx.FILES:
        count = 5 if name.startswith("train") else 3
        shape = (count, 28, 28) if "images" in name else (count,)
        arrays.append(rng.integers(0, 256 if "images" in name else 10, shape, np.uint8))
        raw = struct.pack(f">HBB{len(shape)}I", 0, 8, len(shape), *shape) + arrays[-1].tobytes()
        raw = changed.get(name.replace("-", "_"), raw)
        if raw is not None:
            (folder / (name + ".gz" * packed)).write_bytes(gzip.compress(raw) if packed else raw)
    return arrays


@pytest.mark.parametrize("packed", [False, True])
def test_mnist_is_one_file_of_four_arrays(tmp_path, monkeypatch, capsys, packed):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "home"))
    arrays = write(tmp_path / "raw", packed)
    assert main(["data", "mnist", str(tmp_path / "raw")]) == 0
    target = tmp_path / "home" / "datasets" / "mnist.npz"
    assert capsys.readouterr().out == (f"{target}: 5 images of 28 x 28 for training, 3 for "
                                       f"testing\n")
    with np.load(target) as found:
        for name, array in zip(("x_train", "y_train", "x_test", "y_test"), arrays, strict=True):
            np.testing.assert_array_equal(found[name], array)
    assert [each.name for each in target.parent.iterdir()] == ["mnist.npz"]


def test_fashion_mnist_keeps_its_four_files(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KERAS_HOME", raising=False)
    arrays = write(tmp_path / "raw")
    assert main(["data", "fashion-mnist", str(tmp_path / "raw")]) == 0
    home = tmp_path / ".keras" / "datasets" / "fashion-mnist"
    for name, array in zip(idx.FILES, arrays, strict=True):
        raw = gzip.decompress((home / f"{name}.gz").read_bytes())
        assert raw[-array.size:] == array.tobytes()


@pytest.mark.parametrize(("name", "contents", "message"), [
    ("t10k_labels_idx1_ubyte", None,
     ("DIR must name a folder with t10k-labels-idx1-ubyte.gz (or t10k-labels-idx1-ubyte), there "
     "is none in {raw}")),
    ("train_images_idx3_ubyte", b"",
     ("{raw}/train-images-idx3-ubyte must be an IDX file of unsigned bytes with 3 axes, which "
     "begins with 00 00 08 03, not nothing")),
    ("train_images_idx3_ubyte", b"\0\0\x08\x01\0\0\0\0",
     ("{raw}/train-images-idx3-ubyte must be an IDX file of unsigned bytes with 3 axes, which "
     "begins with 00 00 08 03, not 00 00 08 01")),
    ("t10k_images_idx3_ubyte", struct.pack(">HBB3I", 0, 8, 3, 3, 28, 28) + bytes(2351),
     ("{raw}/t10k-images-idx3-ubyte must have 2352 bytes after its head, which says 3 x 28 x 28, "
     "not 2351")),
    ("train_labels_idx1_ubyte", struct.pack(">HBBI", 0, 8, 1, 4) + bytes(4),
     "{raw}/train-labels-idx1-ubyte must have 5 labels, one for each image, not 4"),
])
def test_files_that_are_no_data_set_are_named(tmp_path, monkeypatch, capsys, name, contents,
                                              message):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "home"))
    raw = tmp_path / "raw"
    write(raw, **{name: contents})
    assert main(["data", "mnist", str(raw)]) == 1
    assert capsys.readouterr().err == f"celosia: error: {message.format(raw=raw)}\n"
    assert not (tmp_path / "home").exists()


def test_other_data_sets_are_refused(capsys):
    with pytest.raises(SystemExit) as error:
        main(["data", "cifar10", "."])
    assert error.value.code == 2
    assert re.search("invalid choice: 'cifar10'", capsys.readouterr().err)

"""``celosia data``: data sets where Keras looks for them."""

import argparse
import gzip
import io
import os
from pathlib import Path

import numpy as np

from celosia.cli.idx import FILES, array_of, unpacked

__all__ = ["add_arguments"]

_EPILOG = """\
DIR has the four files of the data set, packed or not:
  train-images-idx3-ubyte[.gz], train-labels-idx1-ubyte[.gz],
  t10k-images-idx3-ubyte[.gz], t10k-labels-idx1-ubyte[.gz]

examples:
  celosia data mnist ~/Downloads           for tf.keras.datasets.mnist.load_data()
  celosia data fashion-mnist ~/Downloads   for tf.keras.datasets.fashion_mnist.load_data()

They go to the folder `datasets` of $KERAS_HOME, or of ~/.keras. Keras knows the hash of its own
mnist.npz and would fetch that over this one: python -m celosia.tensorflow takes it as it is.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.description = "Put a data set, from its four IDX files, where Keras looks for it."
    parser.epilog = _EPILOG
    parser.add_argument("name", metavar="NAME", choices=("mnist", "fashion-mnist"),
                        help="mnist or fashion-mnist")
    parser.add_argument("folder", metavar="DIR", type=Path, help="folder with its four files")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    found = [unpacked(args.folder, name, "DIR") for name in FILES]
    arrays = [array_of(path, raw, 3 - 2 * (number % 2))
              for number, (path, raw) in enumerate(found)]
    for images, labels, (path, _) in zip(arrays[::2], arrays[1::2], found[1::2], strict=True):
        if len(images) != len(labels):
            raise ValueError(f"{path} must have {len(images)} labels, one for each image, "
                             f"not {len(labels)}")
    home = Path(os.environ.get("KERAS_HOME") or Path.home() / ".keras") / "datasets"
    train, test = len(arrays[0]), len(arrays[2])
    if args.name == "mnist":
        home.mkdir(parents=True, exist_ok=True)
        target = home / "mnist.npz"
        names = ("x_train", "y_train", "x_test", "y_test")
        packed = io.BytesIO()
        np.savez_compressed(packed, **dict(zip(names, arrays, strict=True)))
        _write(target, packed.getvalue())
    else:
        target = home / args.name
        target.mkdir(parents=True, exist_ok=True)
        for name, (_, raw) in zip(FILES, found, strict=True):
            _write(target / f"{name}.gz", gzip.compress(raw, mtime=0))
    print(f"{target}: {train} images of {arrays[0].shape[1]} x {arrays[0].shape[2]} for training, "
          f"{test} for testing")
    return 0


def _write(path: Path, contents: bytes) -> None:
    """Write a file, or leave what is there if that fails."""
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(contents)
    part.replace(path)

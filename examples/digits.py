"""Images of handwritten digits: scikit-learn's, or MNIST from its four files."""

import gzip
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits


def load(mnist=None):
    """Return ``(x_train, y_train), (x_test, y_test)``: images with pixels from 0 to 1, labels.

    Without a folder: 1,797 images of 8 x 8 pixels, a quarter of them for testing. With one: the
    70,000 of 28 x 28 in train-images-idx3-ubyte and so on, packed (.gz) or not.
    """
    if mnist is not None:
        return tuple((_idx(mnist, f"{part}-images-idx3-ubyte", 16).reshape(-1, 28, 28) / 255,
                      _idx(mnist, f"{part}-labels-idx1-ubyte", 8).astype(np.int32))
                     for part in ("train", "t10k"))
    images, labels = load_digits(return_X_y=True)
    x = (images.reshape(-1, 8, 8) / 16).astype(np.float32)
    y = labels.astype(np.int32)
    order = np.random.default_rng(0).permutation(len(x))
    test, train = np.split(order, [len(x) // 4])
    return (x[train], y[train]), (x[test], y[test])


def _idx(folder, name, header):
    path = Path(folder) / name
    packed = path.with_name(f"{name}.gz")
    data = gzip.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()
    return np.frombuffer(data, np.uint8, offset=header).astype(np.float32)

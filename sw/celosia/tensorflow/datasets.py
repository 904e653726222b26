"""MNIST as Keras loads it, from what ``celosia data`` has put where Keras looks."""

# pyright: reportMissingImports=false, reportMissingModuleSource=false

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["take_local_mnist"]

_MODULES = ("keras.src.datasets.mnist", "keras.datasets.mnist",
            "keras._tf_keras.keras.datasets.mnist", "tensorflow.keras.datasets.mnist")


def take_local_mnist() -> None:
    """Have Keras take a file that is there, whatever its hash, before it downloads one; once.

    Keras knows the hash of one file, and what is made of MNIST's own four files has another.
    """
    from keras.src.datasets import mnist
    from keras.src.utils.file_utils import config
    download = mnist.load_data
    if download.__module__ == __name__:
        return

    def load_data(path: str = "mnist.npz") -> Any:
        """As of `tf.keras.datasets.mnist.load_data`.

        Raises
        ------
        FileNotFoundError
            If there is no file, nor one to download.
        """
        local = Path(str(config.keras_home()), "datasets", path)
        if not local.is_file():
            try:
                return download(path)
            except Exception as error:
                raise FileNotFoundError(
                    f"MNIST must be in {local}, which is not there, and it cannot be fetched "
                    f"({error}): `celosia data mnist DIR` puts it there, from a folder with its "
                    f"four IDX files") from error
        with np.load(local, allow_pickle=False) as arrays:
            return ((arrays["x_train"], arrays["y_train"]), (arrays["x_test"], arrays["y_test"]))

    for name in _MODULES:
        importlib.import_module(name).load_data = load_data  # type: ignore[attr-defined]

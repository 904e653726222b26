"""Models that Keras or TensorFlow has saved, as programs with a fixed batch."""

# pyright: reportMissingImports=false, reportMissingModuleSource=false

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import is_zipfile

import numpy as np
from numpy.typing import NDArray

from celosia.driver.errors import needs
from celosia.frontend import FrontendError, import_stablehlo
from celosia.frontend.stablehlo.reader import aliases_of
from celosia.frontend.tensorflow import module_of
from celosia.pjrt.factorisations import factorise
from celosia.serve.model import Model, make_model
from celosia.serve.rows import SIGNATURE

__all__ = ["DEFAULT_BATCH", "is_trained", "load_trained"]

#: Rows of a run where nothing else is said, as of `predict` of Keras.
DEFAULT_BATCH = 32
_FILES, _FOLDER = (".keras", ".h5", ".hdf5"), "saved_model.pb"


class _Function(NamedTuple):
    """A function of TensorFlow, and what it takes and gives.

    Attributes
    ----------
    call
        Given a tensor for each input, returns one for each output, by their names.
    inputs
        Shape, without known batch or with it, and elements of each input by its name.
    """

    call: Any
    inputs: Mapping[str, Any]


def is_trained(path: Path) -> bool:
    """Whether a path is a file of Keras or a SavedModel, or a folder of versions of these."""
    return (path.suffix in _FILES and not path.is_dir() or (path / _FOLDER).is_file()
            or bool(_versions(path)))


def _versions(path: Path) -> dict[int, Path]:
    """Return what is in the folders that are named by a number, as TensorFlow Serving has it."""
    found = {}
    for each in path.iterdir() if path.is_dir() else ():
        if each.name.isdecimal() and (each / _FOLDER).is_file():
            found[int(each.name)] = each
    return found


def load_trained(path: Path, preset: str, *, fast: bool, name: str | None,
                 batch: int | None) -> Model:
    """Return the model of a file of Keras or of a folder with a SavedModel.

    Parameters
    ----------
    path
        What ``model.save("NAME.keras")``, ``model.export(DIR)`` or ``tf.saved_model.save`` wrote,
        or a folder of such folders, named by their versions, of which the newest is served.
    preset, fast, name
        As of `celosia.serve.load_model`.
    batch
        Rows of a run; None: the model's, or `DEFAULT_BATCH`.

    Raises
    ------
    DeviceError
        If TensorFlow is not installed.
    OSError
        If there is no such file.
    ValueError
        If it is no such model, or the model takes what has no fixed shape.
    FrontendError, CompileError
        As of `celosia.compile`.
    """
    if batch is not None and batch < 1:
        raise ValueError(f"batch must be at least 1, not {batch}")
    path.stat()  # what is not there is not a bad file
    versions = _versions(path)
    version = max(versions, default=1)
    source = versions.get(version, path)
    name = name or (path.resolve().name if path.is_dir() else path.stem)
    _import(path)
    function = _of_folder(source) if source.is_dir() else _of_keras(source)
    module, weights, outputs = _lowered(source, function, batch)
    from celosia.compiler.api import compile
    compiled = compile(import_stablehlo(module, filename=str(source), narrows=True), preset,
                       fast=fast, name=name, filename=str(source))
    return make_model(compiled, weights, inputs={each: number for number, each
                                                 in enumerate(function.inputs)},
                      outputs=outputs, name=name, version=version)


def _import(path: Path) -> None:
    """Import TensorFlow, with Keras on it."""
    # What it says of itself, and of another arithmetic that it has, is nothing to who serves.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    if "keras" not in sys.modules:
        os.environ["KERAS_BACKEND"] = "tensorflow"  # whatever trained it: the file is the same
    try:
        import tensorflow as tf
    except ModuleNotFoundError as error:
        raise needs(f"serving {path}", error, "tensorflow") from error
    keras = tf.keras
    if keras.backend.backend() != "tensorflow":
        raise ValueError(f"{path}: Keras must compute with TensorFlow to load a model, not "
                         f"{keras.backend.backend()}, with which it was imported")


def _wrong(path: Path, what: str, error: Exception) -> ValueError:
    # Keras tells first what its own layers made of it.
    whole = str(error).rpartition("xception encountered: ")[2]
    lines = (line.strip() for line in whole.splitlines())
    said = next(filter(None, lines), type(error).__name__)
    return ValueError(f"{path} must be {what}, not: {said}")


def _of_keras(path: Path) -> _Function:
    import tensorflow as tf
    if path.suffix == ".keras" and not is_zipfile(path):
        raise ValueError(f"{path} must be a zip file, as model.save writes it")
    try:
        model: Any = tf.keras.models.load_model(path, compile=False)
    except Exception as error:  # Keras raises what its parts do
        raise _wrong(path, "a model of layers that Keras has (one with others is served as "
                           "model.export(DIR) writes it)", error) from error
    if not getattr(model, "inputs", None):
        raise ValueError(f"{path}: a model must say what it takes, by an Input or as "
                         f"model.export(DIR) writes it, not be a {type(model).__name__}")
    names = _distinct(each.name for each in model.inputs)
    plain = isinstance(model, tf.keras.Sequential)
    labels = _distinct([model.layers[-1].name] if plain else model.output_names)

    def call(*tensors: Any) -> dict[str, Any]:
        given = tensors[0] if plain else tf.nest.pack_sequence_as(model.input, tensors)
        return dict(zip(labels, tf.nest.flatten(model(given, training=False)), strict=True))

    return _Function(call, {name: tf.TensorSpec(each.shape, each.dtype)
                            for name, each in zip(names, model.inputs, strict=True)})


def _distinct(names: Iterable[str]) -> list[str]:
    found: list[str] = []
    for each in names:
        found.append(each if each not in found else f"{each}_{len(found)}")
    return found


def _of_folder(path: Path) -> _Function:
    import tensorflow as tf
    try:
        loaded: Any = tf.saved_model.load(str(path))
        signatures = loaded.signatures
    except Exception as error:
        raise _wrong(path, "a SavedModel", error) from error
    if SIGNATURE not in signatures:
        raise ValueError(f"{path}: signatures of a SavedModel must have {SIGNATURE}, as "
                         f"model.export(DIR) writes it, not be "
                         f"{', '.join(signatures) or 'none at all'}")
    signature = signatures[SIGNATURE]
    inputs = signature.structured_input_signature[1]

    def call(*tensors: Any) -> dict[str, Any]:
        assert loaded is not None  # its variables live as long as it does
        return signature(**dict(zip(inputs, tensors, strict=True)))

    return _Function(call, inputs)


def _lowered(path: Path, function: _Function, batch: int | None
             ) -> tuple[Any, dict[int, NDArray[Any]], Sequence[str]]:
    """Return a module, its weights by the number of the parameter, and names of its results."""
    import tensorflow as tf
    specs = [_fixed(path, name, each, batch) for name, each in function.inputs.items()]
    try:
        concrete = tf.function(function.call, jit_compile=True,
                               autograph=False).get_concrete_function(*specs)
        module = module_of(concrete, specs, concrete.captured_inputs, str(path))
        factorise(module)
    except FrontendError:
        raise
    except (tf.errors.OpError, ValueError, TypeError) as error:
        raise _wrong(path, "a model that can be called", error) from error
    if aliases_of(module):
        raise ValueError(f"{path}: predictions must leave the model as it is: it has variables "
                         f"that they write")
    weights = {len(specs) + number: _value(path, each)
               for number, each in enumerate(concrete.captured_inputs)}
    return module, weights, sorted(concrete.structured_outputs)


def _fixed(path: Path, name: str, spec: Any, batch: int | None) -> Any:
    """Return what an input is for a batch."""
    import tensorflow as tf
    shape = spec.shape
    if shape.rank is None or None in shape.as_list()[1:] or not shape.rank:
        came = "of any rank" if shape.rank is None else tuple(shape.as_list())
        raise ValueError(f"{path}: input {name} must have a fixed shape but for its batch, "
                         f"not {came}")
    if spec.dtype == tf.string:
        raise ValueError(f"{path}: input {name} must be of numbers, not strings: the chip has none")
    own, *rest = shape.as_list()
    if batch not in (None, own) and own is not None:
        raise ValueError(f"{path}: batch must be left out or {own}, which input {name} has, not "
                         f"{batch}")
    return tf.TensorSpec((own or batch or DEFAULT_BATCH, *rest), spec.dtype)


def _value(path: Path, captured: Any) -> NDArray[Any]:
    """Return what a function has captured, variables as their values."""
    import tensorflow as tf
    from tensorflow.python.ops import resource_variable_ops
    if captured.dtype != tf.resource:
        return np.asarray(captured)
    data = resource_variable_ops.get_eager_safe_handle_data(captured)
    if not data.is_set or not data.shape_and_type:
        raise ValueError(f"{path}: a model must look up no tables of strings: the chip has none")
    return np.asarray(tf.raw_ops.ReadVariableOp(
        resource=captured, dtype=tf.as_dtype(data.shape_and_type[0].dtype)))

"""Models in files: a folder of program, weights and metadata, or a program alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from celosia.compiled import Compiled, load
from celosia.compiled.file import MAGIC
from celosia.serve.model import Model, make_model
from celosia.serve.trained import is_trained, load_trained
from celosia.serve.weights import read

__all__ = ["load_model", "save_model"]

_FORMAT, _VERSION = "celosia-model", 1
_PROGRAM, _WEIGHTS, _METADATA = "program.celosia", "weights.npz", "metadata.json"


def save_model(path: str | Path, compiled: Compiled, weights: Mapping[Any, Any] | None = None, *,
               inputs: Sequence[str | int] | Mapping[str, str | int] | None = None,
               outputs: Sequence[str] | None = None, batch_axis: int = 0,
               name: str | None = None) -> None:
    """Write a folder that ``celosia serve`` and `load_model` read.

    Parameters
    ----------
    path
        The folder; made if it is not there. Files of a model that is in it are replaced.
    compiled, weights, inputs, outputs, batch_axis, name
        As of `celosia.serve.make_model`; the name is the folder's unless it is given.

    Raises
    ------
    ValueError
        If they make no model; nothing has been written then.
    """
    folder = Path(path)
    model = make_model(compiled, weights, inputs=inputs, outputs=outputs, axis=batch_axis,
                       name=name or folder.name)
    folder.mkdir(parents=True, exist_ok=True)
    compiled.save(folder / _PROGRAM)
    # Names would be words that numpy.savez keeps for itself; numbers never are.
    with (folder / _WEIGHTS).open("wb") as file:
        arrays: dict[str, Any] = {f"arr_{i}": each for i, each in model.weights.items()}
        np.savez(file, **arrays)
    metadata = {"format": _FORMAT, "version": _VERSION, "name": model.name,
                "batch_axis": model.axis,
                "inputs": {each.name: each.number for each in model.inputs},
                "outputs": [each.name for each in model.outputs]}
    (folder / _METADATA).write_text(json.dumps(metadata, indent=2) + "\n", encoding="utf-8")


def load_model(path: str | Path, weights: str | Path | None = None, *, preset: str | None = None,
               fast: bool = False, name: str | None = None,
               batch_axis: int | None = None, batch: int | None = None) -> Model:
    """Read a model.

    Parameters
    ----------
    path
        What `save_model` wrote; a file that `Compiled.save` or ``celosia compile`` wrote; or,
        compiled now, StableHLO with a fixed batch, a model's file of Keras (``.keras``), a folder
        with a SavedModel of TensorFlow, or one of such folders whose names are versions.
    weights
        An ``.npz`` file with the arguments that requests do not bring, by name or number; in
        place of a folder's own.
    preset
        The chip: for what is compiled now the one to compile for (None: core), else it must be
        the program's.
    fast
        For what is compiled now, as of `celosia.compile`.
    name
        In the paths of requests; None: that of the folder's metadata, or the file's.
    batch_axis
        None: the folder's, or 0.
    batch
        Rows of a run, for models of Keras and TensorFlow (None: 32); others have their own.

    Raises
    ------
    ValueError
        If files are not what they should be, or make no model.
    DeviceError
        If TensorFlow is needed and not installed.
    OSError
        If a file cannot be read.
    """
    path = Path(path)
    if is_trained(path):
        if weights is not None or batch_axis is not None:
            raise ValueError(f"weights and batch axis must be left out: {path} has its own")
        return load_trained(path, preset or "core", fast=fast, name=name, batch=batch)
    if batch is not None:
        raise ValueError(f"batch must be left out: {path} is no model of Keras or TensorFlow, and "
                         f"has its own")
    facts: dict[str, Any] = {}
    own: Mapping[str, Any] = {}
    if path.is_dir():
        facts = _facts(path / _METADATA)
        compiled = load(path / _PROGRAM)
        if weights is None:
            own = read(path / _WEIGHTS)
    else:
        with path.open("rb") as file:
            made = file.read(len(MAGIC)) == MAGIC
        compiled = load(path) if made else _compile(path, preset, fast)
        fast = fast and made
    if fast:
        raise ValueError(f"fast must be left out: {path} was compiled before")
    if preset not in (None, compiled.config.name):
        raise ValueError(f"preset must be left out or {compiled.config.name}, for which {path} "
                         f"was compiled, not {preset}")
    axis = facts.get("batch_axis", 0) if batch_axis is None else batch_axis
    try:
        return make_model(compiled, own if weights is None else read(weights),
                          inputs=facts.get("inputs"), outputs=facts.get("outputs"), axis=axis,
                          name=name or facts.get("name") or _stem(path))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _stem(path: Path) -> str | None:
    """Return the name of a file as a model's, if it is fit to be one."""
    stem = path.resolve().name if path.is_dir() else path.stem
    return stem if all(each.isalnum() or each in "_.-" for each in stem) else None


def _compile(path: Path, preset: str | None, fast: bool) -> Compiled:
    from celosia.compiler.api import compile  # serving a compiled program needs no compiler
    return compile(path.read_bytes(), preset or "core", fast=fast, name=path.stem,
                   filename=str(path))


def _facts(path: Path) -> dict[str, Any]:
    """Return what a folder's metadata say."""
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: metadata must be JSON ({error})") from None
    kinds = {"format": str, "version": int, "name": str, "batch_axis": int, "inputs": dict,
             "outputs": list}
    if not isinstance(facts, dict):
        raise ValueError(f"{path}: metadata must be an object, not {type(facts).__name__}")
    for key, kind in kinds.items():
        if not isinstance(facts.get(key), kind):
            raise ValueError(f"{path}: {key} must be of type {kind.__name__}, "
                             f"not {facts.get(key)!r}")
    if (facts["format"], facts["version"]) != (_FORMAT, _VERSION):
        raise ValueError(f"{path}: format must be {_FORMAT} {_VERSION}, "
                         f"not {facts['format']} {facts['version']}")
    return facts

"""Requests and answers of TensorFlow Serving's REST interface: rows or columns of nested lists.

Its page: https://www.tensorflow.org/tfx/serving/api_rest. A model has one version and one
signature, serving_default.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from celosia.graph import DType
from celosia.serve import tensors
from celosia.serve.errors import Refusal
from celosia.serve.model import Model, WireTensor
from celosia.serve.protocol import InferenceRequest, kind_of, message_of

__all__ = ["SIGNATURE", "RowRequest", "answer_rows", "describe", "parse_rows", "status"]

SIGNATURE = "serving_default"
_DTYPES = {DType.BOOL: "DT_BOOL", DType.I8: "DT_INT8", DType.U8: "DT_UINT8",
           DType.I16: "DT_INT16", DType.U16: "DT_UINT16", DType.I32: "DT_INT32",
           DType.U32: "DT_UINT32", DType.F16: "DT_HALF", DType.BF16: "DT_BFLOAT16",
           DType.F32: "DT_FLOAT"}


@dataclass(frozen=True)
class RowRequest(InferenceRequest):
    """A request in rows or columns.

    Attributes
    ----------
    columnar
        Whether it has columns, "inputs", and so gets "outputs".
    """

    columnar: bool


def status(model: Model) -> dict[str, Any]:
    """Return what a client is told of a model's one version."""
    return {"model_version_status": [{"version": str(model.version), "state": "AVAILABLE",
                                      "status": {"error_code": "OK", "error_message": ""}}]}


def describe(model: Model) -> dict[str, Any]:
    """Return what a client is told of a model's signature."""
    def described(each: WireTensor) -> dict[str, Any]:
        extents = [{"size": str(extent), "name": ""} for extent in each.shape(model.axis, -1)]
        return {"dtype": _DTYPES[each.dtype], "name": each.name,
                "tensor_shape": {"dim": extents, "unknown_rank": False}}

    signature = {"inputs": {each.name: described(each) for each in model.inputs},
                 "outputs": {each.name: described(each) for each in model.outputs},
                 "method_name": "tensorflow/serving/predict"}
    return {"model_spec": {"name": model.name, "signature_name": "",
                           "version": str(model.version)},
            "metadata": {"signature_def": {"signature_def": {SIGNATURE: signature}}}}


def parse_rows(body: bytes | bytearray, model: Model, most: int) -> RowRequest:
    """Read a request; arguments and errors as of `celosia.serve.protocol.parse`."""
    message = message_of(body)
    signature = message.get("signature_name", SIGNATURE)
    if signature not in (SIGNATURE, ""):
        raise Refusal(400, f"signature_name must be left out or {SIGNATURE}, "
                           f"not {json.dumps(signature)[:80]}")
    given = [key for key in ("instances", "inputs") if key in message]
    if len(given) != 1:
        raise Refusal(400, f"the body must have either instances or inputs, not "
                           f"{'both' if given else 'neither'}")
    if model.axis:
        raise Refusal(400, f"the batch of {model.name} is axis {model.axis}, not 0: ask "
                           f"/v2/models/{model.name}/infer")
    [form] = given
    columns = (_columns if form == "inputs" else _rows)(message[form], model)
    rows = len(columns[0][0])
    if rows > most:
        raise Refusal(413, f"{form} must have at most {most} rows, not {rows}")
    arrays = []
    for (data, where), tensor in zip(columns, model.inputs, strict=True):
        if len(data) != rows:
            raise Refusal(400, f"{where} must have {rows} rows, as {columns[0][1]} has, "
                               f"not {len(data)}")
        arrays.append(tensors.decode(data, tensor.dtype, tensor.shape(0, rows), where))
    return RowRequest(None, rows, tuple(arrays), model.outputs, form == "inputs")


def _list(found: Any, where: str) -> list[Any]:
    if not isinstance(found, list) or not found:
        raise Refusal(400, f"{where} must be an array of at least one row, not "
                           f"{'empty' if found == [] else kind_of(found)}")
    return found


def _columns(found: Any, model: Model) -> list[tuple[list[Any], str]]:
    """Return the rows of each input, and where they are, of "inputs"."""
    names = [each.name for each in model.inputs]
    if not isinstance(found, dict):
        if len(names) > 1:
            raise Refusal(400, f"inputs must be an object with {', '.join(names)}, "
                               f"not {kind_of(found)}")
        return [(_list(found, "inputs"), "inputs")]
    _names(found, names, "inputs")
    return [(_list(found[name], f"inputs.{name}"), f"inputs.{name}") for name in names]


def _rows(found: Any, model: Model) -> list[tuple[list[Any], str]]:
    """Return the rows of each input, and where they are, of "instances"."""
    rows = _list(found, "instances")
    names = [each.name for each in model.inputs]
    if not isinstance(rows[0], dict) and len(names) == 1:
        return [(rows, "instances")]
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            raise Refusal(400, f"instances[{number}] must be an object with {', '.join(names)}, "
                               f"not {kind_of(row)}")
        _names(row, names, f"instances[{number}]")
    return [([row[name] for row in rows], f"{name} of instances") for name in names]


def _names(found: dict[str, Any], names: Sequence[str], where: str) -> None:
    if set(found) != set(names):
        came = ", ".join(found) or "nothing"
        raise Refusal(400, f"{where} must hold {', '.join(names)}, not {came[:80]}")


def answer_rows(model: Model, request: InferenceRequest, results: Sequence[NDArray[Any]]) -> bytes:
    """Return the body of an answer; arguments as of `celosia.serve.protocol.answer`."""
    assert isinstance(request, RowRequest)
    made = {each.name: _nested(tensors.encode(results[each.number]), results[each.number].shape)
            for each in request.outputs}
    alone = next(iter(made.values())) if len(made) == 1 else None
    if request.columnar:
        return _dumps({"outputs": made if alone is None else alone})
    if alone is None:
        alone = [dict(zip(made, row, strict=True)) for row in zip(*made.values(), strict=True)]
    return _dumps({"predictions": alone})


def _nested(flat: list[Any], shape: Sequence[int]) -> list[Any]:
    for extent in reversed(shape[1:]):
        flat = [flat[at:at + extent] for at in range(0, len(flat), extent)]
    return flat


def _dumps(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()

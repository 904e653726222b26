"""Requests and answers of the Open Inference Protocol (KServe v2), in JSON.

Its pages: https://github.com/kserve/open-inference-protocol.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from numpy.typing import NDArray

from celosia.serve import tensors
from celosia.serve.errors import Refusal
from celosia.serve.model import Model, WireTensor
from celosia.storage.uncollected import uncollected

__all__ = ["BINARY_HEADER", "InferenceRequest", "answer", "kind_of", "message_of", "no_binary",
           "parse"]

#: Header of the binary data extension: bytes of JSON before the tensors.
BINARY_HEADER = "inference-header-content-length"
#: Elements that are written at a time: json does not let other threads run meanwhile.
_PIECE = 1 << 15
_BINARY = ("binary_data_size", "binary_data", "binary_data_output")


@dataclass(frozen=True)
class InferenceRequest:
    """A request that a model can answer.

    Attributes
    ----------
    id
        The client's, or None.
    rows
        Of its batch.
    inputs
        In the order of the model's.
    outputs
        Those that are wanted, in the order in which they were asked for.
    """

    id: str | None
    rows: int
    inputs: tuple[NDArray[Any], ...]
    outputs: tuple[WireTensor, ...]


def no_binary(what: str) -> Refusal:
    """Return what a client is told that uses the binary data extension."""
    return Refusal(400, f"{what} must not be given: the extension for binary data is not supported,"
                        f" tensors must be JSON arrays in \"data\" (in Triton's client: "
                        f"binary_data=False for inputs and outputs)")


def _constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON: write the string \"{text}\"")


def message_of(body: bytes | bytearray) -> dict[str, Any]:
    """Return the object that a body is.

    Raises
    ------
    Refusal
        Status 400, if it is no JSON, or no object.
    """
    try:
        text = body.decode("utf-8-sig")  # json would take bytes of UTF-16 and UTF-32 as well
        with uncollected():
            message = json.loads(text, parse_constant=_constant)
    except (ValueError, RecursionError) as error:
        raise Refusal(400, f"the body must be JSON in UTF-8: {error}") from None
    if not isinstance(message, dict):
        raise Refusal(400, f"the body must be an object, not {kind_of(message)}")
    return message


def parse(body: bytes | bytearray, model: Model, most: int) -> InferenceRequest:
    """Read a request.

    Parameters
    ----------
    body
        Of the request.
    model
        What is asked.
    most
        Rows that a request may have.

    Raises
    ------
    Refusal
        Status 400, or 413 for too many rows: what was wanted, what came, where.
    """
    message = message_of(body)
    id = message.get("id")
    if id is not None and not isinstance(id, str):
        raise Refusal(400, f"id must be a string, not {kind_of(id)}")
    _parameters(message, "parameters")
    given = _named(message.get("inputs"), "inputs", [each.name for each in model.inputs])
    if absent := [each.name for each in model.inputs if each.name not in given]:
        raise Refusal(400, f"inputs must hold {', '.join(absent)} too, not "
                           f"{'only ' + ', '.join(given) if given else 'nothing'}")
    rows: int | None = None
    arrays = []
    for tensor in model.inputs:
        where, fields = given[tensor.name]
        rows = _shape(model, tensor, where, fields, rows)
        if rows > most:
            raise Refusal(413, f"{where}.shape, of {tensor.name}, must have a batch of at most "
                               f"{most}, not {rows}")
        _datatype(tensor, where, fields)
        if "data" not in fields:
            raise Refusal(400, f"{where}.data, of {tensor.name}, must be given")
        arrays.append(tensors.decode(fields["data"], tensor.dtype, tensor.shape(model.axis, rows),
                                     f"{where}.data, of {tensor.name},"))
    assert rows is not None
    outputs = model.outputs
    if message.get("outputs") is not None:
        named = {each.name: each for each in model.outputs}
        outputs = tuple(named[name] for name in _named(message["outputs"], "outputs", list(named)))
    return InferenceRequest(id, rows, tuple(arrays), outputs or model.outputs)


def kind_of(value: Any) -> str:
    """Return what a value of JSON is called in errors."""
    names = {dict: "an object", list: "an array", str: "a string", bool: "true or false",
             int: "a number", float: "a number"}
    return names.get(type(value), "null")


def _parameters(fields: Mapping[str, Any], where: str) -> None:
    found = fields.get("parameters")
    if found is None:
        return
    if not isinstance(found, dict):
        raise Refusal(400, f"{where} must be an object, not {kind_of(found)}")
    for name in _BINARY:
        if found.get(name):
            raise no_binary(f"{where}.{name}")
    if found.get("classification"):
        raise Refusal(400, f"{where}.classification must not be given: the extension is not "
                           f"supported")


def _named(found: Any, what: str, names: Sequence[str]) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return tensors of a request by name: where they are, and their fields."""
    if not isinstance(found, list):
        raise Refusal(400, f"{what} must be an array of objects"
                           f"{', not ' + kind_of(found) if found is not None else ' and be given'}")
    given: dict[str, tuple[str, dict[str, Any]]] = {}
    for number, fields in enumerate(found):
        where = f"{what}[{number}]"
        if not isinstance(fields, dict):
            raise Refusal(400, f"{where} must be an object, not {kind_of(fields)}")
        name = fields.get("name")
        if not isinstance(name, str) or name not in names:
            came = repr(name) if isinstance(name, str) else kind_of(name)
            raise Refusal(400, f"{where}.name must be {' or '.join(names)}, not {came[:80]}")
        if name in given:
            raise Refusal(400, f"{where}.name must be another one than that of {given[name][0]}, "
                               f"not {name!r} again")
        _parameters(fields, f"{where}.parameters")
        given[name] = where, fields
    return given


def _shape(model: Model, tensor: WireTensor, where: str, fields: Mapping[str, Any],
           rows: int | None) -> int:
    """Return the rows of an input, which must be ``rows`` unless that is None."""
    wanted: list[Any] = list(tensor.shape(model.axis, -1))
    shape = fields.get("shape")
    if (rows is None and isinstance(shape, list) and len(shape) == len(wanted)
            and type(shape[model.axis]) is int and shape[model.axis] >= 1):
        rows = shape[model.axis]
    wanted[model.axis] = rows
    if (not isinstance(shape, list) or shape != wanted
            or any(type(each) is not int for each in shape)):
        text = ", ".join("N" if each is None else str(each) for each in wanted)
        batch = " with a batch N of at least 1" if rows is None else ""
        came = json.dumps(shape) if "shape" in fields else "nothing"
        raise Refusal(400, f"{where}.shape, of {tensor.name}, must be [{text}]{batch}, "
                           f"not {came[:80]}")
    assert rows is not None
    return rows


def _datatype(tensor: WireTensor, where: str, fields: Mapping[str, Any]) -> None:
    wanted = tensors.accepted(tensor.dtype)
    if fields.get("datatype") not in wanted:
        came = json.dumps(fields["datatype"]) if "datatype" in fields else "nothing"
        raise Refusal(400, f"{where}.datatype, of {tensor.name}, must be {' or '.join(wanted)}, "
                           f"not {came[:80]}")


def answer(model: Model, request: InferenceRequest, results: Sequence[NDArray[Any]]) -> bytes:
    """Return the body of an answer.

    Parameters
    ----------
    model, request
        What was asked.
    results
        Of all the model's outputs, in their order, with the request's rows.
    """
    message: dict[str, Any] = {"model_name": model.name}
    if request.id is not None:
        message["id"] = request.id
    outputs = []
    for each in request.outputs:
        head = _dumps({"name": each.name, "datatype": tensors.datatype(each.dtype),
                       "shape": list(each.shape(model.axis, request.rows))})
        data = tensors.encode(results[each.number])
        pieces = (_dumps(data[at:at + _PIECE])[1:-1] for at in range(0, len(data), _PIECE))
        outputs.append(f'{head[:-1]},"data":[{",".join(pieces)}]}}')
    return f'{_dumps(message)[:-1]},"outputs":[{",".join(outputs)}]}}'.encode()


def _dumps(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)

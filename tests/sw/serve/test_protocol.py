"""Requests and answers as text, of models that are made up: nothing runs."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from celosia.graph import DType, TensorType
from celosia.serve import protocol, rows
from celosia.serve.errors import Refusal
from celosia.serve.model import WireTensor


def tensor(name, number, dtype, shape):
    return WireTensor(name, number, TensorType(dtype, shape))


#: Two inputs and two outputs; the program's batch is 4.
MODEL = SimpleNamespace(
    name="net", axis=0, batch=4, version=7,
    inputs=(tensor("x", 0, DType.F32, (4, 2)), tensor("n", 2, DType.BF16, (4,))),
    outputs=(tensor("y", 0, DType.F32, (4, 2)), tensor("m", 1, DType.I8, (4,))))
#: One of each, whose batch is the second axis.
COLUMNS = SimpleNamespace(
    name="columns", axis=1, batch=4, version=1,
    inputs=(tensor("x", 0, DType.I32, (3, 4)),), outputs=(tensor("y", 0, DType.I32, (2, 4)),))


def message(rows=2, **fields):
    return {"inputs": [
        {"name": "n", "datatype": "BF16", "shape": [rows], "data": [7] * rows},
        {"name": "x", "datatype": "FP32", "shape": [rows, 2], "data": [[1, 2]] * rows}]} | fields


def read(message, model=MODEL, most=9, parse=protocol.parse):
    return parse(json.dumps(message).encode(), model, most)


def refused(*arguments, **options):
    with pytest.raises(Refusal) as caught:
        read(*arguments, **options)
    return caught.value.status, caught.value.message


def test_inputs_come_in_the_order_of_the_program():
    found = read(message(id="a"))
    assert (found.id, found.rows, found.outputs) == ("a", 2, MODEL.outputs)
    x, n = found.inputs
    assert (x.dtype, x.tolist()) == (np.float32, [[1, 2], [1, 2]])
    assert (n.dtype, n.tolist()) == (DType.BF16.numpy, [7, 7])


@pytest.mark.parametrize(("asked", "given"), [
    (None, "ym"), ([], "ym"), ([{"name": "m"}], "m"), ([{"name": "m"}, {"name": "y"}], "my")])
def test_outputs_are_those_that_are_asked_for_in_their_order(asked, given):
    assert "".join(each.name for each in read(message(outputs=asked)).outputs) == given


@pytest.mark.parametrize("nothing", [{}, None, {"binary_data": False, "classification": 0}])
def test_parameters_that_ask_for_nothing_are_taken(nothing):
    assert read(message(parameters=nothing, id=None)).id is None


@pytest.mark.parametrize("name", ["binary_data_size", "binary_data", "binary_data_output"])
def test_binary_data_is_not_taken(name):
    assert refused(message(parameters={name: 1})) == (400, (
        f"parameters.{name} must not be given: the extension for binary data is not supported, "
        f"tensors must be JSON arrays in \"data\" (in Triton's client: binary_data=False for "
        f"inputs and outputs)"))


def test_a_request_has_as_many_rows_as_it_may():
    assert read(message(3), most=3).rows == 3
    assert refused(message(4), most=3) == (
        413, "inputs[1].shape, of x, must have a batch of at most 3, not 4")


def test_all_inputs_have_as_many_rows():
    wrong = message()
    wrong["inputs"][0]["shape"] = [3]
    assert refused(wrong) == (400, "inputs[0].shape, of n, must be [2], not [3]")


def test_the_batch_may_be_another_axis():
    given = {"name": "x", "datatype": "INT32", "shape": [3, 5], "data": list(range(15))}
    found = read({"inputs": [given]}, COLUMNS)
    assert found.rows == 5
    assert found.inputs[0].tolist() == np.arange(15).reshape(3, 5).tolist()
    assert refused({"inputs": [given | {"shape": [5, 3]}]}, COLUMNS) == (
        400, "inputs[0].shape, of x, must be [3, 3], not [5, 3]")
    assert refused({"inputs": [given | {"shape": [15]}]}, COLUMNS) == (
        400, "inputs[0].shape, of x, must be [3, N] with a batch N of at least 1, not [15]")


@pytest.mark.parametrize(("change", "error"), [
    ({"inputs": message()["inputs"][:1]}, "inputs must hold x too, not only n"),
    ({"inputs": []}, "inputs must hold x, n too, not nothing"),
    ({"inputs": None}, "inputs must be an array of objects and be given"),
    ({"inputs": [[]]}, "inputs[0] must be an object, not an array"),
    ({"inputs": [{"name": None}]}, "inputs[0].name must be x or n, not null"),
    ({"inputs": [{"name": True}]}, "inputs[0].name must be x or n, not true or false"),
    ({"inputs": [{"name": 1.5}]}, "inputs[0].name must be x or n, not a number"),
    ({"inputs": [{"name": "z" * 100}]}, "inputs[0].name must be x or n, not '" + "z" * 79),
    ({"outputs": [{"name": "m"}, {"name": "x"}]}, "outputs[1].name must be y or m, not 'x'"),
    ({"outputs": [{"name": "m"}] * 2},
     "outputs[1].name must be another one than that of outputs[0], not 'm' again"),
    ({"id": []}, "id must be a string, not an array"),
    ({"parameters": "no"}, "parameters must be an object, not a string"),
    ({"inputs": [{"name": "x", "shape": [[0] * 50]}, {"name": "n"}]},
     "inputs[0].shape, of x, must be [N, 2] with a batch N of at least 1, not [[" + "0, " * 26),
    ({"inputs": [{"name": "x", "shape": [1, 2], "datatype": "F" * 100}, {"name": "n"}]},
     "inputs[0].datatype, of x, must be FP32, not \"" + "F" * 79),
    ({"inputs": [message()["inputs"][1], {"name": "n", "shape": [2], "datatype": "FP16"}]},
     "inputs[1].datatype, of n, must be FP32 or BF16, not \"FP16\""),
])
def test_what_is_wrong_is_said_in_80_characters(change, error):
    assert refused(message() | change) == (400, error)


def test_an_answer_is_what_was_asked_for():
    results = [np.array([[1.5, 2], [np.nan, 4]], np.float32), np.array([-1, 7], np.int8)]
    asked = protocol.InferenceRequest(None, 2, (), MODEL.outputs[::-1])
    assert protocol.answer(MODEL, asked, results) == (
        b'{"model_name":"net","outputs":['
        b'{"name":"m","datatype":"INT8","shape":[2],"data":[-1,7]},'
        b'{"name":"y","datatype":"FP32","shape":[2,2],"data":[1.5,2.0,"NaN",4.0]}]}')
    nothing = protocol.InferenceRequest("", 2, (), ())
    assert protocol.answer(MODEL, nothing, results) == b'{"model_name":"net","id":"","outputs":[]}'


@pytest.mark.parametrize("count", [0, 1, (1 << 15) - 1, 1 << 15, (1 << 15) + 1, 1 << 16])
def test_pieces_of_an_answer_are_one_array(count):
    model = SimpleNamespace(name="net", axis=0)
    asked = protocol.InferenceRequest(None, count, (), (tensor("y", 0, DType.I32, (1,)),))
    told = json.loads(protocol.answer(model, asked, [np.arange(count, dtype=np.int32)]))
    assert told["outputs"][0]["data"] == list(range(count))


def test_rows_are_as_many_as_there_may_be():
    def asked(count):
        return {"instances": [{"x": [1, 2], "n": 3}] * count}
    found = read(asked(3), most=3, parse=rows.parse_rows)
    assert (found.id, found.rows, found.outputs, found.columnar) == (None, 3, MODEL.outputs, False)
    assert [each.shape for each in found.inputs] == [(3, 2), (3,)]
    assert refused(asked(4), most=3, parse=rows.parse_rows) == (
        413, "instances must have at most 3 rows, not 4")
    columns = {"inputs": {"n": [3] * 4, "x": [[1, 2]] * 4}}
    assert read(columns, most=4, parse=rows.parse_rows).columnar
    assert refused(columns, most=3, parse=rows.parse_rows) == (
        413, "inputs must have at most 3 rows, not 4")


@pytest.mark.parametrize(("change", "error"), [
    ({"signature_name": "s" * 100},
     "signature_name must be left out or serving_default, not \"" + "s" * 79),
    ({"instances": [{"z" * 100: 1}]}, "instances[0] must hold x, n, not " + "z" * 80),
    ({"instances": [{"x": 1}]}, "instances[0] must hold x, n, not x"),
    ({"instances": [{}]}, "instances[0] must hold x, n, not nothing"),
    ({"instances": [{"x": [1, 2], "n": 1}, None]},
     "instances[1] must be an object with x, n, not null"),
    ({"instances": ""}, "instances must be an array of at least one row, not a string"),
])
def test_wrong_rows_are_said_in_80_characters(change, error):
    assert refused(change, parse=rows.parse_rows) == (400, error)


def test_an_empty_signature_is_the_only_one():
    assert read({"signature_name": "", "instances": [{"x": [1, 2], "n": 3}]},
                parse=rows.parse_rows).rows == 1


def test_rows_are_along_the_first_axis():
    assert refused({"instances": [[1, 2, 3]]}, COLUMNS, parse=rows.parse_rows) == (
        400, "the batch of columns is axis 1, not 0: ask /v2/models/columns/infer")


@pytest.mark.parametrize(("columnar", "told"), [
    (True, {"outputs": {"y": [[1, 2], [3, 4]], "m": [-1, 7]}}),
    (False, {"predictions": [{"y": [1, 2], "m": -1}, {"y": [3, 4], "m": 7}]})])
def test_answers_are_rows_or_columns(columnar, told):
    results = [np.array([[1, 2], [3, 4]], np.float32), np.array([-1, 7], np.int8)]
    asked = rows.RowRequest(None, 2, (), MODEL.outputs, columnar)
    assert json.loads(rows.answer_rows(MODEL, asked, results)) == told


@pytest.mark.parametrize(("columnar", "name"), [(True, "outputs"), (False, "predictions")])
def test_one_output_has_no_name(columnar, name):
    asked = rows.RowRequest(None, 2, (), MODEL.outputs[:1], columnar)
    cube = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    assert json.loads(rows.answer_rows(MODEL, asked, [cube])) == {name: cube.tolist()}


def test_a_model_is_described_as_tensorflow_does():
    kinds = {DType.BOOL: "DT_BOOL", DType.I8: "DT_INT8", DType.U8: "DT_UINT8",
             DType.I16: "DT_INT16", DType.U16: "DT_UINT16", DType.I32: "DT_INT32",
             DType.U32: "DT_UINT32", DType.F16: "DT_HALF", DType.BF16: "DT_BFLOAT16",
             DType.F32: "DT_FLOAT"}
    model = SimpleNamespace(
        name="net", axis=1, version=7, outputs=COLUMNS.outputs,
        inputs=[tensor(kind, i, dtype, (3, 4, 5)) for i, (dtype, kind) in enumerate(kinds.items())])
    told = rows.describe(model)
    assert told["model_spec"] == {"name": "net", "signature_name": "", "version": "7"}
    signature = told["metadata"]["signature_def"]["signature_def"]["serving_default"]
    assert signature["inputs"] == {kind: {
        "dtype": kind, "name": kind, "tensor_shape": {"unknown_rank": False, "dim": [
            {"size": size, "name": ""} for size in ("3", "-1", "5")]}} for kind in kinds.values()}
    assert signature["outputs"] == {"y": {
        "dtype": "DT_INT32", "name": "y", "tensor_shape": {"unknown_rank": False, "dim": [
            {"size": "2", "name": ""}, {"size": "-1", "name": ""}]}}}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [1, -float("inf")]])
def test_what_json_has_no_word_for_is_not_written(value):
    with pytest.raises(ValueError, match="^Out of range float values are not JSON compliant"):
        protocol._dumps(value)

"""TensorFlow Serving's REST: rows and columns, versions, and bad requests."""

import asyncio
import json

import numpy as np
import pytest

import celosia
from celosia.graph import parse
from celosia.serve import make_model
from serving import BATCH, WEIGHTS, serving

X = np.arange(3 * 16).reshape(3, 16).astype(np.float32)
URL = "/v1/models/product:predict"
TWO = """
graph two(
  %0: f32[4,2] "x",
  %1: i32[4] "n") {
  %2 = reverse(%0) dims=[1] : f32[4,2]
  %3 = add(%1, %1) : i32[4]
  return %2, %3
}
"""


@pytest.fixture(scope="module")
def two():
    return make_model(celosia.compile(parse(TWO), "core", cache=False), outputs=["y", "m"])


def ask(model, *requests):
    """Return status and message of each request: path, and body if it is a POST."""
    async def talk():
        async with serving(model) as client:
            found = []
            for path, *body in requests:
                answer = await (client.http.post(path, content=body[0] if isinstance(body[0], bytes)
                                                 else json.dumps(body[0]))
                                if body else client.http.get(path))
                found.append((answer.status_code, answer.json()))
            return found
    return asyncio.run(asyncio.wait_for(talk(), 60))


def test_rows_and_columns_of_one_input(model):
    wanted = (X @ WEIGHTS).tolist()
    many = np.tile(X, (BATCH, 1))
    rows, named, columns, column, version, longer = ask(
        model, (URL, {"instances": X.tolist()}),
        (URL, {"signature_name": "serving_default",
               "instances": [{"x": row} for row in X.tolist()]}),
        (URL, {"inputs": {"x": X.tolist()}}), (URL, {"inputs": X.tolist()}),
        ("/v1/models/product/versions/1:predict", {"instances": X.tolist()}),
        (URL, {"instances": many.tolist()}))
    assert rows == named == version == (200, {"predictions": wanted})
    assert columns == column == (200, {"outputs": wanted})
    assert longer == (200, {"predictions": (many @ WEIGHTS).tolist()})


def test_rows_and_columns_of_two_inputs(two):
    url = "/v1/models/two:predict"
    rows, columns = ask(
        two, (url, {"instances": [{"x": [1, 2], "n": 3}, {"n": 4, "x": [5, "NaN"]}]}),
        (url, {"inputs": {"x": [[1, 2], [5, 6]], "n": [3, 4]}}))
    assert rows == (200, {"predictions": [{"y": [2, 1], "m": 6}, {"y": ["NaN", 5], "m": 8}]})
    assert columns == (200, {"outputs": {"y": [[2, 1], [6, 5]], "m": [6, 8]}})


def test_what_is_said_of_a_model(model):
    at = "/v1/models/product"
    available = {"model_version_status": [{"version": "1", "state": "AVAILABLE", "status": {
        "error_code": "OK", "error_message": ""}}]}
    found = ask(model, (at,), (f"{at}/versions/1",), (f"{at}/metadata",),
                (f"{at}/versions/1/metadata",))
    assert found[:2] == [(200, available)] * 2
    assert found[2] == found[3]
    status, message = found[2]
    assert status == 200
    assert message["model_spec"] == {"name": "product", "signature_name": "", "version": "1"}
    signature = message["metadata"]["signature_def"]["signature_def"]["serving_default"]
    assert signature["method_name"] == "tensorflow/serving/predict"
    assert signature["inputs"] == {"x": {
        "dtype": "DT_FLOAT", "name": "x", "tensor_shape": {"unknown_rank": False, "dim": [
            {"size": "-1", "name": ""}, {"size": "16", "name": ""}]}}}


ROW = [0.0] * 16


@pytest.mark.parametrize(("body", "status", "message"), [
    (b"{", 400, "the body must be JSON in UTF-8: Expecting property name"),
    (b"[1]", 400, "the body must be an object, not an array"),
    ({}, 400, "the body must have either instances or inputs, not neither"),
    ({"instances": [ROW], "inputs": [ROW]}, 400,
     "the body must have either instances or inputs, not both"),
    ({"signature_name": "train", "instances": [ROW]}, 400,
     "signature_name must be left out or serving_default, not \"train\""),
    ({"instances": []}, 400, "instances must be an array of at least one row, not empty"),
    ({"instances": 3}, 400, "instances must be an array of at least one row, not a number"),
    ({"instances": [ROW, ROW[:15]]}, 400,
     "instances[1] must be an array of 16, as shape [2, 16] says, not an array of 15"),
    ({"instances": [1, 2]}, 400,
     "instances must hold 32 elements, as many as shape [2, 16] has, not 2"),
    ({"instances": [[*ROW[:15], "x"]]}, 400, "instances must hold a number, \"NaN\""),
    ({"instances": [[*ROW[:15], True]]}, 400, "instances must hold a number, \"NaN\""),
    ({"instances": [[*ROW[:15], 1e39]]}, 400, "instances must hold numbers that FP32 can, not "),
    ({"instances": [{"y": ROW}]}, 400, "instances[0] must hold x, not y"),
    ({"instances": [{"x": ROW}, {"x": ROW, "y": 1}]}, 400, "instances[1] must hold x, not x, y"),
    ({"instances": [{"x": ROW}, ROW]}, 400,
     "instances[1] must be an object with x, not an array"),
    ({"instances": [{"x": {"b64": "AAAA"}}]}, 400,
     "x of instances must hold 16 elements, as many as shape [1, 16] has, not 1"),
    ({"inputs": {}}, 400, "inputs must hold x, not nothing"),
    ({"inputs": {"x": []}}, 400, "inputs.x must be an array of at least one row, not empty"),
    ({"inputs": {"x": ROW}}, 400,
     "inputs.x must hold 256 elements, as many as shape [16, 16] has, not 16"),
    ({"instances": None}, 400, "instances must be an array of at least one row, not null"),
])
def test_bad_requests(model, body, status, message):
    [(found, told)] = ask(model, (URL, body))
    assert found == status
    assert set(told) == {"error"}
    assert told["error"].startswith(message), told


def test_two_inputs_need_names_and_as_many_rows(two):
    url = "/v1/models/two:predict"
    found = ask(two, (url, {"inputs": [[1, 2]]}), (url, {"instances": [[1, 2]]}),
                (url, {"inputs": {"x": [[1, 2]], "n": [1, 2]}}))
    assert [message["error"] for _, message in found] == [
        "inputs must be an object with x, n, not an array",
        "instances[0] must be an object with x, n, not an array",
        "inputs.n must have 1 rows, as inputs.x has, not 2"]
    assert {status for status, _ in found} == {400}


def test_other_models_versions_and_verbs(model):
    found = ask(model, ("/v1/models/other:predict", {"instances": [ROW]}), ("/v1/models/other",),
                ("/v1/models/product/versions/7",), ("/v1/models/product:classify", {}),
                ("/v1/models/product/versions/2:predict", {"instances": [ROW]}), ("/v1/models",))
    assert [status for status, _ in found] == [404, 404, 404, 400, 404, 404]
    said = [message["error"] for _, message in found]
    tail = ": the model must be product, version 1"
    assert said[:5] == [
        "Servable not found for request: Latest(other)" + tail,
        "Servable not found for request: Latest(other)" + tail,
        "Servable not found for request: Specific(product, 7)" + tail,
        "a model must be asked to predict, not to classify",
        "Servable not found for request: Specific(product, 2)" + tail]
    assert "/v1/models/product[:predict], not /v1/models" in said[5]

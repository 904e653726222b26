"""Every route and every status, in one process."""

import asyncio
import codecs
import json

import numpy as np
import pytest

import celosia
from celosia.driver import DeviceError
from celosia.graph import parse
from celosia.serve import Limits, make_model, protocol, tensors
from serving import BATCH, WEIGHTS, request, serving

X = np.arange(3 * 16).reshape(3, 16).astype(np.float32)

KINDS = {"BOOL": "bool", "INT8": "i8", "UINT8": "u8", "INT16": "i16", "UINT16": "u16",
         "INT32": "i32", "UINT32": "u32", "BF16": "bf16", "FP32": "f32"}
#: Turns every row around, for every type of elements; a part of it runs on the host.
REVERSES = "\n".join((
    "graph kinds(",
    ",\n".join(f'  %{i}: {kind}[4,3] "{kind}"' for i, kind in enumerate(KINDS.values())), ") {",
    *(f"  %{i + 9} = reverse(%{i}) dims=[1] : {kind}[4,3]"
      for i, kind in enumerate(KINDS.values())),
    "  return " + ", ".join(f"%{i + 9}" for i in range(9)),
    "}"))


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 60))


def wanted(array):
    return array @ WEIGHTS


def test_what_the_server_says_of_itself(model):
    async def talk():
        async with serving(model) as client:
            get = client.http.get
            found = {path: client.told(await get(path)) for path in (
                "/v2", "/v2/health/live", "/v2/health/ready", "/v2/models/product",
                "/v2/models/product/ready")}
            metrics = await get("/metrics")
        return found, metrics
    found, metrics = run(talk())
    server = found.pop("/v2")
    assert server[0] == 200
    assert server[1]["name"] == "celosia"
    assert set(server[1]) == {"name", "version", "extensions"}
    assert found == {
        "/v2/health/live": (200, {"live": True}), "/v2/health/ready": (200, {"ready": True}),
        "/v2/models/product": (200, model.metadata),
        "/v2/models/product/ready": (200, {"name": "product", "ready": True})}
    assert metrics.headers["content-type"].startswith("text/plain; version=")
    assert 'celosia_model_info{name="product"} 1.0' in metrics.text


def test_a_prediction(model):
    async def talk():
        async with serving(model) as client:
            message = {"id": "42", **request(X), "outputs": [{"name": "output0"}]}
            answer = await client.http.post(client.url, content=json.dumps(message))
            return answer, await client.ask(X.reshape(3, 16)[:1]), await client.metrics()
    answer, alone, metrics = run(talk())
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {"model_name": "product", "id": "42", "outputs": [
        {"name": "output0", "datatype": "FP32", "shape": [3, 8],
         "data": wanted(X).ravel().tolist()}]}
    assert alone[1].tolist() == wanted(X[:1]).tolist()
    assert metrics['celosia_requests_total{status="200"}'] == 2
    assert metrics["celosia_rows_total"] == 4
    assert metrics["celosia_rows_padding_total"] == 2 * BATCH - 4
    assert metrics["celosia_chip_cycles_total"] > 0
    assert metrics["celosia_requests_open"] == metrics["celosia_held_bytes"] == 0


@pytest.mark.parametrize("rows", [1, BATCH - 1, BATCH, BATCH + 1, 3 * BATCH + 2])
def test_any_number_of_rows(model, rows):
    x = np.random.default_rng(rows).integers(-9, 9, (rows, 16)).astype(np.float32)

    async def talk():
        async with serving(model) as client:
            return await client.ask(x)
    status, answer = run(talk())
    assert status == 200
    assert answer.tolist() == wanted(x).tolist()


def test_every_datatype():
    model = make_model(celosia.compile(parse(REVERSES), "core", cache=False))
    data = {"BOOL": [[True, False, False], [False, True, True]]}
    message = {"inputs": [{"name": name, "datatype": kind, "shape": [2, 3],
                           "data": data.get(kind, [[1, 2, 3], [4, 5, 127]])}
                          for kind, name in KINDS.items()]}

    async def talk():
        async with serving(model) as client:
            return await client.post(message)
    status, answer = run(talk())
    assert status == 200, answer
    for kind, output in zip(KINDS, answer["outputs"], strict=True):
        assert output["datatype"] == ("FP32" if kind == "BF16" else kind)
        rows = data.get(kind, [[1, 2, 3], [4, 5, 127]])
        assert output["data"] == [each for row in rows for each in reversed(row)]


def changed(**fields):
    """A request of one row, with other fields in its input."""
    message = request(X[:1])
    message["inputs"][0] = {key: value for key, value in {**message["inputs"][0], **fields}.items()
                            if value is not ...}
    return message


BINARY = ("must not be given: the extension for binary data is not supported, tensors must be JSON "
          "arrays in \"data\" (in Triton's client: binary_data=False for inputs and outputs)")
SHAPE = "inputs[0].shape, of x, must be [N, 16] with a batch N of at least 1, not "


@pytest.mark.parametrize(("message", "error"), [
    (b"", "the body must be JSON in UTF-8: Expecting value: line 1 column 1 (char 0)"),
    ('{"inputs": [', "the body must be JSON in UTF-8: Expecting value: line 1 column 13 (char 12)"),
    ('{"inputs": NaN}', "the body must be JSON in UTF-8: NaN is no JSON: write the string \"NaN\""),
    ("{}".encode("utf-16"), ("the body must be JSON in UTF-8: 'utf-8' codec can't decode byte 0xff "
                             "in position 0: invalid start byte")),
    ("{}".encode("utf-16-le"), ("the body must be JSON in UTF-8: Expecting property name enclosed "
                                "in double quotes: line 1 column 2 (char 1)")),
    ("{}".encode("utf-32-be"), ("the body must be JSON in UTF-8: Expecting value: line 1 column 1 "
                                "(char 0)")),
    (b'{"id": "\xed\xa0\x80"}', ("the body must be JSON in UTF-8: 'utf-8' codec can't decode byte "
                                  "0xed in position 8: invalid continuation byte")),
    (codecs.BOM_UTF8 + b"[]", "the body must be an object, not an array"),
    ([], "the body must be an object, not an array"),
    ({}, "inputs must be an array of objects and be given"),
    ({"inputs": {}}, "inputs must be an array of objects, not an object"),
    ({"inputs": []}, "inputs must hold x too, not nothing"),
    ({"inputs": [3]}, "inputs[0] must be an object, not a number"),
    ({**request(X), "id": 7}, "id must be a string, not a number"),
    (request(X, "y"), "inputs[0].name must be x, not 'y'"),
    ({"inputs": 2 * request(X)["inputs"]},
     "inputs[1].name must be another one than that of inputs[0], not 'x' again"),
    (request(X[0]), SHAPE + "[16]"),
    (request(X[:, :15]), "inputs[0].shape, of x, must be [3, 16], not [3, 15]"),
    (changed(shape=[0, 16]), SHAPE + "[0, 16]"),
    (changed(shape=[-1, 16]), SHAPE + "[-1, 16]"),
    (changed(shape=[True, 16]), SHAPE + "[true, 16]"),
    (changed(shape=[1, 16.0]), "inputs[0].shape, of x, must be [1, 16], not [1, 16.0]"),
    (changed(shape="big"), SHAPE + '"big"'),
    (changed(shape=...), SHAPE + "nothing"),
    (changed(datatype="FP64"), "inputs[0].datatype, of x, must be FP32, not \"FP64\""),
    (changed(datatype=...), "inputs[0].datatype, of x, must be FP32, not nothing"),
    (changed(data=...), "inputs[0].data, of x, must be given"),
    (changed(data=[1, 2]), ("inputs[0].data, of x, must hold 16 elements, as many as shape "
                            "[1, 16] has, not 2")),
    (changed(shape=[1000, 16]), ("inputs[0].data, of x, must hold 16000 elements, as many as "
                                 "shape [1000, 16] has, not 16")),
    (changed(parameters=3), "inputs[0].parameters must be an object, not a number"),
    (changed(parameters={"binary_data_size": 64}, data=...),
     f"inputs[0].parameters.binary_data_size {BINARY}"),
    ({**request(X), "parameters": {"binary_data_output": True}},
     f"parameters.binary_data_output {BINARY}"),
    ({**request(X), "outputs": [{"name": "output0", "parameters": {"classification": 2}}]},
     "outputs[0].parameters.classification must not be given: the extension is not supported"),
    ({**request(X), "outputs": [{"name": "z"}]}, "outputs[0].name must be output0, not 'z'"),
    ({**request(X), "outputs": "all"}, "outputs must be an array of objects, not a string"),
])
def test_a_bad_request(model, message, error):
    async def talk():
        async with serving(model) as client:
            content = message if isinstance(message, (bytes, str)) else json.dumps(message)
            bad = await client.post(content)
            return bad, await client.ask(X)
    bad, good = run(talk())
    assert bad == (400, {"error": error})
    assert good[0] == 200


def test_a_large_answer_is_written_in_pieces(model):
    rows = np.arange(8192 + 3)[:, None] % 100 + np.arange(16)
    shape = (*rows.shape[:1], 8)
    request = protocol.InferenceRequest("a", len(rows), (rows,), model.outputs)
    for results in (np.linspace(-1, 1, 8 * len(rows)).astype(np.float32).reshape(shape),
                    np.full(shape, np.inf, np.float32)):
        text = protocol.answer(model, request, [results]).decode()
        assert text == json.dumps({"model_name": "product", "id": "a", "outputs": [
            {"name": "output0", "datatype": "FP32", "shape": list(shape),
             "data": tensors.encode(results)}]}, separators=(",", ":"))


def test_deep_json_and_bad_unicode(model):
    async def talk():
        async with serving(model) as client:
            return [await client.post(each) for each in (b"[" * 200_000, b'{"a\xff": 1}',
                                                         b"1" * 5000)]
    for status, answer in run(talk()):
        assert status == 400
        assert answer["error"].startswith("the body must be ")


def test_other_statuses(model):
    async def talk():
        async with serving(model) as client:
            http, body = client.http, json.dumps(request(X))
            return [client.told(each) for each in (
                await http.post("/v2/models/other/infer", content=body),
                await http.get("/v2/models/other/ready"),
                await http.get("/v2/models/product/versions/1"),
                await http.get("/v2/nothing"),
                await http.get(client.url),
                await http.post("/v2/health/live"),
                await http.post(client.url, content=body,
                                headers={"Inference-Header-Content-Length": "10"}),
                await http.post(client.url, content=body, headers={"Content-Encoding": "gzip"}))]
    other = "the model must be product, not other"
    assert run(talk()) == [
        (404, {"error": other}), (404, {"error": other}),
        (404, {"error": "models have no versions here: the path must be /v2/models/product, "
                        "without /versions"}),
        (404, {"error": "the path must be /v2, /v2/health/live, /v2/health/ready, /metrics, "
                        "/v2/models/product[/ready | /infer] or /v1/models/product[:predict], "
                        "not /v2/nothing"}),
        (405, {"error": "/v2/models/product/infer must be asked with POST, not GET"}),
        (405, {"error": "/v2/health/live must be asked with GET, HEAD, not POST"}),
        (400, {"error": f"header inference-header-content-length {BINARY}"}),
        (415, {"error": "content-encoding must be identity, not gzip"})]


def test_bodies_that_are_too_large(model):
    async def pieces():
        for _ in range(100):
            yield b" " * 50

    async def slowly():
        yield b"{"
        await asyncio.sleep(30)

    async def talk():
        async with serving(model, Limits(body=1000, timeout=0.5, held=3200)) as client:
            found = [await client.post(b" " * 1001),
                     client.told(await client.http.post(client.url, content=pieces())),
                     client.told(await client.http.post(client.url, content=slowly())),
                     await client.post(changed(shape=[101, 16]))]
            return found, await client.ask(X[:1]), await client.metrics()
    found, good, metrics = run(talk())
    assert found == [
        (413, {"error": "the body must have at most 1000 bytes, not 1001 or more"}),
        (413, {"error": "the body must have at most 1000 bytes, not 1050 or more"}),
        (408, {"error": "the request must arrive within 0.5 s; 1 bytes of its body came"}),
        (413, {"error": "inputs[0].shape, of x, must have a batch of at most 100, not 101"})]
    assert good[0] == 200
    assert metrics["celosia_held_bytes"] == 0
    assert metrics['celosia_requests_total{status="413"}'] == 3


def test_a_fault_of_the_chip_is_its_clients_alone(faulty):
    """One of several requests of a run stops the chip: the others get their answers."""
    async def talk():
        async with serving(faulty, Limits(wait=0.2)) as client:
            rows = [np.full((1, 16), each) for each in (1, 2, 99, 3)]
            found = await asyncio.gather(*(client.ask(each, kind="INT32") for each in rows))
            ready = (await client.http.get("/v2/health/ready")).status_code
            after = await client.ask(rows[0], kind="INT32")
            return found, ready, after, await client.metrics()
    found, ready, after, metrics = run(talk())
    assert [status for status, _ in found] == [200, 200, 500, 200]
    assert [found[each][1].tolist() for each in (0, 1, 3)] == [[[n] * 16] for n in (1, 2, 3)]
    assert found[2][1].startswith("faulty failed on the chip: fault INDEX_RANGE: a lane is not ")
    assert "instruction 2 of faulty: read" in found[2][1]
    assert (ready, after[0]) == (200, 200)
    assert metrics['celosia_runs_failed_total{error="ChipFault"}'] == 1


def test_a_run_that_takes_too_many_cycles(model):
    async def talk():
        async with serving(model, Limits(cycles=20)) as client:
            return [await client.ask(X) for _ in range(2)]
    for status, error in run(talk()):
        assert status == 500
        assert error.startswith("product failed on the chip: timeout: the run took more than 20 ")


def test_a_device_that_is_lost_is_opened_anew(model):
    devices = []

    def make():
        if len(devices) == 2:
            devices.append(None)
            raise DeviceError("no cable")
        devices.append(celosia.open("model", config=model.compiled.config))
        return devices[-1]

    def lost(*args, **kwargs):
        raise DeviceError("the line is dead")

    async def talk():
        async with serving(model, make=make) as client:
            good = await client.ask(X)
            devices[0].run = lost
            bad = await client.ask(X)
            found = [good, bad, await client.ask(X)]
            devices[1].close()  # as a transport does that fails; opening fails once
            found += [await client.ask(X), await client.ask(X)]
            return found, (await client.http.get("/v2/health/ready")).status_code
    found, ready = run(talk())
    assert [status for status, _ in found] == [200, 500, 200, 500, 200]
    assert "the line is dead" in found[1][1]
    assert ready == 200
    assert len(devices) == 4

"""Small models for tests of serving, and a service in one process."""

import contextlib
import json

import httpx
import numpy as np

import celosia
from celosia.arch.config import preset
from celosia.asm import assemble
from celosia.compiled import Compiled
from celosia.compiled.parts import Argument
from celosia.graph import DType, TensorType, parse
from celosia.serve import Limits, Service, make_model
from celosia.serve.app import make_app

BATCH = 8
#: y = x w, exact for small integers: every row of the answer says what was asked.
PRODUCT = f"""graph product(
  %0: f32[16,8] "params['w']",
  %1: f32[{BATCH},16] "x"
) {{
  %2 = dot(%1, %0) dtype=f32 contract=[[1,0]] : f32[{BATCH},8]
  return %2
}}"""
#: Copies its argument; a row whose first element is no lane of the chip is a fault.
FAULTY = """
        .chip core
        .name faulty
        .buffer x, int32[4, 16], input
        .buffer y, int32[4, 16], output
        load acc[0], @x, fmt=w32, rows=4, cols=16, pitch=64
        read r1, acc[0], 0
        read r2, acc[0], r1
        read r1, acc[1], 0
        read r2, acc[1], r1
        read r1, acc[2], 0
        read r2, acc[2], r1
        read r1, acc[3], 0
        read r2, acc[3], r1
        store acc[0], @y, fmt=w32, rows=4, cols=16, pitch=64
        halt
"""
WEIGHTS = np.random.default_rng(0).integers(-8, 8, (16, 8)).astype(np.float32)


class Client:
    """Asks a service for predictions."""

    def __init__(self, service, http):
        self.service, self.http = service, http
        self.url = f"/v2/models/{service.model.name}/infer"

    async def post(self, message, **options):
        """Return status and answer."""
        content = message if isinstance(message, (bytes, str)) else json.dumps(message)
        return self.told(await self.http.post(self.url, content=content, **options))

    @staticmethod
    def told(response):
        return response.status_code, response.json()

    async def ask(self, array, name="x", kind="FP32"):
        """Return status, and the first output as an array or the error."""
        status, answer = await self.post(request(array, name, kind))
        if status != 200:
            return status, answer["error"]
        output = answer["outputs"][0]
        return status, np.array(output["data"]).reshape(output["shape"])

    async def metrics(self):
        """Return the samples of /metrics."""
        lines = (await self.http.get("/metrics")).text.splitlines()
        return {name: float(value) for name, _, value in (
            line.rpartition(" ") for line in lines if not line.startswith("#"))}


def request(array, name="x", kind="FP32"):
    return {"inputs": [{"name": name, "datatype": kind, "shape": list(array.shape),
                        "data": array.ravel().tolist()}]}


@contextlib.asynccontextmanager
async def serving(model, limits=None, make=None, *, check=False):
    """A client of a service of a model, on the golden model or what ``make`` opens."""
    make = make or (lambda: celosia.open("model", config=model.compiled.config))
    async with Service(model, make, limits or Limits(), check=check) as service:
        transport = httpx.ASGITransport(make_app(service))
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as http:
            yield Client(service, http)


def faulty_model():
    type = TensorType(DType.I32, (4, 16))
    return make_model(Compiled(assemble(FAULTY), preset("core"), [Argument("x", type)],
                               [Argument("y", type, "y")]))


def product_program():
    return celosia.compile(parse(PRODUCT), "core", cache=False)

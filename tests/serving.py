"""Small models for tests of serving, and a service in one process."""

import contextlib
import http.client
import json
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import numpy as np

import celosia
from celosia.arch.config import preset
from celosia.compiled import Compiled
from celosia.compiled.parts import Argument
from celosia.compiled.steps import ChipStep
from celosia.graph import DType, TensorType, parse
from celosia.program.asm import assemble
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
#: Where the server of a process predicts.
PATH = "/v2/models/digits/infer"
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


class Gate:
    """A device that runs only when it may."""

    def __init__(self, model):
        self.model, self.open, self.runs = model, threading.Event(), 0

    def __call__(self):
        device = celosia.open("model", config=self.model.compiled.config)
        before = device.run

        def run(*args, **options):
            self.runs += 1
            assert self.open.wait(30)
            return before(*args, **options)
        device.run = run
        return device


class Process:
    """``celosia serve`` on a free port."""

    def __init__(self, folder, *options):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "celosia", "serve", str(folder), "--port", "0", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.said = ""
        while "serving" not in self.said:
            line = self.process.stdout.readline()
            assert line, self.process.communicate(timeout=10)
            self.said += line
        found = re.search(r"http://127\.0\.0\.1:(\d+)" + PATH.removesuffix("/infer"), self.said)
        assert found, self.said
        self.port = int(found[1])

    def connect(self, timeout=30):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(self, connection, array):
        """Return status and answer for some rows."""
        connection.request("POST", PATH, json.dumps(request(array)))
        response = connection.getresponse()
        return response.status, json.loads(response.read())

    def get(self, path):
        connection = self.connect()
        connection.request("GET", path)
        text = connection.getresponse().read().decode()
        connection.close()
        return text

    def metric(self, name):
        found = re.search(rf"^{re.escape(name)} (.*)$", self.get("/metrics"), re.MULTILINE)
        return float(found[1]) if found else 0.0

    def memory(self):
        """Bytes of memory in use."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024

    def end(self, number=signal.SIGTERM):
        """Return exit code and what was said of errors."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=30)
        return self.process.returncode, errors

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate(timeout=30)


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
    step = ChipStep((0,), assemble(FAULTY), (Argument("x", type),), (Argument("y", type, "y"),))
    return make_model(Compiled.of_chip(step, preset("core")))


def product_program():
    return celosia.compile(parse(PRODUCT), "core", cache=False)

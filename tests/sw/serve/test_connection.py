"""Clients that take their time, are too many, or go: on sockets, with short limits."""

import asyncio
import contextlib
import json
import threading
import time

import numpy as np
import pytest

import celosia
import celosia.serve.service
from celosia.serve import Limits, Service
from celosia.serve.server import listen, make_server
from serving import BATCH, WEIGHTS, Gate, request

PATH = "/v2/models/product/infer"
READY = b"GET /v2/health/ready HTTP/1.1\r\nHost: x\r\n\r\n"
X = np.ones((1, 16), np.float32)


class Peer:
    """One end of a connection."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    def send(self, data):
        self.writer.write(data)

    async def answer(self):
        """Return status, and the JSON of the body."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split()[0])
        return int(head.split()[1]), json.loads(await self.reader.readexactly(length))

    async def end(self):
        """Return what comes until the connection is closed, and the seconds that it takes."""
        start = time.monotonic()
        data = await asyncio.wait_for(self.reader.read(), 5)
        return data, time.monotonic() - start

    async def is_open(self):
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.reader.read(1), 0.05)
            return False
        return True

    async def ask(self, array=X):
        self.send(post(array))
        return await self.answer()


class Listening:
    """A server on loopback."""

    def __init__(self, service, server, port):
        self.service, self.port = service, port
        self.connections = server.server_state.connections
        self.peers = []
        self.late = 0.0

    async def beat(self):
        """Add up by how many seconds the loop, which client and server share, is late."""
        while True:
            start = time.monotonic()
            await asyncio.sleep(0.01)
            self.late += time.monotonic() - start - 0.01

    async def peer(self, data=b""):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.peers.append(Peer(reader, writer))
        writer.write(data)
        return self.peers[-1]

    async def probe(self):
        """Ask whether the server is ready; return the seconds that the answer takes."""
        start = time.monotonic()
        assert await (await self.peer(READY)).answer() == (200, {"ready": True})
        return time.monotonic() - start

    def count(self, status):
        value = self.service.metrics.requests.labels(str(status))._value
        return value.get()


def post(array=X, missing=0, path=PATH):
    """A request; the last bytes of its body are missing."""
    body = json.dumps(request(array)).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body[:len(body) - missing]


def on_socket(talk, model, limits, make=None):
    """Return what a function of a `Listening` returns."""
    make = make or (lambda: celosia.open("model", config=model.compiled.config))

    async def serve():
        async with Service(model, make, limits, check=False) as service:
            made = listen("127.0.0.1", 0)
            server = make_server(service)
            running = asyncio.create_task(server.serve(sockets=[made]))
            while not server.started:
                await asyncio.sleep(0.001)
            here = Listening(service, server, made.getsockname()[1])
            beating = asyncio.create_task(here.beat())
            try:
                return await asyncio.wait_for(talk(here), 20)
            finally:
                beating.cancel()
                for peer in here.peers:
                    peer.writer.close()
                server.should_exit = True
                await running
    return asyncio.run(serve())


def said(data):
    """Status, headers and JSON of an answer."""
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode().lower().split("\r\n")
    return int(lines[0].split()[1]), lines[1:], json.loads(body)


LATE = "the headers of a request must arrive within 0.2 s"
CROWDED = ("an address may have at most 2 connections on which a request has not arrived in full, "
           "and this was the oldest; try again")


def test_headers_must_arrive(model):
    async def talk(here):
        start = time.monotonic()
        silent, begun = await here.peer(), await here.peer(b"GET /v2 HTTP/1.1\r\nHos")
        slow = await here.peer(b"G")

        async def drip():
            while time.monotonic() < start + 0.16:  # what comes after the end would reset it
                slow.send(b"E")
                await asyncio.sleep(0.02)
        ends = await asyncio.gather(silent.end(), begun.end(), slow.end(), drip())
        return *ends[:3], here.late
    (nothing, first), (answer, second), (dripped, third), late = on_socket(
        talk, model, Limits(headers=0.2))
    assert nothing == b""
    for data in (answer, dripped):
        status, headers, message = said(data)
        assert (status, message) == (408, {"error": LATE})
        assert "connection: close" in headers
    assert 0.1 - late < min(first, second, third) <= max(first, second, third) < 0.3 + late


def test_a_connection_that_is_kept(model):
    async def talk(here):
        idle = await here.peer(post())  # none is silent while another one's product is made
        assert (await idle.answer())[0] == 200
        begun = await here.peer(READY)
        assert (await begun.answer())[0] == 200
        begun.send(b"GET /v2")
        ahead = await here.peer(READY + b"GET /v2")
        assert (await ahead.answer())[0] == 200
        return *await asyncio.gather(begun.end(), ahead.end(), idle.end()), here.late
    *ends, (nothing, took), late = on_socket(talk, model, Limits(headers=0.2, idle=1))
    for answer, seconds in ends:
        assert said(answer)[::2] == (408, {"error": LATE})
        assert 0.1 - late < seconds < 0.6 + late
    assert nothing == b""
    assert 0.8 - late < took < 1.5 + late


def test_a_body_must_not_stand_still(model):
    async def talk(here):
        size = len(json.dumps(request(X)))
        still = [await here.peer(post(missing=missing)) for missing in (9, size)]
        slow = await here.peer(post(missing=9))
        for byte in post()[-9:]:  # each in time
            await asyncio.sleep(0.1)
            slow.send(bytes([byte]))
        return size - 9, [await peer.end() for peer in still], await slow.answer()
    size, ends, slow = on_socket(talk, model, Limits(stall=0.3))
    for came, (data, _) in zip((size, 0), ends, strict=True):
        status, headers, message = said(data)
        assert (status, message) == (408, {
            "error": f"the body must not stand still for 0.3 s; {came} bytes of it came"})
        assert "connection: close" in headers
    assert slow[0] == 200


@pytest.mark.parametrize("more", [b"", b"x"])
def test_a_body_that_nobody_reads_has_an_end(model, more):
    async def talk(here):
        peer = await here.peer(post(missing=9, path="/v2/nothing"))
        assert (await peer.answer())[0] == 404
        peer.send(more)
        return *await peer.end(), here.late
    data, took, late = on_socket(talk, model, Limits(headers=0.2))
    assert data == b""
    assert took < 0.6 + late


@pytest.mark.parametrize("last", [b"", b"Connection: close\r\n"])
def test_an_answer_that_nobody_takes_has_an_end(model, last):
    """A client that takes a part now and then gets all of it."""
    large = b"x" * (16 << 20)
    ask = b"GET /metrics HTTP/1.1\r\nHost: x\r\n" + last + b"\r\n"

    async def talk(here):
        here.service.metrics.text = lambda: (large, "text/plain")
        slow, deaf = [await here.peer(data) for data in (ask, ask + (b"" if last else READY))]
        start = time.monotonic()
        came = await slow.reader.readuntil(b"\r\n\r\n")
        while len(came) < len(large):
            await asyncio.sleep(0.05)
            came += await slow.reader.read(1 << 19)
        took = time.monotonic() - start
        while len(here.connections) > (0 if last else 1):
            await asyncio.sleep(0.01)
        with contextlib.suppress(ConnectionResetError):
            assert len((await deaf.end())[0]) < len(large)
        return took
    # So long that a busy machine is no stall.
    assert on_socket(talk, model, Limits(stall=0.7)) > 1.4


def test_an_address_has_few_unfinished_requests(model):
    """The oldest go, of headers and bodies alike; those that are new stay, and those kept."""
    async def talk(here):
        here.service.unfinished.grace = 0.2
        kept = [await here.peer(READY) for _ in range(4)]
        for peer in kept:
            assert (await peer.answer())[0] == 200
        old = []
        for data in (b"G", post(missing=9), b"", post(missing=9), b"G", post(missing=9)):
            old.append(await here.peer(data))
            await asyncio.sleep(0.01)
        latency = await here.probe()
        ends = await asyncio.gather(*(peer.answer() for peer in old[:4]))
        stays = [await peer.is_open() for peer in old[4:] + kept]
        return latency, ends, stays
    latency, ends, stays = on_socket(talk, model, Limits(connections=2))
    assert ends == 4 * [(429, {"error": CROWDED})]
    assert stays == 6 * [True]
    assert latency < 0.5


def test_many_clients_of_an_address_at_once(model):
    async def client(here):
        peer = await here.peer()
        return [(await peer.ask())[0] for _ in range(5)]

    async def talk(here):
        return await asyncio.gather(*(client(here) for _ in range(64)))
    assert on_socket(talk, model, Limits(connections=1)) == 64 * [5 * [200]]


def test_bodies_that_do_not_arrive_take_nobodys_place(model):
    async def talk(here):
        old = []
        for _ in range(4):
            old.append(await here.peer(post(missing=1)))
            while here.service._admission._open < len(old):
                await asyncio.sleep(0.001)
        answer = await (await here.peer()).ask()
        return answer, await old[0].answer(), [await peer.is_open() for peer in old[1:]]
    answer, first, others = on_socket(talk, model, Limits(queue=4))
    assert answer[0] == 200
    assert first == (503, {"error": "the server is busy: at most 4 requests may be in it at once; "
                                    "try again"})
    assert others == 3 * [True]


def test_bodies_that_do_not_arrive_take_nobodys_memory(model):
    array = np.ones((2, 16), np.float32)
    size = len(json.dumps(request(array)))

    async def talk(here):
        old = await here.peer(post(array, missing=1))
        while here.service._admission._held < size - 1:
            await asyncio.sleep(0.001)
        return await (await here.peer()).ask(array), await old.answer()
    held = size + 100
    answer, old = on_socket(talk, model, Limits(held=held))
    assert answer[0] == 200
    assert old[0] == 503
    assert old[1]["error"].startswith("the server is busy: bodies and answers may have at most ")


def test_connections_together_are_bounded(model):
    async def talk(here):
        kept = [await here.peer(READY) for _ in range(4)]
        for peer in kept:
            assert (await peer.answer())[0] == 200
        new = [await here.peer() for _ in range(6)]
        latency = await here.probe()
        return latency, await kept[0].end(), await new[2].end(), await new[3].is_open()
    latency, kept, refused, stays = on_socket(talk, model, Limits(sockets=4))
    assert latency < 0.5
    assert kept[0] == b""
    assert said(refused[0])[::2] == (503, {
        "error": "the server is busy: at most 4 connections may be open; try again"})
    assert stays


@pytest.mark.parametrize("further", [b"", READY])
def test_nothing_runs_for_a_client_that_has_gone(model, further):
    gate = Gate(model)

    async def talk(here):
        peer = await here.peer(post(np.ones((50 * BATCH, 16), np.float32)))
        while not gate.runs:
            await asyncio.sleep(0.001)
        peer.send(further)
        await asyncio.sleep(0.05)
        peer.writer.close()
        while not here.count(499):
            await asyncio.sleep(0.001)
        gate.open.set()
        return await (await here.peer()).ask()
    status, answer = on_socket(talk, model, Limits(wait=0), gate)
    assert status == 200
    assert answer["outputs"][0]["data"] == WEIGHTS.sum(0).tolist()
    assert gate.runs == 2  # what ran when it went, and the other's


def test_a_client_that_goes_before_its_body_is_there(model):
    async def talk(here):
        peer = await here.peer(post(missing=9))
        while not here.service._admission._open:
            await asyncio.sleep(0.001)
        peer.writer.close()
        while not here.count(499):
            await asyncio.sleep(0.001)
        return here.service._admission._open, here.service._admission._held
    assert on_socket(talk, model, Limits()) == (0, 0)


def test_large_json_keeps_nobody_waiting(model, monkeypatch):
    reads, before = threading.Event(), celosia.serve.service.parse

    def parse(text, *others):
        if len(text) > 1 << 16:
            assert reads.wait(10)
        return before(text, *others)
    monkeypatch.setattr(celosia.serve.service, "parse", parse)

    async def talk(here):
        large = asyncio.create_task((await here.peer()).ask(np.ones((1000, 16), np.float32)))
        await asyncio.sleep(0.1)
        small = await (await here.peer()).ask()
        latency = await here.probe()
        reads.set()
        return latency, small, await large
    latency, small, large = on_socket(talk, model, Limits())
    assert latency < 0.5
    assert (small[0], large[0]) == (200, 200)

"""Attacks on a server with the limits that it has by itself, from the address of its clients.

Meanwhile it must say within a second that it is ready, and predict.
"""

import asyncio
import contextlib
import json
import time

import numpy as np
import pytest

from celosia.serve import save_model
from serving import PATH, WEIGHTS, Process, request

pytestmark = pytest.mark.slow

READY = b"GET /v2/health/ready HTTP/1.1\r\nHost: x\r\n\r\n"
ROWS = 200_000


def post(body, length=None):
    return (f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: {length or len(body)}\r\n\r\n"
            .encode() + body)


ONE = post(json.dumps(request(np.ones((1, 16), np.float32))).encode())
LARGE = post(json.dumps(request(np.ones((ROWS, 16), np.float32))).encode())


class Victim:
    """A server, and what others get from it."""

    def __init__(self, server):
        self.port = server.port
        self.took = {"ready": [], "predict": []}
        self.closed = []

    async def ask(self, data):
        """Return the seconds, the status and the body of an answer, on a connection of its own."""
        start = time.monotonic()
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 26)
        try:
            writer.write(data)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split()[0])
            body = await reader.readexactly(length)
        finally:
            writer.transport.abort()  # what is not sent yet is not waited for
        return time.monotonic() - start, int(head.split()[1]), body

    async def watch(self):
        """Ask for readiness and predictions."""
        while True:
            took, status, _ = await self.ask(READY)
            assert status == 200
            self.took["ready"].append(took)
            took, status, body = await self.ask(ONE)
            assert status == 200, body
            assert json.loads(body)["outputs"][0]["data"] == WEIGHTS.sum(0).tolist()
            self.took["predict"].append(took)
            await asyncio.sleep(0.05)

    async def hold(self, data, drip=b"", again=True):
        """Keep a connection for as long as the server lets us; then another."""
        while True:
            start = time.monotonic()
            with contextlib.suppress(OSError):
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.write(data)
                end = asyncio.ensure_future(reader.read())
                try:
                    while not (await asyncio.wait([end], timeout=1))[0]:
                        writer.write(drip)
                    answer = b"" if end.exception() else end.result()  # a reset has none
                    self.closed.append((time.monotonic() - start, answer[9:12]))
                finally:
                    end.cancel()
                    writer.transport.abort()
            if not again:
                return

    async def under(self, attackers, seconds):
        """Watch during an attack."""
        tasks = [asyncio.ensure_future(each) for each in (self.watch(), *attackers)]
        done, _ = await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for each in done:
            each.result()
        for what, took in self.took.items():
            print(f"{what}: {len(took)} times, {max(took):.3f} s at most, {np.mean(took):.3f} s "
                  f"on average", end="; ")
        print(f"{len(self.closed)} attackers were closed")
        assert len(self.took["ready"]) > seconds / 3
        assert max(self.took["ready"]) < 1


@pytest.fixture
def victim(product, tmp_path):
    save_model(tmp_path / "digits", product, {"w": WEIGHTS})
    server = Process(tmp_path / "digits")
    try:
        yield Victim(server)
        assert server.end() == (0, "")
    finally:
        server.kill()


@pytest.mark.parametrize(("data", "drip"), [
    (b"G", b""), (b"GET /v2 HTTP/1.1\r\n", b"X: y\r\n"), (post(b"{", 1000), b""),
    (post(b" ", 10_000_000), b" "), (post(b" " * 500_000, 10_000_000), b"")])
def test_256_clients_that_do_not_go_on(victim, data, drip):
    asyncio.run(victim.under([victim.hold(data, drip) for _ in range(256)], 20))
    assert max(seconds for seconds, _ in victim.closed) < 17  # 16 bodies may stand still for 10 s


def test_60_clients_whose_headers_do_not_end(victim):
    asyncio.run(victim.under([victim.hold(b"GET /v2 HTTP/1.1\r\n", b"X: y\r\n", again=False)
                              for _ in range(60)], 10))
    assert len(victim.closed) == 60
    assert max(seconds for seconds, _ in victim.closed) < 6.5


def test_12_bodies_that_stand_still(victim):
    asyncio.run(victim.under([victim.hold(post(b"{", 1000), again=False)
                              for _ in range(12)], 12))
    assert len(victim.closed) == 12
    assert {status for _, status in victim.closed} == {b"408"}
    assert max(seconds for seconds, _ in victim.closed) < 11.5


def test_large_requests_whose_clients_go(victim):
    async def attack():
        while True:
            with contextlib.suppress(TimeoutError, OSError):
                await asyncio.wait_for(victim.ask(LARGE), 3)

    async def waiting():
        text = (await victim.ask(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"))[2].decode()
        return float(text.split("\ncelosia_rows_waiting ")[1].split()[0])

    async def talk():
        attacker = asyncio.ensure_future(victim.ask(LARGE))
        while not await waiting():
            await asyncio.sleep(0.01)
        attacker.cancel()
        await asyncio.gather(attacker, return_exceptions=True)
        start = time.monotonic()
        while await waiting():
            await asyncio.sleep(0.001)
        print(f"nothing ran {time.monotonic() - start:.3f} s after the client had gone")
        assert time.monotonic() - start < 0.5
        await victim.under([attack() for _ in range(4)], 20)
    asyncio.run(talk())


def test_a_large_request_that_takes_too_long(victim):
    answers = []

    async def attack():
        answers.append(await victim.ask(LARGE))
    asyncio.run(victim.under([attack()], 33))
    took, status, body = answers[0]
    print(f"{status} after {took:.1f} s")
    assert status == 200 or (status, json.loads(body)) == (504, {
        "error": f"there was no answer within 30 s (rows: {ROWS}); the server is busy, or the "
                 f"model too slow for so many"})

"""Framer, deframer and store against the Python of the host."""

import functools

import numpy as np
import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring

from celosia.arch.link import ESCAPE, FLAG, LinkConfig
from celosia.driver.link.frames import FrameDecoder, encode
from celosia_hw.soc.link.deframer import Deframer
from celosia_hw.soc.link.framer import Framer
from celosia_hw.soc.link.requests import RequestStore
from hw.simulation import World

LINK = LinkConfig(4_000_000, buffer_bytes=1024)


def bodies_of(rng: np.random.Generator, count: int, longest: int = 80) -> list[bytes]:
    """Return random bodies, rich in bytes that must be stuffed."""
    bodies = []
    for _ in range(count):
        body = rng.integers(0, 256, rng.integers(8, longest), dtype=np.uint8)
        special = rng.random(body.size) < 0.2
        body[special] = rng.choice([FLAG, ESCAPE, FLAG ^ 0x20, ESCAPE ^ 0x20], special.sum())
        bodies.append(body.tobytes())
    return bodies


@pytest.mark.parametrize("busy", [0, 0.5])
def test_framer_writes_what_the_host_writes(busy):
    framer, rng = Framer(), np.random.default_rng(4)
    bodies = bodies_of(rng, 30)
    heard = bytearray()
    wanted = b"".join(map(encode, bodies))

    async def send(ctx):
        for body in bodies:
            for i, byte in enumerate(body):
                while rng.random() < busy:
                    await ctx.tick()
                ctx.set(framer.i.payload, {"data": byte, "last": i == len(body) - 1})
                ctx.set(framer.i.valid, 1)
                await ctx.tick().until(framer.i.ready)
                ctx.set(framer.i.valid, 0)

    async def hear(ctx):
        held = None
        while len(heard) < len(wanted):
            ready = rng.random() >= busy
            ctx.set(framer.o.ready, ready)
            _, _, valid, byte = await ctx.tick().sample(framer.o.valid, framer.o.payload)
            assert held is None or (valid and byte == held)
            held = byte if valid and not ready else None
            if valid and ready:
                heard.append(byte)

    World(framer).run(hear, send)
    assert bytes(heard) == wanted
    assert FrameDecoder().feed(bytes(heard)) == bodies


class Intake(wiring.Component):
    """Deframer and store."""

    def __init__(self):
        super().__init__({})
        self.deframer, self.store = Deframer(), RequestStore(LINK)

    def elaborate(self, platform):
        m = Module()
        m.submodules.deframer, m.submodules.store = self.deframer, self.store
        m.d.comb += [
            self.store.push.eq(self.deframer.push), self.store.byte.eq(self.deframer.byte),
            self.store.keep.eq(self.deframer.keep), self.store.drop.eq(self.deframer.drop),
        ]
        return m


@functools.cache
def world() -> World:
    """Deframer and store, made once."""
    return World(Intake())


def take_in(data: bytes, start: int = 0, busy: float = 0.0) -> tuple[list[bytes], int]:
    """Send bytes; return the bodies that leave the store from cycle ``start`` on, and the number
    of frames that were lost.
    """
    intake, rng = world().component, np.random.default_rng(5)
    store, bodies, lost = intake.store, [], []

    async def send(ctx):
        for byte in data:
            ctx.set(intake.deframer.valid, 1)
            ctx.set(intake.deframer.data, byte)
            await ctx.tick()
            while rng.random() < busy:
                ctx.set(intake.deframer.valid, 0)
                await ctx.tick()
        ctx.set(intake.deframer.valid, 0)

    async def hear(ctx):
        body, silence, cycle = b"", 0, 0
        while silence < 20 or cycle < start + 20:
            ctx.set(store.o.ready, cycle >= start and rng.random() >= busy)
            _, _, valid, ready, byte, last, length, was_lost, sending = await ctx.tick().sample(
                store.o.valid, store.o.ready, store.o.payload.data, store.o.payload.last,
                store.length, store.lost, intake.deframer.valid)
            silence = 0 if valid or sending else silence + 1
            cycle += 1
            if was_lost:
                lost.append(cycle)
            if valid and ready:
                body += bytes([byte])
                if last:
                    assert length == len(body)
                    bodies.append(body)
                    body = b""
        assert not body

    world().run(hear, send)
    return bodies, len(lost)


@pytest.mark.parametrize("busy", [0, 0.3])
def test_frames_come_through(busy):
    bodies = bodies_of(np.random.default_rng(6), 40)
    assert take_in(b"".join(map(encode, bodies)), busy=busy) == (bodies, 0)


def test_spoilt_frames_are_lost_and_the_others_are_not():
    rng = np.random.default_rng(7)
    data, kept, spoilt = b"\x11\x22\x7d", [], 1  # noise before the first frame
    for body in bodies_of(rng, 60):
        frame = bytearray(encode(body))
        if rng.random() < 0.5:
            at, spoilt = 1 + int(rng.integers(len(frame) - 2)), spoilt + 1
            if rng.random() < 0.5:
                frame[at] ^= 1 << int(rng.integers(8))
            else:
                del frame[at]
        else:
            kept.append(body)
        data += bytes(frame)
    bodies, lost = take_in(data)
    assert bodies == kept
    assert lost >= spoilt


def test_frame_that_is_too_short_is_lost():
    assert take_in(encode(b"1234567")) == ([], 1)
    assert take_in(encode(b"12345678")) == ([b"12345678"], 0)


def test_what_finds_no_room_is_lost_whole():
    rng = np.random.default_rng(8)
    bodies = bodies_of(rng, 6, 400) + [rng.bytes(1100), b"and on it goes"]
    data = b"".join(map(encode, bodies))
    room, fit = 1024, []
    for body in bodies:
        if len(body) + 4 <= room:
            fit.append(body)
            room -= len(body)
    assert 2 < len(fit) < len(bodies)
    assert take_in(data, start=len(data) + 10) == (fit, len(bodies) - len(fit))


def test_more_frames_than_can_wait():
    bodies = [f"frame {i:4}".encode() for i in range(20)]
    data = b"".join(map(encode, bodies))
    # One frame has left the queue of lengths; its bytes wait at the door.
    assert take_in(data, start=len(data) + 10) == (bodies[:17], 3)

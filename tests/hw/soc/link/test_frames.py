"""Framer and store at the line against the Python of the host."""

import functools

import numpy as np
import pytest

from celosia.arch.link import ESCAPE, FLAG, WINDOW
from celosia.driver.link.frames import FrameDecoder, encode
from celosia_hw.soc.link.framer import Framer
from celosia_hw.soc.link.requests import RequestStore
from hw.simulation import World
from hw.soc.link.link_bench import CYCLES, FAST, LineDecoder, levels


def bodies_of(rng: np.random.Generator, count: int, longest: int = 60) -> list[bytes]:
    """Return random bodies, rich in bytes that must be stuffed."""
    bodies = []
    for _ in range(count):
        body = rng.integers(0, 256, rng.integers(8, longest), dtype=np.uint8)
        special = rng.random(body.size) < 0.2
        body[special] = rng.choice([FLAG, ESCAPE, FLAG ^ 0x20, ESCAPE ^ 0x20], special.sum())
        bodies.append(body.tobytes())
    return bodies


@pytest.mark.parametrize("busy", [0, 0.95])
def test_framer_writes_what_the_host_writes(busy):
    framer, rng = Framer(FAST), np.random.default_rng(4)
    bodies = bodies_of(rng, 20)
    wanted = b"".join(map(encode, bodies))
    heard, line, cycles = bytearray(), LineDecoder(), 0

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
        nonlocal cycles
        tick = ctx.tick().sample(framer.line)
        while len(heard) < len(wanted):
            _, _, level = await tick
            heard.extend(line.feed(level))
            cycles += 1

    World(framer).run(hear, send, cycles=CYCLES)
    assert bytes(heard) == wanted
    assert FrameDecoder().feed(bytes(heard)) == bodies
    if not busy:  # no gap, but for the first byte of all
        assert cycles <= 40 * len(wanted) + 12


@functools.cache
def world() -> World:
    """A store, made once."""
    return World(RequestStore(FAST))


def take_in(data: bytes, start: int = 0) -> tuple[list[bytes], int]:
    """Send bytes; return the bodies that are taken from the store from cycle ``start`` on, with
    their payload's length as it says, and the number of frames that were lost.
    """
    store = world().component
    bodies, lost, cycle, tick = [], 0, 0, None
    waiting = iter(levels(data))

    line, waits = store.line, store.waits

    async def step(ctx):
        nonlocal lost, cycle, tick
        tick = tick or ctx.tick().sample(store.lost)
        level = next(waiting, None)
        ctx.set(line, 1 if level is None else level)
        _, _, was_lost = await tick
        lost, cycle = lost + was_lost, cycle + 1
        return level is not None

    async def bench(ctx):
        silence = 0
        while silence < 60 or cycle < start + 60:
            silence = 0 if await step(ctx) else silence + 1
            if cycle < start or not ctx.get(waits):
                continue
            silence, body = 0, b""
            await step(ctx)
            for _ in range(8 + ctx.get(store.payload)):
                body += bytes([ctx.get(store.byte)])
                ctx.set(store.advance, 1)
                await step(ctx)
                ctx.set(store.advance, 0)
            bodies.append(body)
            ctx.set(store.next, 1)
            await step(ctx)
            ctx.set(store.next, 0)

    world().run(bench, cycles=CYCLES)
    return bodies, lost


def test_frames_come_through():
    bodies = bodies_of(np.random.default_rng(6), 30)
    assert take_in(b"".join(map(encode, bodies))) == (bodies, 0)


def test_spoilt_frames_are_lost_and_the_others_are_not():
    rng = np.random.default_rng(7)
    data, kept, spoilt = b"\x11\x22\x7d", [], 1  # noise before the first frame
    for body in bodies_of(rng, 50):
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
    assert take_in(b"\x7e\x7d\x7e") == ([], 1)
    assert take_in(b"\x7e" * 5) == ([], 0)


def test_frame_that_is_too_long_is_lost():
    rng = np.random.default_rng(8)
    for length in (767, 768, 1100):
        bodies = [rng.bytes(8 + length), b"and on it goes"]
        kept = bodies if length < 768 else bodies[1:]
        assert take_in(b"".join(map(encode, bodies))) == (kept, len(bodies) - len(kept))


def test_more_frames_than_can_wait():
    bodies = [f"frame {i:4}".encode() * (1 + i % 3) for i in range(12)]
    data = b"".join(map(encode, bodies))
    wanted = bodies[:WINDOW], len(bodies) - WINDOW
    assert take_in(data, start=len(levels(data)) + 10) == wanted
    assert take_in(data) == (bodies, 0)

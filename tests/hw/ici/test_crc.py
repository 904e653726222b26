"""The CRC of a word a cycle is zlib's."""

import random
import zlib

import pytest
from amaranth.hdl import Module, Signal

from celosia_hw.ici.crc import CRC_INIT, crc_after
from hw.engine import Simulator


@pytest.mark.parametrize("width", [32, 64, 128])
def test_words_give_what_their_bytes_do(width):
    rng, m = random.Random(width), Module()
    crc, word, after = Signal(32, init=CRC_INIT), Signal(width), Signal(64)
    found = crc_after(m, crc, word, name="mixed")
    assert len(found) == 32
    m.d.comb += after.eq(found)

    async def process(ctx):
        sent = b""
        for _ in range(20):
            data = rng.randbytes(width // 8)
            sent += data
            ctx.set(word, int.from_bytes(data, "little"))
            now = ctx.get(after)
            assert now ^ 0xFFFFFFFF == zlib.crc32(sent)
            ctx.set(crc, now)

    sim = Simulator(m)
    sim.add_testbench(process)
    sim.run()

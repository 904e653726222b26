import numpy as np
from amaranth.hdl import Module, Signal
from amaranth.sim import Simulator

from celosia.arch import numerics
from celosia_hw.dma.convert import f32_to_bf16, saturate_i8
from hw.dma_world import interesting_words


def test_conversions_equal_numerics():
    word, bf16, i8 = Signal(32), Signal(16), Signal(8)
    m = Module()
    m.d.comb += [bf16.eq(f32_to_bf16(word)), i8.eq(saturate_i8(word))]
    words = interesting_words(np.random.default_rng(2), 20000)

    async def bench(ctx):
        for value, a, b in zip(words.tolist(), numerics.f32_to_bf16(words).tolist(),
                               numerics.saturate_i8(words.view(np.int32)).tolist(), strict=True):
            ctx.set(word, value)
            assert ctx.get(bf16) == a, hex(value)
            assert ctx.get(i8) == b & 0xFF, hex(value)

    simulator = Simulator(m)
    simulator.add_testbench(bench)
    simulator.run()

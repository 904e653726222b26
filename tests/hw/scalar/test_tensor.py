"""The way of tensor instructions: where one waits while another is checked."""

from celosia.arch.config import preset
from celosia_hw.scalar.tensor import TensorIssue
from hw.simulation import World


def test_one_waits_while_another_is_checked():
    world, taken, checked = World(TensorIssue(preset("nano"))), [], []
    dut = world.component

    async def bench(ctx):
        checked.append(ctx.get(dut.checked))
        ctx.set(dut.i.valid, 1)
        for _ in range(5):
            _, _, ready = await ctx.tick().sample(dut.i.ready)
            taken.append(ready)
            checked.append(ctx.get(dut.checked))
        ctx.set(dut.i.valid, 0)

    world.run(bench)
    assert taken == [1, 1, 0, 0, 0]
    assert checked == [1, 0, 0, 0, 0, 0]

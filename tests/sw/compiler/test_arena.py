"""Where the steps of a program have their values: where an earlier one has left them, if it can be.
"""

from types import SimpleNamespace

import pytest

from celosia.compiler.arena import Arena
from celosia.graph import DType, Graph, TensorType, parameter


def step(takes, gives, end=0, **homes):
    """Return a step that takes values by numbers and gives others, at places by names."""
    return SimpleNamespace(
        takes=takes, inputs=[SimpleNamespace(name=f"in{i}") for i in range(len(takes))],
        outputs=[SimpleNamespace(name=f"out{i}") for i in range(gives)],
        program=SimpleNamespace(arena_bytes=end, buffer=lambda name: SimpleNamespace(
            offset=homes[name])))


def test_a_value_stays_where_it_was_first():
    arena = Arena()
    assert (arena.homes, arena.end) == ({}, 0)
    arena.add(step((0, 2), 2, 640, in0=64, in1=128, out0=256, out1=320), 3)
    assert (arena.homes, arena.end) == ({0: 64, 2: 128, 3: 256, 4: 320}, 640)
    arena.add(step((2, 4), 1, 512, in0=0, in1=384, out0=448), 5)
    assert (arena.homes, arena.end) == ({0: 64, 2: 128, 3: 256, 4: 320, 5: 448}, 512)


@pytest.mark.parametrize(("homes", "donated", "needed", "found"), [
    ({0: 64, 1: 128}, (False, False), (), [64, 128]), ({1: 128}, (False, False), (), [None, 128]),
    # Two values of one tensor, of which the step has one there.
    ({0: 64, 1: 64}, (False, False), (), [64, None]),
    # What a step writes over is not what others need later.
    ({0: 64, 1: 128}, (True, True), (), [64, 128]), ({0: 64, 1: 128}, (True, True), (1,),
                                                     [64, None]),
    ({0: 64, 1: 128, 7: 64}, (True, False), (7,), [None, 128]),
    ({0: 64, 1: 128, 7: 64}, (False, False), (7,), [64, 128]),
    ({0: 64, 1: 128, 7: 64}, (True, False), (), [64, 128])])
def test_where_a_step_has_what_it_takes(homes, donated, needed, found):
    params = [parameter(TensorType(DType.F32, (4,)), donated=each) for each in donated]
    arena = Arena(homes)
    assert arena.places(Graph("g", params, params), (0, 1), needed) == found

"""Graphs at random on several devices: together they give what one does."""

from collections import Counter

import numpy as np
import pytest

from celosia.collectives import interpret_spmd
from celosia.compiler.spmd import partition
from celosia.graph import DType, Graph, TensorType, Trait, having, interpret, op, parameter
from celosia.graph.sharding import Sharding
from sw.compiler.at_random import Walk, inputs

#: Of a mesh of 2 x 2 devices: along its first axis, its second, or both.
AXES = {"a": (0, 0, 1, 1), "b": (0, 1, 0, 1), "ab": (0, 1, 2, 3)}
#: How often tiles are gathered, and sums joined, in the graphs of every sixth seed.
EXCHANGES = ((26, 5), (33, 2), (35, 5), (33, 3), (39, 1), (17, 1))
SEEDS = 180


class OnDevices(Walk):
    """Numbers that are exact in any order, cut along axes of the mesh."""

    extents, most = (1, 2, 3, 4, 6, 8, 12), 600

    def cuts(self, shape):
        """Return a sharding in which no axis cuts twice."""
        left, found = ["a", "b"] if self.rng.random() < 0.7 else ["ab"], []
        for extent in shape:
            axis = self.rng.choice(["-", *left])
            if axis != "-" and extent % (max(AXES[axis]) + 1) == 0:
                left.remove(axis)
                found.append(Sharding((max(AXES[axis]) + 1,), AXES[axis]))
            else:
                found.append(Sharding.replicated(1, 4))
        return Sharding.joint([(each, 0) for each in found]) if found else (
            Sharding.replicated(0, 4))

    def new(self, dtype, shape):
        cuts = self.cuts(shape) if self.rng.random() < 0.8 else None
        self.given.append(parameter(TensorType(dtype, shape), sharding=cuts))
        return self.given[-1]


def example(seed):
    walk = OnDevices(seed, ["i32"])
    results = [op("shard", value, sharding=walk.cuts(value.shape))
               if walk.rng.random() < 0.5 else value for value in walk.grow()]
    return Graph("f", walk.given, results, partitions=4)


@pytest.mark.parametrize(("part", "expected"), list(enumerate(EXCHANGES)))
def test_devices_give_what_one_does(part, expected):
    exchanges = Counter()
    for seed in range(part, SEEDS, len(EXCHANGES)):
        graph = example(seed)
        spmd = partition(graph)
        exchanges.update(node.op for node in spmd.graph.nodes
                         if node.op in having(Trait.COLLECTIVE) - {"device_id"})
        arrays = inputs(seed, graph)
        tiles = [each.cut(array) for each, array in zip(spmd.arguments, arrays, strict=True)]
        found = interpret_spmd(spmd.graph, [list(each) for each in zip(*tiles, strict=True)],
                               timeout=20)
        for cuts, parts, wanted in zip(spmd.results, zip(*found, strict=True),
                                       interpret(graph, arrays), strict=True):
            assert wanted.dtype == DType.I32.numpy
            np.testing.assert_array_equal(cuts.join(parts), wanted, f"seed {seed}")
    assert exchanges == dict(zip(("all_gather", "all_reduce"), expected, strict=True))

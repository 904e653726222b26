"""Modules that say for how many devices they are, and modules of which the caller does."""

import numpy as np

from celosia.collectives import interpret_spmd
from celosia.pjrt.programs import Programs
from celosia.pjrt.settings import Settings

TEXT = """func.func @main(%x: tensor<2xf32>, %k: tensor<i64>) -> (tensor<2xf32>, tensor<i64>) {
  %r = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  %i = stablehlo.add %k, %k : tensor<i64>
  return %r, %i : tensor<2xf32>, tensor<i64>
}"""


def test_replicas_of_a_module_that_does_not_say_how_many():
    module = f"module @step {{\n{TEXT}\n}}".encode()
    programs = Programs(Settings.read({}))
    program = programs.get(module, replicas=4, narrows=True)
    spmd = program.spmd
    assert (spmd.replicas, spmd.partitions) == (4, 1)
    assert all(each.is_replicated for each in (*spmd.arguments, *spmd.results))
    assert program.results == [((2,), np.float32), ((), np.int32)]
    arguments = [[np.full(2, i, np.float32), np.int32(i)] for i in range(4)]
    for i, (total, twice) in enumerate(interpret_spmd(spmd.graph, arguments, timeout=20)):
        np.testing.assert_array_equal(total, [6, 6])
        assert twice == 2 * i
    assert programs.get(module, replicas=4, narrows=True) is program
    alone = programs.get(module, replicas=1, narrows=True)
    assert [node.op for node in alone.spmd.graph.nodes] == ["parameter", "parameter", "add"]

"""Programs for several devices, as text."""

import jax
import numpy as np
import pytest

from celosia.collectives import interpret_spmd
from celosia.compiler.spmd import partition
from celosia.frontend import FrontendError, import_stablehlo
from celosia.graph import Graph

X = np.arange(6, dtype=np.float32)
SUM = """({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  })"""
CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>"


def module(body, *, replicas=1, partitions=1, result="tensor<6xf32>", mesh=""):
    return f"""module attributes {{mhlo.num_partitions = {partitions} : i32,
    mhlo.num_replicas = {replicas} : i32}} {{
  {mesh}
  func.func @main(%x: tensor<6xf32>) -> {result} {{
  {body}
  return %r : {result}
}}}}"""


def manual(body, result="tensor<6xf32>"):
    return module(f"""%r = sdy.manual_computation(%x) in_shardings=[<@m, [{{}}]>]
    out_shardings=[<@m, [{{}}]>] manual_axes={{"d"}} (%y: tensor<6xf32>) {{
    {body}
    sdy.return %t : {result}
  }} : (tensor<6xf32>) -> {result}""", partitions=4, result=result, mesh='sdy.mesh @m = <["d"=4]>')


def run(text, count=4):
    spmd = partition(import_stablehlo(text))
    return [each for [each] in interpret_spmd(
        spmd.graph, [[X + 10 * i] for i in range(count)], timeout=20)]


def reduction(operand, attributes, name="r"):
    return f"""%{name} = "stablehlo.all_reduce"(%{operand}) <{{{attributes}}}> {SUM} :
    (tensor<6xf32>) -> tensor<6xf32>"""


EACH = "replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>"
ALONE = "replica_groups = dense<[[0], [1], [2], [3]]> : tensor<4x1xi64>"
REPLICA = "replica_groups = dense<[[0]]> : tensor<1x1xi64>"
NONE = "replica_groups = dense<> : tensor<0x0xi64>"
GLOBAL = "use_global_device_ids"
#: What there is of devices, what the operation says, and the devices that each one's sum is of.
PAIRS, ALL, SELF = [(0, 1), (0, 1), (2, 3), (2, 3)], [(0, 1, 2, 3)] * 4, [(i,) for i in range(4)]


@pytest.mark.parametrize(("kind", "attributes", "sums"), [
    ("replicas", EACH, PAIRS), ("replicas", NONE, ALL), ("replicas", ALONE, SELF),
    ("replicas", f"{CHANNEL}, {EACH}, {GLOBAL}", PAIRS), ("replicas", f"{CHANNEL}, {EACH}", PAIRS),
    ("partitions", REPLICA, SELF), ("partitions", f"{CHANNEL}, {REPLICA}", ALL),
    ("partitions", f"{CHANNEL}, {EACH}, {GLOBAL}", PAIRS),
    ("partitions", f"{CHANNEL}, {NONE}", ALL)])
def test_groups(kind, attributes, sums):
    text = module(reduction("x", attributes), replicas=4) if kind == "replicas" else manual(
        reduction("y", attributes, "t"))
    for found, devices in zip(run(text), sums, strict=True):
        np.testing.assert_array_equal(found, sum(X + 10 * i for i in devices))


def test_numbers_of_replicas():
    body = """%p = stablehlo.partition_id : tensor<ui32>
  %i = stablehlo.replica_id : tensor<ui32>
  %r = stablehlo.add %i, %p : tensor<ui32>"""
    text = module(body, replicas=4, result="tensor<ui32>")
    assert [int(each) for each in run(text)] == [0, 1, 2, 3]
    spmd = partition(import_stablehlo(text))
    assert (spmd.replicas, spmd.partitions, spmd.devices) == (4, 1, 4)
    assert all(each.is_replicated for each in (*spmd.arguments, *spmd.results))


def test_broadcast_and_permute_of_replicas():
    body = """%b = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[1, 0], [2, 3]]>
    : tensor<2x2xi64>}> : (tensor<6xf32>) -> tensor<6xf32>
  %r = "stablehlo.collective_permute"(%b) <{source_target_pairs = dense<[[0, 1], [2, 0]]>
    : tensor<2x2xi64>}> : (tensor<6xf32>) -> tensor<6xf32>"""
    for found, wanted in zip(run(module(body, replicas=4)), (X + 20, X + 10, 0 * X, 0 * X),
                             strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_one_device_needs_no_others():
    graph = import_stablehlo(module(reduction("x", REPLICA)))
    assert [node.op for node in graph.nodes] == ["parameter"]


def test_a_manual_computation_of_some_axes():
    text = module("""%r = sdy.manual_computation(%x) in_shardings=[<@m, [{"a", "b"}]>]
    out_shardings=[<@m, [{"a", "b"}]>] manual_axes={"a"} (%y: tensor<3xf32>) {
    %t = stablehlo.negate %y : tensor<3xf32>
    sdy.return %t : tensor<3xf32>
  } : (tensor<6xf32>) -> tensor<6xf32>""", partitions=4, mesh="""
  sdy.mesh @m = <["a"=2, "b"=2], device_ids=[0, 2, 1, 3]>""")
    spmd = partition(import_stablehlo(text))
    assert [each.hlo for each in (*spmd.arguments, *spmd.results)] == [
        "{devices=[2,2]0,2,1,3 last_tile_dim_replicate}"] * 2
    found = interpret_spmd(spmd.graph, [[each] for each in spmd.arguments[0].cut(X)])
    np.testing.assert_array_equal(spmd.results[0].join([each for [each] in found]), -X)


@pytest.mark.parametrize(("text", "problem"), [
    (module("%r = stablehlo.negate %x : tensor<6xf32>", replicas=2, partitions=2),
     "program must be for several replicas or partitions, not 2 x 2"),
    (manual(reduction("y", f"{CHANNEL}, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, "
                      f"{GLOBAL}", "t")),
     "stablehlo.all_reduce: replica_groups must have all 4 devices, not none with 2"),
    (module("%r = stablehlo.negate %x : tensor<6xf32>", partitions=4).replace(
        "%x: tensor<6xf32>", '%x: tensor<6xf32> {mhlo.sharding = "{devices=[4]<=[4]}"}'),
     "parameter: sharding must be one of Shardy, not {devices=[4]<=[4]}"),
    (module("%r = stablehlo.negate %x : tensor<6xf32>", partitions=4,
            mesh='sdy.mesh @m = <["d"=4]>').replace(
        "%x: tensor<6xf32>", '%x: tensor<6xf32> {sdy.sharding = #sdy.sharding<@m, [{"d"}]>}'),
     "parameter: extent 0 of [6] must be a multiple of 4, not 6"),
    (module("%r = stablehlo.negate %x : tensor<6xf32>", partitions=4,
            mesh='sdy.mesh @m = <["d"=4]>').replace(
        "%x: tensor<6xf32>", '%x: tensor<6xf32> {sdy.sharding = #sdy.sharding<@m, [{"d":(1)2}]>}'),
     'parameter: sharding must be by whole axes, not #sdy.sharding<@m, [{"d":(1)2}]>'),
    (module("%r = stablehlo.custom_call @SPMDFullToShardShape(%x) : (tensor<6xf32>) -> "
            "tensor<6xf32>", partitions=4),
     ("stablehlo.custom_call: program for 4 devices must be of Shardy: "
      "jax.config.update('jax_use_shardy_partitioner', True)")),
])
def test_what_is_refused(text, problem):
    with pytest.raises(FrontendError) as caught:
        import_stablehlo(text)
    assert [each.partition(": ")[2] for each in caught.value.problems] == [problem]


def test_constants_that_a_region_has_from_around_it():
    """Portable artifacts have them there."""
    lines = jax.jit(lambda x: jax.numpy.sort(x)).lower(X).as_text().splitlines()
    constants = [line for line in lines if "stablehlo.constant" in line]
    assert constants
    rest = [line for line in lines if line not in constants]
    start = next(i for i, line in enumerate(rest) if "stablehlo.sort" in line)
    graph = import_stablehlo("\n".join([*rest[:start], *constants, *rest[start:]]))
    assert isinstance(graph, Graph)
    assert [node.op for node in graph.nodes] == ["parameter", "sort"]

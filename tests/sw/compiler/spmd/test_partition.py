"""Graphs on whole arrays become what each device runs; the text of both, and what is refused."""

from pathlib import Path

import numpy as np
import pytest

import celosia
from celosia.collectives import interpret_spmd
from celosia.compiler.pipeline import canonical
from celosia.compiler.spmd import PARTITIONED, partition
from celosia.graph import CORE, Graph, GraphError, check, fingerprint, interpret, parse, to_text
from celosia.graph.sharding import Sharding

ROWS, WHOLE = Sharding((4, 1), (0, 1, 2, 3)), Sharding.replicated(2, 4)
TEXT = """graph f(
  %0: f32[8,6] "x" donated sharding=[[4,1],[0,1,2,3]],
  %1: f32[6] "b"
) partitions=4 {
  %2 = broadcast(%1) shape=[8,6] dims=[1] : f32[8,6]
  %3 = add(%0, %2) : f32[8,6]
  %6 = manual(%3) entering=[[[4,1],[0,1,2,3]]] leaving=[[[1,1],[0,0,0,0]]] : f32[2,6] {
    device(%4: f32[2,6]) {
      %5 = all_reduce(%4) groups=[[0,1,2,3]] reducer=add : f32[2,6]
      return %5
    }
  }
  %7 = shard(%3) sharding=[[1,1],[0,0,0,0]] : f32[8,6]
  return %3, %6, %7
}
"""
#: `b` is cut by where it is: repeated for the rows of a tile.
TILES = """graph f(
  %0: f32[2,6] "x" donated,
  %1: f32[6] "b"
) {
  %2 = broadcast(%1) shape=[2,6] dims=[1] : f32[2,6]
  %3 = add(%0, %2) : f32[2,6]
  %4 = all_reduce(%3) groups=[[0,1,2,3]] reducer=add : f32[2,6]
  %5 = all_gather(%3) groups=[[0,1,2,3]] dim=0 : f32[8,6]
  return %3, %4, %5
}
"""


def test_whole_arrays_become_tiles():
    spmd = partition(parse(TEXT))
    assert to_text(spmd.graph) == TILES
    assert (spmd.replicas, spmd.partitions, spmd.devices) == (1, 4, 4)
    assert spmd.arguments == (ROWS, Sharding.replicated(1, 4))
    assert spmd.results == (ROWS, WHOLE, WHOLE)
    check(spmd.graph, PARTITIONED)


def test_the_page_has_both():
    page = (Path(__file__).parents[4] / "docs" / "graph.md").read_text(encoding="utf-8")
    for text in (TEXT, TILES):
        assert f"```\n{text.replace(' donated', '')}```" in page


def test_the_text_of_whole_arrays():
    assert to_text(parse(TEXT)) == TEXT
    assert fingerprint(parse(TEXT)) != fingerprint(parse(TEXT.replace("[0,1,2,3]]", "[3,1,2,0]]")))


def test_what_is_compiled_is_what_each_device_runs():
    made = celosia.compile(parse(TEXT))
    assert [str(each.type) for each in made.inputs] == ["f32[2,6]", "f32[6]"]
    assert made.to_bytes() == celosia.compile(parse(TILES)).to_bytes()


def test_a_tile_begins_where_its_device_is_along_what_is_cut():
    spmd = partition(parse("""graph f(
      %0: f32[8,6] "x" sharding=[[1,1],[0,0]]
    ) partitions=2 {
      %1 = shard(%0) sharding=[[1,2],[0,1]] : f32[8,6]
      return %1
    }"""))
    assert to_text(spmd.graph) == """graph f(
  %0: f32[8,6] "x"
) {
  %1 = constant() value=i32[]{0} : i32[]
  %2 = constant() value=i32[2]{0,3} : i32[2]
  %3 = device_id() : u32[]
  %4 = dynamic_slice(%2, %3) sizes=[1] : i32[1]
  %5 = reshape(%4) shape=[] : i32[]
  %6 = dynamic_slice(%0, %1, %5) sizes=[8,3] : f32[8,3]
  return %6
}
"""


def test_a_program_of_one_device_is_left_alone():
    graph = parse(TILES)
    spmd = partition(graph)
    assert spmd.graph is graph
    assert spmd.devices == 1


def test_replicas_run_the_same_graph():
    spmd = partition(parse(TILES.replace(") {\n  %2", ") replicas=4 {\n  %2")))
    assert to_text(spmd.graph) == TILES
    assert (spmd.replicas, spmd.partitions) == (4, 1)
    assert spmd.arguments == (WHOLE, Sharding.replicated(1, 4))


def test_an_argument_is_as_the_first_manual_computation_wants_it():
    spmd = partition(parse(TEXT.replace(" sharding=[[4,1],[0,1,2,3]],", ",").replace(
        "manual(%3)", "manual(%0)")))
    assert spmd.arguments[0] == ROWS


def test_a_wish_that_cannot_be_granted():
    text = TEXT.replace("shard(%3) sharding=[[1,1],[0,0,0,0]]", "shard(%3) sharding=[[1,4],"
                                                                "[0,1,2,3]]")
    assert partition(parse(text)).results[2] == ROWS


LOOP = """graph f(
  %0: f32[8] "x" sharding=[[4],[0,1,2,3]],
  %1: i32[] "n"
) partitions=4 {
  %2 = constant() value=i32[]{0} : i32[]
  LINE
  return RESULT
}
"""


def test_what_a_loop_carries_is_whole():
    graph = parse(LOOP.replace("LINE", """%3, %4 = while(%2, %0) : i32[], f32[8] {
    cond(%5: i32[], %6: f32[8]) {
      %7 = constant() value=i32[]{3} : i32[]
      %8 = compare(%5, %7) direction=lt : bool[]
      return %8
    }
    body(%9: i32[], %10: f32[8]) {
      %11 = constant() value=i32[]{1} : i32[]
      %12 = add(%9, %11) : i32[]
      %13 = shard(%10) sharding=[[4],[3,2,1,0]] : f32[8]
      %14 = add(%13, %13) : f32[8]
      return %12, %14
    }
  }""").replace("RESULT", "%4"))
    gather = [node for node in partition(graph).graph.walk() if node.op == "all_gather"]
    # Before the loop, and for each turn what was wished to be cut.
    assert [node.types[0].shape for node in gather] == [(8,), (8,)]
    same(graph, np.arange(8, dtype=np.float32), np.int32(1))


def test_what_a_branch_uses_stays_cut():
    graph = parse(LOOP.replace("LINE", """%3 = case(%1, %0) : f32[8] {
    branch(%4: f32[8]) {
      %5 = negate(%4) : f32[8]
      return %5
    }
    branch(%6: f32[8]) {
      return %6
    }
  }""").replace("RESULT", "%3"))
    made = partition(graph).graph
    [case] = [node for node in made.nodes if node.op == "case"]
    assert [value.shape for value in case.operands] == [(), (2,)]
    for index in (0, 1):
        same(graph, np.arange(8, dtype=np.float32), np.int32(index))


def same(graph: Graph, *arrays) -> None:
    """Assert that devices together give what the graph gives at one place."""
    spmd = partition(graph)
    tiles = [cut.cut(array) for cut, array in zip(spmd.arguments, arrays, strict=True)]
    results = interpret_spmd(spmd.graph, list(zip(*tiles, strict=True)), timeout=20)
    for cut, found, wanted in zip(spmd.results, zip(*results, strict=True),
                                  interpret(graph, arrays), strict=True):
        np.testing.assert_array_equal(cut.join(found), wanted)


ONE = """graph f(
  %0: f32[8] "x"{of}
) partitions={count} {{
  %1 = {operation} : f32[8]
  return %1
}}
"""
CUT = "[[4],[0,1,2,3]]"


@pytest.mark.parametrize(("of", "count", "operation", "problem"), [
    ("", 4, "all_reduce(%0) groups=[[0,1,2,3]] reducer=add",
     ("all_reduce: must be in a manual computation (jax.shard_map), where the program is for 4 "
      "partitions")),
    ("", 1, f"shard(%0) sharding={CUT}", "shard: sharding must be of 1 devices, not 4"),
    ("", 2, f"shard(%0) sharding={CUT}", "shard: sharding must be of 2 devices, not 4"),
    (f" sharding={CUT}", 2, "exp(%0)", "parameter: sharding must be of 2 devices, not 4"),
])
def test_what_is_not_well_formed(of, count, operation, problem):
    graph = parse(ONE.format(of=of, count=count, operation=operation))
    with pytest.raises(GraphError) as caught:
        check(graph, CORE)
    assert caught.value.problems[0] == f"graph f is not core: unknown source: {problem}"


@pytest.mark.parametrize(("old", "new", "problem"), [
    ("sharding=[[4,1],[0,1,2,3]],", "sharding=[[3,1],[0,1,2,2]],",
     "parameter: extent 0 of [8, 6] must be a multiple of 3, not 8"),
    ("shard(%3) sharding=[[1,1],", "shard(%3) sharding=[[1],",
     "shard: sharding must be of rank 2, not 1"),
    ("entering=[[[4,1],[0,1,2,3]]]", "entering=[]",
     "manual: entering must be 1 shardings, not 0"),
    ("entering=[[[4,1],", "entering=[[[2,2],",
     "manual: region device must take (f32[4,3]), not (f32[2,6])"),
    ("leaving=[[[1,1],", "leaving=[[[1],", "manual: leaving must be of the ranks of the results"),
])
def test_shardings_that_do_not_fit(old, new, problem):
    assert TEXT.count(old) == 1
    with pytest.raises(GraphError) as caught:
        parse(TEXT.replace(old, new))
    assert str(caught.value).endswith(f"unknown source: {problem}")


def test_a_graph_on_whole_arrays_is_not_canonical():
    with pytest.raises(GraphError, match="manual: operation must be one of the level"):
        canonical(parse(TEXT))


def test_a_graph_on_whole_arrays_says_what_runs_it():
    with pytest.raises(ValueError, match=r"manual is what several devices do: "
                                         r"celosia\.compiler\.spmd\.partition makes the program"):
        interpret(parse(TEXT), [np.ones((8, 6), np.float32), np.ones(6, np.float32)])

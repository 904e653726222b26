"""Programs of JAX on four simulated chips give what JAX gives on four CPU devices."""

import jax
import numpy as np
import pytest
from four_devices import BATCH, MLP, PROGRAMS, one_chip

import celosia
from celosia.collectives import interpret_spmd, run_spmd
from celosia.compiled import load
from celosia.compiler import cache
from celosia.compiler.spmd import partition
from celosia.frontend import import_stablehlo
from celosia.graph import parse, to_text

CHIPS = 4


@pytest.fixture(scope="module")
def chips():
    devices = [celosia.open("model", "core") for _ in range(CHIPS)]
    yield devices
    for device in devices:
        device.close()


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch, tmp_path):
    cache.clear()
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path / "cache"))


def cut(spmd, arguments):
    """Return the arguments of each device."""
    tiles = [sharding.cut(array)
             for sharding, array in zip(spmd.arguments, arguments, strict=True)]
    return [[each[device] for each in tiles] for device in range(spmd.devices)]


def joined(spmd, results):
    return [sharding.join(tiles) for sharding, tiles in zip(
        spmd.results, zip(*results, strict=True), strict=True)]


def on_chips(spmd, arguments, chips, strict=False):
    compiled = celosia.compile(spmd.graph, "core", strict=strict)
    executables = [compiled.load(chip) for chip in chips]
    try:
        results = run_spmd(executables, cut(spmd, arguments), timeout=60)
    finally:
        for executable in executables:
            executable.free()
    # What all have is the same to the last bit.
    for sharding, *tiles in zip(spmd.results, *results, strict=True):
        for device, tile in enumerate(tiles):
            twin = tiles[sharding.tiles.index(sharding.tiles[device])]
            assert tile.tobytes() == twin.tobytes()
    return compiled, joined(spmd, results)


def agree(found, wanted, tolerance):
    for a, b in zip(found, wanted, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if a.dtype.kind in "iub":
            np.testing.assert_array_equal(a, b)
        else:
            np.testing.assert_allclose(a, b, tolerance, tolerance)


@pytest.mark.parametrize("name", PROGRAMS)
def test_graph_gives_what_jax_gives(name, lowered):
    program = lowered(name)
    spmd = partition(import_stablehlo(program.module))
    assert (spmd.devices, spmd.replicas) == (CHIPS, 1)
    results = interpret_spmd(spmd.graph, cut(spmd, program.arguments), precision="highest",
                             timeout=30)
    agree(joined(spmd, results), program.results, 3e-6)


#: Those whose only operations on the host are those of other tests.
HOST = {"plain", "until", "train_images"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_four_chips_give_what_jax_gives(name, lowered, chips):
    program = lowered(name)
    spmd = partition(import_stablehlo(program.module))
    compiled, found = on_chips(spmd, program.arguments, chips, strict=name not in HOST)
    assert compiled.on_chip is None
    # Products round their operands to bf16.
    agree(found, program.results, 2e-2 if name.startswith(("train", "rules")) else 3e-6)


@pytest.mark.parametrize("name", ["train", "train_around", "train_plain", "train_square"])
def test_data_parallel_step_is_one_chip_with_the_full_batch(name, lowered, chips):
    program = lowered(name)
    spmd = partition(import_stablehlo(program.module))
    _, found = on_chips(spmd, program.arguments, chips, strict=True)
    with celosia.jit(one_chip) as step:
        wanted = jax.tree.leaves(step(MLP, *BATCH))
    agree(found, [np.asarray(each) for each in wanted], 1e-6)


@pytest.mark.parametrize("name", ["train_plain", "train_square", "train_images"])
def test_a_step_without_manual_parts_stays_cut(name, lowered):
    graph = partition(import_stablehlo(lowered(name).module)).graph
    operations = [node.op for node in graph.nodes]
    assert "all_gather" not in operations
    # Each gradient, and the loss.
    assert operations.count("all_reduce") >= 2
    batch = 8 if name == "train_square" else 4 if name == "train_plain" else 2
    for node in graph.nodes:
        if node.op in ("dot", "convolution"):
            assert batch in (*node.operands[0].shape, *node.operands[1].shape)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_what_its_text_says(name, lowered):
    graph = import_stablehlo(lowered(name).module)
    again = parse(to_text(graph))
    assert to_text(again) == to_text(graph)
    assert graph.partitions == again.partitions == CHIPS
    found, wanted = partition(again), partition(graph)
    assert to_text(found.graph) == to_text(wanted.graph)
    assert (found.arguments, found.results) == (wanted.arguments, wanted.results)


def test_shardings_of_a_program(lowered):
    spmd = partition(import_stablehlo(lowered("two_axes").module))
    assert [each.hlo for each in spmd.arguments] == ["{devices=[2,2]0,1,2,3}"]
    assert [each.hlo for each in spmd.results] == [
        "{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}",
        "{devices=[2,2]0,2,1,3 last_tile_dim_replicate}", "{devices=[2,2]0,1,2,3}",
        "{replicated}"]
    assert [str(value.type) for value in spmd.graph.params] == ["f32[4,2]"]


def test_report_and_file_say_that_devices_meet(lowered, tmp_path):
    compiled = celosia.compile(import_stablehlo(lowered("pmean").module), strict=True)
    assert repr(compiled).endswith("for core and the link: chip, link, chip>")
    assert [each["where"] for each in compiled.report(json=True)["steps"]] == [
        "chip", "link", "chip"]
    assert ("step 2: among devices\n  all_reduce: devices exchange it by way of the host; "
            in compiled.report())
    compiled.save(tmp_path / "pmean.celosia")
    assert load(tmp_path / "pmean.celosia").to_bytes() == compiled.to_bytes()


def test_strict_refuses_a_loop_in_which_devices_meet(lowered):
    graph = import_stablehlo(lowered("until").module)
    with pytest.raises(celosia.CompileError, match="all_reduce: devices meet in a loop that is "
                                                   "too long to be written out"):
        celosia.compile(graph, strict=True)


def test_one_device_alone_says_how_to_run_the_program(lowered):
    program = lowered("psum")
    compiled = celosia.compile(import_stablehlo(program.module))
    with pytest.raises(ValueError, match=r"four_devices\.py:\d+:\d+ .*: all_reduce must be run by "
                                         r"celosia\.collectives\.run_spmd: 4 devices"):
        compiled(program.arguments[0][:2])

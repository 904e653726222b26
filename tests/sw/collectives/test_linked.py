"""Programs of JAX on four golden chips that exchange arrays by their links: the host's bits."""

import re
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from four_devices import PROGRAMS

import celosia
from celosia.arch.config import preset
from celosia.collectives import HostInterconnect, Topology
from celosia.collectives.linked import linked
from celosia.collectives.run import on_all
from celosia.compiler import cache
from celosia.compiler.spmd import partition
from celosia.driver import Device
from celosia.driver.pod import ModelPod, PodEnded
from celosia.frontend import import_stablehlo
from celosia.graph import DType, Graph, TensorType, op, parameter
from celosia.model.timing.predict import predict

RING, SQUARE = Topology((4,)), Topology((2, 2))
#: Those of which the host has to run a loop, with what is exchanged in it.
HOST = {"until"}
#: Those whose devices meet in pairs that no ring of four has.
PAIRS = {"train_square", "two_axes"}


class Pod:
    """Four golden chips."""

    def __init__(self, topology, preset_name="core", **more):
        self.topology = topology
        self.config = replace(preset(preset_name), ports=topology.ports, **more)
        pod = ModelPod(self.config, topology.chips, topology.links)
        self.devices = [Device(each, "model") for each in pod.transports]

    def run(self, programs, arguments):
        """Return the results of each chip, and how often the host brought something."""
        link = HostInterconnect(len(self.devices), 60, topology=self.topology)
        executables = [program.load(device)
                       for program, device in zip(programs, self.devices, strict=True)]
        try:
            return on_all(link, lambda number, peer: executables[number](
                *arguments[number], peer=peer)), link.meetings
        finally:
            for each in executables:
                each.free()

    def both(self, graph, arguments):
        """Compare the links with the host; return how often the links left something to it."""
        compiled = celosia.compile(graph, self.config)
        wanted, _ = self.run([compiled] * len(self.devices), arguments)
        own = [linked(compiled, self.topology, number) for number in range(len(self.devices))]
        found, meetings = self.run(own, arguments)
        for a, b in zip(found, wanted, strict=True):
            for x, y in zip(a, b, strict=True):
                assert (x.dtype, x.shape, x.tobytes()) == (y.dtype, y.shape, y.tobytes())
        return own, meetings


@pytest.fixture(scope="module", params=[RING, SQUARE], ids=str)
def pod(request):
    return Pod(request.param)


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch, tmp_path):
    cache.clear()
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_links_bring_what_the_host_brings(name, lowered, pod):
    if pod.topology == RING and name in PAIRS:
        return
    program = lowered(name)
    spmd = partition(import_stablehlo(program.module))
    tiles = [sharding.cut(array)
             for sharding, array in zip(spmd.arguments, program.arguments, strict=True)]
    own, meetings = pod.both(spmd.graph, [[each[i] for each in tiles] for i in range(4)])
    assert (meetings == 0) == (name not in HOST)
    if name not in HOST:
        assert [step.where for step in own[0].steps] == ["chip"]


def graph(reducer, dtype, size=40, **more):
    x = parameter(TensorType(dtype, (size,)), "x")
    joined = op("all_reduce", x, groups=[[0, 1, 2, 3]], reducer=reducer, **more)
    return Graph("joined", [x], [op("reverse", joined, dims=[0])])


@pytest.mark.parametrize(("reducer", "dtype", "linked"), [
    ("maximum", DType.F32, True), ("add", DType.BF16, True), ("minimum", DType.I8, True),
    ("or", DType.BOOL, True), ("add", DType.U32, True), ("and", DType.I32, True),
    ("multiply", DType.F32, False), ("xor", DType.I32, False), ("add", DType.I16, False),
    ("maximum", DType.U32, False)])
def test_joins_that_links_have(reducer, dtype, linked, pod):
    rng = np.random.default_rng(3)
    drawn = rng.integers(0, 2 if dtype is DType.BOOL else 100, (4, 40))
    _, meetings = pod.both(graph(reducer, dtype), [[each.astype(dtype.numpy)] for each in drawn])
    assert (meetings == 0) == linked


def test_a_part_of_the_chip_that_no_link_is_beside_stays_as_it_is():
    x = parameter(TensorType(DType.F32, (40,)), "x")
    joined = op("all_reduce", op("negate", x), groups=[[0, 1, 2, 3]], reducer="multiply")
    compiled = celosia.compile(Graph("joined", [x], [op("negate", joined)]),
                               replace(preset("core"), ports=RING.ports))
    assert [step.where for step in compiled.steps] == ["chip", "link", "chip"]
    kept = linked(compiled, RING, 0).steps
    assert all(a.program is b.program for a, b in zip(kept, compiled.steps, strict=True)
               if b.where == "chip")


def test_joins_of_bools_that_are_words():
    """A chip without int8 has a bool in a word of external memory."""
    pod, drawn = Pod(RING, int8=False), np.random.default_rng(5).integers(0, 2, (4, 40), bool)
    x = parameter(TensorType(DType.BOOL, (40,)), "x")
    joined = [op("all_reduce", op("not", x), groups=[[0, 1, 2, 3]], reducer=reducer)
              for reducer in ("and", "or")]
    graph = Graph("joined", [x], joined)
    _, meetings = pod.both(graph, [[each] for each in drawn])
    assert meetings == 0


@pytest.mark.parametrize(("name", "more"), [
    ("reduce_scatter", {"reducer": "add", "dim": 0}), ("all_gather", {"dim": 0}),
    ("all_reduce", {"reducer": "add"})])
def test_what_is_alike_is_one_exchange(name, more, pod):
    given = [parameter(TensorType(DType.F32, (size, 3)), f"x{size}") for size in (8, 20)]
    made = [op(name, x, groups=[[0, 1, 2, 3]], **more) for x in given]
    drawn = np.random.default_rng(5).standard_normal((4, 28, 3)).astype(np.float32)
    own, meetings = pod.both(Graph("alike", given, made), [np.split(each, [8]) for each in drawn])
    assert meetings == 0
    tags = [each.fields["tag"] for each in own[0].steps[0].program.insns
            if each.instruction.mnemonic == "send"]
    assert len({tag // 64 for tag in tags}) == 1


def test_what_has_no_room_together_is_one_after_the_other():
    pod = Pod(Topology((4, 2)), acc_rows=128)
    given = [parameter(TensorType(DType.F32, (1024,)), f"x{i}") for i in range(3)]
    made = [op("all_gather", x, groups=[list(range(8))], dim=0) for x in given]
    drawn = np.random.default_rng(6).standard_normal((8, 3, 1024)).astype(np.float32)
    _, meetings = pod.both(Graph("apart", given, made), drawn)
    assert meetings == 0


def test_what_nobody_gives_is_zeros(pod):
    x = parameter(TensorType(DType.F32, (5,)), "x")
    made = op("collective_permute", x, pairs=[(0, 3), (3, 1)])
    _, meetings = pod.both(Graph("sent", [x], [made]), [[np.full(5, i + 1, np.float32)]
                                                        for i in range(4)])
    assert meetings == 0


def sharded(blocks=3):
    """A layer whose chips have shares of its weights, and a step that changes them."""
    group = [[0, 1, 2, 3]]
    x = parameter(TensorType(DType.BF16, (32, 256)), "x")
    shares = [parameter(TensorType(DType.F32, (16, 256)), f"share{i}", donated=True)
              for i in range(blocks)]
    sums = [op("dot", x, op("all_gather", op("convert", each, dtype=DType.BF16), groups=group,
                            dim=0), dtype=DType.F32, contract=[(1, 1)]) for each in shares]
    total = sums[0]
    for each in sums[1:]:
        total = op("add", total, op("sqrt", op("abs", each)))
    slopes = [op("dot", op("convert", op("multiply", total, each), dtype=DType.BF16), x,
                 dtype=DType.F32, contract=[(0, 0)]) for each in sums]
    new = [op("subtract", share, op("reduce_scatter", slope, groups=group, reducer="add", dim=0))
           for share, slope in zip(shares, slopes, strict=True)]
    return Graph("sharded", [x, *shares], new)


def test_links_work_beside_the_array(pod, monkeypatch):
    rng = np.random.default_rng(11)
    given = [[rng.standard_normal((32, 256)).astype(ml_dtypes.bfloat16),
              *rng.standard_normal((3, 16, 256)).astype(np.float32)] for _ in range(4)]
    own, meetings = pod.both(sharded(), given)
    assert meetings == 0
    kinds = [each.instruction.mnemonic for each in own[0].steps[0].program.insns]
    first, last = kinds.index("send"), len(kinds) - kinds[::-1].index("send")
    assert kinds[first:last].count("matmul") > 0.6 * kinds.count("matmul")
    beside = predict(own[0].steps[0].program, pod.config)
    monkeypatch.setattr("celosia.collectives.linked.beside_links", lambda *_: None)
    behind = predict(pod.both(sharded(), given)[0][0].steps[0].program, pod.config)
    # Links need longer than the array here.
    assert behind.cycles - beside.cycles > 0.35 * beside.busy["mxu"]


@pytest.mark.parametrize("rows", [96, 256])
def test_there_may_be_no_room_for_links_beside_the_array(rows):
    pod, rng = Pod(RING, acc_rows=rows), np.random.default_rng(12)
    given = [[rng.standard_normal((32, 256)).astype(ml_dtypes.bfloat16),
              *rng.standard_normal((2, 16, 256)).astype(np.float32)] for _ in range(4)]
    _, meetings = pod.both(sharded(2), given)
    assert meetings == 0


def test_a_group_that_no_links_connect_alone(pod):
    x = parameter(TensorType(DType.F32, (5,)), "x")
    made = op("all_reduce", x, groups=[[0, 3], [1, 2]], reducer="add")
    compiled = celosia.compile(Graph("pairs", [x], [made]), pod.config)
    with pytest.raises(ValueError, match=f"all_reduce: group must be all chips along dimensions of "
                                         f"{pod.topology}, in their order, not \\[0, 3\\]$"):
        linked(compiled, pod.topology, 0)


def test_a_chip_that_does_not_come_ends_all():
    pod = Pod(RING)
    sums = [linked(celosia.compile(graph("add", DType.F32, size), pod.config), RING, number)
            for number, size in enumerate((40, 40, 40, 400))]
    arguments = [[np.zeros(each.inputs[0].type.shape, np.float32)] for each in sums]
    with pytest.raises(PodEnded) as error:
        pod.run(sums, arguments)
    assert re.search(r"chip 1 waits at instruction (\d+), recv on port 1, for chip 0, port 0, "
                     r"which stopped with LINK_MISMATCH at instruction \d+\n  chip 1, instruction "
                     r"\1: all_reduce", str(error.value))
    # The chips are as good as before.
    same = [linked(celosia.compile(graph("add", DType.F32), pod.config), RING, number)
            for number in range(4)]
    assert pod.run(same, [[np.ones(40, np.float32)]] * 4)[0][2][0].tolist() == [4] * 40


def test_chips_do_not_wait_for_one_that_failed():
    pod = Pod(RING)
    compiled = celosia.compile(graph("add", DType.F32), pod.config)
    executables = [linked(compiled, RING, number).load(device)
                   for number, device in enumerate(pod.devices)]

    def one(number, peer):
        if number == 2:
            raise KeyError("nothing to give")
        return executables[number](np.ones(40, np.float32), peer=peer)

    with pytest.raises(KeyError, match="nothing to give"):
        on_all(HostInterconnect(4, 60, topology=RING), one)

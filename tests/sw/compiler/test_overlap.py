"""Rounds of exchanges and of what the chip computes beside them."""

from dataclasses import replace

import pytest

from celosia.arch.config import PRESETS, preset
from celosia.compiled.steps import ChipStep
from celosia.compiler import api, canonical
from celosia.compiler.builder import Builder
from celosia.compiler.errors import CompileError
from celosia.compiler.overlap import link_rows, rounds
from celosia.compiler.split import split
from celosia.graph import DType, Graph, Source, TensorType, parameter

GROUP = ((0, 1),)
LINKS = ("all_gather", "reduce_scatter", "all_reduce")


def layer(blocks, rows=64, extra=0):
    """Return a graph that gathers weights by blocks, and scatters their gradients."""
    make = Builder(Source())
    x = parameter(TensorType(DType.F32, (64, 128)), "x")
    shares = [parameter(TensorType(DType.F32, (rows // 2, 128)), f"share{i}", donated=True)
              for i in range(blocks)]
    sums = [make("dot", x, make("all_gather", each, groups=GROUP, dim=0), dtype=DType.F32,
                 contract=[(1, 1)]) for each in shares]
    total = sums[0]
    for each in sums[1:]:
        total = make("add", total, make("abs", each))
    slopes = [make("dot", make("multiply", total, each), x, dtype=DType.F32, contract=[(0, 0)])
              for each in sums]
    new = [make("subtract", share, make("reduce_scatter", slope, groups=GROUP, reducer="add",
                                        dim=0)) for share, slope in zip(shares, slopes,
                                                                        strict=True)]
    small = [make("all_reduce", make("sqrt", make.part(total, 0, i, i + 1)), groups=GROUP,
                  reducer="add") for i in range(extra)]
    return canonical(Graph("layer", (x, *shares), (*new, *small)))


def scheduled(graph):
    nodes = [node for node in graph.nodes if node.op != "parameter"]
    links = {node: None for node in nodes if node.op in LINKS}
    return rounds(graph, nodes, links)


@pytest.mark.parametrize("extra", [0, 2])
@pytest.mark.parametrize("blocks", [1, 2, 5])
def test_each_long_exchange_has_a_round_and_products_are_spread(blocks, extra):
    graph = layer(blocks, extra=extra)
    found = scheduled(graph)
    assert found is not None
    long = [found[node] for node in graph.nodes if node.op in ("all_gather", "reduce_scatter")]
    assert sorted(long) == sorted(set(long))
    assert len(long) == 2 * blocks
    # What is exchanged is made before, what comes is used behind.
    for node, number in found.items():
        for value in node.operands:
            if (before := found.get(value.node)) is not None:
                apart = node.op in LINKS or value.node.op in LINKS
                assert before + apart <= number
    dots = [found[node] for node in graph.nodes if node.op == "dot"]
    # The first block's products are in one round with none, or the last one's of the other half.
    assert max(map(dots.count, dots)) <= 2
    assert len({*dots}) >= 2 * blocks - 1


def test_what_is_short_has_no_round():
    assert scheduled(layer(2, rows=8)) is None
    make = Builder(Source())
    x = parameter(TensorType(DType.F32, (64, 512)), "x")
    met = make("all_reduce", x, groups=GROUP, reducer="add")
    other = make("all_reduce", make("sqrt", met), groups=GROUP, reducer="add")
    assert scheduled(canonical(Graph("no products", (x,), (other,)))) is None


def test_what_links_read_is_not_written_over_beside_them():
    """A share that is gathered in a round has its new value in no part of the chip of the same."""
    make = Builder(Source())
    x = parameter(TensorType(DType.F32, (64, 128)), "x")
    shares = [parameter(TensorType(DType.F32, (32, 128)), f"share{i}", donated=True)
              for i in range(2)]
    sums = [make("dot", x, make("all_gather", each, groups=GROUP, dim=0), dtype=DType.F32,
                 contract=[(1, 1)]) for each in shares]
    new = [make("multiply", each, each) for each in shares]  # has not to wait for anything
    graph = canonical(Graph("over", (x, *shares), (*new, make("add", *sums))))
    parts, _ = split(graph, overlap=True)
    reads: dict[int, int] = {}
    for i, part in enumerate(parts):
        if part.where == "link":
            reads |= dict.fromkeys(part.takes, i)
    for i, part in enumerate(parts):
        for number, value in zip(part.takes, part.graph.params, strict=True):
            if value.node.attrs["donated"]:
                # Between the exchange and the part that writes there is another part of the chip.
                assert reads.get(number, -1) < i - 1


def test_rows_for_links_beside_the_array():
    for config in PRESETS.values():
        rows = link_rows(config)
        assert 4 * config.dim <= rows < config.acc_rows / 2
        for part in (rows, config.acc_rows - rows):  # both are accumulators that a chip can have
            assert replace(config, acc_rows=part).acc_rows == part
    assert link_rows(replace(preset("core"), acc_rows=64)) == 0


def test_a_part_that_needs_all_rows_has_them(monkeypatch):
    """What cannot be compiled with fewer rows leaves none to links."""
    made = []

    def step(level, takes, config, *rest):
        made.append(config.acc_rows)
        if config.acc_rows < 2048:
            raise CompileError("too few")
        return real(level, takes, config, *rest)

    real = api._chip_step
    monkeypatch.setattr(api, "_chip_step", step)
    config = replace(preset("core"), ports=2)
    compiled = api.compile(layer(2), config, cache=False)
    assert {2048 - link_rows(config), 2048} == set(made)
    assert all(each.program.fingerprint == config.fingerprint
               for each in compiled.steps if isinstance(each, ChipStep))


@pytest.mark.parametrize(("rows", "long"), [(48, True), (46, False)])
def test_exchanges_have_rounds_from_24_kib_on(rows, long):
    """A row of what is gathered has 512 bytes."""
    assert (scheduled(layer(2, rows=rows)) is not None) == long

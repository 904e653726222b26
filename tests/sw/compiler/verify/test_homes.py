"""Each rule of the places of tensors, broken once."""

import pytest

from celosia.arch.config import PRESETS
from celosia.arch.isa import DmaFormat, Mem
from celosia.compiler.build import build
from celosia.compiler.codegen.nodes import Base
from celosia.compiler.errors import IllFormed
from celosia.compiler.lowered import Access, External, Fill, Move, OnChip, Region, Tensor, While
from celosia.compiler.verify.homes import check_homes
from celosia.compiler.views import View
from celosia.graph import DType, Graph, TensorType, op, parameter

CORE = PRESETS["core"]
OWN = Region(range(100), range(4, 100))


def tensor(name, home, dtype=DType.F32):
    return Tensor(name, (4, 8), dtype, DmaFormat.W32 if dtype is DType.F32 else DmaFormat.BF16,
                  home)


def whole(of, base=None):
    return Access(of, View.contiguous(of.shape), base)


def said(*works, fixed=(), size=1024, region=OWN):
    regions = {work: region for work in works}
    regions.update((part, region) for work in works if isinstance(work, While)
                   for part in work.body)
    with pytest.raises(IllFormed) as error:
        check_homes(CORE, works, fixed, size, regions, 4)
    first, *lines = str(error.value).split("\n  ")
    assert first == "the plan of memory is not well formed:"
    return "; ".join(lines)


def test_what_is_well_formed_is_accepted():
    x, y, z = (tensor(name, home) for name, home in (
        ("x", External(0)), ("y", External(128)), ("z", OnChip(Mem.ACC, 200))))
    works = [Move(whole(x), whole(y)), Move(whole(y), whole(z))]
    check_homes(CORE, works, [x], 256, {work: OWN for work in works}, 4)


@pytest.mark.parametrize(("home", "dtype", "message"), [
    (None, DType.F32, "x must have a home"),
    (External(32), DType.F32,
     "x must begin at a multiple of 64 and end within 1024 bytes, not take 32..159"),
    (External(960), DType.F32,
     "x must begin at a multiple of 64 and end within 1024 bytes, not take 960..1087"),
    (OnChip(Mem.ACC, 2046), DType.F32, "x must lie in rows 4..2047 of ACC, not in 2046..2049"),
    (OnChip(Mem.ACC, 2), DType.F32, "x must lie in rows 4..2047 of ACC, not in 2..5"),
    (OnChip(Mem.UB, 16383), DType.BF16,
     "x must lie in rows 0..16383 of UB, not in 16383..16386"),
    (OnChip(Mem.UB, 200), DType.F32, "x in UB must be of bf16 or i8, not f32"),
    (OnChip(Mem.ACC, 98), DType.F32,
     "here: x must not lie in the work's own rows, range(4, 100) of ACC, not at row 98"),
])
def test_homes(home, dtype, message):
    assert message in said(Fill(whole(tensor("x", home, dtype)), 0, "here"))


@pytest.mark.parametrize("inside", [False, True])
def test_what_is_needed_at_once_lies_apart(inside):
    x, y = tensor("x", External(0)), tensor("y", External(64))
    works = [Fill(whole(x), 0), Fill(whole(y), 0), Move(whole(x), whole(y))]
    works = [While((), None, tuple(works), 2)] if inside else works
    assert said(*works) == ("x and y must not be in the same place while both are needed, not in "
                            "external from 64 on")


def test_what_is_fixed_is_needed_always():
    x, y = tensor("x", External(0)), tensor("y", External(64))
    works = [Fill(whole(x), 0), Fill(whole(y), 0)]
    check_homes(CORE, works, [], 192, {work: OWN for work in works}, 4)
    assert "x and y must not be in the same place" in said(*works, fixed=[x])


def test_addresses_of_the_run_are_of_external_memory():
    x = tensor("x", OnChip(Mem.ACC, 200))
    assert said(Fill(whole(x, Base("b")), 0, "here")) == (
        "here: x must be in external memory, as its address is known at run time only")


@pytest.mark.parametrize("region", [Region(range(20000), range(4, 100)),
                                    Region(range(100), range(100)),
                                    Region(range(100), range(4, 3000))])
def test_work_has_rows_of_the_memories(region):
    x = tensor("x", External(0))
    assert said(Fill(whole(x), 0, "here"), region=region) == (
        f"here: its own rows must be in the memories, not {region.ub} and {region.acc}")


def test_a_program_is_checked_before_it_is_emitted(monkeypatch):
    x = parameter(TensorType(DType.F32, (4, 8)))
    graph = Graph("g", [x], [op("negate", x)])
    monkeypatch.setattr("celosia.compiler.build.regions", lambda config, works, *_: {
        work: Region(range(1 << 20), range(4, 100)) for work in works})
    with pytest.raises(IllFormed, match="its own rows must be in the memories"):
        build(graph, CORE)
    monkeypatch.setenv("CELOSIA_CHECK", "0")
    build(graph, CORE)

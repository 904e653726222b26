"""Work that stored programs are lowered to: what is copied, what is not, where it lies."""

from pathlib import Path

import numpy as np
import pytest
from pages.show import work_text

import celosia
from celosia.arch.config import PRESETS
from celosia.arch.isa import DmaFormat
from celosia.compiler import canonical
from celosia.compiler.accesses import accesses, inner
from celosia.compiler.errors import CompileError
from celosia.compiler.lowered import (
    Access,
    Case,
    Cluster,
    External,
    Fill,
    Move,
    ReadWord,
    Tensor,
    While,
)
from celosia.compiler.lowering import lower
from celosia.compiler.memory import lives, numbered, plan_arena
from celosia.compiler.residency import plan_on_chip, regions
from celosia.compiler.views import View
from celosia.frontend import import_stablehlo
from celosia.graph import (
    DType,
    Graph,
    TensorType,
    interpret,
    op,
    ops,
    parameter,
    parse,
    splat,
)
from celosia.program.buffer import ALIGNMENT

CORE = PRESETS["core"]
PROGRAMS = Path(__file__).parents[1] / "frontend" / "programs"
NAMES = ("mlp_adam", "cnn_sgd", "lstm_sgd", "transformer_sgd")
F32, I32 = DType.F32, DType.I32


def lowered(name: str):
    return lower(CORE, canonical(import_stablehlo(PROGRAMS / f"{name}.mlir")))


def flat(works):
    for work in works:
        yield work
        for part in inner(work):
            yield from flat(part)


def count(works, kind) -> int:
    return sum(isinstance(work, kind) for work in flat(works))


def planned(name: str):
    made = lowered(name)
    fixed = [*made.inputs, *made.outputs, *made.constants]
    placed = plan_on_chip(CORE, made.works, fixed)
    return made, fixed, placed, plan_arena(made.works, fixed, 1 << 30)


def test_an_mlp_step_is_clusters_alone():
    works = lowered("mlp_adam").works
    assert {type(work) for work in flat(works)} == {Cluster}
    assert len(works) == 10


def test_a_scan_changes_its_state_in_place():
    made = lowered("lstm_sgd")
    loops = [work for work in made.works if isinstance(work, While)]
    assert [work.trips for work in loops] == [7, 7]
    # Stacks of results are written where they lie, at addresses that registers count; what remains
    # copies state of the turn before, and slices for products that need them in another order.
    assert [count(work.body, Move) for work in loops] == [3, 2]
    assert [count(work.body, ReadWord) for work in loops] == [0, 0]
    assert [[step for _, _, step in work.counts] for work in loops] == [[80, 96], [-80, -96]]


def test_heads_are_rounded_before_they_are_moved():
    from celosia.compiler.passes.rounding import rounding
    graph = rounding(canonical(import_stablehlo(PROGRAMS / "transformer_sgd.mlir")))
    works = lower(CORE, graph).works
    moved = [work for work in flat(works) if isinstance(work, Move)]
    assert moved
    assert {work.src.tensor.dtype for work in moved} == {DType.BF16}


def test_random_bits_are_one_cluster():
    """The rounds of threefry are a short loop, which is written out."""
    assert count(lowered("transformer_sgd").works, While) == 0


@pytest.mark.parametrize("name", NAMES)
def test_tensors_that_live_together_share_no_bytes(name):
    made, fixed, placed, size = planned(name)
    alive = lives(made.works)
    tensors = [tensor for tensor in alive if isinstance(tensor.home, External)]
    for i, a in enumerate(tensors):
        assert a.home.offset % ALIGNMENT == 0
        assert a.home.offset + a.nbytes <= size
        for b in tensors[:i]:
            together = (a in fixed or b in fixed or (alive[a].first <= alive[b].last
                                                     and alive[b].first <= alive[a].last))
            if together:
                assert (a.home.offset + a.nbytes <= b.home.offset
                        or b.home.offset + b.nbytes <= a.home.offset), (a.name, b.name)


def test_pieces_of_work_begin_before_what_is_in_them_and_end_after_it():
    tensor = Tensor("x", (), DType.I32, DmaFormat.W32)
    access = Access(tensor, View(0, (), ()))
    a, b, c, d = (Fill(access, 0) for _ in range(4))
    case = Case(access, ((b,), ()))
    loop = While((a,), access, (case, c))
    assert [*numbered([loop, d])] == [
        (2, 2, a), (4, 4, b), (3, 5, case), (6, 6, c), (1, 7, loop), (8, 8, d)]


@pytest.mark.parametrize("name", NAMES)
def test_work_stays_below_the_tensors_on_chip(name):
    made, _, placed, _ = planned(name)
    assert placed
    found = regions(CORE, made.works, placed, 4)
    for work in flat(made.works):
        region = found[work]
        assert region.acc.start == 4
        for access, _ in ([] if inner(work) else accesses(work)):
            if access.tensor in placed:
                rows = region.acc if access.tensor.home.mem else region.ub
                assert access.tensor.home.row >= rows.stop


def test_memory_is_used_again():
    f32 = TensorType(F32, (64, 64))
    x = y = parameter(f32)
    for _ in range(10):  # each a product of its own, whose operand must be transposed
        y = op("dot", *(op("convert", op("reshape", each, shape=(1, 64, 64)), dtype=DType.BF16)
                        for each in (y, x)), dtype=F32, batch=[(0, 0)], contract=[(2, 1)])
        y = op("reshape", op("transpose", y, permutation=(0, 2, 1)), shape=(64, 64))
    made = lower(CORE, Graph("chain", [x], [y]))
    fixed = [*made.inputs, *made.outputs]
    assert plan_arena(made.works, fixed, 1 << 30) <= 6 * 64 * 64 * 4


def test_too_little_memory_names_the_largest_tensors():
    made = lowered("mlp_adam")
    fixed = [*made.inputs, *made.outputs, *made.constants]
    with pytest.raises(CompileError, match=r"must fit 4096 bytes .* not need 8\d\d\d: .*most is "
                                           r"needed at .*\n(.*\n)* +768  \S+ f32\[12, 16\]"):
        plan_arena(made.works, fixed, 4096)


def test_what_the_chip_lacks_is_named():
    x = parameter(TensorType(F32, (5000,)))
    sort = ops("sort", x, dim=0)
    with pytest.raises(CompileError, match="sort would run on the host: more than 4,096 elements"):
        lower(CORE, Graph("sorted", [x], sort))


def test_an_output_that_is_an_input_is_not_copied():
    x = parameter(TensorType(F32, (4,)))
    made = lower(CORE, Graph("same", [x], [x, op("reshape", x, shape=(2, 2))]))
    assert made.works == []
    assert made.outputs == (made.inputs[0], made.inputs[0])


def test_a_concatenation_is_written_by_those_that_make_its_parts():
    x = parameter(TensorType(F32, (4, 6)))
    y = op("concatenate", op("exp", x), op("reshape", op("negate", op(
        "transpose", x, permutation=(1, 0))), shape=(4, 6)), dim=1)
    works = lower(CORE, Graph("joined", [x], [op("negate", y)])).works
    # The transpose, and what then lies in other rows than the result has.
    assert count(works, Move) == 2
    assert all(write.access.view.strides[-2] == 12 for work in works if isinstance(work, Cluster)
               for write in work.writes if write.value.node.op == "exp")


def test_empty_sums_are_zeros():
    x = parameter(TensorType(F32, (0, 3)))
    y = op("reduce", x, splat(0, TensorType(F32)), dims=(0,), reducer="add")
    (work,) = lower(CORE, Graph("empty", [x], [y])).works
    assert isinstance(work, Fill)
    assert work.word == 0


def test_counts_of_loops_are_known():
    text = """
graph count(%0: f32[4]) {
  %1 = constant() value=i32[]{2} : i32[]
  %9, %10 = while(%1, %0) : i32[], f32[4] {
    cond(%2: i32[], %3: f32[4]) {
      %4 = constant() value=i32[]{100} : i32[]
      %5 = compare(%2, %4) direction=lt : bool[]
      return %5
    }
    body(%6: i32[], %7: f32[4]) {
      %8 = constant() value=i32[]{1} : i32[]
      %11 = add(%6, %8) : i32[]
      %12 = exp(%7) : f32[4]
      return %11, %12
    }
  }
  return %10
}
"""
    (loop,) = (work for work in lower(CORE, canonical(parse(text))).works
               if isinstance(work, While))
    assert loop.trips == 98
    other = text.replace("direction=lt", "direction=ne")
    (loop,) = (work for work in lower(CORE, canonical(parse(other))).works
               if isinstance(work, While))
    assert loop.trips is None
    assert loop.predicate is not None


SLICES = """
graph slices(%0: f32[9,4]) {{
  %1 = constant() value=i32[]{{0}} : i32[]
  %2 = constant() value=f32[]{{0.0}} : f32[]
  %3 = broadcast(%2) shape=[1,4] : f32[1,4]
  %20, %21, %22 = while(%1, %0, %3) : i32[], f32[9,4], f32[1,4] {{
    cond(%4: i32[], %5: f32[9,4], %6: f32[1,4]) {{
      %7 = constant() value=i32[]{{9}} : i32[]
      %8 = compare(%4, %7) direction=lt : bool[]
      return %8
    }}
    body(%9: i32[], %10: f32[9,4], %11: f32[1,4]) {{
      %12 = constant() value=i32[]{{1}} : i32[]
      %13 = add(%9, %12) : i32[]
      %14 = constant() value=i32[]{{0}} : i32[]
      {start}
      %16 = dynamic_slice(%10, %15, %14) sizes=[1,4] : f32[1,4]
      %17 = add(%11, %16) : f32[1,4]
      return %13, %10, %17
    }}
  }}
  return %22
}}
"""


@pytest.mark.parametrize(("start", "counted"), [
    ("%15 = multiply(%9, %12) : i32[]", True),
    ("%18 = constant() value=i32[]{8} : i32[]\n%15 = subtract(%18, %9) : i32[]", True),
    ("%18 = constant() value=i32[]{-4} : i32[]\n%15 = add(%18, %9) : i32[]", False),
    ("%18 = constant() value=i32[]{2} : i32[]\n%15 = multiply(%9, %18) : i32[]", False),
    ("%15 = multiply(%9, %9) : i32[]", False),
])
def test_addresses_that_are_a_line_are_counted(start, counted):
    """The others are clamped in some turns, or are no line."""
    graph = parse(SLICES.format(start=start))
    works = lower(CORE, canonical(graph)).works
    (loop,) = (work for work in works if isinstance(work, While))
    assert len(loop.counts) == counted
    assert count(works, ReadWord) == (not counted)
    x = np.random.default_rng(0).integers(-9, 9, (9, 4)).astype(np.float32)
    (came,) = celosia.compile(graph, "core", cache=False)(x)
    assert (came == interpret(graph, [x])[0]).all()


STACK = """
graph stack(%0: f32[4,3], %1: f32[9,4,3]) {{
  %2 = constant() value=i32[]{{{first}}} : i32[]
  %20, %21, %22 = while(%2, %0, %1) : i32[], f32[4,3], f32[9,4,3] {{
    cond(%4: i32[], %5: f32[4,3], %6: f32[9,4,3]) {{
      %7 = constant() value=i32[]{{9}} : i32[]
      %8 = compare(%4, %7) direction=lt : bool[]
      return %8
    }}
    body(%9: i32[], %10: f32[4,3], %11: f32[9,4,3]) {{
      %12 = constant() value=i32[]{{1}} : i32[]
      %13 = add(%9, %12) : i32[]
      %14 = constant() value=i32[]{{0}} : i32[]
      %15 = add(%10, %10) : f32[4,3]
      %16 = reshape(%15) shape=[1,4,3] : f32[1,4,3]
      {start}
      %18 = dynamic_update_slice(%11, %16, %17, %14, %14) : f32[9,4,3]
      return %13, {state}, %18
    }}
  }}
  return %21, %22
}}
"""
FORTH = "%17 = multiply(%9, %12) : i32[]"
BACK = "%40 = constant() value=i32[]{8} : i32[]\n%17 = subtract(%40, %9) : i32[]"
ONCE = "%17 = multiply(%9, %14) : i32[]"
READ = """%30 = slice(%11) start=[3,0,0] limit=[4,4,3] stride=[1,1,1] : f32[1,4,3]
      %31 = reshape(%30) shape=[4,3] : f32[4,3]
      %32 = add(%15, %31) : f32[4,3]
      """


@pytest.mark.parametrize(("changes", "moves"), [
    ({"start": FORTH}, 0), ({"start": BACK}, 0),
    ({"start": FORTH, "first": 1}, 1), ({"start": BACK, "first": 2}, 1), ({"start": ONCE}, 1),
    ({"start": READ + FORTH, "state": "%32"}, 1),
])
def test_what_a_loop_writes_over_is_not_written_before_it(changes, moves):
    """But what some turns leave, or one of them reads."""
    graph = parse(STACK.format(**({"first": 0, "state": "%15"} | changes)))
    works = lower(CORE, canonical(graph)).works
    at = next(i for i, work in enumerate(works) if isinstance(work, While))
    # The state, and the stack.
    assert count(works[:at], Move) == 1 + moves
    rng = np.random.default_rng(0)
    given = [rng.integers(-9, 9, shape).astype(np.float32) for shape in ((4, 3), (9, 4, 3))]
    came = celosia.compile(graph, "core", cache=False)(*given)
    for got, wanted in zip(came, interpret(graph, given), strict=True):
        assert (got == wanted).all()


def test_state_that_nobody_wants_is_not_kept():
    graph = parse(SLICES.format(start="%15 = multiply(%9, %12) : i32[]"))
    works = lower(CORE, canonical(graph)).works
    (loop,) = (work for work in works if isinstance(work, While))
    assert [type(work) for work in loop.body] == [Cluster]  # the sum, and no count


def turned(left: str, m: int = 64, n: int = 80) -> list:
    """Two products of x [m,96]: as it is, and, as ``left`` says, its transpose."""
    graph = parse(f"""
graph g(%0: f32[{m},96], %1: f32[96,{n}], %2: f32[{m},48], %20: f32[{m},96]) {{
  %3 = dot(%0, %1) dtype=f32 contract=[[1,0]] : f32[{m},{n}]
  %4 = dot({left}, %2) dtype=f32 contract=[[0,0]] : f32[96,48]
  return %3, %4
}}""")
    x = [np.random.default_rng(0).standard_normal(each.shape).astype(np.float32)
         for each in graph.params]
    plain = celosia.compile(graph, "core", cache=False, options={"merge": False})(*x)
    for got, wanted in zip(plain, interpret(graph, x), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)
    works = lower(CORE, canonical(graph)).works
    return [work.product for work in sorted(works, key=lambda work: work.space != (1, m, n))]


def test_a_product_leaves_its_activations_transposed():
    one, other = turned("%0")
    assert one.turned.tensor is other.lhs.tensor
    assert other.lhs.tensor.shape == (96, 64)
    assert other.lhs.tensor.dtype is DType.BF16
    assert other.lhs.view.strides[1:] == (64, 1)


@pytest.mark.parametrize("changes", [
    {"left": "%20"}, {"left": "%0", "m": 65}, {"left": "%0", "n": 16}],
    ids=["another", "no whole tiles", "no time"])
def test_activations_that_are_not_left_transposed(changes):
    one, other = turned(**changes)
    assert one.turned is None
    assert other.lhs.view.strides[1] == 1


LAST = """
graph g(%0: f32[160,160], %1: f32[160,160], %2: f32[20], %20: f32[20,160]) {{
  %3 = dot(%0, %1) dtype=f32 contract=[[1,0]] : f32[160,160]
  %4 = exp(%2) : f32[20]
  %5 = dot(%20, {weights}) dtype=f32 contract=[[1,0]] : f32[20,160]
  return %3, %4, %5
}}"""


@pytest.mark.parametrize(("weights", "spaces"), [
    ("%1", [(20,), (1, 20, 160), (1, 160, 160)]),
    ("%3", [(20,), (1, 160, 160), (1, 20, 160)])], ids=["apart", "waits"])
def test_the_longest_product_comes_last(weights, spaces):
    graph = parse(LAST.format(weights=weights))
    works = lower(CORE, canonical(graph)).works
    assert [tuple(n for n in work.space if n > 1 or len(work.space) > 2)
            for work in works] == spaces


def test_work_as_text():
    made, fixed, *_ = planned("lstm_sgd")
    text = "\n".join(map(work_text, made.works))
    assert "loop, 7 times: while" in text
    assert "  dot over [1,4,24]" in text


@pytest.mark.parametrize(("body", "places"), [
    ("%2 = subtract(%0, %1) : f32[32,32]\n return %2", (0,)),
    # What others want still; another type; a parameter itself; a result that is given twice.
    ("%2 = subtract(%0, %1) : f32[32,32]\n %3 = add(%0, %1) : f32[32,32]\n return %2, %3",
     (None, 1)),
    ("%2 = dot(%0, %1) dtype=f32 contract=[[1,0]] : f32[32,32]\n return %2", (None,)),
    ("%2 = convert(%0) dtype=bf16 : bf16[32,32]\n return %2", (None,)),
    ("%2 = negate(%0) : f32[32,32]\n return %0, %2", (0, 1)),
    ("%2 = negate(%0) : f32[32,32]\n return %2, %0, %1", (None, 0, 1)),
    ("%2 = subtract(%0, %1) : f32[32,32]\n return %2, %2", (0, 0)),
])
def test_results_take_the_places_of_donated_parameters(body, places):
    text = f"graph g(%0: f32[32,32] donated, %1: f32[32,32] donated) {{ {body} }}"
    arrays = [np.random.default_rng(seed).standard_normal((32, 32), np.float32)
              for seed in range(2)]
    found = []
    for each in (text, text.replace(" donated", "")):
        compiled = celosia.compile(parse(each), "core", strict=True, cache=False)
        with celosia.open("model", "core") as device:
            found.append([array.tobytes() for array in compiled.run(device, *arrays)])
    assert found[0] == found[1]
    made = lower(PRESETS["core"], canonical(parse(text)))
    indexes = {tensor: i for i, tensor in enumerate(made.inputs)}
    assert tuple(indexes.get(tensor) for tensor in made.outputs) == places
    assert not count(made.works, Move)

"""What the passes make of graphs of each kind, and what these are lowered to, kept in kinds.json.

That results stay the same is tested elsewhere. But passes may leave more than they need to, and
nothing is wrong; that shows here: nodes at the canonical level and as they are lowered, pieces of
work, and digests of both. After a change that is meant: ``PYTHONPATH=scripts python
tests/sw/compiler/kinds.py`` writes them anew, and the difference is for review.
"""

import hashlib
import random
import sys
from contextlib import suppress
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "graph"), str(HERE.parents[1])]

import test_convolutions  # noqa: E402 - where this is a script these have to be found first
import test_reductions  # noqa: E402
from costs import write  # noqa: E402
from pages.show import work_text  # noqa: E402
from test_elementwise import ATTRS, NARROW  # noqa: E402
from test_indexed import parts  # noqa: E402

from celosia.arch.config import preset  # noqa: E402
from celosia.compiler import canonical  # noqa: E402
from celosia.compiler.builder import Builder  # noqa: E402
from celosia.compiler.errors import CompileError  # noqa: E402
from celosia.compiler.lowering import lower  # noqa: E402
from celosia.compiler.passes.calls import calls_apart  # noqa: E402
from celosia.compiler.passes.shares import shares  # noqa: E402
from celosia.compiler.pipeline import count, prepared  # noqa: E402
from celosia.graph import (  # noqa: E402
    OPS,
    DType,
    Graph,
    GraphError,
    Source,
    TensorType,
    check,
    constant,
    op,
    ops,
    parameter,
    to_text,
)

FILE = Path(__file__).with_suffix(".json")
#: Graphs of one kind that are one row.
TOGETHER = 6
#: Chips by turns: what they have of formats and of memory differs.
CHIPS = ("core", "core", "edge", "nano")


def elementwise(dtype):
    """Return every elementwise operation on a type."""
    params, outputs = [], []
    for name, attrs in ATTRS:
        given = [parameter(TensorType(dtype, (2, 24))) for _ in OPS[name].operands]
        if name == "select":
            given[0] = parameter(TensorType(DType.BOOL, (2, 24)))
        with suppress(GraphError):
            outputs.append(op(name, *given, **attrs))
            params += given
    return Graph("g", params, outputs)


def divided(rng):
    """Return quotients and remainders by a constant."""
    dtype = rng.choice([DType.I8, DType.U8, DType.U16, DType.I32, DType.U32])
    by = rng.choice([1, 2, 3, 64, 127]) if dtype.bits == 8 or rng.random() < 0.3 else rng.choice(
        [1 << (dtype.bits - 2), (1 << (dtype.bits - 3)) + 1, (1 << (dtype.bits - 4)) - 1,
         (1 << (dtype.bits - 5)) - 1, 1000])
    x = parameter(TensorType(dtype, (5, 16)))
    y = op("broadcast", constant(by, dtype), shape=x.shape)
    return Graph("g", [x], [op("divide", x, y), op("remainder", x, y)])


def gather(rng):
    """Return a gather of any kind."""
    shape, indices, sizes, gone, offset, names, _ = parts(rng)
    x = parameter(TensorType(rng.choice([DType.F32, DType.BF16, DType.BOOL]), tuple(shape)))
    i = parameter(TensorType(rng.choice([DType.I32, DType.I8, DType.U32]), tuple(indices)))
    return Graph("g", [x, i], [op("gather", x, i, sizes=sizes, collapsed=gone,
                                  offset_dims=offset, **names)])


def scatter(rng):
    """Return a scatter of any kind."""
    shape, indices, sizes, gone, offset, names, s = parts(rng)
    x = parameter(TensorType(rng.choice([DType.F32, DType.I32]), tuple(shape)))
    i = parameter(TensorType(DType.I32, tuple(indices)))
    kept = iter([size for dim, size in enumerate(sizes) if dim not in gone + names["x_batch"]])
    others = iter(s)
    u = parameter(TensorType(x.dtype, tuple(
        next(kept) if dim in offset else next(others) for dim in range(len(s) + len(offset)))))
    return Graph("g", [x, i, u], [op(
        "scatter", x, i, u, inserted=gone, window_dims=offset, unique=rng.random() < 0.3,
        reducer=rng.choice(["set", "add", "maximum", "multiply"]), **names)])


def dot(rng):
    """Return a product of any dimensions, perhaps between transposes."""
    extents = {letter + str(i): rng.choice([1, 2, 3, 17] if letter == "k" else [1, 2, 5, 18])
               for letter in "bkmn" for i in range(rng.randint(0, 2))}
    dtype = rng.choice([DType.F32, DType.BF16, DType.I8, DType.U8, DType.F16])
    params, values, orders = [], [], []
    for letters in ("bkm", "bkn"):
        order = [label for label in extents if label[0] in letters]
        rng.shuffle(order)
        value = parameter(TensorType(dtype, tuple(extents[label] for label in order)))
        params.append(value)
        if rng.random() < 0.5:
            value, order = turned(rng, value, order)
        values.append(value)
        orders.append(order)
    pairs = {letter: [(orders[0].index(label), orders[1].index(label)) for label in orders[0]
                      if label[0] == letter] for letter in "bk"}
    found = op("dot", *values, dtype=DType.F32 if dtype.is_float else DType.I32,
               batch=pairs["b"], contract=pairs["k"],
               precision=rng.choice(["default", "high", "highest"]))
    if rng.random() < 0.5:
        found, _ = turned(rng, found, range(found.type.rank))
    return Graph("g", params, [found])


def turned(rng, value, order):
    """Return a value with its dimensions in another order."""
    permutation = rng.sample(range(len(order)), len(order))
    return op("transpose", value, permutation=permutation), [order[dim] for dim in permutation]


def moved(rng):
    """Return a value after moves, one behind the other, and some work."""
    shape = tuple(rng.choice([1, 2, 3, 5, 12, 20]) for _ in range(rng.randint(1, 3)))
    x = value = parameter(TensorType(rng.choice([DType.F32, DType.BF16, DType.I8]), shape))
    fill = constant(rng.choice([0, 3]), x.dtype)
    for _ in range(rng.randint(2, 6)):
        value = move(rng, value, fill)
    return Graph("g", [x], [value, op("convert", value, dtype=DType.F32)])


def move(rng, x, fill):
    """Return a value moved in one way."""
    shape, rank = x.shape, x.type.rank

    def each(low, high):
        return [rng.randint(low, high) for _ in shape]

    match rng.randrange(8):
        case 0:
            return turned(rng, x, range(rank))[0]
        case 1:
            cut = rng.choice([(-1, 1), (1, -1), (-1,)])
            size = x.type.size
            return op("reshape", x, shape=[size if each < 0 else 1 for each in cut])
        case 2:
            return op("reshape", x, shape=[1, *shape][:rank + 1] if rank < 4 else shape)
        case 3:
            limit = [max(1, size - rng.randint(0, 1)) for size in shape]
            start = [rng.randint(0, end - 1) for end in limit]
            return op("slice", x, start=start, limit=limit, stride=[rng.randint(1, 2)
                                                                    for _ in shape])
        case 4:
            return op("pad", x, fill, low=each(0, 1), high=each(-1, 1) if min(
                shape, default=0) > 2 else each(0, 1), interior=each(0, 1))
        case 5:
            return op("concatenate", *[x] * rng.randint(1, 3), dim=rng.randrange(rank))
        case 6:
            return op("reverse", x, dims=[dim for dim in range(rank) if rng.random() < 0.5])
        case _:
            if rank > 3:
                return op("abs", x) if x.dtype.is_float else x
            return op("broadcast", x, shape=[*shape[:1], 2, *shape[1:]],
                      dims=[0, *range(2, rank + 1)])


def chosen(rng):
    """Return the greatest of each row, sorts, and rows that are too long to be joined at once."""
    shape = (rng.randint(1, 4), rng.choice([1, 5, 40, 70]))
    x = parameter(TensorType(rng.choice([DType.F32, DType.I32, DType.BF16, DType.U8]), shape))
    match rng.randrange(3):
        case 0:
            found = ops("top_k", x, k=rng.randint(1, min(3, shape[1])))
        case 1:
            found = ops("sort", x, dim=rng.randrange(2), descending=rng.random() < 0.5)
        case _:
            x = parameter(TensorType(DType.F32, (rng.randint(1, 3), 70000)))
            found = ops("reduce", x, constant(0.0, x.dtype), dims=rng.choice([[1], [0, 1]]),
                        reducer="add")
    return Graph("g", [x], found)


def looped(rng):
    """Return a loop that reads rows of what it keeps, and changes others."""
    b = Builder(Source.UNKNOWN)
    rows, word, zero = rng.randint(4, 20), TensorType(DType.I32), b.constant(0, DType.I32)
    types = [TensorType(DType.F32, (rows, 6)), TensorType(DType.F32, (6,)),
             TensorType(DType.F32, (6,))]
    given = [parameter(each, f"p{i}", donated=rng.random() < 0.5) for i, each in enumerate(types)]
    i, *state = (parameter(each) for each in (word, *types))
    last = b.constant(rng.randint(3, rows), DType.I32)
    cond = Graph("cond", [i, *state], [b.compare(rng.choice(["lt", "lt", "ne"]), i, last)])
    i, a, x, y = (parameter(each) for each in (word, *types))
    at = rng.choice([i, b("subtract", b.constant(rows - 1, DType.I32), i),
                     b("multiply", i, i), b("add", i, b.constant(1, DType.I32))])
    row = b.reshape(b("dynamic_slice", a, rng.choice([i, at]), zero, sizes=(1, 6)), 6)
    new = b("add", b("exp", row), x)
    if rng.random() < 0.4:
        new = b.concatenate([b("negate", b.part(new, 0, 0, 2)), b("abs", b.part(y, 0, 2, 6))], 0)
    changed = b("dynamic_update_slice", a, b.reshape(new, 1, 6), at, zero)
    outputs = rng.choice([[changed, x, y], [changed, y, x], [a, new, x], [changed, new, y],
                          [b("multiply", a, a), y, new], [changed, b.full(1.0, x.type), x]])
    body = Graph("body", [i, a, x, y], [b("add", i, b.constant(1, DType.I32)), *outputs])
    made = b.all("while", b.constant(rng.choice([0, 0, 2]), DType.I32), *given,
                 regions=(cond, body))
    return Graph("g", given, rng.sample(made, rng.randint(1, 4)))


def branched(rng):
    """Return a branch whose results are given, constant, made, or without elements."""
    b = Builder(Source.UNKNOWN)
    types = [TensorType(DType.F32, (5, 20)), TensorType(DType.F32, (5, 20)),
             TensorType(DType.F32, (0, 3))]
    index = parameter(TensorType(DType.I32))
    given = [parameter(each, donated=rng.random() < 0.5) for each in types]
    branches = []
    for _ in range(rng.randint(1, 3)):
        x, y, z = (parameter(each) for each in types)
        fill = b.part(b.part(x, 0, 0, 1), 1, 2, 3)
        outputs = [rng.choice([x, y, b("add", x, y), b.full(2.0, x.type),
                               b.pad(b.part(x, 1, 0, 17), b.reshape(fill), (0, 1), (0, 2)),
                               b.pad(b.part(x, 1, 0, 17), 3.0, (0, 2), (0, 1))])
                   for _ in range(2)]
        branches.append(Graph("branch", [x, y, z], [*outputs, z]))
    made = b.all("case", index, *given, regions=branches)
    return Graph("g", [index, *given], made)


def called(rng, number=0):
    """Return a loop, or a branch, that computes and calls a function of the host."""
    b = Builder(Source.UNKNOWN)
    word, square = TensorType(DType.I32), TensorType(DType.F32, (4, 4))

    def call(ticket, *values):
        chosen = rng.sample(values, rng.randint(0, 2))
        return b.all("callback", ticket, *chosen, number=number)[0]

    def part(i, x, w, ticket, deep=True):
        y = rng.choice([b("multiply", x, w), b("negate", b("abs", x)), x])
        if rng.random() < 0.8:
            ticket = call(ticket, i, y, w, x, b.full(2.0, x.type), b("add", y, w))
        if deep and rng.random() < 0.4:
            params = [[parameter(each) for each in (word, square, square, word)] for _ in "ab"]
            branches = [Graph("branch", each, part(*each, deep=False)) for each in params]
            y, ticket = b.all("case", b("and", i, 1), i, y, w, ticket, regions=branches)
        return [b("add", y, b.full(0.5, y.type)), ticket]

    i, ticket = parameter(word, "i"), b.constant(0, DType.I32)
    x, w = parameter(square, "x"), parameter(square, "w")
    if rng.random() < 0.4:
        params = [[parameter(each) for each in (word, square, square, word)] for _ in "abc"]
        branches = [Graph("branch", each, part(*each)) for each in params]
        return Graph("g", [i, x, w], b.all("case", i, i, x, w, ticket, regions=branches))
    types = [word, square, square, word]
    params = [parameter(each) for each in types]
    turns = b.constant(rng.randint(1, 4), DType.I32)
    cond = Graph("cond", params, [b.compare(rng.choice(["lt"] * 5 + ["ne"]), params[0], turns)])
    params = [parameter(each) for each in types]
    y, after = part(*params)
    body = Graph("body", params, [b("add", params[0], 1), y, params[2], after])
    made = b.all("while", b.constant(0, DType.I32), x, w, ticket, regions=(cond, body))
    return Graph("g", [i, x, w], made)


def exchanged(rng):
    """Return what devices exchange along any dimension."""
    b = Builder(Source.UNKNOWN)
    shape = tuple(rng.choice([2, 4, 6]) for _ in range(rng.randint(1, 3)))
    x = parameter(TensorType(DType.F32, shape))
    dim, other = (rng.randrange(len(shape)) for _ in range(2))
    groups = rng.choice([((0, 1),), ((0, 1), (2, 3))])
    match rng.randrange(4):
        case 0:
            return Graph("g", [x], [b("all_gather", x, groups=groups, dim=dim)])
        case 1:
            return Graph("g", [x], [b("reduce_scatter", x, groups=groups, dim=dim,
                                      reducer="add")])
        case 2:
            return Graph("g", [x], [b("all_to_all", x, groups=groups, split=dim, concat=other)])
        case _:
            return Graph("g", [x], [b("all_reduce", x, groups=groups, reducer="add")])


KINDS = {"quotients": (divided, 12), "gathers": (gather, 24), "scatters": (scatter, 24),
         "dots": (dot, 30), "moves": (moved, 36), "choices": (chosen, 12),
         "reductions": (test_reductions.at_random, 24),
         "convolutions": (test_convolutions.at_random, 18), "loops": (looped, 24),
         "branches": (branched, 12), "calls": (called, 24), "exchanges": (exchanged, 12)}
#: What else is done to graphs of some kinds before they are lowered.
FURTHER = {"calls": calls_apart, "exchanges": shares}


def graphs(name):
    """Return the graphs of a row."""
    kind, _, rest = name.partition(" of ")
    if kind == "elementwise operations":
        return [elementwise(DType(rest))]
    kind, _, number = name.rpartition(" ")
    make, found = KINDS[kind][0], []
    rng = random.Random(name)
    while len(found) < TOGETHER:
        with suppress(GraphError):
            made = make(rng)
            found.append(made[0] if isinstance(made, tuple) else made)
    return found


NAMES = [*(f"elementwise operations of {dtype}" for dtype in NARROW),
         *(f"{kind} {part}" for kind, (_, number) in KINDS.items()
           for part in range(number // TOGETHER))]


def form_of(name):
    """Return nodes, pieces of work, and digests of both."""
    nodes = works = 0
    texts = [[], []]
    further = FURTHER.get(name.partition(" ")[0])
    for i, graph in enumerate(graphs(name)):
        made = canonical(graph)
        if further is not None:
            made = further(made)
            check(made)
        nodes += count(made)
        texts[0].append(to_text(made))
        config = preset(CHIPS[i % len(CHIPS)])
        try:
            lowered = lower(config, prepared(made, config)).works
        except (CompileError, GraphError) as error:
            texts[1].append(str(error))
            continue
        works += len(lowered)
        texts[1] += map(work_text, lowered)
    return [nodes, works, *(hashlib.sha256("\n".join(each).encode()).hexdigest()[:8]
                            for each in texts)]


if __name__ == "__main__":
    write(FILE, {name: form_of(name) for name in NAMES})

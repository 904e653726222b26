"""Graphs at random whose extents lie about those of a chip, and what their programs cost.

The graphs of `exact_graphs` are of few elements, so that each bit of what they give is known.
These reach tiles and pieces of all sizes; rounding is all that their results may differ by. What
they cost is kept in at_random.json, as of `costs`: after a change of the compiler that is meant to
change it, ``PYTHONPATH=scripts python tests/sw/compiler/at_random.py`` writes it anew.
"""

import math
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
from costs import cost, write
from moving import SMALL

import celosia
from celosia.graph import DType, Graph, TensorType, constant, op, ops, parameter

FILE = Path(__file__).with_suffix(".json")
#: Seeds whose costs are kept.
COUNT = 168

#: A chip of so few rows that nearly everything comes in parts.
TIGHT = replace(SMALL, name="tight", ub_rows=32, acc_rows=64)
#: With types of elements.
CHIPS = (("core", ("f32", "bf16", "i32", "i8")), ("edge", ("i8", "i32")), ("nano", ("i8", "i32")),
         ("core4", ("f32", "bf16")), (SMALL, ("f32", "bf16", "i8")),
         (TIGHT, ("f32", "bf16", "i32", "i8")))
EXTENTS = (1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 40, 63, 65, 100, 128, 130, 257)
#: Elements of the largest tensor.
MOST = 20_000
UNARY = ("exp", "tanh", "sqrt", "log1p", "abs", "negate", "floor", "sign", "rsqrt", "logistic")
BINARY = ("add", "subtract", "multiply", "maximum", "minimum")


class Growth:
    """A graph that grows by operations, which another class has."""

    extents, most = EXTENTS, MOST

    def __init__(self, seed, types):
        self.rng, self.types, self.given = random.Random(seed), types, []
        self.first = self.new(DType(self.rng.choice(types)), self.shape())

    def shape(self):
        """Return 1 to 4 extents."""
        rank = self.rng.choice((1, 2, 2, 2, 3, 3, 4))
        found, left = [], self.most
        for _ in range(rank):
            found.append(self.rng.choice([extent for extent in self.extents if extent <= left]))
            left //= found[-1]
        self.rng.shuffle(found)
        return tuple(found)

    def new(self, dtype, shape):
        """Return a new parameter."""
        self.given.append(parameter(TensorType(dtype, shape)))
        return self.given[-1]

    def like(self, x, shape):
        """Return a parameter of a type as another's."""
        return self.new(x.dtype, tuple(shape))

    def dim(self, x):
        return self.rng.randrange(x.type.rank)

    def start(self, x, sizes):
        """Return start indices, some of which are only known, or computed, when it runs."""
        def given():
            return self.new(DType.I32, ())

        return [self.rng.choice((
            given, lambda: op("add", given(), constant(1, DType.I32)),
            lambda last=extent - size: constant(self.rng.randrange(last + 1), DType.I32)))()
            for extent, size in zip(x.shape, sizes, strict=True)]

    def grow(self):
        """Return up to five operations' results, of which each is of one that came before."""
        pool = [self.first]
        for _ in range(self.rng.randrange(1, 6)):
            x = pool[-1] if self.rng.random() < 0.8 else self.rng.choice(pool)
            kind = self.rng.choice(KINDS)
            if not x.type.rank or not x.type.size:
                continue
            try:
                found = getattr(self, kind)(x)
            except ValueError:  # a window or a cut that leaves less than nothing
                continue
            if math.prod(found.shape) <= self.most and found.type.rank <= 5:
                pool.append(found)
        return [pool[-1], *(value for value in pool[1:-1] if self.rng.random() < 0.3)]


class Walk(Growth):
    """The operations: each returns what one makes of a value, and of new parameters."""

    def unary(self, x):
        if not x.dtype.is_float:
            return op(self.rng.choice(("abs", "negate", "sign")), x)
        return op(self.rng.choice(UNARY), x)

    def binary(self, x):
        kind = self.rng.randrange(4)
        if kind == 0:
            other = self.like(x, x.shape)
        elif kind == 1:  # a scalar
            other = op("broadcast", constant(3, x.dtype), shape=x.shape, dims=())
        else:  # along some dimensions
            dims = [i for i in range(x.type.rank) if self.rng.random() < 0.5]
            other = op("broadcast", self.like(x, [x.shape[i] for i in dims]), shape=x.shape,
                       dims=dims)
        return op(self.rng.choice(BINARY), *self.rng.sample((x, other), 2))

    def select(self, x):
        less = op("compare", x, self.like(x, x.shape), direction=self.rng.choice(("lt", "ge")))
        if self.rng.random() < 0.5:
            at = op("iota", dtype=DType.I32, shape=x.shape, dim=self.dim(x))
            less = op("compare", at, op("broadcast", constant(2, DType.I32), shape=x.shape,
                                        dims=()), direction="gt")
        return op("select", less, x, self.like(x, x.shape))

    def convert(self, x):
        return op("convert", x, dtype=DType(self.rng.choice(self.types)))

    def transpose(self, x):
        return op("transpose", x, permutation=self.rng.sample(range(x.type.rank), x.type.rank))

    def reshape(self, x):
        """Two dimensions as one, or one as two."""
        shape, i = list(x.shape), self.dim(x)
        if self.rng.random() < 0.5 and i + 1 < len(shape):
            shape[i:i + 2] = [shape[i] * shape[i + 1]]
        else:
            small = self.rng.choice([n for n in range(1, shape[i] + 1) if shape[i] % n == 0])
            shape[i:i + 1] = [small, shape[i] // small]
        return op("reshape", x, shape=shape)

    def slice(self, x):
        start = [self.rng.randrange((extent + 1) // 2) for extent in x.shape]
        limit = [self.rng.randrange(low + 1, extent + 1)
                 for low, extent in zip(start, x.shape, strict=True)]
        return op("slice", x, start=start, limit=limit,
                  stride=[self.rng.choice((1, 1, 1, 2, 3)) for _ in x.shape])

    def dynamic_slice(self, x):
        sizes = [self.rng.randrange(1, extent + 1) for extent in x.shape]
        return op("dynamic_slice", x, *self.start(x, sizes), sizes=sizes)

    def dynamic_update_slice(self, x):
        sizes = [self.rng.randrange(1, extent + 1) for extent in x.shape]
        return op("dynamic_update_slice", x, self.like(x, sizes), *self.start(x, sizes))

    def pad(self, x):
        def each(*values):
            return [self.rng.choice(values) for _ in x.shape]

        return op("pad", x, constant(0, x.dtype), low=each(0, 1, 3), high=each(0, 0, 2, -1),
                  interior=each(0, 0, 0, 1))

    def concatenate(self, x):
        dim, extents = self.dim(x), list(x.shape)
        extents[dim] = self.rng.choice((1, 3, 16))
        return op("concatenate", *self.rng.sample((x, self.like(x, extents), x), 3), dim=dim)

    def reverse(self, x):
        return op("reverse", x, dims=[self.dim(x)])

    def broadcast(self, x):
        """Repeated along a new dimension."""
        at, count = self.rng.randrange(x.type.rank + 1), self.rng.choice((2, 5, 17))
        return op("broadcast", x, shape=(*x.shape[:at], count, *x.shape[at:]),
                  dims=[i for i in range(x.type.rank + 1) if i != at])

    def reduce(self, x):
        dims = self.rng.sample(range(x.type.rank), self.rng.randrange(1, x.type.rank + 1))
        return op("reduce", x, constant(0, x.dtype), dims=sorted(dims),
                  reducer=self.rng.choice(("add", "maximum", "minimum")))

    def arg_reduce(self, x):
        index = op("iota", dtype=DType.I32, shape=x.shape, dim=self.dim(x))
        return ops("arg_reduce", x, index, constant(0, x.dtype), constant(0, DType.I32),
                   dims=[self.dim(x)], reducer="max")[self.rng.randrange(2)]

    def reduce_window(self, x):
        return op("reduce_window", x, constant(0, x.dtype), reducer="add",
                  window=[self.rng.choice((1, min(2, extent))) for extent in x.shape],
                  stride=[self.rng.choice((1, 2)) for _ in x.shape],
                  padding=[self.rng.choice(((0, 0), (1, 0))) for _ in x.shape],
                  x_dilation=[1] * x.type.rank, window_dilation=[1] * x.type.rank)

    def gather(self, x):
        count = self.rng.choice((1, 4, 20))
        return op("gather", x, self.new(DType.I32, (count, 1)),
                  offset_dims=list(range(1, x.type.rank)), collapsed=[0], start_map=[0],
                  index_dim=1, sizes=[1, *x.shape[1:]])

    def dot(self, x):
        """With a parameter, which comes first or second."""
        dims = self.rng.sample(range(x.type.rank), x.type.rank)
        cut = self.rng.randrange(1, min(3, len(dims) + 1))
        contract, rest = dims[:cut], dims[cut:]
        batch = rest[:1] if len(rest) > 1 and self.rng.random() < 0.4 else []
        free = [self.rng.choice(self.extents[:18])] if self.rng.random() < 0.9 else []
        where = self.rng.sample([*batch, *contract, None][:len(batch) + cut + len(free)],
                                len(batch) + cut + len(free))
        other = self.like(x, [free[0] if i is None else x.shape[i] for i in where])
        swapped = self.rng.random() < 0.3

        def pairs(dims):
            found = [(i, where.index(i)) for i in dims]
            return [(b, a) for a, b in found] if swapped else found

        result = DType.I32 if not x.dtype.is_float else self.rng.choice((DType.F32, x.dtype))
        return op("dot", *((other, x) if swapped else (x, other)), dtype=result,
                  batch=pairs(batch), contract=pairs(contract))

    def loop(self, x):
        """Three turns, of which each changes x."""
        i, value = parameter(TensorType(DType.I32)), parameter(x.type)
        cond = Graph("cond", [i, value], [op("compare", i, constant(3, DType.I32),
                                             direction="lt")])
        i, value = parameter(TensorType(DType.I32)), parameter(x.type)
        body = Graph("body", [i, value], [op("add", i, constant(1, DType.I32)),
                                          op("maximum", op("negate", value), value)])
        return ops("while", constant(0, DType.I32), x, regions=(cond, body))[1]


KINDS = tuple(name for name in vars(Walk) if not name.startswith("_"))


def example(seed):
    """Return a chip and a graph."""
    chip, types = CHIPS[seed % len(CHIPS)]
    walk = Walk(seed, types)
    results = walk.grow()
    return chip, Graph("g", walk.given, results)


def compiled(seed):
    """Return the program of a seed, and its graph."""
    chip, graph = example(seed)
    return celosia.compile(graph, chip, cache=False), graph


def inputs(seed, graph):
    """Return arguments: floats far from zero, of which few differences are small; small numbers."""
    rng = np.random.default_rng(seed)

    def array(type):
        if type.dtype.is_float:
            return rng.uniform(0.25, 2, type.shape).astype(type.dtype.numpy)
        low, high = (0, 4) if type.shape == () else (-5, 6)  # a place, or what is computed with
        return rng.integers(low, high, type.shape).astype(type.dtype.numpy)

    return [array(each.type) for each in graph.params]


if __name__ == "__main__":
    write(FILE, {str(seed): cost(compiled(seed)[0]) for seed in range(COUNT)})

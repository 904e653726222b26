"""Graphs at random of which it is known how exact the results of another implementation must be.

Floats are small multiples of a power of two, so that most operations give the same bits in
whatever order sums are made; for the rest an error is carried along. What is not exact is never
compared, rounded to bf16 for a product, or made an integer: there a small error could become any.
Where operations may be merged (`celosia.compiler.build.Options.merge`), no product of floats is
exact: (x + x) * x may become the square of sqrt(2) * x.
"""

import math
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

import celosia
from celosia.graph import DType, Graph, TensorType, constant, op, ops, parameter, to_text

F32, BF16, I32, U32, I8, BOOL = (DType.F32, DType.BF16, DType.I32, DType.U32, DType.I8, DType.BOOL)
#: Extents around the side of the array of the preset core, 16; most are small.
EXTENTS = st.sampled_from([1, 2, 3, 5, 7, 16, 17, 20, 33, 40, 2, 3, 4, 0])
MOST = 900
DTYPES = st.sampled_from([F32, F32, F32, BF16, BF16, I32, I32, U32, I8, BOOL, DType.U8,
                          DType.I16, DType.U16])
BITS = 2.0**24
#: The graph's bits, the default, and the least exact.
OPTIONS = ({"merge": False}, {}, {"fast": True})
#: Function to its steepness, where arguments are from -8 to 8, and how large it becomes.
FUNCTIONS = {"exp": (2981.0, 2981.0), "expm1": (2981.0, 2981.0), "tanh": (1.0, 1.0),
             "sin": (1.0, 1.0), "cos": (1.0, 1.0), "erf": (1.2, 1.0)}
#: Likewise, where arguments are from 1 to 9.
ROOTS = {"sqrt": (0.5, 3.0), "rsqrt": (0.5, 1.0), "log": (1.0, 2.2), "log1p": (0.5, 2.4)}


@dataclass(frozen=True)
class Facts:
    """What is known of floats: how large they are, of what they are multiples, how far off."""

    bound: float = 8.0
    grain: float = 0.25
    error: float = 0.0

    @property
    def exact(self):
        return self.error == 0

    @property
    def plain(self):
        """Whether fp32 holds all such numbers."""
        return self.exact and self.bound <= self.grain * BITS


class Maker:
    """A graph that grows; ``moves``: elements are any bits and are only moved."""

    def __init__(self, draw, moves=False):
        self.draw, self.moves = draw, moves
        self.options = draw(st.sampled_from(OPTIONS))
        self.rng = np.random.default_rng(draw(st.integers(0, 2**32)))
        self.params, self.inputs, self.facts, self.pool = [], [], {}, []

    # Values

    def add(self, value, facts=None):
        """Put a value into the pool; floats with what is known of them."""
        if value.dtype.is_float:
            facts = facts or Facts()
            if value.dtype is BF16 and not facts.exact:
                facts = Facts(facts.bound * 1.01, 0.0, facts.error + facts.bound / 128)
            elif value.dtype is BF16:
                facts = Facts(facts.bound * 1.01, facts.grain)
            elif facts.exact and not facts.plain:
                facts = Facts(facts.bound, 0.0, facts.bound / BITS * 2)
            self.facts[value] = facts
        self.pool.append(value)
        return value

    def parameter(self, type):
        value = parameter(type, f"p{len(self.params)}", donated=self.draw(st.booleans()))
        self.params.append(value)
        self.inputs.append(self.array(type))
        return self.add(value)

    def array(self, type):
        shape, dtype = type.shape, type.dtype.numpy
        if type.dtype is BOOL:
            return self.rng.random(shape) < 0.5
        if self.moves and type.dtype is not I32:
            return np.frombuffer(self.rng.bytes(type.nbytes), dtype).reshape(shape)
        if type.dtype.is_float:
            return np.asarray(self.rng.integers(-32, 33, shape) / 4).astype(dtype)
        if self.draw(st.booleans()):
            info = np.iinfo(dtype)
            return self.rng.integers(info.min, info.max, shape, dtype, endpoint=True)
        return self.rng.integers(0, 12, shape, dtype)

    def shape(self, rank=None):
        rank = self.draw(st.sampled_from([0, 1, 1, 2, 2, 2, 3, 3, 4])) if rank is None else rank
        return self.fit([self.draw(EXTENTS) for _ in range(rank)])

    def fit(self, shape):
        """Return a shape with fewer elements where it has too many."""
        shape = list(shape)
        while math.prod(shape) > MOST:
            shape[int(np.argmax(shape))] = 2
        return tuple(shape)

    def pick(self, test=lambda value: True):
        """Return a value of the pool for which a test holds, or None."""
        found = [value for value in self.pool if test(value)]
        return self.draw(st.sampled_from(found)) if found else None

    def like(self, x):
        """Return a value of the type of another."""
        return self.pick(lambda y: y.type == x.type)

    def fact(self, x):
        return self.facts.get(x, Facts())

    def exact(self, x):
        return not x.dtype.is_float or self.facts[x].exact

    def small(self, x, low, high):
        """Return x between bounds, and its facts."""
        facts = self.fact(x)
        clamped = op("clamp", constant(low, x.dtype), x, constant(high, x.dtype))
        return clamped, Facts(max(abs(low), abs(high)), facts.grain, facts.error)

    # Operations

    def grow(self):
        kinds = [self.binary, self.binary, self.unary, self.function, self.divide, self.compare,
                 self.select, self.convert, self.reshape, self.transpose, self.broadcast,
                 self.slice, self.pad, self.concatenate, self.reduce, self.reduce, self.dot,
                 self.dot, self.reverse, self.iota, self.gather, self.dynamic, self.update,
                 self.loop, self.branch, self.rows, self.again]
        if self.moves:
            kinds = [self.reshape, self.transpose, self.broadcast, self.slice, self.pad,
                     self.concatenate, self.reverse, self.gather, self.dynamic, self.update,
                     self.select, self.again, self.turn]
        self.draw(st.sampled_from(kinds))(self.pick())

    def binary(self, x):
        y, facts = self.like(x), self.fact(x)
        other = self.fact(y)
        if x.dtype is BOOL:
            self.add(op(self.draw(st.sampled_from(["and", "or", "xor"])), x, y))
        elif x.dtype.is_float:
            name = self.draw(st.sampled_from(["add", "subtract", "multiply", "maximum",
                                              "minimum"]))
            if name == "multiply" and facts.bound * other.bound > 1e6:
                name = "maximum"
            self.add(op(name, x, y), self.of_binary(name, facts, other))
        else:
            names = ["add", "subtract", "multiply", "maximum", "minimum", "and", "or", "xor"]
            rare = ["divide", "remainder", "shift_left", "shift_right", "shift_right_signed"]
            seldom = self.draw(st.integers(0, 3)) == 0
            self.add(op(self.draw(st.sampled_from(rare if seldom else names)), x, y))

    def of_binary(self, name, a, b):
        error = a.error + b.error
        if name in ("maximum", "minimum"):
            return Facts(max(a.bound, b.bound), min(a.grain, b.grain), error)
        if name == "multiply":
            bound, grain = a.bound * b.bound, a.grain * b.grain
            error = a.error * b.bound + b.error * a.bound + a.error * b.error
            error += 0.0 if self.options == OPTIONS[0] else bound / BITS * 4
        else:
            bound, grain = a.bound + b.bound, min(a.grain, b.grain)
        return Facts(bound, grain, error + bound / BITS * 2 if error else 0.0)

    def unary(self, x):
        if x.dtype is BOOL:
            self.add(op("not", x))
        elif not x.dtype.is_float:
            names = ["not", "negate", "abs", "sign"] if x.dtype.is_signed else ["not", "negate"]
            self.add(op(self.draw(st.sampled_from(names)), x))
        else:
            facts = self.fact(x)
            names = ["negate", "abs"]
            names += ["floor", "ceil", "round", "sign", "is_finite"] if facts.exact else []
            name = self.draw(st.sampled_from(names))
            if name in ("floor", "ceil", "round", "sign"):
                facts = Facts(facts.bound + 1, 1.0)
            self.add(op(name, x), facts)

    def function(self, x):
        if not x.dtype.is_float:
            return
        roots = self.draw(st.booleans())
        name = self.draw(st.sampled_from(sorted(ROOTS if roots else FUNCTIONS)))
        clamped, facts = self.small(x, *((1.0, 8.0) if roots else (-8.0, 8.0)))
        steep, most = (ROOTS if roots else FUNCTIONS)[name]
        self.add(op(name, clamped), Facts(most, 0.0, steep * facts.error + most * 4e-6))

    def divide(self, x):
        if not x.dtype.is_float:
            return
        y = self.like(x)
        clamped, below = self.small(y, 1.0, 8.0)
        facts = self.fact(x)
        self.add(op("divide", x, clamped), Facts(
            facts.bound, 0.0, facts.error + facts.bound * (below.error + 4e-7)))

    def compare(self, x):
        y = self.like(x)
        if self.exact(x) and self.exact(y):
            way = self.draw(st.sampled_from(["eq", "ne", "lt", "le", "gt", "ge"]))
            self.add(op("compare", x, y, direction=way))

    def select(self, x):
        if self.moves and x.dtype is BF16:
            return  # goes through fp32: no move, as docs/compiler.md says
        y = self.like(x)
        predicate = self.pick(lambda p: p.dtype is BOOL and p.shape in ((), x.shape))
        if predicate is None:
            predicate = self.parameter(TensorType(BOOL, x.shape))
        facts = self.of_binary("maximum", self.fact(x), self.fact(y))
        self.add(op("select", predicate, x, y), facts)

    def convert(self, x):
        dtype = self.draw(DTYPES)
        if x.dtype.is_float:
            facts = self.fact(x)
            if facts.exact or dtype is F32:
                self.add(op("convert", x, dtype=dtype), facts if dtype.is_float else None)
        elif dtype.is_float and x.dtype in (I32, U32):
            few = op("and", x, op("broadcast", constant(63, x.dtype), shape=x.shape))
            self.add(op("convert", few, dtype=dtype), Facts(63.0, 1.0))
        else:
            bound = 1.0 if x.dtype is BOOL else 2.0**(x.dtype.bits)
            self.add(op("convert", x, dtype=dtype), Facts(bound, 1.0))

    def rows(self, x):
        """A value for each row, broadcast back over its lanes: a mean, a maximum."""
        if x.type.rank == 0 or x.dtype is BOOL or not x.type.shape[-1]:
            return
        reducer = self.draw(st.sampled_from(["add", "maximum"]))
        joined = self.add(self.reduced(x, [x.type.rank - 1], reducer),
                          self.of_sum(x, x.shape[-1], reducer))
        wide = self.add(op("broadcast", joined, shape=x.shape, dims=range(x.type.rank - 1)),
                        self.fact(joined))
        if x.dtype.is_float:
            self.add(op("subtract", x, wide), self.of_binary("add", self.fact(x),
                                                             self.fact(wide)))

    def again(self, x):
        self.add(ops("barrier", x)[0], self.fact(x))

    def iota(self, x):
        if x.type.rank and x.dtype is not BOOL:
            found = op("iota", dtype=x.dtype, shape=x.shape,
                       dim=self.draw(st.integers(0, x.type.rank - 1)))
            self.add(found, Facts(64.0, 1.0))

    # Movements

    def reshape(self, x):
        count, shape = math.prod(x.shape), []
        while count > 1 and len(shape) < 3:
            factors = [n for n in range(1, count + 1) if count % n == 0]
            shape.append(self.draw(st.sampled_from(factors)))
            count //= shape[-1]
        shape = [*shape, count] if count != 1 or self.draw(st.booleans()) else shape
        self.add(op("reshape", x, shape=shape), self.fact(x))

    def transpose(self, x):
        order = self.draw(st.permutations(range(x.type.rank)))
        self.add(op("transpose", x, permutation=order), self.fact(x))

    def broadcast(self, x):
        extents = [self.draw(EXTENTS) if n == 1 else n for n in x.shape]
        dims = list(range(x.type.rank))
        for _ in range(self.draw(st.integers(0, 2))):
            at = self.draw(st.integers(0, len(extents)))
            extents.insert(at, self.draw(EXTENTS))
            dims = [dim + (dim >= at) for dim in dims]
        if math.prod(extents) <= MOST:
            self.add(op("broadcast", x, shape=extents, dims=dims), self.fact(x))

    def slice(self, x):
        start = [self.draw(st.integers(0, n)) for n in x.shape]
        limit = [self.draw(st.integers(a, n)) for a, n in zip(start, x.shape, strict=True)]
        stride = [self.draw(st.sampled_from([1, 1, 2, 3])) for _ in start]
        self.add(op("slice", x, start=start, limit=limit, stride=stride), self.fact(x))

    def pad(self, x):
        low, high, interior = ([self.draw(st.sampled_from(few)) for _ in x.shape] for few in
                               ([0, 0, 1, 3, -1], [0, 0, 2, -2], [0, 0, 0, 1, 2]))
        shape = [a + b + n + i * max(n - 1, 0) for a, b, i, n in
                 zip(low, high, interior, x.shape, strict=True)]
        if min(shape, default=0) >= 0 and math.prod(shape) <= MOST:
            facts = self.fact(x)
            self.add(op("pad", x, constant(1, x.dtype), low=low, high=high, interior=interior),
                     Facts(max(facts.bound, 1), facts.grain, facts.error))

    def concatenate(self, x):
        if not x.type.rank:
            return
        dim = self.draw(st.integers(0, x.type.rank - 1))
        shape = list(x.shape)
        shape[dim] = self.draw(EXTENTS)
        parts = [x, self.parameter(TensorType(x.dtype, self.fit_along(shape, dim)))]
        if self.draw(st.booleans()):
            parts.append(x)
        facts = self.of_binary("maximum", self.fact(parts[0]), self.fact(parts[1]))
        self.add(op("concatenate", *self.draw(st.permutations(parts)), dim=dim), facts)

    def fit_along(self, shape, dim):
        return tuple(shape) if math.prod(shape) <= MOST else (*shape[:dim], 1, *shape[dim + 1:])

    def reverse(self, x):
        dims = [dim for dim in range(x.type.rank) if self.draw(st.booleans())]
        self.add(op("reverse", x, dims=dims), self.fact(x))

    # Sums

    def reduced(self, x, dims, reducer):
        initial = {"add": 0, "multiply": 1, "and": -1, "or": 0, "xor": 0}
        if reducer in initial:
            start = constant(initial[reducer], x.dtype)
        elif x.dtype.is_float:
            start = constant(-np.inf if reducer == "maximum" else np.inf, x.dtype)
        else:
            info = np.iinfo(x.dtype.numpy)
            start = constant(info.min if reducer == "maximum" else info.max, x.dtype)
        if x.dtype.is_float and self.draw(st.booleans()):
            start = constant(1, x.dtype)
        return op("reduce", x, start, dims=dims, reducer=reducer)

    def of_sum(self, x, count, reducer):
        facts = self.fact(x)
        if reducer != "add":
            return Facts(max(facts.bound, 1), facts.grain, facts.error)
        bound = facts.bound * count + 1
        exact = facts.exact and bound <= facts.grain * BITS
        error = 0.0 if exact else count * facts.error + count * bound / BITS
        return Facts(bound, min(facts.grain, 1.0) if exact else 0.0, error)

    def reduce(self, x):
        dims = [dim for dim in range(x.type.rank) if self.draw(st.booleans())]
        count = math.prod(x.shape[dim] for dim in dims)
        if x.dtype is BOOL:
            self.add(self.reduced(x, dims, self.draw(st.sampled_from(["and", "or"]))))
        elif x.dtype.is_float and count:
            reducer = self.draw(st.sampled_from(["add", "add", "maximum", "minimum"]))
            self.add(self.reduced(x, dims, reducer), self.of_sum(x, count, reducer))
        elif not x.dtype.is_float:
            names = ["add", "add", "maximum", "minimum", "and", "or", "xor", "multiply"]
            self.add(self.reduced(x, dims, self.draw(st.sampled_from(names))))

    def dot(self, x):
        if x.dtype not in (F32, BF16, I8) or not self.exact(x):
            return
        roles = [self.draw(st.sampled_from(["batch", "contract", "free"])) for _ in x.shape]
        paired = [dim for dim, role in enumerate(roles) if role != "free"]
        free = [self.draw(EXTENTS) for _ in range(self.draw(st.integers(0, 2)))]
        order = self.draw(st.permutations(range(len(paired) + len(free))))
        extents = [*(x.shape[dim] for dim in paired), *free]
        shape = tuple(extents[i] for i in order)
        left = math.prod(n for n, role in zip(x.shape, roles, strict=True) if role == "free")
        if math.prod(shape) > 4 * MOST or math.prod(shape) * left > 40 * MOST:
            return
        same = [y for y in self.pool if y.type == TensorType(x.dtype, shape) and self.exact(y)]
        y = self.draw(st.sampled_from(same)) if same and self.draw(st.booleans()) \
            else self.parameter(TensorType(x.dtype, shape))
        pairs = {role: [(dim, order.index(i)) for i, dim in enumerate(paired)
                        if roles[dim] == role] for role in ("batch", "contract")}
        precision = self.draw(st.sampled_from(["default", "default", "highest"]))
        dtype = {F32: F32, BF16: self.draw(st.sampled_from([F32, BF16])), I8: I32}[x.dtype]
        found = op("dot", x, y, dtype=dtype, precision=precision, **pairs)
        if math.prod(found.shape) > MOST:
            return
        a, b = self.fact(x), self.fact(y)
        count = math.prod(x.shape[dim] for dim, _ in pairs["contract"])
        bound, grain = max(a.bound * b.bound * count * 1.02, 1.0), a.grain * b.grain
        exact = bound <= grain * BITS and max(a.bound / a.grain, b.bound / b.grain) <= 2**8
        self.add(found, Facts(bound, grain, 0.0 if exact else bound * 2.0**-7))

    # Indices and control

    def index(self):
        return self.parameter(TensorType(I32))

    def dynamic(self, x):
        sizes = [self.draw(st.integers(0, n)) for n in x.shape]
        starts = [self.index() if self.draw(st.booleans()) else constant(1, I32) for _ in sizes]
        self.add(op("dynamic_slice", x, *starts, sizes=sizes), self.fact(x))

    def update(self, x):
        if not x.type.rank:
            return
        shape = tuple(self.draw(st.integers(0, n)) for n in x.shape)
        new = self.parameter(TensorType(x.dtype, shape))
        starts = [self.index() if self.draw(st.booleans()) else constant(1, I32) for _ in shape]
        self.add(op("dynamic_update_slice", x, new, *starts),
                 self.of_binary("maximum", self.fact(x), self.fact(new)))

    def gather(self, x):
        if not x.type.rank or not x.shape[0]:
            return
        count = self.draw(EXTENTS)
        if count * math.prod(x.shape[1:]) <= MOST:
            at = self.parameter(TensorType(I32, (count, 1)))
            self.add(op("gather", x, at, offset_dims=range(1, x.type.rank), collapsed=[0],
                        start_map=[0], index_dim=1, sizes=(1, *x.shape[1:])), self.fact(x))

    def step(self, x):
        """Return a region that gives something of the type of what it takes, as large."""
        value = parameter(x.type)
        if x.dtype is BOOL:
            found = op("not", value)
        elif x.dtype.is_float:
            found = op("negate", value)
        else:
            found = op("add", value, value)
        if x.type.rank and self.draw(st.booleans()):
            found = op("reverse", found, dims=[self.draw(st.integers(0, x.type.rank - 1))])
        return value, found

    def loop(self, x):
        count = self.draw(st.integers(0, 3))
        limit = self.draw(st.sampled_from([constant(count, I32), None]))
        limit = self.index() if limit is None else limit
        limit = op("minimum", limit, constant(3, I32))
        params = [parameter(TensorType(I32)), parameter(TensorType(I32)), parameter(x.type)]
        cond = Graph("cond", params, [op("compare", params[0], params[1], direction="lt")])
        value, found = self.step(x)
        i, n = parameter(TensorType(I32)), parameter(TensorType(I32))
        body = Graph("body", [i, n, value], [op("add", i, constant(1, I32)), n, found])
        results = ops("while", constant(0, I32), limit, x, regions=(cond, body))
        self.add(results[2], self.fact(x))

    def turn(self, x):
        """Turn the operand round in a loop."""
        params = [parameter(TensorType(I32)), parameter(x.type)]
        cond = Graph("cond", params, [op("compare", params[0], constant(3, I32),
                                         direction="lt")])
        i, value = parameter(TensorType(I32)), parameter(x.type)
        turned = op("reverse", value, dims=range(x.type.rank))
        body = Graph("body", [i, value], [op("add", i, constant(1, I32)), turned])
        self.add(ops("while", constant(0, I32), x, regions=(cond, body))[1], self.fact(x))

    def branch(self, x):
        branches = []
        for name in ("first", "second"):
            value, found = self.step(x)
            branches.append(Graph(name, [value], [found]))
        self.add(ops("case", self.index(), x, regions=branches)[0], self.fact(x))


@dataclass(frozen=True)
class Example:
    """A graph, inputs, and how far each result may be off; 0: equal."""

    graph: Graph
    inputs: list
    errors: list
    options: dict

    def __repr__(self):
        """What a failure prints: the text of the graph."""
        return f"{to_text(self.graph, sources=False)}\n# errors {self.errors}, {self.options}"

    def compile(self, preset="core"):
        """Return the program; nothing may run on the host."""
        return celosia.compile(self.graph, preset, strict=True, cache=False,
                               options=self.options)


@st.composite
def examples(draw, most=8, moves=False):
    """Return an `Example`."""
    made = Maker(draw, moves)
    for _ in range(draw(st.integers(1, 2))):
        made.parameter(TensorType(draw(DTYPES), made.shape()))
    for _ in range(draw(st.integers(1, most))):
        made.grow()
    used = {value for each in made.pool for value in each.node.operands}
    outputs = [value for value in made.pool if value not in used]
    outputs += draw(st.lists(st.sampled_from(made.pool), max_size=1))
    errors = [made.facts[value].error if value.dtype.is_float else 0.0 for value in outputs]
    return Example(Graph("random", made.params, outputs), made.inputs, errors, made.options)


def check_results(found, wanted, errors):
    """Assert that results are as exact as they must be; zeros of any sign are equal."""
    for i, (a, b, error) in enumerate(zip(found, wanted, errors, strict=True)):
        assert (a.dtype, a.shape) == (b.dtype, b.shape), i
        if error:
            np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), 0, error,
                                       err_msg=f"result {i}")
        else:
            np.testing.assert_array_equal(a, b, err_msg=f"result {i}")

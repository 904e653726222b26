"""Well-formed graphs at random, for properties that all of them have."""

import math
import tempfile
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir

from celosia.graph import DType, Graph, Source, TensorType, constant, op, ops, parameter

# Not in the folder where the tests were started.
set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "celosia-hypothesis")
# The same graphs each time, so that a failure is one of the change at hand.
settings.register_profile("celosia", derandomize=True, database=None, deadline=None,
                          max_examples=100, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("celosia")

NARROW = [dtype for dtype in DType if not dtype.is_wide]
DTYPES = st.sampled_from(NARROW)
SHAPES = st.lists(st.integers(0, 4), max_size=3).map(tuple)
TYPES = st.builds(TensorType, DTYPES, SHAPES)
SOURCES = st.builds(Source, st.sampled_from(["", "a.py", 'b "c".py']), st.integers(0, 99),
                    st.integers(0, 9), st.sampled_from(["", "jit(f)/add", "ünï\n"]))
FLOAT_UNARY = ["exp", "tanh", "sqrt", "floor", "erf", "sin", "is_finite", "log1p"]
NUMERIC = ["add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum"]


def array_of(type, seed):
    """Return an array of any bits: also infinities, NaNs and subnormals."""
    rng = np.random.default_rng(seed)
    if type.dtype is DType.BOOL:
        return rng.random(type.shape) < 0.5
    data = rng.bytes(type.nbytes)
    return np.frombuffer(data, type.dtype.numpy).reshape(type.shape)


@st.composite
def arrays(draw, types=TYPES):
    return array_of(draw(types), draw(st.integers(0, 2**32)))


def permuted(draw, count):
    return tuple(draw(st.permutations(range(count))))


def grow(draw, pool):
    """Return the results of one more operation on values of the pool."""
    x = draw(st.sampled_from(pool))
    source = draw(SOURCES)
    rank, dtype = x.type.rank, x.dtype

    def one(name, *operands, **attrs):
        return [op(name, *operands, source=source, **attrs)]

    kinds = ["elementwise", "unary", "convert", "shape", "compare", "reduce", "loop", "dot", "sort",
             "case"]
    match draw(st.sampled_from(kinds)):
        case "elementwise":
            if dtype is DType.BOOL:
                return one("xor", x, op("not", x))
            y = draw(st.sampled_from([y for y in pool if y.type == x.type]))
            return one(draw(st.sampled_from(NUMERIC)), x, y)
        case "unary":
            wide = x if dtype.is_float else op("convert", x, dtype=DType.F32, source=source)
            return one(draw(st.sampled_from(FLOAT_UNARY)), wide)
        case "convert":
            return one("convert", x, dtype=draw(DTYPES))
        case "compare":
            y = draw(st.sampled_from([y for y in pool if y.type == x.type]))
            less = op("compare", x, y, direction="lt", source=source)
            return one("select", less, x, y)
        case "shape":
            to = permuted(draw, rank)
            turned = op("transpose", x, permutation=to, source=source)
            flat = op("reshape", turned, shape=(math.prod(x.shape),), source=source)
            return one("broadcast", flat, shape=(2, *flat.shape), dims=(1,)) + [turned]
        case "reduce":
            dims = permuted(draw, rank)[:draw(st.integers(0, rank))]
            name = "or" if dtype is DType.BOOL else draw(st.sampled_from(["add", "maximum"]))
            zero = constant(np.zeros((), dtype.numpy), source=source)
            return one("reduce", x, zero, dims=dims, reducer=name)
        case "dot":
            if dtype is DType.BOOL:
                return one("and", x, x)
            pairs = [(dim, dim) for dim in range(rank)]
            cut = draw(st.integers(0, rank))
            return one("dot", x, x, dtype=dtype, batch=pairs[:cut], contract=pairs[cut:],
                       precision=draw(st.sampled_from(["default", "high", "highest"])))
        case "sort":
            if rank == 0:
                return one("reshape", x, shape=(1,))
            dim, descending = draw(st.integers(0, rank - 1)), draw(st.booleans())
            if draw(st.booleans()):
                return list(ops("sort_by", x, dim=dim, source=source,
                                regions=[comparator(dtype, descending)]))
            return list(ops("sort", x, dim=dim, source=source, descending=descending))
        case "case":
            index = parameterless_index(draw)
            branches = [twice(x.type, draw(st.booleans())) for _ in range(2)]
            return list(ops("case", index, x, regions=branches, source=source))
        case _:
            return loop(x, draw(st.integers(0, 3)), source)


def parameterless_index(draw):
    return constant(draw(st.integers(-1, 3)), DType.I32)


def twice(type, swap):
    """Return a region of one value."""
    value = parameter(type)
    found = op("barrier", value)
    if swap and type.rank:
        found = op("reverse", found, dims=[0])
    return Graph("branch", [value], [found])


def comparator(dtype, descending):
    """Return what sorts, not by a key as such: of floats by what NaN makes no order."""
    a, b = (parameter(TensorType(dtype)) for _ in range(2))
    less, differ = (op("compare", a, b, direction=direction)
                    for direction in ("gt" if descending else "lt", "ne"))
    return Graph("less", [a, b], [op("and", less, differ)])


def loop(x, count, source):
    """Return what is left after ``count`` turns."""
    i, value = parameter(TensorType(DType.I32)), parameter(x.type)
    cond = Graph("cond", [i, value], [op("compare", i, constant(count, DType.I32),
                                         direction="lt")])
    i, value = parameter(TensorType(DType.I32)), parameter(x.type)
    body = Graph("body", [i, value], [op("add", i, constant(1, DType.I32)), value])
    return list(ops("while", constant(0, DType.I32), x, regions=(cond, body), source=source))


@st.composite
def graphs(draw, most=15):
    """Return a graph, and inputs for it."""
    types = draw(st.lists(TYPES, min_size=1, max_size=3))
    params = [parameter(type, draw(st.sampled_from(["", "x", "p['w']"])),
                        donated=draw(st.booleans()), source=draw(SOURCES)) for type in types]
    pool = [*params, constant(draw(arrays()))]
    for _ in range(draw(st.integers(most // 3, most))):
        pool += grow(draw, pool)
    # What nothing else needs, so that all of it is part of the graph.
    used = {value for each in pool for value in each.node.operands}
    outputs = [value for value in pool if value not in used]
    outputs += draw(st.lists(st.sampled_from(pool), max_size=2))
    inputs = [array_of(type, draw(st.integers(0, 2**32))) for type in types]
    return Graph(draw(st.sampled_from(["main", "step"])), params, outputs), inputs


def assert_equal(found, wanted):
    """Assert that two lists of arrays are equal; one NaN is as good as another."""
    for a, b in zip(found, wanted, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        # NumPy warns of NaNs that signal.
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(a.astype(np.float64), b.astype(np.float64))

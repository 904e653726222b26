"""Work for operations that move elements, and the offsets of dynamic slices."""

import numpy as np
import pytest
from moving import SMALL, Memory, everything, whole

from celosia.compiler import CANONICAL
from celosia.compiler.emit.fill import emit_fill
from celosia.compiler.emit.move import emit_move
from celosia.compiler.lowered import Fill
from celosia.compiler.movement import byte_offset, concatenate, copy, pad
from celosia.graph import DType, Graph, TensorType, check, interpret, op, parameter


def done(memory, work):
    """Emit and run pieces of work one after another; return the arena."""
    for item in work:
        emit = emit_fill if isinstance(item, Fill) else emit_move
        after, _, _ = memory.run(emit(memory.config, item, everything(memory.config)))
        memory.data = bytearray(after)[:len(memory.data)]
    return memory.data


@pytest.mark.parametrize("dtype", ["f32", "i8"])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_concatenate(dtype, dim):
    memory = Memory(SMALL, dim)
    shapes = [[4, 5, 6] for _ in range(4)]
    for shape, size in zip(shapes, (3, 1, 0, 7), strict=True):
        shape[dim] = size
    parts = [memory.tensor(f"x{i}", shape, dtype) for i, shape in enumerate(shapes)]
    to = [4, 5, 6]
    to[dim] = 11
    out = memory.tensor("out", to, dtype)
    expected = np.concatenate([memory.array(part) for part in parts], dim)
    work = concatenate([whole(part) for part in parts], dim, whole(out), "concatenate")
    assert len(work) == 3
    done(memory, work)
    np.testing.assert_array_equal(memory.array(out), expected)


@pytest.mark.parametrize("seed", range(12))
def test_pad(seed):
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(1, 4))
    shape = [int(n) for n in rng.integers(0 if seed == 5 else 1, 9, rank)]
    low, high = ([int(n) for n in rng.integers(0, 4, rank)] for _ in range(2))
    interior = [int(n) * (seed % 2) for n in rng.integers(0, 3, rank)]
    memory = Memory(SMALL, seed)
    x = memory.tensor("x", shape)
    to = [a + b + (max(n + (n - 1) * gap, 0) if n else 0)
          for n, a, b, gap in zip(shape, low, high, interior, strict=True)]
    out = memory.tensor("out", to)
    expected = np.full(to, 0x12345678, np.uint32)
    if all(shape):
        expected[tuple(slice(a, a + (n - 1) * (gap + 1) + 1, gap + 1)
                       for n, a, gap in zip(shape, low, interior, strict=True))] = memory.array(x)
    done(memory, pad(SMALL, whole(x), 0x12345678, low, high, interior, whole(out)))
    np.testing.assert_array_equal(memory.array(out), expected)


def test_only_the_border_is_filled_where_that_is_cheaper():
    memory = Memory(SMALL)
    x, out = memory.tensor("x", (2, 30, 30, 16)), memory.tensor("out", (2, 32, 32, 16))
    work = pad(SMALL, whole(x), 0, (0, 1, 1, 0), (0, 1, 1, 0), (0, 0, 0, 0), whole(out))
    assert [item.dst.view.shape for item in work] == [
        (2, 1, 32, 16), (2, 1, 32, 16), (2, 30, 1, 16), (2, 30, 1, 16), (2, 30, 30, 16)]
    done(memory, work)
    np.testing.assert_array_equal(
        memory.array(out), np.pad(memory.array(x), ((0, 0), (1, 1), (1, 1), (0, 0))))


def test_nothing_is_copied_of_nothing():
    memory = Memory(SMALL)
    x = memory.tensor("x", (3, 0))
    assert copy(whole(x), whole(x)) == []


DTYPES = {DType.I32: [-2**31, -5, 0, 1, 3, 99, 2**31 - 1],
          DType.U32: [0, 1, 4, 77, 2**31, 2**32 - 1],
          DType.I8: [-128, -1, 0, 2, 127], DType.U8: [0, 3, 128, 255],
          DType.I16: [-2**15, 2, 2**15 - 1], DType.U16: [0, 2, 2**16 - 1]}


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
def test_offsets_are_clamped_as_the_interpreter_clamps(dtype):
    shape, sizes = (7, 5, 4), (3, 5, 1)
    starts = [parameter(TensorType(dtype, ()), f"s{i}") for i in range(3)]
    graph = Graph("offset", starts, [byte_offset(starts, sizes, shape, 4)])
    check(graph, CANONICAL)
    rng = np.random.default_rng(0)
    x = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    data = parameter(TensorType(DType.I32, shape), "x")
    sliced = Graph("slice", [data, *starts], [op("dynamic_slice", data, *starts, sizes=sizes)])
    for _ in range(40):
        given = [np.array(value, dtype.numpy) for value in rng.choice(DTYPES[dtype], 3)]
        [at] = interpret(graph, given)
        [part] = interpret(sliced, [x, *given])
        assert at == 4 * part.flat[0]


def test_an_offset_that_cannot_vary_is_0():
    start = parameter(TensorType(DType.I32, ()), "s")
    found = byte_offset([start], [8], [8], 2)
    assert found.node.op == "constant"
    assert found.node.attrs["value"].numpy == 0

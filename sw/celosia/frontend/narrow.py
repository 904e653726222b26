"""64-bit elements out of a graph: signed integers in 32 bits, unsigned ones as pairs of words.

Signed ones count and point: labels, indices, steps. They fit 32 bits, and where one does not it
is an error: of a constant here, of an argument where it is given. Unsigned ones are the keys and
counters of random numbers, whose every bit matters. So each is a low and a high word. Floats are
not computed with: arguments that become f32 (data as NumPy makes it) are f32 from the beginning,
and are moved and compared as such.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from celosia.arch.words import WORD_MASK
from celosia.frontend.errors import FrontendError, too_wide
from celosia.graph import Array, DType, Graph, Node, TensorType, Value, constant, op, splat

__all__ = ["is_narrowed", "narrow", "product"]

#: Operations that do to each word of a number what they do to the number.
_BY_WORD = frozenset({
    "broadcast", "reshape", "slice", "concatenate", "transpose", "reverse", "pad", "select",
    "dynamic_slice", "dynamic_update_slice", "and", "or", "xor", "not", "shard"})
#: Those that move, choose or compare numbers, and make no others.
_CHOOSE = frozenset({"parameter", "constant", "broadcast", "reshape", "slice", "concatenate",
                     "transpose", "reverse", "shard", "compare", "select", "maximum", "minimum",
                     "arg_reduce"})
_LEAST, _MOST = np.iinfo(np.int32).min, np.iinfo(np.int32).max


_NARROW = {DType.I64: DType.I32, DType.F64: DType.F32}


class _Unsupported(Exception):
    """The message says what cannot be without 64-bit elements."""


@dataclass(frozen=True)
class _Words:
    """The low and the high word of unsigned numbers, U32 of their shape."""

    low: Value
    high: Value


def product(emit: Callable[..., Value], a: Value, b: Value) -> tuple[Value, Value]:
    """Return the high and the low word of the products of 32-bit words.

    Parameters
    ----------
    emit
        Given a name, operands and attributes, returns the result of a new node.
    a, b
        U32, of one shape.
    """
    def full(number: int) -> Value:
        scalar = emit("constant", value=np.uint32(number))
        return emit("broadcast", scalar, shape=a.shape) if a.shape else scalar

    half, low_half = full(16), full(0xFFFF)
    (al, ah), (bl, bh) = (
        (emit("and", each, low_half), emit("shift_right", each, half)) for each in (a, b))
    lows, middle, other, highs = (emit("multiply", x, y)
                                  for x, y in ((al, bl), (ah, bl), (al, bh), (ah, bh)))
    # None of these sums needs more than 32 bits.
    middle = emit("add", middle, emit("shift_right", lows, half))
    other = emit("add", other, emit("and", middle, low_half))
    for part in (middle, other):
        highs = emit("add", highs, emit("shift_right", part, half))
    return highs, emit("multiply", a, b)


def is_narrowed(node: Node) -> bool:
    """Return whether an operation of 64-bit floats may be one of 32 bits: it moves or compares
    arguments, or makes them floats of fewer bits.
    """
    if node.op == "convert":
        return node.types[0].dtype.is_float and node.types[0].dtype is not DType.F64
    return node.op in _CHOOSE


def narrow(graph: Graph) -> Graph:
    """Return a graph of the same meaning without 64-bit elements; itself if it has none.

    Signed integers among parameters, results and whatever is between them have 32 bits: sums and
    products that need more are not noticed.

    Raises
    ------
    FrontendError
        If a constant does not fit, or 64 bits are used for what words cannot do: one error with
        all of them.
    """
    work = _Narrow()
    made = work.graph(graph)
    if work.problems:
        raise FrontendError(f"{graph.name} needs elements of 64 bits:", list(work.problems))
    return made


class _Narrow:
    def __init__(self) -> None:
        self.problems: dict[str, None] = {}

    def graph(self, graph: Graph) -> Graph:
        values: dict[Value, Value | _Words | None] = {}
        changed = False
        for node in graph.nodes:
            try:
                found = self._node(node, values)
            except _Unsupported as error:
                self.problems.setdefault(f"{node.source}: {node.op}: {error}")
                found = [None] * len(node.results)
            changed |= any(new != old for new, old in zip(found, node.results, strict=True))
            values.update(zip(node.results, found, strict=True))
        if not changed:
            return graph
        outputs = []
        for value in graph.outputs:
            found = values[value]
            if isinstance(found, _Words) or value.dtype is DType.F64:
                self.problems.setdefault(f"{value.node.source}: result: {too_wide(value.type)}")
            elif found is not None:
                outputs.append(found)
        params = [found for value in graph.params if isinstance(found := values[value], Value)]
        # What lacks a value has a problem, and the graph is not used.
        return graph.with_(params, outputs)

    def _node(self, node: Node, values: Mapping[Value, Any]) -> list[Value | _Words | None]:
        operands = [values[value] for value in node.operands]
        if any(each is None for each in operands):
            return [None] * len(node.results)  # what made it so is a problem already
        types = [each.type for each in (*node.operands, *node.results)]
        double = next((type for type in types if type.dtype is DType.F64), None)
        if double is not None and not is_narrowed(node):
            raise _Unsupported(too_wide(double, " where they are not constant"))
        words = (any(isinstance(each, _Words) for each in operands)
                 or any(type.dtype is DType.U64 for type in node.types))
        if words:
            return [_of_words(node, operands)]
        wide = any(type.dtype.is_wide and not type.dtype.is_complex for type in types)
        regions = [self.graph(region) for region in node.regions]
        if not wide and operands == list(node.operands) and all(
                new is old for new, old in zip(regions, node.regions, strict=True)):
            return list(node.results)
        if wide and node.op == "shift_right":
            raise _Unsupported(f"operands must have at most 32 bits, not {node.types[0]}")
        if wide and node.op == "bitcast":
            raise _Unsupported(f"operand and result must be of as many bits each, or unsigned, "
                               f"not {node.operands[0].type} and {node.types[0]}")
        attrs = {name: _attribute(value) for name, value in node.attrs.items()}
        return list(Node(node.op, operands, attrs, regions, node.source).results)


def _attribute(value: Any) -> Any:
    if isinstance(value, DType):
        return _NARROW.get(value, value)
    if isinstance(value, Array) and value.numpy.dtype == np.float64:
        return Array(value.numpy.astype(np.float32))
    if isinstance(value, Array) and value.numpy.dtype == np.int64:
        numbers = value.numpy
        # The least and the most of all are where a search begins.
        ends = (numbers == np.iinfo(np.int64).min) | (numbers == np.iinfo(np.int64).max)
        over = ((numbers < _LEAST) | (numbers > _MOST)) & ~ends
        if over.any():
            raise _Unsupported(f"value must be from {_LEAST} to {_MOST}, "
                               f"not {numbers[over].flat[0]}")
        return Array(np.clip(numbers, _LEAST, _MOST).astype(np.int32))
    return value


class _Emit:
    """Makes nodes from the place of another one."""

    def __init__(self, node: Node):
        self.source = node.source

    def __call__(self, name: str, *operands: Value, **attrs: Any) -> Value:
        if name == "constant":
            return constant(attrs["value"], source=self.source)
        return op(name, *operands, source=self.source, **attrs)

    def full(self, number: int, shape: tuple[int, ...]) -> Value:
        return splat(np.uint32(number), TensorType(DType.U32, shape), self.source)


def _of_words(node: Node, operands: list[Any]) -> Value | _Words:
    """Return the result of a node that has unsigned 64-bit numbers."""
    emit = _Emit(node)
    if node.op in _BY_WORD:
        low, high = (emit(node.op, *(getattr(each, half) if isinstance(each, _Words) else each
                                     for each in operands), **node.attrs)
                     for half in ("low", "high"))
        return _Words(low, high)
    if node.op not in _RULES:
        wide = next(each.type for each in (*node.results, *node.operands)
                    if each.type.dtype is DType.U64)
        raise _Unsupported(too_wide(wide))
    return _RULES[node.op](emit, node, *operands)


def _constant(emit: _Emit, node: Node) -> _Words:
    numbers = node.attrs["value"].numpy
    return _Words(emit("constant", value=(numbers & WORD_MASK).astype(np.uint32)),
                  emit("constant", value=(numbers >> 32).astype(np.uint32)))


def _carry(emit: _Emit, total: Value, part: Value) -> Value:
    return emit("convert", emit("compare", total, part, direction="lt"), dtype=DType.U32)


def _add(emit: _Emit, node: Node, a: _Words, b: _Words) -> _Words:
    low = emit("add", a.low, b.low)
    return _Words(low, emit("add", emit("add", a.high, b.high), _carry(emit, low, b.low)))


def _subtract(emit: _Emit, node: Node, a: _Words, b: _Words) -> _Words:
    high = emit("subtract", emit("subtract", a.high, b.high), _carry(emit, a.low, b.low))
    return _Words(emit("subtract", a.low, b.low), high)


def _multiply(emit: _Emit, node: Node, a: _Words, b: _Words) -> _Words:
    high, low = product(emit, a.low, b.low)
    for x, y in ((a.low, b.high), (a.high, b.low)):
        high = emit("add", high, emit("multiply", x, y))
    return _Words(low, high)


def _shift(emit: _Emit, node: Node, x: _Words, amount: _Words) -> _Words:
    count = _number(amount.low)
    if count is None or _number(amount.high) != 0:
        raise _Unsupported("unsigned elements of 64 bits must be shifted by a constant")
    left = node.op == "shift_left"
    near, far = (x.low, x.high) if left else (x.high, x.low)
    if count >= 32:
        moved = emit(node.op, near, emit.full(count - 32, near.shape))
        first, second = emit.full(0, near.shape), moved  # what it leaves, what it goes to
    elif count == 0:
        return x
    else:
        back = "shift_right" if left else "shift_left"
        first = emit(node.op, near, emit.full(count, near.shape))
        second = emit("or", emit(node.op, far, emit.full(count, near.shape)),
                      emit(back, near, emit.full(32 - count, near.shape)))
    return _Words(first, second) if left else _Words(second, first)


def _number(value: Value) -> int | None:
    """Return the number that all elements of a constant are; None if they are not one."""
    node = value.node
    while node.op in ("broadcast", "reshape"):
        node = node.operands[0].node
    if node.op == "constant" and node.attrs["value"].is_splat:
        return int(node.attrs["value"].numpy.reshape(-1)[0])
    return None


def _compare(emit: _Emit, node: Node, a: _Words, b: _Words) -> Value:
    direction = node.attrs["direction"]
    def compared(way: str, half: str) -> Value:
        return emit("compare", getattr(a, half), getattr(b, half), direction=way)

    if direction in ("eq", "ne"):
        return emit("and" if direction == "eq" else "or", compared(direction, "low"),
                    compared(direction, "high"))
    return emit("or", compared(direction[0] + "t", "high"),
                emit("and", compared("eq", "high"), compared(direction, "low")))


def _convert(emit: _Emit, node: Node, x: Value | _Words) -> Value | _Words:
    dtype = node.types[0].dtype
    if isinstance(x, _Words):
        if dtype.is_float or dtype is DType.BOOL:
            raise _Unsupported(f"unsigned elements of 64 bits must become integers, not {dtype}")
        if dtype is DType.U64:
            return x
        low = DType.I32 if dtype is DType.I64 else dtype
        if low is DType.I32:
            return emit("bitcast", x.low, dtype=low)
        return x.low if low is DType.U32 else emit("convert", x.low, dtype=low)
    if x.dtype.is_float:
        raise _Unsupported(f"unsigned elements of 64 bits must come of integers, not {x.dtype}")
    if x.dtype.is_signed:
        return _signed(emit, x if x.dtype is DType.I32 else emit("convert", x, dtype=DType.I32))
    low = x if x.dtype is DType.U32 else emit("convert", x, dtype=DType.U32)
    return _Words(low, emit.full(0, low.shape))


def _signed(emit: _Emit, x: Value) -> _Words:
    """Return I32 numbers with as many signs in front as it takes."""
    sign = emit("shift_right_signed", x, splat(np.int32(31), x.type, emit.source))
    return _Words(emit("bitcast", x, dtype=DType.U32), emit("bitcast", sign, dtype=DType.U32))


def _bitcast(emit: _Emit, node: Node, x: Value | _Words) -> Value | _Words:
    [old], new = node.operands, node.types[0]
    if isinstance(x, _Words):
        if new.dtype is DType.U64:
            return x
        if new.dtype is DType.I64:
            return emit("bitcast", x.low, dtype=DType.I32)
        if new.dtype.bits == 32:
            low, high = (emit("reshape", each, shape=(*each.shape, 1)) for each in (x.low, x.high))
            both = emit("concatenate", low, high, dim=len(x.low.shape))
            return both if new.dtype is DType.U32 else emit("bitcast", both, dtype=new.dtype)
    elif old.dtype is DType.I64:
        return _signed(emit, x)
    elif old.dtype.bits == 32:
        x = x if x.dtype is DType.U32 else emit("bitcast", x, dtype=DType.U32)
        *outer, _ = x.shape
        zeros, ones = (0,) * len(outer), (1,) * len(x.shape)
        low, high = (emit("reshape", emit("slice", x, start=(*zeros, i), limit=(*outer, i + 1),
                                          stride=ones), shape=tuple(outer)) for i in (0, 1))
        return _Words(low, high)
    raise _Unsupported(f"operand and result must be of 32 or 64 bits, not {old.type} and {new}")


#: What becomes of nodes with unsigned numbers: given the makers of nodes, the node, its operands.
_RULES: Mapping[str, Callable[..., Value | _Words]] = {
    "constant": _constant, "add": _add, "subtract": _subtract, "multiply": _multiply,
    "shift_left": _shift, "shift_right": _shift, "compare": _compare, "convert": _convert,
    "bitcast": _bitcast,
}

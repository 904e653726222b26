"""64-bit elements out of a graph: integers as pairs of words, or signed ones in 32 bits.

Frameworks whose integers are of 64 bits without anybody's having asked for them count and point
with these: labels, indices, steps. They fit 32 bits, and where one does not it is an error: of a
constant here, of an argument where it is given. Of others every bit matters, as of the keys and
counters of random numbers: each is a low and a high word (`celosia.frontend.wide`), also in what
a program takes and gives.

Floats are not computed with: arguments that become f32 (data as NumPy makes it) are f32 from the
beginning, and are moved and compared as such.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from celosia.arch.words import WORD_MASK
from celosia.frontend.errors import FrontendError, too_wide
from celosia.frontend.wide import conversions, joins
from celosia.frontend.wide.words import Arithmetic, Unfit, Wide, joined, parted
from celosia.graph import Array, DType, Graph, Node, TensorType, Value, op, parameter
from celosia.graph.operations.elementwise import SHIFTS

__all__ = ["is_narrowed", "narrow"]

#: Operations that do to each word of a number what they do to the number.
_BY_WORD = frozenset({
    "broadcast", "reshape", "slice", "concatenate", "transpose", "reverse", "pad", "select",
    "dynamic_slice", "dynamic_update_slice", "gather", "and", "or", "xor", "not", "shard",
    "all_gather", "all_to_all", "collective_permute"})
#: Those that take the words of a number one by one, and give them so.
_FLAT = frozenset({"while", "case", "sort_by", "barrier", "manual"})
#: First operand that is an index: those beyond all others are as good as the last one.
_INDICES = {"dynamic_slice": (1, None), "dynamic_update_slice": (2, None), "gather": (1, 2),
            "scatter": (1, 2)}
#: Those that move, choose or compare numbers, and make no others.
_CHOOSE = frozenset({"parameter", "constant", "broadcast", "reshape", "slice", "concatenate",
                     "transpose", "reverse", "shard", "compare", "select", "maximum", "minimum",
                     "arg_reduce"})
_LEAST, _MOST = np.iinfo(np.int32).min, np.iinfo(np.int32).max


_NARROW = {DType.I64: DType.I32, DType.F64: DType.F32}
_Found = Value | Wide


def is_narrowed(node: Node) -> bool:
    """Return whether an operation of 64-bit floats may be one of 32 bits: it moves or compares
    arguments, or makes them floats of fewer bits.
    """
    if node.op == "convert":
        return node.types[0].dtype.is_float and node.types[0].dtype is not DType.F64
    return node.op in _CHOOSE


def narrow(graph: Graph, *, exact: bool) -> Graph:
    """Return a graph of the same meaning without 64-bit elements; itself if it has none.

    Parameters
    ----------
    graph
        As it was imported.
    exact
        Whether signed integers keep all their bits; what the graph takes and gives is as before
        then. Else they have 32: sums and products that need more are not noticed.

    Raises
    ------
    FrontendError
        If a constant does not fit, or 64 bits are used for what words cannot do: one error with
        all of them.
    """
    work = _Narrow(exact)
    made = work.graph(graph, whole=True)
    if work.problems:
        raise FrontendError(f"{graph.name} needs elements of 64 bits:", list(work.problems))
    return made


class _Narrow:
    def __init__(self, exact: bool):
        self.exact = exact
        self.problems: dict[str, None] = {}

    def in_words(self, dtype: DType) -> bool:
        return dtype is DType.U64 or dtype is DType.I64 and self.exact

    def graph(self, graph: Graph, whole: bool = False) -> Graph:
        """Return a region, or the ``whole``, which takes and gives what it did."""
        values: dict[Value, _Found | None] = {}
        changed = False
        for node in graph.nodes:
            try:
                found = self._node(node, values, whole)
            except Unfit as error:
                self.problems.setdefault(f"{node.source}: {node.op}: {error}")
                found = [None] * len(node.results)
            changed |= any(new != old for new, old in zip(found, node.results, strict=True))
            values.update(zip(node.results, found, strict=True))
        if not changed:
            return graph
        outputs: list[Value] = []
        for value in graph.outputs:
            found = values[value]
            if value.dtype is DType.F64:
                self.problems.setdefault(f"{value.node.source}: result: {too_wide(value.type)}")
            elif isinstance(found, Wide):
                outputs += [joined(found)] if whole else [found.low, found.high]
            elif found is not None:
                outputs.append(found)
        params: list[Value] = []
        for value in graph.params:
            found = values[value]
            if isinstance(found, Wide):
                params += [value] if whole else [found.low, found.high]
            elif found is not None:
                params.append(found)
        # What lacks a value has a problem, and the graph is not used.
        return graph.with_(params, outputs)

    def _node(self, node: Node, values: Mapping[Value, Any], whole: bool
              ) -> Sequence[_Found | None]:
        if node.op == "parameter" and self.in_words(node.result.dtype):
            return [parted(node.result) if whole else _words(node)]
        operands = [values[value] for value in node.operands]
        if any(each is None for each in operands):
            return [None] * len(node.results)  # what made it so is a problem already
        types = [each.type for each in (*node.operands, *node.results)]
        double = next((type for type in types if type.dtype is DType.F64), None)
        if double is not None and not is_narrowed(node):
            raise Unfit(too_wide(double, " where they are not constant"))
        a = Arithmetic(node.source)
        for i in range(*slice(*_INDICES.get(node.op, (0, 0))).indices(len(operands))):
            if isinstance(operands[i], Wide):
                operands[i] = a.clipped(operands[i])
        if any(isinstance(each, Wide) for each in operands) or any(
                self.in_words(type.dtype) for type in node.types):
            return (self._flat(node, operands) if node.op in _FLAT
                    else self._of_words(a, node, operands))
        wide = any(type.dtype.is_wide and not type.dtype.is_complex for type in types)
        regions = [self.graph(region) for region in node.regions]
        if not wide and operands == list(node.operands) and all(
                new is old for new, old in zip(regions, node.regions, strict=True)):
            return list(node.results)
        if node.op == "shift_right" and node.types[0].dtype is DType.I64:
            raise Unfit(f"operands must have at most 32 bits, not {node.types[0]}")
        if wide and node.op == "bitcast":
            raise Unfit(f"operand and result must be of as many bits each, or unsigned, "
                        f"not {node.operands[0].type} and {node.types[0]}")
        attrs = {name: _attribute(value) for name, value in node.attrs.items()}
        return Node(node.op, operands, attrs, regions, node.source).results

    def _flat(self, node: Node, operands: Sequence[_Found]) -> list[_Found]:
        """Return the results of an operation that has words one by one."""
        attrs = dict(node.attrs)
        if node.op == "manual":
            for name, types in (("entering", [value.type for value in node.operands]),
                                ("leaving", node.types)):
                attrs[name] = tuple(each for each, type in zip(attrs[name], types, strict=True)
                                    for _ in range(1 + self.in_words(type.dtype)))
        flat = [part for each in operands for part in (
            (each.low, each.high) if isinstance(each, Wide) else (each,))]
        made = Node(node.op, flat, attrs, [self.graph(region) for region in node.regions],
                    node.source)
        rest = iter(made.results)
        return [Wide(next(rest), next(rest), type.dtype.is_signed)
                if self.in_words(type.dtype) else next(rest) for type in node.types]

    def _of_words(self, a: Arithmetic, node: Node, operands: Sequence[Any]
                  ) -> Sequence[_Found | None]:
        """Return the results of an operation of numbers of two words."""
        if node.op in _BY_WORD:
            signed = node.types[0].dtype.is_signed
            return [Wide(*(a(node.op, *(getattr(each, half) if isinstance(each, Wide) else each
                                        for each in operands), **node.attrs)
                           for half in ("low", "high")), signed=signed)]
        if node.op not in _RULES:
            wide = next(each.type for each in (*node.results, *node.operands)
                        if self.in_words(each.dtype))
            raise Unfit(too_wide(wide))
        found = _RULES[node.op](a, node, *operands)
        results = [found] if isinstance(found, Value | Wide) else list(found)
        # Signed ones that are no words have 32 bits.
        return [a.signed(each.low) if isinstance(each, Wide) and not self.in_words(type.dtype)
                else each for each, type in zip(results, node.types, strict=True)]


def _words(node: Node) -> Wide:
    """Return parameters of a region for one."""
    word = TensorType(DType.U32, node.result.shape)
    low, high = (parameter(word, source=node.source) for _ in range(2))
    return Wide(low, high, node.result.dtype.is_signed)


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
            raise Unfit(f"value must be from {_LEAST} to {_MOST}, "
                        f"not {numbers[over].flat[0]}")
        return Array(np.clip(numbers, _LEAST, _MOST).astype(np.int32))
    return value


def _constant(a: Arithmetic, node: Node) -> Wide:
    numbers = node.attrs["value"].numpy
    signed = numbers.dtype == np.int64
    if numbers.size and (numbers == numbers.flat[0]).all():
        return a.number(int(numbers.flat[0]), numbers.shape, signed)
    numbers = numbers.view(np.uint64)
    return Wide(*(op("constant", value=Array(each.astype(np.uint32)), source=node.source)
                  for each in (numbers & WORD_MASK, numbers >> 32)), signed=signed)


def _iota(a: Arithmetic, node: Node) -> Wide:
    low = op("iota", source=node.source, **{**node.attrs, "dtype": DType.U32})
    return Wide(low, a.full(0, low.type), node.types[0].dtype.is_signed)


def _shift(a: Arithmetic, node: Node, x: Wide, amount: Wide) -> Wide:
    count = joins.number_of(Wide(amount.low, amount.high, False))
    return a.shift(node.op, x, amount) if count is None else a.shifted(node.op, x, count)


def _power(a: Arithmetic, node: Node, x: Wide, count: Wide) -> Wide:
    known = joins.number_of(Wide(count.low, count.high, False))
    return a.power(x, count) if known is None else a.power(x, count, known.bit_length())


def _clamp(a: Arithmetic, node: Node, low: Wide, x: Wide, high: Wide) -> Wide:
    low, high = (a.broadcast(each, x.shape) for each in (low, high))
    return a.extreme("minimum", a.extreme("maximum", x, low), high)


def _sign(a: Arithmetic, node: Node, x: Wide) -> Wide:
    zero = a.like(0, x)
    found = a.choose(a.compared("gt", x, zero), a.like(1, x), zero)
    return a.choose(a.negative(x), a.like(-1, x), found)


def _abs(a: Arithmetic, node: Node, x: Wide) -> Wide:
    found = a.size(x)
    return Wide(found.low, found.high, x.signed)


#: What becomes of nodes with numbers of two words: given what makes nodes, the node, its operands.
_RULES: Mapping[str, Callable[..., Any]] = {
    "constant": _constant, "iota": _iota, "abs": _abs, "sign": _sign, "clamp": _clamp,
    "add": lambda a, node, x, y: a.add(x, y), "subtract": lambda a, node, x, y: a.subtract(x, y),
    "multiply": lambda a, node, x, y: a.multiply(x, y), "negate": lambda a, node, x: a.negate(x),
    "divide": lambda a, node, x, y: a.divided(x, y)[0],
    "remainder": lambda a, node, x, y: a.divided(x, y)[1], "power": _power,
    **dict.fromkeys(("maximum", "minimum"), lambda a, node, x, y: a.extreme(node.op, x, y)),
    **dict.fromkeys(SHIFTS, _shift),
    "compare": lambda a, node, x, y: a.compared(node.attrs["direction"], x, y),
    "convert": conversions.convert, "bitcast": conversions.bitcast,
    "reduce": joins.reduce, "reduce_window": joins.reduce_window, "arg_reduce": joins.arg_reduce,
    "scatter": joins.scatter, "sort": joins.sort, "top_k": joins.top_k,
    "dot": joins.dot, "convolution": joins.convolution,
    **dict.fromkeys(("all_reduce", "reduce_scatter"), joins.all_reduce),
}

"""Loop fission of sums of products: those that a loop carries are made after it, as one product.

The gradients of the weights of a scan are such sums: each turn adds the product of what went into
a layer and of the gradient of what came out. Instead each turn keeps the operands, which are much
smaller than the sum, and after the loop their product over the depth of all turns is the sum. It
is made in the accumulators, so that what was read and written in every turn is written once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from celosia.compiler.builder import Builder
from celosia.compiler.counting import Counter, takes_turns
from celosia.compiler.passes.loops import counter
from celosia.graph import Graph, Node, TensorType, Value, parameter, replace_nodes

__all__ = ["carried"]

#: Bytes that the operands of all turns may take.
_MOST_BYTES = 1 << 26


@dataclass(frozen=True)
class _Slice:
    """An operand that is a part of what the loop keeps, a turn after the other.

    Attributes
    ----------
    whole
        Which operand of the loop all parts are.
    start
        Which part a turn takes.
    converts
        What is done to a part, besides that it is reshaped.
    """

    whole: int
    start: Value
    converts: tuple[Node, ...]


@dataclass(frozen=True)
class _Stack:
    """An operand that each turn keeps for after the loop, at an index."""

    value: Value
    index: Value


class _Loop:
    """A loop of which sums are taken out."""

    def __init__(self, node: Node, count: tuple[int, int, int]):
        self.node = node
        self.cond, self.body = node.regions
        self.b = Builder(node.source)
        self.counter = Counter(self.body.params[count[0]], *count[1:])
        self.index = self.b("subtract", self.counter.param, count[1])
        #: Which stacks there are, and where each is among what the loop carries besides.
        self.stacks: dict[_Stack, int] = {}
        #: For each sum: what is still added in the loop, and the operands of its products.
        self.rests: dict[int, list[Value]] = {}
        self.products: dict[int, list[tuple[Node, list[_Slice | _Stack]]]] = {}
        self.bytes = 0

    def once(self, value: Value) -> bool:
        """Whether one node uses a value, and nothing else."""
        return len(self.body.users.get(value, ())) == 1 and value not in self.body.outputs

    def take(self, i: int) -> None:
        """Take the products out of a sum, where it is one and that costs less."""
        out, param = self.body.outputs[i], self.body.params[i]
        if (out.node.op != "add" or self.body.users.get(out) or not self.once(param)
                or self.body.outputs.count(out) > 1 or self.cond.users.get(self.cond.params[i])):
            return
        terms = self._terms(out)
        if terms.count(param) != 1:
            return
        terms.remove(param)
        rest: list[Value] = []
        products: list[tuple[Node, list[_Slice | _Stack]]] = []
        for term in terms:
            found = self._operands(term.node, param.type.size * param.dtype.bits // 8)
            if found is None:
                rest.append(term)
            else:
                products.append((term.node, found))
        if products:
            self.rests[i], self.products[i] = rest, products

    def _terms(self, total: Value) -> list[Value]:
        """Return what a sum consists of, without views."""
        found: list[Value] = []
        stack = list(total.node.operands)
        while stack:
            value = stack.pop()
            while value.node.op == "reshape" and self.once(value):
                value = value.node.operands[0]
            if value.node.op == "add" and self.once(value):
                stack += value.node.operands
            else:
                found.append(value)
        return found[::-1]

    def _operands(self, node: Node, most: int) -> list[_Slice | _Stack] | None:
        """Return where the operands of a product will be; None where it must stay.

        In every turn, what is kept of them may take ``most`` bytes: those of the sum.
        """
        if (node.op != "dot" or not self.once(node.result) or node.attrs["contract"] != ((1, 1),)
                or node.operands[0].shape[0] != 1):
            return None
        slices = [self._slice(value) for value in node.operands]
        first = next((each for each in slices if each is not None), None)
        index = self.index if first is None else first.start
        found = [each if each is not None and each.start == index else _Stack(value, index)
                 for each, value in zip(slices, node.operands, strict=True)]
        added = {each for each in found if isinstance(each, _Stack) and each not in self.stacks}
        size = sum(each.value.type.size * each.value.dtype.bits // 8 for each in added)
        if size > most or self.bytes + size * self.counter.turns > _MOST_BYTES:
            return None
        self.bytes += size * self.counter.turns
        for each in found:
            if isinstance(each, _Stack):
                self.stacks.setdefault(each, len(self.stacks))
        return found

    def _slice(self, value: Value) -> _Slice | None:
        converts: list[Node] = []
        while value.node.op in ("reshape", "convert"):
            if value.node.op == "convert":
                converts.append(value.node)
            value = value.node.operands[0]
        if value.node.op != "dynamic_slice":
            return None
        whole, start = value.node.operands[:2]
        if whole not in self.body.params:
            return None
        i = self.body.params.index(whole)
        if (self.body.outputs[i] != whole or value.shape != (1, *whole.shape[1:])
                or not takes_turns(start, 1, whole.shape[0], self.counter)):
            return None
        return _Slice(i, start, tuple(converts[::-1]))

    def made(self) -> tuple[Value, ...]:
        """Return what stands for the results."""
        b, turns = self.b, self.counter.turns
        types = [TensorType(each.value.dtype, (turns, *each.value.shape[1:]))
                 for each in self.stacks]
        params = [parameter(type, source=self.node.source) for type in types]
        outputs = list(self.body.outputs)
        for i, rest in self.rests.items():
            outputs[i] = self.body.params[i]
            for term in rest:
                outputs[i] = b("add", outputs[i], b.reshape(term, *outputs[i].shape))
        for stack, param in zip(self.stacks, params, strict=True):
            zeros = [b.full(0, stack.index.type)] * (param.type.rank - 1)
            outputs.append(b("dynamic_update_slice", param, stack.value, stack.index, *zeros))
        others = [parameter(type, source=self.node.source) for type in types]
        regions = (Graph(self.cond.name, (*self.cond.params, *others), self.cond.outputs),
                   Graph(self.body.name, (*self.body.params, *params), outputs))
        made = Node("while", (*self.node.operands, *(b.full(0, type) for type in types)),
                    self.node.attrs, regions, self.node.source)
        count = len(self.node.operands)
        results = list(made.results[:count])
        for i, products in self.products.items():
            for node, operands in products:
                whole = [self._whole(value, each, made.results[count:])
                         for value, each in zip(node.operands, operands, strict=True)]
                total = Node("dot", whole, node.attrs, (), node.source).result
                results[i] = b("add", results[i], b.reshape(total, *results[i].shape))
        return tuple(results)

    def _whole(self, value: Value, operand: _Slice | _Stack,
               stacks: tuple[Value, ...]) -> Value:
        """Return an operand of all turns."""
        if isinstance(operand, _Stack):
            found = stacks[self.stacks[operand]]
        else:
            found = self.node.operands[operand.whole]
        _, depth, width = value.shape
        found = self.b.reshape(found, 1, self.counter.turns * depth, width)
        if isinstance(operand, _Slice):
            for convert in operand.converts:
                found = Node("convert", (found,), convert.attrs, (), convert.source).result
        assert math.prod(found.shape) == value.type.size * self.counter.turns
        return found


def _taken_out(now: Node, was: Node, graph: Graph) -> tuple[Value, ...] | None:
    if now.op != "while":
        return None
    count = counter(now)
    if count is None or count[2] < 2:
        return None
    loop = _Loop(now, count)
    for i in range(len(now.operands)):
        loop.take(i)
    return loop.made() if loop.products else None


def carried(graph: Graph) -> Graph:
    """Return a canonical graph whose loops carry no sums of products, where that costs less."""
    return replace_nodes(graph, _taken_out)

"""Graphs as text that people and `celosia.graph.parse` read.

One line is one node::

    %2 = dot(%0, %1) dtype=f32 contract=[[1,0]] : f32[128,10] @ "train.py":12:9 "jit(f)/dot"

Attributes at their default are left out. ``@`` and what follows is the source.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from weakref import WeakKeyDictionary

import numpy as np

from celosia.graph.attributes import REQUIRED
from celosia.graph.node import Graph, Node, Value
from celosia.graph.source import Source
from celosia.graph.types import Array, DType

__all__ = ["array_text", "fingerprint", "to_text"]

#: Arrays of more elements are printed as bytes.
_MOST_NUMBERS = 64
_INDENT = "  "
#: Graphs do not change.
_fingerprints: WeakKeyDictionary[Graph, str] = WeakKeyDictionary()


def to_text(graph: Graph, *, sources: bool = True, elide: bool = False) -> str:
    """Return the text of a graph.

    Parameters
    ----------
    graph
        Any graph.
    sources
        Whether to print sources and the names of parameters.
    elide
        Print "..." for the values of large constants; such text cannot be parsed.
    """
    return "\n".join(_Printer(sources, elide).graph(graph)) + "\n"


def fingerprint(graph: Graph) -> str:
    """Return a hash of what a graph computes: of its text without sources and names."""
    found = _fingerprints.get(graph)
    if found is None:
        text = to_text(graph, sources=False)
        found = _fingerprints[graph] = hashlib.sha256(text.encode()).hexdigest()
    return found


class _Printer:
    def __init__(self, sources: bool, elide: bool):
        self.sources, self.elide = sources, elide
        self.names: dict[Value, str] = {}

    def name(self, value: Value) -> str:
        # A node without a name here is not in the graph; `check` says so, printing must not fail.
        return self.names.get(value, "%?")

    def define(self, value: Value) -> str:
        return self.names.setdefault(value, f"%{len(self.names)}")

    def list(self, values: tuple[Value, ...]) -> str:
        return ", ".join(map(self.name, values))

    def graph(self, graph: Graph) -> Iterator[str]:
        name = f" {graph.name}" if self.sources else ""
        if graph.params:
            yield f"graph{name}("
            yield from (_INDENT + line for line in self.params(graph))
            yield f"){self.devices(graph)} {{"
        else:
            yield f"graph{name}(){self.devices(graph)} {{"
        yield from self.body(graph)
        yield "}"

    def devices(self, graph: Graph) -> str:
        return "".join(f" {name}={count}" for name, count in (
            ("replicas", graph.replicas), ("partitions", graph.partitions)) if count > 1)

    def params(self, graph: Graph) -> Iterator[str]:
        for value in graph.params:
            text = f"{self.define(value)}: {value.type}"
            if self.sources and value.node.attrs["name"]:
                text += f" {json.dumps(value.node.attrs['name'])}"
            if value.node.attrs["donated"]:
                text += " donated"
            if value.node.attrs["sharding"] is not None:
                text += f" sharding={self.attribute(value.node, 'sharding')}"
            comma = "," if value != graph.params[-1] else ""
            yield text + self.source(value.node.source) + comma

    def body(self, graph: Graph) -> Iterator[str]:
        for node in graph.nodes:
            if node.op != "parameter":
                yield from (_INDENT + line for line in self.node(node))
        yield f"{_INDENT}return {self.list(graph.outputs)}".rstrip()

    def node(self, node: Node) -> Iterator[str]:
        operands = self.list(node.operands)
        regions = [list(self.region(name, region)) for name, region in
                   zip(node.spec.region_names(len(node.regions)), node.regions, strict=True)]
        results = ", ".join(self.define(value) for value in node.results)
        attrs = "".join(f" {name}={self.attribute(node, name)}" for name, attribute
                        in node.spec.attrs.items()
                        if attribute.default is REQUIRED
                        or node.attrs[name] != attribute.kind.normal(attribute.default))
        line = f"{results} = {node.op}({operands}){attrs}" if results else f"{node.op}({operands})"
        line += "".join(" : " + ", ".join(map(str, node.types)) for _ in (0,) if node.types)
        line += self.source(node.source)
        if not regions:
            yield line
            return
        yield line + " {"
        for region in regions:
            yield from (_INDENT + text for text in region)
        yield "}"

    def region(self, name: str, region: Graph) -> Iterator[str]:
        params = " ".join(self.params(region))
        yield f"{name}({params}) {{"
        yield from self.body(region)
        yield "}"

    def attribute(self, node: Node, name: str) -> str:
        kind, value = node.spec.attrs[name].kind, node.attrs[name]
        return array_text(value, self.elide) if kind.form == "array" else kind.text(value)

    def source(self, source: Source) -> str:
        if not self.sources or source == Source.UNKNOWN:
            return ""
        name = f" {json.dumps(source.name)}" if source.name else ""
        return f" @ {json.dumps(source.file)}:{source.line}:{source.column}{name}"


def array_text(array: Array, elide: bool = False) -> str:
    """Return an array as text: its type, then its elements in braces, row-major."""
    if array.type.size > _MOST_NUMBERS:
        return f"{array.type}{{...}}" if elide else f'{array.type}{{hex "{array.bytes.hex()}"}}'
    return f"{array.type}{{{','.join(_number(array, i) for i in range(array.type.size))}}}"


def _number(array: Array, index: int) -> str:
    element = array.numpy.reshape(-1)[index]
    dtype = array.type.dtype
    if dtype is DType.BOOL:
        return "true" if element else "false"
    if not dtype.is_float:
        return str(int(element))
    if np.isnan(element):
        # NaNs differ in bits that a decimal number does not show.
        return f"0x{int(element.view(f'u{dtype.numpy.itemsize}')):0{dtype.bits // 4}x}"
    # Every bf16 is a float32, whose shortest decimal form reads back as the same number.
    return str(np.float32(element))

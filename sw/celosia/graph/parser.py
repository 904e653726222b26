"""Text of `celosia.graph.to_text` as the graph that it was."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple, NoReturn

import numpy as np

from celosia.graph.attributes import AttributeKind
from celosia.graph.errors import GraphError, suggest
from celosia.graph.node import Graph, Node, Value
from celosia.graph.source import Source
from celosia.graph.spec import OPS
from celosia.graph.types import Array, DType, TensorType

__all__ = ["parse"]

_TOKEN = re.compile(r"""
    (?P<space>\s+)
  | (?P<string>"(?:[^"\\\n]|\\.)*")
  | (?P<value>%\d+)
  | (?P<number>0x[0-9a-f]+ | -?(?:inf\b | \d+(?:\.\d*)?(?:e[+-]?\d+)?))
  | (?P<word>[A-Za-z_]\w*)
  | (?P<punctuation>[()\[\]{},:=@])
""", re.VERBOSE)


class _Token(NamedTuple):
    kind: str
    text: str
    line: int
    column: int


def parse(text: str, filename: str = "<text>") -> Graph:
    """Return the graph that prints as ``text``.

    Raises
    ------
    GraphError
        With file, line and column, at the first thing that is not so.
    """
    return _Parser(text, filename).whole()


class _Parser:
    def __init__(self, text: str, filename: str):
        self.filename = filename
        self.values: dict[str, Value] = {}
        self.at = 0
        self.tokens: list[_Token] = []
        place, line, start = 0, 1, 0
        while place < len(text):
            match = _TOKEN.match(text, place)
            if match is None:
                self.fail("a token", _Token("?", text[place], line, place - start + 1))
            if match.lastgroup != "space":
                self.tokens.append(_Token(match.lastgroup or "", match.group(), line,
                                          place - start + 1))
            lines = match.group().count("\n")
            if lines:
                line, start = line + lines, place + match.group().rindex("\n") + 1
            place = match.end()
        self.tokens.append(_Token("end", "", line, place - start + 1))

    # Tokens

    @property
    def next(self) -> _Token:
        return self.tokens[self.at]

    def fail(self, wanted: str, token: _Token) -> NoReturn:
        what = repr(token.text) if token.text else "the end"
        self.wrong(token, f"there must be {wanted}, not {what}")

    def wrong(self, token: _Token, message: str) -> NoReturn:
        raise GraphError(f"{self.filename}:{token.line}:{token.column}: {message}")

    def take(self, kind: str, wanted: str) -> _Token:
        token = self.next
        if token.kind != kind:
            self.fail(wanted, token)
        self.at += 1
        return token

    def sees(self, text: str) -> bool:
        return self.next.text == text

    def accept(self, text: str) -> bool:
        found = self.sees(text)
        self.at += found
        return found

    def expect(self, text: str) -> None:
        if not self.accept(text):
            self.fail(repr(text), self.next)

    def string(self) -> str:
        return str(json.loads(self.take("string", "a string").text))

    def int(self) -> int:
        token = self.take("number", "an integer")
        try:
            return int(token.text)
        except ValueError:
            self.fail("an integer", token)

    def separated(self, opening: str, closing: str, item: Any) -> list[Any]:
        self.expect(opening)
        items: list[Any] = []
        while not self.accept(closing):
            if items:
                self.expect(",")
            items.append(item())
        return items

    # Types, arrays, attributes

    def dtype(self) -> DType:
        token = self.take("word", "an element type")
        try:
            return DType(token.text)
        except ValueError:
            self.wrong(token, f"element type must be one of {', '.join(map(str, DType))}, not "
                              f"{token.text!r}")

    def type(self) -> TensorType:
        dtype = self.dtype()
        token = self.next
        shape = self.separated("[", "]", self.int)
        try:
            return TensorType(dtype, tuple(shape))
        except ValueError as error:
            self.wrong(token, str(error))

    def array(self) -> Array:
        start = self.next
        type = self.type()
        if self.tokens[self.at + 1].text == "hex":
            self.at += 2
            data = bytes.fromhex(self.string())
            self.expect("}")
            if len(data) != type.nbytes:
                self.wrong(start, f"bytes must be {type.nbytes} for {type}, not {len(data)}")
            return Array(np.frombuffer(data, type.dtype.numpy).reshape(type.shape))
        items = self.separated("{", "}", lambda: self.element(type.dtype))
        if len(items) != type.size:
            self.wrong(start, f"elements must be {type.size} for {type}, not {len(items)}")
        return Array(np.array(items, type.dtype.numpy).reshape(type.shape))

    def element(self, dtype: DType) -> Any:
        token = self.next
        self.at += 1
        try:
            if dtype is DType.BOOL:
                return {"true": True, "false": False}[token.text]
            if not dtype.is_float:
                return dtype.numpy.type(int(token.text))
            if token.text.startswith("0x"):
                bits = np.array(int(token.text, 16), f"u{dtype.numpy.itemsize}")
                return bits.view(dtype.numpy)[()]
            return np.float32(token.text).astype(dtype.numpy)
        except (ValueError, KeyError, OverflowError):
            self.fail(f"an element of {dtype}", token)

    def item(self) -> Any:
        """Read an integer, or a list of what may be lists."""
        return self.separated("[", "]", self.item) if self.sees("[") else self.int()

    def attribute(self, kind: AttributeKind) -> Any:
        match kind.form:
            case "int":
                return self.int()
            case "string":
                return self.string()
            case "dtype":
                return self.dtype()
            case "array":
                return self.array()
            case "lists":
                return self.separated("[", "]", self.item)
            case "bool":
                return {"true": True, "false": False}.get(self.take("word", kind.name).text)
            case _:
                return self.take("word", kind.name).text

    def source(self) -> Source:
        if not self.accept("@"):
            return Source.UNKNOWN
        file = self.string()
        self.expect(":")
        line = self.int()
        self.expect(":")
        column = self.int()
        return Source(file, line, column, self.string() if self.next.kind == "string" else "")

    # Nodes and graphs

    def use(self) -> Value:
        token = self.take("value", "a value like %0")
        if token.text not in self.values:
            self.wrong(token, f"value must be defined before it is used, not {token.text!r}")
        return self.values[token.text]

    def bind(self, token: _Token, value: Value) -> None:
        if token.text in self.values:
            self.wrong(token, f"value must be defined once, not again {token.text!r}")
        self.values[token.text] = value

    def param(self) -> Value:
        token = self.take("value", "a value like %0")
        self.expect(":")
        type = self.type()
        name = self.string() if self.next.kind == "string" else ""
        attrs = {"dtype": type.dtype, "shape": type.shape, "name": name,
                 "donated": self.accept("donated")}
        if self.accept("sharding"):
            self.expect("=")
            attrs["sharding"] = self.separated("[", "]", self.item)
        source = self.source()
        try:
            value = Node("parameter", (), attrs, (), source).result
        except GraphError as error:
            self.wrong(token, str(error))
        self.bind(token, value)
        return value

    def count(self, name: str) -> int:
        if not self.accept(name):
            return 1
        self.expect("=")
        return self.int()

    def graph(self, name: str) -> Graph:
        start = self.next
        params = self.separated("(", ")", self.param)
        devices = {name: self.count(name) for name in ("replicas", "partitions")}
        self.expect("{")
        while not self.accept("return"):
            self.node()
        outputs: list[Value] = []
        while not self.accept("}"):
            if outputs:
                self.expect(",")
            outputs.append(self.use())
        try:
            return Graph(name, params, outputs, **devices)
        except GraphError as error:
            self.wrong(start, str(error))

    def region(self) -> Graph:
        name = self.take("word", "a region").text
        # A region is closed: the values around it are none of its own.
        outer = self.values
        self.values = {}
        region = self.graph(name)
        self.values = outer
        return region

    def node(self) -> None:
        targets: list[_Token] = []
        while self.next.kind == "value":
            targets.append(self.take("value", "a value"))
            if not self.accept(","):
                self.expect("=")
                break
        start = self.take("word", "an operation")
        if start.text not in OPS:
            self.wrong(start, f"operation must be one of celosia.graph.OPS, not {start.text!r}"
                              f"{suggest(start.text, OPS)}")
        spec = OPS[start.text]
        operands = self.separated("(", ")", self.use)
        attrs: dict[str, Any] = {}
        while self.next.kind == "word" and self.tokens[self.at + 1].text == "=":
            token = self.take("word", "an attribute")
            if token.text not in spec.attrs:
                self.wrong(token, f"attribute of {spec.name} must be one of "
                                  f"{', '.join(spec.attrs) or 'none'}, not {token.text!r}"
                                  f"{suggest(token.text, spec.attrs)}")
            self.expect("=")
            attrs[token.text] = self.attribute(spec.attrs[token.text].kind)
        types: list[TensorType] = []
        if self.accept(":"):
            types.append(self.type())
            while self.accept(","):
                types.append(self.type())
        source = self.source()
        regions: list[Graph] = []
        if self.accept("{"):
            while not self.accept("}"):
                regions.append(self.region())
        try:
            node = Node(spec.name, operands, attrs, regions, source)
        except GraphError as error:
            self.wrong(start, str(error))
        if node.types != tuple(types) or len(types) != len(targets):
            wanted = ", ".join(map(str, node.types))
            self.wrong(start, f"results of {spec.name} must be {wanted or 'none'}, not "
                              f"{', '.join(map(str, types)) or 'none'}")
        for token, value in zip(targets, node.results, strict=True):
            self.bind(token, value)

    def whole(self) -> Graph:
        self.expect("graph")
        name = self.take("word", "the name of the graph").text if self.next.kind == "word" else ""
        graph = self.graph(name)
        if self.next.kind != "end":
            self.fail("the end", self.next)
        return graph

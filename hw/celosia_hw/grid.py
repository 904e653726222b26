"""Grids and rows of equal elements."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from amaranth.hdl import Cat, EnableInserter, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Grid", "ports"]


def ports(component: wiring.Component) -> Iterator[tuple[str, str, Any]]:
    """Yield direction (``i`` or ``o``), Verilog name and value of every port of ``component``."""
    for path, member, value in component.signature.flatten(component):
        letter = "i" if member.flow == wiring.In else "o"
        yield letter, "__".join(map(str, path)), getattr(value, "as_value", lambda v=value: v)()


class Grid(wiring.Component):
    """``rows`` x ``cols`` elements, all alike.

    Each port of the element is of one of four kinds. What is *passed right* enters every row at
    the left and is handed on by the element, from its port ``x_i`` to its port ``x_o``; the grid
    has ``x_i``, ``rows`` words. What is *passed down* enters every column at the top and leaves at
    the bottom; the grid has ``x_i`` and ``x_o``, ``cols`` words each. A *shared* input goes to
    every element. Any other port is there for *each* element: ``rows * cols`` words, row after row.

    In Amaranth's simulator the elements are submodules. A platform with a method ``get_grid`` gives
    what stands for the grid instead: the writer of Verilog writes the element once.

    Parameters
    ----------
    element
        Makes one element. It has plain ports; every output is a register of the ``sync`` domain;
        its registers start at zero; its memories are only read. Registers whose enable depends on
        shared inputs alone cost a simulator nothing while it is low. An element may have a
        tuple ``alike``: names of registers of one bit that mostly are equal in all elements, as
        the format of what it computes. Simulators written as loops leave out what nothing depends
        on then. It may have a tuple ``seldom``, too: names of what is passed and changes seldom. A
        simulator leaves out registers that depend on nothing else once they have come to rest.
    module
        Verilog name of the element; that of the grid is ``<module>_grid``.
    right, down
        What is passed: names, without ``_i`` and ``_o``.
    shared
        Names of inputs. The name of an array of inputs stands for all of them.
    active
        Name of a shared input that may be low only in cycles in which no register of any element
        changes: simulators written as loops skip the grid then.
    """

    def __init__(self, element: Callable[[], wiring.Component], *, module: str, rows: int = 1,
                 cols: int, right: Iterable[str] = (), down: Iterable[str] = (),
                 shared: Iterable[str] = (), active: str = ""):
        self.active_port = active
        self.element, self.module, self.rows, self.cols = element, module, rows, cols
        self.right, self.down = tuple(right), tuple(down)
        pattern = element()
        pattern._MustUse__silence = True  # type: ignore[attr-defined]
        self.alike: tuple[str, ...] = getattr(pattern, "alike", ())
        self.seldom: tuple[str, ...] = getattr(pattern, "seldom", ())
        if strange := set(self.seldom) - {*self.right, *self.down}:
            raise ValueError(f"what changes seldom in a grid of {module} must be passed right or "
                             f"down, not {min(strange)!r}")
        self._ports = [(letter, name, len(value)) for letter, name, value in ports(pattern)]
        self.widths = {name: width for _, name, width in self._ports}
        self.shared = tuple(name for name in self.widths for member in shared
                            if name.partition("__")[0] == member)
        counts = {"shared": 1, "right": rows, "down": cols, "each": rows * cols}
        super().__init__({
            name: (In if letter == "i" else Out)(counts[self.kind(name)] * width)
            for letter, name, width in self._ports
            if letter == "i" or self.kind(name) != "right"})

    def kind(self, name: str) -> str:
        """How the element's port ``name`` is connected: shared, right, down or each."""
        if name in self.shared:
            return "shared"
        base = name.removesuffix("_i").removesuffix("_o")
        return "right" if base in self.right else "down" if base in self.down else "each"

    @property
    def members(self) -> dict[str, Signal]:
        """Ports of the grid by name."""
        return {name: getattr(self, name) for name in self.signature.members}

    def elaborate(self, platform):  # noqa: D102
        if hasattr(platform, "get_grid"):
            return platform.get_grid(self)
        m = Module()
        elements = [[self.element() for _ in range(self.cols)] for _ in range(self.rows)]
        inside = [[{name: value for _, name, value in ports(item)} for item in row]
                  for row in elements]

        def source(name: str, kind: str, k: int, n: int) -> Value:
            """What input ``name`` of element k, n is connected to."""
            edge, handed_on = self.members[name], name.removesuffix("_i") + "_o"
            if kind == "shared":
                return edge
            if kind == "right" and n:
                return inside[k][n - 1][handed_on]
            if kind == "down" and k:
                return inside[k - 1][n][handed_on]
            word = {"right": k, "down": n, "each": k * self.cols + n}[kind]
            return edge.word_select(word, self.widths[name])

        for letter, name, _ in self._ports:
            kind = self.kind(name)
            if letter == "i":
                m.d.comb += [item[name].eq(source(name, kind, k, n))
                             for k, row in enumerate(inside) for n, item in enumerate(row)]
            elif kind != "right":
                rows = inside[-1:] if kind == "down" else inside
                m.d.comb += self.members[name].eq(Cat(item[name] for row in rows for item in row))
        for k, row in enumerate(elements):
            for n, item in enumerate(row):
                if self.active_port:  # a wrong driver is to show
                    item = EnableInserter(self.members[self.active_port])(item)
                m.submodules[f"element_{k}_{n}"] = item  # type: ignore[arg-type]
        return m

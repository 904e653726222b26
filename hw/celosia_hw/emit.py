"""Verilog of a component, with a repeated module written once.

Amaranth writes every instance of a component as a module of its own. Components that are there
many times are a :class:`celosia_hw.grid.Grid`, or are added with :func:`instantiate` instead of
``m.submodules``: in Amaranth's simulator they are ordinary submodules, in Verilog one module.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from amaranth._toolchain.yosys import find_yosys
from amaranth.back import rtlil  # type: ignore[attr-defined]
from amaranth.hdl import ClockSignal, Instance, Module, ResetSignal
from amaranth.lib import wiring

from celosia_hw.netlist import Element
from celosia_hw.vectorise import loops

if TYPE_CHECKING:
    from celosia_hw.grid import Grid

__all__ = ["Emission", "instantiate", "ports", "verilog"]

#: ``opt_dff`` turns hold multiplexers into flip-flop enables: Verilator simulates those five times
#: faster than what Amaranth's own script writes.
_MODULE_PASSES = ("proc -norom", "opt_expr", "opt_clean", "opt_dff")
#: What is repeated gets narrow operators too. ``-nosdff``: bits that are reset by their data would
#: become registers of their own.
_ELEMENT_PASSES = ("flatten", "proc -norom", "opt_expr", "opt_clean", "opt_dff -nosdff", "wreduce")
_LAST_PASSES = (
    "opt_expr", "opt_merge", "opt_clean", "memory_collect",
    ("attrmap -remove generator -remove top -remove src -remove amaranth.hierarchy "
     "-remove amaranth.decoding"),
)


def ports(component: wiring.Component) -> Iterator[tuple[str, str, Any]]:
    """Yield direction (``i`` or ``o``), Verilog name and value of every port of ``component``."""
    for path, member, value in component.signature.flatten(component):
        letter = "i" if member.flow == wiring.In else "o"
        yield letter, "__".join(map(str, path)), getattr(value, "as_value", lambda v=value: v)()


def _yosys(text: str, *passes: str) -> str:
    yosys = find_yosys(lambda version: version >= (0, 40))
    script = "\n".join((f"read_rtlil <<rtlil\n{text}\nrtlil", *passes, *_LAST_PASSES,
                        "write_verilog -norename -noattr"))
    return yosys.run(["-q", "-"], script, ignore_warnings=True)


class Emission:
    """The platform that components are elaborated with when Verilog is written.

    Collects the components that are to be modules of their own. Two with the same module name must
    be equal; the first is converted.
    """

    def __init__(self) -> None:
        self._queue: list[tuple[str, wiring.Component]] = []
        self._seen: set[str] = set()
        self.grids: dict[str, Grid] = {}
        #: Modules that are written in Verilog, by name.
        self.texts: dict[str, str] = {}

    def add(self, name: str, component: wiring.Component) -> None:
        """Ask for ``component`` to be converted to the module ``name``."""
        if name not in self._seen:
            self._seen.add(name)
            self._queue.append((name, component))

    def add_grid(self, m: Module, grid: "Grid") -> None:
        """Put an instance of ``grid`` into ``m``."""
        self.grids.setdefault(grid.module, grid)
        m.submodules.grid = _instance(f"{grid.module}_grid", grid)

    def rtlil(self, name: str, component: wiring.Component) -> str:
        """RTLIL of ``component`` as module ``name``, and of every module it asks for."""
        self.add(name, component)
        texts = []
        while self._queue:
            module, item = self._queue.pop(0)
            texts.append(rtlil.convert(item, name=module, platform=self, emit_src=False))
        return "\n".join(texts)


def _instance(module: str, component: wiring.Component) -> Instance:
    connections = {f"{letter}_{name}": value for letter, name, value in ports(component)}
    return Instance(module, i_clk=ClockSignal(), i_rst=ResetSignal(), **connections)


def instantiate(m: Module, platform, component: wiring.Component, *, module: str,
                name: str) -> None:
    """Add ``component`` to ``m`` as submodule ``name``.

    Parameters
    ----------
    platform
        What ``elaborate`` was given.
    module
        Name of the Verilog module. Components with the same module name are one module, so they
        must be made with the same parameters. Each uses the ``sync`` domain.
    """
    if not isinstance(platform, Emission):
        m.submodules[name] = component  # type: ignore[arg-type]
        return
    platform.add(module, component)
    m.submodules[name] = _instance(module, component)
    # Only the first instance is elaborated.
    component._MustUse__silence = True  # type: ignore[attr-defined]


def _instances(grid: "Grid") -> str:
    """Verilog of ``grid`` with an instance for each element."""
    rows, cols = grid.rows, grid.cols
    head, nets, wires = ["clk", "rst"], ["input clk;", "input rst;"], [".clk(clk)", ".rst(rst)"]
    outs = []
    for letter, name, value in ports(grid):
        head.append(name)
        nets.append(f"{'input' if letter == 'i' else 'output'} [{len(value) - 1}:0] {name};")
    for base in (*grid.right, *grid.down):
        width = grid.widths[f"{base}_i"]
        # Net k of a line is what element k takes, net k + 1 what it hands on.
        words = rows * (cols + 1) if base in grid.right else (rows + 1) * cols
        nets.append(f"wire [{words * width - 1}:0] {base}_line;")
        if base in grid.right:
            take, hand = f"k*{cols + 1} + n", f"k*{cols + 1} + n + 1"
            outs += [f"assign {base}_line[{k * (cols + 1) * width} +: {width}] = "
                     f"{base}_i[{k * width} +: {width}];" for k in range(rows)]
        else:
            take, hand = f"k*{cols} + n", f"(k + 1)*{cols} + n"
            outs += [f"assign {base}_line[0 +: {cols * width}] = {base}_i;",
                     f"assign {base}_o = {base}_line[{rows * cols * width} +: {cols * width}];"]
        wires += [f".{base}_i({base}_line[({take})*{width} +: {width}])",
                  f".{base}_o({base}_line[({hand})*{width} +: {width}])"]
    for _, name, _ in ports(grid):
        base = name.removesuffix("_i").removesuffix("_o")
        if name in grid.shared:
            wires.append(f".{name}({name})")
        elif base not in (*grid.right, *grid.down):
            width = grid.widths[name]
            wires.append(f".{name}({name}[(k*{cols} + n)*{width} +: {width}])")
    return "\n".join([
        f"module {grid.module}_grid({', '.join(head)});", *nets, *outs, "genvar k, n;", "generate",
        f"for (k = 0; k < {rows}; k = k + 1) begin : row",
        f"for (n = 0; n < {cols}; n = n + 1) begin : col",
        f"{grid.module} element(", ",\n".join(wires), ");", "end", "end", "endgenerate",
        "endmodule", ""])


def verilog(component: wiring.Component, *, name: str, simulation: bool = True) -> str:
    """Verilog text of ``component`` as the module ``name``.

    Ports are the members of its signature, joined by ``__``, with ``clk`` and ``rst``. The text is
    the same for the same component.

    Parameters
    ----------
    simulation
        Write a grid as loops over arrays (SystemVerilog), which compile to fast simulators; else as
        generated instances of its element (Verilog 2001), for synthesis.
    """
    emission = Emission()
    texts = [_yosys(emission.rtlil(name, component), *_MODULE_PASSES), *emission.texts.values()]
    for grid in emission.grids.values():
        element = _yosys(Emission().rtlil(grid.module, grid.element()), *_ELEMENT_PASSES)
        if simulation:
            texts.append(loops(Element.parse(element, grid.module), f"{grid.module}_grid",
                               grid.rows, grid.cols, right=grid.right, down=grid.down,
                               shared=grid.shared, active=grid.active_port))
        else:
            texts += [element, _instances(grid)]
    return "\n".join(texts)

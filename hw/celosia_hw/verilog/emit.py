"""Verilog of a component, with a repeated module written once.

Amaranth writes every instance of a component as a module of its own. The writer is the platform
that components are elaborated with, and answers what they ask a platform for: a grid
(`celosia_hw.grid.Grid`) is written with one module for its element, a block RAM in the form that
tools infer, the chip of a system as a module of its own.
"""

from collections.abc import Callable

from amaranth._toolchain.yosys import find_yosys
from amaranth.back import rtlil  # type: ignore[attr-defined]
from amaranth.hdl import ClockSignal, Instance, Module, ResetSignal
from amaranth.lib import wiring

from celosia_hw.grid import Grid, ports
from celosia_hw.memory.ram import Ram

__all__ = ["VerilogWriter", "WriteGrid", "instances", "verilog"]

#: Writes a grid, as the module ``<module>_grid``, from the Verilog of its element.
WriteGrid = Callable[[Grid, str], str]

#: The form that synthesis tools infer as block RAM. Written by hand, because Amaranth writes every
#: row's initial value: hundreds of megabytes for the largest chips. Without ``no_rw_check`` yosys
#: adds a register and a bypass as wide as the word, so that a word can be read as it was while it
#: is written; block RAMs of many chips cannot do that. In simulation such a read gives wrong bits.
_RAM = """\
module celosia_ram(clk, write_en, write_addr, write_data, read_en, read_addr, read_data);
  parameter WIDTH = 8;
  parameter DEPTH = 4;
  parameter ADDRESS = 2;
  input clk, write_en, read_en;
  input [ADDRESS-1:0] write_addr, read_addr;
  input [WIDTH-1:0] write_data;
  output reg [WIDTH-1:0] read_data;
  (* no_rw_check *) reg [WIDTH-1:0] words [0:DEPTH-1];
  integer row;
  initial for (row = 0; row < DEPTH; row = row + 1) words[row] = {WIDTH{1'b0}};
  always @(posedge clk) begin
    if (write_en) words[write_addr] <= write_data;
    if (read_en) read_data <= words[read_addr];
`ifdef VERILATOR
    if (read_en && write_en && read_addr == write_addr) read_data <= ~words[read_addr];
`endif
  end
endmodule
"""

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


def _yosys(text: str, *passes: str) -> str:
    yosys = find_yosys(lambda version: version >= (0, 40))
    script = "\n".join((f"read_rtlil <<rtlil\n{text}\nrtlil", *passes, *_LAST_PASSES,
                        "write_verilog -norename -noattr"))
    return yosys.run(["-q", "-"], script, ignore_warnings=True)


class VerilogWriter:
    """The platform that components are elaborated with when Verilog is written.

    Has the hooks that components look for: ``get_grid``, ``get_ram``, ``add_file`` (as Amaranth's
    platforms) for a module that is written in Verilog, ``add_module``.
    """

    def __init__(self) -> None:
        self._queue: list[tuple[str, wiring.Component]] = []
        self._seen: set[str] = set()
        self.grids: dict[str, Grid] = {}
        #: What is written in Verilog, by name of the file.
        self.files: dict[str, str] = {}

    def add_module(self, name: str, component: wiring.Component) -> None:
        """Ask for ``component`` to be converted to the module ``name``.

        Two with the same name must be equal; the first is converted.
        """
        if name not in self._seen:
            self._seen.add(name)
            self._queue.append((name, component))

    def add_file(self, name: str, text: str) -> None:
        """Put a file beside what is written."""
        self.files[name] = text

    def get_grid(self, grid: Grid) -> Module:
        """Return an instance of the module of ``grid``; grids of one module must be equal."""
        self.grids.setdefault(grid.module, grid)
        connections = {f"{letter}_{name}": value for letter, name, value in ports(grid)}
        m = Module()
        m.submodules.grid = Instance(f"{grid.module}_grid", i_clk=ClockSignal(),
                                     i_rst=ResetSignal(), **connections)
        return m

    def get_ram(self, ram: Ram) -> Module:
        """Return an instance of a block RAM."""
        self.add_file("celosia_ram.v", _RAM)
        m = Module()
        m.submodules.ram = Instance(
            "celosia_ram", p_WIDTH=ram.width, p_DEPTH=ram.depth, p_ADDRESS=len(ram.read_addr),
            i_clk=ClockSignal(), i_write_en=ram.write_en, i_write_addr=ram.write_addr,
            i_write_data=ram.write_data, i_read_en=ram.read_en, i_read_addr=ram.read_addr,
            o_read_data=ram.read_data)
        return m

    def rtlil(self, name: str, component: wiring.Component) -> str:
        """RTLIL of ``component`` as module ``name``, and of every module it asks for."""
        self.add_module(name, component)
        texts = []
        while self._queue:
            module, item = self._queue.pop(0)
            texts.append(rtlil.convert(item, name=module, platform=self, emit_src=False))
        return "\n".join(texts)


def instances(grid: Grid, element: str) -> str:
    """Verilog of ``grid`` with an instance of ``element`` for each element, for synthesis."""
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
        element, f"module {grid.module}_grid({', '.join(head)});", *nets, *outs,
        "genvar k, n;", "generate",
        f"for (k = 0; k < {rows}; k = k + 1) begin : row",
        f"for (n = 0; n < {cols}; n = n + 1) begin : col",
        f"{grid.module} element(", ",\n".join(wires), ");", "end", "end", "endgenerate",
        "endmodule", ""])


def verilog(component: wiring.Component, *, name: str, write_grid: WriteGrid = instances) -> str:
    """Verilog text of ``component`` as the module ``name``.

    Ports are the members of its signature, joined by ``__``, with ``clk`` and ``rst``. The text is
    the same for the same component.

    Parameters
    ----------
    write_grid
        The form of a grid: generated instances of its element (Verilog 2001), for synthesis, or
        another, such as `celosia_sim.loops.vectorise.loops`.
    """
    writer = VerilogWriter()
    texts = [_yosys(writer.rtlil(name, component), *_MODULE_PASSES), *writer.files.values()]
    for grid in writer.grids.values():
        element = _yosys(VerilogWriter().rtlil(grid.module, grid.element()), *_ELEMENT_PASSES)
        texts.append(write_grid(grid, element))
    return "\n".join(texts)

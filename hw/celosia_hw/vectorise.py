"""Verilog of a grid of equal elements, as loops over arrays.

A simulator that compiles Verilog to C++ turns an instance for each element into straight code, as
much as there are elements. Written as a loop over arrays of words, the same registers and the same
logic become a loop that a C++ compiler turns into vector instructions: the 16 x 16 array of bf16
elements simulates ten times faster, and builds in a fifth of the time.

The input is the Verilog that Yosys wrote for one element: every line is an assignment of a net or
the update of a register. Nothing of it is interpreted but names: assignments are put in order,
names of registers become elements of arrays, nets become variables of the loop.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

__all__ = ["Element", "loops"]

#: Elements that one loop goes over at most: what it reads and writes should fit into a cache.
_BLOCK = 1024

_TOKEN = re.compile(
    r"(?P<number>\d+'s?[bdh][0-9a-fA-FxXzZ_]+)|(?P<system>\$(?:un)?signed)"
    r"|(?P<name>\\\S+ |[A-Za-z_][\w$]*)|(?P<other>.)", re.DOTALL)
_DECLARATION = re.compile(
    r"(input|output|wire|reg) (?:signed )?(?:\[(\d+):0\] )?(\\\S+ |[\w$]+)"
    r"(?: = (?:\d+'[bdh])?([^;]*))?;")
_UPDATE = re.compile(
    r"(?P<condition>(?:else ?)?(?:if \([^()]*\) ?)?)(?P<target>\S.*?) <= (?P<value>.*);")
_CONDITION = re.compile(r"(?:else ?)?(?:if \([^()]*\))?(?: ?begin)?|end")
_FUNCTION = re.compile(r"^  function .*?^  endfunction$", re.MULTILINE | re.DOTALL)
_FUNCTION_NAME = re.compile(r"function (?:\[\d+:0\] )?(\\\S+|[\w$]+)")
_KEYWORDS = frozenset({"begin", "end", "if", "else"})


def _names(text: str) -> list[str]:
    return [token["name"].strip() for token in _TOKEN.finditer(text) if token["name"]]


@dataclass
class Element:
    """The netlist of one element.

    ``width``: bits of each name. ``assigns``: pairs of left and right side. ``updates``: lines of
    the clocked blocks. ``registers``: what they update. ``alias``: register that an output shows.
    ``functions``: selections of one of many values, which are Verilog functions as they stand.
    """

    width: dict[str, int] = field(default_factory=dict)
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    assigns: list[tuple[str, str]] = field(default_factory=list)
    updates: list[str] = field(default_factory=list)
    registers: list[str] = field(default_factory=list)
    alias: dict[str, str] = field(default_factory=dict)
    functions: list[str] = field(default_factory=list)

    @classmethod
    def parse(cls, text: str, module: str) -> "Element":
        """Read the module called ``module``.

        Raises
        ------
        ValueError
            If there is a line of another kind, such as a memory, an instance or a second clock, or
            an output that is not a register.
        """
        start = re.search(rf"^module {module}\(.*?\);$", text, re.MULTILINE | re.DOTALL)
        if not start:
            raise ValueError(f"module must be one of the text's, not {module!r}")
        element = cls()
        body = text[start.end():text.index("endmodule", start.end())]
        element.functions = _FUNCTION.findall(body)
        clocked = False
        for line in _FUNCTION.sub("", body).splitlines():
            stripped = line.strip()
            if not stripped:
                continue
            if clocked and line.startswith("    "):
                element._update(stripped, module)
                continue
            clocked = False
            if declared := _DECLARATION.fullmatch(stripped):
                kind, top, name, start = declared.groups()
                name = name.strip()
                if (start or "").strip("0"):
                    raise ValueError(f"register {name} of module {module} must start at zero, "
                                     f"not {start!r}")
                element.width[name] = int(top or 0) + 1
                if kind in ("input", "output") and name not in ("clk", "rst"):
                    (element.inputs if kind == "input" else element.outputs).append(name)
            elif stripped.startswith("assign "):
                left, right = stripped[len("assign "):-1].split(" = ", 1)
                element.assigns.append((left, right))
            elif stripped == "always @(posedge clk)":
                clocked = True
            else:
                raise ValueError(f"line of module {module} must be an assignment, a register or a "
                                 f"declaration, not {stripped!r}")
        direct = {left.strip(): right.strip() for left, right in element.assigns}
        for port in element.outputs:
            register = port
            while register not in element.registers and register in direct:
                register = direct[register]
            if register not in element.registers:
                raise ValueError(f"output {port} of module {module} must be a register")
            element.alias[port] = register
        return element

    def _update(self, line: str, module: str) -> None:
        match = _UPDATE.fullmatch(line)
        if not match and not _CONDITION.fullmatch(line):
            raise ValueError(f"register update of module {module} must be plain, not {line!r}")
        self.updates.append(line)
        if match:
            self.registers += [name for name in _names(match["target"])
                               if name not in self.registers]

    def ordered(self) -> list[tuple[str, str]]:
        """Assignments that the registers depend on, each after those that it depends on."""
        drivers: dict[str, list[int]] = {}
        for index, (left, _) in enumerate(self.assigns):
            for name in _names(left):
                drivers.setdefault(name, []).append(index)

        def needs(text: str, index: int = -1) -> list[int]:
            # Bits of a net may be copies of others of its bits.
            return [driver for name in _names(text) for driver in drivers.get(name, ())
                    if driver != index]

        order: list[int] = []
        stack = [(index, False) for line in reversed(self.updates) for index in needs(line)]
        seen: set[int] = set()
        while stack:
            index, leave = stack.pop()
            if leave:
                order.append(index)
            elif index not in seen:
                seen.add(index)
                stack.append((index, True))
                stack.extend((driver, False) for driver in needs(self.assigns[index][1], index))
        position = {index: place for place, index in enumerate(order)}
        for index, place in position.items():
            left, right = self.assigns[index]
            if any(position[driver] >= place for driver in needs(right, index)):
                raise ValueError(f"net {left} must not depend on itself")
        return [self.assigns[index] for index in order]


def _word(width: int) -> int:
    """Bits of the array element that holds ``width`` bits: all of one size vectorise best."""
    return 32 if width <= 32 else max(width, 64)


def loops(element: Element, module: str, rows: int, cols: int, *, right: Iterable[str],
          down: Iterable[str], shared: Iterable[str], active: str = "") -> str:
    """Verilog of a grid of ``rows`` x ``cols`` elements as the module ``module``.

    Ports and parameters as of :class:`celosia_hw.grid.Grid`. Registers start at zero.
    """
    right, down, shared = list(right), list(down), list(shared)
    passed = [f"{name}_i" for name in (*right, *down)]
    each = [name for name in element.inputs if name not in passed and name not in shared]
    each_out = [name for name in element.outputs if name.removesuffix("_o") not in (*right, *down)]
    block = min(rows, max(1, _BLOCK // cols))  # rows of a block
    blocks, size = rows // block, block * cols
    if rows % block:
        raise ValueError(f"rows of a grid must be a multiple of {block}, not {rows!r}")

    known: dict[str, str] = {}
    functions = {found[1] for text in element.functions if (found := _FUNCTION_NAME.search(text))}

    def variable(name: str) -> str:
        """Verilog name of a net, an input or the value that a register has."""
        if name in ("rst", *shared):
            return name
        return known.setdefault(name, f"x{len(known)}_{re.sub(r'[^A-Za-z0-9]+', '_', name)}")

    def rename(text: str, names: Mapping[str, str] | None = None) -> str:
        def token(match: re.Match[str]) -> str:
            name = match["name"]
            if name is None or name in _KEYWORDS or name.strip() in functions:
                return match[0]
            name = name.strip()
            return names[name] if names else variable(name)
        return _TOKEN.sub(token, text)

    future = {name: f"next_{variable(name)}" for name in element.registers}
    logic = [f"{rename(left)} = {rename(value)};" for left, value in element.ordered()]
    updates = []
    for line in element.updates:
        if match := _UPDATE.fullmatch(line):
            updates.append(f"{rename(match['condition'])}{rename(match['target'], future)} = "
                           f"{rename(match['value'])};")
        else:
            updates.append(rename(line))

    def array(name: str) -> str:
        return f"{variable(name)}_q"

    def bits(width: int) -> str:
        return f"[{width - 1}:0]"

    width = element.width
    ports, declarations, unpack, pack = ["clk", "rst"], [], [], []

    def port(direction: str, name: str, count: int) -> None:
        ports.append(name)
        declarations.append(f"{direction} {bits(count * width[name])} {name};")

    def slices(name: str, count: int) -> list[str]:
        w = width[name]
        return [f"{name}[{k * w + w - 1}:{k * w}]" for k in range(count)]

    for name in shared:
        port("input", name, 1)
    for name in (f"{name}_i" for name in right):
        port("input", name, rows)
        declarations.append(f"logic {bits(_word(width[name]))} {name}_edge [0:{rows - 1}];")
        unpack += [f"{name}_edge[{k}] = {part};" for k, part in enumerate(slices(name, rows))]
    for name in (f"{name}_i" for name in down):
        port("input", name, cols)
        declarations.append(f"logic {bits(_word(width[name]))} {name}_edge [0:{cols - 1}];")
        unpack += [f"{name}_edge[{n}] = {part};" for n, part in enumerate(slices(name, cols))]
    for name in each:
        port("input", name, rows * cols)
        declarations.append(f"logic {bits(_word(width[name]))} {name}_all "
                            f"[0:{blocks - 1}][0:{size - 1}];")
        unpack += [f"{name}_all[{j // size}][{j % size}] = {part};"
                   for j, part in enumerate(slices(name, rows * cols))]
    for name in passed:
        declarations.append(f"logic {bits(_word(width[name]))} {name}_in [0:{size - 1}];")
    for name in element.registers:
        declarations.append(f"logic {bits(_word(width[name]))} {array(name)} "
                            f"[0:{blocks - 1}][0:{size - 1}];")
    for name in down:
        out = f"{name}_o"
        port("output reg", out, cols)
        pack += [f"{part} <= {array(element.alias[out])}[{blocks - 1}][{size - cols + n}]"
                 f"{bits(width[out])};" for n, part in enumerate(slices(out, cols))]
    for name in each_out:
        port("output reg", name, rows * cols)
        pack += [f"{part} <= {array(element.alias[name])}[{j // size}][{j % size}]"
                 f"{bits(width[name])};" for j, part in enumerate(slices(name, rows * cols))]

    def copy(count: int, lines: Iterable[str]) -> list[str]:
        lines = list(lines)
        return [f"for (j = 0; j < {count}; j = j + 1) begin", *lines, "end"] if lines else []

    # Blocks from the last to the first: a block reads what the one above it held.
    sources = {f"{name}_i": array(element.alias[f"{name}_o"]) for name in (*right, *down)}
    gather = [
        *copy(size - 1, (f"{name}_i_in[j + 1] = {sources[f'{name}_i']}[b][j];" for name in right)),
        *copy(block, (f"{name}_i_in[j * {cols}] = {name}_i_edge[b * {block} + j];"
                      for name in right)),
        *copy(size - cols, (f"{name}_i_in[j + {cols}] = {sources[f'{name}_i']}[b][j];"
                            for name in down)),
        "if (b == 0) begin",
        *copy(cols, (f"{name}_i_in[j] = {name}_i_edge[j];" for name in down)),
        "end else begin",
        *copy(cols, (f"{name}_i_in[j] = {sources[f'{name}_i']}[b - 1][j + {size - cols}];"
                     for name in down)),
        "end",
    ]
    local = [name for name in known if name not in shared]
    main = [
        f"for (j = 0; j < {size}; j = j + 1) begin",
        *(f"{variable(name)} = {name}_in[j]{bits(width[name])};"
          for name in passed if name in known),
        *(f"{variable(name)} = {name}_all[b][j]{bits(width[name])};"
          for name in each if name in known),
        *(f"{variable(name)} = {array(name)}[b][j]{bits(width[name])};"
          for name in element.registers),
        *logic,
        *(f"{future[name]} = {variable(name)};" for name in element.registers),
        *updates,
        *(f"{array(name)}[b][j] = {future[name]};" for name in element.registers),
        "end",
    ]
    # Verilator may cut a long function in pieces; what is in one loop stays together, and the
    # variables of the inner task stay local to it.
    tasks = [
        "logic [31:0] b;",
        "task automatic block;", "logic [31:0] j;",
        *(f"logic {bits(width[name])} {variable(name)};" for name in local),
        *(f"logic {bits(width[name])} {future[name]};" for name in element.registers),
        *gather, *main, "endtask",
        "task automatic step;", *unpack,
        f"for (b = {blocks - 1}; b < {blocks}; b = b - 1) block();", "endtask",
    ]
    return "\n".join([
        "/* verilator lint_off UNUSEDSIGNAL */",  # bits and nets that simplification left behind
        f"module {module}({', '.join(ports)});", "input clk;", "input rst;",
        *declarations, *element.functions, *tasks,
        f"always @(posedge clk) {f'if ({active}) ' if active else ''}begin", "step();", *pack,
        "end", "endmodule",
        "/* verilator lint_on UNUSEDSIGNAL */", ""])

"""Verilog of a grid of equal elements, as loops over arrays.

A simulator that compiles Verilog to C++ turns an instance for each element into straight code, as
much as there are elements. Written as a loop over arrays of words, the same registers and the same
logic become a loop that a C++ compiler turns into vector instructions: the 16 x 16 array of bf16
elements simulates ten times faster, and builds in a fifth of the time.

Assignments are put in order, names of registers become elements of arrays, nets become variables of
the loop. Registers whose enable is the same for all elements have a loop of their own, which is
skipped without it: what a pipeline does not use costs nothing. So are registers that have come to
rest: those that only depend on what changes seldom, so many cycles after it has changed as the
change takes to the last of them.
"""

import re
from collections.abc import Callable, Iterable, Mapping

from celosia_hw.grid import Grid
from celosia_sim.loops.netlist import FUNCTION_NAME, KEYWORDS, TOKEN, UPDATE, Element, Update, names

__all__ = ["loops"]

#: Elements that one loop goes over at most: what it reads and writes should fit into a cache.
_BLOCK = 1024


def _word(width: int) -> int:
    """Bits of the array element that holds ``width`` bits: all of one size vectorise best."""
    return 32 if width <= 32 else max(width, 64)


def _bits(width: int) -> str:
    return f"[{width - 1}:0]"


def _loop(count: int, lines: Iterable[str]) -> list[str]:
    lines = list(lines)
    if not lines:
        return []
    # Unrolled by Verilator, it would not vectorise.
    return ["/* verilator unroll_disable */",
            f"for (at = 0; at < {count}; at = at + 1) begin", *lines, "end"]


def loops(grid: Grid, element: str) -> str:
    """Verilog of a grid, as the module ``<module>_grid``, from that of its element.

    Raises
    ------
    ValueError
        If the element is not as `Grid` wants it, or has what `Element` does not know.
    """
    netlist = Element.parse(element, grid.module)
    writer = _Writer(netlist, grid)
    ports, unpack, pack = writer.ports()
    active = grid.active_port
    still, resting = writer.resting()
    groups: list[tuple[str, list[Update], bool]] = []  # and whether it may rest
    for guard, updates in netlist.groups({"rst", *grid.shared}):
        # What rests reads nothing else, so the others may be updated before it.
        rests = [] if guard else [update for update in updates
                                  if all(name in resting for name in update.registers)]
        moves = [update for update in updates if update not in rests]
        groups += [(guard, part, rest) for part, rest in ((moves, False), (rests, True)) if part]
    # Verilator may cut a long function in pieces; what is in one loop stays together, and the
    # variables of the inner tasks stay local to them.
    updates = [line for k, group in enumerate(groups) for line in writer.update(k, *group)]
    gather, gather_resting = (writer.gather(rest) for rest in (False, True))

    def calls(k: int, rest: bool) -> str:
        return f"if (moves) begin update_task_{k}(); end" if rest else f"update_task_{k}();"

    return "\n".join([
        "/* verilator lint_off UNUSEDSIGNAL */",  # bits and nets that simplification left behind
        f"module {grid.module}_grid({', '.join(['clk', 'rst', *ports])});",
        "input clk;", "input rst;", *writer.declarations, *netlist.functions,
        "logic [31:0] at_block;",
        "task automatic gather_task;", "logic [31:0] at;", *gather, "endtask",
        *(["task automatic gather_resting_task;", "logic [31:0] at;", *gather_resting, "endtask"]
          if still else []), *updates,
        "task automatic step_task;", *still, *(line for line, rest in unpack if not rest),
        *(["if (moves) begin", *(line for line, rest in unpack if rest), "end"] if still else []),
        (f"for (at_block = {writer.blocks - 1}; at_block < {writer.blocks}; "
         "at_block = at_block - 1)"),
        "begin", "gather_task();",
        *(["if (moves) begin gather_resting_task(); end"] if still else []),
        *(calls(k, rest) for k, (_, _, rest) in enumerate(groups)), "end",
        "endtask",
        f"always @(posedge clk) {f'if ({active}) ' if active else ''}begin", "step_task();", *pack,
        "end", "endmodule",
        "/* verilator lint_on UNUSEDSIGNAL */", ""])


class _Writer:
    """Writes the parts of the module; ``declarations`` grow with them.

    Registers are arrays ``[at_block][at]``: blocks of some rows of the grid, one element after the
    other.
    """

    def __init__(self, element: Element, grid: Grid):
        rows, cols = grid.rows, grid.cols
        self.element, self.rows, self.cols = element, rows, cols
        self.right, self.down, self.shared = grid.right, grid.down, grid.shared
        self.alike = grid.alike
        for name in self.alike:
            if element.width.get(name) != 1 or name not in element.registers:
                raise ValueError(f"what is alike in a grid of {grid.module} must be a register of "
                                 f"one bit, not {name!r}")
        self.passed = [f"{name}_i" for name in (*grid.right, *grid.down)]
        self.seldom, reads = self._seldom(grid.seldom)
        self._resting = self._rests(reads)
        self.each = [name for name in element.inputs
                     if name not in (*self.passed, *grid.shared)]
        self.block = min(rows, max(1, _BLOCK // cols))  # rows of a block
        self.blocks, self.size = rows // self.block, self.block * cols
        if rows % self.block:
            raise ValueError(f"rows of a grid must be a multiple of {self.block}, not {rows!r}")
        self._functions = {found[1] for text in element.functions
                           if (found := FUNCTION_NAME.search(text))}
        self._known: dict[str, str] = {}
        self._addresses = 0
        width = element.width
        self.declarations = [
            *(f"logic {_bits(_word(width[name]))} {self._array(name)} "
              f"[0:{self.blocks - 1}][0:{self.size - 1}];" for name in element.registers),
            *(f"logic {_bits(width[name])} {self._name(name)} [0:{depth - 1}];"
              for name, depth in element.depth.items())]
        if self.alike:
            self.declarations += [f"logic [31:0] {name} [0:{self.blocks - 1}];"
                                  for name in ("every", "some")]
        # While they rest it is known whether they are alike.
        self._alike_rest = bool(self.alike) and set(self.alike) <= self._resting[1]
        if element.contents:
            self.declarations += ["initial begin", *map(self._rename, element.contents), "end"]

    def _seldom(self, names: Iterable[str]) -> tuple[list[str], dict[str, set[str]]]:
        """Passed inputs that rest in all elements, and what rests then, with what it reads."""
        found = [f"{name}_i" for name in names]
        while True:
            reads = self.element.resting({"rst", *found})
            kept = [name for name in found if self._source(name) in reads]
            if kept == found:
                return found, reads if found else {}
            found = kept

    def _source(self, passed: str) -> str:
        """Register that hands on what comes in as ``passed``."""
        return self.element.alias[f"{passed.removesuffix('_i')}_o"]

    def _rests(self, reads: Mapping[str, set[str]]) -> tuple[int, set[str]]:
        """Cycles until registers, and what they hand on, rest in all elements; and these."""
        above: list[dict[str, int]] = [{} for _ in range(self.cols)]
        most = 0
        for _ in range(self.rows):
            left: dict[str, int] = {}
            for col, up in enumerate(above):
                here: dict[str, int] = {"rst": 0}
                for name in self.seldom:
                    from_ = left if name.removesuffix("_i") in self.right else up
                    here[name] = from_.get(self._source(name), 0)
                for name, read in reads.items():  # those that it reads come before it
                    here[name] = 1 + max((here[each] for each in read), default=0)
                above[col] = left = here
                most = max(most, *here.values())
        return most + 1, set(reads)

    def resting(self) -> tuple[list[str], set[str]]:
        """Lines that find out whether what may rest ``moves``, and the registers that may."""
        cycles, registers = self._resting
        if not registers:
            return [], registers
        pins = ["rst", *self.seldom]
        widths = [1, *(self.element.width[name] * (
            self.rows if name.removesuffix("_i") in self.right else self.cols)
            for name in self.seldom)]
        self.declarations += ["logic [31:0] still;", "logic moves;",
                              *(f"logic {_bits(width)} {name}_before;"
                                for name, width in zip(pins, widths, strict=True)),
                              "initial still = 0;"]
        return [f"if ({' | '.join(f'({name} != {name}_before)' for name in pins)}) begin",
                "still = 0;", *(f"{name}_before = {name};" for name in pins),
                f"end else if (still < {cycles}) still = still + 1;",
                f"moves = still < {cycles};"], registers

    def _name(self, name: str) -> str:
        """Verilog name of a net, an input, a memory or the value that a register has."""
        if name in ("rst", *self.shared):
            return name
        plain = re.sub(r"[^A-Za-z0-9]+", "_", name)
        return self._known.setdefault(name, f"x{len(self._known)}_{plain}")

    def _array(self, register: str) -> str:
        return f"{self._name(register)}_q"

    def _rename(self, text: str, others: Mapping[str, str] | None = None) -> str:
        def token(match: re.Match[str]) -> str:
            name = match["name"]
            if name is None or name in KEYWORDS or name.strip() in self._functions:
                return match[0]
            name = name.strip()
            return others[name] if others else self._name(name)
        return TOKEN.sub(token, text)

    def ports(self) -> tuple[list[str], list[tuple[str, bool]], list[str]]:
        """Names of the ports, what goes from them into arrays (and whether it changes seldom), and
        from arrays into them.
        """
        element, width = self.element, self.element.width
        names: list[str] = []
        unpack: list[tuple[str, bool]] = []
        pack: list[str] = []

        def port(direction: str, name: str, count: int) -> list[str]:
            w = width[name]
            names.append(name)
            self.declarations.append(f"{direction} {_bits(count * w)} {name};")
            return [f"{name}[{k * w + w - 1}:{k * w}]" for k in range(count)]

        def array(name: str, suffix: str) -> None:
            self.declarations.append(f"logic {_bits(_word(width[name]))} {name}{suffix};")

        for name in self.shared:
            port("input", name, 1)
        for base, count in (*((base, self.rows) for base in self.right),
                            *((base, self.cols) for base in self.down)):
            name = f"{base}_i"
            array(name, f"_edge [0:{count - 1}]")
            unpack += [(f"{name}_edge[{k}] = {part};", name in self.seldom)
                       for k, part in enumerate(port("input", name, count))]
        for name in self.each:
            array(name, f"_all [0:{self.blocks - 1}][0:{self.size - 1}]")
            unpack += [(f"{name}_all[{k // self.size}][{k % self.size}] = {part};", False)
                       for k, part in enumerate(port("input", name, self.rows * self.cols))]
        for name in self.passed:
            array(name, f"_in [0:{self.size - 1}]")
        for name in element.outputs:
            base = name.removesuffix("_o")
            if base in self.right:
                continue
            first = (self.rows - 1) * self.cols if base in self.down else 0
            count = self.rows * self.cols - first
            pack += [f"{part} <= {self._array(element.alias[name])}[{k // self.size}]"
                     f"[{k % self.size}]{_bits(width[name])};"
                     for k, part in enumerate(port("output reg", name, count), first)]
        return names, unpack, pack

    def gather(self, seldom: bool) -> list[str]:
        """Lines that bring what is passed, seldom or not, to the elements of a block.

        Blocks go from the last to the first: a block reads what the one above it held.
        """
        cols, size = self.cols, self.size
        sources = {name: self._array(self.element.alias[f"{name}_o"])
                   for name in (*self.right, *self.down)}
        right, down = ([(f"{name}_i", sources[name]) for name in passed
                        if (f"{name}_i" in self.seldom) == seldom]
                       for passed in (self.right, self.down))
        return [
            *_loop(size - 1, (f"{name}_in[at + 1] = {source}[at_block][at];"
                              for name, source in right)),
            *_loop(self.block, (f"{name}_in[at * {cols}] = {name}_edge[at_block * {self.block} + "
                                "at];" for name, _ in right)),
            *_loop(size - cols, (f"{name}_in[at + {cols}] = {source}[at_block][at];"
                                 for name, source in down)),
            "if (at_block == 0) begin",
            *_loop(cols, (f"{name}_in[at] = {name}_edge[at];" for name, _ in down)),
            "end else begin",
            *_loop(cols, (f"{name}_in[at] = {source}[at_block - 1][at + {size - cols}];"
                          for name, source in down)),
            "end",
        ]

    def update(self, number: int, guard: str, updates: list[Update], rests: bool) -> list[str]:
        """Task that makes the updates of a group, which may rest, in a block."""
        element, width, rename = self.element, self.element.width, self._rename
        # Words of memories are looked up in a loop of their own: it is no vector code.
        looked_up = [update for update in updates if guard and update.memory]
        direct = [update for update in updates if not (guard and update.memory)]
        targets = list(dict.fromkeys(name for update in direct for name in update.registers))
        future = {name: f"next_{self._name(name)}" for name in targets}
        addresses = {update.address: "" for update in looked_up}
        for address in addresses:
            addresses[address] = f"address_array_{self._addresses}"
            self.declarations.append(f"logic [31:0] {addresses[address]} [0:{self.size - 1}];")
            self._addresses += 1

        texts = [*addresses, *(line for update in direct
                               for line in ([update.value] if guard else update.lines))]
        logic, decision = element.cone(texts), element.cone([guard])
        used = {*(name for text in texts for name in names(text)),
                *(name for pair in logic for text in pair for name in names(text))}
        if not guard:  # what is not updated keeps its value
            used |= set(targets)
        deciding = {name for pair in decision for text in pair for name in names(text)}

        def assigned(pairs: Iterable[tuple[str, str]]) -> list[str]:
            return [f"{rename(left)} = {rename(right)};" for left, right in pairs]

        def changed(line: str) -> str:
            if not (match := UPDATE.fullmatch(line)):
                return rename(line)
            return (f"{rename(match['condition'])}{rename(match['target'], future)} = "
                    f"{rename(match['value'])};")

        def main(known: Mapping[str, str]) -> list[str]:
            """Lines of the loop, where some registers are known."""
            return [
                *(f"{self._name(name)} = {name}_in[at]{_bits(width[name])};"
                  for name in self.passed if name in used),
                *(f"{self._name(name)} = {name}_all[at_block][at]{_bits(width[name])};"
                  for name in self.each if name in used),
                *(f"{self._name(name)} = {known.get(name) or self._word_of(name)};"
                  for name in element.registers if name in used),
                *assigned(logic),
                *(f"{future[name]} = {self._name(name)};" for name in targets if not guard),
                *((f"{future[update.registers[0]]} = {rename(update.value)};" for update in direct)
                  if guard else (changed(line) for update in direct for line in update.lines)),
                *(f"{self._array(name)}[at_block][at] = {future[name]};" for name in targets),
                *(f"{array}[at] = {rename(address)};" for address, array in addresses.items()),
            ]

        lookups = [f"{self._array(update.registers[0])}[at_block][at] = "
                   f"{self._name(update.memory)}[{addresses[update.address]}[at]];"
                   for update in looked_up]
        local = sorted(name for name in used | deciding if name in width
                       and name not in (*element.depth, *self.shared, "rst"))
        return [
            f"task automatic update_task_{number};", "logic [31:0] at;",
            *(f"logic [31:0] {name};" for name in ("each_one", "any_one") if self.alike),
            *(f"logic {_bits(width[name])} {self._name(name)};" for name in local),
            *(f"logic {_bits(width[name])} {future[name]};" for name in targets),
            *assigned(decision), *([f"if ({rename(guard)}) begin"] if guard else []),
            *(_loop(self.size, main({})) if rests else
              self._alike([name for name in self.alike if name in used], main)),
            *_loop(self.size, lookups), *(["end"] if guard else []),
            *(self._scan(self.alike) if rests and self._alike_rest else []),
            "endtask",
        ]

    def _word_of(self, register: str) -> str:
        return f"{self._array(register)}[at_block][at]{_bits(self.element.width[register])}"

    def _alike(self, alike: list[str], main: Callable[[Mapping[str, str]], list[str]]) -> list[str]:
        """Loops over a block: one for ``alike`` all set, one for none of them, one for the rest."""
        if not alike:
            return _loop(self.size, main({}))
        known = self._alike_rest and set(alike) == set(self.alike)
        return [
            *([] if known else self._scan(alike)),
            "if (every[at_block][0]) begin",
            *_loop(self.size, main(dict.fromkeys(alike, "1'd1"))),
            "end else if (!some[at_block][0]) begin",
            *_loop(self.size, main(dict.fromkeys(alike, "1'd0"))),
            "end else begin", *_loop(self.size, main({})), "end"]

    def _scan(self, alike: Iterable[str]) -> list[str]:
        """Lines that find out whether registers of one bit are set in every element, or in some."""
        words = [self._word_of(name) for name in alike]
        return [
            "each_one = 32'd1;", "any_one = 32'd0;",
            *_loop(self.size, (f"each_one = each_one & {{31'd0, {' & '.join(words)}}};",
                               f"any_one = any_one | {{31'd0, {' | '.join(words)}}};")),
            "every[at_block] = each_one;", "some[at_block] = any_one;"]

"""The netlist of one element of a grid, read from the Verilog that Yosys wrote.

Every line of it is an assignment of a net, the update of a register or the contents of a memory.
Nothing is interpreted but names and what depends on what.
"""

import re
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field

__all__ = ["FUNCTION_NAME", "KEYWORDS", "TOKEN", "UPDATE", "Element", "Update", "names"]

TOKEN = re.compile(
    r"(?P<number>\d+'s?[bdh][0-9a-fA-FxXzZ_]+)|(?P<system>\$(?:un)?signed)"
    r"|(?P<name>\\\S+ |[A-Za-z_][\w$]*)|(?P<other>.)", re.DOTALL)
KEYWORDS = frozenset({"begin", "end", "if", "else"})
_DECLARATION = re.compile(
    r"(input|output|wire|reg) (?:signed )?(?:\[(\d+):0\] )?(\\\S+ |[\w$]+)"
    r"(?: = (?:\d+'[bdh])?([^;]*))?;")
_MEMORY = re.compile(r"reg \[(\d+):0\] (\\\S+ |[\w$]+) ?\[(\d+):0\];")
UPDATE = re.compile(
    r"(?P<condition>(?:else ?)?(?:if \([^()]*\) ?)?)(?P<target>\S.*?) <= (?P<value>.*);")
_CONDITION = re.compile(r"(?:else ?)?(?:if \([^()]*\))?(?: ?begin)?|end")
_GUARDED = re.compile(
    r"if \((?P<guard>[^()]*)\) ?(?:begin )?(?P<target>\\\S+ |[\w$]+) ?<= (?P<value>[^;]*);"
    r"(?: end)?")
_READ = re.compile(r"(?P<memory>\\\S+ |[\w$]+)\[(?P<address>.*)\]")
FUNCTION_NAME = re.compile(r"function (?:\[\d+:0\] )?(\\\S+|[\w$]+)")
_FUNCTION = re.compile(r"^  function .*?^  endfunction$", re.MULTILINE | re.DOTALL)


def names(text: str) -> list[str]:
    """Names in a piece of Verilog, as often as they are there."""
    return [token["name"].strip() for token in TOKEN.finditer(text) if token["name"]]


@dataclass
class Update:
    """A clocked block.

    ``lines``: each is a condition, or a condition, register and value. ``registers``: what they
    update. ``guard``: where the block is ``if (guard) register <= value;``, that condition, and
    ``value``; else both are empty. ``memory``, ``address``: where the value is a word of a memory.
    """

    lines: list[str] = field(default_factory=list)
    registers: list[str] = field(default_factory=list)
    guard: str = ""
    value: str = ""
    memory: str = ""
    address: str = ""


@dataclass
class Element:
    """The netlist of one element.

    ``width``: bits of each name. ``assigns``: pairs of left and right side. ``updates``: the
    clocked blocks. ``registers``: what they update. ``alias``: register that an output shows.
    ``functions``: selections of one of many values, which are Verilog functions as they stand.
    ``depth``: words of each read-only memory. ``contents``: assignments of their words.
    """

    width: dict[str, int] = field(default_factory=dict)
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    assigns: list[tuple[str, str]] = field(default_factory=list)
    updates: list[Update] = field(default_factory=list)
    registers: list[str] = field(default_factory=list)
    alias: dict[str, str] = field(default_factory=dict)
    functions: list[str] = field(default_factory=list)
    depth: dict[str, int] = field(default_factory=dict)
    contents: list[str] = field(default_factory=list)

    @classmethod
    def parse(cls, text: str, module: str) -> "Element":
        """Read the module called ``module``.

        Raises
        ------
        ValueError
            If there is a line of another kind, such as an instance, a second clock or a memory that
            is written, or an output that is not a register.
        """
        start = re.search(rf"^module {module}\(.*?\);$", text, re.MULTILINE | re.DOTALL)
        if not start:
            raise ValueError(f"module must be one of the text's, not {module!r}")
        element = cls()
        body = text[start.end():text.index("endmodule", start.end())]
        element.functions = _FUNCTION.findall(body)
        within: Callable[[str, str], None] | None = None  # what takes the lines of a block
        for line in _FUNCTION.sub("", body).splitlines():
            stripped = line.strip()
            if not stripped:
                continue
            if within and (line.startswith("    ") or stripped == "end"):
                if line.startswith("    "):
                    within(stripped, module)
                continue
            within = element._line(stripped, module)
        element._finish(module)
        return element

    def _line(self, line: str, module: str) -> Callable[[str, str], None] | None:
        """Read a line that is outside of blocks; return what is to take the lines of the block."""
        if declared := _DECLARATION.fullmatch(line):
            kind, top, name, start = declared.groups()
            name = name.strip()
            if (start or "").strip("0"):
                raise ValueError(f"register {name} of module {module} must start at zero, "
                                 f"not {start!r}")
            self.width[name] = int(top or 0) + 1
            if kind in ("input", "output") and name not in ("clk", "rst"):
                (self.inputs if kind == "input" else self.outputs).append(name)
        elif line.startswith("assign "):
            left, right = line[len("assign "):-1].split(" = ", 1)
            self.assigns.append((left, right))
        elif memory := _MEMORY.fullmatch(line):
            top, name, last = memory.groups()
            self.width[name.strip()] = int(top) + 1
            self.depth[name.strip()] = int(last) + 1
        elif line in ("always @(posedge clk)", "always @(posedge clk) begin"):
            self.updates.append(Update())
            return self._update
        elif line == "initial begin":
            return self._content
        else:
            raise ValueError(f"line of module {module} must be an assignment, a register or a "
                             f"declaration, not {line!r}")
        return None

    def _content(self, line: str, module: str) -> None:
        self.contents.append(line)

    def _update(self, line: str, module: str) -> None:
        match = UPDATE.fullmatch(line)
        if not match and not _CONDITION.fullmatch(line):
            raise ValueError(f"register update of module {module} must be plain, not {line!r}")
        update = self.updates[-1]
        update.lines.append(line)
        for name in names(match["target"]) if match else ():
            if name in self.depth:
                raise ValueError(f"memory {name} of module {module} must be read only, not "
                                 f"{line!r}")
            if name not in update.registers:
                update.registers.append(name)

    def _finish(self, module: str) -> None:
        seen = [name for update in self.updates for name in update.registers]
        self.registers = list(dict.fromkeys(seen))
        for update in self.updates:
            match = _GUARDED.fullmatch(" ".join(update.lines))
            if match and seen.count(update.registers[0]) == 1:
                update.guard, update.value = match["guard"], match["value"]
                read = _READ.fullmatch(update.value)
                if read and read["memory"].strip() in self.depth:
                    update.memory, update.address = read["memory"].strip(), read["address"]
        direct = {left.strip(): right.strip() for left, right in self.assigns}
        for port in self.outputs:
            register = port
            while register not in self.registers and register in direct:
                register = direct[register]
            if register not in self.registers:
                raise ValueError(f"output {port} of module {module} must be a register")
            self.alias[port] = register

    def cone(self, texts: Iterable[str]) -> list[tuple[str, str]]:
        """Assignments that ``texts`` depend on, each after those that it depends on."""
        drivers: dict[str, list[int]] = {}
        for index, (left, _) in enumerate(self.assigns):
            for name in names(left):
                drivers.setdefault(name, []).append(index)

        def needs(text: str, index: int = -1) -> list[int]:
            # Bits of a net may be copies of others of its bits.
            return [driver for name in names(text) for driver in drivers.get(name, ())
                    if driver != index]

        order: list[int] = []
        stack = [(index, False) for text in reversed(list(texts)) for index in needs(text)]
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

    def groups(self, shared: Container[str]) -> list[tuple[str, list[Update]]]:
        """Updates in groups that may happen one after another, and the guard of each.

        The guard depends on nothing but the inputs ``shared``; it is empty for a group that has no
        such condition. A group updates no register that a later one reads.
        """
        groups: dict[str, list[Update]] = {}
        for update in self.updates:
            cone = self.cone([update.guard])
            leaves = {*names(update.guard), *(name for _, text in cone for name in names(text))}
            leaves -= {name for left, _ in cone for name in names(left)}
            alone = update.guard and all(name in shared for name in leaves)
            groups.setdefault(update.guard if alone else "", []).append(update)
        reads = {guard: self.reads(updates) for guard, updates in groups.items()}
        order: list[tuple[str, list[Update]]] = []
        while groups:
            free = [guard for guard, updates in groups.items() if not any(
                name in reads[other] for other in groups if other != guard
                for update in updates for name in update.registers)]
            if not free:  # groups that read what each other updates are one
                order.append(("", [update for updates in groups.values() for update in updates]))
                break
            order += [(guard, groups.pop(guard)) for guard in free]
        return order

    def resting(self, inputs: Container[str]) -> dict[str, set[str]]:
        """Registers that come to rest when ``inputs`` do, and the inputs and registers each reads.

        They depend on nothing but those and each other, and none on what depends on it. (To keep a
        value is not to depend on it.)
        """
        leaves: dict[str, set[str]] = {name: set() for name in self.registers}
        for update in self.updates:
            texts = [update.guard, update.value] if update.guard else [
                f"{match['condition']} {match['value']}" if (match := UPDATE.fullmatch(line))
                else line for line in update.lines]
            texts += [right for _, right in self.cone(texts)]
            known = {name for text in texts for name in names(text)
                     if name in self.inputs or name in leaves or name == "rst"}
            for name in update.registers:
                leaves[name] |= known
        found: dict[str, set[str]] = {}
        while True:
            more = {name: read for name, read in leaves.items() if name not in found and all(
                each in inputs or each in found for each in read)}
            if not more:
                return found
            found |= more

    def reads(self, updates: Iterable[Update]) -> set[str]:
        """Names that ``updates`` depend on."""
        texts = [line for update in updates for line in (
            [update.value] if update.guard else update.lines)]
        cone = self.cone(texts)
        found = {name for text in (*texts, *(right for _, right in cone)) for name in names(text)}
        return found

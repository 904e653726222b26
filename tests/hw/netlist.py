"""Amaranth's netlist of a circuit, bit by bit: which bits never change, and which nobody reads."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable

from amaranth.hdl import Value
from amaranth.hdl import _nir as nir
from amaranth.hdl._ir import Fragment, build_netlist

from celosia_hw.verilog.emit import VerilogWriter

__all__ = ["netlist", "stuck", "unread"]

Bit = int | None  # 0, 1, or both in turn
_COMBINATIONAL = (nir.Operator, nir.Matches, nir.PriorityMatch, nir.AssignmentList, nir.Part)


def netlist(component) -> nir.Netlist:
    """Return the netlist of a component whose ports are the members of its signature."""
    pins = [("__".join(map(str, path)), Value.cast(value), None)
            for path, _, value in component.signature.flatten(component)]
    return build_netlist(Fragment.get(component, VerilogWriter()), ports=pins, name="chip")


def stuck(found: nir.Netlist) -> dict[str, int]:
    """Return how many bits of signals never change, by unit and name.

    All are held to be as a reset leaves them until something is found that changes them. Signals
    that are alike (of several links, of stages of a pipeline) are one. One that is a constant
    altogether is none.
    """
    constant = _Constants(found).known
    return _by_name(found, lambda net: net.is_const or net in constant)


def unread(found: nir.Netlist) -> dict[str, int]:
    """Return how many bits of signals nothing reads, as in `stuck`."""
    read = {net for cell in found.cells for net in cell.input_nets()}
    return _by_name(found, lambda net: not net.is_const and net not in read)


def _by_name(found: nir.Netlist, is_one: Callable[[nir.Net], bool]) -> dict[str, int]:
    counts: dict[str, int] = {}
    seen: set[nir.Net] = set()
    for signal, value in found.signals.items():
        few = sum(is_one(net) for net in value if net not in seen)
        seen.update(net for net in value if not net.is_const)
        maker = next((net.cell for net in value if not net.is_const), None)
        if few and maker is not None:
            unit = ".".join(found.modules[found.cells[maker].module_idx].name[1:])
            name = re.sub(r"\$\d+|(?<=[a-z])\d+\b", "", f"{unit}: {signal.name}")
            counts[name] = max(few, counts.get(name, 0))
    return counts


class _Constants:
    """Bits that never change, with their values: propagated from cell to cell until all agree."""

    def __init__(self, found: nir.Netlist):
        self._cells = found.cells
        self.known: dict[nir.Net, int] = {}
        self._readers = defaultdict(set)
        for number, cell in enumerate(found.cells):
            for net in cell.input_nets():
                if not net.is_const:
                    self._readers[net.cell].add(number)
            if isinstance(cell, nir.FlipFlop):
                for bit in range(len(cell.data)):
                    self.known[nir.Net.from_cell(number, bit)] = cell.init >> bit & 1
        for number in self._order():
            for bit, value in enumerate(self._outputs(self._cells[number])):
                if value is not None:
                    self.known[nir.Net.from_cell(number, bit)] = value
        self._settle()

    def _order(self) -> list[int]:
        """Return combinational cells, what they read before them."""
        order, seen = [], set()
        for root, cell in enumerate(self._cells):
            todo = [(root, False)] if isinstance(cell, _COMBINATIONAL) else []
            while todo:
                number, done = todo.pop()
                if done:
                    order.append(number)
                elif number not in seen:
                    seen.add(number)
                    todo.append((number, True))
                    todo += [(net.cell, False) for net in self._cells[number].input_nets()
                             if not net.is_const and net.cell not in seen
                             and isinstance(self._cells[net.cell], _COMBINATIONAL)]
        return order

    def _settle(self) -> None:
        """Forget bits that turn out to change, and what hangs on them."""
        todo = {number: None for number, cell in enumerate(self._cells)
                if isinstance(cell, nir.FlipFlop)}
        while todo:
            number = next(iter(todo))
            del todo[number]
            cell = self._cells[number]
            values = (map(self._bit, cell.data) if isinstance(cell, nir.FlipFlop)
                      else self._outputs(cell))
            changed = False
            for bit, value in enumerate(values):
                net = nir.Net.from_cell(number, bit)
                if self.known.get(net, value) != value:
                    del self.known[net]
                    changed = True
            if changed:
                todo.update(dict.fromkeys(
                    each for each in self._readers[number]
                    if isinstance(self._cells[each], (nir.FlipFlop, *_COMBINATIONAL))))

    def _bit(self, net: nir.Net) -> Bit:
        return net.const if net.is_const else self.known.get(net)

    def _bits(self, value: nir.Value) -> list[Bit]:
        return list(map(self._bit, value))

    def _range(self, value: nir.Value) -> tuple[int, int]:
        """Return the least and the largest number that a value can be."""
        bits = self._bits(value)
        return tuple(sum((each if bit is None else bit) << place for place, bit in enumerate(bits))
                     for each in (0, 1))

    def _outputs(self, cell: nir.Cell) -> Iterable[Bit]:
        match cell:
            case nir.Operator():
                return self._operator(cell)
            case nir.Matches():
                return [self._matches(cell)]
            case nir.PriorityMatch():
                return self._priority(cell)
            case nir.AssignmentList():
                bits = self._bits(cell.default)
                for each in cell.assignments:
                    done = self._bit(each.cond)
                    for bit, net in enumerate(each.value, each.start):
                        bits[bit] = _either(done, self._bit(net), bits[bit])
                return bits
            case nir.Part():
                return self._part(cell)
        return []

    def _operator(self, cell: nir.Operator) -> list[Bit]:
        operator, width = cell.operator, cell.width
        bits = [self._bits(value) for value in cell.inputs]
        if operator == "~":
            return [None if bit is None else 1 - bit for bit in bits[0]]
        if operator in ("&", "|", "^"):
            return [_gate(operator, pair) for pair in zip(*bits, strict=True)]
        if operator in ("b", "r|", "r&"):
            return [_gate("&" if operator == "r&" else "|", bits[0])]
        if operator == "m":
            return [_either(bits[0][0], a, b) for a, b in zip(*bits[1:], strict=True)]
        if operator in ("==", "!="):
            equal = _gate("&", [None if None in pair else int(pair[0] == pair[1])
                                for pair in zip(*bits, strict=True)])
            return [equal if equal is None else equal ^ (operator == "!=")]
        if operator in ("<<", "u>>"):
            zeros = [0] * width
            return _common(
                [(zeros[:by] + bits[0] if operator == "<<" else bits[0][by:] + zeros)[:width]
                 for by in range(width + 1)], self._range(cell.inputs[1]))
        if operator not in ("+", "*", "u<", "u<=", "u>", "u>="):
            return [None] * width
        (low_a, high_a), (low_b, high_b) = map(self._range, cell.inputs)
        match operator:
            case "+":
                return _between(low_a + low_b, high_a + high_b, width)
            case "*":
                return _between(low_a * low_b, high_a * high_b, width)
            case "u<" | "u<=":
                less, more = high_a - low_b, low_a - high_b
            case _:
                less, more = high_b - low_a, low_b - high_a
        if "=" in operator:
            less, more = less - 1, more - 1
        return [1 if less < 0 else 0 if more >= 0 else None]

    def _matches(self, cell: nir.Matches) -> Bit:
        bits = self._bits(cell.value)[::-1]
        return _gate("|", [_gate("&", [bit if bit is None else int(bit == int(wanted))
                                       for bit, wanted in zip(bits, pattern, strict=True)
                                       if wanted != "-"])
                           for pattern in cell.patterns])

    def _priority(self, cell: nir.PriorityMatch) -> list[Bit]:
        left, found = self._bit(cell.en), []
        for bit in self._bits(cell.inputs):
            found.append(_gate("&", (left, bit)))
            left = _gate("&", (left, None if bit is None else 1 - bit))
        return found

    def _part(self, cell: nir.Part) -> list[Bit]:
        bits = self._bits(cell.value)
        beyond = [bits[-1] if cell.value_signed else 0] * cell.width
        return _common([(bits[at:] + beyond)[:cell.width]
                        for at in range(0, len(bits) + cell.stride, cell.stride)],
                       self._range(cell.offset))


def _gate(operator: str, bits: Iterable[Bit]) -> Bit:
    """Return AND, OR or XOR of bits."""
    bits = list(bits)
    decides = {"&": 0, "|": 1}.get(operator)
    if decides is not None and decides in bits:
        return decides
    if None in bits:
        return None
    return sum(bits) % 2 if operator == "^" else 1 - decides


def _either(which: Bit, one: Bit, other: Bit) -> Bit:
    """Return what is chosen, the ``one`` if ``which``."""
    if which is None:
        return one if one == other else None
    return one if which else other


def _common(choices: list[list[Bit]], places: tuple[int, int]) -> list[Bit]:
    """Return the bits that choices have in common, from one place to another; the last choice is
    that of all places behind it, too.
    """
    low, high = (min(place, len(choices) - 1) for place in places)
    return [each[0] if len({*each}) == 1 else None
            for each in zip(*choices[low:high + 1], strict=True)]


def _between(low: int, high: int, width: int) -> list[Bit]:
    """Return the bits that all numbers from ``low`` to ``high`` have in common."""
    free = (low ^ high).bit_length()
    return [None if place < free else low >> place & 1 for place in range(width)]

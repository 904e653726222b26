"""The whole way from pieces of work, with control around them, to a program."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Reg
from celosia.arch.isa import LOOP_DEPTH
from celosia.arch.words import WORD_MASK
from celosia.compiler.codegen.assemble import Assembled, Assembler
from celosia.compiler.codegen.blocks import Choose, Emitted, Item, ReadScalar, Repeat
from celosia.compiler.codegen.nodes import Base
from celosia.compiler.codegen.pipeline import pipeline
from celosia.compiler.codegen.places import Places
from celosia.compiler.codegen.roll import roll
from celosia.compiler.codegen.rotate import rotated
from celosia.compiler.codegen.strides import StrideRegisters
from celosia.compiler.verify import enabled
from celosia.compiler.verify.instructions import check_instructions
from celosia.compiler.verify.nodes import check_nodes

__all__ = ["generate"]

#: Loops that are kept for the code inside a counted repetition.
_INNER_LOOPS = 2


def _lists(item: Item) -> list[list[Item]]:
    """Lists of items inside an item."""
    if isinstance(item, Repeat):
        return [item.cond, item.before, item.body, item.after]
    return item.branches if isinstance(item, Choose) else []


class _Builder:
    def __init__(self, config: TpuConfig):
        self._config = config
        self._strides = StrideRegisters()
        self._places = Places(config)
        self._known: dict[int, frozenset[Base]] = {}
        self.assembler = Assembler()

    def _bases(self, item: Item) -> frozenset[Base]:
        """Bases that are set or used in an item."""
        found = self._known.get(id(item))
        if found is None:
            if isinstance(item, Emitted):
                found = frozenset(op.base for op in item.written if op.base is not None)
            elif isinstance(item, ReadScalar):
                found = frozenset((item.base,))
            else:
                found = frozenset().union(*(self._bases(inner) for items in _lists(item)
                                            for inner in items))
            self._known[id(item)] = found
        return found

    def items(self, items: Sequence[Item], depth: int, held: frozenset[Base] = frozenset()) -> None:
        """Write items; ``held`` are the bases that live around them all.

        A base lives from the first to the last item that has it, of the list that has all of these.
        """
        last: dict[Base, int] = {}
        seen: dict[Base, int] = {}
        for i, item in enumerate(items):
            for base in self._bases(item) - held:
                last[base] = i
                seen[base] = seen.get(base, 0) + 1
        #: Those that live in one item alone may live shorter there.
        inside = {base for base, i in last.items()
                  if seen[base] == 1 and self._alone(items[i], base)}
        mine: set[Base] = set()
        works: list[Emitted] = []
        for i, item in enumerate([*items, None]):
            if isinstance(item, Emitted):
                works.append(item)
            else:
                self._works(works, depth)
                works = []
                for base in [base for base in mine if last[base] < i]:
                    self.assembler.drop(base)
                    mine.remove(base)
            if item is None:
                break
            for base in self._bases(item) - held - mine - inside:
                mine.add(base)
                self.assembler.hold(base)
            if not isinstance(item, Emitted):
                self._item(item, depth, held | mine)

    def _alone(self, item: Item, base: Base) -> bool:
        """Whether an item sets a base itself, or one of the lists inside has all that is done."""
        counted = isinstance(item, Repeat) and any(base is each for each, _, _ in item.counts)
        return counted or sum(any(base in self._bases(inner) for inner in items)
                   for items in _lists(item)) == 1

    def _works(self, works: list[Emitted], depth: int) -> None:
        if works:
            left = LOOP_DEPTH - depth
            nodes = roll(pipeline(self._config, self._places.place(works), left), left)
            held = self._strides.held
            nodes = self._strides.give(nodes)
            if enabled():
                check_nodes(self._config, works, nodes, left, held)
            self.assembler.nodes(nodes)

    def _item(self, item: Item, depth: int, held: frozenset[Base]) -> None:
        if isinstance(item, ReadScalar):
            self._read(self.assembler.hold(item.base), item.row, item.source)
        elif isinstance(item, Choose):
            self._choose(item, depth, held)
        elif isinstance(item, Repeat) and item.count is None:
            self._while(item, depth, held)
        elif isinstance(item, Repeat):
            self._count(item, depth, held)

    def _read(self, register: Reg, row: int, source: str) -> None:
        self.assembler.scalar("read", source, rd=register.number, row=row, lane=0)

    def _while(self, item: Repeat, depth: int, held: frozenset[Base]) -> None:
        write, source = self.assembler, item.source
        self._strides.forget()
        top = write.here
        self.items(item.cond, depth, held)
        register = write.take(f"the condition of {source}")
        self._read(register, item.row, source)
        leave = write.scalar("beq", source, a=register, b=0, target=0)
        write.give_back(register)
        self.items(item.body, depth, held)
        write.scalar("jump", source, target=top)
        write.target(leave)
        self._strides.forget()

    def _count(self, item: Repeat, depth: int, held: frozenset[Base]) -> None:
        assert item.count is not None
        if item.count < 1:
            return
        write, source = self.assembler, item.source
        self._strides.forget()
        counts = [(write.hold(base), first, step) for base, first, step in item.counts]
        held |= {base for base, _, _ in item.counts}
        for register, first, _ in counts:
            write.scalar("mov", source, rd=register.number, a=first & WORD_MASK)

        self.items(item.before, depth, held)
        self._strides.forget()

        def step_on() -> None:
            for register, _, step in counts:
                write.scalar("add", source, rd=register.number, a=register, b=step & WORD_MASK)

        if depth < LOOP_DEPTH - _INNER_LOOPS:
            start = write.scalar("loop", source, count=item.count, end=0)
            self.items(item.body, depth + 1, held)
            step_on()
            write.target(start)
        else:
            register = write.take(f"the counter of {source}")
            write.scalar("mov", source, rd=register.number, a=item.count)
            top = write.here
            self.items(item.body, depth, held)
            step_on()
            write.scalar("sub", source, rd=register.number, a=register, b=1)
            write.scalar("bne", source, a=register, b=0, target=top)
            write.give_back(register)
        self.items(item.after, depth, held)
        for base, _, _ in item.counts:
            write.drop(base)
        self._strides.forget()

    def _choose(self, item: Choose, depth: int, held: frozenset[Base]) -> None:
        if len(item.branches) == 1:
            self.items(item.branches[0], depth, held)
            return
        write, source = self.assembler, item.source
        register = write.take(f"the index of {source}")
        self._read(register, item.row, source)
        chosen = [write.scalar("beq", source, a=register, b=i, target=0)
                  for i in range(len(item.branches) - 1)]
        write.give_back(register)
        ends = []
        self._strides.forget()
        for branch in reversed(item.branches):
            if ends:
                ends.append(write.scalar("jump", source, target=0))
                write.target(chosen.pop())
            else:
                ends.append(-1)
            self.items(branch, depth, held)
            self._strides.forget()
        for index in ends[1:]:
            write.target(index)


def generate(config: TpuConfig, items: Sequence[Item]) -> Assembled:
    """Return the program of items, `halt` at its end.

    Parameters
    ----------
    items
        What runs, in order. Bases are set by a `ReadScalar` before they are used.

    Raises
    ------
    ValueError
        If more bases, counters and indexes live at once than there are scalar registers.
    """
    builder = _Builder(config)
    builder.items(rotated(config, items), 0)
    builder.assembler.scalar("halt", "end")
    if enabled():
        check_instructions(config, builder.assembler.out)
    return builder.assembler.out

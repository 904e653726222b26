"""Checks of an instruction that need its bits alone (docs/chip.md, order of checks, 2 and 3)."""

from collections.abc import Iterable, Mapping

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia.arch.faults import Fault
from celosia.arch.legality import rules
from celosia_hw.commands import CAUSE_BITS
from celosia_hw.scalar.encoding import instruction, word_layout

__all__ = ["Decoder"]


def _one_of(value: Value, members: Iterable[int]) -> Value:
    """Value is one of some."""
    hit: Value = Const(0, 1)
    for item in sorted(members):
        hit = hit | (value == int(item))
    return hit


def _holds(description: isa.Instruction, fields: data.View, zero: Mapping[str, Value], name: str,
           values: frozenset[int]) -> Value:
    """A field has one of some values; of an operand, that it is an immediate 0."""
    if name in zero:
        return zero[name]
    field = next(each for each in description.fields if each.name == name)
    others = frozenset(range(1 << field.width) if field.enum is None else field.enum) - values
    if len(others) < len(values):
        return ~_one_of(fields[name], others)
    return _one_of(fields[name], values)


class Decoder(wiring.Component):
    """Tells whether an instruction word is legal on this chip. Combinational.

    Members
    -------
    word : In(word_layout())
        The instruction.
    weights : In(1)
        A matmul of this run has loaded a weight tile.
    fault : Out
        ``Fault.NONE``, ``ILLEGAL_OPCODE`` or ``ILLEGAL_FIELD``.
    """

    word: data.View
    weights: Signal
    fault: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({"word": In(word_layout()), "weights": In(1), "fault": Out(CAUSE_BITS)})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        word = self.word
        header = data.View(data.ArrayLayout(1, isa.HEADER_BITS),
                           word.as_value()[:isa.HEADER_BITS])
        zero = [(operand == 0) & ~word.regmask[i] for i, operand in enumerate(word.operands)]
        named = Signal()  # every operand that names a register names one that there is
        m.d.comb += named.eq(Cat(
            ~word.regmask[i] | ~operand[exact_log2(isa.NUM_REGISTERS):].any()
            for i, operand in enumerate(word.operands)).all())

        m.d.comb += self.fault.eq(Fault.ILLEGAL_OPCODE)
        with m.Switch(word.opcode):
            for description in isa.instructions(self._config.ports):
                with m.Case(int(description.opcode)):
                    used = {f.lsb + bit for f in description.fields for bit in range(f.width)}
                    spare = Cat(header[bit] for bit in range(isa.FIELDS_LSB, isa.HEADER_BITS)
                                if bit not in used)
                    legal = named & ~spare.any()
                    for i in range(len(description.operands), isa.NUM_OPERANDS):
                        legal &= zero[i]
                    fields = instruction(description.opcode, word)
                    for f in description.fields:
                        if f.enum is not None and len(f.enum) < 1 << f.width:
                            legal &= _one_of(fields[f.name], f.enum)
                    if description.opcode == isa.Opcode.MATMUL:
                        legal &= fields.wload | self.weights
                    operands = {operand.name: zero[i]
                                for i, operand in enumerate(description.operands)}
                    for rule in rules(self._config, description.opcode):
                        broken = ~_holds(description, fields, operands, rule.field, rule.values)
                        for name, values in rule.when.items():
                            broken &= _holds(description, fields, operands, name, values)
                        legal &= ~broken
                    m.d.comb += self.fault.eq(Mux(legal, Fault.NONE, Fault.ILLEGAL_FIELD))
        return m

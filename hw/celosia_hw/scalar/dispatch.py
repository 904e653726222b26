"""Commands on their way from the checker to the units, in block RAM."""

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for, ceil_log2

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia.arch.isa import LinkUnit, Opcode, Unit
from celosia.arch.vector import LANE_BITS_LSB
from celosia_hw.commands import LAYOUTS, LINK_DOWN_BIT, UnitSignature
from celosia_hw.memory.ports import row_bits
from celosia_hw.scalar.encoding import BLOCK_RAM_DEPTH, instruction_layout, word_layout
from celosia_hw.scalar.streams import STREAMS

__all__ = ["TENSOR_UNITS", "Dispatcher", "PortUnit", "issue_units", "part_layout", "unit_bits",
           "unit_signature"]

TENSOR_UNITS = (Unit.LOAD, Unit.STORE, Unit.MXU, Unit.VPU)


class PortUnit(int):
    """A unit of a port, by its number among the units that the scoreboard issues to.

    Attributes
    ----------
    port, kind
        Of which port, and which of its two units.
    name
        ``TX0``, ``RX0``, ``TX1`` and so on.
    """

    port: int
    kind: LinkUnit
    name: str

    def __new__(cls, port: int, kind: LinkUnit) -> "PortUnit":
        """Make the number: behind TENSOR_UNITS, tx and rx of each port."""
        unit = super().__new__(cls, len(TENSOR_UNITS) + 2 * port + (kind is LinkUnit.RX))
        unit.port, unit.kind, unit.name = port, kind, f"{kind.name}{port}"
        return unit


def issue_units(config: TpuConfig) -> "tuple[Unit | PortUnit, ...]":
    """Return the units that the scoreboard issues to; each is its number among them."""
    return (*TENSOR_UNITS, *(PortUnit(port, kind) for port in range(config.ports)
                             for kind in (LinkUnit.TX, LinkUnit.RX)))


def unit_bits(config: TpuConfig) -> int:
    """Return the bits of a number of one of `issue_units`."""
    return bits_for(max(issue_units(config)))


def _layout(config: TpuConfig, unit: "Unit | PortUnit") -> data.StructLayout:
    """Return the layout of the commands of a unit."""
    return LAYOUTS[unit.kind if isinstance(unit, PortUnit) else unit](config)


def unit_signature(config: TpuConfig, unit: "Unit | PortUnit") -> UnitSignature:
    """Return what is between the scoreboard and a unit, from the scoreboard's side."""
    detail = LINK_DOWN_BIT + 1 if isinstance(unit, PortUnit) else LINK_DOWN_BIT
    return UnitSignature(_layout(config, unit), detail)

#: Operands that go with the header: those that begin no stream, and the last that begins one, which
#: does so in vector instructions only.
OTHERS = tuple(range(STREAMS - 1, max(
    len(isa.BY_OPCODE[opcode].operands)
    for opcode in (Opcode.LOAD, Opcode.STORE, Opcode.MATMUL, Opcode.VECTOR))))
#: Header bits that a unit may want: neither opcode and register mask, nor stride registers.
KEPT = tuple(bit for bit in range(isa.FIELDS_LSB, isa.HEADER_BITS)
             if not any(field.is_stride and 0 <= bit - field.lsb < field.width
                        for field in isa.BY_OPCODE[Opcode.VECTOR].fields))


def part_layout(config: TpuConfig) -> data.StructLayout:
    """An operand's value, and the strides of the stream that it begins."""
    bits = row_bits(config)
    return data.StructLayout({"value": 32, "linear": 1, "s0": bits, "s1": bits, "s2": bits})


def _common_layout() -> data.StructLayout:
    return data.StructLayout({"header": len(KEPT), "values": data.ArrayLayout(32, len(OTHERS))})


class Dispatcher(wiring.Component):
    """Queues of commands for the units, in two memories that all units share.

    A command is written a part at a time, while the checker walks over its streams, then ``push``
    enters it. As soon as a unit's command register is free, its next command is read into it, two
    parts a cycle: ``valid`` 4 cycles after ``push`` where no other unit's command is on its way.

    Members
    -------
    unit : In
        Unit of the instruction that is written and pushed.
    word_valid : In(1), word : In(word_layout())
        The instruction, its operands resolved.
    part_valid : In(1), part_index : In, part : In(part_layout())
    push : In(1)
        Enter what was written. At most ``config.window`` commands may be waiting.
    loaded : Out
        How many commands of each unit have been in its register, modulo the window.
    next_slots : In
        The slot of each unit's next command after those.
    command_load, command_store, command_mxu, command_vpu : Out
        The command registers.
    valid, slots : Out
        There is a command in the unit's register, and its slot.
    waiting : Out
        Commands have been entered that the unit has not taken.
    take : In
        The unit takes what is in its register.
    """

    unit: Signal
    word_valid: Signal
    word: data.View
    part_valid: Signal
    part_index: Signal
    part: data.View
    push: Signal
    loaded: list[Signal]
    next_slots: list[Signal]
    valid: Signal
    slots: list[Signal]
    waiting: Signal
    take: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        self._units = units = issue_units(config)
        slot_bits = ceil_log2(config.window)
        super().__init__({
            "unit": In(unit_bits(config)), "word_valid": In(1), "word": In(word_layout()),
            "part_valid": In(1), "part_index": In(range(STREAMS)), "part": In(part_layout(config)),
            "push": In(1), "loaded": Out(slot_bits).array(len(units)),
            "next_slots": In(slot_bits).array(len(units)), "valid": Out(len(units)),
            "slots": Out(slot_bits).array(len(units)),
            "waiting": Out(len(units)), "take": In(len(units)),
            **{f"command_{unit.name.lower()}": Out(_layout(config, unit))
               for unit in units},
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config = self._config
        # A ring for each unit, of twice the window: what is being written has room then, too.
        depth = 2 * config.window
        m.submodules.parts = parts = memory.Memory(
            shape=data.ArrayLayout(part_layout(config), 2),
            depth=max(BLOCK_RAM_DEPTH, len(self._units) * depth * STREAMS // 2), init=[])
        m.submodules.commons = commons = memory.Memory(
            shape=_common_layout(), depth=max(BLOCK_RAM_DEPTH, len(self._units) * depth),
            init=[])
        put_part, put_common = parts.write_port(granularity=1), commons.write_port()
        get_part, get_common = parts.read_port(), commons.read_port()
        entered, loaded = (
            [Signal(ceil_log2(depth), name=f"{word}_{unit.name.lower()}") for unit in self._units]
            for word in ("entered", "loaded"))

        address = Cat(Array(entered)[self.unit], self.unit)
        m.d.comb += [
            put_part.addr.eq(Cat(self.part_index[1:], address)),
            *(half.eq(self.part) for half in put_part.data),
            put_part.en.eq(Cat(self.part_valid & ~self.part_index[0],
                               self.part_valid & self.part_index[0])),
            put_common.addr.eq(address), put_common.en.eq(self.word_valid),
            put_common.data.header.eq(Cat(self.word.as_value()[bit] for bit in KEPT)),
            *(put_common.data.values[i].eq(self.word.operands[operand])
              for i, operand in enumerate(OTHERS)),
            *(low.eq(count) for low, count in zip(self.loaded, loaded, strict=True)),
        ]

        # The first two parts are read in the cycle of ``begin``, the others in that of ``second``;
        # they go into the registers a cycle later.
        begin, second, third = Signal(), Signal(), Signal()
        choice, reader, current = (Signal(unit_bits(config)) for _ in range(3))
        left = Signal(len(self._units))  # commands are left to be read: loaded != entered
        wanted = left & ~self.valid
        for i in reversed(range(len(self._units))):
            with m.If(wanted[i]):
                m.d.comb += choice.eq(i)
        m.d.comb += [
            begin.eq(~second & ~third & wanted.any()),
            current.eq(Mux(second, reader, choice)),
            get_common.addr.eq(Cat(Array(loaded)[current], current)),
            get_part.addr.eq(Cat(second, get_common.addr)),
            *(port.en.eq(1) for port in (get_part, get_common)),
        ]
        m.d.sync += [second.eq(begin), third.eq(second)]
        with m.If(begin):
            m.d.sync += reader.eq(choice)

        for unit in self._units:
            name = unit.name.lower()
            kept = [Signal(part_layout(config), name=f"{name}{i}", reset_less=True)
                    for i in range(STREAMS)]
            common = Signal(_common_layout(), name=f"{name}_common", reset_less=True)
            m.d.comb += self.waiting[unit].eq(self.valid[unit] | left[unit])
            with m.If(self.take[unit]):
                m.d.sync += self.valid[unit].eq(0)
            with m.If(second & (reader == unit)):
                m.d.sync += [
                    kept[0].eq(get_part.data[0]), kept[1].eq(get_part.data[1]),
                    common.eq(get_common.data),
                    self.slots[unit].eq(self.next_slots[unit]),
                ]
            with m.If(third & (reader == unit)):
                m.d.sync += [
                    kept[2].eq(get_part.data[0]), kept[3].eq(get_part.data[1]),
                    self.valid[unit].eq(1), loaded[unit].eq(loaded[unit] + 1),
                    left[unit].eq((loaded[unit] + 1)[:len(loaded[unit])] != entered[unit]),
                ]
            with m.If(self.push & (self.unit == unit)):
                m.d.sync += [entered[unit].eq(entered[unit] + 1), left[unit].eq(1)]
            m.d.comb += self._command(unit, kept, common)
        return m

    def _command(self, unit: "Unit | PortUnit", parts, common):
        """Lay out the command of a unit; what it does not use is never stored."""
        command = getattr(self, f"command_{unit.name.lower()}")
        bits = dict(zip(KEPT, common.header, strict=True))
        values = {i: part.value for i, part in enumerate(parts)}
        values.update(zip(OTHERS, common.values, strict=True))
        opcode = Opcode.RECV if isinstance(unit, PortUnit) else {
            Unit.MXU: Opcode.MATMUL, Unit.VPU: Opcode.VECTOR}.get(unit, Opcode.LOAD)
        insn = data.View(instruction_layout(opcode), Cat(
            *(bits.get(bit, Const(0)) for bit in range(isa.HEADER_BITS)),
            *(values[i] for i in range(isa.NUM_OPERANDS))))
        if opcode == Opcode.LOAD:
            return [
                *(command[name].eq(insn[name]) for name in ("mem", "fmt", "row", "addr", "pitch")),
                command.rows.eq(insn.shape_.rows), command.cols.eq(insn.shape_.cols),
                *(command[name].eq(insn.steps[name]) for name in ("row_step", "group_step")),
            ]

        if isinstance(unit, PortUnit):
            row = parts[0]
            return [
                *(command[name].eq(insn[name]) for name in ("mem", "fmt", "op", "tag")),
                command.n0.eq(insn.counts.n0), command.n1.eq(insn.counts.n1),
                command.row.eq(row.value),
                *(command[name].eq(row[name]) for name in ("linear", "s0", "s1")),
            ]

        def stream(target, part):
            return [target.base.eq(part.value), *(
                target[name].eq(part[name]) for name in ("linear", "s0", "s1", "s2"))]

        def part(name: str):
            return parts[isa.operand_index(opcode, name)]

        assigned = [command.counts.n0.eq(insn.counts.n0), command.counts.n1.eq(insn.counts.n1),
                    command.counts.n2.eq(insn.n2)]
        if opcode == Opcode.MATMUL:
            return [
                *assigned,
                *(command[name].eq(insn[name])
                  for name in ("fmt", "accumulate", "wload", "transpose", "wrows")),
                *stream(command.acc, part("acc")), *stream(command.acts, part("acts")),
                command.w_base.eq(insn.w), command.w_step.eq(part("w").s0),
            ]
        assigned += [
            *(command[name].eq(insn[name])
              for name in ("op", "post", "dst_kind", "a_kind", "b_kind", "c_kind", "reduce",
                           "reduce_op")),
            command.param.eq(insn.param.as_value()), *stream(command.dst, part("dst")),
        ]
        for name in "abc":
            assigned += [
                *stream(command[name], part(name)), command[f"{name}_value"].eq(insn[name]),
                command[f"{name}_lane"].eq(insn[name][LANE_BITS_LSB:]),
            ]
        return assigned

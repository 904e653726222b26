"""How instructions are written, derived from the tables of the ISA.

What stands first, without a name: the register that a scalar instruction sets, the operation of
a vector instruction, every operand of a scalar instruction, and rows and addresses of a tensor
instruction. All else is ``name=value``: fields, operands, parts of packed operands. A field of one
bit is set by its bare name.

A row is written ``memory[row]`` or ``memory[row, x1]`` with a stride register. Where a field
names the memory (``mem`` of a load, ``a_kind`` of a vector instruction), the name before the
bracket is a value of that field. A source of which one lane is used is written
``acc_lane[row, lane=3]`` or ``acc_lane[row, x1, lane=3]``; a register holds both, row and lane.
"""

from celosia.arch import isa
from celosia.arch.isa import Field, Instruction, Operand, OperandType
from celosia.arch.vector import LANE_ROW_SRCS, LANE_SRCS, Src

__all__ = ["FIXED_MEMORY", "field_of", "has_lane", "is_flag", "kind_field", "positional",
           "stride_field", "takes_float"]

#: Operands whose memory is fixed, with the name that is written before the bracket.
FIXED_MEMORY = {OperandType.UB_ROW: "ub", OperandType.ACC_ROW: "acc"}

#: Fields that stand first, without a name.
_LEADING = ("rd", "x", "op")
#: Operands that may be a number with a point.
_FLOATS = ("a", "b", "c")
_TENSOR_POSITIONAL = (OperandType.UB_ROW, OperandType.ACC_ROW, OperandType.ROW,
                      OperandType.ADDRESS)


def field_of(instruction: Instruction, name: str) -> Field | None:
    """Return the field called ``name``, or None."""
    return next((field for field in instruction.fields if field.name == name), None)


def kind_field(instruction: Instruction, operand: Operand) -> Field | None:
    """Return the field that names the memory of a row operand, or None."""
    if operand.type is not OperandType.ROW:
        return None
    return (field_of(instruction, f"{operand.name}_kind") or field_of(instruction, "mem"))


def stride_field(instruction: Instruction, operand: Operand) -> Field | None:
    """Return the field that names the stride register of an operand's stream, or None."""
    return field_of(instruction, f"x{operand.name}")


def has_lane(kind: Field | None, value: int) -> bool:
    """Whether ``value`` of the field ``kind`` names a source whose word holds row and lane."""
    return kind is not None and kind.enum is Src and value in LANE_SRCS | LANE_ROW_SRCS


def is_flag(field: Field) -> bool:
    """Whether a field is set by its bare name."""
    return field.width == 1 and field.enum is None


def takes_float(operand: Operand) -> bool:
    """Whether an operand takes a number with a point, as the bits of an fp32."""
    return operand.name in _FLOATS and operand.type in (OperandType.VALUE, OperandType.ROW)


def positional(instruction: Instruction) -> tuple[Field | Operand, ...]:
    """Return what stands first, without a name, in order."""
    leading = [field for field in instruction.fields if field.name in _LEADING]
    scalar = instruction.unit is isa.Unit.SCALAR
    operands = [operand for operand in instruction.operands
                if scalar or operand.type in _TENSOR_POSITIONAL]
    return (*leading, *operands)

"""What an instruction at fault should have been, in words."""

from __future__ import annotations

from celosia.arch import isa
from celosia.arch.commands import unpack
from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Imm, Insn
from celosia.arch.faults import AnyFault, Fault
from celosia.arch.isa import Opcode
from celosia.arch.messages import MessageCommand
from celosia.model.checks import EVERYWHERE, Stop, check
from celosia.model.decode import Decoded, flaw

__all__ = ["explain"]


def explain(config: TpuConfig, insn: Insn, cause: AnyFault) -> str:
    """Say what was wanted of an instruction and what came, as far as its bits tell.

    Parameters
    ----------
    config
        The chip.
    insn
        The instruction.
    cause
        Its fault.

    Returns
    -------
    str
        "" where the fault is not one of fields or counts, or where a register's value decides.
    """
    if cause == Fault.ILLEGAL_FIELD:
        return flaw(config, insn)
    known = all(isinstance(operand, Imm) for operand in insn.operands)
    if cause != Fault.ILLEGAL_COUNT or not known or flaw(config, insn):
        return ""
    decoded = Decoded(insn)
    try:
        strides = [(0, 0, 0)] * isa.NUM_STRIDES
        if decoded.opcode in (Opcode.SEND, Opcode.RECV):
            command = MessageCommand.of(decoded.fields, decoded.values, strides)
        else:
            command = unpack(decoded.opcode, decoded.fields, decoded.values, strides)
        check(config, command, EVERYWHERE)
    except Stop as stop:
        return stop.wanted
    return ""

"""A run as it begins on a chip and its model: what it takes to do it again, alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from celosia.arch.config import TpuConfig
from celosia.arch.encoding import insn
from celosia.arch.isa import OperandType
from celosia.driver import Device
from celosia.driver.backends import BACKENDS
from celosia.driver.handles import LoadedProgram
from celosia.program import DTYPES, Program

__all__ = ["Begun", "TwinDevice"]


@dataclass(frozen=True)
class Begun:
    """A program, and what its buffers held when it began."""

    program: Program
    contents: dict[str, bytes]

    def whole(self) -> Program:
        """Return the program with its arguments as constants."""
        program = self.program
        buffers = [replace(each, kind="constant") if each.name in self.contents else each
                   for each in program.buffers]
        constants = {each.name: _array(self.contents[each.name], each) for each in buffers
                     if each.kind == "constant"}
        return replace(program, buffers=tuple(buffers), constants=constants)

    def cut(self, pc: int) -> Program | None:
        """Return it with nothing behind an instruction; None where it has loops or branches."""
        whole = self.whole()
        if any(each.type is OperandType.TARGET for made in whole.insns
               for each in made.instruction.operands):
            return None
        kept = (*whole.insns[:pc + 1], insn("halt"))
        return replace(whole, insns=kept,
                       sources=(*whole.sources[:pc + 1], "") if whole.sources else (),
                       relocations=tuple(each for each in whole.relocations if each[0] <= pc))


def _array(data: bytes, buffer: Any) -> Any:
    import numpy as np
    return np.frombuffer(data, DTYPES[buffer.dtype]).reshape(buffer.shape)


class TwinDevice(Device):
    """A chip beside its model that notes what runs begin with.

    Attributes
    ----------
    begun
        What the last run began with; None: there was none.
    """

    def __init__(self, config: TpuConfig):
        super().__init__(BACKENDS["twin"](config), "twin")
        self.begun: Begun | None = None

    def _fill(self, loaded: LoadedProgram, inputs: Mapping[str, Any]) -> None:
        """Do what is done last before a run begins."""
        super()._fill(loaded, inputs)
        self.begun = Begun(loaded.program, {
            each.name: self.transport.read_memory(loaded.arena + each.offset,
                                                  each.end - each.offset).tobytes()
            for each in loaded.program.buffers if each.kind in ("input", "constant")})

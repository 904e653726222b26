"""Cost and footprint of an operation: its cycles, and the rows and bytes that it touches."""

from __future__ import annotations

import math
from dataclasses import dataclass

from celosia.arch.commands import EXTERNAL, ROW_MASK, Command, Dma, Matmul, Stride
from celosia.arch.commands import Touch as Touched
from celosia.arch.config import TpuConfig
from celosia.arch.isa import Unit
from celosia.arch.words import ceil_div
from celosia.compiler.codegen.nodes import Op
from celosia.model.timing import LOAD, MATMUL, STORE, Timing, vector_latency

__all__ = ["EXTERNAL", "TILE", "CommandCost", "Costs", "Touch"]

#: The space beside `Mem` and external memory: the weight tile that the array holds.
TILE = 3
#: Cycles from the end of a vector instruction until one that waited for it begins.
_WAKE = 6
_TIMING = Timing()

#: Space, first and last row or byte, and whether it is written.
Touch = tuple[int, int, int, bool]


@dataclass(frozen=True, slots=True)
class CommandCost:
    """What all operations of a command share.

    Attributes
    ----------
    unit
        What executes them.
    occupied, latency
        Cycles until the unit takes the next one, and until the results are there.
    touches
        Of the command, all of whose rows and addresses are 0.
    tile
        Whether a matmul uses the weight tile of the one before.
    """

    unit: Unit
    occupied: int
    latency: int
    touches: tuple[Touched, ...]
    tile: bool = False

    def of(self, op: Op) -> list[Touch]:
        """Return what an operation of this command touches."""
        varying, reach = op.varying, op.reach
        out = []
        for operand, space, _, extent, written in self.touches:
            first = varying[operand]
            if space != EXTERNAL:
                first &= ROW_MASK
            elif reach is not None:
                out.append((space, *reach, written))
                continue
            out.append((space, first, first + extent, written))
        return out


class Costs:
    """What operations cost on a chip."""

    def __init__(self, config: TpuConfig):
        self._config = config
        self._known: dict[Command, CommandCost] = {}

    def __call__(self, op: Op) -> CommandCost:
        """Return what an operation costs."""
        command = op.command
        assert not isinstance(command, Stride)  # they come after the order is known
        cost = self._known.get(command)
        if cost is None:
            self._known[command] = cost = self._make(command)
        return cost

    def _make(self, command: Command) -> CommandCost:
        config, touches = self._config, command.touches(self._config)
        if isinstance(command, Dma):
            occupied = self._transfer(command)
            latency = (_TIMING.read_latency + LOAD if command.unit == Unit.LOAD
                       else _TIMING.write_latency + STORE)
            return CommandCost(command.unit, occupied, occupied + latency, touches)
        rows = command.length
        if isinstance(command, Matmul):
            return CommandCost(command.unit, max(rows, config.dim + 1),
                               rows + 2 * config.dim + MATMUL, touches, command.weights is None)
        return CommandCost(command.unit, rows, rows + vector_latency(config) + _WAKE, touches)

    def _transfer(self, command: Dma) -> int:
        bus, rows = self._config.bus_bytes, command.rows
        # Rows begin anywhere in a beat where they are no whole beats apart: an average.
        part = math.gcd(command.pitch, bus) if rows > 1 else bus
        beats = rows * sum(ceil_div(at + command.row_bytes, bus) for at in range(0, bus, part)) // (
            bus // part)
        return max(rows * ceil_div(command.cols, self._config.dim), beats)

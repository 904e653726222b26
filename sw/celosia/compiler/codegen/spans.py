"""Cost and footprint of an operation: its cycles, and the rows and bytes that it touches."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.arch.commands import EXTERNAL, ROW_MASK, Command, Dma, Matmul, Stride, Touch, Vector
from celosia.arch.config import BANKS, TpuConfig
from celosia.compiler.codegen.nodes import ARENA_OPERAND, CodeOp
from celosia.model.timing import Timing, cost

__all__ = ["EXTERNAL", "TILE", "CommandCost", "Costs", "SpaceTouch"]

#: The space beside `Mem` and external memory: the weight tile that the array holds.
TILE = 3
_TIMING = Timing()

#: Space, first and last row or byte, and whether it is written.
SpaceTouch = tuple[int, int, int, bool]


@dataclass(frozen=True, slots=True)
class CommandCost:
    """What operations of a command share that lie alike in banks and beats.

    Attributes
    ----------
    unit
        What executes them: a `Unit`, as a number.
    check, occupied, latency, lead, fill
        Of `celosia.model.timing.Cost`; ``occupied`` as if the next matmul had weights, too.
    touches
        Of the command, all of whose rows and addresses are 0.
    tile
        Whether a matmul uses the weight tile of the one before.
    pace
        Of `celosia.model.timing.Cost`.
    """

    unit: int
    check: int
    occupied: int
    latency: int
    lead: int
    fill: int
    touches: tuple[Touch, ...]
    tile: bool
    pace: float

    def of(self, op: CodeOp) -> list[SpaceTouch]:
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
    """What operations cost on a chip, by the model of its cycles."""

    def __init__(self, config: TpuConfig):
        self._config = config
        #: By the address of a command, which is kept so that the address stays its own.
        self._known: dict[tuple[int, ...], tuple[CommandCost, Command]] = {}

    def __call__(self, op: CodeOp) -> CommandCost:
        """Return what an operation costs, and what it touches."""
        command = op.command
        assert not isinstance(command, Stride)  # they come after the order is known
        key: tuple[int, ...] = id(command),
        # What its cost depends on beside the command: how it begins in a beat, or in banks.
        if isinstance(command, Dma):
            key = id(command), op.varying[ARENA_OPERAND] % self._config.bus_bytes
        elif isinstance(command, Vector) and len(command.sources) > 1:
            key = (id(command), *[value % BANKS for value in op.varying])
        found = self._known.get(key)
        if found is None:
            self._known[key] = found = self._make(command, command.at(op.varying)), command
        return found[0]

    def _make(self, form: Command, command: Command) -> CommandCost:
        check, occupied, latency, lead, fill, _, pace, *_ = cost(command, self._config, _TIMING)
        return CommandCost(int(command.unit), check, max(occupied, lead), latency, lead, fill,
                         form.touches(self._config),
                         isinstance(form, Matmul) and form.weights is None, pace)

"""What the chip's formats cost a program: clamps, overflows and flushes, by operation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from celosia.compiled import Compiled
from celosia.driver import Device, LoadedProgram
from celosia.driver.counted import CountedTransport
from celosia.graph import Source
from celosia.model.losses import Losses

__all__ = ["of_run", "text"]

#: Operations that are printed, those that lose most.
_MOST = 8


class _Counted(Device):
    """A device that adds up what its runs lose, by the operations that their code is of."""

    def __init__(self, transport: CountedTransport):
        super().__init__(transport, "model")
        self._counted = transport
        self.found: defaultdict[str, Losses] = defaultdict(Losses)

    def run(self, program: Any, *args: Any, **options: Any) -> Any:
        """Run as a device does, and count."""
        result = super().run(program, *args, **options)
        what = program.program if isinstance(program, LoadedProgram) else program
        for pc, losses in self._counted.losses.items():
            self.found[what.sources[pc] if what.sources else ""].add(losses)
        return result


def of_run(compiled: Compiled, values: Sequence[Any]) -> dict[str, Losses]:
    """Return what a run on the golden model loses, by the texts of the program's sources."""
    with (_Counted(CountedTransport(compiled.config)) as device,
          compiled.load(device) as executable):
        executable.run(*values, timeout=None)
    return device.found


def text(found: dict[str, Losses], chip: str) -> list[str]:
    """Return lines that say what was lost."""
    total = Losses()
    for losses in found.values():
        total.add(losses)
    lines = [f"on {chip}, of {total.of:,} elements {_counts(total) or 'none were lost'}"]
    lossy = [(losses, source) for source, losses in found.items() if _counts(losses)]
    lossy.sort(key=lambda each: (-each[0].overflowed, -each[0].clamped, -each[0].flushed))
    for losses, source in lossy[:_MOST]:
        operation, place = Source.parse(source)
        lines.append(f"  {operation or 'nobody noted what'} {place}: {_counts(losses)}, of "
                     f"{losses.of:,}")
    if len(lossy) > _MOST:
        more = len(lossy) - _MOST
        lines.append(f"  and {more} operation{'s' * (more > 1)} more")
    return lines


def _counts(losses: Losses) -> str:
    kinds = (losses.overflowed, "overflowed"), (losses.clamped, "were clamped to int8"), (
        losses.flushed, "became 0")
    return ", ".join(f"{count:,} {what}" for count, what in kinds if count)

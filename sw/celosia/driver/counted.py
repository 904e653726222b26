"""The golden model behind a transport, counting what its runs lose."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from celosia.driver.model import ModelTransport
from celosia.model import ModelResult
from celosia.model.losses import CountingRun, Losses

__all__ = ["CountedTransport"]


class CountedTransport(ModelTransport):
    """A model that counts.

    Attributes
    ----------
    losses
        Of the last run, by the index of the instruction.
    """

    losses: dict[int, Losses]

    def _run(self, program: int, length: int, windows: Sequence[tuple[int, int]], watchdog: int,
             progress: Callable[[int], None] | None) -> ModelResult:
        run = CountingRun(self._machine, program, length, windows, watchdog)
        try:
            return run.go(None, progress)
        finally:
            self.losses = run.losses

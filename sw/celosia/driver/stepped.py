"""The golden model behind a transport, its runs by single instructions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from celosia.arch.config import TpuConfig
from celosia.driver.model import ModelTransport
from celosia.model import ModelResult
from celosia.model.stepper import Stepper

__all__ = ["SteppedTransport"]


class SteppedTransport(ModelTransport):
    """A model that hands every run to somebody, and does what is left of it.

    Parameters
    ----------
    config
        The chip.
    drive
        Called with each run that begins.
    """

    def __init__(self, config: TpuConfig, drive: Callable[[Stepper], None]):
        super().__init__(config)
        self._drive = drive

    def _run(self, program: int, length: int, windows: Sequence[tuple[int, int]], watchdog: int,
             progress: Callable[[int], None] | None) -> ModelResult:
        stepper = Stepper(self._machine, program, length, windows, watchdog)
        self._drive(stepper)
        return stepper.finish()

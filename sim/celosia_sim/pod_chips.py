"""RTL chips that links connect, each behind a transport of the driver."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.arch.registers import (
    BY_NAME,
    COUNTERS,
    REGISTERS,
    AccessMode,
    Activity,
    Control,
    Status,
)
from celosia.driver.pod import Meeting, PodEnded, where
from celosia.driver.transport import read_memories, read_registers, write_registers
from celosia_sim.pod import RtlPod

__all__ = ["RtlPodChips"]

#: Cycles that are run at once, and after which a pod in which no unit has done anything is stuck:
#: longer than a link takes to send again what was lost.
_SLICE = 8192
#: Before how large a part of the cycles that a run took the last time nobody looks whether it has
#: ended. It may end earlier, if its data decide it; the next one is looked at earlier then.
_SURE = 15 / 16
_CONTROL, _PROGRAM, _LENGTH = (BY_NAME[name].offset for name in ("CONTROL", "PROGRAM", "LENGTH"))


class _RtlChip:
    """A chip of a pod.

    Time passes for all chips together while one of them runs, and for one alone while its
    registers are read or written, which is between runs.
    """

    def __init__(self, pod: RtlPodChips, chip: int):
        self.chip, self.meets = chip, False
        self.members: Sequence[int] = pod.chips
        self.sources: Sequence[str] = ()
        self._pod, self._own = pod, pod.pod.chips[chip - pod.pod.here.start]
        self.memory_bytes = self._own.memory_bytes
        self._starts = False
        self.length = 0  # of its program

    def read_register(self, offset: int) -> int:
        return self.read_registers([offset])[0]

    def read_registers(self, offsets: Sequence[int]) -> list[int]:
        with nullcontext() if self._pod.pod.apart else self._pod.lock:
            return read_registers(self._own, offsets)

    def write_register(self, offset: int, value: int) -> None:
        self.write_registers([(offset, value)])

    def write_registers(self, values: Sequence[tuple[int, int]]) -> None:
        own = [each for each in values if each != (_CONTROL, Control.START) or not self.meets]
        self._starts |= len(own) < len(values)  # when all have come
        self.length = dict(own).get(_LENGTH, self.length)
        with self._pod.lock:
            if self._pod.stale and not self._pod.shared and _PROGRAM in dict(own):
                # A run has left messages on the links, in chips that ended well, too.
                self._pod.pod.reset()
                self._pod.stale = False
            write_registers(self._own, own)

    def read_memory(self, address: int, size: int) -> NDArray[np.uint8]:
        return self._own.read_memory(address, size)

    def read_memories(self, spans: Sequence[tuple[int, int]]) -> list[NDArray[np.uint8]]:
        return read_memories(self._own, spans)

    def write_memory(self, address: int, data: bytes | NDArray[np.uint8]) -> None:
        self._own.write_memory(address, data)

    @property
    def interrupt(self) -> bool:
        """Whether the interrupt is high."""
        return self._own.wait_interrupt(0)

    def wait_interrupt(self, timeout_cycles: int | None,
                       progress: Callable[[int], None] | None = None) -> bool:
        look = progress or (lambda _: None)
        if self._starts:
            self._starts = False
            here = [each for each in self.members if each in self._pod.pod.here]
            return bool(self._pod.meeting.come(
                self.chip, here, (timeout_cycles, look), partial(look, 0)))
        waited = 0
        while True:
            with self._pod.lock:
                if self.interrupt:
                    return True
                if timeout_cycles is not None and waited >= timeout_cycles:
                    return False
                if self._pod.shared:  # other processes do something else: no time for links
                    self._own.wait_interrupt(_SLICE)
                else:
                    self._pod.pod.pass_cycles(_SLICE)
            waited += _SLICE
            look(waited)

    def links(self) -> Sequence[Mapping[str, int]]:
        with self._pod.lock:
            return self._pod.pod.links(self.chip)

    def close(self) -> None:
        self._pod.close()


class RtlPodChips:
    """RTL chips of one configuration and the links between them, as the driver sees them.

    Parameters
    ----------
    config, chips, links, options
        As of `celosia_sim.pod.RtlPod`.

    Attributes
    ----------
    transports
        The way to each chip of this process; all are closed together.
    """

    def __init__(self, config: TpuConfig, chips: int,
                 links: Mapping[tuple[int, int], tuple[int, int]], **options: Any):
        self.pod = RtlPod(config, chips, links, **options)
        self.chips = range(chips)
        self.lock = threading.RLock()
        self.stale = False  # messages may be on the links
        self.meeting = Meeting(self._run)
        self.transports = [_RtlChip(self, chip) for chip in self.pod.here]
        #: Other processes have chips of the pod: what is asked of all is asked in all of them.
        self.shared = len(self.transports) < chips
        #: One of them has left a run in the middle.
        self.parted = False
        #: Cycles that programs took the last time, by their lengths on all chips: all processes
        #: know them alike.
        self._took: dict[tuple[int, ...], int] = {}

    def close(self) -> None:
        """Free the chips; closing twice does nothing."""
        with self.lock:
            self.pod.close()

    def _run(self, brought: Mapping[int, object]) -> Mapping[int, object]:
        """Start chips in one cycle and let them run to their ends."""
        limits = [each[0] for each in brought.values() if isinstance(each, tuple)]
        looks = [each[1] for each in brought.values() if isinstance(each, tuple)]
        limit = None if None in limits else max(limits)
        chips = [self.transports[chip - self.pod.here.start] for chip in sorted(brought)]
        if self.parted:
            raise PodEnded("a program of all chips must be run by all processes together, but one "
                           "has left the last one before its end, so their links have parted: "
                           "start all of them anew")
        self.parted = self.shared
        try:
            with self.lock:
                lengths = self.pod.gather([each.length for each in chips], partial(looks[0], 0))
                if self.shared and self.stale:
                    self._reset(chips)
                self.stale = True
                self.pod.start(chips[0].members)
            found = self._to_the_end(chips, limit, looks[0], tuple(
                length for each in lengths for length in each))
        except BaseException as error:
            self.pod.withdraw(str(error) or type(error).__name__)
            raise
        self.parted = False
        if isinstance(found, BaseException):
            raise found
        return found if isinstance(found, Mapping) else dict.fromkeys(brought, found)

    def _to_the_end(self, chips: Sequence[_RtlChip], limit: int | None,
                    look: Callable[[int], None], program: tuple[int, ...],
                    ) -> Mapping[int, object] | bool | BaseException:
        """Return how a run ends, the same in all processes; what ``look`` raises, too."""
        waited, done, ended = 0, -1, False
        sure = int(self._took.get(program, 0) * _SURE)
        while True:
            with self.lock:
                if all(self.pod.gather(ended or all(each.interrupt for each in chips))):
                    status = self.pod.read(BY_NAME["STATUS"].offset)
                    self.stale = any(status[each] != Status.DONE for each in chips[0].members)
                    return True
                if ended := self.pod.pass_cycles(_SLICE, sure - waited):
                    self._took[program] = waited + self.pod.passed
                    continue
                waited += _SLICE
                # That it waits for ever is looked for all the same, but in the first slice.
                if waited > min(sure, _SLICE):
                    before, done = done, self._done()
                    if before == done:
                        return self._stuck(chips)
            if limit is not None and waited > limit:
                return False
            error = None
            try:
                look(waited)
            except BaseException as raised:  # all must end at one place
                error = raised
            said = self.pod.gather("" if error is None else str(error) or type(error).__name__)
            if error is not None or any(said):
                first = next(filter(None, said))
                return error or PodEnded(f"a run of all processes must go on, but: {first}")

    def _reset(self, chips: Sequence[_RtlChip]) -> None:
        """Reset all chips of the pod, and keep what these are to run."""
        offsets = [each.offset for each in REGISTERS if each.access is AccessMode.RW]
        own = [self.pod.chips[each.chip - self.pod.here.start] for each in chips]
        kept = [[chip.read_register(offset) for offset in offsets] for chip in own]
        self.pod.reset()
        for chip, values in zip(own, kept, strict=True):
            for offset, value in zip(offsets, values, strict=True):
                chip.write_register(offset, value)

    def _done(self) -> int:
        """Return a number that is another one when a unit of a chip has done something."""
        names = ("instructions", *(name for name in COUNTERS
                                   if name.endswith(f"_{Activity.BUSY.name.lower()}")))
        return sum(sum(self.pod.read(COUNTERS[name])) for name in names)

    def _stuck(self, chips: Sequence[_RtlChip]) -> Mapping[int, object]:
        """Say of chips that wait for ever where each one is."""
        status = self.pod.read(BY_NAME["STATUS"].offset)
        waits, said = self.pod.waits()
        said = where(f"a message must come: {said}",
                     {each.chip: each.pc for each in reversed(waits)},
                     {each.chip: each for each in self.transports})
        return {each.chip: PodEnded(said) if status[each.chip] == Status.RUNNING else True
                for each in chips}

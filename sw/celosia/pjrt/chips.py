"""Devices of JAX: a chip, what is loaded on it, and a thread that gives it work."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from time import monotonic
from typing import Any

from celosia.collectives import Cancelled, HostInterconnect
from celosia.collectives.interconnect import InterconnectPeer
from celosia.collectives.linked import linked
from celosia.compiled import Compiled, Executable, Loaded, Resident
from celosia.driver import Device, open
from celosia.driver.transport import PodChip, Transport
from celosia.pjrt import profiler
from celosia.pjrt.buffers import PjrtBuffer
from celosia.pjrt.errors import ErrorCode, PjrtError, as_error
from celosia.pjrt.handles import HANDLES
from celosia.pjrt.programs import DeviceProgram
from celosia.pjrt.settings import Settings

__all__ = ["ChipRun", "FarChip", "Interrupted", "PjrtChip"]

#: Results of at most so many bytes go to the host at once: losses and the like. State does not.
_SMALL = 4096
#: Seconds that closing waits for the thread.
_PATIENCE = 5.0


class Interrupted(Exception):
    """A run was ended by `PjrtChip.interrupt`."""


@dataclass(frozen=True)
class ChipRun:
    """A run of a program on one chip.

    Attributes
    ----------
    program
        What runs.
    given
        When, by `time.monotonic`.
    inputs
        Arguments.
    outputs
        The results to be, of those that somebody has.
    everywhere
        Those of all the chips that run it together.
    taken
        Numbers of the arguments that the program may write over.
    device
        Number of the chip among those that run it together.
    interconnect
        What these exchange arrays by, where links do not; None: it is alone.
    chips
        The numbers of these, as links connect them.
    """

    program: DeviceProgram
    given: float
    inputs: Sequence[PjrtBuffer]
    outputs: Sequence[weakref.ref[PjrtBuffer]]
    everywhere: Sequence[weakref.ref[PjrtBuffer]]
    taken: Sequence[int]
    device: int = 0
    interconnect: HostInterconnect | None = None
    chips: tuple[int, ...] = ()


def _wanted(results: Sequence[weakref.ref[PjrtBuffer]]) -> bool:
    """Whether somebody has one of the results of a run, or it has none."""
    HANDLES.sweep()
    return not results or any(result() for result in results)


def _kind(settings: Settings) -> str:
    return f"celosia {settings.config.name} ({settings.backend})"


class FarChip:
    """A device of JAX in another process; attributes as of `PjrtChip`."""

    def __init__(self, number: int, settings: Settings):
        self.number, self.kind, self.handle = number, _kind(settings), 0
        self.process, self.local = divmod(number, settings.devices)


class PjrtChip:
    """A device of JAX.

    Work is done in the order in which it is given, by a thread of its own; the chip is opened by
    the first program.

    Parameters
    ----------
    number
        Which one, of those of all processes.
    settings
        What it is.
    links
        Gives the way to a chip that links connect with others; None: there are no links.

    Attributes
    ----------
    process, local
        The number of its process, and its own there.
    runs
        Programs that were run to their end.
    peak_bytes
        Most that was in use of its memory.
    handle, memory_handle, devices, memories
        Names of it and its memory across the interface, and lists of one of each.
    """

    def __init__(self, number: int, settings: Settings,
                 links: Callable[[int], Transport] | None = None):
        self.number, self.settings = number, settings
        self.process, self.local = divmod(number, settings.devices)
        self.kind = _kind(settings)
        self.handle = self.memory_handle = 0
        self.runs = 0
        self.peak_bytes = 0
        self.devices: Any = None
        self.memories: Any = None
        self._links = links
        #: Of programs, what this chip runs, which one it is among which others.
        self._own: dict[Compiled, tuple[int, tuple[int, ...], Compiled]] = {}
        self._loaded = Loaded(self._open, leaving=self._leave)
        #: The buffers that the results of the last run of each program are.
        self._results: dict[Executable, Sequence[weakref.ref[PjrtBuffer]]] = {}
        #: Its arguments: one that is given again is there still, but where state was.
        self._given: dict[Executable, Sequence[weakref.ref[PjrtBuffer]]] = {}
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._interrupted = 0.0  # when: what was given before is not to be done
        self._doubted = 0.0  # when: nor what was given before, if nobody has its results
        self._closed = False

    # For any thread

    def submit(self, work: Callable[[], None]) -> None:
        """Give the chip work, which must not raise."""
        if self._thread is None:
            with self._lock:
                if self._thread is None and not self._closed:
                    self._thread = threading.Thread(
                        target=self._serve, name=f"celosia-{self.number}", daemon=True)
                    self._thread.start()
        self._work.put(work)

    @property
    def is_calling(self) -> bool:
        """Whether this is its own thread: in a function that a program has called."""
        return threading.current_thread() is self._thread

    def interrupt(self) -> None:
        """End the run that is under way and those that wait; what they compute is an error.

        Signal handlers may call it. The run looks now and then whether it is to end: an exception
        that came from outside, wherever it is, would leave locks behind, such as those of imports.
        """
        self._interrupted = monotonic()

    def doubt(self) -> None:
        """End the run that is under way and those that wait, if nobody has what they give.

        Signal handlers may call it.
        """
        self._doubted = monotonic()

    def check(self, given: float, results: Sequence[weakref.ref[PjrtBuffer]]) -> None:
        """Raise `Interrupted` if what was given at a time, for these results, is not to be done."""
        if given <= self._interrupted or (given <= self._doubted and not _wanted(results)):
            raise Interrupted

    def close(self) -> None:
        """End all work and close the chip."""
        self._closed = True
        self._work.put(None)
        self.interrupt()
        if self._thread is not None:
            self._thread.join(_PATIENCE)
            if self._thread.is_alive():
                return
        self._loaded.close()

    @property
    def bytes_in_use(self) -> int:
        """Bytes of its memory that programs and arrays have."""
        device = self._loaded.opened
        return 0 if device is None else device.memory_bytes - device.free_bytes

    @property
    def bytes_limit(self) -> int:
        """Bytes of its memory that programs and arrays may have; 0 before the first program."""
        device = self._loaded.opened
        return 0 if device is None else device.memory_bytes

    # For its own thread

    def _serve(self) -> None:
        while True:
            work = self._work.get()
            if self._closed or work is None:
                return
            work()
            del work  # and what it holds: the thread may wait here for long

    def run(self, job: ChipRun) -> PjrtError | None:
        """Run a program and fill the outputs, but do not say yet that they are ready."""
        link = job.interconnect
        try:
            # Whatever happens in here ends the run on all chips.
            with nullcontext() if link is None else link.device(job.device) as peer:
                self.check(job.given, job.everywhere)
                for buffer in job.inputs:
                    buffer.ready.wait()
                    if buffer.ready.error is not None:
                        raise buffer.ready.error
                self._run(job, peer)
        except BaseException as error:
            first = error.first if isinstance(error, Cancelled) else error
            if isinstance(first, Interrupted):
                return PjrtError(ErrorCode.CANCELLED, f"{job.program.name} was interrupted")
            return as_error(first or error)
        self.runs += 1
        return None

    def _run(self, job: ChipRun, peer: InterconnectPeer | None) -> None:
        executable = self._load(job)
        arguments = self._arguments(executable, job.inputs)
        for i in job.taken:
            job.inputs[i].donated = True
        self._leave(executable)
        device = executable.device
        device.on_progress = lambda _: self.check(job.given, job.everywhere)
        begin = profiler.now()
        try:
            results = executable.run(*arguments, timeout=None, peer=peer)
            if begin is not None:
                profiler.note(job.program, begin, self.number, executable.cycles)
        finally:
            device.on_progress = None  # it has the job, and its arguments
        self._results[executable] = job.outputs
        self._given[executable] = [weakref.ref(buffer) for buffer in job.inputs]
        # Those behind JAX's own only keep effects in the program.
        for output, result in zip(job.outputs, results[:len(job.outputs)], strict=True):
            if (buffer := output()) is None:
                continue
            if isinstance(result, Resident):
                buffer.resident = result
                if buffer.nbytes <= _SMALL and not executable.is_state(result):
                    buffer.fetch()
            else:
                buffer.host = result

    def _arguments(self, executable: Executable, inputs: Sequence[PjrtBuffer]) -> list[Any]:
        """Return what to give to a program: places on the chip where they are the right ones."""
        before = self._given.pop(executable, None)
        found = []
        for i, buffer in enumerate(inputs):
            same = before is not None and before[i]() is buffer
            place = executable.given(i) if same else None
            found.append(buffer.argument(executable, i) if place is None else place)
        return found

    def _open(self) -> Device:
        settings = self.settings
        if self._links is None:
            return open(settings.backend, config=settings.config)
        return Device(self._links(self.local), settings.backend)

    def _linked(self, job: ChipRun) -> Compiled:
        """Return a program as this chip runs it: exchanges go by its links."""
        compiled, topology = job.program.compiled, self.settings.topology
        if topology is None or len(job.chips) < 2 or (
                len(job.chips) < topology.chips != self.settings.devices):
            return compiled  # time passes for links between processes if all take part
        transport = self._loaded.device.transport
        if isinstance(transport, PodChip):
            transport.members = job.chips
        found = self._own.get(compiled)
        if found is None or found[:2] != (job.device, job.chips):
            made = linked(compiled, topology, job.device, job.chips)
            found = self._own[compiled] = job.device, job.chips, made
        return found[2]

    def _load(self, job: ChipRun) -> Executable:
        """Return a program in the chip's memory."""
        program = job.program
        compiled = self._linked(job)
        known = compiled in self._loaded
        executable = self._loaded.get(compiled)
        if not known:
            # JAX drops it in any thread; the chip is this one's.
            weakref.finalize(program, self.submit, partial(
                self._forget, program.compiled, compiled)).atexit = False
            self.peak_bytes = max(self.peak_bytes, self.bytes_in_use)
        return executable

    def _forget(self, compiled: Compiled, own: Compiled) -> None:
        self._own.pop(compiled, None)
        with suppress(Exception):  # of a chip that does not answer
            self._loaded.forget(own)

    def _leave(self, executable: Executable) -> None:
        """Bring what is still wanted of the last run of a program to the host."""
        self._given.pop(executable, None)
        for result in self._results.pop(executable, ()):
            if buffer := result():
                buffer.leave()

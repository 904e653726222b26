"""What JAX has a connection to: the chips, and what they have done."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import partial
from time import monotonic
from typing import Any
from weakref import ref

from celosia.collectives import HostInterconnect
from celosia.collectives.processes import PATIENCE, Processes
from celosia.driver.backends import PODS
from celosia.driver.transport import Transport
from celosia.pjrt.buffers import PjrtBuffer
from celosia.pjrt.chips import ChipRun, FarChip, PjrtChip
from celosia.pjrt.errors import ErrorCode, PjrtError
from celosia.pjrt.events import Event, InFlight
from celosia.pjrt.programs import DeviceProgram, Programs
from celosia.pjrt.protobuf import CompileOptions
from celosia.pjrt.settings import Settings

__all__ = ["Client", "LoadedExecutable"]

#: Runs that may wait for a chip; each keeps its arguments.
_MOST_IN_FLIGHT = 32


class Client:
    """All chips of this process, and what is known of those of others.

    Parameters
    ----------
    settings
        How many each process has, of which kind.
    processes
        That run programs together; None: there are no others.

    Attributes
    ----------
    chips
        Those of this process, in the order of their numbers.
    devices
        Those of all processes.
    process
        The number of this one.
    programs
        What was compiled.
    on_host
        Operations that the host ran, and how often.
    host_runs
        Runs of programs with such operations.
    """

    def __init__(self, settings: Settings, processes: Processes | None = None):
        self.settings, self.processes = settings, processes
        links = None if settings.topology is None else self._transport
        self.process = 0 if processes is None else processes.name.index
        first = self.process * settings.devices
        self.chips = tuple(PjrtChip(first + i, settings, links) for i in range(settings.devices))
        everywhere = settings.devices * (1 if processes is None else processes.count)
        self.devices: tuple[PjrtChip | FarChip, ...] = (
            *(FarChip(number, settings) for number in range(first)), *self.chips,
            *(FarChip(number, settings) for number in range(first + len(self.chips), everywhere)))
        self._transports: Sequence[Transport] = ()
        self.programs = Programs(settings)
        self.on_host: Counter[str] = Counter()
        self.host_runs = 0
        self._lock, self._order = threading.Lock(), threading.Lock()
        self._in_flight = InFlight(_MOST_IN_FLIGHT)
        #: Results of the runs that have not ended.
        self._awaited: dict[Event, Sequence[ref[PjrtBuffer]]] = {}
        if processes is not None and links is not None:
            links(0)  # all make their boards now: they wait for each other

    def _transport(self, number: int) -> Transport:
        """Return the way to a chip that links connect with the others; all are made at once."""
        topology = self.settings.topology
        assert topology is not None
        with self._lock:
            if not self._transports:
                options: dict[str, Any] = {}
                if self.settings.boards > 1:
                    options["processes"] = self.settings.boards
                if self.processes is not None:
                    options |= {"together": self.processes, "patience": PATIENCE}
                self._transports = PODS[self.settings.backend](
                    self.settings.config, topology.chips, topology.links, **options)
        return self._transports[number]

    def device(self, number: int) -> PjrtChip | FarChip:
        """Return a chip of any process by its number; PjrtError if there is none."""
        if not 0 <= number < len(self.devices):
            raise PjrtError(ErrorCode.INVALID_ARGUMENT, f"device must be one of "
                                                   f"{len(self.devices)}, not number {number}")
        return self.devices[number]

    def chip(self, number: int) -> PjrtChip:
        """Return a chip of this process by its number there; PjrtError if there is none."""
        if not 0 <= number < len(self.chips):
            raise PjrtError(ErrorCode.INVALID_ARGUMENT, f"device must be one of "
                                                   f"{len(self.chips)}, not number {number}")
        return self.chips[number]

    def compile(self, module: bytes, options: CompileOptions) -> LoadedExecutable:
        """Compile a program; errors as of `celosia.compile`."""
        devices = options.devices or tuple(
            tuple(range(first, first + options.replicas))
            for first in range(0, options.partitions * options.replicas, options.replicas))
        chips = [[self.device(number) for number in replicas] for replicas in devices]
        return LoadedExecutable(self, self.programs.get(module), chips)

    def execute(self, executable: LoadedExecutable, inputs: Sequence[Sequence[PjrtBuffer]],
                kept: Collection[int], chips: Sequence[PjrtChip],
                others: Sequence[DeviceProgram] = ()
                ) -> tuple[list[list[PjrtBuffer]], list[Event]]:
        """Give chips a program to run.

        Parameters
        ----------
        executable
            The program.
        inputs
            Its arguments, for each chip.
        kept
            Numbers of arguments that must not be taken away, though the program may.
        chips
            Where.
        others
            For each chip what it runs in place of the program: the same for other shapes.

        Returns
        -------
        results
            For each chip; they are ready later.
        events
            That each chip's run has ended.
        """
        program = executable.program
        if any(chip.is_calling for chip in chips):
            raise PjrtError(ErrorCode.FAILED_PRECONDITION,
                            f"{program.name} must not be run by a function that a program of the "
                            "same chip calls, which waits for it: with JAX_PLATFORMS=celosia,cpu "
                            "such functions compute on the host")
        if executable.deleted:
            raise PjrtError(ErrorCode.INVALID_ARGUMENT,
                            f"{program.name} must not be called after it was deleted")
        for row in inputs:
            for i, buffer in enumerate(row):
                if buffer.deleted:
                    raise PjrtError(ErrorCode.INVALID_ARGUMENT,
                                    f"argument {i} of {program.name} was deleted or donated")
        taken = [i for i in program.donated if i not in kept]
        self._in_flight.make_room()
        for row in inputs:
            for i in taken:
                row[i].deleted = True
        programs = others or (program,) * len(chips)
        outputs = [[PjrtBuffer(chip, shape, dtype) for shape, dtype in own.results]
                   for chip, own in zip(chips, programs, strict=True)]
        events = [Event() for _ in chips]
        given = monotonic()
        results = [[ref(buffer) for buffer in row] for row in outputs]
        everywhere = [each for row in results for each in row]
        members = executable.members if program.spmd.devices > 1 else chips
        numbers = tuple(chip.number for chip in members)
        link = None
        # Together: chips that wait for each other must do their work in one order.
        with self._order:
            try:
                if len(members) > 1 and chips:
                    link = self._link(program, members,
                                      partial(chips[0].check, given, everywhere))
                jobs = [ChipRun(each, given, row, own, everywhere, taken, members.index(chip),
                                link, numbers) for chip, each, row, own in zip(
                            chips, programs, inputs, results, strict=True)]
                self._awaited.update(zip(events, results, strict=True))
                for chip, job, event in zip(chips, jobs, events, strict=True):
                    chip.submit(partial(self._run, chip, job, event))
            except BaseException as error:  # an interrupt; the others must not wait for the rest
                if link is not None:
                    link.cancel(error)
                raise
        self._in_flight.add(events)
        return outputs, events

    def _link(self, program: DeviceProgram, members: Sequence[PjrtChip | FarChip],
              check: Callable[[], None]) -> HostInterconnect:
        """Return what chips bring arrays to each other by, for one run."""
        topology = self.settings.topology
        if topology is not None and topology.chips != len(members):
            topology = None
        places, far = [chip.process for chip in members], None
        if self.processes is not None and set(places) != {self.process}:
            far = self.processes.begin(places, {
                "name": program.name, "devices": [chip.number for chip in members],
                "digest": program.digest})
        return HostInterconnect(len(members), check=check, topology=topology, far=far)

    def _run(self, chip: PjrtChip, job: ChipRun, done: Event) -> None:
        error = chip.run(job)
        if job.program.on_host and error is None:
            with self._lock:
                self.on_host += job.program.on_host
                self.host_runs += 1
        for result in job.outputs:
            if buffer := result():
                buffer.ready.set(error)
        self._awaited.pop(done, None)
        done.set(error)

    def interrupt(self) -> None:
        """End the runs that are under way."""
        for chip in self.chips:
            chip.interrupt()

    def interrupt_unwanted(self) -> None:
        """End the runs that were given if somebody has asked for what one of them gives; else those
        whose results nobody has any more.
        """
        if any(buffer.asked for row in tuple(self._awaited.values())
               for result in row if (buffer := result())):
            self.interrupt()
        for chip in self.chips:
            chip.doubt()

    def close(self) -> None:
        """Close the chips."""
        for chip in self.chips:
            chip.close()
        if self.processes is not None:
            self.processes.close()

    def report(self) -> None:
        """Say in one line on stderr what ran on the host, if anything did."""
        if self.on_host:
            what = ", ".join(f"{name} ({count})" for name, count in self.on_host.most_common())
            print(f"celosia: {self.host_runs} runs of programs had operations that the chip does "
                  f"not have, the host ran them: {what}", file=sys.stderr)


class LoadedExecutable:
    """A program and the chips that run it.

    Attributes
    ----------
    client, program
        Who runs what.
    devices
        For each partition the chips of its replicas.
    members, chips
        All chips that run it, and those of this process.
    deleted
        Whether its user has given it up.
    facts
        What `celosia.pjrt.calls_executables` keeps of it.
    """

    def __init__(self, client: Client, program: DeviceProgram,
                 devices: Sequence[Sequence[PjrtChip | FarChip]]):
        self.client, self.program = client, program
        self.devices = tuple(map(tuple, devices))
        self.members = tuple(chip for replicas in self.devices for chip in replicas)
        self.chips = tuple(chip for chip in self.members if isinstance(chip, PjrtChip))
        self.deleted = False
        self.facts: Any = None
        if len(self.members) != program.spmd.devices:
            raise PjrtError(ErrorCode.INVALID_ARGUMENT,
                            f"{program.name} must be given {program.spmd.devices} devices, "
                            f"not {len(self.members)}")

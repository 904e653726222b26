"""A compiled program in a device's memory, and on the host what the chip lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from celosia.compiled.arguments import check_count, decode, describe, encode, host_array
from celosia.compiled.description import Description
from celosia.compiled.observed import observer
from celosia.compiled.parts import Argument
from celosia.compiled.steps import ChipStep, HostStep
from celosia.driver import Device, DeviceArray, OutOfDeviceMemory, StaleHandle
from celosia.driver.copies import COPY_BYTES
from celosia.driver.device import DEFAULT_TIMEOUT
from celosia.graph import interpret
from celosia.graph.interpreter.kernels import Peer

__all__ = ["Executable", "Resident"]

_observe = observer()


class Resident:
    """An array of a graph's type that is in a device's memory; what `Executable.run` returns.

    It may be an argument of any executable of the same device; where it is in the right place
    already, as a training step's state is, nothing is copied, and from the memory of another
    executable the chip copies it. A result is there until its executable runs again; `keep` makes
    a copy that stays. `numpy.asarray` brings it to the host.

    Attributes
    ----------
    type, shape, dtype
        As the graph has it; ``dtype`` is NumPy's.
    handle
        As the chip has it.
    """

    def __init__(self, argument: Argument, handle: DeviceArray, owner: _LoadedStep | None):
        self._argument, self._owner = argument, owner
        self._run = owner.runs if owner else 0
        self.type, self.handle = argument.type, handle
        self.shape, self.dtype = argument.type.shape, argument.type.dtype.numpy

    def __repr__(self) -> str:
        return f"<{self._label()} {describe(self.dtype, self.shape)} on the device>"

    def _label(self) -> str:
        return self._argument.label or self._argument.name

    def check(self) -> None:
        """Raise StaleHandle if another run has taken the place of this one's results."""
        if self._owner and self._owner.runs != self._run:
            raise StaleHandle(f"{self._label()} of {self._owner.name} must be used before "
                              f"the next run, or kept: it has been overwritten")
        self.handle.check()

    def numpy(self) -> NDArray[Any]:
        """Return a copy on the host."""
        self.check()
        return decode(self.handle.numpy(), self.type)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("copy must not be False: the array is on a device")
        return self.numpy().astype(dtype or self.dtype, copy=False)

    def keep(self) -> Resident:
        """Return a copy on the device that no run overwrites, until it is freed."""
        self.check()
        device = self.handle._device
        return Resident(self._argument, device.put(device.get(self.handle)), None)

    def free(self) -> None:
        """Give the memory of a copy back; ValueError if this is a program's own."""
        self.handle.free()


@contextmanager
def _naming(step: ChipStep, name: str) -> Iterator[None]:
    """Name the largest tensors of a step where memory is too small."""
    try:
        yield
    except OutOfDeviceMemory as error:
        raise OutOfDeviceMemory(f"{error}\n  {step.largest_tensors(name)}") from None


class _LoadedStep:
    """A step of the chip in a device's memory; errors as of `Executable`."""

    def __init__(self, step: ChipStep, name: str, device: Device, arena: DeviceArray | None):
        self.name, self.device = name, device
        self.counters: Mapping[str, int] = {}
        self.runs = 0
        with _naming(step, name):
            self.loaded = device.load(step.program, arena)
        self.inputs = [(each, self.loaded.array(each.name)) for each in step.inputs]
        self.results = [(each, self.loaded.array(each.name)) for each in step.outputs]

    def run(self, values: Sequence[Any], timeout: int | None, peer: Peer | None = None
            ) -> list[Resident]:
        """Run on values of the graph's types: arrays, or residents of this device."""
        within = [self.copies(i, value) for i, value in enumerate(values)]
        # All of them before the first is written: one may be where another one goes.
        contents = self._contents([None if copied else value for value, copied
                                   in zip(values, within, strict=True)])
        self.runs += 1  # results of the run before may lie where arguments go
        copies = self._copy([(value.handle, handle) for (_, handle), value, copied
                             in zip(self.inputs, values, within, strict=True) if copied])
        for (_, handle), content in zip(self.inputs, contents, strict=True):
            if content is not None:
                self.device.put(content, into=handle)
            self.loaded.filled.add(handle.name)
        ran = self.device.run(self.loaded, outputs=(), timeout=timeout,
                              progress=None if peer is None else self._looking(peer))
        self.counters = _sum([*([copies] if copies else ()), ran.counters])
        return [Resident(argument, handle, self) for argument, handle in self.results]

    def _looking(self, peer: Peer) -> Callable[[int], None]:
        """Return what looks now and then whether another device has ended."""
        also = self.device.on_progress

        def look(cycles: int) -> None:
            peer.look()
            if also is not None:
                also(cycles)
        return look

    def given(self, index: int) -> Resident:
        """Return an argument of the last run, as the chip has it."""
        argument, handle = self.inputs[index]
        return Resident(argument, handle, self)

    def copies(self, index: int, value: Any) -> bool:
        """Return whether the chip itself can copy a value to where it wants an argument."""
        if not isinstance(value, Resident):
            return False
        source, handle, loaded = value.handle, self.inputs[index][1], self.loaded
        # What lies in the program's own memory may be where another argument goes.
        return (_apart(source, loaded.arena, loaded.program.arena_bytes)
                and (source.dtype, source.nbytes) == (handle.dtype, handle.nbytes)
                and source.nbytes % COPY_BYTES == 0)

    def _copy(self, pairs: Sequence[tuple[DeviceArray, DeviceArray]]) -> Mapping[str, int]:
        """Copy arrays; return the chip's counters of that."""
        try:
            return self.device.copy(pairs)
        except OutOfDeviceMemory:  # by the host, where there is no room for instructions
            for source, handle in pairs:
                self.device.put(self.device.get(source).reshape(handle.shape), into=handle)
            return {}

    def _contents(self, values: Sequence[Any]) -> list[NDArray[Any] | None]:
        """Return what to write into each buffer, None if it is there, or there is no value."""
        read: dict[int, Resident] = {}
        found: list[NDArray[Any] | None] = []
        for i, ((_, handle), value) in enumerate(zip(self.inputs, values, strict=True)):
            content = None
            if isinstance(value, Resident):
                if value.handle.address != handle.address:
                    value.check()
                    read[i] = value
            elif value is not None:
                content = encode(value, handle.dtype, handle.shape)
            found.append(content)
        raws = self.device.get_all([each.handle for each in read.values()])
        for (i, value), raw in zip(read.items(), raws, strict=True):
            handle = self.inputs[i][1]
            found[i] = encode(decode(raw, value.type), handle.dtype, handle.shape)
        return found


def _apart(array: DeviceArray, begin: int, nbytes: int) -> bool:
    """Return whether an array has none of some bytes of the device's memory."""
    return array.address + array.nbytes <= begin or begin + nbytes <= array.address


def _sum(counters: Sequence[Mapping[str, int]]) -> Mapping[str, int]:
    """Return counters of several steps, added up."""
    if len(counters) == 1:
        return counters[0]
    total = Counter({"cycles": 0})
    for each in counters:
        total.update(each)
    return total


class Executable:
    """A compiled program in a device's memory; made by `celosia.compiled.Compiled.load`.

    Code, constants and places stay from call to call. A context manager that frees itself.

    Attributes
    ----------
    compiled, device
        What was loaded, and where.
    counters
        Performance counters of the last run, see `celosia.arch.registers.counter_names`; those
        of several steps, and of the chip's copies of arguments to their places, are added up.
    runs
        Runs that were begun.

    Raises
    ------
    ValueError
        If the program is for another chip than the device's.
    OutOfDeviceMemory
        If it does not fit; the message names the largest tensors.
    """

    def __init__(self, compiled: Description, device: Device):
        compiled.check_config(device.config)
        self.compiled, self.device = compiled, device
        self.counters: Mapping[str, int] = {}
        self.runs = 0
        self._steps: list[tuple[_LoadedStep | HostStep, tuple[int, ...]]] = []
        #: What all its steps of the chip use, if it has several.
        self._arena: DeviceArray | None = None
        try:
            self._load([step for step in compiled.steps if isinstance(step, ChipStep)])
        except BaseException:
            self.free()
            raise
        #: The first step of the chip that takes a value, and which of its arguments that is.
        self._takers: dict[int, tuple[_LoadedStep, int]] = {}
        for step, takes in self._steps:
            if isinstance(step, _LoadedStep):
                for i, number in enumerate(takes):
                    self._takers.setdefault(number, (step, i))
        self._places = {self._takers[i][0].inputs[self._takers[i][1]][1].address
                        for i in range(len(compiled.inputs)) if i in self._takers}
        self._written = {handle.address for step, _ in self._steps
                         if isinstance(step, _LoadedStep) for _, handle in step.results}

    def _load(self, steps: Sequence[ChipStep]) -> None:
        compiled, device = self.compiled, self.device
        if len(steps) > 1:
            largest = max(steps, key=lambda step: step.program.arena_bytes)
            with _naming(largest, compiled.name):
                self._arena = device.put(np.zeros(compiled.arena_bytes, np.int8))
        for step in compiled.steps:
            ready = (_LoadedStep(step, compiled.name, device, self._arena)
                     if isinstance(step, ChipStep) else step)
            self._steps.append((ready, step.takes))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        if self.usable:
            self.free()

    def __repr__(self) -> str:
        return f"<{self.compiled.name} on {self.device.config.name}>"

    @property
    def usable(self) -> bool:
        """Whether it is in the memory of an open device still."""
        try:
            self._check()
        except StaleHandle:
            return False
        return True

    def _check(self) -> None:
        """Raise StaleHandle if it cannot be used any longer."""
        if self.device.closed:
            raise StaleHandle(f"{self.compiled.name} cannot be used: its device is closed")
        for step, _ in self._steps:
            if isinstance(step, _LoadedStep):
                step.loaded.check()

    @property
    def cycles(self) -> int:
        """Clock cycles of the last run."""
        return self.counters["cycles"]

    def __call__(self, *args: Any, timeout: int | None = DEFAULT_TIMEOUT,
                 peer: Peer | None = None) -> tuple[NDArray, ...]:
        """Run on arguments and return the results on the host; parameters as of `run`."""
        return tuple(each.numpy() if isinstance(each, Resident) else each
                     for each in self.run(*args, timeout=timeout, peer=peer))

    def run(self, *args: Any, timeout: int | None = DEFAULT_TIMEOUT,
            peer: Peer | None = None) -> tuple[Any, ...]:
        """Run on arguments and leave the results where they are: on the device, or the host.

        Parameters
        ----------
        args
            One for each parameter: arrays of NumPy or what NumPy makes them of, of exactly its
            type; numbers for scalars; or `Resident` arrays.
        timeout
            Cycles that the run of a step may take; None: no limit.
        peer
            The device among others that run the same program, which
            `celosia.collectives.HostInterconnect` has; for a program with collectives.

        Returns
        -------
        tuple
            A `Resident` for each result that the chip makes, an array for one of the host.

        Raises
        ------
        ValueError
            If number, shapes or types of arguments are wrong; nothing has been done then.
        ChipFault, RunTimeout
            As of `celosia.Device.run`; the executable can be used again.
        StaleHandle
            If an argument is not on the device any longer, or the executable was freed.
        """
        compiled = self.compiled
        self._check()
        check_count(compiled.name, compiled.inputs, len(args))
        values = [self._value(i, each) for i, each in enumerate(args)]
        self.runs += 1
        if _observe is not None:
            _observe(compiled)
        placed: dict[int, Resident] = {}  # what a step has taken, arrays of the host too
        for step, takes in self._steps:
            if isinstance(step, HostStep):
                taken = [np.asarray(values[number] if isinstance(values[number], np.ndarray)
                                    else placed.get(number, values[number])) for number in takes]
                values += map(np.asarray, interpret(step.graph, taken, peer=peer))
            else:
                values += step.run([placed.get(number, values[number]) for number in takes],
                                   timeout, peer)
                if self._arena is not None:
                    placed |= {number: step.given(i) for i, number in enumerate(takes)}
        self.counters = _sum([step.counters for step, _ in self._steps
                              if isinstance(step, _LoadedStep)])
        # Nobody else has a result of the host: it may be an argument, or given twice.
        return tuple([np.array(each) if isinstance(each, np.ndarray) else each
                      for each in [values[number] for number in compiled.gives]])

    def _value(self, index: int, value: Any) -> Any:
        """Return an argument as steps take it; the errors are of all that is wrong with it."""
        argument = self.compiled.inputs[index]
        # A step that runs may write over what the run before has left for a later one.
        if (not isinstance(value, Resident) or value.handle._device is not self.device
                or (len(self._steps) > 1 and not self.takes(index, value))):
            return host_array(self.compiled.name, index, argument, value)
        value.check()
        if value.type != argument.type:
            raise ValueError(
                f"argument {index} of {self.compiled.name}, {argument.label or argument.name}, "
                f"must be {describe(argument.type.dtype.numpy, argument.type.shape)}, "
                f"not {describe(value.dtype, value.shape)}")
        return value

    def has(self, index: int, value: Resident) -> bool:
        """Return whether an array is where the chip wants an argument: nothing is copied then."""
        if index not in self._takers:
            return False
        step, i = self._takers[index]
        return step.inputs[i][1].address == value.handle.address

    def takes(self, index: int, value: Resident) -> bool:
        """Return whether an array gets to the chip's argument without the host: in place, or by a
        copy within its memory.
        """
        if index not in self._takers or value.handle._device is not self.device:
            return False
        step, i = self._takers[index]
        # A step before that one may write over what is in the memory that all of them use.
        return self.has(index, value) or (
            (self._arena is None or _apart(value.handle, self._arena.address, self._arena.nbytes))
            and step.copies(i, value))

    def given(self, index: int) -> Resident | None:
        """Return an argument of the last run where the chip has it still, for the next one.

        None: there was none, it has written over it, or the host alone takes it.
        """
        if index not in self._takers or not self.runs:
            return None
        step, i = self._takers[index]
        return None if step.inputs[i][1].address in self._written else step.given(i)

    def is_state(self, result: Resident) -> bool:
        """Return whether a result is where a parameter was, for the next run."""
        return result.handle.address in self._places

    def free(self) -> None:
        """Give the device's memory back; StaleHandle if that was done before."""
        for step, _ in self._steps:
            if isinstance(step, _LoadedStep):
                step.loaded.free()
        if self._arena is not None:
            self._arena.free()

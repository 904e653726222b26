"""A chip as its user sees it: arrays, programs, runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from celosia.arch import registers
from celosia.arch.words import WORD_MASK
from celosia.driver.allocator import Allocator
from celosia.driver.chip import Chip
from celosia.driver.copies import COPY_BYTES, copy_program
from celosia.driver.discovery import differences, discover
from celosia.driver.errors import Divergence, StaleHandle
from celosia.driver.handles import DeviceArray, LoadedProgram
from celosia.driver.outcome import RunResult, error_of, located
from celosia.driver.status import DeviceStatus
from celosia.driver.transport import PodChip, Transport, read_memories
from celosia.program import DTYPES, Program

__all__ = ["DEFAULT_TIMEOUT", "Device"]

#: Cycles that a run may take unless it is told otherwise.
DEFAULT_TIMEOUT = 1_000_000_000
_MAX_TIMEOUT = WORD_MASK


def _dtype(dtype: DTypeLike) -> np.dtype:
    """Return a NumPy type that the chip has; "bfloat16" may be given by name."""
    made = DTYPES[dtype] if isinstance(dtype, str) and dtype in DTYPES else np.dtype(dtype)
    if made not in DTYPES.values():
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, not {str(made)!r}")
    return made


def _is_integer(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


class Device:
    """A chip behind a transport. Not safe for use from several threads at once.

    The chip is asked what it is and reset. Arrays and arenas of programs are placed from the
    beginning of external memory on, code from its end downwards.

    Parameters
    ----------
    transport
        The way to the chip; closed with the device.
    backend
        What to call it (`celosia.driver.status`).

    Attributes
    ----------
    on_progress
        Called now and then in each run, as ``progress`` of `run`; None: nothing is.

    Raises
    ------
    DeviceError
        If there is no chip that this driver can use.
    """

    def __init__(self, transport: Transport, backend: str = "other"):
        self.transport = transport
        self.closed = False
        #: Rises with every `reset`; handles remember it.
        self.epoch = 0
        self.config = discover(transport)
        self._chip = Chip(transport)
        self._memory = Allocator(min(transport.memory_bytes, registers.MOST_MEMORY))
        self._code: set[int] = set()
        self.on_progress: Callable[[int], None] | None = None
        self._counters: dict[str, int] = dict.fromkeys(registers.COUNTERS, 0)
        self._chip.reset()
        self._status = DeviceStatus(self.config, backend, self.memory_bytes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the transport; every handle becomes stale. Closing twice does nothing."""
        if not self.closed:
            self.closed = True
            self._status.close()
            self.transport.close()

    def reset(self) -> None:
        """Soft-reset the chip and forget all arrays and programs, whose handles become stale.

        External memory keeps its bytes, on-chip memories keep their rows.
        """
        self._open()
        self._chip.reset()
        self.epoch += 1
        self._memory = Allocator(min(self.transport.memory_bytes, registers.MOST_MEMORY))
        self._code.clear()

    def answered(self, requests: int) -> None:
        """Have ``celosia smi`` know that the last run answered so many requests."""
        self._status.answered(requests)

    @property
    def memory_bytes(self) -> int:
        """Bytes of external memory for arrays and programs."""
        return self._memory.size

    @property
    def free_bytes(self) -> int:
        """Bytes of external memory that are not in use."""
        return self._memory.free_bytes

    def alloc(self, shape: int | Iterable[int], dtype: DTypeLike) -> DeviceArray:
        """Reserve an array; its contents are whatever was there.

        Raises
        ------
        ValueError
            If the chip has no such type, or a size is negative or no integer.
        OutOfDeviceMemory
            If it does not fit.
        """
        self._open()
        made = _dtype(dtype)
        sizes = tuple(shape) if isinstance(shape, Iterable) else (shape,)
        if not all(_is_integer(size) for size in sizes):
            raise ValueError(f"shape must be an integer or hold integers, not {shape!r}")
        sizes = tuple(int(size) for size in sizes)
        if any(size < 0 for size in sizes):
            raise ValueError(f"shape must hold sizes of at least 0, not {shape!r}")
        nbytes = math.prod(sizes) * made.itemsize
        return DeviceArray(self, self._memory.allocate(nbytes), sizes, made)

    def free(self, handle: DeviceArray | LoadedProgram) -> None:
        """Give memory back. StaleHandle if the handle cannot be used, ValueError if the array is a
        buffer of a program.
        """
        self._mine(handle)
        if isinstance(handle, LoadedProgram):
            if not handle.shares:
                self._memory.free(handle.arena)
            self._memory.free(handle.code)
            self._code.discard(handle.code)
        elif handle.owner is not None:
            raise ValueError(f"{handle!r} is a buffer of {handle.owner!r} and must be freed with "
                             f"it, not alone")
        else:
            self._memory.free(handle.address)
        handle._freed = True

    def put(self, array: ArrayLike, into: DeviceArray | None = None) -> DeviceArray:
        """Copy an array into external memory: a new array, or ``into`` of its shape and type.

        Raises
        ------
        ValueError
            If the chip has no such type, or shape or type differ from those of ``into``.
        OutOfDeviceMemory
            If it does not fit.
        """
        self._open()
        host = np.asarray(array)
        _dtype(host.dtype)
        if into is None:
            into = self.alloc(host.shape, host.dtype)
        else:
            self._mine(into)
            if host.shape != into.shape or host.dtype != into.dtype:
                name = into.name or "array"
                raise ValueError(f"{name} must be {into.dtype}{list(into.shape)}, "
                                 f"not {host.dtype}{list(host.shape)}")
        if host.nbytes:
            raw = np.ascontiguousarray(host).reshape(-1).view(np.uint8)
            self.transport.write_memory(into.address, raw)
        if into.owner is not None:
            into.owner.filled.add(into.name)
        return into

    def get(self, handle: DeviceArray) -> NDArray:
        """Return a copy of an array on the host."""
        return self.get_all([handle])[0]

    def get_all(self, handles: Sequence[DeviceArray]) -> list[NDArray]:
        """Return copies of arrays on the host, in one message where the transport has any."""
        for each in handles:
            self._mine(each)
        full = [each for each in handles if each.nbytes]
        raws = iter(read_memories(self.transport, [(each.address, each.nbytes) for each in full]))
        return [np.require(next(raws), requirements=["C", "W"]).view(each.dtype).reshape(each.shape)
                if each.nbytes else np.empty(each.shape, each.dtype) for each in handles]

    def copy(self, pairs: Iterable[tuple[DeviceArray, DeviceArray]]) -> Mapping[str, int]:
        """Have the chip copy arrays: their contents do not cross the host.

        `counters` stay those of the last `run`.

        Parameters
        ----------
        pairs
            An array of whole words, and one of its type and size that becomes equal to it. None
            of the latter overlaps any of the former.

        Returns
        -------
        Mapping
            Performance counters of the copies; empty if there is nothing to copy.

        Raises
        ------
        ValueError
            If types or sizes differ, or an array ends within a word.
        OutOfDeviceMemory
            If there is no room for the instructions; nothing has been copied then.
        ChipFault
            As of `run`.
        """
        spans = []
        for source, into in pairs:
            self._mine(source)
            self._mine(into)
            if (source.dtype, source.nbytes) != (into.dtype, into.nbytes):
                raise ValueError(f"{into!r} must have the {source.nbytes} bytes of {source.dtype} "
                                 f"that {source!r} has")
            if source.nbytes % COPY_BYTES:
                raise ValueError(f"{source!r} must have a multiple of {COPY_BYTES} bytes to be "
                                 f"copied, not {source.nbytes}")
            if source.nbytes:
                spans.append((source.address, into.address, source.nbytes))
        if not spans:
            return {}
        counters = self._counters
        try:
            return self.run(copy_program(self.config, spans), timeout=None).counters
        finally:
            self._counters = counters

    def load(self, program: Program, arena: DeviceArray | None = None) -> LoadedProgram:
        """Place a program: its code relocated, its constants, zeros in the rest of its arena.

        Parameters
        ----------
        program
            What to place.
        arena
            The array that is its arena, for several programs of one memory: only constants are
            written there. None: an arena of its own.

        Raises
        ------
        ValueError
            If the program is for another chip, has no instructions, or needs a larger arena.
        OutOfDeviceMemory
            If it does not fit.
        """
        self._open()
        if not isinstance(program, Program):
            raise ValueError(f"program must be a Program, not {program!r}")
        name = program.name or "without a name"
        if program.fingerprint != self.config.fingerprint:
            raise ValueError(f"program {name} must be for this chip, {self.config.name}, not for "
                             f"{differences(program.fingerprint, self.config)}")
        if not program.insns:
            raise ValueError(f"program {name} must have an instruction")
        if arena is not None:
            self._mine(arena)
            if arena.nbytes < program.arena_bytes:
                raise ValueError(f"arena of program {name} must have {program.arena_bytes} bytes, "
                                 f"not {arena.nbytes}")
        at = self._memory.allocate(program.arena_bytes) if arena is None else arena.address
        try:
            code = program.code(at)
            place = self._memory.allocate(len(code), high=True)
        except Exception:
            if arena is None:
                self._memory.free(at)
            raise
        self._code.add(place)
        self.transport.write_memory(place, code)
        constants = {buffer: np.frombuffer(program.constants[buffer.name].tobytes(), np.uint8)
                     for buffer in program.buffers if buffer.kind == "constant"}
        if arena is not None:
            for buffer, raw in constants.items():
                if len(raw):
                    self.transport.write_memory(at + buffer.offset, raw)
        elif program.arena_bytes:
            image = np.zeros(program.arena_bytes, np.uint8)
            for buffer, raw in constants.items():
                image[buffer.offset:buffer.end] = raw
            self.transport.write_memory(at, image)
        return LoadedProgram(self, program, at, place, arena is not None)

    def run(self, program: LoadedProgram | Program,
            inputs: Mapping[str, ArrayLike | DeviceArray] | None = None, *,
            outputs: Iterable[str] | None = None, share: Iterable[DeviceArray] = (),
            timeout: int | None = DEFAULT_TIMEOUT,
            progress: Callable[[int], None] | None = None) -> RunResult:
        """Run a program to its end.

        The chip may read and write the program's arena and the arrays of ``share``, no other byte
        (a program without an arena: everything from the first to the last allocated array).

        Parameters
        ----------
        program
            Loaded, or not: then it is loaded, and freed when the run has ended.
        inputs
            Contents of input buffers by name. A loaded program's buffer that is left out keeps
            what was put there before; one that was never filled is an error.
        outputs
            Buffers of any kind to read back; None: those of kind "output".
        share
            Up to three arrays (four where the program has no arena) that the program also uses,
            by their addresses.
        timeout
            Cycles that the run may take, up to 2**32 - 1; None: no limit.
        progress
            Called now and then with the cycles so far; what it raises ends the run. None:
            ``on_progress``.

        Raises
        ------
        ValueError
            If an input is missing, unknown, or of another shape or type, or an argument is of the
            wrong kind.
        ChipFault
            If the chip stops at a fault. It has been reset; arrays and programs stay valid.
        RunTimeout
            If the run takes more cycles than ``timeout``. Likewise.
        """
        self._open()
        if timeout is not None:
            if not _is_integer(timeout) or not 1 <= timeout <= _MAX_TIMEOUT:
                raise ValueError(f"timeout must be None or from 1 to {_MAX_TIMEOUT} cycles, "
                                 f"not {timeout!r}")
            timeout = int(timeout)
        if inputs is not None and not isinstance(inputs, Mapping):
            raise ValueError(f"inputs must be None or map names of buffers to arrays, "
                             f"not {inputs!r}")
        if not isinstance(program, (LoadedProgram, Program)):
            raise ValueError(f"program must be a LoadedProgram or a Program, not {program!r}")
        if isinstance(program, Program):
            loaded = self.load(program)
            try:
                return self.run(loaded, inputs, outputs=outputs, share=share, timeout=timeout,
                                progress=progress)
            finally:
                if not self.closed:
                    self.free(loaded)
        self._mine(program)
        wanted = [b.name for b in program.program.outputs] if outputs is None else list(outputs)
        fetch = {name: program.array(name) for name in wanted}
        windows = self._windows(program, share)
        self._fill(program, inputs or {})
        self._status.begin(program.program, self.memory_bytes - self.free_bytes)
        try:
            if isinstance(self.transport, PodChip):
                self.transport.meets = program.program.talks
                self.transport.sources = program.program.sources
            self._chip.start(program.code, len(program.program.insns), windows, timeout or 0)
            margin = None if timeout is None else timeout + timeout // 8 + 10_000
            self.transport.wait_interrupt(margin, self._told(progress or self.on_progress))
            error = error_of(self._chip, program, self.config, timeout)
            self._counters = self._chip.counters()
            self._chip.write("IRQ_STATUS", 1)
            if error is not None:
                raise error
        except BaseException as error:  # an interrupt from the keyboard too: the chip is idle then
            self._status.failed(error)
            self._chip.reset()
            if isinstance(error, Divergence):
                raise located(error, program) from None
            raise
        self._status.end(self._counters, self.transport.links if isinstance(
            self.transport, PodChip) else None)
        return RunResult(dict(zip(fetch, self.get_all([*fetch.values()]), strict=True)),
                         self.counters())

    def _told(self, progress: Callable[[int], None] | None) -> Callable[[int], None]:
        """Return what is called with the cycles so far, and calls ``progress``."""
        def told(cycles: int) -> None:
            self._status.progress(cycles)
            if progress is not None:
                progress(cycles)
        return told

    def counters(self) -> dict[str, int]:
        """Return the performance counters of the last run."""
        return dict(self._counters)

    def _fill(self, loaded: LoadedProgram, inputs: Mapping[str, ArrayLike | DeviceArray]) -> None:
        names = [buffer.name for buffer in loaded.program.inputs]
        for name, value in inputs.items():
            if name not in names:
                raise ValueError(f"inputs must be named {', '.join(names) or '(there are none)'}, "
                                 f"not {name!r}")
            host = self.get(value) if isinstance(value, DeviceArray) else value
            self.put(host, into=loaded.array(name))
        if missing := [name for name in names if name not in loaded.filled]:
            raise ValueError(f"inputs must hold {', '.join(missing)}, which were never filled")

    def _windows(self, loaded: LoadedProgram,
                 share: Iterable[DeviceArray]) -> list[tuple[int, int]]:
        """Return first and last byte of each window to open."""
        spans = []
        if loaded.program.arena_bytes:
            spans.append((loaded.arena, loaded.arena + loaded.program.arena_bytes - 1))
        for handle in share:
            self._mine(handle)
            if handle.nbytes:
                spans.append((handle.address, handle.address + handle.nbytes - 1))
        if not spans:
            floor = min(self._code)
            ends = [end for begin, end in self._memory.blocks.items() if begin < floor]
            spans = [(0, max(ends) - 1)]
        if len(spans) > registers.NUM_WINDOWS:
            own = int(loaded.program.arena_bytes > 0)
            raise ValueError(f"share must hold at most {registers.NUM_WINDOWS - own} arrays, "
                             f"not {len(spans) - own}")
        return spans

    def _open(self) -> None:
        if self.closed:
            raise StaleHandle("the device cannot be used: it is closed")

    def _mine(self, handle: DeviceArray | LoadedProgram) -> None:
        if not isinstance(handle, (DeviceArray, LoadedProgram)):
            raise ValueError(f"handle must be a DeviceArray or a LoadedProgram, not {handle!r}")
        if handle._device is not self:
            raise ValueError(f"{handle!r} must be used on its own device, not on another")
        handle.check()

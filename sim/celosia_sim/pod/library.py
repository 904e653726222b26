"""Chips of this process and the links between them, in C++: its build, and its interface, typed."""

from __future__ import annotations

import ctypes
import enum
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from celosia.storage import builds, compiler
from celosia_sim.build import FLAGS, HARNESS, compile_all, link, tool_identity
from celosia_sim.library import StateWay
from celosia_sim.pod.options import End, PodOptions

__all__ = ["PodLibrary", "PodStop", "build_pod"]

_FOLDER = Path(__file__).parent
_SOURCES = [*(_FOLDER / name for name in ("pod.cpp", "crew.h", "line.h", "wire.h")),
            HARNESS / "state.h"]
#: Functions of a chip's library, in the order of ChipFunctions in pod.cpp.
_OF_CHIPS = ("pass", "begin_write", "begin_read", "end_access", "interrupt")
#: Cycles in which a register is read or written.
_ACCESS_CYCLES = 16
_u64 = ctypes.c_uint64


class PodStop(enum.IntEnum):
    """Why time has stopped: the cycles have passed, or they never will."""

    CYCLES = 0
    VIOLATION = 2
    GONE = 4
    SILENT = 5


class _Options(ctypes.Structure):
    """PodOptions in pod.cpp."""

    _fields_ = [
        ("chips", ctypes.c_void_p), *((name, _u64) for name in (
            "count", "first", "ports", "link_bytes", "least", "window", "threads", "seed")),
        ("errors", ctypes.c_double), ("patience", ctypes.c_double), ("peers", ctypes.c_void_p),
        ("latencies", ctypes.c_void_p),
        ("crossings", _u64), ("wires", _u64),
        *((name, ctypes.c_void_p) for name in ("crossing_end", "crossing_wire", "fds"))]


_FUNCTIONS: dict[str, tuple[object, tuple[object, ...]]] = {
    "new": (ctypes.c_void_p, (ctypes.c_void_p, ctypes.POINTER(_Options))),
    "free": (None, (ctypes.c_void_p,)),
    "access": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_int,
                              _u64)),
    "advance": (ctypes.c_int, (ctypes.c_void_p, _u64)),
    "interrupts": (ctypes.c_int, (ctypes.c_void_p,)),
    "gone": (ctypes.c_int, (ctypes.c_void_p,)),
    "state": (ctypes.c_int64, (ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, _u64)),
    "hashes": (None, (ctypes.c_void_p, ctypes.c_void_p)),
}


def build_pod() -> Path:
    """Compile the library, or find it in the cache; it is one for all chips.

    Raises
    ------
    celosia.storage.ToolchainError
        If the compiler is missing or fails.
    """
    key = builds.digest({**tool_identity(), "sources": [each.read_text() for each in _SOURCES]})

    def make(folder: Path) -> None:
        work = folder / "work"
        work.mkdir()
        objects = compile_all([(_SOURCES[0], FLAGS.fast)], work,
                              [*compiler().flags, *FLAGS.cxx, f"-I{HARNESS}"])
        link(folder / "pod.so", objects, work / "link.log")
        shutil.rmtree(work)

    return builds.entry("pod", key, make) / "pod.so"


class PodLibrary:
    """Chips of this process, the links between them and those that lead out of it.

    Time passes for all of them together.

    Parameters
    ----------
    library
        Of the chips.
    handles
        The chips, as that library knows them.
    chips
        Their numbers.
    shape
        Ports of a chip, and bytes of a word of a link.
    links
        For an end, a chip and its port, the other one.
    options
        Of the pod.
    wires
        The chips of each neighbour, and a socket to it.
    """

    def __init__(self, library: ctypes.CDLL, handles: Sequence[int], chips: range,
                 shape: tuple[int, int], links: Mapping[End, End], options: PodOptions,
                 wires: Sequence[tuple[range, int]] = ()):
        path = build_pod()
        self._library = ctypes.CDLL(str(path))
        self._call = {}
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(self._library, f"pod_{name}")
            function.restype, function.argtypes = result, arguments
            self._call[name] = function
        functions = (ctypes.c_void_p * len(_OF_CHIPS))(*(
            ctypes.cast(getattr(library, f"celosia_{name}"), ctypes.c_void_p).value
            for name in _OF_CHIPS))
        ports, link_bytes = shape
        self._chips, self._ends = len(chips), (len(chips), ports)
        peers, crossings = _peers(chips, ports, links, [each for each, _ in wires])
        window, threads = options.turns(len(chips), links)
        known = options.latencies(links)
        least = min(known.values(), default=window)
        ends = [divmod(end, ports) for end in (
            *range(len(peers)), *(end for end, _ in crossings))]
        # C++ keeps the pointers as long as there is a pod.
        self._kept = [
            (ctypes.c_void_p * len(chips))(*handles), peers,
            np.array([known.get((chips.start + chip, port), least) for chip, port in ends],
                     np.uint64),
            np.array([end for end, _ in crossings], np.int32),
            np.array([wire for _, wire in crossings], np.int32),
            np.array([fd for _, fd in wires], np.int32)]
        handles_at, peers_at, latencies_at, ends_at, wires_at, fds_at = (
            ctypes.addressof(each) if isinstance(each, ctypes.Array) else each.ctypes.data
            for each in self._kept)
        made = _Options(handles_at, len(chips), chips.start, ports, link_bytes, least,
                        window, threads, options.seed, options.errors, options.patience, peers_at,
                        latencies_at, len(crossings), len(wires), ends_at, wires_at, fds_at)
        self._pod: int | None = self._call["new"](ctypes.addressof(functions), ctypes.byref(made))

    def close(self) -> None:
        """Free it, but not the chips; closing twice does nothing."""
        if self._pod is not None:
            self._call["free"](self._pod)
            self._pod = None

    def access(self, offset: int, values: Sequence[int] | None) -> tuple[PodStop, int, list[int]]:
        """Read a register of each chip, or write it, in the same cycle.

        Returns
        -------
        stop
            Whether time could pass.
        response
            The worst one; 0: OKAY.
        values
            What was read, or written.
        """
        words = np.zeros(self._chips, np.uint32) if values is None else np.array(values, np.uint32)
        found = self._call["access"](self._pod, offset, words.ctypes.data, values is not None,
                                     _ACCESS_CYCLES)
        stop = PodStop(-1 - found) if found < -2 else PodStop.CYCLES
        return stop, found, words.tolist()

    def advance(self, cycles: int) -> PodStop:
        """Let cycles pass."""
        return PodStop(self._call["advance"](self._pod, cycles))

    @property
    def interrupts(self) -> bool:
        """Whether the interrupts of all chips are high."""
        return bool(self._call["interrupts"](self._pod))

    @property
    def gone(self) -> int:
        """The number of the neighbour that does not answer, or -1."""
        return self._call["gone"](self._pod)

    def save(self) -> tuple[PodStop, NDArray[np.uint8]]:
        """Return all that is on the links, and when, but not the chips."""
        size = self._call["state"](self._pod, StateWay.COUNT, None, 0)
        if size < 0:
            return PodStop(-size), np.empty(0, np.uint8)
        data = np.empty(size, np.uint8)
        self._call["state"](self._pod, StateWay.SAVE, data.ctypes.data, size)
        return PodStop.CYCLES, data

    def load(self, data: NDArray[np.uint8]) -> None:
        """Make them what they were when they were saved; ValueError if it is not of such links."""
        if not self._call["state"](self._pod, StateWay.LOAD, data.ctypes.data, data.size):
            raise ValueError(f"a state must be of such links, not these {data.size} bytes")

    def hashes(self) -> NDArray[np.uint64]:
        """Return a hash of all that each port has ever sent, and of when: (chips, ports)."""
        hashes = np.zeros(self._ends, np.uint64)
        self._call["hashes"](self._pod, hashes.ctypes.data)
        return hashes


def _peers(chips: range, ports: int, links: Mapping[End, End],
           neighbours: Sequence[range]) -> tuple[NDArray[np.int32], list[tuple[int, int]]]:
    """Return of each end the other one, as pod.cpp numbers them, and of each link that leaves this
    process our end and the neighbour that it leads to.
    """
    peers = np.full(len(chips) * ports, -1, np.int32)
    crossings: list[tuple[int, int]] = []
    both = sorted({tuple(sorted((a, b))) for a, b in links.items()})  # neighbours agree on it
    for a, b in both:
        for (chip, port), (other, at) in ((a, b), (b, a)):
            if chip not in chips:
                continue
            end = (chip - chips.start) * ports + port
            if other in chips:
                peers[end] = (other - chips.start) * ports + at
                continue
            [wire] = (i for i, each in enumerate(neighbours) if other in each)
            peers[end] = -2 - len(crossings)
            crossings.append((end, wire))
    return peers, crossings

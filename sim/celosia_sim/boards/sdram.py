"""SDR SDRAM parts as their data sheets state them, and the model that holds a user to them."""

from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celosia.storage import builds
from celosia_sim.build import FLAGS, base_flags, compile_all, link, tool_identity

__all__ = ["PARTS", "SDRAM_SOURCES", "SdramCounts", "SdramModel", "SdramPart", "SdramReport",
           "Violation", "build_sdram", "declare_sdram", "strictest", "structure"]

_FOLDER = Path(__file__).parent
#: The model, in C++.
SDRAM_SOURCES = tuple(_FOLDER / name for name in (
    "sdram.h", "sdram_commands.h", "sdram_pins.h", "sdram_api.cpp"))


@dataclass(frozen=True)
class SdramPart:
    """A part of four banks of 16-bit words. Times are picoseconds, counts clock cycles; where a
    rule has both, both hold. Field by field the structure of the same name in sdram.h.

    Parameters
    ----------
    row_bits, column_bits
        Of an address.
    t_ck2, t_ck3
        Shortest clock period at a CAS latency of 2 and of 3.
    t_ch, t_cl
        Shortest high and low time of the clock.
    t_is, t_ih
        Set-up and hold time of every input.
    t_ac2, t_ac3
        Clock edge to valid data, by latency.
    t_oh
        Clock edge to the end of valid data.
    t_hz2, t_hz3
        Clock edge to released data, by latency.
    t_rcd, t_rp, t_ras, t_ras_max, t_rc, t_rfc, t_rrd, t_mrd, t_wr, n_rrd, n_mrd, n_wr
        As every data sheet calls them.
    t_ref, n_ref
        Every ``t_ref`` there must be ``n_ref`` refreshes.
    t_init, n_init
        Pause after power-up, and refreshes before the first use.
    """

    row_bits: int
    column_bits: int
    t_ck2: int
    t_ck3: int
    t_ch: int
    t_cl: int
    t_is: int
    t_ih: int
    t_ac2: int
    t_ac3: int
    t_oh: int
    t_hz2: int
    t_hz3: int
    t_rcd: int
    t_rp: int
    t_ras: int
    t_ras_max: int
    t_rc: int
    t_rfc: int
    t_rrd: int
    t_mrd: int
    t_wr: int
    n_rrd: int
    n_mrd: int
    n_wr: int
    t_ref: int = 64_000_000_000
    n_ref: int = 8192
    t_init: int = 200_000_000
    n_init: int = 8

    @property
    def bytes(self) -> int:
        """What the part holds."""
        return 2 * 4 << self.row_bits + self.column_bits


#: The parts of 32 MiB that ULX3S boards carry, by name.
PARTS: dict[str, SdramPart] = {
    "W9825G6KH-6": SdramPart(
        13, 9, t_ck2=7_500, t_ck3=6_000, t_ch=2_000, t_cl=2_000, t_is=1_500, t_ih=800,
        t_ac2=6_000, t_ac3=5_000, t_oh=3_000, t_hz2=6_000, t_hz3=5_000, t_rcd=15_000, t_rp=15_000,
        t_ras=42_000, t_ras_max=100_000_000, t_rc=60_000, t_rfc=60_000, t_rrd=12_000, t_mrd=0,
        t_wr=0, n_rrd=2, n_mrd=2, n_wr=2),
    "IS42S16160G-7": SdramPart(
        13, 9, t_ck2=10_000, t_ck3=7_000, t_ch=2_500, t_cl=2_500, t_is=1_500, t_ih=800,
        t_ac2=5_400, t_ac3=5_400, t_oh=2_500, t_hz2=5_400, t_hz3=5_400, t_rcd=15_000, t_rp=15_000,
        t_ras=37_000, t_ras_max=100_000_000, t_rc=60_000, t_rfc=60_000, t_rrd=14_000, t_mrd=14_000,
        t_wr=14_000, n_rrd=1, n_mrd=2, n_wr=2),
    "AS4C16M16SA-6": SdramPart(
        13, 9, t_ck2=10_000, t_ck3=6_000, t_ch=2_000, t_cl=2_000, t_is=1_500, t_ih=800,
        t_ac2=6_000, t_ac3=5_000, t_oh=2_500, t_hz2=5_000, t_hz3=5_000, t_rcd=18_000, t_rp=18_000,
        t_ras=42_000, t_ras_max=120_000_000, t_rc=60_000, t_rfc=60_000, t_rrd=12_000, t_mrd=12_000,
        t_wr=12_000, n_rrd=1, n_mrd=1, n_wr=1),
    "MT48LC16M16A2-75": SdramPart(
        13, 9, t_ck2=10_000, t_ck3=7_500, t_ch=2_500, t_cl=2_500, t_is=1_500, t_ih=800,
        t_ac2=6_000, t_ac3=5_400, t_oh=2_700, t_hz2=6_000, t_hz3=5_400, t_rcd=20_000, t_rp=20_000,
        t_ras=44_000, t_ras_max=120_000_000, t_rc=66_000, t_rfc=66_000, t_rrd=15_000, t_mrd=0,
        t_wr=15_000, n_rrd=1, n_mrd=2, n_wr=1, t_init=100_000_000, n_init=2),
}
#: Rules of which the smallest value is the strictest.
_SMALLEST = ("row_bits", "column_bits", "t_oh", "t_ras_max", "t_ref")


def strictest(*parts: SdramPart) -> SdramPart:
    """Return a part that forbids what any of these forbids."""
    return SdramPart(**{
        field.name: (min if field.name in _SMALLEST else max)(
            getattr(part, field.name) for part in parts)
        for field in dataclasses.fields(SdramPart)})


class _Structure(ctypes.Structure):
    _fields_ = [(field.name, ctypes.c_int64) for field in dataclasses.fields(SdramPart)]


@dataclass(frozen=True)
class Violation:
    """A rule of the data sheet that was broken.

    Attributes
    ----------
    time
        Picoseconds since power-up.
    rule
        What the data sheet calls it.
    text
        All of it, in words.
    """

    time: int
    rule: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class SdramCounts:
    """Commands that a part has had."""

    activates: int
    reads: int
    writes: int
    refreshes: int


_FUNCTIONS: dict[str, tuple[object, tuple[object, ...]]] = {
    "new": (ctypes.c_void_p, (ctypes.POINTER(_Structure),)),
    "free": (None, (ctypes.c_void_p,)),
    "pins": (None, (ctypes.c_void_p, ctypes.c_int64, *6 * (ctypes.c_uint32,))),
    "idle": (None, (ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint64,
                    ctypes.c_uint32, ctypes.c_uint32)),
    "dq": (ctypes.c_uint32, (ctypes.c_void_p, ctypes.c_int64, ctypes.POINTER(ctypes.c_uint32))),
    "finish": (None, (ctypes.c_void_p, ctypes.c_int64)),
    "violations": (ctypes.c_uint64, (ctypes.c_void_p,)),
    "violation_time": (ctypes.c_int64, (ctypes.c_void_p, ctypes.c_uint64)),
    "violation_rule": (ctypes.c_char_p, (ctypes.c_void_p, ctypes.c_uint64)),
    "violation_text": (ctypes.c_char_p, (ctypes.c_void_p, ctypes.c_uint64)),
    "counts": (None, (ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64))),
}


def structure(part: SdramPart) -> Any:
    """Return a part as the argument that the C interface wants."""
    return _Structure(**dataclasses.asdict(part))


def declare_sdram(library: ctypes.CDLL) -> dict[str, Callable[..., Any]]:
    """Return the functions of the model in a library that holds it, typed."""
    functions = {}
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, f"sdram_{name}")
        function.restype, function.argtypes = result, arguments
        functions[name] = function
    return functions


def build_sdram() -> Path:
    """Compile the model by itself, or find it in the cache; return the shared library.

    Raises
    ------
    celosia.storage.ToolchainError
        If there is no compiler, or it fails.
    """
    key = builds.digest({**tool_identity(),
                         "sources": [path.read_text() for path in SDRAM_SOURCES]})

    def make(folder: Path) -> None:
        objects = compile_all([(SDRAM_SOURCES[-1], FLAGS.fast)], folder, base_flags(""))
        link(folder / "sdram.so", objects, folder / "link.log")

    return builds.entry("sdram", key, make) / "sdram.so"


class SdramReport:
    """What a model has recorded.

    Parameters
    ----------
    functions
        Of `declare_sdram`.
    handle
        The model.
    """

    def __init__(self, functions: dict[str, Callable[..., Any]], handle: int):
        self._functions, self._handle = functions, handle

    @property
    def violations(self) -> list[Violation]:
        """Every rule that was broken so far, the first thousand times."""
        call, handle = self._functions, self._handle
        return [Violation(call["violation_time"](handle, i),
                          call["violation_rule"](handle, i).decode(),
                          call["violation_text"](handle, i).decode())
                for i in range(call["violations"](handle))]

    @property
    def counts(self) -> SdramCounts:
        """Commands so far."""
        into = (ctypes.c_uint64 * 4)()
        self._functions["counts"](self._handle, into)
        return SdramCounts(*into)


class SdramModel(SdramReport):
    """A part by itself, driven at its pins.

    Parameters
    ----------
    part
        Its data sheet.
    """

    def __init__(self, part: SdramPart):
        functions = declare_sdram(ctypes.CDLL(str(build_sdram())))
        super().__init__(functions, functions["new"](structure(part)))

    def pins(self, now: int, levels: int, ba: int = 0, a: int = 0, dqm: int = 0, dq: int = 0,
             drive: int = 0) -> None:
        """Set the pins from ``now`` on.

        ``levels`` are clk, cke, cs_n, ras_n, cas_n and we_n from the lowest bit on; ``drive`` are
        the bits of ``dq`` that are driven.
        """
        self._functions["pins"](self._handle, now, levels, ba, a, dqm, dq, drive)

    def idle(self, now: int, period: int, cycles: int, levels: int, dqm: int = 0) -> None:
        """Run cycles from ``now`` on in which nothing but the clock changes."""
        self._functions["idle"](self._handle, now, period, cycles, levels, dqm)

    def dq(self, when: int) -> tuple[int, int]:
        """Return the data at ``when``, and the bits of them that the part drives."""
        driven = ctypes.c_uint32()
        return self._functions["dq"](self._handle, when, ctypes.byref(driven)), driven.value

    def finish(self, now: int) -> None:
        """Check what is else checked with the next command."""
        self._functions["finish"](self._handle, now)

    def close(self) -> None:
        """Free the part."""
        self._functions["free"](self._handle)

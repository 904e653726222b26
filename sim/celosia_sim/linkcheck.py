"""Both ends of a link, and lines between them that garble: what goes in comes out, once, in order.

    python -m celosia_sim.linkcheck --frames 1000000

simulates two Verilated ends of a link (`celosia_hw.ici.layer`), messages of random lengths in both
directions, random pauses at all four ends of them, latencies from 1 to 300 and bit errors.
"""

from __future__ import annotations

import argparse
import ctypes
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from celosia.arch.config import TpuConfig, preset
from celosia.arch.ici import SHORT_FRAMES
from celosia_sim.module import build_module, port_names

__all__ = ["LinkRun", "build_layer", "main", "run_link"]

_FOLDER = Path(__file__).parent
_SOURCES = (_FOLDER / "linkcheck.cpp", _FOLDER / "pod" / "line.h",
            _FOLDER / "harness" / "state.h")
_TOP, _PREFIX = "layer", "Vlayer"
#: Frames from one draw of latencies and pauses to the next one.
_PART = 25_000
_MOST_LATENCY = 300


@dataclass(frozen=True)
class LinkRun:
    """What came of a run.

    Attributes
    ----------
    frames, words
        That came whole, and that came out: all of them right.
    cycles
        Of the clock.
    resent, garbled
        Frames that were sent again, and that were not whole.
    """

    frames: int = 0
    words: int = 0
    cycles: int = 0
    resent: int = 0
    garbled: int = 0


def build_layer(config: TpuConfig) -> Path:
    """Compile an end of a link, or find it in the cache; return the shared library.

    Raises
    ------
    celosia.storage.ToolchainError
        If Verilator or the compiler is missing or fails.
    """
    from amaranth.back import verilog

    from celosia_hw.ici.layer import LinkLayer

    text = verilog.convert(LinkLayer(config), name=_TOP)
    sizes = ", ".join(map(str, SHORT_FRAMES))
    config_text = f"{port_names(text)}constexpr uint64_t SHORT_MESSAGES[] = {{{sizes}}};\n"
    return build_module("layer", text, _SOURCES, config_text, top=_TOP, prefix=_PREFIX)


def run_link(path: Path, frames: int, seed: int, errors: float) -> LinkRun:
    """Send messages both ways until so many frames have come; latencies and pauses are drawn.

    Raises
    ------
    AssertionError
        If a word comes that was not sent, is not the next one, or never does.
    """
    library = ctypes.CDLL(str(path))
    call = library.linkcheck_run
    call.argtypes = (*[ctypes.c_uint64] * 4, ctypes.c_double, ctypes.c_double, ctypes.c_void_p)
    drawn = random.Random(seed)
    latencies = drawn.randint(1, _MOST_LATENCY), drawn.randint(1, _MOST_LATENCY)
    rate = drawn.choice([0, .05, .3, .6])
    found = (ctypes.c_uint64 * 6)()
    state = call(seed, frames, *latencies, rate, errors, ctypes.addressof(found))
    how = f"seed {seed}, latencies {latencies}, pauses {rate}"
    assert state != 1, f"word {found[5]} must be that which was sent, but it is another one: {how}"
    assert state != 2, f"words must come after {found[2]} cycles, but there are {found[1]}: {how}"
    return LinkRun(*found[:5])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return 0."""
    parser = argparse.ArgumentParser(prog="python -m celosia_sim.linkcheck", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=100_000, help="(default: 100,000)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default: 0)")
    parser.add_argument("--errors", type=float, default=1e-4,
                        help="chance that a bit on a line is turned (default: 1e-4)")
    parser.add_argument("--preset", default="nano", help="chip whose link it is")
    args = parser.parse_args(argv)
    path = build_layer(preset(args.preset))
    begin, total, seed = time.monotonic(), LinkRun(), args.first
    while total.frames < args.frames:
        found = run_link(path, min(_PART, args.frames - total.frames), seed, args.errors)
        total = LinkRun(*(getattr(total, name) + getattr(found, name)
                          for name in LinkRun.__dataclass_fields__))
        seed += 1
        print(f"\r{total.frames:,} frames, {total.cycles / (time.monotonic() - begin):,.0f} cycles "
              "a second", end="", file=sys.stderr, flush=True)
    print(f"{total.frames:,} frames, {total.words:,} words in {total.cycles:,} cycles; "
          f"{total.garbled:,} garbled, {total.resent:,} sent again: none lost, doubled or out of "
          "order", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

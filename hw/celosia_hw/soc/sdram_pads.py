"""When the words of an SDRAM are at the flip-flops of its pads."""

from dataclasses import dataclass

from celosia_hw.soc.sdram_timing import SdramTiming

__all__ = ["PHASES", "SdramPads", "sdram_pads"]

#: From a clock edge through an output pad, the tracks, an input pad and its flip-flop's setup, in
#: ns, at least and at most: an ECP5-6 with fast pads. Estimates; no data sheet states the sum.
_ROUND_TRIP = (3.0, 6.5)
#: Of an input of the device around its clock, and what outputs may differ by, in ns.
_SETUP, _HOLD, _SKEW = 1.5, 0.8, 0.5
#: Parts of a cycle that phases are given in.
PHASES = 8


@dataclass(frozen=True)
class SdramPads:
    """How an SDRAM is clocked.

    Parameters
    ----------
    phase
        Its clock rises so many of the `PHASES` parts of a cycle after the system clock.
    cycles
        That the pads, with a flip-flop each way, add to a read.
    margin
        What the tightest of all times has to spare, in ns.
    """

    phase: int
    cycles: int
    margin: float


def sdram_pads(timing: SdramTiming, clock_hz: int) -> SdramPads:
    """Return what leaves most time to spare.

    With the device's clock ``phase`` after that of the system, a word is at a flip-flop of the
    system from ``phase + ac`` on until ``phase + oh`` after the next edge, later by what the pads
    take, and an edge must be in that time; what the system sends must be at the device ``_SETUP``
    before the clock there, and ``_HOLD`` after it.

    Raises
    ------
    ValueError
        If nothing is left.
    """
    period = 1e9 / clock_hz
    least, most = _ROUND_TRIP

    def spare(eighths: int, cycles: int) -> float:
        rises, edge = eighths / PHASES * period, cycles * period
        return min(edge - (rises + timing.ac + most), rises + period + timing.oh + least - edge,
                   rises - _SETUP - _SKEW, period - rises - _HOLD - _SKEW)

    margin, phase, cycles = max((spare(eighths, cycles), eighths, cycles)
                                for eighths in range(1, PHASES) for cycles in (1, 2))
    if margin < 0:
        raise ValueError(f"clock_hz of an SDRAM at these pads must leave time for its data, not "
                         f"{clock_hz!r}, where {-margin:.1f} ns are missing")
    return SdramPads(phase, cycles, margin)

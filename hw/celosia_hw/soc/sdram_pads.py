"""When the words of an SDRAM are at the flip-flops of its pads."""

from celosia_hw.soc.sdram_timing import SdramTiming

__all__ = ["pad_cycles"]

#: From a clock edge through an output pad, the tracks, an input pad and its flip-flop's setup, in
#: ns, at least and at most: an ECP5-6 with fast pads. Estimates; no data sheet states the sum.
_ROUND_TRIP = (3.0, 6.5)


def pad_cycles(timing: SdramTiming, clock_hz: int) -> int:
    """Return the cycles that pads with a flip-flop each way add to a read.

    The clock of the device is the system clock inverted. So a word is there between half a cycle
    and ``ac`` after one edge and half a cycle and ``oh`` after the next, later by what the pads
    take; the flip-flop needs a clock edge in that time.

    Returns
    -------
    int
        2; or 1 where a cycle is so long that the word is there an edge earlier.

    Raises
    ------
    ValueError
        If no edge is in that time.
    """
    period = 1e9 / clock_hz
    least, most = _ROUND_TRIP
    slow, early, late = (2 * (timing.ac + most), (timing.ac + most) / 1.5, 2 * (timing.oh + least))
    if period >= slow:
        return 1
    if early <= period <= late:
        return 2
    raise ValueError(f"clock_hz of an SDRAM at these pads must be from {1e9 / late:.0f} to "
                     f"{1e9 / early:.0f}, or at most {1e9 / slow:.0f}, not {clock_hz!r}")

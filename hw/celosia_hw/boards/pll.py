"""Frequencies that the clock generators of the FPGAs reach, and the parameters for them."""

from collections.abc import Iterator
from dataclasses import dataclass

from celosia.arch.board import FamilyName

__all__ = ["Pll", "PllLimits", "LIMITS", "pll"]

_MHZ = 1e6


@dataclass(frozen=True)
class PllLimits:
    """Ranges of a clock generator, in Hz, with the data sheet as source."""

    primitive: str
    detector: tuple[float, float]
    vco: tuple[float, float]
    inputs: tuple[int, int]
    feedbacks: tuple[int, int]
    outputs: tuple[int, ...]
    #: The feedback is taken behind the output divider.
    feedback_is_output: bool
    source: str


@dataclass(frozen=True)
class Pll:
    """A setting: ``clock_hz / input * feedback`` is the output, or the VCO (`PllLimits`)."""

    primitive: str
    clock_hz: int
    input: int
    feedback: int
    output: int
    vco_hz: float
    freq_hz: float


LIMITS: dict[str, PllLimits] = {
    "ecp5": PllLimits(
        "EHXPLLL", (3.125 * _MHZ, 400 * _MHZ), (400 * _MHZ, 800 * _MHZ), (1, 128), (1, 80),
        tuple(range(1, 129)), True, "Lattice FPGA-DS-02012, sysCLOCK PLL timing"),
    "GW2A-18": PllLimits(
        "rPLL", (3 * _MHZ, 500 * _MHZ), (500 * _MHZ, 1250 * _MHZ), (1, 64), (1, 64),
        (2, 4, 8, 16, 32, 48, 64, 80, 96, 112, 128), True, "Gowin DS102, PLL"),
    "xilinx7": PllLimits(
        "PLLE2_BASE", (19 * _MHZ, 450 * _MHZ), (800 * _MHZ, 1600 * _MHZ), (1, 56), (2, 64),
        tuple(range(1, 129)), False, "AMD DS181, PLL specification, speed -1"),
}


def _settings(limits: PllLimits, clock_hz: int, freq_hz: int) -> Iterator[Pll]:
    for divide in range(limits.inputs[0], limits.inputs[1] + 1):
        detector = clock_hz / divide
        if not limits.detector[0] <= detector <= limits.detector[1]:
            continue
        for output in limits.outputs:
            # The feedbacks on both sides of the wish; one of them is the nearest.
            ideal = freq_hz / detector * (1 if limits.feedback_is_output else output)
            for feedback in {int(ideal), int(ideal) + 1}:
                if not limits.feedbacks[0] <= feedback <= limits.feedbacks[1]:
                    continue
                found = detector * feedback
                vco = found * output if limits.feedback_is_output else found
                if limits.vco[0] <= vco <= limits.vco[1]:
                    yield Pll(limits.primitive, clock_hz, divide, feedback, output, vco,
                              found if limits.feedback_is_output else found / output)


def pll(family: FamilyName, series: str, clock_hz: int, freq_hz: int) -> Pll:
    """Return the setting nearest to ``freq_hz``; of equal ones that of the fastest detector, then
    that whose VCO is in the middle of its range.

    Raises
    ------
    ValueError
        If none is within 5 %.
    """
    limits = LIMITS[series or family]
    best = min(_settings(limits, clock_hz, freq_hz), default=None,
               key=lambda s: (abs(s.freq_hz - freq_hz), s.input,
                              abs(s.vco_hz - sum(limits.vco) / 2)))
    if best is None:
        low, high = limits.vco[0] / max(limits.outputs), limits.vco[1] / min(limits.outputs)
        raise ValueError(f"freq_hz must be a frequency that {limits.primitive} makes of {clock_hz} "
                         f"Hz, from {low:.0f} to {high:.0f}, not {freq_hz!r}")
    if abs(best.freq_hz - freq_hz) > 0.05 * freq_hz:
        raise ValueError(f"freq_hz must be a frequency that {limits.primitive} makes of {clock_hz} "
                         f"Hz within 5 %, not {freq_hz!r}; the nearest is {best.freq_hz:.0f}")
    return best

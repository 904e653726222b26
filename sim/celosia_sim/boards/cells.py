"""Simulation models of the cells that the top modules of boards are made of."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

__all__ = ["FAMILIES", "cells_verilog", "sdram_phase", "system_hz"]

_FOLDER = Path(__file__).parent
#: Families of FPGAs, each with a Verilog file of its cells.
FAMILIES = tuple(sorted(path.stem for path in _FOLDER.glob("*.v")))
#: Output of each clock generator, in Hz, from the oscillator and the generator's parameters.
_GENERATORS: dict[str, Callable[[int, Callable[[str], int]], float]] = {
    "EHXPLLL": lambda hz, p: hz * p("CLKFB_DIV") / p("CLKI_DIV"),
    "rPLL": lambda hz, p: hz * (p("FBDIV_SEL") + 1) / (p("IDIV_SEL") + 1),
    "PLLE2_BASE": lambda hz, p: (hz * p("CLKFBOUT_MULT") / p("DIVCLK_DIVIDE")
                                 / p("CLKOUT0_DIVIDE")),
}


def cells_verilog(family: str) -> str:
    """Return Verilog of the cells of a family.

    Raises
    ------
    ValueError
        If there is none of that name.
    """
    if family not in FAMILIES:
        raise ValueError(f"family must be one of {', '.join(FAMILIES)}, not {family!r}")
    return (_FOLDER / f"{family}.v").read_text()


def system_hz(top: str, oscillator_hz: int) -> float:
    """Return the clock that the generator in the Verilog of a top module makes.

    It is read from the parameters that the FPGA's own generator would obey, so that a wrong one
    is heard on the serial line.

    Raises
    ------
    ValueError
        If there is not one generator, or a parameter of it is missing.
    """
    kind, parameter = _generator(top)
    return _GENERATORS[kind](oscillator_hz, parameter)


def sdram_phase(top: str) -> float:
    """Return after which part of a cycle of the system the clock of an SDRAM rises, likewise."""
    _, parameter = _generator(top)

    def after(output: str) -> float:
        return parameter(f"{output}_CPHASE") + parameter(f"{output}_FPHASE") / 8

    return (after("CLKOS") - after("CLKOP")) / parameter("CLKOS_DIV") % 1


def _generator(top: str) -> tuple[str, Callable[[str], int]]:
    """Return the clock generator of a top module and what gives its parameters."""
    found = re.findall(rf"\b({'|'.join(_GENERATORS)})\s+#\((.*?)\)\s*\w+\s*\(", top, re.DOTALL)
    if len(found) != 1:
        raise ValueError(f"the top module must have one of {', '.join(_GENERATORS)}, not "
                         f"{len(found)}")
    kind, text = found[0]

    def parameter(name: str) -> int:
        value = re.search(rf"\.{name}\((?:\d+'d)?(\d+)\)", text)
        if value is None:
            raise ValueError(f"{kind} must have a whole number as parameter {name}")
        return int(value[1])

    return kind, parameter

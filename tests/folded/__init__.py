"""Networks as they were compiled, and the cycles that the RTL takes for them by lanes and banks.

What is measured is no matter of today's compiler; tests/rtl/test_folding.py runs them.
"""

from dataclasses import replace
from pathlib import Path

from celosia.arch.config import TpuConfig, preset
from celosia.program import Program
from celosia.program.asm import assemble

__all__ = ["MEASURED", "folded"]

#: Cycles by network, whose name begins with its chip, and by the chip's lanes and banks.
MEASURED = {
    "edge-40-24-10": {(8, 4): 1579, (4, 4): 1682, (2, 4): 1955, (2, 2): 2085},
    "edge-16-16": {(8, 4): 981, (4, 4): 1166, (2, 4): 1688, (2, 2): 1679},
    "edge-48-96": {(8, 4): 3546, (4, 4): 3610, (2, 4): 4550, (2, 2): 4859},
    "core4-40-24-10": {(4, 4): 4402, (2, 4): 4522, (1, 4): 4899},
    "core4-64-16": {(4, 4): 4860, (2, 4): 4940, (1, 4): 5025},
    "nano-16-16": {(4, 4): 2853, (2, 4): 2935, (1, 4): 3421, (1, 2): 3736, (1, 1): 4966},
}


def folded(network: str, lanes: int, banks: int) -> tuple[TpuConfig, Program]:
    """Return a chip and the network for it, whose constants are zeros: cycles do not depend on
    them.
    """
    chip = preset(network.partition("-")[0])
    text = (Path(__file__).parent / f"{network}.s").read_text()
    return replace(chip, lanes=lanes, banks=banks), assemble(text)

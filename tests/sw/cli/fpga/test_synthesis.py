"""Area of chips, by synthesis with Yosys: what must be in DSP blocks and block RAM is, and what was
won is not lost. Mapped in half the usual time, to about a tenth more LUTs: the figures of
docs/performance.md are smaller.
"""

import pytest

from celosia.arch.config import PRESETS
from celosia.cli.fpga.build import build
from celosia.cli.fpga.families import TOP
from celosia_hw.boards import board
from celosia_hw.boards.sources import Sources
from celosia_hw.mxu.unit import MatrixUnit
from celosia_hw.top import Celosia
from celosia_hw.verilog.emit import verilog

#: Most LUTs and flip-flops of a chip without link and memory on an ECP5.
LIMITS = {"pico": (30_000, 13_000), "nano": (50_000, 18_000)}


def synthesise(component, name, folder):
    """Synthesise a component for the ULX3S; return the build."""
    ulx3s = board("ulx3s")
    text = verilog(component(PRESETS[name]), name=TOP)
    made = Sources(ulx3s, PRESETS[name], text, "", "top.lpf", {"clk": ulx3s.freq_hz},
                   ulx3s.freq_hz, ulx3s.baud, ulx3s.memory_bytes)
    return build(made, folder, synth_only=True, quick=True)


@pytest.mark.parametrize(("name", "luts", "flip_flops"), [
    # About a hundred LUTs follow loads row by row, and rows wait in queues of flip-flops
    ("pico", 1_050, 1_160), pytest.param("nano", 1_530, 2_260, marks=pytest.mark.slow)])
def test_every_product_of_the_array_is_in_a_dsp_block(tmp_path, name, luts, flip_flops):
    total = synthesise(MatrixUnit, name, tmp_path).netlist.total()
    assert total["multipliers"] == PRESETS[name].pes
    assert total["luts"] <= luts
    assert total["flip_flops"] <= flip_flops


@pytest.mark.slow
@pytest.mark.parametrize("name", LIMITS)
def test_area_of_a_chip(tmp_path, name):
    config = PRESETS[name]
    built = synthesise(Celosia, name, tmp_path)
    total, units = built.netlist.total(), built.netlist.kinds()
    assert total["luts"] <= LIMITS[name][0]
    assert total["flip_flops"] <= LIMITS[name][1]
    assert total["multipliers"] >= config.pes
    # Every row of the on-chip memories is in block RAM, 16 Kibit a piece.
    assert total["block_rams"] * (1 << 14) >= 8 * (config.ub_bytes + config.acc_bytes)
    assert units["DP16KD"] == total["block_rams"]
    assert not any(kind.startswith("$") for kind in units)

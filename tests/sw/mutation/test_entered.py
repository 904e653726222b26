"""Which tests are looked at first for a change that no map tells of."""

from pathlib import Path

import pytest
from mutation.entered import Entered
from mutation.project import Project


@pytest.mark.parametrize(("near", "source", "test"), [
    (3, "hw/celosia_hw/dma/load.py", "hw/dma/test_load.py"),
    (2, "hw/celosia_hw/dma/load.py", "hw/dma/test_store.py"),
    (0, "hw/celosia_hw/dma/load.py", "hw/vpu/test_load.py"),
    (3, "sw/celosia/cli/fpga/paths.py", "sw/cli/fpga/test_paths.py"),
    (2, "sw/celosia/cli/debug/stepping.py", "sw/cli/test_debug.py"),
    (1, "sw/celosia/cli/debug/stepping.py", "sw/cli/fpga/test_build.py"),
    (0, "sw/celosia/cli/debug/stepping.py", "sw/serve/test_page.py"),
    (3, "sim/celosia_sim/randprog.py", "sw/sim/test_randprog.py"),
    (3, "sim/celosia_sim/loops/netlist.py", "sw/sim/loops/test_netlist.py"),
    (3, "sim/celosia_sim/pod/board.py", "rtl/pod/test_board.py"),
    (2, "sim/celosia_sim/pod/board.py", "rtl/pod/test_fleet.py"),
    (2, "sim/celosia_sim/idle/sleep.py", "rtl/test_idle.py"),
    (2, "sim/celosia_sim/randprog.py", "rtl/test_idle.py"),
    (2, "sim/celosia_sim/randgen.py", "sw/sim/test_seeds.py"),
    (1, "sim/celosia_sim/randgen.py", "rtl/pod/test_fleet.py"),
    (2, "hw/celosia_hw/top.py", "hw/test_boundaries.py"),
    (0, "hw/celosia_hw/top.py", "e2e/test_ops.py"),
    (0, "sim/celosia_sim/randprog.py", "sw/serve/test_page.py"),
    (3, "sw/celosia/jit.py", "sw/test_jit.py"),
    (0, "sw/celosia/jit.py", "sw/serve/test_page.py"),
])
def test_how_near_tests_are(near, source, test, tmp_path):
    for root in ("hw", "sw", "sim", "tests"):
        (tmp_path / root).mkdir()
    assert Entered(Project(tmp_path), Path("map")).nearness(f"tests/{test}", source) == near

"""What each unit of a chip may take on a board's device: `celosia fpga budget` checks it.

A unit that must grow gets its budget here, in the commit that makes it grow.
"""

from celosia.arch.board import Budget

__all__ = ["BUDGETS"]

#: By board and preset, then by unit (`celosia.cli.fpga.netlist.UNITS`): LUTs, flip-flops, levels.
BUDGETS: dict[tuple[str, str], dict[str, Budget]] = {
    ("ulx3s", "edge"): {
        "mxu": Budget(3_350, 6_150, 11), "ub": Budget(1_170, 610, 12),
        "acc": Budget(4_380, 2_170, 12), "vpu": Budget(16_940, 8_030, 12),
        "scalar": Budget(5_080, 3_010, 13), "load": Budget(1_830, 1_050, 13),
        "store": Budget(2_590, 1_540, 12), "host": Budget(1_610, 1_460, 12),
        "bus": Budget(200, 210, 8), "chip": Budget(110, 0, 0), "link": Budget(1_470, 800, 11),
        "memory": Budget(670, 650, 12), "board": Budget(70, 140, 6),
    },
}

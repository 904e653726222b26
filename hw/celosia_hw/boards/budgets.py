"""What each unit of a chip may take on a board's device: `celosia fpga budget` checks it.

A unit that must grow gets its budget here, in the commit that makes it grow.
"""

from celosia.arch.board import Budget

__all__ = ["BUDGETS"]

#: By board and preset, then by unit (`celosia.cli.fpga.netlist.UNITS`): LUTs, flip-flops, levels.
BUDGETS: dict[tuple[str, str], dict[str, Budget]] = {
    ("ulx3s", "edge"): {
        "mxu": Budget(3_360, 6_150, 11), "ub": Budget(1_200, 620, 11),
        "acc": Budget(4_390, 2_170, 11), "vpu": Budget(9_850, 6_130, 12),
        "scalar": Budget(5_200, 3_580, 12), "load": Budget(1_960, 1_380, 11),
        "store": Budget(2_670, 1_480, 11), "host": Budget(1_800, 1_330, 11),
        "bus": Budget(240, 290, 9), "chip": Budget(210, 10, 11), "link": Budget(740, 530, 11),
        "memory": Budget(690, 720, 11), "board": Budget(70, 140, 5),
    },
}

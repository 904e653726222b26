"""What each unit of a chip may take on a board's device: `celosia fpga budget` checks it.

A unit that must grow gets its budget here, in the commit that makes it grow.
"""

from celosia.arch.board import Budget

__all__ = ["BUDGETS"]

#: By board and preset, then by unit (`celosia.cli.fpga.netlist.UNITS`): LUTs, flip-flops, levels.
BUDGETS: dict[tuple[str, str], dict[str, Budget]] = {
    ("ulx3s", "edge"): {
        "mxu": Budget(3_360, 6_150, 12), "ub": Budget(1_360, 620, 12),
        "acc": Budget(4_690, 2_170, 12), "vpu": Budget(10_090, 5_610, 13),
        "scalar": Budget(5_060, 3_400, 13), "load": Budget(1_830, 910, 13),
        "store": Budget(2_570, 1_370, 13), "host": Budget(1_800, 1_330, 12),
        "bus": Budget(240, 280, 11), "chip": Budget(10, 0, 0), "link": Budget(740, 530, 11),
        "memory": Budget(670, 640, 11), "board": Budget(70, 140, 5),
    },
}

"""What each unit of a chip may take on a board's device: `celosia fpga budget` checks it.

A unit that must grow gets its budget here, in the commit that makes it grow.
"""

from celosia.arch.board import Budget

__all__ = ["BUDGETS"]

#: By board and preset, then by unit (`celosia.cli.fpga.netlist.UNITS`): LUTs, flip-flops, levels.
#: Yosys names nine hundred LUTs of the accumulators' adders now after the matrix unit, now after
#: the chip: both have room for them.
BUDGETS: dict[tuple[str, str], dict[str, Budget]] = {
    ("ulx3s", "edge"): {
        "mxu": Budget(3_580, 6_460, 11), "ub": Budget(1_220, 580, 9),
        "acc": Budget(4_410, 1_950, 8), "vpu": Budget(9_950, 6_830, 11),
        "scalar": Budget(5_400, 3_750, 12), "load": Budget(2_260, 1_950, 10),
        "store": Budget(2_650, 1_400, 10), "host": Budget(1_750, 1_250, 11),
        "bus": Budget(240, 290, 9), "chip": Budget(1_250, 290, 8), "link": Budget(740, 530, 9),
        "memory": Budget(710, 760, 11), "board": Budget(70, 140, 6),
    },
}

"""What each unit of a chip may take on a board's device: `celosia fpga budget` checks it.

A unit that must grow gets its budget here, in the commit that makes it grow.
"""

from celosia.arch.board import Budget

__all__ = ["BUDGETS"]

#: By board and preset, then by unit (`celosia.cli.fpga.netlist.UNITS`): LUTs, flip-flops, levels.
#: Yosys names nine hundred LUTs of the accumulators' adders now after the matrix unit, now after
#: the chip: both have room for them. Registers of commands, some 170 on their way from the scalar
#: unit and 120 to the store engine, are now theirs, now the chip's.
BUDGETS: dict[tuple[str, str], dict[str, Budget]] = {
    ("ulx3s", "edge"): {
        "mxu": Budget(3_700, 5_760, 9), "ub": Budget(520, 160, 8),
        "acc": Budget(3_090, 1_260, 9), "vpu": Budget(5_860, 5_420, 9),
        "scalar": Budget(6_260, 3_930, 10), "load": Budget(1_880, 1_550, 9),
        "store": Budget(2_070, 1_280, 9), "host": Budget(1_620, 1_400, 9),
        "bus": Budget(510, 510, 9), "chip": Budget(1_250, 290, 8), "link": Budget(720, 530, 9),
        "memory": Budget(730, 780, 10), "board": Budget(90, 150, 6),
    },
    ("ulx3s", "core4"): {
        "mxu": Budget(16_300, 10_600, 10), "ub": Budget(1_270, 560, 8),
        "acc": Budget(2_450, 850, 9), "vpu": Budget(10_700, 7_700, 12),
        "scalar": Budget(6_060, 3_620, 11), "load": Budget(2_150, 1_300, 9),
        "store": Budget(2_300, 1_200, 9), "host": Budget(1_620, 1_150, 11),
        "bus": Budget(120, 190, 9), "chip": Budget(1_460, 1_350, 9), "link": Budget(720, 530, 9),
        "memory": Budget(730, 780, 10), "board": Budget(90, 150, 6),
    },
}

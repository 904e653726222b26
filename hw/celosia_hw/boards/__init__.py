"""Boards: what is on them, and the chip put on each with a memory and the host link."""

from celosia.arch.board import Board, Capacity

__all__ = ["BOARDS", "Board", "Capacity", "board"]

_MHZ, _KIB = 1_000_000, 1024

#: Every board by its name.
BOARDS: dict[str, Board] = {
    item.name: item
    for item in (
        Board(
            "ulx3s", "Radiona ULX3S-85F", family="ecp5", device="85k", package="CABGA381",
            speed="6", preset="edge", clock_hz=25 * _MHZ, freq_hz=100 * _MHZ, baud=3 * _MHZ,
            memory="sdram", memory_bytes=32 * _KIB * _KIB, loader="ulx3s",
            chips=("compact", "pipelined"), lanes={"edge": 4, "core4": 1},
            capacity=Capacity(83_640, 83_640, 156, 208, 18 * _KIB,
                              "LFE5U-85, Lattice FPGA-DS-02012, table 1.1")),
        Board(
            "icebreaker", "1BitSquared iCEBreaker", family="ice40", device="up5k", package="sg48",
            speed="", preset="nano", clock_hz=12 * _MHZ,
            freq_hz=24 * _MHZ, baud=3 * _MHZ,
            memory="on-chip", memory_bytes=32 * _KIB, loader="ice40_generic",
            capacity=Capacity(5_280, 5_280, 8, 30, 4 * _KIB,
                              "iCE40UP5K, Lattice FPGA-DS-02008, table 1.1")),
        Board(
            "tangnano9k", "Sipeed Tang Nano 9K", family="gowin", device="GW1NR-LV9QN88PC6/I5",
            package="QN88P", speed="C6/I5", series="GW1N-9C", preset="nano",
            clock_hz=27 * _MHZ, freq_hz=54 * _MHZ, baud=2 * _MHZ, memory="on-chip",
            memory_bytes=16 * _KIB, loader="tangnano9k",
            capacity=Capacity(8_640, 6_480, 20, 26, 18 * _KIB, "GW1NR-9, Gowin DS117, table 1-1")),
        Board(
            "tangprimer20k", "Sipeed Tang Primer 20K", family="gowin",
            device="GW2A-LV18PG256C8/I7", package="PG256", speed="C8/I7", series="GW2A-18",
            preset="nano", clock_hz=27 * _MHZ, freq_hz=50 * _MHZ, baud=2 * _MHZ,
            memory="on-chip", memory_bytes=32 * _KIB, loader="tangprimer20k", build_only=True,
            capacity=Capacity(20_736, 15_552, 48, 46, 18 * _KIB,
                              "GW2A-18, Gowin DS102, table 1-1")),
        Board(
            "arty_a7", "Digilent Arty A7-100T", family="xilinx7", device="xc7a100t",
            package="csg324", speed="-1", preset="edge", clock_hz=100 * _MHZ,
            freq_hz=100 * _MHZ, baud=3 * _MHZ, memory="on-chip", memory_bytes=256 * _KIB,
            loader="arty_a7_100t", chips=("pipelined",),
            capacity=Capacity(63_400, 126_800, 240, 135, 36 * _KIB,
                              "XC7A100T, AMD DS180, table 4")),
    )
}


def board(name: str) -> Board:
    """Return the board called ``name``.

    Raises
    ------
    ValueError
        If there is none; the message lists those that there are.
    """
    try:
        return BOARDS[name]
    except KeyError:
        raise ValueError(f"board must be one of {', '.join(BOARDS)}, not {name!r}") from None

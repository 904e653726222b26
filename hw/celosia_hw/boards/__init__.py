"""Boards: what is on them, and the chip put on each with a memory and the host link."""

from celosia.arch.board import Board, Capacity

__all__ = ["BOARDS", "Board", "Capacity", "board"]

_MHZ, _KIB = 1_000_000, 1024
_LFE5U_25 = Capacity(24_288, 24_288, 28, 56, 18 * _KIB,
                     "LFE5U-25, Lattice FPGA-DS-02012, table 1.1")
_LFE5U_85 = Capacity(83_640, 83_640, 156, 208, 18 * _KIB,
                     "LFE5U-85, Lattice FPGA-DS-02012, table 1.1")

#: Every board by its name.
BOARDS: dict[str, Board] = {
    item.name: item
    for item in (
        Board(
            "ulx3s", "Radiona ULX3S-85F", family="ecp5", device="85k", package="CABGA381",
            speed="6", preset="edge", clock_hz=25 * _MHZ, freq_hz=80 * _MHZ, baud=3 * _MHZ,
            memory="sdram", memory_bytes=32 * _KIB * _KIB, loader="-b ulx3s",
            platform="ulx3s.ULX3S_85F_Platform",
            # The ESP32 resets the board where its GPIO0 is not held high.
            high=("esp32 0 gpio0",), lanes={"edge": 2, "core4": 1}, banks={"edge": 2},
            clocks={"core4": 60 * _MHZ}, capacity=_LFE5U_85),
        Board(
            "icesugarpro", "MuseLab iCESugar-Pro", family="ecp5", device="25k",
            package="CABGA256", speed="6", preset="nano", clock_hz=25 * _MHZ, freq_hz=80 * _MHZ,
            baud=1 * _MHZ, memory="sdram", memory_bytes=32 * _KIB * _KIB, loader="-c cmsisdap",
            platform="icesugar_pro.ICESugarProPlatform",
            lights=("rgb_led 0 g", "rgb_led 0 r", "rgb_led 0 b"), untried=True,
            lanes={"nano": 1}, banks={"nano": 2}, capacity=_LFE5U_25),
        Board(
            "icepizero", "Icepi Zero", family="ecp5", device="25k", package="CABGA256", speed="6",
            preset="nano", clock_hz=50 * _MHZ, freq_hz=80 * _MHZ, baud=3 * _MHZ, memory="sdram",
            memory_bytes=32 * _KIB * _KIB, loader="-b icepi-zero",
            platform="icepi_zero.IcepiZero1_3Platform", untried=True,
            lanes={"nano": 1}, banks={"nano": 2}, capacity=_LFE5U_25),
        Board(
            # Its SDRAM has 32 bits and no masks; its only light is the line to the host.
            "colorlight5a75b", "Colorlight 5A-75B", family="ecp5", device="25k",
            package="CABGA256", speed="6", preset="nano", clock_hz=25 * _MHZ, freq_hz=80 * _MHZ,
            baud=1 * _MHZ, memory="on-chip", memory_bytes=32 * _KIB, loader="-c ft232",
            platform="colorlight_5a75b_r7_0.Colorlight_5A75B_R70Platform", lights=(),
            untried=True, lanes={"nano": 1}, banks={"nano": 2}, capacity=_LFE5U_25),
        Board(
            "ecp5evn", "Lattice ECP5-5G Evaluation Board", family="ecp5", device="um5g-85k",
            package="CABGA381", speed="8", preset="edge", clock_hz=12 * _MHZ, freq_hz=96 * _MHZ,
            baud=3 * _MHZ, memory="on-chip", memory_bytes=128 * _KIB, loader="-b ecp5_evn",
            platform="ecp5_5g_evn.ECP55GEVNPlatform",
            untried=True, lanes={"edge": 2, "core4": 1}, banks={"edge": 2},
            capacity=_LFE5U_85),
        Board(
            "tangprimer20k", "Sipeed Tang Primer 20K", family="gowin",
            device="GW2A-LV18PG256C8/I7", package="PG256", speed="C8/I7", series="GW2A-18",
            preset="nano", clock_hz=27 * _MHZ, freq_hz=50 * _MHZ, baud=2 * _MHZ,
            memory="on-chip", memory_bytes=16 * _KIB, loader="-b tangprimer20k",
            platform="tang_primer_20k.TangPrimer20kDockPlatform", untried=True,
            lanes={"nano": 1}, banks={"nano": 1},
            capacity=Capacity(20_736, 15_552, 48, 46, 18 * _KIB,
                              "GW2A-18, Gowin DS102, table 1-1")),
        Board(
            "arty_a7", "Digilent Arty A7-100T", family="xilinx7", device="xc7a100t",
            package="csg324", speed="-1", preset="edge", clock_hz=100 * _MHZ,
            freq_hz=100 * _MHZ, baud=3 * _MHZ, memory="on-chip", memory_bytes=256 * _KIB,
            loader="-b arty_a7_100t",
            platform="arty_a7.ArtyA7_100Platform", untried=True,
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

"""What a board is to the tools: its device, its clock, its memory; and what they are given."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Literal

from celosia.arch.config import BANKS, TpuConfig

__all__ = ["Board", "Budget", "Capacity", "FamilyName", "MemoryKind", "Sources"]

FamilyName = Literal["ecp5", "gowin", "xilinx7"]
MemoryKind = Literal["sdram", "on-chip"]


@dataclass(frozen=True)
class Capacity:
    """What a device has, from its data sheet.

    Parameters
    ----------
    luts
        Look-up tables of 4 inputs (``xilinx7``: of 6).
    flip_flops
    multipliers
        Of 18 x 18 bits (``xilinx7``: 25 x 18).
    block_rams, block_ram_bits
        Block RAMs, and bits of one.
    source
        Device and page.
    """

    luts: int
    flip_flops: int
    multipliers: int
    block_rams: int
    block_ram_bits: int
    source: str


@dataclass(frozen=True)
class Budget:
    """The most that a unit of a chip may take, after synthesis.

    Parameters
    ----------
    luts, flip_flops
        As in `Capacity`.
    levels
        Cells on the longest path that ends in it.
    """

    luts: int
    flip_flops: int
    levels: int


@dataclass(frozen=True)
class Board:
    """A board.

    Parameters
    ----------
    name, title
        For commands, for people.
    family
        Chooses primitives and tools.
    device, package, speed
        As place and route wants them: ``nextpnr-ecp5 --85k --package --speed``,
        ``nextpnr-himbaechel --device`` (which holds package and speed); for Vivado the part is
        device + package + speed.
    preset
        Name of the chip that is built where none is asked for.
    clock_hz
        The oscillator.
    freq_hz
        System clock where none is asked for.
    baud
        Of the host link where none is asked for; the board's USB bridge reaches it.
    memory, memory_bytes
        External memory of the chip: an SDRAM, or RAM of the FPGA.
    loader
        What tells openFPGALoader the board, or the cable to it.
    platform
        Module and class of amaranth-boards that know where its pins are.
    lights
        Heartbeat, fault, busy, as far as there are lights: resource, number and part of the
        platform, the last left out where it has none.
    high
        Likewise of pins that must be held high.
    capacity
        What the device has.
    series
        Name of the device family for nextpnr-himbaechel (``--vopt family=``) and gowin_pack.
    untried
        Nobody has routed its chip at its clock.
    lanes, banks
        Lanes of the vector unit and banks of each on-chip memory by preset, where they are fewer
        than the preset's.
    clocks
        System clock by preset, where it is another than ``freq_hz``.
    """

    name: str
    title: str
    _: KW_ONLY
    family: FamilyName
    device: str
    package: str
    speed: str
    preset: str
    clock_hz: int
    freq_hz: int
    baud: int
    memory: MemoryKind
    memory_bytes: int
    loader: str
    platform: str
    capacity: Capacity
    lights: tuple[str, ...] = ("led 0", "led 1", "led 2")
    high: tuple[str, ...] = ()
    series: str = ""
    untried: bool = False
    lanes: Mapping[str, int] = field(default_factory=dict)
    banks: Mapping[str, int] = field(default_factory=dict)
    clocks: Mapping[str, int] = field(default_factory=dict)

    def clock(self, config: TpuConfig) -> int:
        """Return the system clock of a chip where none is asked for, in Hz."""
        return self.clocks.get(config.name, self.freq_hz)

    def folded(self, config: TpuConfig) -> TpuConfig:
        """Return a chip with the lanes and banks that it has on this board; one that has fewer than
        its preset already as it is.
        """
        if config.fold > 1 or config.banks < BANKS:
            return config
        return replace(config, lanes=self.lanes.get(config.name, config.lanes),
                       banks=self.banks.get(config.name, config.banks))


@dataclass(frozen=True)
class Sources:
    """Inputs of the tools for one bitstream.

    Parameters
    ----------
    board, config
        What it is of.
    verilog
        Everything; the module ``top``, whose ports are pins.
    constraints, constraints_file
        Text of the constraints, and the name of their file.
    clocks
        Frequencies in Hz by net of ``top``: the oscillator's and that of the system.
    freq_hz
        System clock, as near to the wish as the clock generator comes.
    baud
        Of the host link.
    memory_bytes
        External memory.
    script
        Tcl for Vivado (``xilinx7``), else empty.
    """

    board: Board
    config: TpuConfig
    verilog: str
    constraints: str
    constraints_file: str
    clocks: dict[str, int]
    freq_hz: int
    baud: int
    memory_bytes: int
    script: str = ""

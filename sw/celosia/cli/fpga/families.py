"""FPGA families, as data: which tools make a bitstream, and what a cell of a netlist takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from celosia.arch.board import Board, Capacity, Sources
from celosia.cli.fpga.absorb import absorb
from celosia.cli.fpga.constants import constants
from celosia.cli.fpga.errors import FpgaError
from celosia.cli.fpga.maps import COMPARISONS, MEMORIES_GOWIN, products

__all__ = [
    "FAMILIES", "RESOURCES", "TOP", "Arc", "Delays", "Family", "Floor", "available", "family"]

#: Module that the netlists of boards have at the top.
TOP = "top"
#: What is counted, and what it is called.
RESOURCES = {"luts": "LUTs", "flip_flops": "flip-flops", "multipliers": "DSP blocks",
             "block_rams": "block RAMs"}


def _cells(**of: Mapping[str, float]) -> Mapping[str, Mapping[str, float]]:
    """Turn resource -> cell -> amount into cell -> resource -> amount."""
    turned: dict[str, dict[str, float]] = {}
    for resource, amounts in of.items():
        for cell, amount in amounts.items():
            turned.setdefault(cell, {})[resource] = amount
    return MappingProxyType(turned)


@dataclass(frozen=True)
class Arc:
    """A way through a cell, from ports that match one pattern to ports that match another.

    ``chained``: the wire before it is wired for this and takes no time, as that of a carry.
    """

    start: str
    end: str
    ns: float
    chained: bool = False


@dataclass(frozen=True)
class Delays:
    """Delays of a family's cells, to time a netlist that is not routed.

    Parameters
    ----------
    wire
        Of a hop from a cell to the next where wires are not crowded, in ns.
    tile
        Of each tile that a hop goes, where places are known; then ``wire`` is of one that goes
        none.
    clocked
        From the clock to the outputs of a cell that holds a state, by kind, in ns.
    setup
        Patterns of ports that a path ends at and how long before the clock, by kind, in ns.
    logic
        Ways through a cell, by kind; the first that matches two ports counts.
    """

    wire: float
    clocked: Mapping[str, float]
    setup: Mapping[str, Mapping[str, float]]
    logic: Mapping[str, tuple[Arc, ...]]
    tile: float = 0.0


@dataclass(frozen=True)
class Floor:
    """Cells of a family as nextpnr packs them, for `celosia.cli.fpga.floorplan` and `refine`.

    Parameters
    ----------
    blocks
        Kinds that only some tiles have.
    logic
        Share of a tile that others take, by kind; what is neither does not move.
    delays
        Of cells and wires where all is placed; kinds have their modes, `celosia.cli.fpga.slack`.
    """

    blocks: tuple[str, ...]
    logic: Mapping[str, float]
    delays: Delays


@dataclass(frozen=True)
class Family:
    """How designs for a family are made.

    Parameters
    ----------
    synth
        Command of Yosys that synthesises; its result is what place and route reads.
    cells
        What a cell takes, by cell and resource. Resources are the fields of
        `celosia.arch.board.Capacity`.
    prefixes
        The same for cells that begin so.
    place
        Program that places and routes, "" where nothing here does.
    arguments
        Its arguments for a design and the output's name; "": it is placed only.
    routed
        Ending of what it writes.
    pack
        Program that makes the bitstream.
    packing
        Its arguments for a board, the routed design and the bitstream.
    bitstream
        Ending of the bitstream.
    placed
        What place and route counts, by resource and its own name, each with what one is worth.
    delays
        Of its cells; None where they were not measured.
    told
        Commands of Yosys before ``synth``, see `celosia.cli.fpga.maps`.
    mend
        Changes the netlist that Yosys wrote, of which the module of a name is the top, for a board;
        None: it is left as it is.
    floor
        Of a chip that is placed in steps; None: nextpnr places and routes at once.
    """

    name: str
    synth: Callable[[Board], str]
    cells: Mapping[str, Mapping[str, float]]
    prefixes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    place: str = ""
    arguments: Callable[[Sources, str], list[str]] = lambda made, routed: []
    routed: str = ""
    pack: str = ""
    packing: Callable[[Board, str, str], list[str]] = lambda board, routed, bitstream: []
    bitstream: str = ""
    placed: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    delays: Delays | None = None
    told: tuple[str, ...] = COMPARISONS
    mend: Callable[[dict[str, Any], str, Board], None] | None = None
    floor: Floor | None = None

    def measured_delays(self) -> Delays:
        """Return the delays of its cells.

        Raises
        ------
        FpgaError
            If they are not known.
        """
        if self.delays is None:
            known = ", ".join(name for name, each in FAMILIES.items() if each.delays)
            raise FpgaError(f"family must be one whose delays were measured ({known}), "
                            f"not {self.name}")
        return self.delays

    def takes(self, cell: str) -> Mapping[str, float]:
        """What a cell takes, by resource."""
        if cell in self.cells:
            return self.cells[cell]
        return next((amounts for prefix, amounts in self.prefixes.items()
                     if cell.startswith(prefix)), {})


#: What `celosia.cli.fpga.netlist` calls a MULT18X18D whose products go into its register.
REGISTERED_PRODUCT = "MULT18X18D_REGISTERED"
#: Speed grade 6. Of units that were routed alone at 100 MHz, lane, load, store, mover and unified
#: buffer, the paths that these give are from 5 % shorter to 19 % longer than those that came out.
_ECP5_DELAYS = Delays(
    wire=0.9,
    # Yosys does not use the registers behind block RAM.
    clocked={"TRELLIS_FF": 0.52, "DP16KD": 5.73, "PDPW16KD": 5.73, REGISTERED_PRODUCT: 0.74},
    setup={REGISTERED_PRODUCT: {"[AB].*": 3.49},
           "TRELLIS_FF": {"DI|M": 0.1, "CE": 0.2, "LSR": 0.3},
           "DP16KD": {"(?!CLK).*": 0.3}, "PDPW16KD": {"(?!CLK).*": 0.3},
           "TRELLIS_DPR16X4": {"DI|WAD|WRE": 0.2}},
    logic={"LUT4": (Arc(".*", ".*", 0.24),), "PFUMX": (Arc(".*", ".*", 0.17),),
           "L6MUX21": (Arc(".*", ".*", 0.15),),
           "TRELLIS_DPR16X4": (Arc("RAD", "DO", 0.24),),
           "MULT18X18D": (Arc("[AB].*|SIGNED.*", "P.*", 4.2),),
           "CCU2C": (Arc("CIN", "COUT", 0.07, chained=True), Arc("CIN", "S.", 0.44, chained=True),
                     Arc("[A-D]0", ".*", 0.45), Arc("[A-D]1", "S1|COUT", 0.45))})
#: The same as nextpnr packs cells.
_ECP5_PLACED = Delays(
    wire=0.65, tile=0.06,
    clocked={"TRELLIS_FF": 0.52, "DP16KD": 5.73, REGISTERED_PRODUCT: 0.74},
    setup={REGISTERED_PRODUCT: {"[AB].*": 3.49},
           # The look-up table that DI comes from is beside it: that takes none of the wire's time.
           "TRELLIS_FF": {"DI": -0.65, "M": 0.1, "CE": 0.2, "LSR": 0.3},
           "DP16KD": {"(?!CLK).*": 0.3},
           # Comes from the slice that writes, which is in the same tile.
           "TRELLIS_COMB DPRAM": {"WD|WAD.": -0.45, "WRE": 0.2}},
    logic={"TRELLIS_COMB": (Arc("[A-D]", "F", 0.24),),
           "TRELLIS_COMB DPRAM": (Arc("[A-D]", "F", 0.24),),
           "TRELLIS_COMB CCU2": (Arc("FCI", "FCO", 0.035, chained=True),
                                 Arc("FCI", "F", 0.44, chained=True), Arc("[A-D]", "F.*", 0.45)),
           "TRELLIS_RAMW": (Arc("[A-D].", "W.*", 0.0),),
           "MULT18X18D": (Arc("[AB].*|SIGNED.*", "P.*", 4.2),)})


def _ecp5_arguments(made: Sources, routed: str) -> list[str]:
    board = made.board
    # The other placer, heap, packs `edge` so that no router finishes (docs/fpga.md).
    return [f"--{board.device}", "--package", board.package, "--speed", board.speed,
            "--lpf", made.constraints_file, *(["--textcfg", routed] if routed else []),
            "--router", "router1", "--placer", "static"]


_ECP5 = Family(
    "ecp5",
    # -nowidelut: a mux of four is two LUTs, not the four below a PFUMX tree. With a delay target
    # (ps) abc9 saves area on paths that have time.
    synth=lambda board: f"scratchpad -set abc9.D 3500; synth_ecp5 -nowidelut -top {TOP}",
    # A carry cell takes a slice of two LUTs, a 16x4 RAM four and the write port of its block.
    cells=_cells(luts={"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 4},
                 flip_flops={"TRELLIS_FF": 1},
                 multipliers={"MULT18X18D": 1, REGISTERED_PRODUCT: 1},
                 block_rams={"DP16KD": 1, "PDPW16KD": 1}),
    place="nextpnr-ecp5",
    arguments=_ecp5_arguments,
    routed="config", pack="ecppack",
    packing=lambda board, routed, bitstream: ["--compress", routed, bitstream],
    bitstream="bit",
    placed={"luts": {"TRELLIS_COMB": 1}, "flip_flops": {"TRELLIS_FF": 1},
            "multipliers": {"MULT18X18D": 1}, "block_rams": {"DP16KD": 1}},
    delays=_ECP5_DELAYS, told=(*COMPARISONS, *products("multiplier.v")),
    # A tile has eight LUTs and as many flip-flops, most of which share a place with a LUT.
    floor=Floor(("DP16KD", "MULT18X18D"),
                {"TRELLIS_COMB": 1 / 8, "TRELLIS_FF": 1 / 24, "TRELLIS_RAMW": 0.0},
                _ECP5_PLACED),
    mend=constants)


def _gowin_synth(board: Board) -> str:
    # -nowidelut: 5 inputs are two tables either way, and need not be side by side. With a delay
    # target (ps), and by its third flow, abc9 takes fewer. -no-rw-check: what a reader gets of a
    # word that is written in the same cycle is used nowhere; Yosys would hold each write for a
    # cycle in flip-flops.
    whole = f"synth_gowin -nowidelut -no-rw-check -family {board.series[:4].lower()} -top {TOP}"
    return "; ".join((
        "scratchpad -set abc9.D 20000", "scratchpad -copy abc9.script.flow3 abc9.script",
        f"{whole} -run :map_ram", *MEMORIES_GOWIN, "techmap -map narrow.v",
        f"{whole} -run map_ffram:"))


_GOWIN = Family(
    "gowin",
    synth=_gowin_synth,
    # An adder's bit takes the place of a LUT; a 16x4 RAM a tile, with its eight and six flip-flops.
    cells=_cells(luts={"LUT1": 1, "LUT2": 1, "LUT3": 1, "LUT4": 1, "INV": 1, "ALU": 1},
                 multipliers={"MULT9X9": 0.5, "MULT18X18": 1, "MULT36X36": 4, "MULTALU18X18": 1,
                              "MULTALU36X18": 2, "MULTADDALU18X18": 2, "ALU54D": 2},
                 block_rams=dict.fromkeys(("SP", "SPX9", "SDP", "SDPB", "SDPX9", "SDPX9B", "DP",
                                           "DPB", "DPX9", "DPX9B", "pROM", "pROMX9"), 1)),
    prefixes=_cells(luts={"RAM16S": 8}, flip_flops={"DFF": 1, "RAM16S": 6}),
    place="nextpnr-himbaechel",
    arguments=lambda made, routed: [
        "--device", made.board.device, "--vopt", f"family={made.board.series}",
        "--vopt", f"cst={made.constraints_file}", "--write", routed],
    routed="json", pack="gowin_pack",
    packing=lambda board, routed, bitstream: ["-d", board.series, "-o", bitstream, routed],
    bitstream="fs", told=(*COMPARISONS, *products("multiplier_gowin.v")),
    mend=absorb)

_XILINX7 = Family(
    "xilinx7",
    synth=lambda board: f"synth_xilinx -family xc7 -flatten -top {TOP}",
    # A 64x3 RAM takes four LUTs, one of 32x6 likewise.
    cells=_cells(luts={**{f"LUT{inputs}": 1 for inputs in range(1, 7)}, "INV": 1, "RAM32M": 4,
                       "RAM64M": 4, "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "SRL16E": 1,
                       "SRLC32E": 1},
                 flip_flops={"FDRE": 1, "FDSE": 1, "FDCE": 1, "FDPE": 1},
                 multipliers={"DSP48E1": 1},
                 block_rams={"RAMB36E1": 1, "RAMB18E1": 0.5}))

#: Every family by its name.
FAMILIES = {each.name: each for each in (_ECP5, _GOWIN, _XILINX7)}


def family(board: Board) -> Family:
    """Return the family of a board.

    Raises
    ------
    FpgaError
        If nothing is known of it.
    """
    try:
        return FAMILIES[board.family]
    except KeyError:
        raise FpgaError(f"family of board {board.name} must be one of {', '.join(FAMILIES)}, "
                        f"not {board.family!r}") from None


def available(capacity: Capacity) -> dict[str, int]:
    """What a device has, by resource."""
    return {resource: getattr(capacity, resource) for resource in RESOURCES}

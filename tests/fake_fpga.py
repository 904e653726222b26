"""A small design and programs that pretend to make a bitstream of it."""

import json
import stat
import sys
from pathlib import Path

from celosia.arch.board import Board, Capacity, Sources
from celosia.arch.config import PRESETS

#: Tests may put another in its place.
_PYTHON = sys.executable
#: Does what the tools do with files and arguments, says each call in calls.txt beside itself, and
#: does what the file NAME.does there says in place of that, once.
_PROGRAM = '''\
import json, pathlib, sys, time
here, args, name = pathlib.Path(__file__).parent, sys.argv[1:], pathlib.Path(__file__).name
if args in (["-V"], ["--version"], ["--Version"]):
    print({version!r})
    sys.exit()
with (here / "calls.txt").open("a") as calls:
    calls.write(json.dumps([name, *args]) + "\\n")
does = here / (name + ".does")
if does.exists():
    text = does.read_text()
    does.unlink()
    exec(text)
after = lambda option: args[args.index(option) + 1]
write = lambda path, text: pathlib.Path(path).write_text(text)
if "-p" in args:
    write(after("-l"), "1. Executing\\n")
    print("more")
    write(after("-p").split()[-1], (here / "netlist.json").read_text())
elif "--no-route" in args:
    write(after("--write"), (here / "placed.json").read_text())
elif "--report" in args:
    report = json.loads((here / "timing.json").read_text())
    for clock in report["fmax"].values():
        clock["achieved"] += int(after("--seed"))
        clock["constraint"] = float(after("--freq"))
    write(after("--report"), json.dumps(report))
    write(after(next(o for o in ("--textcfg", "--write") if o in args)), "routed")
elif "-o" in args:
    write(after("-o"), "bits")
elif "-b" not in args:
    write(args[-1], "bits of " + pathlib.Path(args[-2]).read_text())
'''
VERSIONS = {"yosys": "Yosys 0.70 (git sha1 28ba3cb92)",
            "nextpnr-ecp5": '"nextpnr-ecp5" -- Place and Route (Version nextpnr-0.11.1)',
            "nextpnr-himbaechel": '"nextpnr-himbaechel" -- (Version nextpnr-0.12-3-gabc)',
            "ecppack": "Project Trellis ecppack Version 1.4", "gowin_pack": "",
            "openFPGALoader": "openFPGALoader v0.13.1"}


def ecp5(**capacity: int) -> Board:
    have = {"luts": 100, "flip_flops": 100, "multipliers": 4, "block_rams": 4,
            "block_ram_bits": 18432, "source": "nowhere", **capacity}
    return Board("small", "A small board", family="ecp5", device="25k", package="CABGA256",
                 speed="6", preset="nano", clock_hz=25_000_000, freq_hz=50_000_000,
                 baud=1_000_000, memory="on-chip", memory_bytes=4096, loader="-b small_board",
                 platform="", capacity=Capacity(**have))


def sources(board: Board | None = None, verilog: str = "module top; endmodule\n") -> Sources:
    board = board or ecp5()
    return Sources(board, PRESETS["nano"], verilog, "LOCATE;\n", "top.lpf",
                   {"clk": board.clock_hz, "clk_sys": board.freq_hz}, board.freq_hz, board.baud,
                   board.memory_bytes)


def _cell(kind: str, ins: list[int], outs: list[int], hidden: bool = False,
          parameters: dict | None = None, **more: list) -> dict:
    return {"hide_name": int(hidden), "type": kind, "parameters": parameters or {},
            "attributes": {},
            "port_directions": {"I": "input", "O": "output", **dict.fromkeys(more, "input")},
            "connections": {"I": ins, "O": outs, **more}}


def _net(bits: list, hidden: bool = False) -> dict:
    return {"hide_name": int(hidden), "bits": bits, "attributes": {}}


def netlist() -> dict:
    """Of a matrix unit whose product goes through a LUT into the vector unit's register."""
    return {"modules": {"top": {
        "ports": {}, "cells": {
            "system.chip.mxu.row.a_TRELLIS_FF_Q": _cell("TRELLIS_FF", [2], [10]),
            "$mul$1": _cell("MULT18X18D", [10, "0"], [11, 12], hidden=True),
            "system.chip.ub.bank0.mem.0.0": _cell("DP16KD", [10], [13]),
            "$lut$1": _cell("LUT4", [11, 13], [14], hidden=True),
            "$lut$2": _cell("LUT4", [14, 12], [15], hidden=True),
            "$carry$1": _cell("CCU2C", [15], [16], hidden=True),
            "$ff$1": _cell("TRELLIS_FF", [16], [17], hidden=True),
            "$lut$3": _cell("LUT4", [17], [18], hidden=True),
            "system.link.tx_TRELLIS_FF_Q": _cell("TRELLIS_FF", [18], [19]),
            "system.link.fifo.0.0": _cell(
                "TRELLIS_DPR16X4", [17], [20], parameters={"INITVAL": "x" * 64},
                RAD=[17, "0", "0", "0"], WAD=[17, "0", "0", "0"]),
            "pll": _cell("EHXPLLL", [3], [4]),
            "system": _cell("$scopeinfo", [], []),
        },
        "netnames": {
            "clk": _net([3]), "clk_sys": _net([4]), "rx": _net([2]),
            "system.chip.mxu.row.a": _net([10, "x"]), "$hidden": _net([14], hidden=True),
            "system.chip.mxu.row.product": _net([11, 12]), "product": _net([11, 12]),
            "system.chip.vpu.r": _net(["0", 17]), "system.link.tx": _net([19]),
        }}}}


def placed() -> dict:
    """The same where every cell has a place, and those of slices are packed."""
    made = netlist()
    packed = {"LUT4": ("TRELLIS_COMB", "SLICEA.K0", "ABCD", "F"),
              "TRELLIS_FF": ("TRELLIS_FF", "SLICEA.FF0", "M", "Q")}
    for column, cell in enumerate(made["modules"]["top"]["cells"].values()):
        place = cell["type"] + "0"
        if cell["type"] in packed:
            cell["type"], place, ins, out = packed[cell["type"]]
            taken, given = cell["connections"].values()
            cell["connections"] = {port: [bit] for port, bit in zip(ins, taken, strict=False)}
            cell["connections"][out] = given
            cell["port_directions"] = dict.fromkeys(ins, "input") | {out: "output"}
        cell["attributes"]["NEXTPNR_BEL"] = f"X{column}/Y3/{place}"
    return made


def timing(clock: str = "$glbnet$clk_sys", mhz: float = 54.5) -> dict:
    def hop(kind: str, ns: float, start: str, end: str) -> dict:
        return {"type": kind, "delay": ns, "from": {"cell": start, "port": "Q", "loc": [1, 1]},
                "to": {"cell": end, "port": "D", "loc": [1, 2]}}
    start = "system.chip.mxu.row.a_TRELLIS_FF_Q"
    return {
        "fmax": {clock: {"achieved": mhz, "constraint": 50.0}},
        "critical_paths": [
            {"from": "<async>", "to": f"posedge {clock}",
             "path": [hop("source", 0, "rx$tr_io", "rx$tr_io")]},
            {"from": f"posedge {clock}", "to": f"posedge {clock}", "path": [
                hop("clk-to-q", 0.5, start, start), hop("routing", 1.25, start, "$mul$1"),
                hop("logic", 4, "$mul$1", "$mul$1"), hop("routing", 1, "$mul$1", "$lut$1$comb"),
                hop("logic", 0.25, "$lut$1$comb", "$lut$1$comb"),
                hop("routing", 0.5, "$lut$1$comb", "$ff$1"), hop("setup", 0, "$ff$1", "$ff$1")]}],
        "utilization": {"TRELLIS_COMB": {"used": 12, "available": 100},
                        "TRELLIS_FF": {"used": 3, "available": 100},
                        "MULT18X18D": {"used": 1, "available": 4},
                        "DP16KD": {"used": 1, "available": 4}}}


class Tools:
    """Programs in a folder."""

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir()
        (folder / "netlist.json").write_text(json.dumps(netlist()))
        (folder / "placed.json").write_text(json.dumps(placed()))
        (folder / "timing.json").write_text(json.dumps(timing()))
        for name, version in VERSIONS.items():
            self.make(name, version)

    def make(self, name: str, version: str) -> Path:
        path = self.folder / name
        path.write_text(f"#!{_PYTHON}\n" + _PROGRAM.format(version=version))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def does(self, name: str, text: str) -> None:
        """Have a program do something else the next time."""
        (self.folder / f"{name}.does").write_text(text)

    def calls(self) -> list[list[str]]:
        """What was called since the last time that this was asked."""
        path = self.folder / "calls.txt"
        if not path.exists():
            return []
        found = [json.loads(line) for line in path.read_text().splitlines()]
        path.unlink()
        return found

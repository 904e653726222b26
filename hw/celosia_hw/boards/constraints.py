"""Pin constraints in the formats of the tools."""

from celosia.arch.board import Board, FamilyName
from celosia_hw.boards.platform_pins import PinGroup

__all__ = ["CONSTRAINTS_FILES", "constraints", "vivado_script"]

#: Name of the constraints file of each family.
CONSTRAINTS_FILES: dict[FamilyName, str] = {
    "ecp5": "top.lpf", "gowin": "top.cst", "xilinx7": "top.xdc"}


def _lines(family: FamilyName, port: str, pin: str, group: PinGroup) -> list[str]:
    """Constraints of one pin."""
    attrs = dict(group.attrs)
    pairs = " ".join(f"{key}={value}" for key, value in attrs.items())
    if family == "ecp5":
        return [f'LOCATE COMP "{port}" SITE "{pin}";',
                *([f'IOBUF PORT "{port}" {pairs};'] if attrs else [])]
    if family == "gowin":
        return [f'IO_LOC "{port}" {pin};', *([f'IO_PORT "{port}" {pairs};'] if attrs else [])]
    return [f"set_property {key} {value} [get_ports {{{port}}}]"
            for key, value in (("PACKAGE_PIN", pin), *attrs.items())]


def _clock(family: FamilyName, group: PinGroup) -> list[str]:
    port, mhz = group.port, group.clock_hz / 1e6
    period = 1e3 / mhz
    return {
        "ecp5": [f'FREQUENCY PORT "{port}" {mhz:g} MHZ;'],
        "gowin": [],
        "xilinx7": [f"create_clock -name {port} -period {period:.3f} [get_ports {{{port}}}]"],
    }[family]


def constraints(family: FamilyName, pins: tuple[PinGroup, ...]) -> str:
    """Return the text of the constraints file."""
    lines = []
    for group in pins:
        wide = len(group.names) > 1
        for bit, pin in enumerate(group.names):
            lines += _lines(family, f"{group.port}[{bit}]" if wide else group.port, pin, group)
        if group.clock_hz:
            lines += _clock(family, group)
    if family == "xilinx7":
        lines += ["set_property CFGBVS VCCO [current_design]",
                  "set_property CONFIG_VOLTAGE 3.3 [current_design]"]
    return "\n".join(lines) + "\n"


def vivado_script(board: Board) -> str:
    """Tcl that makes ``top.bit`` of ``top.v`` and the constraints, for ``vivado -mode batch``."""
    return f"""\
read_verilog -sv top.v
read_xdc {CONSTRAINTS_FILES[board.family]}
synth_design -top top -part {board.device}{board.package}{board.speed}
opt_design
place_design
phys_opt_design
route_design
report_timing_summary -file timing.txt
report_utilization -file utilization.txt
write_bitstream -force top.bit
"""

"""A folder for those who put the chip into a design of theirs: Verilog, and what is to be known."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from celosia.arch import registers
from celosia.arch.config import TpuConfig
from celosia_hw.grid import ports
from celosia_hw.top import MODULE_NAME, Celosia
from celosia_hw.verilog.chip import chip_verilog

__all__ = ["annotate", "describe", "instance", "modules", "write_folder"]

_MODULE = re.compile(r"^(?:\(\*.*?\*\)\s*)?module\s+(\\\S+|\w+).*?^endmodule[ \t]*\n", re.M | re.S)
_FILE = re.compile(r"[^A-Za-z0-9_.]")
#: What Vivado cannot tell from names: it finds AXI ports by theirs, but takes a reset to be active
#: low, and asks which clock is whose. Other tools pass attributes over.
_ATTRIBUTES = {
    "clk": ('X_INTERFACE_INFO = "xilinx.com:signal:clock:1.0 clk CLK"',
            'X_INTERFACE_PARAMETER = "ASSOCIATED_BUSIF m_axi:s_axil, ASSOCIATED_RESET rst"'),
    "rst": ('X_INTERFACE_INFO = "xilinx.com:signal:reset:1.0 rst RST"',
            'X_INTERFACE_PARAMETER = "POLARITY ACTIVE_HIGH"'),
    "irq": ('X_INTERFACE_INFO = "xilinx.com:signal:interrupt:1.0 irq INTERRUPT"',
            'X_INTERFACE_PARAMETER = "SENSITIVITY LEVEL_HIGH"'),
}
_README = """\
# Celosia {version}, preset {preset}

A {dim} x {dim} array, {formats}; fingerprint {fingerprint}. Written by
`{command}`.

| file | |
|---|---|
| `{files}` | Verilog 2001, synthesisable; top module `{module}`{order} |
| `{module}_instance.v` | an instance to copy |
| `{module}.json` | ports, registers, memories, for programs |
| `{module}_block.tcl` | makes a block for Vivado's IP integrator; no Vivado has run it yet |

**Clock.** All of it runs on `clk`, rising edges. There is no other clock and no crossing.

**Reset.** `rst` is active high and synchronous to `clk`: hold it for one rising edge at least, and
until the clock is good. A source that is active low, such as AXI's `aresetn`, goes through an
inverter; one of another clock through a synchroniser. `rst` forgets bursts that are in flight:
reset the memory's side with it. On-chip memories keep their contents. The soft reset (register
CONTROL) leaves no burst unfinished and may be used at any time.

**Registers.** `s_axil_*` is an AXI4-Lite subordinate, 32-bit data, {address_bits}-bit addresses;
its `awprot` and `arprot` are ignored. Offsets are in `{module}.json` and docs/isa.md.

**Memory.** `m_axi_*` is an AXI4 manager, {bus_bits}-bit data, 32-bit addresses: INCR bursts of full
beats within 4 KiB, IDs 0 and 1, no locks, no narrow beats, secure unprivileged data, AxCACHE
0011. Answers of one ID must come in order. `awqos`, `awregion`, `awuser` and their like do not
exist; tie those of an interconnect to zero.

**Interrupt.** `irq` is a level, high until IRQ_STATUS is cleared.

**Block design.** Vivado's IP packager and module references find `s_axil` and `m_axi` by their
names, and clock, reset polarity and interrupt by the X_INTERFACE attributes of the top module.
`vivado -mode batch -source {module}_block.tcl` packs the chip as a block, in the folder `ip`.
"""
#: Lists files by {module}.f, so that it is the same for one file and for many.
_BLOCK = """\
# Packs the chip as a block of Vivado's IP integrator, in the folder ip beside this file:
#   vivado -mode batch -source {module}_block.tcl
# A project finds it there by its setting ip_repo_paths.
set here [file dirname [file normalize [info script]]]
create_project -in_memory -part xc7a100tcsg324-1
set list [open [file join $here {module}.f]]
foreach name [split [string trim [read $list]] "\\n"] {{
  add_files -norecurse [file join $here $name]
}}
close $list
set_property top {module} [current_fileset]
update_compile_order -fileset [current_fileset]
ipx::package_project -root_dir [file join $here ip] -vendor celosia -library chips \\
  -taxonomy /UserIP -import_files -force
set block [ipx::current_core]
set_property name {module}_{preset} $block
set_property display_name {{Celosia {preset}}} $block
set_property version 1.0 $block
set_property supported_families {{artix7 Beta kintex7 Beta virtex7 Beta zynq Beta \\
  artixuplus Beta kintexuplus Beta virtexuplus Beta zynquplus Beta}} $block
ipx::create_xgui_files $block
ipx::update_checksums $block
ipx::check_integrity $block
ipx::save_core $block
"""


def modules(verilog: str) -> dict[str, str]:
    """Cut Verilog into its modules; names as in an instance, without the backslash of odd ones.

    Raises
    ------
    ValueError
        If there is text that is in no module, or a module comes twice.
    """
    found: dict[str, str] = {}
    rest = []
    end = 0
    for match in _MODULE.finditer(verilog):
        name = match[1].removeprefix("\\")
        if name in found:
            raise ValueError(f"module {name} must be there once")
        found[name] = match[0]
        rest.append(verilog[end:match.start()])
        end = match.end()
    rest.append(verilog[end:])
    for text in rest:
        lines = [line for line in text.splitlines()
                 if line.strip() and not re.match(r"\s*(//|/\*.*\*/\s*$|\(\*.*\*\)\s*$)", line)]
        if lines:
            raise ValueError(f"Verilog must consist of modules, not have {lines[0]!r} outside")
    return found


def annotate(verilog: str) -> str:
    """Add the attributes that Vivado wants to clock, reset and interrupt of the top module."""
    start = verilog.index(f"module {MODULE_NAME}(")
    end = verilog.index("\nendmodule", start)
    top = verilog[start:end]
    for port, attributes in _ATTRIBUTES.items():
        marked = "".join(f"  (* {attribute} *)\n" for attribute in attributes)
        top, count = re.subn(rf"^  ((?:input|output) {port};)$", lambda found, marked=marked:
                             f"{marked}  {found[1]}", top, flags=re.M)
        if count != 1:
            raise ValueError(f"port {port} of module {MODULE_NAME} must be declared once, not "
                             f"{count} times")
    return verilog[:start] + top + verilog[end:]


def _pins(config: TpuConfig) -> list[tuple[str, str, int]]:
    chip = Celosia(config)
    chip._MustUse__silence = True  # type: ignore[attr-defined]
    return [("input" if letter == "i" else "output", name, len(value))
            for letter, name, value in ports(chip)]


def describe(config: TpuConfig) -> dict[str, Any]:
    """Return ports, registers and memories of a chip, for JSON."""
    def interface(name: str) -> str:
        return next((each for each in ("s_axil", "m_axi") if name.startswith(each)), name)

    rows = {"unified_buffer": (config.ub_rows, config.ub_row_bits),
            "accumulators": (config.acc_rows, config.acc_row_bits)}
    return {
        "module": MODULE_NAME, "version": metadata.version("celosia"), "preset": config.name,
        "fingerprint": f"{config.fingerprint:#010x}", "isa_version": registers.ISA_VERSION,
        "array": config.dim, "formats": list(config.formats),
        "clock": {"port": "clk", "edge": "rising"},
        "reset": {"port": "rst", "active": "high", "synchronous": True},
        "interrupt": {"port": "irq", "active": "high", "level": True},
        "ports": [{"name": name, "direction": direction, "width": width,
                   "interface": interface(name)} for direction, name, width in _pins(config)],
        "interfaces": {
            "s_axil": {"protocol": "AXI4-Lite", "role": "subordinate", "data_bits": 32,
                       "address_bits": registers.ADDRESS_BITS},
            "m_axi": {"protocol": "AXI4", "role": "manager", "data_bits": 8 * config.bus_bytes,
                      "address_bits": 32, "id_bits": 1}},
        "registers": [{"name": register.name, "offset": register.offset,
                       "access": register.access.name, "reset": register.init,
                       "description": register.doc}
                      for register in registers.registers(config.ports)],
        "memories": {name: {"rows": count, "row_bits": bits, "bytes": count * bits // 8}
                     for name, (count, bits) in rows.items()},
    }


def instance(config: TpuConfig) -> str:
    """Return an instance of the chip, with a wire for each port."""
    pins = _pins(config)
    wires = [f"wire {f'[{width - 1}:0] ' if width > 1 else ''}{name};" for _, name, width in pins]
    connections = [f"  .{name}({name}){',' if index < len(pins) - 1 else ' '} // {direction}"
                   for index, (direction, name, _) in enumerate(pins)]
    return "\n".join([f"// An instance of {MODULE_NAME}, preset {config.name}.", *wires, "",
                      f"{MODULE_NAME} chip (", *connections, ");", ""])


def _files(texts: Mapping[str, str]) -> dict[str, str]:
    """Give each module a file name of its own, on file systems without capitals too."""
    files: dict[str, str] = {}
    seen: set[str] = set()
    for module, text in texts.items():
        stem = base = _FILE.sub("_", module)
        number = 1
        while stem.lower() in seen:
            number += 1
            stem = f"{base}_{number}"
        seen.add(stem.lower())
        files[f"{stem}.v"] = text
    return files


def write_folder(config: TpuConfig, folder: Path, command: str, *,
                 one_file: bool = False) -> list[Path]:
    """Write the folder; return its files.

    Parameters
    ----------
    command
        That the README names as what wrote it.
    one_file
        Put all modules into one file, in place of one each.

    Raises
    ------
    ValueError
        If ``folder`` is something else, or holds files of somebody else.
    """
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--folder must be a folder, not the file {folder}")
    before = folder / f"{MODULE_NAME}.f"
    if folder.exists() and any(folder.iterdir()) and not before.exists():
        raise ValueError(f"--folder must be a new or empty folder, or one that this command wrote, "
                         f"not {folder}, which holds other files")
    verilog = annotate(chip_verilog(config))
    sources = {f"{MODULE_NAME}.v": verilog} if one_file else _files(modules(verilog))
    files = {f"rtl/{name}": text for name, text in sources.items()}
    files[f"{MODULE_NAME}_instance.v"] = instance(config)
    files[f"{MODULE_NAME}.json"] = json.dumps(describe(config), indent=1) + "\n"
    files[f"{MODULE_NAME}.f"] = "".join(f"rtl/{name}\n" for name in sources)
    files[f"{MODULE_NAME}_block.tcl"] = _BLOCK.format(module=MODULE_NAME, preset=config.name)
    files["README.md"] = _README.format(
        version=metadata.version("celosia"), preset=config.name, dim=config.dim,
        formats=" and ".join(config.formats), fingerprint=f"{config.fingerprint:#010x}",
        command=command, module=MODULE_NAME, address_bits=registers.ADDRESS_BITS,
        bus_bits=8 * config.bus_bytes,
        files=f"rtl/{MODULE_NAME}.v" if one_file else "rtl/*.v",
        order="" if one_file else f", a module a file, listed in `{MODULE_NAME}.f`")
    (folder / "rtl").mkdir(parents=True, exist_ok=True)
    # A file of an earlier chip would be one module too many for tools that take rtl/*.v.
    if before.exists():
        for name in before.read_text(encoding="utf-8").splitlines():
            if re.fullmatch(r"rtl/[A-Za-z0-9_.]+\.v", name):
                (folder / name).unlink(missing_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return [folder / name for name in files]

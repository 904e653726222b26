"""Verilator's lint of the chip's Verilog; every warning that is let through is named here."""

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from celosia.arch.config import TpuConfig
from celosia.storage import ToolchainError
from celosia_sim.build import FLAGS
from celosia_sim.toolchain import verilator
from celosia_sim.verilog import chip_verilog

__all__ = ["WAIVERS", "Finding", "Waiver", "lint", "lint_text"]


@dataclass(frozen=True)
class Waiver:
    """A kind of warning that is no mistake.

    Attributes
    ----------
    rule
        Verilator's name of the warning.
    pattern
        Regular expression that the message must contain.
    declaration
        Regular expression that the source line must begin with (after blanks).
    reason
        Why it is no mistake.
    """

    rule: str
    pattern: str
    declaration: str
    reason: str


WAIVERS = (
    Waiver("CASEOVERLAP", "", "",
           "yosys writes a priority multiplexer as a case whose first match counts"),
    Waiver("PROCASSINIT", "", "", "a register's declaration carries its value after power-up"),
    Waiver("VARHIDDEN", "of signal hides", "input",
           "yosys names the operands of its multiplexer functions a, b and s"),
    Waiver("VARHIDDEN", "'issue'", "wire", "a signal with the name of the instance that it is in"),
    Waiver("UNSIGNED", "Comparison is constant", r"assign .* >= \d+'h0;",
           "the first of a row of comparisons that a loop makes"),
    Waiver("WIDTHEXPAND", "", "",
           "RTLIL operators extend their operands as Verilog does; yosys writes no casts"),
    Waiver("WIDTHTRUNC", "RHS's SHIFTRS? generates", "",
           "yosys narrows the result of a shift to the right, not what is shifted"),
    Waiver("SPLITVAR", "its bitwidth is 1|it is public", "",
           "of the names of records some are those of fields of a bit, and of pins"),
    Waiver("WIDTHTRUNC", "Logical operator LOGNOT", "", "yosys writes `is zero` as ! of a vector"),
    Waiver("UNUSEDSIGNAL", "", r"(wire|reg)\b",
           "yosys keeps the names of signals whose readers it has simplified"),
    Waiver("UNUSEDSIGNAL", "'s_axil_a[rw]prot'", "input",
           "the chip makes no difference between protection levels"),
    Waiver("UNUSEDSIGNAL", "'m_axi_bid'", "input", "all writes have one ID"),
    Waiver("UNUSEDSIGNAL", "'(units_)?rst'", "input",
           "every unit gets the reset, also one whose registers need none"),
    Waiver("UNUSEDSIGNAL", r"'(read|write)_\w+__addr'", "input",
           "addresses of both memories have the bits of the larger one"),
    Waiver("UNUSEDSIGNAL", "'bf16'", "input", "without floating point there is one format"),
    Waiver("UNUSEDSIGNAL", "'active'", "input",
           "only the form for simulation skips elements that are idle"),
    Waiver("UNUSEDSIGNAL", "'keep'", "input",
           "the requantiser looks at 8 bits of a mask that other stages use whole"),
)

_WARNING = re.compile(r"^%(?:Warning|Error)-?(?P<rule>\w*): "
                      r"(?:\S+?:(?P<line>\d+):\d+: )?(?P<text>.*)$")


@dataclass(frozen=True)
class Finding:
    """A warning that no waiver lets through."""

    rule: str
    line: int
    text: str
    source: str

    def __str__(self) -> str:
        return f"{self.rule}: celosia.v:{self.line}: {self.text}\n    {self.source}"


def lint_text(text: str) -> list[Finding]:
    """Lint Verilog with the top module ``celosia`` under ``-Wall``; return what is not waived.

    Raises
    ------
    ToolchainError
        If Verilator is missing.
    """
    lines = text.split("\n")
    with tempfile.TemporaryDirectory(prefix="celosia-lint-") as folder:
        file = Path(folder) / "celosia.v"
        file.write_text(text)
        # As the simulator has them: bits of a record may be made from others of the same record.
        split = Path(folder) / "split.vlt"
        split.write_text(FLAGS.split)
        result = subprocess.run(
            [str(verilator().binary), "--lint-only", "-Wall", "-Wno-DECLFILENAME",
             "--error-limit", "0", "--top-module", "celosia", str(split), str(file)],
            env=verilator().environment(), capture_output=True, text=True)
    output = result.stderr + result.stdout
    findings = []
    for match in map(_WARNING.match, output.splitlines()):
        if not match or match["text"].startswith(("Exiting due to", "Command Failed")):
            continue
        number = int(match["line"] or 0)
        source = lines[number - 1].strip() if number else ""
        if not any(waiver.rule == match["rule"] and re.search(waiver.pattern, match["text"])
                   and re.match(waiver.declaration, source) for waiver in WAIVERS):
            findings.append(Finding(match["rule"] or "ERROR", number, match["text"], source[:120]))
    if result.returncode and "%" not in output:
        raise ToolchainError(f"verilator failed with status {result.returncode}: {output[:500]}")
    return findings


def lint(config: TpuConfig, *, simulation: bool = False) -> list[Finding]:
    """Lint the chip of a configuration, in either form; return what is not waived."""
    return lint_text(chip_verilog(config, simulation=simulation))

"""The folder for a design of one's own."""

import json
import re
import subprocess
from dataclasses import replace

import pytest

from celosia.arch import registers
from celosia.arch.config import PRESETS
from celosia.cli.main import main
from celosia_hw.top import Celosia
from celosia_hw.verilog import package
from celosia_hw.verilog.chip import system_verilog
from celosia_hw.verilog.package import annotate, describe, instance, modules, write_folder
from celosia_sim.toolchain import verilator
from celosia_sim.verilog import chip_verilog

NANO = PRESETS["nano"]


@pytest.fixture(scope="module")
def verilog():
    return chip_verilog(NANO, simulation=False)


@pytest.fixture(autouse=True)
def quick(monkeypatch, verilog):
    """Writing the chip takes seconds: once is enough, for tests/rtl/test_lockstep.py too."""
    monkeypatch.setattr(package, "chip_verilog", lambda config: verilog)


@pytest.fixture
def folder(tmp_path):
    write_folder(NANO, tmp_path / "nano", "celosia verilog --folder nano")
    return tmp_path / "nano"


def test_a_file_a_module_is_the_same_text_as_one_file(folder, tmp_path):
    write_folder(NANO, tmp_path / "one", "", one_file=True)
    files = [folder / line for line in (folder / "celosia.f").read_text().splitlines()]
    assert sorted(files) == sorted((folder / "rtl").glob("*.v"))
    assert len(files) > 50
    one = (tmp_path / "one" / "rtl" / "celosia.v").read_text()
    assert [file.read_text() for file in files] == list(modules(one).values())
    assert len(re.findall(r"^endmodule", one, re.M)) == len(files)
    for file in files:
        assert len(re.findall(r"^module ", file.read_text(), re.M)) == 1


def test_the_script_of_a_block_takes_the_listed_files(folder):
    text = (folder / "celosia_block.tcl").read_text()
    assert "[file join $here celosia.f]" in text
    assert "set_property top celosia [current_fileset]" in text
    assert "set_property name celosia_nano $block" in text
    assert r'"\n"' in text
    assert text.count("{") == text.count("}")
    assert text.count("[") == text.count("]")


def test_verilator_elaborates_the_folder(folder):
    tool = verilator()
    done = subprocess.run(
        [tool.binary, "--lint-only", "-Wno-fatal", "-Wno-lint", "--top-module", "celosia", "-f",
         "celosia.f"], cwd=folder, env=tool.environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_annotated_verilog_is_the_same_but_for_the_attributes(verilog):
    marked = annotate(verilog)
    assert re.sub(r"  \(\* X_INTERFACE_.*?\*\)\n", "", marked) == verilog
    assert '(* X_INTERFACE_PARAMETER = "POLARITY ACTIVE_HIGH" *)\n  input rst;' in marked
    assert re.search(r'clock:1\.0 clk CLK" \*\)\n  \(\* .*"ASSOCIATED_BUSIF m_axi:s_axil, '
                     r'ASSOCIATED_RESET rst" \*\)\n  input clk;', marked)
    assert marked.count("X_INTERFACE_INFO") == 3


def test_json_says_ports_registers_and_memories(folder):
    data = json.loads((folder / "celosia.json").read_text())
    assert data == describe(NANO)
    text = (folder / "rtl" / "celosia.v").read_text()
    for port in data["ports"]:
        width = rf"\[{port['width'] - 1}:0\] " if port["width"] > 1 else ""
        assert re.search(rf"^  {port['direction']} {width}{port['name']};$", text, re.M), port
    header = re.search(r"^module celosia\((.*?)\);", text, re.M | re.S)[1]
    assert len(data["ports"]) == header.count(",") + 1
    assert {port["interface"] for port in data["ports"]} == {"clk", "rst", "irq", "s_axil",
                                                            "m_axi"}
    assert len(data["registers"]) == len(registers.REGISTERS)
    assert data["memories"]["accumulators"] == {"rows": 512, "row_bits": 128, "bytes": 8192}


def test_axi_ports_have_the_names_and_widths_that_tools_infer_from():
    """Those of AMBA AXI4 and AXI4-Lite."""
    both = dict.fromkeys(("valid", "ready"), 1)
    address, answer = {**both, "prot": 3}, {**both, "resp": 2}
    lite = {"aw": address | {"addr": 12}, "ar": address | {"addr": 12},
            "w": both | {"data": 32, "strb": 4}, "b": answer, "r": answer | {"data": 32}}
    burst = address | {"addr": 32, "id": 1, "len": 8, "size": 3, "burst": 2, "lock": 1, "cache": 4}
    full = {"aw": burst, "ar": burst,
            "w": both | {"data": 8 * NANO.bus_bytes, "strb": NANO.bus_bytes, "last": 1},
            "b": answer | {"id": 1},
            "r": answer | {"id": 1, "data": 8 * NANO.bus_bytes, "last": 1}}
    assert {port["name"]: port["width"] for port in describe(NANO)["ports"]} == {
        "clk": 1, "rst": 1, "irq": 1, **{
            f"{prefix}_{channel}{name}": width
            for prefix, channels in (("s_axil", lite), ("m_axi", full))
            for channel, signals in channels.items() for name, width in signals.items()}}


def test_what_json_says_of_a_chip():
    found = describe(replace(NANO, name="mine", ub_rows=100, acc_rows=32, bus_bytes=16))
    told = {name: found[name] for name in found
            if name not in ("version", "fingerprint", "ports", "registers")}
    assert told == {
        "module": "celosia", "preset": "mine", "isa_version": registers.ISA_VERSION, "array": 4,
        "formats": ["int8"], "clock": {"port": "clk", "edge": "rising"},
        "reset": {"port": "rst", "active": "high", "synchronous": True},
        "interrupt": {"port": "irq", "active": "high", "level": True},
        "interfaces": {
            "s_axil": {"protocol": "AXI4-Lite", "role": "subordinate", "data_bits": 32,
                       "address_bits": 12},
            "m_axi": {"protocol": "AXI4", "role": "manager", "data_bits": 128,
                      "address_bits": 32, "id_bits": 1}},
        "memories": {"unified_buffer": {"rows": 100, "row_bits": 32, "bytes": 400},
                     "accumulators": {"rows": 32, "row_bits": 128, "bytes": 512}}}
    assert {port["name"]: port["interface"] for port in found["ports"]
            if port["name"] in ("clk", "rst", "irq", "s_axil_awaddr", "m_axi_rdata")} == {
        "clk": "clk", "rst": "rst", "irq": "irq", "s_axil_awaddr": "s_axil",
        "m_axi_rdata": "m_axi"}
    assert found["registers"][0] == {
        "name": registers.REGISTERS[0].name, "offset": 0, "access": "RO",
        "reset": registers.REGISTERS[0].init, "description": registers.REGISTERS[0].doc}


def test_instance_connects_every_port_once():
    text = instance(NANO)
    pins = [port["name"] for port in describe(NANO)["ports"]]
    assert re.findall(r"^  \.(\w+)\(\1\)", text, re.M) == pins
    assert re.findall(r"^wire (?:\[\d+:0\] )?(\w+);", text, re.M) == pins
    assert text.count(", //") == len(pins) - 1


def test_readme_says_clock_reset_and_the_command(folder):
    text = (folder / "README.md").read_text()
    assert text.startswith("# Celosia ")
    assert "`celosia verilog --folder nano`" in text
    assert "`rst` is active high and synchronous to `clk`" in text
    assert "{" not in text


def test_another_chip_in_the_folder_leaves_nothing_of_the_first(tmp_path):
    write_folder(NANO, tmp_path, "", one_file=False)
    (tmp_path / "rtl" / "mine.v").write_text("module mine; endmodule\n")
    write_folder(NANO, tmp_path, "", one_file=True)
    assert sorted(path.name for path in (tmp_path / "rtl").iterdir()) == ["celosia.v", "mine.v"]


def test_folders_of_others_are_left_alone(tmp_path):
    (tmp_path / "README.md").write_text("mine")
    with pytest.raises(ValueError, match="^--folder must be a new or empty folder, or one that "
                                         "this command wrote, not .*, which holds other files$"):
        write_folder(NANO, tmp_path, "")
    with pytest.raises(ValueError, match="^--folder must be a folder, not the file .*README.md$"):
        write_folder(NANO, tmp_path / "README.md", "")
    assert (tmp_path / "README.md").read_text() == "mine"


@pytest.mark.parametrize(("text", "message"), [
    ("module a;\nendmodule\nmodule a;\nendmodule\n", "module a must be there once"),
    ("module a;\nendmodule\nwire b;\n",
     "Verilog must consist of modules, not have 'wire b;' outside"),
])
def test_odd_verilog_is_an_error(text, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        modules(text)


def test_port_that_is_not_there_is_an_error():
    with pytest.raises(ValueError, match="^port clk of module celosia must be declared once, not 0 "
                                         "times$"):
        annotate("module celosia(rst);\n  input rst;\nendmodule\n")


def test_command(tmp_path, capsys):
    out = tmp_path / "edge"
    assert main(["verilog", "--preset", "nano", "--folder", str(out)]) == 0
    assert re.fullmatch(rf"{re.escape(str(out))}: \d+ files; .*README.md explains them\n",
                        capsys.readouterr().out)
    for arguments, message in (
            (("--one-file",), "--one-file must be used with --folder"),
            (("--folder", "x", "--simulation"),
             "--simulation must be used without --folder, which is for synthesis")):
        assert main(["verilog", *arguments]) == 1
        assert capsys.readouterr().err == f"celosia: error: {message}\n"


def test_pins_are_those_of_the_chip():
    chip = Celosia(NANO)
    chip._MustUse__silence = True
    assert len(describe(NANO)["ports"]) == len(list(chip.signature.members))


def test_a_board_without_links_refuses_a_chip_with_ports():
    with pytest.raises(ValueError, match=r"^TpuConfig.ports of a chip on a board must be 0, not 2: "
                       r"boards have no links$"):
        system_verilog(replace(NANO, name="linked", ports=2), None)

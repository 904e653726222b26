"""Building the stand-in chip: what is reused, what is rebuilt, how failures read."""

import re
import shutil
import time
from pathlib import Path

import pytest
from stub import SCRATCH, stub_config, stub_verilog

from celosia.storage import ToolchainError, compiler
from celosia_sim import build
from celosia_sim.build import FLAGS, TRACES, _join, build_library, verilate
from celosia_sim.library import ChipLibrary

CONFIG = stub_config(8)
few_cycles = pytest.mark.usefixtures("few_cycles")


@few_cycles
def test_second_build_comes_from_the_cache():
    path = build_library(stub_verilog(8), CONFIG)
    said = []
    begin = time.perf_counter()
    assert build_library(stub_verilog(8), CONFIG, announce=said.append) == path
    assert time.perf_counter() - begin < 1
    assert said == []


@few_cycles
def test_what_a_build_depends_on():
    text = stub_verilog(8)
    path = build_library(text, CONFIG)
    other = build_library(text.replace("12'h00: scratch <= s_axil_wdata",
                                       "12'h00: scratch <= ~s_axil_wdata"), CONFIG)
    assert other != path
    chip = ChipLibrary(other)
    chip.write_register(SCRATCH, 1)
    assert chip.read_register(SCRATCH) == (0, 0xFFFFFFFE)
    chip.close()


def test_every_file_is_compiled_once_with_its_flags(tmp_path, monkeypatch):
    compiled, beside = [], tmp_path / "beside.cpp"
    beside.write_text("int beside;\n")
    monkeypatch.setattr(build, "_SMALL", 0)
    for path, flags in verilate(stub_verilog(8), tmp_path, trace="vcd", beside=[beside]):
        names = re.findall('^#include "(.*[.]cpp)"$', path.read_text(), re.MULTILINE)
        compiled += [(Path(name), flags) for name in names]
    assert dict(compiled) == {beside: FLAGS.fast} | {
        path: FLAGS.slow if "Slow" in path.name else
        FLAGS.trace if "Trace" in path.name else FLAGS.fast
        for path in (tmp_path / "cpp").glob("Vcelosia*.cpp")}
    assert len(compiled) == len({name for name, _ in compiled}) > 7
    # Macros of what stands beside the chip do not reach the chip.
    assert [name for name, flags in compiled if flags == FLAGS.fast][-1] == beside


def test_large_files_are_compiled_side_by_side(tmp_path):
    parts = [tmp_path / f"V{number}.cpp" for number in range(3)]
    for path in parts:
        path.write_text("//" + "-" * 2_000_000)
    joined = _join(tmp_path, FLAGS.fast, [])
    assert [path.read_text().count("#include") for path, _ in joined] == [2, 1]


def test_few_bytes_are_compiled_with_the_others(tmp_path):
    names = ("V.cpp", "V__Slow.cpp", "V__Trace.cpp")
    for name in names:
        (tmp_path / name).write_text("//" + "-" * 60_000)
    [(path, flags)] = _join(tmp_path, FLAGS.fast, [])
    assert flags == FLAGS.fast
    assert all(f'/{name}"' in path.read_text() for name in names)
    (tmp_path / names[1]).write_text("//" + "-" * 70_000)
    assert [flags for _, flags in _join(tmp_path, FLAGS.fast, [])] == [FLAGS.fast, FLAGS.slow]


def test_headers_are_compiled_once_for_all_chips(tmp_path):
    source = tmp_path / "sizes.cpp"
    # Without the headers it would not compile.
    source.write_text("unsigned long sizes() { return sizeof(std::deque<VlWide<3>>); }\n")
    for _ in range(2):
        [made] = build.compile_chip([(source, FLAGS.fast)], tmp_path)
        assert made.stat().st_size > 0
    flag, fast = build._precompiled(FLAGS.fast, "")
    assert (flag, Path(fast).exists()) == ("-include-pch", True)
    assert build._precompiled(FLAGS.fast, "")[1] == fast != build._precompiled(FLAGS.slow, "")[1]


@few_cycles
def test_damaged_library_is_built_again():
    # A comment makes a key that no other test has loaded. Another run of the tests may have, and
    # would die of a file that is cut short: another one takes its place.
    path = build_library(stub_verilog(8) + "// damaged\n", CONFIG)
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content[:1000])
    again = build_library(stub_verilog(8) + "// damaged\n", CONFIG)
    assert again == path
    assert again.stat().st_size == pytest.approx(len(content), rel=0.01)
    ChipLibrary(again).close()


def test_verilator_error_names_the_line_and_the_log(tmp_path, monkeypatch):
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path))
    with pytest.raises(ToolchainError) as caught:
        build_library("module celosia(input clk);\n  assign x = ;\nendmodule\n", CONFIG)
    message = str(caught.value)
    assert message.startswith("verilator failed with status 1; the log is ")
    assert "chip.v:2:14: syntax error" in message
    logs = list(tmp_path.glob("failed/verilator-*.log"))
    assert len(logs) == 1
    assert str(logs[0]) in message
    assert not list(tmp_path.rglob("*.tmp"))


@few_cycles
def test_compiler_error_names_the_pin_and_the_log(tmp_path, monkeypatch):
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path))
    text = stub_verilog(8).replace("m_axi_rlast", "m_axi_rfinal")
    with pytest.raises(ToolchainError, match=r"(?s)^c\+\+ failed with status 1; .*m_axi_rlast"):
        build_library(text, CONFIG)
    assert not list(tmp_path.rglob("*.tmp"))


@few_cycles
@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++")
def test_system_compiler(monkeypatch, tmp_path):
    compiler.cache_clear()
    monkeypatch.setenv("CELOSIA_CXX", "g++")
    try:
        chip = ChipLibrary(build_library(stub_verilog(8), CONFIG))
        chip.write_register(SCRATCH, 77)
        assert chip.read_register(SCRATCH) == (0, 77)
        chip.close()
    finally:
        monkeypatch.delenv("CELOSIA_CXX")
        compiler.cache_clear()


def test_trace_format_is_checked():
    known = ", ".join(map(repr, TRACES))
    with pytest.raises(ValueError, match=f"^trace must be one of {known}, not 'gif'$"):
        build_library("", CONFIG, trace="gif")

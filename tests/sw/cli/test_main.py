import argparse
import errno
import importlib
import json
import os
import re
import subprocess
import sys
import tracemalloc
import types

import ml_dtypes
import numpy as np
import pytest

from celosia.arch.config import PRESETS, preset
from celosia.cli import files
from celosia.cli import run as command_run
from celosia.cli.info import _size
from celosia.cli.inputs import random_array
from celosia.cli.main import main
from celosia.program import Program
from celosia.program.asm import assemble

ADD = """\
        .chip core
        .name add
        .buffer x, float32[4, 16], input
        .buffer h, bfloat16[16], input
        .buffer y, float32[4, 16], output
        load    acc[0], @x, fmt=w32, rows=4, cols=16, pitch=64
        load    acc[4], @h, fmt=bf16, rows=1, cols=16
        vector  fadd, acc[0], acc[0], acc_row[4], n0=4
        store   acc[0], @y, fmt=w32, rows=4, cols=16, pitch=64
        halt
"""


@pytest.fixture
def add(tmp_path):
    path = tmp_path / "add.s"
    path.write_text(ADD)
    return path


def fails(capsys, *arguments: str) -> str:
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def test_help_of_every_command(capsys):
    for command in ([], ["info"], ["asm"], ["disasm"], ["run"], ["verilog"]):
        with pytest.raises(SystemExit) as caught:
            main([*command, "--help"])
        assert caught.value.code == 0
        text = capsys.readouterr().out
        assert text.startswith(f"usage: celosia {' '.join(command)}".rstrip())
        assert "examples" in text or "example (" in text or "start here" in text


def test_version_and_module():
    for option, text in (("--version", "celosia 0.1.0\n"), ("info", "preset")):
        run = subprocess.run([sys.executable, "-m", "celosia", option], capture_output=True,
                             text=True, check=True)
        assert run.stdout.startswith(text)


@pytest.mark.parametrize(("arguments", "message"), [
    ([], "celosia: error: the following arguments are required: COMMAND"),
    (["runn"], "celosia: error: argument COMMAND: invalid choice: 'runn'"),
    (["run"], "celosia run: error: the following arguments are required: FILE"),
    (["run", "x", "--backend", "gpu"], ("celosia run: error: argument --backend: invalid choice: "
                                       "'gpu'")),
])
def test_wrong_usage_is_2(capsys, arguments, message):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith(message)


def test_what_needs_no_chip_loads_none():
    code = """
import sys
from celosia.cli.main import main
main(["info"])
print([name for name in ("celosia.model", "celosia.profile", "celosia.graph", "celosia_sim",
                         "amaranth", "jax", "numpy") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_info_is_a_table_of_the_presets(capsys):
    assert main(["info"]) == 0
    table, _, backends = capsys.readouterr().out.partition("\n\n")
    lines = table.splitlines()
    assert [re.split("  +", line) for line in lines[:3] + lines[-1:]] == [
        ["preset", "array", "PEs", "formats", "unified buffer", "accumulators", "bus", "window",
         "fingerprint"],
        ["pico", "2x2", "4", "int8", "1024 rows, 2 KiB", "512 rows, 4 KiB", "4 bytes", "2",
         f"{preset('pico').fingerprint:#010x}"],
        ["nano", "4x4", "16", "int8", "2048 rows, 8 KiB", "512 rows, 8 KiB", "4 bytes", "4",
         f"{preset('nano').fingerprint:#010x}"],
        ["v1", "256x256", "65536", "int8", "98304 rows, 24 MiB", "4096 rows, 4 MiB",
         f"{preset('v1').bus_bytes} bytes", str(preset("v1").window),
         f"{preset('v1').fingerprint:#010x}"]]
    assert len({line.rindex("0x") for line in lines[1:]} | {lines[0].index("fingerprint")}) == 1
    assert backends.startswith("backends: model")


@pytest.mark.parametrize(("nbytes", "said"), [
    (0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"),
    ((1 << 20) - 1024, "1023 KiB"), (1 << 20, "1 MiB"), (5 << 19, "2.5 MiB"),
    (1 << 31, "2048 MiB")])
def test_sizes_are_said_in_the_largest_unit(nbytes, said):
    assert _size(nbytes) == said


def test_info(capsys):
    assert main(["info"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:8]] == list(PRESETS)
    assert lines[5].split()[:5] == ["core", "16x16", "256", "int8", "bf16"]
    assert "512 KiB" in lines[5]
    assert lines[-1].startswith("backends: model")
    assert main(["info", "v1", "--json"]) == 0
    (facts,) = json.loads(capsys.readouterr().out)
    assert facts["pes"] == 65536
    assert facts["ub_bytes"] == 24 << 20
    assert facts["fingerprint"] == f"{PRESETS['v1'].fingerprint:#010x}"
    assert fails(capsys, "info", "v3") == (
        "celosia: error: preset must be one of pico, nano, edge, core4, core, v2, v1, not 'v3'\n")


def test_asm_and_disasm(capsys, add, tmp_path):
    assert main(["asm", str(add)]) == 0
    binary = tmp_path / "add.bin"
    assert capsys.readouterr().out == f"{binary}: 5 instructions, 576 bytes of memory\n"
    program = Program.load(binary)
    assert program.sources == tuple(f"{add}:{line}" for line in range(6, 11))
    text = tmp_path / "back.s"
    assert main(["disasm", str(binary), "-o", str(text)]) == 0
    assert assemble(text.read_text()) == program
    assert main(["disasm", str(binary)]) == 0
    assert capsys.readouterr().out == text.read_text()


def test_asm_of_another_chip(add, tmp_path):
    add.write_text("halt\n")
    assert main(["asm", str(add), "--preset", "nano", "-o", str(tmp_path / "x")]) == 0
    assert Program.load(tmp_path / "x").fingerprint == PRESETS["nano"].fingerprint


def test_asm_that_fails(capsys, add, tmp_path):
    add.write_text(".chip core\nmatmull acc[0]\n")
    assert fails(capsys, "asm", str(add)) == (
        f"celosia: error: {add}:2:1: an instruction must come here, not 'matmull'; did you mean "
        f"'matmul'?\n  matmull acc[0]\n  ^\n")
    assert fails(capsys, "asm", str(tmp_path / "none.s")) == (
        f"celosia: error: {tmp_path / 'none.s'}: No such file or directory\n")
    add.write_text(ADD)
    assert fails(capsys, "asm", str(add), "-o", str(add)) == (
        f"celosia: error: the program file must have another name than its source, not {add}\n")
    other = f"{add.parent}/../{add.parent.name}/{add.name}"
    assert fails(capsys, "asm", str(add), "-o", other) == (
        f"celosia: error: the program file must have another name than its source, not {other}\n")
    assert add.read_text() == ADD
    assert fails(capsys, "disasm", str(add), "-o", other) == (
        f"celosia: error: the text must have another name than its source, not {other}\n")
    assert add.read_text() == ADD
    add.write_bytes(b"\x7fELF\xff")
    assert fails(capsys, "run", str(add)) == (
        f"celosia: error: {add}: a program must begin with b'CELOSIA\\x1a' or be UTF-8 text, but "
        f"byte 4 is 0xff\n")
    add.write_bytes(b"CELOSIA\x1a")
    assert fails(capsys, "run", str(add)) == (
        f"celosia: error: {add}: a program file must have 24 bytes before its body, not end at "
        f"offset 8\n")


def test_run(capsys, add, tmp_path):
    x = np.arange(64, dtype=np.float32).reshape(4, 16)
    h = np.full(16, 0.5, ml_dtypes.bfloat16)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "h.npy", h)
    assert main(["run", str(add), "--input", f"x={tmp_path / 'x.npy'}", "--input",
                 f"h={tmp_path / 'h.npy'}", "--save", f"y={tmp_path / 'y.npy'}",
                 "--dump", "y"]) == 0
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), x + 0.5)
    out = capsys.readouterr().out
    assert out.startswith("program       add, 5 instructions, for core\nbackend       model\n"
                          "status        done\ncycles        ")
    assert "memory        288 bytes read, 256 bytes written\n" in out
    assert "\ny: float32[4, 16]\n[[ 0.5" in out


def test_run_with_random_inputs_is_reproducible(capsys, add):
    outputs = []
    for seed in ("1", "1", "2"):
        assert main(["run", str(add), "--random", seed, "--dump", "y", "--json"]) == 0
        facts = json.loads(capsys.readouterr().out)
        assert facts["status"] == "done"
        assert facts["counters"]["instructions"] == 5
        outputs.append(facts["buffers"]["y"])
    assert outputs[0] == outputs[1] != outputs[2]


def test_run_of_a_program_with_absolute_addresses(capsys, add):
    add.write_text("load acc[0], 0x100, fmt=w32, rows=1, cols=16\nhalt\n")
    assert main(["run", str(add), "--preset", "core", "--reserve", "0x1000"]) == 0
    assert "64 bytes read" in capsys.readouterr().out


def test_run_that_fails(capsys, add, tmp_path):
    assert fails(capsys, "run", str(add)) == (
        "celosia: error: inputs must hold x, h, which were never filled\n")
    assert fails(capsys, "run", str(add), "--dump", "z") == (
        "celosia: error: buffer of add must be one of x, h, y, not 'z'\n")
    assert fails(capsys, "run", str(add), "--input", "x") == (
        "celosia: error: --input must be NAME=FILE.npy, not 'x'\n")
    assert fails(capsys, "run", str(add), "--preset", "nano", "--random", "0").startswith(
        "celosia: error: program add must be for this chip, nano, not for preset core with dim 16")
    add.write_text(ADD.replace("rows=4", "rows=5"))
    assert fails(capsys, "run", str(add), "--random", "0") == (
        "celosia: error: fault WINDOW: a transfer leaves the open DMA windows (its first byte: "
        "0x140, which is @y)\n  at instruction 3 of add: store   acc[0], @y, fmt=w32, rows=5, "
        f"cols=16, pitch=64\n  from {add}:9\n")
    add.write_text(".chip 7\nhalt\n")
    assert fails(capsys, "run", str(add)) == (
        "celosia: error: --preset must be given: the program is for a chip with fingerprint "
        "0x00000007, which no preset has\n")
    with pytest.raises(OSError, match="No such file"):
        main(["--debug", "run", str(tmp_path / "none")])


def test_inputs_that_are_no_array(capsys, add, tmp_path):
    path = tmp_path / "x.npz"
    path.write_bytes(b"PK\x03\x04-\x00more")
    start = (f"celosia: error: --input x: {path} must be a .npy file that holds one array, but "
             f"ValueError: ")
    assert fails(capsys, "run", str(add), "--input", f"x={path}") == (
        start + r"the magic string is not correct; expected b'\x93NUMPY', got b'PK\x03\x04-\x00'"
        + "\n")
    path.write_bytes(b"")
    assert fails(capsys, "run", str(add), "--input", f"x={path}") == (
        start + "EOF: reading magic string, expected 8 bytes got 0\n")


def test_random_numbers_take_no_more_memory_than_the_buffer():
    rng = np.random.default_rng
    for whole in (rng(3).integers(-128, 128, (5, 200_000)).astype(np.int8),
                  rng(3).standard_normal((5, 200_000)).astype(np.float32)):
        tracemalloc.start()
        try:
            made = random_array(whole.shape, whole.dtype, rng(3))
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        np.testing.assert_array_equal(made, whole)
        assert peak < whole.nbytes + (2 << 20)


def test_random_numbers_that_do_not_fit_are_not_made(capsys, add, monkeypatch):
    monkeypatch.setattr(command_run, "random_array", lambda *_: pytest.fail("too early"))
    monkeypatch.setattr(command_run, "_options", lambda *_: {"memory_bytes": 1 << 20})
    add.write_text(".chip core\n.buffer x, int8[4000000000], input\nhalt\n")
    assert fails(capsys, "run", str(add), "--random", "0") == (
        "celosia: error: device memory must have 4000000000 bytes in one piece, not 1048576 "
        "(1048576 of 1048576 bytes are free in all)\n")


def test_results_are_looked_at_before_the_work(capsys, add, monkeypatch, tmp_path):
    """A file whose folder is not there, or cannot be written to."""
    def early(*_, **__):
        pytest.fail("too early")

    writer = types.ModuleType("celosia_hw.verilog.chip")
    writer.chip_verilog = early
    monkeypatch.setitem(sys.modules, "celosia_hw.verilog.chip", writer)
    monkeypatch.setattr(files, "read_program", early)
    monkeypatch.setattr("celosia.cli.compile.compile_file", early)
    monkeypatch.setattr(importlib.import_module("celosia.bench.main"), "rows", early)
    source = tmp_path / "net.mlir"
    source.write_text("")
    there = tmp_path / "none" / "file"
    for command, option in (
            (("verilog",), "-o"), (("asm", str(add)), "-o"), (("disasm", str(add)), "-o"),
            (("compile", str(source)), "-o"), (("bench", "table"), "--save")):
        assert fails(capsys, *command, option, str(there)) == (
            f"celosia: error: {option} must be a file in a folder that exists, not '{there}'\n")
    inside = add / "a" / "b"
    assert fails(capsys, "verilog", "--folder", str(inside)) == (
        f"celosia: error: --folder must be a folder, not {inside} inside the file {add}\n")
    (tmp_path / "rtl").write_text("mine")
    assert fails(capsys, "verilog", "--folder", str(tmp_path)) == (
        f"celosia: error: --folder must be a folder, not the file {tmp_path / 'rtl'}\n")
    there = add.parent / "file"
    monkeypatch.setattr("celosia.storage.destination.TemporaryFile", denied)
    assert fails(capsys, "verilog", "-o", str(there)) == (
        f"celosia: error: -o must be a file that can be written, not '{there}': Permission "
        f"denied\n")
    monkeypatch.setattr("os.access", lambda path, mode: False)
    there.write_text("mine")
    assert fails(capsys, "verilog", "-o", str(there)) == (
        f"celosia: error: -o must be a file that can be written, not '{there}'\n")
    assert there.read_text() == "mine"
    (tmp_path / "rtl").unlink()
    assert fails(capsys, "verilog", "--folder", str(tmp_path)) == (
        f"celosia: error: --folder must be a folder that can be written, not '{tmp_path}': "
        f"Permission denied\n")


def denied(dir):
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def test_a_trace_is_looked_at_before_the_run(capsys, add, tmp_path):
    there = tmp_path / "none" / "x.vcd"
    assert fails(capsys, "run", str(add), "--random", "0", "--backend", "rtl", "--trace",
                 str(there)) == (
        f"celosia: error: --trace must be a file in a folder that exists, not '{there}'\n")


def test_save_writes_the_file_that_was_named(capsys, add, tmp_path):
    assert main(["run", str(add), "--random", "0", "--save", f"y={tmp_path / 'y.out'}"]) == 0
    capsys.readouterr()
    assert np.load(tmp_path / "y.out").shape == (4, 16)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["add.s", "y.out"]
    for path in (tmp_path / "none" / "y.npy", tmp_path):
        assert fails(capsys, "run", str(add), "--random", "0", "--save", f"y={path}") == (
            f"celosia: error: --save y: FILE must be a file in a folder that exists, "
            f"not '{path}'\n")


def test_verilog(capsys, monkeypatch, tmp_path):
    writer = types.ModuleType("celosia_hw.verilog.chip")
    writer.chip_verilog = lambda config, write_grid: (
        f"module celosia; // {config.name} {write_grid.__name__}\nendmodule\n")
    monkeypatch.setitem(sys.modules, "celosia_hw.verilog.chip", writer)
    assert main(["verilog", "--preset", "nano"]) == 0
    assert capsys.readouterr().out == "module celosia; // nano instances\nendmodule\n"
    path = tmp_path / "x.v"
    assert main(["verilog", "--simulation", "-o", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: 2 lines\n"
    assert path.read_text() == "module celosia; // core loops\nendmodule\n"
    monkeypatch.setitem(sys.modules, "celosia_hw.verilog.chip", None)
    assert fails(capsys, "verilog") == (
        "celosia: error: verilog needs the package celosia_hw.verilog.chip: "
        "pip install 'celosia[hw]'\n")


@pytest.mark.parametrize(("name", "where"), [("demo", "celosia.cli.demo"),
                                             ("bench", "celosia.bench")])
def test_delegated_commands(capsys, monkeypatch, name, where):
    module = types.ModuleType(where)

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--size", type=int)
        parser.set_defaults(run=lambda args: args.size)

    module.add_arguments = add_arguments
    monkeypatch.setitem(sys.modules, where, module)
    assert main([name, "--size", "0"]) == 0
    assert main([name, "--size", "3"]) == 3
    monkeypatch.setitem(sys.modules, where, None)
    assert fails(capsys, name) == (
        f"celosia: error: {name} needs the package {where}: pip install 'celosia[demo]'\n")


def test_too_little_memory_is_an_error_like_any_other(capsys, monkeypatch):
    for text in ("Unable to allocate 477 GiB", ""):
        def fail(*_, text=text):
            raise MemoryError(text)
        monkeypatch.setattr("celosia.cli.main.command_parser", fail)
        assert fails(capsys, "info") == f"celosia: error: {text or 'out of memory'}\n"

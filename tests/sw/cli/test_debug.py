"""``celosia debug``: what is printed; the RTL beside the model is in tests/rtl."""

import io

import numpy as np
import pytest

from celosia.arch.config import preset
from celosia.cli.main import main

CORE = preset("core")

TANH = """module @two {
func.func public @main(%x: tensor<64x32xf32> loc("x"), %w: tensor<32x32xf32> loc("w"))
   -> tensor<64x32xf32> {
 %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
   : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32> loc("net.py":7:3)
 %1 = stablehlo.tanh %0 : tensor<64x32xf32> loc("net.py":8:3)
 return %1 : tensor<64x32xf32>
}
}"""


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "two.mlir"
    path.write_text(TANH)
    return str(path)


def test_memory_that_is_too_small(source, capsys):
    assert main(["debug", "oom", source, "--memory", "20000", "--no-cache"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        ("the program must fit 20000 bytes of external memory, not need 20480: 20480 for "
         "arguments, results and constants, 0 for what lies between; most is needed at dot "
         "net.py:7:3 for"),
        "           8,192  x f32[64, 32]",
        "           8,192  result0 f32[64, 32] of tanh net.py:8:3",
        "           4,096  w f32[32, 32]",
        "bytes that are needed at once, from the beginning to the end of a run:",
        "          20,480  ########################  over  dot net.py:7:3",
        "it fits with w and x in bf16: 14336 bytes, compiled",
        "it fits with a batch of 32 in place of 64: 12288 bytes, compiled"]


def test_memory_that_is_large_enough(source, capsys):
    assert main(["debug", "oom", source, "--memory", "20K", "--no-cache"]) == 0
    assert capsys.readouterr().out == (
        "the program needs 20,480 of 20,480 bytes of external memory\n")


@pytest.mark.parametrize("memory", ["0", "12x", "5G", "-1", "1.5M", ""])
def test_memory_that_is_none(source, capsys, memory):
    assert main(["debug", "oom", source, f"--memory={memory}"]) == 1
    assert capsys.readouterr().err == (
        f"celosia: error: --memory must be bytes from 1 to 4294963200, as 67108864 or 64M, not "
        f"{memory!r}\n")


def test_operations_beside_float64(source, capsys):
    given = ["debug", "diverge", source, "--against", "float64"]
    assert main(given) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == ("2 operations of floats on core; the most off by themselves, as parts of "
                        "their largest element:")
    dot, tanh = lines[2:4]
    assert dot.endswith("dot net.py:7:3")
    assert 1e-3 < float(dot.split()[0]) < 5e-3
    assert tanh.endswith("tanh net.py:8:3")
    assert float(tanh.split()[0]) < 1e-6
    assert float(tanh.split()[2]) > 1e-3, "of the products in bf16"
    assert lines[4].startswith("the result that is off most is tanh net.py:8:3: ")
    assert main([*given, "--tolerance", "0.5"]) == 0
    assert main([*given, "--tolerance", "1e-6"]) == 1


PLANTED = """module @planted {
func.func public @main(%x: tensor<8x8xf32> loc("x")) -> (tensor<8x8xbf16>, tensor<8x8xf32>) {
 %0 = stablehlo.convert %x : (tensor<8x8xf32>) -> tensor<8x8xbf16> loc("net.py":3:1)
 %1 = stablehlo.multiply %x, %x : tensor<8x8xf32> loc("net.py":4:1)
 return %0, %1 : tensor<8x8xbf16>, tensor<8x8xf32>
}
}"""


def test_what_formats_lose(tmp_path, capsys):
    path, x = tmp_path / "planted.mlir", np.ones((8, 8), np.float32)
    path.write_text(PLANTED)
    x[0, :3], x[1, :5] = np.float32(3.4e38), 1e-30
    np.save(tmp_path / "x.npy", x)
    given = ["debug", "nan", str(path), "--input", f"x={tmp_path / 'x.npy'}"]
    assert main(given) == 1
    out = capsys.readouterr().out
    assert "convert at net.py:3:1: 3 of 64 elements are not finite" in out
    assert "  convert net.py:3:1: 3 overflowed, of " in out
    assert "  multiply net.py:4:1: 3 overflowed, 5 became 0, of " in out
    x[0, :3] = 1
    np.save(tmp_path / "x.npy", x)
    assert main(given) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "every operation makes finite numbers of finite numbers"
    assert lines[1].startswith("on core, of ")
    assert lines[1].endswith(" elements 5 became 0")
    assert lines[2].startswith("  multiply net.py:4:1: 5 became 0, of ")


@pytest.mark.parametrize(("more", "what"), [
    (["--against", "float64", "--trace", "a.fst"], "--trace must be used with --against model"),
    (["--against", "float64", "--tolerance", "-1"], "--tolerance must be 0 or more, not -1"),
    (["--tolerance", "1"], "--tolerance must be used with --against float64"),
])
def test_options_that_contradict(source, capsys, more, what):
    assert main(["debug", "diverge", source, *more]) == 1
    assert capsys.readouterr().err == f"celosia: error: {what}\n"


#: Runs over the end of the accumulators in a turn of its loop.
FAULT = """.chip nano
.name bad
        mov r1, 30
loop r1, done
        add r2, r2, 100
        vector mov, acc[r2], acc[0], n0=4
done:
        halt
"""


def write(folder, text, name="a.s"):
    (folder / name).write_text(text)
    return str(folder / name)


def test_what_led_to_a_fault(tmp_path, capsys):
    path = write(tmp_path, FAULT)
    assert main(["debug", "fault", path]) == 1
    passed = [f"     2  add     r2, r2, 100    {path}:5",
              f"     3  vector  mov, acc[r2], acc[0], n0=4    {path}:6"]
    assert capsys.readouterr().out.splitlines() == [
        ("fault ACC_RANGE: a stream leaves the accumulators (the last row of the stream: 603, of "
         "512 rows)"),
        "  at instruction 3 of bad: vector  mov, acc[r2], acc[0], n0=4",
        f"  from {path}:6",
        "  with r2 = 0x258",
        "  in a loop over 2..3, 24 turns before its end",
        "before it, 13 instructions in all:",
        *[passed[1], passed[0]] * 4]


def test_what_has_no_fault(tmp_path, capsys):
    assert main(["debug", "fault", write(tmp_path, FAULT.replace("30", "5"))]) == 0
    assert capsys.readouterr().out == "no fault: 13 instructions\n"


def debug(monkeypatch, capsys, commands, *arguments):
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(commands) + "\n"))
    code = main(["debug", "run", *arguments, "--no-cache"])
    return code, capsys.readouterr().out.splitlines()


def test_a_run_step_by_step(tmp_path, monkeypatch, capsys):
    path = write(tmp_path, FAULT.replace("30", "5"))
    code, lines = debug(monkeypatch, capsys, [
        "step 3", "print r2", "watch acc[400..402]", "continue", "print r2", "back 2", "print r2",
        "delete", "break pc=4", "continue", "back 100", f"break {path}:5", "continue", "line",
        "list", "", "quit", "step"], path)
    add = f"     2  add     r2, r2, 100    {path}:5"
    vector = f"     3  vector  mov, acc[r2], acc[0], n0=4    {path}:6"
    assert code == 0
    assert lines == [
        "bad: 5 instructions for nano; help lists the commands",
        "0 instructions executed; next is", f"     0  mov     r1, 5    {path}:3",
        "3 instructions executed; next is", vector, "100",
        f"acc[400..402] was written by {vector.strip()}, 10 instructions executed; next is", add,
        "400",
        "8 instructions executed; next is", add, "300",
        "pc=4, 12 instructions executed; next is", f"     4  halt    {path}:8",
        "0 instructions executed; next is", f"     0  mov     r1, 5    {path}:3",
        f"{path}:5, 2 instructions executed; next is", add,
        "line, 3 instructions executed; next is", vector,
        f"       0  mov     r1, 5    {path}:3", f"       1  loop    r1, 4    {path}:4",
        f"  {add}", f"->{vector}", f"       4  halt    {path}:8"]


def test_rows_as_words_and_as_numbers(tmp_path, monkeypatch, capsys):
    path = write(tmp_path, """.chip nano
        vector mov, acc[2], lane_index[254], n0=2
        halt
""")
    code, lines = debug(monkeypatch, capsys, [
        "step 1", "print acc[2..3]", "print acc[3] i8", "print acc[0..1]"], path)
    assert code == 0
    assert lines[5:-1] == [
        "[[0xfe 0xff 0x100 0x101]", " [0xfe 0xff 0x100 0x101]]", "[[-2 -1  0  1]]",
        "[[0x0 0x0 0x0 0x0]", " [0x0 0x0 0x0 0x0]]"]


def test_tensors_of_a_compiled_program(source, monkeypatch, capsys):
    code, lines = debug(monkeypatch, capsys, [
        "delete", "watch result0", "continue", "tensors", "print x"], source, "--break", "net.py:8")
    assert code == 0
    assert lines[1].startswith("net.py:8, ")
    assert lines[2].endswith("tanh net.py:8:3")
    assert lines[3].startswith("result0 was written by ")
    assert "@result0" in lines[3]
    assert lines[5:8] == ["x", "w", "result0"]
    assert lines[8].startswith("[[ 0.12573022 -0.13210486")
    assert lines[-1].startswith("the program has ended: ")


def test_what_cannot_be_asked(source, monkeypatch, capsys):
    wrong = ["nix", "print nix", "print ub[5..3]", "print ub[0] f32", "print acc[0] f64",
             "print r99", "break pc=9999", "break net.py:99", "break net", "watch acc[9999]",
             "step x"]
    code, lines = debug(monkeypatch, capsys, wrong, source)
    assert code == 0
    known = "rows, as ub[3..5] or acc[7] f32, or one of x, w, result0"
    assert [line.removeprefix("error: ") for line in lines[3:-1]] == [
        ("a command must be one of back, break, continue, delete, help, line, list, print, quit, "
         "step, tensors, watch, not nix"),
        f"what is looked at must be {known}, not 'nix'",
        f"rows of ub must be from 0 to {CORE.ub_rows - 1}, the first one first, not 5..3",
        "lanes of 16 bits must not be shown as f32",
        "lanes must be shown as one of f32, i32, u32, bf16, i8, not 'f64'",
        "a register must be below r32, not r99",
        lines[9].removeprefix("error: "),
        "a line must be one that instructions come from, as net.py:7, net.py:8, not net.py:99",
        "where to stop must be FILE:LINE or pc=N, not 'net'",
        f"rows of acc must be from 0 to {CORE.acc_rows - 1}, the first one first, not 9999..9999",
        "how many instructions must be a number, not 'x'"]
    assert lines[9].startswith("error: pc must be below ")
    assert lines[-1].startswith("the program has ended: ")


@pytest.mark.parametrize(("option", "message"), [
    ("--break=net.py:99", "a line must be one that instructions come from"),
    ("--watch=nix", "what is looked at must be rows")])
def test_options_that_cannot_be(source, monkeypatch, capsys, option, message):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert main(["debug", "run", source, option, "--no-cache"]) == 1
    assert capsys.readouterr().err.startswith(f"celosia: error: {message}")

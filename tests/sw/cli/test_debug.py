"""``celosia debug``: what is printed; the RTL beside the model is in tests/rtl."""

import pytest

from celosia.cli.main import main

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

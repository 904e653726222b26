"""The commands compile and report, and run on what they write."""

import json

import pytest

import copy_build
from celosia.cli.main import main
from celosia.compiled import load

TEXT = """module @net {
func.func public @main(%x: tensor<4x16xf32>, %n: tensor<3xi32>)
    -> (tensor<3xi32>, tensor<4x16xf32>) {
 return %n, %x : tensor<3xi32>, tensor<4x16xf32>
}
}"""


@pytest.fixture(autouse=True)
def _copying(monkeypatch, tmp_path):
    copy_build.use(monkeypatch, tmp_path / "cache")


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "net.mlir"
    path.write_text(TEXT)
    return path


def fails(capsys, *arguments: str) -> str:
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


@pytest.mark.parametrize("command", ["compile", "report"])
def test_help(capsys, command):
    with pytest.raises(SystemExit) as caught:
        main([command, "--help"])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert text.startswith(f"usage: celosia {command}")
    assert "examples" in text
    assert max(map(len, text.splitlines())) <= 100


def test_compile_and_run(capsys, source, tmp_path):
    assert main(["compile", str(source)]) == 0
    output = tmp_path / "net.celosia"
    compiled = load(output)
    assert capsys.readouterr().out == (
        f"{output}: 5 instructions for core, {compiled.program.arena_bytes} bytes of memory\n"
        f"takes in0 f32[4,16], in1 i32[3]\ngives i32[3], f32[4,16]\n")
    assert compiled.name == "net"
    assert main(["run", str(output), "--random", "0", "--dump", "out0"]) == 0
    assert "status        done" in capsys.readouterr().out
    other = tmp_path / "edge"
    assert main(["compile", str(source), "--preset", "edge", "-o", str(other), "--strict",
                 "--no-cache"]) == 0
    assert load(other).config.name == "edge"
    assert main(["compile", str(source), "--fast"]) == 0
    assert [call["fast"] for call in copy_build.calls] == [False, False, True]


def test_report(capsys, source, tmp_path):
    assert main(["report", str(source)]) == 0
    text = capsys.readouterr().out
    assert text.startswith("net, for core (16x16 array, 32 bytes a cycle to memory)\n")
    assert main(["compile", str(source)]) == 0
    capsys.readouterr()
    compiled = tmp_path / "net.celosia"
    assert main(["report", str(compiled)]) == 0
    assert capsys.readouterr().out == text
    assert main(["report", str(compiled), "--json", "--preset", "core"]) == 0
    assert json.loads(capsys.readouterr().out) == load(compiled).report(json=True)
    assert fails(capsys, "report", str(compiled), "--preset", "edge") == (
        f"celosia: error: --preset must be left out or core, for which {compiled} was compiled, "
        f"not edge\n")
    assert fails(capsys, "report", str(compiled), "--fast") == (
        f"celosia: error: --fast must be left out: {compiled} was compiled before\n")


def test_what_cannot_be_compiled(capsys, source, tmp_path):
    assert fails(capsys, "compile", str(tmp_path / "none.mlir")) == (
        f"celosia: error: {tmp_path / 'none.mlir'}: No such file or directory\n")
    assert fails(capsys, "compile", str(source), "-o", str(source)) == (
        f"celosia: error: the compiled program must have another name than its source, not "
        f"{source}\n")
    assert source.read_text() == TEXT
    source.write_text("hello\n")
    error = fails(capsys, "compile", str(source))
    assert error.startswith(f"celosia: error: {source} must be StableHLO\n")
    assert f"{source}:1:1" in error
    source.write_bytes(b"\xff\xfe")
    assert fails(capsys, "report", str(source)).startswith(
        f"celosia: error: {source} must be StableHLO\n  bytes must be MLIR text")
    assert not (tmp_path / "net.celosia").exists()


def test_damaged_programs(capsys, source, tmp_path):
    assert main(["compile", str(source)]) == 0
    capsys.readouterr()
    output = tmp_path / "net.celosia"
    data = output.read_bytes()
    output.write_bytes(data[:-1])
    message = (f"celosia: error: {output}: a compiled program must end at offset {len(data)}, not "
               f"at {len(data) - 1}\n")
    for command in ("report", "run", "disasm"):
        assert fails(capsys, command, str(output)) == message

"""The command profile."""

import io
import json
import sys
from pathlib import Path

import pytest

from celosia.bench.compiled import PROGRAMS
from celosia.cli.main import main

NET = PROGRAMS["convolution"].path
SMALL = """module @net {
func.func public @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
 %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
     : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
 %z = stablehlo.tanh %y : tensor<64x64xf32>
 return %z : tensor<64x64xf32>
}
}"""


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "net.mlir"
    path.write_text(SMALL)
    return path


def test_help(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["profile", "--help"])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert "examples" in text
    assert max(map(len, text.splitlines())) <= 100


def test_the_verdict_is_ten_lines(capsys):
    assert main(["profile", str(NET), "--what-if", "bus_bytes=64,window=32", "--mhz", "50"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 12
    assert lines[0] == "convolution on core, cycles of the model"
    assert "ms at 50 MHz; the array needs 451,584 of them" in lines[1]
    assert lines[2].split()[2] == "convolution.mlir:3"
    assert lines[-1].startswith("what if bus_bytes=64,window=32: ")


def test_json_and_folder(capsys, source, tmp_path):
    folder = tmp_path / "kept"
    assert main(["profile", str(source), "-o", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert json.loads((folder / "profile.json").read_text()) == found
    assert {each.name for each in folder.iterdir()} == {
        "profile.json", "net.pftrace", "net.kanata", "net.stacks"}
    assert sum(line["cycles"] for line in found["lines"]) == found["cycles"]
    assert {line["place"] for line in found["lines"]} >= {"net.mlir:3", "net.mlir:5"}


def test_diff_says_which_lines_and_whether_it_is_slower(capsys, source, tmp_path):
    folder = tmp_path / "kept"
    slow = tmp_path / "slow" / "net.mlir"
    slow.parent.mkdir()
    slow.write_text(SMALL)
    source.write_text(SMALL.replace("stablehlo.tanh", "stablehlo.log"))
    assert main(["profile", str(source), "-o", str(folder)]) == 0
    capsys.readouterr()
    assert main(["profile", "diff", str(folder), str(source)]) == 0
    [same] = capsys.readouterr().out.splitlines()
    assert same.split()[:2] == ["+0", "+0.0%"]
    assert main(["profile", "diff", str(folder), str(slow), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["slower"]
    assert sum(each["after"] - each["before"] for each in found["lines"]) == (
        found["after"] - found["before"]) > 0
    assert main(["profile", "diff", str(folder), str(slow), "--tolerance", "1000"]) == 0
    assert main(["profile", "diff", str(slow), str(folder)]) == 0


def test_a_program_that_runs(capfd, tmp_path):
    script = tmp_path / "run.py"
    script.write_text(f"import sys\nsys.path[:0] = {sys.path!r}\n"
                      "import numpy as np\nimport celosia\n"
                      f"net = celosia.compile({SMALL!r}, 'core')\n"
                      "x = np.ones((64, 64), np.float32)\n"
                      "for _ in range(3):\n    net(x, x)\n"
                      "print('said')\nsys.exit(int(sys.argv[1]))\n")
    assert main(["profile", "--", sys.executable, str(script), "0"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines.pop(0) == "said"
    assert lines[0].split() == ["runs", "cycles", "each", "cycles", "program"]
    assert lines[1].split()[0] == "3"
    assert any("dot" in line for line in lines)
    assert main(["profile", "--", sys.executable, str(script), "7"]) == 7
    capfd.readouterr()
    assert main(["profile", "--json", "--", sys.executable, str(script), "0"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert [(each["program"], each["runs"]) for each in found["runs"]] == [("main", 3)]
    # Its graph is known, so changes of the program are tried: arguments of f32.
    assert "inputs" in {each["kind"] for each in found["findings"]}


def test_processes_of_a_fork_are_told_apart(tmp_path, capfd):
    """A child that ends as its parent does says what it ran itself, and no more."""
    script = tmp_path / "run.py"
    script.write_text(f"import os, sys\nsys.path[:0] = {sys.path!r}\n"
                      "import numpy as np\nimport celosia\n"
                      f"net = celosia.compile({SMALL!r}, 'core')\n"
                      "x = np.ones((64, 64), np.float32)\nnet(x, x)\n"
                      "if pid := os.fork():\n    os.waitpid(pid, 0)\n"
                      "elif len(sys.argv) > 1:\n    net(x, x)\n    net(x, x)\n")
    for more, counts in (([], [1]), (["run"], [1, 2])):
        assert main(["profile", "--json", "--", sys.executable, str(script), *more]) == 0
        found = json.loads(capfd.readouterr().out)
        assert sorted(each["runs"] for each in found["runs"]) == counts


def test_from_standard_input_and_compiled_before(capsys, source, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(SMALL.encode())))
    assert main(["profile", "-"]) == 0
    assert capsys.readouterr().out.startswith("stdin on core")
    made = tmp_path / "net.celosia"
    assert main(["compile", str(source), "-o", str(made)]) == 0
    assert main(["profile", str(made)]) == 0
    assert main(["profile", str(made), "--preset", "edge"]) == 1
    assert "--preset must be left out or core" in capsys.readouterr().err


@pytest.mark.parametrize(("arguments", "said"), [
    (["nothing.mlir"], "nothing.mlir: No such file or directory"),
    (["{net}", "--what-if", "bus_bytes"], "--what-if must be FIELD=N, not 'bus_bytes'"),
    (["{net}", "--what-if", "speed=2"], "a what-if must change one of"),
    (["{net}", "--mhz", "0"], "--mhz must be above 0, not 0"),
    (["{net}", "{net}"], "FILE must be one, not"),
    (["diff", "{net}", "{broken}"], "must be a profile that celosia profile wrote, but KeyError"),
    (["{net}", "-o", "{net}"], "-o must be a folder, not the file"),
    (["--", sys.executable, "-c", "pass"], "ended with 0 and ran nothing on a chip"),
])
def test_what_is_wrong_is_said(capfd, source, tmp_path, arguments, said):
    broken = tmp_path / "broken.json"
    broken.write_text("{}")
    code = main(["profile", *(each.format(net=source, broken=broken) for each in arguments)])
    assert code == 1
    assert said in capfd.readouterr().err
    assert Path(source).read_text() == SMALL

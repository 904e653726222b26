import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from celosia.arch.board import Budget
from celosia.arch.config import PRESETS
from celosia.cli.main import main
from celosia_hw.boards import BOARDS, budgets
from celosia_hw.boards import sources as boards_sources
from fake_fpga import Tools, timing


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """Pretended programs, and Verilog that takes no time, in a folder of its own."""
    made = Tools(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(made.folder))
    monkeypatch.chdir(tmp_path)

    def sources(board, config, freq_hz=None, *, baud=None):
        freq_hz = freq_hz or board.freq_hz
        return boards_sources.Sources(
            board, config, "module top;\nendmodule\n", "", "top.lpf",
            {"clk": board.clock_hz, "clk_sys": freq_hz}, freq_hz, baud or board.baud,
            board.memory_bytes)

    monkeypatch.setattr(boards_sources, "sources", sources)
    return made


def fails(capsys, *arguments: str, code: int = 1) -> str:
    if code == 2:
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2
    else:
        assert main(arguments) == code
    return capsys.readouterr().err


def test_boards_are_listed(capsys):
    assert main(["fpga", "boards"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(BOARDS)
    assert [line.split()[0] for line in lines[1:] if not line.endswith("(not routed yet)")] == [
        "ulx3s"]
    assert main(["fpga", "boards", "--json"]) == 0
    assert [board["name"] for board in json.loads(capsys.readouterr().out)] == list(BOARDS)


def test_build_reports_and_writes_the_report(tools, tmp_path, capsys):
    (tools.folder / "timing.json").write_text(json.dumps(timing(mhz=120)))
    assert main(["fpga", "build", "--board", "ulx3s"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Verilog          the chip for ulx3s ...\nsynthesis        yosys 0.70")
    assert "edge on Radiona ULX3S-85F (85k), 80 MHz, link 3,000,000 baud" in out
    folder = tmp_path / "build" / "fpga" / "ulx3s-edge"
    assert out.endswith("bitstream: build/fpga/ulx3s-edge/celosia-ulx3s-edge.bit\n")
    assert (folder / "celosia-ulx3s-edge.bit").exists()
    report = json.loads((folder / "report.json").read_text())
    assert report["command"] == "celosia fpga build --board ulx3s"
    assert main(["fpga", "table", str(folder / "report.json")]) == 0
    assert "| Radiona ULX3S-85F | `edge` | 80 | 121.0 (1) |" in capsys.readouterr().out


def test_the_folder_is_looked_at_before_the_chip_is_made(tools, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(boards_sources, "sources", lambda *_, **__: pytest.fail("too early"))
    (tmp_path / "build").write_text("mine")
    assert fails(capsys, "fpga", "build", "--board", "ulx3s") == (
        "celosia: error: --out must be a folder, not build/fpga/ulx3s-edge inside the file build\n")
    assert fails(capsys, "fpga", "build", "--board", "ulx3s", "--out", "build", "--sources") == (
        "celosia: error: --out must be a folder, not the file build\n")


def test_json_is_one_object_and_steps_go_elsewhere(tools, capsys):
    (tools.folder / "timing.json").write_text(json.dumps(timing(mhz=100)))
    arguments = ["fpga", "build", "--board", "ulx3s", "--preset", "nano", "--freq", "90.5",
                 "--baud", "115200", "--seeds", "2", "5", "--out", "there", "--json"]
    assert main(arguments) == 0
    captured = capsys.readouterr()
    report = json.loads(captured.out)
    assert "synthesis" in captured.err
    assert (report["fmax_mhz"], report["bitstream"], report["freq_mhz"], report["baud"]) == (
        105, "there/celosia-ulx3s-nano.bit", 90.5, 115200)
    assert report["command"] == ("celosia fpga build --board ulx3s --preset nano --freq 90.5 "
                                 "--baud 115200 --seeds 2 5")
    assert report["fingerprint"] == f"{PRESETS['nano'].fingerprint:#010x}"


def test_sources_need_no_tools(tools, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert main(["fpga", "build", "--board", "arty_a7", "--sources", "--out", "s"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["s/top.v", "s/top.lpf"]
    assert (tmp_path / "s" / "top.v").read_text() == "module top;\nendmodule\n"
    assert main(["fpga", "build", "--board", "ulx3s", "--sources", "--out", "s", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["clocks"] == {"clk": 25_000_000,
                                                             "clk_sys": 80_000_000}


def test_slow_clock_and_too_large_a_design_are_exit_code_1(tools, capsys):
    assert main(["fpga", "build", "--board", "ulx3s"]) == 1
    assert "TIMING NOT MET: clock clk_sys runs at 55.50 MHz, not 80.00" in capsys.readouterr().out
    netlist = json.loads((tools.folder / "netlist.json").read_text())
    cells = netlist["modules"]["top"]["cells"]
    cells.update({f"$mul${i}": cells["$mul$1"] for i in range(2, 200)})
    (tools.folder / "netlist.json").write_text(json.dumps(netlist))
    tools.calls()
    assert main(["fpga", "build", "--board", "ulx3s", "--out", "other"]) == 1
    assert "DOES NOT FIT: edge on ulx3s needs 199 DSP blocks of 156" in capsys.readouterr().out
    assert [call[0] for call in tools.calls()] == ["yosys"]


def test_budgets_are_checked(tools, capsys, monkeypatch):
    monkeypatch.setattr(budgets, "BUDGETS", {("ulx3s", "edge"): {"vpu": Budget(4, 1, 9)}})
    assert main(["fpga", "budget", "--json"]) == 0
    said = capsys.readouterr()
    assert "synthesis" in said.err
    assert json.loads(said.out)["vpu"]["over"] == []
    monkeypatch.setattr(budgets, "BUDGETS", {("ulx3s", "edge"): {"vpu": Budget(3, 1, 9)}})
    assert main(["fpga", "budget"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2:] == ["OVER BUDGET", "vector unit: 4 LUTs, budget 3"]
    assert any("as before" in line for line in lines)
    assert main(["fpga", "budget", "--preset", "nano"]) == 0  # that has none


def test_budget_of_a_family_without_delays_is_an_error(tools, capsys):
    assert fails(capsys, "fpga", "budget", "--board", "tangprimer20k") == (
        "celosia: error: family must be one whose delays were measured (ecp5), not gowin\n")


def test_programming_happens_after_a_good_build_only(tools, capsys):
    assert main(["fpga", "build", "--board", "ulx3s", "--program"]) == 1
    assert "openFPGALoader" not in [call[0] for call in tools.calls()]
    assert main(["fpga", "build", "--board", "ulx3s", "--freq", "40", "--program"]) == 0
    assert tools.calls()[-1] == ["openFPGALoader", "-b", "ulx3s", "celosia-ulx3s-edge.bit"]
    (tools.folder / "openFPGALoader").unlink()
    tools.calls()
    message = "openFPGALoader must be installed: https://trabucayre.github.io/openFPGALoader/"
    assert message in fails(capsys, "fpga", "build", "--board", "ulx3s", "--flash")
    assert tools.calls() == []


@pytest.mark.parametrize(("arguments", "message"), [
    (("--board", "ulx4s"), "argument --board: invalid choice: 'ulx4s' (choose from "),
    ((), "the following arguments are required: --board"),
    (("--board", "ulx3s", "--preset", "huge"), "argument --preset: invalid choice: 'huge'"),
    (("--board", "ulx3s", "--freq", "0"), "argument --freq: must be from 1 to 1000 MHz, not 0"),
    (("--board", "ulx3s", "--freq", "fast"), "argument --freq: invalid _megahertz value: 'fast'"),
    (("--board", "ulx3s", "--baud", "0"), "argument --baud: must be at least 1, not 0"),
    (("--board", "ulx3s", "--seed", "-1"), "argument --seed: must be from 0 to 2147483647, not -1"),
    (("--board", "ulx3s", "--seed", "1", "--seeds", "2"), "not allowed with argument --seed"),
    (("--board", "ulx3s", "--seeds"), "argument --seeds: expected at least one argument"),
    (("--board", "ulx3s", "--program", "--synth-only"), "not allowed with argument"),
])
def test_wrong_usage(capsys, arguments, message):
    assert message in fails(capsys, "fpga", "build", *arguments, code=2)


def test_failing_tool_is_one_error(tools, capsys):
    tools.does("nextpnr-ecp5", "print('ERROR: failed to place'); sys.exit(255)")
    assert fails(capsys, "fpga", "build", "--board", "ulx3s") == (
        "celosia: error: nextpnr-ecp5 failed (exit code 255); "
        "build/fpga/ulx3s-edge/place.log ends with\n  ERROR: failed to place\n")


def test_missing_tool_is_said_before_anything_runs(tools, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    (tools.folder / "ecppack").unlink()
    assert fails(capsys, "fpga", "build", "--board", "ulx3s") == (
        "celosia: error: ecppack must be installed: pip install 'celosia[fpga]'\n")
    assert tools.calls() == []


def test_frequency_that_no_clock_generator_makes_is_an_error(capsys):
    assert re.match("celosia: error: ", fails(capsys, "fpga", "build", "--board", "ulx3s",
                                              "--freq", "999"))


@pytest.mark.parametrize(("error", "message"), [
    (ModuleNotFoundError("No module named 'amaranth_boards'", name="amaranth_boards"),
     "fpga build needs the package amaranth_boards: pip install 'celosia[fpga]'"),
    (ImportError("the pins come from elsewhere"), "the pins come from elsewhere"),
])
def test_missing_board_files_name_the_extra(tools, capsys, monkeypatch, error, message):
    def sources(*_, **__):
        raise error
    monkeypatch.setattr(boards_sources, "sources", sources)
    assert fails(capsys, "fpga", "build", "--board", "ulx3s") == f"celosia: error: {message}\n"


def test_table_of_no_report_is_an_error(tmp_path, capsys):
    path = tmp_path / "report.json"
    path.write_text("{}")
    assert fails(capsys, "fpga", "table", str(path)) == (
        f"celosia: error: {path} must be a report of celosia fpga build of format 1, not None\n")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ended_from_outside_ends_the_tools(tools, tmp_path, number, code):
    tools.does("yosys", f"pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(__import__('os')"
                        f".getpid())); time.sleep(600)")
    script = ("import sys; from celosia_hw.boards import sources as module\n"
              "from celosia_hw.boards.sources import Sources\n"
              "module.sources = lambda b, c, f=None, *, baud: "
              "Sources(b, c, '', '', 'top.lpf', {}, 1, 1, 1)\n"
              "from celosia.cli.main import main\n"
              "sys.exit(main(['fpga', 'build', '--board', 'ulx3s']))")
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    pid = tmp_path / "pid"
    while not (pid.exists() and pid.read_text()):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    error = process.communicate(timeout=60)[1]
    assert process.returncode == code
    assert "Traceback" not in error
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)

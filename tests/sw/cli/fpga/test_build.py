import functools
import importlib
import json
import re

import pytest

from celosia.cli.fpga.build import build, write_sources
from celosia.cli.fpga.errors import FpgaError, ToolFailed, ToolMissing
from celosia.cli.fpga.program import program
from celosia.cli.fpga.report import as_data, as_text, load, table
from celosia.cli.fpga.stamps import locked
from celosia_hw.boards import board
from fake_fpga import ecp5, sources, timing


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def names(calls):
    return [call[0] for call in calls]


def test_build_runs_each_tool_once_and_leaves_bitstream_and_logs(tools, out):
    lines = []
    built = build(sources(), out, say=lines.append)
    synth, _, _, route, pack = tools.calls()
    assert synth[:4] == ["yosys", "-q", "-l", "synthesis.log"]
    assert re.fullmatch(r"read_verilog -sv top\.v; hierarchy -top top; .*flatten.*; "
                        r".*scratchpad -set abc9\.D \d+; synth_ecp5 -nowidelut -top top; "
                        r"write_json mapped\.json", synth[5])
    assert route == [
        "nextpnr-ecp5", "--json", "refined-1.json", "--top", "top", "--seed", "1", "--freq",
        "50.000000", "--timing-allow-fail", "--no-pack", "--no-place", "--report",
        "timing-1.json", "--25k", "--package", "CABGA256", "--speed", "6", "--lpf", "top.lpf",
        "--textcfg", "routed-1.config", "--router", "router1", "--placer", "static"]
    assert pack == ["ecppack", "--compress", "routed-1.config", "celosia-small-nano.bit"]
    assert built.bitstream == out / "celosia-small-nano.bit"
    assert built.bitstream.read_text() == "bits of routed"
    assert (out / "synthesis.log").read_text() == "1. Executing\nmore\n"
    assert (out / "route-1.log").exists()
    assert built.tools == {"yosys": "yosys 0.70", "nextpnr-ecp5": "nextpnr-ecp5 0.11.1",
                           "ecppack": "ecppack 1.4"}
    assert list(built.seconds) == ["synthesis", "floor plan", "seed 1", "packing"]
    assert lines[0] == "synthesis        yosys 0.70 ..."
    assert re.fullmatch(r" {17}\d+ s", lines[1])


def test_chip_is_placed_in_steps(tools, out):
    built = build(sources(), out, seeds=[4, 5])
    _, first, *seeds, _ = tools.calls()
    assert first[1:] == [
        "--json", "netlist.json", "--top", "top", "--seed", "1", "--freq", "50.000000",
        "--timing-allow-fail", "--no-route", "--write", "placed.json", "--25k", "--package",
        "CABGA256", "--speed", "6", "--lpf", "top.lpf", "--router", "router1", "--placer", "static"]
    static = ["--lpf", "top.lpf", "--router", "router1", "--placer", "static"]
    for seed, place, route in zip("45", seeds[::2], seeds[1::2], strict=True):
        assert place[1:10] == ["--json", "planned.json", "--top", "top", "--seed", seed, "--freq",
                               "50.000000", "--timing-allow-fail"]
        assert [*place[10:13], *place[-6:]] == [
            "--no-route", "--write", f"placed-{seed}.json", *static]
        assert route[1:10] == ["--json", f"refined-{seed}.json", *place[3:10]]
        assert route[10:14] == ["--no-pack", "--no-place", "--report", f"timing-{seed}.json"]
        assert f"routed-{seed}.config" in route
    cells = json.loads((out / "planned.json").read_text())["modules"]["top"]["cells"]
    assert {name: cell["attributes"]["BEL"] for name, cell in cells.items()
            if cell["attributes"]} == {"$mul$1": "X1/Y3/MULT18X18D0",
                                       "system.chip.ub.bank0.mem.0.0": "X2/Y3/DP16KD0"}
    assert list(built.seconds) == ["synthesis", "floor plan", "seed 4", "seed 5", "packing"]


def test_floor_plan_is_kept_while_it_is_of_the_same(tools, out):
    build(sources(), out)
    tools.calls()
    lines = []
    build(sources(), out, say=lines.append)
    assert tools.calls() == []
    assert "floor plan       as before" in lines
    (out / "planned.json").unlink()
    build(sources(), out)
    assert tools.calls() == []  # it was made of the same again
    (out / "placed.json").unlink()
    (tools.folder / "placed.json").write_text((tools.folder / "placed.json").read_text().replace(
        "X1/Y3", "X1/Y4"))
    build(sources(), out)
    assert [(call[0], call[2]) for call in tools.calls()] == [
        ("nextpnr-ecp5", "netlist.json"), ("nextpnr-ecp5", "planned.json"),
        ("nextpnr-ecp5", "refined-1.json"), ("ecppack", "routed-1.config")]
    (out / "refined-1.json").unlink()
    build(sources(), out)
    assert tools.calls() == []  # likewise


@pytest.mark.parametrize(("step", "changed"), [
    ("floorplan.plan", "plan"), ("refine.refine", "refine"), ("refine.refine", "PlacedTiming"),
    ("refine.refine", "arc")])
def test_a_step_is_done_again_where_a_source_of_it_has_changed(tools, out, monkeypatch, step,
                                                               changed):
    """Else what the step was before would be taken for what it is."""
    room, name = f"celosia.cli.fpga.{step}".rsplit(".", 1)
    before, done = getattr(importlib.import_module(room), name), []
    source_of = importlib.import_module(build.__module__)._source

    @functools.wraps(before)
    def counted(*arguments):
        done.append(arguments)
        return before(*arguments)

    monkeypatch.setattr(f"{room}.{name}", counted)
    for times in (1, 1, 2, 2):
        if times == 2:
            monkeypatch.setattr(
                f"{build.__module__}._source",
                lambda what: source_of(what) + "*" * (what.__name__ == changed))
        build(sources(), out)
        assert len(done) == times


def test_floor_plan_wants_scipy_before_anything_is_made(tools, out, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ToolMissing,
                       match=r"^scipy must be installed: pip install 'celosia\[fpga\]'"):
        build(sources(), out)
    assert tools.calls() == []
    assert build(sources(), out, synth_only=True).netlist.cells


def test_the_same_again_runs_nothing_and_changes_run_what_they_must(tools, out):
    first = build(sources(), out)
    tools.calls()
    lines = []
    again = build(sources(), out, say=lines.append)
    assert tools.calls() == []
    assert [line.split("  ")[0] for line in lines if line.endswith("as before")] == [
        "synthesis", "floor plan", "seed 1", "seed 1", "packing"]
    assert again.bitstream == first.bitstream
    assert again.used() == first.used()
    build(sources(), out, seeds=[1, 5])
    assert [(call[0], call[6]) for call in tools.calls() if call[0] != "ecppack"] == [
        ("nextpnr-ecp5", "5")] * 2
    build(sources(verilog="module top(); endmodule\n"), out)
    assert names(tools.calls()) == ["yosys", "ecppack"]  # that gave the same netlist


@pytest.mark.parametrize("spoilt", ["mapped.json", "routed-1.config", "celosia-small-nano.bit",
                                    "timing-1.json"])
def test_what_was_changed_or_removed_is_made_again(tools, out, spoilt):
    build(sources(), out)
    (out / spoilt).write_text("{}")
    tools.calls()
    built = build(sources(), out)
    assert tools.calls()
    assert built.bitstream.read_text() == "bits of routed"
    (out / spoilt).unlink()
    build(sources(), out)
    assert (out / spoilt).exists()


def test_another_version_of_a_tool_runs_it_again(tools, out):
    build(sources(), out)
    tools.calls()
    tools.make("ecppack", "Version 1.5")
    build(sources(), out)
    assert names(tools.calls()) == ["ecppack"]


def test_damaged_notes_are_none(tools, out):
    build(sources(), out)
    (out / "stamps.json").write_text('{"netlist.json": 3}')
    tools.calls()
    build(sources(), out)
    assert names(tools.calls()) == ["yosys", *["nextpnr-ecp5"] * 3, "ecppack"]


def test_best_of_the_seeds_is_packed_and_the_worst_is_stated(tools, out):
    built = build(sources(), out, seeds=[3, 1, 7, 3])
    assert [routed.seed for routed in built.routed] == [3, 1, 7]
    assert built.best.seed == 7
    assert [call[2] for call in tools.calls() if call[0] == "ecppack"] == ["routed-7.config"]
    text = as_text(built)
    assert "seed 1: clk_sys 55.50 MHz of 50.00\n" in text
    assert "best: seed 7, 61.50 MHz; worst: seed 1, 55.50 MHz\n" in text


def test_report_has_everything(tools, out):
    built = build(sources(), out, seeds=[1, 2])
    data = as_data(built, "celosia fpga build --board small")
    assert json.loads(json.dumps(data)) == data
    assert data["fmax_mhz"] == 56.5
    assert data["met"] is True
    assert data["gmacs"] == round(16 * 56.5 / 1000, 2)
    assert data["bitstream"] == str(out / "celosia-small-nano.bit")
    assert (data["board"], data["preset"], data["freq_mhz"], data["baud"], data["seed"]) == (
        "small", "nano", 50.0, 1_000_000, 2)
    assert data["fingerprint"] == f"{sources().config.fingerprint:#010x}"
    assert data["version"]
    assert data["tools"]["yosys"] == "yosys 0.70"
    assert data["resources"]["luts"] == {"used": 12, "available": 100, "percent": 12.0}
    assert data["units"]["mxu"]["multipliers"] == 1
    assert data["critical_path"]["start"] == "mxu.row.a[0]"
    assert [seed["fmax_mhz"] for seed in data["seeds"]] == [55.5, 56.5]
    text = as_text(built)
    assert "nano on A small board (25k), 50 MHz, link 1,000,000 baud" in text
    assert re.search(r"^LUTs +12 +100 +12\.0%$", text, re.M)
    assert re.search(r"^vector unit +4 +1 +0 +0$", text, re.M)
    assert "critical path 7.50 ns: 4.75 logic of 2 cells, 2.75 routing, clock clk_sys\n" in text
    assert "  from        mxu.row.a[0] (matrix unit)\n" in text
    assert text.endswith(f"bitstream: {out}/celosia-small-nano.bit")


def test_slow_clock_is_said_and_the_bitstream_is_there(tools, out):
    (tools.folder / "timing.json").write_text(json.dumps(timing(mhz=40.2)))
    built = build(sources(), out)
    assert built.bitstream.exists()
    assert as_data(built, "")["met"] is False
    text = as_text(built)
    assert "clk_sys 41.20 MHz of 50.00 (NOT MET)" in text
    assert ("TIMING NOT MET: clock clk_sys runs at 41.20 MHz, not 50.00. The bitstream may compute "
            "wrong results; build with --freq 41, or try --seeds.\n") in text


def test_design_that_does_not_fit_is_not_routed(tools, out):
    built = build(sources(ecp5(luts=8, block_rams=0)), out)
    assert names(tools.calls()) == ["yosys"]
    assert built.lacks == ["9 LUTs of 8", "1 block RAMs of 0"]
    assert built.bitstream is None
    assert as_data(built, "")["lacks"] == built.lacks
    assert as_text(built).endswith(
        "DOES NOT FIT: nano on small needs 9 LUTs of 8, 1 block RAMs of 0")


def test_synthesis_only_needs_no_other_tool(tools, out):
    for name in ("nextpnr-ecp5", "ecppack"):
        (tools.folder / name).unlink()
    built = build(sources(), out, synth_only=True)
    assert (built.routed, built.bitstream) == ([], None)
    assert as_data(built, "")["fmax_mhz"] is None
    assert "| (not routed) | 9 (9%) |" in table([as_data(built, "")])
    assert "critical path" not in as_text(built)
    with pytest.raises(ToolMissing, match="^nextpnr-ecp5 must be installed: "):
        build(sources(), out)


def test_quick_synthesis_is_another_netlist(tools, out):
    build(sources(), out, synth_only=True, quick=True)
    build(sources(), out, synth_only=True)
    quick, slow = tools.calls()
    assert "scratchpad -set abc9.script" in quick[5]
    assert "abc9.script" not in slow[5]


@pytest.mark.parametrize(("tool", "log"), [("yosys", "synthesis.log"),
                                           ("nextpnr-ecp5", "place.log"),
                                           ("ecppack", "packing.log")])
def test_failing_tool_is_named_with_its_log_and_no_old_bitstream_stays(tools, out, tool, log):
    build(sources(), out)
    tools.calls()
    tools.does(tool, "print('Info: a\\nERROR: it is broken'); sys.exit(1)")
    with pytest.raises(ToolFailed, match=f"^{tool} failed \\(exit code 1\\); "
                                         f"{re.escape(str(out / log))} ends with\n"
                                         "  ERROR: it is broken$"):
        build(sources(verilog="other") if tool == "yosys" else _other_pins(), out)
    assert not (out / "celosia-small-nano.bit").exists()
    assert not (out / "report.json").exists()


def _other_pins():
    made = sources()
    object.__setattr__(made, "constraints", "other")
    return made


def test_tool_that_writes_nothing_is_an_error(tools, out):
    tools.does("yosys", "sys.exit()")
    message = f"yosys must write {out}/mapped.json, but has not; see {out}/synthesis.log"
    with pytest.raises(FpgaError, match=f"^{re.escape(message)}$"):
        build(sources(), out)


def test_second_build_in_the_folder_is_refused(tools, out):
    with locked(out), pytest.raises(FpgaError, match=f"^{re.escape(str(out))} must be no folder of "
                                                     "a build that goes on: "):
        build(sources(), out)


def test_folder_that_is_a_file_is_an_error(tools, out):
    out.write_text("")
    with pytest.raises(FpgaError, match=f"^--out must be a folder that can be written, not "
                                        f"{re.escape(str(out))}: "):
        build(sources(), out)


def test_no_seed_is_an_error(tools, out):
    with pytest.raises(FpgaError, match="^--seeds must have one seed at least$"):
        build(sources(), out, seeds=[])


def test_board_of_vivado_says_so(tools, out):
    made = sources()
    object.__setattr__(made, "board", board("arty_a7"))
    with pytest.raises(FpgaError, match="^board arty_a7 must be built by Vivado: --sources writes "
                                        "what it reads, --synth-only counts cells$"):
        build(made, out)
    object.__setattr__(made, "script", "read_verilog top.v\n")
    assert [path.name for path in write_sources(made, out)] == ["top.v", "top.lpf", "build.tcl"]
    assert build(made, out, synth_only=True).netlist.cells


def test_gowin_has_its_tools_and_is_placed_and_routed_at_once(tools, out):
    made = sources()
    object.__setattr__(made, "board", board("tangprimer20k"))
    built = build(made, out)
    synth, place, pack = tools.calls()
    assert "synth_gowin -nowidelut -no-rw-check -family gw2a " in synth[5]
    assert synth[5].endswith("write_json mapped.json")
    assert [place[0], *place[12:]] == [
        "nextpnr-himbaechel", "--device", "GW2A-LV18PG256C8/I7", "--vopt", "family=GW2A-18",
        "--vopt", "cst=top.lpf", "--write", "routed-1.json"]
    assert pack == ["gowin_pack", "-d", "GW2A-18", "-o", "celosia-tangprimer20k-nano.fs",
                    "routed-1.json"]
    assert list(built.seconds) == ["synthesis", "seed 1", "packing"]
    assert built.bitstream.exists()


def test_netlists_are_mended_for_place_and_route(tools, out):
    build(sources(), out)
    tools.calls()
    read = {name: json.loads((out / f"{name}.json").read_text())["modules"]["top"]["cells"]
            ["system.link.fifo.0.0"]["connections"]["RAD"] for name in ("mapped", "netlist")}
    assert read == {"mapped": [17, "0", "0", "0"], "netlist": [17] * 4}
    kept = (out / "netlist.json").read_text()
    (out / "netlist.json").write_text("{}")
    build(sources(), out)
    assert (out / "netlist.json").read_text() == kept
    assert tools.calls() == []  # what is made of it is the same


def test_programming_calls_the_loader(tools, out):
    built = build(sources(), out)
    tools.calls()
    program(built.sources.board, built.bitstream)
    program(built.sources.board, built.bitstream, flash=True)
    assert tools.calls() == [
        ["openFPGALoader", "-b", "small_board", "celosia-small-nano.bit"],
        ["openFPGALoader", "-b", "small_board", "-f", "celosia-small-nano.bit"]]
    tools.does("openFPGALoader", "print('unable to open ftdi device: -3\\nError'); sys.exit(1)")
    with pytest.raises(ToolFailed, match="^openFPGALoader failed"):
        program(built.sources.board, built.bitstream)


def test_table_has_the_slowest_and_the_fastest_seed(tools, out):
    data = as_data(build(sources(), out, seeds=[1, 4, 2]), "celosia fpga build --board small")
    head, rule, row = table([data]).splitlines()
    assert row == ("| A small board | `nano` | 50 | 55.5..58.5 (3) | 12 (12%) | 3 (3%) | "
                   "1 (25%) | 1 (25%) | 0.89 | `celosia fpga build --board small` |")
    assert head.count("|") == rule.count("|") == row.count("|")
    assert "| `nano` | 50.14 |" in table([{**data, "freq_mhz": 27 * 13 / 7}])


@pytest.mark.parametrize(("text", "found"), [
    ("{", "Expecting property name"), ("[]", "format 1, not 'list'"), ("{}", "format 1, not None"),
    ('{"format": 9}', "format 1, not 9"), (None, "No such file")])
def test_other_files_are_no_reports(tmp_path, text, found):
    path = tmp_path / "report.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(FpgaError, match=f"^{re.escape(str(path))} must be a report of celosia fpga "
                                        f"build.*{re.escape(found)}"):
        load(path)

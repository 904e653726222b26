"""Waveforms of a range of cycles."""

import re

import pytest
from stub import READ, move, random_bytes

from celosia_sim.rtl import SimOptions


def test_vcd_holds_the_cycles_asked_for(open_stub, tmp_path):
    path = tmp_path / "run.vcd"
    chip = open_stub(trace=path, trace_cycles=(20, 39))
    chip.write_memory(0, random_bytes(512))
    move(chip, READ, 0, 8, 8)
    text = path.read_text()
    clock = re.search(r"\$var wire +1 (\S+) clk \$end", text)
    assert clock
    times = [int(t) for t in re.findall(r"^#(\d+)$", text, re.MULTILINE)]
    assert times[0] == 200
    assert times[-1] == 395
    rising = re.findall(rf"^1{re.escape(clock[1])}$", text, re.MULTILINE)
    assert len(rising) == 20
    assert "m_axi_rdata" in text


def test_tracing_changes_no_cycle(open_stub, tmp_path):
    ends = []
    for options in ({}, {"trace": tmp_path / "run.fst"}):
        chip = open_stub(**options)
        move(chip, READ, 0, 8, 8)
        ends.append(chip.now)
    assert ends[0] == ends[1]


def test_fst_is_written_without_system_libraries(open_stub, tmp_path):
    path = tmp_path / "run.fst"
    chip = open_stub(trace=path)
    move(chip, READ, 0, 8, 8)
    chip.close()
    content = path.read_bytes()
    # Block 0 is the header of 329 bytes (length field included), then the writer's name.
    assert content[0] == 0
    assert int.from_bytes(content[1:9], "big") == 329
    kinds, at = [], 0
    while at < len(content):
        kinds.append(content[at])
        at += 1 + int.from_bytes(content[at + 1:at + 9], "big")
    assert at == len(content)
    assert {0, 3, 6} <= set(kinds), "an FST file has a header, a geometry and a hierarchy"


def test_unwritable_path(open_stub, tmp_path):
    with pytest.raises(OSError, match="^cannot write the waveform"):
        open_stub(trace=tmp_path / "nowhere" / "run.vcd")


def test_suffix_chooses_the_format():
    assert SimOptions(trace="a/b.fst").trace_format == "fst"
    assert SimOptions(trace="a/b.vcd").trace_format == "vcd"
    assert SimOptions().trace_format == ""

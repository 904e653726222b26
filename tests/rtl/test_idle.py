"""A chip of which what does not move is not evaluated is the same chip; and it does sleep."""

import ctypes
import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from verilated import library

from celosia_sim.idle import rooms
from celosia_sim.idle.rooms import LEAST, PART, homes, parts, paths, segments
from celosia_sim.idle.sleep import PACE, sleep
from celosia_sim.idle.statements import Statement, condition, read, split, written

#: What the pass is made of.
PASS = vars(importlib.import_module("celosia_sim.idle.sleep"))
#: Two units that sleep, a memory that one writes and the other reads, a ring that never sleeps, an
#: array that a loop writes, and logic between them and behind the pins.
VERILOG = """
module walk(input clk, input go, input [7:0] from, output [7:0] at, output busy);
  reg [7:0] left; reg works;
  initial begin left = 0; works = 0; end
  always @(posedge clk) begin
    if (go) begin left <= from; works <= 1; end
    else if (works) begin left <= left - 1; if (left == 1) works <= 0; end
  end
  assign at = left + 1, busy = works & !go;
endmodule
module keep(input clk, input write, input [7:0] at, input [79:0] row, output [79:0] out);
  reg [79:0] words [0:15];
  reg [79:0] word;
  integer i;
  initial begin for (i = 0; i < 16; i = i + 1) words[i] = 0; word = 0; end
  always @(posedge clk) begin
    if (write) words[at[3:0]] <= row;
    word <= words[at[7:4]];
  end
  assign out = word + 1;
endmodule
module load(input clk, input go, input [7:0] from, output [7:0] at, output busy);
  walk walker(.clk(clk), .go(go), .from(from), .at(at), .busy(busy));
endmodule
module vpu(input clk, input write, input [7:0] at, input [79:0] row, output [79:0] out);
  keep rows(.clk(clk), .write(write), .at(at), .row(row), .out(out));
endmodule
module shift(input clk, input [7:0] from, output reg [7:0] last);
  reg [7:0] cells [0:127];
  integer k;
  initial begin for (k = 0; k < 128; k = k + 1) cells[k] = 0; last = 0; end
  always @(posedge clk) begin
    last <= cells[127];
    for (k = 127; k > 0; k = k - 1) cells[k] = cells[k - 1];
    cells[0] = from;
  end
endmodule
module ring(input clk, output [3:0] place);
  reg [7:0] turn;
  initial turn = 0;
  always @(posedge clk) turn <= turn + 1;
  assign place = turn[7] ? 4'd3 : 4'd7;
endmodule
module mxu(input clk, output [3:0] place);
  ring retire(.clk(clk), .place(place));
endmodule
module dut(input clk, input rst, input go, input [7:0] from, input pin,
           output [79:0] out, output [7:0] at, output through, output reg [31:0] evaluated);
  wire [7:0] where; wire [7:0] last; wire busy; wire [3:0] place; wire [79:0] rows;
  load load(.clk(clk), .go(go), .from(from), .at(where), .busy(busy));
  mxu mxu(.clk(clk), .place(place));
  vpu vpu(.clk(clk), .write(busy & pin), .at(where ^ {place, 4'd0}), .row({10{where}}),
          .out(rows));
  shift grid(.clk(clk), .from(where), .last(last));
  assign out = rows ^ {80{pin}} ^ {72'd0, last}, at = where, through = pin & busy;
  initial evaluated = 0;
  always @(posedge clk) evaluated <= rst ? 0 : evaluated + {31'd0, busy};
endmodule
"""
SHIM = """
#include "Vdut___024root.h"
extern "C" void steps(uint32_t cycles, const uint8_t* pins, uint8_t* result, uint32_t* awake) {
    VerilatedContext context;
    Vdut chip(&context);
    Vdut* const top = &chip;
    top->rst = 0;
    for (uint32_t t = 0; t < cycles; t++) {
        top->go = pins[2 * t] & 1; top->pin = pins[2 * t] >> 1 & 1; top->from = pins[2 * t + 1];
        top->clk = 0; top->eval();
        result[0] = top->through;
        top->clk = 1; top->eval();
        std::memcpy(result + 1, &top->out, 10);
        result[11] = top->at;
        std::memcpy(result + 12, &top->evaluated, 4);
        result += 16;
#ifdef IDLE
        for (CData run : top->rootp->__Vawake) *awake += run != 0;
#endif
    }
}
"""


def steps(idle, pins, verilog=VERILOG):
    """Results of each cycle, and how many runs were awake behind each, all cycles together."""
    shim = ("#define IDLE\n" if idle else "") + SHIM
    results, awake = np.zeros((len(pins), 16), np.uint8), ctypes.c_uint32()
    library(verilog, shim, idle).steps(len(pins), pins.ctypes.data_as(ctypes.c_void_p),
                                       results.ctypes.data_as(ctypes.c_void_p),
                                       ctypes.byref(awake))
    return results, awake.value


def busy():
    """Pins at which something happens, then nothing, then something."""
    rng = np.random.default_rng(22)
    pins = np.zeros((6_000, 2), np.uint8)
    for start in range(0, 6_000, 300):
        pins[start:start + 60, 0] = rng.integers(0, 4, 60)
        pins[start:start + 60, 1] = rng.integers(0, 256, 60)
    return pins


def test_an_idle_chip_is_the_same_chip():
    pins = busy()
    plain, _ = steps(False, pins)
    idle, awake = steps(True, pins)
    np.testing.assert_array_equal(idle, plain)
    assert len(np.unique(plain[:, 1:11], axis=0)) > 50  # or it would say nothing
    assert len(pins) < awake < 3 * len(pins)  # of a dozen runs


def test_a_chip_in_the_smallest_parts_is_the_same_chip(monkeypatch):
    monkeypatch.setattr(rooms, "LEAST", 1)
    monkeypatch.setattr(rooms, "PART", 1)
    pins = busy()
    text = VERILOG + "// in the smallest parts\n"
    idle, awake = steps(True, pins, text)
    np.testing.assert_array_equal(idle, steps(False, pins, text)[0])
    assert awake > 3 * len(pins)  # they are many


def test_all_sleeps_where_nothing_moves():
    quiet = np.zeros((40 * PACE, 2), np.uint8)
    _, first = steps(True, quiet)  # in which everything is looked at once
    _, both = steps(True, np.concatenate([quiet, quiet]))
    # The ring turns; who reads its place wakes every 128 cycles, and what is one run with it stays
    # awake until its array has been looked at.
    assert len(quiet) <= both - first <= 1.4 * len(quiet)


def test_a_model_of_several_classes_stays_as_it_is(tmp_path):
    for name in ("Vdut.h", "Vdut__Syms.h", "Vdut___024root.h", "Vdut_lane.h"):
        (tmp_path / name).write_text("class")
    assert not sleep(tmp_path, "Vdut___024root")
    assert (tmp_path / "Vdut___024root.h").read_text() == "class"


def test_statements_are_split_at_their_ends():
    body = """
    // Body
    vlSelfRef.a = (b ? 1U : 2U);
    if (vlSelfRef.a) {
        vlSelfRef.c[0U] = 1U;
    } else if (b) {
        b = 0U;
    }
    while ((4U > at)) { vlSelfRef.c[at] = (vlSelfRef.a == 3U); at = (1U + at); }
    VL_SHIFTR_WWI(64,64,6, wide, vlSelfRef.c, b);
    """
    texts = split(body)
    assert [text.split()[0] for text in texts] == [
        "vlSelfRef.a", "if", "while", "VL_SHIFTR_WWI(64,64,6,"]
    names = {"a", "b", "c", "at", "wide"}
    assert [(sorted(found.reads), sorted(found.writes)) for found in (
        read(text, names) for text in texts)] == [
        (["b"], ["a"]), (["a", "b"], ["b", "c"]), (["a", "at"], ["at", "c"]),
        (["b", "c", "wide"], ["b", "c", "wide"])]
    assert condition(texts[0]) is None
    branches = condition(texts[1])
    assert branches
    test, yes, no = branches
    assert (test, yes.strip()) == ("(vlSelfRef.a)", "vlSelfRef.c[0U] = 1U;")
    assert no.startswith("if (b)")
    assert [name for name, _ in written("a[b[0U]][1U] = c == 2U;", names)] == ["a"]
    with pytest.raises(ValueError, match="must end with a statement, not 'a = 1U'"):
        split("a = 1U")


def test_rooms():
    large, small = Statement("x" * LEAST, set(), set()), Statement("x", set(), set())
    assert homes([("a",), ("a", "b"), ("a", "b", "c"), ("d", "e"), ()],
                 [large, large, small, small, small]) == [("a",), ("a", "b"), ("a", "b"), (), ()]
    # What is small by itself may be large enough together.
    assert homes([("a", "b"), ("a", "c")], [Statement("x" * (LEAST // 2), set(), set())] * 2) == [
        ("a",)] * 2


def test_what_is_assigned_whole_is_no_news():
    kinds = {"a": "IData/*31:0*/", "wide": "VlWide<2>/*63:0*/", "half": "VlWide<2>/*63:0*/",
             "array": "VlUnpacked<IData/*31:0*/, 4>", "late": "IData/*31:0*/",
             "copy": "VlUnpacked<IData/*31:0*/, 4>", "pair": "VlUnpacked<VlWide<3>/*95:0*/, 2>"}
    statements = [read(text, kinds) for text in (
        "a = 1U;", "wide[0U] = 1U;", "wide[1U] = a;", "half[0U] = wide[1U];", "a = half[1U];",
        "array[2U] = a;", "a = array[1U];", "if (a) { late = 1U; }", "a = late;",
        "copy = array;", "a = copy[1U];",
        "pair[0U] = wide;", "pair[1U] = half;", "a = pair[1U][0U];")]
    # Of the others a run reads what it has not written itself.
    assert PASS["_whole"](statements, set(kinds), kinds) == {"a", "wide", "copy", "pair"}


def test_of_two_writers_each_wakes_the_other():
    v, w = "dut__DOT__a__DOT__v", "dut__DOT__b__DOT__w"
    kinds = {v: "IData/*31:0*/", w: "IData/*31:0*/"}
    long = " + 0U" * LEAST
    model = PASS["_Model"](kinds, set(), [read(text, kinds) for text in (
        f"{v} = 1{long};", f"{w} = {v}{long};", f"{v} = 2{long};")])
    PASS["_settle"](model)
    assert model.runs == [[0], [1], [2]]
    assert model.watch == {v: {0, 1, 2}, w: set()}


def test_paths():
    top = "celosia__DOT__"
    assert paths([
        Statement("", set(), {"__Vtemp_1"}),
        Statement("", {"__Vtemp_1"}, {f"__Vdly__{top}load__DOT__walker__DOT__at"}),
        Statement("", set(), {"irq"})]) == [("load", "walker"), ("load", "walker"), ()]


statement = st.builds(lambda reads, writes: Statement("", set(reads), set(writes)),
                      st.lists(st.sampled_from("abcdef"), max_size=3),
                      st.lists(st.sampled_from("abcdef"), min_size=1, max_size=2))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(statement, st.sampled_from("xyz")), max_size=25))
def test_no_statement_passes_what_it_depends_on(program):
    statements = [found for found, _ in program]
    order = segments(statements, [(home,) for _, home in program])
    place = {index: at for at, index in enumerate(index for run in order for index in run)}
    assert sorted(place) == list(range(len(program)))
    assert all(len({program[index][1] for index in run}) == 1 for run in order)
    for later, second in enumerate(statements):
        for earlier, first in enumerate(statements[:later]):
            if (first.writes & (second.reads | second.writes)) or first.reads & second.writes:
                assert place[earlier] < place[later]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(statement, st.sampled_from((1, PART))), max_size=15))
def test_no_part_of_a_run_reads_what_another_has_written(program):
    statements = [Statement("x" * size, found.reads, found.writes) for found, size in program]
    cut = parts(statements, range(len(statements)))
    place = {index: number for number, part in enumerate(cut) for index in part}
    assert sorted(place) == list(range(len(program)))
    assert all(part == sorted(part) for part in cut)
    for later, second in enumerate(statements):
        for earlier, first in enumerate(statements[:later]):
            if first.writes & (second.reads | second.writes):
                assert place[earlier] == place[later]
            elif first.reads & second.writes:
                assert place[earlier] <= place[later]


def test_what_is_read_before_it_is_assigned_is_zero():
    kinds = dict.fromkeys(("x", "y", "z"), "IData")
    statements = [Statement("y = x;", {"x"}, {"y"}), Statement("z = z + y;", {"z", "y"}, {"z"})]
    model = PASS["_Model"](kinds, {"x", "y", "z"}, statements)
    assert [each.text for each in PASS["_zeros"](model)] == ["x = {};", "z = {};"]

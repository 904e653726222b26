"""Ten lines that say what a profile knows, to the letter."""

import pytest

from celosia.profile.verdict import text


def line(place, cycles, operations=("dot",), parts=None, busy=None, waits=None):
    return {"place": place, "callers": [], "cycles": cycles,
            "operations": {name: len(operations) - i for i, name in enumerate(operations)},
            "parts": parts or {"dot": cycles}, "busy": busy or {}, "waits": waits or {}}


def made(name, array, dram):
    return {"table": name, "joules": (array + 2 + dram) / 1e3,
            "parts": {"vector unit": 2 / 1e3, "array": array / 1e3, "external memory": dram / 1e3}}


KNOWN = {
    "name": "net", "config": "core", "made_by": "model", "host_steps": 0, "cycles": 20_000,
    "ideal_cycles": 15_000, "bound": "mxu", "critical": {"mxu": 16_000, "load": 4_000},
    "lines": [line("net.py:5", 12_000, busy={"mxu": 9_000}), line("net.py:11", 8_000)],
    "findings": [], "energy": [made("one", 5, 3), made("other", 5, 3)]}
HEAD = ("net on core, cycles of the model\n"
        "20,000 cycles, 0.20 ms at 100 MHz; the array needs 15,000 of them (75.0%); bound by the "
        "array (80.0% of the critical path)\n")
NONE = "nothing found that would gain 0.5 % of the cycles\n"
ENERGY = ("energy of such operations, published, not measured here: 10 mJ by one; 10 mJ by other; "
          "array 50%, external memory 30%, vector unit 20%, by both in this order\n")


def test_a_run_of_two_lines():
    assert text(KNOWN) == (
        HEAD + " 60.0%         12,000  net.py:5   dot, array 75%\n"
        " 40.0%          8,000  net.py:11  dot\n" + NONE + ENERGY)


@pytest.mark.parametrize(("change", "megahertz", "head"), [
    ({"made_by": "rtl", "host_steps": 1, "ideal_cycles": 0, "bound": "fetch",
      "critical": {"fetch": 5_000}}, 12.5,
     ("net on core, cycles of the RTL, in 1 step of the host\n"
      "20,000 cycles, 1.60 ms at 12.5 MHz; bound by the fetch of instructions (25.0% of the "
      "critical path)\n")),
    ({"host_steps": 2, "bound": ""}, 0.02,
     ("net on core, cycles of the model, in 2 steps of the host\n"
      "20,000 cycles, 1,000.00 ms at 0.02 MHz; the array needs 15,000 of them (75.0%)\n")),
])
def test_what_it_ran_on_and_what_bounds_it(change, megahertz, head):
    assert text(KNOWN | change, megahertz=megahertz).startswith(head)


def test_a_program_of_the_host_alone():
    """No cycles, and no energy."""
    assert text(KNOWN | {"cycles": 0, "host_steps": 1, "bound": "", "lines": []}) == (
        "net on core, cycles of the model, in 1 step of the host\n0 cycles, 0.00 ms at 100 MHz\n"
        + NONE)


@pytest.mark.parametrize(("bound", "said"), [
    ("mxu", "the array"), ("vpu", "the vector unit"), ("load", "loads from memory"),
    ("store", "stores to memory"), ("scalar", "the scalar unit"),
    ("check", "the checker of instructions"), ("window", "the window of the scoreboard"),
    ("bus", "the bus")])
def test_each_bound_has_a_name(bound, said):
    found = text(KNOWN | {"bound": bound, "critical": {bound: 7_000}})
    assert f"; bound by {said} (35.0% of the critical path)\n" in found


def lines_of(rows, **change):
    """What is said of lines, without what is above and below."""
    found = text(KNOWN | {"lines": rows} | change)
    return found.removeprefix(HEAD).removesuffix(NONE + ENERGY)


def test_a_line_with_most_of_the_cycles_is_shown_by_its_operations():
    """The first five of them, by their cycles; not where there is one alone."""
    parts = {"a": 1, "dot": 7_000, "add (x)": 4_000, "b": 500, "c": 400, "d": 101}
    assert lines_of([line("net.py:5", 12_001, parts=parts)]) == (
        " 60.0%         12,001  net.py:5  dot\n"
        " 35.0%          7,000    dot\n"
        " 20.0%          4,000    add (x)\n"
        "  2.5%            500    b\n"
        "  2.0%            400    c\n"
        "  0.5%            101    d\n")
    assert lines_of([line("net.py:5", 12_000, parts=parts)]) == (
        " 60.0%         12,000  net.py:5  dot\n")
    assert lines_of([line("net.py:5", 20_000, parts={"dot": 20_000})]) == (
        "100.0%         20,000  net.py:5  dot\n")


@pytest.mark.parametrize("count", [5, 6, 8])
def test_five_lines_are_shown_and_the_rest_is_counted(count):
    shown = lines_of([line(f"n:{i}", 100 * (9 - i)) for i in range(count)])
    rest = {5: "", 6: "  2.0%            400  1 more line\n",
            8: "  4.5%            900  3 more lines\n"}[count]
    assert shown == ("  4.5%            900  n:0  dot\n"
                     "  4.0%            800  n:1  dot\n"
                     "  3.5%            700  n:2  dot\n"
                     "  3.0%            600  n:3  dot\n"
                     "  2.5%            500  n:4  dot\n" + rest)


@pytest.mark.parametrize(("more", "said"), [
    ({"operations": ("dot", "add")}, "dot, add"),
    ({"operations": ("dot", "add", "max")}, "dot, add and 1 more"),
    ({"operations": ("dot", "add", "max", "min")}, "dot, add and 2 more"),
    ({"busy": {"mxu": 250, "vpu": 900}}, "dot, array 25%"),
    # It is at work beside another line's cycles, too.
    ({"busy": {"mxu": 2_500}}, "dot, array 100%"),
    ({"busy": {"vpu": 900}}, "dot"),
    ({"waits": {"mxu waits for load": 11}}, "dot, it waits for load"),
    ({"waits": {"mxu waits for load": 10}}, "dot"),
    ({"waits": {"vpu waits for load": 900, "mxu waits: unit": 20, "mxu waits for vpu": 30}},
     "dot, it waits for vpu"),
    ({"busy": {"mxu": 500}, "waits": {"mxu waits: fetch": 400}},
     "dot, array 50%, it waits: fetch"),
])
def test_what_a_line_does_and_what_its_array_waits_for(more, said):
    assert lines_of([line("n:1", 1_000, **more)]) == f"  5.0%          1,000  n:1  {said}\n"


def test_what_could_be_gained_is_numbered():
    known = KNOWN | {"lines": [], "findings": [
        {"kind": "bus", "what": "the bus is narrow", "try": "bus_bytes=16", "place": "n:3",
         "cycles": 17_000, "gain": 3_000},
        {"kind": "window", "what": "few instructions", "try": "window=4", "place": "",
         "cycles": 19_500, "gain": 500}]}
    assert text(known) == (
        HEAD + "1. 3,000 cycles (15.0%): the bus is narrow at n:3\n"
        "   try: bus_bytes=16 -> 17,000 cycles\n"
        "2. 500 cycles (2.5%): few instructions\n"
        "   try: window=4 -> 19,500 cycles\n" + ENERGY)


def test_tables_that_do_not_agree_on_where_the_energy_goes_are_both_said():
    known = KNOWN | {"lines": [], "energy": [made("one", 5, 3), made("other", 0.5, 17.5)]}
    assert text(known).splitlines()[-1] == (
        "energy of such operations, published, not measured here: 10 mJ by one; 20 mJ by other; "
        "array 50%, external memory 30%, vector unit 20%, by the first; by the second external "
        "memory, vector unit, array")

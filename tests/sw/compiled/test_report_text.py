"""The whole text of a report, of facts that are made up."""

from celosia.arch.config import preset
from celosia.compiled.report import text

WORK = {"kind": "fused", "where": "chip", "cycles": 1234, "ideal_cycles": 99, "bound": "vector",
        "utilisation": 0.5, "bytes": 4096, "reason": "a product", "source": "net.py:3",
        "operations": ["dot", "add", "add", "tanh", "exp", "log", "negate", "abs", "sqrt"]}
KNOWN = {
    "name": "net", "config": "core", "inputs": [["x", "f32[4,16]"], ["labels", "i32[4]"]],
    "outputs": [], "cycles": 12340, "instructions": 1234, "utilisation": 0.125,
    "roofline": {"array": 7, "vector": 99, "memory": 10}, "busy": {"load": 0.25, "mxu": 0.0625},
    "depends_on_data": True, "ideal_cycles": 99, "bound": "vector", "other_cycles": 617,
    "works": [WORK, {**WORK, "kind": "copy", "cycles": 11, "operations": [], "reason": "",
                     "source": "", "bound": "array"},
              {**WORK, "kind": "loop", "source": "", "operations": ["while", "while"]}],
    "proofs": ["exp of x: " + "its argument is small and so is its error " * 3],
    "apart": [["a", "b", "another shape"], *[[f"dot{i}", "add", "no room"] for i in range(9)]],
    "arena_bytes": 640,
    "memory": [
        {"name": "in0", "type": "f32[4,16]", "memory": "external", "first": 0, "size": 256},
        {"name": "w", "type": "bf16[8]", "memory": "ub", "first": 16, "size": 1},
        {"name": "h", "type": "f32[4,40]", "memory": "acc", "first": 100, "size": 12}],
}
TEXT = """\
net, for core (16x16 array, 32 bytes a cycle to memory)
takes         x f32[4,16], labels i32[4]
gives         nothing
instructions  1,234 (39,488 bytes)
expected      12,340 cycles (loops that depend on data once), the array used to 12.5%
at best       99 cycles, bound by the vector (array 7, vector 99, memory 10)
busy          load 25.0%, mxu 6.2%

work          where  cycles  share  at best  bound   array  bytes  operations
fused         chip    1,234  10.0%       99  vector  50.0%  4,096  dot, 2 add, tanh, exp, log, \
negate and 2 more
    a product; net.py:3
copy          chip       11   0.1%       99  array   50.0%  4,096
loop          chip    1,234  10.0%       99  vector  50.0%  4,096  2 while
    a product
(start, end)            617   5.0%

short forms that keep the bound
  exp of x: its argument is small and so is its error its argument is small and so is its error \
its argument
    is small and so is its error

not fused
  no room: dot0 with add; dot1 with add; dot2 with add; and 6 more
  another shape: a with b

external memory, an arena of 640 bytes
  0x00000000           256 bytes  in0  f32[4,16]
unified buffer, 16,384 rows
  rows 16..16                    w  bf16[8]
accumulators, 2,048 rows
  rows 100..111                  h  f32[4,40]
"""


def test_all_that_a_report_says():
    assert text(KNOWN, preset("core")) == TEXT


def test_what_there_is_nothing_of_is_left_out():
    known = {**KNOWN, "inputs": [], "busy": {}, "depends_on_data": False, "proofs": [],
             "apart": [KNOWN["apart"][1 + i] for i in range(3)],
             "works": [{**WORK, "operations": WORK["operations"][:7]}],
             "memory": KNOWN["memory"][1:2]}
    said = text(known, preset("core")).splitlines()
    assert said[1] == "takes         nothing"
    assert (said[4], said[6]) == (
        "expected      12,340 cycles, the array used to 12.5%", "busy          -")
    assert said[9].endswith("  dot, 2 add, tanh, exp, log, negate")
    assert said[12:] == [
        "", "not fused", "  no room: dot0 with add; dot1 with add; dot2 with add", "",
        "external memory, an arena of 640 bytes", "unified buffer, 16,384 rows",
        "  rows 16..16                    w  bf16[8]"]


def test_a_program_in_steps():
    host = {"where": "host", "works": [
        {"kind": "fft", "reason": "the chip has none", "source": "net.py:9"}]}
    known = {**KNOWN, "steps": [
        {**KNOWN, "where": "chip"}, host, {"where": "link", "works": []},
        {"where": "call", "works": []}]}
    assert text(known, preset("core")) == f"""\
net, for core and the host, in 4 steps
takes         x f32[4,16], labels i32[4]
gives         nothing
expected      12,340 cycles of the chip

step 1: {TEXT}
step 2: on the host
  fft: the chip has none; net.py:9

step 3: among devices

step 4: functions of the host
"""

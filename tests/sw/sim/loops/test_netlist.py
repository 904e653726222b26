import re

import pytest

from celosia_sim.loops.netlist import Element

HEAD = """module x(clk, rst, en, each, o);
  input clk;
  input rst;
  input [3:0] en;
  input [7:0] each;
  output [7:0] o;
  wire go;
  reg [7:0] o;
  reg [7:0] a;
  reg [7:0] b;
  reg [7:0] c;
  assign go = en[1] & ~ en[2];
"""
SHARED = {"en"}


def groups(*blocks):
    lines = "\n".join(f"  always @(posedge clk)\n    {block}" for block in blocks)
    element = Element.parse(f"{HEAD}{lines}\nendmodule\n", "x")
    return [(guard, [update.registers[0] for update in updates])
            for guard, updates in element.groups(SHARED)]


def test_a_register_is_updated_after_all_that_read_it():
    assert groups("if (en[0]) a <= each;", "if (en[1]) b <= a;", "if (en[2]) o <= b + a;",
                  "if (en[0]) c <= each;") == [
        ("en[2]", ["o"]), ("en[1]", ["b"]), ("en[0]", ["a", "c"])]


def test_a_guard_may_be_a_net_of_shared_inputs():
    assert groups("if (go) o <= each;", "if (go) a <= each;") == [("go", ["o", "a"])]


@pytest.mark.parametrize("condition", ["each[0]", "a[0]"])
def test_a_condition_of_the_element_itself_is_no_guard(condition):
    assert groups(f"if ({condition}) o <= each;", "if (en[0]) a <= each;") == [
        ("", ["o"]), ("en[0]", ["a"])]


@pytest.mark.parametrize("block", [
    "o <= each;", "if (rst) o <= 8'h00;\n    else if (en[0]) o <= each;",
    "if (en[0]) o[3:0] <= each[3:0];"])
def test_other_updates_have_no_guard(block):
    assert groups(block) == [("", ["o"])]


def test_a_register_of_two_blocks_has_no_guard():
    assert groups("if (en[0]) o <= each;", "if (en[1]) o <= a;") == [("", ["o", "o"])]


def test_what_reads_each_other_is_one_group():
    assert groups("if (en[0]) a <= b;", "if (en[1]) b <= a;", "if (en[2]) o <= a;",
                  "if (en[3]) c <= each;") == [
        ("en[2]", ["o"]), ("en[3]", ["c"]), ("", ["a", "b"])]


def test_net_that_depends_on_itself_is_refused():
    block = "  always @(posedge clk)\n    o <= p;\nendmodule\n"
    element = Element.parse(f"{HEAD}  assign p = q;\n  assign q = p;\n{block}", "x")
    with pytest.raises(ValueError, match="^net [pq] must not depend on itself$"):
        element.cone(["p"])


def test_unknown_module():
    with pytest.raises(ValueError, match=re.escape("module must be one of the text's, not 'y'")):
        Element.parse("module x();\nendmodule\n", "y")


def test_what_rests_depends_on_inputs_that_do_and_on_nothing_that_depends_on_it():
    blocks = ("if (rst) a <= 8'h00;\n    else if (en[0]) a <= each;", "if (a[0]) b <= a;",
              "if (en[1]) c <= c + b;", "o[3:0] <= a[3:0];", "o[7:4] <= c[7:4];")
    lines = "\n".join(f"  always @(posedge clk)\n    {block}" for block in blocks)
    element = Element.parse(f"{HEAD}{lines}\nendmodule\n", "x")
    assert element.resting({"rst", "en", "each"}) == {"a": {"rst", "en", "each"}, "b": {"a"}}
    assert element.resting({"rst", "en"}) == {}

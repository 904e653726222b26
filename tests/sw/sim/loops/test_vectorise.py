# amaranth: UnusedElaboratable=no
"""What a grid's elements say and its loops say again."""

import re

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia_hw.grid import Grid
from celosia_hw.verilog.emit import verilog
from celosia_sim.loops.vectorise import loops


class Chooser(wiring.Component):
    """Keeps one of many values."""

    def __init__(self):
        super().__init__({"which": In(3), "each": In(8), "result": Out(8)})

    def elaborate(self, platform):
        m = Module()
        chosen = Signal(8)
        with m.Switch(self.which):
            for number in range(6):
                with m.Case(number):
                    m.d.comb += chosen.eq(self.each ^ (37 * number))
        m.d.sync += self.result.eq(chosen)
        return m


def test_functions_that_select_one_of_many_values_stand_as_they_are():
    element = verilog(Chooser(), name="node")
    text = loops(Grid(Chooser, module="node", cols=3, shared=("which",)), element)
    (function,) = re.findall(r"^  function .*?^  endfunction$", element, re.MULTILINE | re.DOTALL)
    assert text.count(function) == 1
    name = re.escape(function.split()[2])
    # It is called once, with its name, of what has the names of the loops.
    (call,) = re.findall(rf" = {name} +\((.*)\);", text)
    (before,) = re.findall(rf" = {name} +\((.*)\);", element)
    assert "each" in before
    assert not re.search(r"\beach\b", call)

"""What a chip writes of its toggles is read and told, without a chip."""

import pytest

from celosia_sim.toggles import Share, parse, report, shares


def point(module, signal, edge, count):
    fields = {"f": "chip.v", "l": "7", "n": "8", "t": "toggle", "page": "v_toggle/x",
              "o": f"{signal}:{edge}", "h": module}
    return "C '" + "".join(f"\x01{key}\x02{text}" for key, text in fields.items()) + f"' {count}\n"


def both(module, signal, rises, falls):
    return point(module, signal, "0->1", rises) + point(module, signal, "1->0", falls)


TEXT = "# SystemC::Coverage-3\n" + "".join((
    both("chip.celosia", "irq", 2, 2), both("chip.celosia.mxu", "i___05Fready", 1, 0),
    both("chip.celosia", "clk", 1, 0), both("chip.celosia.mxu", "__024procmux__0241_Y", 0, 0),
    *(both("chip.celosia.vpu.tree", f"p__0244[{bit}]", 3, int(bit in (0, 5))) for bit in range(7)),
    both("chip.celosia.vpu", "o", 1, 1), both("chip.celosia.vpu", "o", 0, 4)))


def test_both_edges_of_each_bit_are_counted():
    found = parse(TEXT)
    assert found["celosia", "irq", 0] == (2, 2)
    assert found["celosia.mxu", "i__ready", 0] == (1, 0)
    assert found["celosia.vpu", "o", 0] == (1, 5)  # instances that share a name
    assert len(found) == 10


def test_a_component_is_what_lies_below_the_chip():
    assert shares(parse(TEXT)) == {"(pins)": Share(1, 1), "mxu": Share(1, 0), "vpu": Share(8, 3)}


def test_report_names_what_has_not_toggled():
    assert report(parse(TEXT)).splitlines() == [
        "component        bits  toggled  percent", "(pins)              1        1    100.0",
        "mxu                 1        0      0.0", "vpu                 8        3     37.5",
        "all                10        4     40.0", "never both rose and fell:",
        "celosia.mxu: i__ready[0]", "celosia.vpu.tree: p$4[6,4:1]"]


def test_a_chip_that_does_not_count_is_refused():
    with pytest.raises(ValueError, match=r"^a file of toggles must have bits in it, it has none$"):
        parse("# SystemC::Coverage-3\n")

"""The pass over Verilator's output, on a model written for it."""

from celosia_sim.loops.localise import localise

HEADER = """class Vx___024root final {
    CData/*0:0*/ clk;
    IData/*31:0*/ __Vtask_grid__0__a;
    SData/*15:0*/ __Vtask_grid__0__b;
    IData/*31:0*/ __Vtask_grid__0__shared;
    IData/*31:0*/ __Vtask_grid__0__before;
    VlWide<4>/*127:0*/ __Vtask_grid__0__wide;
};
"""
SLOW = """void reset(Vx___024root* vlSelf) {
    vlSelf->__Vtask_grid__0__a = 0;
    vlSelf->__Vtask_grid__0__b = 0;
}
"""
FAST = """void one(Vx___024root* vlSelf) {
    vlSelfRef.__Vtask_grid__0__before = 1U;
    while ((4U > j)) {
        vlSelfRef.__Vtask_grid__0__a = vlSelfRef.in[j];
        vlSelfRef.__Vtask_grid__0__b = vlSelfRef.__Vtask_grid__0__a;
        vlSelfRef.__Vtask_grid__0__wide[0U] = 0U;
        vlSelfRef.out[j] = (vlSelfRef.__Vtask_grid__0__b + vlSelfRef.__Vtask_grid__0__shared);
        j = ((IData)(1U) + j);
    }
    vlSelfRef.q = 1U;
}
void two(Vx___024root* vlSelf) {
    vlSelfRef.__Vtask_grid__0__shared = vlSelfRef.clk;
    vlSelfRef.q = vlSelfRef.__Vtask_grid__0__before;
}
"""


def model(tmp_path, fast=FAST, header=HEADER):
    (tmp_path / "Vx___024root.h").write_text(header)
    (tmp_path / "Vx__0.cpp").write_text(fast)
    (tmp_path / "Vx__0__Slow.cpp").write_text(SLOW)
    found = localise(tmp_path, "Vx___024root")
    assert (tmp_path / "Vx__0__Slow.cpp").read_text() == SLOW
    return found, (tmp_path / "Vx__0.cpp").read_text()


def test_temporaries_of_a_loop_become_its_locals(tmp_path):
    found, text = model(tmp_path)
    assert found == 2
    assert text == FAST.replace(
        "    while ((4U > j)) {\n",
        "    while ((4U > j)) {\nIData __Vtask_grid__0__a = 0;\nSData __Vtask_grid__0__b = 0;\n",
    ).replace("vlSelfRef.__Vtask_grid__0__a", "__Vtask_grid__0__a").replace(
        "vlSelfRef.__Vtask_grid__0__b ", "__Vtask_grid__0__b ").replace(
        "vlSelfRef.__Vtask_grid__0__b;", "__Vtask_grid__0__b;")


def test_a_value_used_after_the_loop_is_declared_before_it(tmp_path):
    found, text = model(tmp_path, FAST.replace("vlSelfRef.q = 1U",
                                               "vlSelfRef.q = vlSelfRef.__Vtask_grid__0__a"))
    assert found == 2
    assert text.index("IData __Vtask_grid__0__a = 0;") < text.index("while")
    assert "vlSelfRef.q = __Vtask_grid__0__a;" in text


def test_a_value_used_in_two_functions_stays(tmp_path):
    found, text = model(tmp_path, FAST.replace("vlSelfRef.clk",
                                               "vlSelfRef.__Vtask_grid__0__b"))
    assert found == 1
    assert "vlSelfRef.__Vtask_grid__0__b" in text
    assert "vlSelfRef.__Vtask_grid__0__shared" in text


def test_a_model_without_tasks_is_left_alone(tmp_path):
    plain = "void one(Vx___024root* vlSelf) {\n    vlSelfRef.q = 1U;\n}\n"
    assert model(tmp_path, plain, "class Vx {\n};\n") == (0, plain)

"""The products of the compact chip: as Yosys infers blocks for them, and in the blocks of an iCE40,
by our model of these and by Yosys's.
"""

import ctypes
import importlib.util
from pathlib import Path

import numpy as np
from verilated import library

from celosia_hw.soc.compact.dot_products import ProductPair
from celosia_hw.verilog.emit import verilog
from celosia_sim.boards.cells import cells_verilog

KINDS = ("inferred", "ours", "theirs")
OPERANDS, PRODUCTS = ("a0", "a1", "b0", "b1"), ("p0", "p1")
SHIM = """
extern "C" void steps(uint32_t cycles, const uint32_t* operands, const uint8_t* take_b,
                      uint32_t* products) {
    static VerilatedContext context;
    static Vdut* top = new Vdut(&context);
    for (uint32_t t = 0; t < cycles; t++) {
        top->take_b = take_b[t]; top->operands = operands[t];
        top->clk = 0; top->eval();
        top->clk = 1; top->eval();
        for (int kind = 0; kind < 3; kind++) products[3 * t + kind] = top->products[kind];
    }
}
"""


def block(text: str) -> str:
    start = text.index("module SB_MAC16 ")
    return text[start:text.index("endmodule", start)] + "endmodule\n"


def yosys_cells() -> str:
    package = importlib.util.find_spec("pyosys")
    assert package is not None
    assert package.origin is not None
    return (Path(package.origin).parent / "share/ice40/cells_sim.v").read_text()


def dut() -> str:
    """Verilog of a pair of each kind, side by side."""
    pairs = "".join(
        f"{kind} {kind}(.clk(clk), .rst(1'b0), .take_b(take_b), "
        + ", ".join([f".{name}(operands[{8 * n} +: 8])" for n, name in enumerate(OPERANDS)]
                    + [f".{name}(products[{32 * k + 16 * n} +: 16])"
                       for n, name in enumerate(PRODUCTS)]) + ");\n"
        for k, kind in enumerate(KINDS))
    theirs = verilog(ProductPair(mac16=True), name="theirs") + block(yosys_cells())
    return "\n".join([
        verilog(ProductPair(), name="inferred"), verilog(ProductPair(mac16=True), name="ours"),
        block(cells_verilog("ice40")), theirs.replace("SB_MAC16", "SB_MAC16_theirs"),
        "module dut(input clk, take_b, input [31:0] operands, output [95:0] products);",
        pairs + "endmodule\n"])


def test_products_are_those_of_the_operands_that_were_taken():
    rng = np.random.default_rng(3)
    # Every a by every b, in each half of the block; then a b that stays for some cycles.
    pairs = np.stack(np.meshgrid(*[np.arange(-128, 128)] * 2), -1).reshape(-1, 2)
    operands = np.stack([rng.permutation(pairs), rng.permutation(pairs)], -1).reshape(-1, 4)
    operands = np.concatenate([operands, rng.integers(-128, 128, (4096, 4))]).astype(np.int8)
    take_b = np.ones(len(operands), np.uint8)
    take_b[len(pairs):] = rng.integers(0, 2, 4096)
    products = np.zeros((len(operands), len(KINDS), len(PRODUCTS)), np.int16)
    steps = library(dut(), SHIM).steps
    steps(len(operands), *(x.ctypes.data_as(ctypes.c_void_p) for x in (operands, take_b, products)))
    taken = np.maximum.accumulate(np.where(take_b, np.arange(len(operands)), 0))
    expected = operands[:, :2].astype(np.int16) * operands[taken, 2:]
    for k, kind in enumerate(KINDS):
        np.testing.assert_array_equal(products[1:, k], expected[:-1], err_msg=kind)

"""A row of lanes alone, as a Verilated library: millions of words a second through every stage."""

import ctypes
import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from amaranth.hdl import Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from verilated import library

from celosia.arch.config import TpuConfig
from celosia.arch.lane import lane_latency
from celosia_hw.grid import Grid
from celosia_hw.verilog.emit import verilog
from celosia_hw.vpu.control import LaneSource, control_layout, row_layout
from celosia_hw.vpu.decode import decode
from celosia_hw.vpu.lane import Lane
from celosia_sim.loops.vectorise import loops

DIM = 16
BOTH = TpuConfig("both", dim=DIM, int8=True, bf16=True, ub_rows=64, acc_rows=64, bus_bytes=16)
INT8 = TpuConfig("int8", dim=DIM, int8=True, bf16=False, ub_rows=64, acc_rows=64, bus_bytes=16)
SHARED = ("active", "p_lane", "q_lane", "indexes", "holds", "sources", "control")

_FIELDS = {"op": 6, "post": 4, "dst": 3, "param": 32, "reduce": 1, "reduce_op": 3}
_SHIM = """
struct Instruction { uint32_t op, post, dst, param, reduce, reduce_op; };
extern "C" void lanes_run(const Instruction* i, uint32_t rows, uint32_t group, uint32_t latency,
                          const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* out) {
    static VerilatedContext context;
    static Vdut* top = new Vdut(&context);
    const uint32_t bytes = DIM * 4;
    top->rst = 0; top->op = i->op; top->post = i->post; top->dst = i->dst; top->param = i->param;
    top->reduce = i->reduce; top->reduce_op = i->reduce_op;
    for (uint32_t row = 0; row < rows + latency; row++) {
        top->valid = row < rows;
        if (top->valid) {
            std::memcpy(&top->a, a + row * DIM, bytes);
            std::memcpy(&top->b, b + row * DIM, bytes);
            top->c = c[row];
            top->first = row % group == 0;
        }
        top->clk = 0; top->eval();
        top->clk = 1; top->eval();
        if (row + 1 >= latency && row + 1 - latency < rows)
            std::memcpy(out + (row + 1 - latency) * DIM, &top->result, bytes);
    }
}
"""


class Lanes(wiring.Component):
    """Lanes whose operand a is P, b is Q and c the index of the row."""

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "a": In(32 * DIM), "b": In(32 * DIM), "c": In(32), "valid": In(1), "first": In(1),
            **{name: In(bits) for name, bits in _FIELDS.items()}, "result": Out(32 * DIM)})

    def elaborate(self, platform):
        config, inputs = self._config, vars(self)
        m = Module()
        m.submodules.lanes = lanes = Grid(lambda: Lane(config), module="vpu_lane", cols=DIM,
                                          shared=SHARED, active="active")
        ports = lanes.members
        row = Signal(row_layout())
        m.d.comb += [row[name].eq(inputs[name]) for name in ("valid", *_FIELDS, "first")]
        first = decode(m, config, row)
        controls: list[Any] = [first]
        for stage in range(1, lane_latency(config)):
            control = Signal(control_layout(), name=f"control{stage}")
            m.d.sync += control.eq(controls[-1])
            controls.append(control)
        m.d.comb += [
            ports["active"].eq(1), ports["p"].eq(inputs["a"]), ports["q"].eq(inputs["b"]),
            ports["indexes__2"].eq(inputs["c"]), inputs["result"].eq(ports["result"]),
            *(ports[f"sources__{k}"].eq(Const(source.value, 3))
              for k, source in enumerate((LaneSource.P, LaneSource.Q, LaneSource.INDEX))),
            *(ports[f"control__{k}"].eq(control) for k, control in enumerate(controls)),
        ]
        return m


@dataclass
class Instruction:
    """What is done with every row, and how many rows a group has."""

    op: int
    post: int = 0
    dst: int = 0
    param: int = 0
    reduce: int = 0
    reduce_op: int = 0
    group: int = 1


@functools.cache
def lanes(config: TpuConfig) -> ctypes.CDLL:
    """Return the lanes of ``config`` as a library."""
    text = verilog(Lanes(config), name="dut", write_grid=loops)
    return library(text, f"#define DIM {DIM}\n{_SHIM}")


def run(config: TpuConfig, instruction: Instruction, a, b, c) -> np.ndarray:
    """Results of rows of words ``a`` and ``b`` (rows x DIM) and of words ``c``, one for a row."""
    i = instruction
    words = [i.op, i.post, i.dst, i.param, i.reduce, i.reduce_op]
    a, b, c = (np.ascontiguousarray(x, np.uint32) for x in (a, b, c))
    out = np.empty_like(a)
    pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in (a, b, c, out)]
    lanes(config).lanes_run((ctypes.c_uint32 * len(words))(*words), len(a), i.group,
                            lane_latency(config), *pointers)
    return out

"""A lane of the vector unit: the data path of one column of rows."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.lane import lane_latency, lane_stages
from celosia_hw.pipeline import Pipeline, Stages
from celosia_hw.vpu import (
    joins,
    multiply_add,
    operands,
    product,
    requant,
    seconds,
    special,
    steps,
)
from celosia_hw.vpu.control import LaneSource, control_layout

__all__ = ["Lane", "stages"]


def stages(config: TpuConfig) -> Stages:
    """What the parts of a lane do in each of its stages.

    Within a step a part comes behind those whose result it may take the place of.
    """
    parts = [operands, steps, product, requant]
    if config.bf16:
        parts += [multiply_add, special]
    tables = [*(part.STAGES for part in (*parts, seconds)), joins.stages(config)]
    return [[logic for step in stage for table in tables for logic in table.get(step, ())]
            for stage in lane_stages(config)]


class Lane(wiring.Component):
    """Makes a word of the result from a word of each operand.

    A row here is one beat of a folded row. Latency: ``lane_latency(config)`` cycles, throughput: a
    word a cycle. What is done in which stage says :mod:`celosia.arch.lane`; each ends in registers,
    and none is longer than the fp32 adder that joins rows in one cycle. Registers of a part that
    the row does not use keep their value. Of int8 results the bits that a lane of the unified
    buffer has are meaningful, sign-extended; bf16 results come in the low half.

    Where rows are reduced, each row's result is that of its group so far.

    Members
    -------
    active : In(1)
        Low only in cycles in which no stage has a row and nothing is to be held. For simulators:
        the lane itself does not need it.
    number : In(8)
        Number of the lane in the row whose beat enters.
    p, q : In(32)
        Words of the two streams, meaningful where they are selected.
    p_lane, q_lane : In(32)
        Word of the one lane of P and Q that goes to all lanes, meaningful where it is selected. In
        one cycle, either this or the lane's own word of a stream is selected.
    indexes : In(32), three of them
        Words of a, b, c of the row that enters where ``VALUE`` or ``INDEX`` selects them.
    holds : In(1)
        Operands a, b, c stay, from now on, what ``sources`` gives: words of streams, only while no
        row enters. Where a row has several beats, they are given one after the other.
    sources : In(LaneSource), three of them
        Operands a, b, c of the row that enters in this cycle, or of what is held; a is not ``Q`` or
        ``Q_LANE``.
    control : In(control_layout), one for each stage
        control[k] belongs to the row that entered k cycles before.
    result : Out(32)
    """

    active: Signal
    number: Signal
    p: Signal
    q: Signal
    p_lane: Signal
    q_lane: Signal
    indexes: list[Signal]
    holds: Signal
    sources: list[Signal]
    control: list[data.View]
    result: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "active": In(1), "number": In(8), "p": In(32), "q": In(32), "p_lane": In(32),
            "q_lane": In(32), "indexes": In(32).array(3),
            "holds": In(1), "sources": In(LaneSource).array(3),
            "control": In(control_layout()).array(lane_latency(config)),
            "result": Out(32),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        # A module for each: Amaranth's simulator evaluates all of one when a part changes.
        modules = [Module() for _ in self.control]
        for number, module in enumerate(modules, 1):
            m.submodules[f"stage_{number}"] = module
        row = Pipeline(
            modules, stages(self._config), {"config": self._config, "lane": self},
            controls=[{name: control[name] for name in control.shape().members}
                      for control in self.control])
        m.d.comb += self.result.eq(row.value("r", len(modules)))
        return m

"""Part of the lane: where it takes its operands from."""

from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.utils import exact_log2

from celosia.arch.config import TpuConfig
from celosia.arch.lane import LaneStep
from celosia_hw.fp.wire import wire
from celosia_hw.pipeline import Logic
from celosia_hw.vpu.control import LaneSource, beat_words

__all__ = ["STAGES", "load"]


def load(m: Module, config: TpuConfig, lane: Any, valid: Value) -> dict[str, Signal]:
    """Registers of the operands a, b, c: words that enter the lane in the cycle before.

    ``lane`` has the ports of :class:`celosia_hw.vpu.lane.Lane`; ``valid``: a row enters.
    """
    bits = exact_log2(config.dim)
    enters = wire(m, valid | lane.holds, "enters")

    def used(port: LaneSource) -> Value:
        return Cat(source == port for source in lane.sources).any()

    # Nothing but whether a register takes its word depends on whether a row enters, which is known
    # late in the cycle.
    p = wire(m, Mux(used(LaneSource.P_LANE), lane.p_lane, lane.p), "word_p")
    q = wire(m, Mux(used(LaneSource.Q_LANE), lane.q_lane, lane.q), "word_q")
    operands = {}
    for name, source, value in zip("abc", lane.sources, lane.indexes, strict=True):
        # Lanes share all of their sums with their numbers but the lowest bits.
        low = wire(m, value[:bits] + Mux(source == LaneSource.INDEX, lane.number[:bits], 0),
                   f"{name}_low")
        from_p, from_q, indexed = (
            wire(m, Cat(source == each for each in sources).any(), f"{name}_from_{port}")
            for port, sources in (("p", (LaneSource.P, LaneSource.P_LANE)),
                                  ("q", (LaneSource.Q, LaneSource.Q_LANE)),
                                  ("index", (LaneSource.VALUE, LaneSource.INDEX))))
        words = [p, q, Cat(low[:bits], value[bits:]),
                 Cat(low[:bits], (value[bits:] + 1)[:32 - bits])]
        chosen = [from_p, from_q, indexed & ~low[bits], indexed & low[bits]]
        if name == "a":  # never from Q
            del words[1], chosen[1]
        itself = wire(m, source == LaneSource.SELF, f"{name}_from_itself")
        operands[name], *held = beat_words(config, f"operand_{name}")
        if held:
            words.append(held[0])
            chosen.append(itself)
        word = reduce(or_, (
            Mux(wire(m, choice, f"{name}_takes_{k}"), word, 0)
            for k, (word, choice) in enumerate(zip(words, chosen, strict=True))))
        with m.If((enters & ~itself) | (valid if held else 0)):
            m.d.sync += operands[name].eq(word)
            m.d.sync += [word.eq(after) for word, after in
                         zip(held, (*held[1:], operands[name]), strict=False)]
    return operands


STAGES = {LaneStep.LOAD: (Logic(load, registered=True),)}

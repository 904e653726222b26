"""Processing element of the systolic array."""

from amaranth.hdl import Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from celosia.arch.config import TpuConfig
from celosia_hw.fp.mac import multiply_add
from celosia_hw.stream import delayed

__all__ = ["ProcessingElement", "element_cycles", "sum_bits"]


def element_cycles(config: TpuConfig) -> int:
    """Cycles from an activation at an element to the sum that it is in: operands, product, sum."""
    return 1 + config.product_cycles + config.sum_cycles


def sum_bits(config: TpuConfig) -> int:
    """Bits of a sum inside the array: sums of ``dim`` int8 products need less than 32.

    The largest is dim * 2**14, the product of two times -128.
    """
    return 32 if config.bf16 else 16 + ceil_log2(config.dim)


class ProcessingElement(wiring.Component):
    """Multiplies activations by its weight and adds the products to the sums that pass it.

    What arrives from the left leaves to the right one cycle later, what arrives from above leaves
    below ``config.sum_cycles`` later. An activation of cycle t is in the sum that leaves in
    t + ``element_cycles(config)``.
    Throughput: one a cycle. Sums are of :func:`sum_bits` bits; int32 sums wrap; fp32 sums are
    rounded at each element. Two weights are held: the one in use and the next one. A reset clears
    the control, not the data.

    Both operands and the product are registers with nothing between them and the multiplier: those
    that the DSP block of an FPGA has at its ports.

    Parameters
    ----------
    config
        Decides the formats. An int8 operand is the low 8 bits of a lane.

    Members
    -------
    act_i, act_o
        Activation, one lane; to the right.
    swap_i, swap_o
        From this activation on, use the next weight; to the right.
    bf16_i, bf16_o
        Format of the activation; to the right. Only on chips with both formats.
    left_i, left_o
        Weight of a transposed tile on its way to the right.
    top_i, top_o
        Weight of a tile as stored on its way down.
    take_left_i, take_left_o
        Keep what arrives from the left as the next weight; down.
    take_top_i, take_top_o
        Keep what arrives from above as the next weight; to the right.
    sum_i, sum_o
        Sum; down.
    """

    def __init__(self, config: TpuConfig):
        self._config = config
        # Formats of the operands and of the product, see Grid.
        self.alike = ("bf16_o", "in_bf16") if config.int8 and config.bf16 else ()
        # All that brings a tile and puts it to use: once for as many rows as it meets.
        self.seldom = tuple(name for name in self.right(config) | self.down(config)
                            if name not in ("act", "sum"))
        super().__init__({
            f"{name}_{letter}": direction(width)
            for name, width in (self.right(config) | self.down(config)).items()
            for letter, direction in (("i", In), ("o", Out))
        })

    @staticmethod
    def right(config: TpuConfig) -> dict[str, int]:
        """Names and widths of what passes to the right."""
        both = {"bf16": 1} if config.int8 and config.bf16 else {}
        return {"act": config.lane_bits, "swap": 1, **both,
                "left": config.lane_bits, "take_top": 1}

    @staticmethod
    def down(config: TpuConfig) -> dict[str, int]:
        """Names and widths of what passes down."""
        return {"sum": sum_bits(config), "top": config.lane_bits, "take_left": 1}

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        port: dict[str, Signal] = {
            f"{name}_{letter}": getattr(self, f"{name}_{letter}")
            for name in self.right(self._config) | self.down(self._config) for letter in "io"}

        # Everything but the sum is handed on as it is.
        held: dict[str, Signal] = {}
        for name, width in (self.right(self._config) | self.down(self._config)).items():
            data = name in ("act", "left", "top", "sum")
            held[name] = Signal(width, name=name, reset_less=data)
            # What goes down is as long on its way as the sum.
            wait = (self._config.sum_cycles - 1) * (name in ("top", "take_left"))
            m.d.comb += port[f"{name}_o"].eq(
                delayed(m, held[name], wait, name=name, reset_less=data)[-1])
            if name != "sum":
                m.d.sync += held[name].eq(port[f"{name}_i"])

        following = Signal(self._config.lane_bits, reset_less=True)
        current = Signal(self._config.lane_bits, reset_less=True)
        with m.If(port["take_top_i"] | port["take_left_i"]):
            m.d.sync += following.eq(Mux(port["take_top_i"], port["top_i"], port["left_i"]))
        with m.If(port["swap_i"]):
            m.d.sync += current.eq(following)

        m.d.sync += held["sum"].eq(multiply_add(
            m, self._config, held["act"], current, port["sum_i"],
            held.get("bf16", Const(self._config.bf16, 1))))
        return m

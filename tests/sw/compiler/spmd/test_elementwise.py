"""Elementwise operations stay on the tiles of several devices: nothing is gathered for them."""

import pytest

from celosia.compiler.spmd import partition
from celosia.frontend import import_stablehlo
from celosia.frontend.stablehlo import elementwise
from celosia.frontend.stablehlo.translation import TRANSLATORS
from celosia.graph import Trait, having

COUNT = 4
#: Attributes, operands, and element types of operands and result, where not "", 1, f32 and f32.
FORMS = {
    "stablehlo.compare": ("comparison_direction = #stablehlo<comparison_direction LT>", 2,
                          "f32", "i1"),
    "stablehlo.convert": ("", 1, "f32", "i32"), "stablehlo.select": ("", 3, "i1", "i1"),
    "stablehlo.bitcast_convert": ("", 1, "f32", "i32"), "stablehlo.clamp": ("", 3, "f32", "f32"),
    "stablehlo.reduce_precision": ("exponent_bits = 5 : i32, mantissa_bits = 10 : i32", 1, "f32",
                                   "f32"),
    "stablehlo.is_finite": ("", 1, "f32", "i1"),
    **{f"stablehlo.{name}": ("", 2, "i32", "i32") for name in (
        "and", "or", "xor", "shift_left", "shift_right_logical", "shift_right_arithmetic")},
    **{f"stablehlo.{name}": ("", 1, "i32", "i32") for name in (
        "not", "popcnt", "count_leading_zeros")},
    **{f"stablehlo.{name}": ("", 2, "f32", "f32") for name in (
        "add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "power",
        "atan2")}}


@pytest.mark.parametrize("name", sorted(
    name for name, translator in TRANSLATORS.items()
    if translator.__module__ == elementwise.__name__))
def test_an_elementwise_operation_stays_on_tiles(name):
    attributes, count, dtype, to = FORMS.get(name, ("", 1, "f32", "f32"))
    operands = ", ".join(["%x"] * count)
    types = ", ".join([f"tensor<8x6x{dtype}>"] * count)
    text = f"""module attributes {{mhlo.num_partitions = {COUNT} : i32,
        mhlo.num_replicas = 1 : i32}} {{
      sdy.mesh @m = <["d"={COUNT}]>
      func.func @main(%x: tensor<8x6x{dtype}> {{sdy.sharding = #sdy.sharding<@m, [{{"d"}}, {{}}]>}})
          -> (tensor<8x6x{to}> {{sdy.sharding = #sdy.sharding<@m, [{{"d"}}, {{}}]>}}) {{
        %r = "{name}"({operands}) {{{attributes}}} : ({types}) -> tensor<8x6x{to}>
        return %r : tensor<8x6x{to}>
      }}
    }}"""
    graph = partition(import_stablehlo(text)).graph
    assert not {node.op for node in graph.nodes} & having(Trait.COLLECTIVE)
    assert graph.outputs[0].shape == (2, 6)

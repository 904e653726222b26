"""How products are cut: the array is busy nearly all of the time."""

import math

import pytest
from moving import CORE
from multiplying import Multiplying

from celosia.compiler.api import compile
from celosia.compiler.emit.tiling import cuts
from celosia.frontend import import_stablehlo


def test_cuts():
    assert cuts(10, 4) == [(0, 4), (4, 8), (8, 10)]
    assert cuts(4, 9) == [(0, 4)]


@pytest.mark.parametrize(("shape", "stored", "kind", "least"), [
    ((1, 256, 256, 256), (False, False), "bf16", 0.98),
    ((1, 256, 512, 256), (False, True), "f32", 0.98),
    ((1, 256, 256, 256), (True, False), "bf16", 0.97),
    # Transposed operands are loaded a turn ahead: spread over it, they leave room for others.
    ((1, 1024, 256, 256), (True, False), "f32", 0.98),
    # Each product is 1,024 cycles, in which the latency of what follows it shows.
    ((16, 64, 64, 64), (False, True), "bf16", 0.935)], ids=str)
def test_dots(shape, stored, kind, least):
    made = Multiplying(CORE, kind, relu=True).dot(*shape, *stored)
    assert made.utilisation(math.prod(shape)) > least


def test_convolutions():
    made = Multiplying(CORE, "f32", relu=True).convolution((1, 30, 30, 64), (3, 3, 64, 64))
    assert made.utilisation(28 * 28 * 9 * 64 * 64) > 0.96


def test_what_fits_is_loaded_once():
    made = Multiplying(CORE).dot(1, 300, 128, 128)
    loads = [op for block in made.emitted.blocks for stage in block.stages for op in stage
             if op.mnemonic == "load"]
    rows = sum((op.words[2] & 0xFFFF) * -(-(op.words[2] >> 16) // CORE.dim) for op in loads)
    assert rows == 300 * 8 + 128 * 8


def test_few_channels():
    """A line of taps is one tile: 3 matmuls of 9 lanes, not 9 of 3."""
    made = Multiplying(CORE, small=True).convolution((2, 30, 30, 3), (3, 3, 3, 32))
    blocks = made.emitted.blocks
    for block in blocks:
        matmuls = [op for stage in block.stages for op in stage if op.mnemonic == "matmul"]
        assert len(matmuls) % 3 == 0
        assert len(matmuls) <= 3 * 2
    assert made.utilisation(2 * 28 * 28 * 27 * 32) > 0.45


#: The gradient of a softmax, whose values are alive for long.
_SOFTMAX = """
func.func @main(%q: tensor<8x128x64xf32>, %k: tensor<8x128x64xf32>, %e: tensor<8x128x128xf32>,
                %s: tensor<8x128x1xf32>, %c: tensor<8x128x1xf32>)
    -> (tensor<8x128x128xf32>, tensor<8x128x1xf32>, tensor<8x128x128xf32>) {
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2],
      precision = [DEFAULT, DEFAULT]
      : (tensor<8x128x64xf32>, tensor<8x128x64xf32>) -> tensor<8x128x128xf32>
  %1 = stablehlo.broadcast_in_dim %c, dims = [0, 1, 2]
      : (tensor<8x128x1xf32>) -> tensor<8x128x128xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<8x128x128xf32>
  %3 = stablehlo.multiply %2, %e : tensor<8x128x128xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [2]
      : (tensor<8x128x128xf32>, tensor<f32>) -> tensor<8x128xf32>
  %5 = stablehlo.reshape %4 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
  %6 = stablehlo.negate %5 : tensor<8x128x1xf32>
  %7 = stablehlo.broadcast_in_dim %s, dims = [0, 1, 2]
      : (tensor<8x128x1xf32>) -> tensor<8x128x128xf32>
  %8 = stablehlo.divide %0, %7 : tensor<8x128x128xf32>
  %9 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2]
      : (tensor<8x128x1xf32>) -> tensor<8x128x128xf32>
  %10 = stablehlo.add %8, %9 : tensor<8x128x128xf32>
  %11 = stablehlo.multiply %10, %e : tensor<8x128x128xf32>
  return %8, %6, %11 : tensor<8x128x128xf32>, tensor<8x128x1xf32>, tensor<8x128x128xf32>
}
"""


def test_short_blocks_have_room():
    """Results of short blocks cannot lie where their operands do: these need more rows."""
    made = compile(import_stablehlo(_SOFTMAX), CORE)
    assert made.prediction.cycles < 110_000  # it says so if a row is beyond the memory

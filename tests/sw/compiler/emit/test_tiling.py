"""How products are cut: the array is busy nearly all of the time."""

import math
from types import SimpleNamespace

import pytest
from moving import CORE
from multiplying import Multiplying

from celosia.compiler.api import compile
from celosia.compiler.emit import product, tiling
from celosia.compiler.emit.tiling import cuts
from celosia.frontend import import_stablehlo
from celosia.graph import parse


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


#: Products on either side of what decides how they are cut: chip and graph.
GRAPHS = {
    "alone": ("core", """
        graph g(%0: f32[70,200], %1: f32[200,90]) {
          %2 = dot(%0, %1) dtype=f32 contract=[[1,0]] : f32[70,90]
          return %2
        }"""),
    "of bytes": ("nano", """
        graph g(%0: i8[50,90], %1: i8[35,90]) {
          %2 = dot(%0, %1) dtype=i32 contract=[[1,1]] : i32[50,35]
          return %2
        }"""),
    "of a great depth": ("nano", """
        graph g(%0: i8[9,2048], %1: i8[2048,8]) {
          %2 = dot(%0, %1) dtype=i32 contract=[[1,0]] : i32[9,8]
          return %2
        }"""),
    "of columns": ("core4", """
        graph g(%0: bf16[75,66], %1: bf16[75,40]) {
          %2 = dot(%0, %1) dtype=f32 contract=[[0,0]] : f32[66,40]
          return %2
        }"""),
    "added to in place": ("core", """
        graph g(%0: f32[70,90] donated, %1: bf16[70,40], %2: bf16[40,90]) {
          %3 = dot(%1, %2) dtype=f32 contract=[[1,0]] : f32[70,90]
          %4 = add(%3, %0) : f32[70,90]
          return %4
        }"""),
    "beside two others": ("core", """
        graph g(%0: f32[150,64], %1: f32[64,90], %2: f32[150,90], %3: f32[150,90]) {
          %4 = dot(%0, %1) dtype=f32 contract=[[1,0]] : f32[150,90]
          %5 = add(%4, %2) : f32[150,90]
          %6 = multiply(%5, %3) : f32[150,90]
          return %5, %6
        }"""),
    "beside two others of wide rows": ("core", """
        graph g(%0: f32[50,64], %1: f32[64,190], %2: f32[50,190], %3: f32[50,190]) {
          %4 = dot(%0, %1) dtype=f32 contract=[[1,0]] : f32[50,190]
          %5 = add(%4, %2) : f32[50,190]
          %6 = multiply(%5, %3) : f32[50,190]
          return %5, %6
        }"""),
    "from both sides": ("core", """
        graph g(%0: f32[64,96], %1: f32[96,80], %2: f32[64,48]) {
          %3 = dot(%0, %1) dtype=f32 contract=[[1,0]] : f32[64,80]
          %4 = dot(%0, %2) dtype=f32 contract=[[0,0]] : f32[96,48]
          return %3, %4
        }"""),
    "of a batch": ("core", """
        graph g(%0: f32[5,20,40], %1: f32[5,24,40]) {
          %2 = dot(%0, %1) dtype=f32 batch=[[0,0]] contract=[[2,2]] : f32[5,20,24]
          return %2
        }"""),
    "and shares of its rows": ("core", """
        graph g(%0: f32[100,40], %1: f32[40,75]) {
          %2 = dot(%0, %1) dtype=f32 contract=[[1,0]] : f32[100,75]
          %3 = exp(%2) : f32[100,75]
          %4 = constant() value=f32[]{0.0} : f32[]
          %5 = reduce(%3, %4) dims=[1] reducer=add : f32[100]
          %6 = broadcast(%5) shape=[100,75] dims=[0] : f32[100,75]
          %7 = divide(%3, %6) : f32[100,75]
          return %7
        }"""),
    "of images": ("core", """
        graph g(%0: f32[4,12,12,20], %1: f32[3,3,20,24]) {
          %2 = convolution(%0, %1) dtype=f32 layout="b01f_01io->b01f" stride=[2,1]
              padding=[[1,1],[1,1]] x_dilation=[1,1] w_dilation=[1,1] : f32[4,6,12,24]
          return %2
        }"""),
}
#: Of each product: blocks of rows, panels of columns and of depth of a block, and cycles; how many
#: ways are looked at, how many there are, and the cycles of all of them.
CUT = {
    "alone": [(1, 6, 13, 7066.731, 80, 384, 11064323.469)],
    "of bytes": [(1, 2, 23, 11265.23, 154, 508, 14383236.84)],
    "of a great depth": [(1, 2, 43, 13424.046, 30, 286, 24160335.668)],
    "of columns": [(1, 2, 19, 13420.032, 96, 384, 15863691.378)],
    "added to in place": [(2, 2, 3, 2367.914, 220, 764, 7805420.414)],
    "beside two others": [(5, 5, 4, 7546.885, 696, 1176, 28157207.87)],
    "beside two others of wide rows": [(2, 3, 4, 6273.636, 556, 1196, 24978765.777)],
    "from both sides": [(1, 5, 6, 3235.06, 60, 60, 264659.508),
                        (2, 3, 4, 1973.471, 52, 204, 1610121.623)],
    "of a batch": [(5, 2, 3, 2198.5, 10, 22, 139691.911)],
    "and shares of its rows": [(4, 5, 3, 5651.521, 92, 140, 2341111.745)],
    "of images": [(8, 2, 4, 10087.101, 80, 176, 7983331.132)],
}


@pytest.mark.parametrize(("total", "room", "most", "least", "ways"), [
    (100_000, 20, 16, 7, 6), (400_000, 20, 16, 16, 1), (16384 * 5, 20, 16, 5, 8),
    (300, 1000, 300, 1, 21)])
def test_rows_in_very_many_blocks_are_not_looked_at(total, room, most, least, ways):
    """But where there is no other way."""
    search = object.__new__(tiling._Search)
    search.total, search.acc, search.busy, search.dim = total, room, False, 16
    search.cluster = SimpleNamespace(space=(total, 40))
    found = [max(count for _, count in each) for each in search.row_cuts()]
    assert found == sorted(set(found), reverse=True)
    assert (found[0], found[-1], len(found)) == (most, least, ways)


@pytest.fixture
def tilings(monkeypatch):
    """Return a call that compiles and gives of each product the searches of all forms, its plan,
    and how many ways were looked at."""
    def call(chip, text):
        found, looked = [], []
        estimate = tiling._Search.estimate

        def counted(*arguments):
            looked.append(arguments)
            return estimate(*arguments)

        def choose(*arguments):
            looked.clear()
            best = tiling.choose_tiling(*arguments)
            *rest, forms, body = arguments
            found.append(([tiling._Search(*rest, form, body) for form in forms], best[1],
                          len(looked)))
            return best

        monkeypatch.setattr(tiling._Search, "estimate", counted)

        monkeypatch.setattr(product, "choose_tiling", choose)
        compile(parse(text), chip, cache=False)
        return found

    return call


@pytest.mark.parametrize("name", GRAPHS)
def test_how_products_are_cut(tilings, name):
    """The best of all ways is found without a look at all of them, and what is thought of each
    is kept.

    One wrong term in the estimate would choose another way for a few shapes only.
    """
    rows = []
    for searches, best, looked in tilings(*GRAPHS[name]):
        every = [each for search in searches for each in search.candidates()]  # none is left out
        assert best.cycles == min(each.cycles for each in every)
        rows.append((len(best.boxes), best.panels, best.depth, round(best.cycles, 3), looked,
                     len(every), round(math.fsum(each.cycles for each in every), 3)))
    assert rows == CUT[name]

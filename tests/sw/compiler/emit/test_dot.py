"""Products on the golden model, bit for bit as the array defines their sums."""

import pytest
from moving import CORE, NANO, SMALL
from multiplying import Multiplying

from celosia.arch.config import preset
from celosia.arch.isa import MatmulFormat
from celosia.arch.vector import VectorOp
from celosia.compiler.errors import CompileError
from celosia.compiler.lowered import Region

STORED = [(False, False), (False, True), (True, False), (True, True)]
SHAPES = [(1, 37, 53, 29), (3, 16, 16, 16), (3, 37, 53, 29), (1, 1, 40, 1), (2, 5, 1, 3),
          (1, 130, 20, 18), (1, 1, 1, 1), (5, 1, 17, 33)]


@pytest.mark.parametrize(("left", "right"), STORED)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kind", ["bf16", "f32"])
def test_stored_either_way(shape, left, right, kind):
    Multiplying(CORE, kind).dot(*shape, left, right)


@pytest.mark.parametrize(("left", "right"), STORED)
@pytest.mark.parametrize("config", [NANO, SMALL, CORE], ids=lambda config: config.name)
def test_int8(config, left, right):
    Multiplying(config, "i8").dot(2, 19, 23, 10, left, right)


@pytest.mark.parametrize(("left", "right"), STORED)
def test_batches_may_share_their_weights(left, right):
    Multiplying(CORE).dot(3, 21, 35, 20, left, right, shared=True)


@pytest.mark.parametrize("space", [(2, 30, 20), (12, 5, 20), (60, 20)], ids=str)
def test_batches_beside_each_other_are_one_matrix(space):
    """Whose rows come in blocks that are no whole batches."""
    Multiplying(CORE).dot(3, 20, 35, 20, shared=True, space=space)


@pytest.mark.parametrize(("left", "right"), STORED)
@pytest.mark.parametrize("batches", [1, 3])
def test_rows_that_are_apart(batches, left, right):
    Multiplying(CORE, relu=True).dot(batches, 21, 35, 20, left, right, pad=5)


@pytest.mark.parametrize(("left", "right"), STORED)
@pytest.mark.parametrize("region", [
    Region(range(100, 1500), range(50, 500)), Region(range(60, 240), range(7, 60))], ids=str)
def test_what_does_not_fit_comes_in_parts(left, right, region):
    Multiplying(CORE).dot(1, 150, 205, 100, left, right, region=region)


@pytest.mark.parametrize(("left", "right"), STORED)
def test_batches_that_do_not_fit(left, right):
    Multiplying(SMALL).dot(4, 19, 30, 11, left, right,
                           region=Region(range(10, 120), range(3, 90)))


@pytest.mark.parametrize("kind", ["bf16", "f32", "i8"])
@pytest.mark.parametrize("shape", [(1, 48, 200, 70), (1, 16, 20, 18), (1, 112, 35, 350)], ids=str)
@pytest.mark.parametrize("on_chip", [False, True])
def test_what_is_left_transposed(shape, kind, on_chip):
    if on_chip and kind == "f32":
        pytest.skip("words are not operands")
    Multiplying(CORE, kind).dot(*shape, on_chip=(on_chip, False), turned=True)


def test_what_is_left_transposed_of_parts():
    region = Region(range(100, 460), range(50, 500))
    Multiplying(CORE).dot(1, 144, 205, 100, region=region, turned=True)


@pytest.mark.parametrize(("shape", "on_chip", "panels"), [
    ((1, 48, 200, 70), False, [3, 5, 5]), ((1, 48, 200, 70), True, [1, 3, 3, 3, 3]),
    # More blocks than panels: the last ones of the rows have none.
    ((1, 112, 35, 350), False, ([0] + [1] * 3 + [0] * 7) * 2)], ids=str)
def test_blocks_transpose_equal_shares(shape, on_chip, panels):
    """Else one block waits for all that it transposes; the first has what is left over."""
    made = Multiplying(CORE).dot(*shape, on_chip=(on_chip, False), turned=True)
    assert [sum(getattr(op.command, "op", None) is VectorOp.TRANSPOSE for op in block.operations)
            for block in made.emitted.blocks] == panels


@pytest.mark.parametrize("on_chip", [(True, False), (False, True), (True, True)], ids=str)
@pytest.mark.parametrize("shape", [(1, 40, 50, 40), (3, 33, 32, 20)], ids=str)
def test_operands_on_chip(shape, on_chip):
    Multiplying(CORE).dot(*shape, on_chip=on_chip)
    Multiplying(CORE, "i8").dot(*shape, on_chip=on_chip)


@pytest.mark.parametrize("name", ["edge", "v1", "v2"])
def test_other_chips(name):
    made = Multiplying(preset(name), "bf16" if preset(name).bf16 else "i8")
    made.dot(1, 140, 300, 270, True, False)


def test_the_last_block_may_be_a_row():
    """Parts of the depth of one row replace each other in the same place of the unified buffer."""
    Multiplying(SMALL).dot(1, 17, 30, 20, region=Region(range(7, 38), range(3, 80)))


def test_rows_of_several_dimensions():
    Multiplying(CORE, relu=True).dot(2, 42, 35, 20, space=(2, 6, 7, 20),
                                     region=Region(range(600), range(60)))


def test_a_format_that_the_chip_lacks():
    with pytest.raises(CompileError, match="^test: a product of bf16 needs an array with bf16, "
                                           "and that of chip nano has int8$"):
        Multiplying(NANO, "f32").dot(1, 4, 4, 4)
    made = Multiplying(preset("v2"))
    made.fmt = MatmulFormat.INT8
    with pytest.raises(CompileError, match="^test: a product of int8 needs an array with int8, "
                                           "and that of chip v2 has bf16$"):
        made.dot(1, 4, 4, 4)


def test_no_room():
    with pytest.raises(CompileError, match="^test: a product of 40 rows, 30 deep, 20 columns and "
                                           "its vector work must have room for a block, and 10 "
                                           "rows of the unified buffer and 4 of the accumulators "
                                           "are too few$"):
        Multiplying(CORE).dot(1, 40, 30, 20, region=Region(range(10), range(4)))


